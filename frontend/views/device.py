from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from frontend.guards import page_of
from profiling.selectors.devices import alive_since, device_list
from profiling.selectors.runs import run_list
from profiling.selectors.sweeps import sweep_list


def device_list_page(request: HttpRequest) -> HttpResponse:
    context = {"page": page_of(request, device_list()), "alive_since": alive_since()}
    return render(request, "frontend/device/list.html", context)


def device_page(request: HttpRequest, slug: str) -> HttpResponse:
    device = get_object_or_404(device_list(), slug=slug)
    context = {
        "device": device,
        "alive_since": alive_since(),
        "sweeps": sweep_list().filter(device=device)[:10],
        "runs": run_list().filter(device=device)[:10],
    }
    return render(request, "frontend/device/detail.html", context)
