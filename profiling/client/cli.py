"""jetsonlab: login, upload, runs, predict, plan, export."""

import argparse
import csv
import getpass
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from profiling.client.keys import keep_key
from profiling.client.lab import Lab
from profiling.client.records import Run, Upload
from profiling.client.wire import LabRefused
from profiling.errors import LabError

SHOWN = ("id", "workload", "device_model", "cores", "cpu_khz", "gpu_khz", "mem_khz", "time_ms", "power_mw")
EXPORTED = ("csv", "json", "parquet")
FIRST = 5  # bad lines, told at once
PIPED_WIDTH = 200  # nothing is cut off in a file
errors = Console(stderr=True)


def login(options: argparse.Namespace, lab: Lab | None = None) -> None:
    """Keep the address and the token, once the lab takes them."""
    token = options.token or asked_token(options.address)
    (lab or Lab(options.address, token)).check()
    print(f"Logged in; the token is kept in {keep_key(options.address, token)}")


def asked_token(address: str) -> str:
    try:
        return getpass.getpass(f"Token of {address} (made under /tokens/): ").strip()
    except EOFError as error:
        raise LabError("Nobody is there to type the token. Say --token, or set JETSONLAB_TOKEN.") from error


def upload(options: argparse.Namespace, lab: Lab) -> None:
    """Send files and wait for them; each asks in the browser what it cannot tell."""
    about = {"on_bad_lines": options.on_bad_lines, "emulated": options.emulated}
    pair = {"workload": options.workload, "device_model": options.device_model}
    bad = []
    for path in options.files:
        try:
            sent = _sent(lab, path, **pair, **about)
        except (LabRefused, OSError) as error:  # this file; the others may well come in
            bad.append(f"{path}: {said(error)}" if isinstance(error, LabError) else said(error))
            continue
        notes = len(sent.raw.get("notes") or [])
        print(f"{path.name}: {sent.state}, {imported(sent)}, {sent.problem_count} bad lines, {notes} notes")
        for each in in_question(sent):
            print(f"  {each}")
        if sent.state != "done":
            bad.append(f"{path.name}: {sent.failure or f'see {lab.page(sent)}'}")
    if bad:
        raise LabError("; ".join(bad))


def _sent(lab: Lab, path: Path, **about: Any) -> Upload:
    with bar(f"{path.name} sent") as progress:
        sent = lab.upload(path, **about, progress=progress)
    with bar(f"{path.name} read") as progress:
        return lab.wait(sent, progress=progress)


def said(error: LabError | OSError) -> str:
    if isinstance(error, LabError):
        return error.message
    return f"{error.filename}: {error.strerror}" if error.filename else str(error)


def imported(sent: Upload) -> str:
    """A lab that has not decided yet knows no number."""
    if sent.rows_imported is not None:
        return f"{sent.rows_imported:,} imported"
    return "nothing imported" if sent.state == "failed" else "not decided yet what is imported"


def in_question(sent: Upload) -> list[str]:
    """What the lab asks, or the first bad lines; the page has them all."""
    if sent.state == "mapping":
        return list((sent.raw.get("proposal") or {}).get("questions", []))
    return [
        " ".join(filter(None, (each.get("file"), f"line {each['line']}", each["column"], each["reason"])))
        for each in (sent.raw.get("problems") or [])[:FIRST]
    ]


def runs(options: argparse.Namespace, lab: Lab) -> None:
    """The newest runs that match."""
    found = list(islice(lab.runs(**options.filters), options.limit))
    if options.json:
        json.dump([dict(run.raw) for run in found], sys.stdout, indent=1)
        print()
    else:
        Console(width=None if sys.stdout.isatty() else PIPED_WIDTH).print(run_table(found))


def predict(options: argparse.Namespace, lab: Lab) -> None:
    """Fit a predictor and write time and power of every mode as CSV."""
    how = {"method": options.method} if options.method else {}
    with bar("fitted") as progress:
        columns = lab.predict(options.workload, options.device_model, **how, progress=progress)
    known = {name: cells for name, cells in columns.items() if cells is not None}
    with open(options.output, "w", newline="") if options.output else sys.stdout as file:
        writer = csv.writer(file)
        writer.writerow(known)
        writer.writerows(zip(*known.values(), strict=True))


def plan(options: argparse.Namespace, lab: Lab) -> None:
    """The mode to run in, under ceilings, as JSON."""
    names = ("power_mw", "time_ms", "energy_mj", "risk")
    asked = {name: value for name in names if (value := getattr(options, name)) is not None}
    answer = lab.plan(options.workload, options.device_model, save=options.save, **asked)
    json.dump(dict(answer.raw), sys.stdout, indent=1)
    print()


def export(options: argparse.Namespace, lab: Lab) -> None:
    """The matching runs into a file, by its ending: .csv, .json, .parquet."""
    kind = options.output.suffix.removeprefix(".")
    if kind not in EXPORTED:
        raise LabError(f"{options.output} must end in one of .{', .'.join(EXPORTED)}: that says its format.")
    with bar(options.output.name) as progress:
        size = lab.export(options.output, format=kind, **options.filters, progress=progress)
    print(f"{options.output}: {size:,} bytes")


def run_table(found: Sequence[Run]) -> Table:
    table = Table(*SHOWN)
    for run in found:
        values = (getattr(run, name) for name in SHOWN)
        table.add_row(*("—" if v is None else f"{v:.6g}" if isinstance(v, float) else str(v) for v in values))
    return table


@contextmanager
def bar(what: str) -> Iterator[Any]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=errors, transient=True) as shown:
        task = shown.add_task(what, total=None)
        yield lambda done, total: shown.update(task, completed=done, total=total)


def _filter(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is no filter; one looks like workload=resnet")
    return name, value


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no number of runs")
    return int(text)


def parser() -> argparse.ArgumentParser:
    whole = argparse.ArgumentParser("jetsonlab", description=__doc__)
    steps = whole.add_subparsers(dest="step", required=True)

    def step(do: Any, *words: str) -> argparse.ArgumentParser:
        made = steps.add_parser(do.__name__, help=do.__doc__.splitlines()[0])
        made.set_defaults(do=do)
        for word in words:
            made.add_argument(word)
        return made

    step(login, "address").add_argument("--token")
    made = step(upload)
    made.add_argument("files", nargs="+", type=Path)
    made.add_argument("--workload", required=True)
    made.add_argument("--device-model", required=True)
    made.add_argument("--on-bad-lines", choices=("ask", "good", "nothing"), default="ask")
    made.add_argument("--emulated", action="store_true")
    made = step(runs)
    made.add_argument("filters", nargs="*", type=_filter)
    made.add_argument("--limit", type=_count, default=20)
    made.add_argument("--json", action="store_true")
    made = step(predict, "workload", "device_model")
    made.add_argument("--method")
    made.add_argument("--output", type=Path)
    made = step(plan, "workload", "device_model")
    for name in ("power-mw", "time-ms", "energy-mj", "risk"):
        made.add_argument(f"--{name}", type=float)
    made.add_argument("--save", action="store_true")
    made = step(export)
    made.add_argument("output", type=Path)
    made.add_argument("filters", nargs="*", type=_filter)
    return whole


def main(arguments: Sequence[str] | None = None, lab: Lab | None = None) -> int:
    options = parser().parse_args(arguments)
    if hasattr(options, "filters"):
        names = dict.fromkeys(name for name, _ in options.filters)
        options.filters = {name: [v for each, v in options.filters if each == name] for name in names}
    try:
        options.do(options, lab if lab or options.do is login else Lab())
    except BrokenPipeError:  # `| head` has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (LabError, OSError) as error:
        errors.print(said(error), style="red", markup=False, highlight=False, soft_wrap=True)
        return 1
    except KeyboardInterrupt:
        errors.print("Broken off. The same command again goes on, or finds what is there.")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
