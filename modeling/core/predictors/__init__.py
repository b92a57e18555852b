"""The prediction methods by name; a class is imported when it is asked for, so torch only when needed."""

from importlib import import_module

from modeling.core.predictors.base import BasePredictor

METHODS = {
    "roofline": "modeling.core.predictors.roofline:RooflinePredictor",
    "powertrain": "modeling.core.predictors.powertrain:PowerTrainPredictor",
    "nn": "modeling.core.predictors.nn:NetworkPredictor",
    "gp": "modeling.core.predictors.gp:GaussianProcessPredictor",
    "linear": "modeling.core.predictors.linear:LinearPredictor",
    "universal": "modeling.core.predictors.universal:UniversalPredictor",
    "nearest": "modeling.core.predictors.nearest:NearestPredictor",
    "maxn": "modeling.core.predictors.maxn:MaxnPredictor",
}


def predictor_class(method: str) -> type[BasePredictor]:
    """The class of a method of METHODS; ValueError for any other name."""
    if method not in METHODS:
        raise ValueError(f"method {method!r} is not one of {', '.join(METHODS)}")
    module, name = METHODS[method].split(":")
    return getattr(import_module(module), name)
