"""An object cut out by ISNet, where its ONNX file is given: drawn masks are off by several pixels,
forget paws and take along what is seen between legs; the network sees fur, lace and spokes. The
drawn mask says which object is meant, and how far the network is believed."""

from __future__ import annotations

import functools
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from groundfault.editors.procedural.contested import settled
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
ALONE = 0.06
"""How much it sees where it looks once more."""
MOST_OFF, MOST_BEYOND, MOST_UNSURE, MOST_UNSETTLED = 0.2, 0.06, 0.045, 0.015
MOST_UNSTEADY = 0.04
MOST_UNSEEN, MOST_UNSEEN_OF_PARTED = 0.15, 0.46
"""Limits of a cut-out that is trusted: see `Cutout`."""
MOST_FORGOTTEN = 0.06
"""What a drawn mask forgets of an object at most, piece by piece, as a share of it: a tail, a paw,
an armrest. What is larger is another thing."""
MOST_OF_TIPS = 0.005
"""The same where what is farther away is hidden from the network: tips of ears and tails."""
SOFT, SOFT_FUR = (0.25, 0.75), (0.08, 0.55)
"""What the network is less and more sure of is not the object, and nothing else. Where fur
gets another colour, fringes of the old one are seen first: there it goes farther."""


class Cutout(NamedTuple):
    """What a network takes for the object, near its drawn mask."""

    alpha: Floats
    """How much of a pixel is the object's, (h, w)."""
    off: float
    """What the drawn mask has and the network does not, and the other way round near the mask, as
    a share of the mask."""
    beyond: float
    """How much goes on farther away than an edit may reach, as a share of the mask."""
    unsettled: float
    """How much of what is `off` colours can't decide either: see `contested`."""
    unsteady: float
    """How differently the network sees the mirrored picture, summed over what is near, as a share
    of the mask."""
    unsure: float
    """The mean distance of alpha from both 0 and 1 in the mask, 0 to 0.5."""
    unseen: float
    """The share of the outline beside which the network goes on, as it takes several things for
    one."""
    shared: Mask
    """Where it goes on: there a drawn mask alone parts them."""
    whole: Floats
    """What the network sees of it, however far it goes from the drawn mask."""

    @property
    def mask(self) -> Mask:
        return np.asarray(self.alpha > 0.5)

    @property
    def is_trusted(self) -> bool:
        return self._is_clear and self.beyond <= MOST_BEYOND and self.unseen <= MOST_UNSEEN

    def agrees(self, most_beyond: float) -> bool:
        """Whether the network sees this object, though maybe others with it."""
        near = self.beyond <= most_beyond and self.unseen <= MOST_UNSEEN_OF_PARTED
        return self._is_clear and near

    @property
    def _is_clear(self) -> bool:
        clear = self.unsure <= MOST_UNSURE and self.unsettled <= MOST_UNSETTLED
        return clear and self.off <= MOST_OFF and self.unsteady <= MOST_UNSTEADY

    def parted(self, outline: Mask) -> Cutout:
        """The cut-out that ends at an outline where the network does not end."""
        soft = cv2.GaussianBlur(outline.astype(np.float32), (0, 0), 0.8)
        alpha = np.where(self.shared, np.minimum(self.alpha, soft), self.alpha)
        return self._replace(alpha=floats(alpha))

    def edge(self, photo: Floats, *, furred: bool = False) -> Matte:
        """The soft edge that the network sees, as narrow as photographs have them: it sees objects
        at a smaller scale, and a haze of what is behind would stay. `furred` is what has hair, and
        gets other colours."""
        low, high = SOFT_FUR if furred else SOFT
        return matte_of(photo, floats(np.clip((self.alpha - low) / (high - low), 0, 1)))


def cut_out(photo: Floats, drawn: Mask, path: str, others: Mask | None = None) -> Cutout:
    """The object that a mask was drawn for; `others` are what is known not to be it. The network
    looks for the foremost object; where that is another, or several, it looks once more at a
    picture in which there is nothing else."""
    found = _cut_out(photo, drawn, path, others)
    if found.is_trusted:
        return found
    again = _cut_out(_alone(photo, drawn), drawn, path, others, most_forgotten=MOST_OF_TIPS)
    return min(found, again, key=lambda cut: (not cut.is_trusted, cut.off + cut.unseen))


def _alone(photo: Floats, drawn: Mask) -> Floats:
    """The photograph without what is farther away from a mask than it may be wrong."""
    away_px = max(int(ALONE * extent_px(drawn)), 6)
    near = grown(drawn, away_px)
    beside = near & ~drawn
    plain = np.median(photo[beside if beside.any() else drawn], axis=0)
    share = cv2.GaussianBlur(near.astype(np.float32), (0, 0), away_px / 2)[..., None]
    return floats(photo * share + plain * (1 - share))


def _cut_out(
    photo: Floats,
    drawn: Mask,
    path: str,
    others: Mask | None,
    *,
    most_forgotten: float = MOST_FORGOTTEN,
) -> Cutout:
    """What the network sees in one look and in a mirror, with pieces up to a size that the drawn
    mask forgot."""
    margin = max(int(MARGIN * extent_px(drawn)), 12)
    box = box_of(drawn, margin)
    alpha = np.zeros(drawn.shape, np.float32)
    window = (photo[box] * 255 + 0.5).astype(np.uint8)
    looks = [_look(window, path), _look(window[:, ::-1], path)[:, ::-1]]
    alpha[box] = np.mean(looks, axis=0)
    apart = np.zeros_like(alpha)
    apart[box] = np.abs(looks[0] - looks[1])
    seen = alpha.copy()
    if others is not None:
        alpha[others & ~drawn] = 0
    whole = _connected(alpha, drawn)
    forgotten = grown(_forgotten(whole, drawn, box, most_forgotten), 3)
    near = grown(drawn, REACH_PX) | forgotten
    ends = grown(drawn, REACH_PX) & ~grown(drawn, REACH_PX - 2) & ~forgotten
    goes_on = ends & (seen > 0.5)
    unseen = float(goes_on.sum() / max(int(ends.sum()), 1))
    beyond = int(((whole > 0.5) & ~near).sum())
    found = np.where(near, whole, 0)
    area = max(int(drawn.sum()), 1)
    off = int(((found > 0.5) ^ drawn).sum())
    unsure = float(np.minimum(found, 1 - found)[core(drawn, 3)].mean()) if drawn.any() else 0.0
    decided = settled(photo, drawn, floats(found))
    return Cutout(
        alpha=decided.alpha,
        off=off / area,
        beyond=beyond / area,
        unsettled=decided.unsettled,
        unsteady=float(apart[grown(drawn, margin)].sum() / area),
        unsure=unsure,
        unseen=unseen,
        shared=grown(goes_on, 2 * REACH_PX),
        whole=floats(whole),
    )


def _look(window: NDArray[np.uint8], path: str) -> Floats:
    return _seen(window.tobytes(), (window.shape[0], window.shape[1]), path)


def _forgotten(whole: Floats, drawn: Mask, box: tuple[slice, slice], most: float) -> Mask:
    """Small pieces of what the network sees beside a drawn mask, and that end there."""
    beside = (whole > 0.5) & ~grown(drawn, REACH_PX)
    count, pieces, found, _ = cv2.connectedComponentsWithStats(beside.astype(np.uint8))
    frame = np.zeros_like(drawn)
    frame[box] = True
    at_border = np.unique(pieces[frame & ~core(frame, 2)])
    small = found[:, cv2.CC_STAT_AREA] <= most * int(drawn.sum())
    ended = ~np.isin(np.arange(count), at_border)
    return np.asarray((small & ended)[pieces] & beside)


@functools.lru_cache(maxsize=64)  # several edits of one object are tried in turn
def _seen(pixels: bytes, shape: tuple[int, int], path: str) -> Floats:
    """What the network takes for the foremost object of an RGB picture, 0 to 1."""
    network = session(path, "ISNet", FILE)
    given, first = network.get_inputs()[0], network.get_outputs()[0].name
    if len(given.shape) != 4 or not all(isinstance(side, int) for side in given.shape[1:]):
        raise _unfit(path, f"takes {given.shape}, not pictures of a fixed size")
    _, channels, tall, wide = given.shape
    if channels != 3:
        raise _unfit(path, f"takes pictures of {channels} channels, not of 3")
    picture = floats(np.frombuffer(pixels, np.uint8).reshape(*shape, 3)) / 255 - 0.5
    seen = cv2.resize(picture, (wide, tall), interpolation=cv2.INTER_LINEAR)
    answer = network.run([first], {given.name: np.ascontiguousarray(seen.transpose(2, 0, 1)[None])})
    share = floats(answer[0])
    if share.shape[:2] != (1, 1) or share.ndim != 4:
        raise _unfit(path, f"answers with {share.shape}, not with one mask")
    found = np.clip(share[0, 0], 0, 1)
    return floats(cv2.resize(found, shape[::-1], interpolation=cv2.INTER_AREA))


def _unfit(path: str, problem: str) -> DataError:
    return DataError(path, problem, remedy=f"give {FILE}")


def _connected(alpha: Floats, drawn: Mask) -> Floats:
    """Without pieces that have nothing to do with the drawn mask."""
    pieces = cv2.connectedComponents((alpha > 0.1).astype(np.uint8))[1]
    own = np.unique(pieces[drawn & (alpha > 0.5)])
    return np.where(np.isin(pieces, own[own > 0]), alpha, 0)
