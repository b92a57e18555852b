"""The networks of the five papers, each with the shapes of its dataset and its loss.

Plain torch, so that it runs on a Jetson's own Python 3.8; the transformers are built from their
configuration (random weights, nothing downloaded) when that library is installed. Architectures follow
the papers named at each class; the parameter counts in the tests are the published ones.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional


class Recipe(NamedTuple):
    """How to build one network and how to feed it.

    modality: "image" (raw uint8 (channels, side, side)), "text" (int64 (length,)) or "audio" (int16 (n,)).
    size: every number of the input that may be made smaller; small: the values tests use.
    prepare(raw, size, generator, label) -> (inputs, target): what a loader worker does to one sample.
    loss(outputs, target) -> scalar, of a whole minibatch.
    """

    build: Callable[[Dict[str, int]], nn.Module]
    modality: str
    prepare: Callable[[Tensor, Dict[str, int], torch.Generator, Optional[int]], Tuple[Any, Any]]
    loss: Callable[[Any, Any], Tensor]
    dataset: str
    dataset_size: int
    size: Dict[str, int]
    small: Dict[str, int]


class Network:
    """One network of the zoo at one size: `module`, `loss`, and generated or prepared samples."""

    def __init__(self, name: str, small: bool = False, **size: int) -> None:
        recipe = RECIPES[recipe_name(name)]
        unknown = sorted(set(size) - set(recipe.size))
        if unknown:
            raise ValueError("%s has no size %s; it has %s" % (name, unknown, sorted(recipe.size)))
        self.name, self.recipe = name, recipe
        self.size = dict(recipe.size, **(recipe.small if small else {}), **size)
        self.module = recipe.build(self.size)
        self.loss = recipe.loss

    def raw(self, generator: torch.Generator) -> Tensor:
        """A random sample as it would lie in storage: uint8 pixels, token ids or 16-bit audio."""
        if self.recipe.modality == "image":
            pixels = (self.size["channels"], self.size["side"], self.size["side"])
            return torch.randint(0, 256, pixels, generator=generator, dtype=torch.uint8)
        if self.recipe.modality == "text":
            return torch.randint(1, self.size["vocabulary"], (self.size["length"],), generator=generator)
        return torch.randint(-(2**15), 2**15, (self.size["samples"],), generator=generator, dtype=torch.int16)

    def sample(
        self, index: int, raw: Optional[Tensor] = None, label: Optional[int] = None
    ) -> Tuple[Any, Any]:
        """Sample `index`, always the same for the same index: (inputs, target), without minibatch axis."""
        generator = torch.Generator().manual_seed(index)
        raw = self.raw(generator) if raw is None else raw
        return self.recipe.prepare(raw, self.size, generator, label)


def _pixels(raw: Tensor) -> Tensor:
    return (raw.float() / 255 - 0.5) / 0.25


def _draw(high: int, generator: torch.Generator, shape: Tuple[int, ...] = ()) -> Tensor:
    return torch.randint(0, high, shape, generator=generator)


def classify_image(
    raw: Tensor, size: Dict[str, int], generator: torch.Generator, label: Optional[int]
) -> Tuple[Tensor, Tensor]:
    return _pixels(raw), _draw(size["classes"], generator) if label is None else torch.tensor(label)


class LeNet5(nn.Sequential):
    """LeCun et al. 1998, as usually taught: 32 x 32 grey pixels."""

    def __init__(self, classes: int) -> None:
        super().__init__(
            *(nn.Conv2d(1, 6, 5), nn.Tanh(), nn.AvgPool2d(2)),
            *(nn.Conv2d(6, 16, 5), nn.Tanh(), nn.AvgPool2d(2), nn.Flatten()),
            *(nn.Linear(400, 120), nn.Tanh(), nn.Linear(120, 84), nn.Tanh(), nn.Linear(84, classes)),
        )


class AlexNet(nn.Sequential):
    """Krizhevsky 2014, "One weird trick": the single-column variant."""

    def __init__(self, classes: int) -> None:
        layers: List[nn.Module] = []
        plan = (
            (3, 64, 11, 4, 2),
            (64, 192, 5, 1, 2),
            (192, 384, 3, 1, 1),
            (384, 256, 3, 1, 1),
            (256, 256, 3, 1, 1),
        )
        for index, (inward, out, kernel, stride, padding) in enumerate(plan):
            layers += [nn.Conv2d(inward, out, kernel, stride, padding), nn.ReLU(inplace=True)]
            if index in (0, 1, 4):
                layers.append(nn.MaxPool2d(3, 2))
        layers += [nn.AdaptiveAvgPool2d(6), nn.Flatten()]
        super().__init__(*layers, *_big_head(256 * 36, classes))


class VGG11(nn.Sequential):
    """Simonyan and Zisserman 2014, configuration A."""

    def __init__(self, classes: int) -> None:
        layers: List[nn.Module] = []
        inward = 3
        for out in (64, 0, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0):
            layers += (
                [nn.Conv2d(inward, out, 3, padding=1), nn.ReLU(inplace=True)] if out else [nn.MaxPool2d(2)]
            )
            inward = out or inward
        layers += [nn.AdaptiveAvgPool2d(7), nn.Flatten()]
        super().__init__(*layers, *_big_head(512 * 49, classes))


def _big_head(features: int, classes: int) -> List[nn.Module]:
    hidden = [nn.Linear(features, 4096), nn.ReLU(inplace=True), nn.Dropout()]
    return hidden + [nn.Linear(4096, 4096), nn.ReLU(inplace=True), nn.Dropout(), nn.Linear(4096, classes)]


def _conv(
    inward: int, out: int, kernel: int, stride: int = 1, groups: int = 1, act: Any = nn.ReLU
) -> nn.Sequential:
    """Convolution, batch norm, activation (None: none)."""
    layers = [
        nn.Conv2d(inward, out, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(out),
    ]
    return nn.Sequential(*layers, *([act()] if act else []))


class BasicBlock(nn.Module):
    def __init__(self, inward: int, out: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(_conv(inward, out, 3, stride), _conv(out, out, 3, act=None))
        same = inward == out and stride == 1
        self.skip = nn.Identity() if same else _conv(inward, out, 1, stride, act=None)

    def forward(self, x: Tensor) -> Tensor:
        return functional.relu(self.body(x) + self.skip(x))


class ResNet18(nn.Sequential):
    """He et al. 2015."""

    def __init__(self, classes: int) -> None:
        layers: List[nn.Module] = [_conv(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1)]
        inward = 64
        for out, stride in ((64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1)):
            layers.append(BasicBlock(inward, out, stride))
            inward = out
        super().__init__(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, classes))


class SqueezeExcite(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        # Rounded to a multiple of 8 as MobileNet-v3 does, never below nine tenths of a quarter.
        squeezed = max(8, (channels // 4 + 4) // 8 * 8)
        squeezed += 8 if squeezed < 0.9 * channels / 4 else 0
        self.scale = nn.Sequential(
            *(nn.AdaptiveAvgPool2d(1), nn.Conv2d(channels, squeezed, 1), nn.ReLU()),
            *(nn.Conv2d(squeezed, channels, 1), nn.Hardsigmoid()),
        )

    def forward(self, x: Tensor) -> Tensor:
        return x * self.scale(x)


class InvertedResidual(nn.Module):
    """Expand, depthwise, (squeeze and excite,) project: the block of MobileNet-v2 and v3."""

    def __init__(
        self, inward: int, wide: int, out: int, kernel: int, stride: int, act: Any, squeeze: bool = False
    ) -> None:
        super().__init__()
        layers: List[nn.Module] = [_conv(inward, wide, 1, act=act)] if wide != inward else []
        layers.append(_conv(wide, wide, kernel, stride, groups=wide, act=act))
        layers += [SqueezeExcite(wide)] if squeeze else []
        self.body = nn.Sequential(*layers, _conv(wide, out, 1, act=None))
        self.residual = inward == out and stride == 1

    def forward(self, x: Tensor) -> Tensor:
        return x + self.body(x) if self.residual else self.body(x)


class MobileNetV2(nn.Sequential):
    """Sandler et al. 2018, Table 2."""

    def __init__(self, classes: int) -> None:
        layers: List[nn.Module] = [_conv(3, 32, 3, 2, act=nn.ReLU6)]
        inward = 32
        plan = (
            (1, 16, 1, 1),
            (6, 24, 2, 2),
            (6, 32, 3, 2),
            (6, 64, 4, 2),
            (6, 96, 3, 1),
            (6, 160, 3, 2),
            (6, 320, 1, 1),
        )
        for widen, out, repeats, stride in plan:
            for step in range(repeats):
                layers.append(
                    InvertedResidual(inward, inward * widen, out, 3, 1 if step else stride, nn.ReLU6)
                )
                inward = out
        layers += [_conv(320, 1280, 1, act=nn.ReLU6), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
        super().__init__(*layers, nn.Dropout(0.2), nn.Linear(1280, classes))


class MobileNetV3(nn.Sequential):
    """Howard et al. 2019, Table 1 (Large): kernel, expansion, out, squeeze, hard swish, stride."""

    PLAN = (
        *((3, 16, 16, 0, 0, 1), (3, 64, 24, 0, 0, 2), (3, 72, 24, 0, 0, 1), (5, 72, 40, 1, 0, 2)),
        *((5, 120, 40, 1, 0, 1), (5, 120, 40, 1, 0, 1), (3, 240, 80, 0, 1, 2), (3, 200, 80, 0, 1, 1)),
        *((3, 184, 80, 0, 1, 1), (3, 184, 80, 0, 1, 1), (3, 480, 112, 1, 1, 1), (3, 672, 112, 1, 1, 1)),
        *((5, 672, 160, 1, 1, 2), (5, 960, 160, 1, 1, 1), (5, 960, 160, 1, 1, 1)),
    )

    def __init__(self, classes: int) -> None:
        layers: List[nn.Module] = [_conv(3, 16, 3, 2, act=nn.Hardswish)]
        inward = 16
        for kernel, wide, out, squeeze, swish, stride in self.PLAN:
            act = nn.Hardswish if swish else nn.ReLU
            layers.append(InvertedResidual(inward, wide, out, kernel, stride, act, bool(squeeze)))
            inward = out
        layers += [_conv(160, 960, 1, act=nn.Hardswish), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
        layers += [nn.Linear(960, 1280), nn.Hardswish(), nn.Dropout(0.2), nn.Linear(1280, classes)]
        super().__init__(*layers)


def _leaky() -> nn.Module:
    return nn.LeakyReLU(0.1)


class TinyYolo(nn.Module):
    """The shape of YOLOv3-tiny (Redmon and Farhadi 2018): two grids of three anchors, 5 + classes each."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.classes = classes
        early: List[nn.Module] = [_conv(3, 16, 3, act=_leaky)]
        for inward in (16, 32, 64, 128):
            early += [nn.MaxPool2d(2), _conv(inward, inward * 2, 3, act=_leaky)]
        self.early = nn.Sequential(*early)
        late = (_conv(256, 512, 3, act=_leaky), nn.ZeroPad2d((0, 1, 0, 1)), nn.MaxPool2d(2, 1))
        self.late = nn.Sequential(
            nn.MaxPool2d(2), *late, _conv(512, 1024, 3, act=_leaky), _conv(1024, 256, 1, act=_leaky)
        )
        self.coarse = nn.Sequential(_conv(256, 512, 3, act=_leaky), nn.Conv2d(512, 3 * (5 + classes), 1))
        self.up = nn.Sequential(_conv(256, 128, 1, act=_leaky), nn.Upsample(scale_factor=2))
        self.fine = nn.Sequential(_conv(384, 256, 3, act=_leaky), nn.Conv2d(256, 3 * (5 + classes), 1))

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        early = self.early(x)
        late = self.late(early)
        return self.coarse(late), self.fine(torch.cat([self.up(late), early], 1))


def detect_objects(
    raw: Tensor, size: Dict[str, int], generator: torch.Generator, label: Optional[int], objects: int = 7
) -> Tuple[Tensor, Tuple[Tensor, Tensor]]:
    """Seven boxes an image (COCO's mean), each given to its cell of both grids: x, y, w, h, object, class."""
    boxes, kinds = (
        torch.rand((objects, 4), generator=generator),
        _draw(size["classes"], generator, (objects,)),
    )
    anchors, targets = _draw(3, generator, (objects,)), []
    for cells in (size["side"] // 32, size["side"] // 16):
        grid = torch.zeros(3, 6, cells, cells)
        column, row = (boxes[:, 0] * cells).long(), (boxes[:, 1] * cells).long()
        grid[anchors, :4, row, column] = boxes
        grid[anchors, 4, row, column] = 1
        grid[anchors, 5, row, column] = kinds.float()
        targets.append(grid)
    return _pixels(raw), (targets[0], targets[1])


def detection_loss(outputs: Tuple[Tensor, Tensor], targets: Tuple[Tensor, Tensor]) -> Tensor:
    """Objectness everywhere, box and class where an object is."""
    total = outputs[0].new_zeros(())
    for output, target in zip(outputs, targets):
        count, _, _, cells, _ = target.shape
        guess = output.float().view(count, 3, -1, cells, cells)
        here = target[:, :, 4] > 0
        total = total + functional.binary_cross_entropy_with_logits(guess[:, :, 4], target[:, :, 4])
        found, truth = guess.permute(0, 1, 3, 4, 2)[here], target.permute(0, 1, 3, 4, 2)[here]
        total = total + functional.mse_loss(found[:, :4], truth[:, :4])
        total = total + functional.cross_entropy(found[:, 5:], truth[:, 5].long())
    return total


class WordLSTM(nn.Module):
    """Two layers, tied embedding: next-word prediction on Wikitext-2."""

    def __init__(self, vocabulary: int, width: int = 256) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.lstm = nn.LSTM(width, width, num_layers=2, batch_first=True, dropout=0.2)
        self.word = nn.Linear(width, vocabulary)
        self.word.weight = self.embedding.weight

    def forward(self, ids: Tensor) -> Tensor:
        return self.word(self.lstm(self.embedding(ids))[0])


def next_word(
    raw: Tensor, size: Dict[str, int], generator: torch.Generator, label: Optional[int]
) -> Tuple[Any, Any]:
    return raw, torch.roll(raw, -1)


def word_loss(outputs: Tensor, target: Tensor) -> Tensor:
    return functional.cross_entropy(outputs.flatten(0, 1), target.flatten())


class Logits(nn.Module):
    """A transformers network as a plain one: the first input in, a tuple or tensor of logits out."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: Tensor) -> Any:
        outputs = self.network(x, return_dict=False)
        return outputs[0] if len(outputs) == 1 else (outputs[0], outputs[1])


def _bert(head: str, layers: int, width: int) -> Callable[[Dict[str, int]], nn.Module]:
    def build(size: Dict[str, int]) -> nn.Module:
        import transformers

        config = transformers.BertConfig(
            vocab_size=size["vocabulary"],
            hidden_size=width,
            num_hidden_layers=layers,
            num_attention_heads=width // 64,
            intermediate_size=4 * width,
        )
        return Logits(getattr(transformers, head)(config))

    return build


def _distilbert(size: Dict[str, int]) -> nn.Module:
    import transformers

    config = transformers.DistilBertConfig(vocab_size=size["vocabulary"])
    return Logits(transformers.DistilBertForSequenceClassification(config))


def _wav2vec2(size: Dict[str, int]) -> nn.Module:
    import transformers

    # SpecAugment masks spans longer than a test's short clip; it costs no measurable time.
    config = transformers.Wav2Vec2Config(apply_spec_augment=False, num_hidden_layers=size["layers"])
    return Logits(transformers.Wav2Vec2ForCTC(config))


def answer_question(
    raw: Tensor, size: Dict[str, int], generator: torch.Generator, label: Optional[int]
) -> Tuple[Any, Any]:
    return raw, _draw(size["length"], generator, (2,))


def answer_loss(outputs: Tuple[Tensor, Tensor], target: Tensor) -> Tensor:
    start, end = (functional.cross_entropy(o, target[:, i]) for i, o in enumerate(outputs))
    return (start + end) / 2


def classify_text(
    raw: Tensor, size: Dict[str, int], generator: torch.Generator, label: Optional[int]
) -> Tuple[Any, Any]:
    return raw, _draw(2, generator) if label is None else torch.tensor(label)


def transcribe(
    raw: Tensor, size: Dict[str, int], generator: torch.Generator, label: Optional[int]
) -> Tuple[Any, Any]:
    """Fifteen letters a second of 16 kHz speech."""
    return raw.float() / 2**15, 1 + _draw(31, generator, (max(1, size["samples"] * 15 // 16_000),))


def transcription_loss(outputs: Tensor, target: Tensor) -> Tensor:
    letters = functional.log_softmax(outputs.float(), -1).transpose(0, 1)
    lengths = [
        torch.full((target.shape[0],), n, dtype=torch.long) for n in (letters.shape[0], target.shape[1])
    ]
    return functional.ctc_loss(letters, target, lengths[0], lengths[1], zero_infinity=True)


def _image_recipe(
    build: Any, dataset: str, count: int, classes: int, side: int = 224, small: int = 64
) -> Recipe:
    return Recipe(
        build=lambda size: build(size["classes"]),
        modality="image",
        prepare=classify_image,
        loss=functional.cross_entropy,
        dataset=dataset,
        dataset_size=count,
        size={"channels": 3, "side": side, "classes": classes},
        small={"side": small, "classes": 10},
    )


def _text_recipe(build: Any, dataset: str, count: int, length: int, words: int = 30_522) -> Recipe:
    return Recipe(
        build=build,
        modality="text",
        prepare=classify_text,
        loss=functional.cross_entropy,
        dataset=dataset,
        dataset_size=count,
        size={"length": length, "vocabulary": words},
        small={"length": 8, "vocabulary": 50},
    )


RECIPES: Dict[str, Recipe] = {
    "lenet5": _image_recipe(LeNet5, "MNIST", 60_000, 10)._replace(
        size={"channels": 1, "side": 32, "classes": 10}, small={}
    ),
    "alexnet": _image_recipe(AlexNet, "ImageNet validation", 50_000, 1000),
    "resnet18": _image_recipe(ResNet18, "ImageNet validation", 50_000, 1000),
    "mobilenet_v2": _image_recipe(MobileNetV2, "GLD-23k", 23_080, 203),
    "mobilenet_v3": _image_recipe(MobileNetV3, "GLD-23k", 23_080, 203),
    "vgg11": _image_recipe(VGG11, "ImageNet validation", 50_000, 1000, small=32),
    "yolo_tiny": _image_recipe(TinyYolo, "COCO minitrain", 25_000, 80, 416)._replace(
        prepare=detect_objects, loss=detection_loss
    ),
    "lstm": _text_recipe(
        lambda size: WordLSTM(size["vocabulary"]), "Wikitext-2", 36_000, 35, 28_782
    )._replace(prepare=next_word, loss=word_loss),
    "bert_tiny": _text_recipe(_bert("BertForSequenceClassification", 2, 128), "SST-2", 67_349, 128),
    "distilbert": _text_recipe(_distilbert, "SST-2", 67_349, 128),
    "bert_base": _text_recipe(_bert("BertForQuestionAnswering", 12, 768), "SQuAD", 70_000, 384)._replace(
        prepare=answer_question, loss=answer_loss
    ),
    "wav2vec2": Recipe(
        build=_wav2vec2,
        modality="audio",
        prepare=transcribe,
        loss=transcription_loss,
        dataset="LibriSpeech clean-100",
        dataset_size=28_539,
        size={"samples": 160_000, "layers": 12},
        small={"samples": 8_000, "layers": 1},
    ),
}


def recipe_name(printed: str) -> str:
    """The zoo's key of a network as people write it: ResNet-18 is resnet18."""
    wanted = "".join(letter for letter in printed.lower() if letter.isalnum())
    for name in RECIPES:
        if name.replace("_", "") == wanted:
            return name
    raise ValueError("network %r is not in the zoo: %s" % (printed, ", ".join(sorted(RECIPES))))
