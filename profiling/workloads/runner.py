"""Run one workload and print what each minibatch took, as JSON lines. Python 3.8+, needs torch alone.

Started in its own process, by any interpreter, also copied to a board together with zoo.py:

    python runner.py --network resnet18 --kind training --minibatch 16 --workers 4 --max-minibatches 40

Events on standard output (everything else the workload prints goes to standard error):
    start       versions, device, parameters, and how the workload is run
    ready       only with --controlled: waits for a line "go" on standard input
    minibatch   i, epoch, t (s, CLOCK_MONOTONIC at its end), time_ms = end to end, fetch_ms = visible
                wait for data, compute_ms = transfer, forward (and backward) until synchronised
    epoch       epoch, minibatches, seconds, loss of the last minibatch (null in inference)
    done        reason, minibatches, median and interquartile range of time_ms, the first one discarded
    error       kind, message, and the last lines of the traceback

Stops cleanly after the minibatch at hand on SIGTERM and, with --controlled, on "stop" or when standard
input closes; "pause" and "go" hold it between two minibatches. Timing: CUDA events with synchronize on a
GPU (PowerTrain section 2.4), CLOCK_MONOTONIC on a CPU. The adaptive count is that of torch's benchmark
module, which "High-level frameworks" section IV uses: on until IQR / median of the times is small.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import multiprocessing
import os
import platform
import signal
import statistics
import sys
import threading
import time
import traceback
import wave
from pathlib import Path
from types import ModuleType
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Tuple

import torch
from torch.utils.data import DataLoader, Dataset

IMAGES = {".jpg", ".jpeg", ".png", ".bmp", ".webp"}
SUFFIXES = {"image": IMAGES, "text": {".txt"}, "audio": {".wav"}}
FLUSH_S = 0.1


class Source(NamedTuple):
    """A workload, wherever it came from: `call` is an nn.Module or a plain function of one minibatch."""

    call: Any
    epoch: Callable[[], Iterable[Any]]
    loss: Optional[Callable[[Any, Any], Any]]
    facts: Dict[str, Any]


# --- what goes out and comes in -----------------------------------------------------------------


class Reporter:
    """Writes events to the real standard output, minibatches in bundles: a write a minibatch would cost."""

    def __init__(self) -> None:
        self.descriptor = os.dup(1)
        os.dup2(2, 1)
        self.lines: List[str] = []
        self.flushed = 0.0

    def event(self, name: str, **values: Any) -> None:
        self.lines.append(json.dumps(dict(event=name, **values)))
        self.flush()

    def minibatch(
        self, i: int, epoch: int, t: float, fetch_ms: float, compute_ms: float, time_ms: float
    ) -> None:
        self.lines.append(
            '{"event": "minibatch", "i": %d, "epoch": %d, "t": %.6f, "fetch_ms": %.4f, "compute_ms": %.4f, '
            '"time_ms": %.4f}' % (i, epoch, t, fetch_ms, compute_ms, time_ms)
        )
        if t - self.flushed > FLUSH_S:
            self.flush()

    def flush(self) -> None:
        data = "".join(line + "\n" for line in self.lines).encode()
        while data:
            data = data[os.write(self.descriptor, data) :]
        self.lines, self.flushed = [], time.monotonic()


class Control:
    """Stop and pause, from SIGTERM and, when listening, from lines on standard input."""

    def __init__(self, listening: bool) -> None:
        self.stopped, self.running = threading.Event(), threading.Event()
        signal.signal(signal.SIGTERM, lambda *_: self.stop())
        if listening:
            threading.Thread(target=self._listen, daemon=True).start()
        else:
            self.running.set()

    def stop(self) -> None:
        self.stopped.set()
        self.running.set()

    def _listen(self) -> None:
        for line in sys.stdin:
            word = line.strip()
            if word == "go":
                self.running.set()
            elif word == "pause":
                self.running.clear()
            elif word == "stop":
                break
        self.stop()


# --- data -----------------------------------------------------------------------------------------


class Samples(Dataset):
    """What loader workers fetch: generated samples, a folder's files, or scikit-learn's digits."""

    def __init__(self, network: Any, data: str) -> None:
        self.network = network
        self.digits = read_digits(network) if data == "digits" else None
        from_folder = data not in ("digits", "generated")
        self.files = folder_files(Path(data), network.recipe.modality) if from_folder else []
        self.labels = {name: i for i, name in enumerate(sorted({f.parent for f in self.files}))}

    def __len__(self) -> int:
        if self.digits is not None:
            return len(self.digits.target)
        return len(self.files) or self.network.recipe.dataset_size

    def __getitem__(self, index: int) -> Tuple[Any, Any]:
        if self.digits is not None:
            image = torch.from_numpy(self.digits.images[index] * 15.9).to(torch.uint8)[None]
            return self.network.sample(index, resized(image, 32), int(self.digits.target[index]))
        if not self.files:
            return self.network.sample(index)
        path = self.files[index]
        label = self.labels[path.parent] if len(self.labels) > 1 else None
        return self.network.sample(
            index, READERS[self.network.recipe.modality](path, self.network.size), label
        )


def read_digits(network: Any) -> Any:
    """scikit-learn's 1,797 real handwritten digits, 8 x 8: real work where no data set is at hand."""
    if network.name != "lenet5":
        raise ValueError("the digits are for lenet5, not for %s" % network.name)
    from sklearn.datasets import load_digits

    return load_digits()


def folder_files(folder: Path, modality: str) -> List[Path]:
    suffixes = SUFFIXES[modality]
    files = sorted(p for p in folder.rglob("*") if p.suffix.lower() in suffixes and p.is_file())
    if not files:
        raise ValueError("no %s file (%s) in %s" % (modality, ", ".join(sorted(suffixes)), folder))
    return files


def warm_or_drop(files: List[Path], cache: str) -> None:
    """Bring a data set into the page cache (PowerTrain 2.4), or out of it ("Characterizing" 4.4)."""
    for path in files if cache != "as-is" else []:
        with path.open("rb") as file:
            if cache == "warm":
                while file.read(1 << 20):
                    pass
            else:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def resized(image: torch.Tensor, side: int) -> torch.Tensor:
    scaled = torch.nn.functional.interpolate(
        image[None].float(), (side, side), mode="bilinear", align_corners=False
    )
    return scaled[0].round().to(torch.uint8)


def read_image(path: Path, size: Dict[str, int]) -> torch.Tensor:
    from PIL import Image

    with Image.open(path) as image:
        small = image.convert("L" if size["channels"] == 1 else "RGB").resize((size["side"], size["side"]))
    pixels = torch.frombuffer(bytearray(small.tobytes()), dtype=torch.uint8)
    return pixels.view(size["side"], size["side"], size["channels"]).permute(2, 0, 1)


def read_text(path: Path, size: Dict[str, int]) -> torch.Tensor:
    """Bytes of the text as token ids, repeated or cut to the length: no tokenizer on a bare board."""
    data = path.read_bytes()[: size["length"]] or b" "
    ids = [1 + byte % (size["vocabulary"] - 1) for byte in data]
    return torch.tensor((ids * (size["length"] // len(ids) + 1))[: size["length"]])


def read_audio(path: Path, size: Dict[str, int]) -> torch.Tensor:
    with wave.open(str(path)) as file:
        if file.getsampwidth() != 2 or file.getnchannels() != 1:
            raise ValueError("%s is not 16-bit mono sound" % path)
        data = file.readframes(size["samples"])
    padded = bytearray(data.ljust(2 * size["samples"], b"\0"))
    return torch.frombuffer(padded, dtype=torch.int16)


READERS = {"image": read_image, "text": read_text, "audio": read_audio}


# --- where workloads come from --------------------------------------------------------------------


def load_file(path: Path) -> ModuleType:
    """A Python file as a module, without its folder on the import path."""
    spec = importlib.util.spec_from_file_location(path.stem, str(path))
    if spec is None or spec.loader is None:
        raise ValueError("%s is not a Python file" % path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def zoo_source(options: argparse.Namespace) -> Source:
    zoo = load_file(Path(__file__).with_name("zoo.py"))
    network = zoo.Network(options.network, small=options.small, **dict(options.size))
    samples = Samples(network, options.data)
    warm_or_drop(samples.files, options.cache)
    if len(samples) < options.minibatch:
        raise ValueError("%d samples do not fill one minibatch of %d" % (len(samples), options.minibatch))
    workers = (
        {} if options.workers == 0 else {"prefetch_factor": options.prefetch, "persistent_workers": True}
    )
    loader = DataLoader(
        samples, options.minibatch, shuffle=True, drop_last=True, num_workers=options.workers,
        pin_memory=options.device.startswith("cuda"),
        multiprocessing_context="fork" if options.workers else None, **workers,
    )  # fmt: skip
    facts = {"network": options.network, "dataset": network.recipe.dataset, "size": network.size}
    return Source(
        network.module, lambda: loader, network.loss, dict(facts, samples=len(samples), data=options.data)
    )


def file_source(options: argparse.Namespace) -> Source:
    """A user's workload: a folder with workload.py, a torch.export file, or an ONNX file."""
    path = Path(options.file)
    if path.is_dir():
        return folder_source(path, options)
    if options.kind != "inference":
        raise ValueError("%s can only be run as inference; training needs a workload.py" % path.name)
    if path.suffix == ".onnx":
        return onnx_source(path, options)
    return exported_source(path, options)


def folder_source(folder: Path, options: argparse.Namespace) -> Source:
    sys.path.insert(0, str(folder))
    module = load_file(folder / "workload.py")
    missing = [name for name in ("build", "batches") if not callable(getattr(module, name, None))]
    if missing:
        raise ValueError("workload.py does not define the function %s" % " and ".join(missing))
    loss = getattr(module, "loss", torch.nn.functional.cross_entropy)
    return Source(module.build(), lambda: module.batches(options.minibatch), loss, {"file": "workload.py"})


def exported_source(path: Path, options: argparse.Namespace) -> Source:
    program = torch.export.load(str(path))
    names = program.graph_signature.user_inputs
    nodes = {node.name: node.meta["val"] for node in program.graph.nodes if node.op == "placeholder"}
    shapes = [[d if isinstance(d, int) else None for d in nodes[name].shape] for name in names]
    tensors = [
        random_input(str(name), shape, nodes[name].dtype, options.minibatch)
        for name, shape in zip(names, shapes)
    ]
    return Source(program.module(), lambda: repeat(tensors), None, {"file": path.name})


def onnx_source(path: Path, options: argparse.Namespace) -> Source:
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = options.threads or 0
    wanted = ["CUDAExecutionProvider"] if options.device.startswith("cuda") else []
    providers = [p for p in wanted + ["CPUExecutionProvider"] if p in onnxruntime.get_available_providers()]
    session = onnxruntime.InferenceSession(str(path), settings, providers=providers)
    feed = {}
    for entry in session.get_inputs():
        shape = [d if isinstance(d, int) else None for d in entry.shape]
        feed[entry.name] = random_input(entry.name, shape, ONNX_TYPES[entry.type], options.minibatch).numpy()
    facts = {"file": path.name, "onnxruntime": onnxruntime.__version__, "providers": session.get_providers()}
    return Source(lambda batch: session.run(None, batch), lambda: repeat(feed), None, facts)


ONNX_TYPES = {
    "tensor(float)": torch.float32, "tensor(float16)": torch.float16, "tensor(double)": torch.float64,
    "tensor(int64)": torch.int64, "tensor(int32)": torch.int32, "tensor(uint8)": torch.uint8,
    "tensor(int8)": torch.int8, "tensor(bool)": torch.bool,
}  # fmt: skip


def random_input(name: str, shape: List[Optional[int]], dtype: torch.dtype, minibatch: int) -> torch.Tensor:
    """Random values of an input's shape; None = free, and only the first dimension may be: the minibatch."""
    if None in shape[1:]:
        raise ValueError(
            "input %s: only the minibatch dimension may be free, its shape is %s" % (name, shape)
        )
    if shape and shape[0] not in (None, minibatch):
        raise ValueError("input %s is fixed to a minibatch of %s, not %d" % (name, shape[0], minibatch))
    full = [minibatch if size is None else size for size in shape]
    if dtype.is_floating_point:
        return torch.randn(full).to(dtype)
    return torch.randint(0, 2, full).to(dtype)


def repeat(batch: Any, times: int = 1000) -> Iterator[Any]:
    return (batch for _ in range(times))


# --- one minibatch --------------------------------------------------------------------------------


class Step:
    """One minibatch of training (SGD 0.01, momentum 0.9: "Characterizing" 4.4) or of inference."""

    def __init__(self, source: Source, options: argparse.Namespace) -> None:
        self.source, self.options, self.device = source, options, torch.device(options.device)
        self.training = options.kind == "training"
        self.half = {"fp16": torch.float16, "bf16": torch.bfloat16}.get(options.precision)
        self.call, self.prepared = source.call, False
        self.loss: Any = None
        if isinstance(source.call, torch.nn.Module):
            self._place(source.call)
        elif options.precision != "fp32" or options.graph != "eager":
            raise ValueError("an ONNX file runs as it is: precision fp32, graph eager")

    def _place(self, module: torch.nn.Module) -> None:
        module.to(self.device)
        # An exported program is already in the mode it was exported in, and refuses train() and eval().
        if self.source.loss is not None:
            module.train(self.training)
        if self.training:
            self.optimizer = torch.optim.SGD(module.parameters(), lr=0.01, momentum=0.9)
            scaled = self.half is torch.float16 and self.device.type == "cuda"
            self.scaler = grad_scaler() if scaled else None

    def __call__(self, batch: Any) -> None:
        if not isinstance(self.source.call, torch.nn.Module):
            self.call(batch)
            return
        inputs, target = batch if self.source.loss else (batch, None)
        inputs = moved(inputs if isinstance(inputs, (tuple, list)) else [inputs], self.device)
        with torch.inference_mode(not self.training), self._precision():
            if not self.prepared:
                self._graph(inputs)
            outputs = self.call(*inputs)
            if self.training and self.source.loss:
                self.loss = self.source.loss(outputs, moved(target, self.device))
        if self.training:
            self._backward()

    def _precision(self) -> Any:
        if self.half is None:
            return contextlib.nullcontext()
        return torch.autocast(self.device.type, dtype=self.half)

    def _graph(self, inputs: Tuple[Any, ...]) -> None:
        """Trace or compile at the first minibatch, whose time nobody keeps."""
        self.prepared = True
        if self.options.graph == "compiled":
            self.call = torch.compile(self.call)
        elif self.options.graph == "traced":
            self.call = torch.jit.trace(self.call, inputs, check_trace=False)

    def _backward(self) -> None:
        self.optimizer.zero_grad()
        if self.scaler is None:
            self.loss.backward()
            self.optimizer.step()
            return
        self.scaler.scale(self.loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()


def grad_scaler() -> Any:
    newer = getattr(torch.amp, "GradScaler", None)
    return newer("cuda") if newer else torch.cuda.amp.GradScaler()


def moved(value: Any, device: torch.device) -> Any:
    """Tensors on the device, also those within tuples, lists and dicts."""
    if isinstance(value, dict):
        return {name: moved(item, device) for name, item in value.items()}
    if isinstance(value, (tuple, list)):
        return tuple(moved(item, device) for item in value)
    return value.to(device, non_blocking=True) if isinstance(value, torch.Tensor) else value


class WallTimer:
    def start(self) -> None:
        self.begun = time.monotonic()

    def stop_ms(self) -> float:
        return (time.monotonic() - self.begun) * 1000


class CudaTimer:
    """GPU time between two CUDA events, waited for: launches alone return at once."""

    def __init__(self) -> None:
        self.begin, self.end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def start(self) -> None:
        self.begin.record()

    def stop_ms(self) -> float:
        self.end.record()
        self.end.synchronize()
        return self.begin.elapsed_time(self.end)


# --- the loop -------------------------------------------------------------------------------------


class Loop:
    """Minibatch after minibatch until told to stop, a limit is reached, or the times are steady."""

    def __init__(self, source: Source, step: Step, reporter: Reporter, control: Control) -> None:
        self.source, self.step, self.reporter, self.control = source, step, reporter, control
        self.options = step.options
        self.timer: Any = CudaTimer() if step.device.type == "cuda" else WallTimer()
        self.times: List[float] = []
        self.count, self.begun = 0, time.monotonic()

    def run(self) -> str:
        epoch = 0
        while True:
            begun, before = time.monotonic(), self.count
            reason = self._epoch(epoch)
            if self.count == before and reason is None:
                raise ValueError("batches() yielded nothing")
            loss = None if self.step.loss is None else float(self.step.loss.detach())
            seconds = time.monotonic() - begun
            self.reporter.event(
                "epoch", epoch=epoch, minibatches=self.count - before, seconds=seconds, loss=loss
            )
            if reason:
                return reason
            epoch += 1

    def _epoch(self, epoch: int) -> Optional[str]:
        previous = time.monotonic()
        for batch in self.source.epoch():
            fetched = time.monotonic()
            self.timer.start()
            self.step(batch)
            compute_ms = self.timer.stop_ms()
            end = time.monotonic()
            times = [(fetched - previous) * 1000, compute_ms, (end - previous) * 1000]
            self.reporter.minibatch(self.count, epoch, end, *times)
            self.times += times[2:] if self.count else []
            self.count += 1
            self._hold()
            reason = self._finished()
            if reason:
                return reason
            previous = time.monotonic()
        return None

    def _hold(self) -> None:
        if not self.control.running.is_set():
            self.reporter.event("paused")
            self.control.running.wait()

    def _finished(self) -> Optional[str]:
        options = self.options
        if self.control.stopped.is_set():
            return "stopped"
        if options.max_minibatches and self.count >= options.max_minibatches:
            return "max_minibatches"
        if options.max_seconds and time.monotonic() - self.begun >= options.max_seconds:
            return "max_seconds"
        # Sorting is not free: look only each time the count has grown by a tenth.
        due = (
            options.spread
            and len(self.times) >= options.minibatches
            and self.count % max(1, self.count // 10) == 0
        )
        if due and spread_ms(self.times) <= options.spread * statistics.median(self.times):
            return "steady"
        return None


def spread_ms(times: List[float]) -> float:
    """Interquartile range, ms."""
    if len(times) < 2:
        return 0.0
    quarters = statistics.quantiles(times, n=4)
    return quarters[2] - quarters[0]


def parsed(argv: Optional[List[str]] = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run a workload, print a JSON line for each minibatch.")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--network", help="a network of zoo.py")
    what.add_argument("--file", help="a folder with workload.py, a .pt2 or an .onnx file")
    parser.add_argument("--kind", choices=["training", "inference"], default="training")
    parser.add_argument("--minibatch", type=int, default=16)
    parser.add_argument("--workers", type=int, default=0, help="loader processes, 0: fetch in the main one")
    parser.add_argument("--prefetch", type=int, default=2, help="minibatches each loader process holds ready")
    parser.add_argument("--precision", choices=["fp32", "fp16", "bf16"], default="fp32")
    parser.add_argument("--graph", choices=["eager", "compiled", "traced"], default="eager")
    parser.add_argument("--data", default="generated", help="a folder, 'generated', or 'digits' for lenet5")
    parser.add_argument(
        "--cache", choices=["as-is", "warm", "cold"], default="warm", help="of a folder's files"
    )
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--threads", type=int, help="torch's threads, usually the board's active cores")
    parser.add_argument(
        "--minibatches", type=int, default=40, help="at least so many before --spread ends it"
    )
    parser.add_argument(
        "--spread", type=float, default=0.0, help="end when IQR / median falls to this; 0: never"
    )
    parser.add_argument("--max-minibatches", type=int, default=0)
    parser.add_argument("--max-seconds", type=float, default=0.0)
    parser.add_argument("--size", type=sized, action="append", default=[], help="length=128, side=320, ...")
    parser.add_argument("--small", action="store_true", help="the tests' tiny inputs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--controlled", action="store_true", help="obey go, pause and stop on standard input")
    return parser.parse_args(argv)


def sized(text: str) -> Tuple[str, int]:
    name, _, value = text.partition("=")
    return name, int(value)


def started(source: Source, options: argparse.Namespace) -> Dict[str, Any]:
    """What a reader must know to trust or repeat the figures."""
    module = source.call if isinstance(source.call, torch.nn.Module) else None
    gpu = options.device.startswith("cuda")
    kept = ("kind", "minibatch", "workers", "prefetch", "precision", "graph", "cache", "device", "seed")
    return dict(
        {name: getattr(options, name) for name in kept},
        parameters=sum(p.numel() for p in module.parameters()) if module else None,
        threads=torch.get_num_threads(), python=platform.python_version(), torch=torch.__version__,
        gpu=torch.cuda.get_device_name() if gpu else None, cuda=torch.version.cuda,
        cudnn=torch.backends.cudnn.version() if gpu else None,
        transformers=getattr(sys.modules.get("transformers"), "__version__", None), **source.facts,
    )  # fmt: skip


def run(options: argparse.Namespace, reporter: Reporter, control: Control) -> None:
    torch.manual_seed(options.seed)
    if options.threads:
        torch.set_num_threads(options.threads)
    source = zoo_source(options) if options.network else file_source(options)
    step = Step(source, options)
    reporter.event("start", **started(source, options))
    if options.controlled:
        reporter.event("ready")
    control.running.wait()
    loop = Loop(source, step, reporter, control)
    reason = "stopped" if control.stopped.is_set() else loop.run()
    median = statistics.median(loop.times) if loop.times else None
    reporter.event(
        "done", reason=reason, minibatches=loop.count, median_ms=median, iqr_ms=spread_ms(loop.times)
    )


def main(argv: Optional[List[str]] = None) -> int:
    options = parsed(argv)
    reporter = Reporter()
    try:
        run(options, reporter, Control(options.controlled))
    except BrokenPipeError:
        return 1  # Nobody reads any more: the agent has gone.
    except Exception as error:  # noqa: BLE001 - a user's workload may raise anything, and must be told what
        lines = traceback.format_exc().strip().splitlines()
        reporter.event("error", kind=type(error).__name__, message=str(error), trace=lines[-20:])
        return 1
    return 0


if __name__ == "__main__":
    # Leave at once: loader workers and a user's own threads must not hold up the next mode.
    code = main()
    for child in multiprocessing.active_children():
        child.terminate()
    sys.stderr.flush()
    os._exit(code)
