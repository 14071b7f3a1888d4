"""Answers that rate instead of saying: a share for each option ("A: 5 %, B: 85 %"), or how sure a
model is of what it states ("Probability that there is a dog: 2 %").

A share is a percentage, or a decimal fraction between 0 and 1; other numbers rate nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["SURE_FROM", "UNLIKELY_TO", "best_rated", "sureness"]

_SHARE = r"(?:(?P<percent>\d{1,3}(?:\.\d+)?) ?%|(?P<fraction>0?\.\d+|1\.0+|0\.0*))(?![\w.]\d)"
_BETWEEN = r"[\"')\]]{0,2}(?: (?:is|has|at|with|probability|likelihood|confidence))*[\s:=(~→-]{1,4}"
SURE_FROM, UNLIKELY_TO = 0.9, 0.1
"""From the first share on a statement stands, and up to the second its opposite does."""


def best_rated(text: str, names: Sequence[str]) -> int | None:
    """The place of the name with the highest share, -1 if there is a tie, or None where fewer than
    two are rated. Names are regular expressions.

    >>> best_rated("A: 5%, B: 85%, C: 10%", "ABC"), best_rated("yes: 0.97, no: 0.03", ["yes", "no"])
    (1, 0)
    >>> best_rated("A: 50%, B: 50%", "ABC"), best_rated("B. 5 % of them are red.", "ABC")
    (-1, None)
    """
    found = [share for name in names if (share := _rated(text, name)) is not None]
    if len(found) < 2:
        return None
    shares = [_rated(text, name) or 0.0 for name in names]
    best = max(shares)
    return shares.index(best) if shares.count(best) == 1 else -1


def _rated(text: str, name: str) -> float | None:
    found = re.search(rf"(?<![\w'])(?:{name}){_BETWEEN}{_SHARE}", text, re.IGNORECASE)
    return None if found is None else _value(found)


def _value(found: re.Match[str]) -> float:
    return float(found["percent"]) / 100 if found["percent"] else float(found["fraction"])


_SURENESS = re.compile(
    rf"\b(?:probability|likelihood|chances?|odds|confidence|certainty)\b(?: (?:that|of|for))?"
    rf"(?P<stated>[^.\n%]{{0,200}}?)(?: is)?[\s:=(~]{{1,4}}{_SHARE}"
    rf"|(?:i(?:'m| am) |with )?{_SHARE.replace('P<', 'P<also_')} "
    r"(?:sure|certain|confident|chance|probability|likelihood|likely|confidence|certainty)"
    r"(?: (?:that|of|for))?",
    re.IGNORECASE,
)


def sureness(sentence: str) -> tuple[str, float] | None:
    """What a sentence states, and how sure it says that it is; None where it does not.

    >>> sureness("Probability that there is a dog: 2%"), sureness("There is a dog.")
    (('there is a dog', 0.02), None)
    """
    found = _SURENESS.search(sentence)
    if found is None:
        return None
    whole = found["percent"] or found["also_percent"]
    share = float(whole) / 100 if whole else float(found["fraction"] or found["also_fraction"])
    stated = f"{found['stated'] or ''}{sentence[found.end() :]}".strip(" ,:;)")
    return stated, share
