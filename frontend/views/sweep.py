from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from frontend.guards import HtmxRequest, page_of
from profiling.selectors.runs import run_list
from profiling.selectors.sweeps import sweep_list, sweep_progress


def sweep_list_page(request: HttpRequest) -> HttpResponse:
    page = page_of(request, sweep_list())
    rows = [(sweep, sweep_progress(sweep)) for sweep in page]
    return render(request, "frontend/sweep/list.html", {"page": page, "rows": rows})


def sweep_page(request: HtmxRequest, pk: int) -> HttpResponse:
    sweep = get_object_or_404(sweep_list(), pk=pk)
    runs = page_of(request, run_list().filter(sweep=sweep).order_by("order"))
    context = {"sweep": sweep, "progress": sweep_progress(sweep), "page": runs}
    template = "frontend/sweep/_progress.html" if request.htmx else "frontend/sweep/detail.html"
    return render(request, template, context)
