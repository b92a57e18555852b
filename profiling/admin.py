"""The staff's tool: the inventory is kept here, measurements are looked at here and changed nowhere."""

from typing import Any

from allauth.account.decorators import secure_admin_login
from django import forms
from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property

from profiling.errors import LabError
from profiling.knobs import KNOB_NAMES, are_steps
from profiling.models import (
    ApiToken,
    Dataset,
    DatasetVersion,
    Device,
    DeviceModel,
    Run,
    Sweep,
    Upload,
    Workload,
    WorkloadPackage,
)
from profiling.services.catalog import power_modes_store
from profiling.services.tokens import token_revoke
from profiling.services.uploads import upload_undo
from profiling.services.workloads import DEFINING

# With the second factor and the rate limits of the site's own sign-in.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]
admin.site.site_header = admin.site.site_title = "jetsonlab"


class HighestIdPaginator(Paginator):
    """Counting a million rows takes longer than showing fifty; unfiltered, the highest id is close enough."""

    @cached_property
    def count(self) -> int:
        rows = self.object_list
        if not isinstance(rows, QuerySet) or rows.query.where:
            return super().count
        return rows.model._default_manager.order_by("-pk").values_list("pk", flat=True).first() or 0


class ReadOnlyAdmin(admin.ModelAdmin):
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class DeviceModelForm(forms.ModelForm):
    class Meta:
        model = DeviceModel
        fields = "__all__"

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        for name in KNOB_NAMES:
            if name in values and not are_steps(values[name]):
                self.add_error(
                    name, "A list of whole numbers above 0, each larger than the one before; or [0]."
                )
        return values


@admin.register(DeviceModel)
class DeviceModelAdmin(admin.ModelAdmin):
    form = DeviceModelForm
    list_display = ["name", "generation", "soc", "gpu", "mode_count", "peak_power_w"]
    list_filter = ["generation"]
    search_fields = ["name", "slug", "soc"]

    def save_model(self, request: HttpRequest, obj: DeviceModel, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if not change or set(form.changed_data) & set(KNOB_NAMES):
            power_modes_store(device_model=obj)


@admin.register(Device)
class DeviceAdmin(admin.ModelAdmin):
    list_display = ["name", "slug", "device_model", "driver", "location", "owner", "retired", "last_seen"]
    list_editable = ["location", "retired"]
    list_filter = ["device_model", "driver", "retired"]
    list_select_related = ["device_model", "owner"]
    list_per_page = 50
    search_fields = ["name", "slug", "location", "notes"]
    raw_id_fields = ["owner"]
    prepopulated_fields = {"slug": ["name"]}
    readonly_fields = ["agent", "status", "software", "own_ranges", "nvpmodel_conf", "last_seen", "created"]
    actions = ["retire", "put_back"]

    @admin.action(description="Retire the chosen boards", permissions=["change"])
    def retire(self, request: HttpRequest, devices: QuerySet[Device]) -> None:
        self._set_retired(request, devices, True)

    @admin.action(description="Put the chosen boards back into service", permissions=["change"])
    def put_back(self, request: HttpRequest, devices: QuerySet[Device]) -> None:
        self._set_retired(request, devices, False)

    def _set_retired(self, request: HttpRequest, devices: QuerySet[Device], retired: bool) -> None:
        for device in devices.filter(retired=not retired):
            device.retired = retired
            device.save(update_fields=["retired"])
            self.log_change(request, device, "Retired." if retired else "Put back into service.")


@admin.register(Workload)
class WorkloadAdmin(admin.ModelAdmin):
    list_display = ["name", "kind", "network", "dataset", "minibatch", "samples_per_epoch", "owner"]
    list_editable = ["samples_per_epoch"]
    list_filter = ["kind", "network", "dataset"]
    list_select_related = ["owner"]
    list_per_page = 50
    search_fields = ["name", "slug", "network", "dataset", "notes"]
    raw_id_fields = ["owner"]
    prepopulated_fields = {"slug": ["name"]}

    def get_readonly_fields(self, request: HttpRequest, obj: Workload | None = None) -> list[str]:
        """What was measured stays what it was."""
        return ["slug", *DEFINING] if obj and obj.runs.exists() else []

    def get_prepopulated_fields(self, request: HttpRequest, obj: Workload | None = None) -> dict[str, Any]:
        return {} if obj else {"slug": ["name"]}


@admin.register(WorkloadPackage)
class WorkloadPackageAdmin(ReadOnlyAdmin):
    list_display = ["filename", "workload", "kind", "size", "sha256", "uploader", "created"]
    list_filter = ["kind"]
    list_select_related = ["workload", "uploader"]
    list_per_page = 50
    search_fields = ["filename", "sha256", "workload__name", "uploader__username"]


@admin.register(Upload)
class UploadAdmin(ReadOnlyAdmin):
    list_display = ["filename", "workload", "device_model", "state", "rows_imported", "problem_count"]
    list_display += ["uploader", "created"]
    list_filter = ["state", "device_model", "emulated"]
    list_select_related = ["workload", "device_model", "uploader"]
    list_per_page = 50
    search_fields = ["filename", "sha256", "workload__name", "uploader__username"]
    date_hierarchy = "created"
    actions = ["undo"]

    @admin.action(description="Take the runs of the chosen files away again")
    def undo(self, request: HttpRequest, uploads: QuerySet[Upload]) -> None:
        for upload in uploads:
            try:
                upload_undo(upload=upload, user=request.user)  # type: ignore[arg-type]
            except LabError as error:
                self.message_user(request, error.message, "error")
            else:
                self.log_change(request, upload, "Undone.")


@admin.register(Dataset)
class DatasetAdmin(admin.ModelAdmin):
    list_display = ["name", "slug", "licence", "owner", "created"]
    list_select_related = ["owner"]
    list_per_page = 50
    search_fields = ["name", "description"]
    raw_id_fields = ["owner"]
    prepopulated_fields = {"slug": ["name"]}


@admin.register(DatasetVersion)
class DatasetVersionAdmin(ReadOnlyAdmin):
    list_display = ["dataset", "number", "run_count", "sha256", "author", "created"]
    list_select_related = ["dataset", "author"]
    list_per_page = 50
    exclude = ["runs"]


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    list_display = ["id", "workload", "device_model", "device", "state", "cores", "cpu_khz", "gpu_khz"]
    list_display += ["mem_khz", "minibatch", "time_ms", "power_mw", "emulated"]
    list_filter = ["state", "emulated", "device_model"]
    list_select_related = ["workload", "device_model", "device"]
    list_per_page = 50
    search_fields = ["=id", "workload__slug"]
    raw_id_fields = ["workload", "device", "power_mode", "sweep", "upload"]
    ordering = ["-id"]
    paginator = HighestIdPaginator
    show_full_result_count = False


@admin.register(Sweep)
class SweepAdmin(ReadOnlyAdmin):
    list_display = ["id", "device", "workload", "strategy", "state", "requested_by", "created"]
    list_filter = ["state", "strategy", "device"]
    list_select_related = ["device", "workload", "requested_by"]
    search_fields = ["workload__name", "device__name"]


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    list_display = [
        "name",
        "prefix",
        "user",
        "scopes",
        "device",
        "created",
        "expires",
        "last_used",
        "revoked",
    ]
    list_filter = ["revoked"]
    list_select_related = ["user", "device"]
    search_fields = ["name", "prefix", "user__username"]
    exclude = ["digest"]
    actions = ["revoke"]

    @admin.action(description="Revoke the chosen tokens")
    def revoke(self, request: HttpRequest, tokens: QuerySet[ApiToken]) -> None:
        for token in tokens:
            token_revoke(token=token, user=request.user)  # type: ignore[arg-type]
            self.log_change(request, token, "Revoked.")
