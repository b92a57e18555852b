"""plotly.min.js straight from the installed plotly package, as static/plotly/plotly.min.js."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from django.contrib.staticfiles.finders import BaseFinder
from django.core.exceptions import ImproperlyConfigured
from django.core.files.storage import FileSystemStorage, Storage

PREFIX = "plotly"
NAME = "plotly.min.js"


def package_folder(name: str) -> Path:
    """Found without importing the package, which is heavy."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise ImproperlyConfigured(f"{name} is not installed: pip install -r requirements.txt")
    return Path(spec.origin).parent


class PlotlyFinder(BaseFinder):
    def __init__(self, *args: object, **kwargs: object) -> None:
        self.folder = package_folder("plotly") / "package_data"
        self.storage = FileSystemStorage(location=self.folder)
        self.storage.prefix = PREFIX  # type: ignore[attr-defined]

    def find(  # type: ignore[override]
        self, path: str, find_all: bool = False, **kwargs: object
    ) -> str | list[str] | None:
        if path != f"{PREFIX}/{NAME}":
            return [] if find_all else None
        found = str(self.folder / NAME)
        return [found] if find_all else found

    def list(self, ignore_patterns: object) -> Iterator[tuple[str, Storage]]:
        yield NAME, self.storage
