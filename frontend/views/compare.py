from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.gzip import gzip_page

from frontend.browsing import Browse
from frontend.compare_figures import TABLES, metric_figures, pair_figure, scaling_figures, stock_figure
from frontend.compare_form import ASKS as COMPARE_ASKS
from frontend.compare_form import Comparison
from frontend.csv_files import csv_answer
from profiling.errors import InvalidInput, NotFound
from profiling.models import SavedView


@gzip_page
def compare_page(request: HttpRequest) -> HttpResponse:
    seen = Comparison(request.GET)
    context = {
        "browse": Browse(request, "Compare", SavedView.Page.COMPARE, (), "", COMPARE_ASKS),
        "seen": seen,
        **(_figures(seen) if seen.valid else {}),
    }
    return render(request, "frontend/compare/compare.html", context)


def _figures(seen: Comparison) -> dict[str, Any]:
    return {
        "metrics": metric_figures(seen),
        "stock": stock_figure(seen),
        "scalings": scaling_figures(seen),
        "pair": pair_figure(seen) if seen.ratio else None,
    }


def compare_file(request: HttpRequest, name: str) -> HttpResponse:
    """The numbers of one plot, as a table."""
    if name not in TABLES:
        raise NotFound(f"Compare has no plot {name}; it has {', '.join(TABLES)}.")
    seen = Comparison(request.GET)
    if not seen.valid:
        raise InvalidInput(
            "; ".join(str(said[0]) for said in seen.form.errors.values()) or "Nothing to compare."
        )
    return csv_answer(f"compare-{name}", TABLES[name](seen))
