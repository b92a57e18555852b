"""Datasets on pages: made of what is filtered, changed by filters, frozen, taken away."""

import hashlib

import pytest
from django.contrib.auth.models import Group
from django.urls import reverse

from profiling.models import Dataset, Run, Workload
from profiling.services.runs import run_correct

ABOUT = {"name": "Orin modes", "licence": "CC-BY-4.0", "description": "Two modes.", "citation": "Us, 2026"}


@pytest.fixture
def runs(resnet, orin):
    about = {"workload": resnet, "device_model": orin, "minibatch": 16}
    return [Run.objects.create(**about, cores=cores, time_ms=cores) for cores in (2, 4, 6)]


@pytest.fixture
def dataset(browser, runs):
    made = browser.post("/new-dataset/?cores__lte=4&sort=cores&columns=cores", ABOUT)
    assert made.url == "/datasets/orin-modes/"
    return Dataset.objects.get()


def test_a_dataset_is_made_of_what_is_filtered(browser, dataset):
    assert dataset.filters == {"cores__lte": "4"}
    page = browser.get("/datasets/orin-modes/").content.decode()
    assert "2 runs now, nothing frozen yet." in page
    assert "Cores ≤ 4" in page
    assert "Us, 2026" in page


def test_the_page_of_runs_offers_to_keep_them(browser, dataset):
    page = browser.get("/runs/", {"cores": 6, "sort": "cores"}).content.decode()
    assert 'href="/new-dataset/?cores=6"' in page
    assert '<option value="orin-modes">' in page


@pytest.mark.parametrize(("take", "count"), [("add", 3), ("remove", 2), ("only", 1)])
def test_runs_of_a_filter_are_added_and_removed(browser, dataset, take, count):
    asked = {"dataset": "orin-modes", "take": take, "query": "cores=6"}
    assert browser.post("/dataset-runs/", asked).url == "/datasets/orin-modes/"
    assert browser.get("/datasets/orin-modes/").context["runs"] == count


def test_the_last_step_is_taken_back(browser, dataset):
    browser.post("/dataset-runs/", {"dataset": "orin-modes", "take": "add", "query": "cores=6"})
    browser.post("/datasets/orin-modes/back/")
    assert browser.get("/datasets/orin-modes/").context["runs"] == 2


def test_a_version_is_frozen_and_downloaded_byte_for_byte(browser, dataset):
    browser.post("/datasets/orin-modes/freeze/", {"notes": "first"})
    version = dataset.versions.get()
    page = browser.get("/datasets/orin-modes/").content.decode()
    assert version.sha256 in page
    address = "/api/v1/datasets/orin-modes/versions/1/file/"
    assert f'href="{address}"' in page
    file = b"".join(browser.get(address).streaming_content)
    assert hashlib.sha256(file).hexdigest() == version.sha256


def test_an_unchanged_dataset_is_not_frozen_twice(browser, dataset):
    browser.post("/datasets/orin-modes/freeze/")
    again = browser.post("/datasets/orin-modes/freeze/")
    assert again.status_code == 409
    assert "Nothing changed since version 1" in again.content.decode()


def test_what_it_says_is_edited(browser, dataset):
    browser.post("/datasets/orin-modes/edit/", {**ABOUT, "licence": "MIT"})
    dataset.refresh_from_db()
    assert (dataset.licence, dataset.slug) == ("MIT", "orin-modes")


def test_a_name_that_is_taken_is_told_at_the_field(browser, dataset):
    for name in (ABOUT["name"], "orin  MODES"):
        again = browser.post("/new-dataset/", ABOUT | {"name": name})
        assert again.status_code == 422
        assert "Orin modes already exists" in again.context["form"].errors["name"][0]


def test_a_viewer_reads_and_does_not_change(client, vera, browser, dataset):
    client.force_login(vera)
    page = client.get("/datasets/orin-modes/").content.decode()
    assert "Freeze a version" not in page
    for path in ("edit", "back", "freeze"):
        assert client.post(f"/datasets/orin-modes/{path}/").status_code == 403
    assert client.get("/new-dataset/").status_code == 403
    asked = {"dataset": "orin-modes", "take": "add", "query": "cores=6"}
    assert client.post("/dataset-runs/", asked).status_code == 403


def test_lists_are_narrowed_by_facets_and_words(browser, dataset, resnet, board):
    for name, asked, count in (
        ("dataset-list", {"licence": "CC-BY-4.0", "owner": "eng"}, 1),
        ("dataset-list", {"licence": "MIT"}, 0),
        ("dataset-list", {"search": "two MODES"}, 1),
        ("workload-list", {"kind": "training", "minibatch": "16"}, 1),
        ("workload-list", {"search": "bert"}, 0),
        ("device-list", {"device_model": "Orin Mini", "retired": "False"}, 1),
        ("device-list", {"retired": "True"}, 0),
        ("device-list", {"device_model": ["orin-mini", "Orin Mini"], "driver": ["emulated", "host"]}, 1),
        ("dataset-list", {"licence": ["MIT", "CC-BY-4.0"], "owner": ["eng", "vera"]}, 1),
        ("workload-list", {"minibatch": ["16", "32"], "network": ["ResNet-18", "BERT"]}, 1),
        ("workload-list", {"minibatch": ["16", "32"], "network": ["BERT"]}, 0),
    ):
        assert len(browser.get(reverse(name), asked).context["browse"].items) == count, (name, asked)


def test_facets_count_what_each_choice_leaves(browser, resnet):
    facets = {facet.name: facet.options for facet in browser.get("/workloads/").context["facets"]}
    assert facets["network"] == [("ResNet-18", "ResNet-18", 1)]


def test_a_facet_counts_without_its_own_choice_and_says_how_to_take_it_back(browser, resnet):
    about = {"kind": "inference", "minibatch": 1}
    Workload.objects.create(slug="bert", name="BERT", network="BERT", owner=resnet.owner, **about)
    asked = {"network": ["ResNet-18", "BERT"], "kind": "training", "minibatch__gte": "2"}
    answer = browser.get("/workloads/", asked)
    facets = {facet.name: facet for facet in answer.context["facets"]}
    assert facets["network"].options == [("BERT", "BERT", 0), ("ResNet-18", "ResNet-18", 1)]
    assert facets["kind"].options == [("training", "training", 1)]
    page = answer.content.decode()
    assert 'href="?kind=training&amp;minibatch__gte=2&amp;network=BERT"' in page
    assert '<input type="hidden" name="minibatch__gte" value="2">' in page


def test_a_device_model_is_told_by_its_name_and_asked_for_by_its_slug(browser, board):
    (facet,) = (each for each in browser.get("/devices/").context["facets"] if each.name == "device_model")
    assert facet.options == [("orin-mini", "Orin Mini", 1)]


@pytest.mark.parametrize("name", ["dataset-list", "workload-list", "device-list"])
def test_every_column_can_be_shown_and_sorted_by(name, browser, dataset, board):
    columns = browser.get(reverse(name)).context["browse"].columns
    asked = {"columns": [column.name for column in columns]}
    for column in columns:
        for sign in ("", "-"):
            assert browser.get(reverse(name), {**asked, "sort": sign + column.name}).status_code == 200


def test_the_card_of_a_version_can_be_read(browser, dataset, runs):
    Run.objects.filter(pk=runs[0].pk).update(flags=["short", "hot"])
    browser.post("/datasets/orin-modes/freeze/", {"notes": "the first"})
    page = browser.get("/datasets/orin-modes/1/").content.decode()
    version = dataset.versions.get()
    assert version.card["flags"] == {"hot": 1, "none": 1, "short": 1}
    for told in ("Orin modes, version 1", "CC-BY-4.0", "Us, 2026", "the first", version.sha256, "Cores ≤ 4"):
        assert told in page
    assert "median time of one minibatch, ms" in page
    assert "corrected since" not in page
    assert 'href="/datasets/orin-modes/1/"' in browser.get("/datasets/orin-modes/").content.decode()


def test_a_version_tells_how_many_of_its_runs_were_corrected_since(browser, dataset, runs, eng):
    browser.post("/datasets/orin-modes/freeze/", {})
    run_correct(run=runs[0], user=eng, reason="a slow clock", changes={"time_ms": 3.0})
    assert "1 of its runs has been corrected since" in browser.get("/datasets/orin-modes/1/").content.decode()


def test_a_dataset_leads_to_its_runs_and_their_plots(browser, dataset, runs):
    page = browser.get("/datasets/orin-modes/").content.decode()
    for address in ("/runs/", "/runs/explore/"):
        assert f'href="{address}?dataset=orin-modes"' in page
    answer = browser.get("/runs/?dataset=orin-modes&cores=4")
    assert answer.context["browse"].items == [runs[1]]
    said = answer.content.decode()
    assert 'name="dataset" value="orin-modes" checked> <span>Orin modes</span>' in said
    assert 'href="?cores=4" aria-label="Take away Dataset = Orin modes"' in said


def test_a_version_leads_to_its_runs_as_they_were(browser, dataset, runs, eng):
    browser.post("/datasets/orin-modes/freeze/")
    run_correct(run=runs[0], user=eng, reason="a slow clock", changes={"time_ms": 3.0})
    page = browser.get("/datasets/orin-modes/1/").content.decode()
    address = "/runs/?dataset=orin-modes~1&amp;state=complete&amp;state=superseded"
    assert f'href="{address}"' in page
    answer = browser.get(address.replace("&amp;", "&"))
    assert answer.context["browse"].items == [runs[1], runs[0]]
    assert "Dataset = Orin modes, version 1" in answer.content.decode()


def test_a_version_that_is_not_there_is_not_found(browser, dataset):
    assert browser.get("/datasets/orin-modes/7/").status_code == 404


def test_only_whom_it_belongs_to_is_offered_to_change_it(client, dataset, django_user_model):
    other = django_user_model.objects.create_user("otto")
    other.groups.add(Group.objects.get(name="engineer"))
    client.force_login(other)
    page = client.get("/datasets/orin-modes/").content.decode()
    assert "Freeze a version" not in page
    assert "/datasets/orin-modes/edit/" not in page


def test_choices_are_told_in_words(browser, runs):
    browser.post("/new-dataset/?flagged=false&emulated=false", ABOUT)
    page = browser.get("/datasets/orin-modes/").content.decode()
    assert "Complete runs with real, no flag" in page or "Complete runs with no flag, real" in page
