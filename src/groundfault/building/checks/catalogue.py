"""All checks, in the order in which they are made; the first that objects is the reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from groundfault.building.checks import (
    arrival,
    artefacts,
    competing,
    coverage,
    edges,
    invariance,
    registration,
    remains,
    resegmentation,
    strength,
)
from groundfault.building.checks.check import Check, Seen, Value, threshold
from groundfault.building.checks.settings import VerifySettings
from groundfault.building.records import Candidate

__all__ = ["CHECKS", "heard", "measure", "objection", "told"]

CHECKS: tuple[Check, ...] = (
    strength.CHECK,
    coverage.CHECK,
    coverage.INSIDE,
    invariance.OUTSIDE,
    invariance.TOUCHED,
    invariance.LEAKED,
    registration.CHECK,
    arrival.OVERLAP,
    arrival.BOX_OVERLAP,
    arrival.SIZE,
    arrival.STRAY,
    arrival.NEW_CHANGED,
    remains.REMAINS,
    remains.OUTLINE,
    edges.EDGE,
    edges.HALO,
    competing.CHECK,
    artefacts.NOISE,
    artefacts.BLUR,
    artefacts.BLOCKINESS,
    artefacts.SCORE,
    resegmentation.FOUND,
    resegmentation.COMPETING,
)


def measure(candidate: Candidate, folder: Path, segmenter: Any = None) -> dict[str, float]:
    """What every check that is about this kind of edit measured."""
    seen = Seen(candidate, folder, segmenter)
    for check in CHECKS:
        value = check.measure(seen) if check.is_about(seen.kind) else None
        if value is not None:
            seen.found[check.name] = round(value, 4) + 0.0
    return seen.found


def objection(found: dict[str, float], settings: VerifySettings, kind: str) -> str:
    """The reason to drop an edit; "" if there is none."""
    for check in CHECKS:
        value = found.get(check.name)
        if value is not None and check.objects(value, threshold(check, settings, kind)):
            return check.reason
    return ""


def told(checks: dict[str, Value]) -> str:
    """What was measured, in words for people."""
    return ", ".join(f"{name} {value}" for name, value in checks.items())


def heard(words: str) -> dict[str, Value]:
    """What `told` told.

    >>> heard(told({"strength": 3.5, "vlm:old-gone": True}))
    {'strength': 3.5, 'vlm:old-gone': True}
    """
    pairs = (part.rpartition(" ") for part in words.split(", "))
    return {name: _value(value) for name, _, value in pairs if name}


def _value(word: str) -> Value:
    try:
        return float(word)
    except ValueError:
        return word == "True" if word in ("True", "False") else word
