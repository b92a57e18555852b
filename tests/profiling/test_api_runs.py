from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.http import QueryDict

from profiling.models import Run, Telemetry, Upload
from profiling.run_filters import RunApiFilter
from profiling.selectors.runs import run_list
from profiling.telemetry import pack

URL = "/api/v1/runs/"
LOW = {"cores": 2, "cpu_khz": 268_800, "gpu_khz": 318_750, "mem_khz": 665_600}
HIGH = {"cores": 6, "cpu_khz": 2_201_600, "gpu_khz": 1_300_500, "mem_khz": 3_199_000}


@pytest.fixture
def runs(resnet, orin, board, eng) -> list[Run]:
    pair = {"workload": resnet, "device_model": orin, "minibatch": 16}
    upload = Upload.objects.create(filename="sweep.csv", size=1, sha256="a" * 64, uploader=eng)
    half = Upload.objects.create(filename="half.csv", size=1, sha256="b" * 64, uploader=eng, hidden=True)
    return [
        Run.objects.create(**pair, **LOW, time_ms=100, power_mw=10_000, upload=upload, line=2),
        Run.objects.create(**pair, **HIGH, time_ms=50, power_mw=30_000, device=board, flags=["throttled"]),
        Run.objects.create(**pair, **HIGH, time_ms=55, power_mw=31_000, emulated=True),
        Run.objects.create(**pair, **HIGH, upload=half),
    ]


def found(api: Any, **filters: Any) -> list[int]:
    answer = api.get(URL, filters)
    assert answer.status_code == 200, answer.content
    return [run["id"] for run in answer.json()["results"]]


def test_runs_come_newest_first_without_unfinished_imports(api, runs):
    assert found(api) == [run.pk for run in runs[2::-1]]


@pytest.mark.parametrize(
    ("filters", "places"),
    [
        ({"cores": 2}, [0]),
        ({"cpu_khz__gte": 300_000}, [2, 1]),
        ({"time_ms__lte": 52}, [1]),
        ({"power_mw__gte": 30_500}, [2]),
        ({"device": "desk-1"}, [1]),
        ({"kind": "inference"}, []),
        ({"emulated": "true"}, [2]),
        ({"flag": "throttled"}, [1]),
        ({"flagged": "false"}, [2, 0]),
        ({"workload": "resnet", "device_model": "orin-mini", "minibatch": 16}, [2, 1, 0]),
    ],
)
def test_runs_are_filtered(api, runs, filters, places):
    assert found(api, **filters) == [runs[place].pk for place in places]


@pytest.mark.parametrize(
    "filters",
    [{"workload": "resnot"}, {"cores": "many"}, {"speling": 1}, {"time_ms__lte": "\0"}, {"flag": "throttle"}],
)
def test_a_filter_that_makes_no_sense_is_refused(api, runs, filters):
    answer = api.get(URL, filters)
    assert answer.status_code == 400
    assert set(answer.json()["errors"]) == set(filters)


@pytest.mark.parametrize("query", ["flagged=perhaps", "cores=2&cores=4"])
def test_half_a_question_is_refused(api, runs, query):
    assert api.get(f"{URL}?{query}").status_code == 400


@pytest.mark.parametrize("states", [["failed"], ["failed", "cancelled"], ["superseded"]])
def test_the_few_runs_that_are_not_complete_have_an_index(api, runs, states):
    Run.objects.filter(pk=runs[1].pk).update(state=states[0])
    assert found(api, state=states) == [runs[1].pk]
    assert found(api, state=[*states, "complete"]) == [run.pk for run in runs[2::-1]]
    asked = RunApiFilter(QueryDict(urlencode({"state": states}, doseq=True)), run_list()).qs
    if connection.vendor == "sqlite":
        assert "run_not_complete" in asked.values("id").explain()


@pytest.mark.parametrize("size", ["0", "-1", "1001", "many", "9" * 30])
def test_a_page_of_no_size_is_refused(api, runs, size):
    answer = api.get(URL, {"page_size": size})
    assert answer.json()["errors"]["page_size"] == ["A whole number from 1 to 1000."]


@pytest.mark.parametrize("step", ["export", "facets", "heat"])
@pytest.mark.parametrize("query", [{"page_size": 2}, {"cursor": "cD0xMA=="}])
def test_what_has_no_pages_takes_none(api, runs, step, query):
    assert api.get(f"{URL}{step}/", query).status_code == 400


def test_the_telemetry_of_a_run_comes_in_channels(api, runs):
    columns = {"time_s": [0.0, 0.1, 0.2, 0.3], "power_vdd_in_mw": [5000, None, 9000, 5008]}
    Telemetry.objects.create(run=runs[0], **pack(columns)._asdict())
    said = api.get(f"{URL}{runs[0].pk}/telemetry/").json()["channels"]["power_vdd_in_mw"]
    assert said == {"time_s": pytest.approx([0.0, 0.1, 0.2, 0.3]), "values": [5000, None, 9000, 5008]}
    thin = api.get(f"{URL}{runs[0].pk}/telemetry/?points=2").json()["channels"]["power_vdd_in_mw"]
    assert 9000 in thin["values"]
    assert api.get(f"{URL}{runs[0].pk}/telemetry/?points=1").status_code == 400


def test_a_run_leads_back_to_its_file_and_line(api, runs):
    provenance = api.get(f"{URL}{runs[0].pk}/").json()["provenance"]
    assert provenance["file"] == "sweep.csv"
    assert (provenance["line"], provenance["uploader"], provenance["sha256"]) == (2, "eng", "a" * 64)


def test_a_page_of_runs_costs_four_queries(api, runs, django_assert_num_queries):
    api.get(URL)
    with django_assert_num_queries(4):  # token, role, keys, runs
        api.get(URL)


def test_pages_follow_one_another_without_gap_or_repeat(api, runs):
    seen, url = [], f"{URL}?page_size=1"
    while url:
        page = api.get(url).json()
        seen += [run["id"] for run in page["results"]]
        url = page["next"]
    assert seen == [run.pk for run in runs[2::-1]]


@pytest.mark.parametrize("cursor", ["nonsense", "cD1hYmM=", "cD05OTk5OTk5OTk5OTk5OTk5OTk5OTk5"])
def test_a_made_up_cursor_is_refused(api, runs, cursor):
    answer = api.get(URL, {"cursor": cursor})
    assert answer.status_code == 404
    assert answer["Content-Type"] == "application/problem+json"


def test_runs_cannot_be_changed(api, runs):
    for method in (api.put, api.patch, api.delete):
        assert method(f"{URL}{runs[0].pk}/", {}).status_code == 405
