"""What will happen to a planned mode on one board: its own nvpmodel file with the mode added."""

from dataclasses import dataclass

from modeling.answers import PlanAnswer
from modeling.stock import power_model_block
from profiling import nvpmodel
from profiling.models import Device
from profiling.nvpmodel_lint import lint


@dataclass(frozen=True)
class BoardConf:
    """The block for the board's file. Without a file of the board, `reason` says so and the rest is empty.

    findings: of the file with the block in it. boot_mode: the mode the board starts in; `differences` and
    `needs_reboot` are against it.
    """

    block: str
    reason: str
    findings: list[nvpmodel.Finding]
    boot_mode: str
    differences: list[tuple[str, str | None, str | None]]
    needs_reboot: bool


def board_conf(*, answer: PlanAnswer, device: Device) -> BoardConf:
    block = power_model_block(device_model=device.device_model, knobs=answer.mode.knobs, device=device)
    ours = nvpmodel.parse(block)
    if not device.nvpmodel_conf:
        reason = f"{device} has sent no nvpmodel file, so the block follows its device model's."
        return BoardConf(block, reason, lint(ours, device.ranges), "", [], False)
    text = nvpmodel.with_mode(device.nvpmodel_conf, block)
    conf = nvpmodel.parse(text)
    boot = conf.mode(conf.default_id) if conf.default_id is not None else None
    return BoardConf(
        block=block,
        reason="" if boot else "The board's file names no boot mode to compare with.",
        findings=lint(conf, device.ranges),
        boot_mode=boot.name if boot else "",
        differences=nvpmodel.differences(boot, ours.modes[0]) if boot else [],
        needs_reboot=nvpmodel.needs_reboot(boot, ours.modes[0]) if boot else False,
    )
