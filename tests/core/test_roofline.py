from tests.contracts_predictor import PredictorContract


class TestRoofline(PredictorContract):
    method = "roofline"
    worst_mape = 6.0
