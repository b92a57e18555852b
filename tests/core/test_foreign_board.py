"""AGX Orin's tables as corpus for a made-up board with other knob ranges, on the emulated law."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from modeling.core.evaluation import Question, evaluate
from modeling.core.prediction import Measured
from modeling.core.tables import read_table
from profiling.board.emulation.demand import EmulatedWorkload
from profiling.board.emulation.law import emulated_table
from profiling.catalog import device_model_entries
from profiling.soc import knob_range

ORIN = next(entry for entry in device_model_entries() if entry["slug"] == "agx-orin")
# The scales of CPU, GPU and memory clocks: none of a legal clock of AGX Orin is legal here at the top.
MADE_UP = {
    **ORIN,
    "slug": "made-up",
    "soc": "",
    "cuda_cores": 1024,
    "peak_power_w": 30,
    "cores": [1, 2, 4, 6],
    "cpu_khz": [round(khz * 0.7) for khz in ORIN["cpu_khz"]],
    "gpu_khz": [round(khz * 0.6) for khz in ORIN["gpu_khz"]],
    "mem_khz": [round(khz * 0.5) for khz in ORIN["mem_khz"]],
}


def emulated(entry: dict[str, Any], network: str, count: int, seed: int = 0) -> Measured:
    ranges = knob_range(entry)
    modes = ranges.all_modes()
    knobs = modes[np.random.default_rng(seed).choice(len(modes), count, replace=False)]
    time_ms, power_mw = emulated_table(entry, EmulatedWorkload(network), knobs, seed)
    return Measured(network, knobs, time_ms, power_mw, "training", ranges.maximum)


def figures(corpus: Sequence[Measured], network: str = "lstm") -> dict[str, Any]:
    question = Question(emulated(MADE_UP, network, 300, 1), corpus, sampling="active", repeats=1)
    return evaluate(question, "roofline", [10])[0]


def good(found: dict[str, Any]) -> None:
    assert found["time_mape"] < 8
    assert found["power_mape"] < 5
    assert found["coverage90_time"] > 80
    assert found["coverage90_power"] > 80


def test_emulated_orin_teaches_a_made_up_board_shapes_only() -> None:
    found = figures([emulated(ORIN, "resnet18", 80)])
    assert found["foreign_references"] == ["resnet18"]
    good(found)


def test_the_public_tables_teach_it_too(shared_data: Path) -> None:
    path = shared_data / "dreamlab/train/resnet_train_data_final.csv"
    table = read_table(path, name="resnet").measured
    found = figures([table])
    assert found["foreign_references"] == ["resnet"]
    good(found)


def test_a_reference_of_the_board_itself_is_not_foreign() -> None:
    target, corpus = emulated(MADE_UP, "lstm", 50, 1), [emulated(MADE_UP, "resnet18", 50)]
    assert Question(target, corpus).foreign == []
