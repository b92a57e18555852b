"""The list of bad input, each with its clear answer."""

import gzip
import json

import pyarrow as pa
import pyarrow.parquet
import pytest

from profiling.formats import FileTooLarge, FormatError, Limits, detect, read

HEADER = b"cores,cpu_khz,gpu_khz,mem_khz,time_ms,power_w\n"
ROW = b"2,268800,306000,204000,100,10\n"
OTHER = b"4,268800,306000,204000,90,12\n"


def problems(parsed):
    return [(problem.line, problem.reason) for problem in parsed.problems]


def test_an_empty_file(write):
    with pytest.raises(FormatError, match="is empty"):
        read(write("a.csv", b""))


def test_a_file_of_blank_lines(write):
    with pytest.raises(FormatError, match="empty"):
        read(write("a.csv", b"\n\n  \n"))


def test_a_sparse_file_over_the_limit(tmp_path):
    path = tmp_path / "sparse.csv"
    with path.open("wb") as stream:
        stream.truncate(2 << 30)
    with pytest.raises(FormatError, match="bytes"):
        read(path, limits=Limits(file_bytes=1 << 30))
    with pytest.raises(FormatError, match="no format"):
        read(path)


def test_a_gzip_bomb(write):
    path = write("a.csv.gz", gzip.compress(HEADER + ROW * 2_000_000))
    with pytest.raises(FileTooLarge, match="times its size"):
        read(path, limits=Limits(expansion_from=1 << 20))


def test_a_broken_gzip(write):
    with pytest.raises(FormatError, match="broken gzip"):
        read(write("a.csv.gz", gzip.compress(HEADER + ROW * 100)[:-12]))


def test_a_parquet_that_claims_a_thousand_million_rows(tmp_path):
    path = tmp_path / "a.parquet"
    pa.parquet.write_table(pa.table({"cores": pa.array([2] * 300)}), path)
    metadata = path.read_bytes()
    claimed = metadata.replace(b"\x16\xd8\x04", b"\x16\x80\xa8\xd6\xb9\x07")  # zigzag varint 300 → 1e9
    assert claimed != metadata
    length = int.from_bytes(metadata[-8:-4], "little") + len(claimed) - len(metadata)
    path.write_bytes(claimed[:-8] + length.to_bytes(4, "little") + b"PAR1")
    with pytest.raises(FormatError):
        read(path)


def test_text_that_is_not_utf8_costs_only_its_line(write, ranges):
    path = write("a.csv", b"note," + HEADER + b"gr\xfc\xdf," + ROW + b"ok," + OTHER)
    parsed = read(path, legal=ranges)
    assert problems(parsed) == [(2, "is not UTF-8 text")]
    assert parsed.rows.line.tolist() == [3]


def test_utf16_says_what_to_do(write):
    with pytest.raises(FormatError, match="save it as UTF-8"):
        read(write("a.csv", (HEADER + ROW).decode().encode("utf-16")))


def test_nul_bytes_cost_only_their_line(write, ranges):
    parsed = read(write("a.csv", HEADER + b"2,26\x008800,306000,204000,100,10\n" + OTHER), legal=ranges)
    assert problems(parsed) == [(2, "holds NUL bytes")]
    assert parsed.rows.line.tolist() == [3]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_every_kind_of_line_end(write, ranges, end):
    parsed = read(write("a.csv", (HEADER + ROW + OTHER).replace(b"\n", end)), legal=ranges)
    assert parsed.rows.line.tolist() == [2, 3]


def test_mixed_line_ends_and_blank_lines_keep_the_numbers(write, ranges):
    parsed = read(write("a.csv", HEADER + b"\r\n" + ROW + b"\n\r\n" + OTHER.strip()), legal=ranges)
    assert parsed.rows.line.tolist() == [3, 6]


def test_a_byte_order_mark(write, ranges):
    assert len(read(write("a.csv", b"\xef\xbb\xbf" + HEADER + ROW), legal=ranges)) == 1


def test_comments_before_the_header(write, ranges):
    parsed = read(write("a.csv", b"# board: mine\n\n" + HEADER + ROW), legal=ranges)
    assert parsed.rows.line.tolist() == [4]


def test_an_odd_quote_in_a_comment_harms_nothing(write, ranges):
    parsed = read(write("a.csv", b'# a 5" disk\n' + HEADER + ROW + OTHER), legal=ranges)
    assert parsed.rows.line.tolist() == [3, 4]


def test_a_doubled_header_name(write):
    with pytest.raises(FormatError, match="'power_w'"):
        read(write("a.csv", b"power_w,power_w\n1,2\n"))


def test_a_header_repeated_amid_the_rows(write, ranges):
    parsed = read(write("a.csv", HEADER + ROW + HEADER + OTHER), legal=ranges)
    assert {problem.line for problem in parsed.problems} == {3}
    assert {problem.reason for problem in parsed.problems} == {"repeats the header"}


def test_ten_thousand_columns(write):
    with pytest.raises(FileTooLarge, match="10,000 columns"):
        read(write("a.csv", ",".join(f"c{i}" for i in range(10_000)) + "\n"))


def test_a_line_without_end(write):
    path = write("a.csv", HEADER + b"1" * 6_000_000)
    with pytest.raises(FileTooLarge, match="a line is longer"):
        read(path, limits=Limits(line_bytes=1000))


def test_too_many_rows(write):
    with pytest.raises(FileTooLarge, match="more than 10 rows"):
        read(write("a.csv", HEADER + ROW * 11), limits=Limits(rows=10))


def test_quoted_cells_may_span_lines(write, ranges):
    path = write("a.csv", b"note," + HEADER + b'"two\nlines, here",' + ROW + b'"x",' + OTHER)
    parsed = read(path, legal=ranges)
    assert parsed.rows.line.tolist() == [2, 4]
    assert parsed.extras.note.tolist() == ["two\nlines, here", "x"]


def test_a_quote_never_closed_costs_only_its_line(write, ranges):
    path = write("a.csv", b"note," + HEADER + b'"oops,' + ROW + b"x," + OTHER)
    parsed = read(path, legal=ranges)
    assert problems(parsed) == [(2, "opens a quote that it does not close")]
    assert parsed.rows.line.tolist() == [3]


def test_dates_in_local_formats(write, ranges):
    parsed = read(write("a.csv", HEADER + b"2,268800,306000,204000,24.12.2024,10\n" + OTHER), legal=ranges)
    assert problems(parsed) == [(2, "is a date, not a number")]


def test_nested_json(write, ranges):
    record = {"cores": 2, "cpu_khz": 268800, "gpu_khz": 306000, "mem_khz": 204000, "time_ms": [1, 2]}
    good = record | {"time_ms": 5, "power_w": 5}
    parsed = read(write("a.json", json.dumps([record, good, 7])), legal=ranges)
    assert problems(parsed) == [(1, "is nested, not a number"), (3, "is not an object with named values")]


def test_json_names_with_blanks_are_left_as_they_are(write, ranges):
    record = {"cores": 2, "cpu_khz": 268800, "gpu_khz": 306000, " mem_khz": 204000, "time_ms": 5, "": 1}
    parsed = read(write("a.json", json.dumps([record])), legal=ranges)
    assert parsed.rows.mem_khz.tolist() == [204000]
    assert parsed.extras[""].tolist() == ["1"]


def test_endlessly_nested_json(write):
    with pytest.raises(FormatError, match="not valid JSON"):
        read(write("a.json", "[" * 200_000))


def test_broken_json_lines_are_named(write, ranges):
    good = '{"cores": 2, "cpu_khz": 268800, "gpu_khz": 306000, "mem_khz": 204000, "time_ms": 5, "power_w": 5}'
    parsed = read(write("a.jsonl", f'{good}\n{{"cores": \n\n7\n'), legal=ranges)
    assert [problem.line for problem in parsed.problems] == [2, 4]
    assert len(parsed) == 1


def test_an_unknown_format(write):
    with pytest.raises(FormatError, match="in no format we know"):
        detect(write("a.bin", bytes(range(256)) * 10))
