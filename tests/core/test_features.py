import numpy as np
import pytest

from modeling.core.features import LogSurface, log_knobs
from modeling.core.prediction import Measured
from tests.core.boards import MAXIMUM, MODES, some, with_minibatches, workload


def logs(measured):
    return np.log(np.column_stack([measured.time_ms, measured.power_mw]))


def test_full_clocks_are_zero_on_any_board():
    assert log_knobs(MODES[-1:], np.array(MAXIMUM)).tolist() == [[0, 0, 0, 0]]


def test_a_surface_is_exact_where_its_table_has_the_mode():
    measured = workload()
    assert LogSurface(measured)(MODES, measured.maximum) == pytest.approx(logs(measured))


def test_a_surface_of_scattered_modes_is_exact_on_them_and_near_between():
    measured, rows = workload(), some(workload(), 120)
    part = Measured(
        "part", MODES[rows], measured.time_ms[rows], measured.power_mw[rows], board_maximum=MAXIMUM
    )
    error = np.abs(LogSurface(part)(MODES, measured.maximum) - logs(measured))
    assert error[rows].max() < 1e-6
    assert np.median(error) < 0.05


def test_a_surface_of_one_mode_is_flat():
    one = Measured("one", MODES[:1], np.array([5.0]), np.array([7.0]))
    assert np.exp(LogSurface(one)(MODES, one.maximum)) == pytest.approx(np.tile([5.0, 7.0], (len(MODES), 1)))


def test_minibatches_are_averaged_out_for_a_target_that_has_none():
    batches = with_minibatches()
    middle = LogSurface(batches, width=4)(MODES, batches.maximum)
    assert middle == pytest.approx(logs(with_minibatches((4,))))
