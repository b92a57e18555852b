"""Online optimisers compared, and the command that does it."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from modeling.core.prediction import Measured
from modeling.core.regret import Contest, compare, main
from modeling.core.roofline.corpus import CorpusFit
from tests.core.boards import MODES, workload

TARGET = workload("target", gpu=60, cpu=25)


def table(path: Path, measured: Measured) -> str:
    cores, cpu, gpu, mem = measured.knobs.T
    columns = {"cores": cores, "cpu": cpu, "gpu": gpu * 1000, "mem": mem * 1000}
    values = {"observed_time": measured.time_ms, "observed_power": measured.power_mw / 1000}
    pd.DataFrame(columns | values).to_csv(path, index=False)
    return str(path)


def standings(**asked) -> dict:
    found = compare(Contest(TARGET, CorpusFit(), intervals=25, **asked), repeats=1)
    return {each.optimiser: each for each in found}


def test_with_a_budget_the_safe_optimiser_overshoots_less_than_who_does_not_know_it() -> None:
    found = standings(energy_weight=0.0, budget_mw=25_000.0)
    assert list(found) == ["full sweep", "thompson", "gradient descent", "safe"]
    assert found["safe"].worst_w <= 0.03 * 25
    assert found["safe"].over_pct < found["thompson"].over_pct
    assert found["safe"].last_regret_pct < 20


def test_without_a_budget_nothing_is_said_of_exceeding_it() -> None:
    found = standings()
    assert "safe" not in found
    assert found["thompson"].worst_w is None
    assert found["thompson"].last_regret_pct < found["full sweep"].last_regret_pct


def test_the_cost_of_the_largest_mode_is_the_unit() -> None:
    contest = Contest(TARGET, CorpusFit())
    assert contest.largest == len(MODES) - 1
    assert contest.least == 0
    assert contest.cost.of(*contest.measure(np.array([contest.largest])))[0] == pytest.approx(1)


def test_the_command_reads_tables_and_answers_in_json(tmp_path: Path, capsys) -> None:
    path = table(tmp_path / "target.csv", TARGET)
    assert main(["--target", path, "--intervals", "3", "--repeats", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["optimiser"] for each in found] == ["full sweep", "thompson", "gradient descent"]
    assert main(["--target", path, "--intervals", "2", "--repeats", "1"]) == 0
    assert "regret %" in capsys.readouterr().out


def test_a_budget_nobody_can_keep_is_said_in_a_sentence(tmp_path: Path, capsys) -> None:
    path = table(tmp_path / "target.csv", TARGET)
    with pytest.raises(SystemExit, match="2"):
        main(["--target", path, "--budget-w", "1", "--repeats", "1"])
    assert "no mode keeps 1000 mW" in capsys.readouterr().err
