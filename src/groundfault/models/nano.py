"""nano-base and nano-cft: our own small promptable segmenters, run with onnxruntime.

A model is two ONNX graphs. `find` looks at the picture once and says which pixels belong to
things, and together; `match` says which phrases fit which thing, and carries the vocabulary.
Trained on the embedded world only (`groundfault.training.nano`): they know its words and its looks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from groundfault.errors import DataError, MissingExtra, UsageError
from groundfault.interfaces import ModelOptions
from groundfault.io.foreign import sha256
from groundfault.io.masks import encode
from groundfault.models.guided_filter import Guide
from groundfault.records import Outcome, Prediction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]
    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float32]

__all__ = [
    "LENGTH",
    "SIDE_PX",
    "Nano",
    "Seen",
    "as_input",
    "base",
    "cft",
    "group",
    "load",
    "shrink",
    "word_numbers",
    "words_of",
]

SHIPPED = Path(__file__).parent / "weights"

SIDE_PX = 160
"""Side of the square that the network sees."""
LENGTH = 12
"""Most words of a phrase that are read."""
FOREGROUND = 0.4
"""Share of a cell that must be covered for it to count."""
MIDDLE = 0.25
"""How sure the network must be that a pixel is the middle of a thing."""
REACH = 4
"""Of two middles closer than this (in cells of the map), the surer one is taken."""
LEAST_CELLS = 6
"""Smaller things are taken for noise."""
SURE = 4.0
"""Logits beyond this are as good as certain; larger ones would outweigh the edges."""
LEAST_SCORE = 0.05
"""Below this a mask is not worth storing; no operating point is that low."""


class Seen(NamedTuple):
    """What `find` saw in a picture."""

    features: dict[str, Any]
    """Inputs of `match`, the phrases aside."""
    masks: list[Any]
    """Of each thing, at the picture's size, run-length encoded."""


class Nano:
    """A nano segmenter from the stem of its two files: STEM.find.onnx and STEM.match.onnx."""

    def __init__(self, stem: Path) -> None:
        self.stem = stem

    def __getstate__(self) -> Path:
        return self.stem  # sessions do not travel between processes

    def __setstate__(self, stem: Path) -> None:
        self.stem = stem

    @cached_property
    def _find(self) -> Any:
        return _session(self.stem, "find")

    @cached_property
    def _match(self) -> Any:
        return _session(self.stem, "match")

    @cached_property
    def words(self) -> dict[str, int]:
        """The vocabulary."""
        words: dict[str, int] = json.loads(self._match.get_modelmeta().custom_metadata_map["words"])
        return words

    def segment(self, image: Bytes, phrases: Sequence[str]) -> list[Prediction]:
        """Masks with scores for each phrase: how well it fits."""
        _check(phrases)
        return self._answers(self._see(image), phrases) if phrases else []

    def encode(self, images: Sequence[Bytes]) -> list[Seen]:
        """What is in pictures, before anything is asked about them."""
        return [self._see(image) for image in images]

    def segment_encoded(
        self, seen: Sequence[Seen], phrases: Sequence[Sequence[str]]
    ) -> list[list[Prediction]]:
        """What `segment` says about each picture."""
        for own in phrases:
            _check(own)
        return [self._answers(each, own) for each, own in zip(seen, phrases, strict=True)]

    def frame_probe(self, image: Bytes) -> Bools:
        """(h, w): the bright part of a picture, there and back through the network's square."""
        small = shrink(image)
        seen = as_input(small[None])[0].mean(0)
        labels = np.zeros((SIDE_PX // 2, SIDE_PX // 2), np.int16)
        bright: Bools = _enlarge(seen, labels, small, image) == 0
        return bright

    def _see(self, image: Bytes) -> Seen:
        small = shrink(image)
        ground, where, *features = self._find.run(None, {"picture": as_input(small[None])})
        foreground, labels = group(ground[0, 0], where[0])
        count = int(labels.max()) + 1
        # With nothing found there is still a picture to ask about: an empty thing fits nothing.
        things = np.stack([foreground * (labels == k) for k in range(max(count, 1))])
        masks = _enlarge(ground[0, 0], labels, small, image)
        named = dict(zip(("quarter", "eighth", "tokens"), features, strict=True))
        return Seen(
            named | {"masks": things[None].astype(np.float32)},
            [encode(masks == k) for k in range(count)],
        )

    def _answers(self, seen: Seen, phrases: Sequence[str]) -> list[Prediction]:
        if not phrases:
            return []
        ids = word_numbers(phrases, self.words)
        fits, *present = self._match.run(None, seen.features | {"ids": ids[None]})
        scores = _sigmoid(fits[0][: len(seen.masks)])
        if present:  # models trained before 0.2 also say whether a phrase is there at all
            presence = _sigmoid(present[0][0])
            scores = scores * presence
        else:
            presence = scores.max(0, initial=0.0)
        return [
            _prediction(seen.masks, scores[:, p], float(presence[p]), known=bool(ids[p].any()))
            for p in range(len(phrases))
        ]


def _check(phrases: Sequence[str]) -> None:
    """Phrases are text."""
    for phrase in phrases:
        if not isinstance(phrase, str):
            raise UsageError(f"a phrase is text; {phrase!r} is a {type(phrase).__name__}")


def _prediction(masks: list[Any], scores: Floats, presence: float, *, known: bool) -> Prediction:
    """What fits a phrase; of one without a known word, nothing is said."""
    kept = [k for k in np.argsort(-scores, kind="stable") if scores[k] >= LEAST_SCORE] * known
    return Prediction(
        item_id="",
        outcome=Outcome.OK if kept else Outcome.ABSTAINED,
        masks=tuple(masks[k] for k in kept),
        scores=tuple(float(scores[k]) for k in kept),
        presence=presence if known else None,
    )


class _Shipped:
    """Makes a model that comes with the package."""

    def __init__(self, name: str) -> None:
        self.stem = SHIPPED / name

    def __call__(self, argument: str, options: ModelOptions) -> Nano:
        return Nano(self.stem)

    def identity(self, argument: str, options: ModelOptions) -> dict[str, str]:
        """Which weights: answers of another version's are never mixed with this one's."""
        return {half: sha256(_file(self.stem, half)) for half in ("find", "match")}


base = _Shipped("nano-base")
"""Trained on a world full of habits."""
cft = _Shipped("nano-cft")
"""nano-base after counterfactual fine-tuning."""


class _Own:
    """Makes one of your own: `nano:FOLDER/NAME` for the files that `groundfault train nano`
    wrote."""

    def __call__(self, argument: str, options: ModelOptions) -> Nano:
        for file in map(Path, self.named_files(argument)):
            if not file.is_file():
                raise UsageError(
                    f"{file}: no such file; give nano:FOLDER/NAME as `groundfault train nano` "
                    "printed it"
                )
        return Nano(Path(argument))

    def named_files(self, argument: str) -> list[str]:
        """Its two halves."""
        return [str(_file(Path(argument), half)) for half in ("find", "match")]


load = _Own()


def _file(stem: Path, half: str) -> Path:
    return stem.with_name(f"{stem.name}.{half}.onnx")


def _session(stem: Path, half: str) -> Any:
    try:
        import onnxruntime
    except ImportError:
        raise MissingExtra("onnxruntime", "nano") from None
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    settings.log_severity_level = 3
    path = _file(stem, half)
    try:
        return onnxruntime.InferenceSession(
            path.read_bytes(), settings, providers=["CPUExecutionProvider"]
        )
    except OSError as problem:
        raise DataError(path, f"cannot be read ({problem.strerror})", remedy="train it") from None
    except Exception as problem:  # onnxruntime has an error type for each way a file is broken
        raise DataError(path, str(problem), remedy="export it again") from None


def words_of(phrase: str) -> list[str]:
    """
    >>> words_of("The dog's bowl")
    ['the', 'dog', 's', 'bowl']
    """
    return re.findall(r"[a-z0-9]+", phrase.lower())


def word_numbers(phrases: Sequence[str], vocabulary: dict[str, int]) -> NDArray[np.int64]:
    """Phrases as (p, LENGTH) word numbers, 0 for nothing; unknown words are left out."""
    ids = np.zeros((len(phrases), LENGTH), np.int64)
    for row, phrase in zip(ids, phrases, strict=True):
        known = [vocabulary[word] for word in words_of(phrase) if word in vocabulary][:LENGTH]
        row[: len(known)] = known
    return ids


def shrink(image: Bytes) -> Bytes:
    """A picture of any size as the square that the network sees: (SIDE_PX, SIDE_PX, 3)."""
    from PIL import Image

    if image.shape[:2] == (SIDE_PX, SIDE_PX):
        return image
    small = Image.fromarray(image).resize((SIDE_PX, SIDE_PX), Image.Resampling.BOX)
    return np.asarray(small)


def as_input(images: Bytes) -> Floats:
    """(b, s, s, 3) bytes to (b, 3, s, s) from -1 to 1."""
    scaled: Floats = images.transpose(0, 3, 1, 2).astype(np.float32) / 127.5 - 1.0
    return scaled


def group(ground: Floats, where: Floats) -> tuple[Floats, NDArray[np.int16]]:
    """Cells to things: ground (2h, 2w), where (3, h, w) -> foreground (h, w), labels (h, w).

    Middles are peaks of their map; each foreground pixel goes to the middle nearest to where it
    points. Labels count from 0; -1 is no thing.
    """
    rows, columns = where.shape[1:]
    foreground = _sigmoid(ground).reshape(rows, 2, columns, 2).mean((1, 3))
    inside = foreground > FOREGROUND
    labels = np.full(inside.shape, -1, np.int16)
    middles = _peaks(_sigmoid(where[0]))
    if not len(middles) or not inside.any():
        return foreground, labels
    size = len(inside)
    row, column = np.nonzero(inside)
    to_row = row + where[1][inside] * size
    to_column = column + where[2][inside] * size
    away = (to_row[:, None] - middles[None, :, 0]) ** 2 + (
        to_column[:, None] - middles[None, :, 1]
    ) ** 2
    nearest = away.argmin(1)
    sizes = np.bincount(nearest, minlength=len(middles))
    kept = np.flatnonzero(sizes >= LEAST_CELLS)
    names = np.full(len(middles), -1, np.int16)
    names[kept] = np.arange(len(kept))
    labels[row, column] = names[nearest]
    return foreground, labels


def _sigmoid(x: Floats) -> Floats:
    return np.float32(1.0) / (np.float32(1.0) + np.exp(-np.clip(x, -30, 30)))


def _peaks(heat: Floats) -> NDArray[np.intp]:
    """(n, 2) rows and columns of the local maxima, the surest first, none too close together."""
    candidates = np.argwhere(heat > MIDDLE)
    order = np.argsort(-heat[candidates[:, 0], candidates[:, 1]], kind="stable")
    found: list[NDArray[np.intp]] = []
    for candidate in candidates[order]:
        if all(((candidate - other) ** 2).sum() >= REACH**2 for other in found):
            found.append(candidate)
    return np.asarray(found, np.intp).reshape(-1, 2)


def _enlarge(logits: Floats, labels: NDArray[np.int16], small: Bytes, image: Bytes) -> Any:
    """Labels at the picture's size: outlines follow the picture's own edges, towards the ground
    and between things."""
    certain = np.float32(SURE)
    sure = _cells(np.clip(logits, -certain, certain)) + certain
    guide = Guide(_cells(small.astype(np.float32)), image)
    near = _spread(_spread(_spread(labels)))
    best = np.full(image.shape[:2], certain)
    large = np.full(image.shape[:2], -1, np.int16)
    for k in range(int(labels.max()) + 1):
        at, own = guide.enlarged(np.where(near == k, sure, 0))
        better = own > best[at]
        best[at][better] = own[better]
        large[at][better] = k
    return large


def _cells(pixels: Floats) -> Floats:
    """Means of two by two pixels, (2h, 2w, …) to (h, w, …)."""
    rows, columns = pixels.shape[0] // 2, pixels.shape[1] // 2
    means: Floats = pixels.reshape(rows, 2, columns, 2, *pixels.shape[2:]).mean((1, 3))
    return means


def _spread(labels: NDArray[np.int16]) -> NDArray[np.int16]:
    """Cells without a label take a neighbour's."""
    padded = np.pad(labels, 1, constant_values=-1)
    size = labels.shape[0]
    around = [
        padded[row : row + size, column : column + size] for row in range(3) for column in range(3)
    ]
    spread: NDArray[np.int16] = np.where(labels < 0, np.max(around, axis=0), labels)
    return spread
