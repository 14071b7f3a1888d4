"""What a text says is there: mentions that are not denied ("no lamp") nor only supposed ("a lamp
would usually stand there"), clause by clause."""

from __future__ import annotations

import re

__all__ = ["CLAUSE", "NEGATED_BEFORE", "SUPPOSED", "asserts", "denied", "denies"]

CLAUSE = re.compile(r"[.;:!?\n]+|,|\bbut\b|\bthough\b|\balthough\b|\bhowever\b|\bwhile\b|–|—|\s-\s")
NEGATED_BEFORE = re.compile(
    r"\b(?:no|not|never|without|neither|nor|none|nothing|cannot|lacks?|lacking|instead of|"
    r"rather than|other than|unlike)\b|n't\b"
)
_NEGATED_AFTER = re.compile(
    r"^(?!\s+(?:that|which)\b)[^,.;]{0,40}?(?:\b(?:is|are|was|were)(?: \w+)? "
    r"(?:not|absent|missing|gone|nowhere|removed|erased)\b|"
    r"\b(?:isn't|aren't|wasn't|does not|doesn't|cannot|can't|not)\b|\bto be seen nowhere\b)"
)
SUPPOSED = re.compile(
    r"\b(?:usually|normally|typically|would|expect(?:ed)?|should|often|common(?:ly)?|"
    r"might have|could have|used to|most people|as if)\b"
)


def asserts(text: str, thing: re.Pattern[str], *, supposing: bool = False) -> bool:
    """Whether some clause mentions a thing as being there; `supposing` counts those that only
    suppose it.

    >>> lamp = re.compile("lamp")
    >>> asserts("a lamp on a table", lamp), asserts("no lamp, just a table", lamp)
    (True, False)
    >>> asserts("a lamp would usually stand here", lamp), asserts("the lamp is missing", lamp)
    (False, False)
    >>> asserts("would a lamp do?", lamp, supposing=True)
    True
    """
    return any(
        not denied(clause, mention)
        for clause in CLAUSE.split(text)
        if supposing or not SUPPOSED.search(clause)
        for mention in thing.finditer(clause)
    )


def denies(text: str, thing: re.Pattern[str]) -> bool:
    """Whether some clause mentions a thing as not being there."""
    return any(
        denied(clause, mention)
        for clause in CLAUSE.split(text)
        for mention in thing.finditer(clause)
    )


def denied(clause: str, mention: re.Match[str]) -> bool:
    """Whether a clause denies what it mentions."""
    before, after = clause[: mention.start()], clause[mention.end() :]
    return bool(NEGATED_BEFORE.search(before) or _NEGATED_AFTER.match(after))
