"""Is what the negative phrase names really absent?"""

from __future__ import annotations

from groundfault.building.checks.check import Check, Seen
from groundfault.building.proposals.kinds import kin

__all__ = ["CHECK"]


def _competing(seen: Seen) -> float | None:
    negative, target = seen.proposal.negative, seen.candidate.target
    if not negative:
        return None
    others = (each for each in seen.candidate.photograph.things if each.id != target.id)
    return float(sum(bool(each.category and kin(negative, each.category)) for each in others))


CHECK = Check(
    "competing",
    "Nothing in the photograph is what the negative phrase names.",
    "annotated things besides the target that it names, or a kind of it",
    _competing,
    setting="max_competing",
    wants="most",
    reason="competing instance",
)
