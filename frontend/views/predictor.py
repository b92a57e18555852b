from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from frontend.forms import PredictorForm
from frontend.guards import HtmxRequest, engineer, page_of
from frontend.predictor_charts import own_figures, worst_held_out
from modeling.models import Predictor
from modeling.selectors.predictors import newer_fit, predictor_list, usual_fit_time
from modeling.selectors.verifications import verifying_boards
from modeling.services.drift import drift_check
from modeling.services.predictors import predictor_request, predictor_retry
from profiling.errors import InvalidInput
from profiling.models import Device
from profiling.selectors.fitting import RULE, fitting

UNDER_WAY = (Predictor.State.PENDING, Predictor.State.FITTING)


def predictor_list_page(request: HttpRequest) -> HttpResponse:
    context = {"page": page_of(request, predictor_list()), "form": PredictorForm(initial=request.GET.dict())}
    context["rule"] = RULE
    return render(request, "frontend/predictor/list.html", context)


def predictor_page(request: HtmxRequest, pk: int) -> HttpResponse:
    predictor = get_object_or_404(predictor_list(), pk=pk)
    context = {
        "predictor": predictor,
        "under_way": predictor.state in UNDER_WAY,
        "usual": usual_fit_time(method=predictor.method) if predictor.state in UNDER_WAY else None,
        "newer": newer_fit(predictor),
        "boards": verifying_boards(device_model=predictor.device_model.slug, emulated=predictor.emulated),
        "figures": own_figures(predictor.card),
        "worst": worst_held_out(predictor.card),
        "fitting": fitting(workload=predictor.workload, device_model=predictor.device_model),
        "rule": RULE,
    }
    template = "frontend/predictor/_state.html" if request.htmx else "frontend/predictor/detail.html"
    return render(request, template, context)


@require_POST
def predictor_ask(request: HttpRequest) -> HttpResponse:
    user = engineer(request)
    form = PredictorForm(request.POST)
    if not form.is_valid():
        raise InvalidInput(" ".join(f"{name}: {said[0]}" for name, said in form.errors.items()))
    asked = form.cleaned_data
    references = list(asked.pop("references")) or None
    predictor = predictor_request(user=user, references=references, **asked)
    return redirect("predictor-detail", predictor.pk)


@require_POST
def predictor_again(request: HttpRequest, pk: int) -> HttpResponse:
    engineer(request)
    predictor_retry(predictor=get_object_or_404(Predictor.objects.defer("artefact"), pk=pk))
    return redirect("predictor-detail", pk)


@require_POST
def predictor_check_drift(request: HttpRequest, pk: int) -> HttpResponse:
    user = engineer(request)
    boards = Device.objects.filter(retired=False).select_related("device_model")
    board = get_object_or_404(boards, slug=request.POST.get("board", ""))
    sweep = drift_check(predictor=get_object_or_404(predictor_list(), pk=pk), device=board, user=user)
    return redirect("sweep-detail", sweep.pk)
