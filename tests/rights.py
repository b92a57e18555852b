"""The tables of rights in docs/operations.md, and every address the site answers, from the URL resolver."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from django.urls import URLPattern, URLResolver, get_resolver

DOC = Path(__file__).parent.parent / "docs" / "operations.md"
METHODS = ("get", "post", "put", "patch", "delete")
ACTORS = ("stranger", "viewer", "engineer", "administrator", "device token")


class Right(NamedTuple):
    level: str
    scope: str
    own: bool


class Door(NamedTuple):
    """One method at one address."""

    method: str
    address: str


def table_below(heading: str) -> list[list[str]]:
    """The cells of the first table after the heading, without its head."""
    text = DOC.read_text().partition(f"\n{heading}\n")[2]
    lines = re.search(r"(?:^\|.*\n)+", text, re.M)
    assert lines, f"docs/operations.md has no table below {heading!r}"
    rows = [line.strip().strip("|").split("|") for line in lines.group().splitlines()[2:]]
    return [[cell.strip().strip("`") for cell in row] for row in rows]


@cache
def levels() -> dict[str, dict[str, str]]:
    """Level -> actor -> "yes", "no" or "if open"."""
    return {row[0]: dict(zip(ACTORS, row[1:], strict=True)) for row in table_below("### Levels")}


@cache
def rights() -> dict[Door, Right]:
    found = {}
    for methods, address, level, scope, own in table_below("### Addresses"):
        for method in methods.split():
            found[Door(method, address)] = Right(level, scope, own == "own")
    return found


@cache
def doors() -> dict[Door, Any]:
    """Every door there is. Of the administration's addresses the methods are one row's."""
    found: dict[Door, Any] = {}
    for address, view in addresses():
        for method in methods_of(view):
            found[Door(method, address)] = view
    return found


def addresses(resolver: Any = None, start: str = "/") -> Iterator[tuple[str, Any]]:
    for each in (resolver or get_resolver()).url_patterns:
        here = start + plain(str(each.pattern))
        if isinstance(each, URLResolver):
            yield from addresses(each, here)
        elif isinstance(each, URLPattern):
            yield here, each.callback


def plain(pattern: str) -> str:
    """'^runs/(?P<pk>[^/.]+)/$' and 'runs/<int:pk>/' -> 'runs/<pk>/'."""
    pattern = re.sub(r"\(\?P<(\w+)>(?:[^()]|\([^()]*\))*\)", r"<\1>", pattern)
    return re.sub(r"<\w+:(\w+)>", r"<\1>", pattern).removeprefix("^").removesuffix("$").replace("\\", "")


def methods_of(view: Any) -> list[str]:
    """What REST framework offers; of a page GET and POST, one of which it may refuse with 405."""
    view_class = getattr(view, "cls", None)
    if view_class is None:
        return ["GET", "POST"]
    offered = getattr(view, "actions", None) or {name: name for name in METHODS if hasattr(view_class, name)}
    return [name.upper() for name in METHODS if name in offered and name in view_class.http_method_names]
