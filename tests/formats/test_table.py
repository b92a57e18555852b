import gzip
import io
import json
from dataclasses import replace

import openpyxl
import pandas as pd
import pytest
import zstandard

from profiling.errors import InvalidInput
from profiling.formats import Column, FormatError, Limits, Mapping, MappingNeeded, detect, propose, read

HEADER = "cores,cpu_khz,gpu_mhz,mem_hz,time_ms,power_w"
GOOD = "2,268800,306,204000000,100,10\n4,2201600,1300.5,3199000000,50,20\n"


def table(*lines: str) -> str:
    return "\n".join([HEADER, *lines, ""])


def reasons(parsed):
    return [(problem.line, problem.reason) for problem in parsed.problems]


def test_units_become_khz_ms_and_mw(write, ranges):
    rows = read(write("a.csv", f"{HEADER}\n{GOOD}"), legal=ranges).rows
    assert rows.gpu_khz.tolist() == [306000, 1300500]
    assert rows.mem_khz.tolist() == [204000, 3199000]
    assert rows.time_ms.tolist() == [100, 50]
    assert rows.power_mw.tolist() == [10_000, 20_000]
    assert rows.line.tolist() == [2, 3]


def test_every_bad_line_is_named_at_once(write, ranges):
    parsed = read(
        write(
            "a.csv",
            table(
                "2,268800,306,204000000,100,10",
                "3,268800,306,204000000,100,10",
                "2,300000,306,204000000,100,10",
                "2,268800,306,204000000,NaN,10",
                "2,268800,306,204000000,-1,10",
                "2,268800,306,204000000,0,10",
                "2,268800,306,204000000,100,inf",
                "2,268800,306,204000000,100",
                "2,268800,306,204000000,100,10.5",
                "2,268800,306,204000000,100 ms,10",
                "4,268800,306,204000000,90,10",
            ),
        ),
        legal=ranges,
    )
    assert reasons(parsed) == [
        (3, "is none of the steps this board has for its CPU cores; the nearest is 2"),
        (4, "is none of the steps this board has for its CPU clock; the nearest is 268800 kHz"),
        (5, "is not a number (NaN)"),
        (6, "is negative"),
        (7, "is zero"),
        (8, "is infinite"),
        (9, "has 5 fields instead of 6"),
        (10, "is the same mode as line 2, with power_mw 10500 instead of 10000"),
        (11, "has its unit in the cell; write 100 and name the unit in the header"),
    ]
    assert parsed.rows.line.tolist() == [2, 12]
    assert parsed.row_count == 11


def test_an_exact_copy_of_a_line_is_a_note_and_no_problem(write, ranges):
    parsed = read(write("a.csv", table(*["2,268800,306,204000000,100,10"] * 2)), legal=ranges)
    assert parsed.problems == []
    assert len(parsed) == 2
    assert [note.line for note in parsed.notes] == [3]


def test_repeats_can_be_kept(write, ranges):
    text = table("2,268800,306,204000000,100,10", "2,268800,306,204000000,101,10")
    parsed = read(write("a.csv", text), legal=ranges, repeats="keep")
    assert (len(parsed), parsed.problem_count, len(parsed.notes)) == (2, 0, 1)


def test_a_column_that_tells_rows_apart_makes_no_contradiction(write, ranges):
    path = write(
        "a.csv", f"network,{HEADER}\nA,2,268800,306,204000000,100,10\nB,2,268800,306,204000000,90,9\n"
    )
    mapping = propose(path, legal=ranges).mapping
    assert mapping.apart == ("network",)
    parsed = read(path, legal=ranges, mapping=mapping)
    assert (len(parsed), parsed.problem_count) == (2, 0)


def test_a_table_of_several_networks_asks_for_one(write, ranges):
    path = write(
        "a.csv", f"network,{HEADER}\nA,2,268800,306,204000000,100,10\nB,2,268800,306,204000000,90,9\n"
    )
    proposal = propose(path, legal=ranges)
    assert proposal.questions[0].startswith("'network' holds A, B: which")
    parsed = read(path, legal=ranges, mapping=replace(proposal.mapping, only={"network": "B"}))
    assert (len(parsed), parsed.row_count) == (1, 2)
    assert parsed.notes[0].reason == "1 rows were passed over, as asked: network is not B"
    with pytest.raises(FormatError, match="no line is left to import: in each of the 2, network is not C"):
        read(path, legal=ranges, mapping=replace(proposal.mapping, only={"network": "C"}))


def test_clocks_are_taken_to_the_legal_step_within_a_megahertz(write, ranges):
    path = write("a.csv", "cores,cpu_khz,gpu_khz,mem_hz,time_ms,power_w\n2,268800,305000,1065599999,100,10\n")
    parsed = read(path, legal=ranges)
    assert parsed.rows.gpu_khz.tolist() == [306000]
    assert parsed.rows.mem_khz.tolist() == [1065600]
    assert [note.reason for note in parsed.notes] == ["is taken as the legal step 306000 kHz in 1 rows"]


def test_steps_of_another_firmware_are_legal_when_given(write, ranges):
    path = write("a.csv", table("2,268800,408,204000000,100,10"))
    other = type(ranges)(ranges.cores, ranges.cpu_khz, (408000,), ranges.mem_khz)
    assert read(path, legal=ranges).problem_count == 1
    assert read(path, legal=ranges, alternative=other).problem_count == 0


def test_unknown_is_not_zero(write, ranges):
    parsed = read(write("a.csv", table("2,268800,306,N/A,100,", "2,268800,306,,,")), legal=ranges)
    assert parsed.rows.mem_khz.isna().tolist() == [True]
    assert parsed.rows.power_mw.isna().tolist() == [True]
    assert reasons(parsed) == [(3, "has no measured value")]
    assert {(note.line, note.column) for note in parsed.notes} == {
        (2, "mem_hz"),
        (2, "power_w"),
        (3, "time_ms"),
    }


def test_other_columns_are_kept_as_they_were(write, ranges):
    path = write("a.csv", f"{HEADER},note,serial\n2,268800,306,204000000,100,10,fan on,007\n")
    assert read(path, legal=ranges).extras.to_dict("records") == [{"note": "fan on", "serial": "007"}]


def test_what_the_file_lacks_is_unknown_with_a_reason(write, ranges):
    parsed = read(
        write("a.csv", "gpu_mhz,time_ms\n306,10\n"),
        legal=ranges,
        mapping=Mapping(
            {"gpu_khz": Column("gpu_mhz", "MHz"), "time_ms": Column("time_ms", "ms")}, {"cores": 4}
        ),
    )
    assert parsed.rows.cores.tolist() == [4]
    assert parsed.unknown["power_mw"] == "the file has no column for the power"
    assert "cores" not in parsed.unknown


def test_unclear_columns_are_asked_for(write, ranges):
    path = write("a.csv", "cores,a,gpu,mem,time,power\n2,268800,306,204000,100,10\n")
    with pytest.raises(MappingNeeded) as caught:
        read(path, legal=ranges)
    found = {guess.field: guess.unit for guess in caught.value.proposal.guesses}
    assert found["cpu_khz"] == "kHz"
    assert found["gpu_khz"] == "MHz"
    assert found["power_mw"] == "W"
    assert any("'a' the CPU clock in kHz" in question for question in caught.value.proposal.questions)


def test_the_proposal_comes_with_a_preview(write, ranges):
    proposal = propose(write("a.csv", f"{HEADER}\n{GOOD}"), legal=ranges)
    assert proposal.certain
    assert proposal.preview[1][2] == "1300.5"
    assert Mapping.from_json(proposal.to_json()["mapping"]) == proposal.mapping


def test_seconds_labelled_ms_are_asked_not_guessed(write, ranges):
    path = write("a.csv", table("2,268800,306,204000000,0.36,10", "4,268800,306,204000000,0.41,10"))
    proposal = propose(path, legal=ranges, plausible={"time_ms": (20, 5000)})
    assert proposal.questions == (
        "Is 'time_ms' the time per minibatch in s? its name says ms, but its values are plausible only in s.",
    )


def test_a_clock_labelled_with_the_wrong_unit_is_asked(write, ranges):
    path = write("a.csv", "cores,cpu_khz,gpu_hz,mem_hz,time_ms,power_w\n2,268.8,306000000,204000000,100,10\n")
    assert "is plausible only in MHz" in propose(path, legal=ranges).questions[0].replace("values are", "is")


def test_a_mapping_that_does_not_fit_says_everything_at_once(write):
    mapping = Mapping({"cpu_khz": Column("cpu", "W"), "speed": Column("x", "")}, {"cores": -1})
    with pytest.raises(InvalidInput) as caught:
        read(write("a.csv", f"{HEADER}\n{GOOD}"), mapping=mapping)
    assert len(caught.value.extra["errors"]) == 6


def test_decimal_commas_are_named_and_can_be_allowed(write, ranges):
    text = "cores;cpu_khz;gpu_khz;mem_khz;time_ms;power_w\n2;268800;306000;204000;100,5;10,25\n"
    path = write("a.csv", text)
    proposal = propose(path, legal=ranges)
    assert proposal.decimal == ","
    assert read(path, legal=ranges, mapping=proposal.mapping).rows.power_mw.tolist() == [10250]
    strict = Mapping(proposal.mapping.fields)
    assert reasons(read(path, legal=ranges, mapping=strict))[0] == (2, "has a decimal comma; write 10.25")


def test_a_mapping_without_anything_measured_is_refused(write):
    with pytest.raises(InvalidInput, match="nothing measured"):
        read(write("a.csv", f"{HEADER}\n{GOOD}"), mapping=Mapping({}))


def frame():
    return pd.read_csv(io.StringIO(f"{HEADER}\n{GOOD}"))


def as_excel(path):
    book = openpyxl.Workbook()
    for row in [HEADER.split(","), *frame().values.tolist()]:
        book.active.append(row)
    book.save(path)


WRITERS = {
    "csv": lambda path: path.write_text(f"{HEADER}\n{GOOD}"),
    "tsv": lambda path: path.write_text(f"{HEADER}\n{GOOD}".replace(",", "\t")),
    "excel": as_excel,
    "parquet": lambda path: frame().to_parquet(path),
    "json": lambda path: path.write_text(frame().to_json(orient="records")),
    "jsonl": lambda path: path.write_text(frame().to_json(orient="records", lines=True)),
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.ZstdCompressor().compress])
def test_formats_are_told_apart_by_content_whatever_the_name(tmp_path, ranges, name, pack):
    path = tmp_path / "upload.bin"
    WRITERS[name](path)
    path.write_bytes(pack(path.read_bytes()))
    assert detect(path, "wrong.txt").name == name
    rows = read(path, legal=ranges).rows
    assert rows.gpu_khz.tolist() == [306000, 1300500]
    assert rows.power_mw.tolist() == [10_000, 20_000]


@pytest.mark.parametrize(
    "text",
    [
        '{"runs": [{"on": {"cores": 2, "cpu_khz": 268800, "gpu_khz": 306000, "emc_hz": 204e6}, "t_ms": 5}]}',
        '{"cores": [2], "cpu_khz": [268800], "gpu_khz": [306000], "mem_khz": [204000], "time_ms": [5]}',
        '{"cores": 2, "cpu_khz": 268800, "gpu_khz": 306000, "mem_khz": 204000, "time_ms": 5}',
    ],
)
def test_json_may_be_shaped_in_several_ways(write, ranges, text):
    assert read(write("a.json", text), legal=ranges, mapping=None).rows.time_ms.tolist() == [5]


def test_listed_problems_are_limited_but_all_are_counted(write, ranges):
    text = table(*["2,268800,306,204000000,x,10"] * 50)
    parsed = read(write("a.csv", text), legal=ranges, limits=Limits(problems=10))
    assert (len(parsed.problems), parsed.problem_count) == (10, 50)


def test_progress_is_told(write, ranges):
    seen = []
    read(write("a.csv", f"{HEADER}\n{GOOD}"), legal=ranges, progress=seen.append)
    assert seen == [2]


@pytest.mark.parametrize("orient", ["columns", "index", "split", "records", "list"])
def test_every_way_pandas_writes_json_is_the_same_table(write, ranges, orient):
    frame = pd.read_csv(io.StringIO(f"{HEADER}\n{GOOD}"))
    text = json.dumps(frame.to_dict("list")) if orient == "list" else frame.to_json(orient=orient)
    parsed = read(write("a.json", text), legal=ranges)
    assert (parsed.rows.time_ms.tolist(), parsed.row_count) == ([100, 50], 2)


def test_samples_per_second_beside_a_time_are_kept_as_they_are(write, ranges):
    lines = [line + tail for line, tail in zip(GOOD.split(), (",160", ",320"), strict=True)]
    parsed = read(write("a.csv", "\n".join([f"{HEADER},fps", *lines])), legal=ranges)
    assert parsed.extras.fps.tolist() == ["160", "320"]


def test_a_time_under_an_unknown_name_is_asked_for(write, ranges):
    text = f"{HEADER}\n{GOOD}".replace("time_ms", "forward_ms")
    proposal = propose(write("a.csv", text), legal=ranges)
    assert proposal.questions == (
        "Which column holds the time per minibatch? 'forward_ms' could. Left open, it is unknown.",
    )
