from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST
from django_htmx.http import trigger_client_event

from frontend.forms import UploadForm
from frontend.guards import HtmxRequest, engineer, page_of
from frontend.mapping_form import mapping_context, mapping_of
from profiling.errors import InvalidInput, NotFound
from profiling.models import Upload, Workload
from profiling.selectors.progress import time_left
from profiling.selectors.uploads import UNDER_WAY, upload_list
from profiling.services.uploads import upload_choose, upload_map, upload_receive, upload_undo


def upload_or_404(pk: int) -> Upload:
    return get_object_or_404(
        Upload.objects.select_related("workload", "device_model", "device", "uploader"), pk=pk
    )


@require_POST
def upload_send(request: HtmxRequest, slug: str) -> HttpResponse:
    user = engineer(request)
    workload = get_object_or_404(Workload, slug=slug)
    form = UploadForm(request.POST, request.FILES)
    if not form.is_valid():
        raise InvalidInput(" ".join(f"{name}: {said[0]}" for name, said in form.errors.items()))
    files, about = form.cleaned_data.pop("file"), form.cleaned_data
    uploads = [upload_receive(file=file, user=user, workload=workload, **about)[0] for file in files]
    if request.htmx:
        return render(request, "frontend/upload/_rows.html", {"uploads": uploads})
    return redirect("upload-detail", uploads[0].pk) if len(uploads) == 1 else redirect("upload-list")


def upload_list_page(request: HttpRequest) -> HttpResponse:
    return render(request, "frontend/upload/list.html", {"page": page_of(request, upload_list())})


def upload_page(request: HtmxRequest, pk: int) -> HttpResponse:
    upload = upload_or_404(pk)
    left = time_left(since=upload.state_since, done=upload.rows_done, total=upload.rows_total)
    context = {"upload": upload, "under_way": upload.state in UNDER_WAY, "left": left}
    if upload.state == Upload.State.MAPPING:
        context |= mapping_context(upload.proposal or {})
    template = "frontend/upload/_state.html" if request.htmx else "frontend/upload/detail.html"
    return render(request, template, context)


def upload_row(request: HttpRequest, pk: int) -> HttpResponse:
    upload = upload_or_404(pk)
    answer = render(request, "frontend/upload/_row.html", {"upload": upload})
    return answer if upload.state in UNDER_WAY else trigger_client_event(answer, "runs-changed")


@require_POST
def upload_map_columns(request: HttpRequest, pk: int) -> HttpResponse:
    user, upload = engineer(request), upload_or_404(pk)
    columns = (upload.proposal or {}).get("columns", [])
    upload_map(upload=upload, user=user, mapping=mapping_of(columns, request.POST))
    return redirect("upload-detail", pk)


@require_POST
def upload_decide(request: HttpRequest, pk: int) -> HttpResponse:
    user, upload = engineer(request), upload_or_404(pk)
    upload_choose(upload=upload, user=user, choice=request.POST.get("choice", ""))
    return redirect("upload-detail", pk)


@require_POST
def upload_take_back(request: HttpRequest, pk: int) -> HttpResponse:
    user, upload = engineer(request), upload_or_404(pk)
    upload_undo(upload=upload, user=user)
    return redirect("upload-detail", pk)


def upload_report(request: HttpRequest, pk: int) -> HttpResponse | FileResponse:
    upload = upload_or_404(pk)
    if not upload.report:
        raise NotFound(f"{upload.filename} has no report: every line read so far was good.")
    name = f"{upload.filename}-problems.csv"
    return FileResponse(upload.report.open(), as_attachment=True, filename=name)
