"""The lab: what a person does in the browser, as methods."""

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx

from profiling.client.folders import as_file
from profiling.client.keys import find_key
from profiling.client.records import Plan, Predictor, Run, Upload, Workload
from profiling.client.wire import WAITS_S, LabAway, LabRefused, Wire

PIECE = 1 << 18
IN_PIECES_FROM = 16 << 20
SENT_AT_ONCE = 4 << 20
POLL_S = 1.0
CONFLICT = 409  # the lab is at another byte, or still holds on to a connection that died
Progress = Callable[[int, int | None], None]  # done, total if known


def _quiet(done: int, total: int | None) -> None:
    pass


class Lab:
    """Filters are those of the run list: workload, device_model, cores__gte, flag, …; where it takes several
    values, a list: workload=["resnet", "bert"]."""

    def __init__(
        self,
        server: str | None = None,
        token: str | None = None,
        *,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        server, token = find_key(server, token)
        self.wire, self.sleep = Wire(server, token, transport, sleep), sleep

    def check(self) -> None:
        """Whether the lab is there and takes the token."""
        self.wire.get("workloads/", page_size=1)

    def workloads(self, **filters: Any) -> Iterator[Workload]:
        return map(Workload.of, self.wire.pages("workloads/", **filters))

    def runs(self, **filters: Any) -> Iterator[Run]:
        """Newest first, a page at a time."""
        return map(Run.of, self.wire.pages("runs/", **{"page_size": 1000, **filters}))

    def count(self, **filters: Any) -> int:
        return int(self.wire.get("runs/facets/", **filters)["count"])

    def send_runs(
        self, runs: Sequence[dict[str, Any]], *, workload: str, device_model: str, key: str = "", **about: Any
    ) -> list[int]:
        """Rows your own harness measured; their ids. All come in, or LabRefused names every bad one.

        key: the same key never brings the rows in twice; left out, the rows themselves are the key.
        """
        body = {"workload": workload, "device_model": device_model, "runs": list(runs), **about}
        headers = {"Idempotency-Key": key} if key else {}
        return list(self.wire.ask("POST", "runs/", json=body, headers=headers).json()["runs"])

    def upload(
        self,
        path: str | Path,
        *,
        workload: str,
        device_model: str,
        progress: Progress = _quiet,
        **about: Any,
    ) -> Upload:
        """Send a file of measurements, or a folder of runs. Sent again, it answers with the first upload.

        A large one goes in pieces: cut off, even by the end of this program, it goes on where it was.
        """
        query = {"workload": workload, "device_model": device_model, **about}
        with as_file(Path(path)) as file:
            return self._send(file, {"filename": file.name, **query}, progress)

    def _send(self, path: Path, query: dict[str, Any], progress: Progress) -> Upload:
        size = path.stat().st_size
        key = hashlib.sha256(f"{sorted(query.items())}".encode() + _digest(path)).hexdigest()
        if size >= IN_PIECES_FROM:
            return self._in_pieces(path, {**query, "size": size}, key, progress)
        answer = self.wire.ask(
            "POST",
            "uploads/",
            params=query,
            headers={
                "Content-Type": "application/octet-stream",
                "Content-Length": str(size),
                "Idempotency-Key": key,
            },
            content=lambda: _pieces(path, size, progress),
        )
        return Upload.of(answer.json())

    def page(self, upload: Upload) -> str:
        """Where in the browser an upload is decided about."""
        return str(self.wire.http.base_url.join(f"/uploads/{upload.id}/"))

    def _in_pieces(self, path: Path, asked: dict[str, Any], key: str, progress: Progress) -> Upload:
        begin = self.wire.ask("POST", "transfers/", json=asked, headers={"Idempotency-Key": key})
        sent, stuck = begin.json(), 0
        with path.open("rb") as file:
            while not sent["upload"]:
                file.seek(sent["offset"])
                before, sent = sent["offset"], self._piece(sent, file.read(SENT_AT_ONCE))
                progress(sent["offset"], sent["size"])
                stuck = 0 if sent["upload"] or sent["offset"] > before else stuck + 1
                if stuck == len(WAITS_S):
                    raise LabAway(
                        f"{path.name} stays at byte {before:,} of {sent['size']:,}; try again later"
                    )
                if stuck:
                    self.sleep(WAITS_S[stuck])
        return Upload.of(self.wire.get(f"uploads/{sent['upload']}/"))

    def _piece(self, transfer: dict[str, Any], piece: bytes) -> dict[str, Any]:
        """How far the lab got: it may have kept a part of a piece that was cut off, so it is asked."""
        address = f"transfers/{transfer['id']}/"
        headers = {
            "Upload-Offset": str(transfer["offset"]),
            "Content-Type": "application/octet-stream",
        }
        try:
            answer = self.wire.ask("PATCH", address, content=piece, headers=headers, repeat=False)
        except LabAway:
            return dict(self.wire.get(address))
        except LabRefused as refused:
            if refused.status != CONFLICT:
                raise
            return dict(self.wire.get(address))
        return dict(answer.json())

    def wait(self, upload: Upload, *, progress: Progress = _quiet, limit_s: float = 3600) -> Upload:
        """Until the lab is through with it, or asks something."""
        for _ in range(int(limit_s / POLL_S)):
            upload = Upload.of(self.wire.get(f"uploads/{upload.id}/"))
            progress(upload.rows_done, upload.rows_total)
            if not upload.under_way:
                return upload
            self.sleep(POLL_S)
        raise LabAway(f"{upload.filename} is still {upload.state} after {limit_s:g} s")

    def predict(
        self,
        workload: str,
        device_model: str,
        *,
        progress: Progress = _quiet,
        limit_s: float = 3600,
        **how: Any,
    ) -> dict[str, list[Any]]:
        """Fit a predictor; time and power of every mode, in columns. how: method, references, seed."""
        body = {"workload": workload, "device_model": device_model, **how}
        asked = self.wire.ask("POST", "predictors/", json=body, repeat=False).json()
        predictor = Predictor.of(asked)
        for _ in range(int(limit_s / POLL_S)):
            if predictor.state == "ready":
                return dict(self.wire.get(f"predictors/{predictor.id}/predictions/"))
            if predictor.state == "failed":
                raise LabRefused(f"The predictor failed: {predictor.failure}", 409)
            self.sleep(POLL_S)
            predictor = Predictor.of(self.wire.get(f"predictors/{predictor.id}/"))
            progress(predictor.steps_done or 0, predictor.steps_total)
        raise LabAway(f"predictor {predictor.id} is still {predictor.state} after {limit_s:g} s")

    def plan(self, workload: str, device_model: str, *, save: bool = False, **ceilings: Any) -> Plan:
        """ceilings: power_mw, time_ms, energy_mj, epoch_s, epoch_energy_j; also risk, objective, allowed."""
        body = {"workload": workload, "device_model": device_model, "save": save, **ceilings}
        return Plan.of(self.wire.ask("POST", "plans/", json=body, repeat=not save).json())

    def export(
        self, path: str | Path, *, format: str = "csv", progress: Progress = _quiet, **filters: Any
    ) -> int:
        """The filtered runs into a file; its bytes. The file appears whole or not at all."""
        path = Path(path)
        part, done = path.with_name(f"{path.name}.part"), 0
        try:
            with (
                self.wire.stream("runs/export/", format=format, **filters) as answer,
                part.open("wb") as file,
            ):
                for piece in answer.iter_bytes():
                    file.write(piece)
                    progress(done := done + len(piece), None)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        return done


def _pieces(path: Path, size: int, progress: Progress) -> Iterator[bytes]:
    done = 0
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece
            progress(done := done + len(piece), size)


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
