"""Running `evaluate` on the database's own measurements, in a worker."""

import logging
from collections.abc import Callable
from itertools import count
from typing import Any

from modeling.core.evaluation import Question, evaluate
from modeling.models import Evaluation
from modeling.selectors.references import default_references, source
from modeling.services.evaluations import (
    evaluation_claim,
    evaluation_fail,
    evaluation_finish,
    evaluation_progress,
)
from modeling.training import FIT_ERRORS

logger = logging.getLogger(__name__)


def evaluation_run(*, evaluation_id: int) -> None:
    evaluation = evaluation_claim(evaluation_id=evaluation_id)
    if evaluation is None:
        return
    try:
        results = results_of(evaluation)
    except FIT_ERRORS as error:
        logger.warning("evaluation %s: %s", evaluation.pk, error)
        evaluation_fail(evaluation=evaluation, reason=str(error) or type(error).__name__)
        return
    evaluation_finish(evaluation=evaluation, results=results)


def results_of(evaluation: Evaluation) -> list[dict[str, Any]]:
    options, results = evaluation.options, []
    question = question_of(evaluation)
    done = count(1)

    def tell(step: str) -> Callable[[], None]:
        return lambda: evaluation_progress(evaluation=evaluation, step=step, done=next(done))

    for place, method in enumerate(options["methods"], start=1):
        after_trial = tell(f"{method}, method {place} of {len(options['methods'])}")
        results += evaluate(question, method, options["counts"], after_trial)
    return results


def question_of(evaluation: Evaluation) -> Question:
    assert evaluation.workload is not None  # requested ones have both
    assert evaluation.device_model is not None
    target, options = source(evaluation.workload, evaluation.device_model), evaluation.options
    return Question(
        target.measured,
        tuple(each.measured for each in default_references(target=target)),
        **{name: options[name] for name in ("sampling", "repeats", "seed", "verify")},
    )
