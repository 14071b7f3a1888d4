"""The papers' rules about proposals, by id, checked before money is spent.

Each rule is a small function that gives what breaks it, or "". An error drops a proposal (or has
its author asked again, with the rule); a warning is kept with it. Rules that only a person or a
model can check (is the texture distinctive?) are not here: see `critic`.

CAFE's rules have the ids SM-1 … OC-10 … CC-9 of its three lists, and Q- for what holds of all
three; HalluSegBench's are HS-1 to HS-8; ReactBench's are RE- (erasure), RA- (attribute) and RT-
(tracing).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Literal

import msgspec

from groundfault.building.denied import Denied
from groundfault.building.proposals.kinds import NOBODY
from groundfault.building.records import Candidate, Proposal
from groundfault.errors import UnknownName

__all__ = [
    "RULES",
    "Rule",
    "Subject",
    "Violation",
    "check_ids",
    "errors",
    "first_error",
    "lint",
    "rule",
    "rules_of",
    "warnings",
]

Severity = Literal["error", "warning"]


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """What a proposal is about, as far as rules need it."""

    task: str
    category: str
    present: frozenset[str] = frozenset()
    """Names of the other things in the picture."""
    others: int = 0
    """Other things of the target's category in the picture."""
    denied: Denied = NOBODY
    """What no phrase may name."""
    facts: Mapping[str, str] = {}

    @classmethod
    def of(cls, candidate: Candidate, denied: Denied = NOBODY) -> Subject:
        """The subject of a candidate's proposal."""
        target = candidate.target
        others = [t for t in candidate.photograph.things if t.id != target.id]
        return cls(
            task=candidate.task,
            category=target.category,
            present=frozenset(thing.category for thing in others if thing.category),
            others=sum(1 + thing.crowd for thing in others if thing.category == target.category),
            denied=denied,
            facts=candidate.facts,
        )


Check = Callable[[Proposal, Subject], str]


class Rule(msgspec.Struct, frozen=True):
    """A rule with the sentence that tells it to whoever broke it."""

    id: str
    severity: Severity
    tasks: tuple[str, ...]
    says: str
    check: Check


class Violation(msgspec.Struct, frozen=True):
    """A rule that a proposal breaks, and what breaks it."""

    rule: str
    severity: Severity
    says: str
    found: str


RULES: dict[str, Rule] = {}
"""All rules by id, in the order in which they are checked."""


def rule(
    id: str, severity: Severity, tasks: str | Sequence[str], says: str
) -> Callable[[Check], Check]:
    """Declare a rule of some tasks."""

    def declare(check: Check) -> Check:
        RULES[id] = Rule(
            id, severity, (tasks,) if isinstance(tasks, str) else tuple(tasks), says, check
        )
        return check

    return declare


def lint(
    proposal: Proposal, about: Candidate | Subject, *, without: Iterable[str] = ()
) -> tuple[Violation, ...]:
    """The rules that a proposal breaks, in order; `without` names rules that are not checked."""
    subject = about if isinstance(about, Subject) else Subject.of(about)
    off = frozenset(without)
    found = []
    for each in rules_of(subject.task):
        problem = "" if each.id in off else each.check(proposal, subject)
        if problem:
            found.append(Violation(each.id, each.severity, each.says, problem))
    return tuple(found)


def first_error(
    proposal: Proposal, subject: Subject, *, without: Collection[str] = ()
) -> Violation | None:
    """The first rule that a proposal breaks and must not break; no rule after it is checked."""
    for each in rules_of(subject.task):
        if each.severity == "error" and each.id not in without:
            problem = each.check(proposal, subject)
            if problem:
                return Violation(each.id, each.severity, each.says, problem)
    return None


@lru_cache
def rules_of(task: str) -> tuple[Rule, ...]:
    """The rules of a task."""
    _load()
    return tuple(each for each in RULES.values() if task in each.tasks)


def check_ids(ids: Iterable[str]) -> None:
    """Refuse the name of a rule that there is none of."""
    _load()
    for each in ids:
        if each not in RULES:
            raise UnknownName("rule of proposals", each, RULES)


def errors(violations: Iterable[Violation]) -> tuple[Violation, ...]:
    """Those that a proposal must not have."""
    return tuple(v for v in violations if v.severity == "error")


def warnings(violations: Iterable[Violation]) -> tuple[str, ...]:
    """The ids of those that are kept with a proposal."""
    return tuple(v.rule for v in violations if v.severity == "warning")


def _load() -> None:
    """Have the papers' rules declared."""
    from groundfault.building.proposals import cafe_rules, exam_rules, replacement_rules  # noqa: F401
