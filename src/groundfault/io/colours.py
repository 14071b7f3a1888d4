"""Colours as people see them: CIE L*a*b*, and how far two of them are apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["VISIBLE", "colour_difference", "differing", "lab"]

VISIBLE = 5.0
"""ΔE from which a person sees that a colour differs without looking for it."""


def colour_difference(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> Floats:
    """CIE76 ΔE of each pixel, (height, width)."""
    apart = differing(before, after)
    places = np.flatnonzero(apart)
    both = (_roots(image.reshape(-1, 3).take(places, axis=0)) for image in (before, after))
    x, y, z = (one - other for one, other in zip(*both, strict=True))
    found = np.zeros(apart.size)
    found[places] = np.sqrt((116 * y) ** 2 + (500 * (x - y)) ** 2 + (200 * (y - z)) ** 2)
    return found.reshape(apart.shape)


def differing(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which pixels are not the same to the bit, (height, width)."""
    bits = before ^ after
    return np.asarray((bits[..., 0] | bits[..., 1] | bits[..., 2]) != 0)


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
    x, y, z = _roots(image)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


_PARTS = _TO_XYZ[:, :, None] * _LINEAR
"""What each level of each channel adds to X, Y and Z: (3, 3 channels, 256)."""


def _roots(image: NDArray[np.uint8]) -> tuple[Floats, Floats, Floats]:
    """X, Y and Z by the white point, each through the cube root that L*a*b* is made of."""
    red, green, blue = (image[..., channel].astype(np.intp) for channel in range(3))
    x, y, z = (_root(r.take(red) + g.take(green) + b.take(blue)) for r, g, b in _PARTS)
    return x, y, z


def _root(value: Floats) -> Floats:
    dark = value / (3 * (6 / 29) ** 2) + 4 / 29
    return np.where(value <= (6 / 29) ** 3, dark, np.cbrt(value))
