"""How often each check is wrong: what it measured beside what people, or the truth, say.

n               labelled edits that it measured
false accepts   bad ones that it lets through, of all bad ones
false rejects   good ones that it objects to, of all good ones
AUC             chance that a good edit measures better than a bad one, ties counting half, with
                DeLong's 95 % interval; it does not depend on the threshold
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np

from groundfault.building.checks.catalogue import CHECKS
from groundfault.building.checks.check import threshold
from groundfault.building.checks.questions import question_ids
from groundfault.building.checks.settings import VerifySettings
from groundfault.building.checks.summary import Measured, measured
from groundfault.building.review import WARM_UP, Decision, read_decisions
from groundfault.building.stages import kept_candidates
from groundfault.errors import DataError, UsageError
from groundfault.io.foreign import decode_json
from groundfault.records import Estimate

__all__ = ["CheckCard", "auc", "cards", "check_cards", "read_labels"]

AnyPath = str | PathLike[str]
Labels = Mapping[str, bool]
"""Candidate → whether its edit is good."""


class CheckCard(msgspec.Struct, frozen=True, kw_only=True):
    """The errors of one check."""

    check: str
    threshold: float | None
    """None where it drops nothing."""
    good: int
    bad: int
    """Labelled edits that it measured."""
    false_accepts: int
    false_rejects: int
    auc: Estimate


class _Label(msgspec.Struct, frozen=True):
    id: str
    verdict: Literal["accept", "reject"]


def read_labels(path: AnyPath) -> dict[str, bool]:
    """Labels from lines {"id", "verdict"}, or from a desk's decisions, where most votes count."""
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"{path}: no such file; give labels.jsonl, or the desk's decisions")
    content = path.read_bytes()
    if path.suffix == ".parquet" or b'"item_id"' in content.partition(b"\n")[0]:
        return _majority(read_decisions(path))
    found: dict[str, bool] = {}
    for number, line in enumerate(content.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            label = decode_json(line, _Label)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
            remedy = 'write {"id": …, "verdict": "accept"} or "reject"'
            raise DataError(
                path, f"no label ({problem})", record=f"line {number}", remedy=remedy
            ) from None
        if found.setdefault(label.id, label.verdict == "accept") != (label.verdict == "accept"):
            remedy = "give each candidate one verdict"
            raise DataError(
                path, f"two verdicts about {label.id!r}", record=f"line {number}", remedy=remedy
            )
    return found


def _majority(decisions: Iterable[Decision]) -> dict[str, bool]:
    votes: dict[str, Counter[str]] = {}
    for decision in decisions:
        if not decision.undone and decision.stage != WARM_UP:
            votes.setdefault(decision.item_id, Counter())[decision.verdict] += 1
    return {
        name: of["accept"] > of["reject"]
        for name, of in votes.items()
        if of["accept"] != of["reject"]
    }


def check_cards(
    folder: AnyPath, labels: Labels, settings: VerifySettings | None = None
) -> list[CheckCard]:
    """The cards of a build's checks."""
    if not (Path(folder) / "stages" / "verify.jsonl").is_file():
        raise UsageError(f"{folder}: no edit was checked there; build up to --stage verify first")
    kinds = {
        each.id: each.proposal.kind for each in kept_candidates(folder, "edit") if each.proposal
    }
    found = [
        msgspec.structs.replace(each, kind=kinds.get(each.id, each.kind))
        for each in measured(folder)
    ]
    if not any(each.id in labels for each in found):
        raise UsageError(
            f"{folder}: none of its {len(found)} edits has a label; are the ids right?"
        )
    return cards(found, labels, settings or VerifySettings())


def cards(found: Sequence[Measured], labels: Labels, settings: VerifySettings) -> list[CheckCard]:
    """The card of every check that measured a labelled edit."""
    known = [each for each in found if each.id in labels]
    made = (*_by_pixels(known, labels, settings), *_by_models(known, labels))
    return [card for card in made if card.good + card.bad]


def _by_pixels(
    found: Sequence[Measured], labels: Labels, settings: VerifySettings
) -> Iterator[CheckCard]:
    for check in (each for each in CHECKS if each.wants):
        with_it = [each for each in found if check.name in each.checks]
        values = [float(each.checks[check.name]) for each in with_it]
        limits = [threshold(check, settings, each.kind) for each in with_it]
        yield _card(
            check.name,
            getattr(settings, check.setting) if check.setting else None,
            [labels[each.id] for each in with_it],
            [check.objects(v, limit) for v, limit in zip(values, limits, strict=True)],
            [check.goodness(value) for value in values],
        )


def _by_models(found: Sequence[Measured], labels: Labels) -> Iterator[CheckCard]:
    for judge in ("vlm", "second-vlm"):
        for question in question_ids():
            name = f"{judge}:{question}"
            with_it = [each for each in found if isinstance(each.checks.get(name), bool)]
            said = [bool(each.checks[name]) for each in with_it]
            good = [labels[each.id] for each in with_it]
            yield _card(name, 1.0, good, [not yes for yes in said], [float(yes) for yes in said])


def _card(
    name: str,
    limit: float | None,
    good: Sequence[bool],
    objects: Sequence[bool],
    goodness: Sequence[float],
) -> CheckCard:
    pairs = list(zip(good, objects, strict=True))
    return CheckCard(
        check=name,
        threshold=limit,
        good=sum(good),
        bad=len(good) - sum(good),
        false_accepts=pairs.count((False, False)),
        false_rejects=pairs.count((True, True)),
        auc=auc(
            [g for g, is_good in zip(goodness, good, strict=True) if is_good],
            [g for g, is_good in zip(goodness, good, strict=True) if not is_good],
        ),
    )


def auc(good: Sequence[float], bad: Sequence[float]) -> Estimate:
    """The chance that a good one has the larger number, with DeLong's interval; None where one of
    them is missing, without an interval where nothing varies.

    >>> auc([2.0, 3.0], [1.0, 3.0]).value
    0.625
    """
    n = len(good) + len(bad)
    if not good or not bad:
        return Estimate(None, n=n)
    one, other = np.sort(np.asarray(bad)), np.asarray(good)
    placed = (np.searchsorted(one, other) + np.searchsorted(one, other, "right")) / (2 * len(one))
    ordered = np.sort(other)
    below = np.searchsorted(ordered, bad) + np.searchsorted(ordered, bad, "right")
    value = float(placed.mean())
    if len(good) < 2 or len(bad) < 2:
        return Estimate(value, n=n)
    spread = placed.var(ddof=1) / len(good) + (below / (2 * len(good))).var(ddof=1) / len(bad)
    if not spread:
        return Estimate(value, n=n)
    half = 1.96 * math.sqrt(spread)
    return Estimate(value, max(0.0, value - half), min(1.0, value + half), n)
