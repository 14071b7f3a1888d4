"""What makes a careful eye keep an edit of what SAM 2 cut out: weights from edits judged by eye.

    python bench/cutout_odds.py

cutout_verdicts.csv has what was measured of cut-outs, and the share of reviewers who kept an edit
of each, by the rubric of `edit_review.py`. Sets D, H and I are of earlier versions of the editor
and count less; K1, K2, K3, N1, N2, P and U were looked at while working on it, J, L, M and Q were
opened once. Places are scenes that things were cut out for, but those of U, which are under water.
Printed are the weights that a logistic regression with a ridge gives what was known when
`covers.CLEAR` was set (L, K3 and what is newer are not in it), the weight of the IoU with the drawn
mask that N1, N2 and M give afterwards, how well the odds rank each set, and, of M's 225 eligible
instances, what more `care` lets through and keeps.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata

from groundfault.editors.procedural.covers import CLEAR, LEAST_CLEAR, clarity, outline_measures
from groundfault.editors.procedural.cutouts import Cutout
from groundfault.editors.procedural.doubts import groups_of
from groundfault.editors.procedural.looks import Skin

VERDICTS = Path(__file__).with_name("cutout_verdicts.csv")
COUNTS = {"D": 0.4, "H": 0.4, "I": 0.4, "K1": 1.0, "K2": 1.0, "J": 1.2}
"""What a verdict counts, by its set."""
RIDGE = 4.0
KINDS = ("surface", "material", "recolour", "context")
VEHICLES = ("material", "recolour", "surface")
WEIGHTS = ("sure", "added", "missed", "more", "weak")
LATER = ("N1", "N2", "M")
"""Sets in which the IoU of both masks was written down, too."""
OF_M = 225
"""The eligible instances of M, a sample of COCO."""
CARES = (0.0, 0.3, 0.6, 0.9)
HARDER = ("material vehicles", "recolour vehicles", "surface vehicles", "seen animals")
REST = ("context", "earlier versions", "earlier versions' context")


class Verdict(NamedTuple):
    set: str
    kind: str
    category: str
    kept: float
    measures: dict[str, float]

    def outline(self) -> tuple[Cutout, Skin]:
        """The cut-out, as far as it was measured."""
        names = ("sure", "added", "missed", "more", "agreed")
        measured = {name: self.measures[name] for name in names}
        cut = Cutout(mask=np.zeros((1, 1), bool), beyond=0.0, **measured)
        return cut, Skin(fit=1.0, weak=self.measures["weak"], motley=0.0)

    def odds(self) -> float:
        """What the editor gives it today."""
        return clarity(self.kind, self.category, *self.outline())

    def inputs(self) -> list[float]:
        """What the regression is given, in the order of WEIGHTS, HARDER and REST."""
        found = outline_measures(*self.outline())
        groups, before = groups_of(self.category), self.set in ("D", "H", "I")
        return [
            *(found[name] for name in WEIGHTS),
            *(kind == self.kind and "vehicles" in groups for kind in VEHICLES),
            self.kind in KINDS[:2] and "animals" in groups,
            self.kind == "context",
            before and self.kind != "context",
            before and self.kind == "context",
        ]


def read() -> list[Verdict]:
    with VERDICTS.open(newline="") as file:
        return [
            Verdict(
                row["set"],
                row["kind"],
                row["category"],
                float(row["kept"]),
                {name: float(row[name]) for name in WEIGHTS}
                | {"agreed": float(row["agreed"] or 1.0)},
            )
            for row in csv.DictReader(file)
        ]


def regression(verdicts: list[Verdict], inputs: Any, counts: Any) -> Any:
    """The bias and the weights, of inputs as they are."""
    kept = np.array([verdict.kept for verdict in verdicts])
    middle, spread = inputs.mean(0), inputs.std(0) + 1e-9
    given = np.c_[np.ones(len(kept)), (inputs - middle) / spread]
    ridge = np.r_[0.0, np.full(inputs.shape[1], RIDGE)]
    found = np.zeros(given.shape[1])
    for _ in range(50):  # Newton's method: the loss is convex
        chance = 1 / (1 + np.exp(-given @ found))
        slope = given.T @ (counts * (chance - kept)) + ridge * found
        bend = (given.T * (counts * chance * (1 - chance))) @ given + np.diag(ridge)
        found = found - np.linalg.solve(bend, slope)
    weights = found[1:] / spread
    return np.r_[found[0] - weights @ middle, weights]


def area(odds: list[float], kept: list[float]) -> float:
    """The area under the curve: how often what most kept has the higher odds."""
    good, ranks = np.array(kept) > 0.6, rankdata(odds)
    pairs = good.sum() * (~good).sum()
    return float((ranks[good].sum() - good.sum() * (good.sum() + 1) / 2) / max(pairs, 1))


def main() -> None:
    verdicts = read()
    known = [one for one in verdicts if one.set in COUNTS and not _is_given_up(one)]
    print(f"fitted on {len(known)} edits")
    inputs = np.array([verdict.inputs() for verdict in known], float)
    counts = np.array([COUNTS[verdict.set] for verdict in known])
    weights = regression(known, inputs, counts)
    for name, weight in zip(("bias", *WEIGHTS, *HARDER, *REST), weights, strict=True):
        print(f"  {name}: {weight:.2f}")
    later = [one for one in verdicts if one.set in LATER]
    print(f"  agreed: {agreement(later):.1f}, by {len(later)} other edits")
    for name in dict.fromkeys(verdict.set for verdict in verdicts):
        told = []
        for kind in KINDS:
            some = [one for one in verdicts if one.set == name and one.kind == kind]
            if some:
                kept = [one.kept for one in some]
                found = area([one.odds() for one in some], kept)
                told.append(f"{kind} {np.mean(kept):.0%} of {len(some)} kept, AUC {found:.2f}")
        print(f"{name}: {'; '.join(told)}")
    cared_for(verdicts)


def agreement(verdicts: list[Verdict]) -> float:
    """The weight of the IoU of both masks, beside odds that know nothing of it."""
    rows = []
    for one in verdicts:
        agreed = outline_measures(*one.outline())["agreed"]
        before = one.odds() - CLEAR["agreed"] * agreed
        rows.append([before, agreed, *(one.kind == kind for kind in KINDS[1:])])
    _, odds, weight, *_ = regression(verdicts, np.array(rows, float), np.ones(len(rows)))
    return float(weight / odds)


def cared_for(verdicts: list[Verdict]) -> None:
    """Print what is let through of M, and kept, with more care."""
    for kind in KINDS:
        some = [one for one in verdicts if one.set == "M" and one.kind == kind]
        told = []
        for care in CARES:
            kept = [one.kept for one in some if one.odds() >= LEAST_CLEAR[kind] + care]
            told.append(
                f"care {care}: {len(kept) / OF_M:.0%} let through, {np.mean(kept):.0%} kept"
            )
        print(f"M, {kind}: {'; '.join(told)}")


def _is_given_up(one: Verdict) -> bool:
    """Whether things of a category don't get an edit any more."""
    without = ("cup", "motorcycle", "boat", "vase", "wine glass")
    return one.category in without and one.kind in ("surface", "recolour")


if __name__ == "__main__":
    main()
