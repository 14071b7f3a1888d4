"""The greens of computed leaves, as those of the photograph's own plants."""

from __future__ import annotations

import cv2
import numpy as np

from groundfault.editors.procedural.edges import Floats, Mask, floats

__all__ = ["as_green_as"]

HUES, LEAST_CHROMA, LEAST_LIGHT = (1.78, 2.6), 7.0, 10.0
"""Where hues are green, in radians of Lab's circle, and how strong and light such a colour is."""
LEAST_PLANTS = 0.02
"""The share of a photograph that its plants must have to tell how green plants are there."""
FOLLOWED, LIMITS = 0.75, (0.4, 1.1)
"""How far leaves follow them, and how many times less or more colourful they may become."""
AMONG_NONE = 0.75
"""How colourful leaves are where no others are seen: in rooms the full green was rejected."""


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
