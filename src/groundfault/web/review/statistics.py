"""What owners watch: progress, agreement, and how each reviewer does.

Everything is a function of the decisions that stand. Drift compares the last `RECENT` decisions of
a person with those before: the share accepted (Fisher's exact test) and the time taken.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from statistics import median

import msgspec

from groundfault.building.agreement import Agreement, agreements, is_apart
from groundfault.building.review import WARM_UP
from groundfault.web.review.database import Rows
from groundfault.web.review.items import Items

__all__ = ["Agreement", "Opinion", "Overview", "Reviewer", "opinions", "overview", "progress"]

RECENT = 50
NOTABLE_P = 0.01
"""Reviewers are looked at all the time: a drift is said only where chance hardly makes it."""


class Opinion(msgspec.Struct, frozen=True, gc=False):
    """A decision that stands, as far as numbers go."""

    item: str
    stage: str
    person: str
    verdict: str
    seconds: float


class Reviewer(msgspec.Struct, frozen=True, kw_only=True):
    """How one person does."""

    name: str
    role: str
    removed: bool
    decided: int
    skipped: int
    seconds: float | None
    """The median of a decision."""
    accepted: float | None
    """The share of verdicts."""
    recently: float | None
    """The same of the last ones."""
    recent_seconds: float | None
    drift: float | None
    """p of the difference between recent verdicts and those before."""
    gold: int
    gold_right: int
    with_others: float | None
    """The share of items about which the majority of the others says the same."""


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about a review at a glance."""

    progress: dict[str, dict[str, int]]
    """Stage → state → items; decided ones stand by the stage that decided."""
    kinds: dict[str, dict[str, int]]
    """Kind of edit → state → items."""
    agreement: tuple[Agreement, ...]
    reviewers: tuple[Reviewer, ...]
    reasons: tuple[tuple[str, int], ...]
    """Why things were rejected, the most frequent first."""


def opinions(rows: Rows) -> list[Opinion]:
    """Every decision that stands, in order."""
    found = rows(
        "SELECT d.item, d.stage, d.person, d.verdict, d.seconds FROM decision d "
        "LEFT JOIN undo u ON u.decision=d.id WHERE u.decision IS NULL ORDER BY d.id"
    )
    return [Opinion(*row) for row in found]


States = dict[str, dict[str, int]]


def progress(rows: Rows, items: Items, stages: Sequence[str]) -> tuple[States, States]:
    """How many items are in which state, by stage (in this order) and by kind."""
    by_stage: dict[str, Counter[str]] = {stage: Counter() for stage in stages}
    by_kind: dict[str, Counter[str]] = defaultdict(Counter)
    for item, stage, state in rows("SELECT item, stage, state FROM task ORDER BY place"):
        if state != "gold" and item in items:
            by_stage[stage][state] += 1
            by_kind[items[item].kind][state] += 1
    return {s: dict(c) for s, c in by_stage.items()}, {k: dict(c) for k, c in by_kind.items()}


def overview(
    said: Sequence[Opinion],
    items: Items,
    people: Sequence[tuple[str, str, int]],
    states: tuple[States, States],
    reasons: Mapping[str, int],
) -> Overview:
    """The numbers of a review; `people` are (name, role, removed)."""
    return Overview(
        progress=states[0],
        kinds=states[1],
        agreement=tuple(_agreements(said, items)),
        reviewers=tuple(_reviewers(said, items, people)),
        reasons=tuple(Counter(reasons).most_common(12)),
    )


# ── agreement ───────────────────────────────────────────────────────────────────────────────────


def _agreements(said: Sequence[Opinion], items: Items) -> list[Agreement]:
    """Gold items are left out: what they are is known."""
    named = {opinion.item for opinion in said if opinion.item in items}
    kinds = {item: items[item].kind for item in named if items[item].gold is None}
    return agreements(((o.item, o.stage, o.verdict) for o in said), kinds)


# ── reviewers ───────────────────────────────────────────────────────────────────────────────────


def _reviewers(
    said: Sequence[Opinion], items: Items, people: Sequence[tuple[str, str, int]]
) -> list[Reviewer]:
    by_person: dict[str, list[Opinion]] = defaultdict(list)
    by_item: dict[tuple[str, str], list[Opinion]] = defaultdict(list)
    for opinion in said:
        if opinion.item in items and opinion.stage != WARM_UP:
            by_person[opinion.person].append(opinion)
            if not is_apart(opinion.stage):
                by_item[opinion.item, opinion.stage].append(opinion)
    return [
        _reviewer(name, role, bool(removed), by_person[name], by_item, items)
        for name, role, removed in people
    ]


def _reviewer(
    name: str,
    role: str,
    removed: bool,
    said: Sequence[Opinion],
    by_item: Mapping[tuple[str, str], Sequence[Opinion]],
    items: Items,
) -> Reviewer:
    verdicts = [o for o in said if o.verdict != "skip"]
    recent, before = verdicts[-RECENT:], verdicts[:-RECENT]
    gold = [o for o in verdicts if items[o.item].gold is not None]
    return Reviewer(
        name=name,
        role=role,
        removed=removed,
        decided=len(verdicts),
        skipped=len(said) - len(verdicts),
        seconds=_seconds(verdicts),
        accepted=_accepted(verdicts),
        recently=_accepted(recent) if before else None,
        recent_seconds=_seconds(recent) if before else None,
        drift=_drift(before, recent),
        gold=len(gold),
        gold_right=sum(o.verdict == items[o.item].gold for o in gold),
        with_others=_with_others(name, verdicts, by_item),
    )


def _seconds(said: Sequence[Opinion]) -> float | None:
    return median(o.seconds for o in said) if said else None


def _accepted(said: Sequence[Opinion]) -> float | None:
    return sum(o.verdict == "accept" for o in said) / len(said) if said else None


def _drift(before: Sequence[Opinion], recent: Sequence[Opinion]) -> float | None:
    """Fisher's exact p of the shares accepted before and recently."""
    if len(before) < RECENT:
        return None
    from scipy.stats import fisher_exact

    table = [[sum(o.verdict == v for o in part) for v in ("accept", "reject")]
             for part in (before, recent)]  # fmt: skip
    return float(fisher_exact(table).pvalue)


def _with_others(
    name: str,
    said: Sequence[Opinion],
    by_item: Mapping[tuple[str, str], Sequence[Opinion]],
) -> float | None:
    same = compared = 0
    for opinion in said:
        others = Counter(
            o.verdict
            for o in by_item.get((opinion.item, opinion.stage), ())
            if o.person != name and o.verdict != "skip"
        )
        most = others.most_common(2)
        if not most or (len(most) > 1 and most[0][1] == most[1][1]):
            continue  # nobody else, or the others are divided
        compared += 1
        same += most[0][0] == opinion.verdict
    return same / compared if compared else None
