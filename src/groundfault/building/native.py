"""The files that the papers' own scripts read.

CAFE: annotations.json with one file per subset (_SM, _CC, _OC) and images/.
HalluSegBench: data.json with factual_images/, factual_masks/, counterfactual_images/ and
counterfactual_masks/, named {stem}_{ann_id}_mask.png, …_edited.png and …_newmask.png.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from groundfault.benchmarks import cafe
from groundfault.building.records import Candidate
from groundfault.io.masks import decode
from groundfault.io.store import link, write_json
from groundfault.records import Benchmark, Rle

__all__ = ["write_cafe", "write_halluseg"]


def write_cafe(made: Benchmark, place: Path, pictures: Path) -> None:
    """CAFE's four JSON files and the edited pictures."""
    place.mkdir()
    cafe.write(made, place / "annotations.json", split=True)
    shutil.copytree(pictures, place / "images", copy_function=link)


FOLDERS = ("factual_images", "factual_masks", "counterfactual_images", "counterfactual_masks")


def write_halluseg(candidates: Sequence[Candidate], place: Path, build: Path) -> None:
    """HalluSegBench's data.json with its four folders; photographs are the files they were."""
    for name in FOLDERS:
        (place / name).mkdir(parents=True)
    taken: set[tuple[str, int]] = set()
    stems: dict[str, str] = {}
    records = []
    for number, candidate in enumerate(candidates, start=1):
        stem, ann_id = _stem(candidate, stems), _ann_id(candidate, number)
        while (stem, ann_id) in taken:  # one thing, replaced twice
            ann_id += ANOTHER
        taken.add((stem, ann_id))
        paths = _write_quad(candidate, place, build, stem, ann_id)
        records.append({**paths, **_told(candidate, ann_id)})
    write_json(place / "data.json", records)


ANOTHER = 1_000_000_000
"""Added to the number of an annotation that is replaced once more: the published scripts name
predictions by photograph and annotation alone."""


def _stem(candidate: Candidate, stems: dict[str, str]) -> str:
    """The name of a photograph's file without its folder, told apart from others of that name;
    `stems` are those that are given, each with its photograph."""
    photograph = candidate.photograph
    own = f"{photograph.source} {photograph.id} {photograph.file}"
    name, number = Path(photograph.file).stem, 1
    while stems.setdefault(name, own) != own:
        number += 1
        name = f"{Path(photograph.file).stem}-{number}"
    return name


def _write_quad(
    candidate: Candidate, place: Path, build: Path, stem: str, ann_id: int
) -> dict[str, str]:
    """Write both pictures and both masks; by the record's own names for them."""
    edited, old = candidate.edited, candidate.target.mask
    assert edited is not None and old is not None
    before, name = Path(edited.before), f"{stem}_{ann_id}"
    paths = {
        "factual_image_path": f"factual_images/{stem}{before.suffix}",
        "factual_mask_path": f"factual_masks/{name}_mask.png",
        "counterfactual_image_path": f"counterfactual_images/{name}_edited.png",
        "counterfactual_mask_path": f"counterfactual_masks/{name}_newmask.png",
    }
    shutil.copyfile(build / before, place / paths["factual_image_path"])
    shutil.copyfile(build / edited.after, place / paths["counterfactual_image_path"])
    _write_mask(place / paths["factual_mask_path"], old)
    _write_mask(place / paths["counterfactual_mask_path"], edited.mask or old)
    return paths


def _told(candidate: Candidate, ann_id: int) -> dict[str, object]:
    """What a record says besides its files."""
    proposal = candidate.proposal
    assert proposal is not None
    record: dict[str, object] = {
        "label": candidate.target.category,
        "ann_id": ann_id,
        "gpt_instruction": proposal.instruction,
        "factual_label": proposal.positive,
        "counterfactual_label": proposal.negative,
    }
    question = proposal.fields.get("question", "")
    if question:
        record["question"] = question
        record["counterfactual_question"] = proposal.fields["counterfactual_question"]
    return record


def _ann_id(candidate: Candidate, number: int) -> int:
    """The annotation's own number, where it is one."""
    return (
        int(candidate.target.id)
        if candidate.target.id.isascii() and (candidate.target.id.isdigit())
        else number
    )


def _write_mask(path: Path, mask: Rle) -> None:
    from PIL import Image

    Image.fromarray(np.asarray(decode(mask), np.uint8) * 255).save(path)
