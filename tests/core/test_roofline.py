import numpy as np

from modeling.core.predictors.roofline import RooflinePredictor
from tests.contracts_predictor import PredictorContract
from tests.core.boards import MAXIMUM, MODES, some, workload


class TestRoofline(PredictorContract):
    method = "roofline"
    worst_mape = 6.0


def test_a_single_core_is_predicted_too():
    """Something else may keep most of it busy, but never more than all."""
    taught, rows = workload("reference", gpu=25.0), some(workload(), 30)
    single = MODES.copy()
    single[:, 0] = 1
    asked = workload()
    predictor = RooflinePredictor(corpus=[taught], seed=0, board_maximum=MAXIMUM)
    predictor.fit(asked.knobs[rows], asked.time_ms[rows], asked.power_mw[rows])
    said = predictor.predict(single)
    assert np.isfinite(said.time_ms).all()
    assert np.isfinite(said.power_mw).all()
