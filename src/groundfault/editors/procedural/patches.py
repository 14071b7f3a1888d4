"""Holes filled with patches of the same photograph (PatchMatch, coarse to fine): free ones, or
those that are most like what a network has drawn there."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
import scipy.ndimage as ndi
from numpy.typing import NDArray

from groundfault.editors.procedural.edges import Floats, Mask, box_of, floats, grown

__all__ = ["patched", "unlikeness"]

RADIUS_PX = 3
MOST_TARGETS = 26_000
"""Patches that are sought at once; a finer picture takes over what a coarser one has found."""
ROUNDS = 4
FINAL_REACH = 0.8
"""How far patches are mixed in the end, in squared pixels: more would blur grass and boards."""
MOST_WRONG = 0.15
"""Differences in light that are evened out; larger ones are different things."""
SAME_ROW = 0.35
"""How much a patch from another height costs beside its colours: ground stays below sky."""
THINNEST_PX, THINNEST_DRAWN_PX = 3, 8
"""How thin a hole is in the coarsest picture: thicker where a network has drawn what goes there."""
SOFT_PX = 1.5
"""How much a drawing is smoothed that patches are compared with: its large shapes count, its grain
does not."""
MOST_UNLIKE = 0.03
"""The largest squared distance between a patch and the drawing that still counts: what is like
nothing around the hole is an invention, and does not bind."""


class _Level(NamedTuple):
    image: Floats
    hole: Mask
    targets: NDArray[np.int64]
    """Rows and columns of the pixels whose patch reaches into the hole, (n, 2)."""
    sources: Mask
    """Pixels whose patch lies outside of the hole."""
    number: NDArray[np.int64]
    """(h, w): which target a pixel is, −1 for none."""
    soft: Floats | None
    """The picture with what is drawn in its hole, smoothed."""


_SIDE = np.arange(-RADIUS_PX, RADIUS_PX + 1)
_PATCH = np.array([(y, x) for y in _SIDE for x in _SIDE])
_COMPARED = _PATCH[(_PATCH.sum(1) % 2) == 0]
"""Half of a patch tells patches apart as well as all of it."""


def patched(
    photo: Floats, hole: Mask, *, seed: int, others: Mask | None, drawn: Floats | None = None
) -> Floats:
    """The photograph with a hole filled within a window around it, from a coarse picture to the
    photograph itself. Of `others` no patch is copied. Where a network has `drawn` what goes there,
    patches are sought that look like it: they have the photograph's grain, and its large shapes."""
    box = _window(hole)
    filled = _pyramid_fill(
        _framed(photo[box]),
        np.pad(hole[box], RADIUS_PX),
        _barred(photo[box], hole[box], None if others is None else others[box]),
        None if drawn is None else _framed(drawn[box]),
        np.random.default_rng(seed),
    )
    found = photo.copy()
    found[box] = filled[RADIUS_PX:-RADIUS_PX, RADIUS_PX:-RADIUS_PX]
    return found


def unlikeness(
    photo: Floats, hole: Mask, drawn: Floats, *, seed: int, others: Mask | None
) -> float:
    """How unlike the surroundings of a hole is what a network has drawn in it: the root mean square
    of the distances between its patches, in a coarse picture, and those that are most like them. It
    is low where grass was drawn in a meadow, and high where a thing was drawn that is nowhere
    else."""
    box = _window(hole)
    picture, gap = _coarsened(_framed(photo[box]), np.pad(hole[box], RADIUS_PX), THINNEST_DRAWN_PX)[
        -1
    ]
    whole = _framed(drawn[box])
    barred = _barred(photo[box], hole[box], None if others is None else others[box])
    level = _level(picture, gap, barred, whole)
    if not level.sources.any() or not len(level.targets):
        return 1.0
    current = floats(np.where(gap[..., None], _reduced(whole, picture), picture))
    rng = np.random.default_rng(seed)
    nearest = _random_sources(level, rng)
    for _ in range(ROUNDS):
        nearest, cost = _improved(level, nearest, current, rng)
    return float(np.sqrt(cost.mean()))


def _window(hole: Mask) -> tuple[slice, slice]:
    """Where patches for a hole are taken from."""
    rows, columns = box_of(hole)
    side = max(rows.stop - rows.start, columns.stop - columns.start)
    return box_of(hole, int(0.9 * side) + 32)


def _barred(window: Floats, hole: Mask, others: Mask | None) -> Mask:
    """What is not copied, with a margin."""
    unwanted = _like_what_goes(window, hole)
    return np.pad(unwanted if others is None else unwanted | others, RADIUS_PX)


def _framed(image: Floats) -> Floats:
    """A picture with a margin that mirrors it, so that patches at its border are whole."""
    pad = RADIUS_PX
    return np.pad(image, ((pad, pad), (pad, pad), (0, 0)), mode="reflect")


def _like_what_goes(image: Floats, hole: Mask) -> Mask:
    """What looks like the hole's own content and unlike its surroundings: another thing of its
    kind, which must not be copied into the hole."""
    lab = cv2.cvtColor(image, cv2.COLOR_RGB2LAB)
    bins = (lab / floats([12.6, 16, 16]) + floats([0, 8, 8])).astype(int)
    code = (np.clip(bins, 0, 15) * (256, 16, 1)).sum(2)
    rows, columns = box_of(hole)
    ring = grown(
        hole, max(int(0.12 * max(rows.stop - rows.start, columns.stop - columns.start)), 6)
    )
    ring &= ~hole

    def share(where: Mask) -> Floats:
        counts = np.bincount(code[where], minlength=4096).reshape(16, 16, 16).astype(np.float32)
        counts = ndi.gaussian_filter(counts, 0.7)
        return np.asarray(counts.ravel() / max(float(counts.sum()), 1.0))

    if not ring.any():
        return np.zeros_like(hole)
    foreign = (share(hole)[code] > 2.5 * share(ring)[code] + 1e-4).astype(np.float32)
    return np.asarray((cv2.blur(foreign, (11, 11)) > 0.5) & ~ring)


def _pyramid_fill(
    image: Floats, hole: Mask, barred: Mask, drawn: Floats | None, rng: np.random.Generator
) -> Floats:
    levels = _coarsened(image, hole, THINNEST_PX if drawn is None else THINNEST_DRAWN_PX)
    guess = _smooth_fill(*levels[-1]) if drawn is None else _reduced(drawn, levels[-1][0])
    nearest: NDArray[np.int64] | None = None
    before: _Level | None = None
    for picture, gap in reversed(levels):
        level = _level(picture, gap, barred, drawn)
        if not level.sources.any() or not len(level.targets):
            return floats(cv2.resize(guess, image.shape[1::-1]))
        if before is None or nearest is None:
            nearest = _random_sources(level, rng)
            current = floats(np.where(gap[..., None], guess, picture))
            for _ in range(0 if drawn is None else ROUNDS):  # what is drawn is not changed yet
                nearest, _ = _improved(level, nearest, current, rng)
        else:
            nearest = _enlarged(before, nearest, level, rng)
            current = _voted(level, nearest, None)
        rounds = ROUNDS if len(level.targets) < MOST_TARGETS / 3 else 1
        if len(level.targets) <= MOST_TARGETS:
            for _ in range(rounds):
                nearest, cost = _improved(level, nearest, current, rng)
                current = _voted(level, nearest, cost)
        before, guess = level, current
    if before is not None and nearest is not None:
        guess = _evened(before, *_mixed(before, nearest, None, FINAL_REACH))
    return guess


def _coarsened(image: Floats, hole: Mask, thinnest_px: float) -> list[tuple[Floats, Mask]]:
    """A picture and its hole in half the size, and again, until the hole is thin."""
    levels = [(image, hole)]
    while min(levels[-1][0].shape[:2]) > 40 and _thickness(levels[-1][1]) > thinnest_px:
        levels.append(_halved(*levels[-1]))
    return levels


def _reduced(image: Floats, like: Floats) -> Floats:
    """A picture as small as another one."""
    return floats(cv2.resize(image, like.shape[1::-1], interpolation=cv2.INTER_AREA))


def _thickness(hole: Mask) -> float:
    return float(cv2.distanceTransform(np.pad(hole, 1).astype(np.uint8), cv2.DIST_L2, 3).max())


def _halved(image: Floats, hole: Mask) -> tuple[Floats, Mask]:
    """A picture at half the size, its hole's colours left out of the means."""
    size = (max(image.shape[1] // 2, 1), max(image.shape[0] // 2, 1))
    known = (~hole).astype(np.float32)
    weight = cv2.resize(known, size, interpolation=cv2.INTER_AREA)
    small = cv2.resize(image * known[..., None], size, interpolation=cv2.INTER_AREA)
    return (
        (small / np.maximum(weight, 1e-3)[..., None]).astype(np.float32),
        np.asarray(weight < 0.5),
    )


def _smooth_fill(image: Floats, hole: Mask) -> Floats:
    """Each pixel of a hole as the mean of those around, widening."""
    found = np.where(hole[..., None], 0, image).astype(np.float32)
    known = (~hole).astype(np.float32)
    radius = 1
    while (known < 1e-3).any() and radius < 4 * max(hole.shape):
        side = (2 * radius + 1,) * 2
        weight = cv2.blur((~hole).astype(np.float32), side)
        mean = cv2.blur(np.where(hole[..., None], 0, image).astype(np.float32), side)
        fresh = (known < 1e-3) & (weight > 1e-3)
        found[fresh] = (mean / np.maximum(weight, 1e-3)[..., None])[fresh]
        known[fresh] = 1
        radius *= 2
    return found


def _level(image: Floats, hole: Mask, barred: Mask, drawn: Floats | None) -> _Level:
    square = np.ones((2 * RADIUS_PX + 1,) * 2, np.uint8)
    reached = cv2.dilate(hole.astype(np.uint8), square) > 0
    inside = np.zeros_like(hole)
    inside[RADIUS_PX:-RADIUS_PX, RADIUS_PX:-RADIUS_PX] = True
    targets = np.argwhere(reached & inside)
    number = np.full(hole.shape, -1, np.int64)
    number[tuple(targets.T)] = np.arange(len(targets))
    sources = ~reached & inside
    small = cv2.resize(barred.astype(np.uint8), hole.shape[::-1], interpolation=cv2.INTER_NEAREST)
    if (sources & (small == 0)).sum() > 0.15 * sources.sum():
        sources &= small == 0
    soft = None
    if drawn is not None:
        whole = floats(np.where(hole[..., None], _reduced(drawn, image), image))
        soft = floats(cv2.GaussianBlur(whole, (0, 0), SOFT_PX))
    return _Level(image, hole, targets, sources, number, soft)


def _random_sources(level: _Level, rng: np.random.Generator) -> NDArray[np.int64]:
    known = np.argwhere(level.sources)
    return np.asarray(known[rng.integers(len(known), size=len(level.targets))])


def _enlarged(
    coarse: _Level, nearest: NDArray[np.int64], level: _Level, rng: np.random.Generator
) -> NDArray[np.int64]:
    """What was found in a picture of half the size, in the larger one."""
    half = np.minimum(level.targets // 2, np.array(coarse.hole.shape) - 1)
    which = coarse.number[tuple(half.T)]
    moved = _random_sources(level, rng)
    had = which >= 0
    moved[had] = 2 * nearest[which[had]] + level.targets[had] % 2
    return _within(level, moved, _random_sources(level, rng))


def _within(
    level: _Level, wanted: NDArray[np.int64], instead: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Wanted sources where they are some, else others."""
    top = np.array(level.sources.shape) - 1
    clipped = np.clip(wanted, 0, top)
    fits = level.sources[tuple(clipped.T)]
    return np.where(fits[:, None], clipped, instead)


def _improved(
    level: _Level, nearest: NDArray[np.int64], current: Floats, rng: np.random.Generator
) -> tuple[NDArray[np.int64], Floats]:
    """One round of PatchMatch, all targets at once: a neighbour's source moved along, then sources
    at random around the best, ever nearer."""
    flat = current.reshape(-1, 3)
    width = current.shape[1]
    reach = _COMPARED[:, 0] * width + _COMPARED[:, 1]
    goals = level.targets[:, 0] * width + level.targets[:, 1]
    here = flat[goals[:, None] + reach]
    tall = level.hole.shape[0]

    smooth = None if level.soft is None else level.soft.reshape(-1, 3)

    def cost_of(sources: NDArray[np.int64]) -> Floats:
        places = sources[:, 0] * width + sources[:, 1]
        there = flat[places[:, None] + reach]
        there -= here
        apart = np.einsum("nkc,nkc->n", there, there) / len(reach)
        if smooth is not None:
            unlike = ((smooth[places] - smooth[goals]) ** 2).sum(1)
            apart += np.minimum(unlike, MOST_UNLIKE)
        rise = (sources[:, 0] - level.targets[:, 0]) / tall
        return np.asarray(apart + SAME_ROW * 0.05 * rise**2, np.float32)

    cost = cost_of(nearest)

    def keep_better(wanted: NDArray[np.int64]) -> None:
        nonlocal nearest, cost
        tried = _within(level, wanted, nearest)
        new = cost_of(tried)
        better = new < cost
        nearest = np.where(better[:, None], tried, nearest)
        cost = np.where(better, new, cost)

    for step in ((0, 1), (1, 0), (0, -1), (-1, 0)):
        beside = level.number[tuple((level.targets - step).T)]
        wanted = np.where((beside >= 0)[:, None], nearest[beside] + step, nearest)
        keep_better(wanted)
    radius = float(max(level.hole.shape)) / 2
    while radius > 2:
        keep_better(nearest + np.rint(rng.uniform(-radius, radius, nearest.shape)).astype(np.int64))
        radius /= 4
    return nearest, cost


def _voted(level: _Level, nearest: NDArray[np.int64], cost: Floats | None) -> Floats:
    """The picture with the hole's colours as the patches that cover them have it."""
    mean, _ = _mixed(level, nearest, cost, 5.0)
    return np.asarray(np.where(level.hole[..., None], mean, level.image), np.float32)


def _mixed(
    level: _Level, nearest: NDArray[np.int64], cost: Floats | None, reach: float
) -> tuple[Floats, Mask]:
    """What the patches that cover a pixel have there, better matches first and those whose middle
    is near: the shorter the reach, the sharper. With where there is any."""
    width = level.image.shape[1]
    flat = level.image.reshape(-1, 3)
    to = level.targets[:, 0] * width + level.targets[:, 1]
    from_ = nearest[:, 0] * width + nearest[:, 1]
    weight = np.ones(len(to), np.float32)
    if cost is not None:
        scale = float(np.percentile(cost, 60)) + 1e-5
        weight = np.exp(-np.minimum(cost / scale, 8)).astype(np.float32)
    total = np.zeros((flat.shape[0], 3), np.float32)
    weights = np.zeros(flat.shape[0], np.float32)
    for down, right in _PATCH:
        shift = int(down) * width + int(right)
        near = weight * floats(np.exp(-(down * down + right * right) / reach))
        total[to + shift] += flat[from_ + shift] * near[:, None]
        weights[to + shift] += near
    mean = (total / np.maximum(weights, 1e-6)[:, None]).reshape(level.image.shape)
    return floats(mean), np.asarray((weights > 1e-4).reshape(level.hole.shape))


def _evened(level: _Level, mean: Floats, covered: Mask) -> Floats:
    """The filled picture, its large-scale light corrected: what the patches get wrong along the
    hole's edge, where the photograph is known, they get wrong inside too."""
    known = (covered & ~level.hole).astype(np.float32)
    wrong = np.clip(level.image - mean, -MOST_WRONG, MOST_WRONG) * known[..., None]
    inside = np.zeros_like(mean)
    total = np.full(known.shape, 1e-6, np.float32)
    for sigma in (3.0, 6.0, 12.0, 24.0, 48.0):
        weight = cv2.GaussianBlur(known, (0, 0), sigma)
        share = weight * sigma**-1.5
        smooth = cv2.GaussianBlur(wrong, (0, 0), sigma) / (weight + 1e-5)[..., None]
        inside += smooth * share[..., None]
        total += share
    right = mean + inside / total[..., None]
    return np.asarray(
        np.where(level.hole[..., None], np.clip(right, 0, 1), level.image), np.float32
    )
