"""Runs that people's own harnesses send, and corrections of what was measured."""

import json
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from profiling.errors import Conflict, InvalidInput
from profiling.knobs import KNOB_NAMES
from profiling.models import Device, DeviceModel, Run, Upload, Workload
from profiling.receiving import received
from profiling.services.agents import MEASURED_FIELDS, check_measured
from profiling.services.audit import Action, audit
from profiling.services.uploads import upload_keep, upload_new
from profiling.signals import runs_changed

MOST_ROWS = 10_000
NEVER_ZERO = ("minibatch", "time_ms", "power_mw", "energy_mj")
CORRECTABLE = (*KNOB_NAMES, "minibatch", *MEASURED_FIELDS, "flags", "measured_at")


def runs_receive(
    *,
    user: User,
    workload: Workload,
    device_model: DeviceModel,
    runs: list[dict[str, Any]],
    device: Device | None = None,
    emulated: bool = False,
    idempotency_key: str = "",
) -> tuple[Upload, bool]:
    """All rows as runs at once, or none and every bad row named. The rows are kept as an upload.

    Each row has the names and units of a run: cores, cpu_khz, …, time_ms, power_mw, energy_mj.
    """
    # Here, since they bring pandas, which web processes do without until somebody sends rows.
    from profiling.services.import_extras import misread
    from profiling.services.imports import upload_work

    if not 0 < len(runs) <= MOST_ROWS:
        raise InvalidInput(f"Send 1 to {MOST_ROWS:,} runs at once, not {len(runs):,}. Larger: upload a file.")
    rows = json.dumps({"runs": runs}, sort_keys=True, separators=(",", ":"))
    file = received([rows.encode()], "runs.json")
    upload = upload_new(
        file=file,
        user=user,
        workload=workload,
        device_model=device_model,
        device=device,
        emulated=emulated,
        idempotency_key=idempotency_key,
        on_bad_lines="nothing",
    )
    upload.mapping, upload.repeats = own_names(runs), "keep"
    upload, new = upload_keep(upload, file, wake=False)
    upload_work(upload_id=upload.pk, besides=misread(runs))
    upload.refresh_from_db()
    if upload.state in (Upload.State.REJECTED, Upload.State.FAILED):
        raise InvalidInput(upload.failure or _bad_rows(upload), errors=upload.problems, upload=upload.pk)
    return upload, new


def own_names(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The mapping of rows that already speak our names and units."""
    from profiling.formats.columns import FIELDS
    from profiling.formats.mapping import Column, Mapping

    given = {str(name) for row in runs if isinstance(row, dict) for name in row}
    mapping = Mapping({name: Column(name, FIELDS[name].own_unit) for name in FIELDS if name in given})
    mapping.check()
    return mapping.to_json()


def _bad_rows(upload: Upload) -> str:
    where = (
        "errors" if upload.problem_count <= len(upload.problems) else f"/api/v1/uploads/{upload.pk}/report/"
    )
    return f"{upload.problem_count:,} faults in {upload.rows_total:,} rows, so none was kept; see {where}."


@transaction.atomic
def run_correct(*, run: Run, user: User, reason: str, changes: dict[str, Any]) -> Run:
    """A new run that revises this one, which leaves every list, fit and export but stays where it is."""
    _check_correction(run, reason, changes)
    still = Run.objects.filter(pk=run.pk, state=Run.State.COMPLETE)
    if not still.update(state=Run.State.SUPERSEDED):
        raise Conflict(f"Run {run.pk} is not complete, or was corrected already. Correct its last revision.")
    revision = Run.objects.get(pk=run.pk)
    for name, value in {**changes, **_energy(run, changes)}.items():
        setattr(revision, name, value)
    if set(changes) & set(KNOB_NAMES):
        revision.power_mode = _mode_of(revision)
    revision.pk, revision.state, revision._state.adding = None, Run.State.COMPLETE, True
    revision.revises, revision.corrected_by, revision.correction = run, user, reason
    revision.created = timezone.now()
    revision.unknowns = _unknowns(revision, changes, reason)
    revision.provenance = {**run.provenance, "corrected": sorted(changes)}
    revision.save(force_insert=True)
    audit(Action.RUN_CORRECT, revision, user=user, of=run.pk, reason=reason, changes=changes)
    pair = {"workload_id": run.workload_id, "device_model_id": run.device_model_id}
    transaction.on_commit(lambda: runs_changed.send(Run, **pair))
    return revision


def _check_correction(run: Run, reason: str, changes: dict[str, Any]) -> None:
    if not reason.strip():
        raise InvalidInput("Say why.", errors={"reason": ["Say why the run is corrected."]})
    if not changes:
        raise InvalidInput("Say what changes.", errors={"changes": ["Say what changes."]})
    if unknown := sorted(set(changes) - set(CORRECTABLE)):
        raise InvalidInput(f"{', '.join(unknown)} cannot be corrected; {', '.join(CORRECTABLE)} can.")
    check_measured(changes)
    nothing = [
        {"field": name, "value": 0, "reason": "is zero, as in a file; not known is null"}
        for name in NEVER_ZERO
        if changes.get(name) == 0
    ]
    legal = run.device_model.ranges
    bad = [
        {"field": name, "value": changes[name], "reason": f"the board has {list(getattr(legal, name))}"}
        for name in KNOB_NAMES
        if changes.get(name) is not None and changes[name] not in getattr(legal, name)
    ]
    if nothing or bad:
        raise InvalidInput(f"A {run.device_model} cannot run so.", errors=nothing + bad)


def _energy(run: Run, changes: dict[str, Any]) -> dict[str, float]:
    """Follows time and power, unless it is corrected itself."""
    time_ms, power_mw = (changes.get(name, getattr(run, name)) for name in ("time_ms", "power_mw"))
    if "energy_mj" in changes or not {"time_ms", "power_mw"} & set(changes) or None in (time_ms, power_mw):
        return {}
    return {"energy_mj": time_ms * power_mw / 1000}


def _unknowns(revision: Run, changes: dict[str, Any], reason: str) -> dict[str, str]:
    known = {name: why for name, why in revision.unknowns.items() if getattr(revision, name, None) is None}
    return known | {name: f"corrected to unknown: {reason}" for name in changes if changes[name] is None}


def _mode_of(run: Run) -> Any:
    return run.knobs and run.device_model.power_modes.filter(**run.knobs._asdict()).first()
