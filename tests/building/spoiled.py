"""An edit of a picture for tests, good or spoiled in a known way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter
from tests.building.photographs import HEIGHT, WIDTH, noise

from groundfault.building.distances import grown
from groundfault.building.records import Candidate, EditedPicture, Proposal
from groundfault.io.masks import encode
from groundfault.io.photographs import Photograph, Thing

Y, X = np.mgrid[:HEIGHT, :WIDTH]
MASK = ((Y - 60) / 26) ** 2 + ((X - 76) / 34) ** 2 < 1
RNG = np.random.default_rng(5)
OLD = np.where(MASK[..., None], noise(RNG, (150, 110, 90)), noise(RNG, (90, 140, 160)))
OLD = (OLD + RNG.normal(0, 2, OLD.shape)).clip(0, 255).astype(np.uint8)
BEYOND = (noise(RNG, (60, 190, 70)) + RNG.normal(0, 2, OLD.shape)).clip(0, 255).astype(np.uint8)


def where(mask: np.ndarray, image: np.ndarray = BEYOND) -> np.ndarray:
    return np.where(mask[..., None], image, OLD)


def spoiled(how: str) -> np.ndarray:
    """The target painted green, or something that went wrong with it."""
    if how == "good":
        return where(MASK)
    if how == "no-op":
        return OLD
    if how == "shifted":
        return where(np.roll(MASK, 4, axis=1))
    if how == "partial":
        return where(MASK & (X < 76))
    if how == "leak":
        return where(MASK | (Y > 110))
    if how == "halo":
        return where(grown(MASK, 4))
    if how == "ghost":
        return where(MASK, (0.6 * OLD + 0.4 * BEYOND).astype(np.uint8))
    assert how == "blurred"
    return where(MASK, gaussian_filter(BEYOND, (3, 3, 0)))


def edit(folder: Path, how: str, kind: str = "surface", **changes: object) -> Candidate:
    """A candidate whose pictures are in a folder."""
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    Image.fromarray(OLD).save(folder / "pictures/before.png")
    Image.fromarray(spoiled(how)).save(folder / f"pictures/{how}.png")
    target = Thing(id="1", category="cat", mask=encode(MASK))
    proposal = {"kind": kind, "value": "", "instruction": "Paint it.", "positive": "cat"}
    edited = {"before": "pictures/before.png", "after": f"pictures/{how}.png"}
    edited |= {"touched": encode(grown(MASK, 6))}
    for name in list(changes):
        if name in Proposal.__struct_fields__:
            proposal[name] = changes.pop(name)  # type: ignore[assignment]
        elif name in EditedPicture.__struct_fields__:
            edited[name] = changes.pop(name)  # type: ignore[assignment]
    things = (target, *changes.pop("things", ()))  # type: ignore[misc]
    return Candidate(
        id=f"{how}-{kind}",
        task="SM",
        photograph=Photograph(
            id="1", source="coco", file="1.png", height_px=HEIGHT, width_px=WIDTH, things=things
        ),
        target=target,
        proposal=Proposal(**{"negative": "tree", **proposal}),  # type: ignore[arg-type]
        edited=EditedPicture(**edited),  # type: ignore[arg-type]
        **changes,  # type: ignore[arg-type]
    )
