"""A coarse soft mask at a picture's own size, with the picture's own edges.

The fast guided filter (He & Sun, arXiv:1505.00996): in every small window the mask is fitted as a
linear function of the colours, mask ≈ a · colour + b, at the coarse size; a and b are enlarged,
and the colours of the large picture say the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]
    Floats = NDArray[np.float32]
    Doubles = NDArray[np.float64]

__all__ = ["guided_enlarge"]

RADIUS = 2
"""Of the windows, in coarse pixels."""
LEAST_VARIANCE = 3e-5
"""Colours that differ by less than about a two-hundredth are one colour."""
PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def guided_enlarge(mask: Floats, small: Floats, image: Bytes) -> Floats:
    """mask (s, s) and small (s, s, 3), the picture at that size from 0 to 255, to (h, w) of
    image (h, w, 3)."""
    colour = small.transpose(2, 0, 1).astype(np.float64) / 255.0
    slopes, offset = _fitted(mask.astype(np.float64), colour)
    height, width = image.shape[:2]
    large = _enlarged(offset, height, width)
    for channel in range(3):
        large += _enlarged(slopes[channel] / 255.0, height, width) * image[..., channel]
    return large


def _fitted(mask: Doubles, colour: Doubles) -> tuple[Doubles, Doubles]:
    """Slopes (3, s, s) and offset (s, s) of the mask as a function of the colours, smoothed."""
    products = [colour[i] * colour[j] for i, j in PAIRS]
    means = _box(np.stack([*colour, mask, *products, *(colour * mask)]))
    centre, level, second, along = means[:3], means[3], means[4:10], means[10:]
    xx, xy, xz, yy, yz, zz = (
        second[n] - centre[i] * centre[j] + LEAST_VARIANCE * (i == j)
        for n, (i, j) in enumerate(PAIRS)
    )
    u, v, w = along - centre * level
    # Cramer's rule: the covariances of three colours are a symmetric 3 × 3 matrix.
    a, b, c = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
    d, e, f = xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy
    size = xx * a + xy * b + xz * c
    slopes = np.stack([a * u + b * v + c * w, b * u + d * v + e * w, c * u + e * v + f * w]) / size
    smooth = _box(np.concatenate([slopes, (level - (slopes * centre).sum(0))[None]]))
    return smooth[:3], smooth[3]


def _box(planes: Doubles) -> Doubles:
    """Means over windows, (n, h, w); at the border the outermost pixels count again."""
    side = 2 * RADIUS + 1
    sums = np.pad(planes, ((0, 0), (RADIUS + 1, RADIUS), (RADIUS + 1, RADIUS)), mode="edge")
    sums = sums.cumsum(1)
    sums = (sums[:, side:] - sums[:, :-side]).cumsum(2)
    means: Doubles = (sums[:, :, side:] - sums[:, :, :-side]) / side**2
    return means


def _enlarged(plane: Doubles, height: int, width: int) -> Floats:
    from PIL import Image

    coarse = Image.fromarray(plane.astype(np.float32))
    return np.array(coarse.resize((width, height), Image.Resampling.BILINEAR))
