"""Releases without pictures that were made before PNGs were packed by runs."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path

import numpy as np
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from groundfault.building.patches import restore
from groundfault.building.pictures import png_content


def test_earlier_releases_are_restored_as_they_were(tmp_path: Path) -> None:
    pixels = np.random.default_rng(0).integers(0, 40, (30, 40, 3), dtype=np.uint8)
    (tmp_path / "photographs").mkdir()
    Image.fromarray(pixels).save(tmp_path / "photographs" / "a.png")
    said, content = PngInfo(), io.BytesIO()
    said.add_text("Comment", "As it was.")
    Image.fromarray(pixels).save(content, "PNG", pnginfo=said, compress_level=6)
    told = {
        "name": "b.png", "photograph": "a.png", "source": "coco", "source_id": "1",
        "height_px": 30, "width_px": 40, "comment": "As it was.",
        "sha256": hashlib.sha256(content.getvalue()).hexdigest(),
    }  # fmt: skip
    (tmp_path / "release").mkdir()
    (tmp_path / "release" / "restore.json").write_text(json.dumps([told]))
    assert restore(tmp_path / "release", [tmp_path / "photographs"]) == 1
    made = (tmp_path / "release" / "images" / "b.png").read_bytes()
    assert made == content.getvalue() != png_content(pixels, "As it was.")
