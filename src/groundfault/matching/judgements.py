"""What answers to phrases say about each other, for every score threshold at once.

No picture is labelled, so answers are compared with answers: of two phrases about one picture, or
of one phrase about a photograph and what was made of it. A *judgement* is one such comparison. What
it says at a score threshold t is kept as steps: between two scores nothing changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np

from groundfault.benchmarks.audit import AuditPicture, AuditSet, audit_set
from groundfault.io.coco import FileRecord
from groundfault.io.masks import RLEMask, intersection_and_union, iou_matrix, parse_mask
from groundfault.io.phrases import PhraseRelation
from groundfault.matching.intake import ABSTAINED, OK, OUTCOME_CODE, SILENT, Intake, parts
from groundfault.records import Benchmark, Prediction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = ["EDITED", "NO_OP", "Judgement", "Judgements", "Steps", "compare_answers"]

NO_OP = "no-op edit"
EDITED = ("surface", "material", "context")
KEEPING = ("surface", "context")
"""Kinds of edits after which a thing still is what it was; one of bronze may be a sculpture."""
SIDED = re.compile(r"\b(left|right|links?|rechts?|gauche|droite?|izquierd\w+|derech\w+)\b", re.I)
"""Words that a mirrored picture makes false."""
Mapped = Callable[[RLEMask], RLEMask]


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """One comparison of two answers; of what is absent, a look at one."""

    kind: str
    """exclusive, absent, same, part_of, kind_of; change, kept, turned."""
    name: str
    """The relation as tables call it; of a change or an edit, which one."""
    case: int
    first: int
    """The place of an item; of a change or an edit, about the photograph."""
    second: int
    """The same; where there is no other, `first` again."""
    edit: str = ""
    """The kind of edit of the picture, where it was edited."""
    sided: bool = False
    """Its words say left or right, and the picture was mirrored."""


class Steps(msgspec.Struct, frozen=True, eq=False):
    """Of each judgement a value that changes where a score is passed."""

    first: Ints
    """(n + 1,) where the steps of each begin."""
    threshold: Floats
    """Of each step, falling within a judgement."""
    value: Floats

    @classmethod
    def of(cls, listed: Sequence[Sequence[tuple[float, float]]]) -> Steps:
        """From (threshold, value) of each judgement, thresholds falling."""
        lengths = np.fromiter(map(len, listed), np.int64, len(listed))
        flat = [step for steps in listed for step in steps]
        pairs = np.array(flat, np.float64).reshape(-1, 2)
        return cls(np.concatenate(([0], np.cumsum(lengths))), pairs[:, 0], pairs[:, 1])

    def at(self, t: float) -> Floats:
        """(n,) the values at a threshold; NaN where no score reaches it.

        >>> Steps.of([[(0.9, 1.0), (0.4, 0.5)], []]).at(0.5).tolist()
        [1.0, nan]
        """
        reached = np.concatenate(([0], np.cumsum(self.threshold >= t)))
        n = reached[self.first[1:]] - reached[self.first[:-1]]
        place = self.first[:-1] + n - 1
        found = np.full(len(n), np.nan)
        found[n > 0] = self.value[place[n > 0]]
        return found


class Judgements(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Every comparison of a benchmark's answers."""

    judgements: tuple[Judgement, ...]
    outcome: NDArray[np.int8]
    """(items,) how each answer ended."""
    highest: Floats
    """(items,) the highest score of a mask that marks anything; −∞ where there is none."""
    overlap: Steps
    """Exclusive: the greatest IoU of an accepted mask of the one with one of the other. Same and
    change: IoU of all that is accepted. Part and kind: the share of the first inside the second.
    Kept and turned: the greatest IoU of an accepted mask with the edited region, before."""
    after: Steps
    """Kept and turned: the same on the edited picture. Change: how much of what was accepted on the
    photograph the changed picture shows."""
    score: Floats
    """Every score, of all answers."""
    n_silent: int
    notes: tuple[str, ...]


class _Answer(NamedTuple):
    """The masks of one answer that mark anything, the surest first."""

    masks: tuple[RLEMask, ...] = ()
    scores: tuple[float, ...] = ()


class _Compared(NamedTuple):
    judgement: Judgement
    overlap: list[tuple[float, float]]
    after: list[tuple[float, float]]


def compare_answers(benchmark: Benchmark, predictions: Iterable[Prediction]) -> Judgements:
    """Compare a stream of predictions, whole or in parts. The masks of a photograph are let go when
    all its answers have come."""
    found = _Comparing(benchmark)
    for prediction in predictions:
        found.add(prediction)
    return found.finish()


class _Comparing:
    def __init__(self, benchmark: Benchmark) -> None:
        self.items = benchmark.items
        self.layout = _Layout(audit_set(benchmark.settings), benchmark)
        self.intake = Intake(
            self.items,
            asked=("a phrase and picture", "phrases and pictures"),
            remedy="give the items' ids as image_id: NAME:PHRASE, with the names of images/",
        )
        self.highest = np.full(len(self.items), -np.inf)
        self.scores: list[float] = []
        self.masks: dict[int, list[tuple[float, RLEMask]]] = {}
        self.left = [len(places) for places in self.layout.places]
        self.done: dict[int, list[_Compared]] = {}

    def add(self, prediction: Prediction) -> None:
        """Take in a prediction, or a part of one."""
        intake, n = self.intake, parts(prediction)
        intake.n_records += n or 1
        place = intake.position.get(prediction.item_id)
        if place is None:
            intake.note_unknown(prediction)
            return
        code = OUTCOME_CODE[prediction.outcome]
        is_new = intake.outcome[place] == SILENT
        intake.note_outcome(prediction, place, code if code != OK or n else ABSTAINED)
        for k in range(n if code == OK else 0):
            self._take(prediction, k, place)
        if is_new and type(prediction) is not FileRecord:  # of a file, more may come
            case = self.layout.case_of[place]
            self.left[case] -= 1
            if not self.left[case]:
                self._compare(case)

    def _take(self, prediction: Prediction, k: int, place: int) -> None:
        score = prediction.scores[k] if k < len(prediction.scores) else 0.0
        self.intake.n_outside_unit += not 0 <= score <= 1
        mask = self.intake.mask(prediction, k, self.items[place])
        if not mask.area():
            return
        self.scores.append(score)
        self.highest[place] = max(self.highest[place], score)
        self.masks.setdefault(place, []).append((score, mask))

    def _compare(self, case: int) -> None:
        answers: dict[int, _Answer] = {}
        for place in self.layout.places[case]:
            kept = sorted(self.masks.pop(place, ()), key=lambda pair: -pair[0])
            answers[place] = _Answer(tuple(m for _, m in kept), tuple(s for s, _ in kept))
        self.done[case] = [
            _compared(judgement, answers, self.layout.pictures)
            for judgement in self.layout.judgements(case)
        ]

    def finish(self) -> Judgements:
        """All comparisons, in the order of the cases."""
        outcome, n_silent = self.intake.outcomes()
        for case in range(len(self.layout.places)):
            if case not in self.done:
                self._compare(case)
        found = [each for case in sorted(self.done) for each in self.done[case]]
        return Judgements(
            judgements=tuple(each.judgement for each in found),
            outcome=outcome,
            highest=self.highest,
            overlap=Steps.of([each.overlap for each in found]),
            after=Steps.of([each.after for each in found]),
            score=np.array(self.scores, np.float64),
            n_silent=n_silent,
            notes=tuple(self.intake.notes()),
        )


class _Layout:
    """Which answers are compared with which."""

    def __init__(self, found: AuditSet, benchmark: Benchmark) -> None:
        self.set, self.items = found, benchmark.items
        self.relations = found.phrases.relations()
        number = {case.id: k for k, case in enumerate(benchmark.cases)}
        self.case_of = [number[item.case_id] for item in benchmark.items]
        self.places: list[list[int]] = [[] for _ in benchmark.cases]
        for place, case in enumerate(self.case_of):
            self.places[case].append(place)
        known = {picture.file: picture for picture in found.pictures}
        self.pictures = [known[item.image] for item in benchmark.items]

    def judgements(self, case: int) -> Iterator[Judgement]:
        """Everything that is compared about one photograph."""
        shown: dict[str, dict[str, int]] = {}
        for place in self.places[case]:
            item = self.items[place]
            shown.setdefault(item.image, {})[item.query] = place
        original: Mapping[str, int] = {}
        for places in shown.values():
            picture = self.pictures[next(iter(places.values()))]
            if picture.is_photograph:
                original = places
                yield from self._related(case, places)
            elif picture.edit is None or picture.edit.kind == "none":
                yield from self._changed(case, picture, original, places)
            else:
                yield from self._edited(case, picture, original, places)
                yield from self._related(case, places, edit=picture.edit.kind)

    def _related(
        self, case: int, places: Mapping[str, int], *, edit: str = ""
    ) -> Iterator[Judgement]:
        for relation in self.relations:
            if edit and relation.kind not in ("exclusive", "absent"):
                continue
            first = places[relation.first]
            yield Judgement(
                kind=relation.kind,
                name=relation.name,
                case=case,
                first=first,
                second=places[relation.second] if relation.second else first,
                edit=edit,
            )

    def _changed(
        self, case: int, picture: AuditPicture, before: Mapping[str, int], now: Mapping[str, int]
    ) -> Iterator[Judgement]:
        name = picture.change or NO_OP
        for phrase, place in now.items():
            yield Judgement(
                kind="change",
                name=name,
                case=case,
                first=before[phrase],
                second=place,
                sided=name == "mirrored" and SIDED.search(phrase) is not None,
            )

    def _edited(
        self, case: int, picture: AuditPicture, before: Mapping[str, int], now: Mapping[str, int]
    ) -> Iterator[Judgement]:
        """The edited thing is what it was, and what excludes it or is absent still is not there."""
        edit = picture.edit
        assert edit is not None
        if edit.kind not in EDITED or edit.phrase not in now:
            return
        wrong = dict.fromkeys(_never_true(edit.phrase, self.relations))
        itself = (edit.phrase,) if edit.kind in KEEPING else ()
        for phrase in (*itself, *wrong):
            yield Judgement(
                kind="kept" if phrase == edit.phrase else "turned",
                name=edit.kind,
                case=case,
                first=before[phrase],
                second=now[phrase],
                edit=edit.kind,
            )


def _never_true(phrase: str, relations: Sequence[PhraseRelation]) -> Iterator[str]:
    """What a region of a phrase cannot be."""
    for relation in relations:
        pair = (relation.first, relation.second)
        if relation.kind == "exclusive" and phrase in pair:
            yield pair[pair[0] == phrase]
        elif relation.kind == "absent" and relation.first != phrase:
            yield relation.first


def _compared(
    judgement: Judgement, answers: Mapping[int, _Answer], pictures: Sequence[AuditPicture]
) -> _Compared:
    first, second = answers[judgement.first], answers[judgement.second]
    kind = judgement.kind
    if kind == "exclusive":
        return _Compared(judgement, _greatest_overlap(first, second), [])
    if kind == "same":
        return _Compared(judgement, _unions(first, second, _iou), [])
    if kind in ("part_of", "kind_of"):
        return _Compared(judgement, _unions(first, second, _inside), [])
    if kind == "change":
        return _change(judgement, first, second, pictures)
    if kind in ("kept", "turned"):
        edit = pictures[judgement.second].edit
        assert edit is not None
        height_px, width_px = edit.region["size"]
        region = _Answer((parse_mask(edit.region, height_px, width_px),), (np.inf,))
        before = _greatest_overlap(first, region)
        return _Compared(judgement, before, _greatest_overlap(second, region))
    return _Compared(judgement, [], [])


def _change(
    judgement: Judgement, first: _Answer, second: _Answer, pictures: Sequence[AuditPicture]
) -> _Compared:
    """The changed picture's masks go back to the photograph; only what both show counts."""
    changed, photograph = pictures[judgement.second], pictures[judgement.first]
    back = _back(changed, photograph)
    frame = changed.frame_xywh
    if frame is None:
        shown, visible = first, []
    else:
        window = _window(frame, photograph)
        shown = _Answer(tuple(mask & window for mask in first.masks), first.scores)
        visible = _unions(first, _Answer((window,), (np.inf,)), _inside)
    there = _Answer(tuple(map(back, second.masks)), second.scores)
    return _Compared(judgement, _unions(shown, there, _iou), visible)


def _window(frame_xywh: tuple[int, int, int, int], picture: AuditPicture) -> RLEMask:
    x, y, width, height = frame_xywh
    shown = np.zeros((picture.height_px, picture.width_px), bool)
    shown[y : y + height, x : x + width] = True
    return RLEMask.from_array(shown)


def _back(changed: AuditPicture, photograph: AuditPicture) -> Mapped:
    """Brings masks of a changed picture to the photograph's pixels."""
    if changed.change == "mirrored":
        return lambda mask: mask.fliplr()
    if changed.frame_xywh is not None:
        x, y, width, height = changed.frame_xywh
        right = photograph.width_px - x - width
        low = photograph.height_px - y - height
        return lambda mask: mask.pad(y, low, x, right)
    if (changed.height_px, changed.width_px) != (photograph.height_px, photograph.width_px):
        size = (photograph.height_px, photograph.width_px)
        return lambda mask: mask.resize(size)
    return lambda mask: mask


def _greatest_overlap(first: _Answer, second: _Answer) -> list[tuple[float, float]]:
    """Steps of the greatest IoU between two masks that are both accepted."""
    if not first.masks or not second.masks:
        return []
    overlaps = iou_matrix(first.masks, second.masks)
    scores = np.minimum.outer(np.array(first.scores), np.array(second.scores)).ravel()
    steps: list[tuple[float, float]] = []
    greatest = -1.0
    for k in np.argsort(-scores, kind="stable").tolist():
        overlap = float(overlaps.flat[k])
        if overlap > greatest:
            greatest = overlap
            steps.append((float(scores[k]), overlap))
    return steps


def _unions(
    first: _Answer, second: _Answer, value: Callable[[RLEMask, RLEMask], float]
) -> list[tuple[float, float]]:
    """Steps of a value of all that is accepted of each; none while one of them has nothing."""
    if not first.masks or not second.masks:
        return []
    steps: list[tuple[float, float]] = []
    unions: list[RLEMask | None] = [None, None]
    ranked = sorted(
        [(-s, 0, m) for s, m in zip(first.scores, first.masks, strict=True)]
        + [(-s, 1, m) for s, m in zip(second.scores, second.masks, strict=True)],
        key=lambda entry: entry[0],
    )
    for place, (negative, side, mask) in enumerate(ranked):
        so_far = unions[side]
        unions[side] = mask if so_far is None else so_far | mask
        one, other = unions
        is_last = place + 1 == len(ranked) or ranked[place + 1][0] != negative
        if is_last and one is not None and other is not None:
            steps.append((-negative, value(one, other)))
    return steps


def _iou(one: RLEMask, other: RLEMask) -> float:
    shared, whole = intersection_and_union(one, other)
    return shared / whole if whole else 0.0


def _inside(one: RLEMask, other: RLEMask) -> float:
    """The share of the one that lies in the other."""
    area = int(one.area())
    return int((one & other).area()) / area if area else 0.0
