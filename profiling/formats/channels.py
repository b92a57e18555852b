"""The columns of a long log, kept so that a million rows find room."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Channel: TypeAlias = NDArray[np.float64] | pa.Array  # (n,): numbers, NaN unknown; or text, null unknown
ROWS_A_BLOCK = 50_000
GLANCE = 100


class Block(NamedTuple):
    rows: int
    columns: dict[str, Channel]


class Channels(Mapping[str, Channel]):
    """Name → channel (n,). Kept in blocks, and each number in as few bytes as hold it exactly."""

    def __init__(self, columns: Mapping[str, Channel] | None = None) -> None:
        self._blocks: list[Block] = []
        self._gathered: list[Block] = []
        if columns:
            self.add(len(next(iter(columns.values()))), columns)

    def add(self, rows: int, columns: Mapping[str, Channel]) -> None:
        """More rows; a channel that they lack, or that those before lacked, is unknown there."""
        self._gathered.append(Block(rows, dict(columns)))
        if sum(block.rows for block in self._gathered) >= ROWS_A_BLOCK:
            self._close()

    def _close(self) -> None:
        if self._gathered:
            names = dict.fromkeys(name for block in self._gathered for name in block.columns)
            whole = {name: _smallest(_whole(name, self._gathered)) for name in names}
            self._blocks.append(Block(sum(block.rows for block in self._gathered), whole))
            self._gathered = []

    def blocks(self) -> Iterator[dict[str, Channel]]:
        """All channels, some rows at a time."""
        self._close()
        names = list(self)
        for block in self._blocks:
            yield {name: _whole(name, [block]) for name in names}

    def put(self, name: str, values: NDArray[np.floating]) -> None:
        """A channel (n,) that stands before all others, instead of one of that name."""
        self._close()
        ends = np.cumsum([block.rows for block in self._blocks])
        for place, (block, end) in enumerate(zip(self._blocks, ends, strict=True)):
            self._blocks[place] = block._replace(
                columns={name: values[end - block.rows : end], **block.columns}
            )

    def where(self, keep: NDArray[np.bool_]) -> "Channels":
        """The rows that are kept; keep (n,)."""
        self._close()
        kept, start = Channels(), 0
        for block in self._blocks:
            here = keep[start : start + block.rows]
            columns = {name: _where(values, here) for name, values in block.columns.items()}
            kept._blocks.append(Block(int(here.sum()), columns))
            start += block.rows
        return kept

    def __getitem__(self, name: str) -> Channel:
        if name not in self:
            raise KeyError(name)
        self._close()
        return _whole(name, self._blocks)

    def __contains__(self, name: object) -> bool:
        """Without joining the channel, as a Mapping would to find out."""
        return name in set(self)

    def __iter__(self) -> Iterator[str]:
        return iter(
            dict.fromkeys(name for block in (*self._blocks, *self._gathered) for name in block.columns)
        )

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _where(values: Channel, keep: NDArray[np.bool_]) -> Channel:
    if keep.all():
        return values
    return values[keep] if isinstance(values, np.ndarray) else values.filter(pa.array(keep))


def _whole(name: str, blocks: list[Block]) -> Channel:
    parts = [(block.rows, block.columns.get(name)) for block in blocks]
    if any(isinstance(part, pa.Array) for _, part in parts):
        return pa.concat_arrays([_as_text(rows, part) for rows, part in parts])
    return np.concatenate(
        [np.full(rows, np.nan) if part is None else part for rows, part in parts], dtype=np.float64
    )


def _as_text(rows: int, part: Channel | None) -> pa.Array:
    if part is None:
        return pa.nulls(rows, pa.string())
    return pa.array(part, from_pandas=True).cast(pa.string()) if isinstance(part, np.ndarray) else part


def _smallest(values: Channel) -> Channel:
    """The very same numbers in 2 or 4 bytes each, if they all go."""
    if not isinstance(values, np.ndarray):
        return values
    for kind in (np.float16, np.float32):
        if _same(values[:GLANCE], kind) and _same(values, kind):
            return values.astype(kind)
    return values


def _same(values: NDArray[np.float64], kind: type[np.floating]) -> bool:
    with np.errstate(over="ignore"):
        return bool(((values.astype(kind) == values) | np.isnan(values)).all())
