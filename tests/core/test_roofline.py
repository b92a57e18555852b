"""The roofline method: its formula, its residual process, and what the predictor says of itself."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modeling.core.metrics import coverage, mape
from modeling.core.prediction import FloatArray, Measured
from modeling.core.predictors.base import BasePredictor
from modeling.core.predictors.roofline import RooflinePredictor
from modeling.core.roofline import formula
from modeling.core.roofline.belief import belief_for
from modeling.core.roofline.corpus import CorpusFit, fit_corpus, power_curve, time_curve
from modeling.core.roofline.priors import POWER_MEAN, POWER_SD, TIME_MEAN, TIME_SD
from modeling.core.roofline.residual import Kernel, condition, features, smooth_mean
from modeling.core.roofline.robust import precision_weights
from modeling.core.roofline.state import pack, unpack
from tests.contracts_predictor import REFERENCE, PredictorContract
from tests.core.boards import MAXIMUM, MODES, some, with_minibatches, workload

LIMIT = np.array(MAXIMUM, dtype=float)
AT = formula.settings(with_minibatches().knobs[::7], LIMIT)
TARGET = workload("target", gpu=60, cpu=25)


@pytest.fixture(scope="module")
def corpus() -> CorpusFit:
    return fit_corpus([workload("gpu-bound", gpu=80, cpu=10), workload("cpu-bound", gpu=20, cpu=60)])


def predictor(corpus: CorpusFit, rows: np.ndarray, target: Measured = TARGET) -> RooflinePredictor:
    new = RooflinePredictor(prepared=corpus, board_maximum=MAXIMUM)
    return new.fit(target.knobs[rows], target.time_ms[rows], target.power_mw[rows])


@cache
def prepared(names: tuple[str, ...], seed: int) -> CorpusFit:
    """The corpus fits of the contract's references, each learned once."""
    known = {"reference": REFERENCE, "batches": with_minibatches()}
    known["part"] = workload("part", modes=MODES[some(REFERENCE, 60)])
    return fit_corpus([known[name] for name in names], seed)


class TestRoofline(PredictorContract):
    method = "roofline"
    worst_mape = 6.0

    def new(self, corpus: tuple[Measured, ...] = (REFERENCE,), seed: int = 0, **more: Any) -> BasePredictor:
        names = tuple(reference.name for reference in corpus)
        return super().new(corpus, seed, prepared=prepared(names, 0), **more)


def drawn(mean: FloatArray, sd: FloatArray, seed: int) -> FloatArray:
    return mean + sd * np.random.default_rng(seed).normal(size=(2, len(mean)))


@given(seed=st.integers(0, 10_000))
@settings(max_examples=15)
def test_the_slopes_of_time_are_those_of_small_steps(seed: int) -> None:
    curve, theta = time_curve(AT), drawn(TIME_MEAN, TIME_SD, seed)
    check_slopes(curve, theta)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=15)
def test_the_slopes_of_power_are_those_of_small_steps(seed: int) -> None:
    parts = formula.time_parts(drawn(TIME_MEAN, TIME_SD, seed), AT)
    check_slopes(power_curve(AT, parts), drawn(POWER_MEAN, POWER_SD, seed + 1))


def check_slopes(curve, theta: FloatArray, step: float = 1e-6) -> None:
    who = np.arange(len(theta))
    _, slope = curve(theta, who)
    for k in range(theta.shape[1]):
        nudge = step * (np.arange(theta.shape[1]) == k)
        numeric = (curve(theta + nudge, who)[0] - curve(theta - nudge, who)[0]) / (2 * step)
        np.testing.assert_allclose(slope[:, k], numeric, atol=1e-5)


@given(seed=st.integers(0, 10_000), column=st.integers(0, 3))
@settings(max_examples=20)
def test_no_knob_slows_the_formula_by_going_up(seed: int, column: int) -> None:
    theta = drawn(TIME_MEAN, TIME_SD, seed)
    low = np.array([[4, 800_000, 500_000, 1_200_000]])
    high = low.copy()
    high[0, column] *= 2
    times = formula.time_parts(theta, formula.settings(np.vstack([low, high]), LIMIT)).time.value
    assert (times[:, 1] <= times[:, 0] + 1e-12).all()


def test_parts_of_the_time_are_shares_of_it() -> None:
    parts = formula.time_parts(drawn(TIME_MEAN, TIME_SD, 0), AT)
    assert (parts.gpu_share <= 1e-9).all()
    assert (parts.compute_share <= parts.gpu_share + 1e-9).all()


def test_a_minibatch_of_the_reference_size_is_no_minibatch_at_all() -> None:
    theta = drawn(TIME_MEAN, TIME_SD, 3)
    sized = np.column_stack([MODES, np.full(len(MODES), formula.REFERENCE_MINIBATCH)])
    plain, with_size = (formula.time_parts(theta, formula.settings(k, LIMIT)) for k in (MODES, sized))
    np.testing.assert_allclose(plain.time.value, with_size.time.value)


def test_small_minibatches_take_longer_per_sample() -> None:
    knobs = np.column_stack([np.repeat(MODES[-1:], 4, axis=0), [1, 4, 16, 64]])
    time = formula.time_parts(TIME_MEAN[None], formula.settings(knobs, LIMIT)).time.value[0]
    assert (np.diff(time) > 0).all()
    assert (np.diff(time - np.log(knobs[:, 4])) < 0).all()


def test_the_residual_process_returns_what_was_measured_and_its_prior_far_away() -> None:
    kernel = Kernel(np.log(0.01), np.full(5, -3.0), np.full(5, 1.0), np.log(1e-8))
    at = features(formula.settings(MODES, LIMIT))
    residual = np.sin(np.arange(20.0))[None] * 0.1
    mean, variance = condition(kernel, at[:20], np.full(20, kernel.noise), residual, at[:20])
    np.testing.assert_allclose(mean, residual, atol=1e-4)
    assert (variance < 1e-4).all()


def test_sums_over_a_grid_equal_the_plain_product() -> None:
    at = features(formula.settings(MODES, LIMIT))
    coefficients = np.random.default_rng(0).normal(size=50)
    kernel = Kernel.generic()
    plain = kernel.covariance(at, at[:50]) @ coefficients
    np.testing.assert_allclose(smooth_mean(kernel, at[:50], coefficients, at), plain, rtol=1e-9)


def test_gross_errors_lose_their_weight_and_small_ones_keep_it() -> None:
    weights = precision_weights(np.array([0.0, 0.02, -1.0]), np.zeros(3), 0.02**2)
    assert weights[0] > 0.99
    assert weights[1] > 0.98
    assert weights[2] < 0.01


def test_one_mode_measured_at_the_wrong_clock_does_not_spoil_the_rest(corpus: CorpusFit) -> None:
    rows = some(TARGET, 30)
    spoilt = TARGET.time_ms.copy()
    spoilt[rows[4]] *= 0.3
    lied = RooflinePredictor(prepared=corpus, board_maximum=MAXIMUM)
    lied.fit(TARGET.knobs[rows], spoilt[rows], TARGET.power_mw[rows])
    assert mape(TARGET.time_ms, lied.predict(MODES).time_ms) < 4


def test_five_modes_are_enough_on_a_board_the_references_share(corpus: CorpusFit) -> None:
    errors = []
    for seed in range(3):
        p = predictor(corpus, some(TARGET, 5, seed)).predict(MODES)
        errors.append((mape(TARGET.time_ms, p.time_ms), mape(TARGET.power_mw, p.power_mw)))
    time, power = np.median(errors, axis=0)
    assert time < 12
    assert power < 8


def test_fewer_modes_give_wider_intervals_that_hold(corpus: CorpusFit) -> None:
    few, many = (predictor(corpus, some(TARGET, n)).predict(MODES) for n in (2, 30))
    assert few.time_log_sd.mean() > 2 * many.time_log_sd.mean()
    assert coverage(TARGET.time_ms, few.time_ms, few.time_log_sd) > 80
    assert coverage(TARGET.power_mw, many.power_mw, many.power_log_sd) > 80


def test_no_measured_mode_gets_an_answer_that_says_what_it_is(corpus: CorpusFit) -> None:
    p = predictor(corpus, np.zeros(0, dtype=int)).predict(MODES)
    assert "level is unknown" in p.notes[0]
    assert (p.time_log_sd > 2).all()
    assert np.isfinite(p.power_mw).all()


def test_one_or_two_modes_say_so(corpus: CorpusFit) -> None:
    assert "only 2 measured" in predictor(corpus, np.array([0, 150])).predict(MODES).notes[0]
    assert predictor(corpus, some(TARGET, 12)).predict(MODES).notes == ()


def test_references_from_another_board_teach_shapes_only(corpus: CorpusFit) -> None:
    abroad = belief_for(corpus, LIMIT * [1, 0.5, 0.7, 0.6])
    at_home = belief_for(corpus, LIMIT)
    assert abroad.foreign
    assert not at_home.foreign
    assert len(abroad.surfaces(MODES)[0]) == 0
    assert abroad.power.covariance[0, 0] > 50 * at_home.power.covariance[0, 0]


def test_a_board_with_other_clocks_is_predicted_from_foreign_references(corpus: CorpusFit) -> None:
    scale = np.array([1, 0.5, 0.7, 0.6])
    knobs = np.rint(MODES * scale).astype(np.int64)
    power = TARGET.power_mw * 0.4
    rows = some(TARGET, 12)
    maximum = tuple(int(value) for value in knobs.max(axis=0))
    far = RooflinePredictor(prepared=corpus, board_maximum=maximum).fit(
        knobs[rows], TARGET.time_ms[rows], power[rows]
    )
    p = far.predict(knobs)
    assert "another device model" in " ".join(p.notes)
    assert mape(TARGET.time_ms, p.time_ms) < 10
    assert mape(power, p.power_mw) < 10


def test_a_reference_given_but_not_prepared_is_fitted_first() -> None:
    given = RooflinePredictor([workload("part", modes=MODES[::4])], board_maximum=MAXIMUM)
    given.fit(MODES[:5], TARGET.time_ms[:5], TARGET.power_mw[:5])
    assert given.workload_.belief.references[0].name == "part"


def test_references_of_the_targets_kind_go_first() -> None:
    training = prepared(("reference", "part"), 0)
    inference = replace(training.references[1], name="inference", kind="inference")
    both = replace(training, references=(training.references[0], inference))
    assert [r.name for r in belief_for(both, LIMIT, "inference").references] == ["inference"]
    assert len(belief_for(training, LIMIT, "inference").references) == 2


def test_what_one_reference_leaves_open_follows_the_others() -> None:
    together = prepared(("reference", "part"), 0).references
    apart = [prepared((name,), 0).references[0] for name in ("reference", "part")]
    close, far = (np.abs(a.phi - b.phi).mean() for a, b in (together, apart))
    assert close < 0.7 * far


def test_a_corpus_fit_is_stored_and_found_again(corpus: CorpusFit) -> None:
    arrays, card = pack(corpus)
    again = unpack(CorpusFit, arrays, card)
    rows = some(TARGET, 8)
    first, second = (predictor(each, rows).predict(MODES) for each in (corpus, again))
    np.testing.assert_array_equal(first.time_ms, second.time_ms)


def test_a_single_core_is_predicted_though_something_else_keeps_it_busy(corpus: CorpusFit) -> None:
    single = MODES.copy()
    single[:, 0] = 1
    p = predictor(corpus, some(TARGET, 30)).predict(single)
    assert np.isfinite(p.time_ms).all()
    assert np.isfinite(p.power_mw).all()


def test_an_exponent_of_the_minibatch_that_no_gpu_has_is_held_in_its_range() -> None:
    theta = np.tile(TIME_MEAN, (2, 1))
    theta[1, formula.TIME_PARAMETERS.index("gpu_batch")] = (
        1.8  # the false optimum of ResNet's inference table
    )
    usual, held = formula.time_parts(theta, AT).time.value
    most = formula.GPU_BATCH_RANGE[1] - 1
    assert 0 < np.abs(held - usual).max() <= most * np.abs(AT.batch_log).max() + 1e-9


def test_a_gpu_is_half_full_with_a_few_samples_at_most() -> None:
    theta = np.tile(TIME_MEAN, (2, 1))
    theta[:, formula.TIME_PARAMETERS.index("half_batch")] = formula.HALF_BATCH_RANGE[1], 6.0
    most, beyond = formula.time_parts(theta, AT).time.value
    np.testing.assert_array_equal(most, beyond)


def test_a_references_odd_mode_is_doubted_though_others_recurred():
    """Three modes of the reference draw a third of their power, by mistake or not; two do so again."""
    odd = np.array([5, 40, 90])
    reference, target = (
        replace(
            each, power_mw=np.where(np.isin(np.arange(len(MODES)), rows), each.power_mw / 3, each.power_mw)
        )
        for each, rows in ((workload("odd", gpu=80, cpu=10), odd), (TARGET, odd[:2]))
    )
    corpus = fit_corpus([reference])
    rows = np.union1d(np.setdiff1d(some(TARGET, 12), odd), odd[:2])
    sd = predictor(corpus, rows, target).predict(MODES).power_log_sd
    others = np.setdiff1d(np.arange(len(MODES)), [*rows, *odd])
    assert sd[odd[2]] > 0.3 > 3 * np.median(sd[others])
    assert max(sd[odd[:2]]) < 0.1
