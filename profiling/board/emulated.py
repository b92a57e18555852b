"""A board that is not there: a device model's tree of kernel files, an emulated law, the real driver.

Everything it yields is emulated, and says so: `emulated` is True and `driver` is "emulated".
"""

import math
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from profiling.board.base import Reading
from profiling.board.cpu import Cpu
from profiling.board.emulation.demand import EmulatedWorkload
from profiling.board.emulation.kernel import EmulatedTree
from profiling.board.emulation.law import Law
from profiling.board.emulation.layout import ZONES, build, default_knobs, rail_files, rail_places
from profiling.board.emulation.plant import Minibatch, Plant, VirtualClock
from profiling.board.emulation.rails import rail_watts
from profiling.board.emulation.stock import boot, gpu_share, switch
from profiling.board.sysfs import BoardRules, SysfsBoard
from profiling.knobs import Knobs

USER_HZ = 100
BOOTING_S = 35.0


class EmulatedBoard(SysfsBoard):
    """SysfsBoard on the emulated tree of catalogue `entry`.

    workload: what runs from the start (None: at rest). seed: equal seeds are the same board, and give
    equal numbers. root: a folder that outlives the process (its tree is reused); by default a temporary
    one. speed: virtual seconds per real second, None for as fast as possible. caps_khz: clocks a
    stubborn firmware holds the board to, by "cpu", "gpu", "mem".
    """

    driver = "emulated"
    emulated = True

    def __init__(
        self,
        entry: Mapping[str, Any],
        workload: EmulatedWorkload | None = None,
        *,
        seed: int = 0,
        root: Path | None = None,
        speed: float | None = None,
        bwmgr: bool = False,
        caps_khz: dict[str, int] | None = None,
    ) -> None:
        if root is None:
            self._folder = tempfile.TemporaryDirectory(prefix="jetsonlab-emulated-")
            root = Path(self._folder.name)
        if not (root / "proc/stat").exists():
            build(entry, root, bwmgr=bwmgr)
            # As nvpmodel leaves the board at boot: the default mode's cores on, the others off.
            Cpu(EmulatedTree(root)).set_online(default_knobs(entry).cores)
        self.entry = entry
        self.seed = seed
        self._kernel = EmulatedTree(root, caps_khz)
        super().__init__(root, BoardRules.from_entry(entry), tree=self._kernel)
        self.plant = Plant(Law(entry, seed, gpu_share(self._kernel)), self.current, seed)
        self.clock: VirtualClock = VirtualClock(self._advance, speed)
        self._period, self._shown = -1, dict[str, object]()
        self._ticks = [[0.0, 0.0] for _ in self.cpu.cores]
        self._online = self.cpu.online()
        if workload:
            self.start(workload)

    def start(self, workload: EmulatedWorkload) -> None:
        """Run `workload` from now on, while time passes; its first minibatch is the warm-up."""
        self.plant.start(workload)

    def stop(self) -> None:
        self.plant.stop()

    def run_minibatch(self) -> Minibatch:
        """Let time pass until one more minibatch is done; ValueError when no workload runs."""
        before = self.plant.now
        done = self.plant.run_minibatch()
        self._count(self.plant.now - before)
        self.clock.wait(self.plant.now - before)
        return done

    def finished(self) -> list[Minibatch]:
        """The minibatches done since the last call, as a runner's lines would tell them."""
        done = list(self.plant.done)
        self.plant.done.clear()
        return done

    def apply(self, knobs: Knobs) -> Knobs:
        try:
            return super().apply(knobs)
        finally:
            self._switched()

    def restore(self) -> None:
        try:
            super().restore()
        finally:
            self._switched()

    def nvpmodel(self, mode_id: int) -> None:
        """Switch to a stock mode as the real tool does; BoardError when only a reboot would."""
        switch(self._kernel, self.entry, mode_id)
        self._switched()

    def reboot(self, mode_id: int) -> None:
        """Restart in a stock mode: its GPU mask comes into force, the workload and all caps are gone."""
        self.stop()
        self.journal.forget()
        boot(self._kernel, self.entry, mode_id)
        self.plant.law = Law(self.entry, self.seed, gpu_share(self._kernel))
        self.clock.sleep(BOOTING_S)
        self._switched()

    def _switched(self) -> None:
        self._online = self.cpu.online()
        self.plant.switched()

    def read(self) -> Reading:
        self.show_sensors()
        return super().read()

    def show_sensors(self) -> None:
        """Bring the sensor files up to the present period, for this driver and any other on the tree."""
        if self._period == self.plant.tick:
            return
        self._period = self.plant.tick
        fresh = dict(self._sensor_files())
        for path in fresh:
            if fresh[path] != self._shown.get(path):
                self._kernel.put(path, fresh[path])
        self._shown = fresh

    def _sensor_files(self) -> Iterator[tuple[str, object]]:
        parts = self.plant.sensed()
        watts = rail_watts(parts, self.entry.get("rails") or (), self.rules.total_rails)
        for label, (folder, channel) in rail_places(self.entry).items():
            yield from rail_files(folder, channel, 1000 * float(watts[label][0]), label)
        for index, zone in enumerate(ZONES):
            degrees = self.plant.degrees + {"cpu-thermal": -1.5, "soc0-thermal": -3.0}.get(zone, 0.0)
            yield f"sys/class/thermal/thermal_zone{index}/temp", round(degrees * 8) * 125
        yield f"{self.gpu.device}/load", round(1000 * self.plant.busy[0])
        yield "proc/stat", self._stat()

    def _advance(self, seconds: float) -> None:
        self.plant.advance(seconds)
        self._count(seconds)

    def _count(self, seconds: float) -> None:
        """The kernel's tick counters: busy cores are filled one after the other."""
        self.clock.time_s = self.plant.now
        busy = self.plant.busy[1]
        for position, core in enumerate(self._online):
            share = min(1.0, max(0.02, busy - position))
            self._ticks[core][0] += share * seconds * USER_HZ
            self._ticks[core][1] += (1 - share) * seconds * USER_HZ

    def _stat(self) -> str:
        lines = [
            f"cpu{core} {math.floor(busy)} 0 0 {math.floor(idle)} 0 0 0 0 0 0"
            for core, (busy, idle) in enumerate(self._ticks)
            if core in self._online
        ]
        return "\n".join(["cpu 0 0 0 0 0 0 0 0 0 0", *lines])
