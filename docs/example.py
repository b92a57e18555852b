"""The numerical core from a script or notebook, without Django.

    python -m docs.example                            # emulated tables: says nothing about real boards
    python -m docs.example reference.csv target.csv   # PowerTrain's column layout

Measures ten modes of the target, the predictor choosing them; predicts all; plans for 20 W; and, since the
table knows every mode, says how far off it was.
"""

import sys

import numpy as np

from modeling.core.metrics import coverage, mape
from modeling.core.planner import fastest_within
from modeling.core.prediction import KNOB_COLUMNS, Measured
from modeling.core.predictors.roofline import RooflinePredictor
from modeling.core.roofline.belief import belief_for
from modeling.core.sampling import active_modes
from modeling.core.tables import read_table
from profiling.agent.making import catalogue_entry
from profiling.board.emulation.demand import EmulatedWorkload
from profiling.board.emulation.law import emulated_table
from profiling.modes import powertrain_grid
from profiling.soc import knob_range

MODES = 10
LIMIT_MW = 20_000


def emulated(network: str) -> Measured:
    entry = catalogue_entry("agx-orin")
    ranges = knob_range(entry)
    knobs = np.array(powertrain_grid(ranges))
    return Measured(f"{network}, emulated", knobs, *emulated_table(entry, EmulatedWorkload(network), knobs))


def read(path: str) -> Measured:
    return read_table(path).measured


def main(paths: list[str]) -> None:
    reference, target = map(read, paths) if paths else map(emulated, ("ResNet-18", "YOLO-tiny"))
    corpus = RooflinePredictor.prepare([reference])
    belief = belief_for(corpus, target.maximum)

    rows = active_modes(
        target.knobs, MODES, belief, seed=0, measure=lambda new: (target.time_ms[new], target.power_mw[new])
    )
    predictor = RooflinePredictor(corpus=[reference], prepared=corpus).fit(
        target.knobs[rows], target.time_ms[rows], target.power_mw[rows]
    )
    predicted = predictor.predict(target.knobs)
    choice = fastest_within(predicted, power_mw=LIMIT_MW, risk=0.05)

    print(f"{target.name}: {len(target):,} modes, {MODES} measured, {reference.name} as reference")
    for name, true, centre, sd in (
        ("time", target.time_ms, predicted.time_ms, predicted.time_log_sd),
        ("power", target.power_mw, predicted.power_mw, predicted.power_log_sd),
    ):
        held = coverage(true, centre, sd)
        print(f"{name}: {mape(true, centre):.1f} % off, {held:.0f} % within the 90 % interval")
    mode = dict(zip(KNOB_COLUMNS, target.knobs[choice.index].tolist(), strict=False))
    print(f"within {LIMIT_MW / 1000:g} W: {mode}")
    for name, column in (("predicted", predicted), ("true", target)):
        watts = column.power_mw[choice.index] / 1000
        print(f"  {name}: {column.time_ms[choice.index]:.1f} ms, {watts:.1f} W")
    print(f"  chance to keep the limit {choice.chance:.0%}. {choice.reason}")


if __name__ == "__main__":
    main(sys.argv[1:])
