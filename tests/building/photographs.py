"""Photographs for builds in tests: textured shapes on textured ground, with COCO annotations."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter

from groundfault.io.masks import encode

BROWN = (150, 110, 90)
THINGS = {"elephant": BROWN, "bus": BROWN, "chair": BROWN, "cat": BROWN}
"""Categories with their colours."""
HEIGHT, WIDTH = 120, 160


def noise(rng: np.random.Generator, colour: tuple[int, int, int]) -> np.ndarray:
    texture = gaussian_filter(rng.normal(size=(HEIGHT, WIDTH)), 2)
    return np.clip(np.array(colour) + 90 * texture[..., None], 0, 255)


def write_set(
    folder: Path, count: int = 6, things: Mapping[str, tuple[int, int, int]] = THINGS
) -> tuple[Path, Path]:
    """A COCO file and its folder of pictures: one thing in the middle of each."""
    images = folder / "images"
    images.mkdir(parents=True)
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    said: dict[str, list[object]] = {
        "images": [],
        "annotations": [],
        "licenses": [{"id": 1, "name": "CC BY 4.0", "url": "https://example.org/by"}],
        "categories": [{"id": k + 1, "name": n} for k, n in enumerate(things)],
    }
    for number in range(1, count + 1):
        rng = np.random.default_rng(number)
        category = number % len(things)
        colour = list(things.values())[category]
        mask = ((y - 60) / (24 + number % 3)) ** 2 + ((x - 70 - number) / 34) ** 2 < 1
        pixels = np.where(mask[..., None], noise(rng, colour), noise(rng, (90, 140, 160))).astype(
            np.uint8
        )
        Image.fromarray(pixels).save(images / f"{number:06d}.png")
        said["images"].append(
            {
                "id": number,
                "file_name": f"{number:06d}.png",
                "height": HEIGHT,
                "width": WIDTH,
                "license": 1,
            }
        )
        rows, columns = np.nonzero(mask)
        box = [columns.min(), rows.min(), np.ptp(columns) + 1, np.ptp(rows) + 1]
        said["annotations"].append(
            {
                "id": 100 + number,
                "image_id": number,
                "category_id": 1 + category,
                "segmentation": encode(mask),
                "bbox": [int(side) for side in box],
                "area": int(mask.sum()),
                "iscrowd": 0,
            }
        )
    annotations = folder / "instances.json"
    annotations.write_text(json.dumps(said))
    return annotations, images
