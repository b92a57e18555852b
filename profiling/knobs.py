"""The four numbers that make a power mode, and the values a board allows for them."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

KNOB_NAMES = ("cores", "cpu_khz", "gpu_khz", "mem_khz")


class Knobs(NamedTuple):
    """Active CPU cores, and CPU, GPU and memory clocks in kHz."""

    cores: int
    cpu_khz: int
    gpu_khz: int
    mem_khz: int

    def __str__(self) -> str:
        cpu, gpu, mem = (f"{khz / 1000:g} MHz" for khz in self[1:])
        return f"{self.cores} core{'s' * (self.cores != 1)}, {cpu} CPU, {gpu} GPU, {mem} memory"


def are_steps(values: Any) -> bool:
    """Whether it is a list of a knob's legal values: ascending and above 0, or 0 alone for a knob that the
    board lacks."""
    whole = isinstance(values, list) and all(type(value) is int for value in values)
    if not whole or not values:
        return False
    return values == [0] or (values[0] > 0 and values == sorted(set(values)))


@dataclass(frozen=True)
class KnobRange:
    """Every legal value of each knob, ascending; clocks in kHz."""

    cores: tuple[int, ...]
    cpu_khz: tuple[int, ...]
    gpu_khz: tuple[int, ...]
    mem_khz: tuple[int, ...]

    @property
    def values(self) -> tuple[tuple[int, ...], ...]:
        """In the order of KNOB_NAMES."""
        return self.cores, self.cpu_khz, self.gpu_khz, self.mem_khz

    @property
    def maximum(self) -> Knobs:
        return Knobs(*(values[-1] for values in self.values))

    @property
    def mode_count(self) -> int:
        return int(np.prod([len(values) for values in self.values]))

    def all_modes(self) -> NDArray[np.int64]:
        """Every power mode, shape (mode_count, 4), cores slowest and memory fastest to vary."""
        grid = np.meshgrid(*self.values, indexing="ij")
        return np.stack([axis.ravel() for axis in grid], axis=1).astype(np.int64)

    def rank(self, knobs: Knobs) -> int:
        """Row of `knobs` in `all_modes()`; ValueError when a value is not legal."""
        rank = 0
        for name, value, values in zip(KNOB_NAMES, knobs, self.values, strict=True):
            if value not in values:
                raise ValueError(f"{name} {value} is not one of {', '.join(map(str, values))}")
            rank = rank * len(values) + values.index(value)
        return rank

    def ranks(self, knobs: NDArray[np.int64]) -> NDArray[np.int64]:
        """`rank` of each row of knobs (n, 4), -1 where a value is not legal."""
        rank, legal = np.zeros(len(knobs), dtype=np.int64), np.ones(len(knobs), dtype=bool)
        for column, values in zip(knobs.T, map(np.array, self.values), strict=True):
            place = np.searchsorted(values, column).clip(max=len(values) - 1)
            legal &= values[place] == column
            rank = rank * len(values) + place
        return np.where(legal, rank, -1)

    def nearest(self, knobs: Knobs) -> Knobs:
        """The legal knobs closest to `knobs`, each knob on its own."""
        return Knobs(
            *(
                min(values, key=lambda legal, wanted=wanted: abs(legal - wanted))  # type: ignore[misc]
                for wanted, values in zip(knobs, self.values, strict=True)
            )
        )
