"""PowerTrain's run folders, or a zip of hundreds: pm_<cores>_<cpu kHz>_<gpu Hz>_<emc Hz>.

Inside, one set of files a run, told apart by their prefix (mn_nw4_pf2_epoch_stats.csv …). `log_time` is the
clock they share: seconds since the harness began.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath
from zipfile import ZipFile

from profiling.formats.dreamlab_run import DreamlabRun, read_run
from profiling.formats.dreamlab_table import Runs, runs_of
from profiling.formats.format import Format, Options
from profiling.formats.problems import FileTooLarge, FormatError, Problem, ProblemList
from profiling.formats.source import ZIP, ZIP_ERRORS, Source, open_zip

FOLDER = re.compile(r"pm_(\d{1,3})_(\d{1,9})_(\d{1,12})_(\d{1,12})")
FILE = re.compile(
    r"(?P<prefix>.+)_(?P<what>epoch_stats|compute|fetch|tegrastats|(?:cpufreq|gpufreq|emc|io|mem|swap|vmtouch)_stats)\.csv"
)
NAMED = 5  # of the files that are not read
Files = dict[str, Callable[[], Source]]  # what → how to get at it
Named = tuple[tuple[str, str], Files]
Found = dict[tuple[str, str], Files]  # (folder, prefix) → files


def recognises(source: Source) -> bool:
    if source.content is not None:
        return False
    if source.path.is_dir():
        return bool(_in_folder(source))
    if source.magic != ZIP:
        return False
    try:
        with open_zip(source) as archive:
            return any(_place(member.filename) for member in archive.infolist())
    except (FormatError, *ZIP_ERRORS):
        return False


def read(source: Source, options: Options) -> Runs:
    """Runs; FormatError for a broken or overlarge zip. A damaged run is a problem, and the others come in."""
    problems, others = ProblemList(source.limits.problems), list[str]()
    runs: list[DreamlabRun] = []
    for done, ((folder, prefix), files) in enumerate(_found(source, problems, others), 1):
        try:
            sources = {what: get() for what, get in files.items()}
        except FormatError as error:
            problems.add(0, "", "", error.message, f"{folder}/{prefix}")
            continue
        runs.append(read_run(folder, prefix, mode_of(folder), sources))
        if options.progress:
            options.progress(done)
    found = runs_of(runs, problems, options, source.limits)
    return replace(found, parsed=replace(found.parsed, notes=[*_unread(others), *found.parsed.notes]))


def _unread(others: list[str]) -> list[Problem]:
    if not others:
        return []
    more = " …" if len(others) > NAMED else ""
    reason = f"not read, as part of no run ({len(others)}): {', '.join(others[:NAMED])}{more}"
    return [Problem(0, "", "", reason)]


def mode_of(folder: str) -> tuple[int, int, int, int]:
    """cores, CPU kHz, GPU Hz, memory Hz, as the folder's name has them."""
    found = FOLDER.search(folder)
    if found is None:
        raise FormatError(f"{folder!r} is not named pm_<cores>_<cpu kHz>_<gpu Hz>_<emc Hz>")
    cores, cpu, gpu, mem = map(int, found.groups())
    return cores, cpu, gpu, mem


def _found(
    source: Source, problems: ProblemList, others: list[str]
) -> Iterator[tuple[tuple[str, str], Files]]:
    if source.path.is_dir():
        yield from sorted(_in_folder(source).items())
        return
    with open_zip(source) as archive:
        found: Found = defaultdict(dict)
        for member in archive.infolist():
            if ".." in PurePosixPath(member.filename).parts or member.filename.startswith(("/", "\\")):
                problems.add(0, "", "", "points outside the zip; passed over", member.filename)
            elif place := _place(member.filename):
                folder, prefix, what = place
                found[folder, prefix][what] = partial(_member, source, archive, member.filename)
            elif not member.is_dir() and not is_macs_own(member.filename):
                others.append(member.filename)
        yield from sorted(found.items())


def _member(source: Source, archive: ZipFile, name: str) -> Source:
    try:
        with archive.open(name) as stream:
            content = stream.read(source.limits.in_memory_bytes + 1)
    except ZIP_ERRORS as error:
        raise FormatError(f"{name} in {source.filename} is damaged: {error}") from error
    if len(content) > source.limits.in_memory_bytes:
        raise FileTooLarge(f"{name} in {source.filename} is over {source.limits.in_memory_bytes:,} bytes")
    return Source(source.path, name, source.limits, content)


def _in_folder(source: Source) -> Found:
    found: Found = defaultdict(dict)
    for count, path in enumerate(sorted(source.path.rglob("*.csv"))):
        if count >= source.limits.files:
            raise FileTooLarge(f"{source.filename} holds more than {source.limits.files:,} files")
        name = str(path.relative_to(source.path.parent))
        if not path.is_symlink() and (place := _place(name)):
            folder, prefix, what = place
            found[folder, prefix][what] = partial(Source, path, name, source.limits)
    return found


def _place(name: str) -> tuple[str, str, str] | None:
    """Folder, prefix and kind of a file of a run; None for any other file."""
    path = PurePosixPath(name)
    found = FILE.fullmatch(path.name)
    if found is None or not FOLDER.fullmatch(path.parent.name) or is_macs_own(name):
        return None
    return str(path.parent), found["prefix"], found["what"]


def is_macs_own(name: str) -> bool:
    """What Finder packs beside each file: no file of anybody's."""
    path = PurePosixPath(name)
    return "__MACOSX" in path.parts or path.name.startswith("._") or path.name == ".DS_Store"


FORMAT = Format("dreamlab", "PowerTrain run folder, or a zip of them", "runs", recognises, read)
