"""What measuring costs: a look at the sensors, its effect on the workload, and the seconds around a window.

    python -m bench.agent [--blocks 10] [--seconds 3] [--period 0.5] [--modes 6] [--json]

Real LeNet training on real digits on this machine. Run it on a machine with nothing else to do: blocks with
and without sampling alternate, so that slow drifts meet both alike, yet noise still widens the answer. The
workload has all cores but one: on the last one the agent does its own work, as on a board.
"""

import argparse
import statistics
import time
from collections.abc import Sequence

from bench.report import show
from profiling.agent.measure import measure
from profiling.agent.rules import Rules
from profiling.board.host import HostBoard
from profiling.knobs import Knobs
from profiling.workloads.process import RunnerProcess
from profiling.workloads.sandbox import Limits

LENET = ("--network", "lenet5", "--data", "digits", "--minibatch", "16")


def working_mode(board: HostBoard) -> Knobs:
    fastest = board.ranges().maximum
    return fastest._replace(cores=max(1, fastest.cores - 1))


def look_ms(board: HostBoard, count: int = 200) -> float:
    """Median milliseconds of one board.read()."""
    spent = []
    for _ in range(count):
        began = time.perf_counter()
        board.read()
        spent.append((time.perf_counter() - began) * 1000)
    return statistics.median(spent)


def block_ms(board: HostBoard, process: RunnerProcess, seconds: float, period_s: float | None) -> list[float]:
    """Minibatch times, ms, over so many seconds; with the sensors read every `period_s`, or never."""
    end = time.monotonic() + seconds
    next_look = time.monotonic() if period_s else end
    times: list[float] = []
    while time.monotonic() < end:
        if time.monotonic() >= next_look:
            board.read()
            next_look += period_s or seconds
        minibatch = process.next_minibatch(min(next_look, end))
        if minibatch:
            times.append(minibatch.time_ms)
    return times


def sampling_cost(
    board: HostBoard, process: RunnerProcess, blocks: int, seconds: float, period_s: float
) -> dict[str, float]:
    """Mean minibatch time with and without sampling, over alternating blocks, and their ratio per pair."""
    board.restore()  # the workload keeps its cores, the agent gets them all
    process.go()
    block_ms(board, process, seconds, None)
    quiet, sampled = [], []
    for _ in range(blocks):
        quiet.append(statistics.fmean(block_ms(board, process, seconds, None)))
        sampled.append(statistics.fmean(block_ms(board, process, seconds, period_s)))
    process.pause()
    ratios = [s / q for s, q in zip(sampled, quiet, strict=True)]
    return {
        "quiet_ms": statistics.median(quiet),
        "sampled_ms": statistics.median(sampled),
        "overhead_pct": 100 * (statistics.median(ratios) - 1),
        "overhead_pct_q1": 100 * (statistics.quantiles(ratios, n=4)[0] - 1),
        "overhead_pct_q3": 100 * (statistics.quantiles(ratios, n=4)[2] - 1),
    }


def mode_cost(board: HostBoard, process: RunnerProcess, modes: int) -> dict[str, float]:
    """Seconds a mode takes beyond its measured window, by phase; the first mode starts the workload."""
    rows = []
    for _ in range(modes):
        began = time.perf_counter()
        run = measure(board, process, working_mode(board), minibatch=16)
        wall = time.perf_counter() - began
        window = run.window_end_s - run.window_start_s
        rows.append({**run.phases_s, "wall": wall, "window": window, "beyond_window": wall - window})
    first, later = rows[0], rows[1:]
    names = ("starting", "settling", "wall", "window", "beyond_window")
    medians = {f"{name}_s": statistics.median(row[name] for row in later) for name in names}
    return {"first_starting_s": first["starting"], **medians}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--period", type=float, default=Rules().sample_period_s)
    parser.add_argument("--modes", type=int, default=6)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    board, process = HostBoard(), RunnerProcess(LENET, limits=Limits(user=None))
    try:
        figures = {"look_ms": look_ms(board), **mode_cost(board, process, options.modes)}
        figures |= sampling_cost(board, process, options.blocks, options.seconds, options.period)
    finally:
        process.stop()
        board.restore()
    show(figures, options.json)


if __name__ == "__main__":
    main()
