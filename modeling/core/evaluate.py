"""How well does a method predict a fully measured workload from a few of its modes?

python -m modeling.core.evaluate --reference resnet.csv --target yolo.csv --method gp --profiled 10,50
"""

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from modeling.core.evaluation import Question, evaluate
from modeling.core.prediction import Measured
from modeling.core.predictors import METHODS
from modeling.core.sampling import STRATEGIES
from modeling.core.tables import read_table

HEADER: tuple[str, ...] = (
    *("method", "sampling", "modes", "time %", "power %", "fit s", "predict ms", "profiling min"),
    *("90 % time", "90 % power", "penalty %", "excess W", "A/L %", "A/L+1 %"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 2 and a message on stderr where the arguments or files are wrong."""
    parser = _parser()
    options = parser.parse_args(arguments)
    results = []
    try:
        question = _question(options)
        for method in dict.fromkeys(options.method):
            results += evaluate(question, method, options.profiled)
    except ValueError as error:
        parser.error(str(error))
    print(json.dumps({"results": results}, indent=1) if options.json else _report(question, results))
    return 0


def _question(options: argparse.Namespace) -> Question:
    target = read_measured(options.target, options.kind)
    references = [path for path in dict.fromkeys(options.reference) if path != options.target]
    if len(references) < len(options.reference):
        _note("a reference that is given twice or is the target itself was left out")
    return Question(
        target,
        tuple(read_measured(path, options.reference_kind or options.kind) for path in references),
        sampling=options.sampling,
        repeats=options.repeats,
        seed=options.seed,
        risk=options.risk,
        verify=options.verify,
    )


def read_measured(path: str, kind: str) -> Measured:
    """A table's measurements; a note on stderr where modes were measured more than once."""
    table = read_table(path, kind)
    if table.repeated:
        _note(f"{path}: {table.repeated} mode measured more than once; the means are taken")
    return table.measured


def _note(text: str) -> None:
    print(f"note: {text}", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m modeling.core.evaluate", description=__doc__.splitlines()[0])
    parser.add_argument("--reference", action="append", default=[], metavar="FILE", help="may be repeated")
    parser.add_argument("--target", required=True, metavar="FILE", help="all its modes are the truth")
    parser.add_argument("--method", action="append", required=True, choices=METHODS, help="may be repeated")
    parser.add_argument("--profiled", type=_counts, default=[10, 50], metavar="10,50")
    parser.add_argument("--repeats", type=_positive, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sampling", choices=STRATEGIES, default="random")
    parser.add_argument("--kind", choices=("training", "inference"), default="training", help="of the target")
    parser.add_argument("--reference-kind", choices=("training", "inference"), help="else the target's")
    parser.add_argument("--risk", type=_risk, default=0.05, help="accepted chance to exceed a budget")
    parser.add_argument(
        "--verify", action="store_true", help="measure the picks and pick again, up to 3 times"
    )
    parser.add_argument("--json", action="store_true")
    return parser


def _counts(text: str) -> list[int]:
    return [_positive(part) for part in text.split(",")]


def _positive(text: str) -> int:
    if not text.strip().isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return int(text)


def _risk(text: str) -> float:
    try:
        risk = float(text)
    except ValueError:
        risk = -1.0
    if not 0 < risk < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not between 0 and 1")
    return risk


def _report(question: Question, results: list[dict[str, Any]]) -> str:
    foreign = question.foreign
    marked = [
        f"{each.name} (another board's)" if each.name in foreign else each.name for each in question.corpus
    ]
    target, names = question.target, ", ".join(marked) or "none"
    lines = [
        f"target {target.name}, {len(target)} modes; references: {names}",
        f"median (first to third quartile; worst) of {question.repeats} repeats, over all modes",
    ]
    rows = [HEADER, *(_row(result) for result in results)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER))]
    lines += ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(lines)


def _row(result: dict[str, Any]) -> tuple[str, ...]:
    budget = result["budget"] or {}
    return (
        result["method"],
        result["sampling"],
        str(result["profiled"]),
        _spread(result, "time_mape"),
        _spread(result, "power_mape"),
        _cell(result["fit_s"], 2),
        _cell(result["predict_ms"], 0),
        _cell(result["profiling_min"], 1),
        _cell(result["coverage90_time"], 0),
        _cell(result["coverage90_power"], 0),
        _cell(budget.get("time_penalty"), 1),
        _cell(budget.get("excess_w"), 2),
        _cell(budget.get("over_pct"), 1),
        _cell(budget.get("over_1w_pct"), 1),
    )


def _spread(result: dict[str, Any], name: str) -> str:
    q1, q3, worst = (result[f"{name}_{part}"] for part in ("q1", "q3", "max"))
    return f"{result[name]:.1f} ({q1:.1f} to {q3:.1f}; {worst:.1f})"


def _cell(value: float | None, digits: int) -> str:
    return "—" if value is None else f"{value:.{digits}f}"


if __name__ == "__main__":
    sys.exit(main())
