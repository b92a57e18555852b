import numpy as np

from modeling.answers import PlanQuestion
from modeling.planning import answer_on
from modeling.selectors.charts import plan_chart_data
from modeling.selectors.landscape import landscape
from tests.modeling.conftest import FEW, truth


def test_the_columns_are_those_of_the_answer(ready, resnet, orin):
    land = landscape(workload=resnet, device_model=orin)
    answer = answer_on(land, PlanQuestion(power_mw=20_000))
    data = plan_chart_data(land=land, minibatch=16)
    assert data.knobs.shape == (36, 4)
    assert data.time_ms[answer.mode.rank] == answer.mode.time_ms.value
    assert tuple(data.knobs[-1]) == orin.maximum


def test_measured_modes_are_marked_and_hold_their_measurement(ready, resnet, orin):
    data = plan_chart_data(land=landscape(workload=resnet, device_model=orin), minibatch=16)
    assert np.flatnonzero(data.measured).tolist() == FEW
    assert np.allclose(data.time_ms[FEW], truth(data.knobs[FEW])[0])


def test_the_front_runs_from_fast_to_lean(ready, resnet, orin):
    data = plan_chart_data(land=landscape(workload=resnet, device_model=orin), minibatch=16)
    assert (np.diff(data.time_ms[data.front]) > 0).all()
    assert (np.diff(data.power_mw[data.front]) < 0).all()


def test_equal_questions_share_their_arrays(ready, resnet, orin):
    first = landscape(workload=resnet, device_model=orin)
    assert landscape(workload=resnet, device_model=orin).prediction is first.prediction
