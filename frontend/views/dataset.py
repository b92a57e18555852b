from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from frontend.browsing import Browse
from frontend.forms import DatasetForm, attempt
from frontend.guards import engineer, page_of
from frontend.list_columns import DATASET_COLUMNS, DATASET_KINDS
from frontend.run_form import filters_anywhere, filters_words
from frontend.small_lists import list_answer
from profiling.filter_fields import Filters
from profiling.filters import DatasetFilter
from profiling.models import Dataset, DatasetVersion, SavedView
from profiling.selectors.datasets import corrected_since, dataset_holds, dataset_list, version_list
from profiling.selectors.published import published_choices, published_list, published_papers
from profiling.services.datasets import (
    dataset_create,
    dataset_freeze,
    dataset_take,
    dataset_update,
    may_change,
)

CARD_COUNTS = {
    "workloads": "Workload",
    "device_models": "Device model",
    "boards": "Board",
    "flags": "Flag",
}


def dataset_list_page(request: HttpRequest) -> HttpResponse:
    chosen = DatasetFilter(request.GET, dataset_list()).lenient()
    browse = Browse(request, "Datasets", SavedView.Page.DATASETS, DATASET_COLUMNS, "name", chosen.filters)
    browse.take(
        chosen.qs, dataset_list(), lambda dataset: reverse("dataset-detail", args=[dataset.slug]), count=True
    )
    return list_answer(request, "frontend/dataset/list.html", browse, chosen, DATASET_KINDS)


def dataset_page(request: HttpRequest, slug: str) -> HttpResponse:
    dataset = get_object_or_404(dataset_list(), slug=slug)
    holds = dataset_holds(dataset)
    steps = [("", dataset.filters), *((step["take"], step["filters"]) for step in dataset.steps)]
    context = {
        "dataset": dataset,
        "holds": holds,
        "runs": sum(row["runs"] for row in holds),
        "steps": [(take, filters_words(filters), run_query(filters)) for take, filters in steps],
        "page": page_of(request, version_list(dataset)),
        "may_write": may_change(dataset, request.user),
    }
    return render(request, "frontend/dataset/detail.html", context)


def dataset_version_page(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """The card of a version, as it was when it was frozen."""
    of = DatasetVersion.objects.select_related("dataset", "author")
    version = get_object_or_404(of, dataset__slug=slug, number=number)
    context = {
        "version": version,
        "dataset": version.dataset,
        "corrected": corrected_since(version),
        **_card(version.card),
    }
    return render(request, "frontend/dataset/version.html", context)


def _card(card: dict[str, Any]) -> dict[str, Any]:
    """As a page tells it."""
    steps = [{"take": "", "filters": card.get("filters", {})}, *card.get("steps", [])]
    return {
        "card": card,
        "counts": [(title, card[name]) for name, title in CARD_COUNTS.items() if card.get(name)],
        "steps": [(step["take"], filters_words(step["filters"])) for step in steps],
    }


def run_query(filters: Filters) -> str:
    return f"{reverse('run-list')}?{urlencode(filters, doseq=True)}"


def dataset_new_page(request: HttpRequest) -> HttpResponse:
    """Of the runs that the address filters."""
    user = engineer(request)
    form, filters = DatasetForm(request.POST or None), filters_anywhere(request.GET)
    if form.is_valid():
        dataset = attempt(form, dataset_create, user=user, filters=filters, **form.cleaned_data)
        if dataset is not None:
            return redirect("dataset-detail", dataset.slug)
    context = {"form": form, "words": filters_words(filters)}
    return render(request, "frontend/dataset/form.html", context, status=422 if form.errors else 200)


def dataset_edit_page(request: HttpRequest, slug: str) -> HttpResponse:
    user, dataset = engineer(request), get_object_or_404(Dataset, slug=slug)
    form = DatasetForm(request.POST or None, initial=vars(dataset))
    if form.is_valid():
        changed = attempt(form, dataset_update, dataset=dataset, user=user, **form.cleaned_data)
        if changed is not None:
            messages.success(request, "Saved. Versions that are frozen keep what they said.")
            return redirect("dataset-detail", slug)
    context = {"form": form, "dataset": dataset}
    return render(request, "frontend/dataset/form.html", context, status=422 if form.errors else 200)


@require_POST
def dataset_change_runs(request: HttpRequest) -> HttpResponse:
    """Adds or removes the runs of a filter, or holds only those."""
    user = engineer(request)
    dataset = get_object_or_404(Dataset, slug=request.POST.get("dataset", ""))
    filters = filters_anywhere(QueryDict(request.POST.get("query", "")))
    dataset_take(dataset=dataset, user=user, take=request.POST.get("take", ""), filters=filters)
    messages.success(request, f"{dataset} has changed. Freeze it when it is right.")
    return redirect("dataset-detail", dataset.slug)


@require_POST
def dataset_step_back(request: HttpRequest, slug: str) -> HttpResponse:
    user, dataset = engineer(request), get_object_or_404(Dataset, slug=slug)
    dataset_update(dataset=dataset, user=user, steps=dataset.steps[:-1])
    messages.success(request, "The last step is taken back.")
    return redirect("dataset-detail", slug)


@require_POST
def dataset_freeze_now(request: HttpRequest, slug: str) -> HttpResponse:
    user, dataset = engineer(request), get_object_or_404(Dataset, slug=slug)
    version = dataset_freeze(dataset=dataset, user=user, notes=request.POST.get("notes", "")[:2000])
    messages.success(request, f"Version {version.number} is frozen: {version.run_count:,} runs.")
    return redirect("dataset-detail", slug)


def published_page(request: HttpRequest) -> HttpResponse:
    asked = {name: request.GET.get(name, "") for name in ("paper", "device_model", "topic")}
    context = {
        "asked": asked,
        "choices": published_choices(),
        "papers": published_papers(),
        "page": page_of(request, published_list(**asked)),
    }
    return render(request, "frontend/dataset/published.html", context)
