"""The API keeps its own word: whatever is asked, no 5xx, and every answer as the schema says."""

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from jetsonlab.wsgi import application
from profiling.models import ApiToken, Run
from profiling.services.datasets import dataset_create, dataset_freeze

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
EXAMPLES = 6
schemathesis.serializer.alias("application/offset+octet-stream", "application/octet-stream")
KNOBS = {"cores": 2, "cpu_khz": 268_800, "gpu_khz": 318_750, "mem_khz": 665_600}


@pytest.fixture
def token(ada, board) -> dict[str, str]:
    text = ApiToken.new_text()
    scopes = ["read", "upload", "plan"]
    ApiToken.objects.create(
        user=ada, name="t", prefix=text[:8], digest=ApiToken.digest_of(text), scopes=scopes
    )
    return {"Authorization": f"Bearer {text}"}


@pytest.fixture
def lab(token, ada, resnet, orin, board, settings) -> Any:
    """A lab with something of most kinds in it, so that answers have content."""
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "DEFAULT_THROTTLE_CLASSES": []}
    Run.objects.create(
        workload=resnet, device_model=orin, device=board, minibatch=16, **KNOBS, time_ms=1, power_mw=1
    )
    dataset = dataset_create(user=ada, name="All", description="All there is.", licence="CC0-1.0", filters={})
    dataset_freeze(dataset=dataset, user=ada)
    return schemathesis.openapi.from_wsgi("/api/schema/?format=json", application, headers=token)


def test_whatever_is_asked_the_answer_is_as_the_schema_says(lab, token):
    faults = []
    for found in lab.get_all_operations():
        operation = found.ok()

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(operation.as_strategy())
        def ask(case: Any) -> None:
            case.call_and_validate(headers=token, checks=CHECKS)

        try:
            ask()
        except (FailureGroup, AssertionError) as fault:
            faults.append(f"{operation.label}: {fault}")
    assert not faults, "\n\n".join(faults)
