"""What the checks of a build found, in DIR/checks.json."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike

import msgspec
import numpy as np

from groundfault.building.checks.catalogue import CHECKS, heard
from groundfault.building.checks.check import Value
from groundfault.building.checks.questions import question_ids
from groundfault.building.checks.settings import VerifySettings
from groundfault.building.stages import read_records
from groundfault.judges.card import cohen_kappa

__all__ = ["SUMMARY", "Measured", "measured", "summary"]

SUMMARY = "checks.json"
QUARTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


class Measured(msgspec.Struct, frozen=True):
    """What was found of one candidate."""

    id: str
    kind: str
    """Of the edit; "" where it was dropped."""
    checks: dict[str, Value]
    reason: str = ""


class _Check(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    says: str
    measures: str
    kinds: tuple[str, ...]
    setting: str
    threshold: float | None
    n: int
    dropped: int
    quantiles: dict[str, float]


class _Question(msgspec.Struct, frozen=True, kw_only=True):
    question: str
    n: int
    """Candidates about which both models gave an answer."""
    first: float | None
    second: float | None
    """Shares of edits for which each spoke."""
    kappa: float | None


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """checks.json"""

    checks: tuple[_Check, ...]
    vlm: str
    second_vlm: str
    questions: tuple[_Question, ...]


def measured(folder: str | PathLike[str]) -> Iterator[Measured]:
    """What was found of every candidate, those that were dropped included."""
    for record in read_records(folder, "verify"):
        if record.candidate is None:
            yield Measured(record.id, "", heard(record.details), record.reason)
        else:
            proposal = record.candidate.proposal
            kind = "" if proposal is None else proposal.kind
            yield Measured(record.id, kind, record.candidate.checks)


def summary(folder: str | PathLike[str], settings: VerifySettings) -> Summary:
    """Distributions of what the checks measured, and how far models agree."""
    found = list(measured(folder))
    asked = bool(settings.vlm)
    return Summary(
        checks=tuple(_summed(found, settings)),
        vlm=settings.vlm,
        second_vlm=settings.second_vlm,
        questions=tuple(_agreements(found)) if asked else (),
    )


def _summed(found: list[Measured], settings: VerifySettings) -> Iterator[_Check]:
    for check in CHECKS:
        values = [float(each.checks[check.name]) for each in found if check.name in each.checks]
        dropped = sum(bool(check.reason) and each.reason == check.reason for each in found)
        quantiles = np.quantile(values, QUARTILES).tolist() if values else []
        yield _Check(
            name=check.name,
            says=check.says,
            measures=check.measures,
            kinds=check.kinds,
            setting=check.setting,
            threshold=getattr(settings, check.setting) if check.setting else None,
            n=len(values),
            dropped=dropped,
            quantiles={
                f"{100 * q:.0f} %": round(v, 4) for q, v in zip(QUARTILES, quantiles, strict=False)
            },
        )


def _agreements(found: list[Measured]) -> Iterator[_Question]:
    for name in question_ids():
        pairs = [
            (each.checks.get(f"vlm:{name}"), each.checks.get(f"second-vlm:{name}"))
            for each in found
        ]
        first = [a for a, _ in pairs if isinstance(a, bool)]
        second = [b for _, b in pairs if isinstance(b, bool)]
        both = [(a, b) for a, b in pairs if isinstance(a, bool) and isinstance(b, bool)]
        yield _Question(
            question=name,
            n=len(both),
            first=sum(first) / len(first) if first else None,
            second=sum(second) / len(second) if second else None,
            kappa=cohen_kappa([a for a, _ in both], [b for _, b in both]),
        )
