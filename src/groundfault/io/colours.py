"""Colours as people see them: CIE L*a*b*, and how far two of them are apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["VISIBLE", "colour_difference", "lab"]

VISIBLE = 5.0
"""ΔE from which a person sees that a colour differs without looking for it."""


def colour_difference(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> Floats:
    """CIE76 ΔE of each pixel, (height, width)."""
    return np.asarray(np.linalg.norm(lab(before) - lab(after), axis=2))


_TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
) / np.array([[0.95047], [1.0], [1.08883]])
"""Linear sRGB to XYZ relative to the white point D65."""
_LINEAR = np.where(
    np.arange(256) / 255 <= 0.04045,
    np.arange(256) / 255 / 12.92,
    ((np.arange(256) / 255 + 0.055) / 1.055) ** 2.4,
)


def lab(image: NDArray[np.uint8]) -> Floats:
    """CIE L*a*b* of sRGB pixels.

    >>> (lab(np.array([[[255, 255, 255]]], np.uint8)).round(1) + 0).tolist()
    [[[100.0, 0.0, 0.0]]]
    """
    xyz = _LINEAR[image] @ _TO_XYZ.T
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    x, y, z = np.moveaxis(f, -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)
