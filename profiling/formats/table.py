"""Tables of measurements: any file of rows in, typed columns in kHz, ms and mW out, every bad line named."""

from collections.abc import Callable, Iterator
from itertools import chain

import numpy as np

from profiling.errors import InvalidInput
from profiling.formats.batches import Batch, Rows
from profiling.formats.columns import recognise
from profiling.formats.guessing import propose
from profiling.formats.mapping import Mapping
from profiling.formats.parsed import Parsed
from profiling.formats.plausible import Hints
from profiling.formats.problems import FormatError, Limits
from profiling.formats.proposal import Proposal
from profiling.formats.repeats import Repeated
from profiling.formats.table_reader import TableReader

Progress = Callable[[int], None]


class MappingNeeded(InvalidInput):
    """The columns are not clear: show `proposal` to the user and come back with a Mapping."""

    code = "mapping_needed"

    def __init__(self, proposal: Proposal) -> None:
        super().__init__(
            "say which column holds what: " + " ".join(proposal.questions), proposal=proposal.to_json()
        )
        self.proposal = proposal


def read_rows_as(
    rows: Rows,
    mapping: Mapping | None,
    hints: Hints,
    limits: Limits,
    repeats: Repeated = "refuse",
    progress: Progress | None = None,
) -> Parsed:
    """All rows, checked. Without a mapping the proposal is used if certain, else MappingNeeded is raised."""
    batches = rows.batches
    if mapping is None:
        first, batches = _peek(batches)
        _check_any(rows, first)
        proposal = propose(rows, first, hints)
        if not proposal.certain:
            raise MappingNeeded(proposal)
        mapping = proposal.mapping
    mapping.check(rows.header)
    reader = TableReader(mapping, hints, limits, rows.missing)
    for batch in batches:
        reader.take(batch)
        if progress:
            progress(reader.row_count)
    return reader.finish(repeats)


def _check_any(rows: Rows, first: Batch) -> None:
    if len(first) or (first.problems and len(rows.header) > 1 and any(map(recognise, rows.header))):
        return
    if not first.problems:
        raise FormatError("the file has a header and no line below it")
    bad = first.problems[0]
    raise FormatError(
        f"no line fits the header; the first is line {bad.line}, which {bad.reason}. "
        f"Is a title above the header? Begin it with #, or take it away."
    )


def propose_for(rows: Rows, hints: Hints) -> Proposal:
    first, _ = _peek(rows.batches)
    return propose(rows, first, hints)


def _peek(batches: Iterator[Batch]) -> tuple[Batch, Iterator[Batch]]:
    """The first batch that has rows, or problems if none has; and all batches again."""
    seen: list[Batch] = []
    for batch in batches:
        seen.append(batch)
        if len(batch):
            break
    told = [batch for batch in seen if len(batch)] or [batch for batch in seen if batch.problems]
    first = told[0] if told else Batch(np.zeros(0, dtype=np.int64), {})
    return first, chain(seen, batches)
