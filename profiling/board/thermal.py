"""Temperatures, and whatever tells that the board is throttling."""

from profiling.board.files import Tree, Unreadable, by_name
from profiling.board.rails import ina3221_hwmon

OFF_ZONE_C = -256.0  # what an unpowered zone shows where it does not simply refuse (EAGAIN)


class Zones:
    """The thermal zones, found once: a kernel makes them at boot."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        folders = tree.find("sys/class/thermal/thermal_zone*")
        self.folders = {tree.text_or(f"{each}/type", each.rsplit("/", 1)[-1]): each for each in folders}

    def read(self) -> tuple[dict[str, float | None], dict[str, str]]:
        """Degrees Celsius by zone, and for those that are None the reason."""
        found: dict[str, float | None] = {}
        reasons: dict[str, str] = {}
        for zone, folder in self.folders.items():
            found[zone] = None
            try:
                celsius = self.tree.number(f"{folder}/temp") / 1000
            except Unreadable as error:
                reasons[zone] = error.message
                continue
            if celsius > OFF_ZONE_C:
                found[zone] = celsius
            else:
                reasons[zone] = f"zone {zone} is not powered"
        return found, reasons


class Alarms:
    """Throttling in force now: current alarms, throttling cooling devices, and new over-current events."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.currents = [
            path for folder in ina3221_hwmon(tree) for path in tree.find(f"{folder}/curr*_alarm")
        ]
        cooling = tree.find("sys/class/thermal/cooling_device*")
        kinds = {folder: tree.text_or(f"{folder}/type") for folder in cooling}
        self.throttles = {folder: kind for folder, kind in kinds.items() if "throttle" in kind}
        soctherm = by_name(tree, "sys/class/hwmon/hwmon*", {"soctherm_oc"})
        self.counters = [path for folder, _ in soctherm for path in tree.find(f"{folder}/oc*_event_cnt")]
        self.events: dict[str, int] = {}

    def read(self) -> tuple[str, ...]:
        on = self.tree.text_or
        currents = [path.rsplit("/", 1)[-1] for path in self.currents if on(path, "0") != "0"]
        cooling = [kind for folder, kind in self.throttles.items() if on(f"{folder}/cur_state", "0") != "0"]
        return (*currents, *cooling, *self._over_currents())

    def _over_currents(self) -> list[str]:
        """Counters of soctherm that rose since the last look; the first look only sets the mark."""
        risen = []
        for path in self.counters:
            try:
                count = self.tree.number(path)
            except Unreadable:
                continue
            if count > self.events.get(path, count):
                risen.append(path.rsplit("/", 1)[-1])
            self.events[path] = count
        return risen
