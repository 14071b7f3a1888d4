"""Four predictions and two ground truths per case, compared pixel by pixel.

A quad is one object replacement: (I, c), (I, c'), (I', c), (I', c'). Masks are compared and
dropped; only pixel counts are kept, from which every metric, slice and resample follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from groundfault.io.masks import RLEMask, resize_nearest
from groundfault.records import Role

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Flags = NDArray[np.bool_]

__all__ = ["ROLES", "TRUTH_OF_ROLE", "PixelCounts", "Quad", "Quads", "compare_quads"]

ROLES = (Role.FACTUAL, Role.TEXTUAL, Role.VISUAL, Role.COUNTERFACTUAL)
"""The order of the four predictions wherever they stand side by side."""
TRUTH_OF_ROLE = (0, 0, 1, 1)
"""Which ground truth each is measured against: M_c (0) or M'_c' (1)."""


class Quad(msgspec.Struct, frozen=True, eq=False):
    """The masks of one case."""

    truths: Sequence[RLEMask | None]
    """M_c and M'_c'; None where one is not there."""
    predictions: Sequence[RLEMask | None]
    """In the order of ROLES; None is no mask."""
    left_out: Sequence[bool] = (False, False, False, False)
    """Which predictions are not to be compared, in the order of ROLES."""
    truth_sha256: str = ""
    """Of both ground truths; "" has it made from the masks."""


class PixelCounts(msgspec.Struct, frozen=True, eq=False):
    """(cases, 4) each, in the order of ROLES; 0 where there is nothing to compare."""

    object_px: Ints
    """|G|"""
    predicted_px: Ints
    """|P|, after P was resized to G's size."""
    shared_px: Ints
    """|P∩G|"""


class Quads(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Every prediction compared with its ground truth."""

    own: PixelCounts
    """Each comparison at the size of its own ground truth."""
    at_factual_size: PixelCounts
    """The same with everything resized to M_c's size, as the published consistency script does;
    equal to `own` unless that was asked for."""
    truth_there: Flags
    """(cases, 2) M_c and M'_c'."""
    truth_size_px: Ints
    """(cases, 2, 2) height and width."""
    truth_px: Ints
    """(cases, 2) area."""
    truth_sha256: Sequence[str]
    """(cases,) over the bytes of both ground truths."""
    prediction_there: Flags
    """(cases, 4)"""
    compared: Flags
    """(cases, 4) whether the counts mean something."""
    resized: Flags
    """(cases, 4) whether the prediction had another size than its ground truth."""


def compare_quads(quads: Sequence[Quad], *, at_factual_size: bool = False) -> Quads:
    """Compare the predictions of all cases, each at the size of its ground truth; if asked for,
    also at the factual mask's size."""
    n = len(quads)
    counts = np.zeros((2, 3, n, len(ROLES)), np.int64)
    compared, resized = np.zeros((n, len(ROLES)), bool), np.zeros((n, len(ROLES)), bool)
    truth_size_px, truth_px = np.zeros((n, 2, 2), np.int64), np.zeros((n, 2), np.int64)
    for number, quad in enumerate(quads):
        for which, truth in enumerate(quad.truths):
            if truth is not None:
                truth_size_px[number, which] = truth.shape
                truth_px[number, which] = truth.area()
        for role, prediction in enumerate(quad.predictions):
            truth, factual = quad.truths[TRUTH_OF_ROLE[role]], quad.truths[0]
            if truth is None or quad.left_out[role]:
                continue
            compared[number, role] = True
            resized[number, role] = prediction is not None and prediction.shape != truth.shape
            counts[:, :, number, role] = _count(prediction, truth, truth.shape)
            if at_factual_size and factual is not None and truth.shape != factual.shape:
                counts[1, :, number, role] = _count(prediction, truth, factual.shape)
    return Quads(
        own=PixelCounts(*counts[0]),
        at_factual_size=PixelCounts(*counts[1]),
        truth_there=np.array([[t is not None for t in quad.truths] for quad in quads], bool),
        truth_size_px=truth_size_px,
        truth_px=truth_px,
        truth_sha256=[quad.truth_sha256 or _digest(quad.truths) for quad in quads],
        prediction_there=np.array(
            [[mask is not None for mask in quad.predictions] for quad in quads], bool
        ),
        compared=compared,
        resized=resized,
    )


def _digest(truths: Sequence[RLEMask | None]) -> str:
    codes = b"".join(truth.to_dict()["counts"] for truth in truths if truth is not None)
    return sha256(codes).hexdigest()


def _count(
    prediction: RLEMask | None, truth: RLEMask, size: tuple[int, int]
) -> tuple[int, int, int]:
    """Pixels of the object, of the prediction, and of both, at a size."""
    truth = _resized(truth, size)
    object_px = int(truth.area())
    if prediction is None:
        return object_px, 0, 0
    prediction = _resized(prediction, size)
    return object_px, int(prediction.area()), int((prediction & truth).area())


def _resized(mask: RLEMask, size: tuple[int, int]) -> RLEMask:
    if mask.shape == size:
        return mask
    pixels = np.asarray(mask.to_array(), dtype=bool)
    return RLEMask.from_array(resize_nearest(pixels, *size))
