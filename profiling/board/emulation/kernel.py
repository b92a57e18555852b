"""The kernel of an emulated board: how its files answer a write, traps included."""

import os
import re
from pathlib import Path

from profiling.board.cpu import CPUS
from profiling.board.emc import BPMP, BPMP_TABLE, BWMGR, OVERRIDE
from profiling.board.files import Tree
from profiling.errors import BoardError


class EmulatedTree(Tree):
    """A Tree whose files react as a Jetson's do; every process that opens the same folder may use it.

    - A core going off takes its cpufreq folder away; coming back brings it.
    - A cluster's cores share their limits; a minimum above the maximum is refused (EINVAL).
    - The running clock follows the maximum. A GPU limit off the table falls to the step below.
    - The memory rate moves only while locked, and an unknown rate is accepted and ignored.
    `caps_khz`: by "cpu", "gpu", "mem", a clock the firmware silently holds it to.
    """

    def __init__(self, root: Path, caps_khz: dict[str, int] | None = None) -> None:
        super().__init__(root)
        self.caps_khz = caps_khz or {}

    def put(self, path: str, value: object) -> None:
        """Show a value, whole at once, as a reader may look at any moment.

        One write over the old text, padded to its length: emptying the file first would show a reader
        nothing, and renaming a new one over it makes a disk wait for its data, a millisecond each time.
        """
        if self.text_or(path) == str(value):
            return
        with open(self.prefix + path, "r+b", buffering=0) as file:
            length = os.fstat(file.fileno()).st_size
            file.write(str(value).ljust(length - 1).encode() + b"\n")

    def write(self, path: str, value: str | int) -> None:
        if not self.exists(path):
            raise BoardError(f"/{path}: writing {value} failed: No such file or directory")
        if path.startswith(CPUS) and path.endswith("/online"):
            self._switch_core(path, str(value))
        elif path.startswith(CPUS):
            self._limit_cluster(path, int(value))
        elif path.startswith("sys/class/devfreq/") and path.endswith(("min_freq", "max_freq")):
            self._limit_device(path, int(value))
        elif path == f"{BPMP}/rate":
            self._set_rate(int(value))
        else:
            self.put(path, value)
            if path.startswith(OVERRIDE):
                self._override()

    def _switch_core(self, path: str, value: str) -> None:
        folder = self.root / path.removesuffix("/online")
        self.put(path, value)
        shown, hidden = folder / "cpufreq", folder / ".cpufreq-off"
        source, target = (shown, hidden) if value == "0" else (hidden, shown)
        if source.exists():
            source.rename(target)

    def _limit_cluster(self, path: str, khz: int) -> None:
        folder, name = path.rsplit("/", 1)
        if name not in ("scaling_min_freq", "scaling_max_freq"):
            return self.put(path, khz)
        self._check_order(folder, name, ("scaling_min_freq", "scaling_max_freq"), khz)
        khz = min(khz, self.caps_khz.get("cpu", khz))
        for core in self.numbers(f"{folder}/related_cpus"):
            home = f"{CPUS}/cpu{core}"
            home += "/cpufreq" if self.exists(f"{home}/cpufreq") else "/.cpufreq-off"
            self.put(f"{home}/{name}", khz)
            for clock in ("scaling_cur_freq", "cpuinfo_cur_freq"):
                self.put(f"{home}/{clock}", self.number(f"{home}/scaling_max_freq"))
        return None

    def _limit_device(self, path: str, hertz: int) -> None:
        folder, name = path.rsplit("/", 1)
        self._check_order(folder, name, ("min_freq", "max_freq"), hertz)
        cap = self.caps_khz.get("mem" if folder == BWMGR else "gpu", hertz // 1000 + 1) * 1000
        table = self.numbers(f"{folder}/available_frequencies")
        below = [step for step in table if step <= min(hertz, cap)]
        self.put(path, max(below, default=min(table)))
        self.put(f"{folder}/cur_freq", self.number(f"{folder}/max_freq"))

    def _check_order(self, folder: str, name: str, names: tuple[str, str], value: int) -> None:
        minimum, maximum = (self.number(f"{folder}/{each}") for each in names)
        if (name == names[0] and value > maximum) or (name == names[1] and value < minimum):
            raise BoardError(f"/{folder}/{name}: writing {value} failed: Invalid argument")

    def _set_rate(self, hertz: int) -> None:
        locked = self.text(f"{BPMP}/mrq_rate_locked") == "1"
        # The table is cut to kHz: 1065599 there is 1065599999 Hz, and nothing else will do.
        known = [khz * 1000 + 999 if khz % 100 else khz * 1000 for khz in self.numbers(BPMP_TABLE)]
        cap = self.caps_khz.get("mem", hertz) * 1000
        if locked and hertz in known:
            self.put(f"{BPMP}/rate", max((r for r in known if r <= min(hertz, cap)), default=known[0]))

    def _override(self) -> None:
        """Override off, the bandwidth manager keeps the last rate asked for."""
        self.put(f"{OVERRIDE}/clk_rate", self.text(f"{OVERRIDE}/clk_update_rate"))


def reboot(tree: EmulatedTree) -> None:
    """Give the tree a new boot, so that what was journalled before is known to be stale."""
    count = int(re.findall(r"\d+", tree.text("proc/sys/kernel/random/boot_id"))[-1])
    tree.put("proc/sys/kernel/random/boot_id", f"emulated-boot-{count + 1}")
