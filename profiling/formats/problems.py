"""What can be wrong with a file, said so that a person can mend it; and how much of a file is read."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from profiling.errors import InvalidInput

SHOWN_CHARACTERS = 80


class FormatError(InvalidInput):
    """The file as a whole cannot be read."""

    code = "unreadable_file"


class FileTooLarge(FormatError):
    """The file, or what it unpacks to, is over a limit."""

    status = 413
    code = "too_large"


class Problem(NamedTuple):
    """One thing wrong (or odd) on one line, from 1: of a text file, row of a sheet, record of a JSON array.

    Line 0 speaks of the file as a whole; column "" of the whole line. file: which one, of a zip or folder of
    run folders.
    """

    line: int
    column: str
    value: str
    reason: str
    file: str = ""

    def __str__(self) -> str:
        where = f"line {self.line}" if self.line else "file"
        where = f"{self.file}, {where}" if self.file else where
        what = f", {self.column} = {self.value!r}" if self.column else ""
        return f"{where}{what}: {self.reason}"


@dataclass(frozen=True)
class Limits:
    """How much of a file is read before it is refused; bytes unless the name says otherwise."""

    file_bytes: int = 2 << 30
    unpacked_bytes: int = 4 << 30
    in_memory_bytes: int = 64 << 20  # formats that must be held whole: JSON, Excel, packed Parquet
    expansion: int = 200  # unpacked / packed, looked at once `expansion_from` bytes are out
    expansion_from: int = 32 << 20
    line_bytes: int = 1 << 20
    rows: int = 5_000_000
    log_cells: int = 50_000_000  # rows × columns of a log, which is one run and is held whole
    columns: int = 512
    files: int = 20_000  # in a zip or a folder
    problems: int = 10_000  # listed in full; those beyond are counted


@dataclass
class ProblemList:
    """Problems up to a number, the count of all, and every bad line."""

    most: int
    listed: list[Problem] = field(default_factory=list)
    count: int = 0

    def add(self, line: int, column: str, value: object, reason: str, file: str = "") -> None:
        self.count += 1
        if self.count <= self.most:
            self.listed.append(Problem(int(line), column, shown(value), reason, file))

    def add_many(
        self, lines: NDArray[np.int64], column: str, values: Sequence[object], reason: Callable[[int], str]
    ) -> None:
        """One problem a line; `reason(place)` is only asked for those that are listed."""
        room = max(0, self.most - self.count)
        for place in range(min(room, len(lines))):
            self.listed.append(Problem(int(lines[place]), column, shown(values[place]), reason(place)))
        self.count += len(lines)

    def extend(self, problems: Sequence[Problem]) -> None:
        self.listed += problems[: max(0, self.most - self.count)]
        self.count += len(problems)

    def sorted(self) -> list[Problem]:
        return sorted(self.listed, key=lambda problem: (problem.file, problem.line, problem.column))

    def __iter__(self) -> Iterator[Problem]:
        return iter(self.listed)

    def __len__(self) -> int:
        return self.count


def shown(value: object) -> str:
    text = str(value).replace("\0", "\\0")
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"
