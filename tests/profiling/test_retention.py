from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from profiling.errors import InvalidInput, NotFound
from profiling.models import Run, Telemetry
from profiling.models.audit import AuditEntry
from profiling.services.agents import telemetry_store
from profiling.services.datasets import dataset_create, dataset_freeze, dataset_update
from profiling.services.retention import telemetry_retain
from profiling.tasks import look_after_telemetry


@pytest.fixture
def runs(resnet, orin):
    """Stored 100, 50 and 0 days ago, with telemetry."""
    made = []
    for cores, days in ((2, 100), (4, 50), (6, 0)):
        run = Run.objects.create(
            workload=resnet,
            device_model=orin,
            minibatch=16,
            cores=cores,
            time_ms=1,
            provenance={"agent": "a"},
        )
        telemetry_store(run=run, columns={"time_s": [0.0, 1.0], "power_total_mw": [1, 2]})
        Run.objects.filter(pk=run.pk).update(created=timezone.now() - timedelta(days=days))
        made.append(run)
    return made


@pytest.fixture
def dataset(eng, runs):
    return dataset_create(user=eng, name="Paper", description="d", licence="none", filters={"cores": "2"})


def kept():
    return sorted(Telemetry.objects.values_list("run__cores", flat=True))


def test_only_the_telemetry_of_older_runs_goes_and_the_runs_stay(runs):
    assert telemetry_retain(days=60).runs == 1
    assert kept() == [4, 6]
    assert Run.objects.get(cores=2).time_ms == 1


def test_a_run_says_that_its_telemetry_went(browser, runs):
    telemetry_retain(days=60)
    old = Run.objects.get(cores=2)
    assert old.provenance["agent"] == "a"
    assert "older than 60 days" in old.provenance["telemetry_removed"]
    assert "The telemetry of this run was removed" in browser.get(f"/runs/{old.pk}/").content.decode()
    assert "telemetry_removed" not in Run.objects.get(cores=4).provenance


def test_runs_of_chosen_datasets_keep_theirs(runs, dataset):
    assert telemetry_retain(days=10, keep=["paper"]).runs == 1
    assert kept() == [2, 6]


def test_runs_of_a_frozen_version_keep_theirs_though_the_filters_changed(runs, dataset, eng):
    dataset_freeze(dataset=dataset, user=eng)
    dataset_update(dataset=dataset, user=eng, filters={"cores": "4"})
    assert telemetry_retain(days=10, keep=["paper"]).runs == 0


def test_a_dataset_that_is_not_there_stops_it(runs):
    with pytest.raises(NotFound, match="papre"):
        telemetry_retain(days=10, keep=["papre"])
    assert kept() == [2, 4, 6]


@pytest.mark.parametrize("days", [0, -1])
def test_no_days_are_no_limit(runs, days):
    with pytest.raises(InvalidInput):
        telemetry_retain(days=days)


def test_a_look_removes_nothing_and_says_how_much_it_is(runs):
    told = telemetry_retain(days=10, look_only=True)
    assert (told.runs, kept()) == (2, [2, 4, 6])
    assert told.bytes == sum(len(each.parquet) for each in Telemetry.objects.exclude(run=runs[2]))


def test_it_is_in_the_audit_log(runs):
    telemetry_retain(days=10)
    entry = AuditEntry.objects.get(action="retain")
    assert (entry.details["days"], entry.details["runs"]) == (10, 2)


def test_the_worker_removes_nothing_unless_a_limit_is_set(runs, settings):
    look_after_telemetry()
    assert kept() == [2, 4, 6]
    settings.RETAIN_TELEMETRY_DAYS = 60
    look_after_telemetry()
    assert kept() == [4, 6]


def test_the_command_says_what_it_did(runs, dataset, capsys):
    call_command("retain", days=10, keep=["paper"], dry_run=True)
    call_command("retain", days=10, keep=["paper"])
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("Telemetry of 1 runs, 0.0 MB, would be removed")
    assert second.endswith("was removed.")


def test_the_command_needs_a_limit(runs):
    with pytest.raises(CommandError, match="for ever"):
        call_command("retain")
    with pytest.raises(CommandError, match="no dataset nope"):
        call_command("retain", days=1, keep=["nope"])
