"""Correcting a run on its page: a revision with who, when, why and what changed."""

import pytest

from frontend.wording import significant
from profiling.models import Run


@pytest.fixture
def run(resnet, orin, eng):
    knobs = {"cores": 2, "cpu_khz": 268_800, "gpu_khz": 318_750, "mem_khz": 665_600}
    about = {"workload": resnet, "device_model": orin, "minibatch": 16, "flags": ["hot"]}
    return Run.objects.create(**about, **knobs, time_ms=118.25, power_mw=9000.0, energy_mj=1064.25)


def asked(browser, run, **changed):
    form = browser.get(f"/runs/{run.pk}/correct/").context["form"]
    now = {field.name: field.value() for field in form if field.value() is not None}
    return {**now, "reason": "The meter was off.", **changed}


def test_only_what_was_changed_is_corrected(browser, run, eng):
    answer = browser.post(f"/runs/{run.pk}/correct/", asked(browser, run, power_mw="10000", cores="4"))
    revision = Run.objects.get(revises=run)
    assert answer.url == f"/runs/{revision.pk}/"
    assert revision.provenance["corrected"] == ["cores", "power_mw"]
    assert (revision.cores, revision.energy_mj, revision.time_ms) == (4, 1182.5, 118.25)
    assert (revision.corrected_by, revision.correction) == (eng, "The meter was off.")


def test_the_history_shows_who_why_and_the_difference(browser, run):
    browser.post(f"/runs/{run.pk}/correct/", asked(browser, run, power_mw="10000", flags=["hot", "short"]))
    first = Run.objects.get(revises=run)
    browser.post(f"/runs/{first.pk}/correct/", asked(browser, first, time_ms="", reason="A typo."))
    for each in (run, first):
        page = browser.get(f"/runs/{each.pk}/").content.decode()
        assert "Power, mW: 9,000 → <strong>10,000</strong>" in page
        assert "Flags: hot → <strong>hot, short</strong>" in page
        assert "Time of a minibatch, ms: 118.25 → <strong>unknown</strong>" in page
        assert "A typo." in page
    assert "A correction took the place of this run" in browser.get(f"/runs/{run.pk}/").content.decode()


def test_a_run_never_corrected_has_no_history(browser, run):
    page = browser.get(f"/runs/{run.pk}/").content.decode()
    assert "<h2>History</h2>" not in page
    assert f"/runs/{run.pk}/correct/" in page


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, "Say what changes."),
        ({"power_mw": "1", "reason": ""}, "This field is required."),
        ({"power_mw": "-1"}, "impossible values"),
        ({"cores": "5"}, "Select a valid choice"),
        ({"minibatch": ""}, "This field is required."),
    ],
)
def test_a_correction_that_makes_no_sense_is_refused_in_the_form(browser, run, changed, said):
    answer = browser.post(f"/runs/{run.pk}/correct/", asked(browser, run, **changed))
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert Run.objects.count() == 1


def test_a_run_is_corrected_once_and_then_its_revision(browser, run):
    given = asked(browser, run, power_mw="10000")
    browser.post(f"/runs/{run.pk}/correct/", given)
    assert browser.post(f"/runs/{run.pk}/correct/", given).status_code == 409


def test_a_number_next_to_nothing_does_not_fill_the_page():
    assert significant(6.549e-62) == "< 0.000001"


def test_a_viewer_cannot_correct(client, vera, run):
    client.force_login(vera)
    assert client.get(f"/runs/{run.pk}/correct/").status_code == 403
    assert "Correct</a>" not in client.get(f"/runs/{run.pk}/").content.decode()


@pytest.mark.parametrize("name", ["minibatch", "minibatches", "power_samples"])
def test_a_number_too_large_to_store_is_refused_by_its_field(browser, run, name):
    answer = browser.post(f"/runs/{run.pk}/correct/", asked(browser, run, **{name: 10**30}))
    assert answer.status_code == 422
    assert "less than or equal" in answer.content.decode()
    assert Run.objects.count() == 1
