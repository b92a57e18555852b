"""The figures that five papers published, for comparison; each with its table or figure."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("published_figures.json")


@dataclass(frozen=True)
class Paper:
    key: str
    short: str
    title: str
    authors: str
    venue: str


@dataclass(frozen=True)
class PublishedFigure:
    """One number as a paper states it; `where` is the table, figure or section."""

    paper: Paper
    where: str
    topic: str
    device_model: str
    workload: str
    quantity: str
    value: float
    unit: str
    conditions: str


@cache
def published_figures() -> tuple[PublishedFigure, ...]:
    stored = json.loads(FILE.read_text())
    papers = {entry["key"]: Paper(**entry) for entry in stored["papers"]}
    return tuple(PublishedFigure(**entry | {"paper": papers[entry["paper"]]}) for entry in stored["figures"])
