"""What online optimisers cost until they know better: regret, by replay of fully measured workloads.

python -m modeling.core.regret --target yolo.csv --reference resnet.csv --budget-w 30
"""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, astuple, dataclass

import numpy as np

from modeling.core.evaluate import read_measured
from modeling.core.online import (
    Cost,
    FullSweep,
    GradientDescent,
    Optimiser,
    SafeDescent,
    ThompsonSampling,
)
from modeling.core.prediction import FloatArray, IntArray, Measured, Prediction, relative
from modeling.core.predictors.roofline import RooflinePredictor
from modeling.core.roofline.corpus import CorpusFit
from modeling.core.sampling import Believe, Measure

LAST = 10  # intervals whose mean regret says what an optimiser ends at


@dataclass(frozen=True)
class Replay:
    """What an optimiser did: the row, cost and regret of each interval, and by how much (mW) a budget was
    exceeded.

    best_cost: the cheapest mode's (within the budget, where one is given). regret: cost above it; negative
    where an exceeding mode was cheaper.
    """

    rows: IntArray
    regret: FloatArray
    excess_mw: FloatArray
    best_cost: float


def replay(
    optimiser: Optimiser,
    measure: Measure,
    modes: int,
    intervals: int,
    cost: Cost,
    budget_mw: float | None = None,
) -> Replay:
    """Run `intervals` choices against a table (or an emulated board) of so many modes that answers
    `measure`."""
    time, power = measure(np.arange(modes))
    costs = cost.of(time, power)
    allowed = np.ones(modes, dtype=bool) if budget_mw is None else power <= budget_mw
    if not allowed.any():
        raise ValueError(f"no mode keeps {budget_mw:.0f} mW: the least draws {power.min():.0f} mW")
    rows = np.empty(intervals, dtype=np.int64)
    for interval in range(intervals):
        rows[interval] = optimiser.choose()
        row_time, row_power = measure(rows[[interval]])
        optimiser.learn(int(rows[interval]), float(row_time[0]), float(row_power[0]))
    excess = np.zeros(intervals) if budget_mw is None else np.maximum(power[rows] - budget_mw, 0)
    best = float(costs[allowed].min())
    return Replay(rows, costs[rows] - best, excess, best)


@dataclass(frozen=True)
class Contest:
    """One target that all optimisers live on: its table is the board, a corpus fit of others their prior.

    energy_weight as in Cost, whose unit is the largest mode's. budget_mw: the power budget, which only the
    safe optimiser heeds; without one it does not take part.
    """

    target: Measured
    corpus: CorpusFit
    energy_weight: float = 0.5
    budget_mw: float | None = None
    intervals: int = 100

    @property
    def cost(self) -> Cost:
        time, power = self.target.time_ms[self.largest], self.target.power_mw[self.largest]
        return Cost(self.energy_weight, float(time), float(time * power / 1000))

    @property
    def largest(self) -> int:
        return int(relative(self.target.knobs).sum(axis=1).argmax())

    @property
    def least(self) -> int:
        return int(relative(self.target.knobs).sum(axis=1).argmin())

    def measure(self, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        return self.target.time_ms[rows], self.target.power_mw[rows]

    def believing(self, seed: int) -> Believe:
        """What a roofline predictor of the corpus says of all modes, given some."""
        cores, cpu, gpu, mem = (int(value) for value in self.target.maximum)

        def believe(rows: IntArray, time_ms: FloatArray, power_mw: FloatArray) -> Prediction:
            predictor = RooflinePredictor(
                prepared=self.corpus,
                seed=seed,
                board_maximum=(cores, cpu, gpu, mem),
                kind=self.target.kind,
            )
            return predictor.fit(self.target.knobs[rows], time_ms, power_mw).predict(self.target.knobs)

        return believe


def _sweep(contest: Contest, seed: int) -> Optimiser:
    return FullSweep(np.random.default_rng(seed).permutation(len(contest.target)), contest.cost)


def _thompson(contest: Contest, seed: int) -> Optimiser:
    return ThompsonSampling(
        contest.believing(seed), contest.target.knobs, contest.largest, contest.cost, seed
    )


def _gradient(contest: Contest, seed: int) -> Optimiser:
    first = int(np.random.default_rng(seed).integers(len(contest.target)))
    return GradientDescent(contest.target.knobs, first, contest.cost)


def _safe(contest: Contest, seed: int) -> Optimiser:
    assert contest.budget_mw is not None
    return SafeDescent(contest.believing(seed), contest.least, contest.cost, contest.budget_mw, seed=seed)


OPTIMISERS: dict[str, Callable[[Contest, int], Optimiser]] = {
    "full sweep": _sweep,
    "thompson": _thompson,
    "gradient descent": _gradient,
    "safe": _safe,
}


@dataclass(frozen=True)
class Standing:
    """How an optimiser did.

    Regrets in % of the best mode's cost, means of intervals, of which the median repeat's (or the worst's).
    tried: modes, median. over_pct: intervals that drew more than the budget, over all repeats;
    over_1w_pct: by more than 1 W; worst_w: the most by which one did. None without a budget.
    """

    optimiser: str
    regret_pct: float
    last_regret_pct: float
    worst_last_regret_pct: float
    tried: float
    over_pct: float | None
    over_1w_pct: float | None
    worst_w: float | None


def compare(contest: Contest, repeats: int = 5) -> list[Standing]:
    """One standing an optimiser; repeat r of each begins with seed r.

    ValueError where no mode keeps the budget.
    """
    names = [name for name in OPTIMISERS if name != "safe" or contest.budget_mw is not None]
    return [_standing(name, contest, repeats) for name in names]


def _standing(name: str, contest: Contest, repeats: int) -> Standing:
    modes, cost = len(contest.target), contest.cost
    optimisers = [OPTIMISERS[name](contest, seed) for seed in range(repeats)]
    replays = [
        replay(each, contest.measure, modes, contest.intervals, cost, contest.budget_mw)
        for each in optimisers
    ]
    relative_regret = np.array([each.regret / each.best_cost for each in replays]) * 100
    last = relative_regret[:, -LAST:].mean(axis=1)
    excess_w = None if contest.budget_mw is None else np.array([each.excess_mw for each in replays]) / 1000
    return Standing(
        name,
        regret_pct=float(np.median(relative_regret.mean(axis=1))),
        last_regret_pct=float(np.median(last)),
        worst_last_regret_pct=float(last.max()),
        tried=float(np.median([len(set(each.rows.tolist())) for each in replays])),
        over_pct=None if excess_w is None else float((excess_w > 0).mean() * 100),
        over_1w_pct=None if excess_w is None else float((excess_w > 1).mean() * 100),
        worst_w=None if excess_w is None else float(excess_w.max()),
    )


def report(standings: Sequence[Standing]) -> str:
    """The standings as a table for people."""
    header = ("optimiser", "regret %", "at the end", "worst", "modes", "over %", "over 1 W %", "worst W")
    rows = [header, *(tuple(map(_cell, astuple(each))) for each in standings)]
    return "\n".join("".join(cell.rjust(17 if not n else 12) for n, cell in enumerate(row)) for row in rows)


def _cell(value: str | float | None) -> str:
    return "—" if value is None else f"{value:.1f}" if isinstance(value, float) else value


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; exits with 2 and a message where a file or the budget is wrong."""
    parser = argparse.ArgumentParser("python -m modeling.core.regret", description=__doc__.splitlines()[0])
    parser.add_argument("--target", required=True, metavar="FILE", help="all its modes are the truth")
    parser.add_argument("--reference", action="append", default=[], metavar="FILE", help="may be repeated")
    parser.add_argument("--kind", choices=("training", "inference"), default="training")
    parser.add_argument(
        "--energy-weight", type=float, default=0.5, help="0: only time counts, 1: only energy"
    )
    parser.add_argument("--budget-w", type=float, help="power budget, which the safe optimiser keeps")
    parser.add_argument("--intervals", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    try:
        target, *corpus = (read_measured(path, options.kind) for path in (options.target, *options.reference))
        contest = Contest(
            target,
            RooflinePredictor.prepare(corpus),
            options.energy_weight,
            None if options.budget_w is None else options.budget_w * 1000,
            options.intervals,
        )
        standings = compare(contest, options.repeats)
    except ValueError as error:
        parser.error(str(error))
    print(json.dumps([asdict(each) for each in standings], indent=1) if options.json else report(standings))
    return 0


if __name__ == "__main__":
    sys.exit(main())
