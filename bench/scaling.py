"""How the roofline method grows: with measured modes, minibatch sizes and references; seconds and memory.

    python -m bench.scaling [--repeats 3] [--json]

Made-up power laws over a grid of AGX Xavier's size, 29,232 modes. Memory is the peak of what numpy and Python
allocate while fitting and predicting, beyond what stood before, from a further run that is not timed.
"""

import argparse
import json
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bench.core import XAVIER_SIZED, made_up, timed
from modeling.core.prediction import IntArray, Measured
from modeling.core.predictors.roofline import RooflinePredictor

MODES = (1, 5, 10, 20, 50, 100, 200, 400)
BATCHES = ((16,), (8, 16), (1, 4, 16, 32, 64))
REFERENCES = (0, 1, 2, 4, 8)
REFERENCE_MODES = 1000

Work = Callable[[], dict[str, float]]


def references(count: int, modes: IntArray) -> tuple[Measured, ...]:
    rng = np.random.default_rng(1)
    rows = [rng.choice(len(modes), REFERENCE_MODES, replace=False) for _ in range(count)]
    return tuple(
        made_up(f"r{place}", modes[each], 30 + 5 * place, 40 - 3 * place) for place, each in enumerate(rows)
    )


def target(count: int, modes: IntArray, sizes: Sequence[int]) -> Measured:
    """`count` random modes, the sizes in turn; time grows a little less than the minibatch."""
    rows = np.random.default_rng(2).choice(len(modes), count, replace=False)
    plain = made_up("target", modes[rows], 60, 25)
    if len(sizes) == 1:
        return plain
    size = np.resize(sizes, count)
    knobs = np.column_stack([plain.knobs, size])
    return replace(plain, knobs=knobs, time_ms=plain.time_ms * (size / 16) ** 0.9)


def once(
    corpus: Sequence[Measured], prepared: Any, measured: Measured, sizes: Sequence[int]
) -> dict[str, float]:
    """Fit, and predict all modes, a block for each minibatch size."""
    predictor = RooflinePredictor(corpus, board_maximum=XAVIER_SIZED.maximum, prepared=prepared)
    modes = XAVIER_SIZED.all_modes()
    blocks = [modes if len(sizes) == 1 else np.column_stack([modes, np.full(len(modes), s)]) for s in sizes]
    _, fit_s = timed(lambda: predictor.fit(measured.knobs, measured.time_ms, measured.power_mw))
    _, predict_s = timed(lambda: [predictor.predict(block) for block in blocks])
    return {"fit_s": fit_s, "predict_s": predict_s}


def least(work: Work, repeats: int) -> dict[str, float]:
    """Of the repeats, since whatever else the machine does only adds."""
    found = [work() for _ in range(repeats)]
    return {name: min(each[name] for each in found) for name in found[0]}


def peak_mb(work: Work) -> float:
    tracemalloc.start()
    work()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 1e6


def case(name: str, count: int, known: int, sizes: Sequence[int], repeats: int) -> dict[str, Any]:
    modes = XAVIER_SIZED.all_modes()
    corpus, measured = references(count, modes), target(known, modes, sizes)
    prepared = RooflinePredictor.prepare(corpus)

    def work() -> dict[str, float]:
        return once(corpus, prepared, measured, sizes)

    return {"case": name, **least(work, repeats), "peak_mb": peak_mb(work)}


def corpus_case(count: int, repeats: int) -> dict[str, Any]:
    corpus = references(count, XAVIER_SIZED.all_modes())

    def work() -> dict[str, float]:
        return {"corpus_s": timed(lambda: RooflinePredictor.prepare(corpus))[1]}

    found = case(f"50 modes, {count} references", count, 50, (16,), repeats)
    return {**found, **least(work, repeats), "corpus_peak_mb": peak_mb(work)}


def cases(repeats: int) -> list[dict[str, Any]]:
    found = [case(f"{count} modes", 1, count, (16,), repeats) for count in MODES]
    found += [case(f"50 modes, {len(sizes)} sizes", 1, 50, sizes, repeats) for sizes in BATCHES[1:]]
    return found + [corpus_case(count, repeats) for count in REFERENCES]


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(argv)
    found = cases(asked.repeats)
    if asked.json:
        print(json.dumps(found))
        return
    columns = {"fit_s": 3, "predict_s": 3, "peak_mb": 0, "corpus_s": 2, "corpus_peak_mb": 0}
    print(" " * 24 + "".join(f"{name:>16}" for name in columns))
    for each in found:
        numbers = (f"{each[name]:16.{digits}f}" for name, digits in columns.items() if name in each)
        print(f"{each['case']:>24}" + "".join(numbers))


if __name__ == "__main__":
    main()
