"""Predictions that were made before: a COCO results file, an earlier run, HalluSegBench's PNGs, or
answers in words.

    replay:predictions.json   what `groundfault score` would read
    replay:answers.jsonl      answers in words: {"item_id": …, "text": …, "mode": …, "finish": …}
    replay:RUN                the predictions of an earlier run
    replay:FOLDER             orgl_orgi/, edtl_orgi/, orgl_edti/, edtl_edti/ with a PNG per case

An item that a results file says nothing about is an abstention, as in `score`; a PNG that is not
there is a failure, as nobody said what it means.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from groundfault.errors import DataError, UsageError
from groundfault.interfaces import Baseline, ModelOptions
from groundfault.io.coco import FileRecord, read_coco_results
from groundfault.io.foreign import decode_json, open_file, within
from groundfault.io.mask_pictures import read_mask
from groundfault.io.masks import to_rle
from groundfault.llm.server import make_reply
from groundfault.matching.intake import OK, OUTCOME_CODE, Intake
from groundfault.records import Item, Mode, Outcome, Prediction, Rle
from groundfault.runs.recorder import read_predictions
from groundfault.runs.run import SILENT
from groundfault.runs.shards import shards

__all__ = ["ReplayedFile", "ReplayedPictures", "ReplayedPredictions", "replay"]

Box = tuple[float, float, float, float]
CORNERS = ("orgl_orgi", "edtl_orgi", "orgl_edti", "edtl_edti")


def replay(argument: str, options: ModelOptions) -> Baseline:
    """The answers that a path holds."""
    if not argument:
        raise UsageError("replay: name the answers, as in replay:predictions.json")
    path = Path(argument)
    if not path.is_dir():
        return _file(path)
    if shards(path):
        return ReplayedPredictions(read_predictions(path))
    if any((path / corner).is_dir() for corner in CORNERS):
        return ReplayedPictures(path)
    raise UsageError(
        f"replay:{path}: holds neither predictions-*.parquet of a run nor {', '.join(CORNERS)}"
    )


class ReplayedFile:
    """A COCO results file, held in memory: its records may stand in any order."""

    def __init__(self, path: Path) -> None:
        self.records: dict[str, list[FileRecord]] = {}
        for record in read_coco_results(path):
            self.records.setdefault(record.item_id, []).append(record)

    def predict(self, items: Sequence[Item], mode: Mode = "") -> list[Prediction]:
        """One prediction per item; an unsound record raises DataError."""
        return [self._prediction(item) for item in items]

    def _prediction(self, item: Item) -> Prediction:
        records = self.records.get(item.id)
        if not records:
            return Prediction(item_id=item.id, outcome=Outcome.ABSTAINED, reason=SILENT)
        intake = Intake([item], asked=("an image", "images"), remedy="")
        for record in records:
            intake.note_outcome(record, 0, OUTCOME_CODE[record.outcome])
        if intake.outcome[0] != OK:
            first = records[0]
            return Prediction(
                item_id=item.id, outcome=first.outcome, text=first.text, reason=first.reason
            )
        boxes = tuple(_box(intake, record) for record in records)
        return Prediction(
            item_id=item.id,
            outcome=Outcome.OK,
            masks=_masks(intake, records, item, boxes),
            scores=tuple(_score(intake, record) for record in records),
            boxes_xywh=boxes if any(boxes) else (),
            category_ids=tuple(record.category_ids[0] for record in records),
        )


def _masks(
    intake: Intake, records: Sequence[FileRecord], item: Item, boxes: Sequence[Box | None]
) -> tuple[Rle, ...]:
    """The mask of every record; none where all have boxes instead."""
    if all(boxes) and not any(record.masks for record in records):
        return ()
    return tuple(to_rle(intake.mask(record, 0, item)) for record in records)


def _score(intake: Intake, record: FileRecord) -> float:
    if not record.scores:
        raise intake.error(record, "it has no score", "give every prediction one")
    if not math.isfinite(record.scores[0]):
        raise intake.error(record, "its score is not finite", "give a finite score")
    return record.scores[0]


def _box(intake: Intake, record: FileRecord) -> Box | None:
    box = record.boxes_xywh[0] if record.boxes_xywh else None
    if box is None:
        return None
    if len(box) != 4:
        raise intake.error(
            record, f"its bbox {box} is not x, y, width, height", "give four numbers"
        )
    x, y, width, height = box
    return x, y, width, height


class ReplayedPredictions:
    """Predictions by item and mode; one without a mode stands for every mode."""

    def __init__(self, predictions: Iterator[Prediction]) -> None:
        self.predictions = {prediction.key: prediction for prediction in predictions}

    def predict(self, items: Sequence[Item], mode: Mode = "") -> list[Prediction]:
        """One prediction per item; what was not predicted before has failed."""
        return [self._prediction(item.id, mode) for item in items]

    def _prediction(self, item_id: str, mode: Mode) -> Prediction:
        found = self.predictions.get((item_id, mode)) or self.predictions.get((item_id, ""))
        if found is None:
            reason = "the earlier run has no answer"
            return Prediction(item_id=item_id, mode=mode, outcome=Outcome.FAILED, reason=reason)
        if not mode:
            return found
        return Prediction(  # its verdict and its cause are given anew, and it costs nothing again
            item_id=item_id,
            mode=mode,
            outcome=found.outcome,
            text=found.text,
            reason=found.reason,
            finish=found.finish,
            tokens_in=found.tokens_in,
            tokens_out=found.tokens_out,
            cost=0.0,
        )


class _Line(msgspec.Struct):
    item_id: str
    """The question that it answers."""
    text: str
    """What the model said, word for word."""
    mode: Mode = ""
    """std or cot: how it was asked."""
    finish: str = ""
    """How the text ended: stop, length, content_filter."""


def _file(path: Path) -> Baseline:
    """A COCO results file is one JSON list; answers in words are JSON lines."""
    with open_file(path) as file:
        start = file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")
    return ReplayedPredictions(_lines(path)) if start.startswith(b"{") else ReplayedFile(path)


def _lines(path: Path) -> Iterator[Prediction]:
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        if not line.strip():
            continue
        try:
            found = decode_json(line, _Line)
        except msgspec.DecodeError as problem:
            raise DataError(
                path,
                f"not an answer ({problem})",
                record=f"line {number}",
                remedy='give JSON lines with "item_id" and "text"',
            ) from None
        reply = make_reply(found.text, found.finish, tokens_in=None, tokens_out=None)
        yield Prediction(
            item_id=found.item_id,
            mode=found.mode,
            outcome=reply.outcome,
            text=reply.text,
            reason=reply.reason,
            finish=reply.finish,
            cost=0.0,
        )


class ReplayedPictures:
    """HalluSegBench's predictions, a PNG per question."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def predict(self, items: Sequence[Item], mode: Mode = "") -> list[Prediction]:
        """One prediction per item, with score 1."""
        return [self._prediction(item) for item in items]

    def _prediction(self, item: Item) -> Prediction:
        case, _, corner = item.id.rpartition("/")
        record = f"item {item.id}"
        path = within(self.folder, f"{corner}/{case}_mask.png", file=self.folder, record=record)
        mask = read_mask(path, record)
        if mask is None:
            reason = "its PNG is not there"
            return Prediction(item_id=item.id, outcome=Outcome.FAILED, reason=reason)
        return Prediction(item_id=item.id, outcome=Outcome.OK, masks=(to_rle(mask),), scores=(1.0,))
