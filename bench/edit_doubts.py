"""What makes a careful eye reject a new surface or substance: weights from edits judged by eye.

    python bench/edit_doubts.py [--write]

edit_verdicts.csv has what was measured of things in photographs and how raters judged edits of
them, most with all filters off: accept, borderline (not accepted) or reject. Versions 1 and 2 of
the editor were judged by captions, 3 beside before, by the rubric of `edit_review.py`. A logistic
regression with a ridge gives each measure, category and value its weight. Printed is how good the
ranking of version 3 is on photographs that are left out in turn, a tenth at a time; --write puts
the weights into the package.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from groundfault.editors.procedural.doubts import GROUPS, LOGARITHMIC, PATH

VERDICTS = Path(__file__).with_name("edit_verdicts.csv")
RIDGE, RIDGE_OF_NAMES = 60.0, 15.0
"""The ridge of measures and groups, and that of single categories and values."""
FEWEST = 4
"""Categories that were judged less often have no weight of their own."""
COUNTS = {"1": 0.08, "2": 0.15, "3": 1.0}
"""What a verdict counts, by the version that was judged."""
SHARES = (0.2, 0.25, 0.3, 0.35)


class Judged(NamedTuple):
    """All verdicts on one kind of edit."""

    names: list[str]
    inputs: Any
    """(n, names), not yet scaled."""
    accepted: Any
    weights: Any
    tenths: Any
    """Which tenth of the photographs each belongs to."""


def read(kind: str) -> Judged:
    """The verdicts on a kind of edit, as inputs of a regression."""
    with VERDICTS.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["kind"] == kind]
    measures = list(rows[0])[6:]
    often = Counter(row["category"] for row in rows)
    known = sorted(category for category, count in often.items() if count >= FEWEST)
    names = [
        *measures,
        *(f"of:{group}" for group in GROUPS),
        *(f"category:{category}" for category in known),
        *(f"value:{value}" for value in sorted({row["value"] for row in rows})),
    ]
    inputs = np.zeros((len(rows), len(names)))
    for number, row in enumerate(rows):
        for column, name in enumerate(measures):
            found = float(row[name])
            inputs[number, column] = np.log(max(found, 1e-3)) if name in LOGARITHMIC else found
        for name in _names_of(row):
            if name in names:
                inputs[number, names.index(name)] = 1
    return Judged(
        names,
        inputs,
        np.array([row["verdict"] == "accept" for row in rows], float),
        np.array([COUNTS[row["version"]] for row in rows]),
        np.array([int(row["image_id"]) % 10 for row in rows]),
    )


def _names_of(row: dict[str, str]) -> list[str]:
    groups = [f"of:{group}" for group, members in GROUPS.items() if row["category"] in members]
    return [*groups, f"category:{row['category']}", f"value:{row['value']}"]


def _is_single(judged: Judged) -> Any:
    return np.array([name.startswith(("category:", "value:")) for name in judged.names])


def regression(judged: Judged, where: Any) -> Any:
    """The bias and the weights of scaled inputs, from some of the rows."""
    inputs, accepted, weights = judged.inputs[where], judged.accepted[where], judged.weights[where]
    ridge = np.where(_is_single(judged), RIDGE_OF_NAMES, RIDGE)

    def loss(found: Any) -> tuple[float, Any]:
        odds = inputs @ found[1:] + found[0]
        error = weights * (1 / (1 + np.exp(-odds)) - accepted)
        value = (weights * (np.logaddexp(0, odds) - accepted * odds)).sum()
        value += 0.5 * (ridge * found[1:] ** 2).sum()
        return value, np.concatenate([[error.sum()], inputs.T @ error + ridge * found[1:]])

    return minimize(loss, np.zeros(len(judged.names) + 1), jac=True, method="L-BFGS-B").x


def scaled(judged: Judged) -> tuple[Judged, Any, Any]:
    """Measures and groups with a mean of 0 and a deviation of 1; single categories and values stay
    as they are."""
    middle = np.where(_is_single(judged), 0, judged.inputs.mean(0))
    spread = np.where(_is_single(judged), 1, judged.inputs.std(0) + 1e-9)
    return judged._replace(inputs=(judged.inputs - middle) / spread), middle, spread


def report(kind: str, judged: Judged) -> None:
    """Print how good the ranking is on photographs that were left out."""
    odds = np.zeros(len(judged.accepted))
    for tenth in range(10):
        out = judged.tenths == tenth
        found = regression(judged, ~out)
        odds[out] = judged.inputs[out] @ found[1:] + found[0]
    newest = judged.weights == 1
    odds, accepted = odds[newest], judged.accepted[newest]
    good, bad = odds[accepted == 1], odds[accepted == 0]
    order = np.argsort(-odds)
    best = ", ".join(
        f"{accepted[order[: round(share * len(order))]].mean():.0%} of the best {share:.0%}"
        for share in SHARES
    )
    print(f"{kind}: {len(accepted)} things, {accepted.mean():.0%} accepted; ", end="")
    print(f"AUC {(good[:, None] > bad[None]).mean():.2f}; accepted: {best}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"write {PATH.name}")
    arguments = parser.parse_args()
    tables = {}
    for kind in ("surface", "material", "recolour"):
        judged, middle, spread = scaled(read(kind))
        report(kind, judged)
        found = regression(judged, np.full(len(judged.accepted), True))
        weights = found[1:] / spread
        bias = found[0] - (weights * middle).sum()
        table = {
            name: round(float(weight), 3)
            for name, weight in zip(judged.names, weights, strict=True)
        }
        tables[kind] = {"bias": round(float(bias), 3), **table}
    if arguments.write:
        PATH.write_text(json.dumps(tables, indent=1) + "\n")


if __name__ == "__main__":
    main()
