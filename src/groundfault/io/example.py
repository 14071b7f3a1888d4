"""A small CAFE-like set that the package makes itself, with predictions of two imagined models.

No pictures, only masks: enough to see scoring, comparison and sweeps work offline. The
"gullible" model accepts the misleading phrase on the edited target most of the time; the
"careful" one mostly rejects it.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groundfault.io.masks import RLEMask, to_rle
from groundfault.io.store import write_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MODELS", "write_example"]

MODELS = {
    # chance to find the target, to accept p⁻ on it, to accept p⁻ elsewhere, by edit type
    "gullible": {"SM": (0.92, 0.45, 0.08), "CC": (0.95, 0.35, 0.05), "OC": (0.60, 0.75, 0.05)},
    "careful": {"SM": (0.90, 0.10, 0.04), "CC": (0.94, 0.08, 0.03), "OC": (0.85, 0.25, 0.04)},
}
_EDITS = {
    "SM": ("Superficial Mimicry", (("cat", "tiger"), ("mug", "watermelon"), ("sofa", "zebra"))),
    "CC": ("Context Conflict", (("teddy bear", "polar bear"), ("toy boat", "ship"))),
    "OC": ("Ontological Conflict", (("bronze statue", "horse"), ("cloud", "sheep"))),
}


def write_example(
    folder: str | PathLike[str],
    *,
    n: int = 300,
    seed: int = 0,
    size_px: tuple[int, int] = (240, 320),
) -> dict[str, Path]:
    """Write annotations.json and one results file per model; return their paths by name."""
    import json

    folder = Path(folder)
    rng = np.random.default_rng(seed)
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    results: dict[str, list[dict[str, Any]]] = {name: [] for name in MODELS}
    for number in range(1, n + 1):
        edit = ("SM", "SM", "CC", "OC")[number % 4]
        title, phrases = _EDITS[edit]
        positive, negative = phrases[number % len(phrases)]
        target = _blob(rng, size_px)
        shared = {
            "file_name": f"{number:06d}.jpg", "height": size_px[0], "width": size_px[1],
            "edit_type": title, "is_instance_exhaustive": 1,
        }  # fmt: skip
        asked = 1_000_000_000 + number
        images += [
            {"id": number, "text_input": positive, **shared},
            {"id": asked, "text_input": negative, "fp_source_id": number, **shared},
        ]
        x, y, width, height = (float(side) for side in _mask(target, size_px).bbox())
        annotations.append(
            {"id": number, "image_id": number, "category_id": 1, "iscrowd": 0,
             "segmentation": to_rle(_mask(target, size_px)), "bbox": [x, y, width, height]}
        )  # fmt: skip
        for name, model in MODELS.items():
            results[name] += _answers(rng, model[edit], number, asked, target, size_px)
    categories = [{"id": 1, "name": "object"}]
    files = {
        "annotations": {"images": images, "annotations": annotations, "categories": categories}
    }
    paths = {}
    for name, content in {**files, **results}.items():
        paths[name] = folder / f"{name}.json"
        write_bytes(paths[name], json.dumps(content).encode())
    return paths


def _answers(
    rng: np.random.Generator,
    chances: tuple[float, float, float],
    positive_id: int,
    negative_id: int,
    target: NDArray[np.float64],
    size_px: tuple[int, int],
) -> list[dict[str, Any]]:
    found, fooled, astray = chances
    answers = [
        (positive_id, target, rng.random() < found),
        (negative_id, target, rng.random() < fooled),
        (negative_id, _blob(rng, size_px), rng.random() < astray),
    ]
    for image_id in (positive_id, negative_id):  # candidates that a model lists but rejects
        answers += [(image_id, _blob(rng, size_px), False) for _ in range(rng.poisson(0.7))]
    records = []
    for image_id, outline, accepted in answers:
        if not accepted and rng.random() < 0.2:
            continue
        score = rng.uniform(0.5, 1.0) if accepted else rng.uniform(0.02, 0.5)
        shaky = outline + rng.normal(0, 2.0, outline.shape)
        records.append(
            {"image_id": image_id, "category_id": 1, "score": round(float(score), 4),
             "segmentation": to_rle(_mask(shaky, size_px))}
        )  # fmt: skip
    return records


def _blob(rng: np.random.Generator, size_px: tuple[int, int]) -> NDArray[np.float64]:
    """(points, 2) outline x, y of a rounded, irregular shape."""
    height, width = size_px
    angle = np.linspace(0, 2 * np.pi, 96, endpoint=False)
    radius = np.ones_like(angle)
    for wave in range(2, 6):
        radius += rng.normal(0, 0.25 / wave) * np.cos(wave * angle + rng.uniform(0, 2 * np.pi))
    radius *= rng.uniform(0.12, 0.3) * min(size_px)
    centre = rng.uniform(0.3, 0.7, 2) * (width, height)
    return np.stack(
        [centre[0] + radius * np.cos(angle), centre[1] + radius * np.sin(angle)], axis=1
    )


def _mask(outline: NDArray[np.float64], size_px: tuple[int, int]) -> RLEMask:
    return RLEMask.from_polygon(outline, imshape=size_px)
