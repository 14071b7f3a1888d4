"""Referring expressions, some with a false premise (FP-RefCOCO): See and Segment.

Several masks of one query are one answer: the union of those with score ≥ t. A record of a results
file without a score is used at t = 0 only. A query without any prediction counts as an abstention.
The case (ref, or pairs made from one another) is resampled, not the query.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from groundfault.config import check_threshold
from groundfault.errors import DataError
from groundfault.io.masks import RLEMask, intersection_and_union, parse_mask, union
from groundfault.matching.intake import (
    ABSTAINED,
    ANNOTATIONS,
    FAILED,
    OK,
    OUTCOME_CODE,
    OUTCOME_NAMES,
    UNPARSED,
    Intake,
    failure_notes,
    parts,
)
from groundfault.metrics import columns_of, false_premise
from groundfault.protocols.protocol import Protocol
from groundfault.protocols.scored import Scored
from groundfault.records import Benchmark, Item, Prediction, Region

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from groundfault.protocols.scored import Floats

__all__ = ["PROTOCOL", "score"]


def score(benchmark: Benchmark, predictions: Iterable[Prediction], *, t: float = 0.0) -> Scored:
    """Score a stream of predictions, whole or in parts."""
    case_number = {case.id: number for number, case in enumerate(benchmark.cases)}
    items = sorted(benchmark.items, key=lambda item: case_number[item.case_id])
    answers = _Answers(items, t)
    for prediction in predictions:
        answers.add(prediction)
    if not answers.intake.n_outside_unit:
        check_threshold(t)
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
    return Scored(
        benchmark=benchmark.card.name,
        protocol=PROTOCOL.name,
        settings={"t": t},
        columns=lambda: _query_table(benchmark, items, answers, outcome, areas, scores),
        contributions=false_premise.contributions(scores),
        contribution_names=columns_of(false_premise.FAMILY),
        case=np.array([case_number[item.case_id] for item in items], np.int64),
        rows={
            "Overall": np.ones(len(items), bool),
            "true": areas.present,
            "false": ~areas.present,
        },
        outcomes=outcomes,
        imputed=imputed,
        notes=(
            *benchmark.notes,
            *answers.notes(),
            *failure_notes(outcomes, n_silent, "queries"),
        ),
    )


class _Answers:
    """One mask per query, made from its predictions as they arrive."""

    def __init__(self, items: Sequence[Item], t: float) -> None:
        self.t = t
        self.intake = Intake(
            items,
            asked=("a query", "queries"),
            remedy="give the query's id as image_id: sent_id, or the id of the pair",
        )
        self.masks: list[RLEMask | None] = [None] * len(items)
        self.n_used = np.zeros(len(items), np.int64)
        self.highest = np.full(len(items), np.nan)
        self.n_unscored = 0

    def add(self, prediction: Prediction) -> None:
        """Take in a prediction, or a part of one."""
        intake, n = self.intake, parts(prediction)
        intake.n_records += n or 1
        place = intake.position.get(prediction.item_id)
        if place is None:
            intake.note_unknown(prediction)
            return
        code = OUTCOME_CODE[prediction.outcome]
        intake.note_outcome(prediction, place, code if code != OK or n else ABSTAINED)
        for k in range(n if code == OK else 0):
            self._take(prediction, k, place)

    def _take(self, prediction: Prediction, k: int, place: int) -> None:
        """Add a mask to its query's."""
        mask = self.intake.mask(prediction, k, self.intake.items[place])
        score = self._score(prediction, k)
        if not score >= self.t:
            return
        self.n_used[place] += 1
        self.highest[place] = np.fmax(self.highest[place], score)
        before = self.masks[place]
        self.masks[place] = mask if before is None else union([before, mask])

    def _score(self, prediction: Prediction, k: int) -> float:
        if k >= len(prediction.scores):
            if self.t > 0:
                raise self.intake.error(
                    prediction,
                    f"it has no score, so it cannot be held against t = {self.t}",
                    "give every record a score, or use t = 0",
                )
            self.n_unscored += 1
            return math.inf
        score = prediction.scores[k]
        if not math.isfinite(score):
            raise self.intake.error(prediction, "its score is not finite", "give a finite score")
        self.intake.n_outside_unit += not 0 <= score <= 1
        return score

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


def _contribute(
    benchmark: Benchmark, predictions: Iterable[Prediction], settings: Mapping[str, object]
) -> Scored:
    return score(benchmark, predictions, t=float(settings["t"]))  # type: ignore[arg-type]


PROTOCOL = Protocol(
    name="referring",
    title="Referring expressions",
    families=("premise",),
    settings={"t": 0.0},
    contribute=_contribute,
    headlines=("See", "See_true", "See_false", "Segment", "gIoU"),
    main="See",
    right_or_wrong={"existence right": ("existence_correct", bool)},
    asked=(
        "Each query describes an object. Some descriptions are false: nothing in the picture "
        "fits. The model should mark what is there and reject what is not."
    ),
    told="See",
    sentence="is right about existence for {value} of queries {interval}",
    bars=("See", "See_true", "See_false", "Segment", "gIoU"),
    cells={
        "false premise accepted": "a mask for something that is not there",
        "true premise rejected": "no mask for something that is there",
        "poor mask": "existence right, mask poor",
    },
)
