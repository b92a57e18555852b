"""CPU cores on and off, and the clock of each cluster (kHz, as cpufreq writes it)."""

from profiling.board.files import Tree, Unreadable, Unsettled
from profiling.errors import BoardError

CPUS = "sys/devices/system/cpu"


def write_limits(tree: Tree, folder: str, names: tuple[str, str], top: int, to: int) -> None:
    """Hold a clock at `to`: the maximum out of the way up to `top`, then the minimum, then the maximum down.

    No step can then ask for a minimum above the maximum, which kernels refuse, whatever was set before.
    Raises Unsettled when a cap keeps even the maximum below `to`.
    """
    minimum, maximum = (f"{folder}/{name}" for name in names)
    tree.write(maximum, top)
    if tree.number(maximum) < to:
        raise Unsettled(f"/{folder}", to, tree.number(maximum))
    tree.write(minimum, to)
    tree.write(maximum, to)


class Cpu:
    """`order`: the cores in the order they are brought online; core 0 first, its cluster before others."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        folders = tree.find(f"{CPUS}/cpu[0-9]*")
        self.cores = tuple(int(folder.rsplit("cpu", 1)[1]) for folder in folders)
        if 0 not in self.cores:
            raise BoardError(f"/{CPUS} under {tree.root} lists no CPU: is this a Linux machine's tree?")
        first = self.related(0)
        self.order = (*first, *(core for core in self.cores if core not in first))

    def related(self, core: int) -> tuple[int, ...]:
        """Cores sharing this core's clock, on or off; the core alone where the kernel does not say."""
        try:
            related = self.tree.numbers(f"{CPUS}/cpu{core}/cpufreq/related_cpus")
        except Unreadable:
            return (core,)
        return tuple(sorted(related)) or (core,)

    def is_online(self, core: int) -> bool:
        """Many kernels give core 0 no `online` file: it is always on."""
        return self.tree.text_or(f"{CPUS}/cpu{core}/online", "1" if core == 0 else "0") == "1"

    def online(self) -> tuple[int, ...]:
        return tuple(core for core in self.cores if self.is_online(core))

    def online_files(self) -> list[str]:
        return [f"{CPUS}/cpu{core}/online" for core in self.cores if core != 0]

    def clock_files(self) -> list[str]:
        """Of every online cluster: an offline core's files cannot be read or written."""
        names = ("scaling_min_freq", "scaling_max_freq")
        return [f"{folder}/{name}" for folder in self.policies() for name in names]

    def policies(self) -> list[str]:
        """The cpufreq folder of the first online core of each cluster."""
        seen: set[int] = set()
        folders = []
        for core in self.online():
            if core not in seen and self.tree.exists(f"{CPUS}/cpu{core}/cpufreq/scaling_max_freq"):
                seen.update(self.related(core))
                folders.append(f"{CPUS}/cpu{core}/cpufreq")
        return folders

    def table(self) -> list[int]:
        """Legal clocks in kHz, ascending."""
        return sorted(set(self.tree.numbers(f"{CPUS}/cpu0/cpufreq/scaling_available_frequencies")))

    def set_online(self, count: int) -> None:
        """Leave the first `count` cores of `order` on; core 0 is never touched."""
        wanted = set(self.order[:count])
        for core in sorted(self.order[1:], key=lambda core: core not in wanted):  # on before off
            if self.is_online(core) != (core in wanted):
                self.tree.write(f"{CPUS}/cpu{core}/online", int(core in wanted))

    def pin(self, khz: int) -> None:
        top = self.table()[-1]
        for folder in self.policies():
            write_limits(self.tree, folder, ("scaling_min_freq", "scaling_max_freq"), top, khz)

    def held_khz(self) -> int:
        """The clock the online clusters may reach at most, read back."""
        return max(self.tree.number(f"{folder}/scaling_max_freq") for folder in self.policies())

    def limits(self) -> list[tuple[str, int, int]]:
        """(cluster's folder, minimum, maximum) in kHz, as the kernel has them now."""
        number = self.tree.number
        return [
            (folder, number(f"{folder}/scaling_min_freq"), number(f"{folder}/scaling_max_freq"))
            for folder in self.policies()
        ]

    def clocks(self) -> tuple[int | None, ...]:
        """The running clock of each core in kHz; None where it is off or the kernel does not say."""
        return tuple(self._clock(core) if self.is_online(core) else None for core in self.cores)

    def _clock(self, core: int) -> int | None:
        folder = f"{CPUS}/cpu{core}/cpufreq"
        for name in ("scaling_cur_freq", "cpuinfo_cur_freq"):
            try:
                return self.tree.number(f"{folder}/{name}")
            except Unreadable:
                continue
        return None


class CpuLoad:
    """Busy share of each core between two looks at /proc/stat."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.last: dict[str, tuple[int, int]] = {}

    def read(self) -> dict[str, float]:
        """Percent busy since the last call, by "cpu0"…; nothing at the first call, or for offline cores."""
        now = dict(self._ticks())
        busy = {}
        for name, (idle, total) in now.items():
            idle_before, total_before = self.last.get(name, (idle, total))
            if total > total_before:
                busy[name] = 100 * (1 - (idle - idle_before) / (total - total_before))
        self.last = now
        return busy

    def _ticks(self) -> list[tuple[str, tuple[int, int]]]:
        lines = (line.split() for line in self.tree.text_or("proc/stat").splitlines())
        cores = [words for words in lines if words and words[0][:3] == "cpu" and words[0] != "cpu"]
        # user nice system idle iowait irq softirq steal: waiting for a disk is idle too
        return [
            (words[0], (int(words[4]) + int(words[5]), sum(map(int, words[1:9]))))
            for words in cores
            if len(words) > 8
        ]
