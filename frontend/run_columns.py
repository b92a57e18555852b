from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import mark_safe

from frontend.browsing import Column
from frontend.templatetags.lab import ago, mhz, or_dash
from frontend.templatetags.runs import of_run
from profiling.models import Run

EMULATED = mark_safe(' <span class="tag emulated">emulated</span>')  # noqa: S308 - no foreign part


def _board(run: Run) -> str:
    label = EMULATED if run.emulated else ""
    return format_html("{}{}", run.device or run.device_model, label)


def _state(run: Run) -> str:
    flags = format_html_join("", ' <span class="tag flag">{}</span>', ((flag,) for flag in run.flags))
    return format_html('<span class="tag {}">{}</span>{}', run.state, run.state, flags)


def _file(run: Run) -> Any:
    return or_dash(run.upload and run.upload.filename, "measured by an agent, not imported")


def _number(name: str, title: str, unit: str, thousand: bool = False, usual: bool = True) -> Column:
    return Column(name, title, lambda run: of_run(run, name, thousand), unit, name, True, usual)


def _clock(name: str, title: str) -> Column:
    return Column(name, title, lambda run: mhz(getattr(run, name)), "MHz", name, True)


RUN_COLUMNS = (
    Column("id", "Run", lambda run: run.pk, sort="pk"),
    Column("workload", "Workload", lambda run: run.workload, sort="workload__name"),
    Column("board", "Board", _board, sort="device_model__name"),
    Column("cores", "Cores", lambda run: or_dash(run.cores), sort="cores", number=True),
    _clock("cpu_khz", "CPU"),
    _clock("gpu_khz", "GPU"),
    _clock("mem_khz", "Memory"),
    Column("minibatch", "Minibatch", lambda run: run.minibatch, "samples", "minibatch", True),
    _number("time_ms", "Time", "ms per minibatch"),
    _number("power_mw", "Power", "W", True),
    _number("energy_mj", "Energy", "J per minibatch", True),
    _number("time_sd_ms", "Spread", "sd, ms", usual=False),
    _number("fetch_ms", "Fetch", "ms", usual=False),
    _number("compute_ms", "Compute", "ms", usual=False),
    _number("minibatches", "Minibatches", "timed", usual=False),
    _number("power_samples", "Power samples", "distinct", usual=False),
    Column("file", "File", _file, usual=False),
    Column(
        "uploader",
        "Uploaded by",
        lambda run: or_dash(run.upload and run.upload.uploader, "not imported"),
        usual=False,
    ),
    Column("measured_at", "Measured", lambda run: ago(run.measured_at), sort="measured_at", usual=False),
    Column("created", "Stored", lambda run: ago(run.created), sort="created", usual=False),
    Column("state", "State", _state),
)
