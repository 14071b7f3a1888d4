"""The stage that verifies an edit by what its pixels say, before people look at it.

Each check measures something; some of them drop a candidate. What they measured goes along, for
reviewers as a hint and for the datasheet.

    changed_inside    share of the target's pixels that changed visibly
    strength          mean colour difference (CIE76 ΔE) where the change is meant to be
    changed_outside   share of the pixels outside what may change that differ: 0 by construction
    leaked            the same of the editor's raw reply, before pasting back
    mask_overlap      IoU of the old thing's mask and the new one's, of replacements
    size_ratio        area of the new thing by that of the old one
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from groundfault.build.colours import VISIBLE, colour_difference
from groundfault.build.editing import TARGET
from groundfault.build.records import Candidate, Dropped, EditedPicture
from groundfault.build.stages import Keep, encoded
from groundfault.io.interrupts import stop_if_requested
from groundfault.io.masks import decode
from groundfault.io.pictures import read_image

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    BinaryMask = NDArray[np.bool_]

__all__ = ["VerifySettings", "VerifyStage", "measure"]

VERSION = "1"


class VerifySettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When an edit is good enough to be shown to people."""

    min_strength: float = 8.0
    """Mean ΔE where the change is meant to be."""
    min_changed: float = 0.6
    """Share of the pixels there that changed visibly; of replaced and erased things half of it."""
    max_leaked: float = 1.0
    """Share of the pixels that must not change which the editor changed before pasting back; 1
    takes any, as they are put back."""
    min_overlap: float = 0.3
    """IoU of the boxes of the old and the new thing, of replacements."""
    max_size_ratio: float = 3.0
    """How much larger or smaller a replacement may be."""


class VerifyStage:
    """Measures every edit."""

    name = "verify"

    def __init__(self, folder: Path, settings: VerifySettings) -> None:
        self.folder, self.settings = folder, settings

    def identity(self) -> Mapping[str, str]:
        """The settings."""
        return {"version": VERSION, "settings": encoded(self.settings)}

    def depends(self, candidate: Candidate) -> str:
        """Nothing: the names of pictures hold their content's hash."""
        return ""

    def run(self, candidates: Iterable[Candidate], keep: Keep) -> str:
        """Measure what is left."""
        for candidate in candidates:
            stop_if_requested()
            checks = {**candidate.checks, **measure(candidate, self.folder)}
            reason = _objection(candidate, checks, self.settings)
            if reason:
                keep(candidate, Dropped(reason=reason, details=_told(checks)))
            else:
                keep(candidate, msgspec.structs.replace(candidate, checks=checks))
        return ""


def measure(candidate: Candidate, folder: Path) -> dict[str, float | bool | str]:
    """What the pixels of an edit say."""
    edited, target = candidate.edited, candidate.target
    assert edited is not None and candidate.proposal is not None and target.mask is not None
    before, after = read_image(folder / edited.before), read_image(folder / edited.after)
    region = decode(target.mask)
    touched = decode(edited.touched) if edited.touched is not None else np.ones_like(region)
    difference = colour_difference(before, after)
    meant = _meant(candidate.proposal.kind, region, touched, edited)
    found: dict[str, float | bool | str] = {
        "strength": _mean(difference[meant]),
        "changed": _mean(difference[meant] > VISIBLE),
        "changed_inside": _mean(difference[region] > VISIBLE),
        "changed_outside": _mean(np.any(before != after, axis=2)[~touched]),
        "touched": _mean(touched),
    }
    if edited.raw:
        raw = read_image(folder / edited.raw)
        if raw.shape == before.shape:
            found["leaked"] = _mean((colour_difference(before, raw) > VISIBLE)[~touched])
    if edited.mask is not None and candidate.proposal.kind == "replace":
        found |= _compared(region, decode(edited.mask))
    return found


def _meant(kind: str, region: BinaryMask, touched: BinaryMask, edited: EditedPicture) -> BinaryMask:
    """Where a change is meant to be seen."""
    if kind in TARGET or kind in ("erase", "replace"):
        return region
    if kind == "context":
        return touched & ~region
    return decode(edited.mask) if edited.mask is not None else touched


def _compared(old: BinaryMask, new: BinaryMask) -> dict[str, float | bool | str]:
    union = (old | new).sum()
    return {
        "mask_overlap": round(float((old & new).sum() / union), 4) if union else 0.0,
        "size_ratio": round(float(new.sum() / old.sum()), 4) if old.any() else 0.0,
    }


def _objection(
    candidate: Candidate,
    checks: Mapping[str, float | bool | str],
    settings: VerifySettings,
) -> str:
    """The reason to drop an edit; "" if there is none."""
    assert candidate.proposal is not None
    changed = settings.min_changed
    if candidate.proposal.kind not in (*TARGET, "context"):
        changed /= 2
    if float(checks["strength"]) < settings.min_strength:
        return "no visible change"
    if float(checks["changed"]) < changed:
        return "partly changed"
    if float(checks.get("leaked", 0.0)) > settings.max_leaked:
        return "changed elsewhere"
    if float(checks.get("mask_overlap", 1.0)) < settings.min_overlap:
        return "another place"
    ratio = float(checks.get("size_ratio", 1.0))
    if not 1 / settings.max_size_ratio <= ratio <= settings.max_size_ratio:
        return "another size"
    return ""


def _told(checks: Mapping[str, float | bool | str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in checks.items())


def _mean(values: Floats | BinaryMask) -> float:
    return round(float(np.mean(values)), 4) if values.size else 0.0
