"""What the server says of a workload becomes what the runner understands, or is refused as a whole."""

from pathlib import Path

import pytest

from profiling.errors import InvalidInput
from profiling.workloads import runner, zoo
from profiling.workloads.arguments import NETWORKS, runner_arguments, zoo_name

RESNET = {
    "kind": "training",
    "network": "ResNet-18",
    "loader_workers": 4,
    "precision": "",
    "runner_options": {},
}


def test_the_agent_knows_the_zoo_without_loading_it():
    assert set(NETWORKS) == set(zoo.RECIPES)


def test_the_runner_understands_them():
    options = runner.parsed(runner_arguments(RESNET, 16))
    assert (options.network, options.kind, options.minibatch, options.workers) == (
        "resnet18",
        "training",
        16,
        4,
    )
    assert options.precision == "fp32"


def test_options_and_sequence_length_are_passed_on():
    bert = {**RESNET, "network": "bert base", "sequence_length": 128, "precision": "fp16"}
    options = runner.parsed(
        runner_arguments({**bert, "runner_options": {"graph": "compiled", "prefetch": 8}}, 4)
    )
    assert options.size == [("length", 128)]
    assert (options.graph, options.prefetch, options.precision) == ("compiled", 8, "fp16")


def test_a_workload_of_ones_own_needs_no_network():
    arguments = runner_arguments({"kind": "inference", "network": "mine"}, 1, Path("/srv/mine"))
    assert arguments[:2] == ["--file", "/srv/mine"]


@pytest.mark.parametrize(
    ("said", "name"), [("MobileNetV3", "mobilenet_v3"), ("LeNet-5", "lenet5"), ("GPT-9", None)]
)
def test_networks_are_known_by_their_usual_names(said, name):
    assert zoo_name(said) == name


def test_everything_wrong_is_said_at_once():
    options = {"device": "cuda; rm -rf /", "data": "../x", "controlled": True, "seed": True}
    wrong = {
        **RESNET,
        "network": "GPT-9",
        "precision": "int8",
        "sequence_length": 9,
        "runner_options": options,
    }
    with pytest.raises(InvalidInput) as caught:
        runner_arguments(wrong, 0)
    assert len(caught.value.extra["errors"]) == 8
