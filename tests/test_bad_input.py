"""Hostile and odd input through the command line.

Each entry changes one thing about a sound CAFE set. What can't be scored ends with code 2, one
message that names file, record and remedy, and no output; what can be scored gives the right
numbers and says what was odd.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pycocotools import mask as coco_mask
from tests.conftest import (
    ELSEWHERE,
    OFFSET,
    SIDE_PX,
    TARGET,
    CafeSet,
    Ran,
    box_polygon,
    box_rle,
    box_runs,
    cafe_set,
)

Change = Callable[[CafeSet], None]
ANNOTATIONS, PREDICTIONS = "annotations.json", "predictions.json"


@dataclass
class Scoring:
    """`groundfault score cafe` on the set of a test."""

    cafe: CafeSet
    run: Callable[..., Ran]

    @property
    def out(self) -> Path:
        return self.cafe.folder / "out"

    def __call__(self, *options: object, change: Change | None = None) -> Ran:
        if change is not None:
            change(self.cafe)
        self.cafe.write()
        always = ("--bootstrap", 0, "--out", self.out, "--json")
        return self.run("score", "cafe", *self.cafe.options, *always, *options)

    def assert_refused(self, ran: Ran, *parts: str) -> None:
        assert ran.code == 2
        assert ran.out == ""
        assert ran.err.startswith("error: ")
        assert ran.err.count("\n") == 1
        for part in parts:
            assert part in ran.err
        assert "Traceback" not in ran.err
        assert not self.out.is_dir() or not any(self.out.iterdir())


@pytest.fixture
def score(cafe: CafeSet, run: Callable[..., Ran]) -> Scoring:
    return Scoring(cafe, run)


def values(ran: Ran) -> dict[str, dict[str, float | None]]:
    """Row → metric → value of a run that ended well."""
    assert ran.code == 0, ran.err
    return {
        name: {metric: estimate["value"] for metric, estimate in row["metrics"].items()}
        for name, row in ran.json["rows"].items()
    }


# How to change one thing -------------------------------------------------------------------------


def prediction(number: int, **fields: Any) -> Change:
    return lambda cafe: cafe.predictions[number].update(fields)


def annotation(number: int, **fields: Any) -> Change:
    return lambda cafe: cafe.annotations["annotations"][number].update(fields)


def image(number: int, **fields: Any) -> Change:
    return lambda cafe: cafe.annotations["images"][number].update(fields)


def without(records: Callable[[CafeSet], list[dict[str, Any]]], *fields: str) -> Change:
    def change(cafe: CafeSet) -> None:
        for record in records(cafe):
            for name in fields:
                record.pop(name, None)

    return change


def images(cafe: CafeSet) -> list[dict[str, Any]]:
    return cafe.annotations["images"]


def annotations(cafe: CafeSet) -> list[dict[str, Any]]:
    return cafe.annotations["annotations"]


def predictions(cafe: CafeSet) -> list[dict[str, Any]]:
    return cafe.predictions


def all_of(*changes: Change) -> Change:
    def change(cafe: CafeSet) -> None:
        for one in changes:
            one(cafe)

    return change


def rewritten(file: str, change: Callable[[bytes], bytes]) -> Change:
    return lambda cafe: cafe.rewrite.update({file: change})


def replaced(old: str, new: str, file: str = PREDICTIONS) -> Change:
    """The first occurrence of a text in a file becomes another."""

    def change(content: bytes) -> bytes:
        assert old.encode() in content
        return content.replace(old.encode(), new.encode(), 1)

    return rewritten(file, change)


def zipped(content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("inside.json", content)
    return packed.getvalue()


def rle(counts: str | list[int], height_px: int = SIDE_PX, width_px: int = SIDE_PX) -> Any:
    return {"size": [height_px, width_px], "counts": counts}


SOUND = box_rle(*TARGET)["counts"]
CORRUPT_RUNS = {
    "garbage": "\u0001\u00ff~~~~",
    "cut short": SOUND[: len(SOUND) // 2],
    "one run too many": SOUND + "1",
    "dangling continuation": SOUND[:-1] + "`",
    "endless continuation": "o" * 40,
    "a negative run": "ni0O",
    "empty": "",
    "a negative plain run": [100, -50, SIDE_PX * SIDE_PX - 50],
    "plain runs too short": [100, 50],
    "plain runs too long": [SIDE_PX * SIDE_PX, 1],
    "a plain run beyond 32 bits": [1 << 33, 4],
    "a plain run beyond 64 bits": [1 << 70],
}
LISTED = "give a JSON list of COCO results"
OBJECT = "give a COCO-like JSON object"
NOT_WHOLE = {
    "empty": (lambda content: b"", "the file is empty"),
    "white space": (lambda content: b" \n" * 9000, "no JSON list or object"),
    "gzip": (gzip.compress, "gzip data: unpack it first"),
    "zip": (zipped, "a zip archive: unpack it first"),
    "garbage": (lambda content: bytes(range(255, 0, -1)), "no JSON list or object"),
    "UTF-16": (lambda content: content.decode().encode("utf-16"), "no JSON list or object"),
    "a number": (lambda content: b"17", "no JSON list or object"),
    "HTML": (lambda content: b"<!doctype html><html>", "no JSON list or object"),
}

REFUSED: dict[str, tuple[Change, tuple[str, ...]]] = {
    # files
    **{
        f"{file}: {name}": (
            rewritten(file, change),
            (file, problem, OBJECT if file == ANNOTATIONS else LISTED),
        )
        for name, (change, problem) in NOT_WHOLE.items()
        for file in (ANNOTATIONS, PREDICTIONS)
    },
    "annotations cut short": (
        rewritten(ANNOTATIONS, lambda content: content[:-40]),
        (ANNOTATIONS, "ends in the middle of its JSON", "write or download it again"),
    ),
    "predictions cut short": (
        rewritten(PREDICTIONS, lambda content: content[:-40]),
        (PREDICTIONS, "record 8", "ends in the middle of its JSON", "write or download it again"),
    ),
    "annotations are a list": (
        lambda cafe: setattr(cafe, "annotations", cafe.annotations["images"]),
        (ANNOTATIONS, "a JSON list, not an object", OBJECT),
    ),
    "predictions are an object": (
        lambda cafe: setattr(cafe, "predictions", {"predictions": cafe.predictions}),
        (PREDICTIONS, "a JSON object, not a list", LISTED),
    ),
    "annotations without images": (
        lambda cafe: cafe.annotations.update(images=[]),
        (ANNOTATIONS, "it has no images", OBJECT),
    ),
    "annotations hold a text where a list belongs": (
        lambda cafe: cafe.annotations.update(annotations="none"),
        (ANNOTATIONS, "$.annotations", "Expected `array`, got `str`"),
    ),
    "records nested beyond reason": (
        replaced('"score": 0.9', '"x": ' + "[" * 20_000 + "]" * 20_000 + ', "score": 0.9'),
        (PREDICTIONS, "record 0", "not valid JSON"),
    ),
    "not UTF-8": (
        rewritten(PREDICTIONS, lambda content: content.replace(b'"X:<', b'"\xff:<', 1)),
        (PREDICTIONS, "record 0", "not valid JSON", "UTF-8"),
    ),
    # ids
    "no prediction is for a known image": (
        lambda cafe: [p.update(image_id=p["image_id"] + 77) for p in cafe.predictions],
        (PREDICTIONS, "record 0 (image_id 78)", "no prediction belongs to an image", "same bench"),
    ),
    "an image id twice": (
        image(2, id=1),
        (ANNOTATIONS, "images[2]", "image id 1 occurs twice", "its own id"),
    ),
    "an image id twice, once as text": (
        image(2, id="1"),
        (ANNOTATIONS, "images[2]", "image id 1 occurs twice", "its own id"),
    ),
    "an annotation id twice": (
        annotation(2, id=1),
        (ANNOTATIONS, "annotations[2]", "annotation id 1 occurs twice", "its own id"),
    ),
    "an annotation of an unknown image": (
        annotation(1, image_id=99),
        (ANNOTATIONS, "annotations[1] (id 2, image_id 99)", "not among the images", "add the"),
    ),
    "a negative of an unknown positive": (
        image(1, fp_source_id=99),
        (ANNOTATIONS, "images[1] (id 1000000001)", "fp_source_id 99", "add the positive, or drop"),
    ),
    "a negative of itself": (
        image(1, fp_source_id=OFFSET + 1),
        (ANNOTATIONS, "images[1] (id 1000000001)", "fp_source_id 1000000001", "add the positive"),
    ),
    "an id that is a fraction": (
        prediction(3, image_id=2.5),
        (PREDICTIONS, "record 3 (image_id 2.5)", "Expected `int | str`, got `float`"),
    ),
    "no id": (
        without(lambda cafe: cafe.predictions[3:4], "image_id"),
        (PREDICTIONS, "record 3", "missing required field `image_id`", "correct the record"),
    ),
    # scores
    "score NaN": (prediction(4, score=float("nan")), (PREDICTIONS, "record 4", "NaN or infinite")),
    "score Infinity": (
        prediction(4, score=float("inf")),
        (PREDICTIONS, "record 4", "NaN or infinite", "drop the record"),
    ),
    "score too large to hold": (
        replaced('"score": 0.6', '"score": 1e999'),
        (PREDICTIONS, "record 3", "Number out of range in score", "correct the record"),
    ),
    "no score": (
        without(lambda cafe: cafe.predictions[5:6], "score"),
        (PREDICTIONS, "record 5 (image_id 3)", "it has no score", "give every prediction one"),
    ),
    "score null": (prediction(5, score=None), (PREDICTIONS, "record 5", "it has no score")),
    "score as text": (
        prediction(5, score="0.9"),
        (PREDICTIONS, "record 5 (image_id 3)", "Expected `float | null`, got `str` in score"),
    ),
    # masks
    "a mask of another size": (
        prediction(2, segmentation=box_rle(0, 0, 5, 5, side_px=20)),
        (PREDICTIONS, "record 2 (image_id 2)", "it is 20x20, its image 40x40", "encode the mask"),
    ),
    "an annotated mask of another size": (
        annotation(2, segmentation=box_rle(0, 0, 5, 5, side_px=20)),
        (ANNOTATIONS, "annotations[2] (id 3, image_id 3)", "it is 20x20, its image 40x40"),
    ),
    **{
        f"a prediction's mask: {name}": (
            prediction(2, segmentation=rle(counts)),
            (PREDICTIONS, "record 2 (image_id 2)", "corrupt or truncated", "encode the mask again"),
        )
        for name, counts in CORRUPT_RUNS.items()
    },
    **{
        f"an annotated mask: {name}": (
            annotation(2, segmentation=rle(counts)),
            (ANNOTATIONS, "annotations[2] (id 3, image_id 3)", "corrupt or truncated", "Remedy"),
        )
        for name, counts in CORRUPT_RUNS.items()
    },
    "a mask of a negative size": (
        all_of(image(2, height=-40), prediction(2, segmentation=rle(SOUND, height_px=-40))),
        (ANNOTATIONS, "annotations[1] (id 2, image_id 2)", "its image claims -40x40 pixels"),
    ),
    "a prediction of the negative size of its image": (
        all_of(image(3, height=-40), prediction(3, segmentation=rle(SOUND, height_px=-40))),
        (PREDICTIONS, "record 3 (image_id 1000000002)", "encode the mask again"),
    ),
    "a prediction as large as its image claims to be": (
        all_of(
            image(3, height=1 << 70), prediction(3, segmentation=rle(SOUND, height_px=1 << 70))
        ),
        (PREDICTIONS, "record 3 (image_id 1000000002)", "encode the mask again"),
    ),
    "no segmentation": (
        without(lambda cafe: cafe.predictions[:1], "segmentation"),
        (PREDICTIONS, "record 0 (image_id 1)", "it has no segmentation", "RLE or polygons"),
    ),
    "segmentation without counts": (
        prediction(0, segmentation={"size": [SIDE_PX, SIDE_PX]}),
        (PREDICTIONS, "record 0 (image_id 1)", "missing required field `counts`"),
    ),
    "no polygon": (
        prediction(0, segmentation=[]),
        (PREDICTIONS, "record 0 (image_id 1)", "list of polygons is empty"),
    ),
    "a polygon of two points": (
        prediction(0, segmentation=[[1, 2, 3, 4]]),
        (PREDICTIONS, "record 0 (image_id 1)", "at least three finite x, y points"),
    ),
    "a polygon of half a point": (
        annotation(0, segmentation=[[1, 2, 3, 4, 5, 6, 7]]),
        (ANNOTATIONS, "annotations[0] (id 1, image_id 1)", "at least three finite x, y points"),
    ),
    "an annotation with neither mask nor box": (
        without(lambda cafe: annotations(cafe)[:1], "segmentation", "bbox"),
        (ANNOTATIONS, "annotations[0] (id 1, image_id 1)", "neither segmentation nor bbox"),
    ),
    "an annotation with a box only": (
        without(lambda cafe: annotations(cafe)[2:3], "segmentation"),
        (ANNOTATIONS, "image 3", "its annotation has no mask", "encode the mask again"),
    ),
    "an image without a size": (
        all_of(image(0, height=0), annotation(0, segmentation=box_polygon(*TARGET))),
        (ANNOTATIONS, "annotations[0] (id 1, image_id 1)", "its image claims 0x40 pixels"),
    ),
    "an image of absurd size": (
        image(0, height=1 << 30, width=1 << 30),
        (ANNOTATIONS, "annotations[0]", "its image claims 1073741824x1073741824 pixels"),
    ),
    # boxes
    "an annotated box of three numbers": (
        annotation(3, bbox=[1, 2, 3]),
        (ANNOTATIONS, "annotations[3] (id 4, image_id 4)", "its bbox [1.0, 2.0, 3.0] is not x, y"),
    ),
    "an annotated box of negative width": (
        annotation(3, bbox=[8, 8, -12, 12]),
        (ANNOTATIONS, "annotations[3] (id 4, image_id 4)", "its bbox [8.0, 8.0, -12.0, 12.0]"),
    ),
    # edit types and outcomes
    "an unknown edit type": (
        all_of(image(0, edit_type="Superfical Mimicry"), image(1, edit_type="Superfical Mimicry")),
        (ANNOTATIONS, "image 1", "Did you mean 'Superficial Mimicry'?", "score saco"),
    ),
    "an unknown outcome": (
        prediction(0, outcome="crashed"),
        (PREDICTIONS, "record 0 (image_id 1)", "Invalid enum value 'crashed'"),
    ),
    "two outcomes of one item": (
        lambda cafe: cafe.predictions.extend(
            [{"image_id": 1, "outcome": "failed"}, {"image_id": 1, "outcome": "abstained"}]
        ),
        (PREDICTIONS, "record 10 (image_id 1)", "'abstained'", "'failed'", "one outcome"),
    ),
    "an item that failed and answered": (
        lambda cafe: cafe.predictions.append({"image_id": 1, "outcome": "failed"}),
        (PREDICTIONS, "(image_id 1)", "'failed'", "'ok'", "give each item one outcome"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(score: Scoring, name: str) -> None:
    change, parts = REFUSED[name]
    ran = score(change=change)
    score.assert_refused(ran, "Remedy: ", *parts)


BOX_REFUSED: dict[str, tuple[Change, tuple[str, ...]]] = {
    "three numbers": (prediction(3, bbox=[1, 2, 3]), ("record 3 (image_id 1000000002)", "four")),
    "negative width": (prediction(3, bbox=[8, 8, -1, 2]), ("record 3", "is not x, y, width")),
    "NaN": (prediction(3, bbox=[float("nan"), 8, 1, 2]), ("record 3", "NaN or infinite")),
    "text": (prediction(3, bbox="8,8,1,2"), ("record 3", "got `str` in bbox")),
}  # fmt: skip


@pytest.mark.parametrize("name", BOX_REFUSED)
def test_boxes_refused_where_boxes_are_compared(score: Scoring, name: str) -> None:
    change, parts = BOX_REFUSED[name]
    score.assert_refused(score("--iou", "bbox", change=change), PREDICTIONS, "Remedy: ", *parts)


def test_a_corrupt_mask_whose_box_is_needed_is_refused(score: Scoring) -> None:
    """Without predictions nothing is compared with the mask, but its box is looked for."""
    change = all_of(
        annotation(2, segmentation=rle("0")),
        without(annotations, "bbox"),
        lambda cafe: cafe.predictions.clear(),
    )
    ran = score("--iou", "bbox", change=change)
    score.assert_refused(ran, ANNOTATIONS, "annotations[2] (id 3, image_id 3)", "corrupt")


@pytest.mark.parametrize("command", ["cafe", "saco"])
def test_a_second_annotators_corrupt_mask_is_refused(
    score: Scoring, run: Callable[..., Ran], command: str
) -> None:
    other = cafe_set(score.cafe.folder / "second")
    annotation(1, segmentation=rle("0"))(other)
    other.write()
    score.cafe.write()
    files = (*score.cafe.options, "--annotations", other.annotation_file)
    ran = run("score", command, *files, "--out", score.out)
    score.assert_refused(
        ran, str(other.annotation_file), "annotations[1] (id 2, image_id 2)", "corrupt", "Remedy: "
    )


# Options and places ------------------------------------------------------------------------------

OPTIONS_REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    "tau above 1": (("--tau", "1.5"), "tau: expected `float` <= 1.0"),
    "tau below 0": (("--tau", "-0.1"), "tau: expected `float` >= 0.0"),
    "tau NaN": (("--tau", "nan"), "tau"),
    "t NaN": (("--t", "nan"), "t: expected `float`"),
    "t infinite": (("--t", "inf"), "t: expected `float`"),
    "fewer than no resamples": (("--bootstrap", "-1"), "bootstrap: expected `int` >= 0"),
    "a negative seed": (("--seed", "-1"), "seed: expected `int` >= 0"),
    "a metric that is none": (("--metric", "cgf"), "unknown metric 'cgf'. Did you mean 'cgF1"),
}


@pytest.mark.parametrize("name", OPTIONS_REFUSED)
def test_options_refused(score: Scoring, name: str) -> None:
    options, message = OPTIONS_REFUSED[name]
    score.assert_refused(score(*options), message)


CONFIGS_REFUSED = {
    "an unknown key": (b"tua = 0.5", "unknown setting 'tua'. Did you mean 'tau'"),
    "a wrong type": (b't = "high"', "t: expected `float`, got `str`"),
    "out of range": (b"tau = 2.0", "tau: expected `float` <= 1.0"),
    "not finite": (b"t = nan", "t: expected `float`"),
    "an unknown choice": (b'iou = "masks"', "iou"),
    "no TOML": (b"t = = 1", "Remedy"),
    "not UTF-8": (b't = "\xff"', "Remedy"),
}


@pytest.mark.parametrize("name", CONFIGS_REFUSED)
def test_configs_refused(score: Scoring, tmp_path: Path, name: str) -> None:
    content, message = CONFIGS_REFUSED[name]
    config = tmp_path / "settings.toml"
    config.write_bytes(content)
    score.assert_refused(score("--config", config), str(config), message)


def test_a_missing_config_is_refused(score: Scoring, tmp_path: Path) -> None:
    ran = score("--config", tmp_path / "none.toml")
    score.assert_refused(ran, "none.toml: cannot be read (No such file or directory)")


@pytest.mark.parametrize("file", [ANNOTATIONS, PREDICTIONS])
def test_missing_files_folders_and_closed_files_are_refused(
    score: Scoring, run: Callable[..., Ran], file: str
) -> None:
    path = score.cafe.write().folder / file
    command = ("score", "cafe", *score.cafe.options, "--out", score.out)
    if os.geteuid() != 0:  # root may read everything
        path.chmod(0)
        ran = run(*command)
        assert (ran.code, ran.out) == (2, "")
        assert f"'{path}' is not readable" in ran.err
        path.chmod(0o600)
    path.unlink()
    score.assert_refused(run(*command), str(path), "no such file")
    path.mkdir()
    score.assert_refused(run(*command), str(path), "is a folder; give the JSON file inside it")


@pytest.mark.parametrize("below", ["", "below"])
def test_an_out_that_cannot_be_a_folder_is_refused(score: Scoring, below: str) -> None:
    score.cafe.write()
    (score.cafe.folder / "taken").write_text("mine")
    out = score.cafe.folder / "taken" / below
    ran = score("--out", out)
    score.assert_refused(ran, str(out), "cannot be written")
    assert (score.cafe.folder / "taken").read_text() == "mine"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_an_out_without_permission_is_refused(score: Scoring) -> None:
    closed = score.cafe.folder / "closed"
    closed.mkdir(parents=True)
    closed.chmod(0o500)
    score.assert_refused(score("--out", closed / "out"), "cannot be written (Permission denied)")


def test_messages_do_not_carry_control_characters(score: Scoring) -> None:
    """An id from a foreign file must not move the cursor or clear the screen."""
    ran = score(change=annotation(0, image_id="\x1b[2J\r\nerror: none"))
    score.assert_refused(ran, ANNOTATIONS, "not among the images")
    assert not any(ord(letter) < 32 for letter in ran.err.rstrip("\n"))


# Odd but sound -----------------------------------------------------------------------------------


def test_the_sound_set_has_the_numbers_worked_out_by_hand(score: Scoring) -> None:
    ran = score()
    overall = values(ran)["Overall"]
    cells = {
        "TA-TP": 2,
        "UA-P": 1,
        "TA-FN": 1,
        "UA-FN": 0,
        "TA-FP": 1,
        "UA-FP": 1,
        "TN": 2,
        "lost": 2,
    }
    rates = {"AFPR": 1, "UFPR": 1, "IL-FPR": 2, "ACSR": 1, "UCSR": 0, "CSR": 1, "SoftSwap": 1}
    assert {name: overall[name] for name in cells} == cells
    assert {name: overall[name] for name in rates} == {name: n / 4 for name, n in rates.items()}
    # image level: TP 3, FN 1, FP 2, TN 2; instances: one at IoU 1, one at 11/13, 3 accepted of 4
    mcc = (3 * 2 - 2 * 1) / (np.sqrt(5 * 4 * 4 * 3) + 1e-6)
    assert overall["IL_MCC"] == pytest.approx(mcc, abs=1e-12)
    precision, recall = 2 / (3 + 1e-4), 2 / (4 + 1e-4)
    f1 = 2 * precision * recall / (precision + recall + 1e-4)
    assert overall["positive_micro_F1@0.50"] == pytest.approx(f1, abs=1e-12)
    assert overall["cgF1@0.75"] == pytest.approx(f1 * mcc, abs=1e-12)
    assert overall["recall"] == pytest.approx((7 * 2 + 3 * 1) / 10 / (4 + 1e-4), abs=1e-12)
    assert ran.json["notes"] == []
    assert {name: row["n_cases"] for name, row in ran.json["rows"].items()} == {
        "Overall": 4, "SM": 2, "CC": 1, "OC": 1,
    }  # fmt: skip
    assert sorted(path.name for path in score.out.iterdir()) == ["cases.parquet", "summary.json"]


def textual_ids(cafe: CafeSet, *, annotated: bool = True, predicted: bool = True) -> None:
    for record in (*images(cafe), *annotations(cafe)) if annotated else ():
        for name in ("id", "image_id", "fp_source_id"):
            if name in record:
                record[name] = str(record[name])
    for record in predictions(cafe) if predicted else ():
        record["image_id"] = str(record["image_id"])


def recoded(form: Callable[..., Any], records: Callable[[CafeSet], list[dict[str, Any]]]) -> Change:
    """Write every mask in another form."""

    def change(cafe: CafeSet) -> None:
        for record in records(cafe):
            record["segmentation"] = form(*record["bbox"])

    return change


def normalised(records: Callable[[CafeSet], list[dict[str, Any]]]) -> Change:
    def change(cafe: CafeSet) -> None:
        for record in records(cafe):
            record["bbox"] = [side / SIDE_PX for side in record["bbox"]]

    return change


def unknown_predictions(cafe: CafeSet) -> None:
    cafe.predictions[3:3] = [{**cafe.predictions[0], "image_id": 7000 + n} for n in range(5)]


SAME: dict[str, tuple[Change, str]] = {
    # change, note that it leads to
    "ids as text": (textual_ids, ""),
    "ids as text in predictions": (lambda cafe: textual_ids(cafe, annotated=False), ""),
    "ids as text in annotations": (lambda cafe: textual_ids(cafe, predicted=False), ""),
    "plain runs in predictions": (recoded(box_runs, predictions), ""),
    "plain runs in annotations": (recoded(box_runs, annotations), ""),
    "polygons in predictions": (recoded(box_polygon, predictions), ""),
    "polygons in annotations": (recoded(box_polygon, annotations), ""),
    "predictions in another order": (
        lambda cafe: random.Random(3).shuffle(cafe.predictions), ""
    ),
    "images in another order": (lambda cafe: random.Random(3).shuffle(images(cafe)), ""),
    "a byte order mark": (rewritten(PREDICTIONS, lambda content: b"\xef\xbb\xbf" + content), ""),
    "spread over lines": (
        rewritten(PREDICTIONS, lambda content: json.dumps(json.loads(content), indent=3).encode()),
        "",
    ),
    "predictions without a category": (without(predictions, "category_id"), ""),
    "annotations without ids": (without(annotations, "id"), ""),
    "predictions without boxes": (without(predictions, "bbox"), ""),
    "empty boxes": (lambda cafe: [a.update(bbox=[]) for a in annotations(cafe)], ""),
    "negatives known by their id alone": (without(images, "fp_source_id"), ""),
    "images without a size": (without(images, "height", "width"), ""),
    "fields that nobody knows": (prediction(0, area=144, tags=[{"a": 1}, {"b": 2}]), ""),
    "short names of edit types": (
        lambda cafe: [
            i.update(edit_type="".join(word[0] for word in i["edit_type"].split()))
            for i in images(cafe)
        ],
        "",
    ),
    "a negative score": (prediction(5, score=-0.2), "1 scores lie outside 0–1"),
    "predictions for unknown images": (
        unknown_predictions,
        "5 of 14 predictions are for images that the annotations do not have and were not used, "
        "e.g. record 3 (image_id 7000), record 4 (image_id 7001)",
    ),
    "normalised boxes in annotations": (normalised(annotations), "are normalised (0–1)"),
    "an orphan negative of an unknown positive": (
        lambda cafe: images(cafe).append(
            {**images(cafe)[1], "id": OFFSET + 50, "fp_source_id": None, "edit_type": None}
        ),
        "1 of 9 image–phrase pairs have no prediction",
    ),
    "mixed edit types in a pair": (
        image(0, edit_type="Context Conflict"),
        "1 pairs mix edit types, e.g. image 1000000001: the negative's decides",
    ),
}  # fmt: skip
TARGET_AWARE = (
    "TA-TP", "UA-P", "TA-FN", "UA-FN", "TA-FP", "UA-FP", "TN", "lost",
    "AFPR", "UFPR", "IL-FPR", "ACSR", "UCSR", "CSR", "SoftSwap",
)  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_odd_input_with_the_same_numbers(score: Scoring, name: str) -> None:
    expected = values(score())
    change, note = SAME[name]
    ran = score(change=change)
    found = values(ran)
    if "orphan" in name:  # one more absent concept, rejected: only the image level sees it
        found = {row: {m: found[row][m] for m in TARGET_AWARE} for row in found}
        expected = {row: {m: expected[row][m] for m in TARGET_AWARE} for row in expected}
    assert found == expected
    assert len(ran.json["notes"]) == (1 if note else 0)
    assert note in "".join(ran.json["notes"])


BOX_SAME: dict[str, tuple[Change, tuple[str, ...]]] = {
    "normalised annotations": (normalised(annotations), (ANNOTATIONS,)),
    "normalised predictions": (normalised(predictions), ("The predictions' boxes",)),
    "both normalised": (
        all_of(normalised(annotations), normalised(predictions)), (ANNOTATIONS, "predictions'")
    ),
    "predictions without boxes": (without(predictions, "bbox"), ()),
    "annotations without boxes": (without(annotations, "bbox"), ()),
    "empty boxes": (lambda cafe: [p.update(bbox=[]) for p in cafe.predictions], ()),
    "normalised where given": (
        all_of(normalised(predictions), prediction(4, bbox=None), prediction(7, bbox=[])),
        ("predictions'",),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BOX_SAME)
def test_boxes_in_every_form_give_the_same_numbers(score: Scoring, name: str) -> None:
    expected = values(score("--iou", "bbox"))
    change, notes = BOX_SAME[name]
    ran = score("--iou", "bbox", change=change)
    assert_close(values(ran), expected)
    assert len(ran.json["notes"]) == len(notes)
    for note, part in zip(ran.json["notes"], notes, strict=True):
        assert part in note
        assert "normalised" in note


def assert_close(
    found: dict[str, dict[str, float | None]], expected: dict[str, dict[str, float | None]]
) -> None:
    """Equal but for the rounding of scaled boxes."""
    for row in expected:
        assert found[row] == pytest.approx(expected[row], abs=1e-12), row


def test_tiny_masks_without_boxes_are_not_taken_for_normalised(score: Scoring) -> None:
    """A mask of one pixel in the corner has the box 0, 0, 1, 1 in pixels."""

    def change(cafe: CafeSet) -> None:
        for record in predictions(cafe):
            record.update(segmentation=box_rle(0, 0, 1, 1), bbox=None)
        annotation(0, segmentation=box_rle(0, 0, SIDE_PX, SIDE_PX), bbox=[0, 0, 40, 40])(cafe)

    ran = score("--iou", "bbox", change=change)
    assert values(ran)["Overall"]["recall@0.50"] == 0
    assert ran.json["notes"] == []


def keep_pairs(*numbers: int) -> Change:
    def change(cafe: CafeSet) -> None:
        cafe.predictions = [p for p in cafe.predictions if p["image_id"] % OFFSET in numbers]

    return change


def instead_of_answers(image_id: int, **fields: Any) -> Change:
    """One record takes the place of all answers to an item."""

    def change(cafe: CafeSet) -> None:
        kept = [p for p in cafe.predictions if p["image_id"] != image_id]
        cafe.predictions = [*kept, {"image_id": image_id, **fields}]

    return change


def also(number: int, **fields: Any) -> Change:
    """A further prediction, made from another one."""
    return lambda cafe: cafe.predictions.append({**cafe.predictions[number], **fields})


NOTHING_FITS = {"segmentation": {"size": [SIDE_PX, SIDE_PX], "counts": [SIDE_PX**2]}, "bbox": None}
MADE: dict[str, tuple[Change, dict[str, float], tuple[str, ...]]] = {
    # change, values worked out by hand, parts of the notes
    "no predictions": (
        lambda cafe: cafe.predictions.clear(),
        {"UA-FN": 4, "TN": 4, "AFPR": 0, "UFPR": 0, "SoftSwap": 0, "cgF1": 0, "IL_FPR": 0},
        ("8 of 8 image–phrase pairs have no prediction", "counted as abstentions"),
    ),
    "predictions for half the images": (
        keep_pairs(1, 2),
        {"TA-TP": 2, "UA-FN": 2, "TN": 3, "UA-FP": 1, "AFPR": 0, "UFPR": 0.25, "UCSR": 0},
        ("4 of 8 image–phrase pairs have no prediction",),
    ),
    "a detection of nothing under p⁻": (
        also(1, score=0.95, **NOTHING_FITS),
        {"TN": 1, "UA-FP": 2, "TA-FP": 1, "SoftSwap": 0.5, "IL_FPR": 3 / (4 + 1e-6)},
        (),
    ),
    "a detection of nothing under p⁺": (
        also(7, score=0.95, **NOTHING_FITS),
        {"TA-TP": 2, "UA-P": 2, "TA-FN": 0, "precision@0.50": 2 / (6 + 1e-4)},
        (),
    ),
    "an annotated mask without pixels": (
        annotation(0, segmentation=NOTHING_FITS["segmentation"], bbox=None),
        {"TA-TP": 1, "UA-P": 2, "recall@0.50": 1 / (4 + 1e-4)},
        (),
    ),
    "two masks of a positive": (
        lambda cafe: annotations(cafe).append(
            {**annotations(cafe)[2], "id": 50, "segmentation": box_rle(*ELSEWHERE), "bbox": None}
        ),
        {"TA-TP": 2, "UA-P": 1, "recall@0.50": 3 / (5 + 1e-4), "precision@0.50": 3 / (5 + 1e-4)},
        ("1 positives have more than one mask, e.g. image 3: target-aware metrics take the first",),
    ),
    "a crowd is the only mask": (
        annotation(0, iscrowd=1),
        {"TA-TP": 2, "AFPR": 0.25, "IL_recall": 2 / (3 + 1e-6), "IL_FPR": 3 / (5 + 1e-6)},
        (),
    ),
    "a crowd beside the target": (
        lambda cafe: annotations(cafe).append(
            {**annotations(cafe)[2], "id": 50, "segmentation": box_rle(*ELSEWHERE), "iscrowd": 1}
        ),
        {"TA-TP": 2, "UA-P": 1, "recall@0.50": 2 / (4 + 1e-4), "precision@0.50": 2 / (5 + 1e-4)},
        ("1 positives have more than one mask",),
    ),
    "a positive without a mask": (
        lambda cafe: annotations(cafe).pop(0),
        {"TA-TP": 1, "TA-FP": 1, "AFPR": 1 / 3, "IL_recall": 2 / (3 + 1e-6)},
        ("1 positives of a pair have no mask, e.g. image 1",),
    ),
    "an orphan negative that is accepted": (
        all_of(
            lambda cafe: images(cafe).append(
                {**images(cafe)[1], "id": OFFSET + 50, "fp_source_id": None}
            ),
            also(0, image_id=OFFSET + 50),
        ),
        {"TA-FP": 1, "AFPR": 0.25, "UFPR": 0.25, "IL_FPR": 3 / (5 + 1e-6)},
        (),
    ),
    "an abstention that is stated": (
        instead_of_answers(OFFSET + 2, outcome="abstained"),
        {"TN": 3, "UA-FP": 0, "UFPR": 0, "AFPR": 0.25, "IL_FPR": 1 / (4 + 1e-6)},
        (),
    ),
    "an unreadable answer to p⁻ is a false alarm": (
        instead_of_answers(OFFSET + 1, outcome="unparsed", text="???"),
        {"TN": 1, "UA-FP": 2, "UFPR": 0.5, "SoftSwap": 0.5, "IL_FPR": 3 / (4 + 1e-6)},
        (),
    ),
    "an unreadable answer to p⁺ is a miss": (
        instead_of_answers(1, outcome="unparsed", text="???"),
        {"TA-TP": 1, "UA-FN": 1, "lost": 3, "IL_recall": 2 / (4 + 1e-6)},
        (),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MADE)
def test_odd_input_with_numbers_worked_out_by_hand(score: Scoring, name: str) -> None:
    change, expected, notes = MADE[name]
    ran = score(change=change)
    overall = values(ran)["Overall"]
    assert {metric: overall[metric] for metric in expected} == pytest.approx(expected, abs=1e-12)
    assert bool(ran.json["notes"]) == bool(notes)
    for note in notes:
        assert note in "".join(ran.json["notes"])


def test_the_negatives_edit_type_decides(score: Scoring) -> None:
    rows = score(change=image(1, edit_type="Context Conflict")).json["rows"]
    assert {name: row["n_cases"] for name, row in rows.items()} == {
        "Overall": 4, "SM": 1, "CC": 2, "OC": 1,
    }  # fmt: skip


def test_failed_items_are_left_out_and_bounded(score: Scoring) -> None:
    ran = score(change=instead_of_answers(OFFSET + 2, outcome="failed", reason="out of memory"))
    found = values(ran)
    assert {name: found["Overall"][name] for name in ("TA-TP", "TA-FP", "UA-FP", "TN")} == {
        "TA-TP": 1, "TA-FP": 1, "UA-FP": 0, "TN": 2,
    }  # fmt: skip
    assert ran.json["rows"]["Overall"]["metrics"]["AFPR"] == {
        "value": 1 / 3, "low": None, "high": None, "n": 3,
    }  # fmt: skip
    assert found["Overall"]["IL_FPR"] == pytest.approx(1 / (3 + 1e-6), abs=1e-12)
    assert ran.json["outcomes"] == {"failed": 1, "unparsed": 0, "abstained": 0, "ok": 7}
    bounds = ran.json["bounds"]["Overall"]
    assert bounds["AFPR"] == [0.25, 0.5]
    assert bounds["UFPR"] == [0, 0.25]
    assert bounds["IL-FPR"] == [0.25, 0.5]
    assert bounds["TA-TP"] == [2, 2]
    assert bounds["IL_FPR"] == pytest.approx([1 / (4 + 1e-6), 2 / (4 + 1e-6)], abs=1e-12)
    assert ran.json["bounds"]["CC"]["AFPR"] == [0, 0]
    [note] = ran.json["notes"]
    assert note.startswith("1 of 8 items failed: the scores are of 7 of 8")


def test_failures_are_in_the_table_too(score: Scoring, run: Callable[..., Ran]) -> None:
    instead_of_answers(OFFSET + 2, outcome="failed")(score.cafe)
    ran = run("score", "cafe", *score.cafe.write().options, "--bootstrap", 0)
    assert ran.code == 0
    assert "1 of 8 items failed" in ran.out
    assert "Overall cgF1 lies between" in ran.out


# Size --------------------------------------------------------------------------------------------


STATUS = Path("/proc/self/status")
PEAK_MEMORY = """
import sys
from pathlib import Path
from groundfault import cli
code = cli.run(sys.argv[2:])
[peak] = [line for line in Path(sys.argv[1]).read_text().splitlines() if line.startswith("VmHWM")]
print(peak.split()[1], file=sys.stderr)
sys.exit(code)
"""


def peak_memory_mb(cafe: CafeSet) -> float:
    """Of `groundfault score cafe` in a process of its own."""
    command = [sys.executable, "-c", PEAK_MEMORY, str(STATUS), "score", "cafe"]
    ended = subprocess.run(
        [*command, *map(str, cafe.options), "--bootstrap", "0"], capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
    return int(ended.stderr.splitlines()[-1]) / 1024


@pytest.mark.skipif(not STATUS.exists(), reason="peak memory is read from Linux's /proc")
def test_memory_does_not_grow_with_the_predictions_file(cafe: CafeSet) -> None:
    """Masks of 2 kB, as dumps of photographs have; ten times the file is 54 MB more to read."""
    side_px = 1000
    stripes = np.zeros((side_px, side_px), np.uint8)
    stripes[::2, ::500] = 1
    coded = coco_mask.encode(np.asfortranarray(stripes))
    mask = {"size": coded["size"], "counts": coded["counts"].decode()}
    for entry in images(cafe):
        entry.update(height=side_px, width=side_px)
    for record in annotations(cafe):
        record.update(segmentation=mask, bbox=None)
    cafe.write()
    asked = [offset + pair for pair in (1, 2, 3, 4) for offset in (0, OFFSET)]
    records = [
        json.dumps({"image_id": image_id, "category_id": 1, "score": 0.7, "segmentation": mask})
        for image_id in asked
    ]
    one_megabyte = ", ".join(records * (1_000_000 // sum(map(len, records))))
    peaks = []
    for megabytes in (6, 60):
        with cafe.prediction_file.open("w") as file:
            file.write("[" + one_megabyte)
            for _ in range(megabytes - 1):
                file.write(", " + one_megabyte)
            file.write("]")
        assert cafe.prediction_file.stat().st_size == pytest.approx(megabytes * 1e6, rel=0.1)
        peaks.append(peak_memory_mb(cafe))
    assert peaks[1] - peaks[0] < 25
