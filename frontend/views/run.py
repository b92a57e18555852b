from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from frontend.charts import telemetry_figures
from frontend.guards import page_of
from profiling.filters import RunFilter
from profiling.selectors.copying import export_choices
from profiling.selectors.runs import EXCLUDING_FLAGS, run_history, run_list
from profiling.selectors.telemetry import run_telemetry

SHOWN_FILTERS = ("workload", "device_model", "device", "state", "emulated", "cores", "minibatch")


def run_list_page(request: HttpRequest) -> HttpResponse:
    chosen = RunFilter(request.GET, queryset=run_list())
    context = {
        "fields": [chosen.form[name] for name in SHOWN_FILTERS],
        "kept": {name: value for name, value in request.GET.items() if name not in (*SHOWN_FILTERS, "page")},
        "page": page_of(request, chosen.qs),
        "exports": export_choices(request.build_absolute_uri("/"), _asked(request)),
    }
    return render(request, "frontend/run/list.html", context)


def _asked(request: HttpRequest) -> dict[str, str]:
    return {name: str(value) for name, value in request.GET.items() if name != "page"}


def run_page(request: HttpRequest, pk: int) -> HttpResponse:
    run = get_object_or_404(run_history().select_related("upload__uploader", "sweep", "power_mode"), pk=pk)
    ends = (run.extra.get("window_start_s"), run.extra.get("window_end_s"))
    window = None if None in ends else ends
    context = {
        "run": run,
        "window": window,
        "window_s": window and window[1] - window[0],
        "unused": not EXCLUDING_FLAGS.isdisjoint(run.flags),
        "figures": telemetry_figures(run_telemetry(run=run), window),
    }
    return render(request, "frontend/run/detail.html", context)
