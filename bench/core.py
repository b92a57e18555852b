"""Fit and predict times of the prediction methods in one run, and how much faster than PowerTrain's transfer.

    python -m bench.core [--profiled 50] [--repeats 3] [--method gp …] [--json]

On a made-up workload (two power laws: times do not depend on its numbers) over a grid of AGX Xavier's size.
PowerTrain's reference network is trained before the clock starts, on few modes: the transfer takes as long.
"""

import argparse
import json
import resource
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from modeling.core.planner import Budget, choose
from modeling.core.prediction import IntArray, Measured
from modeling.core.predictors import predictor_class
from profiling.knobs import KnobRange

XAVIER_SIZED = KnobRange(
    cores=tuple(range(1, 9)),
    cpu_khz=tuple(np.linspace(115_200, 2_265_600, 29).astype(int).tolist()),
    gpu_khz=tuple(np.linspace(114_750, 1_377_000, 14).astype(int).tolist()),
    mem_khz=tuple(np.linspace(204_000, 2_133_000, 9).astype(int).tolist()),
)
AGAINST = "powertrain"
METHODS = (AGAINST, "nn", "gp", "roofline", "linear", "nearest")
REFERENCE_MODES = {AGAINST: 100}


def made_up(name: str, modes: IntArray, gpu_ms: float, cpu_ms: float) -> Measured:
    cores, u, g, m = (modes / np.array(XAVIER_SIZED.maximum)).T
    time_ms = np.hypot(gpu_ms / g + 5 / m, cpu_ms / u / np.sqrt(cores))
    power_mw = 9_000 + 2_500 * m + 14_000 * g**2 + 5_000 * cores * u**2
    return Measured(name, modes, time_ms, power_mw, board_maximum=XAVIER_SIZED.maximum)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    began = time.perf_counter()
    result = work()
    return result, time.perf_counter() - began


def figures(method: str, modes: IntArray, profiled: int, repeats: int) -> dict[str, float]:
    """Median seconds to fit, and milliseconds to predict all modes and to plan from that."""
    cls, rng = predictor_class(method), np.random.default_rng(0)
    known = rng.choice(len(modes), REFERENCE_MODES.get(method, 400), replace=False)
    corpus = (made_up("reference", modes[known], 30, 40),)
    prepared, prepare_s = timed(lambda: cls.prepare(corpus))
    fits, predictions, plans = [], [], []
    for seed in range(repeats):
        target = made_up("target", modes[rng.choice(len(modes), profiled, replace=False)], 60, 25)
        predictor = cls(corpus, seed=seed, board_maximum=XAVIER_SIZED.maximum, prepared=prepared)
        _, fit_s = timed(lambda p=predictor, t=target: p.fit(t.knobs, t.time_ms, t.power_mw))  # type: ignore[misc]
        prediction, predict_s = timed(lambda p=predictor: p.predict(modes))  # type: ignore[misc]
        _, plan_s = timed(lambda p=prediction: choose(p, Budget(power_mw=20_000)))  # type: ignore[misc]
        fits.append(fit_s), predictions.append(predict_s * 1000), plans.append(plan_s * 1000)
    medians = map(statistics.median, (fits, predictions, plans))
    return {"prepare_s": prepare_s, **dict(zip(("fit_s", "predict_ms", "plan_ms"), medians, strict=True))}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profiled", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--method", action="append", choices=METHODS)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    modes = XAVIER_SIZED.all_modes()
    names = dict.fromkeys((AGAINST, *(options.method or METHODS)))
    found = {name: figures(name, modes, options.profiled, options.repeats) for name in names}
    for each in found.values():
        each["times_faster_fit"] = found[AGAINST]["fit_s"] / each["fit_s"]
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if options.json:
        print(json.dumps({"modes": len(modes), "peak_memory_mb": peak_mb, "methods": found}))
        return
    columns = list(found[AGAINST])
    print(f"{options.profiled} modes profiled, {len(modes):,} predicted; peak memory {peak_mb:.0f} MB")
    print(f"{'':>12}" + "".join(f"{name:>18}" for name in columns))
    for name, each in found.items():
        print(f"{name:>12}" + "".join(f"{each[column]:18.3f}" for column in columns))


if __name__ == "__main__":
    main()
