"""Coarse soft masks at a picture's own size, with the picture's own edges.

The fast guided filter (He & Sun, arXiv:1505.00996): in every small window a mask is fitted as a
linear function of the colours, mask ≈ a · colour + b, at the coarse size; a and b are enlarged,
and the colours of the large picture say the rest. What depends on the picture alone is worked out
once for all its masks, and a mask costs no more than the part of the picture that it may touch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]
    Floats = NDArray[np.float32]
    Doubles = NDArray[np.float64]

__all__ = ["Guide"]

RADIUS = 3
"""Of the windows, in coarse pixels."""
LEAST_VARIANCE = 1e-6
"""Colours that differ by less than about a thousandth are one colour."""
PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


class Guide:
    """A picture (h, w, 3) whose edges masks take; `small` (s, s, 3) is the picture at the masks'
    size, from 0 to 255."""

    def __init__(self, small: Floats, image: Bytes) -> None:
        self.image = image
        self.colour: Doubles = small.transpose(2, 0, 1).astype(np.float64) / 255.0
        means = _box(np.stack([*self.colour, *(self.colour[i] * self.colour[j] for i, j in PAIRS)]))
        self.centre = means[:3]
        xx, xy, xz, yy, yz, zz = (
            means[3 + n] - self.centre[i] * self.centre[j] + LEAST_VARIANCE * (i == j)
            for n, (i, j) in enumerate(PAIRS)
        )
        # Cramer's rule: the covariances of three colours are a symmetric 3 × 3 matrix.
        a, b, c = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
        d, e, f = xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy
        self.inverse = np.stack([[a, b, c], [b, d, e], [c, e, f]]) / (xx * a + xy * b + xz * c)

    def enlarged(self, mask: Floats) -> tuple[tuple[slice, slice], Floats]:
        """A mask (s, s), 0 where nothing is known of it, to rows and columns of the picture, and
        the mask there; elsewhere it is 0."""
        near = self._near(mask)
        plane = self._fitted(mask.astype(np.float64), near)
        (height, width), (rows, columns) = self.image.shape[:2], mask.shape
        at = (_scaled(near[0], rows, height), _scaled(near[1], columns, width))
        box = (
            at[1].start * columns / width - near[1].start,
            at[0].start * rows / height - near[0].start,
            at[1].stop * columns / width - near[1].start,
            at[0].stop * rows / height - near[0].start,
        )
        size = (at[1].stop - at[1].start, at[0].stop - at[0].start)
        colours = self.image[at]
        large = _enlarged(plane[3], size, box)
        for channel in range(3):
            large += _enlarged(plane[channel] / 255.0, size, box) * colours[..., channel]
        return at, large

    def _near(self, mask: Floats) -> tuple[slice, slice]:
        """Where the mask has an effect: two windows around, and pixels to enlarge from."""
        reach = 2 * RADIUS + 2
        rows, columns = np.asarray(mask.any(1)), np.asarray(mask.any(0))
        return _span(rows, reach), _span(columns, reach)

    def _fitted(self, mask: Doubles, near: tuple[slice, slice]) -> Doubles:
        """(4, …): slopes and offset of the mask as a function of the colours, smoothed."""
        part, colour = mask[near], self.colour[:, *near]
        centre, inverse = self.centre[:, *near], self.inverse[:, :, *near]
        means = _box(np.concatenate([part[None], colour * part]))
        along = means[1:] - centre * means[0]
        slopes = (inverse * along).sum(1)
        return _box(np.concatenate([slopes, (means[0] - (slopes * centre).sum(0))[None]]))


def _span(there: NDArray[np.bool_], reach: int) -> slice:
    (found,) = np.nonzero(there)
    if not len(found):
        return slice(0, 1)
    return slice(max(int(found[0]) - reach, 0), min(int(found[-1]) + reach + 1, len(there)))


def _scaled(part: slice, coarse: int, fine: int) -> slice:
    """The pixels of another grid that lie within this part of a coarse one, at least one."""
    start = min(-(-part.start * fine // coarse), fine - 1)
    return slice(start, max(part.stop * fine // coarse, start + 1))


def _box(planes: Doubles) -> Doubles:
    """Means over windows, (n, h, w); at the border the outermost pixels count again."""
    side = 2 * RADIUS + 1
    sums = np.pad(planes, ((0, 0), (RADIUS + 1, RADIUS), (RADIUS + 1, RADIUS)), mode="edge")
    sums = sums.cumsum(1)
    sums = (sums[:, side:] - sums[:, :-side]).cumsum(2)
    means: Doubles = (sums[:, :, side:] - sums[:, :, :-side]) / side**2
    return means


def _enlarged(
    plane: Doubles, size: tuple[int, int], box: tuple[float, float, float, float]
) -> Floats:
    from PIL import Image

    coarse = Image.fromarray(plane.astype(np.float32))
    columns, rows = coarse.size
    inside = (max(box[0], 0), max(box[1], 0), min(box[2], columns), min(box[3], rows))
    return np.array(coarse.resize(size, Image.Resampling.BILINEAR, box=inside))
