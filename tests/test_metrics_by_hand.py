"""The examples of docs/metrics.md, computed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import groundfault as gf
from groundfault.io.masks import encode
from groundfault.metrics.exam import TASK_WEIGHTS, TYPE_WEIGHTS

SIDE = 20
HERE, ELSEWHERE = (slice(2, 7), slice(2, 4)), (slice(12, 17), slice(12, 14))


def mask(place: tuple[slice, slice]) -> dict[str, object]:
    pixels = np.zeros((SIDE, SIDE), np.uint8)
    pixels[place] = 1
    return dict(encode(pixels))


PAIRS = (
    ((0.9, HERE), (0.8, HERE)),
    ((0.9, HERE), (0.2, HERE)),
    ((0.3, HERE), (0.7, HERE)),
    ((0.9, HERE), (0.9, ELSEWHERE)),
)


def test_four_pairs_of_cafe(tmp_path: Path) -> None:
    images, annotations, predictions = [], [], []
    for number, answers in enumerate(PAIRS, start=1):
        common = {
            "file_name": f"{number}.png",
            "width": SIDE,
            "height": SIDE,
            "is_instance_exhaustive": 1,
            "edit_type": "Superficial Mimicry",
        }
        negative = number + 1_000_000_000
        images += [
            {"id": number, "text_input": "cat", **common},
            {"id": negative, "text_input": "tiger", "fp_source_id": number, **common},
        ]
        drawn = {"bbox": [2, 2, 2, 5], "area": 10, "segmentation": mask(HERE)}
        annotations.append(
            {"id": number, "image_id": number, "category_id": 1, "iscrowd": 0, **drawn}
        )
        predictions += [
            {"image_id": image, "category_id": 1, "score": score, "segmentation": mask(place)}
            for image, (score, place) in zip((number, negative), answers, strict=True)
        ]
    stored = {"images": images, "annotations": annotations, "categories": [{"id": 1, "name": "x"}]}
    (tmp_path / "set.json").write_text(json.dumps(stored))
    (tmp_path / "answers.json").write_text(json.dumps(predictions))
    found = gf.score(
        "cafe",
        annotations=[tmp_path / "set.json"],
        predictions=tmp_path / "answers.json",
        variant="exact",
        bootstrap=0,
    )
    values = {name: e.value for name, e in found.summary.rows["Overall"].metrics.items()}
    told = {"AFPR": 0.5, "UFPR": 0.25, "IL-FPR": 0.75, "ACSR": 0.25, "UCSR": 0.0, "SoftSwap": 0.25,
            "positive_micro_F1": 6 / 7, "IL_MCC": 0.0, "cgF1": 0.0}  # fmt: skip
    assert {name: values[name] for name in told} == pytest.approx(told)


def test_one_quad_of_halluseg(tmp_path: Path) -> None:
    def draw(name: str, *places: tuple[slice, slice]) -> None:
        pixels = np.zeros((SIDE, SIDE), np.uint8)
        for place in places:
            pixels[place] = 255
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(path)

    for name in ("i.png", "e.png"):
        Image.new("RGB", (SIDE, SIDE)).save(tmp_path / name)
    draw("m.png", HERE)
    draw("n.png", HERE)
    answers = {
        "orgl_orgi/i": ((slice(2, 6), slice(2, 4)),),
        "edtl_orgi/i": ((slice(2, 4), slice(2, 4)), (slice(10, 11), slice(2, 4))),
        "orgl_edti/i": (),
        "edtl_edti/i": (HERE,),
    }
    for name, places in answers.items():
        draw(f"answers/{name}_7_mask.png", *places)
    case = {
        "factual_image_path": "i.png", "counterfactual_image_path": "e.png", "ann_id": 7,
        "factual_mask_path": "m.png", "counterfactual_mask_path": "n.png",
        "factual_label": "dog", "counterfactual_label": "cat",
    }  # fmt: skip
    (tmp_path / "cases.json").write_text(json.dumps([case]))
    found = gf.score(
        "halluseg",
        cases=tmp_path / "cases.json",
        data=tmp_path,
        predictions=tmp_path / "answers",
        bootstrap=0,
    )
    values = {name: e.value for name, e in found.summary.rows["Overall"].metrics.items()}
    told = {"IoU_fact": 0.8, "IoU_textual": 1 / 3, "IoU_visual": 0.0, "IoU_cf": 1.0,
            "dIoU_textual": 0.8 - 1 / 3, "dIoU_visual": 0.8, "CMS_fact": 14 / 30,
            "CMS_counterfact": 0.0}  # fmt: skip
    assert {name: values[name] for name in told} == pytest.approx(told)


def test_weights_of_the_react_score() -> None:
    by_type = dict(zip(("YN", "SA", "MC"), TYPE_WEIGHTS, strict=True))
    right = {"SA": 40, "MC": 60, "YN": 80}
    assert sum(by_type[name] * share for name, share in right.items()) == pytest.approx(55)
    assert np.dot(TASK_WEIGHTS, (55, 60, 70, 50)) == pytest.approx(57.5)
