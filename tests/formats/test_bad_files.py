"""The list of bad input, each with its clear answer."""

import gzip
import json
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet
import pytest

from profiling.formats import FileTooLarge, FormatError, Limits, detect, propose, read

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


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_utf16_is_read_as_spreadsheets_write_it(write, ranges, encoding, pack):
    text = (
        ("\ufeff" if encoding == "utf-16-be" else "")
        + "note,"
        + HEADER.decode()
        + "gr\u00fc\u00df,"
        + ROW.decode()
    )
    parsed = read(write("a.csv", pack(text.encode(encoding))), legal=ranges)
    assert (parsed.rows.line.tolist(), parsed.extras.note.tolist()) == ([2], ["gr\u00fc\u00df"])


def test_utf16_cut_amid_a_character_is_refused(write):
    with pytest.raises(FormatError, match="broken UTF-16"):
        read(write("a.csv", (HEADER + ROW).decode().encode("utf-16")[:-1]))


def test_utf32_says_what_to_do(write):
    with pytest.raises(FormatError, match="UTF-32; save it as UTF-8"):
        read(write("a.csv", (HEADER + ROW).decode().encode("utf-32")))


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


def test_a_json_number_of_thousands_of_digits_costs_only_its_row(write, ranges):
    good = {"cores": 2, "cpu_khz": 268800, "gpu_khz": 306000, "mem_khz": 204000, "time_ms": 5, "power_w": 5}
    text = json.dumps([good, good | {"time_ms": 0}]).replace(": 0,", f": {'9' * 6000},")
    assert problems(read(write("a.json", text), legal=ranges)) == [(2, "is too large")]


def test_a_minibatch_no_database_keeps_is_a_bad_line(write, ranges):
    path = write("a.csv", b"bs," + HEADER + b"2147483648," + ROW + b"16," + OTHER)
    assert problems(read(path, legal=ranges)) == [(2, "is too large")]


@pytest.mark.parametrize(("cell", "reason"), [(b"1e308", "is too large"), (b"1e-300", "is too small")])
def test_a_time_whose_energy_no_number_holds_is_a_bad_line(write, ranges, cell, reason):
    others = b"".join(OTHER.replace(b"4,", b"%d," % cores, 1) for cores in (4, 6, 8, 10))
    content = HEADER + ROW.replace(b"100", cell) + others
    assert (2, reason) in problems(read(write("a.csv", content), legal=ranges))


def test_a_header_without_lines_says_so(write):
    with pytest.raises(FormatError, match="a header and no line below it"):
        read(write("a.csv", HEADER))


def test_a_title_above_the_header_is_recognised(write):
    with pytest.raises(FormatError, match="line 2, which has 6 fields instead of 1. Is a title above"):
        read(write("a.csv", b"Measured on Tuesday\n" + HEADER + ROW))


def test_points_amid_decimal_commas_are_not_guessed_about(write, ranges):
    text = b"cores;cpu_khz;gpu_khz;mem_khz;time_ms;power_w\n"
    text += b"2;268800;306000;204000;100,5;10,5\n4;268800;306000;204000;1.234;12,5\n"
    path = write("a.csv", text)
    mapping = propose(path, legal=ranges).mapping
    parsed = read(path, legal=ranges, mapping=replace(mapping, decimal=","))
    assert problems(parsed) == [(3, "has a decimal point amid decimal commas")]
    assert parsed.rows.time_ms.tolist() == [100.5]


def test_a_duration_does_not_take_the_unit_of_its_header(tmp_path, ranges):
    path = tmp_path / "a.parquet"
    durations = pa.array([100_000, 90_000], pa.duration("us"))
    knobs = {"cores": [2, 4], "cpu_khz": [268800] * 2, "gpu_khz": [306000] * 2, "mem_khz": [204000] * 2}
    pa.parquet.write_table(pa.table({**knobs, "time_ms": durations, "power_w": [10, 12]}), path)
    parsed = read(path, legal=ranges)
    assert problems(parsed)[0] == (
        1,
        "has its unit in the cell; write 100000 and name the unit in the header",
    )


@pytest.mark.parametrize(
    ("begins", "words"),
    [(b"BZh91AY", "bzip2"), (b"\xd0\xcf\x11\xe0", "old Excel"), (b"PK\x03\x04", "broken zip")],
)
def test_a_foreign_format_is_told_what_to_send_instead(write, begins, words):
    with pytest.raises(FormatError, match=words):
        detect(write("a.bin", begins + bytes(range(256)) * 10))


def test_an_unknown_format(write):
    with pytest.raises(FormatError, match="in no format we know"):
        detect(write("a.bin", bytes(range(256)) * 10))


def test_rows_that_a_spreadsheet_leaves_empty_are_passed_over(write, ranges):
    parsed = read(write("a.csv", HEADER + ROW + b",,,,,\n" * 3 + OTHER), legal=ranges)
    assert (parsed.rows.line.tolist(), parsed.problem_count) == ([2, 6], 0)
