from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.db.models import QuerySet

from modeling.models import Evaluation

OPEN = (Evaluation.State.PENDING, Evaluation.State.RUNNING)
Row = dict[str, Any]


@dataclass(frozen=True)
class Contest:
    """Results that may be compared: one target, one way of sampling. Rows by method, then by modes."""

    title: str
    target: str
    sampling: str
    emulated: bool
    rows: Sequence[Row]

    @property
    def methods(self) -> dict[str, list[Row]]:
        return {name: list(rows) for name, rows in groupby(self.rows, lambda row: row["method"])}


def evaluation_list() -> QuerySet[Evaluation]:
    return Evaluation.objects.select_related("workload", "device_model", "requested_by")


def leaderboard(*, target: str = "", sampling: str = "", method: str = "") -> list[Row]:
    """Every result of every finished evaluation; a newer evaluation's result takes an older one's place."""
    newest: dict[tuple[Any, ...], Row] = {}
    for evaluation in evaluation_list().filter(state=Evaluation.State.READY).order_by("id"):
        about = {"evaluation": evaluation.pk, "title": evaluation.title, "emulated": evaluation.emulated}
        for result in evaluation.results:
            names = ("target", "method", "sampling", "profiled")
            newest[(evaluation.title, *(result[name] for name in names))] = {**about, **result}
    given = {"target": target, "sampling": sampling, "method": method}
    wanted = {name: value for name, value in given.items() if value}
    rows = (row for row in newest.values() if all(row[name] == value for name, value in wanted.items()))
    return sorted(rows, key=lambda row: (row["title"], row["target"], row["profiled"], row["time_mape"]))


def leaderboard_choices() -> dict[str, list[str]]:
    """What the leaderboard can be filtered by."""
    rows = leaderboard()
    return {name: sorted({row[name] for row in rows}) for name in ("target", "sampling", "method")}


def contests(rows: Sequence[Row]) -> list[Contest]:
    def which(row: Row) -> tuple[str, str, str]:
        return row["title"], row["target"], row["sampling"]

    ordered = sorted(rows, key=lambda row: (*which(row), row["method"], row["profiled"]))
    return [
        Contest(*names, emulated=any(row["emulated"] for row in found), rows=found)
        for names, same in groupby(ordered, which)
        if (found := list(same))
    ]
