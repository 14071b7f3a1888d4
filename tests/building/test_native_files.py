"""HalluSegBench's layout for whatever photographs: no file stands for two cases."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from PIL import Image

from groundfault.building.native import write_halluseg
from groundfault.building.records import Candidate, EditedPicture, Proposal
from groundfault.io.masks import encode
from groundfault.io.photographs import Photograph, Thing


def candidate(number: int, file: str, thing: str) -> Candidate:
    mask = np.zeros((8, 8), bool)
    mask[number, :] = True
    target = Thing(id=thing, category="cat", mask=encode(mask))
    return Candidate(
        id=f"c{number}",
        task="replacement",
        photograph=Photograph(
            id=file, source="coco", file=file, height_px=8, width_px=8, things=(target,)
        ),
        target=target,
        proposal=Proposal(kind="replace", value="dog", instruction="Change cat to dog."),
        edited=EditedPicture(before=f"{Path(file).parent.name}.png", after="a.png"),
    )


def test_every_case_has_files_and_a_number_of_its_own(tmp_path: Path) -> None:
    for value, name in enumerate(("a", "b")):
        Image.new("RGB", (8, 8), (value, 0, 0)).save(tmp_path / f"{name}.png")
    made = [
        candidate(0, "a/1.jpg", "7"),
        candidate(1, "b/1.jpg", "7"),
        candidate(2, "a/1.jpg", "7"),  # once more
        candidate(3, "a/1.jpg", "3"),
        candidate(4, "a/1.jpg", "4"),
    ]
    write_halluseg(made, tmp_path / "native", tmp_path)
    records = json.loads((tmp_path / "native" / "data.json").read_text())
    stems = [Path(record["factual_image_path"]).stem for record in records]
    predictions = {(stem, r["ann_id"]) for stem, r in zip(stems, records, strict=True)}
    assert len(predictions) == len(records)  # as the published scripts name them
    for number, record in enumerate(records):
        mask = np.asarray(Image.open(tmp_path / "native" / record["factual_mask_path"]))
        assert mask[number].all() and mask.sum() == 8 * 255
        picture = Image.open(tmp_path / "native" / record["factual_image_path"])
        assert picture.getpixel((0, 0)) == (1 if number == 1 else 0, 0, 0)
    assert [record["ann_id"] for record in records[:2]] == [7, 7]
