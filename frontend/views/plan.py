from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_POST
from django_htmx.http import HttpResponseClientRedirect

from frontend.charts import plan_columns, plan_marks
from frontend.guards import HtmxRequest, engineer, page_of, webgl_allowed
from frontend.plan_extras_form import asked_extras
from frontend.plan_form import PlanForm, address_of, question_words
from modeling.selectors.charts import plan_chart_data
from modeling.selectors.landscape import landscape
from modeling.selectors.plans import plan_list
from modeling.selectors.predictors import newest_ready
from modeling.selectors.verifications import verification_of, verifying_boards
from modeling.services.plans import plan_make, plan_save
from profiling.errors import Conflict, InvalidInput

DAY_S = 86_400


def asked_question(request: HttpRequest) -> PlanForm:
    form = PlanForm(request.POST or request.GET)
    if not form.is_valid():
        raise InvalidInput(" ".join(f"{name}: {said[0]}" for name, said in form.errors.items()))
    return form


def answered(form: PlanForm) -> dict[str, Any]:
    pair = {name: form.cleaned_data[name] for name in ("workload", "device_model")}
    question = form.question()
    try:
        answer = plan_make(**pair, question=question)
    except Conflict as hindrance:
        return {**pair, "form": form, "hindrance": hindrance.message}
    land = landscape(**pair, predictor_id=question.predictor_id)
    form.offer_minibatches(land.minibatches)
    boards = verifying_boards(device_model=answer.device_model, emulated=answer.provenance.emulated)
    extras = asked_extras(form.data, pair["device_model"])
    shown = {"answer": answer, "marks": plan_marks(land, answer), "boards": boards, "extras": extras}
    return {**pair, "form": form, **shown}


@gzip_page
@webgl_allowed
def plan_page(request: HttpRequest) -> HttpResponse:
    if not (request.GET.get("workload") and request.GET.get("device_model")):
        ready = newest_ready()[:50]
        return render(
            request, "frontend/plan/choose.html", {"form": PlanForm(request.GET or None), "ready": ready}
        )
    template = "frontend/plan/_answer.html" if getattr(request, "htmx", False) else "frontend/plan/plan.html"
    return render(request, template, answered(asked_question(request)))


@gzip_page
def plan_columns_file(request: HttpRequest) -> HttpResponse:
    """Every mode's columns in binary. The address names the prediction set, so the answer may be kept."""
    form = asked_question(request)
    asked = form.cleaned_data
    land = landscape(
        workload=asked["workload"], device_model=asked["device_model"], predictor_id=asked["predictor"]
    )
    size = asked["minibatch"]
    minibatch = size if isinstance(size, int) else land.default_minibatch()
    body = plan_columns(plan_chart_data(land=land, minibatch=minibatch))
    answer = HttpResponse(body, content_type="application/octet-stream")
    answer["Cache-Control"] = f"private, max-age={DAY_S}, immutable"
    return answer


def plan_nvpmodel(request: HttpRequest) -> HttpResponse:
    form = asked_question(request)
    asked = form.cleaned_data
    answer = plan_make(
        workload=asked["workload"], device_model=asked["device_model"], question=form.question()
    )
    if not answer.feasible:
        raise Conflict("No mode keeps this budget, so there is none to download. Loosen a limit.")
    file = HttpResponse(answer.nvpmodel, content_type="text/plain; charset=utf-8")
    file["Content-Disposition"] = f'attachment; filename="{answer.workload}-{answer.device_model}.conf"'
    return file


@require_POST
def plan_keep(request: HtmxRequest) -> HttpResponse:
    user = engineer(request)
    form = asked_question(request)
    asked = form.cleaned_data
    answer = plan_make(
        workload=asked["workload"], device_model=asked["device_model"], question=form.question()
    )
    plan = plan_save(answer=answer, user=user)
    address = reverse("plan-detail", args=[plan.pk])
    return HttpResponseClientRedirect(address) if request.htmx else redirect(address)


def plan_list_page(request: HttpRequest) -> HttpResponse:
    page = page_of(request, plan_list().order_by("-created"))
    rows = [(plan, question_words(plan.question)) for plan in page]
    return render(request, "frontend/plan/list.html", {"page": page, "rows": rows})


def plan_detail_page(request: HttpRequest, pk: int) -> HttpResponse:
    plan = get_object_or_404(plan_list(), pk=pk)
    pair = {"workload": plan.workload.slug, "device_model": plan.device_model.slug}
    emulated = plan.answer["provenance"]["emulated"]
    context = {
        "verification": verification_of(plan),
        "boards": verifying_boards(device_model=pair["device_model"], emulated=emulated),
        "plan": plan,
        "answer": plan.answer,
        "words": question_words(plan.question),
        "address": address_of(pair, plan.question),
    }
    return render(request, "frontend/plan/detail.html", context)
