"""Every prediction compared once with what it is measured against.

Predictions arrive as a stream in any order; their masks are compared and dropped, and only
scores and overlaps are kept. All later questions (any t, any τ, every subset, every resample)
are answered from this table.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from groundfault.errors import DataError
from groundfault.io.coco import FileRecord
from groundfault.io.masks import CONTINUES, RLEMask, box_iou, iou_matrix, mask_box
from groundfault.matching.intake import ABSTAINED, ANNOTATIONS, OK, OUTCOME_CODE, Intake, parts
from groundfault.records import Benchmark, Item, Outcome, Prediction, Region

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = ["Overlaps", "Truth", "compare_predictions"]

BATCH_PREDICTIONS = 2048
"""Compared at a time: few enough to be forgotten, many enough to be sorted by item."""


class Truth(msgspec.Struct, frozen=True, eq=False):
    """Overlaps with one annotator's objects (crowds left out)."""

    seen: NDArray[np.bool_]
    """(items,) whether this annotator saw the item."""
    n_objects: Ints
    """(items,) annotated objects; 0 for absent concepts."""
    iou: Floats
    """Flat: for each prediction in order, one value per object of its item."""
    row_start: Ints
    """(predictions + 1,) where each prediction's values begin in `iou`."""


class Overlaps(msgspec.Struct, frozen=True, eq=False):
    """Predictions sorted by item, in file order within one item."""

    n_items: int
    item: Ints
    """(predictions,) index of the item."""
    score: Floats
    declared: NDArray[np.bool_]
    """(predictions,) whether the annotations declare the prediction's category."""
    target_iou: Floats
    """Mask IoU with the item's target region; 0 where there is none."""
    truths: tuple[Truth, ...]
    """One per annotator."""
    outcome: NDArray[np.int8]
    """(items,) codes of `intake`; items that a dump says nothing about count as abstained."""
    n_silent: int
    """How many items no record mentions."""
    notes: tuple[str, ...] = ()

    @property
    def item_start(self) -> Ints:
        """(items + 1,) where each item's predictions begin."""
        return np.searchsorted(self.item, np.arange(self.n_items + 1))


def compare_predictions(
    benchmark: Benchmark,
    predictions: Iterable[Prediction],
    *,
    iou: str = "segm",
    need_target: bool = True,
) -> Overlaps:
    """Compare a stream of predictions, whole or in parts, with a benchmark.

    `iou` says what the instance metrics compare, masks ("segm") or boxes ("bbox"); the target
    overlap always compares masks and is left out unless `need_target`.
    """
    table = _Table(benchmark, iou == "bbox", need_target)
    stream = iter(predictions)
    while batch := list(islice(stream, BATCH_PREDICTIONS)):
        table.add(batch)
    return table.finish()


_Mask = tuple[Prediction, int]
"""A prediction, and the place of one mask in it."""


def _box_at(prediction: Prediction, k: int) -> Sequence[float] | None:
    return prediction.boxes_xywh[k] if k < len(prediction.boxes_xywh) else None


class _Part(msgspec.Struct, eq=False):
    """What one batch leaves behind; rows are predictions sorted by item."""

    item: Ints
    score: Floats
    declared: NDArray[np.bool_]
    target_iou: Floats
    boxes_xywh: Floats
    box_given: NDArray[np.bool_]
    """Whether the record has a box; the mask's own is always in pixels."""
    blocks: list[list[tuple[int, int, Floats]]]
    """Per annotator: (first row, number of rows, IoU with each object) of items that need it."""


class _Table:
    """Grows batch by batch."""

    def __init__(self, benchmark: Benchmark, boxes: bool, need_target: bool) -> None:
        self.benchmark = benchmark
        self.boxes = boxes
        self.need_target = need_target
        self.parts: list[_Part] = []
        items = benchmark.items
        self.declared = frozenset(benchmark.categories)
        self.intake = Intake(
            items,
            asked=("an image", "images"),
            remedy="check that predictions and annotations are of the same benchmark",
        )
        self.n_annotators = 1 + max((len(item.alternatives) for item in items), default=0)
        self.reference = [_sole_reference(item) for item in items]
        self.size = [(item.height_px, item.width_px) for item in items]
        self.n_undeclared = 0
        self.boxes_normalised = False

    def add(self, predictions: Sequence[Prediction]) -> None:
        """Compare one batch."""
        intake, position, ok = self.intake, self.intake.position, Outcome.OK
        places: list[int] = []
        masks: list[_Mask] = []
        for prediction in predictions:
            place = position.get(prediction.item_id)
            if place is None:
                intake.note_unknown(prediction)
            elif prediction.outcome is not ok:
                intake.note_outcome(prediction, place, OUTCOME_CODE[prediction.outcome])
            elif type(prediction) is FileRecord:  # most of all predictions: no further question
                places.append(place)
                masks.append((prediction, 0))
            elif n := parts(prediction):
                places += [place] * n
                masks += [(prediction, k) for k in range(n)]
                intake.n_records += n - 1
            else:  # an answer without any mask
                intake.note_outcome(prediction, place, ABSTAINED)
        intake.n_records += len(predictions)
        if masks:
            item = np.array(places)
            order = np.argsort(item, kind="stable")
            self.parts.append(self._compare(item[order], [masks[k] for k in order.tolist()]))

    def _compare(self, item: Ints, found: Sequence[_Mask]) -> _Part:
        """Overlaps of masks sorted by item."""
        n = len(found)
        part = _Part(
            item=item,
            score=self._scores(found),
            declared=self._declared(found),
            target_iou=np.zeros(n),
            boxes_xywh=np.empty((n if self.boxes else 0, 4)),
            box_given=np.zeros(n if self.boxes else 0, bool),
            blocks=[[] for _ in range(self.n_annotators)],
        )
        outcome = self.intake.outcome
        for row in np.flatnonzero(~np.isin(outcome[item], (-1, OK)))[:1]:
            self.intake.note_outcome(found[row][0], int(item[row]), OK)
        outcome[item] = OK
        items, places, reference = self.benchmark.items, item.tolist(), self.reference
        masks = self._masks(found, places)
        for row, mask in enumerate(masks if self.boxes else ()):
            part.boxes_xywh[row] = self._box(*found[row], mask)
            part.box_given[row] = bool(_box_at(*found[row]))
        start = 0
        while start < n:
            place = places[start]
            sole = reference[place]
            stop = start + 1
            if sole is None:
                while stop < n and places[stop] == place:
                    stop += 1
                self._compare_item(items[place], masks[start:stop], part, start)
            else:  # p⁺ and p⁻ of a case share their reference: one call for both
                while stop < n and reference[places[stop]] is sole:
                    stop += 1
                if self.need_target or not self.boxes:
                    part.target_iou[start:stop] = self._iou(masks[start:stop], [sole])[:, 0]
            start = stop
        return part

    def _scores(self, found: Sequence[_Mask]) -> Floats:
        try:
            values = np.array([prediction.scores[k] for prediction, k in found], np.float64)
        except IndexError:
            bare = next(prediction for prediction, k in found if k >= len(prediction.scores))
            raise self.intake.error(bare, "it has no score", "give every prediction one") from None
        for row in np.flatnonzero(~np.isfinite(values))[:1]:
            raise self.intake.error(found[row][0], "its score is not finite", "give a finite score")
        self.intake.n_outside_unit += int(((values < 0) | (values > 1)).sum())
        return values

    def _declared(self, found: Sequence[_Mask]) -> NDArray[np.bool_]:
        """Which predictions have a category that the annotations declare (or none at all)."""
        if not self.declared:
            return np.ones(len(found), bool)
        unknown = {p.category_ids[k] if p.category_ids else None for p, k in found}
        unknown -= self.declared | {None}
        if not unknown:
            return np.ones(len(found), bool)
        declared = np.array([not p.category_ids or p.category_ids[k] not in unknown
                             for p, k in found])  # fmt: skip
        self.n_undeclared += int((~declared).sum())
        return declared

    def _compare_item(
        self, item: Item, masks: Sequence[RLEMask | None], part: _Part, start: int
    ) -> None:
        """Overlaps with the target and with the objects of each annotator."""
        stop = start + len(masks)
        if self.need_target and item.target is not None:
            part.target_iou[start:stop] = self._iou(masks, [item.target])[:, 0]
        for annotator in range(0 if self.boxes else self.n_annotators):
            objects = _objects(item, annotator)
            if objects:
                block = (start, len(masks), self._iou(masks, objects).ravel())
                part.blocks[annotator].append(block)

    def _iou(self, masks: Sequence[RLEMask | None], references: Sequence[Region]) -> Floats:
        parsed = []
        for region in references:
            try:
                parsed.append(RLEMask.from_dict(region.mask))
            except (ValueError, TypeError):
                raise self._unsound(region) from None
        return iou_matrix(masks, parsed)

    def _unsound(self, region: Region) -> DataError:
        """An annotated mask that cannot be used; the benchmark does not say which file it is of."""
        owners = (
            item.id
            for item in self.benchmark.items
            if any(region in (by or ()) for by in (item.regions, *item.alternatives))
        )
        problem = "corrupt or truncated run lengths" if region.mask else "no mask"
        return DataError(
            ANNOTATIONS,
            f"its annotation has {problem}",
            record=f"image {next(owners, '?')}",
            remedy="encode the mask again"
            + ("" if self.need_target else ", or compare boxes with --iou bbox"),
        )

    def _masks(self, found: Sequence[_Mask], places: Sequence[int]) -> list[RLEMask | None]:
        """Parsed masks. The usual form goes straight to the parser: this is the hottest loop."""
        masks: list[RLEMask | None] = []
        size, from_dict = self.size, RLEMask.from_dict
        for (prediction, k), place in zip(found, places, strict=True):
            try:
                rle: Any = prediction.masks[k]
                if rle["size"] == size[place] and rle["counts"][-1:] < CONTINUES:
                    masks.append(from_dict(rle))
                    continue
            except (TypeError, ValueError, OverflowError, IndexError):
                pass  # another form, or unsound: the thorough way decides
            masks.append(self._mask(prediction, k, self.benchmark.items[place]))
        return masks

    def _mask(self, prediction: Prediction, k: int, item: Item) -> RLEMask | None:
        boxes_suffice = self.boxes and not self.need_target
        if k >= len(prediction.masks) and _box_at(prediction, k) and boxes_suffice:
            return None
        return self.intake.mask(prediction, k, item)

    def _box(self, prediction: Prediction, k: int, mask: RLEMask | None) -> Sequence[float]:
        """The box given, else the mask's own."""
        box = _box_at(prediction, k)
        if not box and mask is not None:
            return mask_box(mask)
        if box is None or len(box) != 4 or not all(map(math.isfinite, box)) or min(box[2:]) < 0:
            raise self.intake.error(
                prediction, f"its bbox {box} is not x, y, width, height", "give four finite numbers"
            )
        return box

    def finish(self) -> Overlaps:
        """Sort everything by item."""
        outcome, n_silent = self.intake.outcomes()
        item = _joined([part.item for part in self.parts], np.int64)
        order = np.argsort(item, kind="stable")
        item = item[order]
        target_iou = _joined([part.target_iou for part in self.parts])[order]
        truths = tuple(
            self._truth(annotator, item, order, target_iou)
            for annotator in range(self.n_annotators)
        )
        return Overlaps(
            n_items=len(self.benchmark.items),
            item=item,
            score=_joined([part.score for part in self.parts])[order],
            declared=_joined([part.declared for part in self.parts], bool)[order],
            target_iou=target_iou,
            truths=truths,
            outcome=outcome,
            n_silent=n_silent,
            notes=tuple(self._notes()),
        )

    def _truth(self, annotator: int, item: Ints, order: Ints, target_iou: Floats) -> Truth:
        items = self.benchmark.items
        seen = np.fromiter((i.annotated_by(annotator) is not None for i in items), bool, len(items))
        n_objects = np.fromiter((len(_objects(i, annotator)) for i in items), np.int64, len(items))
        widths = n_objects[item]
        row_start = np.concatenate(([0], np.cumsum(widths)))
        if self.boxes:
            return Truth(
                seen, n_objects, self._box_overlaps(annotator, item, order, widths), row_start
            )
        iou = np.zeros(int(row_start[-1]))
        sole = np.fromiter(
            (reference is not None for reference in self.reference), bool, len(items)
        )
        rows = np.flatnonzero((widths == 1) & sole[item])
        iou[row_start[rows]] = target_iou[rows]
        self._fill_blocks(annotator, order, widths, row_start, iou)
        return Truth(seen, n_objects, iou, row_start)

    def _fill_blocks(
        self, annotator: int, order: Ints, widths: Ints, row_start: Ints, iou: Floats
    ) -> None:
        """Copy the stored blocks to where their predictions ended up after sorting."""
        starts, lengths, values, offset = [], [], [], 0
        for part in self.parts:
            for first, length, block in part.blocks[annotator]:
                starts.append(offset + first)
                lengths.append(length)
                values.append(block)
            offset += len(part.item)
        if not values:
            return
        sorted_row = np.empty_like(order)
        sorted_row[order] = np.arange(len(order))
        rows = sorted_row[_ranges(np.array(starts), np.array(lengths))]
        iou[_ranges(row_start[rows], widths[rows])] = np.concatenate(values)

    def _box_overlaps(self, annotator: int, item: Ints, order: Ints, widths: Ints) -> Floats:
        """Box IoU of every prediction with every object of its item."""
        boxes = np.concatenate([part.boxes_xywh for part in self.parts] or [np.empty((0, 4))])[
            order
        ]
        sizes = np.array([(i.width_px, i.height_px) for i in self.benchmark.items], float)[item]
        given = _joined([part.box_given for part in self.parts], bool)[order]
        far_corners = boxes[given, :2] + boxes[given, 2:]
        if given.any() and (far_corners <= 1.000001).all() and (sizes > 1).any():
            boxes[given] *= np.hstack([sizes, sizes])[given]
            self.boxes_normalised = True
        references: list[tuple[float, float, float, float]] = []
        first = np.zeros(len(self.benchmark.items), np.int64)
        for number, i in enumerate(self.benchmark.items):
            first[number] = len(references)
            references += [self._region_box(region) for region in _objects(i, annotator)]
        if not references:
            return np.empty(0)
        rows = np.repeat(np.arange(len(item)), widths)
        return box_iou(boxes[rows], np.array(references)[_ranges(first[item], widths)])

    def _region_box(self, region: Region) -> tuple[float, float, float, float]:
        if region.box_xywh is not None:
            return region.box_xywh
        try:
            return mask_box(RLEMask.from_dict(region.mask))
        except (ValueError, TypeError):
            raise self._unsound(region) from None

    def _notes(self) -> Iterable[str]:
        yield from self.intake.notes()
        if self.n_undeclared:
            yield (
                f"{self.n_undeclared} predictions have a category that the annotations do not "
                "declare: parity leaves them out of the cgF1 family as the published evaluator "
                "does, exact keeps them."
            )
        if self.boxes_normalised:
            yield "The predictions' boxes are normalised (0–1) and were scaled to pixels."


def _joined(parts: Sequence[NDArray[Any]], dtype: Any = np.float64) -> Any:
    return np.concatenate(parts) if parts else np.empty(0, dtype)


def _sole_reference(item: Item) -> Region | None:
    """The one region that both the target and the instance metrics of an item look at, if so."""
    if item.alternatives or len(item.regions) > 1:
        return None
    if not item.regions:
        return item.target
    region = item.regions[0]
    return region if not region.crowd and (item.target is None or item.target is region) else None


def _objects(item: Item, annotator: int) -> Sequence[Region]:
    """What an annotator says a perfect answer contains, crowds left out."""
    regions = item.annotated_by(annotator) or ()
    if any(region.crowd for region in regions):
        return [region for region in regions if not region.crowd]
    return regions


def _ranges(starts: Ints, lengths: Ints) -> Ints:
    """Concatenate arange(start, start + length) for all.

    >>> _ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.asarray(np.arange(total) + np.repeat(starts - (ends - lengths), lengths))
