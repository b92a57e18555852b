"""Numbers, dates and texts as people in other places, and other programs, write them."""

import pytest

from profiling.formats import FormatError, MappingNeeded, detect, propose, read
from profiling.formats.checks import why_no_number

HEADER = "cores;cpu_khz;gpu_khz;mem_khz;time_ms;power_w"
ROW = "2;268800;306000;204000;100;10"
OTHER = "4;268800;306000;204000;90;12"


def table(*lines, header=HEADER):
    return "\n".join([header, *lines, ""])


def problems(parsed):
    return [(problem.line, problem.value, problem.reason) for problem in parsed.problems]


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("268,800", "has a comma that may be decimal or part thousands; write 268800 or 268.800"),
        ("1,300,500", "has its thousands parted; write 1300500"),
        ("1,624.5", "has its thousands parted; write 1624.5"),
        ("1'624.5", "has its thousands parted; write 1624.5"),
        ("1\u202f624,5", "has its thousands parted; write 1624.5"),
        ("0,36", "has a decimal comma; write 0.36"),
        ("24-Dec-2024", "is a date, not a number"),
        ("Dec 24, 2024", "is a date, not a number"),
        ("01. Feb", "is a date, not a number"),
        ("\uff15", "is not a number"),
    ],
)
def test_a_cell_that_is_no_number_says_what_it_may_be(cell, reason):
    assert why_no_number(cell) == reason


def test_points_that_part_thousands_before_a_comma_are_read(write, ranges):
    lines = ROW.replace(";100;", ";1.234,5;"), OTHER.replace(";90;", ";900,25;")
    path = write("a.csv", table(*lines))
    proposal = propose(path, legal=ranges)
    assert proposal.decimal == ","
    assert read(path, legal=ranges, mapping=proposal.mapping).rows.time_ms.tolist() == [1234.5, 900.25]


def test_decimal_commas_are_asked_about_whatever_points_other_columns_have(write, ranges):
    lines = (f"{line},5;24.12.2024;v1.2" for line in (ROW, OTHER))
    proposal = propose(write("a.csv", table(*lines, header=HEADER + ";date;version")), legal=ranges)
    assert "Are the commas in the numbers decimal commas?" in proposal.questions[-1]


def test_a_separator_told_as_excel_likes_it_is_taken(write, ranges):
    parsed = read(write("a.csv", "sep=;\n" + table(ROW, OTHER)), legal=ranges)
    assert parsed.rows.line.tolist() == [3, 4]


def test_columns_parted_by_blanks_are_refused_with_what_to_do(write):
    with pytest.raises(FormatError, match="parted by blanks; part them by commas"):
        read(write("a.txt", table(ROW, OTHER).replace(";", "  ")))


def test_a_title_of_several_cells_above_the_header_is_recognised(write):
    with pytest.raises(FormatError, match="Is a title above the header"):
        read(write("a.csv", "Run on Tuesday;;\n" + table(ROW, OTHER)))


def test_a_web_page_saved_instead_of_the_table_is_told_so(write):
    with pytest.raises(FormatError, match="a web page or XML; was it saved instead"):
        detect(write("a.csv", "\n<!DOCTYPE html>\n<html><title>Sign in</title>\n"))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_its_mark_is_told_so(write, encoding):
    with pytest.raises(FormatError, match="UTF-16 without its byte order mark"):
        detect(write("a.csv", table(ROW).encode(encoding)))


def test_a_tail_of_nul_bytes_costs_only_itself(write, ranges):
    parsed = read(write("a.csv", table(ROW, OTHER).encode() + bytes(100_000)), legal=ranges)
    assert [(line, reason) for line, _, reason in problems(parsed)] == [(4, "holds NUL bytes")]
    assert len(parsed) == 2


def test_a_single_line_in_another_unit_is_a_bad_line(write, ranges):
    cores = [ROW.replace("2;", f"{count};", 1) for count in (2, 4)]
    lines = [line.replace("306000", str(gpu)) for line in cores for gpu in (306000, 624750, 1300500)]
    lines[1], lines[2] = lines[1].replace(";100;", ";0.118;"), lines[2].removesuffix("10") + "10500"
    parsed = read(write("a.csv", table(*lines)), legal=ranges)
    assert [(line, value) for line, value, _ in problems(parsed)] == [(3, "0.118 ms"), (4, "10,500,000 mW")]
    assert "typically 100 ms: in another unit?" in problems(parsed)[0][2]
    assert parsed.rows.line.tolist() == [2, 5, 6, 7]


def test_times_that_span_much_are_all_taken(write, ranges):
    lines = ROW, OTHER.replace(";90;", ";9000;"), ROW.replace("306000", "624750").replace(";100;", ";1.5;")
    assert read(write("a.csv", table(*lines)), legal=ranges).problem_count == 0


def test_a_time_column_of_dates_is_asked_about(write, ranges):
    lines = (line.replace(";100;", ";24.12.2024 10:00;") for line in (ROW, ROW))
    with pytest.raises(MappingNeeded, match="'time' could. Left open, it is unknown"):
        read(write("a.csv", table(*lines, header=HEADER.replace("time_ms", "time"))), legal=ranges)


def test_excels_word_for_not_available_is_unknown(write, ranges):
    parsed = read(write("a.csv", table(ROW.replace(";100;", ";#N/A;"), OTHER)), legal=ranges)
    assert parsed.rows.time_ms.isna().tolist() == [True, False]
