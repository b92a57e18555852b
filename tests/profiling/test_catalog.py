import numpy as np
import pytest

from profiling.knobs import KnobRange, Knobs
from profiling.models import DeviceModel, PowerMode
from profiling.services.catalog import catalog_seed, device_model_seed

COUNTS = {"agx-orin": 18_096, "agx-xavier": 29_232, "orin-nano-8gb": 1_800}


def test_each_board_has_as_many_modes_as_its_tables_allow(db):
    catalog_seed()
    stored = {m.slug: m.power_modes.count() for m in DeviceModel.objects.all()}
    assert len(stored) == 8
    assert {slug: stored[slug] for slug in COUNTS} == COUNTS


def test_seeding_twice_changes_nothing(db):
    catalog_seed()
    before = list(PowerMode.objects.values_list("pk", "rank"))
    catalog_seed()
    assert list(PowerMode.objects.values_list("pk", "rank")) == before


def test_all_modes_of_a_board_cost_one_query(orin, django_assert_num_queries):
    with django_assert_num_queries(1):
        modes = DeviceModel.objects.get(slug="orin-mini").all_modes()
    assert modes.shape == (36, 4)


def test_computed_and_stored_modes_agree_row_by_row(orin):
    stored = orin.power_modes.order_by("rank").values_list("cores", "cpu_khz", "gpu_khz", "mem_khz")
    assert np.array_equal(orin.all_modes(), list(stored))


def test_a_new_clock_keeps_the_ids_of_known_modes(orin):
    before = {mode.knobs: mode.pk for mode in orin.power_modes.all()}
    entry = {"slug": orin.slug, "gpu_khz": [318_750, 930_750, 1_300_500]}
    device_model_seed(entry=entry)
    after = {mode.knobs: mode.pk for mode in PowerMode.objects.filter(device_model=orin)}
    assert len(after) == 54
    assert before.items() <= after.items()


def test_clocks_are_khz(db):
    catalog_seed()
    orin = DeviceModel.objects.get(slug="agx-orin")
    assert orin.maximum == Knobs(12, 2_201_600, 1_300_500, 3_199_000)
    assert orin.presets[1]["gpu_khz"] == 420_750


def test_rank_names_the_row():
    ranges = KnobRange((2, 4), (100, 200, 300), (5,), (7, 8))
    modes = ranges.all_modes()
    assert [ranges.rank(Knobs(*row)) for row in modes.tolist()] == list(range(ranges.mode_count))


def test_rank_refuses_an_illegal_value_by_name():
    with pytest.raises(ValueError, match="cpu_khz 150 is not one of 100, 200"):
        KnobRange((2,), (100, 200), (5,), (7,)).rank(Knobs(2, 150, 5, 7))


def test_a_mode_that_is_no_longer_legal_loses_its_rank_only(orin):
    device_model_seed(entry={"slug": orin.slug, "mem_khz": [3_199_000]})
    assert orin.power_modes.count() == 36
    assert orin.power_modes.filter(rank__isnull=False).count() == 18


def test_ranks_of_many_modes_at_once_agree_with_one_by_one():
    ranges = KnobRange((2, 4), (100, 200, 300), (5,), (7, 8))
    assert ranges.ranks(ranges.all_modes()).tolist() == list(range(12))
    assert ranges.ranks(np.array([[2, 150, 5, 7], [4, 100, 5, 8], [9, 100, 5, 8]])).tolist() == [-1, 7, -1]
