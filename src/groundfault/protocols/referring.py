"""Referring expressions, some with a false premise (FP-RefCOCO): See, Say and Segment.

Several masks of one query are one answer: the union of those with score ≥ t. A record of a results
file without a score is used at t = 0 only. A query without any prediction counts as an abstention.
The case (ref, or pairs made from one another) is resampled, not the query.

Say is about what answers say beside their masks: of a false premise that is rejected, the words are
read by rule, and by a judge where predictions have verdicts.
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
from groundfault.parsing.corrections import Correction, read_correction
from groundfault.protocols.protocol import Protocol
from groundfault.protocols.scored import Scored, by_split, clusters
from groundfault.records import Benchmark, Item, Prediction, Region, Verdict

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
    rejected = (areas.predicted_px == 0) & (outcome != UNPARSED) & ~failed
    words = answers.words(rejected)
    scores = false_premise.score(
        areas.present,
        areas.truth_px,
        areas.predicted_px,
        areas.intersection_px,
        unparsed=outcome == UNPARSED,
        failed=failed,
        words=words,
    )
    imputed: tuple[Floats, ...] = ()
    if failed.any() or words.unjudged.any():
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
        case=clusters(benchmark.cases)[[case_number[item.case_id] for item in items]],
        rows=_rows(benchmark, items, areas.present),
        outcomes=outcomes,
        imputed=imputed,
        notes=(
            *benchmark.notes,
            *answers.notes(),
            *failure_notes(outcomes, n_silent, "queries"),
        ),
    )


def _rows(
    benchmark: Benchmark, items: Sequence[Item], present: NDArray[np.bool_]
) -> dict[str, NDArray[np.bool_]]:
    """All queries, the true and the false ones, and those of each split if there are several."""
    rows = {"Overall": np.ones(len(items), bool), "true": present, "false": ~present}
    split = {case.id: case.tags.get("split", "") for case in benchmark.cases}
    splits = np.array([split[item.case_id] for item in items])
    return rows | by_split({"Overall": rows["Overall"]}, splits)


class _Answers:
    """One mask per query, made from its predictions as they arrive, and what was said."""

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
        self.said: dict[int, list[str]] = {}
        self.verdict: dict[int, Verdict | None] = {}
        self.is_judged = False

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
        if prediction.text and prediction.text not in self.said.setdefault(place, []):
            self.said[place].append(prediction.text)
        if prediction.judge:
            self.is_judged = True
            self.verdict[place] = prediction.verdict

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

    def text(self, place: int) -> str:
        """What was said about a query."""
        return "\n".join(self.said.get(place, ()))

    def words(self, rejected: NDArray[np.bool_]) -> false_premise.Words:
        """What the answers say about false premises, of which it counts where they reject them."""
        items = self.intake.items
        found = false_premise.Words.none(len(items))
        if not any(self.said.values()):
            return found
        for place, item in enumerate(items):
            if item.present or item.answer is None:
                continue
            found.sayable[place] = True
            found.judged[place] = self.is_judged
            text = self.text(place)
            if not rejected[place] or not text:
                continue
            found.named[place], found.exact[place] = _read(text, item)
            found.unjudged[place] = self.is_judged and self.verdict.get(place) not in _DECIDED
            found.judged[place] &= not found.unjudged[place]
            found.judged_right[place] = self.verdict.get(place) == "right"
        return found

    def notes(self) -> list[str]:
        """What is unusual about the file."""
        notes = [*self.intake.notes()]
        if not any(self.said.values()) and any(_says(item) for item in self.intake.items):
            notes.append("No answer has words, so Say is undefined.")
        if self.n_unscored:
            notes.append(f"{self.n_unscored} predictions have no score; their masks were used.")
        several = int((self.n_used > 1).sum())
        if several:
            notes.append(
                f"{several} queries have several masks with score ≥ {self.t}: the union is scored."
            )
        return notes


_DECIDED = ("right", "wrong")


def _says(item: Item) -> bool:
    """Whether it is known what is there instead of what an item describes."""
    return item.answer is not None and not item.present


def _read(text: str, item: Item) -> Correction:
    assert item.answer is not None  # asked only of such items
    return read_correction(text, item.query, item.answer.reference)


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
        "there_is": [item.answer.reference if item.answer else "" for item in items],
        "said": [answers.text(place) for place in range(len(items))],
        "named": _where(scores.words.sayable & scores.counted, scores.words.named),
        "named_exactly": _where(scores.words.sayable & scores.counted, scores.words.exact),
        "named_by_judge": _where(scores.words.judged & scores.counted, scores.words.judged_right),
    }


def _where(known: NDArray[np.bool_], values: NDArray[np.bool_]) -> list[bool | None]:
    return [bool(v) if k else None for k, v in zip(known, values, strict=True)]


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
    headlines=("See", "See_true", "See_false", "Say", "Segment", "gIoU"),
    main="See",
    judged=True,
    right_or_wrong={
        "existence right": ("existence_correct", bool),
        "correction named": ("named", bool),
    },
    asked=(
        "Each query describes an object. Some descriptions are false: nothing in the picture "
        "fits. The model should mark what is there, reject what is not, and say what is there "
        "instead."
    ),
    told="See",
    sentence="is right about existence for {value} of queries {interval}",
    bars=("See", "See_true", "See_false", "Say", "Segment", "gIoU"),
    cells={
        "false premise accepted": "a mask for something that is not there",
        "true premise rejected": "no mask for something that is there",
        "poor mask": "existence right, mask poor",
        "not named": "rejected, without saying what is there",
    },
)
