"""Is the edit to be seen at all?"""

from __future__ import annotations

from groundfault.building.checks.check import Check, Seen, share

__all__ = ["CHECK"]


def _strength(seen: Seen) -> float:
    return share(seen.difference[seen.meant])


CHECK = Check(
    "strength",
    "The change is visible where it is meant to be.",
    "mean ΔE (CIE76) where the change is meant",
    _strength,
    setting="min_strength",
    reason="no visible change",
)
