"""Does a segmenter of ours find the target, and nothing that competes with it?

It is a hint. A set that was filtered by a model is easier for that model and its kin: whoever lets
it drop edits says so in the recipe, which the release carries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from groundfault.building.checks.check import Check, Seen
from groundfault.io.masks import decode

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    BinaryMask = NDArray[np.bool_]

__all__ = ["COMPETING", "FOUND"]

SURE = 0.5
"""Score from which an instance counts."""
SAME = 0.5
"""IoU from which it is the target."""


def _masks(seen: Seen, phrase: str) -> list[BinaryMask]:
    [answer] = seen.segmenter.segment(seen.after, [phrase])
    pairs = zip(answer.masks, answer.scores, strict=True)
    return [decode(rle) for rle, score in pairs if score >= SURE]


def _ious(seen: Seen, phrase: str) -> list[float]:
    masks = seen.once(f"segmented {phrase}", lambda: _masks(seen, phrase))
    truth = seen.region if seen.new is None else seen.new
    return [float((mask & truth).sum() / max(1, (mask | truth).sum())) for mask in masks]


def _asked(seen: Seen) -> str:
    """The phrase that is true of the edited picture."""
    return seen.proposal.negative if seen.kind == "replace" else seen.proposal.positive


def _found(seen: Seen) -> float | None:
    phrase = _asked(seen)
    if seen.segmenter is None or not phrase or seen.kind == "erase":
        return None
    return max(_ious(seen, phrase), default=0.0)


def _competing(seen: Seen) -> float | None:
    phrase = seen.proposal.negative
    if seen.segmenter is None or not phrase:
        return None
    return float(sum(iou < SAME for iou in _ious(seen, phrase)))


FOUND = Check(
    "resegmented",
    "A segmenter finds what the true phrase names where the mask is.",
    "largest IoU of its masks with the target's in the edited picture",
    _found,
    setting="min_resegmented",
    reason="not found again",
)
COMPETING = Check(
    "competing_found",
    "A segmenter finds nothing else that the negative phrase names.",
    "instances of the negative phrase elsewhere in the edited picture",
    _competing,
    setting="max_competing_found",
    wants="most",
    reason="competing instance found",
)
