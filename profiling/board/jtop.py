"""A Jetson whose telemetry comes from jetson-stats' service, and whose knobs are turned through sysfs.

jetson-stats is optional and imported only here, only when such a board is made. Its own total counts the
memory twice on AGX Orin, and its `avg` is no mean, so both are left aside: rails are taken raw and added
by the same rule as everywhere. One client a board, at 2 Hz at most: the service runs nvpmodel each tick.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from profiling.board.base import Reading
from profiling.board.rails import total_mw, total_rule
from profiling.board.sysfs import BoardRules, SysfsBoard, or_reason
from profiling.errors import BoardError

INTERVAL_S = 0.5


class Client(Protocol):
    """What is used of jtop.jtop; shapes as version 7.2 gives them."""

    @property
    def power(self) -> Mapping[str, Any]: ...

    @property
    def cpu(self) -> Mapping[str, Any]: ...

    @property
    def gpu(self) -> Mapping[str, Any]: ...

    @property
    def memory(self) -> Mapping[str, Any]: ...

    @property
    def temperature(self) -> Mapping[str, Any]: ...

    def ok(self, spin: bool = False) -> bool: ...

    def close(self) -> None: ...


def connect(interval_s: float = INTERVAL_S) -> Client:
    """A started client; BoardError saying what to do when there is no package, service or permission."""
    try:
        from jtop import JtopException, jtop
    except ImportError as error:
        raise BoardError("jetson-stats is not installed: pip install jetson-stats, or use sysfs") from error
    client = jtop(interval=interval_s)
    try:
        client.start()
    except (JtopException, EOFError, OSError) as error:
        raise BoardError(f"jtop: {error}; is jtop.service running, and this user in group jtop?") from error
    return client


class JtopBoard(SysfsBoard):
    """SysfsBoard with readings by jtop. `client`: a started one; by default this board's own."""

    driver = "jtop"

    def __init__(
        self,
        root: Path = Path("/"),
        rules: BoardRules | None = None,
        *,
        client: Client | None = None,
        **more: Any,
    ) -> None:
        super().__init__(root, rules, **more)
        self.client = client or connect()

    def close(self) -> None:
        self.client.close()

    def read(self) -> Reading:
        """The service's latest sample; when it is lost, every value is unknown and says so."""
        lost = self._lost()
        if lost:
            return Reading(time_s=self.clock.now(), online=len(self.cpu.online()), unknown={"total_mw": lost})
        powers = _rails(self.client.power)
        rule = total_rule(powers, self.rules.total_rails)
        total, reason = total_mw(powers, rule)
        reasons = {} if total is not None else {"total_mw": reason}
        gpu = _first(self.client.gpu)
        load = gpu.get("status", {}).get("load")
        return Reading(
            time_s=self.clock.now(),
            rails_mw=powers,
            total_mw=total,
            total_rule=" + ".join(rule),
            online=sum(core["online"] for core in self.client.cpu["cpu"]),
            cpu_khz=tuple(core.get("freq", {}).get("cur") for core in self.client.cpu["cpu"]),
            gpu_khz=gpu.get("freq", {}).get("cur"),
            mem_khz=or_reason(self._mem_khz, "mem_khz", reasons),
            utilisation={**_busy(self.client.cpu["cpu"]), **({} if load is None else {"gpu": float(load)})},
            temperatures_c=self._temperatures(reasons),
            alarms=self.alarms.read(),
            unknown=reasons,
        )

    def _lost(self) -> str:
        from jtop import JtopException

        try:
            return "" if self.client.ok(spin=True) else "jtop's service sends no more samples"
        except (JtopException, EOFError, OSError) as error:
            return f"jtop: {error}"

    def _mem_khz(self) -> int:
        """jtop shows no memory clock on boards without an activity monitor; the kernel may."""
        shown = self.client.memory.get("EMC", {}).get("cur")
        return int(shown) if shown else self.emc.clock()

    def _temperatures(self, reasons: dict[str, str]) -> dict[str, float | None]:
        found: dict[str, float | None] = {}
        for zone, value in self.client.temperature.items():
            found[zone] = float(value["temp"]) if value.get("online", True) else None
            if found[zone] is None:
                reasons[zone] = f"zone {zone} is not powered"
        return found


def _rails(power: Mapping[str, Any]) -> dict[str, float | None]:
    """Raw mW by rail. jtop moves an input rail out of the list and into its total; it is put back."""
    rails: dict[str, float | None] = {
        name: float(rail["power"]) for name, rail in power.get("rail", {}).items() if rail.get("online", True)
    }
    total = power.get("tot", {})
    if "name" in total:
        rails[total["name"]] = float(total["power"])
    return rails


def _busy(cores: list[dict[str, Any]]) -> dict[str, float]:
    return {
        f"cpu{n}": 100.0 - core["idle"] for n, core in enumerate(cores) if core["online"] and "idle" in core
    }


def _first(gpus: Mapping[str, Any]) -> Mapping[str, Any]:
    """The board's own GPU, whatever its device-tree name."""
    return next((gpu for gpu in gpus.values() if gpu.get("type") == "integrated"), {})
