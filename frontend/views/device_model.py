from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from profiling.models import DeviceModel
from profiling.selectors.devices import device_list, device_model_list


def device_model_list_page(request: HttpRequest) -> HttpResponse:
    return render(request, "frontend/device_model/list.html", {"device_models": device_model_list()})


def device_model_page(request: HttpRequest, slug: str) -> HttpResponse:
    device_model = get_object_or_404(DeviceModel, slug=slug)
    context = {"device_model": device_model, "devices": device_list().filter(device_model=device_model)}
    return render(request, "frontend/device_model/detail.html", context)
