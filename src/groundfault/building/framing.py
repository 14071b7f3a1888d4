"""An editor that takes a picture and words, asked in its own frame: the photograph is brought to a
size that it takes, its reply is laid over the photograph again, and what may not change is pasted
back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from groundfault.building.fit import fit_to, free_canvas, nearest_bucket, paste_back
from groundfault.building.registration import registered_reply
from groundfault.interfaces import Canvas, Editor, NotEdited, Sized
from groundfault.io.colours import VISIBLE, colour_difference
from groundfault.io.masks import decode
from groundfault.records import Prediction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Image = NDArray[np.uint8]
    BinaryMask = NDArray[np.bool_]

__all__ = ["Framed", "canvas_for", "changed_region", "edit_in_frame", "new_thing"]

FEATHER_PX = 3.0
RIVAL = 0.75
"""A second mask is a rival of the best one if it fits at least this share as well …"""
SAME = 0.5
"""… and overlaps it by less than this IoU."""


class Framed(NamedTuple):
    """A reply in the photograph's frame."""

    image: Image
    """Pasted back: outside of what may change it is the photograph's."""
    raw: Image
    """As it came, in its own size."""
    matrix: tuple[tuple[float, float, float], ...]
    details: dict[str, str]


def edit_in_frame(
    editor: Editor, image: Image, may_change: BinaryMask, instruction: str
) -> Framed | NotEdited:
    """Ask an editor, and lay its reply over the photograph."""
    size = (image.shape[0], image.shape[1])
    canvas = canvas_for(size, editor.canvas) if isinstance(editor, Sized) else size
    fit = fit_to(size, canvas)
    reply: Any = editor.edit(fit.picture(image), fit.mask(may_change), instruction)
    if isinstance(reply, NotEdited):
        return reply
    laid = registered_reply(image, np.asarray(reply), may_change, fit)
    pasted = paste_back(image, laid.image, may_change, FEATHER_PX)
    return Framed(pasted, np.asarray(reply), fit.matrix, laid.details)


def canvas_for(size_px: tuple[int, int], canvas: Canvas) -> tuple[int, int]:
    """The size in which an editor is shown a photograph."""
    if canvas.sizes_px:
        return nearest_bucket(size_px, canvas.sizes_px)
    longest = min(canvas.longest_px, 2048)
    return free_canvas(
        size_px,
        multiple=max(1, canvas.multiple_px),
        least_px=max(1, canvas.shortest_px),
        most_px=longest,
    )


def changed_region(before: Image, after: Image, within: BinaryMask) -> BinaryMask | None:
    """The largest patch that differs visibly, its holes filled; None where nothing does."""
    from scipy import ndimage

    differs = (colour_difference(before, after) > VISIBLE) & within
    differs = ndimage.binary_closing(differs, iterations=2)
    labels, count = ndimage.label(differs)
    if not count:
        return None
    largest = 1 + int(np.argmax(np.bincount(labels.ravel())[1:]))
    return np.asarray(ndimage.binary_fill_holes(labels == largest))


def new_thing(found: Prediction, expected: BinaryMask | None) -> BinaryMask | NotEdited:
    """Which of the masks that a segmenter found is the new thing: the one whose IoU with where it
    is expected, times its score, is largest; without an expectation, the one with the best score.
    Two that fit about equally well and are not the same place leave it open."""
    fits = []
    for rle, score in zip(found.masks, found.scores, strict=True):
        mask = np.asarray(decode(rle), bool)
        fits.append((score * (1.0 if expected is None else _iou(mask, expected)), mask))
    fits = sorted((fit for fit in fits if fit[0] > 0), key=lambda fit: -fit[0])
    if not fits:
        return NotEdited(outcome="refused", reason="the new thing is not found")
    most, best = fits[0]
    rivals = (mask for fit, mask in fits[1:2] if fit >= RIVAL * most)
    if any(_iou(best, rival) < SAME for rival in rivals):
        return NotEdited(outcome="refused", reason="two masks may be the new thing")
    return best


def _iou(one: BinaryMask, other: BinaryMask) -> float:
    either = int((one | other).sum())
    return float((one & other).sum() / either) if either else 0.0
