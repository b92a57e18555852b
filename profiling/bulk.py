"""Many rows into one table at once: COPY on PostgreSQL, one prepared statement on SQLite."""

import json
from collections.abc import Mapping
from datetime import datetime
from itertools import groupby
from typing import Any

import pyarrow as pa
import pyarrow.csv
from django.db import IntegrityError, connection, models, transaction


def rows_write(kind: type[models.Model], rows: pa.Table, shared: Mapping[str, Any]) -> None:
    """In one transaction. rows: a column each of what differs; shared: what all rows have in common.

    Columns go by their names in the database; null is unknown. Signals, defaults and `save` are passed over.
    SQLite would look up all that a row points at for each row: here it is asked once for all of them.
    """
    with connection.constraint_checks_disabled(), transaction.atomic():
        _check_pointed_at(kind, rows, shared)
        if connection.vendor == "postgresql":
            _copy(kind._meta.db_table, rows, shared)
        else:
            _insert(kind._meta.db_table, rows, shared)


def _check_pointed_at(kind: type[models.Model], rows: pa.Table, shared: Mapping[str, Any]) -> None:
    for field in kind._meta.concrete_fields:
        if field.related_model is None:
            continue
        name = field.attname
        found = rows[name].unique().to_pylist() if name in rows.column_names else [shared.get(name)]
        keys = [key for key in found if key is not None]
        if field.related_model._base_manager.filter(pk__in=keys).count() != len(keys):
            raise IntegrityError(f"{name} of some of {len(rows):,} rows points at what is not there")


def tables_count() -> None:
    """SQLite never counts by itself, and would guess which index is best. A million runs take it a second."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")


def as_stored(value: Any) -> Any:
    """A moment, list or dict as the text that the database keeps of it."""
    if isinstance(value, datetime):
        return str(connection.ops.adapt_datetimefield_value(value))
    return json.dumps(value) if isinstance(value, dict | list) else value


def _copy(table: str, rows: pa.Table, shared: Mapping[str, Any]) -> None:
    for name, value in shared.items():
        stored = as_stored(value)
        kind = pa.string() if stored is None else None
        rows = rows.append_column(name, pa.repeat(pa.scalar(stored, kind), len(rows)))
    text = pa.BufferOutputStream()
    pyarrow.csv.write_csv(rows, text, pyarrow.csv.WriteOptions(include_header=False))
    with connection.cursor() as cursor:
        names = ", ".join(map(connection.ops.quote_name, rows.column_names))
        with cursor.copy(
            f"COPY {connection.ops.quote_name(table)} ({names}) FROM STDIN (FORMAT csv)"
        ) as copy:
            copy.write(text.getvalue())


def _insert(table: str, rows: pa.Table, shared: Mapping[str, Any]) -> None:
    """Many rows a statement: SQLite opens the table and each index for every statement anew."""
    width, name = rows.num_columns, connection.ops.quote_name
    cells: list[Any] = [None] * (width * len(rows))
    for place, column in enumerate(rows.columns):
        cells[place::width] = column.to_pylist()
    head = f"INSERT INTO {name(table)} ({', '.join(map(name, [*rows.column_names, *shared]))}) VALUES "  # noqa: S608
    row = ", ".join(["%s"] * width + [_literal(as_stored(value)) for value in shared.values()])
    step = connection.features.max_query_params // width * width
    pieces = (cells[start : start + step] for start in range(0, len(cells), step))
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA mmap_size=0")  # mapped pages help readers; here they would fill the memory
        for size, alike in groupby(pieces, key=len):
            cursor.executemany(head + ", ".join([f"({row})"] * (size // width)), list(alike))


def _literal(value: Any) -> str:
    """Written into the statement, as binding the same value to a million rows would take seconds."""
    if value is None:
        return "NULL"
    if isinstance(value, bool | int):
        return str(int(value))
    return "'" + str(value).replace("'", "''").replace("%", "%%") + "'"
