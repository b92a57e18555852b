"""Running `evaluate` on the database's own measurements, in a worker."""

import logging
from typing import Any

from modeling.core.evaluation import Question, evaluate
from modeling.models import Evaluation
from modeling.selectors.references import default_references, source
from modeling.services.evaluations import evaluation_claim
from modeling.training import FIT_ERRORS

logger = logging.getLogger(__name__)


def evaluation_run(*, evaluation_id: int) -> None:
    evaluation = evaluation_claim(evaluation_id=evaluation_id)
    if evaluation is None:
        return
    kept = Evaluation.objects.filter(pk=evaluation.pk, state=Evaluation.State.RUNNING)
    try:
        results = results_of(evaluation)
    except FIT_ERRORS as error:
        logger.warning("evaluation %s: %s", evaluation.pk, error)
        kept.update(state=Evaluation.State.FAILED, failure=str(error) or type(error).__name__)
        return
    kept.update(state=Evaluation.State.READY, results=results, step="")


def results_of(evaluation: Evaluation) -> list[dict[str, Any]]:
    assert evaluation.workload is not None  # requested ones have both
    assert evaluation.device_model is not None
    target = source(evaluation.workload, evaluation.device_model)
    corpus = tuple(each.measured for each in default_references(target=target))
    options, results = evaluation.options, []
    question = Question(
        target.measured,
        corpus,
        sampling=options["sampling"],
        repeats=options["repeats"],
        seed=options["seed"],
        verify=options["verify"],
    )
    for place, method in enumerate(options["methods"], start=1):
        step = f"{method}, {place} of {len(options['methods'])}"
        Evaluation.objects.filter(pk=evaluation.pk).update(step=step)
        results += evaluate(question, method, options["counts"])
    return results
