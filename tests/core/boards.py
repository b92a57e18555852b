"""A made-up board and workload for tests of the numerical core: 192 modes, power laws, no noise."""

import numpy as np

from modeling.core.prediction import IntArray, Measured
from profiling.knobs import KnobRange

RANGE = KnobRange(
    cores=(2, 4, 8),
    cpu_khz=(400_000, 800_000, 1_400_000, 2_000_000),
    gpu_khz=(200_000, 500_000, 800_000, 1_200_000),
    mem_khz=(600_000, 1_200_000, 2_400_000, 3_200_000),
)
MODES: IntArray = RANGE.all_modes()
MAXIMUM = RANGE.maximum


def workload(
    name: str = "made-up", gpu: float = 40.0, cpu: float = 30.0, modes: IntArray = MODES
) -> Measured:
    """GPU-bound or CPU-bound parts in ms at full clocks; emulated by two power laws, not measured."""
    cores, u, g, m = (modes[:, :4] / np.array(MAXIMUM)).T
    gpu_ms, cpu_ms = gpu / g**0.8 + 5 / m, cpu / u / cores**0.5
    time = (gpu_ms**3 + cpu_ms**3) ** (1 / 3)
    power = 9_000 + 2_500 * m + 14_000 * g**2 * gpu_ms / time + 5_000 * cores * u**2
    return Measured(name, modes, time, power, board_maximum=MAXIMUM)


def some(measured: Measured, count: int, seed: int = 0) -> IntArray:
    """Rows of a random sample."""
    return np.random.default_rng(seed).choice(len(measured), count, replace=False)


def with_minibatches(sizes: tuple[int, ...] = (1, 4, 16)) -> Measured:
    """The workload at several minibatch sizes: time grows a little less than in proportion."""
    tables = [workload() for _ in sizes]
    knobs = [np.column_stack([MODES, np.full(len(MODES), size)]) for size in sizes]
    time = [table.time_ms * size**0.9 for table, size in zip(tables, sizes, strict=True)]
    power = [table.power_mw * size**0.05 for table, size in zip(tables, sizes, strict=True)]
    return Measured("batches", np.vstack(knobs), np.concatenate(time), np.concatenate(power))
