"""An object cut out by ISNet, where its ONNX file is given: drawn masks are off by several pixels,
forget paws and take along what is seen between legs; the network sees fur, lace and spokes. The
drawn mask says which object is meant, and how far the network is believed."""

from __future__ import annotations

import functools
from typing import NamedTuple

import cv2
import numpy as np

from groundfault.editors.procedural.edges import (
    Floats,
    Mask,
    Matte,
    box_of,
    core,
    floats,
    grown,
    matte_of,
)
from groundfault.editors.procedural.networks import session
from groundfault.editors.procedural.relief import extent_px
from groundfault.editors.procedural.silhouettes import REACH_PX
from groundfault.errors import DataError

__all__ = ["Cutout", "cut_out"]

FILE = "isnet-general-use.onnx"
MARGIN = 0.2
"""How much of its surroundings the network sees, as a share of the object's extent."""
MOST_OFF, MOST_BEYOND, MOST_UNSURE = 0.2, 0.06, 0.06
"""Limits of a cut-out that is trusted: see `Cutout`."""


class Cutout(NamedTuple):
    """What a network takes for the object, near its drawn mask."""

    alpha: Floats
    """How much of a pixel is the object's, (h, w)."""
    off: float
    """What the drawn mask has and the network does not, and the other way round near the mask, as
    a share of the mask."""
    beyond: float
    """How much goes on farther away than an edit may reach, as a share of the mask."""
    unsure: float
    """The mean distance of alpha from both 0 and 1 in the mask, 0 to 0.5."""
    whole: Floats
    """The same as `alpha`, however far it goes from the drawn mask."""

    @property
    def mask(self) -> Mask:
        return np.asarray(self.alpha > 0.5)

    @property
    def is_trusted(self) -> bool:
        return self.off <= MOST_OFF and self.beyond <= MOST_BEYOND and self.unsure <= MOST_UNSURE

    def edge(self, photo: Floats) -> Matte:
        """The soft edge that the network sees."""
        return matte_of(photo, self.alpha)


def cut_out(photo: Floats, drawn: Mask, path: str, others: Mask | None = None) -> Cutout:
    """The object that a mask was drawn for; `others` are what is known not to be it."""
    margin = max(int(MARGIN * extent_px(drawn)), 12)
    box = box_of(drawn, margin)
    alpha = np.zeros(drawn.shape, np.float32)
    window = (photo[box] * 255 + 0.5).astype(np.uint8)
    alpha[box] = _seen(window.tobytes(), window.shape[:2], path)
    if others is not None:
        alpha[others & ~drawn] = 0
    whole = _connected(alpha, drawn)
    near = grown(drawn, REACH_PX)
    beyond = int(((whole > 0.5) & ~near).sum())
    found = np.where(near, whole, 0)
    area = max(int(drawn.sum()), 1)
    off = int(((found > 0.5) ^ drawn).sum())
    unsure = float(np.minimum(found, 1 - found)[core(drawn, 3)].mean()) if drawn.any() else 0.0
    return Cutout(floats(found), off / area, beyond / area, unsure, floats(whole))


@functools.lru_cache(maxsize=32)  # several edits of one object are tried in turn
def _seen(pixels: bytes, shape: tuple[int, int], path: str) -> Floats:
    """What the network takes for the foremost object of an RGB picture, 0 to 1."""
    network = session(path, "ISNet", FILE)
    given = network.get_inputs()[0]
    try:
        tall, wide = (int(each) for each in given.shape[-2:])
    except (TypeError, ValueError):
        raise DataError(
            path, f"takes pictures of {given.shape}, not of a fixed size", remedy=f"give {FILE}"
        ) from None
    picture = floats(np.frombuffer(pixels, np.uint8).reshape(*shape, 3)) / 255 - 0.5
    seen = cv2.resize(picture, (wide, tall), interpolation=cv2.INTER_LINEAR)
    first = network.get_outputs()[0].name
    found = network.run([first], {given.name: np.ascontiguousarray(seen.transpose(2, 0, 1)[None])})
    share = np.clip(floats(found[0])[0, 0], 0, 1)
    return floats(cv2.resize(share, shape[::-1], interpolation=cv2.INTER_AREA))


def _connected(alpha: Floats, drawn: Mask) -> Floats:
    """Without pieces that have nothing to do with the drawn mask."""
    pieces = cv2.connectedComponents((alpha > 0.1).astype(np.uint8))[1]
    own = np.unique(pieces[drawn & (alpha > 0.5)])
    return np.where(np.isin(pieces, own[own > 0]), alpha, 0)
