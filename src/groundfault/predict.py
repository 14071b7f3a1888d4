"""How a model meets a benchmark: image by image, every phrase of an image asked together.

A plain loop. What goes wrong with one image becomes `failed` predictions with their reason and
does not stop the run; predictions are written in whole shards as they come.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from groundfault.coco import Result
from groundfault.errors import GroundfaultError
from groundfault.foreign import within
from groundfault.masks import MAX_PIXELS
from groundfault.overlaps import compare_predictions
from groundfault.protocols import Baseline, Segmenter
from groundfault.records import Benchmark, Item, Outcome, Prediction, Role
from groundfault.runs import Run, read_predictions, shards, write_predictions, write_run
from groundfault.scored import Scored
from groundfault.scoring import phrases, replacement

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["predict", "read_image", "results_of", "score_run"]

SHARD_ITEMS = 512
BATCH_RECORDS = 4096


def predict(
    benchmark: Benchmark,
    model: Segmenter | Baseline,
    folder: str | PathLike[str],
    *,
    name: str,
    images: str | PathLike[str],
    benchmark_folder: str = "",
    progress: Callable[[int, int], None] | None = None,
) -> Run:
    """Ask a model everything and store its answers in a run folder, replacing older ones."""
    for old in shards(folder):
        old.unlink()
    started = time.perf_counter()
    counts = dict.fromkeys((outcome.value for outcome in Outcome), 0)
    pending: list[tuple[Prediction, float]] = []
    written = done = 0
    for answered in _answers(benchmark, model, Path(images)):
        pending += answered
        done += len(answered)
        for prediction, _ in answered:
            counts[prediction.outcome.value] += 1
        if len(pending) >= SHARD_ITEMS:
            write_predictions(folder, written, *zip(*pending, strict=True))
            pending, written = [], written + 1
        if progress is not None:
            progress(done, len(benchmark.items))
    if pending:
        write_predictions(folder, written, *zip(*pending, strict=True))
    run = Run(
        model=name,
        benchmark=benchmark.card.name,
        benchmark_folder=benchmark_folder,
        content_hash=benchmark.card.content_hash,
        versions={package: version(package) for package in ("groundfault", "numpy")},
        outcomes=counts,
        n_items=len(benchmark.items),
        seconds=round(time.perf_counter() - started, 3),
    )
    write_run(folder, run)
    return run


def score_run(
    benchmark: Benchmark, folder: str | PathLike[str], *, t: float, tau: float, variant: str
) -> Scored:
    """Score the stored predictions of a run with the metrics that its benchmark is for."""
    predictions = read_predictions(folder)
    if any(item.role is Role.FACTUAL for item in benchmark.items):
        return replacement.score_benchmark(benchmark, predictions, t=t)
    paired = any(item.role is Role.NEGATIVE for item in benchmark.items)
    overlaps = compare_predictions(
        benchmark, results_of(predictions), file=folder, need_target=paired
    )
    return phrases.score(
        benchmark, overlaps, t=t, tau=tau if paired else None, iou="segm", variant=variant
    )


def results_of(predictions: Iterable[Prediction]) -> Iterator[tuple[int, list[Result]]]:
    """Predictions as batches of results, one record per mask."""
    batch: list[Result] = []
    first = 0
    for prediction in predictions:
        if prediction.outcome is Outcome.OK and prediction.masks:
            batch += [
                Result(image_id=prediction.item_id, score=score, segmentation={**mask})
                for mask, score in zip(prediction.masks, prediction.scores, strict=True)
            ]
        else:
            silent = prediction.outcome is Outcome.OK
            outcome = Outcome.ABSTAINED if silent else prediction.outcome
            batch.append(Result(image_id=prediction.item_id, outcome=outcome))
        if len(batch) >= BATCH_RECORDS:
            yield first, batch
            first, batch = first + len(batch), []
    yield first, batch


def _answers(
    benchmark: Benchmark, model: Segmenter | Baseline, images: Path
) -> Iterator[list[tuple[Prediction, float]]]:
    """Predictions with the seconds each took, image by image."""
    by_image: dict[str, list[Item]] = {}
    for item in benchmark.items:
        by_image.setdefault(item.image, []).append(item)
    for image, items in by_image.items():
        started = time.perf_counter()
        try:
            found = _ask(model, image, items, images)
        except Exception as problem:  # whatever a model may raise on one image
            reason = f"{type(problem).__name__}: {problem}"
            found = [
                Prediction(item_id=item.id, outcome=Outcome.FAILED, reason=reason[:1000])
                for item in items
            ]
        seconds = (time.perf_counter() - started) / len(items)
        yield [(prediction, seconds) for prediction in found]


def _ask(
    model: Segmenter | Baseline, image: str, items: Sequence[Item], images: Path
) -> list[Prediction]:
    if isinstance(model, Baseline):
        return list(model.predict(items))
    path = within(images, image, file="the benchmark", record=f"image {image}")
    found = model.segment(read_image(path), [item.query for item in items])
    if len(found) != len(items):
        raise GroundfaultError(f"the model gave {len(found)} answers to {len(items)} phrases")
    return [
        msgspec.structs.replace(prediction, item_id=item.id)
        for item, prediction in zip(items, found, strict=True)
    ]


def read_image(path: str | PathLike[str]) -> NDArray[np.uint8]:
    """A picture as (height, width, 3) RGB, upright as its camera meant it."""
    from PIL import Image, ImageOps

    with Image.open(path) as picture:
        if picture.width * picture.height > MAX_PIXELS:
            raise ValueError(f"the picture claims {picture.width}x{picture.height} pixels")
        return np.asarray(ImageOps.exif_transpose(picture).convert("RGB"))
