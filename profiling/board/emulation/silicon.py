"""What the emulated law knows of each board: widths, speeds, voltages and watts of its chip.

Numbers of the right size, set by hand so that whole boards come out where the papers, their public tables
and data sheets put them (docs/science.md, "The emulated board's law"). No predictor may read them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from profiling.soc import clusters


@dataclass(frozen=True)
class Rail:
    """A clock domain's voltage: `floor_v` up to `knee` (share of the top clock), then up to `top_v`."""

    floor_v: float
    top_v: float
    knee: float


@dataclass(frozen=True)
class Silicon:
    """Constants of one board; watts at the top clock and voltage, at 45 °C, before conversion losses."""

    multipliers: int  # floating-point operations per GPU cycle at full use
    l2_mb: float
    path_bytes: float  # bytes the GPU can ask of the memory per GPU cycle
    sm_count: int
    bus_bytes: float  # bytes per memory clock at full use
    ipc: float  # CPU work per cycle, an A78's being 1
    cluster_sizes: tuple[int, ...]
    gpu_rail: Rail
    cpu_rail: Rail
    soc_rail: Rail
    gpu_w: float  # switching, all multipliers and the memory path busy
    gpu_leak_w: float
    core_w: float
    cluster_w: float
    core_leak_w: float
    dram_idle_w: float
    dram_nj_per_byte: float
    controller_w: float
    base_w: float
    loss: float  # share lost in conversion at half load
    thermal_c_per_w: float

    def with_gpu(self, share: float) -> "Silicon":
        """The same chip with only a share of its GPU's units on."""
        units = max(1, round(self.sm_count * share))
        return replace(
            self,
            multipliers=round(self.multipliers * share),
            sm_count=units,
            gpu_w=self.gpu_w * (0.15 + 0.85 * share),
            gpu_leak_w=self.gpu_leak_w * share,
        )

    def scaled(self, watts: float) -> "Silicon":
        """The same chip with every power figure multiplied."""
        named = ("gpu_w", "gpu_leak_w", "core_w", "cluster_w", "core_leak_w", "dram_idle_w", "controller_w")
        return replace(self, **{name: getattr(self, name) * watts for name in (*named, "base_w")})


AGX_ORIN = Silicon(
    multipliers=6554,
    l2_mb=4.0,
    path_bytes=480,
    sm_count=16,
    bus_bytes=64,
    ipc=1.0,
    cluster_sizes=(4, 4, 4),
    gpu_rail=Rail(0.74, 0.98, 0.38),
    cpu_rail=Rail(0.60, 1.02, 0.36),
    soc_rail=Rail(0.70, 0.86, 0.30),
    gpu_w=36.0,
    gpu_leak_w=1.3,
    core_w=0.85,
    cluster_w=0.35,
    core_leak_w=0.055,
    dram_idle_w=2.3,
    dram_nj_per_byte=0.045,
    controller_w=2.2,
    base_w=9.0,
    loss=0.06,
    thermal_c_per_w=0.75,
)

SILICON: dict[str, Silicon] = {
    "agx-orin": AGX_ORIN,
    "agx-xavier": replace(
        AGX_ORIN,
        multipliers=1640,
        l2_mb=0.5,
        path_bytes=256,
        sm_count=8,
        ipc=0.72,
        cluster_sizes=(2, 2, 2, 2),
        gpu_rail=Rail(0.60, 1.05, 0.38),
        cpu_rail=Rail(0.62, 1.08, 0.40),
        gpu_w=17.5,
        gpu_leak_w=1.1,
        core_w=1.55,
        dram_idle_w=2.0,
        dram_nj_per_byte=0.075,
        base_w=6.4,
        thermal_c_per_w=0.9,
    ),
    "orin-nx-16gb": replace(
        AGX_ORIN,
        multipliers=3277,
        path_bytes=256,
        sm_count=8,
        bus_bytes=32,
        cluster_sizes=(4, 4),
        gpu_w=9.5,
        gpu_leak_w=0.6,
        core_w=0.8,
        dram_idle_w=1.2,
        controller_w=1.1,
        base_w=4.1,
        thermal_c_per_w=1.6,
    ),
    "orin-nano-8gb": replace(
        AGX_ORIN,
        multipliers=3277,
        l2_mb=2.0,
        path_bytes=256,
        sm_count=8,
        bus_bytes=32,
        cluster_sizes=(4, 2),
        cpu_rail=Rail(0.60, 0.86, 0.45),
        gpu_rail=Rail(0.56, 0.70, 0.60),
        gpu_w=4.6,
        gpu_leak_w=0.5,
        core_w=0.55,
        dram_idle_w=0.9,
        controller_w=0.8,
        base_w=3.6,
        thermal_c_per_w=2.0,
    ),
    "orin-nano-8gb-super": replace(
        AGX_ORIN,
        multipliers=3277,
        l2_mb=2.0,
        path_bytes=256,
        sm_count=8,
        bus_bytes=32,
        cluster_sizes=(4, 2),
        cpu_rail=Rail(0.60, 0.92, 0.42),
        gpu_w=10.0,
        gpu_leak_w=0.6,
        core_w=0.65,
        dram_idle_w=1.2,
        controller_w=1.1,
        base_w=3.7,
        thermal_c_per_w=2.0,
    ),
    "xavier-nx": replace(
        AGX_ORIN,
        multipliers=1230,
        l2_mb=0.5,
        path_bytes=192,
        sm_count=6,
        bus_bytes=32,
        ipc=0.72,
        cluster_sizes=(2, 2, 2),
        gpu_rail=Rail(0.60, 1.0, 0.40),
        gpu_w=8.0,
        gpu_leak_w=0.6,
        core_w=1.0,
        dram_idle_w=1.1,
        controller_w=1.0,
        dram_nj_per_byte=0.075,
        base_w=3.2,
        thermal_c_per_w=2.2,
    ),
    "tx2": replace(
        AGX_ORIN,
        multipliers=512,
        l2_mb=0.5,
        path_bytes=128,
        sm_count=2,
        bus_bytes=32,
        ipc=0.55,
        cluster_sizes=(4, 2),
        gpu_rail=Rail(0.62, 1.1, 0.40),
        cpu_rail=Rail(0.70, 1.1, 0.40),
        gpu_w=6.2,
        gpu_leak_w=0.4,
        core_w=0.85,
        dram_idle_w=1.1,
        controller_w=0.8,
        dram_nj_per_byte=0.09,
        base_w=2.6,
        thermal_c_per_w=3.0,
    ),
    "nano": replace(
        AGX_ORIN,
        multipliers=256,
        l2_mb=0.25,
        path_bytes=64,
        sm_count=1,
        bus_bytes=16,
        ipc=0.5,
        cluster_sizes=(4,),
        gpu_rail=Rail(0.80, 1.1, 0.45),
        cpu_rail=Rail(0.80, 1.15, 0.50),
        gpu_w=4.2,
        gpu_leak_w=0.25,
        core_w=0.7,
        dram_idle_w=0.7,
        controller_w=0.5,
        dram_nj_per_byte=0.10,
        base_w=1.4,
        thermal_c_per_w=4.0,
    ),
}


def silicon_of(entry: Mapping[str, Any]) -> Silicon:
    """Constants for a catalogue entry; one never seen is taken for a resized AGX Orin.

    Its GPU by CUDA cores, its memory by the square root of that, its watts by the data sheet's peak.
    """
    if entry.get("slug") in SILICON:
        return SILICON[entry["slug"]]
    size = (entry.get("cuda_cores") or 1024) / 2048
    sizes = tuple(len(c.cores) for c in clusters(entry.get("soc") or "", max(entry["cores"])))
    resized = replace(
        AGX_ORIN,
        multipliers=round(AGX_ORIN.multipliers * size),
        sm_count=max(1, round(AGX_ORIN.sm_count * size)),
        bus_bytes=AGX_ORIN.bus_bytes * min(1.0, size**0.5),
        cluster_sizes=sizes,
    )
    return resized.scaled((entry.get("peak_power_w") or 25) / 60)
