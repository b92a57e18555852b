from typing import Any

from django.db.models import QuerySet

from modeling.models import Evaluation


def evaluation_list() -> QuerySet[Evaluation]:
    return Evaluation.objects.select_related("workload", "device_model", "requested_by")


def leaderboard(*, target: str = "", sampling: str = "") -> list[dict[str, Any]]:
    """Every result of every finished evaluation; a newer evaluation's result takes an older one's place."""
    newest: dict[tuple[Any, ...], dict[str, Any]] = {}
    for evaluation in evaluation_list().filter(state=Evaluation.State.READY).order_by("id"):
        about = {"evaluation": evaluation.pk, "title": evaluation.title, "emulated": evaluation.emulated}
        for result in evaluation.results:
            names = ("target", "method", "sampling", "profiled")
            newest[(evaluation.title, *(result[name] for name in names))] = {**about, **result}
    wanted = {name: value for name, value in (("target", target), ("sampling", sampling)) if value}
    rows = (row for row in newest.values() if all(row[name] == value for name, value in wanted.items()))
    return sorted(rows, key=lambda row: (row["title"], row["target"], row["profiled"], row["time_mape"]))
