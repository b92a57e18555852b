"""The GPU's devfreq folder, found by its device-tree name; the kernel writes Hz, callers see kHz."""

from profiling.board.cpu import write_limits
from profiling.board.files import Tree, Unreadable
from profiling.errors import BoardError
from profiling.soc import to_khz

OF_NODE_NAMES = {"gpu", "ga10b", "gv11b", "gp10b"}
THOR = "sys/class/devfreq/gpu-gpc-0"


class Gpu:
    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.folder = self._find()
        self.device = f"{self.folder}/device"

    def _find(self) -> str:
        for folder in self.tree.find("sys/class/devfreq/*"):
            if self.tree.text_or(f"{folder}/device/of_node/name") in OF_NODE_NAMES:
                return folder
        if self.tree.exists(THOR):
            return THOR
        raise BoardError(f"no GPU under {self.tree.prefix}sys/class/devfreq: is this a Jetson?")

    def table(self) -> list[int]:
        """Legal clocks in kHz, ascending."""
        return sorted({to_khz(hertz) for hertz in self._hertz()})

    def _hertz(self) -> list[int]:
        return sorted(set(self.tree.numbers(f"{self.folder}/available_frequencies")))

    def files(self) -> list[str]:
        clocks = [f"{self.folder}/min_freq", f"{self.folder}/max_freq"]
        return [*clocks, f"{self.device}/railgate_enable", f"{self.device}/power/control"]

    def pin(self, khz: int) -> None:
        """Hold the clock; the rail stays powered, or an idle GPU would read 0 and wake slowly."""
        for name, value in (("railgate_enable", "0"), ("power/control", "on")):
            if self.tree.exists(f"{self.device}/{name}"):
                self.tree.write(f"{self.device}/{name}", value)
        table = self._hertz()
        exact = min(table, key=lambda hertz: abs(hertz - khz * 1000))
        write_limits(self.tree, self.folder, ("min_freq", "max_freq"), table[-1], exact)

    def limits(self) -> tuple[int, int]:
        """Minimum and maximum in kHz, as the kernel has them now."""
        read = self.tree.number
        return to_khz(read(f"{self.folder}/min_freq")), to_khz(read(f"{self.folder}/max_freq"))

    def held_khz(self) -> int:
        return self.limits()[1]

    def clock(self) -> int:
        """The running clock in kHz; 0 while the rail is gated."""
        return to_khz(self.tree.number(f"{self.folder}/cur_freq"))

    def load_percent(self) -> float:
        return self.tree.number(f"{self.device}/load") / 10

    def masks(self) -> dict[str, str]:
        """The units switched off (tpc_pg_mask, fbp_pg_mask), where the kernel says."""
        found = {}
        for name in ("tpc_pg_mask", "fbp_pg_mask", "gpu_pg_mask"):
            try:
                found[name] = self.tree.text(f"{self.device}/{name}")
            except Unreadable:
                continue
        return found
