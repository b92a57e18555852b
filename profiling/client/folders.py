"""A folder of runs as one file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo


@contextmanager
def as_file(path: Path) -> Iterator[Path]:
    """The file itself; of a folder a zip of it, the same bytes each time, so that the lab knows it again."""
    if not path.is_dir():
        yield path
        return
    folder = path.resolve()
    with TemporaryDirectory() as room:
        packed = Path(room) / f"{folder.name}.zip"
        with ZipFile(packed, "w") as archive:
            for file in sorted(folder.rglob("*")):
                if file.is_file() and not file.is_symlink():
                    member = ZipInfo(
                        file.relative_to(folder.parent).as_posix()
                    )  # dated 1980, whenever packed
                    archive.writestr(member, file.read_bytes(), ZIP_DEFLATED)
        yield packed
