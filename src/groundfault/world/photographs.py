"""Scenes as if they were photographs that somebody annotated: what `build` reads, and the scenes
themselves, with which the editor `world` changes them exactly.

    DIR/images/000000.png     the pictures
    DIR/instances.json        COCO annotations, every mask exact
    DIR/scenes.jsonl          of each picture, its scene, found by the hash of its pixels
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from groundfault.errors import DataError, UsageError
from groundfault.io.foreign import decode_json
from groundfault.io.masks import encode
from groundfault.io.store import new_folder, write_bytes, write_json
from groundfault.world.cases import sample_clean_scene
from groundfault.world.phrases import concept
from groundfault.world.presets import png
from groundfault.world.render import Rendered, render
from groundfault.world.sampling import WorldSettings
from groundfault.world.scene import WORLD_VERSION, Scene

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SCENES", "read_scenes", "scene_key", "scenes_file", "write_photographs"]

SCENES = "scenes.jsonl"
FEWEST_PX = 64
"""Of a thing that shows; less of it is not annotated."""
LICENCE = {"id": 1, "name": "rendered by groundfault, no photograph", "url": ""}


class _Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A picture's scene; another version of the world would draw it otherwise."""

    pixels: str
    version: int
    scene: Scene


def scene_key(image: NDArray[np.uint8]) -> str:
    """What a picture's scene is found by."""
    return hashlib.sha256(np.ascontiguousarray(image).tobytes()).hexdigest()


def write_photographs(place: Path, n: int, settings: WorldSettings, seed: int = 0) -> None:
    """Write a folder of `n` scenes."""
    if n < 1:
        raise UsageError(f"{n} scenes: give 1 or more")
    told: dict[str, list[Any]] = {"licenses": [LICENCE], "images": [], "annotations": []}
    names: dict[str, int] = {}
    lines = []
    with new_folder(place) as temporary:
        (temporary / "images").mkdir()
        for index in range(n):
            scene = sample_clean_scene(seed, index, settings)
            rendered = render(scene)
            file, side = f"{index:06d}.png", scene.size_px
            write_bytes(temporary / "images" / file, png(rendered), durable=False)
            size = {"height": side, "width": side}
            told["images"].append({"id": index + 1, "file_name": file, **size, "license": 1})
            for thing in _things(scene, rendered, names):
                number = len(told["annotations"]) + 1
                told["annotations"].append({"id": number, "image_id": index + 1, **thing})
            known = _Line(pixels=scene_key(rendered.image), version=WORLD_VERSION, scene=scene)
            lines.append(msgspec.json.encode(known))
        told["categories"] = [{"id": number, "name": name} for name, number in names.items()]
        write_json(temporary / "instances.json", told)
        write_bytes(temporary / SCENES, b"\n".join(lines) + b"\n")


def _things(scene: Scene, rendered: Rendered, names: dict[str, int]) -> list[dict[str, Any]]:
    """The annotations of a scene; new categories get the next numbers."""
    found = []
    for thing, mask in zip(scene.things, rendered.masks, strict=True):
        if mask.sum() < FEWEST_PX:
            continue
        rows, columns = np.nonzero(mask)
        box = [columns.min(), rows.min(), np.ptp(columns) + 1, np.ptp(rows) + 1]
        found.append(
            {
                "category_id": names.setdefault(concept(thing), len(names) + 1),
                "segmentation": encode(mask),
                "area": int(mask.sum()),
                "bbox": [float(side) for side in box],
                "iscrowd": 0,
            }
        )
    return found


def scenes_file(path: str | os.PathLike[str]) -> Path:
    """The file of scenes that a folder has, or that is named itself."""
    return Path(path) / SCENES if Path(path).is_dir() else Path(path)


def read_scenes(path: str | os.PathLike[str]) -> dict[str, Scene]:
    """The scenes of a folder that `write_photographs` made, by `scene_key`."""
    place = scenes_file(path)
    if not place.is_file():
        raise UsageError(f"{place}: no such file; `groundfault world scenes --out DIR` writes one")
    found = {}
    with place.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                known = decode_json(line, _Line)
            except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
                record = f"line {number}"
                remedy = "write the scenes again with `groundfault world scenes`"
                said = f"is no scene ({problem})"
                raise DataError(place, said, record=record, remedy=remedy) from None
            if known.version == WORLD_VERSION:
                found[known.pixels] = known.scene
    if not found:
        raise UsageError(
            f"{place}: has no scene of world {WORLD_VERSION}: `groundfault world scenes` again"
        )
    return found
