"""Coats: random colours and patterns over things, so that a shape is learnt beside its surface.

A category that fine-tuning never sees in another surface is otherwise known by its own surface
alone: with every borrowed surface told no, it is no longer found in one. Coats are none of the
world's surfaces, only blots, bands and spots of random colours under the thing's own light; the
name of the thing stays true of it. No coat is of one colour: it would look like a material.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["put_coats"]

Floats = NDArray[np.float32]
LEAST_PX = 30
"""Of a thing that shows; smaller ones keep their look."""
BLEND = (0.6, 1.0)
"""How much of the coat covers the own colours."""


def put_coats(
    image: NDArray[np.uint8],
    labels: NDArray[np.int8],
    things: Sequence[int],
    rng: np.random.Generator,
) -> None:
    """Cover these things of a picture (h, w, 3), each with a coat of its own, in place."""
    for thing in things:
        rows, columns = np.nonzero(labels == thing)
        if len(rows) < LEAST_PX:
            continue
        own = image[rows, columns].astype(np.float32)
        light = own.mean(1)
        shade = np.clip(light / max(float(light.mean()), 1.0), 0.3, 1.8)[:, None]
        size = float(np.sqrt(len(rows)))
        at = np.stack([rows, columns], 1).astype(np.float32) / np.float32(size)
        amount = np.float32(rng.uniform(*BLEND))
        worn = _pattern(at, rng) * shade
        mixed = amount * worn + (1 - amount) * own
        image[rows, columns] = np.clip(np.rint(mixed), 0, 255).astype(np.uint8)


def _pattern(at: Floats, rng: np.random.Generator) -> Floats:
    """Colours (n, 3) at places (n, 2), which are in units of the thing's size."""
    colours = rng.uniform(20, 245, (3, 3)).astype(np.float32)
    wave = _bands(at, rng) if rng.random() < 0.5 else _bands(at, rng) + _bands(at, rng)
    levels = np.digitize(wave, np.sort(rng.uniform(-0.9, 0.9, 2)))
    return np.asarray(colours[levels], np.float32)


def _bands(at: Floats, rng: np.random.Generator) -> Floats:
    """Waves in a random direction, bent by slower ones; two of them added are blots and spots."""
    angle, often = rng.uniform(0, np.pi), rng.uniform(2.0, 16.0)
    across = at @ np.array([np.cos(angle), np.sin(angle)], np.float32)
    along = at @ np.array([-np.sin(angle), np.cos(angle)], np.float32)
    bent = rng.uniform(0, 1.5) * np.sin(rng.uniform(1.0, 6.0) * along + rng.uniform(0, 6.3))
    return np.asarray(np.sin(often * across + bent + rng.uniform(0, 6.3)), np.float32)
