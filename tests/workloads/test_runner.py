"""The runner: what it reports, when it ends, and what it makes of data, precision and graph."""

import argparse
import struct
import sys
import wave
from pathlib import Path

import pytest
import torch
from PIL import Image

from profiling.workloads import runner


class Listener:
    """A Reporter that keeps its events."""

    def __init__(self):
        self.events = []

    def event(self, name, **values):
        self.events.append({"event": name, **values})

    def minibatch(self, i, epoch, t, fetch_ms, compute_ms, time_ms):
        self.event("minibatch", i=i, epoch=epoch, fetch_ms=fetch_ms, compute_ms=compute_ms, time_ms=time_ms)


class Control:
    """Never pauses; stops after `count` looks."""

    def __init__(self, count=10**9):
        self.left, self.running, self.stopped = count, self, self

    def is_set(self):
        self.left -= 1
        return self.left < 0


class Always(Control):
    def is_set(self):
        return True


@pytest.fixture(autouse=True)
def own_import_path(monkeypatch):
    """A user's folder goes on the import path; in a process of its own that is no matter."""
    monkeypatch.setattr(sys, "path", list(sys.path))


def options_of(*arguments: str) -> argparse.Namespace:
    return runner.parsed([*arguments, "--threads", "1"])


def events_of(*arguments: str) -> list[dict]:
    """Run in this process: the same code without the second it takes to import torch."""
    options = options_of(*arguments)
    torch.manual_seed(options.seed)
    source = runner.zoo_source(options) if options.network else runner.file_source(options)
    listener, control = Listener(), argparse.Namespace(running=Always(), stopped=Control(10**9))
    listener.event("start", **runner.started(source, options))
    loop = runner.Loop(source, runner.Step(source, options), listener, control)
    listener.event("done", reason=loop.run())
    return listener.events


def minibatches(events):
    return [event for event in events if event["event"] == "minibatch"]


LENET = ("--network", "lenet5", "--minibatch", "8")


def test_it_reports_each_minibatch_and_why_it_ended():
    events = events_of(*LENET, "--max-minibatches", "3")
    assert [event["event"] for event in events] == ["start", *["minibatch"] * 3, "epoch", "done"]
    assert events[-1]["reason"] == "max_minibatches"


def test_the_parts_of_a_minibatch_add_up():
    events = minibatches(events_of(*LENET, "--max-minibatches", "4"))
    rests = [event["time_ms"] - event["fetch_ms"] - event["compute_ms"] for event in events]
    assert all(event["fetch_ms"] > 0 for event in events)
    assert -0.001 < min(rests) < 0.5  # a busy machine may come between the readings of one, not of each


def test_training_on_real_digits_learns():
    events = events_of(
        "--network", "lenet5", "--data", "digits", "--minibatch", "32", "--max-minibatches", "112"
    )
    losses = [event["loss"] for event in events if event["event"] == "epoch"]
    assert losses[-1] < 0.6 * losses[0]


def test_inference_has_no_loss():
    events = events_of(*LENET, "--kind", "inference", "--max-minibatches", "2")
    assert events[-2]["loss"] is None


def test_it_ends_when_the_times_are_steady():
    events = events_of(*LENET, "--minibatches", "5", "--spread", "10")
    assert events[-1]["reason"] == "steady"
    assert len(minibatches(events)) < 20


def test_it_ends_after_its_seconds():
    assert events_of(*LENET, "--max-seconds", "0.01")[-1]["reason"] == "max_seconds"


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_it_computes_in_half_precision(precision):
    options = options_of(*LENET, "--precision", precision, "--kind", "inference")
    source = runner.zoo_source(options)
    step = runner.Step(source, options)
    seen = []
    source.call.register_forward_hook(lambda module, inputs, output: seen.append(output.dtype))
    step(next(iter(source.epoch())))
    assert seen == [getattr(torch, {"bf16": "bfloat16", "fp16": "float16"}[precision])]


@pytest.mark.filterwarnings("ignore")
def test_a_traced_graph_trains_too():
    events = events_of(*LENET, "--graph", "traced", "--max-minibatches", "3")
    assert len(minibatches(events)) == 3


def test_it_records_versions_and_settings():
    start = events_of(*LENET, "--max-minibatches", "1", "--workers", "0")[0]
    assert (start["torch"], start["parameters"], start["threads"]) == (
        torch.__version__,
        61_706,
        torch.get_num_threads(),
    )
    assert (start["dataset"], start["gpu"]) == ("MNIST", None)


def test_loader_workers_fetch_ahead():
    events = events_of(*LENET, "--workers", "1", "--prefetch", "2", "--max-minibatches", "3")
    assert len(minibatches(events)) == 3


def test_an_image_folder_is_read_with_its_labels(tmp_path):
    for label in ("cats", "dogs"):
        (tmp_path / label).mkdir()
        for n in range(2):
            Image.new("RGB", (40, 30), (n * 50, 9, 9)).save(tmp_path / label / f"{n}.png")
    options = options_of("--network", "resnet18", "--small", "--data", str(tmp_path), "--minibatch", "4")
    inputs, labels = next(iter(runner.zoo_source(options).epoch()))
    assert inputs.shape == (4, 3, 64, 64)
    assert sorted(labels.tolist()) == [0, 0, 1, 1]


def test_text_and_sound_are_read_to_their_length(tmp_path):
    (tmp_path / "a.txt").write_text("hello")
    with wave.open(str(tmp_path / "a.wav"), "wb") as file:
        file.setparams((1, 2, 16_000, 0, "NONE", ""))
        file.writeframes(struct.pack("<3h", 1, 2, 3))
    ids = runner.read_text(tmp_path / "a.txt", {"length": 8, "vocabulary": 50})
    assert ids.shape == (8,)
    assert 0 < int(ids.min()) <= int(ids.max()) < 50
    assert runner.read_audio(tmp_path / "a.wav", {"samples": 5}).tolist() == [1, 2, 3, 0, 0]


@pytest.mark.parametrize("cache", ["warm", "cold", "as-is"])
def test_the_page_cache_may_be_warmed_or_dropped(tmp_path, cache):
    (tmp_path / "a.txt").write_text("hello")
    runner.warm_or_drop([tmp_path / "a.txt"], cache)
    assert (tmp_path / "a.txt").read_text() == "hello"


def test_an_empty_folder_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"no image file \(.*\.png.*\) in"):
        events_of("--network", "resnet18", "--small", "--data", str(tmp_path))


def test_too_few_samples_for_one_minibatch_are_refused(tmp_path):
    Image.new("RGB", (8, 8)).save(tmp_path / "a.png")
    with pytest.raises(ValueError, match="1 samples do not fill one minibatch of 8"):
        events_of("--network", "resnet18", "--small", "--data", str(tmp_path), "--minibatch", "8")


def test_digits_are_for_lenet_alone():
    with pytest.raises(ValueError, match="for lenet5"):
        events_of("--network", "resnet18", "--small", "--data", "digits")


# --- users' own workloads ---

WORKLOAD = """
import torch
def build(): return torch.nn.Linear(4, 3)
def batches(minibatch):
    for _ in range(2): yield torch.randn(minibatch, 4), torch.zeros(minibatch, dtype=torch.long)
"""


def written(folder: Path, code: str) -> str:
    (folder / "workload.py").write_text(code)
    return str(folder)


def test_a_users_two_functions_train(tmp_path):
    events = events_of("--file", written(tmp_path, WORKLOAD), "--minibatch", "5", "--max-minibatches", "5")
    assert [event["epoch"] for event in minibatches(events)] == [0, 0, 1, 1, 2]
    assert events[-2]["loss"] > 0


def test_targets_may_be_nested():
    moved = runner.moved({"boxes": [torch.zeros(2)], "name": "dog"}, torch.device("meta"))
    assert (moved["boxes"][0].device.type, moved["name"]) == ("meta", "dog")


def test_a_users_own_loss_is_used(tmp_path):
    code = WORKLOAD + "def loss(outputs, target): return outputs.sum() * 0 + 7\n"
    events = events_of("--file", written(tmp_path, code), "--max-minibatches", "1")
    assert events[-2]["loss"] == 7


def test_a_missing_function_is_named(tmp_path):
    with pytest.raises(ValueError, match="does not define the function batches"):
        events_of("--file", written(tmp_path, "def build(): pass"))


def test_batches_without_a_batch_are_refused(tmp_path):
    code = WORKLOAD.replace("range(2)", "range(0)")
    with pytest.raises(ValueError, match="yielded nothing"):
        events_of("--file", written(tmp_path, code))


@pytest.fixture
def exported(tmp_path: Path) -> str:
    path = tmp_path / "net.pt2"
    free = {"input": {0: torch.export.Dim("minibatch")}}
    torch.export.save(
        torch.export.export(torch.nn.Linear(4, 3), (torch.randn(2, 4),), dynamic_shapes=free), path
    )
    return str(path)


def test_an_exported_program_infers_at_any_minibatch_it_allows(exported):
    events = events_of(
        "--file", exported, "--kind", "inference", "--minibatch", "7", "--max-minibatches", "2"
    )
    assert len(minibatches(events)) == 2


def test_an_exported_program_does_not_train(exported):
    with pytest.raises(ValueError, match="only be run as inference"):
        events_of("--file", exported)


def test_a_fixed_minibatch_is_said_so(tmp_path):
    path = tmp_path / "net.pt2"
    torch.export.save(torch.export.export(torch.nn.Linear(4, 3), (torch.randn(2, 4),)), path)
    with pytest.raises(ValueError, match="fixed to a minibatch of 2, not 7"):
        events_of("--file", str(path), "--kind", "inference", "--minibatch", "7")


@pytest.fixture
def onnx_file(tmp_path: Path) -> str:
    import onnx
    from onnx import TensorProto, helper

    shape = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 4]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", shape[:1], shape[1:])
    network = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(network, tmp_path / "net.onnx")
    return str(tmp_path / "net.onnx")


def test_an_onnx_file_infers(onnx_file):
    events = events_of("--file", onnx_file, "--kind", "inference", "--max-minibatches", "2")
    assert events[0]["providers"] == ["CPUExecutionProvider"]
    assert len(minibatches(events)) == 2


def test_an_onnx_file_runs_as_it_is(onnx_file):
    with pytest.raises(ValueError, match="runs as it is"):
        events_of("--file", onnx_file, "--kind", "inference", "--precision", "bf16")
