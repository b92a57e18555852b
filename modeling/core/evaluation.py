"""Predictors against full tables: sample some modes, fit, compare with all the others, many times over."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from modeling.core.active import MINIBATCHES
from modeling.core.metrics import (
    BUDGETS_MW,
    BudgetScores,
    budget_picks,
    budget_scores,
    coverage,
    mape,
)
from modeling.core.planner import Budget
from modeling.core.prediction import FloatArray, IntArray, Measured, Prediction, has_minibatch
from modeling.core.predictors import predictor_class
from modeling.core.predictors.base import BasePredictor
from modeling.core.predictors.maxn import MaxnPredictor, maxn_row
from modeling.core.sampling import STRATEGIES
from modeling.core.verify import bolder, verified_pick

FIGURES = (
    "time_mape",
    "power_mape",
    "fit_s",
    "predict_ms",
    "profiling_min",
    "coverage90_time",
    "coverage90_power",
)
# Besides the 90 % of every interval shown: enough to see whether stated uncertainty is true at all levels.
CALIBRATION_PCT = (50, 80, 95)
CALIBRATION = tuple(f"coverage{level}_{name}" for level in CALIBRATION_PCT for name in ("time", "power"))


@dataclass(frozen=True)
class Question:
    """What is asked of each method: this target, these references, this way of sampling."""

    target: Measured
    corpus: Sequence[Measured] = ()
    sampling: str = "random"
    repeats: int = 10
    seed: int = 0
    risk: float = 0.05
    verify: bool = False

    @property
    def foreign(self) -> list[str]:
        """Names of the references whose knobs range otherwise: they are of another board."""
        maximum = self.target.maximum
        return [each.name for each in self.corpus if not np.array_equal(each.maximum, maximum)]

    def measure(self, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        return self.target.time_ms[rows], self.target.power_mw[rows]


@dataclass(frozen=True)
class Trial:
    """One repeat: figures as in `evaluate`, and the scores of unverified and verified picks."""

    figures: dict[str, float | None]
    budget: BudgetScores | None
    verified: BudgetScores | None = None
    extra_modes: float = 0.0


@dataclass
class Method:
    """A method with what it prepares from the corpus, once for all its fits."""

    name: str
    question: Question
    prepare_s: float = field(init=False)
    prepared: Any = field(init=False)

    def __post_init__(self) -> None:
        cls = predictor_class(self.name)
        if cls.needs_reference and not self.question.corpus:
            raise ValueError(f"method {self.name} needs a --reference")
        start = perf_counter()
        self.prepared = cls.prepare(self.question.corpus, self.question.seed)
        self.prepare_s = perf_counter() - start

    def fit(self, seed: int, rows: IntArray, time_ms: FloatArray, power_mw: FloatArray) -> BasePredictor:
        cores, cpu, gpu, mem = (int(value) for value in self.question.target.maximum)
        predictor = predictor_class(self.name)(
            self.question.corpus,
            seed=seed,
            board_maximum=(cores, cpu, gpu, mem),
            prepared=self.prepared,
            kind=self.question.target.kind,
        )
        return predictor.fit(self.question.target.knobs[rows], time_ms, power_mw)


def evaluate(
    question: Question, method_name: str, counts: Sequence[int], after_trial: Callable[[], None] | None = None
) -> list[dict[str, Any]]:
    """One result per count of profiled modes: medians, quartiles and worst over the repeats.

    time_mape, power_mape: % over all modes of the target. fit_s; predict_ms for all modes; profiling_min: 40
    minibatches of each profiled mode; coverage90_*: % inside the 90 % intervals, None without intervals;
    coverage50_*, 80 and 95 alike, medians only. `after_trial` is called after each repeat of each count.
    budget: PowerTrain's scores (metrics.BudgetScores); with `verify` those of the verified picks, the
    unverified ones under budget_unverified. Repeat r draws with seed + r, the same modes for every method.
    ValueError where the target has too few modes or a method lacks its reference.
    """
    if max(counts) > len(question.target):
        raise ValueError(
            f"{max(counts)} modes to profile, but {question.target.name} has {len(question.target)}"
        )
    method = Method(method_name, question)
    results = []
    for count in counts:
        trials = []
        for repeat in range(question.repeats):
            trials.append(_trial(method, count, question.seed + repeat))
            if after_trial is not None:
                after_trial()
        head: dict[str, Any] = {"target": question.target.name, "method": method_name}
        head |= {"sampling": question.sampling, "foreign_references": question.foreign}
        results.append({**head, "profiled": count, **_summary(trials), "prepare_s": method.prepare_s})
    return results


def _trial(method: Method, count: int, seed: int) -> Trial:
    question, target = method.question, method.question.target
    rows = STRATEGIES[question.sampling](target.knobs, count, question.corpus, seed, question.measure)
    start = perf_counter()
    predictor = method.fit(seed, rows, *question.measure(rows))
    fitted = perf_counter()
    prediction = predictor.predict(target.knobs)
    done = perf_counter()
    figures = {
        "time_mape": mape(target.time_ms, prediction.time_ms),
        "power_mape": mape(target.power_mw, prediction.power_mw),
        "fit_s": fitted - start,
        "predict_ms": (done - fitted) * 1000,
        "profiling_min": float(target.time_ms[rows].sum() * MINIBATCHES / 60_000),
        "coverage90_time": coverage(target.time_ms, prediction.time_ms, prediction.time_log_sd),
        "coverage90_power": coverage(target.power_mw, prediction.power_mw, prediction.power_log_sd),
        **_calibration(target, prediction),
    }
    scores = _scores(question, _picks(predictor, prediction, question))
    if not question.verify:
        return Trial(figures, scores)
    return Trial(figures, scores, *_verified_scores(method, rows, prediction, seed))


def _calibration(target: Measured, prediction: Prediction) -> dict[str, float | None]:
    pairs = {
        "time": (target.time_ms, prediction.time_ms, prediction.time_log_sd),
        "power": (target.power_mw, prediction.power_mw, prediction.power_log_sd),
    }
    return {
        f"coverage{level}_{name}": coverage(*pairs[name], level / 100)
        for level in CALIBRATION_PCT
        for name in pairs
    }


def _picks(predictor: BasePredictor, prediction: Prediction, question: Question) -> IntArray:
    """The row each budget gets; the MAXN baseline is MAXN whatever the budget."""
    if isinstance(predictor, MaxnPredictor):
        return np.full(len(BUDGETS_MW), maxn_row(question.target.knobs))
    return budget_picks(prediction, question.target.knobs, question.risk)


def _scores(question: Question, picks: IntArray) -> BudgetScores | None:
    knobs, time = question.target.knobs, question.target.time_ms
    fair = time / knobs[:, 4] if has_minibatch(knobs) else time
    return budget_scores(fair, question.target.power_mw, picks)


def _verified_scores(
    method: Method, rows: IntArray, first: Prediction, seed: int
) -> tuple[BudgetScores | None, float]:
    """Scores of verified picks, every budget starting anew from `rows`; and modes measured beyond them."""
    knobs = method.question.target.knobs

    def believe(known: IntArray, time_ms: FloatArray, power_mw: FloatArray) -> Prediction:
        if len(known) == len(rows):
            return first
        return method.fit(seed, known, time_ms, power_mw).predict(knobs)

    picks = [
        verified_pick(believe, knobs, rows, method.question.measure, bolder(Budget(power_mw=limit)))
        for limit in BUDGETS_MW
    ]
    scores = _scores(method.question, np.array([pick.index for pick in picks]))
    return scores, float(np.mean([pick.extra for pick in picks]))


def _summary(trials: list[Trial]) -> dict[str, Any]:
    summary: dict[str, Any] = {}
    for name in FIGURES:
        summary |= _spread(name, [trial.figures[name] for trial in trials])
    for name in CALIBRATION:
        summary[name] = _spread(name, [trial.figures[name] for trial in trials])[name]
    unverified = _budget_summary([trial.budget for trial in trials])
    verified = _budget_summary([trial.verified for trial in trials])
    if verified is None:
        return summary | {"budget": unverified}
    verified["extra_modes"] = float(np.mean([trial.extra_modes for trial in trials]))
    return summary | {"budget": verified, "budget_unverified": unverified}


def _spread(name: str, values: Sequence[float | None]) -> dict[str, float | None]:
    """Median under the plain name, then the first and third quartile, the least and the largest."""
    quantiles = {name: 50, f"{name}_q1": 25, f"{name}_q3": 75, f"{name}_min": 0, f"{name}_max": 100}
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return dict.fromkeys(quantiles)
    return {key: float(np.percentile(known, q)) for key, q in quantiles.items()}


def _budget_summary(scores: list[BudgetScores | None]) -> dict[str, Any] | None:
    known = [asdict(each) for each in scores if each is not None]
    if not known:
        return None
    summary: dict[str, Any] = {}
    for name in ("time_penalty", "excess_w", "over_pct", "over_1w_pct"):
        summary |= _spread(name, [each[name] for each in known])
    return summary | {"budgets": known[0]["budgets"]}
