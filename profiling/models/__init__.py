from profiling.models.access import ApiToken
from profiling.models.audit import AuditEntry
from profiling.models.catalog import DeviceModel, PowerMode
from profiling.models.datasets import Dataset, DatasetRun, DatasetVersion
from profiling.models.inventory import Device, Workload, WorkloadPackage
from profiling.models.people import Invitation
from profiling.models.runs import Run, Sweep, Telemetry
from profiling.models.saved_views import SavedView
from profiling.models.uploads import Transfer, Upload

__all__ = [
    "ApiToken",
    "AuditEntry",
    "Dataset",
    "DatasetRun",
    "DatasetVersion",
    "Device",
    "DeviceModel",
    "Invitation",
    "PowerMode",
    "Run",
    "SavedView",
    "Sweep",
    "Telemetry",
    "Transfer",
    "Upload",
    "Workload",
    "WorkloadPackage",
]
