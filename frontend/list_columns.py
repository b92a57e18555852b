"""The columns and facets of the lists of workloads, boards and datasets."""

from typing import Any

from django.utils.html import format_html

from frontend.browsing import Column
from frontend.run_columns import EMULATED
from frontend.small_lists import Kind
from frontend.templatetags.lab import ago, or_dash
from profiling.models import Device
from profiling.selectors.devices import alive_since


def _plain(name: str, title: str, why: str = "not known", sort: str = "", usual: bool = True) -> Column:
    def cell(row: Any) -> Any:
        return or_dash(getattr(row, name), why)

    return Column(name, title, cell, sort=sort or name, usual=usual, blank=True)


def _count(name: str, title: str, unit: str = "", none: str = "") -> Column:
    def cell(row: Any) -> str:
        value = getattr(row, name)
        return str(or_dash(None, none)) if value is None else f"{value:,}"

    return Column(name, title, cell, unit, name, True)


def _when(name: str, title: str, usual: bool = True) -> Column:
    return Column(name, title, lambda row: ago(getattr(row, name)), sort=name, usual=usual)


def _device_state(device: Device) -> str:
    label = EMULATED if device.emulated else ""
    if device.retired:
        return format_html('<span class="tag">retired</span>{}', label)
    if device.last_seen is None:
        return format_html('<span class="muted">never seen</span>{}', label)
    if device.last_seen > alive_since():
        return format_html('<span class="dot online"></span> online{}', label)
    words = '<span class="dot"></span> <span class="muted">silent since {}</span>{}'
    return format_html(words, ago(device.last_seen), label)


GONE = "nobody: the owner's account is gone"
OWNER = _plain("owner", "Owner", GONE, sort="owner__username")
NAME = Column("name", "Name", str, sort="name")

WORKLOAD_COLUMNS = (
    NAME,
    _plain("kind", "Kind"),
    _plain("network", "Network"),
    _plain("dataset", "Dataset"),
    _count("minibatch", "Minibatch", "samples"),
    _count("run_count", "Runs"),
    _count("board_count", "Device models"),
    _when("last_run", "Last run"),
    OWNER,
    _plain("precision", "Precision", usual=False),
    _when("created", "Created", usual=False),
)
WORKLOAD_KINDS = (
    Kind("kind", "Kind", "kind"),
    Kind("network", "Network", "network"),
    Kind("dataset", "Dataset", "dataset"),
    Kind("minibatch", "Minibatch", "minibatch"),
    Kind("owner", "Owner", "owner__username"),
)

DEVICE_COLUMNS = (
    NAME._replace(title="Board"),
    _plain("device_model", "Device model", sort="device_model__name"),
    Column("state", "State", _device_state, sort="last_seen"),
    _count("sweeps_open", "Open sweeps"),
    _plain("location", "Location"),
    OWNER,
    Column("driver", "Driver", lambda device: device.get_driver_display(), sort="driver", usual=False),
    _when("last_seen", "Last heard of", usual=False),
    _when("created", "Registered", usual=False),
)
DEVICE_KINDS = (
    Kind("device_model", "Device model", "device_model__slug", "device_model__name"),
    Kind("driver", "Driver", "driver"),
    Kind("location", "Location", "location"),
    Kind("owner", "Owner", "owner__username"),
    Kind("retired", "Retired", "retired"),
)

DATASET_COLUMNS = (
    NAME,
    Column("description", "Description", lambda dataset: dataset.description.split("\n")[0][:120]),
    _plain("licence", "Licence"),
    _count("latest", "Latest version", none="nothing frozen yet"),
    _count("latest_runs", "Its runs", none="nothing frozen yet"),
    _when("frozen", "Frozen"),
    OWNER,
    _when("created", "Created", usual=False),
)
DATASET_KINDS = (Kind("licence", "Licence", "licence"), Kind("owner", "Owner", "owner__username"))
