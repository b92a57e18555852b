import numpy as np
import pytest

from modeling.answers import PlanQuestion
from modeling.models import Plan
from modeling.services.plans import plan_make, plan_save
from profiling import nvpmodel
from profiling.errors import Conflict, InvalidInput, NotFound
from profiling.models import Run
from profiling.signals import runs_changed
from tests.modeling.conftest import FEW, truth


@pytest.fixture
def ask(ready, resnet, orin):
    def plan(**question):
        return plan_make(workload=resnet, device_model=orin, question=PlanQuestion(**question))

    return plan


def true_of(mode):
    time_ms, power_mw = truth(np.array([mode.knobs]))
    return time_ms[0], power_mw[0]


def test_the_choice_keeps_its_budget_in_truth(ask):
    answer = ask(power_mw=20_000)
    assert answer.feasible
    assert answer.mode.chance >= 0.95
    assert true_of(answer.mode)[1] <= 20_000


def test_each_figure_has_its_interval(ask):
    mode = ask(power_mw=20_000).mode
    for each in (mode.time_ms, mode.power_mw, mode.energy_mj, mode.epoch_s, mode.epoch_energy_j):
        assert each.low < each.value < each.high


def test_the_epoch_is_its_minibatches(ask, resnet):
    mode = ask().mode
    assert resnet.minibatches_per_epoch == 3125
    assert mode.epoch_s.value == pytest.approx(mode.time_ms.value * 3.125)
    assert mode.epoch_energy_j.value == pytest.approx(mode.energy_mj.value * 3.125)


def test_without_samples_per_epoch_the_epoch_is_unknown_with_the_reason(ask, resnet):
    resnet.samples_per_epoch = None
    resnet.save()
    answer = ask()
    assert answer.mode.epoch_s is None
    assert "samples per epoch" in answer.epoch_reason
    with pytest.raises(InvalidInput, match="samples per epoch"):
        ask(epoch_s=100)


def test_no_ceiling_gives_the_fastest_mode_and_no_chance(ask, orin):
    answer = ask()
    assert answer.mode.knobs == orin.maximum
    assert answer.mode.chance is None
    assert answer.maxn.time_change_pct == 0


def test_when_nothing_fits_it_says_by_how_much(ask):
    answer = ask(power_mw=5000)
    assert not answer.feasible
    (short,) = answer.shortfalls
    assert (short.ceiling, short.limit) == ("power_mw", 5000)
    assert short.needed >= answer.mode.power_mw.value > 5000
    assert answer.best_stock is None
    assert answer.stock_reason == "No stock mode keeps the budget."


def test_an_epochs_shortfall_is_told_in_epochs(ask):
    (short,) = ask(epoch_s=1).shortfalls
    assert short.ceiling == "epoch_s"
    assert short.needed == pytest.approx(ask().mode.epoch_s.value, rel=0.2)


def test_an_epochs_deadline_is_kept(ask):
    answer = ask(epoch_s=300, objective="leanest")
    assert answer.feasible
    assert answer.mode.epoch_s.value < 300


def test_it_compares_with_maxn_and_the_best_stock_mode(ask):
    answer = ask(power_mw=20_000)
    assert not answer.maxn.fits
    assert answer.maxn.time_change_pct > 0 > answer.maxn.power_change_pct
    assert answer.best_stock.name == "LOW"
    assert answer.best_stock.fits
    assert answer.best_stock.time_change_pct < 0


def test_the_nearest_mode_beyond_would_be_faster(ask):
    answer = ask(power_mw=20_000)
    assert answer.nearest_beyond.time_ms.value < answer.mode.time_ms.value
    assert answer.nearest_beyond.chance < 0.95


def test_a_measured_mode_answers_with_its_measurement(ask, orin):
    mode = ask().mode
    assert mode.measured
    time_ms, power_mw = true_of(mode)
    assert mode.time_ms.value == pytest.approx(time_ms)
    assert mode.power_mw.value == pytest.approx(power_mw)
    assert mode.time_ms.high == pytest.approx(time_ms * np.exp(1.645 * 0.01), rel=1e-3)


def test_a_new_measurement_counts_at_once_and_the_answer_says_stale(ask, measure, resnet, orin):
    mode = ask(power_mw=20_000).mode
    assert not mode.measured
    measure(resnet, [mode.rank], slower=1.5)
    runs_changed.send(Run, workload_id=resnet.pk, device_model_id=orin.pk)
    answer = ask(power_mw=20_000)
    assert answer.provenance.stale
    assert answer.mode.rank != mode.rank or answer.mode.measured


def test_limits_on_knobs_are_kept(ask):
    assert ask(allowed={"cores": (None, 4)}).mode.knobs.cores == 4


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"power_mw": -1}, "power_mw -1 is no ceiling"),
        ({"risk": 1.5}, "risk 1.5 is not between 0 and 1"),
        ({"objective": "prettiest"}, "prettiest"),
        ({"allowed": {"cores": (7, 9)}}, "widen"),
        ({"allowed": {"fans": (1, 2)}}, "fans"),
        ({"minibatch": 64}, "Minibatch 64 is not predicted; measured sizes: 16"),
    ],
)
def test_a_senseless_question_is_refused_in_words(ask, question, message):
    with pytest.raises(InvalidInput, match=message):
        ask(**question)


def test_minibatch_sizes_compete_by_time_per_sample(resnet, orin, measure, fit):
    measure(resnet, FEW)
    measure(resnet, FEW, minibatch=4, slower=1.5)
    fit()

    def ask(**question):
        return plan_make(workload=resnet, device_model=orin, question=PlanQuestion(**question)).mode

    assert ask().minibatch == 16
    assert ask(minibatch=4).minibatch == 4
    assert ask(minibatch="any").minibatch == 16
    assert ask(minibatch="any", time_ms=30).minibatch == 4


def test_without_a_predictor_it_says_what_to_do(resnet, orin):
    with pytest.raises(Conflict, match="Press Predict"):
        plan_make(workload=resnet, device_model=orin)


def test_a_waiting_and_a_failed_predictor_are_told(resnet, orin, measure, fit, ready):
    ready.prediction_set.delete()
    ready.state = "failed"
    ready.failure = "Out of memory."
    ready.save()
    with pytest.raises(Conflict, match="failed: Out of memory"):
        plan_make(workload=resnet, device_model=orin)
    ready.state, ready.step = "fitting", "fitting"
    ready.save()
    with pytest.raises(Conflict, match="not ready yet"):
        plan_make(workload=resnet, device_model=orin)


def test_an_unknown_predictor_is_not_found(ask):
    with pytest.raises(NotFound, match="Predictor 999"):
        ask(predictor_id=999)


def test_a_baseline_is_believed_only_when_asked_for(ask, fit, ready):
    baseline = fit(method="nearest")
    assert ask().provenance.method == "gp"
    assert ask(predictor_id=baseline.pk).provenance.method == "nearest"


def test_a_changed_catalogue_makes_the_predictions_unusable(ask, orin):
    orin.cpu_khz = [268_800, 1_190_400, 2_300_000]
    orin.save()
    with pytest.raises(Conflict, match="catalogue"):
        ask()


def test_the_answer_says_where_it_comes_from(ask, ready):
    told = ask().provenance
    assert (told.predictor, told.method, told.modes_measured) == (ready.pk, "gp", len(FEW))
    assert (told.stale, told.emulated) == (False, False)
    assert told.own_error["rows"] == len(FEW)


def test_an_emulated_basis_is_told(resnet, orin, measure, fit):
    measure(resnet, FEW, emulated=True)
    fit()
    assert plan_make(workload=resnet, device_model=orin).provenance.emulated


def test_the_nvpmodel_block_is_the_chosen_mode(ask, orin):
    answer = ask(power_mw=20_000)
    (mode,) = nvpmodel.parse(answer.nvpmodel).modes
    assert mode.mode_id == 3
    entry = {name: getattr(orin, name) for name in ("slug", "soc", "cores", "cpu_khz", "gpu_khz", "mem_khz")}
    assert nvpmodel.capped_knobs(mode, entry) == answer.mode.knobs


def test_a_saved_plan_keeps_question_and_answer(ask, eng, resnet):
    answer = ask(power_mw=20_000)
    plan_save(answer=answer, user=eng)
    plan = Plan.objects.get()
    assert plan.power_mode.knobs == answer.mode.knobs
    assert plan.question["power_mw"] == 20_000
    assert plan.answer["mode"]["knobs"] == answer.mode.knobs._asdict()
    assert plan.prediction_set_id == answer.provenance.prediction_set


def test_an_infeasible_plan_is_kept_without_a_mode(ask, eng):
    assert plan_save(answer=ask(power_mw=5000), user=eng).power_mode is None


def test_asking_again_costs_few_queries(ask, django_assert_max_num_queries):
    ask(power_mw=20_000)
    with django_assert_max_num_queries(3):
        ask(power_mw=19_000)
