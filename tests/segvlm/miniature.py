"""All data that recipes/robustseg/default.toml names, as small as can be, in the formats in which
it is published."""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path
from typing import Any

from tests.segvlm import tiny

from groundfault.benchmarks import halluseg
from groundfault.io.sources import load

__all__ = ["write_all"]

SPLITS = {1: "train", 2: "train", 3: "val", 4: "testA"}
SHARED = 3
"""A picture of RefCOCO's validation split that RefCOCOg and LLaVA's conversations learn from."""
TURNS = [
    {"from": "human", "value": "<image>\nWhat is it?"},
    {"from": "gpt", "value": "A cat."},
]
QUADS = (
    ("train/refer_seg", "red", "blue", 4),
    ("train/reason_seg_v1", "green", "red", 10),
    ("train/reason_seg_v2", "blue", "yellow", 16),
    ("test/refer_seg", "yellow", "green", 22),
    ("test/reason_seg_val", "red", "yellow", 28),
    ("test/reason_seg_test", "green", "blue", 34),
)


def write_all(data: Path) -> None:
    """The folder `data`."""
    names = ("refcoco", "refcoco+", "refcocog")
    for place, name in enumerate(names):
        who = "umd" if name == "refcocog" else "unc"
        # each has pictures of its own, but for the one that they share
        splits = {10 * place + number: split for number, split in SPLITS.items()}
        if name == "refcocog":
            splits[SHARED] = "train"
        _refer(data, name, who, splits)
    _conversations(data)
    _premises(data)
    for split, seed in (("train", 61), ("val", 62), ("test", 63)):
        _reasonseg(data / "ReasonSeg" / split, seed)
    for number, (name, first, second, x) in enumerate(QUADS):
        _halluseg(data, name, number, (first, second, x, x))


def _refer(data: Path, name: str, who: str, splits: dict[int, str]) -> None:
    images, annotations, refs = [], [], []
    for number, split in splits.items():
        images.append(_photo(data, number))
        annotations.append(_square(number))
        sentences = [{"sent": f"left {word}", "sent_id": 10 * number + k}
                     for k, word in enumerate(("cat", "pet"))]  # fmt: skip
        refs.append({"ref_id": number, "ann_id": 100 + number, "image_id": number, "split": split,
                     "category_id": 1, "sentences": sentences})  # fmt: skip
    (data / name).mkdir(parents=True)
    (data / name / f"refs({who}).p").write_bytes(pickle.dumps(refs, protocol=2))
    _write(data / name / "instances.json", {"images": images, "annotations": annotations,
           "categories": [{"id": 1, "name": "cat"}]})  # fmt: skip


def _photo(data: Path, number: int) -> dict[str, Any]:
    name = f"COCO_train2014_{number:012d}.jpg"
    tiny.photo(data / "train2014" / name, number)
    return {"id": number, "file_name": name, "height": 40, "width": 48}


def _square(number: int) -> dict[str, Any]:
    return {"id": 100 + number, "image_id": number, "category_id": 1, "segmentation": tiny.SQUARE,
            "area": 256, "bbox": [4, 4, 16, 16], "iscrowd": 0}  # fmt: skip


def _conversations(data: Path) -> None:
    records = []
    for number in (SHARED, 50):
        name = f"{number:012d}.jpg"
        tiny.photo(data / "train2017" / name, number)
        records.append({"id": str(number), "image": name, "conversations": TURNS})
    _write(data / "llava_instruct_150k.json", records)


def _premises(data: Path) -> None:
    refs = []
    for number, split in SPLITS.items():
        sentences = [
            {"sent": "left cat", "sent_id": 2 * number},
            {"sent": "left dog", "sent_id": 2 * number + 1, "is_false_premise": True,
             "gt_sent": "left cat"},
        ]  # fmt: skip
        refs.append({"ref_id": number, "ann_id": 100 + number, "image_id": number, "split": split,
                     "sentences": sentences})  # fmt: skip
    (data / "fprefcoco").mkdir()
    _write(data / "fprefcoco" / "refs.json", refs)


def _reasonseg(folder: Path, seed: int) -> None:
    tiny.photo(folder / f"{seed}_a.jpg", seed)
    shapes = [{"label": "target", "points": [[4, 4], [20, 4], [20, 20], [4, 20]]}]
    content = {"shapes": shapes, "text": ["What can one sit on?"], "is_sentence": True}
    _write(folder / f"{seed}_a.json", content)


def _halluseg(data: Path, name: str, number: int, quad: tuple[str, str, int, int]) -> None:
    """A quad as the release has it: a list, pictures and masks below one folder."""
    own = data / "quads" / str(number)
    own.parent.mkdir(parents=True, exist_ok=True)
    tiny.write_quads(own, [quad], ground=60 + 25 * number)
    written = data / "quads" / f"{number}-release"
    halluseg.write(load(own), written)
    folder = data / "HalluSegBench" / name
    folder.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(written / "data", folder)
    shutil.move(written / "results.json", folder / "data.json")
    for picture in (own / "images").iterdir():
        shutil.copy(picture, folder)


def _write(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content))
