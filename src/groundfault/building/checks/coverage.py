"""Is all of it edited?"""

from __future__ import annotations

from groundfault.building.checks.check import Check, Seen, share
from groundfault.io.colours import VISIBLE

__all__ = ["CHECK", "INSIDE"]


def _changed(seen: Seen) -> float | None:
    if seen.is_boxed and seen.meant is seen.region:
        return None  # how much of a box its thing fills is not known
    return share(seen.difference[seen.meant] > VISIBLE)


def _changed_inside(seen: Seen) -> float:
    return share(seen.difference[seen.region] > VISIBLE)


CHECK = Check(
    "changed",
    "The edit covers what it is meant to cover.",
    "share of the pixels there with a visible change (ΔE > 5)",
    _changed,
    setting="min_changed",
    reason="partly changed",
    halved=True,
)
INSIDE = Check(
    "changed_inside",
    "The target changes or stays, as the kind of edit has it.",
    "share of the target's pixels with a visible change",
    _changed_inside,
    wants="",
)
