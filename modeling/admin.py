"""Looking at what was fitted and planned; nothing here is typed in by hand."""

from typing import Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from modeling.models import Evaluation, Plan, PredictionSet, Predictor
from modeling.selectors.predictors import predictor_list, set_list


class ReadMostly(admin.ModelAdmin):
    """Fields are shown, never edited; rows may be deleted by those who may."""

    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(Predictor)
class PredictorAdmin(ReadMostly):
    list_display = ["id", "workload", "device_model", "method", "state", "emulated", "created", "fitted"]
    list_filter = ["state", "method", "emulated", "device_model"]
    search_fields = ["workload__name", "workload__slug", "failure"]
    exclude = ["artefact"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return predictor_list()


@admin.register(PredictionSet)
class PredictionSetAdmin(ReadMostly):
    list_display = ["id", "predictor", "mode_count", "minibatches", "stale", "stale_reason", "created"]
    list_filter = ["stale", "predictor__device_model", "predictor__method"]
    search_fields = ["predictor__workload__name"]
    exclude = ["columns"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return set_list()


@admin.register(Plan)
class PlanAdmin(ReadMostly):
    list_display = ["id", "workload", "device_model", "power_mode", "requested_by", "created"]
    list_filter = ["device_model", "workload"]
    list_select_related = ["workload", "device_model", "power_mode", "requested_by"]
    search_fields = ["workload__name", "requested_by__username"]


@admin.register(Evaluation)
class EvaluationAdmin(ReadMostly):
    list_display = ["id", "title", "state", "emulated", "requested_by", "created"]
    list_filter = ["state", "emulated"]
    list_select_related = ["requested_by"]
    search_fields = ["title"]
