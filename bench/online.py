"""Regret of the online optimisers on the emulated AGX Orin, whose law is nobody's formula. All is emulated.

    python -m bench.online [--repeats 5] [--intervals 100]

On tables of real measurements: python -m modeling.core.regret.
"""

import argparse
from collections.abc import Sequence

import numpy as np

from modeling.core.prediction import Measured
from modeling.core.predictors.roofline import RooflinePredictor
from modeling.core.regret import Contest, compare, report
from profiling.board.emulation.demand import EmulatedWorkload
from profiling.board.emulation.law import emulated_table
from profiling.catalog import device_model_entries
from profiling.knobs import KnobRange
from profiling.soc import knob_range

NETWORKS = ("resnet18", "yolo_tiny", "lstm")
REFERENCE_MODES = 500
BUDGET_MW = 20_000.0


def emulated(network: str, count: int | None = None) -> Measured:
    """So many modes, else all of the grid."""
    entry = next(each for each in device_model_entries() if each["slug"] == "agx-orin")
    ranges = knob_range(entry)
    # A whole grid, as PowerTrain's, since gradient descent walks along its lines.
    grid = KnobRange(ranges.cores[1::2], ranges.cpu_khz[::-3][::-1], ranges.gpu_khz, ranges.mem_khz)
    modes = grid.all_modes()
    few = np.random.default_rng(1).choice(len(modes), count or len(modes), replace=False)
    knobs = modes[np.sort(few)]
    time_ms, power_mw = emulated_table(entry, EmulatedWorkload(network), knobs)
    return Measured(network, knobs, time_ms, power_mw, board_maximum=ranges.maximum)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--intervals", type=int, default=100)
    asked = parser.parse_args(argv)
    for network in NETWORKS:
        target = emulated(network)
        others = [emulated(each, REFERENCE_MODES) for each in NETWORKS if each != network]
        corpus = RooflinePredictor.prepare(others)
        for energy_weight, budget_mw in ((0.5, None), (0.0, BUDGET_MW)):
            contest = Contest(target, corpus, energy_weight, budget_mw, asked.intervals)
            aim = "energy and time alike" if budget_mw is None else f"time, within {budget_mw / 1000:g} W"
            print(f"{network}, {aim}\n{report(compare(contest, asked.repeats))}", flush=True)


if __name__ == "__main__":
    main()
