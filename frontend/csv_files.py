import csv
from collections.abc import Iterable, Sequence
from typing import Any

from django.http import HttpResponse

from profiling.writers import no_formula


def csv_answer(name: str, rows: Iterable[Sequence[Any]]) -> HttpResponse:
    """A download of a plot's numbers; text that a spreadsheet would compute gets a quote."""
    file = HttpResponse(content_type="text/csv; charset=utf-8")
    file["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    plain = ([no_formula(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    csv.writer(file).writerows(plain)
    return file
