"""How the emulated watts show on a board's rails, by the rails its device model has."""

from collections.abc import Callable, Sequence

from profiling.board.emulation.demand import FloatArray
from profiling.board.emulation.power import Parts

Share = Callable[[Parts], FloatArray]

# VDDQ is inside VIN_SYS_5V0, as on the real AGX Orin: adding both counts the memory twice.
SHARES: dict[str, Share] = {
    "VDD_GPU_SOC": lambda p: p.gpu + p.soc,
    "VDD_CPU_CV": lambda p: p.cpu,
    "VIN_SYS_5V0": lambda p: p.dram + p.base + p.lost,
    "VDDQ_VDD2_1V8AO": lambda p: 0.7 * p.dram,
    "GPU": lambda p: p.gpu,
    "CPU": lambda p: p.cpu,
    "SOC": lambda p: p.soc + 0.3 * p.base,
    "CV": lambda p: 0.02 * p.base,
    "VDDRQ": lambda p: p.dram,
    "SYS5V": lambda p: 0.68 * p.base + p.lost,
    "VDD_IN": lambda p: p.total,
    "VDD_CPU_GPU_CV": lambda p: p.cpu + p.gpu,
    "VDD_SOC": lambda p: p.soc + 0.3 * p.base,
    "POM_5V_IN": lambda p: p.total,
    "POM_5V_GPU": lambda p: p.gpu,
    "POM_5V_CPU": lambda p: p.cpu,
    "VDD_SYS_GPU": lambda p: p.gpu,
    "VDD_SYS_CPU": lambda p: p.cpu,
    "VDD_SYS_SOC": lambda p: p.soc + 0.3 * p.base,
    "VDD_SYS_DDR": lambda p: p.dram,
    "VDD_4V0_WIFI": lambda p: 0.03 * p.base,
}


def rail_watts(parts: Parts, labels: Sequence[str], total: Sequence[str]) -> dict[str, FloatArray]:
    """Watts (n,) by rail. A rail nobody described carries what its total still lacks."""
    known = {label: SHARES[label](parts) for label in labels if label in SHARES}
    fresh = [label for label in labels if label not in SHARES]
    if fresh:
        missing = parts.total - sum((known[label] for label in total if label in known), 0 * parts.total)
        known |= {label: missing / len(fresh) for label in fresh}
    return known
