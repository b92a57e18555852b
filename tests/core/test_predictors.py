"""Every method sits the same exam; what only one of them does is tested beside it."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from modeling.core import artefact
from modeling.core.metrics import coverage, mape
from modeling.core.predictors import METHODS, networks, predictor_class
from modeling.core.predictors.powertrain import widest_in_power
from tests.contracts_predictor import MODES, REFERENCE, TARGET, PredictorContract, assert_same
from tests.core.boards import MAXIMUM, some, with_minibatches, workload


class TestNearest(PredictorContract):
    method = "nearest"
    worst_mape = 25


class TestLinear(PredictorContract):
    method = "linear"

    def test_it_finds_a_straight_line(self):
        time = MODES[:, 1] / 1e4 + 3 * MODES[:, 0]
        rows = some(TARGET, 8)
        fitted = self.new().fit(MODES[rows], time[rows], time[rows])
        assert fitted.predict(MODES).time_ms == pytest.approx(time)


class TestUniversal(PredictorContract):
    method = "universal"

    def test_power_comes_from_the_references_alone(self):
        rows = some(TARGET, 20)
        one, other = (
            self.new().fit(MODES[rows], TARGET.time_ms[rows], power).predict(MODES).power_mw
            for power in (TARGET.power_mw[rows], 3 * TARGET.power_mw[rows])
        )
        assert one == pytest.approx(other)

    def test_energy_is_linear_in_knobs_and_time(self):
        energy = MODES @ np.array([40, 1e-4, 2e-4, 1e-5]) + 3 * REFERENCE.time_ms
        like = replace(REFERENCE, power_mw=energy / REFERENCE.time_ms * 1000)
        weights, _ = predictor_class("universal").prepare([like])
        assert weights == pytest.approx([40, 1e-4, 2e-4, 1e-5, 3, 0], abs=1e-6)


class TestMaxn(PredictorContract):
    method = "maxn"

    def test_it_says_of_all_modes_what_maxn_does(self):
        assert set(self.new().fit(MODES, TARGET.time_ms, TARGET.power_mw).predict(MODES).time_ms) == {
            TARGET.time_ms[-1]
        }


class TestGaussianProcess(PredictorContract):
    method = "gp"
    worst_mape = 4

    def test_a_like_reference_helps_when_little_is_measured(self):
        like = workload("like", gpu=62, cpu=24)
        alone, helped = (self.fitted(5, corpus=c).predict(MODES).time_ms for c in ((), (like,)))
        assert mape(TARGET.time_ms, helped) < mape(TARGET.time_ms, alone) / 2

    def test_its_intervals_cover(self):
        p = self.fitted(20).predict(MODES)
        assert coverage(TARGET.time_ms, p.time_ms, p.time_log_sd) > 80

    def test_it_grows_surer_with_measurements(self):
        few, many = (self.fitted(count).predict(MODES).time_log_sd for count in (3, 60))
        assert np.median(many) < np.median(few) / 2


@pytest.fixture
def few_epochs(monkeypatch):
    """The exam asks for manners, not for accuracy: a few epochs show them."""
    monkeypatch.setattr(networks, "EPOCHS", 3)
    monkeypatch.setattr(networks, "ENTRIES", 8)


@pytest.mark.usefixtures("few_epochs")
class TestNetwork(PredictorContract):
    method = "nn"

    def test_it_starts_no_torch_draw_of_the_callers(self):
        torch.manual_seed(1)
        expected = torch.rand(3)
        torch.manual_seed(1)
        self.fitted()
        assert torch.equal(torch.rand(3), expected)

    def test_validation_keeps_the_best_epoch(self):
        inputs, values = MODES[:30].astype(float), np.column_stack([TARGET.time_ms, TARGET.power_mw])[:30]
        start = networks.fresh(inputs, values, seed=0)
        trained = networks.train(start, inputs, values, seed=0)
        assert (
            np.square(trained.predict(inputs) - values.T).mean()
            < np.square(start.predict(inputs) - values.T).mean()
        )


@pytest.mark.usefixtures("few_epochs")
class TestPowerTrain(PredictorContract):
    method = "powertrain"

    def test_the_reference_with_the_widest_power_is_taken(self):
        flat = workload("flat", gpu=1, cpu=300)
        assert widest_in_power([flat, REFERENCE]).name == "reference"

    def test_another_boards_reference_changes_the_loss(self):
        assert self.fitted().same_board_
        assert not self.fitted(board_maximum=(4, 1_500_000, 600_000, 2_133_000)).same_board_

    def test_a_prepared_reference_is_not_trained_again(self):
        prepared = predictor_class("powertrain").prepare((REFERENCE,), seed=3)
        assert_same(
            self.fitted(corpus=(), prepared=prepared, seed=3).predict(MODES),
            self.fitted(seed=3).predict(MODES),
        )

    def test_a_reference_without_minibatches_cannot_serve_one_with(self):
        with pytest.raises(ValueError, match="minibatch column"):
            self.fitted(30, with_minibatches())


def test_transfer_beats_training_from_scratch(monkeypatch):
    monkeypatch.setattr(networks, "EPOCHS", 20)
    monkeypatch.setattr(networks, "ENTRIES", 16)
    rows, like = some(TARGET, 20), workload("like", gpu=55, cpu=28)
    nn, transferred = (
        predictor_class(method)((like,), board_maximum=MAXIMUM)
        .fit(MODES[rows], TARGET.time_ms[rows], TARGET.power_mw[rows])
        .predict(MODES)
        for method in ("nn", "powertrain")
    )
    assert mape(TARGET.time_ms, transferred.time_ms) < mape(TARGET.time_ms, nn.time_ms)


def test_every_method_sits_the_exam():
    text = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    sitting = set(re.findall(r"\(PredictorContract\):\n    method = \"(.+)\"", text))
    assert sitting >= set(METHODS)


def test_an_unknown_method_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="nearest"):
        predictor_class("crystal ball")


def test_plain_methods_do_not_load_torch():
    script = (
        "import sys, modeling.core.artefact; from modeling.core.predictors import predictor_class as p;"
        "[p(n) for n in ('gp', 'linear', 'nearest', 'maxn')]; sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0


def test_an_artefact_carries_its_card():
    fitted = predictor_class("nearest")(seed=5).fit(MODES[:3], TARGET.time_ms[:3], TARGET.power_mw[:3])
    card = artefact.read_card(artefact.save(fitted, rows=3, workload=REFERENCE.name))
    assert (card["method"], card["seed"], card["rows"], card["workload"]) == ("nearest", 5, 3, "reference")


@pytest.mark.parametrize("data", [b"", b"\x80\x04K\x01.", b"\xff" * 100, b"\x02\0\0\0\0\0\0\0{}"])
def test_other_bytes_are_no_artefact(data):
    with pytest.raises(artefact.ArtefactError):
        artefact.load(data)


def test_a_cut_artefact_is_refused():
    fitted = predictor_class("nearest")().fit(MODES[:3], TARGET.time_ms[:3], TARGET.power_mw[:3])
    with pytest.raises(artefact.ArtefactError):
        artefact.load(artefact.save(fitted)[:-8])


def test_an_artefact_of_another_format_is_refused():
    header = json.dumps({"__metadata__": {"card": json.dumps({"format": 99, "method": "gp"})}}).encode()
    with pytest.raises(artefact.ArtefactError, match="fit it again"):
        artefact.load(len(header).to_bytes(8, "little") + header)
