"""Many boards at once, from a table: all of them, or none and every line's fault."""

import csv
from dataclasses import dataclass, field
from io import StringIO

from django.contrib.auth.models import User
from django.db import transaction

from profiling.errors import InvalidInput
from profiling.models import Device, DeviceModel
from profiling.services.devices import device_create

NEEDED, MORE = ("name",), ("driver", "device_model", "location", "notes")
COLUMNS = (*NEEDED, *MORE)
SEPARATORS = ",;\t"
MOST_LINES, MOST_BYTES = 500, 1_000_000


@dataclass
class BoardLine:
    """A line of the table; cells by column, "" where there is none."""

    number: int
    cells: dict[str, str]
    faults: list[str] = field(default_factory=list)


def table_text(content: bytes) -> str:
    if len(content) > MOST_BYTES:
        raise InvalidInput(f"A table of boards has at most {MOST_BYTES:,} bytes, not {len(content):,}.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"The table is no UTF-8 text: {error}. Save it as CSV UTF-8.") from error


def devices_import(*, user: User, text: str, keep: bool) -> list[BoardLine]:
    """Registers every line's board. With a fault anywhere, or without keep, nothing stays, and the lines
    tell what would be wrong."""
    lines, models = _lines(text), dict[str, DeviceModel]()
    for board in DeviceModel.objects.all():
        models |= {board.slug: board, board.name.lower(): board}
    known = {name.lower() for name in Device.objects.values_list("name", flat=True)}
    with transaction.atomic():
        for line in lines:
            _register(user, line, models, known)
        if not keep or any(line.faults for line in lines):
            transaction.set_rollback(True)
    return lines


def _register(user: User, line: BoardLine, models: dict[str, DeviceModel], known: set[str]) -> None:
    about = dict(line.cells)
    wanted, name = about.pop("device_model"), about["name"].lower()
    model = models.get(wanted) or models.get(wanted.lower())
    if wanted and model is None:
        line.faults.append(f"there is no device model {wanted!r}")
    if name in known:
        line.faults.append(f"there is a board called {line.cells['name']!r} already")
    known.add(name)
    about["driver"] = about["driver"] or (Device.Driver.SYSFS if wanted else Device.Driver.HOST)
    if about["driver"] not in Device.Driver.values:
        line.faults.append(f"there is no driver {about['driver']!r}, but {', '.join(Device.Driver.values)}")
    if not line.faults:
        try:
            with transaction.atomic():
                device_create(user=user, device_model=model, **about)
        except InvalidInput as error:
            line.faults.append(error.message)


def _lines(text: str) -> list[BoardLine]:
    head = text.lstrip("\ufeff").partition("\n")[0]
    separator = max(SEPARATORS, key=head.count)
    try:
        rows = list(csv.reader(StringIO(text.lstrip("\ufeff")), delimiter=separator, strict=True))
    except csv.Error as error:
        raise InvalidInput(f"The table cannot be read: {error}.") from error
    filled = [(number, row) for number, row in enumerate(rows, 1) if any(cell.strip() for cell in row)]
    if len(filled) < 2:
        raise InvalidInput(f"The table needs a first line {','.join(COLUMNS)} and a line for each board.")
    if len(filled) - 1 > MOST_LINES:
        raise InvalidInput(f"At most {MOST_LINES} boards at once, not {len(filled) - 1:,}.")
    header = _header(filled[0][1])
    return [_line(number, row, header) for number, row in filled[1:]]


def _header(cells: list[str]) -> list[str]:
    header = [cell.strip().lower().replace(" ", "_") for cell in cells]
    faults = [f"{name!r} is no column" for name in header if name not in COLUMNS]
    faults += [f"{name!r} comes twice" for name in set(header) if header.count(name) > 1]
    faults += [f"{name!r} is missing" for name in NEEDED if name not in header]
    if faults:
        raise InvalidInput(f"First line: {'; '.join(faults)}. Columns are {', '.join(COLUMNS)}.")
    return header


def _line(number: int, row: list[str], header: list[str]) -> BoardLine:
    cells = dict.fromkeys(COLUMNS, "") | dict(zip(header, (cell.strip() for cell in row), strict=False))
    line = BoardLine(number, cells)
    if len(row) > len(header):
        line.faults.append(f"{len(row)} cells for {len(header)} columns")
    if not cells["name"]:
        line.faults.append("the name is empty")
    return line
