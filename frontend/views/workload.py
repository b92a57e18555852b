from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from frontend.browsing import Browse
from frontend.forms import UploadForm, WorkloadForm, attempt
from frontend.guards import engineer
from frontend.list_columns import WORKLOAD_COLUMNS, WORKLOAD_KINDS
from frontend.small_lists import list_answer
from modeling.selectors.predictors import predictor_list
from profiling.filters import WorkloadFilter
from profiling.models import SavedView, Workload
from profiling.selectors.fitting import RULE
from profiling.selectors.uploads import upload_list
from profiling.selectors.workloads import workload_boards, workload_list, workloads_tell
from profiling.services.workloads import workload_create, workload_update


def workload_list_page(request: HttpRequest) -> HttpResponse:
    chosen = WorkloadFilter(request.GET, workload_list()).lenient()
    browse = Browse(request, "Workloads", SavedView.Page.WORKLOADS, WORKLOAD_COLUMNS, "name", chosen.filters)
    whole = Workload.objects.select_related("owner")
    browse.take(
        chosen.qs,
        whole,
        lambda each: reverse("workload-detail", args=[each.slug]),
        workloads_tell,
        count=True,
    )
    return list_answer(request, "frontend/workload/list.html", browse, chosen, WORKLOAD_KINDS)


def workload_page(request: HttpRequest, slug: str) -> HttpResponse:
    workload = get_object_or_404(workload_list(), slug=slug)
    boards = workload_boards(workload)
    context = {
        "workload": workload,
        "boards": boards,
        "rule": RULE,
        "uploads": upload_list().filter(workload=workload)[:20],
        "predictors": predictor_list().filter(workload=workload)[:10],
        "form": UploadForm(initial={"device_model": boards[0]["device_model__slug"] if boards else None}),
    }
    return render(request, "frontend/workload/detail.html", context)


def workload_new_page(request: HttpRequest) -> HttpResponse:
    user = engineer(request)
    form = WorkloadForm(request.POST or None)
    if form.is_valid():
        workload = attempt(form, workload_create, user=user, **form.cleaned_data)
        if workload is not None:
            return redirect("workload-detail", workload.slug)
    return render(request, "frontend/workload/form.html", {"form": form}, status=422 if form.errors else 200)


def workload_edit_page(request: HttpRequest, slug: str) -> HttpResponse:
    user = engineer(request)
    workload = get_object_or_404(workload_list(), slug=slug)
    form = WorkloadForm.of(workload, request.POST or None)
    saved = (
        attempt(form, workload_update, workload=workload, user=user, **form.cleaned_data)
        if form.is_valid()
        else None
    )
    if saved is not None:
        messages.success(request, "Saved.")
        return redirect("workload-detail", workload.slug)
    context = {"form": form, "workload": workload}
    return render(request, "frontend/workload/form.html", context, status=422 if form.errors else 200)
