import json

import numpy as np
import pytest

from modeling.core import evaluate as command
from modeling.core.evaluation import Question, evaluate
from modeling.core.sampling import STRATEGIES, random_modes, recommended_modes
from tests.core.boards import MODES, with_minibatches, workload

REFERENCE = workload("reference", gpu=30, cpu=40)
TARGET = workload("target", gpu=60, cpu=25)


def write(path, measured):
    rows = zip(measured.knobs.tolist(), measured.time_ms, measured.power_mw, strict=True)
    lines = [f"{c},{u},{g}000,{m}000,{t},{p / 1000}" for (c, u, g, m), t, p in rows]
    path.write_text("\n".join(["cores,cpu,gpu,mem,observed_time,observed_power", *lines]))
    return str(path)


@pytest.fixture
def files(tmp_path):
    reference, target = write(tmp_path / "reference.csv", REFERENCE), write(tmp_path / "target.csv", TARGET)
    return ["--reference", reference, "--target", target]


def run(capsys, *arguments):
    assert command.main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)["results"]


def refusal(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        command.main(list(arguments))
    assert ended.value.code == 2
    return capsys.readouterr().err


def test_one_result_per_method_and_count(capsys, files):
    results = run(
        capsys, *files, "--method", "gp", "--method", "nearest", "--profiled", "5,20", "--repeats", "3"
    )
    asked = [("gp", 5), ("gp", 20), ("nearest", 5), ("nearest", 20)]
    assert [(each["method"], each["profiled"]) for each in results] == asked
    assert results[1]["time_mape_q1"] <= results[1]["time_mape"] <= results[1]["time_mape_q3"]
    assert set(results[0]["budget"]) >= {"time_penalty", "excess_w", "over_pct", "over_1w_pct"}
    assert (results[0]["target"], results[0]["sampling"]) == ("target", "random")


def test_more_modes_lower_the_error(capsys, files):
    few, many = run(capsys, *files, "--method", "gp", "--profiled", "5,60", "--repeats", "3")
    assert many["time_mape"] < few["time_mape"] / 3


def test_the_seed_decides_the_figures(capsys, files):
    same = [run(capsys, *files, "--method", "nearest", "--seed", "4")[0]["time_mape"] for _ in range(2)]
    other = run(capsys, *files, "--method", "nearest", "--seed", "5")[0]["time_mape"]
    assert same[0] == same[1] != other


def test_a_method_without_intervals_has_null_coverage(capsys, files):
    assert run(capsys, *files, "--method", "linear", "--repeats", "1")[0]["coverage90_time"] is None


def test_profiling_minutes_are_forty_minibatches_a_mode():
    result = evaluate(Question(TARGET, repeats=1), "nearest", [len(TARGET)])[0]
    assert result["profiling_min"] == pytest.approx(TARGET.time_ms.sum() * 40 / 60_000)
    assert result["time_mape"] == 0


def test_maxn_is_always_over_the_small_budgets():
    budget = evaluate(Question(TARGET, repeats=1), "maxn", [3])[0]["budget"]
    assert budget["over_pct"] > 30
    assert budget["time_penalty"] <= 0


def test_verified_picks_keep_the_budget_and_say_what_they_cost():
    result = evaluate(Question(TARGET, (REFERENCE,), repeats=2, verify=True), "gp", [15])[0]
    assert result["budget"]["over_1w_pct"] <= result["budget_unverified"]["over_1w_pct"]
    assert 0 < result["budget"]["extra_modes"] <= 3


def test_minibatch_sizes_are_evaluated_jointly():
    result = evaluate(Question(with_minibatches(), repeats=2), "gp", [30])[0]
    assert result["time_mape"] < 20


def test_a_strategy_may_measure_while_it_chooses(monkeypatch):
    asked = []

    def curious(knobs, count, corpus, seed, measure):
        asked.append(measure(np.array([0]))[0][0])
        return np.arange(count)

    monkeypatch.setitem(STRATEGIES, "curious", curious)
    evaluate(Question(TARGET, sampling="curious", repeats=1), "nearest", [4])
    assert asked == [TARGET.time_ms[0]]


def test_random_modes_are_different_ones():
    rows = random_modes(MODES, len(MODES), np.random.default_rng(0))
    assert sorted(rows) == list(range(len(MODES)))


def test_the_recommended_modes_are_four_different_ones():
    rows = recommended_modes(MODES, 4)
    assert sorted(MODES[rows][:, 0]) == [2, 8, 8, 8]
    assert len(set(rows)) == 4
    with pytest.raises(ValueError, match="not 5"):
        recommended_modes(MODES, 5)


def test_the_table_for_people_names_target_and_references(capsys, files):
    assert command.main([*files, "--method", "gp", "--repeats", "2"]) == 0
    text = capsys.readouterr().out
    assert "target target, 192 modes; references: reference" in text
    assert text.count("random") == 2


def test_the_target_is_not_its_own_reference(capsys, files):
    target = files[-1]
    assert command.main(["--reference", target, "--target", target, "--method", "gp", "--repeats", "1"]) == 0
    said = capsys.readouterr()
    assert "left out" in said.err
    assert "references: none" in said.out


def test_too_many_modes_are_refused(capsys, files):
    said = refusal(capsys, *files, "--method", "gp", "--profiled", "5000")
    assert "5000 modes to profile" in said


@pytest.mark.parametrize(
    "wrong",
    [["--profiled", "x"], ["--profiled", "0"], ["--repeats", "-1"], ["--risk", "2"], ["--sampling", "luck"]],
)
def test_wrong_arguments_are_refused(capsys, files, wrong):
    assert wrong[0] in refusal(capsys, *files, "--method", "gp", *wrong)


def test_a_bad_file_is_refused_without_a_traceback(capsys, files, tmp_path):
    (tmp_path / "bad.csv").write_text("cores,cpu,gpu,mem,observed_time,observed_power\n4,1,1,1,fast,3\n")
    said = refusal(capsys, "--target", str(tmp_path / "bad.csv"), "--method", "gp")
    assert "line 2: observed_time is 'fast'" in said
    assert "nowhere.csv" in refusal(capsys, "--target", "nowhere.csv", "--method", "gp")


def test_gp_keeps_its_promise_on_the_public_tables(shared_data):
    from modeling.core.tables import read_table

    resnet, yolo = (
        read_table(shared_data / f"dreamlab/train/{name}_train_data_final.csv").measured
        for name in ("resnet", "yolo")
    )
    result = evaluate(Question(yolo, (resnet,)), "gp", [50])[0]
    assert result["time_mape"] <= 7.5
    assert result["power_mape"] <= 3.5
