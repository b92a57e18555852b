"""What a row says twice: samples per second beside a time, an energy beside time and power."""

from dataclasses import replace

import numpy as np
import pytest

from profiling.formats import Column, propose, read
from profiling.formats.agreement import apart

HEADER = "cores,cpu_khz,gpu_khz,mem_khz,time_ms,power_w"
MODES = ("2,268800,306000,204000,100,10", "4,268800,306000,204000,50,20")


@pytest.fixture
def both(write, ranges):
    """both(rates, minibatch) → the table read with the time and the rate mapped by hand."""

    def read_with(rates, minibatch=16):
        text = "\n".join([f"{HEADER},fps", *(f"{m},{r}" for m, r in zip(MODES, rates, strict=True))])
        path = write("a.csv", text)
        mapping = propose(path, legal=ranges).mapping
        fields = mapping.fields | {"throughput_per_s": Column("fps", "")}
        return read(path, legal=ranges, mapping=replace(mapping, fields=fields), minibatch=minibatch)

    return read_with


def noted(parsed):
    return [(note.line, note.value, note.reason) for note in parsed.notes if note.column != ""]


KEPT = (0, "", "is kept as it is beside the time, and tells it where that is unknown")


def test_a_rate_mapped_beside_a_time_is_kept_and_said_to_be(both):
    parsed = both(["160", "320"])
    assert parsed.extras.fps.tolist() == ["160", "320"]
    assert noted(parsed) == [KEPT]


def test_a_rate_that_contradicts_the_time_is_noted_once(both):
    parsed = both(["10", "20.5"])
    reason = "is not what a minibatch of 16 / time makes, 160: so in 2 of 2 rows, 0.0625 to 0.0641 times that"
    assert noted(parsed) == [KEPT, (2, "10", reason)]
    assert parsed.rows.time_ms.tolist() == [100, 50]


def test_what_was_only_rounded_is_no_contradiction(both):
    assert noted(both(["163.2", "316.9"])) == [KEPT]
    assert noted(both(["2", "3"], minibatch=0.16)) == [KEPT]


def test_without_a_minibatch_size_a_rate_says_nothing_of_the_time(both):
    assert noted(both(["10", "20"], minibatch=None)) == [KEPT]


def test_a_rate_far_from_the_time_is_asked_about(write, ranges):
    path = write("a.csv", "\n".join([f"{HEADER},fps", *(f"{mode},0.16" for mode in MODES), ""]))
    assert propose(path, legal=ranges, minibatch=16).questions == (
        "'fps' is typically 0.16, where a minibatch of 16 / time makes 213.3: "
        "are their units right, and is it what it is called?",
    )


def test_an_energy_far_from_time_and_power_is_asked_about_and_noted(write, ranges):
    path = write("a.csv", "\n".join([f"{HEADER},energy_mj", *(f"{mode},1.5" for mode in MODES), ""]))
    proposal = propose(path, legal=ranges)
    assert "'energy_mj' is typically 1.5 mJ, where time × power makes 1,125 mJ" in proposal.questions[0]
    (note,) = noted(read(path, legal=ranges, mapping=proposal.mapping))
    assert note == (
        2,
        "1.5 mJ",
        "is not what time × power makes, 1,000 mJ: so in 2 of 2 rows, 0.0015 times that",
    )


def test_an_energy_that_agrees_is_not_spoken_of(write, ranges):
    path = write("a.csv", "\n".join([f"{HEADER},energy_j", *(f"{mode},1.01" for mode in MODES)]))
    assert noted(read(path, legal=ranges)) == []


def test_what_is_unknown_is_not_apart():
    found = apart(np.array([np.nan, 5.0, 5.0]), np.array([1.0, np.nan, 1.0]))
    assert found.places.tolist() == [2]
