from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST
from django_htmx.http import HttpResponseClientRedirect

from frontend.guards import HtmxRequest, engineer
from frontend.views.plan import asked_question
from modeling.selectors.plans import plan_list
from modeling.selectors.verifications import verification_of
from modeling.services.plans import plan_make, plan_save
from modeling.services.verification import plan_verify
from profiling.models import Device


def board_named(request: HttpRequest) -> Device:
    boards = Device.objects.filter(retired=False).select_related("device_model")
    return get_object_or_404(boards, slug=request.POST.get("board", ""))


@require_POST
@transaction.atomic
def plan_verify_asked(request: HtmxRequest) -> HttpResponse:
    """Keep what the planner shows and measure it, in one step."""
    user, board = engineer(request), board_named(request)
    form = asked_question(request)
    pair = {name: form.cleaned_data[name] for name in ("workload", "device_model")}
    plan = plan_save(answer=plan_make(**pair, question=form.question()), user=user, device=board)
    plan_verify(plan=plan, device=board, user=user)
    address = reverse("plan-detail", args=[plan.pk])
    return HttpResponseClientRedirect(address) if request.htmx else redirect(address)


@require_POST
def plan_verify_kept(request: HttpRequest, pk: int) -> HttpResponse:
    user, board = engineer(request), board_named(request)
    plan_verify(plan=get_object_or_404(plan_list(), pk=pk), device=board, user=user)
    return redirect("plan-detail", pk)


def plan_verification_part(request: HttpRequest, pk: int) -> HttpResponse:
    plan = get_object_or_404(plan_list(), pk=pk)
    context = {"plan": plan, "verification": verification_of(plan)}
    return render(request, "frontend/plan/_verification.html", context)
