"""What the minibatch draws, by part of the chip: switching, leakage, memory, and what is lost on the way.

Arrays are over n power modes; watts.
"""

from dataclasses import dataclass

import numpy as np

from profiling.board.emulation.demand import FloatArray
from profiling.board.emulation.silicon import Rail, Silicon
from profiling.board.emulation.timing import Clocks, Timing

STEP_V = 0.0125  # regulators move in steps of 12.5 mV
LEAK_PER_C = 0.014  # leakage grows this fast with temperature
LEAK_PER_V = 2.4
REFERENCE_C = 45.0
AMBIENT_C = 27.0
IDLE_CORE = 0.045  # of a busy core's switching, while it waits for an interrupt
GPU_CLOCK_TREE = 0.06  # of the GPU's full switching, whenever it is clocked
GPU_BUSY = 0.14
GPU_ARITHMETIC = 0.75
GPU_PATH = 0.34


@dataclass(frozen=True)
class Parts:
    """Watts (n,) of each part after its regulator; `lost` is what the regulators and the board keep."""

    gpu: FloatArray
    cpu: FloatArray
    soc: FloatArray
    dram: FloatArray
    base: FloatArray
    lost: FloatArray

    @property
    def total(self) -> FloatArray:
        return self.gpu + self.cpu + self.soc + self.dram + self.base + self.lost


@dataclass(frozen=True)
class Activity:
    """What moves, arrays (n,): shares of full use, busy cores, and memory traffic."""

    gpu_busy: FloatArray
    arithmetic: FloatArray
    gpu_bytes_per_ns: FloatArray
    busy_cores: FloatArray
    bytes_per_ns: FloatArray


def voltage(rail: Rail, clock: FloatArray, top: float) -> FloatArray:
    """Volts at a clock: the table's floor up to the knee, then rising, up to the next regulator step."""
    above = ((clock / top - rail.knee) / (1 - rail.knee)).clip(min=0.0)
    volts = rail.floor_v + (rail.top_v - rail.floor_v) * above**1.25
    return np.ceil(volts / STEP_V - 1e-9) * STEP_V


def working(timing: Timing) -> Activity:
    return Activity(
        gpu_busy=timing.gpu_busy,
        arithmetic=timing.arithmetic,
        gpu_bytes_per_ns=timing.gpu_traffic / 1e6,
        busy_cores=timing.main_busy + timing.loader_cores,
        bytes_per_ns=(timing.gpu_traffic + timing.loader_traffic) / 1e6,
    )


def resting(clocks: Clocks) -> Activity:
    """Nothing runs but the system's own housekeeping."""
    none = np.zeros_like(clocks.cpu)
    return Activity(none, none, none, none + 0.05, none + 0.05)


def draw(activity: Activity, silicon: Silicon, top: Clocks, clocks: Clocks, degrees: FloatArray) -> Parts:
    """Watts at die temperature `degrees`; `top` holds the board's highest clocks."""
    gpu = _gpu(activity, silicon, top, clocks, degrees)
    cpu = _cpu(activity, silicon, top, clocks, degrees)
    soc_v = voltage(silicon.soc_rail, clocks.mem, float(top.mem[0])) / silicon.soc_rail.top_v
    soc = silicon.controller_w * clocks.mem / top.mem * soc_v**2
    dram = silicon.dram_idle_w * (0.25 + 0.75 * clocks.mem / top.mem)
    dram = dram + silicon.dram_nj_per_byte * activity.bytes_per_ns
    used = gpu + cpu + soc + dram
    # Regulators lose a fixed part and a part that grows with the square of the current.
    half = 0.5 * (silicon.gpu_w + silicon.base_w)
    lost = silicon.loss * (0.5 * half + 0.5 * used**2 / half)
    return Parts(gpu, cpu, soc, dram, np.full_like(used, silicon.base_w), lost)


def _leak(watts: float, rail: Rail, volts: FloatArray, degrees: FloatArray) -> FloatArray:
    warm = np.exp(LEAK_PER_C * (degrees - REFERENCE_C))
    return watts * volts / rail.top_v * np.exp(LEAK_PER_V * (volts - rail.top_v)) * warm


def _gpu(
    activity: Activity, silicon: Silicon, top: Clocks, clocks: Clocks, degrees: FloatArray
) -> FloatArray:
    volts = voltage(silicon.gpu_rail, clocks.gpu, float(top.gpu[0]))
    toggling = GPU_CLOCK_TREE + GPU_BUSY * activity.gpu_busy + GPU_ARITHMETIC * activity.arithmetic
    path = GPU_PATH * activity.gpu_bytes_per_ns / (0.84 * silicon.bus_bytes * top.mem)
    switching = silicon.gpu_w * (volts / silicon.gpu_rail.top_v) ** 2
    leak = _leak(silicon.gpu_leak_w, silicon.gpu_rail, volts, degrees)
    return switching * (toggling * clocks.gpu / top.gpu + path) + leak


def _cpu(
    activity: Activity, silicon: Silicon, top: Clocks, clocks: Clocks, degrees: FloatArray
) -> FloatArray:
    volts = voltage(silicon.cpu_rail, clocks.cpu, float(top.cpu[0]))
    edges = np.cumsum((0, *silicon.cluster_sizes[:-1]))
    clusters = (clocks.cores[:, None] > edges[None, :]).sum(axis=1)
    busy = np.minimum(activity.busy_cores, clocks.cores)
    cores = busy + IDLE_CORE * (clocks.cores - busy)
    switching = (volts / silicon.cpu_rail.top_v) ** 2 * clocks.cpu / top.cpu
    leak = _leak(silicon.core_leak_w, silicon.cpu_rail, volts, degrees) * clocks.cores
    return switching * (silicon.core_w * cores + silicon.cluster_w * clusters) + leak
