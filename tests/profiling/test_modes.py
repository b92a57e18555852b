from profiling.catalog import device_model_entries
from profiling.knobs import KnobRange, Knobs
from profiling.modes import measuring_order, one_factor_at_a_time, powertrain_grid, random_modes, stock_modes

ORIN = next(entry for entry in device_model_entries() if entry["slug"] == "agx-orin")
RANGES = KnobRange(*(tuple(ORIN[name]) for name in Knobs._fields))


def test_powertrains_grid_has_4368_modes_on_agx_orin():
    grid = powertrain_grid(RANGES)
    assert len(grid) == 4368
    assert min(mode.cpu_khz for mode in grid) == 268_800


def test_stock_modes_are_all_of_the_known_ones():
    assert stock_modes(ORIN["presets"], RANGES)[0] == RANGES.maximum
    assert len(stock_modes(ORIN["presets"], RANGES)) == 4


def test_a_stock_mode_with_unknown_values_is_left_out():
    unknown = {"cores": 4, "cpu_khz": None, "gpu_khz": None, "mem_khz": None}
    assert stock_modes([unknown], RANGES) == []


def test_random_modes_are_different_and_repeatable():
    chosen = random_modes(RANGES, 50, seed=1)
    assert len(set(chosen)) == 50
    assert chosen == random_modes(RANGES, 50, seed=1)
    assert chosen != random_modes(RANGES, 50, seed=2)


def test_asking_for_more_than_there_are_gives_all():
    small = KnobRange((1,), (10, 20), (5,), (7,))
    assert len(random_modes(small, 50, seed=0)) == 2


def test_one_factor_varies_one_knob_at_a_time():
    around = RANGES.maximum
    for mode in one_factor_at_a_time(RANGES, around):
        assert sum(a != b for a, b in zip(mode, around, strict=True)) <= 1


def test_measuring_goes_from_high_to_low_within_a_core_count():
    order = measuring_order(random_modes(RANGES, 200, seed=0))
    cores = [mode.cores for mode in order]
    assert cores == sorted(cores, reverse=True)
