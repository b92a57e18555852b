"""Which runs: the filters of a page's address and the API's, and of datasets, which are such filters."""

from collections.abc import Collection
from functools import reduce
from operator import or_
from typing import Any

import django_filters as filters
from django.db.models import BooleanField, Case, Exists, F, OuterRef, Q, QuerySet, Value, When
from django.db.models.lookups import GreaterThan, In

from profiling.errors import InvalidInput
from profiling.filter_fields import (
    MOST_WORDS,
    BooleanFilter,
    ChoicesFilter,
    FacetedFilter,
    Filters,
    FromFilter,
    IdFilter,
    SeveralFilter,
    SlugsField,
    SlugsFilter,
    TruthsFilter,
    UntilFilter,
    WordsFilter,
)
from profiling.flags import BIT, FLAGS
from profiling.models import Dataset, DatasetRun, DatasetVersion, Device, DeviceModel, Run, Upload, Workload
from profiling.selectors.heat import AXES, OF, VALUES
from profiling.selectors.runs import cheapest_first, run_history, run_list
from profiling.selectors.search import words_of

RANGE = ["exact", "gte", "lte"]
MOST_KEYS = 1000
MOST_DEEP = 8
FEW_RUNS = 50_000
ADD, REMOVE = "add", "remove"
Within = tuple[str, ...]
Held = Dataset | DatasetVersion  # what a dataset holds now, or what a version of it does


class DatasetsField(SlugsField):
    """As `slug`, or with a version's number as `slug~2`."""

    @property
    def choices(self) -> list[tuple[str, str]]:
        told: dict[str, str] = {}
        rows = self.queryset.order_by("name", "-versions__number")
        for slug, name, number in rows.values_list("slug", "name", "versions__number"):
            told.setdefault(slug, name)
            told |= {f"{slug}~{number}": f"{name}, version {number}"} if number else {}
        return [*told.items()]

    def look_up(self, values: Collection[str]) -> dict[str, Held]:
        found: dict[str, Held] = super().look_up({each.partition("~")[0] for each in values})
        known = DatasetVersion.objects.select_related("dataset").defer("card")
        versions = known.filter(dataset__slug__in=found) if "~" in "".join(values) else ()
        return found | {each.slug: each for each in versions}


class DatasetsFilter(SlugsFilter):
    field_class = DatasetsField


class RunApiFilter(FacetedFilter):
    workload = SlugsFilter(queryset=Workload.objects.all())
    device_model = SlugsFilter(queryset=DeviceModel.objects.all(), label="Device model")
    device = SlugsFilter(queryset=Device.objects.all())
    state = ChoicesFilter(choices=Run.State.choices, method="with_state")
    emulated = TruthsFilter(yes="emulated", no="real", label="Source")
    sweep = IdFilter()
    upload = IdFilter()
    cores = filters.NumberFilter()
    minibatch = filters.NumberFilter()
    search = WordsFilter(method="with_words", label="words in workload, board or file; or a number")
    kind = ChoicesFilter(choices=Workload.Kind.choices, method="with_kind")
    flag = ChoicesFilter(
        choices=[(flag, flag) for flag in FLAGS], method="with_flag", label="carries this quality flag"
    )
    uploader = SeveralFilter(
        field_name="upload__uploader__username", method="with_uploader", label="who uploaded it"
    )
    flagged = TruthsFilter(
        yes="any flag", no="no flag", method="with_any_flag", label="carries any quality flag"
    )
    dataset = DatasetsFilter(
        queryset=Dataset.objects.all(),
        method="with_dataset",
        label="kept in a dataset now, or in a version: slug~2",
    )
    created__gte = FromFilter(field_name="created", lookup_expr="gte")
    created__lte = UntilFilter(field_name="created", lookup_expr="lte")
    measured_at__gte = FromFilter(field_name="measured_at", lookup_expr="gte")
    measured_at__lte = UntilFilter(field_name="measured_at", lookup_expr="lte")

    class Meta:
        model = Run
        fields = {
            "id": ["gte", "lte"],
            "minibatch": RANGE,
            "cores": RANGE,
            "cpu_khz": RANGE,
            "gpu_khz": RANGE,
            "mem_khz": RANGE,
            "time_ms": ["gte", "lte"],
            "power_mw": ["gte", "lte"],
            "energy_mj": ["gte", "lte"],
        }

    def __init__(
        self, data: Any = None, queryset: QuerySet[Run] | None = None, within: Within = (), **more: Any
    ) -> None:
        """within: the datasets whose filters these are, the outermost first."""
        super().__init__(data, queryset, **more)
        self.within = within
        whole = queryset is not None and self.is_bound and not within
        if whole and Run.State.SUPERSEDED in self.data.getlist("state"):
            self.queryset = run_history()

    def filter_queryset(self, runs: QuerySet[Run]) -> QuerySet[Run]:
        return cheapest_first(super().filter_queryset(runs))

    def with_words(self, runs: QuerySet[Run], name: str, text: str) -> QuerySet[Run]:
        for word in words_of(text)[:MOST_WORDS]:
            told = _told(word)
            runs = runs.filter(told) if told else runs.none()
        return runs

    def with_state(self, runs: QuerySet[Run], name: str, states: list[str]) -> QuerySet[Run]:
        """Of the few runs that are not complete there is an index, taken only if the question says so."""
        runs = runs.filter(state__in=states) if len(states) > 1 else runs.filter(state=states[0])
        return runs if Run.State.COMPLETE in states else runs.exclude(state=Run.State.COMPLETE)

    def with_dataset(self, runs: QuerySet[Run], name: str, value: list[Held]) -> QuerySet[Run]:
        return reduce(or_, (_kept(runs, each, self.within) for each in value))

    def with_kind(self, runs: QuerySet[Run], name: str, kinds: list[str]) -> QuerySet[Run]:
        """By keys: a join tempts SQLite to start from the workloads, and to sort all it finds."""
        return runs.filter(workload__in=_keys(Workload.objects.filter(kind__in=kinds)))

    def with_uploader(self, runs: QuerySet[Run], name: str, usernames: list[str]) -> QuerySet[Run]:
        """With + 0, which keeps SQLite from the index of uploads: somebody may have uploaded every run, and
        all of them would be looked up and sorted."""
        uploads = Upload.objects.filter(uploader__username__in=usernames)
        return runs.filter(In(F("upload_id") + 0, uploads.values("pk"))) if uploads.exists() else runs.none()

    def with_flag(self, runs: QuerySet[Run], name: str, flags: list[str]) -> QuerySet[Run]:
        any_of = sum(BIT[flag] for flag in flags)
        return runs.filter(GreaterThan(F("flag_bits").bitand(any_of), 0))

    def with_any_flag(self, runs: QuerySet[Run], name: str, flagged: list[str]) -> QuerySet[Run]:
        if len(flagged) > 1:
            return runs
        return runs.filter(flag_bits__gt=0) if flagged == ["true"] else runs.filter(flag_bits=0)


def _told(word: str) -> Q:
    """Runs a word speaks of, by what they point at, which the index of runs holds; empty if of nothing."""
    named = Q(name__icontains=word)
    speaks: dict[str, QuerySet[Any]] = {
        "workload": Workload.objects.filter(named | Q(network__icontains=word) | Q(dataset__icontains=word)),
        "device_model": DeviceModel.objects.filter(named),
        "device": Device.objects.filter(named),
        "upload": Upload.objects.filter(filename__icontains=word),
    }
    told = Q(pk=int(word)) if word.isdecimal() and len(word) < 19 else Q()
    for field, found in speaks.items():
        if keys := _keys(found):
            told |= Q(**{f"{field}__in": keys})
    return told


def _keys(found: QuerySet[Any]) -> list[Any] | QuerySet[Any]:
    """As plain numbers while they are few: PostgreSQL counts faster by them than by a subquery."""
    keys = list(found.order_by().values_list("pk", flat=True)[: MOST_KEYS + 1])
    return keys if len(keys) <= MOST_KEYS else found.values("pk")


def _kept(runs: QuerySet[Run], held: Held, within: Within) -> QuerySet[Run]:
    if isinstance(held, Dataset):
        return dataset_runs(held, runs, within)
    members = DatasetRun.objects.filter(version=held)
    if held.run_count <= FEW_RUNS:
        return runs.filter(pk__in=members.values("run"))  # read first
    return runs.filter(Exists(members.filter(run=OuterRef("pk"))))  # looked up, one after the other


def dataset_runs(dataset: Dataset, runs: QuerySet[Run] | None = None, within: Within = ()) -> QuerySet[Run]:
    """Of all runs, or of these, the complete ones its filters leave now, its steps added or removed in turn.
    InvalidInput for filters that make no sense."""
    if dataset.slug in within or len(within) == MOST_DEEP:
        chain = " → ".join([*within, dataset.slug])
        raise InvalidInput(f"A dataset cannot hold itself, nor more than {MOST_DEEP} in each other: {chain}.")
    within = (*within, dataset.slug)
    complete = (run_list() if runs is None else runs).filter(state=Run.State.COMPLETE)
    chosen = _matching(dataset, dataset.filters, complete, within)
    for step in dataset.steps:
        some = _matching(dataset, step["filters"], complete, within)
        chosen = chosen.filter(_not_in(some)) if step["take"] == REMOVE else chosen | some
    return chosen


def _not_in(some: QuerySet[Run]) -> Case:
    """By their conditions, not by their keys, which would have to be found first. What is asked of something
    unknown is neither true nor false: such a run is not among them."""
    is_one: Any = When(some.query.where, then=Value(False))
    return Case(is_one, default=Value(True), output_field=BooleanField())


def _matching(dataset: Dataset, filters: Filters, runs: QuerySet[Run], within: Within) -> QuerySet[Run]:
    chosen = RunApiFilter(filters, runs, within)
    faults: dict[str, Any] = {name: ["no such filter"] for name in set(filters) - set(chosen.filters)}
    if not chosen.is_valid():
        faults |= chosen.errors
    if faults:
        raise InvalidInput(f"The filters of {dataset.name} make no sense; see errors.", errors=faults)
    return chosen.qs


class RunExportFilter(RunApiFilter):
    package = BooleanFilter(method="ignored", label="as a zip, with its provenance beside it")

    def ignored(self, runs: QuerySet[Run], name: str, value: bool) -> QuerySet[Run]:
        return runs


class RunHeatFilter(RunApiFilter):
    x = filters.ChoiceFilter(choices=[(name, name) for name in AXES], method="ignored", label="knob across")
    y = filters.ChoiceFilter(choices=[(name, name) for name in AXES], method="ignored", label="knob upwards")
    value = filters.ChoiceFilter(choices=[(name, name) for name in VALUES], method="ignored")
    of = filters.ChoiceFilter(
        choices=[(name, name) for name in OF], method="ignored", label="what stands for the runs of a cell"
    )

    def ignored(self, runs: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        return runs
