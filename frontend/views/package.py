from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from frontend.guards import engineer
from profiling.errors import InvalidInput
from profiling.models import Workload
from profiling.receiving import ReceivedFile
from profiling.services.packages import package_receive


@require_POST
def package_send(request: HttpRequest, slug: str) -> HttpResponse:
    user = engineer(request)
    workload = get_object_or_404(Workload, slug=slug)
    file = request.FILES.get("file")
    if not isinstance(file, ReceivedFile):
        raise InvalidInput("Choose a file: a zip with workload.py, a .pt2 or an .onnx.")
    package, new = package_receive(workload=workload, file=file, user=user)
    messages.success(request, f"{package} is kept." if new else f"{package} was here already.")
    return redirect("workload-detail", slug)
