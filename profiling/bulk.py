"""Many rows into one table at once: COPY on PostgreSQL, one prepared statement on SQLite."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.csv
from django.db import connection, models, transaction


def rows_write(kind: type[models.Model], rows: pa.Table, shared: Mapping[str, Any]) -> None:
    """In one transaction. rows: a column each of what differs; shared: what all rows have in common.

    Columns go by their names in the database; null is unknown. Signals, defaults and `save` are passed over.
    """
    with transaction.atomic():
        if connection.vendor == "postgresql":
            _copy(kind._meta.db_table, rows, shared)
        else:
            _insert(kind._meta.db_table, rows, shared)


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
    names = ", ".join(map(connection.ops.quote_name, [*rows.column_names, *shared]))
    places = ", ".join(["%s"] * rows.num_columns + [_literal(as_stored(value)) for value in shared.values()])
    cells = [column.to_pandas(integer_object_nulls=True).tolist() for column in rows.columns]
    with connection.cursor() as cursor:
        statement = f"INSERT INTO {connection.ops.quote_name(table)} ({names}) VALUES ({places})"  # noqa: S608
        cursor.executemany(statement, list(zip(*cells, strict=True)))  # NaN is NULL to SQLite


def _literal(value: Any) -> str:
    """Written into the statement, as binding the same value to a million rows would take seconds."""
    if value is None:
        return "NULL"
    if isinstance(value, bool | int):
        return str(int(value))
    return "'" + str(value).replace("'", "''").replace("%", "%%") + "'"
