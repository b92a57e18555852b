"""Whole runs as a table: one row a run, checked like any other table."""

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from profiling.formats.batches import Batch
from profiling.formats.dreamlab_run import DreamlabRun
from profiling.formats.format import Options
from profiling.formats.mapping import Column, Mapping
from profiling.formats.parsed import Parsed
from profiling.formats.problems import Limits, Problem, ProblemList
from profiling.formats.table_reader import TableReader

MAPPING = Mapping(
    {
        "cores": Column("cores", ""),
        "cpu_khz": Column("cpu_khz", "kHz"),
        "gpu_khz": Column("gpu_hz", "Hz"),
        "mem_khz": Column("emc_hz", "Hz"),
        "time_ms": Column("time_ms", "ms"),
        "power_mw": Column("power_mw", "mW"),
    },
    apart=("files",),
)


@dataclass(frozen=True)
class Runs:
    """parsed: one row a run; its `line` is the run's place in `runs`, from 1."""

    parsed: Parsed
    runs: list[DreamlabRun]
    format: str = "dreamlab"

    def __len__(self) -> int:
        return len(self.parsed)

    def run_of(self, line: int) -> DreamlabRun:
        return self.runs[line - 1]


def runs_of(runs: list[DreamlabRun], problems: ProblemList, options: Options, limits: Limits) -> Runs:
    reader = TableReader(MAPPING, options.hints, limits, name_of=lambda place: runs[place - 1].name)
    reader.take(_batch(runs))
    parsed = reader.finish(options.repeats)
    for run in runs:
        problems.extend(run.problems)
    notes = [note for run in runs for note in run.notes]
    return Runs(
        replace(
            parsed,
            format="dreamlab",
            problems=[*problems.sorted(), *_by_run(parsed.problems, runs)],
            problem_count=len(problems) + parsed.problem_count,
            notes=[*_discarded(runs), *notes, *_by_run(parsed.notes, runs)],
        ),
        runs,
    )


def _by_run(problems: list[Problem], runs: list[DreamlabRun]) -> list[Problem]:
    """What the table says of a row, said of the run that it stands for."""
    return [
        problem._replace(line=0, file=runs[problem.line - 1].name) if problem.line else problem
        for problem in problems
    ]


def _discarded(runs: list[DreamlabRun]) -> list[Problem]:
    count = sum(bool(run.discarded) for run in runs)
    reason = f"the first minibatch of each run is a warm-up and left out: {count:,} in all"
    return [Problem(0, "epochtime_ms", "", reason)] if count else []


def _batch(runs: list[DreamlabRun]) -> Batch:
    numbers = {
        "cores": [run.mode[0] for run in runs],
        "cpu_khz": [run.mode[1] for run in runs],
        "gpu_hz": [run.mode[2] for run in runs],
        "emc_hz": [run.mode[3] for run in runs],
        "time_ms": [run.median("time_ms") for run in runs],
        "power_mw": [run.power_mw for run in runs],
        "fetch_ms": [run.median("fetch_ms") for run in runs],
        "compute_ms": [run.median("compute_ms") for run in runs],
        "minibatches": [len(run.minibatches) for run in runs],
        "power_samples": [run.power_samples for run in runs],
    }
    texts = {"folder": [run.folder for run in runs], "files": [run.prefix for run in runs]}
    columns = {name: pa.array(values, pa.float64()) for name, values in numbers.items()}
    columns |= {name: pa.array(values, pa.string()) for name, values in texts.items()}
    return Batch(np.arange(1, len(runs) + 1), columns)
