"""Which quantity a column holds, by its name: the fields we know, their units, what people call them."""

import re
from dataclasses import dataclass
from typing import NamedTuple

KNOBS = ("cores", "cpu_khz", "gpu_khz", "mem_khz")
CLOCKS = KNOBS[1:]

CLOCK_UNITS = {"Hz": 1e-3, "kHz": 1.0, "MHz": 1e3, "GHz": 1e6}
TIME_UNITS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3, "min": 60e3}
POWER_UNITS = {"uW": 1e-3, "mW": 1.0, "W": 1e3}
ENERGY_UNITS = {"uJ": 1e-3, "mJ": 1.0, "J": 1e3, "Wh": 3.6e6}
NO_UNIT = {"": 1.0}


@dataclass(frozen=True)
class Field:
    """A quantity we keep: `units` gives the factor from each unit to the field's own (kHz, ms, mW, mJ)."""

    name: str
    title: str
    units: dict[str, float]
    names: frozenset[str]
    whole: bool = False

    def factor(self, unit: str) -> float:
        return self.units[unit]

    def told(self, value: float, digits: int = 4) -> str:
        """A value in the field's own unit, in words: 30,750,000 mW."""
        return f"{float(f'{value:.{digits}g}'):,.10g} {self.own_unit}".rstrip()

    @property
    def own_unit(self) -> str:
        return next(unit for unit, factor in self.units.items() if factor == 1.0)


def _names(*lines: str) -> frozenset[str]:
    return frozenset(name for line in lines for name in line.split())


def _field(name: str, title: str, units: dict[str, float], names: str, whole: bool = False) -> Field:
    return Field(name, title, units, _names(names), whole)


# Synonyms are written as `recognise` sees them: lower case, words joined by _, without unit and filler words.
FIELDS: dict[str, Field] = {
    field.name: field
    for field in (
        _field(
            "cores",
            "CPU cores",
            NO_UNIT,
            "cores core cpu_cores cpu_core num_cores n_cores ncores cores_on online_cores active_cores cpus "
            "num_cpus n_cpus cpu_count core_count cores_online",
            whole=True,
        ),
        _field(
            "cpu_khz", "CPU clock", CLOCK_UNITS, "cpu cpu_f cpu0 fcpu f_cpu cpu_maxfreq cpufreq", whole=True
        ),
        _field("gpu_khz", "GPU clock", CLOCK_UNITS, "gpu gpu_f fgpu f_gpu gpufreq gr3d gr3d_f", whole=True),
        _field(
            "mem_khz",
            "memory clock",
            CLOCK_UNITS,
            "mem emc memory ddr dram emcfreq memfreq fmem f_mem emc_f mem_f",
            whole=True,
        ),
        _field(
            "minibatch",
            "minibatch size",
            NO_UNIT,
            "bs batch batchsize batch_size minibatch minibatch_size mini_batch mini_batch_size mbs b_s "
            "minibatchsize",
            whole=True,
        ),
        _field(
            "time_ms",
            "time per minibatch",
            TIME_UNITS,
            "time minibatch_time batch_time step_time iteration_time iter_time time_minibatch time_batch "
            "time_step time_iteration latency lat inference_time infer_time exec_time execution_time "
            "mb_time minibatchtime batchtime training_time_minibatch time_per_minibatch elapsed t",
        ),
        _field(
            "power_mw",
            "power",
            POWER_UNITS,
            "power pow power_draw power_consumption watts watt p total_power_draw tot_power power_tot",
        ),
        _field(
            "energy_mj",
            "energy per minibatch",
            ENERGY_UNITS,
            "energy energy_minibatch energy_batch minibatch_energy batch_energy energy_per_minibatch "
            "energy_consumption joules energy_inference",
        ),
        _field(
            "throughput_per_s",
            "samples per second",
            NO_UNIT,
            "fps throughput images_second img_s images_s samples_second inferences_second samples_s "
            "inferences_s ips qps frames_second img_second",
        ),
    )
}
OUTCOMES = ("time_ms", "power_mw", "energy_mj", "throughput_per_s")
OURS = ("extra", "unknowns")  # objects of a lab's own export, which hold no field of a run
# Columns that tell otherwise equal modes apart: two rows that differ here do not contradict each other.
APART = _names(
    "workload network net dnn task benchmark group device board host kind precision dtype concurrency",
    "clients repeat rep run run_id trial seed epoch iteration experiment dataset phase framework jetpack",
    "num_workers workers value",
)
# A table may hold several of these, an upload only one.
OF_ONE = _names("workload network net dnn task benchmark device board dataset")
# `module` or `observed` say nothing of the quantity; `min`, `std` or the cpu in `cpu_power` do, so they stay.
FILLER = _names(
    "observed measured mean avg average module board total frequency freq frequencies clock clocks clk speed",
    "value number of the in",
)
UNIT_WORDS = {
    unit.lower(): unit for units in (CLOCK_UNITS, TIME_UNITS, POWER_UNITS, ENERGY_UNITS) for unit in units
} | {
    "sec": "s",
    "secs": "s",
    "second": "s",
    "seconds": "s",
    "msec": "ms",
    "millis": "ms",
    "milliseconds": "ms",
    "usec": "us",
    "µs": "us",
    "\u03bcs": "us",  # a Greek letter, not the micro sign
    "microseconds": "us",
    "nanoseconds": "ns",
    "minutes": "min",
    "watt": "W",
    "watts": "W",
    "milliwatt": "mW",
    "milliwatts": "mW",
    "joule": "J",
    "joules": "J",
    "hertz": "Hz",
}
WORDS = re.compile(r"[A-Z]?[a-zµ\u03bc]+\d*|[A-Z]+(?![a-z])\d*|\d+", re.UNICODE)


class Recognised(NamedTuple):
    field: Field
    unit: str | None


def words(name: str) -> list[str]:
    """`ObservedPower (mW)`, `observed_power_mW` and `observed power [mW]` all give observed, power, mw."""
    # Camel case would cut kHz or mW in two, so units go first.
    name = re.sub(r"(?<![A-Z])([KMG]Hz)(?![A-Za-z])", lambda m: f"_{m[1].lower()}_", name)
    name = re.sub(r"(?<![A-Za-z])(kHz|mW|uW|mJ|uJ|Wh)(?![A-Za-z])", lambda m: f"_{m[1].lower()}_", name)
    return [word.lower() for word in WORDS.findall(name)]


def recognise(name: str) -> Recognised | None:
    """The field a column's name speaks of and the unit it states; of `a.b`, failing that, what b says."""
    if found := _recognise(name):
        return found
    parent, dot, last = name.rpartition(".")
    return _recognise(last) if dot and parent not in OURS else None


def _recognise(name: str) -> Recognised | None:
    found = words(name)
    while len(found) > 2 and found[-1] in FILLER and found[-2] in UNIT_WORDS:  # time_ms_mean
        found.pop()
    if not found:
        return None
    for stated in (True, False):
        unit = stated_unit(found) if stated else None
        rest = found[:-1] if unit else found
        if field := _by_words(rest, unit):
            return Recognised(field, unit)
    return None


def stated_unit(found: list[str]) -> str | None:
    return UNIT_WORDS.get(found[-1]) if len(found) > 1 else None


def _by_words(found: list[str], unit: str | None) -> Field | None:
    core = [word for word in found if word not in FILLER] or found
    for candidate in ("_".join(found), "_".join(core), "_".join(w for w in core if w != "per")):
        for field in FIELDS.values():
            if "total" in found and field.name == "time_ms":
                continue  # of a whole run, not of a minibatch
            if candidate in field.names and (unit is None or unit in field.units):
                return field
    return None


def tells_apart(name: str) -> bool:
    return "_".join(words(name)) in APART


def is_of_one(name: str) -> bool:
    return "_".join(words(name)) in OF_ONE
