"""Tiny files of the sources that benchmarks are built from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

HEIGHT, WIDTH = 60, 80


def square(x: int, y: int, side: int) -> list[list[float]]:
    """A square as a COCO polygon."""
    return [[x, y, x + side, y, x + side, y + side, x, y + side]]


def annotation(number: int, image: int, category: int, polygon: Any, **more: Any) -> dict[str, Any]:
    xs, ys = polygon[0][::2], polygon[0][1::2]
    box = [min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)]
    return {
        "id": number,
        "image_id": image,
        "category_id": category,
        "segmentation": polygon,
        "bbox": box,
        "iscrowd": 0,
        **more,
    }


def coco() -> dict[str, Any]:
    """Three pictures: a dog and a cup, two dogs and a crowd of cups, a person."""
    size = {"height": HEIGHT, "width": WIDTH, "license": 4}
    return {
        "info": {"year": 2017},
        "licenses": [{"id": 4, "name": "Attribution", "url": "http://example.org/by"}],
        "images": [
            {"id": k, "file_name": f"{k}.jpg", "coco_url": f"http://e.org/{k}", **size}
            for k in (1, 2, 3)
        ],
        "annotations": [
            annotation(11, 1, 18, square(10, 10, 20)),
            annotation(21, 2, 18, square(5, 5, 20)),
            annotation(12, 1, 47, square(50, 30, 12)),
            annotation(22, 2, 18, square(40, 5, 20)),
            annotation(23, 2, 47, square(5, 40, 15), iscrowd=1),
            annotation(31, 3, 1, square(20, 20, 25)),
        ],
        "categories": [
            {"id": 1, "name": "person"},
            {"id": 18, "name": "dog"},
            {"id": 47, "name": "cup"},
        ],
    }  # fmt: skip


def write(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
    return path


def picture(path: Path, height_px: int = HEIGHT, width_px: int = WIDTH, seed: int = 0) -> Path:
    """A picture of noise, which no other resembles."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 256, (24, 32, 3)).astype(np.uint8)
    Image.fromarray(coarse).resize((width_px, height_px)).save(path)
    return path
