import hashlib

import pytest

from profiling.errors import Conflict, Forbidden, InvalidInput
from profiling.models import Dataset, DatasetRun, Run, Upload
from profiling.run_filters import dataset_runs
from profiling.selectors.datasets import dataset_holds
from profiling.services.datasets import dataset_create, dataset_freeze, dataset_take, dataset_update
from profiling.services.runs import run_correct
from profiling.services.uploads import upload_undo

URL = "/api/v1/datasets/"
ABOUT = {"description": "Two modes of a board.", "licence": "CC-BY-4.0", "citation": "Us, 2026"}


@pytest.fixture
def runs(resnet, orin, eng):
    upload = Upload.objects.create(
        filename="a.csv",
        size=1,
        sha256="a" * 64,
        uploader=eng,
        workload=resnet,
        device_model=orin,
        state="done",
    )
    about = {"workload": resnet, "device_model": orin, "minibatch": 16, "upload": upload}
    return [
        Run.objects.create(**about, time_ms=100, flags=["hot"]),
        Run.objects.create(**about, time_ms=50),
        Run.objects.create(**about, time_ms=50, state="failed"),
    ]


@pytest.fixture
def dataset(eng, runs):
    return dataset_create(user=eng, name="Orin modes", filters={"workload": "resnet"}, **ABOUT)


def test_a_version_freezes_the_complete_runs(dataset, eng, runs):
    version = dataset_freeze(dataset=dataset, user=eng, notes="first")
    assert (version.number, version.run_count, version.notes) == (1, 2, "first")
    assert set(version.runs.values_list("pk", flat=True)) == {runs[0].pk, runs[1].pk}
    assert hashlib.sha256(version.file.read()).hexdigest() == version.sha256


def test_the_card_says_what_is_in_it(dataset, eng):
    card = dataset_freeze(dataset=dataset, user=eng).card
    assert (card["licence"], card["citation"], card["rows"]) == ("CC-BY-4.0", "Us, 2026", 2)
    assert card["workloads"] == {"ResNet-18 / ImageNet": 2}
    assert card["device_models"] == {"Orin Mini": 2}
    assert card["filters"] == {"workload": "resnet"}


def test_a_version_stays_byte_for_byte_when_its_runs_are_corrected(api, dataset, eng, runs):
    number = dataset_freeze(dataset=dataset, user=eng).number
    address = f"{URL}orin-modes/versions/{number}/file/"
    first = b"".join(api.get(address).streaming_content)
    run_correct(run=runs[0], user=eng, reason="typo", changes={"time_ms": 90.0})
    again = api.get(address)
    assert b"".join(again.streaming_content) == first
    assert again["ETag"] == f'"{hashlib.sha256(first).hexdigest()}"'


def test_what_changed_makes_another_version(dataset, eng, runs):
    first = dataset_freeze(dataset=dataset, user=eng)
    run_correct(run=runs[0], user=eng, reason="typo", changes={"time_ms": 90.0})
    second = dataset_freeze(dataset=dataset, user=eng)
    assert (second.number, second.run_count) == (2, 2)
    assert second.sha256 != first.sha256


def test_an_unchanged_dataset_makes_no_second_version(dataset, eng):
    dataset_freeze(dataset=dataset, user=eng)
    with pytest.raises(Conflict, match="since version 1"):
        dataset_freeze(dataset=dataset, user=eng)
    assert DatasetRun.objects.count() == 2


def test_an_upload_whose_runs_are_frozen_is_not_undone(dataset, eng, runs):
    dataset_freeze(dataset=dataset, user=eng)
    with pytest.raises(Conflict, match="frozen dataset"):
        upload_undo(upload=runs[0].upload, user=eng)
    assert Run.objects.count() == 3


def test_a_dataset_without_runs_cannot_be_frozen(dataset, eng):
    dataset_update(dataset=dataset, user=eng, filters={"time_ms__lte": "1"})
    with pytest.raises(InvalidInput, match="no complete run"):
        dataset_freeze(dataset=dataset, user=eng)


def test_runs_are_added_and_removed_in_turn(dataset, eng, runs):
    def held():
        return set(dataset_runs(dataset).values_list("pk", flat=True))

    dataset_take(dataset=dataset, user=eng, take="only", filters={"time_ms__lte": "60"})
    assert held() == {runs[1].pk}
    dataset_take(dataset=dataset, user=eng, take="add", filters={"flag": "hot"})
    assert held() == {runs[0].pk, runs[1].pk}
    dataset_take(dataset=dataset, user=eng, take="remove", filters={"uploader": "eng", "id__gte": runs[1].pk})
    assert held() == {runs[0].pk}
    version = dataset_freeze(dataset=dataset, user=eng)
    assert (version.run_count, version.card["steps"]) == (1, dataset.steps)


@pytest.mark.parametrize(
    "wrong", [{"take": "eat"}, {"filters": {}}, {"filters": {"speling": "1"}}, {"filters": {"cores": "many"}}]
)
def test_a_step_that_makes_no_sense_is_refused(dataset, eng, wrong):
    with pytest.raises(InvalidInput):
        dataset_take(**{"dataset": dataset, "user": eng, "take": "add", "filters": {"cores": "2"}, **wrong})
    dataset.refresh_from_db()
    assert dataset.steps == []


def test_steps_are_set_over_rest(api, dataset):
    step = {"take": "remove", "filters": {"flag": "hot"}}
    assert api.patch(f"{URL}orin-modes/", {"steps": [step]}).json()["steps"] == [step]
    assert api.patch(f"{URL}orin-modes/", {"steps": [{"take": "eat", "filters": {}}]}).status_code == 400


def test_filters_of_several_values_are_kept_and_frozen(api, runs):
    filters = {"flag": ["hot", "short"], "workload": "resnet"}
    step = {"take": "remove", "filters": {"state": ["failed", "cancelled"]}}
    made = api.post(URL, {"name": "Flagged", **ABOUT, "filters": filters, "steps": [step]}, format="json")
    assert (made.status_code, made.json()["filters"], made.json()["steps"]) == (201, filters, [step])
    frozen = api.post(f"{URL}flagged/versions/", {}).json()
    assert (frozen["run_count"], frozen["card"]["filters"]) == (1, filters)


@pytest.mark.parametrize("values", [["hot", "warm"], ["hot", 7.5, {}], ["x" * 201], ["hot"] * 101])
def test_several_values_that_make_no_sense_are_refused(api, runs, values):
    about = {"name": "Wrong", **ABOUT, "filters": {"flag": values}}
    assert api.post(URL, about, format="json").status_code == 400


def listed(api, **asked):
    answer = api.get("/api/v1/runs/", asked)
    assert answer.status_code == 200, answer.content
    return {run["id"] for run in answer.json()["results"]}


def test_runs_are_filtered_by_what_a_dataset_holds_now(api, dataset, eng, runs):
    assert listed(api, dataset="orin-modes") == {runs[0].pk, runs[1].pk}
    assert listed(api, dataset="orin-modes", flag="hot") == {runs[0].pk}
    dataset_take(dataset=dataset, user=eng, take="only", filters={"time_ms__lte": "60"})
    assert listed(api, dataset="orin-modes") == {runs[1].pk}
    dataset_take(dataset=dataset, user=eng, take="add", filters={"flag": ["hot", "short"]})
    dataset_take(dataset=dataset, user=eng, take="remove", filters={"time_ms__lte": "60"})
    assert listed(api, dataset="orin-modes") == {runs[0].pk}
    said = api.get("/api/v1/runs/facets/", {"dataset": "orin-modes"}).json()
    assert (said["count"], said["facets"]["flag"]) == (1, {"hot": 1})


def test_runs_are_filtered_by_a_frozen_version(api, dataset, eng, runs):
    dataset_freeze(dataset=dataset, user=eng)
    dataset_update(dataset=dataset, user=eng, filters={"time_ms__lte": "60"})
    revision = run_correct(run=runs[0], user=eng, reason="typo", changes={"time_ms": 90.0})
    assert listed(api, dataset="orin-modes") == {runs[1].pk}
    assert listed(api, dataset="orin-modes~1") == {runs[1].pk}
    both = ["complete", "superseded"]
    assert listed(api, dataset="orin-modes~1", state=both) == {runs[0].pk, runs[1].pk}
    assert listed(api, dataset=["orin-modes", "orin-modes~1"], time_ms__gte=60) == set()
    assert revision.pk not in listed(api, dataset=["orin-modes", "orin-modes~1"], state=both)


@pytest.mark.parametrize("wanted", ["nothing", "orin-modes~7", "orin-modes~", "orin-modes~x", "~1", "\0"])
def test_a_dataset_there_is_not_is_refused_and_named(api, dataset, wanted):
    answer = api.get("/api/v1/runs/", {"dataset": ["orin-modes", wanted]})
    assert answer.status_code == 400
    assert f"{wanted} is not one of the available" in answer.json()["errors"]["dataset"][0]


def test_a_dataset_may_hold_another_and_not_itself(api, dataset, eng, runs):
    outer = dataset_create(
        user=eng, name="Outer", filters={"dataset": "orin-modes", "flagged": "true"}, **ABOUT
    )
    assert listed(api, dataset="outer") == {runs[0].pk}
    with pytest.raises(InvalidInput, match="orin-modes → outer → orin-modes"):
        dataset_take(dataset=dataset, user=eng, take="add", filters={"dataset": "outer"})
    with pytest.raises(InvalidInput, match="outer → outer"):
        dataset_update(dataset=outer, user=eng, filters={"dataset": ["orin-modes", "outer"]})
    Dataset.objects.filter(pk=dataset.pk).update(filters={"dataset": "outer"})
    assert api.get("/api/v1/runs/", {"dataset": "outer"}).status_code == 400


@pytest.mark.parametrize(
    ("removed", "left"),
    [
        ({"cores__gte": "4"}, [0, 1]),  # of the first the cores are not known
        ({"uploader": "nobody"}, [0, 1, 2]),
        ({"uploader": "eng", "search": "resnet"}, []),
        ({"search": "nosuchword"}, [0, 1, 2]),
        ({"dataset": "orin-modes~1"}, [2]),
        ({"state": "failed"}, [0, 1, 2]),
    ],
)
def test_what_is_removed_is_what_its_filters_find(api, dataset, eng, runs, removed, left):
    dataset_freeze(dataset=dataset, user=eng)
    about = {"workload": runs[0].workload, "device_model": runs[0].device_model, "minibatch": 16}
    Run.objects.filter(pk=runs[1].pk).update(cores=2)
    runs[2] = Run.objects.create(**about, cores=6, upload=runs[0].upload)
    step = {"take": "remove", "filters": removed}
    dataset_create(user=eng, name="Some", filters={"workload": "resnet"}, steps=[step], **ABOUT)
    assert listed(api, dataset="some") == {runs[place].pk for place in left}


def test_what_is_revised_is_in_no_dataset_that_asks_for_it(api, dataset, eng, runs):
    run_correct(run=runs[0], user=eng, reason="typo", changes={"time_ms": 90.0})
    dataset_update(dataset=dataset, user=eng, filters={"state": "superseded"})
    assert listed(api, dataset="orin-modes") == set()


def test_what_it_holds_is_counted(dataset):
    assert [row["runs"] for row in dataset_holds(dataset)] == [2]


def test_only_its_owner_or_an_administrator_changes_a_dataset(dataset, ada, vera):
    with pytest.raises(Forbidden):
        dataset_freeze(dataset=dataset, user=vera)
    assert dataset_freeze(dataset=dataset, user=ada).number == 1


@pytest.mark.parametrize("filters", [{"speling": "1"}, {"workload": "resnot"}, {"cores": "many"}])
def test_filters_that_make_no_sense_are_refused(api, runs, filters):
    answer = api.post(URL, {"name": "Wrong", **ABOUT, "filters": filters})
    assert answer.status_code == 400
    assert set(answer.json()["errors"]) == set(filters)
    assert not Dataset.objects.exists()


def test_a_dataset_is_made_changed_frozen_and_read_over_rest(api, runs):
    made = api.post(URL, {"name": "My set", **ABOUT, "filters": {"flagged": "false"}})
    assert (made.status_code, made.json()["slug"]) == (201, "my-set")
    changed = api.patch(f"{URL}my-set/", {"licence": "MIT"})
    assert (changed.status_code, changed.json()["licence"]) == (200, "MIT")
    frozen = api.post(f"{URL}my-set/versions/", {"notes": "n"})
    assert (frozen.status_code, frozen.json()["run_count"]) == (201, 1)
    assert api.get(f"{URL}my-set/versions/1/").json() == frozen.json()
    assert [each["number"] for each in api.get(f"{URL}my-set/versions/").json()["results"]] == [1]
    assert api.get(URL).json()["results"][0]["latest"] == 1


@pytest.mark.parametrize("about", [{"name": "!!"}, {"name": "Orin modes"}, {"description": ""}])
def test_a_dataset_that_cannot_be_is_refused(api, dataset, about):
    assert api.post(URL, {"name": "Fine", **ABOUT, **about}).status_code == 400


def test_a_version_that_is_not_there_is_not_found(api, dataset):
    assert api.get(f"{URL}orin-modes/versions/7/").status_code == 404


def test_a_page_of_datasets_costs_three_queries(api, dataset, django_assert_num_queries):
    api.get(URL)
    with django_assert_num_queries(3):  # token, role, datasets
        api.get(URL)
