"""Messages that wake a worker. Training pulls in torch, so only the worker that fits imports it."""

from typing import Any

from celery import shared_task
from celery.signals import worker_ready

from modeling.services.evaluations import evaluations_rescue
from modeling.services.predictors import predictors_rescue


@shared_task
def fit_predictor(predictor_id: int) -> None:
    from modeling.training import predictor_fit

    predictor_fit(predictor_id=predictor_id)


@shared_task
def pick_again(sweep_id: int) -> None:
    from modeling.verifying import plan_pick_again

    plan_pick_again(sweep_id=sweep_id)


@shared_task
def choose_modes(sweep_id: int) -> None:
    from modeling.active_sweeps import sweep_choose

    sweep_choose(sweep_id=sweep_id)


@shared_task
def refresh_corpora(device_model_id: int) -> None:
    from modeling.corpora import corpora_refresh

    corpora_refresh(device_model_id=device_model_id)


@shared_task
def run_evaluation(evaluation_id: int) -> None:
    from modeling.evaluating import evaluation_run

    evaluation_run(evaluation_id=evaluation_id)


@shared_task
def look_after_work() -> None:
    predictors_rescue()
    evaluations_rescue()


@worker_ready.connect
def look_for_work(**_: Any) -> None:
    look_after_work()
