"""One measured quantity over two knobs, the others held by filters, or minimised."""

from typing import Any

from django.db.models import Avg, Count, Max, Min, QuerySet

from profiling.errors import InvalidInput
from profiling.knobs import KNOB_NAMES
from profiling.models import Run

AXES = (*KNOB_NAMES, "minibatch")
VALUES = ("time_ms", "power_mw", "energy_mj")
USUAL_HEAT = {"x": "gpu_khz", "y": "cpu_khz", "value": "time_ms", "of": "min"}
OF = {"min": Min, "mean": Avg, "max": Max}


def heat_map(runs: QuerySet[Run], *, x: str, y: str, value: str, of: str = "min") -> dict[str, Any]:
    """x, y: the knobs' values, ascending. z[row of y][column of x], None where nothing was measured.

    of: what stands for all runs of a cell, whose other knobs differ: min, mean or max.
    """
    for name, asked, known in (("x", x, AXES), ("y", y, AXES), ("value", value, VALUES), ("of", of, OF)):
        if asked not in known:
            raise InvalidInput(f"{name} is one of {', '.join(known)}, not {asked!r}.")
    if x == y:
        raise InvalidInput(f"x and y are both {x}; take two different knobs.")
    known_runs = runs.filter(**{f"{name}__isnull": False for name in (x, y, value)})
    plain = known_runs.select_related(None).defer(None).order_by()
    cells = list(plain.values_list(x, y).annotate(OF[of](value), count=Count("*")))
    xs, ys = sorted({cell[0] for cell in cells}), sorted({cell[1] for cell in cells})
    places = {(cell[0], cell[1]): cell[2:] for cell in cells}
    return {
        "x": xs,
        "y": ys,
        "z": [[places.get((across, up), (None, 0))[0] for across in xs] for up in ys],
        "runs": [[places.get((across, up), (None, 0))[1] for across in xs] for up in ys],
        "names": {"x": x, "y": y, "value": value, "of": of},
    }
