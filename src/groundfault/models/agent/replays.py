"""Replays: an episode run again from its record, by the same rules, without a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groundfault.io.masks import encode
from groundfault.models.agent.episode import Episode, Scene
from groundfault.models.agent.traces import Trace, Turn
from groundfault.records import Outcome, Prediction, Reply

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["differences", "replay"]

GREY = 128


def replay(trace: Trace, image: NDArray[np.uint8] | None = None) -> Episode:
    """The episode of a trace, with its pictures if the image is given, else over grey.

    Where a trace has no masks (published ones), as many stripes stand in for them.
    """
    if image is None:
        image = np.full((*trace.size_px, 3), GREY, np.uint8)
    scene = Scene(image, style=trace.settings.style)
    episode = Episode(scene, trace.query, trace.settings)
    for turn in trace.turns:
        if episode.over:
            break
        phrase = episode.add_reply(
            Reply(
                outcome=Outcome.OK,
                text=turn.said,
                reason=turn.cut,
                tokens_in=turn.tokens_in,
                tokens_out=turn.tokens_out,
                cost=turn.cost,
                seconds=turn.latency_s,
            )
        )
        if phrase is not None and turn.found is not None:
            episode.add_segmentation(_found(turn, trace.size_px), turn.segmenting_s)
    if not episode.over:
        episode.fail(trace.reason)
    return episode


def differences(trace: Trace, again: Trace, *, pictures: bool = True) -> list[str]:
    """What a replay did otherwise; empty if it is the same episode."""
    found = [
        f"{what}: {getattr(trace, what)!r} then, {getattr(again, what)!r} now"
        for what in ("query", "ending", "outcome", "chosen", "phrases")
        if getattr(trace, what) != getattr(again, what)
    ]
    if len(trace.turns) != len(again.turns):
        found.append(f"turns: {len(trace.turns)} then, {len(again.turns)} now")
    for number, (then, now) in enumerate(zip(trace.turns, again.turns, strict=False), 1):
        compared = ["tool", "parameters", "problem", "n_masks", *(["pictures"] * pictures)]
        found += [
            f"turn {number}, {what}: {getattr(then, what)!r} then, {getattr(now, what)!r} now"
            for what in compared
            if getattr(then, what) != getattr(now, what)
        ]
    if pictures and trace.picture != again.picture:
        found.append("the image is another one")
    return found


def _found(turn: Turn, size_px: tuple[int, int]) -> Prediction:
    assert turn.found is not None
    masks, scores = turn.masks, turn.scores
    if not masks and turn.n_masks:
        masks = tuple(encode(stripe) for stripe in _stripes(turn.n_masks, size_px))
        scores = tuple(1.0 - index / 1e4 for index in range(turn.n_masks))
    return Prediction(
        item_id="", outcome=turn.found, masks=masks, scores=scores, boxes_xywh=turn.boxes_xywh
    )


def _stripes(n: int, size_px: tuple[int, int]) -> list[NDArray[np.bool_]]:
    """n upright stripes side by side. They leave out the first row: the code of a whole picture is
    so short that the published style takes it for tiny."""
    owner = np.arange(size_px[1]) * n // size_px[1]
    below = np.arange(size_px[0])[:, None] >= min(1, size_px[0] - 1)
    return [below & (owner == index) for index in range(n)]
