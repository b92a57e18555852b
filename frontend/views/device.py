from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from frontend.browsing import Browse
from frontend.list_columns import DEVICE_COLUMNS, DEVICE_KINDS
from frontend.small_lists import list_answer
from profiling.filters import DeviceFilter
from profiling.models import SavedView
from profiling.selectors.devices import alive_since, device_list
from profiling.selectors.runs import run_list
from profiling.selectors.sweeps import sweep_list


def device_list_page(request: HttpRequest) -> HttpResponse:
    chosen = DeviceFilter(request.GET, device_list()).lenient()
    browse = Browse(request, "Boards", SavedView.Page.DEVICES, DEVICE_COLUMNS, "name", chosen.filters)
    browse.take(
        chosen.qs, device_list(), lambda device: reverse("device-detail", args=[device.slug]), count=True
    )
    return list_answer(request, "frontend/device/list.html", browse, chosen, DEVICE_KINDS)


def device_page(request: HttpRequest, slug: str) -> HttpResponse:
    device = get_object_or_404(device_list(), slug=slug)
    context = {
        "device": device,
        "alive_since": alive_since(),
        "sweeps": sweep_list().filter(device=device)[:10],
        "runs": run_list().filter(device=device)[:10],
    }
    return render(request, "frontend/device/detail.html", context)
