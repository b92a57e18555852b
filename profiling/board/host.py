"""This Linux machine as a board: real work, really timed; power where its processor tells it."""

import os
from pathlib import Path

from profiling.board.base import Clock, Reading, SystemClock, check_legal
from profiling.board.cpu import CPUS, Cpu, CpuLoad
from profiling.board.files import Tree, Unreadable, Unsettled
from profiling.board.journal import STATE_FILE, Journal
from profiling.board.rails import total_mw
from profiling.board.rapl import Rapl
from profiling.board.register import Description, describe
from profiling.board.thermal import Zones
from profiling.errors import BoardError
from profiling.knobs import KNOB_NAMES, KnobRange, Knobs

NO_KNOB = (0,)  # this machine has no such clock to turn: not "unknown", but "not there"
TASKS = Path("/proc/self/task")


class HostBoard:
    """Cores by affinity, inherited by every process started after `apply`.

    A workload must also be told how many threads to start: `environment` holds the variables for it.
    root: where /sys and /proc are read from. The CPU's clock is a knob where cpufreq lists its steps and
    lets this user write them; else its one value is the highest clock. The GPU's and the memory's one
    value is 0: an ordinary machine has no such knobs.
    """

    driver = "host"
    emulated = False

    def __init__(
        self, root: Path = Path("/"), *, state_file: Path | None = None, clock: Clock | None = None
    ) -> None:
        self.tree = Tree(root)
        self.clock: Clock = clock or SystemClock()
        self.found = sorted(os.sched_getaffinity(0))
        self.cpu_load, self.zones, self.rapl = CpuLoad(self.tree), Zones(self.tree), Rapl(self.tree)
        self.cpu = _clocked(self.tree)
        self.journal = Journal(self.tree, state_file or root / STATE_FILE)
        self._ranges = KnobRange(
            cores=tuple(range(1, len(self.found) + 1)),
            cpu_khz=tuple(self.cpu.table()) if self.cpu else (self._top_khz(),),
            gpu_khz=NO_KNOB,
            mem_khz=NO_KNOB,
        )

    def _top_khz(self) -> int:
        """From cpufreq, else the clock /proc/cpuinfo shows, as virtual machines do; 0 where neither does."""
        try:
            return self.tree.number(f"{CPUS}/cpu{self.found[0]}/cpufreq/cpuinfo_max_freq")
        except Unreadable:
            return max((khz for khz in self._cpuinfo_khz().values()), default=0)

    def _cpuinfo_khz(self) -> dict[int, int]:
        clocks: dict[int, int] = {}
        core = -1
        for line in self.tree.text_or("proc/cpuinfo").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "processor":
                core = int(value)
            elif name.strip() == "cpu MHz":
                clocks[core] = round(float(value) * 1000)
        return clocks

    def ranges(self) -> KnobRange:
        return self._ranges

    def current(self) -> Knobs:
        held = self._ranges.maximum._replace(cores=len(os.sched_getaffinity(0)))
        return self._ranges.nearest(held._replace(cpu_khz=self.cpu.held_khz())) if self.cpu else held

    @property
    def environment(self) -> dict[str, str]:
        """What a workload's process must be started with, or its thread pools outnumber its cores."""
        threads = str(self.current().cores)
        return dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), threads)

    def apply(self, knobs: Knobs) -> Knobs:
        check_legal(knobs, self._ranges)
        if self.cpu:
            self.journal.remember(self.cpu.clock_files())
            self.cpu.pin(knobs.cpu_khz)
        _bind(self.found[: knobs.cores])
        settled = self.current()
        for name, asked, found in zip(KNOB_NAMES, knobs, settled, strict=True):
            if asked != found:
                raise Unsettled(name, asked, found)
        return settled

    def restore(self) -> None:
        """Affinity dies with the process; the clocks are found again after a crash, as on a Jetson."""
        _bind(self.found)
        self.journal.put_back()

    def describe(self) -> Description:
        return describe(tree=self.tree, ranges=self._ranges)

    def read(self) -> Reading:
        now = self.clock.now()
        powers, reasons = self.rapl.read(now)
        total, total_reason = total_mw(powers, tuple(powers))
        if total is None:
            reasons["total_mw"] = total_reason if powers else "no RAPL energy counter on this machine"
        degrees, degree_reasons = self.zones.read()
        reasons |= degree_reasons
        clocks = self._clocks()
        if None in clocks:
            reasons["cpu_khz"] = "no clock shown for some cores"
        for name in ("gpu_khz", "mem_khz"):
            reasons[name] = "an ordinary machine has no such knob"
        return Reading(
            time_s=now,
            rails_mw=powers,
            total_mw=total,
            total_rule=" + ".join(powers),
            online=len(os.sched_getaffinity(0)),
            cpu_khz=clocks,
            utilisation=self.cpu_load.read(),
            temperatures_c=degrees,
            unknown=reasons,
        )

    def _clocks(self) -> tuple[int | None, ...]:
        shown = self._cpuinfo_khz()
        return tuple(self._clock(core, shown.get(core)) for core in sorted(os.sched_getaffinity(0)))

    def _clock(self, core: int, otherwise: int | None) -> int | None:
        try:
            return self.tree.number(f"{CPUS}/cpu{core}/cpufreq/scaling_cur_freq")
        except Unreadable:
            return otherwise


def _clocked(tree: Tree) -> Cpu | None:
    """The CPU's clock as a knob, where this machine has one and this user may turn it."""
    folder = f"{tree.prefix}{CPUS}/cpu0/cpufreq"
    if not os.path.exists(f"{folder}/scaling_available_frequencies"):
        return None
    return Cpu(tree) if os.access(f"{folder}/scaling_max_freq", os.W_OK) else None


def _bind(cores: list[int]) -> None:
    """Every thread of this process: a child inherits the affinity of the thread that starts it."""
    for task in TASKS.iterdir():
        try:
            os.sched_setaffinity(int(task.name), cores)
        except ProcessLookupError:
            continue  # the thread ended meanwhile
        except OSError as error:
            raise BoardError(f"cannot run on cores {cores}: {error.strerror}") from error
