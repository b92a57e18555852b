"""What will go wrong with an nvpmodel file on a given board, before it is copied there."""

import re
from collections import Counter
from collections.abc import Iterator

from profiling.knobs import KnobRange
from profiling.nvpmodel import Finding, Mode, NvpmodelConf, Setting
from profiling.soc import to_khz

INT32_MAX = 2**31 - 1


def lint(conf: NvpmodelConf, ranges: KnobRange) -> list[Finding]:
    """Every finding, in the order of the file's lines; a lone block is not blamed for what it lacks.

    Errors stop nvpmodel, jtop or the board; warnings are done otherwise than written.
    """
    found = [*conf.problems, *_modes(conf)]
    for mode in conf.modes:
        found += _settings(conf, mode, ranges)
    if conf.parameters:
        found += _whole_file(conf)
    return sorted(found, key=lambda finding: finding.line)


def _whole_file(conf: NvpmodelConf) -> Iterator[Finding]:
    if not conf.modes:
        yield Finding("error", 1, "no POWER_MODEL: add at least one mode")
    if conf.default_id is None:
        yield Finding("error", 1, "no '< PM_CONFIG DEFAULT=id >': the board would not know its boot mode")
    elif conf.mode(conf.default_id) is None:
        yield Finding("error", 1, f"PM_CONFIG DEFAULT={conf.default_id} names no mode of this file")
    for position, mode in enumerate(conf.modes):
        if mode.mode_id != position:
            yield Finding(
                "error",
                mode.line,
                f"mode {mode.name} has id {mode.mode_id} at position {position}: nvpmodel allows it, but "
                "the jtop service crashes when that mode is active; number modes 0, 1, 2, …",
            )


def _modes(conf: NvpmodelConf) -> Iterator[Finding]:
    ids = Counter(mode.mode_id for mode in conf.modes)
    names = Counter(mode.name for mode in conf.modes)
    for mode in conf.modes:
        if ids[mode.mode_id] > 1:
            yield Finding("error", mode.line, f"id {mode.mode_id} is used {ids[mode.mode_id]} times")
        if names[mode.name] > 1:
            yield Finding("warning", mode.line, f"name {mode.name} is used {names[mode.name]} times")
        if not re.fullmatch(r"\w+", mode.name, re.ASCII):
            yield Finding("error", mode.line, f"name {mode.name}: jtop reads only letters, digits and _")


def _settings(conf: NvpmodelConf, mode: Mode, ranges: KnobRange) -> Iterator[Finding]:
    for setting in mode.settings:
        if conf.parameters:
            yield from _undefined(conf, setting)
        yield from _cores(setting, ranges)
        yield from _clock(setting, ranges)
    yield from _crossed(mode)


def _undefined(conf: NvpmodelConf, setting: Setting) -> Iterator[Finding]:
    arguments = conf.parameters.get(setting.parameter)
    if arguments is None or setting.argument not in arguments:
        wanted = f"{setting.parameter} {setting.argument}"
        yield Finding("error", setting.line, f"{wanted} is not defined by any PARAM section")


def _cores(setting: Setting, ranges: KnobRange) -> Iterator[Finding]:
    match = re.fullmatch(r"CORE_(\d+)", setting.argument)
    if setting.parameter != "CPU_ONLINE" or match is None:
        return
    core = int(match[1])
    if setting.value not in ("0", "1"):
        yield Finding("error", setting.line, f"CORE_{core} {setting.value}: use 0 or 1")
    elif core == 0 and setting.value == "0":
        yield Finding("error", setting.line, "CORE_0 cannot be switched off")
    if core >= ranges.maximum.cores:
        count = ranges.maximum.cores
        yield Finding("error", setting.line, f"CORE_{core}: this board has cores 0 to {count - 1}")


def _clock(setting: Setting, ranges: KnobRange) -> Iterator[Finding]:
    table = _table(setting, ranges)
    if table is None or setting.value == "-1":
        return
    if not setting.value.isdecimal():
        yield Finding("error", setting.line, f"{setting.value!r} is no clock: a whole number or -1")
        return
    value, unit = int(setting.value), "kHz" if table is ranges.cpu_khz else "Hz"
    if value > INT32_MAX:
        message = f"{value} exceeds 2^31 - 1 and wraps in some nvpmodel releases; 0 lifts the memory's cap"
        yield Finding("warning", setting.line, message)
    if value == 0 and (setting.argument == "MIN_FREQ" or setting.parameter == "EMC"):
        return
    khz = value if unit == "kHz" else to_khz(value)
    if khz not in table:
        yield Finding("warning", setting.line, _off_table(setting, khz, table, unit))


def _table(setting: Setting, ranges: KnobRange) -> tuple[int, ...] | None:
    if setting.argument not in ("MIN_FREQ", "MAX_FREQ"):
        return None
    if setting.parameter.startswith("CPU_"):
        return ranges.cpu_khz
    return {"GPU": ranges.gpu_khz, "EMC": ranges.mem_khz}.get(setting.parameter)


def _off_table(setting: Setting, khz: int, table: tuple[int, ...], unit: str) -> str:
    scale = 1 if unit == "kHz" else 1000
    nearest = min(table, key=lambda legal: abs(legal - khz)) * scale
    unit_slip = khz * 1000 in table or (unit == "Hz" and int(setting.value) in table)
    hint = "; is it in the wrong unit?" if unit_slip else ""
    return (
        f"{setting.parameter} {setting.argument} {setting.value} {unit} is not in the board's table and is "
        f"rounded in silence; nearest is {nearest}{hint}"
    )


def _crossed(mode: Mode) -> Iterator[Finding]:
    for setting in mode.settings:
        top = mode.value(setting.parameter, "MAX_FREQ") or ""
        lifted = not top.isdecimal() or (setting.parameter == "EMC" and top == "0")
        if setting.argument != "MIN_FREQ" or lifted or not setting.value.isdecimal():
            continue
        if int(setting.value) > int(top):
            clock = setting.parameter
            yield Finding("error", setting.line, f"{clock} MIN_FREQ {setting.value} is above MAX_FREQ {top}")
