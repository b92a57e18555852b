"""What every online optimiser promises, whatever its idea."""

import numpy as np
import pytest

from modeling.core.prediction import Measured
from modeling.core.regret import OPTIMISERS, Contest, replay
from modeling.core.roofline.corpus import CorpusFit
from tests.core.boards import MODES, workload

TARGET = workload("target", gpu=60, cpu=25)
FEW = np.r_[0:191:16, 191]  # thirteen modes, the smallest and the largest among them
SMALL = Measured(
    "small", MODES[FEW], TARGET.time_ms[FEW], TARGET.power_mw[FEW], board_maximum=TARGET.board_maximum
)


def contest(target: Measured = SMALL, **asked) -> Contest:
    return Contest(target, CorpusFit(), budget_mw=asked.pop("budget_mw", 25_000.0), intervals=20, **asked)


def lived(name: str, on: Contest, seed: int = 0, intervals: int = 12):
    optimiser = OPTIMISERS[name](on, seed)
    return replay(optimiser, on.measure, len(on.target), intervals, on.cost, on.budget_mw)


@pytest.mark.parametrize("name", OPTIMISERS)
def test_every_choice_is_a_mode_of_the_board(name: str) -> None:
    rows = lived(name, contest()).rows
    assert rows.min() >= 0
    assert rows.max() < len(SMALL)


@pytest.mark.parametrize("name", OPTIMISERS)
def test_the_same_seed_makes_the_same_choices(name: str) -> None:
    first, second = (lived(name, contest(), seed=3, intervals=6).rows for _ in range(2))
    assert first.tolist() == second.tolist()


@pytest.mark.parametrize("name", OPTIMISERS)
def test_it_ends_cheaper_than_it_lived_on_average(name: str) -> None:
    done = lived(name, contest(), intervals=18)
    assert done.regret[-1] <= done.regret.mean()


@pytest.mark.parametrize("name", OPTIMISERS)
def test_a_board_of_one_mode_is_no_trouble(name: str) -> None:
    top = slice(-1, None)
    one = Measured("one", SMALL.knobs[top], SMALL.time_ms[top], SMALL.power_mw[top])
    done = lived(name, contest(one, budget_mw=60_000.0), intervals=4)
    assert done.rows.tolist() == [0] * 4
    assert done.regret.tolist() == [0.0] * 4


@pytest.mark.parametrize("name", OPTIMISERS)
@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_it_serves_time_alone_and_energy_alone(name: str, weight: float) -> None:
    done = lived(name, contest(energy_weight=weight), intervals=8)
    assert np.isfinite(done.regret).all()
    assert done.best_cost > 0
