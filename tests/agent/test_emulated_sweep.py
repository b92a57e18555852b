"""The protocol on emulated boards: the real driver, virtual time, the law's own figures as the truth."""

import json

import numpy as np
import pytest

from profiling.agent.measure import measure, measure_baseload
from profiling.agent.rules import Rules
from profiling.board.emulated import EmulatedBoard
from profiling.board.emulation.demand import EmulatedWorkload
from profiling.catalog import CATALOG
from profiling.knobs import Knobs
from profiling.workloads.emulated import EmulatedProcess

ENTRIES = {entry["slug"]: entry for entry in json.loads(CATALOG.read_text())["device_models"]}
RESNET = EmulatedWorkload("resnet18")
FAST, SLOW = Knobs(12, 2_201_600, 1_300_500, 3_199_000), Knobs(4, 422_400, 420_750, 665_600)


@pytest.fixture
def orin() -> EmulatedBoard:
    return EmulatedBoard(ENTRIES["agx-orin"], seed=1)


def law_ms(board, knobs):
    return float(board.plant.law.timing(np.array([knobs]), RESNET).time_ms[0])


def test_it_finds_the_laws_own_times(orin):
    process = EmulatedProcess(orin, RESNET)
    for knobs in (FAST, SLOW):
        run = measure(orin, process, knobs, minibatch=16)
        assert run.time_ms == pytest.approx(law_ms(orin, knobs), rel=0.02)
        assert run.flags == ()


def test_a_slower_mode_takes_longer_and_draws_less(orin):
    process = EmulatedProcess(orin, RESNET)
    fast, slow = (measure(orin, process, knobs, minibatch=16) for knobs in (FAST, SLOW))
    assert fast.time_ms < slow.time_ms
    assert fast.power_mw > slow.power_mw


def test_idling_draws_less_than_working(orin):
    working = measure(orin, EmulatedProcess(orin, RESNET), FAST, minibatch=16)
    assert measure_baseload(orin, FAST).power_mw < 0.7 * working.power_mw


def test_the_run_is_labelled_emulated(orin):
    run = measure(orin, EmulatedProcess(orin, RESNET), FAST, minibatch=16)
    assert run.provenance["emulated"] is True
    assert run.provenance["total_rule"] == "VDD_GPU_SOC + VDD_CPU_CV + VIN_SYS_5V0"


def test_both_ways_to_pass_agree(orin):
    process = EmulatedProcess(orin, RESNET)
    together = measure(orin, process, FAST, minibatch=16)
    apart = measure(orin, process, FAST, minibatch=16, rules=Rules(passes="apart"))
    assert apart.time_ms == pytest.approx(together.time_ms, rel=0.02)
    assert apart.power_mw == pytest.approx(together.power_mw, rel=0.05)


def test_telemetry_shows_what_the_board_has(orin):
    run = measure(orin, EmulatedProcess(orin, RESNET), FAST, minibatch=16)
    assert {"time_s", "power_vdd_gpu_soc_mw", "gpu_khz", "cpu11_khz", "mem_khz", "load_gpu_pct"} <= set(
        run.telemetry
    )
    inside = [run.window_start_s <= t <= run.window_end_s for t in run.telemetry["time_s"]]
    assert sum(inside) >= 10
