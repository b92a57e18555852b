import pytest

from profiling.formats.columns import recognise, tells_apart


@pytest.mark.parametrize(
    ("name", "field", "unit"),
    [
        ("cores", "cores", None),
        ("cpu", "cpu_khz", None),
        ("gpu_mhz", "gpu_khz", "MHz"),
        ("mem_hz", "mem_khz", "Hz"),
        ("GPU frequency [Hz]", "gpu_khz", "Hz"),
        ("CPU Freq (MHz)", "cpu_khz", "MHz"),
        ("cpuKHz", "cpu_khz", "kHz"),
        ("emc_hz", "mem_khz", "Hz"),
        ("observed_time", "time_ms", None),
        ("time_s", "time_ms", "s"),
        ("Time per minibatch (ms)", "time_ms", "ms"),
        ("latency_us", "time_ms", "us"),
        ("time_\u00b5s", "time_ms", "us"),
        ("time_\u03bcs", "time_ms", "us"),
        ("time_ms_mean", "time_ms", "ms"),
        ("power_w_avg", "power_mw", "W"),
        ("mean_power_mW", "power_mw", "mW"),
        ("Power (W)", "power_mw", "W"),
        ("bs", "minibatch", None),
        ("batchSize", "minibatch", None),
        ("energy_j", "energy_mj", "J"),
        ("Inferences/Second", "throughput_per_s", None),
    ],
)
def test_it_knows_what_people_call_things(name, field, unit):
    found = recognise(name)
    assert (found.field.name, found.unit) == (field, unit)


@pytest.mark.parametrize(
    "name",
    ["power std", "min_time_ms", "cpu_power_w", "wall_s", "start", "RAM", "epoch_time_s", "total_time_s"],
)
def test_it_claims_no_column_that_only_resembles_one(name):
    assert recognise(name) is None


def test_it_knows_columns_that_tell_rows_apart():
    assert tells_apart("workload")
    assert tells_apart("Concurrency")
    assert not tells_apart("start")
