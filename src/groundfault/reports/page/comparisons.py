"""The two answers that an audit compares, as a card shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["compared_answers"]

ROLES: Mapping[str, tuple[str, str]] = {
    "exclusive": ("either", "or"),
    "absent": ("absent", ""),
    "same": ("wording", "wording"),
    "part_of": ("part", "whole"),
    "kind_of": ("kind", "wider kind"),
    "change": ("before", "after"),
    "kept": ("before", "after"),
    "turned": ("before", "after"),
}
View = tuple[str, str, str, bool | None, str, str]


def compared_answers(row: Mapping[str, Any]) -> Iterator[View]:
    """Role, phrase, what was answered, whether it is wrong, overlap, item id: of each answer."""
    kind = row["comparison"]
    wrong = bool(row["wrong"])
    for number, side in enumerate(("first", "second")):
        role = ROLES[kind][number]
        if not role:
            continue
        if role == "after":
            role = row["edit"] or row["name"]
        to_blame = kind in ("exclusive", "absent") or number == 1
        right = False if wrong and to_blame else None if wrong or row["unjudged"] else True
        detail = _detail(row) if number == 1 or kind == "absent" else ""
        yield role, row[f"{side}_query"], _answered(row, side), right, detail, row[f"{side}_id"]


def _answered(row: Mapping[str, Any], side: str) -> str:
    score, outcome = row[f"{side}_score"], row[f"{side}_outcome"]
    if outcome in ("failed", "unparsed"):
        return "no answer" if outcome == "failed" else "could not be read"
    if score is None:
        return "not found"
    return f"{'accepted' if row[f'{side}_accepted'] else 'below the threshold'}: {score:.2f}"


def _detail(row: Mapping[str, Any]) -> str:
    """What is known about the overlap, and why there is no verdict if there is none."""
    told = [row["unjudged"]] if row["unjudged"] else []
    if row["edit"] and row["comparison"] in ("exclusive", "absent"):
        told.append(f"edited: {row['edit']}")
    kind, overlap, after = row["comparison"], row["overlap"], row["overlap_after"]
    if kind in ("kept", "turned"):
        told += [f"on the edited region: IoU {_number(overlap)}, then {_number(after)}"]
    elif overlap is not None:
        inside = kind in ("part_of", "kind_of")
        told += [f"{overlap:.0%} inside" if inside else f"IoU {overlap:.2f}"]
    return "; ".join(told)


def _number(value: float | None) -> str:
    return "—" if value is None else f"{value:.2f}"
