"""No uploaded workload touches the disk before it is known to be harmless to unpack."""

import os
import stat
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiling.errors import InvalidInput, LabError, TooLarge
from profiling.workloads.package import PackageLimits, inspect, unpack

GOOD = {"workload.py": "def build(): ...\ndef batches(minibatch): ..."}
SMALL = PackageLimits(bytes=5 << 20, unpacked_bytes=20 << 20, files=50)


def zipped(folder: Path, files: dict, name: str = "mine.zip", mode: int | None = None) -> Path:
    path = folder / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for filename, content in files.items():
            entry = zipfile.ZipInfo(filename)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (mode or stat.S_IFREG | 0o644) << 16
            archive.writestr(entry, content)
    return path


def faults(path: Path, limits: PackageLimits = SMALL) -> str:
    with pytest.raises(InvalidInput) as caught:
        inspect(path, limits=limits)
    return "\n".join(caught.value.extra["errors"])


def test_a_good_package_is_laid_out_for_others_to_read(tmp_path):
    package = inspect(zipped(tmp_path, {**GOOD, "net/layers.py": "x = 1"}))
    target = unpack(package, tmp_path / "out")
    assert (package.kind, package.files) == ("python", 2)
    assert (target / "net/layers.py").read_text() == "x = 1"
    assert (target / "workload.py").stat().st_mode & 0o777 == 0o644
    assert (target / "net").stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize(
    "name", ["../evil.py", "/etc/evil", "a/../../evil", "C:evil", "C:\\evil", "..\\evil", "a/..\\..\\b"]
)
def test_a_name_that_leaves_the_folder_is_refused(tmp_path, name):
    assert "outside its folder" in faults(zipped(tmp_path, {**GOOD, name: "x"}))


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_links_and_special_files_are_refused(tmp_path, kind):
    assert "link or a special file" in faults(zipped(tmp_path, GOOD, mode=kind | 0o777))


def test_a_bomb_is_refused_by_its_ratio(tmp_path):
    assert "100 times" in faults(zipped(tmp_path, {**GOOD, "bomb": b"\0" * (10 << 20)}))


def test_too_much_unpacked_is_refused(tmp_path):
    path = zipped(tmp_path, {**GOOD, "big": os.urandom(3 << 20)})
    assert "2,097,152 are allowed" in faults(path, PackageLimits(unpacked_bytes=2 << 20))


def test_too_many_files_are_refused(tmp_path):
    assert "61 files" in faults(zipped(tmp_path, {**GOOD, **{f"{n}.py": "" for n in range(60)}}))


def test_too_large_an_upload_is_refused(tmp_path):
    with pytest.raises(TooLarge, match="mine.zip has"):
        inspect(zipped(tmp_path, {**GOOD, "big": os.urandom(6 << 20)}), limits=SMALL)


def test_every_fault_is_named_at_once(tmp_path):
    found = faults(zipped(tmp_path, {"../a": "x", "b/../../c": "x"}))
    assert found.count("outside") == 2
    assert "no workload.py" in found


def test_a_zipped_folder_is_told_what_to_zip_instead(tmp_path):
    assert "zip what is inside mine/" in faults(zipped(tmp_path, {"mine/workload.py": "x"}))


def test_a_file_that_is_also_a_folder_is_refused(tmp_path):
    assert "lies inside a file" in faults(zipped(tmp_path, {**GOOD, "a": "x", "a/b": "x"}))


def test_the_same_name_twice_is_refused(tmp_path):
    assert "twice" in faults(zipped(tmp_path, {**GOOD, "a": "1", "./a": "2"}))


def test_an_encrypted_entry_is_refused(tmp_path):
    path = zipped(tmp_path, GOOD)
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    assert "encrypted" in faults(path)


def test_an_unusual_compression_is_refused(tmp_path):
    path = tmp_path / "mine.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("workload.py", "x")
    assert "unusual way" in faults(path)


def test_damaged_contents_leave_nothing_behind(tmp_path):
    path = zipped(tmp_path, {**GOOD, "data": os.urandom(5000)})
    data = bytearray(path.read_bytes())
    data[2000] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(InvalidInput, match="cannot be unpacked"):
        unpack(inspect(path), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["weights.pt", "model.pkl", "workload.py", "x"])
def test_other_kinds_of_files_are_refused_by_name(tmp_path, name):
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(InvalidInput, match=r"\.zip, \.pt2, \.onnx"):
        inspect(tmp_path / name)


def test_an_onnx_file_is_laid_out_under_a_plain_name(tmp_path):
    (tmp_path / "upload").write_bytes(b"onnx bytes")
    package = inspect(tmp_path / "upload", "My Net.ONNX")
    assert unpack(package, tmp_path / "out").name == "workload.onnx"


@given(st.binary(max_size=400))
def test_no_bytes_break_the_check(content):
    path = Path("/dev/shm") / f"package-{os.getpid()}.zip"
    path.write_bytes(content)
    try:
        with pytest.raises(LabError):
            inspect(path)
    finally:
        path.unlink()


NAMES = st.text(st.sampled_from("ab./\\:\0C~ é"), min_size=1, max_size=12)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@given(names=st.lists(NAMES, min_size=1, max_size=4, unique=True))
def test_whatever_is_unpacked_stays_inside(names, tmp_path_factory):
    folder = tmp_path_factory.mktemp("package")
    path = zipped(folder, {**GOOD, **dict.fromkeys(names, "x")})
    try:
        unpack(inspect(path), folder / "out" / "inner")
    except InvalidInput:
        assert not (folder / "out" / "inner").exists()
    outside = [p for p in folder.rglob("*") if p.is_file() and folder / "out" / "inner" not in p.parents]
    assert outside == [path]


def test_the_check_writes_nothing(tmp_path):
    path = zipped(tmp_path, GOOD)
    inspect(path)
    assert list(tmp_path.iterdir()) == [path]
