"""What the server hears when a board enrols."""

from dataclasses import asdict
from typing import Any

from profiling.board.base import Board
from profiling.errors import LabError

SOFTWARE = ("product", "compatible", "jetpack", "l4t", "kernel", "governor")


def description(board: Board) -> dict[str, Any]:
    """Clock tables, software, nvpmodel.conf; what a board cannot tell is None, and `unknown` says why."""
    told = dict(board.describe())
    return {
        "ranges": _ranges(board, told["unknown"]),
        "software": {name: told[name] for name in SOFTWARE if told.get(name) is not None},
        "nvpmodel_conf": told.get("nvpmodel") or "",
        "driver": board.driver,
        "emulated": board.emulated,
        "described": told,
    }


def _ranges(board: Board, unknown: dict[str, str]) -> dict[str, list[int]] | None:
    try:
        return {name: list(values) for name, values in asdict(board.ranges()).items()}
    except LabError as error:
        unknown["ranges"] = error.message
        return None
