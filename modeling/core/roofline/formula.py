"""A roofline for time and power: which part of the chip a minibatch waits for, and what that costs in watts.

Roofline: Williams, Waterman, Patterson, CACM 52(4), 2009: work is bound by compute or by memory. Here
further bounds stand beside these two (kernel launches, data loading), and the clocks move them. Dynamic
power goes with f V(f)^2 (Weste and Harris, CMOS VLSI Design, 4th ed., 2010, ch. 5). docs/science.md has
the formulas as a page.

Everything is in natural logarithms. Clocks and cores are fractions of the board's maximum; times in ms per
minibatch; powers in W.
"""

from dataclasses import dataclass, fields

import numpy as np

from modeling.core.prediction import FloatArray, IntArray, relative
from modeling.core.roofline.dual import Dual, clip, exp, log_norm, log_sum, parameters, softplus

REFERENCE_MINIBATCH = 16  # PowerTrain's; the six times are those of a minibatch of this size

TIME_PARAMETERS = (
    "gpu_compute",  # ln ms of arithmetic at the full GPU clock
    "gpu_memory",  # ln ms of memory traffic at the full memory clock
    "gpu_constant",  # ln ms of GPU time no clock changes
    "launch",  # ln ms one full-speed core needs to launch the kernels
    "loading",  # ln ms all cores at full speed need to load and decode the data
    "serial",  # ln ms of CPU work that overlaps with nothing
    "gpu_sharpness",  # ln(p - 1) of the norm joining compute and memory
    "overlap_sharpness",  # ln(p - 1) of the norm joining GPU and CPU
    "cpu_sharpness",  # ln(p - 1) of the norm joining launching and loading
    "memory_stall",  # ln of how much a core waits for memory at the full memory clock
    "launch_contention",  # ln of how much launching suffers when other work shares few cores
    "cores_lost",  # ln of the cores something else keeps busy
    "half_batch",  # ln of the minibatch size that fills half of the GPU
    "gpu_batch",  # exponent of the minibatch size in GPU compute and memory time, once the GPU is full
    "constant_batch",  # … in the constant GPU time
    "launch_batch",  # … in launching
    "loading_batch",  # … in loading
    "serial_batch",  # … in the serial part
)
POWER_PARAMETERS = (
    "board",  # ln W that no knob changes
    "memory_idle",  # ln W at the full memory clock
    "gpu_idle",  # ln W of the GPU's clock tree
    "gpu_busy",  # ln W while kernels run
    "core_idle",  # ln W of all cores' clocks
    "core_busy",  # ln W of one busy core
    "memory_active",  # ln W while memory is the bound
    "gpu_voltage",  # ln of the rise of V^2 with the cube of the GPU clock
    "cpu_voltage",  # ln of the rise of V^2 with the square of the CPU clock
    "gpu_compute",  # ln W while arithmetic is the bound
    "gpu_feeding",  # ln W of moving data between memory and GPU
    "busy_filling",  # exponent of the GPU's filling in its busy powers
)
SHARPNESS_LIMIT = 3.0  # p between 1 + e^-3 and 1 + e^3: a plain sum … a hard maximum
CORES_LOST_RANGE = (-3.0, 0.55)  # at most e^.55 = 1.7 of at least 2 cores
# Arithmetic and traffic grow with the samples. Left free, the fit of a table finds a second optimum that is
# no GPU: one that no minibatch fills, with an exponent of 1.8.
GPU_BATCH_RANGE = (0.85, 1.15)
HALF_BATCH_RANGE = (-4.0, 4.0)  # half full with less than one sample … with 55
CORES_LEFT_LEAST = 0.25  # of a single core; with two or more the range above leaves more


@dataclass(frozen=True)
class Settings:
    """Modes as the formula sees them, each (1, modes): ln of cores, CPU, GPU and memory clock as a
    fraction of the board's maximum; the number of cores and the board's; ln of minibatch / 16."""

    core_log: FloatArray
    cpu_log: FloatArray
    gpu_log: FloatArray
    mem_log: FloatArray
    cores: FloatArray
    batch_log: FloatArray
    cores_maximum: float

    def __getitem__(self, rows: IntArray | slice) -> "Settings":
        taken = {f.name: getattr(self, f.name)[:, rows] for f in fields(self) if f.name != "cores_maximum"}
        return Settings(**taken, cores_maximum=self.cores_maximum)

    def __len__(self) -> int:
        return self.cores.shape[1]


def settings(knobs: IntArray, maximum: FloatArray) -> Settings:
    """knobs (modes, 4 or 5), the fifth the minibatch size; maximum (4,) of the board."""
    values: FloatArray = np.asarray(knobs, dtype=float)
    cores, cpu, gpu, mem = np.log(relative(knobs, maximum)).T[:, None, :]
    sizes = values[:, 4] if values.shape[1] > 4 else np.full(len(values), REFERENCE_MINIBATCH)
    sizes_log = np.log(sizes / REFERENCE_MINIBATCH)[None]
    return Settings(cores, cpu, gpu, mem, values[None, :, 0], sizes_log, float(maximum[0]))


@dataclass(frozen=True)
class TimeParts:
    """ln time (members, modes), and ln of the share of it in which compute bounds the GPU, memory bounds
    the GPU, a core is busy, and the GPU is busy."""

    time: Dual
    compute_share: FloatArray
    memory_share: FloatArray
    core_share: FloatArray
    gpu_share: FloatArray
    filling: FloatArray  # ln of how full the GPU is, relative to the reference minibatch

    def rows(self, members: IntArray) -> "TimeParts":
        """The same for some of the members."""
        shares = (self.compute_share, self.memory_share, self.core_share, self.gpu_share, self.filling)
        return TimeParts(Dual(self.time.value[members]), *(share[members] for share in shares))


def _sharpness(parameter: Dual) -> Dual:
    return exp(clip(parameter, -SHARPNESS_LIMIT, SHARPNESS_LIMIT)) + 1.0


def time_parts(theta: FloatArray, at: Settings, differentiate: bool = False) -> TimeParts:
    """ln ms per minibatch and its parts for theta (members, 18), in the order of TIME_PARAMETERS.

    stall  = 1 + memory_stall / m
    gpu    = |compute / g, memory / m|_p + constant
    cpu    = |(launch / u) (1 + contention / c'), loading / (u c')|_q2 * stall
    time   = |gpu, cpu|_q + (serial / u) * stall
    with c', u, g, m the cores left, CPU, GPU and memory clock as fractions of the maximum, |a, b|_p = (a^p
    + b^p)^(1/p), and each of the six times growing with a power of the minibatch size.
    """
    named = dict(zip(TIME_PARAMETERS, parameters(theta, differentiate), strict=True))
    size = Dual(at.batch_log)
    lost = exp(clip(named["cores_lost"], *CORES_LOST_RANGE))
    left = clip(Dual(at.cores) - lost, CORES_LEFT_LEAST, np.inf)
    cores_left_log = _log(left * (1 / at.cores_maximum))
    stall = softplus(named["memory_stall"] - at.mem_log)
    filling = _filling_log(named["half_batch"], at)
    work = size * clip(named["gpu_batch"], *GPU_BATCH_RANGE) - filling
    compute = named["gpu_compute"] + work - at.gpu_log
    memory = named["gpu_memory"] + work - at.mem_log
    constant = named["gpu_constant"] + size * named["constant_batch"]
    gpu = log_sum(log_norm(_sharpness(named["gpu_sharpness"]), compute, memory), constant)
    launch = named["launch"] + size * named["launch_batch"] - at.cpu_log + stall
    launch = launch + softplus(named["launch_contention"] - cores_left_log)
    loading = named["loading"] + size * named["loading_batch"] - at.cpu_log - cores_left_log + stall
    serial = named["serial"] + size * named["serial_batch"] - at.cpu_log + stall
    cpu = log_norm(_sharpness(named["cpu_sharpness"]), launch, loading)
    time = log_sum(log_norm(_sharpness(named["overlap_sharpness"]), gpu, cpu), serial)
    cores_busy = log_sum(launch, loading + cores_left_log, serial)
    shares = [part.value - time.value for part in (compute, memory, cores_busy, gpu)]
    return TimeParts(time, shares[0], shares[1], shares[2], shares[3], filling.value)


def _filling_log(half_batch: Dual, at: Settings) -> Dual:
    """ln of how full a minibatch makes the GPU, b / (b + half), relative to the reference size."""
    reference = Dual(np.full((1, 1), -np.log(REFERENCE_MINIBATCH)))
    half = clip(half_batch, *HALF_BATCH_RANGE) + reference
    return softplus(half) - softplus(half - at.batch_log)


def _log(x: Dual) -> Dual:
    return Dual(np.log(x.value), {k: slope / x.value for k, slope in x.slope.items()})


def log_power(phi: FloatArray, at: Settings, parts: TimeParts, differentiate: bool = False) -> Dual:
    """ln W for phi (members, 12) in the order of POWER_PARAMETERS, given the time shares of the same members.

    power = board + memory_idle m + vg (gpu_idle + F (gpu_busy s_gpu + gpu_compute s_compute))
          + vc (core_idle c + core_busy s_core)
          + F (memory_active s_memory sqrt(m) + gpu_feeding s_memory sqrt(vg))
    with vg = g (1 + gpu_voltage g^3) and vc = u (1 + cpu_voltage u^2), i.e. f V(f)^2, and F the GPU's
    filling to the power busy_filling.
    """
    named = dict(zip(POWER_PARAMETERS, parameters(phi, differentiate), strict=True))
    gpu = softplus(named["gpu_voltage"] + 3 * at.gpu_log) + at.gpu_log
    cpu = softplus(named["cpu_voltage"] + 2 * at.cpu_log) + at.cpu_log
    fuller = Dual(parts.filling) * named["busy_filling"]
    half = 0.5
    return log_sum(
        named["board"] + np.zeros_like(at.cores),
        named["memory_idle"] + at.mem_log,
        named["gpu_idle"] + gpu,
        named["gpu_busy"] + gpu + parts.gpu_share + fuller,
        named["core_idle"] + at.core_log + cpu,
        named["core_busy"] + cpu + parts.core_share,
        named["memory_active"] + parts.memory_share + half * at.mem_log + fuller,
        named["gpu_compute"] + gpu + parts.compute_share + fuller,
        named["gpu_feeding"] + gpu * half + parts.memory_share + fuller,
    )
