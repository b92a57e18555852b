from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from frontend.browsing import Browse
from frontend.list_columns import DEVICE_COLUMNS, DEVICE_KINDS, DEVICE_WORDS
from frontend.small_lists import counted_facets, names_of, narrowed
from profiling.models import Device, SavedView
from profiling.selectors.devices import alive_since, device_list
from profiling.selectors.runs import run_list
from profiling.selectors.sweeps import sweep_list


def device_list_page(request: HttpRequest) -> HttpResponse:
    found = narrowed(device_list(), request.GET, DEVICE_KINDS, DEVICE_WORDS)
    browse = Browse(request, "Boards", SavedView.Page.DEVICES, DEVICE_COLUMNS, "name", names_of(DEVICE_KINDS))
    browse.take(found, device_list(), lambda device: reverse("device-detail", args=[device.slug]), count=True)
    facets = counted_facets(Device, request.GET, DEVICE_KINDS, DEVICE_WORDS)
    return render(request, "frontend/device/list.html", {"browse": browse, "facets": facets})


def device_page(request: HttpRequest, slug: str) -> HttpResponse:
    device = get_object_or_404(device_list(), slug=slug)
    context = {
        "device": device,
        "alive_since": alive_since(),
        "sweeps": sweep_list().filter(device=device)[:10],
        "runs": run_list().filter(device=device)[:10],
    }
    return render(request, "frontend/device/detail.html", context)
