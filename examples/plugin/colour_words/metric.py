"""A metric family that adds a column to every result on concept pairs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from groundfault.metrics import Family, Metric


def contributions(table: Any, settings: Mapping[str, object]) -> Any:
    """How far the best score under p⁺ lies above the best under p⁻; and 1 for every pair."""
    sides = [table.column(f"{side}_scores").to_pylist() for side in ("positive", "negative")]
    best = [[max(scores, default=0.0) for scores in side] for side in sides]
    margin = np.array(best[0]) - np.array(best[1])
    return np.stack([margin, np.ones(len(margin))], axis=1)


FAMILY = Family(
    name="margin",
    about="how surely the true phrase beats the misleading one",
    metrics=(
        Metric(
            name="score_margin",
            label="Margin",
            about="Mean of the best score under p⁺ minus the best under p⁻.",
            unit="plain",
            low=-1.0,
        ),
    ),
    columns=("margin", "pairs"),
    values=lambda sums, settings: {"score_margin": sums[..., 0] / sums[..., 1]},
    extends=("concept-pairs",),
    contributions=contributions,
)
