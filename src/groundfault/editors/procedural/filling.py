"""Holes filled with what is around them: patches of the same photograph (PatchMatch, coarse to
fine), or MI-GAN where its ONNX file is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import cv2
import numpy as np
import scipy.ndimage as ndi

from groundfault.editors.procedural.edges import Floats, Mask, box_of, floats, grown
from groundfault.editors.procedural.fills import detail_of
from groundfault.editors.procedural.networks import session
from groundfault.editors.procedural.patches import patched, unlikeness
from groundfault.editors.procedural.strangeness import invented, strangeness

__all__ = ["Drawing", "draw", "fill", "finished", "reconciled"]

MOST_UNSEEN = 0.3
"""The share of a picture that a network may not see; beyond, it sees what is only to be hidden."""
DIFFERENT, LESS_STRANGE = 7.0, 0.85
"""From which colour distance on two fills differ, and how much less strange one must be there, as a
share of the other, to be taken instead."""
MOST_UNLIKE_PATCHES = 0.19
"""How unlike its surroundings what a network draws may be for patches to take its place: of 6 such
fills 4 by patches were accepted by eye and 2 by the network; of 9 good fills beyond it 7 were the
network's."""
WIDER, LEAST_WIDER_PX = 0.03, 4
"""How much wider the second hole is that a network fills, as a share of the first one's extent."""
LITTLE_UNLIKE, LESS_UNLIKE = 0.1, 0.85
"""How unlike its surroundings the first drawing is that needs no second one, and how unlike that
may be, as a share of the first."""
USUAL_DETAIL = (0.7, 1.2)
"""How much fine detail patches have, as a share of what is around the hole: less is a cloud, more
is another thing."""


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
        found = patched(photo, hole, seed=seed, others=others)
    return _joined(photo, found, hole)


class Drawing(NamedTuple):
    """What a network drew in a hole."""

    picture: Floats
    hole: Mask
    unlike: float
    """How unlike its surroundings it is (`patches.unlikeness`)."""
    other: Floats
    """What it drew there when it looked a second time, or the same."""
    gap: Mask
    """What it did not see."""
    seed: int
    others: Mask | None


def draw(
    photo: Floats,
    hole: Mask,
    *,
    migan: str,
    seed: int = 0,
    others: Mask | None = None,
    unseen: Mask | None = None,
) -> Drawing:
    """What a network draws in a hole. Unless that is like what is around, it looks a second time,
    in a mirror and at a wider hole: a strip of the thing that was forgotten makes it go on with the
    thing. `fill` says what `others` and `unseen` are."""
    if not hole.any() or hole.all():
        return Drawing(photo, hole, 0.0, photo, hole, seed, others)

    def drawn(where: Mask, look: Callable[[Floats, Mask, str], Floats]) -> Drawing:
        gap = _gap(where, unseen)
        found = floats(np.where(where[..., None], look(photo, gap, migan), photo))
        unlike = unlikeness(photo, where, found, seed=seed, others=others)
        return Drawing(found, where, unlike, found, gap, seed, others)

    first = drawn(hole, _by_network)
    if first.unlike <= LITTLE_UNLIKE:
        return first
    wider = grown(hole, max(round(WIDER * np.sqrt(int(hole.sum()))), LEAST_WIDER_PX))
    second = drawn(wider if others is None else hole | wider & ~others, _in_a_mirror)
    if second.unlike < LESS_UNLIKE * first.unlike:
        return second
    return first._replace(other=floats(np.where(hole[..., None], second.picture, photo)))


def finished(photo: Floats, drawing: Drawing) -> Floats:
    """The photograph with a hole filled as a network drew it: with patches that look like it, so
    that grass, water and leaves have the photograph's grain. Where there are no such patches, what
    it drew when it looked a second time is taken where that is less strange, and small things that
    it invents are left out."""
    one, hole, unlike, other, gap, seed, others = drawing
    if not hole.any() or hole.all():
        return photo
    if unlike <= MOST_UNLIKE_PATCHES:
        found = patched(photo, hole, seed=seed, others=others, drawn=one)
        low, high = USUAL_DETAIL
        usual = low <= detail_of(found, hole) <= high
        if usual and unlikeness(photo, hole, found, seed=seed, others=others) <= unlike:
            return _joined(photo, found, hole)
    both = reconciled(one, other, hole)
    found = _without_inventions(photo, both, hole, gap, seed, others)
    return _joined(photo, found, hole)


def _without_inventions(
    photo: Floats, found: Floats, hole: Mask, gap: Mask, seed: int, others: Mask | None
) -> Floats:
    """A network's fill, small things that it invented filled again with patches."""
    strange = invented(np.where(gap[..., None], found, photo), hole)
    if not strange.any():
        return found
    return patched(floats(found), strange, seed=seed, others=others)


def _joined(photo: Floats, found: Floats, hole: Mask) -> Floats:
    """A filled hole laid over the photograph with a soft edge."""
    soft = cv2.GaussianBlur(hole.astype(np.float32), (0, 0), 1.5)
    soft = np.clip((soft - 0.35) / 0.5, 0, 1)[..., None] * hole[..., None]
    return np.asarray(photo + soft * (found - photo), np.float32)


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


def _in_a_mirror(photo: Floats, hole: Mask, path: str) -> Floats:
    """The network's fill of the mirrored photograph, mirrored back: a second opinion. Where the
    surroundings say what goes on behind an object, both are alike; else both are invented."""
    mirrored = np.ascontiguousarray(photo[:, ::-1]), np.ascontiguousarray(hole[:, ::-1])
    return _by_network(*mirrored, path)[:, ::-1]
