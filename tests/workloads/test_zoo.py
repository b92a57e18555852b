"""Every network of the zoo trains and infers, and is the network it claims to be."""

import ast
import sys
from pathlib import Path

import pytest
import torch
from torch.utils.data import default_collate

from profiling.workloads import zoo

# As published by the authors or their usual implementations.
PARAMETERS = {
    "lenet5": 61_706,
    "alexnet": 61_100_840,
    "resnet18": 11_689_512,
    "mobilenet_v2": 3_504_872,
    "mobilenet_v3": 5_483_032,
    "vgg11": 132_863_336,
    "yolo_tiny": 8_852_366,
    "bert_tiny": 4_386_178,
    "distilbert": 66_955_010,
    "bert_base": 108_893_186,
    "wav2vec2": 94_396_320,
}
ROOT = Path(zoo.__file__).parent


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


@pytest.mark.parametrize("name", sorted(PARAMETERS))
def test_it_has_the_published_number_of_parameters(name):
    classes = {"classes": 1000} if name.startswith("mobilenet") else {}
    with torch.device("meta"):
        module = zoo.Network(name, **classes).module
    assert sum(p.numel() for p in module.parameters()) == PARAMETERS[name]


@pytest.mark.parametrize("name", sorted(zoo.RECIPES))
def test_it_takes_one_training_and_one_inference_step(name):
    network = zoo.Network(name, small=True)
    inputs, targets = default_collate([network.sample(i) for i in range(2)])
    loss = network.loss(network.module(inputs), targets)
    loss.backward()
    assert torch.isfinite(loss)
    assert any(p.grad is not None and p.grad.abs().sum() > 0 for p in network.module.parameters())
    with torch.inference_mode():
        assert network.module.eval()(inputs) is not None


@pytest.mark.parametrize("name", ["resnet18", "lstm", "wav2vec2", "yolo_tiny"])
def test_the_same_index_is_always_the_same_sample(name):
    network = zoo.Network(name, small=True)
    assert torch.equal(network.sample(7)[0], network.sample(7)[0])
    assert not torch.equal(network.sample(7)[0], network.sample(8)[0])


def test_samples_have_the_true_shapes():
    shapes = {name: tuple(zoo.Network(name).sample(0)[0].shape) for name in ("lenet5", "lstm", "bert_tiny")}
    assert shapes == {"lenet5": (1, 32, 32), "lstm": (35,), "bert_tiny": (128,)}


def test_the_detector_answers_on_both_grids():
    network = zoo.Network("yolo_tiny", side=64)
    coarse, fine = network.module(torch.zeros(1, 3, 64, 64))
    assert (coarse.shape, fine.shape) == ((1, 255, 2, 2), (1, 255, 4, 4))


def test_an_unknown_network_is_answered_with_the_known_ones():
    with pytest.raises(ValueError, match="resnet18"):
        zoo.Network("resnet9000")


def test_an_unknown_size_is_refused():
    with pytest.raises(ValueError, match="length"):
        zoo.Network("resnet18", length=3)


@pytest.mark.parametrize("name", ["runner.py", "zoo.py"])
def test_it_is_python_3_8_and_imports_torch_alone(name):
    tree = ast.parse((ROOT / name).read_text(), feature_version=(3, 8))
    top = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    outside = {getattr(node, "module", None) or node.names[0].name for node in top}
    assert {n.split(".")[0] for n in outside} - sys.stdlib_module_names == {"torch"}
