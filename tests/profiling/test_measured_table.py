from typing import Any

import numpy as np
import pytest

from profiling.models import DeviceModel, Run, Workload
from profiling.selectors.runs import EXCLUDING_FLAGS, MeasuredTable, measured_table

LOW = {"cores": 2, "cpu_khz": 268_800, "gpu_khz": 318_750, "mem_khz": 665_600}
HIGH = {"cores": 6, "cpu_khz": 2_201_600, "gpu_khz": 1_300_500, "mem_khz": 3_199_000}


@pytest.fixture
def measure(resnet: Workload, orin: DeviceModel) -> Any:
    def create(
        knobs: dict[str, int], time_ms: float | None, power_mw: float | None = 10_000, **more: Any
    ) -> Run:
        fields = {"minibatch": 16, **knobs, **more}
        return Run.objects.create(
            workload=resnet, device_model=orin, time_ms=time_ms, power_mw=power_mw, **fields
        )

    return create


@pytest.fixture
def table(resnet: Workload, orin: DeviceModel) -> Any:
    def read() -> MeasuredTable:
        return measured_table(workload=resnet, device_model=orin)

    return read


def test_a_row_is_a_mode(measure, table):
    measure(HIGH, 50, 30_000)
    measure(LOW, 200, 10_000)
    found = table()
    assert found.knobs.tolist() == [list(LOW.values()), list(HIGH.values())]
    assert found.time_ms.tolist() == [200, 50]
    assert found.power_mw.tolist() == [10_000, 30_000]
    assert found.minibatch.tolist() == [16, 16]
    assert found.knobs.dtype == np.int64


@pytest.mark.parametrize(("times", "median"), [([3, 1, 2], 2), ([4, 1, 3, 2], 2.5), ([7], 7)])
def test_repeats_are_merged_by_their_median(measure, table, times, median):
    runs = [measure(LOW, time) for time in times]
    measure(HIGH, 50)
    found = table()
    assert found.time_ms.tolist() == [median, 50]
    assert found.repeats.tolist() == [len(times), 1]
    assert set(found.run_ids.tolist()) >= {run.pk for run in runs}


def test_minibatch_sizes_stay_apart(measure, table):
    measure(LOW, 100, minibatch=4)
    measure(LOW, 200, minibatch=16)
    assert table().minibatch.tolist() == [4, 16]


@pytest.mark.parametrize("flag", sorted(EXCLUDING_FLAGS))
def test_a_flagged_run_is_not_fitted(measure, table, flag):
    measure(LOW, 100, flags=[flag])
    assert len(table()) == 0


def test_a_harmless_flag_does_not_exclude(measure, table):
    measure(LOW, 100, flags=["noted"])
    assert len(table()) == 1


@pytest.mark.parametrize("lacking", [{"cpu_khz": None}, {"state": "failed"}, {"state": "pending"}])
def test_partly_known_or_unfinished_runs_are_left_out(measure, table, lacking):
    measure(LOW | lacking, 100)
    measure(HIGH, 50)
    assert len(table()) == 1


@pytest.mark.parametrize("values", [(None, 1_000), (100, None)])
def test_time_and_power_must_both_be_known(measure, table, values):
    measure(LOW, *values)
    assert len(table()) == 0


def test_real_measurements_push_emulated_ones_out(measure, table):
    measure(LOW, 111, emulated=True)
    assert table().emulated
    measure(HIGH, 50)
    found = table()
    assert not found.emulated
    assert found.time_ms.tolist() == [50]


def test_nothing_measured_is_an_empty_table_that_is_not_emulated(table):
    assert table().knobs.shape == (0, 4)
    assert not table().emulated


def test_the_digest_changes_with_the_numbers_only(measure, table):
    first = measure(LOW, 100)
    digest = table().digest
    first.delete()
    measure(LOW, 100)
    assert table().digest == digest
    measure(HIGH, 50)
    assert table().digest != digest


def test_it_costs_one_query(measure, table, django_assert_num_queries):
    measure(LOW, 100)
    measure(HIGH, 50)
    with django_assert_num_queries(1):
        table()
