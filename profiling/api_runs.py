from typing import Any

from rest_framework import viewsets

from profiling.filters import RunApiFilter
from profiling.models import Run
from profiling.selectors.runs import run_list
from profiling.serializers import RunSerializer


class RunViewSet(viewsets.ReadOnlyModelViewSet):
    queryset = Run.objects.none()
    serializer_class = RunSerializer
    filterset_class = RunApiFilter

    def get_queryset(self) -> Any:
        return run_list()
