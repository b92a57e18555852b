"""Power of an ordinary PC from its processor's energy counters (RAPL), where they may be read."""

from profiling.board.files import Tree, Unreadable

ZONES = "sys/class/powercap/intel-rapl:*"  # AMD's counters appear under Intel's name too


class Rapl:
    """Counters only: power is what they gained between two looks, divided by the time between."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        packages = [folder for folder in tree.find(ZONES) if folder.count(":") == 1]
        self.packages = {tree.text_or(f"{folder}/name", folder): folder for folder in packages}
        self.last: dict[str, tuple[float, int]] = {}

    def read(self, now_s: float) -> tuple[dict[str, float | None], dict[str, str]]:
        """Mean mW of each package since the last look, and for those that are None the reason."""
        powers: dict[str, float | None] = {}
        reasons: dict[str, str] = {}
        for name, folder in self.packages.items():
            try:
                powers[name] = self._power(name, folder, now_s)
            except Unreadable as error:
                powers[name], reasons[name] = None, error.message
                continue
            if powers[name] is None:
                reasons[name] = "an energy counter needs two looks with time between"
        return powers, reasons

    def _power(self, name: str, folder: str, now_s: float) -> float | None:
        microjoule = self.tree.number(f"{folder}/energy_uj")
        then_s, before = self.last.get(name, (now_s, microjoule))
        self.last[name] = (now_s, microjoule)
        if microjoule < before:  # the counter went round
            microjoule += self.tree.number(f"{folder}/max_energy_range_uj")
        return (microjoule - before) / (now_s - then_s) / 1000 if now_s > then_s else None
