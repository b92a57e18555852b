"""Facets, ranges and heat maps of runs."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from profiling.models import Run, Upload, Workload
from profiling.models.runs import BROWSED

URL = "/api/v1/runs/"


@pytest.fixture
def runs(resnet, orin, board, eng):
    other = Workload.objects.create(slug="bert", name="BERT", kind="inference", network="B", minibatch=4)
    upload = Upload.objects.create(filename="a.csv", size=1, sha256="a" * 64, uploader=eng)
    half = Upload.objects.create(filename="half.csv", size=1, sha256="b" * 64, uploader=eng, hidden=True)
    mode = {"cpu_khz": 268_800, "mem_khz": 665_600, "device_model": orin, "minibatch": 16}

    def run(workload, cores, gpu_khz, time_ms, **more):
        about = {**mode, "workload": workload, "cores": cores, "gpu_khz": gpu_khz, "time_ms": time_ms}
        return Run.objects.create(**about, **more)

    return [
        run(resnet, 2, 318_750, 100.0, upload=upload),
        run(resnet, 2, 1_300_500, 60.0, device=board, flags=["hot", "short"]),
        run(resnet, 4, 318_750, 90.0, emulated=True),
        run(other, 4, 318_750, 80.0, flags=["hot"]),
        run(other, 6, 318_750, 1.0, state="superseded"),
        run(other, 6, 318_750, 1.0, upload=half),
    ]


def facets(api, **filters):
    answer = api.get(f"{URL}facets/", filters)
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_each_choice_says_how_many_runs_it_leaves(api, runs):
    said = facets(api)
    assert said["count"] == 4
    assert said["facets"]["workload"] == {"resnet": 3, "bert": 1}
    assert said["facets"]["kind"] == {"training": 3, "inference": 1}
    assert said["facets"]["flag"] == {"hot": 2, "short": 1}
    assert said["facets"]["flagged"] == {"false": 2, "true": 2}
    assert said["facets"]["uploader"] == {"eng": 1}
    assert said["facets"]["device"] == {"desk-1": 1}
    assert said["facets"]["emulated"] == {"false": 3, "true": 1}


def test_a_chosen_facet_narrows_the_others_and_not_itself(api, runs):
    said = facets(api, flag="hot", emulated="false")
    assert said["count"] == 2
    assert said["facets"]["workload"] == {"resnet": 1, "bert": 1}
    assert said["facets"]["flag"] == {"hot": 2, "short": 1}


@pytest.mark.parametrize(
    "filters",
    [
        {},
        {"cores__gte": 4},
        {"workload": "resnet", "flagged": "true"},
        {"uploader": "eng"},
        {"time_ms__lte": 85},
    ]
    + [{"state": "superseded"}],
)
def test_the_count_is_that_of_the_list(api, runs, filters):
    assert facets(api, **filters)["count"] == len(api.get(URL, filters).json()["results"])


def test_ranges_are_those_of_the_boards_found_and_the_labs_days(api, runs):
    ranges = facets(api, workload="resnet")["ranges"]
    assert ranges["cores"] == {"min": 2, "max": 6}
    assert ranges["created"]["min"][:19] == runs[0].created.isoformat()[:19]
    assert facets(api, cores=5)["ranges"]["cores"] == {"min": None, "max": None}


def test_a_heat_map_minimises_over_what_is_not_held(api, runs):
    said = api.get(f"{URL}heat/", {"x": "gpu_khz", "y": "cores"}).json()
    assert (said["x"], said["y"]) == ([318_750, 1_300_500], [2, 4])
    assert said["z"] == [[100, 60], [80, None]]
    assert said["runs"] == [[1, 1], [2, 0]]
    held = api.get(f"{URL}heat/", {"x": "gpu_khz", "y": "cores", "workload": "resnet", "of": "mean"}).json()
    assert held["z"] == [[100, 60], [90, None]]


@pytest.mark.parametrize(
    "wrong", [{"x": "y"}, {"x": "cores", "y": "cores"}, {"of": "median"}, {"value": "cores"}]
)
def test_a_heat_map_that_makes_no_sense_is_refused(api, runs, wrong):
    assert api.get(f"{URL}heat/", wrong).status_code == 400


def test_facets_cost_the_same_queries_however_many_runs(api, runs, django_assert_max_num_queries):
    api.get(f"{URL}facets/")
    with django_assert_max_num_queries(11):
        api.get(f"{URL}facets/", {"workload": "resnet"})


def test_what_nobody_may_see_is_asked_last(api, runs):
    with CaptureQueriesContext(connection) as told:
        api.get(URL, {"kind": "inference", "cores__gte": 4})
    keys = next(query["sql"] for query in told if '"cores" >=' in query["sql"])
    places = [keys.index(words) for words in ('"cores" >=', '"hidden"')]
    assert places == sorted(places)


def test_when_a_run_came_in_is_asked_first(api, runs):
    with CaptureQueriesContext(connection) as told:
        stretch = {"created__gte": "2025-01-01", "created__lte": "2026-01-01"}
        api.get(URL, {"kind": "inference", "state": "complete", "flag": "hot", **stretch})
    keys = next(query["sql"] for query in told if '"created" <=' in query["sql"])
    asked = ('"created" <=', '"created" >=', '"state" =', '"flag_bits"', '"workload_id" IN')
    places = [keys.index(words) for words in asked]
    assert places == sorted(places)


@pytest.mark.skipif(connection.vendor != "sqlite", reason="only SQLite reads columns in their order")
@pytest.mark.django_db
def test_the_columns_that_filter_stand_first_in_the_table():
    """An altered field makes Django write the table anew, in the order of its own: repeat 0021 after it."""
    with connection.cursor() as cursor:
        columns = [
            each.name for each in connection.introspection.get_table_description(cursor, "profiling_run")
        ]
    fields = [Run._meta.get_field(name).column for name in BROWSED]
    assert set(columns[1 : len(fields) + 1]) == set(fields)


@pytest.mark.parametrize("filters", [{"uploader": "nobody"}, {"search": "resnet nosuchword"}])
def test_what_names_nothing_reads_no_runs(api, runs, filters):
    with CaptureQueriesContext(connection) as told:
        assert api.get(URL, filters).json()["results"] == []
    assert not [query for query in told if 'FROM "profiling_run"' in query["sql"]]


def test_of_several_words_each_may_speak_of_something_else(api, runs):
    found = api.get(URL, {"search": f"resnet {runs[1].pk}"}).json()["results"]
    assert [run["id"] for run in found] == [runs[1].pk]


def found(api, runs, **filters):
    """Places of the runs listed."""
    by_id = {run.pk: place for place, run in enumerate(runs)}
    answer = api.get(URL, filters)
    assert answer.status_code == 200, answer.content
    return sorted(by_id[run["id"]] for run in answer.json()["results"])


@pytest.mark.parametrize(
    ("filters", "places"),
    [
        ({"workload": ["resnet", "bert"]}, [0, 1, 2, 3]),
        ({"workload": ["resnet", "bert"], "emulated": "false", "flag": ["short", "throttled"]}, [1]),
        ({"workload": "bert", "flag": ["hot", "short"]}, [3]),
        ({"kind": ["inference", "training"], "cores__gte": 4}, [2, 3]),
        ({"uploader": ["eng", "nobody"]}, [0]),
        ({"emulated": ["true", "false"], "flagged": ["0", "False"]}, [0, 2]),
        ({"state": ["complete", "superseded"]}, [0, 1, 2, 3, 4]),
        ({"workload": ["", "bert", "bert"]}, [3]),
    ],
)
def test_of_several_values_of_a_facet_a_run_needs_one(api, runs, filters, places):
    assert found(api, runs, **filters) == places
    assert facets(api, **filters)["count"] == len(places)


def test_a_facet_of_several_values_narrows_the_others_and_not_itself(api, runs):
    said = facets(api, workload=["resnet", "bert"], flag=["hot", "short"])
    assert said["count"] == 2
    assert said["facets"]["flag"] == {"hot": 2, "short": 1}
    assert said["facets"]["workload"] == {"resnet": 1, "bert": 1}
    assert facets(api, workload="bert", flag=["hot", "short"])["facets"]["workload"] == {
        "resnet": 1,
        "bert": 1,
    }


def test_a_heat_map_and_an_export_take_several_values_too(api, runs):
    both = {"workload": ["resnet", "bert"], "cores": 4}
    assert api.get(f"{URL}heat/", {**both, "x": "gpu_khz", "y": "cores"}).json()["runs"] == [[2]]
    lines = b"".join(api.get(f"{URL}export/", {**both, "format": "csv"}).streaming_content).splitlines()
    assert len(lines) == 3


@pytest.mark.parametrize(
    ("filters", "said"),
    [
        ({"flagged": "zzz"}, {"flagged": "zzz is none of: true, false."}),
        ({"emulated": ["true", "maybe"]}, {"emulated": "maybe is none of: true, false."}),
        ({"state": "done"}, {"state": "done is none of: pending, claimed, complete"}),
        ({"workload": ["resnet", "no\x00such", "gone"]}, {"workload": "gone is not one of the available"}),
        ({"uploader": "no\x00body"}, {"uploader": "Null characters are not allowed."}),
    ],
)
@pytest.mark.parametrize("what", ["", "facets/", "heat/", "export/"])
def test_a_value_a_facet_does_not_know_is_refused_and_named(api, runs, what, filters, said):
    answer = api.get(f"{URL}{what}", filters)
    assert answer.status_code == 400
    told = {name: " ".join(words) for name, words in answer.json()["errors"].items()}
    assert told.keys() == said.keys()
    assert all(words in told[name] for name, words in said.items())


def test_several_values_cost_no_more_queries(api, runs, django_assert_max_num_queries):
    api.get(URL)
    with django_assert_max_num_queries(6):  # token, role, workloads, boards, keys, runs
        api.get(URL, {"workload": ["resnet", "bert"], "device_model": "orin-mini"})
