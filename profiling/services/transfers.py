"""Files that arrive in pieces: each goes on where the one before ended, or was cut off."""

import fcntl
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from profiling.errors import Conflict, InvalidInput, TooLarge
from profiling.models import Transfer
from profiling.receiving import incoming_folder, received
from profiling.services.uploads import GONE, upload_receive

OPEN_AT_ONCE = 10
PIECE = 1 << 16  # which is what a connection that dies may cost


def transfer_begin(
    *, user: User, filename: str, size: int, about: dict[str, Any], idempotency_key: str = ""
) -> tuple[Transfer, bool]:
    """The transfer, and whether it is new: the same key again goes on with the first.

    about: what TransferRequestSerializer takes, as it was sent; it is read again when the file is complete.
    """
    if size > settings.UPLOAD_MAX_BYTES:
        most = settings.UPLOAD_MAX_BYTES >> 20
        raise TooLarge(f"{filename} is larger than {most:,} MiB. Split it, or raise UPLOAD_MAX_MB.")
    if first := _begun_before(user, filename, size, about, idempotency_key):
        return first, False
    if Transfer.objects.filter(user=user, upload=None).count() >= OPEN_AT_ONCE:
        raise Conflict(f"{OPEN_AT_ONCE} transfers of yours are open. Finish or delete one first.")
    fields = {"filename": filename, "size": size, "about": about, "idempotency_key": idempotency_key}
    try:
        with transaction.atomic():
            transfer = Transfer.objects.create(user=user, **fields)
    except IntegrityError:  # it was begun twice at the same moment
        return Transfer.objects.get(user=user, idempotency_key=idempotency_key), False
    path_of(transfer).touch()
    return transfer, True


def transfer_offset(transfer: Transfer) -> int:
    path = path_of(transfer)
    return transfer.size if transfer.upload_id else path.stat().st_size if path.exists() else 0


def transfer_take(*, transfer: Transfer, offset: int, chunks: Iterable[bytes]) -> int:
    """How many bytes are there now. Whatever came before the connection died is kept."""
    with _held(transfer) as file:
        here = file.seek(0, 2)
        if offset != here:
            raise Conflict(f"{transfer.filename} goes on at byte {here:,}, not {offset:,}.", offset=here)
        for chunk in chunks:
            if here + len(chunk) > transfer.size:
                raise InvalidInput(f"More bytes came than the {transfer.size:,} that were announced.")
            here += file.write(chunk)
    return here


def transfer_finish(*, transfer: Transfer, **about: Any) -> Transfer:
    """All bytes are there: an upload like any other. about: what upload_receive takes."""
    path = path_of(transfer)
    with _held(transfer) as file:
        pieces = iter(lambda: file.read(PIECE), b"")
        file.seek(0)
        received_file = received(pieces, transfer.filename)
        transfer.upload, _ = upload_receive(
            file=received_file, user=transfer.user, idempotency_key=transfer.idempotency_key, **about
        )
        transfer.save(update_fields=["upload"])
    path.unlink(missing_ok=True)
    return transfer


def transfer_drop(*, transfer: Transfer) -> None:
    path_of(transfer).unlink(missing_ok=True)
    transfer.delete()


def transfers_forget(*, before: datetime) -> None:
    """Those begun before whose bytes are gone: complete, or left alone until `uploads_wake` took them."""
    for transfer in Transfer.objects.filter(created__lt=before):
        if not path_of(transfer).exists():
            transfer.delete()


def path_of(transfer: Transfer) -> Path:
    return incoming_folder() / f"{transfer.pk}.part"


@contextmanager
def _held(transfer: Transfer) -> Iterator[BinaryIO]:
    """The bytes so far, for this request alone. One that died may hold them until its server notices."""
    with path_of(transfer).open("ab+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Conflict(
                f"Another request is sending {transfer.filename}. Try again in a moment."
            ) from error
        yield file


def _begun_before(user: User, filename: str, size: int, about: dict[str, Any], key: str) -> Transfer | None:
    first = Transfer.objects.filter(user=user, idempotency_key=key).first() if key else None
    pairs = (
        [(each.get("workload"), each.get("device_model")) for each in (first.about, about)] if first else []
    )
    if first and ((first.filename, first.size) != (filename, size) or pairs[0] != pairs[1]):
        raise Conflict(f"The Idempotency-Key {key!r} came with another file before, {first.filename}.")
    if first and first.upload and first.upload.state in GONE:
        first.delete()  # what it brought was taken away again, so the key begins anew
        return None
    return first
