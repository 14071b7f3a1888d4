"""Perceptual hashes: the same picture is found again, another one is not taken for it."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageEnhance

from groundfault.io.phash import ALIKE, hash_file, hash_picture, hashes, near


def scene(seed: int) -> Image.Image:
    """Coloured boxes on a shaded ground."""
    rng = np.random.default_rng(seed)
    shade = np.linspace(40, 200, 240)[:, None, None] * rng.uniform(0.5, 1.2, 3)
    pixels = np.broadcast_to(shade, (240, 320, 3)).copy()
    for _ in range(6):
        y, x, h, w = rng.integers((0, 0, 30, 30), (180, 260, 90, 120))
        pixels[y : y + h, x : x + w] = rng.integers(0, 256, 3)
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))


def jpeg(picture: Image.Image) -> Image.Image:
    content = BytesIO()
    picture.save(content, "JPEG", quality=30)
    return Image.open(BytesIO(content.getvalue()))


CHANGES = {
    "compressed": jpeg,
    "smaller": lambda picture: picture.resize((110, 90)),
    "brighter": lambda picture: ImageEnhance.Brightness(picture).enhance(1.15),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_copy_is_near_and_other_pictures_are_not(change: str) -> None:
    originals = np.stack([hash_picture(scene(seed)) for seed in range(12)])
    copies = np.stack([hash_picture(CHANGES[change](scene(seed))) for seed in range(12)])

    found = near(originals, copies)

    assert [(row, column) for row, column, _ in found] == [(k, k) for k in range(12)]
    assert all(bits <= ALIKE for *_, bits in found)


def test_blocks_of_many_hashes_are_compared_like_few() -> None:
    rng = np.random.default_rng(0)
    many = rng.integers(0, 2**63, (1100, 4), dtype=np.uint64)

    found = near(many, many[[3, 700, 1099]] ^ np.uint64(1))

    assert found == [(3, 0, 4), (700, 1, 4), (1099, 2, 4)]


def test_files_are_hashed_like_pictures_and_none_are_no_rows(tmp_path: Path) -> None:
    scene(3).save(tmp_path / "a.png")

    assert (hash_file(tmp_path / "a.png") == hash_picture(scene(3))).all()
    assert hashes([]).shape == (0, 4)
    assert near(hashes([]), hashes([tmp_path / "a.png"])) == []
