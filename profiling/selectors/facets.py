"""How many runs each choice of a filter would leave, and the ranges of what is filtered."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from django.db.models import Count, QuerySet

from profiling.flags import flags_in
from profiling.knobs import KNOB_NAMES
from profiling.models import Device, DeviceModel, Run, Upload, Workload

# In the order of the index run_browse, which alone answers the question.
CELL = ("workload_id", "device_model_id", "state", "emulated", "flag_bits", "device_id", "upload_id")
FACETS = ("workload", "kind", "device_model", "device", "state", "emulated", "uploader", "flag", "flagged")


class Cell(NamedTuple):
    """Runs that agree in every facet."""

    workload_id: int
    device_model_id: int
    state: str
    emulated: bool
    flag_bits: int
    device_id: int | None
    upload_id: int | None
    runs: int


Reader = Callable[[Cell], list[str]]


def run_facets(runs: QuerySet[Run], chosen: Mapping[str, Collection[str]]) -> dict[str, Any]:
    """count: runs that all filters leave. facets: facet → value → runs, as they would be with the other
    filters kept and this one set to the value alone. ranges: see _ranges.

    runs: filtered by everything that is no facet. chosen: facet → its values, of which a run needs one.
    """
    cells = [Cell(*row) for row in _cells(runs)]
    read = _readers(cells)
    facets = {}
    for name in read:
        others = [(read[other], values) for other, values in chosen.items() if other != name]
        facets[name] = _counts(_matching(cells, others), read[name])
    left = _matching(cells, [(read[name], values) for name, values in chosen.items()])
    return {"count": sum(cell.runs for cell in left), "facets": facets, "ranges": _ranges(left)}


def _ranges(cells: list[Cell]) -> dict[str, dict[str, Any]]:
    """Of each knob what the boards found allow, of `created` the lab's first and last run: the bounds of
    what was found would cost half a second a million runs."""
    bounds: dict[str, dict[str, Any]] = {}
    boards = DeviceModel.objects.filter(pk__in={cell.device_model_id for cell in cells})
    for name in KNOB_NAMES:
        steps = [step for board in boards for step in getattr(board, name)]
        bounds[name] = {"min": min(steps, default=None), "max": max(steps, default=None)}
    dates = Run.objects.values_list("created", flat=True)
    bounds["created"] = {"min": dates.order_by("id").first(), "max": dates.order_by("-id").first()}
    return bounds


def _cells(runs: QuerySet[Run]) -> QuerySet[Any, tuple[Any, ...]]:
    plain = runs.select_related(None).defer(None).order_by()
    return plain.values_list(*CELL).annotate(runs=Count("*"))  # of the id, the index would not do


def _matching(cells: list[Cell], wanted: list[tuple[Reader, Collection[str]]]) -> list[Cell]:
    asked = [(read, frozenset(values)) for read, values in wanted]
    return [cell for cell in cells if not any(values.isdisjoint(read(cell)) for read, values in asked)]


def _counts(cells: list[Cell], read: Reader) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for cell in cells:
        for value in read(cell):
            counts[value] += cell.runs
    return dict(counts.most_common())


def _readers(cells: list[Cell]) -> dict[str, Reader]:
    """Facet → the values a cell has of it, as they stand in the address."""
    workloads = {pk: (slug, kind) for pk, slug, kind in Workload.objects.values_list("pk", "slug", "kind")}
    models = dict(DeviceModel.objects.values_list("pk", "slug"))
    devices = dict(Device.objects.values_list("pk", "slug"))
    used = {cell.upload_id for cell in cells}
    people = {
        pk: name for pk, name in Upload.objects.values_list("pk", "uploader__username") if name and pk in used
    }
    flags = {bits: flags_in(bits) for bits in {cell.flag_bits for cell in cells}}
    return {
        "workload": lambda cell: [workloads[cell.workload_id][0]],
        "kind": lambda cell: [workloads[cell.workload_id][1]],
        "device_model": lambda cell: [models[cell.device_model_id]],
        "device": lambda cell: [devices[cell.device_id]] if cell.device_id else [],
        "state": lambda cell: [cell.state],
        "emulated": lambda cell: ["true" if cell.emulated else "false"],
        "uploader": lambda cell: [people[cell.upload_id]] if cell.upload_id in people else [],
        "flag": lambda cell: flags[cell.flag_bits],
        "flagged": lambda cell: ["true" if cell.flag_bits else "false"],
    }
