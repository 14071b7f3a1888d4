"""Does everything else stay as it was?"""

from __future__ import annotations

from groundfault.building.checks.check import Check, Seen, share
from groundfault.building.pictures import read_kept
from groundfault.io.colours import VISIBLE, colour_difference, differing

__all__ = ["LEAKED", "OUTSIDE", "TOUCHED"]


def _changed_outside(seen: Seen) -> float:
    return share(differing(seen.before, seen.after)[~seen.touched])


def _touched(seen: Seen) -> float:
    return share(seen.touched)


def _leaked(seen: Seen) -> float | None:
    if not seen.edited.raw:
        return None
    raw = read_kept(seen.folder, seen.edited.raw)
    if raw.shape != seen.before.shape:
        return None
    return share((colour_difference(seen.before, raw) > VISIBLE)[~seen.touched])


OUTSIDE = Check(
    "changed_outside",
    "What must not change is the photograph's own, to the bit.",
    "share of the pixels that must not change which differ: 0 by construction",
    _changed_outside,
    setting="max_changed_outside",
    wants="most",
    reason="changed outside",
)
TOUCHED = Check(
    "touched",
    "How much of the picture may differ.",
    "share of the picture's pixels",
    _touched,
    wants="",
)
LEAKED = Check(
    "leaked",
    "The editor itself kept to its region.",
    "share of the pixels that must not change with a visible change in the editor's raw reply",
    _leaked,
    setting="max_leaked",
    wants="most",
    reason="changed elsewhere",
)
