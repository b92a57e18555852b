"""A zip of one table or log is that table or log; of several, it says what to do."""

import gzip
import io
import zipfile

import pytest

from profiling.formats import FileTooLarge, FormatError, Limits, detect, read
from tests.formats.test_table import GOOD, HEADER, WRITERS

TABLE = f"{HEADER}\n{GOOD}"
LOG = "RAM 2000/8000MB (lfb 1x4MB) CPU [1%@1190] GR3D_FREQ 5% cpu@40C VDD_IN 5000mW/5000mW\n"


@pytest.fixture
def zipped(tmp_path):
    """zipped({name: content}, method) → path."""

    def pack(files, method=zipfile.ZIP_DEFLATED):
        path = tmp_path / "upload.zip"
        with zipfile.ZipFile(path, "w", method) as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        return path

    return pack


@pytest.mark.parametrize("name", WRITERS)
def test_a_zip_of_one_table_is_that_table(tmp_path, zipped, ranges, name):
    WRITERS[name](tmp_path / "table")
    path = zipped({"runs/sweep.bin": (tmp_path / "table").read_bytes()})
    parsed = read(path, legal=ranges)
    assert detect(path).name == parsed.format == name
    assert (parsed.member, parsed.rows.gpu_khz.tolist()) == ("runs/sweep.bin", [306000, 1300500])
    assert parsed.notes[0].reason == "of the zip, runs/sweep.bin is read"


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_however_it_is_packed(zipped, ranges, method):
    assert len(read(zipped({"a.csv": TABLE}, method), legal=ranges)) == 2


def test_a_zip_of_one_log_is_that_log(zipped):
    log = read(zipped({"tegrastats.txt": LOG * 3}), interval_s=1)
    assert (log.format, log.member, len(log)) == ("tegrastats", "tegrastats.txt", 3)


def test_what_lies_beside_the_only_table_is_named(zipped, ranges):
    files = {"a.csv": TABLE, "notes.md": "# Hot day\n", "__MACOSX/._a.csv": "fork", "empty/": ""}
    parsed = read(zipped(files), legal=ranges)
    assert (parsed.member, len(parsed)) == ("a.csv", 2)
    assert parsed.notes[1].reason == "not read, as no table (1): notes.md"


def test_a_name_without_end_is_cut(zipped, ranges):
    parsed = read(zipped({"a" * 60_000 + ".csv": TABLE}), legal=ranges)
    assert (len(parsed), len(parsed.member)) == (2, 81)


def test_several_tables_are_refused_with_what_to_do(zipped):
    with pytest.raises(
        FormatError, match=r"holds 2 tables or logs: a\.csv, b\.csv\..*send each file by itself"
    ):
        read(zipped({"a.csv": TABLE, "b.csv": TABLE}))


def test_several_files_that_are_no_table_are_refused(zipped):
    with pytest.raises(FormatError, match="none called like a table: a.md, b.py"):
        read(zipped({"a.md": "x", "b.py": "y"}))


def test_a_zip_of_nothing_says_so(zipped):
    with pytest.raises(FormatError, match="holds no file"):
        read(zipped({}))
    with pytest.raises(FormatError, match="holds no file"):
        read(zipped({"folder/": ""}))


def test_a_zip_bomb_of_a_table_is_refused(zipped):
    path = zipped({"a.csv": TABLE + GOOD * 100_000})
    with pytest.raises(FileTooLarge, match="times its size"):
        read(path, limits=Limits(expansion_from=1 << 20))


def test_a_size_the_directory_lies_about_is_found_out(zipped):
    path = zipped({"a.csv": TABLE * 100})
    true, lie = len(TABLE * 100).to_bytes(4, "little"), len(TABLE).to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(true, lie))
    with pytest.raises(FormatError, match="broken zip file"):
        read(path)


def test_a_damaged_zip_is_refused(zipped):
    path = zipped({"a.csv": TABLE}, zipfile.ZIP_STORED)
    path.write_bytes(path.read_bytes().replace(b"268800", b"268801", 1))
    with pytest.raises(FormatError, match="broken zip file: Bad CRC-32"):
        read(path)


def test_a_locked_zip_is_refused(zipped):
    path = zipped({"a.csv": TABLE})
    content = bytearray(path.read_bytes())
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + at] |= 1
    path.write_bytes(content)
    with pytest.raises(FormatError, match="locked with a password"):
        read(path)


def test_a_method_that_may_ask_for_any_memory_is_refused(zipped):
    with pytest.raises(FormatError, match="packed by no method that we read"):
        read(zipped({"a.csv": TABLE}, zipfile.ZIP_LZMA))


def test_a_packed_file_in_a_zip_is_told_so(zipped):
    with pytest.raises(FormatError, match="packed twice"):
        read(zipped({"a.csv.gz": gzip.compress(TABLE.encode())}))


def test_a_zip_in_a_zip_is_told_so(zipped):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("a.csv", TABLE)
    with pytest.raises(FormatError, match="packed twice"):
        read(zipped({"inner.zip": inner.getvalue()}))


def test_a_long_packed_table_is_read_piece_by_piece(write, ranges):
    lines = "".join(f"{GOOD.splitlines()[0]},{place}\n" for place in range(3000))
    path = write("a.csv.gz", gzip.compress(f"{HEADER},repeat\n{lines}".encode()))
    assert len(read(path, legal=ranges, limits=Limits(in_memory_bytes=1 << 16))) == 3000
