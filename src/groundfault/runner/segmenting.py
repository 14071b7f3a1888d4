"""A model is asked for masks: pictures are decoded ahead, a batch that does not fit into memory is
halved, an image that makes the model fail is set apart. Where the phrases of one image are too many
at once, they are asked in parts; a model that can keep an encoded image encodes it once for that.

Whatever a model raises on one image becomes `failed` predictions with its reason. What a baseline
raises on purpose (an unsound results file, say) ends the run: no picture is to blame.
"""

from __future__ import annotations

import contextlib
import gc
import math
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from groundfault.errors import RAISED, GroundfaultError, UsageError, described
from groundfault.interfaces import (
    AnySizes,
    Baseline,
    BatchSegmenter,
    Closeable,
    Encoder,
    Logging,
    PreferredBatch,
    Segmenter,
    Startable,
    Stoppable,
)
from groundfault.io.answers import QUADS, Broken, answers_of, prediction_of
from groundfault.io.foreign import within
from groundfault.io.pictures import picture_size, read_image
from groundfault.io.restoring import way_to_restore
from groundfault.records import Item, Outcome, Prediction
from groundfault.runner.work import Batch, Task

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Picture = NDArray[np.uint8]

__all__ = ["Model", "Predictor", "Prepared", "load_model"]

Model = Segmenter | Baseline
DECODERS = 2
"""Threads that decode pictures: one picture takes 5 to 20 ms, less than a model takes."""
BATCH = 4
"""Images at once, for models that can and have no wish of their own."""
LONGEST_REASON = 1000


class Prepared(NamedTuple):
    """A batch whose pictures are being decoded."""

    batch: Batch
    pictures: list[Future[Picture]]


class _Decoded(NamedTuple):
    """An image as a model is shown it."""

    task: Task
    picture: Picture
    encoded: Any = None
    """What an `Encoder` keeps of it, where it is asked about in parts."""


def load_model(load: Callable[[], Any], name: str, folder: Path) -> Any:
    """Load a model, and start it where it runs outside this process, its output kept in the run's
    folder; whatever keeps it from that ends the run in one message."""
    try:
        model = load()
        if isinstance(model, Logging):
            model.keep_log(folder)
        if isinstance(model, Startable):
            model.start()
    except GroundfaultError:
        raise
    except RAISED as problem:
        raise GroundfaultError(
            f"model '{name}' cannot be loaded ({described(problem)})"
        ) from problem
    return model


class Predictor:
    """A loaded model with the folder of its pictures."""

    def __init__(
        self, model: Model, images: str | PathLike[str] | None, *, name: str = "", batch: int = 0
    ) -> None:
        if not isinstance(model, (Segmenter, Baseline)):
            raise GroundfaultError(
                f"model '{name}' is neither a Segmenter nor a Baseline but a {type(model).__name__}"
            )
        self.images = None if images is None else Path(images)
        self.segmenter = model if isinstance(model, Segmenter) else None
        self.together = model if isinstance(model, BatchSegmenter) else None
        self.encoder = model if isinstance(model, Encoder) else None
        self.baseline = model if self.segmenter is None and isinstance(model, Baseline) else None
        likes = model.images_at_once if isinstance(model, PreferredBatch) else BATCH
        self.at_once = (batch or likes) if self.together is not None else 1
        """Images per call; halved when memory runs out."""
        self.any_sizes = isinstance(model, AnySizes) and model.any_sizes
        if self.baseline is not None:
            return
        if self.images is None or not self.images.is_dir():
            raise UsageError(_no_pictures(self.images))
        self.decoders = ThreadPoolExecutor(DECODERS, "decode")

    def prepare(self, batch: Batch) -> Prepared:
        """Begin to decode the pictures of a batch."""
        if self.baseline is not None:
            return Prepared(batch, [])
        return Prepared(batch, [self.decoders.submit(self._read, task) for task in batch])

    def predict(self, prepared: Prepared) -> list[Prediction]:
        """One prediction per item, in any order."""
        if self.baseline is not None:
            return _from_baseline(self.baseline, prepared.batch)
        answers: list[Prediction] = []
        shown = []
        for task, picture in zip(prepared.batch, prepared.pictures, strict=True):
            try:
                shown.append(_Decoded(task, picture.result()))
            except Exception as problem:  # on damaged files Pillow also asserts and fails to index
                answers += _failed(task.items, described(problem), picture=task.image)
        return answers + self._segment_all(shown)

    @property
    def stopped(self) -> str:
        """Why the model answers nothing any more; "" while it does, and if it never says so."""
        return self.segmenter.stopped_because if isinstance(self.segmenter, Stoppable) else ""

    def close(self) -> None:
        """Let go of the model and of pictures that nobody asks about."""
        if self.baseline is None:
            self.decoders.shutdown(wait=False, cancel_futures=True)
        if isinstance(self.segmenter, Closeable):
            self.segmenter.close()

    def _read(self, task: Task) -> Picture:
        assert self.images is not None
        path = within(self.images, task.image, file="the benchmark", record=f"image {task.image}")
        return read_image(path, size_px=task.size_px, exact=task.items[0].role not in QUADS)

    def decoded_bytes(self, batch: Batch) -> int:
        """How much memory the pictures of a batch take; those of quads may have any size."""
        if self.baseline is not None or self.images is None:
            return 0
        return sum(3 * math.prod(self._size_px(task)) for task in batch)

    def _size_px(self, task: Task) -> tuple[int, int]:
        if task.items[0].role not in QUADS:
            return task.size_px  # others are refused before they are decoded
        try:
            found = picture_size(Path(str(self.images)) / task.image)
        except Exception:  # reading it says what is wrong
            return task.size_px
        return max(task.size_px, found, key=math.prod)

    def _segment_all(self, shown: Sequence[_Decoded]) -> list[Prediction]:
        answers: list[Prediction] = []
        while shown:
            now, shown = shown[: self.at_once], shown[self.at_once :]
            answers += self._segment(now)
        return answers

    def _segment(self, shown: Sequence[_Decoded]) -> list[Prediction]:
        started = time.perf_counter()
        problem, reason = None, ""
        try:
            found = self._call(shown)
        except RAISED as raised:  # whatever a model may raise
            reason = _reason(raised)
            problem = raised.with_traceback(None)  # whose frames would hold on to the memory
        if problem is None:
            seconds = (time.perf_counter() - started) / sum(len(s.task.items) for s in shown)
            return [
                _checked(item, prediction, seconds)
                for one, predictions in zip(shown, found, strict=True)
                for item, prediction in zip(one.task.items, predictions, strict=True)
            ]
        out_of_memory = _is_out_of_memory(problem)
        if out_of_memory:
            _release_memory()
            self.at_once = max(1, min(self.at_once, len(shown) // 2))
        if len(shown) > 1:
            middle = len(shown) // 2
            return self._segment_all(shown[:middle]) + self._segment_all(shown[middle:])
        [one] = shown
        if out_of_memory and len(one.task.items) > 1:
            return [
                prediction for half in self._halves(one) for prediction in self._segment([half])
            ]
        return _failed(one.task.items, reason)

    def _halves(self, one: _Decoded) -> list[_Decoded]:
        """An image with half of its phrases each, encoded once for all of them if that is
        possible."""
        encoded = one.encoded
        if self.encoder is not None and encoded is None:
            with contextlib.suppress(Exception):  # then each half encodes it, or fails by itself
                [encoded] = self.encoder.encode([one.picture])
        items, middle = one.task.items, len(one.task.items) // 2
        return [
            _Decoded(Task(one.task.image, half), one.picture, encoded)
            for half in (items[:middle], items[middle:])
        ]

    def _call(self, shown: Sequence[_Decoded]) -> list[list[Any]]:
        """The model's answers, one per phrase of each image."""
        phrases = [[item.query for item in one.task.items] for one in shown]
        if len(shown) > 1:
            assert self.together is not None
            method = "segment_batch"
            found: Any = self.together.segment_batch([one.picture for one in shown], phrases)
        elif shown[0].encoded is not None:
            assert self.encoder is not None
            method = "segment_encoded"
            found = self.encoder.segment_encoded([shown[0].encoded], phrases)
        else:
            assert self.segmenter is not None
            method = "segment"
            found = [self.segmenter.segment(shown[0].picture, phrases[0])]
        of_images = answers_of(found, len(shown), method=method, each="picture")
        return [
            answers_of(answers, len(asked), method=method)
            for answers, asked in zip(of_images, phrases, strict=True)
        ]


def _from_baseline(model: Baseline, batch: Iterable[Task]) -> list[Prediction]:
    answers: list[Prediction] = []
    for task in batch:
        started = time.perf_counter()
        try:
            found = answers_of(
                model.predict(task.items), len(task.items), method="predict", each="item"
            )
            seconds = (time.perf_counter() - started) / len(task.items)
            for item, prediction in zip(task.items, found, strict=True):
                answers.append(_checked(item, prediction, seconds))
        except GroundfaultError:
            raise
        except RAISED as problem:
            answers += _failed(task.items, _reason(problem))
    return answers


def _no_pictures(images: Path | None) -> str:
    """What is said where a model looks at pictures and there are none."""
    way = way_to_restore(images.parent) if images else ""
    way = way or "give the pictures with --images: this model looks at them"
    return f"{images}: no such folder; {way}" if images else way


def _reason(problem: BaseException) -> str:
    return str(problem) if isinstance(problem, Broken) else described(problem)


def _failed(items: Iterable[Item], reason: str, *, picture: str = "") -> list[Prediction]:
    if picture not in reason:  # Pillow does not always say which
        reason = f"{reason}, in '{picture}'"
    reason = reason[:LONGEST_REASON]
    return [Prediction(item_id=item.id, outcome=Outcome.FAILED, reason=reason) for item in items]


def _checked(item: Item, answer: Any, seconds: float) -> Prediction:
    """An answer as the prediction for its item; one that cannot be scored is a failure."""
    try:
        return prediction_of(answer, item, seconds=seconds)
    except Broken as problem:
        [failure] = _failed([item], str(problem))
        return failure


def _is_out_of_memory(problem: BaseException) -> bool:
    """Python's own, torch's by its name (torch is not imported here), or one that says so. A
    problem may know better: of a process that died, nobody can say why."""
    known = getattr(problem, "out_of_memory", None)
    if known is not None:
        return bool(known)
    named = any(kind.__name__ == "OutOfMemoryError" for kind in type(problem).__mro__)
    return isinstance(problem, MemoryError) or named or "out of memory" in str(problem).lower()


def _release_memory() -> None:
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()
