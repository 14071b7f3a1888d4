"""Pictures and questions as tensors."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from groundfault.models.nano import SIDE_PX, word_numbers
from groundfault.training.nano.coats import put_coats
from groundfault.training.nano.pictures import MOST_THINGS, Pictures
from groundfault.training.nano.questions import Question, ask, wordings
from groundfault.world.materials import MATERIALS
from groundfault.world.phrases import material_of
from groundfault.world.scene import Scene

__all__ = ["QUESTIONS", "Batch", "coated_things", "draw", "joined"]

QUESTIONS = 40
"""Phrases asked of each picture."""
CELLS = SIDE_PX // 2
SPREAD = 1.3
"""Of the heat around a middle, in cells."""
SCULPTURES = frozenset(way for kind in MATERIALS.values() for way in wordings(kind.phrase))
LEAST_SHARE = 0.0008
"""A thing of which less than this share of the picture shows is not asked for."""


class Batch(NamedTuple):
    """One step's worth; b pictures, k things at most, p phrases, h = w cells."""

    pictures: Tensor
    """(b, 3, s, s)"""
    ground: Tensor
    """(b, s, s): 1 where there is a thing."""
    masks: Tensor
    """(b, k, h, w), 0…1"""
    there: Tensor
    """(b, k): is there such a thing?"""
    heat: Tensor
    """(b, h, w): 1 at the middles."""
    way: Tensor
    """(b, 2, h, w): to the own middle, in shares of the side."""
    ids: Tensor
    """(n, l): every phrase of the batch, once."""
    asked: Tensor
    """(b, p): numbers of phrases."""
    fits: Tensor
    """(b, k, p): 1 where the phrase is true of the thing."""
    kinds: Tensor
    """(b, p): TRUE, EASY or TEMPTING."""
    sculptures: Tensor
    """(b, p): is a sculpture asked for by its material?"""


def draw(
    source: Pictures,
    indices: NDArray[np.intp],
    words: dict[str, int],
    rng: np.random.Generator,
    *,
    tempting: bool,
    paired: bool = False,
    misleading: bool = True,
    often: Mapping[str, float] | None = None,
    depictions: float = 0.0,
    coats: float = 0.0,
) -> Batch:
    """The pictures at these places, mirrored by chance, with fresh questions about each.

    Of a `paired` source, what tempts is also what the other picture of the pair shows. A share
    (`coats`) of the things that are no sculptures gets random colours.
    """
    order = np.argsort(indices)  # the files are read forwards
    images, labels = (np.empty((len(indices), *part.shape[1:]), part.dtype) for part in source[:2])
    images[order], labels[order] = source.images[indices[order]], source.labels[indices[order]]
    for mirrored in np.flatnonzero(rng.random(len(indices)) < 0.5):
        images[mirrored] = images[mirrored, :, ::-1].copy()
        labels[mirrored] = labels[mirrored, :, ::-1].copy()
    if coats:
        for image, label, i in zip(images, labels, indices, strict=True):
            put_coats(image, label, coated_things(source.scenes[i], coats, rng), rng)
    asked = [
        ask(
            source.scenes[i],
            QUESTIONS,
            rng,
            other=source.scenes[i ^ 1] if paired else None,
            tempting=tempting,
            misleading=misleading,
            often=often,
            depictions=depictions,
        )
        for i in indices
    ]
    return _tensors(_developed(images, rng), labels, asked, words)


def coated_things(scene: Scene, share: float, rng: np.random.Generator) -> list[int]:
    """Some of the things that are not known by their material."""
    drawn = rng.random(len(scene.things)) < share
    return [k for k, thing in enumerate(scene.things) if drawn[k] and not material_of(thing)]


def joined(parts: list[Batch]) -> Batch:
    """Several batches as one."""
    firsts = accumulate((len(part.ids) for part in parts), initial=0)
    shifted = [
        part._replace(asked=part.asked + first) for part, first in zip(parts, firsts, strict=False)
    ]
    return Batch(*(torch.cat(fields) for fields in zip(*shifted, strict=True)))


def _developed(images: NDArray[np.uint8], rng: np.random.Generator) -> Tensor:
    """To -1…1, with the contrast and cast of another camera."""
    shape = (len(images), 1, 1)
    x = torch.from_numpy(images).permute(0, 3, 1, 2).float().div_(127.5).sub_(1.0)
    gain = torch.from_numpy(rng.uniform(0.85, 1.15, (*shape, 1)).astype(np.float32))
    cast = torch.from_numpy(rng.uniform(-0.1, 0.1, (len(images), 3, 1, 1)).astype(np.float32))
    return (x * gain + cast).contiguous(memory_format=torch.channels_last)


def _masks(labels: NDArray[np.int8]) -> NDArray[np.float32]:
    """(b, k, h, w): the share of each cell's four pixels that shows the thing."""
    corners = [labels[:, row::2, column::2] for row in (0, 1) for column in (0, 1)]
    masks = np.zeros((len(labels), MOST_THINGS, CELLS, CELLS), np.float32)
    for k in range(min(MOST_THINGS, int(labels.max(initial=-1)) + 1)):
        covered = sum((corner == k).view(np.uint8) for corner in corners)
        np.multiply(covered, np.float32(0.25), out=masks[:, k])
    return masks


def _tensors(
    pictures: Tensor,
    labels: NDArray[np.int8],
    asked: list[list[Question]],
    words: dict[str, int],
) -> Batch:
    batch, most = len(labels), MOST_THINGS
    masks = _masks(labels)
    area = masks.sum((2, 3))
    there = area > LEAST_SHARE * CELLS**2
    at = np.arange(CELLS, dtype=np.float32)
    row = (masks.sum(3) @ at) / np.maximum(area, 1e-3)
    column = (masks.sum(2) @ at) / np.maximum(area, 1e-3)
    heat = np.zeros((batch, CELLS, CELLS), np.float32)
    way = np.zeros((batch, 2, CELLS, CELLS), np.float32)
    for b, k in zip(*np.nonzero(there), strict=True):
        away = (at[:, None] - row[b, k].round()) ** 2 + (at[None] - column[b, k].round()) ** 2
        np.maximum(heat[b], np.exp(-away / (2 * SPREAD**2)), out=heat[b])
        inside = masks[b, k] >= 0.5
        rows, columns = np.nonzero(inside)
        way[b, 0][inside] = (row[b, k] - rows) / CELLS
        way[b, 1][inside] = (column[b, k] - columns) / CELLS
    fits = np.zeros((batch, most, QUESTIONS), np.float32)
    kinds = np.zeros((batch, QUESTIONS), np.int64)
    sculptures = np.zeros((batch, QUESTIONS), np.bool_)
    for b, questions in enumerate(asked):
        for p, question in enumerate(questions):
            kinds[b, p] = question.kind
            sculptures[b, p] = question.phrase in SCULPTURES
            fits[b, [k for k in question.things if k < most], p] = 1
    fits *= there[..., None]
    phrases = [question.phrase for questions in asked for question in questions]
    once = {phrase: number for number, phrase in enumerate(dict.fromkeys(phrases))}
    numbers = np.array([once[phrase] for phrase in phrases]).reshape(batch, QUESTIONS)
    return Batch(
        pictures=pictures,
        ground=torch.from_numpy((labels >= 0).astype(np.float32)),
        masks=torch.from_numpy(masks),
        there=torch.from_numpy(there),
        heat=torch.from_numpy(heat),
        way=torch.from_numpy(way),
        ids=torch.from_numpy(word_numbers(list(once), words)),
        asked=torch.from_numpy(numbers),
        fits=torch.from_numpy(fits),
        kinds=torch.from_numpy(kinds),
        sculptures=torch.from_numpy(sculptures),
    )
