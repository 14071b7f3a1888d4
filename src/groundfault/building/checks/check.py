"""What a check is, and the edit as it sees it."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import numpy as np

from groundfault.building.checks.settings import VerifySettings
from groundfault.building.editing import TARGET
from groundfault.building.pictures import read_kept
from groundfault.building.proposals.layout import region_of
from groundfault.building.records import Candidate, EditedPicture, Proposal
from groundfault.io.colours import colour_difference
from groundfault.io.masks import decode

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Image = NDArray[np.uint8]
    Floats = NDArray[np.float64]
    BinaryMask = NDArray[np.bool_]

__all__ = ["SURFACES", "Check", "Seen", "brightness", "share", "threshold"]

SURFACES = (*TARGET, "context")
"""Kinds of edit that end at the target's edge."""
Value = float | bool | str
T = TypeVar("T")


class Seen:
    """One edit: its pictures, masks and what other checks found. Made once, seen by all."""

    def __init__(self, candidate: Candidate, folder: Path, segmenter: Any = None) -> None:
        assert candidate.edited is not None and candidate.proposal is not None
        self.candidate, self.folder, self.segmenter = candidate, folder, segmenter
        self.edited: EditedPicture = candidate.edited
        self.proposal: Proposal = candidate.proposal
        self.found: dict[str, float] = {}
        """What the checks before this one measured."""
        self._made: dict[str, Any] = {}

    def once(self, name: str, make: Callable[[], T]) -> T:
        """What several checks need, made for the first of them."""
        if name not in self._made:
            self._made[name] = make()
        found: T = self._made[name]
        return found

    @property
    def kind(self) -> str:
        """The kind of edit."""
        return self.proposal.kind

    @cached_property
    def before(self) -> Image:
        """The photograph."""
        return read_kept(self.folder, self.edited.before)

    @cached_property
    def after(self) -> Image:
        """The edited picture."""
        return read_kept(self.folder, self.edited.after)

    @cached_property
    def difference(self) -> Floats:
        """ΔE of each pixel."""
        return colour_difference(self.before, self.after)

    @cached_property
    def region(self) -> BinaryMask:
        """The target's mask; its box where it has none."""
        photograph = self.candidate.photograph
        return region_of(self.candidate.target, (photograph.height_px, photograph.width_px))

    @property
    def is_boxed(self) -> bool:
        """Whether the region is a box, with some of the background in it."""
        return self.candidate.target.mask is None

    @cached_property
    def touched(self) -> BinaryMask:
        """What may differ from the photograph."""
        rle = self.edited.touched
        return np.ones_like(self.region) if rle is None else decode(rle)

    @cached_property
    def new(self) -> BinaryMask | None:
        """Where the new or moved thing is."""
        return None if self.edited.mask is None else decode(self.edited.mask)

    @cached_property
    def meant(self) -> BinaryMask:
        """Where a change is meant to be seen."""
        if self.kind in TARGET or self.kind in ("erase", "replace"):
            return self.region
        if self.kind == "context":
            return self.touched & ~self.region
        return self.touched if self.new is None else self.new


class Check(NamedTuple):
    """One measurement, and when it drops an edit."""

    name: str
    says: str
    """What it is there for, in one sentence."""
    measures: str
    """What the number is."""
    measure: Callable[[Seen], float | None]
    """None where there is nothing to measure."""
    kinds: tuple[str, ...] = ()
    """The kinds of edit that it is about; empty for all."""
    setting: str = ""
    """The threshold's name in `VerifySettings`."""
    wants: Literal["least", "most", "about 1", ""] = "least"
    """What the threshold is to the number; "about 1" wants it between 1/threshold and threshold; ""
    is neither good nor bad."""
    reason: str = ""
    """Why an edit is dropped that it objects to."""
    halved: bool = False
    """Half of the threshold does for kinds of edit that do not cover their whole region."""

    def is_about(self, kind: str) -> bool:
        """Whether it measures this kind of edit."""
        return not self.kinds or kind in self.kinds

    def goodness(self, value: float) -> float:
        """A number that grows as edits get better."""
        if self.wants == "about 1":
            return -abs(math.log(max(value, 1e-9)))
        return value if self.wants == "least" else -value

    def objects(self, value: float, limit: float | None) -> bool:
        """Whether a number is beyond its threshold."""
        if limit is None:
            return False
        bound = 1 / limit if self.wants == "about 1" and limit else limit
        if self.wants == "about 1":
            return not bound <= value <= limit
        return value < limit if self.wants == "least" else value > limit


def threshold(check: Check, settings: VerifySettings, kind: str) -> float | None:
    """The threshold of a check for a kind of edit; None where it drops nothing."""
    limit: float | None = getattr(settings, check.setting) if check.setting else None
    return limit / 2 if limit is not None and check.halved and kind not in SURFACES else limit


def share(values: Floats | BinaryMask) -> float:
    """The mean; 0 of nothing."""
    if values.dtype == bool:
        return int(np.count_nonzero(values)) / max(values.size, 1)
    return float(np.mean(values)) if values.size else 0.0


def brightness(image: Image) -> Floats:
    """Luma of each pixel, 0 to 255."""
    red, green, blue = (image[..., channel] for channel in range(3))
    return np.asarray(0.299 * red + 0.587 * green + 0.114 * blue)
