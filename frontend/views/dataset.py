from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from frontend.guards import page_of
from profiling.selectors.published import published_choices, published_list, published_papers
from profiling.selectors.uploads import upload_list


def dataset_list_page(request: HttpRequest) -> HttpResponse:
    return render(request, "frontend/dataset/list.html", {"page": page_of(request, upload_list())})


def published_page(request: HttpRequest) -> HttpResponse:
    asked = {name: request.GET.get(name, "") for name in ("paper", "device_model", "topic")}
    context = {
        "asked": asked,
        "choices": published_choices(),
        "papers": published_papers(),
        "page": page_of(request, published_list(**asked)),
    }
    return render(request, "frontend/dataset/published.html", context)
