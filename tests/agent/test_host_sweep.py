"""Real PyTorch on this machine: LeNet on real digits, swept over its cores."""

import pytest

from profiling.agent.measure import measure
from profiling.agent.rules import Rules
from profiling.board.host import HostBoard
from profiling.knobs import Knobs
from profiling.modes import measuring_order
from profiling.workloads.process import RunnerProcess
from profiling.workloads.sandbox import Limits

LENET = ["--network", "lenet5", "--data", "digits", "--minibatch", "16"]
QUICK = Rules(
    minibatches=20, power_samples=2, window_s=0.3, sample_period_s=0.2, settle_s=0.3, settle_limit_s=1.0
)


@pytest.fixture
def board():
    board = HostBoard()
    yield board
    board.restore()


def test_a_real_training_is_measured_at_one_and_at_all_cores(board):
    modes = measuring_order([Knobs(*row) for row in board.ranges().all_modes().tolist()])
    process = RunnerProcess(LENET, limits=Limits(user=None))
    runs = [measure(board, process, knobs, minibatch=16, rules=QUICK) for knobs in {modes[0], modes[-1]}]
    process.stop()
    for run in runs:
        assert 0.1 < run.time_ms < 10_000
        assert run.minibatches >= 1
        assert (run.power_mw is None) == ("power_mw" in run.unknowns)
        assert run.provenance["workload"]["threads"] == run.knobs.cores
        assert run.provenance["workload"]["parameters"] == 61_706
