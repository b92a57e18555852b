"""Messages that wake a worker. Training pulls in torch, so only the worker that fits imports it."""

from celery import shared_task


@shared_task
def fit_predictor(predictor_id: int) -> None:
    from modeling.training import predictor_fit

    predictor_fit(predictor_id=predictor_id)


@shared_task
def rescue_predictors() -> None:
    from modeling.services.predictors import predictors_rescue

    predictors_rescue()
