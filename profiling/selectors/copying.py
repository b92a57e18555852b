"""What one sees, as a line to paste into a shell or a notebook."""

import shlex
from typing import Any
from urllib.parse import urlencode

from profiling.filter_fields import Filters

EXPORT = "/api/v1/runs/export/"


def export_choices(server: str, filters: Filters) -> dict[str, Any]:
    """For a page: the links of each format, the zip with provenance among them, and the lines to copy."""
    kinds = {name: {"format": name} for name in ("csv", "parquet", "json")}
    kinds["csv with provenance"] = {"format": "csv", "package": "true"}
    files = {title: f"{EXPORT}?{urlencode({**filters, **kind}, doseq=True)}" for title, kind in kinds.items()}
    return {
        "query": urlencode(filters, doseq=True),
        "files": list(files.items()),
        "curl": as_curl(server, filters),
        "python": as_python(server.rstrip("/"), filters),
    }


def as_curl(server: str, filters: Filters, format: str = "csv") -> str:
    """`server` as the browser knows it, such as https://lab.example."""
    address = f"{server.rstrip('/')}{EXPORT}?{urlencode({**filters, 'format': format}, doseq=True)}"
    header = '"Authorization: Bearer $JETSONLAB_TOKEN"'
    return f"curl --fail --location --header {header} --output runs.{format} {shlex.quote(address)}"


def as_python(server: str, filters: Filters) -> str:
    words = ", ".join(f"{name}={value!r}" for name, value in filters.items())
    return (
        "from profiling.client import Lab\n\n"
        f"lab = Lab({server!r})  # the token is JETSONLAB_TOKEN, or that of `jetsonlab login`\n"
        f"runs = lab.runs({words})\n"
    )
