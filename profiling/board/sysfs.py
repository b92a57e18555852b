"""The driver of every Jetson: knobs and sensors through the kernel's files, found, not hard-coded."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from profiling.board.base import Clock, Reading, SystemClock, check_legal
from profiling.board.cpu import Cpu, CpuLoad
from profiling.board.emc import find_emc
from profiling.board.fan import fan_file
from profiling.board.files import Tree, Unreadable, Unsettled
from profiling.board.gpu import Gpu
from profiling.board.journal import STATE_FILE, Journal
from profiling.board.rails import find_rails, read_rails, total_mw, total_rule
from profiling.board.register import Description, describe
from profiling.board.thermal import Alarms, Zones
from profiling.errors import BoardError
from profiling.knobs import KnobRange, Knobs
from profiling.soc import knob_range

Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class BoardRules:
    """What the device model adds to what the board says of itself: its total power, and clock tables
    for a kernel that lists none."""

    total_rails: tuple[str, ...] = ()
    mem_khz: tuple[int, ...] = ()

    @classmethod
    def from_entry(cls, entry: Mapping[str, Any]) -> "BoardRules":
        return cls(tuple(entry.get("total_rails") or ()), knob_range(entry).mem_khz)


class SysfsBoard:
    """A Board on the kernel's files under `root`; writing needs root's rights, or go through boardd.

    state_file: where the values found are kept until `restore`; by default under `root`. fan_duty: hold
    the fan there (0..255) from the first `apply` on, where there is one; its speed is part of the board's
    power and, through temperature, of its leakage.
    """

    driver = "sysfs"
    emulated = False

    def __init__(
        self,
        root: Path = Path("/"),
        rules: BoardRules | None = None,
        *,
        state_file: Path | None = None,
        fan_duty: int | None = None,
        tree: Tree | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.tree = tree or Tree(root)
        self.rules = rules or BoardRules()
        self.clock: Clock = clock or SystemClock()
        self.cpu, self.gpu, self.emc = Cpu(self.tree), Gpu(self.tree), find_emc(self.tree)
        self.cpu_load, self.alarms, self.zones = CpuLoad(self.tree), Alarms(self.tree), Zones(self.tree)
        self.rails = find_rails(self.tree)
        self.rule = total_rule((rail.label for rail in self.rails), self.rules.total_rails)
        self.journal = Journal(self.tree, state_file or self.tree.root / STATE_FILE)
        self.fan_duty = fan_duty
        self._ranges: KnobRange | None = None

    def ranges(self) -> KnobRange:
        """Read once: a board's tables change with its firmware only."""
        if self._ranges is None:
            self._ranges = KnobRange(
                cores=tuple(range(1, len(self.cpu.cores) + 1)),
                cpu_khz=tuple(self.cpu.table()),
                gpu_khz=tuple(self.gpu.table()),
                mem_khz=self._mem_table(),
            )
        return self._ranges

    def _mem_table(self) -> tuple[int, ...]:
        try:
            return tuple(self.emc.table())
        except Unreadable as error:
            if not self.rules.mem_khz:
                raise BoardError(f"{error.message}; and its device model lists none either") from error
            return self.rules.mem_khz

    def current(self) -> Knobs:
        """The knobs in force, clocks to the nearest step: kernels print 305 MHz for 306."""
        held = Knobs(len(self.cpu.online()), self.cpu.held_khz(), self.gpu.held_khz(), self.emc.clock())
        return self.ranges().nearest(held)

    def apply(self, knobs: Knobs) -> Knobs:
        """Cores first: an offline core's clock files refuse every write."""
        check_legal(knobs, self.ranges())
        self.journal.remember(
            [*self.cpu.online_files(), *self.cpu.clock_files(), *self.gpu.files(), *self.emc.files()]
        )
        self.cpu.set_online(knobs.cores)
        self.journal.remember(self.cpu.clock_files())
        self.cpu.pin(knobs.cpu_khz)
        self.gpu.pin(knobs.gpu_khz)
        self.emc.pin(knobs.mem_khz)
        self._hold_fan()
        self._check_settled(knobs)
        return self.current()

    def _check_settled(self, wanted: Knobs) -> None:
        ranges = self.ranges()
        found = [
            ("CPU cores", wanted.cores, len(self.cpu.online()), ranges.cores),
            ("GPU clock", wanted.gpu_khz, self.gpu.limits()[0], ranges.gpu_khz),
            ("GPU clock", wanted.gpu_khz, self.gpu.limits()[1], ranges.gpu_khz),
            ("memory clock", wanted.mem_khz, self.emc.clock(), ranges.mem_khz),
        ]
        for _, low, high in self.cpu.limits():
            found += [("CPU clock", wanted.cpu_khz, khz, ranges.cpu_khz) for khz in (low, high)]
        for name, asked, settled, table in found:
            _check_step(name, asked, settled, table)

    def read(self) -> Reading:
        powers, power_reasons = read_rails(self.tree, self.rails)
        total, total_reason = total_mw(powers, self.rule)
        degrees, degree_reasons = self.zones.read()
        reasons = {**power_reasons, **degree_reasons}
        if total is None:
            reasons["total_mw"] = total_reason
        utilisation = self.cpu_load.read()
        gpu_load = or_reason(self.gpu.load_percent, "gpu", reasons)
        if gpu_load is not None:
            utilisation["gpu"] = gpu_load
        return Reading(
            time_s=self.clock.now(),
            rails_mw=powers,
            total_mw=total,
            total_rule=" + ".join(self.rule),
            online=len(self.cpu.online()),
            cpu_khz=self.cpu.clocks(),
            gpu_khz=or_reason(self.gpu.clock, "gpu_khz", reasons),
            mem_khz=or_reason(self.emc.clock, "mem_khz", reasons),
            utilisation=utilisation,
            temperatures_c=degrees,
            alarms=self.alarms.read(),
            unknown=reasons,
        )

    def _hold_fan(self) -> None:
        file = fan_file(self.tree)
        if self.fan_duty is not None and file is not None:
            self.journal.remember([file])
            self.tree.write(file, self.fan_duty)

    def restore(self) -> None:
        self.journal.put_back()

    def describe(self) -> Description:
        return describe(tree=self.tree)


def _check_step(name: str, asked: int, settled: int, table: Sequence[int]) -> None:
    """Unsettled unless the value read back is nearest to the step asked for."""
    if min(table, key=lambda legal: abs(legal - settled)) != asked:
        raise Unsettled(name, asked, settled)


def or_reason(look: Callable[[], Number], name: str, reasons: dict[str, str]) -> Number | None:
    try:
        return look()
    except Unreadable as error:
        reasons[name] = error.message
        return None
