"""The fan: its share of board power and its effect on leakage are fixed by holding one speed."""

from profiling.board.files import Tree, by_name

OLD_FAN = "sys/devices/pwm-fan/target_pwm"
FULL = 255


def fan_file(tree: Tree) -> str | None:
    """The file holding the duty, 0..255, or None where there is no fan to be found."""
    for folder, _ in by_name(tree, "sys/class/hwmon/hwmon*", {"pwmfan"}):
        if tree.exists(f"{folder}/pwm1"):
            return f"{folder}/pwm1"
    return OLD_FAN if tree.exists(OLD_FAN) else None
