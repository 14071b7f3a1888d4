"""What an editor gave back, laid over the photograph it was given: size, shift, colours.

Editors of all kinds return other sizes, move everything by some pixels and change colours where
nothing was to change. Outside of the region that may change the photograph is known, so all of this
can be measured there, undone, and what is left be measured again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from groundfault.building.fit import Fit, fit_to

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Pixels = NDArray[np.uint8]
    Mask = NDArray[np.bool_]

__all__ = ["Drift", "Registered", "drift_outside", "register", "registered_reply"]

MOST_SHIFT = 0.1
"""Of a side: what is moved farther is no copy of the photograph any more."""
SOFT_PX = 8.0
"""How softly the region is faded out: a hard border would stand still in both pictures."""
LOW_PASS = 0.2
"""Of the sampling frequency; what is finer is noise after an editor has drawn it again."""
MIN_PEAK = 0.03
"""Height of the correlation's peak from which on a shift is believed; two unlike pictures of noise
reach 0.01."""
MIN_DETAIL = 1.0
"""Variance of grey values below which a picture is flat: nothing in it can be seen to move."""
CHANGED = 3
"""Of 255: two values differ from here on; JPEG alone gives less for most pixels."""
MIN_TILE_SHARE = 0.4
"""Of a tile's area that must be outside the region for its own shift to be measured."""
_GREY = np.array([0.299, 0.587, 0.114])


class Drift(msgspec.Struct, frozen=True, kw_only=True):
    """How much a picture differs from the photograph where it should not."""

    mean: float
    """Of absolute differences, in steps of 255."""
    changed_share: float
    """Of pixels that differ by `CHANGED` or more in a channel."""
    psnr_db: float | None
    """None where nothing differs."""


class Registered(msgspec.Struct, frozen=True, kw_only=True):
    """A reply laid over its photograph."""

    image: Any
    """(height, width, 3) uint8, of the photograph's size."""
    shift_xy: tuple[float, float]
    """By how many pixels the reply was moved, right and down; undone in `image`."""
    residual_px: float | None
    """The largest shift that any quarter of the picture has left; None where none has enough
    detail to tell."""
    gains: tuple[float, float, float]
    offsets: tuple[float, float, float]
    """Colours outside the region were gain·original + offset; undone in `image`."""
    before: Drift
    """Outside the region, as the reply came."""
    after: Drift
    resized_from: tuple[int, int] | None = None
    """(height, width) of a reply that came in another size."""
    laid_as: str = ""
    """How a reply of another shape was laid over the canvas."""

    @property
    def details(self) -> dict[str, str]:
        """For `EditedPicture.details` and the checks."""
        residual = "" if self.residual_px is None else f"{self.residual_px:.2f}"
        found = {
            "shift_px": f"{self.shift_xy[0]:.2f} {self.shift_xy[1]:.2f}",
            "residual_px": residual,
            "gains": " ".join(f"{value:.3f}" for value in self.gains),
            "offsets": " ".join(f"{value:.1f}" for value in self.offsets),
            "drift_before": f"{self.before.mean:.2f}",
            "drift_after": f"{self.after.mean:.2f}",
            "changed_outside_before": f"{self.before.changed_share:.4f}",
        }
        if self.resized_from:
            height_px, width_px = self.resized_from
            found |= {"reply_px": f"{width_px}x{height_px}", "laid_as": self.laid_as}
        return found


def registered_reply(
    original: Pixels, reply: Pixels, region: Mask, fit: Fit, *, colours: bool = True
) -> Registered:
    """A reply on an editor's canvas, or of whatever size it came in, laid over its photograph.

    A reply of the canvas's shape is resized; one of another shape is laid over it in each way that
    a service may have made it (stretched, cropped, letterboxed, without our bars), and the way that
    fits the photograph best outside the region is taken.
    """
    if reply.shape[:2] == tuple(fit.canvas_px):
        return register(original, fit.picture_back(reply, original), region, colours=colours)
    ways = [
        (name, register(original, laid, region | ~shown, colours=colours))
        for name, laid, shown in _ways(original, reply, fit)
    ]
    name, best = min(ways, key=lambda way: way[1].after.mean)
    height_px, width_px = reply.shape[:2]
    return msgspec.structs.replace(best, resized_from=(height_px, width_px), laid_as=name)


def _ways(original: Pixels, reply: Pixels, fit: Fit) -> Iterator[tuple[str, Pixels, Mask]]:
    """(name, the photograph as the reply shows it, which pixels it shows) for each way to lie on
    the canvas."""
    size = (reply.shape[0], reply.shape[1])
    canvas = fit.canvas_px
    stretched = fit_to(size, canvas, "stretch").picture(reply)
    yield "resized", fit.picture_back(stretched, original), fit.covered
    if abs(np.log((size[1] / size[0]) / (canvas[1] / canvas[0]))) < 0.01:
        return
    bare = fit_to(size, fit.size_px, "stretch")
    yield "without bars", bare.picture(reply), np.ones(fit.size_px, bool)
    for mode in ("crop", "letterbox"):
        made = fit_to(canvas, size, mode)  # as the service made its reply from our canvas
        back = made.picture_back(reply, fit.picture(original))
        yield mode, fit.picture_back(back, original), fit.mask_back(made.covered)


def register(original: Pixels, reply: Pixels, region: Mask, *, colours: bool = True) -> Registered:
    """A reply of the photograph's size with its shift and, if asked for, its colours undone, both
    measured outside the region. A shift that does not bring the two nearer is not undone."""
    if reply.shape != original.shape or region.shape != original.shape[:2]:
        raise ValueError(f"{reply.shape} and {region.shape} do not fit {original.shape}")
    outside = ~region
    before = drift_outside(original, reply, region)
    gains, offsets = _colours(original, reply, outside)
    plain = _recoloured(reply, gains, offsets)
    shift = _shift(_grey(original), _grey(plain), outside)
    moved = _moved(reply, shift)
    if _error(original, moved, outside) >= _error(original, reply, outside):
        shift, moved = (0.0, 0.0), reply
    gains, offsets = _colours(original, moved, outside)
    image = _recoloured(moved, gains, offsets) if colours else moved
    return Registered(
        image=image,
        shift_xy=shift,
        residual_px=_residual(_grey(original), _grey(_recoloured(moved, gains, offsets)), outside),
        gains=gains,
        offsets=offsets,
        before=before,
        after=drift_outside(original, image, region),
    )


def drift_outside(original: Pixels, picture: Pixels, region: Mask) -> Drift:
    """How a picture differs from the photograph outside a region; nothing where there is none."""
    outside = ~region
    if not outside.any():
        return Drift(mean=0.0, changed_share=0.0, psnr_db=None)
    apart = np.abs(original[outside].astype(np.int16) - picture[outside])
    square = float(np.mean(apart.astype(np.float64) ** 2))
    return Drift(
        mean=float(apart.mean()),
        changed_share=float(np.mean(apart.max(axis=1) >= CHANGED)),
        psnr_db=float(10 * np.log10(255**2 / square)) if square else None,
    )


def _grey(pixels: Pixels) -> Floats:
    grey: Floats = pixels.astype(np.float64) @ _GREY
    return grey


def _error(original: Pixels, picture: Pixels, outside: Mask) -> float:
    """Mean difference outside once colours are alike; the border is left out, where a shift has
    nothing to show."""
    inner = outside.copy()
    margin = max(1, round(0.03 * min(outside.shape)))
    inner[:margin] = inner[-margin:] = inner[:, :margin] = inner[:, -margin:] = False
    if not inner.any():
        return 0.0
    gains, offsets = _colours(original, picture, inner)
    alike = _recoloured(picture, gains, offsets)
    return float(np.abs(original[inner].astype(np.int16) - alike[inner]).mean())


def _shift(grey: Floats, other: Floats, outside: Mask) -> tuple[float, float]:
    """By how much the second is moved to the right and down, by phase correlation."""
    found = _correlated(grey, other, _window(outside))
    return (0.0, 0.0) if found is None else found


def _window(outside: Mask) -> Floats:
    """Falls softly to 0 at the picture's edges and in the region."""
    from scipy import ndimage

    height, width = outside.shape
    edges = np.outer(np.hanning(height + 2)[1:-1], np.hanning(width + 2)[1:-1])
    kept = ndimage.gaussian_filter(outside.astype(np.float64), SOFT_PX, mode="nearest")
    window: Floats = edges * np.clip(2 * kept - 1, 0, 1)
    return window


def _correlated(grey: Floats, other: Floats, window: Floats) -> tuple[float, float] | None:
    """(right, down), None where the two have too little in common."""
    from scipy import fft

    total = window.sum()
    if total <= 0:
        return None
    even = [(each - (each * window).sum() / total) * window for each in (grey, other)]
    if min(float((each**2).sum() / total) for each in even) < MIN_DETAIL:
        return None
    first, second = map(fft.rfft2, even)
    cross = np.conj(first) * second
    strength = np.abs(cross)
    rows = fft.fftfreq(grey.shape[0])[:, None]
    columns = fft.rfftfreq(grey.shape[1])[None, :]
    smooth = np.exp(-(rows**2 + columns**2) / (2 * (LOW_PASS / 2) ** 2))
    smooth *= strength > 1e-9 * max(float(strength.max()), 1e-9)
    peaks = fft.irfft2(cross / np.maximum(strength, 1e-12) * smooth, s=grey.shape)
    down, right = np.unravel_index(int(peaks.argmax()), peaks.shape)
    if peaks[down, right] * peaks.size < MIN_PEAK * _full_peak(smooth, grey.shape):
        return None
    shift = _refined(peaks, int(down), int(right))
    near = all(
        abs(moved) <= MOST_SHIFT * side for moved, side in zip(shift, grey.shape[::-1], strict=True)
    )
    return shift if near else None


def _full_peak(smooth: Floats, shape: tuple[int, ...]) -> float:
    """The height of the peak of two equal pictures, before it is divided by their size."""
    twice = smooth[:, 1 : (shape[1] + 1) // 2].sum()
    return float(smooth.sum() + twice)


def _refined(peaks: Floats, down: int, right: int) -> tuple[float, float]:
    """The top of the peak between pixels: it is a bell, whose logarithm is a parabola."""
    height, width = peaks.shape
    column = [peaks[(down + k) % height, right] for k in (-1, 0, 1)]
    row = [peaks[down, (right + k) % width] for k in (-1, 0, 1)]
    moved_down = (down + height // 2) % height - height // 2 + _vertex(column)
    moved_right = (right + width // 2) % width - width // 2 + _vertex(row)
    return moved_right, moved_down


def _vertex(values: list[Any]) -> float:
    """Where a parabola through the logarithms of three values is highest, from the middle one."""
    if min(values) <= 0:
        return 0.0
    before, middle, after = np.log(values)
    bend = before - 2 * middle + after
    return float(np.clip((before - after) / (2 * bend), -0.5, 0.5)) if bend < 0 else 0.0


def _moved(pixels: Pixels, shift: tuple[float, float]) -> Pixels:
    """The picture with a shift undone; what comes in at its edges repeats them."""
    right, down = shift
    if max(abs(right), abs(down)) < 0.02:
        return pixels
    from scipy import ndimage

    whole = abs(right - round(right)) < 0.02 and abs(down - round(down)) < 0.02
    back = (-round(down), -round(right)) if whole else (-down, -right)
    channels = [
        ndimage.shift(
            pixels[..., k].astype(np.float32), back, order=0 if whole else 3, mode="nearest"
        )
        for k in range(3)
    ]
    return _as_pixels(np.stack(channels, -1))


def _residual(grey: Floats, other: Floats, outside: Mask) -> float | None:
    """The largest shift among the quarters of the picture: what one shift of the whole could not
    undo, as a zoom."""
    height, width = grey.shape
    found = []
    for rows in (slice(0, height // 2), slice(height // 2, None)):
        for columns in (slice(0, width // 2), slice(width // 2, None)):
            tile = outside[rows, columns]
            if tile.size == 0 or tile.mean() < MIN_TILE_SHARE:
                continue
            shift = _correlated(grey[rows, columns], other[rows, columns], _window(tile))
            if shift is not None:
                found.append(float(np.hypot(*shift)))
    return max(found) if found else None


Triple = tuple[float, float, float]


def _colours(original: Pixels, picture: Pixels, outside: Mask) -> tuple[Triple, Triple]:
    """Gain and offset of each channel that make the original the picture, by least squares twice:
    the second time without the tenth that fits worst, which was edited or moved."""
    if np.count_nonzero(outside) < 64:
        return (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)
    true, seen = original[outside].astype(np.float64), picture[outside].astype(np.float64)
    lines = [_line(true[:, k], seen[:, k]) for k in range(3)]
    gains, offsets = zip(*lines, strict=True)
    return gains, offsets


def _line(true: Floats, seen: Floats) -> tuple[float, float]:
    gain, offset = _least_squares(true, seen)
    apart = np.abs(gain * true + offset - seen)
    kept = apart <= np.quantile(apart, 0.9)
    return _least_squares(true[kept], seen[kept])


def _least_squares(true: Floats, seen: Floats) -> tuple[float, float]:
    spread = true.var()
    if spread < 1.0:  # one flat colour says nothing about a gain
        return 1.0, float(seen.mean() - true.mean())
    gain = float(np.clip(((true - true.mean()) * (seen - seen.mean())).mean() / spread, 0.25, 4.0))
    return gain, float(seen.mean() - gain * true.mean())


def _recoloured(picture: Pixels, gains: Triple, offsets: Triple) -> Pixels:
    """The picture with a change of colours undone."""
    if all(abs(gain - 1) < 0.004 for gain in gains) and all(abs(off) < 0.5 for off in offsets):
        return picture
    back = picture.astype(np.float32) - np.asarray(offsets, np.float32)
    return _as_pixels(back / np.asarray(gains, np.float32))


def _as_pixels(values: Any) -> Pixels:
    return np.asarray(np.clip(np.rint(values), 0, 255), np.uint8)
