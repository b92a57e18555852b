"""What agents ask of the server: claim a run, report on it, deliver it. Each step may come twice."""

from datetime import timedelta
from math import prod
from typing import Any

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from profiling.errors import Conflict, InvalidInput
from profiling.knobs import Knobs, are_steps
from profiling.models import Device, Run, Sweep, Telemetry
from profiling.services.audit import Action, audit
from profiling.services.devices import host_model_update
from profiling.services.sweeps import sweep_settle
from profiling.signals import runs_changed
from profiling.silence import silent
from profiling.telemetry import TelemetryError, pack

SILENCE = timedelta(seconds=60)
MAX_ATTEMPTS = 3
MEASURED_FIELDS = (
    "time_ms",
    "time_sd_ms",
    "fetch_ms",
    "compute_ms",
    "power_mw",
    "energy_mj",
    "minibatches",
    "power_samples",
)
MOST_STEP = 2**31 - 1  # as a column holds it
MOST_MODES = 500_000  # every one is computed whenever somebody plans; the finest Jetson has 29,232
KEPT_FIELDS = ("flags", "unknowns", "extra", "provenance")


def device_seen(*, device: Device, agent: str, status: dict[str, Any] | None = None) -> None:
    """Note a sign of life; refuse a second agent while the first is alive."""
    now = timezone.now()
    mine = Q(agent="") | Q(agent=agent) | Q(last_seen__isnull=True) | silent("last_seen", SILENCE)
    fields: dict[str, Any] = {"agent": agent, "last_seen": now}
    if status is not None:
        fields["status"] = status
    if not Device.objects.filter(mine, pk=device.pk).update(**fields):
        raise Conflict(f"Another agent is serving {device}. Stop it first; a board has one agent at a time.")


def run_claim(*, device: Device, agent: str) -> Run | None:
    """The next pending run of this board, now ours; None when there is nothing to do.

    An agent claims only with empty hands, so what it still seems to hold was lost in a crash.
    """
    device_seen(device=device, agent=agent)
    for lost in Run.objects.filter(device=device, state=Run.State.CLAIMED):
        run_fail(run=lost, reason="The agent started anew.")
    now = timezone.now()
    pending = Run.objects.filter(device=device, state=Run.State.PENDING)
    pk = pending.order_by("sweep_id", "order", "id").values_list("pk", flat=True).first()
    if pk is None:
        return None
    claimed = pending.filter(pk=pk).update(
        state=Run.State.CLAIMED, claimed_at=now, heartbeat_at=now, attempts=F("attempts") + 1
    )
    if not claimed:
        return None
    run = Run.objects.select_related("workload__package", "sweep", "device__device_model").get(pk=pk)
    first = Sweep.objects.filter(runs=run, state=Sweep.State.PENDING)
    first.update(state=Sweep.State.RUNNING, started=now)
    return run


def run_heartbeat(*, run: Run, agent: str, status: dict[str, Any]) -> bool:
    """True while the agent should go on; False when the run was cancelled or taken away."""
    device_seen(device=run.device, agent=agent, status=status)  # type: ignore[arg-type]
    return bool(Run.objects.filter(pk=run.pk, state=Run.State.CLAIMED).update(heartbeat_at=timezone.now()))


def run_complete(
    *, run: Run, measured: dict[str, Any], telemetry: dict[str, list[Any]] | None = None
) -> bool:
    """Store a delivered run. A second delivery changes nothing and is no error; False then."""
    check_measured(measured)
    with transaction.atomic():
        stored = (
            Run.objects.filter(pk=run.pk)
            .exclude(state__in=(Run.State.COMPLETE, Run.State.SUPERSEDED))
            .update(
                state=Run.State.COMPLETE,
                measured_at=measured.get("measured_at") or timezone.now(),
                failure="",
                **{name: measured.get(name) for name in MEASURED_FIELDS},
                **{name: measured[name] for name in KEPT_FIELDS if name in measured},
            )
        )
        if not stored:
            return False
        if telemetry:
            telemetry_store(run=run, columns=telemetry)
        audit_mode(run)
        transaction.on_commit(lambda: run_settled(run))
    return True


def audit_mode(run: Run) -> None:
    """The agent applied it; who asked for the sweep had it applied."""
    sweep = run.sweep
    for_whom = str(sweep.requested_by or "") if sweep else ""
    strategy = sweep.strategy if sweep else ""
    modes = run.knobs._asdict() if run.knobs else "the board's governor"
    about: dict[str, Any] = {
        "mode": modes,
        "run": run.pk,
        "sweep": run.sweep_id,
        "strategy": strategy,
        "for": for_whom,
    }
    audit(Action.MODE_APPLY, run.device or "", **about)


def mode_tell(*, device: Device, agent: str, knobs: dict[str, int] | None, by: str) -> None:
    """Somebody turned the knobs on the board itself."""
    if knobs is None:
        audit(Action.MODE_RESTORE, device, by=by, agent=agent)
    else:
        audit(Action.MODE_APPLY, device, mode=knobs, by=by, agent=agent)


MOST = 1e15  # ms, mW or mJ: far beyond any board, and near enough that time × power stays finite


def check_measured(measured: dict[str, Any]) -> None:
    problems = [
        {
            "field": name,
            "value": value,
            "reason": f"must be a number above 0 and below {MOST:g}, or null with a reason in unknowns",
        }
        for name in MEASURED_FIELDS
        if (value := measured.get(name)) is not None and not (0 <= value < MOST)
    ]
    if problems:
        raise InvalidInput("The measured run has impossible values.", errors=problems)


def telemetry_store(*, run: Run, columns: dict[str, list[Any]], sequence: int = 0) -> None:
    try:
        chunk = pack(columns)
    except TelemetryError as error:
        raise InvalidInput(str(error)) from error
    Telemetry.objects.update_or_create(run=run, sequence=sequence, defaults=chunk._asdict())


def run_fail(*, run: Run, reason: str, again: bool = True) -> None:
    """Back to PENDING while attempts are left, else FAILED with the reason."""
    retry = again and run.attempts < MAX_ATTEMPTS
    state = Run.State.PENDING if retry else Run.State.FAILED
    Run.objects.filter(pk=run.pk, state=Run.State.CLAIMED).update(state=state, failure=reason[-4000:])
    if not retry:
        run_settled(run)


def run_settled(run: Run) -> None:
    runs_changed.send(Run, workload_id=run.workload_id, device_model_id=run.device_model_id)
    if run.sweep_id:
        sweep_settle(sweep_id=run.sweep_id)


def runs_reap() -> int:
    """Give back what silent agents hold; how many runs that were."""
    reaped = list(Run.objects.filter(silent("heartbeat_at", SILENCE), state=Run.State.CLAIMED))
    for run in reaped:
        run_fail(run=run, reason=f"The agent of {run.device} fell silent.")
    return len(reaped)


@transaction.atomic
def device_enrol(*, device: Device, agent: str, description: dict[str, Any]) -> None:
    """Keep what the board told of itself. Its own clock tables stand beside its device model's."""
    device_seen(device=device, agent=agent)
    check_description(description)
    ranges = description.get("ranges")
    if ranges is not None:
        check_ranges(ranges)
    if ranges is not None and device.device_model.is_host:
        host_model_update(device_model=device.device_model, ranges=ranges)
    software = description.get("software", {})
    if device.software and software != device.software:
        Device.objects.filter(pk=device.pk).update(former_software=device.software)
    Device.objects.filter(pk=device.pk).update(
        software=software,
        nvpmodel_conf=description.get("nvpmodel_conf", ""),
        own_ranges=ranges if ranges is not None and own(ranges, device) else None,
    )
    audit(Action.DEVICE_ENROL, device, agent=agent, software=software)


def check_description(description: dict[str, Any]) -> None:
    """The parts of it that are shown."""
    if not isinstance(description.get("software", {}), dict):
        raise InvalidInput("software must be an object: names and what there is of each.")
    if not isinstance(description.get("nvpmodel_conf", ""), str):
        raise InvalidInput("nvpmodel_conf must be the file's text, empty where there is none.")


def check_ranges(ranges: Any) -> None:
    legal = isinstance(ranges, dict) and set(ranges) == set(Knobs._fields)
    if not legal or not all(are_steps(values) for values in ranges.values()) or ranges["cores"] == [0]:
        raise InvalidInput(
            f"ranges must give each of {', '.join(Knobs._fields)} as an ascending list of integers above 0; "
            "[0] stands for a clock that the machine lacks."
        )
    modes = prod(len(values) for values in ranges.values())
    if modes > MOST_MODES or max(values[-1] for values in ranges.values()) > MOST_STEP:
        raise InvalidInput(
            f"ranges hold {modes:,} modes, or a step above {MOST_STEP:,}. A board has {MOST_MODES:,} at most."
        )


def own(ranges: dict[str, list[int]], device: Device) -> bool:
    return any(ranges[name] != getattr(device.device_model, name) for name in Knobs._fields)
