"""A zip of one table or log: the file in it is read, unpacked piece by piece under the same limits."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from profiling.formats import dreamlab, excel_rows
from profiling.formats.problems import FormatError, Problem, shown
from profiling.formats.source import ZIP, Source, open_zip

EMPTY_ZIP = b"PK\x05\x06"
TABLES = (".csv", ".tsv", ".txt", ".log", ".json", ".jsonl", ".ndjson", ".parquet", ".xlsx")
NAMED = 5  # of several files
LOCKED = 0x1


def unzipped(source: Source) -> Source:
    """The file in the zip; the source itself where it is no zip, or one that is a format of its own.

    FormatError when the zip is broken or locked, or holds no table or several.
    """
    if source.path.is_dir() or source.magic not in (ZIP, EMPTY_ZIP):
        return source
    if source.magic == ZIP and (excel_rows.is_workbook(source) or dreamlab.recognises(source)):
        return source
    with open_zip(source) as archive:
        files = [
            info
            for info in archive.infolist()
            if not info.is_dir() and not dreamlab.is_macs_own(info.filename)
        ]
    chosen = _the_table([info.filename for info in files], source.filename)
    if next(info.flag_bits for info in files if info.filename == chosen) & LOCKED:
        raise FormatError(f"{shown(chosen)} in {source.filename} is locked with a password; send it without")
    others = tuple(info.filename for info in files if info.filename != chosen)
    return Source(
        source.path, f"{shown(chosen)} in {source.filename}", source.limits, member=chosen, beside=others
    )


def _the_table(names: list[str], filename: str) -> str:
    """The only file, or the only one that is called like a table."""
    if not names:
        raise FormatError(f"{filename} holds no file")
    tables = (
        [name for name in names if PurePosixPath(name).suffix.lower() in TABLES] if len(names) > 1 else names
    )
    if len(tables) == 1:
        return tables[0]
    named = _named(names)
    what = f"{len(tables)} tables or logs" if tables else "several files, none called like a table"
    raise FormatError(
        f"{filename} holds {what}: {named}. Only run folders come in together; unpack it, and send each file "
        f"by itself, for its own workload and board"
    )


def as_member(source: Source, found: Any) -> Any:
    """What was found in the file, with its name in the zip, and the names of those that were not read."""
    if not source.member:
        return found
    reasons = [f"of the zip, {shown(source.member)} is read"]
    if source.beside:
        reasons += [f"not read, as no table ({len(source.beside)}): {_named(source.beside)}"]
    notes = [Problem(0, "", "", reason) for reason in reasons]
    return replace(found, member=shown(source.member), notes=[*notes, *found.notes])


def _named(names: Sequence[str]) -> str:
    return ", ".join(map(shown, names[:NAMED])) + (" …" if len(names) > NAMED else "")
