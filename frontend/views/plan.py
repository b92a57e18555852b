from typing import Any

from csp.decorators import csp_update
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.gzip import gzip_page

from frontend.charts import plan_columns, plan_marks
from frontend.plan_form import PlanForm
from modeling.selectors.charts import plan_chart_data
from modeling.selectors.landscape import landscape
from modeling.selectors.predictors import predictor_list
from modeling.services.plans import plan_make
from profiling.errors import Conflict, InvalidInput

# Plotly's WebGL traces compile their draw calls with Function(); no other page allows that.
webgl_allowed = csp_update({"script-src": ["'self'", "'unsafe-eval'"]})
DAY_S = 86_400


def asked_question(request: HttpRequest) -> PlanForm:
    form = PlanForm(request.GET)
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
    return {**pair, "form": form, "answer": answer, "marks": plan_marks(land, answer)}


@gzip_page
@webgl_allowed
def plan_page(request: HttpRequest) -> HttpResponse:
    if not (request.GET.get("workload") and request.GET.get("device_model")):
        ready = predictor_list().filter(prediction_set__isnull=False)[:50]
        return render(request, "frontend/plan/choose.html", {"form": PlanForm(request.GET), "ready": ready})
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
    minibatch = asked["minibatch"] or land.default_minibatch()
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
