"""How far reviewers agree, by stage and by kind of edit: Fleiss' κ and Krippendorff's α.

DIR/review/agreement.json   of the decisions that a build was given
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np

from groundfault.analysis.agreement import agreement_estimate
from groundfault.building.review import ADJUDICATION, WARM_UP
from groundfault.records import Estimate

__all__ = ["AGREEMENT", "Agreement", "agreements", "is_apart"]

AGREEMENT = "review/agreement.json"
Vote = tuple[str, str, str]
"""Item, stage, verdict."""


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """How far people agree in one stage about one kind of edit."""

    stage: str
    kind: str
    """"" for all."""
    items: int
    """With at least two opinions."""
    unanimous: int
    kappa: Estimate
    alpha: Estimate


def agreements(votes: Iterable[Vote], kinds: Mapping[str, str]) -> list[Agreement]:
    """Of each stage, all kinds together and each apart. `kinds` are those of the items that count;
    skipped items, warming up and adjudication are no independent opinions."""
    units: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for item, stage, verdict in votes:
        if verdict != "skip" and item in kinds and not is_apart(stage):
            units[stage][item].append(verdict)
    found = []
    for stage, of_stage in units.items():
        several = dict.fromkeys(kinds[item] for item in of_stage)
        for kind in ["", *several] if len(several) > 1 else [""]:
            chosen = [u for item, u in of_stage.items() if not kind or kinds[item] == kind]
            found.append(_agreement(stage, kind, [u for u in chosen if len(u) > 1]))
    return [agreement for agreement in found if agreement.items]


def _agreement(stage: str, kind: str, units: Sequence[Sequence[str]]) -> Agreement:
    rng = np.random.default_rng(0)
    return Agreement(
        stage=stage,
        kind=kind,
        items=len(units),
        unanimous=sum(len(set(unit)) == 1 for unit in units),
        kappa=agreement_estimate("kappa", units, rng),
        alpha=agreement_estimate("alpha", units, rng),
    )


def is_apart(stage: str) -> bool:
    """Whether a stage's decisions are no independent opinions."""
    return stage == WARM_UP or stage.startswith(ADJUDICATION)
