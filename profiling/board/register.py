"""What a board says of itself, for enrolment: its real tables, software, stock modes and rails.

Nothing here may fail on a board nobody has seen: what cannot be read is None, and `unknown` says why.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from profiling.board.cpu import CPUS, Cpu
from profiling.board.emc import find_emc
from profiling.board.fan import fan_file
from profiling.board.files import Tree, Unreadable
from profiling.board.gpu import Gpu
from profiling.board.rails import find_rails, total_rule
from profiling.errors import BoardError, LabError
from profiling.knobs import KnobRange
from profiling.nvpmodel import Mode, NvpmodelConf, capped_knobs, needs_reboot, parse
from profiling.nvpmodel_lint import lint
from profiling.soc import knob_range

CONF = "etc/nvpmodel.conf"
STATUS = "var/lib/nvpmodel/status"
RELEASE = "etc/nv_tegra_release"
# JetPack's major number by that of Linux for Tegra; NVIDIA's release notes pair them.
JETPACK = {32: 4, 34: 5, 35: 5, 36: 6, 38: 7, 39: 7}
Value = TypeVar("Value")


class Description(dict[str, Any]):
    """JSON-able; `look` puts in what a function finds, or None and the reason."""

    def look(self, name: str, find: Callable[[], Value]) -> Value | None:
        try:
            self[name] = find()
        except LabError as error:
            self[name] = None
            self["unknown"][name] = error.message
        return self[name]


def describe(
    root: Path = Path("/"), tree: Tree | None = None, ranges: KnobRange | None = None
) -> Description:
    """Everything a device's enrolment wants to know. ranges: tables already known, as from boardd, which
    may read what this process may not.

    Keys: product, compatible, l4t, jetpack, kernel, governor, cores, cpu_khz, gpu_khz, mem_khz (tables),
    clusters, rails, total_rule, gpu_masks, fan (its file), fan_pwm (0..255), presets (id, name, cores,
    cpu_khz, gpu_khz, mem_khz, reboot, default), mode_id in force, nvpmodel (the file's text), findings of its
    linter, and unknown.
    """
    tree = tree or Tree(root)
    found = Description(unknown={})
    _software(found, tree)
    _tables(found, tree)
    for name, values in asdict(ranges).items() if ranges else ():
        found[name] = list(values)
        found["unknown"].pop(name, None)
    found.look("rails", lambda: _some([rail.label for rail in find_rails(tree)], "no INA3221 or INA238"))
    found["total_rule"] = list(total_rule(found["rails"] or ()))
    if not found["total_rule"]:
        found["unknown"]["total_rule"] = "no known set of these rails makes the module's power"
    found.look("fan", lambda: _fan(tree))
    found.look("fan_pwm", lambda: tree.number(_fan(tree)))
    _modes(found, tree)
    return found


def _some(value: Value, otherwise: str) -> Value:
    if not value:
        raise BoardError(otherwise)
    return value


def _fan(tree: Tree) -> str:
    path = fan_file(tree)
    if path is None:
        raise BoardError("no pwm fan")
    return path


def _software(found: Description, tree: Tree) -> None:
    found.look("product", lambda: tree.text("proc/device-tree/model"))
    found.look("compatible", lambda: tree.text("proc/device-tree/compatible").split("\0"))
    found.look("kernel", lambda: tree.text("proc/sys/kernel/osrelease"))
    found.look("l4t", lambda: l4t_version(tree.text(RELEASE)))
    major = int(found["l4t"].split(".")[0]) if found["l4t"] else None
    found["jetpack"] = JETPACK.get(major) if major else None
    if found["jetpack"] is None:
        found["unknown"]["jetpack"] = f"no JetPack known for L4T {found['l4t']}"
    found.look("governor", lambda: tree.text(f"{CPUS}/cpu0/cpufreq/scaling_governor"))


def l4t_version(release: str) -> str:
    """ "# R35 (release), REVISION: 4.1, …" is 35.4.1."""
    match = re.search(r"R(\d+).*?REVISION:\s*([\d.]+)", release)
    if match is None:
        raise Unreadable(f"/{RELEASE} holds {release[:60]!r}, no L4T release")
    return f"{match[1]}.{match[2]}"


def _tables(found: Description, tree: Tree) -> None:
    cpu = found.look("cores", lambda: list(range(1, len(Cpu(tree).cores) + 1)))
    found.look("cpu_khz", lambda: Cpu(tree).table())
    found.look("clusters", lambda: _clusters(Cpu(tree)) if cpu else [])
    found.look("gpu_khz", lambda: Gpu(tree).table())
    found.look("gpu_masks", lambda: Gpu(tree).masks())
    found.look("mem_khz", lambda: find_emc(tree).table())


def _clusters(cpu: Cpu) -> list[list[int]]:
    """Cores sharing a clock; a core that is off shows alone, as its kernel files are gone."""
    seen: dict[tuple[int, ...], None] = {}
    for core in cpu.cores:
        if not any(core in cluster for cluster in seen):
            seen[cpu.related(core)] = None
    return [list(cluster) for cluster in seen]


def _modes(found: Description, tree: Tree) -> None:
    text = found.look("nvpmodel", lambda: tree.text(CONF))
    found.look("mode_id", lambda: _mode_in_force(tree.text(STATUS)))
    found["presets"], found["findings"] = [], []
    if text is None:
        return
    conf = parse(text)
    entry = {name: found[name] for name in ("cores", "cpu_khz", "gpu_khz", "mem_khz")}
    if all(entry.values()):
        found["presets"] = [_preset(conf, mode, found, entry) for mode in conf.modes]
        findings = lint(conf, knob_range(entry))
        found["findings"] = [vars(finding) for finding in findings]
    else:
        found["unknown"]["presets"] = "stock modes need all four clock tables to be told apart"


def _mode_in_force(status: str) -> int:
    match = re.search(r"pmode:(\d+)", status)
    if match is None:
        raise Unreadable(f"/{STATUS} holds {status[:40]!r}, no mode")
    return int(match[1])


def _preset(conf: NvpmodelConf, mode: Mode, found: Description, entry: Mapping[str, Any]) -> dict[str, Any]:
    """One stock mode, with the clocks the kernel will settle on: the step nearest to the label."""
    knobs = knob_range(entry).nearest(capped_knobs(mode, entry))
    current = conf.mode(found["mode_id"]) if found["mode_id"] is not None else None
    return {
        "id": mode.mode_id,
        "name": mode.name,
        **knobs._asdict(),
        "reboot": needs_reboot(current, mode) if current else None,
        "default": mode.mode_id == conf.default_id,
    }


def closest(description: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]) -> str | None:
    """Slug of the catalogue's device model this board most likely is; None when none shares its tables.

    By cores, CPU and GPU tables: a product's name tells neither its memory size nor its firmware.
    """
    scores = {entry["slug"]: _likeness(description, knob_range(entry), entry) for entry in entries}
    best = max(scores, key=lambda slug: scores[slug], default=None)
    return best if best is not None and scores[best] >= 2 else None


def _likeness(description: Mapping[str, Any], ranges: KnobRange, entry: Mapping[str, Any]) -> float:
    """Matching tables, one each, and a little for words of the product's name that agree."""
    same = [tuple(description.get(name) or ()) == getattr(ranges, name) for name in ("cores", "cpu_khz")]
    gpu = tuple(description.get("gpu_khz") or ())
    same.append(gpu in (ranges.gpu_khz, tuple(entry.get("other_gpu_khz") or ("none",))))
    product = set(str(description.get("product")).lower().split())
    words = set(entry["name"].lower().split())
    return sum(same) + len(product & words) / (10 * len(words))
