"""The API keeps its own word: whatever is asked, no 5xx, and every answer as the schema says."""

from typing import Any

import pytest
import schemathesis
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rest_framework.throttling import SimpleRateThrottle
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from jetsonlab.wsgi import application
from profiling.models import Run, Upload
from profiling.services.datasets import dataset_create, dataset_freeze
from profiling.services.devices import device_token_create
from profiling.services.sweeps import sweep_request
from profiling.services.transfers import transfer_begin
from tests.tokens import EVERYTHING, token_of

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
EXAMPLES = 4
KNOBS = {"cores": 2, "cpu_khz": 268_800, "gpu_khz": 318_750, "mem_khz": 665_600}


@pytest.fixture
def token(ada, board) -> dict[str, str]:
    return {"Authorization": f"Bearer {token_of(ada, *EVERYTHING)}"}


@pytest.fixture
def lab(token, ada, resnet, orin, board, monkeypatch) -> Any:
    """A lab with something of most kinds in it, so that answers have content."""
    monkeypatch.setattr(SimpleRateThrottle, "THROTTLE_RATES", {"anon": None, "user": None})
    Run.objects.create(
        workload=resnet, device_model=orin, device=board, minibatch=16, **KNOBS, time_ms=1, power_mw=1
    )
    dataset = dataset_create(user=ada, name="All", description="All there is.", licence="CC0-1.0", filters={})
    dataset_freeze(dataset=dataset, user=ada)
    return schemathesis.openapi.from_wsgi("/api/schema/?format=json", application, headers=token)


@pytest.fixture
def there(lab, ada, resnet, orin, board) -> dict[str, Any]:
    """Noun in the address → what there is of it, so that not every answer is a 404."""
    upload = Upload.objects.create(filename="a.csv", size=1, workload=resnet, device_model=orin, uploader=ada)
    transfer, _ = transfer_begin(user=ada, filename="b.csv", size=2, about={})
    sweep = sweep_request(device=board, workload=resnet, strategy="list", modes=[orin.maximum], user=ada)
    return {
        "runs": Run.objects.earliest("id").pk,
        "workloads": resnet.slug,
        "device-models": orin.slug,
        "devices": board.slug,
        "datasets": "all",
        "uploads": upload.pk,
        "transfers": transfer.pk,
        "sweeps": sweep.pk,
        "agent": sweep.runs.get().pk,
    }


@pytest.fixture
def keys(token, ada, board) -> dict[str, dict[str, Any]]:
    """What an address of the noun is asked with: tokens are a signed-in person's, `agent` a board's."""
    browser = Client()
    browser.force_login(ada)
    csrf = "c" * 32
    cookies = {"sessionid": browser.cookies["sessionid"].value, "csrftoken": csrf}
    _, text = device_token_create(device=board, user=ada)
    return {
        "tokens": {"cookies": cookies, "headers": {"X-CSRFToken": csrf}},
        "agent": {"headers": {"Authorization": f"Bearer {text}"}},
    }


def test_whatever_is_asked_the_answer_is_as_the_schema_says(lab, token, there, keys):
    faults = []
    for found in lab.get_all_operations():
        operation = found.ok()

        @settings(
            max_examples=EXAMPLES,
            suppress_health_check=list(HealthCheck),
        )
        @given(operation.as_strategy(), st.booleans())
        def ask(case: Any, known: bool) -> None:
            noun = case.operation.path.split("/")[3]
            names = [name for name in case.path_parameters or {} if name in ("id", "slug")]
            if known and noun in there and names:
                case.path_parameters[names[0]] = there[noun]
            case.call_and_validate(**keys.get(noun, {"headers": token}), checks=CHECKS)

        try:
            ask()
        except (FailureGroup, AssertionError) as fault:
            faults.append(f"{operation.label}: {fault}")
    assert not faults, "\n\n".join(faults)
