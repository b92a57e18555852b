"""What a Jetson chip fixes whatever board it sits on: CPU clusters, and a catalogue entry's knob values.

An *entry* is one device model as a dict: either as catalog/device_models.json has it (gpu_hz, emc_hz in
Hz, as the kernel prints them) or with DeviceModel's fields (gpu_khz, mem_khz); cpu_khz is kHz in both.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from profiling.errors import InvalidInput
from profiling.knobs import KnobRange


@dataclass(frozen=True)
class Cluster:
    """CPU cores sharing a clock, and the name nvpmodel gives that clock on this chip."""

    clock: str
    cores: tuple[int, ...]


def clusters(soc: str, core_count: int) -> tuple[Cluster, ...]:
    """The clusters of `soc` (T210, T186, T194, T234) cut to `core_count` cores, first on first.

    An unknown chip is taken for fours of equal cores, as every Jetson since T234 has been.
    """
    if soc == "T210":
        return (Cluster("CPU_A57", tuple(range(core_count))),)
    if soc == "T186":  # TX2: core 0 is an A57, and stock modes switch off the two Denver cores first
        return (Cluster("CPU_A57", (0, 3, 4, 5)), Cluster("CPU_DENVER", (1, 2)))
    size, name = (2, "CPU_DENVER") if soc == "T194" else (4, "CPU_A78")
    starts = range(0, core_count, size)
    return tuple(
        Cluster(f"{name}_{index}", tuple(range(start, min(start + size, core_count))))
        for index, start in enumerate(starts)
    )


def core_order(soc: str, core_count: int) -> tuple[int, ...]:
    """Core numbers in the order they are brought online; core 0 is always first."""
    return tuple(core for cluster in clusters(soc, core_count) for core in cluster.cores)


def to_khz(hertz: int) -> int:
    return round(hertz / 1000)


def gpu_hz(entry: Mapping[str, Any]) -> list[int]:
    return _hertz(entry, "gpu_hz", "gpu_khz")


def emc_hz(entry: Mapping[str, Any]) -> list[int]:
    return _hertz(entry, "emc_hz", "mem_khz")


def _hertz(entry: Mapping[str, Any], in_hz: str, in_khz: str) -> list[int]:
    if in_hz in entry:
        return sorted(entry[in_hz])
    return sorted(khz * 1000 for khz in entry.get(in_khz) or ())


def knob_range(entry: Mapping[str, Any]) -> KnobRange:
    """The legal knob values of a catalogue entry; InvalidInput when one of its lists is missing."""
    gpu, emc = gpu_hz(entry), emc_hz(entry)
    if not (entry.get("cores") and entry.get("cpu_khz") and gpu and emc):
        raise InvalidInput(f"device model {entry.get('slug')!r} lacks its cores or a clock table")
    return KnobRange(
        cores=tuple(sorted(entry["cores"])),
        cpu_khz=tuple(sorted(entry["cpu_khz"])),
        gpu_khz=tuple(map(to_khz, gpu)),
        mem_khz=tuple(map(to_khz, emc)),
    )
