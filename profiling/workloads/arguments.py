"""A workload as the server describes it, in runner.py's words. No torch: the agent lives without it."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from profiling.errors import InvalidInput

# The networks of zoo.py; the text ones take a sequence length.
TEXT_NETWORKS = ("lstm", "bert_tiny", "distilbert", "bert_base")
IMAGE_NETWORKS = ("lenet5", "alexnet", "resnet18", "mobilenet_v2", "mobilenet_v3", "vgg11", "yolo_tiny")
NETWORKS = (*IMAGE_NETWORKS, *TEXT_NETWORKS, "wav2vec2")
CHOICES = {
    "kind": ("training", "inference"),
    "precision": ("fp32", "fp16", "bf16"),
    "graph": ("eager", "compiled", "traced"),
    "cache": ("as-is", "warm", "cold"),
}
PATTERNS = {"device": r"cpu|cuda(:\d{1,2})?", "data": r"generated|digits|/[^\0]+"}
NUMBERS = {"minibatch": 1, "workers": 0, "prefetch": 1, "seed": 0}
OPTIONS = ("prefetch", "graph", "cache", "device", "data", "seed")


def runner_arguments(workload: Mapping[str, Any], minibatch: int, file: Path | None = None) -> list[str]:
    """The arguments of runner.py for a claimed workload; `file`: its own unpacked package, if it has one.

    workload: kind, network, loader_workers, sequence_length, precision and runner_options as the API gives
    them. InvalidInput with every value the runner would refuse in `errors`.
    """
    extra = dict(workload.get("runner_options") or {})
    values = {
        "kind": workload["kind"],
        "minibatch": minibatch,
        "workers": workload.get("loader_workers"),
        "precision": workload.get("precision") or None,
        **{name: extra.pop(name) for name in OPTIONS if name in extra},
    }
    values = {name: value for name, value in values.items() if value is not None}
    faults = [f"{name} is no option of the runner: {', '.join(OPTIONS)}" for name in extra]
    faults += _faults(values)
    network = None if file else zoo_name(workload.get("network") or "")
    if not file and network is None:
        faults.append(f"network {workload.get('network')!r} is none of {', '.join(NETWORKS)}")
    length = workload.get("sequence_length")
    if length and network not in TEXT_NETWORKS:
        faults.append(f"a sequence length is for {', '.join(TEXT_NETWORKS)}")
    if faults:
        raise InvalidInput(f"This workload cannot be run: {faults[0]}", errors=faults)
    arguments = ["--file", str(file)] if file else ["--network", str(network)]
    arguments += [text for name, value in values.items() for text in (f"--{name}", str(value))]
    return [*arguments, *(["--size", f"length={length}"] if length else [])]


def _faults(values: Mapping[str, Any]) -> Iterator[str]:
    for name, value in values.items():
        if name in CHOICES and value not in CHOICES[name]:
            yield f"{name} {value!r} is none of {', '.join(CHOICES[name])}"
        if name in PATTERNS and not re.fullmatch(PATTERNS[name], str(value)):
            yield f"{name} {value!r} is none the runner knows"
        if name in NUMBERS and not (type(value) is int and value >= NUMBERS[name]):
            yield f"{name} {value!r} is no whole number of {NUMBERS[name]} or more"


def zoo_name(network: str) -> str | None:
    """The zoo's name for "ResNet-18", "mobilenetv3" and the like; None when the zoo lacks it."""

    def plain(name: str) -> str:
        return re.sub(r"[^a-z0-9]", "", name.lower())

    return next((name for name in NETWORKS if plain(name) == plain(network)), None)
