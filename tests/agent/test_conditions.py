import tomllib
from pathlib import Path

import profiling
from profiling.agent.conditions import conditions
from profiling.board.emulated import EmulatedBoard
from profiling.board.host import HostBoard
from profiling.catalog import device_model_entries

ORIN = next(entry for entry in device_model_entries() if entry["slug"] == "agx-orin")


def test_a_board_tells_its_software_governor_and_fan(tmp_path):
    told = conditions(EmulatedBoard(ORIN, root=tmp_path), sample_period_s=0.5)
    assert (told["l4t"], told["jetpack"], told["governor"]) == ("35.4.1", 5, "schedutil")
    assert 0 <= told["fan_pwm"] <= 255
    assert told["sample_period_s"] == 0.5


def test_what_a_machine_lacks_is_unknown_with_the_reason(tmp_path):
    told = conditions(HostBoard(tmp_path), sample_period_s=1.0)
    assert told["l4t"] is None
    assert told["untold"]["fan_pwm"] == "no pwm fan"


def test_the_agent_names_the_projects_own_version():
    project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    assert profiling.__version__ == project["version"]
    assert f"jetsonlab {profiling.__version__}" in conditions(HostBoard(), 0.5)["agent"]
