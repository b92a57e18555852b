from typing import Any

from django.db.models import F
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from frontend.charts import sweep_figure
from frontend.forms import attempt
from frontend.guards import engineer, page_of
from frontend.sweep_form import RULES, SweepForm
from modeling.selectors.expected import estimate_of
from profiling.errors import LabError
from profiling.knobs import KNOB_NAMES
from profiling.models import Sweep
from profiling.modes import STRATEGIES
from profiling.selectors.live import sweep_live, sweep_log
from profiling.selectors.runs import run_list
from profiling.selectors.sweeps import sweep_list, sweep_points, sweep_progress
from profiling.services.sweeps import OPEN, sweep_ask, sweep_cancel, sweep_resume

NEWEST = (F("measured_at").desc(nulls_last=True), "order")


def sweep_list_page(request: HttpRequest) -> HttpResponse:
    page = page_of(request, sweep_list())
    rows = [(sweep, sweep_progress(sweep)) for sweep in page]
    return render(request, "frontend/sweep/list.html", {"page": page, "rows": rows})


def sweep_new_page(request: HttpRequest) -> HttpResponse:
    user = engineer(request)
    asked = request.POST or (request.GET if request.GET.keys() & {"device", "strategy"} else None)
    form = SweepForm(request.POST) if request.POST else SweepForm(initial=request.GET.dict())
    sweep = attempt(form, lambda: sweep_ask(question=form.question(), user=user)) if form.is_valid() else None
    if sweep is not None:
        return redirect("sweep-detail", sweep.pk)
    context = {"form": form, **expectation(asked)}
    return render(request, "frontend/sweep/new.html", context, status=422 if form.errors else 200)


def sweep_estimate_part(request: HttpRequest) -> HttpResponse:
    return render(request, "frontend/sweep/_estimate.html", expectation(request.GET))


def expectation(data: QueryDict | None) -> dict[str, Any]:
    """What the sweep in the form would take; nothing while the form is not complete."""
    form = SweepForm(data) if data else None
    if form is None or not form.is_valid():
        return {"incomplete": form.errors if form else {}}
    try:
        question = form.question()
        return {"estimate": estimate_of(question), "question": question}
    except LabError as error:
        return {"hindrance": error.message}


def sweep_page(request: HttpRequest, pk: int) -> HttpResponse:
    sweep = get_object_or_404(sweep_list().select_related("device__device_model"), pk=pk)
    context = {
        "sweep": sweep,
        "under_way": sweep.state in OPEN,
        "progress": sweep_progress(sweep),
        "live": sweep_live(sweep),
        "log": sweep_log(sweep),
        "figure": sweep_figure(sweep_points(sweep)),
        "page": page_of(request, run_list().filter(sweep=sweep).order_by(*NEWEST)),
        "again": again(sweep),
    }
    live_part = getattr(request, "htmx", False)
    template = "frontend/sweep/_live.html" if live_part else "frontend/sweep/detail.html"
    return render(request, template, context)


def again(sweep: Sweep) -> str:
    """The request page's address with the same choices, as a query."""
    options, query = sweep.options, QueryDict(mutable=True)
    query.update({"device": sweep.device.slug, "workload": sweep.workload.slug, "strategy": sweep.strategy})
    given = {name: options[name] for name in ("count", "seed", "dvfs", "baseload") if options.get(name)}
    query.update(
        {**given, **{name: options["rules"][name] for name in RULES if name in options.get("rules", {})}}
    )
    if sweep.strategy not in STRATEGIES:
        query["strategy"] = "list"
    if query["strategy"] == "list":
        knobs = sweep.runs.order_by("order").values_list(*KNOB_NAMES)
        query["modes"] = "\n".join(" ".join(map(str, mode)) for mode in knobs)
    return query.urlencode()


@require_POST
def sweep_end(request: HttpRequest, pk: int) -> HttpResponse:
    engineer(request)
    sweep_cancel(sweep=get_object_or_404(Sweep, pk=pk))
    return redirect("sweep-detail", pk)


@require_POST
def sweep_take_up(request: HttpRequest, pk: int) -> HttpResponse:
    engineer(request)
    sweep_resume(sweep=get_object_or_404(Sweep.objects.select_related("device"), pk=pk))
    return redirect("sweep-detail", pk)
