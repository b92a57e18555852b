from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from frontend.guards import page_of
from profiling.selectors.uploads import upload_list
from profiling.selectors.workloads import workload_boards, workload_list


def workload_list_page(request: HttpRequest) -> HttpResponse:
    return render(request, "frontend/workload/list.html", {"page": page_of(request, workload_list())})


def workload_page(request: HttpRequest, slug: str) -> HttpResponse:
    workload = get_object_or_404(workload_list(), slug=slug)
    context = {
        "workload": workload,
        "boards": workload_boards(workload),
        "uploads": upload_list().filter(workload=workload)[:20],
    }
    return render(request, "frontend/workload/detail.html", context)
