"""The kernel's files of a device model, built in a folder: where each generation keeps what.

Only paths and table values; how the files react is kernel.py's, what the sensors show is plant.py's.
"""

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from profiling.knobs import Knobs
from profiling.nvpmodel import power_model_block
from profiling.soc import clusters, emc_hz, gpu_hz, knob_range

GPU_NODES = {"T210": "57000000.gpu", "T186": "17000000.gp10b", "T194": "17000000.gv11b"}
RELEASES = {  # Linux for Tegra that each chip last got, as /etc/nv_tegra_release prints it
    "T210": "# R32 (release), REVISION: 7.1, GCID: 29818004, BOARD: t210ref, EABI: aarch64",
    "T186": "# R32 (release), REVISION: 7.1, GCID: 29818004, BOARD: t186ref, EABI: aarch64",
    "T194": "# R35 (release), REVISION: 4.1, GCID: 33958178, BOARD: t186ref, EABI: aarch64",
}
NEWEST_RELEASE = "# R35 (release), REVISION: 4.1, GCID: 33958178, BOARD: t186ref, EABI: aarch64"
ZONES = ("cpu-thermal", "gpu-thermal", "soc0-thermal")
HWMON_CHANNELS = 3
MILLIVOLTS = {"POM_5V_IN": 5000, "VIN_SYS_5V0": 5000, "SYS5V": 5000}


def build(entry: Mapping[str, Any], root: Path, *, bwmgr: bool = False) -> None:
    """Write the whole tree of catalogue `entry` under `root`; `bwmgr`: memory clock as on JetPack 7.2."""
    files = itertools.chain(
        _identity(entry), _cpu(entry), _gpu(entry), _emc(entry, bwmgr), _rails(entry), _thermal()
    )
    for path, value in files:
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(f"{value}\n")
    _second_names(root)


def _second_names(root: Path) -> None:
    """The links by which other tools find the same sensors, as the kernel has them."""
    for chip in root.glob("sys/bus/i2c/drivers/ina3221*/*"):
        (chip / "name").write_text("ina3221\n")
        link = root / "sys/bus/i2c/devices" / chip.name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(f"../drivers/{chip.parent.name}/{chip.name}")
    (root / "sys/devices/virtual").mkdir()
    (root / "sys/devices/virtual/thermal").symlink_to("../../class/thermal")


Files = Iterator[tuple[str, object]]


def default_knobs(entry: Mapping[str, Any]) -> Knobs:
    """What the board boots into: its default stock mode, or its maximum where that is not known."""
    ranges = knob_range(entry)
    for preset in entry.get("presets") or ():
        gpu, emc = preset.get("gpu_khz"), preset.get("mem_khz")
        gpu, emc = gpu or (preset.get("gpu_hz") or 0) // 1000, emc or (preset.get("emc_hz") or 0) // 1000
        if preset.get("default") and preset["cpu_khz"] and gpu and emc:
            return ranges.nearest(Knobs(preset["cores"], preset["cpu_khz"], gpu, emc))
    return ranges.maximum


def _identity(entry: Mapping[str, Any]) -> Files:
    soc = entry.get("soc") or ""
    yield "etc/nv_tegra_release", RELEASES.get(soc, NEWEST_RELEASE)
    yield "proc/device-tree/model", f"NVIDIA {entry['name']} (emulated)"
    yield "proc/device-tree/compatible", f"nvidia,{entry['slug']}\0nvidia,{soc.lower()}"
    yield "proc/sys/kernel/random/boot_id", "emulated-boot-0"
    yield "proc/stat", "cpu 0 0 0 0 0 0 0 0 0 0"
    yield "etc/nvpmodel.conf", _conf(entry)
    yield "var/lib/nvpmodel/status", f"pmode:{_default_id(entry):04d}"


def _default_id(entry: Mapping[str, Any]) -> int:
    presets = entry.get("presets") or ()
    return next((preset["id"] for preset in presets if preset.get("default")), 0)


def _conf(entry: Mapping[str, Any]) -> str:
    """Stock modes in nvpmodel's own syntax, with the clock nearest to the label, as the kernel rounds."""
    core_count, lines = max(entry["cores"]), ["< PARAM TYPE=FILE NAME=CPU_ONLINE >"]
    lines += [f"CORE_{core} /sys/devices/system/cpu/cpu{core}/online" for core in range(core_count)]
    lines += ["< PARAM TYPE=FILE NAME=TPC_POWER_GATING >"]
    lines += [f"TPC_PG_MASK /sys/class/devfreq/{_node(entry)}/device/tpc_pg_mask"]
    for cluster in clusters(entry.get("soc") or "", core_count):
        folder = f"/sys/devices/system/cpu/cpu{cluster.cores[0]}/cpufreq"
        lines += [f"< PARAM TYPE=CLOCK NAME={cluster.clock} >"]
        lines += [f"MAX_FREQ {folder}/scaling_max_freq", f"MIN_FREQ {folder}/scaling_min_freq"]
    lines += ["< PARAM TYPE=CLOCK NAME=GPU >"]
    folder = f"/sys/class/devfreq/{_node(entry)}"
    lines += [f"MAX_FREQ {folder}/max_freq", f"MIN_FREQ {folder}/min_freq"]
    lines += ["< PARAM TYPE=CLOCK NAME=EMC >", "MAX_FREQ /sys/kernel/nvpmodel_emc_cap/emc_iso_cap"]
    blocks = [_stock_block(entry, preset) for preset in entry.get("presets") or ()]
    return "\n".join([*lines, "", *blocks, f"< PM_CONFIG DEFAULT={_default_id(entry)} >"])


def _stock_block(entry: Mapping[str, Any], preset: Mapping[str, Any]) -> str:
    top = knob_range(entry).maximum
    gpu = preset.get("gpu_khz") or (preset.get("gpu_hz") or 0) // 1000 or top.gpu_khz
    emc = preset.get("mem_khz") or (preset.get("emc_hz") or 0) // 1000 or top.mem_khz
    wanted = Knobs(preset["cores"], preset["cpu_khz"] or top.cpu_khz, gpu, emc)
    knobs = knob_range(entry).nearest(wanted)
    name = preset["name"].replace(" ", "_")
    block = power_model_block(entry, knobs, mode_id=preset["id"], name=name)
    mask = f"TPC_POWER_GATING TPC_PG_MASK {stock_mask(preset)}\n"
    return block.replace("GPU MIN_FREQ", f"{mask}GPU MIN_FREQ", 1)


def stock_mask(preset: Mapping[str, Any]) -> int:
    """Emulated: modes the catalogue says need a reboot switch half the GPU's units off."""
    return 240 if preset.get("reboot") else 0


def _cpu(entry: Mapping[str, Any]) -> Files:
    table, start = entry["cpu_khz"], default_knobs(entry)
    for cluster in clusters(entry.get("soc") or "", max(entry["cores"])):
        for core in cluster.cores:
            folder = f"sys/devices/system/cpu/cpu{core}"
            if core:  # core 0 has no such file: it cannot be switched off
                yield f"{folder}/online", 1
            yield f"{folder}/cpufreq/scaling_available_frequencies", " ".join(map(str, sorted(table)))
            yield f"{folder}/cpufreq/related_cpus", " ".join(map(str, sorted(cluster.cores)))
            yield f"{folder}/cpufreq/scaling_governor", "schedutil"
            yield f"{folder}/cpufreq/scaling_min_freq", min(table)
            yield f"{folder}/cpufreq/scaling_max_freq", start.cpu_khz
            yield f"{folder}/cpufreq/scaling_cur_freq", start.cpu_khz
            for name, khz in (("min", min(table)), ("max", max(table)), ("cur", start.cpu_khz)):
                yield f"{folder}/cpufreq/cpuinfo_{name}_freq", khz


def _node(entry: Mapping[str, Any]) -> str:
    return GPU_NODES.get(entry.get("soc") or "", "17000000.ga10b")


def _gpu(entry: Mapping[str, Any]) -> Files:
    node, table = _node(entry), gpu_hz(entry)
    folder = f"sys/class/devfreq/{node}"
    start = default_knobs(entry).gpu_khz * 1000
    yield f"{folder}/available_frequencies", " ".join(map(str, table))
    yield f"{folder}/min_freq", table[0]
    yield f"{folder}/max_freq", start
    yield f"{folder}/cur_freq", start
    yield f"{folder}/governor", "nvhost_podgov"
    yield f"{folder}/device/of_node/name", node.split(".")[1]
    yield f"{folder}/device/railgate_enable", 1
    yield f"{folder}/device/power/control", "auto"
    yield f"{folder}/device/load", 0
    yield f"{folder}/device/tpc_pg_mask", 0


def _emc(entry: Mapping[str, Any], bwmgr: bool) -> Files:
    table, start = emc_hz(entry), default_knobs(entry).mem_khz * 1000
    if entry.get("soc") == "T210":
        folder = "sys/kernel/debug/clk/override.emc"
        yield f"{folder}/clk_update_rate", start
        yield f"{folder}/clk_rate", start
        yield f"{folder}/clk_state", 0
        return
    if bwmgr:
        folder = "sys/class/devfreq/bwmgr"
        yield f"{folder}/available_frequencies", " ".join(map(str, table))
        yield from ((f"{folder}/{name}", start) for name in ("max_freq", "cur_freq"))
        yield f"{folder}/min_freq", table[0]
        return
    folder = "sys/kernel/debug/bpmp/debug"
    yield f"{folder}/emc/possible_rates", " ".join(str(rate // 1000) for rate in table) + " (kHz)"
    yield f"{folder}/clk/emc/rate", start
    yield f"{folder}/clk/emc/min_rate", table[0]
    yield f"{folder}/clk/emc/max_rate", table[-1]
    yield f"{folder}/clk/emc/mrq_rate_locked", 0
    yield f"{folder}/clk/emc/state", 0
    yield "sys/kernel/nvpmodel_emc_cap/emc_iso_cap", 0


def rail_places(entry: Mapping[str, Any]) -> dict[str, tuple[str, int]]:
    """Where each rail's sensor is: label to (folder, channel). iio before JetPack 5, hwmon since."""
    old = entry.get("soc") in ("T210", "T186", "T194")
    places = {}
    for index, label in enumerate(entry.get("rails") or ()):
        chip, channel = divmod(index, HWMON_CHANNELS)
        if entry.get("slug") == "agx-orin" and chip == 1:
            channel = 1  # its second chip is wired in the middle only
        if old:
            folder = f"sys/bus/i2c/drivers/ina3221x/1-004{chip}/iio:device{chip}"
        else:
            folder = f"sys/bus/i2c/drivers/ina3221/1-004{chip}/hwmon/hwmon{chip + 3}"
        places[label] = (folder, channel)
    return places


def rail_files(folder: str, channel: int, milliwatts: float, label: str) -> Files:
    """What the chip's files show for one rail: its own power (iio), or volts and whole milliamperes."""
    if "iio:device" in folder:
        yield f"{folder}/in_power{channel}_input", round(milliwatts)
        return
    millivolts = MILLIVOLTS.get(label, 19000 if label == "VDD_IN" else 12000)
    yield f"{folder}/in{channel + 1}_input", millivolts
    yield f"{folder}/curr{channel + 1}_input", round(1000 * milliwatts / millivolts)


def _rails(entry: Mapping[str, Any]) -> Files:
    for label, (folder, channel) in rail_places(entry).items():
        if "iio:device" in folder:
            yield f"{folder}/rail_name_{channel}", label
        else:
            yield f"{folder}/in{channel + 1}_label", label
            yield f"{folder}/curr{channel + 1}_max_alarm", 0
            yield f"{folder}/in7_label", "sum of shunt voltages"
        yield from rail_files(folder, channel, 0, label)
    if entry.get("slug") == "agx-orin":
        folder = "sys/bus/i2c/drivers/ina3221/1-0041/hwmon/hwmon4"
        yield from ((f"{folder}/in{channel}_label", "NC") for channel in (1, 3))


def _thermal() -> Files:
    for index, zone in enumerate((*ZONES, "cv0-thermal")):
        yield f"sys/class/thermal/thermal_zone{index}/type", zone
        yield f"sys/class/thermal/thermal_zone{index}/temp", -256000 if zone.startswith("cv") else 30000
    yield "sys/class/hwmon/hwmon0/name", "pwmfan"
    yield "sys/class/hwmon/hwmon0/pwm1", 80
