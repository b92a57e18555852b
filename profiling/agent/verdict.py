"""What to think of a measurement: flags with a sentence each. Flagged runs are kept and shown, not hidden."""

import statistics
from collections.abc import Iterator, Sequence

from profiling.agent.measured import is_steady, quartile_range
from profiling.board.base import Reading
from profiling.knobs import KnobRange, Knobs

THROTTLED_BELOW = 0.95


def throttling(readings: Sequence[Reading], knobs: Knobs | None, ranges: KnobRange) -> str | None:
    """Why the mode's own power was not seen: an alarm, or clocks under load below those asked for.

    A clock with one legal value is none the board can hold, as an ordinary machine's: it is not judged.
    """
    alarms = sorted({alarm for reading in readings for alarm in reading.alarms})
    if alarms:
        return f"alarms while measuring: {', '.join(alarms)}"
    for name, asked, seen in _clocks(readings, knobs, ranges) if knobs else ():
        if seen < THROTTLED_BELOW * asked:
            return f"{name} ran at {seen / 1000:g} MHz, asked for {asked / 1000:g} MHz"
    return None


def _clocks(readings: Sequence[Reading], knobs: Knobs, ranges: KnobRange) -> Iterator[tuple[str, int, float]]:
    """(clock, kHz asked for, median kHz seen), for the clocks that could be read.

    A GPU gated between two kernels reads 0: such samples say nothing of its clock.
    """
    cores = [khz for reading in readings for khz in reading.cpu_khz]
    gpu, memory = [reading.gpu_khz for reading in readings], [reading.mem_khz for reading in readings]
    for name, asked, legal, clocks in (
        ("CPU", knobs.cpu_khz, ranges.cpu_khz, cores),
        ("GPU", knobs.gpu_khz, ranges.gpu_khz, gpu),
        ("memory", knobs.mem_khz, ranges.mem_khz, memory),
    ):
        seen = [khz for khz in clocks if khz]
        if seen and len(legal) > 1:
            yield name, asked, statistics.median(seen)


def instability(
    times_ms: Sequence[float], readings: Sequence[Reading], spread: float, tolerance: float
) -> str | None:
    """Times that scatter, or power that drifted from the first half of the window to the second."""
    scatter = quartile_range(times_ms)
    if scatter is not None and scatter > spread * statistics.median(times_ms):
        share = scatter / statistics.median(times_ms)
        return f"half of the minibatches spread over {share:.0%} of the median time"
    power = [reading.total_mw for reading in readings if reading.total_mw is not None]
    if len(power) >= 4 and not is_steady(power, tolerance):
        return "power drifted while measuring"
    return None


def overheating(readings: Sequence[Reading], ceiling_c: float) -> str | None:
    warmest = hottest_c(readings)
    if warmest is None or warmest <= ceiling_c:
        return None
    return f"reached {warmest:.0f} °C, the ceiling is {ceiling_c:.0f} °C"


def hottest_c(readings: Sequence[Reading]) -> float | None:
    known = [celsius for r in readings for celsius in r.temperatures_c.values() if celsius is not None]
    return max(known, default=None)


def unknown_power(readings: Sequence[Reading]) -> str:
    """The board's own reason and its rails', or that nothing was read."""
    blind = next((reading for reading in reversed(readings) if "total_mw" in reading.unknown), None)
    if blind is None:
        return "no power sample fell into the measured window"
    rails = [
        blind.unknown[rail] for rail, mw in blind.rails_mw.items() if mw is None and rail in blind.unknown
    ]
    return "; ".join([blind.unknown["total_mw"], *rails])[:400]
