"""Referring sets with false premises (FP-RefCOCO): See and Segment.

Predictions are COCO results whose `image_id` is the query's id. Several records of one query are
one answer: the union of their masks with score ≥ t. A record without a score is used at t = 0
only. A query without any record counts as an abstention. The case (ref, or pairs made from one
another) is resampled, not the query.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from groundfault.errors import DataError
from groundfault.io.coco import Result
from groundfault.io.masks import RLEMask, intersection_and_union, parse_mask, union
from groundfault.matching.intake import (
    ANNOTATIONS,
    FAILED,
    OK,
    OUTCOME_CODE,
    OUTCOME_NAMES,
    UNPARSED,
    Intake,
    failure_notes,
)
from groundfault.metrics import false_premise
from groundfault.protocols.scored import Scored
from groundfault.records import Benchmark, Item, Region

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from groundfault.protocols.scored import Floats, Metrics

__all__ = ["metric_function", "score"]


def score(
    benchmark: Benchmark,
    batches: Iterable[tuple[int, Sequence[Result]]],
    *,
    file: str | PathLike[str],
    t: float = 0.0,
) -> Scored:
    """Score a stream of results, whose file is named in errors."""
    case_number = {case.id: number for number, case in enumerate(benchmark.cases)}
    items = sorted(benchmark.items, key=lambda item: case_number[item.case_id])
    answers = _Answers(items, str(file), t)
    for first, records in batches:
        answers.add(first, records)
    outcome, n_silent = answers.intake.outcomes()
    areas = _Areas.of(items, answers.masks)
    failed = outcome == FAILED
    scores = false_premise.score(
        areas.present,
        areas.truth_px,
        areas.predicted_px,
        areas.intersection_px,
        unparsed=outcome == UNPARSED,
        failed=failed,
    )
    imputed: tuple[Floats, ...] = ()
    if failed.any():
        imputed = tuple(
            false_premise.contributions(
                false_premise.impute(scores, failed, areas.truth_px, areas.image_px, right=right)
            )
            for right in (True, False)
        )
    outcomes = {name: int((outcome == code).sum()) for code, name in OUTCOME_NAMES.items()}
    settings: dict[str, object] = {"t": t}
    return Scored(
        benchmark=benchmark.card.name,
        settings=settings,
        columns=lambda: _query_table(benchmark, items, answers, outcome, areas, scores),
        contributions=false_premise.contributions(scores),
        contribution_names=tuple(f"premise.{name}" for name in false_premise.COLUMNS),
        case=np.array([case_number[item.case_id] for item in items], np.int64),
        rows={
            "Overall": np.ones(len(items), bool),
            "true": areas.present,
            "false": ~areas.present,
        },
        metrics=metric_function(settings),
        support=_support,
        outcomes=outcomes,
        imputed=imputed,
        notes=(
            *benchmark.notes,
            *answers.notes(),
            *failure_notes(outcomes, n_silent, "queries"),
        ),
    )


def metric_function(settings: Mapping[str, object]) -> Metrics:
    """The metrics of a referring set; they do not depend on the settings."""
    return false_premise.metrics


def _support(sums: Floats) -> dict[str, int]:
    true, false = int(sums[0]), int(sums[1])
    support = dict.fromkeys(false_premise.METRICS, true + false)
    return support | {"See_true": true, "See_false": false}


class _Answers:
    """One mask per query, made from its records as they arrive."""

    def __init__(self, items: Sequence[Item], file: str, t: float) -> None:
        self.t = t
        self.intake = Intake(
            items,
            file,
            asked=("a query", "queries"),
            remedy="give the query's id as image_id: sent_id, or the id of the pair",
        )
        self.masks: list[RLEMask | None] = [None] * len(items)
        self.n_used = np.zeros(len(items), np.int64)
        self.highest = np.full(len(items), np.nan)
        self.n_unscored = 0

    def add(self, first: int, records: Sequence[Result]) -> None:
        """Take in a batch, whose first record has the given index in the file."""
        intake = self.intake
        intake.n_records += len(records)
        for index, record in enumerate(records, start=first):
            place = intake.position.get(str(record.image_id))
            if place is None:
                intake.note_unknown(index, record)
                continue
            code = OK if record.outcome is None else OUTCOME_CODE[record.outcome]
            intake.note_outcome(index, record, place, code)
            if code == OK:
                self._take(index, record, place)

    def _take(self, index: int, record: Result, place: int) -> None:
        """Add a record's mask to its query's."""
        mask = self.intake.mask(index, record, self.intake.items[place])
        score = self._score(index, record)
        if not score >= self.t:
            return
        self.n_used[place] += 1
        self.highest[place] = np.fmax(self.highest[place], score)
        before = self.masks[place]
        self.masks[place] = mask if before is None else union([before, mask])

    def _score(self, index: int, record: Result) -> float:
        if record.score is None:
            if self.t > 0:
                raise self.intake.error(
                    index,
                    record,
                    f"it has no score, so it cannot be held against t = {self.t}",
                    "give every record a score, or use t = 0",
                )
            self.n_unscored += 1
            return math.inf
        if not math.isfinite(record.score):
            raise self.intake.error(index, record, "its score is not finite", "give a finite score")
        self.intake.n_outside_unit += not 0 <= record.score <= 1
        return record.score

    def notes(self) -> list[str]:
        """What is unusual about the file."""
        notes = [*self.intake.notes()]
        if self.n_unscored:
            notes.append(f"{self.n_unscored} predictions have no score; their masks were used.")
        several = int((self.n_used > 1).sum())
        if several:
            notes.append(
                f"{several} queries have several masks with score ≥ {self.t}: the union is scored."
            )
        return notes


class _Areas(msgspec.Struct, frozen=True, eq=False):
    """Pixels per query; (queries,) each."""

    present: NDArray[np.bool_]
    truth_px: NDArray[np.int64]
    predicted_px: NDArray[np.int64]
    intersection_px: NDArray[np.int64]
    image_px: NDArray[np.int64]
    target_iou: Floats
    """NaN where there is no target or no prediction."""

    @classmethod
    def of(cls, items: Sequence[Item], masks: Sequence[RLEMask | None]) -> _Areas:
        n = len(items)
        truth_px, predicted_px, intersection_px = (np.zeros(n, np.int64) for _ in range(3))
        target_iou = np.full(n, np.nan)
        for number, (item, mask) in enumerate(zip(items, masks, strict=True)):
            truth = _truth(item, item.regions)
            truth_px[number] = 0 if truth is None else truth.area()
            if mask is None:
                continue
            predicted_px[number] = mask.area()
            if truth is not None:
                intersection_px[number], _ = intersection_and_union(mask, truth)
            target = _truth(item, [item.target] if item.target and item.target.mask else [])
            if target is not None:
                shared, joined = intersection_and_union(mask, target)
                target_iou[number] = shared / joined if joined else 0.0
        return cls(
            present=np.fromiter((item.present for item in items), bool, n),
            truth_px=truth_px,
            predicted_px=predicted_px,
            intersection_px=intersection_px,
            image_px=np.fromiter((item.height_px * item.width_px for item in items), np.int64, n),
            target_iou=target_iou,
        )


def _truth(item: Item, regions: Sequence[Region]) -> RLEMask | None:
    """The union of annotated regions; None where there are none."""
    masks = []
    for region in regions:
        try:
            if region.mask is None:
                raise ValueError("it has no mask, only a box")
            masks.append(parse_mask(region.mask, item.height_px, item.width_px))
        except ValueError as problem:
            raise DataError(
                ANNOTATIONS,
                f"an annotated region cannot be compared: {problem}",
                record=f"query {item.id}",
                remedy="give every annotation a sound mask at the size of its image",
            ) from None
    return union(masks) if masks else None


def _query_table(
    benchmark: Benchmark,
    items: Sequence[Item],
    answers: _Answers,
    outcome: NDArray[np.int8],
    areas: _Areas,
    scores: false_premise.QueryScores,
) -> dict[str, Any]:
    """What cases.parquet says about each query; what a failed one would have scored is None."""
    cases = {case.id: case for case in benchmark.cases}
    counted = scores.counted.tolist()

    def if_counted(values: NDArray[Any]) -> list[Any]:
        return [v if keep else None for v, keep in zip(values.tolist(), counted, strict=True)]

    return {
        "case_id": [item.case_id for item in items],
        "intervention": [cases[item.case_id].intervention for item in items],
        "query_id": [item.id for item in items],
        "image": [item.image for item in items],
        "query": [item.query for item in items],
        "premise": np.where(areas.present, "true", "false"),
        "outcome": [OUTCOME_NAMES[int(code)] for code in outcome],
        "n_masks": answers.n_used,
        "score": [value if math.isfinite(value) else None for value in answers.highest.tolist()],
        "exists": if_counted(areas.predicted_px > 0),
        "existence_correct": if_counted(scores.existence_correct),
        "truth_px": areas.truth_px,
        "predicted_px": if_counted(areas.predicted_px),
        "intersection_px": if_counted(scores.intersection_px),
        "union_px": if_counted(scores.union_px),
        "iou": if_counted(scores.iou),
        "target_iou": [None if math.isnan(value) else value for value in areas.target_iou.tolist()],
    }
