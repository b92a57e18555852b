"""What became of a run: each correction, who made it, when, why, and what it changed."""

from dataclasses import dataclass
from typing import Any

from profiling.models import Run
from profiling.selectors.runs import run_history
from profiling.services.runs import CORRECTABLE

MOST = 100


@dataclass(frozen=True)
class Revision:
    """run: as it stood from then on. changes: field, value before, value after; none for the first."""

    run: Run
    changes: list[tuple[str, Any, Any]]


def run_revisions(run: Run) -> list[Revision]:
    """The first measurement first; empty for a run that was never corrected."""
    chain = [run]
    while chain[0].revises_id and len(chain) < MOST:
        chain.insert(0, run_history().get(pk=chain[0].revises_id))
    while (later := run_history().filter(revises=chain[-1]).first()) and len(chain) < MOST:
        chain.append(later)
    if len(chain) == 1:
        return []
    changes = [_changes(before, after) for before, after in zip(chain, chain[1:], strict=False)]
    return [Revision(each, made) for each, made in zip(chain, [[], *changes], strict=True)]


def _changes(before: Run, after: Run) -> list[tuple[str, Any, Any]]:
    values = [(name, getattr(before, name), getattr(after, name)) for name in CORRECTABLE]
    return [(name, old, new) for name, old, new in values if old != new]
