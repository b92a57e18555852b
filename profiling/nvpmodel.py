"""nvpmodel's configuration file: read one tolerantly, write a power mode for it, compare modes.

The format is NVIDIA's; the header of each of their files describes it:

    < PARAM TYPE=FILE|CLOCK|HWMON NAME=<parameter> >    then lines: ARGUMENT /a/path
    < POWER_MODEL ID=<number> NAME=<word> >             then lines: PARAMETER ARGUMENT VALUE
    < PM_CONFIG DEFAULT=<number> >                      the mode at boot

CPU clocks are kHz, GPU and memory clocks Hz. Checks live in nvpmodel_lint.py.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from profiling.errors import InvalidInput
from profiling.knobs import Knobs
from profiling.soc import clusters, core_order, emc_hz, gpu_hz, knob_range, to_khz

HEADER = re.compile(r"^\s*<\s*(?P<kind>[A-Z_]+)(?P<rest>[^>]*)>?\s*$")
TIDY_HEADER = re.compile(r"^< [A-Z_]+( [A-Z]+=\S+)+ >$")
MASKS = re.compile(r"_PG_MASK$|_POWER_GATING_MASK$")


@dataclass(frozen=True)
class Finding:
    """Something wrong or risky in a file: `severity` is "error" or "warning", `line` counts from 1."""

    severity: str
    line: int
    message: str


@dataclass(frozen=True)
class Setting:
    """One line of a mode: write `value` to the path that `parameter argument` names."""

    parameter: str
    argument: str
    value: str
    line: int


@dataclass
class Mode:
    mode_id: int
    name: str
    line: int
    settings: list[Setting] = field(default_factory=list)

    def value(self, parameter: str, argument: str) -> str | None:
        """The last value set, as nvpmodel writes them in turn."""
        found = [s.value for s in self.settings if (s.parameter, s.argument) == (parameter, argument)]
        return found[-1] if found else None

    @property
    def masks(self) -> dict[str, str]:
        """The GPU units switched off, by argument name; equal masks mean a live switch."""
        return {s.argument: s.value for s in self.settings if MASKS.search(s.argument)}


@dataclass
class NvpmodelConf:
    """`parameters`: name -> argument -> path. `problems`: lines the reader could not make sense of."""

    parameters: dict[str, dict[str, str]] = field(default_factory=dict)
    modes: list[Mode] = field(default_factory=list)
    default_id: int | None = None
    problems: list[Finding] = field(default_factory=list)

    def mode(self, mode_id: int) -> Mode | None:
        return next((mode for mode in self.modes if mode.mode_id == mode_id), None)

    @property
    def free_id(self) -> int:
        """The id that keeps ids equal to positions, which jtop needs to start at all."""
        return max((mode.mode_id for mode in self.modes), default=-1) + 1


def parse(text: str) -> NvpmodelConf:
    """Read a file or a single block; never raises: what it cannot read is in `problems`."""
    conf, section = NvpmodelConf(), None
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.split("#", 1)[0].rstrip()
        if not line.strip():
            continue
        if line.lstrip().startswith("<"):
            section = _open_section(conf, line, number)
        else:
            _read_line(conf, section, line.split(), number)
    return conf


def _open_section(conf: NvpmodelConf, line: str, number: int) -> dict[str, str] | Mode | None:
    header = HEADER.match(line)
    options = dict(re.findall(r"(\w+)=([^\s>]+)", header["rest"])) if header else {}
    if not TIDY_HEADER.match(line):
        message = f"{line.strip()!r}: write a header at the line's start as '< WORD KEY=VALUE >'"
        conf.problems.append(Finding("warning", number, message))
    kind = header["kind"] if header else ""
    if kind == "PARAM" and "NAME" in options:
        return conf.parameters.setdefault(options["NAME"], {})
    if kind == "POWER_MODEL" and options.get("ID", "").isdecimal() and "NAME" in options:
        conf.modes.append(Mode(int(options["ID"]), options["NAME"], number))
        return conf.modes[-1]
    if kind == "PM_CONFIG" and options.get("DEFAULT", "").isdecimal():
        conf.default_id = int(options["DEFAULT"])
        return None
    conf.problems.append(Finding("error", number, f"{line.strip()!r} opens no section nvpmodel knows"))
    return None


def _read_line(
    conf: NvpmodelConf, section: dict[str, str] | Mode | None, words: list[str], number: int
) -> None:
    if isinstance(section, Mode) and len(words) == 3:
        section.settings.append(Setting(words[0], words[1], words[2], number))
    elif isinstance(section, dict) and len(words) >= 2:
        section[words[0]] = " ".join(words[1:])
    else:
        wanted = "PARAMETER ARGUMENT VALUE" if isinstance(section, Mode) else "ARGUMENT /path in a section"
        conf.problems.append(Finding("error", number, f"{' '.join(words)!r} is not '{wanted}'"))


def capped_knobs(mode: Mode, entry: Mapping[str, Any]) -> Knobs:
    """The knobs `mode` caps a board of this catalogue entry at; an absent or lifted cap is the maximum."""
    top = knob_range(entry).maximum
    online = [s.value for s in mode.settings if s.parameter == "CPU_ONLINE"]
    cpu = [_cap(mode, s.parameter) for s in mode.settings if s.parameter.startswith("CPU_")]
    gpu, emc = _cap(mode, "GPU"), _cap(mode, "EMC")
    return Knobs(
        cores=online.count("1") if online else top.cores,
        cpu_khz=max((khz for khz in cpu if khz is not None), default=top.cpu_khz),
        gpu_khz=top.gpu_khz if gpu is None else to_khz(gpu),
        mem_khz=top.mem_khz if emc is None else to_khz(emc),
    )


def _cap(mode: Mode, clock: str) -> int | None:
    value = mode.value(clock, "MAX_FREQ") or ""
    lifted = not value.isdecimal() or (clock == "EMC" and value == "0")
    return None if lifted else int(value)  # -1 lifts any cap, 0 the memory's


def power_model_block(
    entry: Mapping[str, Any],
    knobs: Knobs,
    *,
    mode_id: int,
    name: str,
    conf: NvpmodelConf | None = None,
) -> str:
    """A POWER_MODEL block that pins a board of catalogue `entry` to `knobs`, ready to append to its file.

    Minimum and maximum are both set, as the mode was measured with fixed clocks; the memory can only be
    capped here, so `jetson_clocks` must follow to hold it there. With the board's own `conf`, its
    parameter names and the GPU masks of its default mode are kept, so that switching needs no reboot.
    Raises InvalidInput for a value off the board's tables, which nvpmodel would round in silence.
    """
    _check_block(entry, knobs, mode_id, name)
    lines = [f"< POWER_MODEL ID={mode_id} NAME={name} >"]
    lines += _online_lines(entry, knobs)
    lines += _mask_lines(conf)
    lines += _gpu_gate(conf, "GPU_POWER_CONTROL_ENABLE", "GPU_PWR_CNTL_EN on")
    for clock in _cpu_clocks(entry, knobs, conf):
        lines += [f"{clock} MIN_FREQ {knobs.cpu_khz}", f"{clock} MAX_FREQ {knobs.cpu_khz}"]
    gpu, emc = _exact(gpu_hz(entry), knobs.gpu_khz), _exact(emc_hz(entry), knobs.mem_khz)
    lines += [f"GPU MIN_FREQ {gpu}", f"GPU MAX_FREQ {gpu}"]
    lines += _gpu_gate(conf, "GPU_POWER_CONTROL_DISABLE", "GPU_PWR_CNTL_DIS auto")
    # The fastest memory clock does not fit nvpmodel's 32-bit integers on Orin; 0 lifts the cap instead.
    lines += [f"EMC MAX_FREQ {0 if emc == emc_hz(entry)[-1] else emc}"]
    return "\n".join(lines) + "\n"


def _check_block(entry: Mapping[str, Any], knobs: Knobs, mode_id: int, name: str) -> None:
    if not re.fullmatch(r"\w+", name, re.ASCII):
        raise InvalidInput(f"mode name {name!r}: use letters, digits and underscores only")
    if mode_id < 0:
        raise InvalidInput(f"mode id {mode_id}: use 0 or more")
    try:
        knob_range(entry).rank(knobs)
    except ValueError as error:
        raise InvalidInput(f"not a power mode of {entry['name']}: {error}") from error


def _exact(table: list[int], khz: int) -> int:
    """The kernel's own Hz value: 1065600 kHz is 1065599999 Hz on some boards."""
    return next(hertz for hertz in table if to_khz(hertz) == khz)


def _online(entry: Mapping[str, Any], knobs: Knobs) -> set[int]:
    return set(core_order(entry["soc"], max(entry["cores"]))[: knobs.cores])


def _online_lines(entry: Mapping[str, Any], knobs: Knobs) -> list[str]:
    online = _online(entry, knobs)
    return [f"CPU_ONLINE CORE_{core} {int(core in online)}" for core in range(max(entry["cores"]))]


def _cpu_clocks(entry: Mapping[str, Any], knobs: Knobs, conf: NvpmodelConf | None) -> list[str]:
    """Clocks of clusters with a core online: an offline core's cpufreq files refuse every write."""
    online = _online(entry, knobs)
    if conf is None or not conf.parameters:
        found = clusters(entry["soc"], max(entry["cores"]))
        return [cluster.clock for cluster in found if online & set(cluster.cores)]
    return [clock for clock, core in _conf_clocks(conf) if core in online]


def _conf_clocks(conf: NvpmodelConf) -> Iterator[tuple[str, int]]:
    for parameter, arguments in conf.parameters.items():
        found = re.search(r"/cpu(\d+)/cpufreq/", arguments.get("MAX_FREQ", ""))
        if found:
            yield parameter, int(found[1])


def _mask_lines(conf: NvpmodelConf | None) -> list[str]:
    if conf is None:
        return []
    base = conf.mode(conf.default_id if conf.default_id is not None else 0)
    settings = base.settings if base else []
    return [f"{s.parameter} {s.argument} {s.value}" for s in settings if MASKS.search(s.argument)]


def _gpu_gate(conf: NvpmodelConf | None, parameter: str, setting: str) -> list[str]:
    """The GPU must stay powered while its clocks are written; only files that know the gate get it."""
    return [f"{parameter} {setting}"] if conf is not None and parameter in conf.parameters else []


def with_mode(text: str, block: str) -> str:
    """The board's file with `block` put before PM_CONFIG, all else byte for byte as it was."""
    match = re.search(r"^[ \t]*<\s*PM_CONFIG\b", text, re.MULTILINE)
    if match is None:
        return f"{text}\n{block}"
    return f"{text[: match.start()]}{block}\n{text[match.start() :]}"


def needs_reboot(current: Mode, target: Mode) -> bool:
    """Whether switching asks for a reboot: it does when a GPU mask that `target` sets differs."""
    return any(current.masks.get(name, value) != value for name, value in target.masks.items())


def differences(before: Mode, after: Mode) -> list[tuple[str, str | None, str | None]]:
    """What changes between two modes: (parameter and argument, old value, new value); None where unset."""
    keys = dict.fromkeys((s.parameter, s.argument) for s in (*before.settings, *after.settings))
    pairs = ((f"{p} {a}", before.value(p, a), after.value(p, a)) for p, a in keys)
    return [(key, old, new) for key, old, new in pairs if old != new]
