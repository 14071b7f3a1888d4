"""The greens of computed leaves, as those of the photograph's own plants, and where plants grow."""

from __future__ import annotations

import cv2
import numpy as np

from groundfault.editors.procedural.edges import Floats, Mask, box_of, floats

__all__ = ["as_green_as", "has_soil"]

HUES, LEAST_CHROMA, LEAST_LIGHT = (1.78, 2.6), 7.0, 10.0
"""Where hues are green, in radians of Lab's circle, and how strong and light such a colour is."""
LEAST_PLANTS = 0.02
"""The share of a photograph that its plants must have to tell how green plants are there."""
FOLLOWED, LIMITS = 0.75, (0.4, 1.1)
"""How far leaves follow them, and how many times less or more colourful they may become."""
AMONG_NONE = 0.75
"""How colourful leaves are where no others are seen: in rooms the full green was rejected."""

ROOTED = frozenset({"bush", "rose bush"})
"""Plants that grow in the ground: of 14 in streets one reviewer kept 5, another none."""
LEAST_SOIL, SOIL_HUES = 9.0, (0.9, 2.7)
"""How colourful grass, earth and sand are at least, in Lab, and their hues: from brown to green."""
BESIDE_FOOT = 0.15
"""How far around a plant's foot its ground is looked at, as a share of the plant's width."""


def has_soil(photo: Floats, there: Mask, name: str) -> bool:
    """Whether a plant of this name may grow on the ground around its foot."""
    if name not in ROOTED:
        return True
    rows, columns = box_of(there)
    reach = max(round(BESIDE_FOOT * (columns.stop - columns.start)), 4)
    foot = np.zeros_like(there)
    foot[max(rows.stop - reach, 0) : rows.stop + reach,
         max(columns.start - reach, 0) : columns.stop + reach] = True  # fmt: skip
    ground = foot & ~there
    if not ground.any():
        return False
    lab = np.median(cv2.cvtColor(photo[ground][None], cv2.COLOR_RGB2LAB)[0], axis=0)
    hue, chroma = np.arctan2(lab[2], lab[1]), np.hypot(lab[1], lab[2])
    return bool(chroma >= LEAST_SOIL and SOIL_HUES[0] < hue < SOIL_HUES[1])


def as_green_as(photo: Floats, colours: Floats) -> Floats:
    """Colours whose greens have the hue and strength of a photograph's own."""
    lab = cv2.cvtColor(floats(np.clip(colours, 0, 1)), cv2.COLOR_RGB2LAB)
    leaves = _greens(lab)
    if not leaves.any():
        return colours
    own_hue, own_chroma = _usual(lab[leaves])
    seen = cv2.cvtColor(photo[::2, ::2], cv2.COLOR_RGB2LAB)
    plants = _greens(seen)
    turn, share = 0.0, AMONG_NONE
    if plants.mean() >= LEAST_PLANTS:
        hue, chroma = _usual(seen[plants])
        turn = FOLLOWED * (hue - own_hue)
        share = float(np.clip((chroma / own_chroma) ** FOLLOWED, *LIMITS))
    soft = cv2.GaussianBlur(leaves.astype(np.float32), (0, 0), 1.0)[..., None]
    sine, cosine = share * np.sin(turn), share * np.cos(turn)
    a, b = lab[..., 1], lab[..., 2]
    turned = np.stack([lab[..., 0], cosine * a - sine * b, sine * a + cosine * b], -1)
    mixed = floats(lab + (turned - lab) * soft)
    return floats(np.clip(cv2.cvtColor(mixed, cv2.COLOR_LAB2RGB), 0, 1))


def _greens(lab: Floats) -> Mask:
    hue = np.arctan2(lab[..., 2], lab[..., 1])
    chroma = np.hypot(lab[..., 1], lab[..., 2])
    green = (hue > HUES[0]) & (hue < HUES[1])
    return np.asarray(green & (chroma > LEAST_CHROMA) & (lab[..., 0] > LEAST_LIGHT))


def _usual(lab: Floats) -> tuple[float, float]:
    """The usual hue and strength of some colours."""
    a, b = np.median(lab[:, 1]), np.median(lab[:, 2])
    return float(np.arctan2(b, a)), float(max(np.hypot(a, b), 1.0))
