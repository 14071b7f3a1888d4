"""What the segmenting tool gives: masks worth a number.

Masks below the threshold are dropped; of two where one covers more than 30 % of the smaller, the
surer stays (greedy by score); what is left is numbered by falling score, tiny ones removed. The
published agent tells tiny ones by the length of their code.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from groundfault.io.masks import RLEMask, decode, parse_mask, to_rle
from groundfault.llm.server import Tool
from groundfault.models.agent.settings import Style
from groundfault.records import Outcome, Prediction, Rle

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["IOM", "TOOLS", "Result", "apart", "worth_showing"]

IOM = 0.3
"""Intersection over the smaller mask; above it two masks are taken for one thing."""
SHORTEST_CODE = 5
"""Characters of a run-length code; a mask with a shorter one is tiny …"""
LARGE = 0.01
"""… but the whole of a small picture has a short code too: this share of it is never tiny."""
PUBLISHED_CODE = 5
"""The published agent keeps longer ones only, and masks above its threshold only."""


class Result(msgspec.Struct, frozen=True, dict=True):
    """Numbered masks: what `segment_phrase` found."""

    phrase: str
    outcome: Outcome
    masks: tuple[Rle, ...] = ()
    scores: tuple[float, ...] = ()
    left_out: int = 0
    boxes_xywh: tuple[tuple[float, float, float, float] | None, ...] = ()
    """Where the segmenter gives its own."""

    @cached_property
    def pixels(self) -> list[NDArray[np.bool_]]:
        """(height, width) of each."""
        return [decode(mask) for mask in self.masks]


def worth_showing(
    phrase: str,
    found: Prediction,
    *,
    t: float,
    size_px: tuple[int, int],
    style: Style = "paper",
) -> Result:
    """The masks of a prediction that get a number; raises ValueError if one is unsound."""
    published = style == "published"
    if len(found.masks) != len(found.scores):
        raise ValueError(f"{len(found.masks)} masks and {len(found.scores)} scores")
    boxes = found.boxes_xywh
    if boxes and len(boxes) != len(found.masks):
        raise ValueError(f"{len(found.masks)} masks and {len(boxes)} boxes")
    order = sorted(range(len(found.masks)), key=lambda i: -found.scores[i])
    order = [i for i in order if found.scores[i] > t or (found.scores[i] == t and not published)]
    parsed = [parse_mask(found.masks[i], *size_px) for i in order]
    is_tiny = _tiny_as_published if published else _tiny
    kept = [k for k in apart(parsed) if int(parsed[k].area()) and not is_tiny(parsed[k])]
    outcome = found.outcome
    if outcome is Outcome.OK and not kept:
        outcome = Outcome.ABSTAINED
    return Result(
        phrase,
        outcome,
        tuple(found.masks[order[k]] for k in kept),
        tuple(float(found.scores[order[k]]) for k in kept),
        len(found.masks) - len(kept),
        tuple(boxes[order[k]] for k in kept) if boxes else (),
    )


def apart(masks: Sequence[RLEMask], most: float = IOM) -> list[int]:
    """Which masks stay if none may overlap an earlier one by more than `most` of the smaller."""
    areas = [int(mask.area()) for mask in masks]
    kept: list[int] = []
    for index, mask in enumerate(masks):
        if all(
            int((mask & masks[other]).area()) <= most * max(1, min(areas[index], areas[other]))
            for other in kept
        ):
            kept.append(index)
    return kept


def _tiny(mask: RLEMask) -> bool:
    short = len(to_rle(mask)["counts"]) < SHORTEST_CODE
    return short and int(mask.area()) < LARGE * mask.shape[0] * mask.shape[1]


def _tiny_as_published(mask: RLEMask) -> bool:
    return len(to_rle(mask)["counts"]) <= PUBLISHED_CODE


def _tool(name: str, about: str, **properties: dict[str, Any]) -> Tool:
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return Tool(name, about, parameters)


_NUMBERS = {"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 1}
_ALL = (
    _tool(
        "segment_phrase",
        "Find every instance of a short noun phrase in the picture.",
        text_prompt={"type": "string", "description": "a short noun phrase"},
    ),
    _tool("examine_masks", "Look closely at masks of the newest result.", mask_indices=_NUMBERS),
    _tool(
        "select_masks_and_return",
        "End the episode with these masks of the newest result.",
        final_answer_masks=_NUMBERS,
    ),
    _tool("report_no_mask", "End the episode: the concept is not in the picture."),
)
TOOLS: dict[str, Tool] = {tool.name: tool for tool in _ALL}
"""The four tools for servers with tool calls of their own."""
