import pytest

from profiling.agent.config import as_toml, load_config, parse_config
from profiling.agent.making import make_board
from profiling.errors import InvalidInput
from profiling.workloads.arguments import runner_arguments

LEAST = {"server": "https://lab.example.org", "token": "jl_x", "device": "desk-1"}


def test_what_enroll_writes_run_reads(tmp_path):
    config = parse_config({**LEAST, "driver": "emulated", "device_model": "agx-orin", "state": str(tmp_path)})
    file = tmp_path / "agent.toml"
    file.write_text(as_toml(config))
    assert load_config(file) == config


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"device": "x"}, "Missing settings: server, token"),
        ({**LEAST, "sever": 1}, r"Unknown settings \['sever'\]"),
        ({**LEAST, "driver": "magic"}, "driver must be one of"),
    ],
)
def test_a_bad_configuration_is_refused_by_name(values, words):
    with pytest.raises(InvalidInput, match=words):
        parse_config(values)


def test_an_unreadable_file_is_named(tmp_path):
    (tmp_path / "agent.toml").write_text("server =")
    with pytest.raises(InvalidInput, match=r"agent\.toml is not valid TOML"):
        load_config(tmp_path / "agent.toml")


def test_the_token_is_not_shown():
    assert "jl_x" not in repr(parse_config(LEAST))


def test_an_unknown_device_model_lists_the_known_ones():
    with pytest.raises(InvalidInput, match="agx-orin"):
        make_board(parse_config({**LEAST, "driver": "emulated", "device_model": "agx-melon"}))


def test_a_claimed_workload_becomes_the_runners_command_line():
    settings = {
        "network": "LeNet-5",
        "kind": "training",
        "minibatch": 64,
        "loader_workers": None,
        "precision": "",
        "runner_options": {"data": "digits"},
    }
    words = runner_arguments(settings, 64)
    assert words == ["--network", "lenet5", "--kind", "training", "--minibatch", "64", "--data", "digits"]
