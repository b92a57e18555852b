"""What the page of runs is asked, as it stands in the address: facets, ranges, dates and words."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.http import QueryDict

from frontend.browsing import Chip, Facet, address, facet_chips, hidden_fields
from profiling.filter_fields import Filters, filters_in, query_of
from profiling.knobs import KNOB_NAMES
from profiling.run_filters import RunApiFilter
from profiling.selectors.facets import FACETS, run_facets
from profiling.selectors.runs import run_list

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
# What the panel offers; datasets are not counted, since a run may be in any number of them.
PANEL = (*FACETS, "dataset")
DATES = ("created", "measured_at")
DATE_FILTERS = {f"{name}__{end}" for name in DATES for end in ("gte", "lte")}
RUN_FILTERS = tuple(RunApiFilter.base_filters)
# Of facets whose values say all by themselves.
TITLES = {name: dict(RunApiFilter.base_filters[name].extra["choices"]) for name in ("emulated", "flagged")}
SIGNS = {"gte": "≥", "lte": "≤"}


def filters_asked(asked: QueryDict) -> dict[str, str | list[str]]:
    """What of the address filters runs, as the API takes it."""
    return filters_in(asked, RUN_FILTERS)


def filters_anywhere(asked: QueryDict) -> dict[str, str | list[str]]:
    """The same for programs and datasets, whose days may begin at another hour than the reader's."""
    moments = filtered_runs(asked).form.cleaned_data
    return {
        name: moments[name].isoformat() if name in DATE_FILTERS and moments.get(name) else value
        for name, value in filters_asked(asked).items()
    }


def filtered_runs(asked: QueryDict) -> RunApiFilter:
    return RunApiFilter(filters_asked(asked), run_list()).lenient()


def counted(chosen: RunApiFilter) -> dict[str, Any]:
    """The facets of the runs asked for; see run_facets."""
    return run_facets(chosen.apart_from(FACETS), chosen.chosen(FACETS))


def facets_of(chosen: RunApiFilter, counts: Mapping[str, Any] | None) -> list[Facet]:
    """Once counted, only choices that would leave something."""
    facets, now = [], chosen.chosen(PANEL)
    for name, label in FACET_LABELS.items():
        taken, found = now.get(name, []), counts["facets"][name] if counts else None
        options = [
            (value, title, found.get(value, 0) if found is not None else None)
            for value, title in _choices(chosen, name)
            if found is None or value in found or value in taken
        ]
        facets.append(Facet(name, label, taken, options))
    datasets = [(value, title, None) for value, title in _choices(chosen, "dataset")]
    return facets + ([Facet("dataset", "Dataset", now.get("dataset", []), datasets)] if datasets else [])


def _choices(chosen: RunApiFilter, name: str) -> list[tuple[str, str]]:
    if name == "uploader":
        people = User.objects.filter(upload__isnull=False).distinct().order_by("username")
        return [(each, each) for each in people.values_list("username", flat=True)]
    field: Any = chosen.form.fields[name]
    return list(field.choices)


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
    ranges, facets = ranges_of(asked, counts), facets_of(chosen, counts)
    return {
        "facets": facets,
        "counts": counts,
        "ranges": ranges,
        "open_ranges": any(each["low"] or each["high"] for each in ranges),
        "chips": chips(asked, facets),
        "unseen": hidden_fields(asked, set(asked) - set(unseen_filters(asked))),
        "faults": faults(chosen),
    }


def unseen_filters(asked: QueryDict) -> dict[str, str | list[str]]:
    """What filters and has no field of its own on the page."""
    ends = {f"{name}__{end}" for name in RANGE_LABELS for end in ("gte", "lte")}
    return {
        name: value for name, value in filters_asked(asked).items() if name not in {*PANEL, "search", *ends}
    }


def chips(asked: QueryDict, facets: Sequence[Facet]) -> list[Chip]:
    """What filters: its words, and the address without it."""
    plain = {name: value for name, value in filters_asked(asked).items() if name not in (*PANEL, "search")}
    return [
        *facet_chips(asked, facets),
        *(Chip(f"{_words(name)} {value}", address(asked, **{name: None})) for name, value in plain.items()),
    ]


def _words(name: str) -> str:
    base, _, sign = name.partition("__")
    label = FACET_LABELS.get(base) or RANGE_LABELS.get(base) or base.capitalize()
    return f"{label} {SIGNS.get(sign, '=')}"


def filters_words(filters: Filters) -> str:
    """'Workload = resnet or bert, Power, mW ≤ 20000'"""
    return ", ".join(_filter_words(name, values) for name, values in query_of(filters).lists())


def _filter_words(name: str, values: list[str]) -> str:
    titles = TITLES.get(name)
    if titles and all(value in titles for value in values):
        return " or ".join(titles[value] for value in values)
    return f"{_words(name)} {' or '.join(values)}"


def faults(chosen: RunApiFilter) -> list[str]:
    """Filters whose value makes no sense, which leave nothing out."""
    return [f"{_words(name)[:-2]}: {said[0]} Left out." for name, said in chosen.form.errors.items()]
