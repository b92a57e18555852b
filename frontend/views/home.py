from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from frontend.plan_form import question_words
from modeling.models import Predictor
from modeling.selectors.plans import plan_list
from modeling.selectors.predictors import newest_ready, predictor_list
from profiling.models import Sweep, Upload
from profiling.selectors.devices import alive_since, device_list
from profiling.selectors.search import search
from profiling.selectors.sweeps import sweep_list
from profiling.selectors.uploads import WAITING_FOR_PEOPLE, upload_list
from profiling.selectors.workloads import workload_list

SHOWN = 6


def home_page(request: HttpRequest) -> HttpResponse:
    workloads: Any = workload_list().order_by("-created")[:SHOWN]
    context = {
        "workloads": workloads,
        "measured": any(workload.run_count for workload in workloads),
        "devices": device_list().filter(retired=False)[:SHOWN],
        "alive_since": alive_since(),
        "ready": newest_ready()[:SHOWN],
        "plans": [(plan, question_words(plan.question)) for plan in plan_list().order_by("-created")[:SHOWN]],
        "api_address": request.build_absolute_uri("/api/v1/"),
    }
    return render(request, "frontend/home/home.html", context | attention())


def attention() -> dict[str, Any]:
    """What runs just now, and what waits for a person."""
    return {
        "sweeps": sweep_list().filter(state__in=(Sweep.State.PENDING, Sweep.State.RUNNING))[:SHOWN],
        "waiting_uploads": upload_list().filter(state__in=WAITING_FOR_PEOPLE)[:SHOWN],
        "failed_uploads": upload_list().filter(state=Upload.State.FAILED)[:SHOWN],
        "failed_predictors": predictor_list().filter(state=Predictor.State.FAILED)[:SHOWN],
        "stale_predictors": newest_ready().filter(prediction_set__stale=True)[:SHOWN],
    }


def search_page(request: HttpRequest) -> HttpResponse:
    words = request.GET.get("q", "").strip()
    return render(
        request, "frontend/home/search.html", {"words": words, "found": search(words) if words else {}}
    )
