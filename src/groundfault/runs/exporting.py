"""The predictions of a run as files that other tools read.

`EXPORTS` has a function per format: (benchmark, predictions, out) → what the format could not hold,
one note each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec

from groundfault.errors import UnknownName, UsageError
from groundfault.io.coco import Id
from groundfault.io.coco_writing import phrase_category, phrase_ids, written_id
from groundfault.io.masks import RLEMask, mask_box
from groundfault.io.store import atomic_file
from groundfault.records import Benchmark, Outcome, Prediction
from groundfault.runs.benchmark import read_again
from groundfault.runs.recorder import read_predictions
from groundfault.runs.run import RUN, read_run

__all__ = ["EXPORTS", "export_run", "is_run", "result_ids", "write_coco_results"]

AnyPath = str | PathLike[str]


def is_run(path: AnyPath) -> bool:
    """Whether a path is the folder of a run, with what a model predicted."""
    return (Path(path) / RUN).is_file()


def export_run(
    folder: AnyPath, to: str, out: AnyPath, *, data: AnyPath | None = None
) -> tuple[str, ...]:
    """Write the predictions of a run in a format of `EXPORTS` and return what the format could not
    hold. `data` is the run's benchmark, if it is not where it was."""
    if to not in EXPORTS:
        raise UnknownName("format of predictions", to, EXPORTS)
    run = read_run(folder)
    if run.modes:
        raise UsageError(f"{folder}: holds answers in words, which {to} cannot hold")
    benchmark = read_again(run, data=data)
    return EXPORTS[to](benchmark, read_predictions(folder), out)


def result_ids(benchmark: Benchmark) -> dict[str, tuple[Id, int]]:
    """The (image_id, category_id) under which COCO results answer each item.

    Those of categories of a COCO or LVIS file name both; those of image–phrase pairs name the pair,
    by its own id if all are integers, else by the number that `convert` writes it under.
    """
    by_category = _category_results(benchmark)
    if by_category is not None:
        return by_category
    category = phrase_category(benchmark)
    return {item_id: (number, category) for item_id, number in phrase_ids(benchmark).items()}


def _category_results(benchmark: Benchmark) -> dict[str, tuple[Id, int]] | None:
    """Of items that are called "{image id}:{category id}", as those of COCO and LVIS are."""
    found: dict[str, tuple[Id, int]] = {}
    for item in benchmark.items:
        image, _, category = item.id.rpartition(":")
        if image != item.case_id or not category.isdecimal():
            return None
        found[item.id] = written_id(image), int(category)
    return found


def write_coco_results(
    benchmark: Benchmark, predictions: Iterable[Prediction], out: AnyPath
) -> tuple[str, ...]:
    """Write predictions as a COCO results file. An abstention has no record; a prediction that
    failed or could not be read has none either, which other tools take for one."""
    ids = result_ids(benchmark)
    ended: Counter[Outcome] = Counter()
    with atomic_file(out) as temporary, temporary.open("wb") as file:
        separator = b"["
        for prediction in predictions:
            if prediction.item_id not in ids:
                continue
            ended[prediction.outcome] += 1
            for record in _records(prediction, *ids[prediction.item_id]):
                file.write(separator + msgspec.json.encode(record))
                separator = b",\n"
        file.write(b"]" if separator != b"[" else b"[]")
    return tuple(_losses(benchmark, ids, ended))


def _records(prediction: Prediction, image_id: Id, category_id: int) -> Iterator[Mapping[str, Any]]:
    """The COCO results of one prediction, a record per mask or box."""
    if prediction.outcome is not Outcome.OK:
        return
    for k, score in enumerate(prediction.scores):
        record: dict[str, Any] = {"image_id": image_id, "category_id": category_id}
        mask = prediction.masks[k] if k < len(prediction.masks) else None
        box = prediction.boxes_xywh[k] if k < len(prediction.boxes_xywh) else None
        if mask is not None:
            record["segmentation"] = mask
            box = box or mask_box(RLEMask.from_dict({**mask}))
        yield {**record, "bbox": box, "score": score}


def _losses(
    benchmark: Benchmark, ids: Mapping[str, tuple[Id, int]], ended: Mapping[Outcome, int]
) -> Iterator[str]:
    renamed = [name for name, (image_id, _) in ids.items() if str(image_id) != name]
    if renamed and _category_results(benchmark) is None:
        yield (
            f"Changed: the ids of {len(renamed)} queries (e.g. {renamed[0]}), which are no "
            f"integers, into those that `convert` writes annotations with (e.g. "
            f"{ids[renamed[0]][0]})."
        )
    for outcome, words in ((Outcome.FAILED, "failed"), (Outcome.UNPARSED, "could not be read")):
        if ended.get(outcome):
            yield (
                f"Dropped: {ended[outcome]} predictions that {words}: they have no record, which "
                "other tools read as an abstention. `groundfault score` reads the run itself."
            )
    silent = len(ids) - sum(ended.values())
    if silent > 0:
        yield f"{silent} of {len(ids)} queries were not asked in this run and have no record."


Export = Callable[[Benchmark, Iterable[Prediction], AnyPath], tuple[str, ...]]
EXPORTS: dict[str, Export] = {"coco": write_coco_results}
