"""Does an editor's reply lie where the photograph lies?"""

from __future__ import annotations

from groundfault.building.checks.check import Check, Seen

__all__ = ["CHECK"]


def _residual(seen: Seen) -> float | None:
    told = seen.edited.details.get("residual_px", "")
    try:
        return float(told) if told else None
    except ValueError:
        return None


CHECK = Check(
    "residual_px",
    "A reply that was drawn anew lies over the photograph.",
    "largest shift in pixels that a quarter of the reply has left after registration",
    _residual,
    setting="max_residual_px",
    wants="most",
    reason="not registered",
)
