"""Predictions addressed to items: which item is meant, how it ended, whether the mask is sound.

What comparing masks and answering referring queries share.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from groundfault.errors import DataError
from groundfault.io.coco import FileRecord
from groundfault.io.masks import RLEMask, parse_mask
from groundfault.records import Item, Outcome, Prediction

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "ABSTAINED",
    "ANNOTATIONS",
    "FAILED",
    "OK",
    "OUTCOME_CODE",
    "OUTCOME_NAMES",
    "SILENT",
    "UNPARSED",
    "Intake",
    "failure_notes",
    "parts",
]

ANNOTATIONS = "annotations"
"""Stands for the file in errors about masks that were read without checking them."""
PREDICTIONS = "predictions"
"""Stands for the file in errors about predictions that come from none."""
FAILED, UNPARSED, ABSTAINED, OK = 0, 1, 2, 3
OUTCOME_CODE = {
    Outcome.FAILED: FAILED,
    Outcome.UNPARSED: UNPARSED,
    Outcome.ABSTAINED: ABSTAINED,
    Outcome.OK: OK,
}
OUTCOME_NAMES = {code: outcome.value for outcome, code in OUTCOME_CODE.items()}
SILENT = -1
"""Of an item without any prediction."""


class Intake:
    """Keeps track of predictions while they arrive, whole or in parts."""

    def __init__(self, items: Sequence[Item], *, asked: tuple[str, str], remedy: str) -> None:
        self.items = items
        self.file = PREDICTIONS
        """Where those come from that belong to no item."""
        self.one, self.many = asked
        """What messages call an item, as in ("a query", "queries")."""
        self.remedy = remedy
        """What to do if no prediction belongs to any item."""
        self.position = {item.id: number for number, item in enumerate(items)}
        self.outcome = np.full(len(items), SILENT, dtype=np.int8)
        self.examples: list[str] = []
        self.n_records = self.n_unknown = self.n_outside_unit = 0

    def note_unknown(self, prediction: Prediction) -> None:
        """A prediction for something that the annotations do not have."""
        self.n_unknown += 1
        if len(self.examples) < 3:
            self.file = _file(prediction)
            self.examples.append(_name(prediction))

    def note_outcome(self, prediction: Prediction, place: int, outcome: int) -> None:
        """How an item ended; all its parts must agree."""
        before = int(self.outcome[place])
        if before not in (SILENT, outcome):
            raise self.error(
                prediction,
                f"it says '{OUTCOME_NAMES[outcome]}' where an earlier record of the same item "
                f"says '{OUTCOME_NAMES[before]}'",
                "give each item one outcome",
            )
        self.outcome[place] = outcome

    def error(self, prediction: Prediction, problem: str, remedy: str) -> DataError:
        """The error of one prediction."""
        return DataError(_file(prediction), problem, record=_name(prediction), remedy=remedy)

    def mask(self, prediction: Prediction, k: int, item: Item) -> RLEMask:
        """The mask at a place of a prediction, in any form, at the size of its image."""
        if k >= len(prediction.masks):
            raise self.error(
                prediction,
                "it has no segmentation",
                'give a mask as RLE or polygons, or say "outcome": "abstained"',
            )
        try:
            return parse_mask(prediction.masks[k], item.height_px, item.width_px)
        except ValueError as problem:
            raise self.error(
                prediction,
                f"unsound mask: {problem}",
                "encode the mask again at the size of its image",
            ) from None

    def outcomes(self) -> tuple[NDArray[np.int8], int]:
        """(items,) how each ended, and how many the file says nothing about: a results file
        cannot say why, so those count as abstentions. Refuses a file about something else."""
        if self.n_records and self.n_unknown == self.n_records:
            raise DataError(
                self.file,
                f"no prediction belongs to {self.one} of the annotations",
                record=self.examples[0],
                remedy=self.remedy,
            )
        silent = self.outcome == SILENT
        return np.where(silent, ABSTAINED, self.outcome).astype(np.int8), int(silent.sum())

    def notes(self) -> Iterator[str]:
        """What is unusual about the file."""
        if self.n_unknown:
            yield (
                f"{self.n_unknown} of {self.n_records} predictions are for {self.many} that the "
                f"annotations do not have and were not used, e.g. {', '.join(self.examples)}."
            )
        if self.n_outside_unit:
            yield (
                f"{self.n_outside_unit} scores lie outside 0–1. They are used as they are; note "
                "that no prediction counts as score 0 in SoftSwap."
            )


def failure_notes(outcomes: Mapping[str, int], n_silent: int, asked: str) -> list[str]:
    """How many items the file is silent about, and how many failed."""
    failed, total, notes = outcomes["failed"], sum(outcomes.values()), []
    if n_silent:
        notes.append(
            f"{n_silent} of {total} {asked} have no prediction. A results file cannot say why; "
            "they are counted as abstentions."
        )
    if failed:
        notes.append(
            f"{failed} of {total} items failed: the scores are of {total - failed} of {total}; "
            "`bounds` has the lowest and highest value that the failed ones could lead to."
        )
    return notes


def parts(prediction: Prediction) -> int:
    """How many masks (or boxes, of a dump without masks) a prediction has; a record of a file is
    always one part, even where it lacks something."""
    return 1 if type(prediction) is FileRecord else len(prediction.scores)


def _file(prediction: Prediction) -> str:
    return prediction.file if isinstance(prediction, FileRecord) else PREDICTIONS


def _name(prediction: Prediction) -> str:
    if isinstance(prediction, FileRecord):
        return f"record {prediction.number} (image_id {prediction.item_id})"
    return f"item {prediction.item_id}"
