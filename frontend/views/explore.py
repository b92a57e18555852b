from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.gzip import gzip_page

from frontend.browsing import Browse, address, hidden_fields
from frontend.csv_files import csv_answer
from frontend.explore_figures import (
    TABLES,
    boards_figure,
    coverage_figure,
    curve_figures,
    distribution_figure,
    distribution_words,
    map_figure,
    outlier_cells,
    repeats_figure,
)
from frontend.explore_form import OWN, Explored
from frontend.run_form import RUN_FILTERS, counted, faults, filtered_runs, form_context
from profiling.errors import InvalidInput, NotFound
from profiling.models import SavedView


@gzip_page
def explore_page(request: HttpRequest) -> HttpResponse:
    chosen = filtered_runs(request.GET)
    seen = Explored(chosen.qs, request.GET)
    counts = counted(chosen) if request.GET.get("counts") else None
    context = {
        "browse": Browse(request, "Explore", SavedView.Page.EXPLORE, (), "", [*RUN_FILTERS, *OWN]),
        "seen": seen,
        "kept": [(name, request.GET[name]) for name in OWN if request.GET.get(name)],
        "kept_filters": hidden_fields(request.GET, [*OWN, *(hold.name for hold in seen.holds)]),
        "without_flags": address(request.GET, flagged="false"),
        **form_context(request.GET, chosen, counts),
        **(_figures(seen) if seen.valid and len(seen.sample) else {}),
    }
    return render(request, "frontend/run/explore.html", context, status=400 if chosen.form.errors else 200)


def _figures(seen: Explored) -> dict[str, Any]:
    return {
        "coverage": coverage_figure(seen),
        "map": map_figure(seen) if seen.map["x"] else None,
        "distribution": distribution_figure(seen),
        "distribution_words": distribution_words(seen),
        "curves": curve_figures(seen),
        "repeats": repeats_figure(seen),
        "boards": boards_figure(seen),
        "outliers": outlier_cells(seen),
    }


def explore_file(request: HttpRequest, name: str) -> HttpResponse:
    """The numbers of one plot, as a table."""
    chosen = filtered_runs(request.GET)
    seen = Explored(chosen.qs, request.GET)
    if wrong := faults(chosen):
        raise InvalidInput(" ".join(wrong).replace(" Left out.", ""))
    if name not in TABLES:
        raise NotFound(f"Explore has no plot {name}; it has {', '.join(TABLES)}.")
    if not seen.valid:
        raise InvalidInput("; ".join(str(said[0]) for said in seen.form.errors.values()) or "No run is left.")
    if seen.gone:
        raise InvalidInput(f"None of these runs is of {seen.gone}.")
    return csv_answer(f"{name}-{seen.group.key}", TABLES[name](seen))
