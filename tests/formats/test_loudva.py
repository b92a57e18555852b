from dataclasses import replace

import pandas as pd
import pytest

from profiling.formats import detect, propose, read

HEADER = "device,value,kind,Concurrency,Inferences/Second,Server Queue,p50 latency,mean_power_mW\n"
ROWS = (
    "Mini,306000000,freq,1,10,200,99000,4000\n"
    "Mini,306000000,freq,2,12,50000,160000,4500\n"
    "Mini,5,mode,1,20,210,50000,9000\n"
    "Mini,306000000,freq,60,12.5,900000,999000,4600\n"
)


@pytest.fixture
def path(write):
    return write("perf.csv", HEADER + ROWS)


def test_the_value_is_a_gpu_clock_or_a_stock_mode(path, ranges):
    parsed = read(path, legal=ranges)
    assert parsed.rows.gpu_khz.fillna(0).tolist() == [306000, 306000, 0, 306000]
    assert parsed.extras.stock_mode.tolist() == ["", "", "5", ""]
    assert parsed.rows.throughput_per_s.tolist() == [10, 12, 20, 12.5]
    assert detect(path).name == parsed.format == "loudva"


def test_concurrency_is_no_minibatch(path, ranges):
    parsed = read(path, legal=ranges)
    assert "minibatch" not in parsed.rows
    assert "client concurrency" in parsed.unknown["minibatch"]
    assert parsed.extras.Concurrency.tolist() == ["1", "2", "1", "60"]
    assert parsed.problem_count == 0


def test_the_other_knobs_are_unknown_and_nothing_is_asked(path, ranges):
    assert propose(path, legal=ranges).questions == ()
    assert {"cores", "cpu_khz", "mem_khz", "time_ms"} <= set(read(path, legal=ranges).unknown)


def test_too_many_clients_are_noted(path, ranges):
    notes = [note for note in read(path, legal=ranges).notes if note.column == "Concurrency"]
    assert [(note.line, note.value) for note in notes] == [(5, "60")]


def test_several_devices_are_asked_about(write, ranges):
    path = write("perf.csv", HEADER + ROWS + "Maxi,1300500000,freq,1,30,100,33000,9000\n")
    proposal = propose(path, legal=ranges)
    assert proposal.questions[0].startswith("'device' holds Mini, Maxi")
    parsed = read(path, legal=ranges, mapping=replace(proposal.mapping, only={"device": "Maxi"}))
    assert parsed.rows.gpu_khz.tolist() == [1300500]


def test_the_public_table_comes_in_whole(shared_data):
    path = shared_data / "loudva/perf_power.csv"
    truth, proposal = pd.read_csv(path), propose(path)
    parsed = read(path, mapping=proposal.mapping)
    assert (len(parsed), parsed.problem_count) == (len(truth), 0)
    assert parsed.rows.power_mw.sum() == pytest.approx(truth.mean_power_mW.sum())
    assert parsed.rows.gpu_khz.sum() == truth[truth.kind == "freq"].value.sum() // 1000
    assert (parsed.extras.stock_mode != "").sum() == (truth.kind == "mode").sum()
