"""Holes filled with what is around them: patches of the same photograph (PatchMatch, coarse to
fine), or MI-GAN where its ONNX file is given."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
import scipy.ndimage as ndi
from numpy.typing import NDArray

from groundfault.editors.procedural.edges import Floats, Mask, box_of, floats, grown
from groundfault.editors.procedural.networks import session
from groundfault.editors.procedural.strangeness import invented, strangeness

__all__ = ["Fills", "fill", "fill_twice", "mirrored_fill", "reconciled"]

RADIUS_PX = 3
MOST_TARGETS = 26_000
"""Patches that are sought at once; a finer picture takes over what a coarser one has found."""
ROUNDS = 4
FINAL_REACH = 0.8
"""How far patches are mixed in the end, in squared pixels: more would blur grass and boards."""
MOST_WRONG = 0.15
"""Differences in light that are evened out; larger ones are different things."""
MOST_UNSEEN = 0.3
"""The share of a picture that a network may not see; beyond, it sees what is only to be hidden."""
DIFFERENT, LESS_STRANGE = 7.0, 0.85
"""From which colour distance on two fills differ, and how much less strange one must be there, as a
share of the other, to be taken instead."""
SAME_ROW = 0.35
"""How much a patch from another height costs beside its colours: ground stays below sky."""


def fill(
    photo: Floats,
    hole: Mask,
    *,
    seed: int = 0,
    migan: str = "",
    others: Mask | None = None,
    unseen: Mask | None = None,
) -> Floats:
    """The photograph with a hole filled. Outside of it no pixel changes. Of other things no patch
    is copied, and the network does not see what is `unseen`: it would go on with it. Small things
    that a network invents are filled again, with patches."""
    if not hole.any() or hole.all():
        return photo
    if migan:
        found = _by_network(photo, _gap(hole, unseen), migan)
        found = _without_inventions(photo, found, hole, _gap(hole, unseen), seed, others)
    else:
        found = _by_patches(photo, hole, seed, others)
    return _joined(photo, found, hole)


class Fills(NamedTuple):
    """A hole that a network filled twice."""

    picture: Floats
    """What both make together."""
    one: Floats
    other: Floats
    """The network's own fills, of the photograph and of its mirror image."""


def fill_twice(
    photo: Floats,
    hole: Mask,
    *,
    migan: str,
    seed: int = 0,
    others: Mask | None = None,
    unseen: Mask | None = None,
) -> Fills:
    """The photograph with a hole filled by a network that saw it twice, once in a mirror; `fill`
    tells the rest."""
    if not hole.any() or hole.all():
        return Fills(photo, photo, photo)
    gap = _gap(hole, unseen)
    one = np.where(hole[..., None], _by_network(photo, gap, migan), photo)
    other = mirrored_fill(photo, hole, migan, unseen)
    found = _without_inventions(photo, reconciled(one, other, hole), hole, gap, seed, others)
    return Fills(_joined(photo, found, hole), one, other)


def _without_inventions(
    photo: Floats, found: Floats, hole: Mask, gap: Mask, seed: int, others: Mask | None
) -> Floats:
    """A network's fill, small things that it invented filled again with patches."""
    strange = invented(np.where(gap[..., None], found, photo), hole)
    return _by_patches(floats(found), strange, seed, others) if strange.any() else found


def _joined(photo: Floats, found: Floats, hole: Mask) -> Floats:
    """A filled hole laid over the photograph with a soft edge."""
    soft = cv2.GaussianBlur(hole.astype(np.float32), (0, 0), 1.5)
    soft = np.clip((soft - 0.35) / 0.5, 0, 1)[..., None] * hole[..., None]
    return np.asarray(photo + soft * (found - photo), np.float32)


def mirrored_fill(photo: Floats, hole: Mask, migan: str, unseen: Mask | None = None) -> Floats:
    """The network's fill of the mirrored photograph, mirrored back: a second opinion. Where the
    surroundings say what goes on behind an object, both are alike; else both are invented."""
    gap = _gap(hole, unseen)[:, ::-1]
    found = _by_network(np.ascontiguousarray(photo[:, ::-1]), np.ascontiguousarray(gap), migan)
    return np.where(hole[..., None], found[:, ::-1], photo)


def reconciled(one: Floats, other: Floats, hole: Mask) -> Floats:
    """One fill of a hole, with another where both differ and the other is less strange: what a
    network invents it seldom invents twice in the same place. The seams are where both are
    alike."""
    box = box_of(hole, 12)
    here, there = (
        cv2.GaussianBlur(cv2.cvtColor(floats(some[box]), cv2.COLOR_RGB2LAB), (0, 0), 2.0)
        for some in (one, other)
    )
    apart = (np.linalg.norm(here - there, axis=2) > DIFFERENT) & hole[box]
    reach = max(int(0.03 * np.sqrt(int(hole.sum()))), 4)
    labels, count = ndi.label(grown(np.asarray(apart), reach) & hole[box])
    if not count:
        return one
    strange = []
    for some in (one, other):
        around_it, values = strangeness(some, hole)
        whole = np.zeros(hole.shape, np.float32)
        whole[around_it] = values
        strange.append(ndi.mean(whole[box], labels, np.arange(count + 1)))
    better = strange[1] < LESS_STRANGE * strange[0]
    better[0] = False
    share = np.zeros(hole.shape, np.float32)
    share[box] = better[labels]
    soft = cv2.GaussianBlur(share, (0, 0), 0.4 * reach)[..., None] * hole[..., None]
    return np.asarray(one + soft * (other - one), np.float32)


def _gap(hole: Mask, unseen: Mask | None) -> Mask:
    """What a network does not see."""
    return hole if unseen is None or (hole | unseen).mean() > MOST_UNSEEN else hole | unseen


# ---- MI-GAN


def _by_network(photo: Floats, hole: Mask, path: str) -> Floats:
    """MI-GAN's published pipeline: any size in, the same size out, 255 is what stays."""
    image = (photo * 255 + 0.5).astype(np.uint8).transpose(2, 0, 1)[None]
    stays = np.where(hole, 0, 255).astype(np.uint8)[None, None]
    network = session(path, "MI-GAN", "migan_pipeline_v2.onnx")
    found = network.run(None, {"image": np.ascontiguousarray(image), "mask": stays})[0]
    return np.asarray(found[0].transpose(1, 2, 0), np.float32) / 255


# ---- patches


class _Level(NamedTuple):
    image: Floats
    hole: Mask
    targets: NDArray[np.int64]
    """Rows and columns of the pixels whose patch reaches into the hole, (n, 2)."""
    sources: Mask
    """Pixels whose patch lies outside of the hole."""
    number: NDArray[np.int64]
    """(h, w): which target a pixel is, −1 for none."""


_SIDE = np.arange(-RADIUS_PX, RADIUS_PX + 1)
_PATCH = np.array([(y, x) for y in _SIDE for x in _SIDE])
_COMPARED = _PATCH[(_PATCH.sum(1) % 2) == 0]
"""Half of a patch tells patches apart as well as all of it."""


def _by_patches(photo: Floats, hole: Mask, seed: int, others: Mask | None) -> Floats:
    """Fill within a window around the hole, from a coarse picture to the photograph itself."""
    rows, columns = box_of(hole)
    reach = int(0.9 * max(rows.stop - rows.start, columns.stop - columns.start)) + 32
    box = box_of(hole, reach)
    window, gap = photo[box], hole[box]
    pad = RADIUS_PX
    window = np.pad(window, ((pad, pad), (pad, pad), (0, 0)), mode="reflect")
    gap = np.pad(gap, pad)
    unwanted = _like_what_goes(photo[box], hole[box])
    barred = np.pad(unwanted if others is None else unwanted | others[box], pad)
    found = photo.copy()
    filled = _pyramid_fill(window, gap, barred, np.random.default_rng(seed))
    found[box] = filled[pad:-pad, pad:-pad]
    return found


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


def _pyramid_fill(image: Floats, hole: Mask, barred: Mask, rng: np.random.Generator) -> Floats:
    levels = [(image, hole)]
    while min(levels[-1][0].shape[:2]) > 40 and _thickness(levels[-1][1]) > 3:
        levels.append(_halved(*levels[-1]))
    guess = _smooth_fill(*levels[-1])
    nearest: NDArray[np.int64] | None = None
    before: _Level | None = None
    for picture, gap in reversed(levels):
        level = _level(picture, gap, barred)
        if not level.sources.any() or not len(level.targets):
            return floats(cv2.resize(guess, image.shape[1::-1]))
        if before is None or nearest is None:
            nearest = _random_sources(level, rng)
            current = np.where(gap[..., None], guess, picture)
        else:
            nearest = _enlarged(before, nearest, level, rng)
            current = _voted(level, nearest, picture, None)
        rounds = ROUNDS if len(level.targets) < MOST_TARGETS / 3 else 1
        if len(level.targets) <= MOST_TARGETS:
            for _ in range(rounds):
                nearest, cost = _improved(level, nearest, current, rng)
                current = _voted(level, nearest, current, cost)
        before, guess = level, current
    if before is not None and nearest is not None:
        guess = _evened(before, *_mixed(before, nearest, None, FINAL_REACH))
    return guess


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


def _level(image: Floats, hole: Mask, barred: Mask) -> _Level:
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
    return _Level(image, hole, targets, sources, number)


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
    here = flat[(level.targets[:, 0] * width + level.targets[:, 1])[:, None] + reach]
    tall = level.hole.shape[0]

    def cost_of(sources: NDArray[np.int64]) -> Floats:
        there = flat[(sources[:, 0] * width + sources[:, 1])[:, None] + reach]
        there -= here
        apart = np.einsum("nkc,nkc->n", there, there) / len(reach)
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


def _voted(
    level: _Level, nearest: NDArray[np.int64], current: Floats, cost: Floats | None
) -> Floats:
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
