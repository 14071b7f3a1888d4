"""From counts to questions, and which photographs of a kind are twins."""

from __future__ import annotations

from collections.abc import Iterable

from groundfault.building.proposals.words import singular
from groundfault.building.questions.validators import NotAsked, required
from groundfault.building.records import Candidate
from groundfault.exams.counting import LEAST_APART, Counted

__all__ = ["TWIN_CANDIDATE", "counted", "counting_facts", "number_of", "paired"]

TWIN_CANDIDATE = "twin_candidate"
"""The fact that names the candidate whose photograph is the twin."""


def number_of(candidate: Candidate) -> int:
    """How many there are, by the proposal; 0 where nobody says."""
    text = candidate.proposal.fields.get("count", "") if candidate.proposal else ""
    return int(text) if text.isascii() and text.isdigit() else 0


def counted(candidate: Candidate, twin: Candidate | None) -> Counted:
    """What is asked about."""
    assert candidate.proposal is not None
    fields = candidate.proposal.fields
    required(fields, ("object", "count"))
    if fields.get("has_ambiguity") == "true":
        raise NotAsked("Q-ambiguous", fields.get("severity", ""))
    name = fields["object"]
    one = " ".join((*name.split()[:-1], singular(name.split()[-1])))
    return Counted(
        name=one,
        plural=name if one != name else _plural(name),
        count=number_of(candidate),
        twin=None if twin is None else number_of(twin),
    )


def _plural(name: str) -> str:
    """
    >>> _plural("strawberry"), _plural("box"), _plural("sheep"), _plural("wine glass")
    ('strawberries', 'boxes', 'sheep', 'wine glasses')
    """
    if name.endswith(("sheep", "fish", "deer", "skis", "scissors")):
        return name
    if name.endswith("y") and name[-2:-1] not in "aeiou":
        return f"{name[:-1]}ies"
    return f"{name}es" if name.endswith(("s", "x", "ch", "sh")) else f"{name}s"


def paired(candidates: Iterable[Candidate]) -> dict[str, Candidate | None]:
    """Id of a sample → its twin, a photograph of the same kind with another count; of a candidate
    that is another one's twin → None. Who finds none is not in it."""
    by_kind: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        if candidate.task == "counting" and number_of(candidate):
            by_kind.setdefault(candidate.target.category, []).append(candidate)
    found: dict[str, Candidate | None] = {}
    for several in by_kind.values():
        left = sorted(several, key=lambda each: (number_of(each), each.id))
        while left:
            first = left.pop(0)
            apart = [c for c in left if number_of(c) - number_of(first) >= LEAST_APART]
            if not apart:
                continue
            left.remove(apart[0])
            pair = (first, apart[0]) if first.seed % 2 else (apart[0], first)
            found |= {pair[0].id: pair[1], pair[1].id: None}
    return found


def counting_facts(about: Counted) -> dict[str, str]:
    """What is known about the sample."""
    return {"object": about.name, "count": str(about.count)}
