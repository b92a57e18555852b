"""How long a minibatch takes: kernels behind their launches, then the host, then the loader's queue.

Arrays are over n power modes; clocks in GHz, times in ms.
"""

from dataclasses import dataclass

import numpy as np

from profiling.board.emulation.demand import Demand, FloatArray
from profiling.board.emulation.silicon import Silicon

LAUNCH_CYCLES = 21e3  # CPU cycles to launch one kernel from eager PyTorch
GAP_CYCLES = 1800.0  # GPU cycles between dependent kernels
MISSES_PER_KCYCLE = 1.6  # CPU cache misses that wait for the memory
DEPENDENT_READS = 4.0  # memory latencies a kernel cannot hide
SERIAL_SHARE = 0.30  # of the shorter of arithmetic and traffic that does not overlap the longer
SPIN_CORES = 1.36  # the training process spins on the GPU, and its helper threads want some
SYSTEM_GHZ = 0.08  # what the operating system itself takes, whatever the clock
PREFETCH = 2  # minibatches each loader worker keeps ready
SERVICE_CV = 0.25  # how uneven minibatches are to load


@dataclass(frozen=True)
class Clocks:
    """n power modes in the law's units: cores, and GHz."""

    cores: FloatArray
    cpu: FloatArray
    gpu: FloatArray
    mem: FloatArray


@dataclass(frozen=True)
class Timing:
    """Arrays (n,). The busy shares are of time_ms; traffic in bytes per ms."""

    time_ms: FloatArray
    stall_ms: FloatArray
    gpu_busy: FloatArray
    arithmetic: FloatArray  # share of the multipliers' full use
    gpu_traffic: FloatArray
    loader_cores: FloatArray  # cores kept busy by the loader
    main_busy: FloatArray  # share of one core the training process burns
    loader_traffic: FloatArray


def memory_bytes_per_ns(silicon: Silicon, mem: FloatArray) -> FloatArray:
    """Bandwidth in bytes per ns: refresh and bus turnaround eat more of it at low clocks."""
    return silicon.bus_bytes * mem * (0.84 - 0.035 / (0.2 + mem))


def memory_latency_ns(mem: FloatArray) -> FloatArray:
    return 48.0 + 52.0 / mem


def cpu_ms(cycles: float | FloatArray, silicon: Silicon, clocks: Clocks, slow: FloatArray) -> FloatArray:
    """CPU work: cycles at the clock, plus misses that no clock speeds up; `slow` multiplies both."""
    waiting = cycles * MISSES_PER_KCYCLE / 1e3 * memory_latency_ns(clocks.mem)
    return slow * (cycles / (clocks.cpu * silicon.ipc) + waiting) / 1e6


def timing(demand: Demand, silicon: Silicon, clocks: Clocks) -> Timing:
    """Two passes: the loader's traffic slows the kernels, and how much depends on the time itself."""
    crowding, slow_main = _crowding(demand, silicon, clocks)
    loaded = np.zeros_like(clocks.cpu)
    for _ in range(2):
        result = _pass(demand, silicon, clocks, crowding, slow_main, loaded)
        share = result.loader_traffic / (memory_bytes_per_ns(silicon, clocks.mem) * 1e6)
        loaded = np.clip(share, 0.0, 0.35)
    return result


def _crowding(demand: Demand, silicon: Silicon, clocks: Clocks) -> tuple[FloatArray, FloatArray]:
    """Slow-down of workers sharing a cluster's cache, and of the main process short of a core of its own."""
    processes = demand.workload.loader_workers + 1
    edges = np.cumsum((0, *silicon.cluster_sizes[:-1]))
    online_clusters = (clocks.cores[:, None] > edges[None, :]).sum(axis=1)
    running = np.minimum(clocks.cores, processes)
    crowding = 1 + 0.07 * (running / online_clusters - 1).clip(min=0)
    short = (processes - clocks.cores).clip(min=0) / processes
    return crowding, crowding * (1 + 0.22 * short)


def _pass(
    demand: Demand,
    silicon: Silicon,
    clocks: Clocks,
    crowding: FloatArray,
    slow_main: FloatArray,
    loaded: FloatArray,
) -> Timing:
    kernels, moved = _kernels(demand, silicon, clocks, loaded)
    launch = cpu_ms(LAUNCH_CYCLES, silicon, clocks, slow_main)
    gpu_done = _pipeline(kernels, demand.launches[:, None] * launch)
    host = cpu_ms(demand.host_cycles, silicon, clocks, slow_main)
    sample = cpu_ms(demand.loader_cycles, silicon, clocks, crowding)
    step = gpu_done + host + _copy(demand, silicon, clocks)
    stall, load = _loader(demand, clocks, step, sample)
    total = step + stall
    input_bytes = demand.workload.minibatch * demand.network.sample_mb * 1e6
    return Timing(
        time_ms=total,
        stall_ms=stall,
        gpu_busy=kernels.sum(axis=0) / total,
        arithmetic=demand.flops.sum() / (silicon.multipliers * clocks.gpu * 1e6) / total,
        gpu_traffic=moved.sum(axis=0) / total,
        loader_cores=np.minimum(load / total, clocks.cores),
        main_busy=np.where(clocks.cores > 1, 1.0, step / total),
        loader_traffic=6 * input_bytes / total,
    )


def _kernels(
    demand: Demand, silicon: Silicon, clocks: Clocks, loaded: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Per group and mode, shape (groups, n): time in ms, bytes moved."""
    blocks = demand.network.blocks * demand.workload.minibatch
    slots = silicon.sm_count * 8
    filled = blocks / (np.ceil(blocks / slots) * slots)  # the last wave of blocks leaves units idle
    rate = silicon.multipliers * demand.network.efficiency * filled * clocks.gpu * 1e6
    arithmetic = demand.flops[:, None] / rate
    kept = demand.network.reuse / (1 + (demand.cache_mb / silicon.l2_mb) ** 2)
    moved = (demand.bytes * (1 - kept))[:, None] * np.ones_like(clocks.gpu)
    bandwidth = memory_bytes_per_ns(silicon, clocks.mem) * (1 - loaded)
    path = np.minimum(bandwidth, silicon.path_bytes * clocks.gpu)
    waiting = demand.launches[:, None] * DEPENDENT_READS * memory_latency_ns(clocks.mem) / 1e6
    traffic = moved / (path * 1e6) + waiting
    gaps = demand.launches[:, None] * GAP_CYCLES / (clocks.gpu * 1e6)
    longer, shorter = np.maximum(arithmetic, traffic), np.minimum(arithmetic, traffic)
    return longer + SERIAL_SHARE * shorter + gaps, moved


def _pipeline(kernels: FloatArray, launches: FloatArray) -> FloatArray:
    """When the GPU is done: each group starts when launched and when the one before it is through."""
    launched = np.zeros(kernels.shape[1])
    done = np.zeros(kernels.shape[1])
    for kernel, launch in zip(kernels, launches, strict=True):
        # A group can run as soon as its first kernels are there, and not end before its last one is.
        done = np.maximum(np.maximum(done, launched + 0.15 * launch) + kernel, launched + launch)
        launched = launched + launch
    return done


def _copy(demand: Demand, silicon: Silicon, clocks: Clocks) -> FloatArray:
    """Collating the minibatch and handing it to the GPU: the same memory twice over, half the bandwidth."""
    moved = 2 * demand.workload.minibatch * demand.network.sample_mb * 1e6
    return moved / (0.5 * memory_bytes_per_ns(silicon, clocks.mem) * 1e6)


def _loader(
    demand: Demand, clocks: Clocks, step: FloatArray, sample: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Wait for the next minibatch, and CPU time spent preparing one, both in ms.

    Without workers the main process prepares it itself. With them, a queue: it waits for what is missing,
    and a little even when workers are fast enough, as minibatches are uneven and the queue is short.
    """
    workers = demand.workload.loader_workers
    work = demand.workload.minibatch * sample
    if workers == 0:
        return work, work
    own = np.where(clocks.cores > 1, clocks.cores - SPIN_CORES, 0.42)
    free = (own - SYSTEM_GHZ / clocks.cpu).clip(min=0.2)
    period = work / np.minimum(workers, free)
    blur = SERVICE_CV * period / np.sqrt(PREFETCH * workers) + 1e-9
    lack = (period - step) / blur
    return blur * np.logaddexp(0.0, lack), work
