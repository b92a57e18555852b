"""What the page of runs is asked, as it stands in the address: facets, ranges, dates and words."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.http import QueryDict

from frontend.browsing import Facet, address
from profiling.filters import RunApiFilter
from profiling.knobs import KNOB_NAMES
from profiling.models import Run
from profiling.selectors.facets import FACETS, run_facets
from profiling.selectors.runs import run_history, run_list

FACET_LABELS = dict(
    zip(
        FACETS,
        (
            "Workload",
            "Kind",
            "Device model",
            "Board",
            "State",
            "Source",
            "Uploaded by",
            "Kind of flag",
            "Flags",
        ),
        strict=True,
    )
)
RANGE_LABELS = {
    "cores": "Cores",
    "cpu_khz": "CPU clock, kHz",
    "gpu_khz": "GPU clock, kHz",
    "mem_khz": "Memory clock, kHz",
    "minibatch": "Minibatch, samples",
    "time_ms": "Time, ms",
    "power_mw": "Power, mW",
    "energy_mj": "Energy, mJ",
    "created": "Stored",
    "measured_at": "Measured",
}
DATES = ("created", "measured_at")
DATE_FILTERS = {f"{name}__{end}" for name in DATES for end in ("gte", "lte")}
RUN_FILTERS = tuple(RunApiFilter.base_filters)
TITLES = {
    ("flagged", "true"): "any flag",
    ("flagged", "false"): "no flag",
    ("emulated", "true"): "emulated",
    ("emulated", "false"): "real",
}
SIGNS = {"gte": "≥", "lte": "≤"}


def filters_asked(asked: QueryDict) -> dict[str, str]:
    """What of the address filters runs, as the API takes it."""
    return {name: str(asked[name]) for name in RUN_FILTERS if asked.get(name)}


def filters_anywhere(asked: QueryDict) -> dict[str, str]:
    """The same for programs and datasets, whose days may begin at another hour than the reader's."""
    form = filtered_runs(asked).form
    form.is_valid()
    moments = form.cleaned_data
    return {
        name: moments[name].isoformat() if name in DATE_FILTERS and name in moments else value
        for name, value in filters_asked(asked).items()
    }


def filtered_runs(asked: QueryDict) -> RunApiFilter:
    return RunApiFilter(filters_asked(asked), run_list())


def counted(asked: QueryDict) -> dict[str, Any]:
    """The facets of the runs asked for; see run_facets."""
    wrong = wrong_filters(filtered_runs(asked))
    given = {name: value for name, value in filters_asked(asked).items() if name not in wrong}
    chosen = {name: value for name, value in given.items() if name in FACETS}
    others = {name: value for name, value in given.items() if name not in FACETS}
    shown = run_history() if chosen.get("state") == Run.State.SUPERSEDED else run_list()
    return run_facets(RunApiFilter(others, shown).qs, chosen)


def facets_of(chosen: RunApiFilter, asked: QueryDict, counts: Mapping[str, Any] | None) -> list[Facet]:
    """Once counted, only choices that would leave something."""
    facets = []
    for name, label in FACET_LABELS.items():
        now, found = asked.get(name, ""), counts["facets"][name] if counts else None
        options = [
            (value, title, found.get(value, 0) if found is not None else None)
            for value, title in _choices(chosen, name)
            if found is None or value in found or value == now
        ]
        facets.append(Facet(name, label, now, options))
    return facets


def _choices(chosen: RunApiFilter, name: str) -> list[tuple[str, str]]:
    if name == "uploader":
        people = User.objects.filter(upload__isnull=False).distinct().order_by("username")
        return [(each, each) for each in people.values_list("username", flat=True)]
    if name == "flagged":
        return [(value, TITLES[name, value]) for value in ("true", "false")]
    choices: Any = chosen.form.fields[name].choices
    return [(str(value), str(label)) for value, label in choices if value]


def ranges_of(asked: QueryDict, counts: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Ends of each range; of a knob also what the boards found allow."""
    bounds = counts["ranges"] if counts else {}
    return [
        {
            "name": name,
            "label": label,
            "type": _input_type(name, asked),
            "low": asked.get(f"{name}__gte", ""),
            "high": asked.get(f"{name}__lte", ""),
            "hint": "{min} to {max}".format(**bounds[name]) if _told(bounds, name) else "",
        }
        for name, label in RANGE_LABELS.items()
    ]


def _input_type(name: str, asked: QueryDict) -> str:
    """An hour in the address must not be lost by a field that takes days only."""
    if name not in DATES:
        return "number"
    return "text" if any(":" in asked.get(f"{name}__{end}", "") for end in ("gte", "lte")) else "date"


def _told(bounds: Mapping[str, Any], name: str) -> bool:
    return name in KNOB_NAMES and bounds.get(name, {}).get("min") is not None


def form_context(asked: QueryDict, chosen: RunApiFilter, counts: Mapping[str, Any] | None) -> dict[str, Any]:
    """What the template of the filters shows."""
    ranges = ranges_of(asked, counts)
    return {
        "facets": facets_of(chosen, asked, counts),
        "counts": counts,
        "ranges": ranges,
        "open_ranges": any(each["low"] or each["high"] for each in ranges),
        "chips": chips(asked),
        "faults": faults(chosen),
    }


def chips(asked: QueryDict) -> list[tuple[str, str]]:
    """What filters and is not seen in a select: its words, and the address without it."""
    given = filters_asked(asked)
    plain = [name for name in given if name not in (*FACETS, "search")]
    return [(f"{_words(name)} {given[name]}", address(asked, **{name: None})) for name in plain]


def _words(name: str) -> str:
    base, _, sign = name.partition("__")
    label = FACET_LABELS.get(base) or RANGE_LABELS.get(base) or base.capitalize()
    return f"{label} {SIGNS.get(sign, '=')}"


def filters_words(filters: Mapping[str, Any]) -> str:
    """'Workload = resnet, Power, mW ≤ 20000'"""
    return ", ".join(
        TITLES.get((name, value)) or f"{_words(name)} {value}" for name, value in filters.items()
    )


def wrong_filters(chosen: RunApiFilter) -> dict[str, str]:
    """Filters whose value makes no sense, which leave nothing out: name → what is wrong."""
    wrong = {name: str(said[0]) for name, said in chosen.form.errors.items()}
    if chosen.data.get("flagged", "true") not in ("true", "false"):
        wrong["flagged"] = "Say true or false."
    return wrong


def faults(chosen: RunApiFilter) -> list[str]:
    return [f"{_words(name)[:-2]}: {said} Left out." for name, said in wrong_filters(chosen).items()]
