"""Things in photographs that nobody has annotated: found by a segmenter of ours, and marked so.

A benchmark whose masks come from a segmenter is biased towards what that segmenter can see; every
thing says which one it was, to the release.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from typing import Any

import msgspec

from groundfault.building.mining.habits import ATTRIBUTES
from groundfault.errors import RAISED, GroundfaultError, described
from groundfault.interfaces import Closeable, ModelOptions, Startable
from groundfault.io.foreign import within
from groundfault.io.masks import parse_mask
from groundfault.io.photographs import Photograph, Thing
from groundfault.io.pictures import read_image
from groundfault.records import Outcome, Prediction
from groundfault.registry import check_model, load_model

__all__ = ["PHRASES", "masked"]

AnyPath = str | PathLike[str]
PHRASES = tuple(sorted(ATTRIBUTES))
"""What is looked for unless told: things of COCO's categories, no people."""
MIN_SCORE = 0.5


def masked(
    photographs: Iterable[Photograph],
    images: AnyPath,
    segmenter: str,
    *,
    phrases: Sequence[str] = (),
    min_score: float = MIN_SCORE,
) -> Iterator[Photograph]:
    """Photographs with a thing for every mask that a segmenter (`NAME[:argument]`) gives a phrase
    with at least this score. A picture on which it fails ends the reading."""
    check_model(segmenter, "masks")
    wanted = tuple(dict.fromkeys(phrases)) or PHRASES
    with contextlib.ExitStack() as stack:
        model = load_model(segmenter, ModelOptions())
        if isinstance(model, Closeable):
            stack.callback(model.close)
        if isinstance(model, Startable):
            model.start()
        for photograph in photographs:
            found = _answers(model, photograph, images, segmenter, wanted)
            things = tuple(_things(photograph, wanted, found, segmenter, min_score))
            yield msgspec.structs.replace(photograph, things=things, exhaustive=False)


def _answers(
    model: Any, photograph: Photograph, images: AnyPath, name: str, phrases: Sequence[str]
) -> Sequence[Prediction]:
    record = f"photograph {photograph.id}"
    path = within(images, photograph.file, file=photograph.source, record=record)
    image = read_image(path, size_px=(photograph.height_px, photograph.width_px))
    try:
        found: Sequence[Prediction] = model.segment(image, list(phrases))
    except GroundfaultError:
        raise
    except RAISED as problem:
        raise GroundfaultError(f"{path}: {name} failed ({described(problem)})") from problem
    if len(found) != len(phrases):
        raise GroundfaultError(f"{path}: {name} answered {len(found)} of {len(phrases)} phrases")
    return found


def _things(
    photograph: Photograph,
    phrases: Sequence[str],
    predictions: Sequence[Prediction],
    name: str,
    min_score: float,
) -> Iterator[Thing]:
    number = 0
    for phrase, prediction in zip(phrases, predictions, strict=True):
        if prediction.outcome is not Outcome.OK:
            continue
        for mask, score in zip(prediction.masks, prediction.scores, strict=True):
            coded = parse_mask(mask, photograph.height_px, photograph.width_px)
            if score < min_score or not coded.area():
                continue
            number += 1
            yield Thing(id=str(number), category=phrase, mask=mask, masked_by=name)
