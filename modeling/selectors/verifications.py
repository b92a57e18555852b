"""How a plan did on a board: predicted against measured, pick by pick."""

from dataclasses import dataclass
from typing import Any

from modeling.models import Plan
from modeling.services.verification import STRATEGY
from profiling.models import Device, Sweep
from profiling.selectors.live import Live, sweep_live
from profiling.services.sweeps import OPEN


@dataclass(frozen=True)
class Compared:
    """A measured value against its prediction: how far off in % of the prediction, and whether the 90 %
    interval held (None where the method knew none). Without a prediction neither is known."""

    predicted: dict[str, Any] | None
    measured: float
    off_pct: float | None
    held: bool | None


@dataclass(frozen=True)
class Verdict:
    run: int
    knobs: dict[str, int]
    time_ms: Compared
    power_mw: Compared
    kept: bool


@dataclass(frozen=True)
class Verification:
    sweep: Sweep
    under_way: bool
    live: Live | None
    verdicts: list[Verdict]
    outcome: dict[str, Any] | None


def verification_of(plan: Plan) -> Verification | None:
    """Of the last time it was verified; None when it never was."""
    sweeps = Sweep.objects.filter(strategy=STRATEGY, options__plan=plan.pk)
    sweep = sweeps.select_related("device", "workload").order_by("-pk").first()
    if sweep is None:
        return None
    return Verification(
        sweep=sweep,
        under_way=sweep.state in OPEN,
        live=sweep_live(sweep),
        verdicts=[verdict_of(each) for each in plan.answer.get("verified", ())],
        outcome=plan.answer.get("outcome"),
    )


def verdict_of(told: dict[str, Any]) -> Verdict:
    compared = {name: compare(told[f"predicted_{name}"], told[name]) for name in ("time_ms", "power_mw")}
    return Verdict(run=told["run"], knobs=told["knobs"], kept=told["kept"], **compared)


def compare(predicted: dict[str, Any] | None, measured: float) -> Compared:
    if predicted is None:
        return Compared(None, measured, None, None)
    low, high = predicted["low"], predicted["high"]
    held = None if low is None or high is None else low <= measured <= high
    return Compared(predicted, measured, (measured / predicted["value"] - 1) * 100, held)


def verifying_boards(*, device_model: str, emulated: bool) -> list[Device]:
    """Boards in service that can measure a plan: of its kind, and emulated just when its basis is."""
    boards = Device.objects.filter(device_model__slug=device_model, retired=False).order_by("name")
    return [board for board in boards if board.emulated == emulated]
