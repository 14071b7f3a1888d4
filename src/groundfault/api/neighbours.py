"""Results and benchmarks as other libraries of the field have them. Each is imported when asked for
and none is needed otherwise."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from groundfault.errors import GroundfaultError, UsageError
from groundfault.io.masks import decode
from groundfault.records import Benchmark, Item, Prediction, Rle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from groundfault.api.result import Result

__all__ = ["log_run", "to_datasets", "to_fiftyone", "to_supervision"]


def to_supervision(prediction: Prediction, *, t: float = 0.0) -> Any:
    """The masks of a prediction with a score of at least `t` as `supervision.Detections`; empty
    where nothing was found."""
    supervision = _library("supervision")
    kept = _kept(prediction, t)
    if not kept:
        return supervision.Detections.empty()
    masks = np.stack([decode(mask) for mask, _ in kept])
    return supervision.Detections(
        xyxy=np.array([_corners(mask) for mask in masks], float),
        mask=masks,
        confidence=np.array([score for _, score in kept], float),
    )


def to_datasets(benchmark: Benchmark) -> Any:
    """Every item of a benchmark as a row of a `datasets.Dataset`: pictures as files, what is
    expected as run lengths of COCO."""
    datasets = _library("datasets")
    folder = Path(benchmark.images) if benchmark.images else None
    tags = {case.id: case for case in benchmark.cases}
    rows = [_row(item, tags[item.case_id].intervention, folder) for item in benchmark.items]
    found = datasets.Dataset.from_list(rows)
    pictures = datasets.Sequence(datasets.Image()) if folder is not None else None
    return found if pictures is None else found.cast_column("images", pictures)


def to_fiftyone(result: Result, *, name: str | None = None) -> Any:
    """A run as a `fiftyone.Dataset`: a sample per item, what is expected as `expected`, the
    model's masks as `answered`, with case, phrase and outcome as fields."""
    fiftyone = _library("fiftyone")
    benchmark = result.benchmark()
    if not benchmark.images:
        raise UsageError("the benchmark's pictures are not there; FiftyOne shows pictures")
    answers = {prediction.item_id: prediction for prediction in result.predictions()}
    dataset = fiftyone.Dataset(name)
    samples = []
    for item in benchmark.items:
        answer = answers.get(item.id)
        sample = fiftyone.Sample(filepath=str(Path(benchmark.images) / item.image))
        sample["case_id"], sample["item_id"] = item.case_id, item.id
        sample["query"], sample["role"] = item.query, str(item.role)
        sample["outcome"] = "" if answer is None else str(answer.outcome)
        expected = [(region.mask, 1.0) for region in item.regions if region.mask is not None]
        given = [] if answer is None else _kept(answer, -np.inf)
        for field, masks in (("expected", expected), ("answered", given)):
            found = [_detection(fiftyone, item.query, mask, score) for mask, score in masks]
            sample[field] = fiftyone.Detections(detections=[f for f in found if f is not None])
        samples.append(sample)
    dataset.add_samples(samples)
    return dataset


def log_run(result: Result, to: Literal["wandb", "mlflow"]) -> None:
    """Log every metric of every row, with the ends of its interval, and the table of cases, to the
    run of W&B or MLflow that is active."""
    tracker = _library(to)
    numbers = {
        f"{row}/{metric}{ending}".replace("@", "_at_"): value
        for row, content in result.summary.rows.items()
        for metric, estimate in content.metrics.items()
        for ending, value in (
            ("", estimate.value),
            ("_low", estimate.low),
            ("_high", estimate.high),
        )
        if value is not None
    }
    if to == "wandb":
        if tracker.run is None:
            raise UsageError("no run of W&B is active; call wandb.init(…) first")
        tracker.log(numbers)
        tracker.run.summary.update({"groundfault": result.summary.benchmark})
    else:
        tracker.log_metrics({_plain(name): value for name, value in numbers.items()})
        tracker.set_tag("groundfault.benchmark", result.summary.benchmark)
    if result.folder is not None:
        table = str(Path(result.folder) / "cases.parquet")
        tracker.save(table, policy="now") if to == "wandb" else tracker.log_artifact(table)


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise GroundfaultError(f"{name} is not installed; pip install {name}") from None


def _kept(prediction: Prediction, t: float) -> list[tuple[Rle, float]]:
    pairs = zip(prediction.masks, prediction.scores, strict=True)
    return [(mask, score) for mask, score in pairs if score >= t]


def _corners(mask: NDArray[np.bool_]) -> tuple[float, float, float, float]:
    """x and y of the upper left and the lower right corner, in pixels; zeros for an empty mask."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return 0.0, 0.0, 0.0, 0.0
    return float(columns[0]), float(rows[0]), float(columns[-1] + 1), float(rows[-1] + 1)


def _row(item: Item, intervention: str, folder: Path | None) -> dict[str, object]:
    masks = [region.mask for region in item.regions if region.mask is not None]
    return {
        "id": item.id,
        "case_id": item.case_id,
        "intervention": intervention,
        "role": str(item.role),
        "query": item.query,
        "images": [str(folder / name) if folder else name for name in item.images],
        "height_px": item.height_px,
        "width_px": item.width_px,
        "sizes": [list(mask["size"]) for mask in masks],
        "counts": [mask["counts"] for mask in masks],
    }


def _detection(fiftyone: Any, label: str, mask: Rle, score: float) -> Any:
    pixels = decode(mask)
    height, width = pixels.shape
    left, top, right, bottom = _corners(pixels)
    if right <= left:
        return None
    inside = pixels[int(top) : int(bottom), int(left) : int(right)]
    box = [left / width, top / height, (right - left) / width, (bottom - top) / height]
    return fiftyone.Detection(label=label, bounding_box=box, mask=inside, confidence=score)


def _plain(name: str) -> str:
    """With the signs that MLflow takes in a name."""
    return "".join(sign if sign.isalnum() or sign in "_-. /" else "_" for sign in name)
