"""What went wrong in a case, and how badly: from its row of the case table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groundfault.matching.quads import ROLES

__all__ = ["POOR_IOU", "judged_case"]

POOR_IOU = 0.5
IOUS = ("IoU_fact", "IoU_textual", "IoU_visual", "IoU_cf")
"""Columns of a replacement's overlaps, in the order of ROLES."""


def judged_case(row: Mapping[str, Any]) -> tuple[tuple[str, ...], float] | None:
    """The cells of a case and how bad it is; None where nothing is wrong or nothing is known."""
    if "comparison" in row:
        return _judge_comparison(row)
    if row.get("positive_cell") and row.get("negative_cell"):
        return _judge_pair(row)
    if "IoU_textual" in row:
        return _judge_quad(row)
    if "existence_correct" in row:
        return _judge_query(row)
    if row.get("n_objects") is not None and "positive_n_accepted" in row:
        there, accepted = row["n_objects"] > 0, row["positive_n_accepted"] > 0
        if there == accepted or row.get("positive_outcome") == "failed":
            return None
        highest = max(row["positive_scores"] or (0.0,))
        return (("missed",), 1 - highest) if there else (("false alarm",), 1 + highest)
    return None


TELLING = (
    "change", "kind_of", "part_of", "same", "kept", "absent", "turned", "exclusive",
)  # fmt: skip
"""Kinds of comparisons of an audit, what tells most last."""


def _judge_comparison(row: Mapping[str, Any]) -> tuple[tuple[str, ...], float] | None:
    """Two phrases that exclude each other tell most, a changed picture least; among like ones the
    surer answers do."""
    if not row["wrong"]:
        return None
    scores = [row["first_score"], row["second_score"]]
    accepted = [score for score in scores if score is not None]
    both = row["comparison"] == "exclusive"
    sure = (min if both else max)(accepted, default=0.0)
    return (row["wrong"],), TELLING.index(row["comparison"]) + min(max(sure, 0.0), 0.99)


def _judge_pair(row: Mapping[str, Any]) -> tuple[tuple[str, ...], float] | None:
    """A swap is worse than a false answer on the object, that than one elsewhere, and that than
    a miss; among like cases the surer answer is worse."""
    positive, negative = row["positive_cell"], row["negative_cell"]
    lost = positive != "TA-TP"
    sure = max(row["negative_scores"] or (0.0,))
    worse = {"TA-FP": 3.0 if lost else 2.0, "UA-FP": 1.5 if lost else 1.0}
    if negative in worse:
        return (positive, negative), worse[negative] + min(max(sure, 0.0), 0.99)
    if lost:
        return (positive, negative), 0.5 - 0.5 * max(row["positive_scores"] or (0.0,))
    return None


def _judge_quad(row: Mapping[str, Any]) -> tuple[tuple[str, ...], float] | None:
    """A mask that should have gone is worse than one that is missing, and that than an answer that
    could not be read, which shows no mask at all."""
    unread = [row.get(f"{role}_outcome") == "unparsed" for role in ROLES]
    overlaps = [
        None if unreadable else row[name] for name, unreadable in zip(IOUS, unread, strict=True)
    ]
    fact, textual, visual, counterfact = overlaps
    stays = {"words ignored": textual or 0.0, "picture ignored": visual or 0.0}
    cells = [cell for cell, overlap in stays.items() if overlap >= POOR_IOU]
    weakest = min((value for value in (fact, counterfact) if value is not None), default=1.0)
    if weakest < POOR_IOU:
        cells.append("object missed")
    if any(unread):
        cells.append("not readable")
    if not cells:
        return None
    return tuple(cells), (len(cells) + max(stays.values()) if cells[0] in stays else 1 - weakest)


def _judge_query(row: Mapping[str, Any]) -> tuple[tuple[str, ...], float] | None:
    if row["existence_correct"] is None:
        return None
    if not row["existence_correct"]:
        accepted = row.get("premise") == "false"
        cell = "false premise accepted" if accepted else "true premise rejected"
        return (cell,), 1.0 + (row.get("score") or 0.0)
    overlap = row.get("iou")
    if overlap is not None and overlap < POOR_IOU:
        return ("poor mask",), 1 - overlap
    return (("not named",), 0.25) if row.get("named") is False else None
