from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from frontend.browsing import Browse
from frontend.charts import telemetry_figures
from frontend.correction_form import CorrectionForm
from frontend.explore_form import OWN as EXPLORE_OWN
from frontend.forms import attempt
from frontend.guards import engineer
from frontend.run_columns import RUN_COLUMNS
from frontend.run_form import RUN_FILTERS, counted, filtered_runs, filters_anywhere, form_context
from profiling.models import Dataset, Run, SavedView
from profiling.selectors.copying import export_choices
from profiling.selectors.revisions import run_revisions
from profiling.selectors.runs import EXCLUDING_FLAGS, run_history
from profiling.selectors.telemetry import run_telemetry
from profiling.services.runs import run_correct


def run_address(run: Run) -> str:
    return reverse("run-detail", args=[run.pk])


def run_list_page(request: HttpRequest) -> HttpResponse:
    chosen = filtered_runs(request.GET)
    browse = Browse(request, "Runs", SavedView.Page.RUNS, RUN_COLUMNS, "-id", RUN_FILTERS, EXPLORE_OWN)
    browse.take(chosen.qs, run_history(), run_address)
    counts = counted(chosen) if request.GET.get("counts") else None
    exports = export_choices(request.build_absolute_uri("/"), filters_anywhere(request.GET))
    own = Dataset.objects.filter(owner_id=request.user.pk) if request.user.pk else ()
    context = {"browse": browse, "exports": exports, "datasets": own}
    context |= form_context(request.GET, chosen, counts)
    return render(request, "frontend/run/list.html", context, status=400 if chosen.form.errors else 200)


def run_facets_part(request: HttpRequest) -> HttpResponse:
    chosen = filtered_runs(request.GET)
    context = form_context(request.GET, chosen, counted(chosen))
    return render(request, "frontend/run/_facets.html", context)


def run_page(request: HttpRequest, pk: int) -> HttpResponse:
    run = get_object_or_404(run_history().select_related("upload__uploader", "sweep", "power_mode"), pk=pk)
    ends = (run.extra.get("window_start_s"), run.extra.get("window_end_s"))
    window = None if None in ends else ends
    context = {
        "run": run,
        "window": window,
        "window_s": window and window[1] - window[0],
        "unused": not EXCLUDING_FLAGS.isdisjoint(run.flags),
        "revisions": run_revisions(run),
        "figures": telemetry_figures(run_telemetry(run=run), window),
    }
    return render(request, "frontend/run/detail.html", context)


def run_correct_page(request: HttpRequest, pk: int) -> HttpResponse:
    user, run = engineer(request), get_object_or_404(run_history(), pk=pk)
    form = CorrectionForm(run, request.POST or None)
    if form.is_valid():
        reason, changes = form.cleaned_data["reason"], form.changes()
        revision = attempt(form, run_correct, run=run, user=user, reason=reason, changes=changes)
        if revision is not None:
            messages.success(request, f"This revision has taken the place of run {run.pk}.")
            return redirect("run-detail", revision.pk)
    context = {"run": run, "form": form}
    return render(request, "frontend/run/correct.html", context, status=422 if form.errors else 200)
