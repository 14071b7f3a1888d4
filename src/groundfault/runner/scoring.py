"""Stored answers scored with the metrics that their benchmark is for. No model is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from os import PathLike

from groundfault.errors import DataError
from groundfault.io.coco import Result
from groundfault.matching.overlaps import compare_predictions
from groundfault.metrics import pcs, target_aware
from groundfault.metrics import replacement as replaced
from groundfault.protocols import concepts, replacement
from groundfault.protocols.scored import Scored
from groundfault.records import Benchmark, Outcome, Role
from groundfault.runs.run import SILENT, Answer, read_predictions

__all__ = ["metric_names", "results_of", "score_run"]

BATCH_RECORDS = 4096


def score_run(
    benchmark: Benchmark,
    folder: str | PathLike[str],
    *,
    t: float,
    tau: float,
    variant: str,
    iou: str = "segm",
) -> Scored:
    """Score the answers of a run to the items of a benchmark."""
    asked = {item.id for item in benchmark.items}
    answers = (answer for answer in read_predictions(folder) if answer.item_id in asked)
    if all(answer.reason == SILENT for answer in read_predictions(folder)):
        raise DataError(
            folder,
            "no answer belongs to an item of the benchmark",
            remedy="check that the replayed results and the annotations are of the same benchmark",
        )
    if _replaces(benchmark):
        return replacement.score_benchmark(benchmark, answers, t=t)
    paired = _is_paired(benchmark)
    overlaps = compare_predictions(
        benchmark, results_of(answers), file=folder, iou=iou, need_target=paired
    )
    return concepts.score(
        benchmark, overlaps, t=t, tau=tau if paired else None, iou=iou, variant=variant
    )


def metric_names(benchmark: Benchmark) -> tuple[str, ...]:
    """What `score_run` gives of a benchmark, known before anybody is asked."""
    if _replaces(benchmark):
        return replaced.METRICS
    return (*pcs.METRICS, *target_aware.METRICS) if _is_paired(benchmark) else pcs.METRICS


def _replaces(benchmark: Benchmark) -> bool:
    return any(item.role is Role.FACTUAL for item in benchmark.items)


def _is_paired(benchmark: Benchmark) -> bool:
    """Whether phrases come as p⁺ and p⁻."""
    return benchmark.card.name == "cafe" or any(
        item.role is Role.NEGATIVE for item in benchmark.items
    )


def results_of(answers: Iterable[Answer]) -> Iterator[tuple[int, list[Result]]]:
    """Answers as batches of results, one record per mask (or box, of a dump without masks)."""
    batch: list[Result] = []
    first = 0
    for answer in answers:
        batch += _results(answer)
        if len(batch) >= BATCH_RECORDS:
            yield first, batch
            first, batch = first + len(batch), []
    yield first, batch


def _results(answer: Answer) -> Iterator[Result]:
    n = len(answer.scores)
    if answer.reason == SILENT:  # then scoring is told as little as the file says
        return
    if answer.outcome is not Outcome.OK or not n:
        silent = answer.outcome is Outcome.OK
        outcome = Outcome.ABSTAINED if silent else answer.outcome
        yield Result(image_id=answer.item_id, outcome=outcome)
        return
    for score, mask, box, category_id in zip(
        answer.scores,
        answer.masks or [None] * n,
        answer.boxes_xywh or [None] * n,
        answer.category_ids or [None] * n,
        strict=True,
    ):
        yield Result(
            image_id=answer.item_id,
            score=score,
            segmentation=None if mask is None else {**mask},
            bbox=None if box is None else list(box),
            category_id=category_id,
        )
