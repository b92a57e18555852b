"""The nvpmodel tool of an emulated board: stock modes, and the trap that some want a reboot."""

from collections.abc import Mapping
from typing import Any

from profiling.board.cpu import Cpu
from profiling.board.emulation.kernel import EmulatedTree, reboot
from profiling.board.gpu import Gpu
from profiling.errors import BoardError, NotFound
from profiling.nvpmodel import Mode, capped_knobs, parse

CONF, STATUS = "etc/nvpmodel.conf", "var/lib/nvpmodel/status"


def switch(tree: EmulatedTree, entry: Mapping[str, Any], mode_id: int) -> None:
    """`nvpmodel -m`: cores and caps as the board's file has them.

    BoardError, with nothing changed, when the mode's GPU mask is not the one in force: the real tool
    then asks for a reboot, and takes no answer (a script's, for instance) for "no".
    """
    mode = _mode(tree, mode_id)
    in_force = Gpu(tree).masks().get("tpc_pg_mask")
    if mode.masks.get("TPC_PG_MASK", in_force) != in_force:
        raise BoardError(
            f"Reboot required for changing to this power mode: {mode_id} ({mode.name})", reboot=True
        )
    _cap(tree, entry, mode)


def boot(tree: EmulatedTree, entry: Mapping[str, Any], mode_id: int) -> None:
    """Restart the board in a stock mode: all caps fresh, and its GPU mask in force."""
    mode = _mode(tree, mode_id)
    reboot(tree)
    mask = f"{Gpu(tree).device}/tpc_pg_mask"
    tree.put(mask, mode.masks.get("TPC_PG_MASK", tree.text_or(mask, "0")))
    _cap(tree, entry, mode)


def gpu_share(tree: EmulatedTree) -> float:
    """The share of the GPU's units that the mask in force leaves on."""
    mask = int(Gpu(tree).masks().get("tpc_pg_mask", "0"))
    return 1 - mask.bit_count() / 8


def _mode(tree: EmulatedTree, mode_id: int) -> Mode:
    mode = parse(tree.text(CONF)).mode(mode_id)
    if mode is None:
        raise NotFound(f"no power mode {mode_id} in /{CONF}")
    return mode


def _cap(tree: EmulatedTree, entry: Mapping[str, Any], mode: Mode) -> None:
    """Caps only: minima go down to the tables' lowest, as stock modes leave the governor its freedom."""
    knobs, cpu, gpu = capped_knobs(mode, entry), Cpu(tree), Gpu(tree)
    cpu.set_online(knobs.cores)
    for folder in cpu.policies():
        tree.write(f"{folder}/scaling_min_freq", cpu.table()[0])
        tree.write(f"{folder}/scaling_max_freq", knobs.cpu_khz)
    tree.write(f"{gpu.folder}/min_freq", gpu.table()[0] * 1000)
    tree.write(f"{gpu.folder}/max_freq", knobs.gpu_khz * 1000)
    tree.put(STATUS, f"pmode:{mode.mode_id:04d}")
