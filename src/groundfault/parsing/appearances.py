"""What looks like one thing and is another: "It looks like a dog, but it is really a blanket."."""

from __future__ import annotations

import re

__all__ = ["seen_through"]

_SEEMS = (
    r"(?:looks? like|looked like|resembl\w+|appear(?:s|ed) to be|seem(?:s|ed) to be|"
    r"(?:mis)?took (?:\w+ )?for|mistook|mistaken for|thought (?:it |that |this )?was|"
    r"pass(?:es)? for)"
)
_IS = r"(?:'s|'re| is| are| was| were| turns out to be| turned out to be| proves to be)"
_SEEN_THROUGH = re.compile(
    rf"\b{_SEEMS}\b(?P<seeming>[^.;!?]{{1,100}}?)(?:"
    rf"(?:[,;]| -|–|—)? ?(?:\b(?:but|yet|however|though|although)\b,? )?(?:in (?:fact|reality),? )?"
    rf"\b(?:it|this|that|they|these|those){_IS}"
    rf"(?: (?:actually|really|in fact|in reality|only|just|merely|simply))"
    rf"|,? (?:turns|turned) out to be|,? (?:is|are|was|were) (?:actually|really|in fact|in reality)"
    rf")(?P<truth> [^.;!?]{{1,100}})",
    re.IGNORECASE,
)


def seen_through(sentence: str) -> tuple[str, str] | None:
    """What something seems to be and what it is, where a sentence says both.

    >>> seen_through("It looks like a dog, but it is actually a folded blanket.")
    ('a dog', 'a folded blanket')
    >>> seen_through("What I took for a cushion turns out to be a cat.")
    ('a cushion', 'a cat')
    """
    found = _SEEN_THROUGH.search(sentence)
    return (found["seeming"].strip(" ,"), found["truth"].strip(" ,")) if found else None
