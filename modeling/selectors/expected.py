"""What a sweep will take, from what is measured or predicted of its modes."""

from collections.abc import Sequence

from modeling.selectors.landscape import current_table, landscape
from profiling.asking import SweepQuestion
from profiling.errors import LabError
from profiling.knobs import Knobs
from profiling.models import Device, Workload
from profiling.selectors.expected import Estimate, expected_modes, sweep_estimate


def estimate_of(question: SweepQuestion) -> Estimate:
    modes = expected_modes(question)
    return sweep_estimate(question, modes, known_times(question.device, question.workload, modes))


def known_times(board: Device, workload: Workload, modes: Sequence[Knobs]) -> list[float | None]:
    """ms of a minibatch of each mode, measured or else predicted; None where there is neither."""
    try:
        return predicted_times(board, workload, modes)
    except LabError:  # no predictor, or none for this size or these clocks
        return measured_times(board, workload, modes)


def predicted_times(board: Device, workload: Workload, modes: Sequence[Knobs]) -> list[float | None]:
    land = landscape(workload=workload, device_model=board.device_model)
    land.need_times()
    block, ranges = land.block(workload.minibatch), board.device_model.ranges
    ranks = [ranges.rank(ranges.nearest(mode)) for mode in modes]
    return land.prediction.time_ms[block[ranks]].tolist()


def measured_times(board: Device, workload: Workload, modes: Sequence[Knobs]) -> list[float | None]:
    table = current_table(workload=workload, device_model=board.device_model)
    rows = zip(table.knobs.tolist(), table.minibatch, table.time_ms, strict=True)
    known = {Knobs(*knobs): float(time) for knobs, size, time in rows if size == workload.minibatch}
    return [known.get(mode) for mode in modes]
