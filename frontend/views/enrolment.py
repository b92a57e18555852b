from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from frontend.forms import BoardsForm, DeviceForm, attempt
from frontend.guards import engineer
from profiling.selectors.devices import device_list
from profiling.services.device_lists import COLUMNS, MOST_BYTES, devices_import, table_text
from profiling.services.devices import device_create, device_token_create, enrol_command


def device_new_page(request: HttpRequest) -> HttpResponse:
    user = engineer(request)
    form = DeviceForm(request.POST or None)
    device = attempt(form, device_create, user=user, **form.cleaned_data) if form.is_valid() else None
    if device is not None:
        return redirect("device-detail", device.slug)
    return render(request, "frontend/device/form.html", {"form": form}, status=422 if form.errors else 200)


def device_list_import_page(request: HttpRequest) -> HttpResponse:
    """A look first; the second time the boards are registered, all or none."""
    user, context = engineer(request), {"form": BoardsForm(), "columns": COLUMNS}
    if request.method == "POST":
        file, keep = request.FILES.get("file"), request.POST.get("step") == "register"
        text = table_text(file.read(MOST_BYTES + 1)) if file else request.POST.get("text", "")
        lines = devices_import(user=user, text=text, keep=keep)
        bad = sum(bool(line.faults) for line in lines)
        if keep and not bad:
            messages.success(request, f"{len(lines)} boards are registered.")
            return redirect("device-list")
        context |= {"form": BoardsForm(initial={"text": text}), "lines": lines, "bad": bad, "text": text}
    return render(request, "frontend/device/import.html", context)


@never_cache
@require_POST
def device_token(request: HttpRequest, slug: str) -> HttpResponse:
    """The one look at a new token, inside the command that uses it."""
    device = get_object_or_404(device_list(), slug=slug)
    _, text = device_token_create(device=device, user=engineer(request))
    command = enrol_command(device=device, server=request.build_absolute_uri("/"), token=text)
    return render(request, "frontend/device/enrol.html", {"device": device, "command": command})
