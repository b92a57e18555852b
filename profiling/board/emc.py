"""The memory clock: three ways, by generation. The kernel writes Hz (tables kHz); callers see kHz.

Each way has the same face: table, files, pin, clock. `find_emc` picks the one this tree has.
"""

from collections.abc import Sequence
from typing import Protocol

from profiling.board.cpu import write_limits
from profiling.board.files import Tree, Unreadable
from profiling.errors import BoardError
from profiling.soc import to_khz

BPMP = "sys/kernel/debug/bpmp/debug/clk/emc"
BPMP_TABLE = "sys/kernel/debug/bpmp/debug/emc/possible_rates"
BWMGR = "sys/class/devfreq/bwmgr"
OVERRIDE = "sys/kernel/debug/clk/override.emc"
CAPS = ("sys/kernel/nvpmodel_emc_cap/emc_iso_cap", "sys/kernel/nvpmodel_clk_cap/emc")


class Emc(Protocol):
    def table(self) -> list[int]:
        """Legal clocks in kHz, ascending; Unreadable when the kernel does not list them."""

    def files(self) -> list[str]: ...

    def pin(self, khz: int) -> None: ...

    def clock(self) -> int:
        """The running clock in kHz."""


def lift_caps(tree: Tree) -> None:
    """A cap of 0 is none; it must be out of the way before the rate is raised."""
    for cap in CAPS:
        if tree.exists(cap):
            tree.write(cap, 0)


def bpmp_table(tree: Tree) -> list[int]:
    """The kernel cuts 1065599999 Hz to 1065599 kHz; every memory clock is a whole number of 100 kHz."""
    return sorted({round((khz + 1) / 100) * 100 for khz in tree.numbers(BPMP_TABLE)})


class BpmpEmc:
    """TX2 to Orin: the boot processor's debugfs. An unknown rate is accepted and silently ignored."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def table(self) -> list[int]:
        return bpmp_table(self.tree)

    def files(self) -> list[str]:
        return [*CAPS, f"{BPMP}/mrq_rate_locked", f"{BPMP}/state", f"{BPMP}/rate"]

    def pin(self, khz: int) -> None:
        lift_caps(self.tree)
        self.tree.write(f"{BPMP}/mrq_rate_locked", 1)  # else the bandwidth manager overrides the rate
        self.tree.write(f"{BPMP}/state", 1)
        for hertz in (khz * 1000, khz * 1000 - 1):  # 1065600 kHz is 1065599999 Hz on some boards
            self.tree.write(f"{BPMP}/rate", hertz)
            if self.clock() == khz:
                return

    def clock(self) -> int:
        return to_khz(self.tree.number(f"{BPMP}/rate"))


class BwmgrEmc:
    """JetPack 7.2 and Thor: a devfreq folder of the bandwidth manager."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def _hertz(self) -> list[int]:
        return sorted(set(self.tree.numbers(f"{BWMGR}/available_frequencies")))

    def table(self) -> list[int]:
        try:
            return [to_khz(hertz) for hertz in self._hertz()]
        except Unreadable:
            return bpmp_table(self.tree)

    def files(self) -> list[str]:
        return [*CAPS, f"{BWMGR}/min_freq", f"{BWMGR}/max_freq"]

    def pin(self, khz: int) -> None:
        lift_caps(self.tree)
        top = self.table()[-1] * 1000
        write_limits(self.tree, BWMGR, ("min_freq", "max_freq"), top, khz * 1000)

    def clock(self) -> int:
        return to_khz(self.tree.number(f"{BWMGR}/cur_freq"))


class OverrideEmc:
    """Nano and TX1: the clock framework's override, as jetson_clocks uses it; it lists no table."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def table(self) -> list[int]:
        raise Unreadable(f"/{OVERRIDE} lists no rates: take them from the device model")

    def files(self) -> list[str]:
        return [f"{OVERRIDE}/clk_update_rate", f"{OVERRIDE}/clk_state"]

    def pin(self, khz: int) -> None:
        self.tree.write(f"{OVERRIDE}/clk_update_rate", khz * 1000)
        self.tree.write(f"{OVERRIDE}/clk_state", 1)

    def clock(self) -> int:
        return to_khz(self.tree.number(f"{OVERRIDE}/clk_rate"))


class HiddenEmc:
    """No way found: debugfs is closed to all but root, or the kernel is one nobody has met."""

    def __init__(self, sought: Sequence[str]) -> None:
        places = ", ".join(f"/{path}" for path in sought)
        self.reason = f"memory clock not found at {places} (debugfs is readable by root alone)"

    def table(self) -> list[int]:
        raise Unreadable(self.reason)

    def files(self) -> list[str]:
        return []

    def pin(self, khz: int) -> None:
        raise BoardError(f"cannot set {khz} kHz: {self.reason}")

    def clock(self) -> int:
        raise Unreadable(self.reason)


def find_emc(tree: Tree) -> Emc:
    if tree.exists(f"{BWMGR}/max_freq"):
        return BwmgrEmc(tree)
    if tree.exists(f"{BPMP}/rate"):
        return BpmpEmc(tree)
    if tree.exists(f"{OVERRIDE}/clk_update_rate"):
        return OverrideEmc(tree)
    return HiddenEmc((BWMGR, BPMP, OVERRIDE))
