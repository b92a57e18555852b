"""Power rails: INA3221 monitors through hwmon (JetPack 5 on) or iio (JetPack 4), and Thor's INA238.

How a rail is read is one small class each; which rails exist is found by their labels.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from profiling.board.files import Tree, Unreadable, by_name

UNWIRED = {"NC", ""}
INA3221_CHANNELS = (1, 2, 3)  # in7 is the sum of the shunts, no rail

# What to add for the module's power, by the rails a board has; the first that fits is taken.
# AGX Orin: VDDQ_VDD2_1V8AO is already inside VIN_SYS_5V0, adding it counts the memory twice.
# AGX Xavier has no input rail: the sum is the community's convention, NVIDIA never gave an equation.
TOTALS: tuple[tuple[str, ...], ...] = (
    ("VIN",),
    ("POM_5V_IN",),
    ("VDD_IN",),
    ("VDD_GPU_SOC", "VDD_CPU_CV", "VIN_SYS_5V0"),
    ("GPU", "CPU", "SOC", "CV", "VDDRQ", "SYS5V"),
)


class Rail(Protocol):
    label: str

    def power_mw(self, tree: Tree) -> float:
        """Present power in mW; Unreadable when the sensor gives none."""


class VoltageCurrentRail:
    def __init__(self, label: str, millivolt: str, milliampere: str) -> None:
        self.label, self.millivolt, self.milliampere = label, millivolt, milliampere

    def power_mw(self, tree: Tree) -> float:
        return tree.number(self.millivolt) * tree.number(self.milliampere) / 1000


class PowerRail:
    def __init__(self, label: str, path: str, per_mw: int = 1) -> None:
        self.label, self.path, self.per_mw = label, path, per_mw

    def power_mw(self, tree: Tree) -> float:
        return tree.number(self.path) / self.per_mw


def find_rails(tree: Tree) -> list[Rail]:
    """Every wired rail; a label met twice gets "#2", so that none hides another."""
    rails: list[Rail] = [*_hwmon_rails(tree), *_iio_rails(tree), *_ina238_rails(tree)]
    seen: dict[str, int] = {}
    for rail in rails:
        seen[rail.label] = seen.get(rail.label, 0) + 1
        if seen[rail.label] > 1:
            rail.label = f"{rail.label}#{seen[rail.label]}"
    return rails


def ina3221_hwmon(tree: Tree) -> list[str]:
    """The hwmon number changes from boot to boot, so it is never relied on."""
    return tree.find("sys/bus/i2c/drivers/ina3221/*/hwmon/hwmon*")


def _hwmon_rails(tree: Tree) -> Iterable[Rail]:
    for folder in ina3221_hwmon(tree):
        for channel in INA3221_CHANNELS:
            label = tree.text_or(f"{folder}/in{channel}_label")
            if label not in UNWIRED:
                volt, ampere = f"{folder}/in{channel}_input", f"{folder}/curr{channel}_input"
                yield VoltageCurrentRail(label, volt, ampere)


def _iio_rails(tree: Tree) -> Iterable[Rail]:
    for name in tree.find("sys/bus/i2c/drivers/ina3221x/*/iio:device*/rail_name_*"):
        label = tree.text_or(name)
        if label not in UNWIRED:
            folder, channel = name.rsplit("/rail_name_", 1)
            yield PowerRail(label, f"{folder}/in_power{channel}_input")


def _ina238_rails(tree: Tree) -> Iterable[Rail]:
    for folder, _ in by_name(tree, "sys/class/hwmon/hwmon*", {"ina238"}):
        label = tree.text_or(f"{folder}/power1_label", "VIN")
        yield PowerRail(label, f"{folder}/power1_input", per_mw=1000)


def read_rails(tree: Tree, rails: Sequence[Rail]) -> tuple[dict[str, float | None], dict[str, str]]:
    """Power of each rail in mW by label, and for those that are None the reason."""
    powers: dict[str, float | None] = {}
    reasons: dict[str, str] = {}
    for rail in rails:
        try:
            powers[rail.label] = rail.power_mw(tree)
        except Unreadable as error:
            powers[rail.label], reasons[rail.label] = None, error.message
    return powers, reasons


def total_rule(labels: Iterable[str], wanted: Sequence[str] = ()) -> tuple[str, ...]:
    """The rails to add for the module's power: those of the device model, else the first known set."""
    present = set(labels)
    candidates = (tuple(wanted), *TOTALS) if wanted else TOTALS
    return next((rule for rule in candidates if present.issuperset(rule)), ())


def total_mw(powers: Mapping[str, float | None], rule: Sequence[str]) -> tuple[float | None, str]:
    """The module's power in mW, or None and the reason."""
    if not powers:
        return None, "this board has no power sensor the driver knows"
    if not rule:
        return None, f"no rule says which of {', '.join(powers)} make the module's power"
    read = {label: power for label in rule if (power := powers.get(label)) is not None}
    if dead := [label for label in rule if label not in read]:
        return None, f"no reading of {', '.join(dead)}"
    return float(sum(read.values())), ""
