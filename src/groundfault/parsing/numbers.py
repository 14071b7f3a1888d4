"""Whole numbers and ranges, in figures and in words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from groundfault.parsing.wording import DENIED, plain, split_sentences, unwrapped

__all__ = ["FIGURE", "figure_value", "parse_number", "parse_range"]

_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = (
    "ten", "eleven", "twelve", "thirteen", "fourteen",
    "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_VALUES = {
    **{word: value for value, word in enumerate(_ONES, start=1)},
    **{word: value for value, word in enumerate(_TEENS, start=10)},
    **{word: 10 * value for value, word in enumerate(_TENS, start=2)},
    "zero": 0,
    "fourty": 40,
    "a": 1,
    "an": 1,
}
_SMALL = (
    rf"(?:(?:{'|'.join(_TENS)}|fourty)(?:[\s-](?:{'|'.join(_ONES)}))?"
    rf"|{'|'.join(_TEENS)}|{'|'.join(_ONES)})"
)
_HUNDREDS = rf"(?:(?:{_SMALL}|a)[\s-]hundred(?:[\s-](?:and[\s-])?{_SMALL})?|{_SMALL})"
_NUMBER_WORDS = re.compile(
    rf"\b(?:half a dozen|(?:(?:{_SMALL}|\d+|a) )?dozen|zero|"
    rf"(?:{_HUNDREDS}|a)[\s-]thousand(?:[\s,-]+(?:and[\s-])?{_HUNDREDS})?|{_HUNDREDS})\b",
    re.IGNORECASE,
)
_NOT_A_COUNT = re.compile(
    r"\b(?:the|this|that|each|every|which|any|another|no|other|by|first|last|left|right|middle) "
    r"one\b|\bone (?:of|by|can|could|would|sees|another|side|the|on|in|at|more)\b|"
    r"\b(?:image|picture|photo|figure|question|option|q|step|row|column|group|region|number|no\.) ?"
    r"#?\d+\b(?! (?:in total|altogether))|\b\d+(?:st|nd|rd|th)\b|\b(?:both|two|2) (?:images|"
    r"pictures|photos)\b|\b\d+ ?(?:%|percent|px|pixels|cm|mm|rows|columns|groups|lines|layers)|"
    r"(?m:^\s*\d+[.)]\s)",
    re.IGNORECASE,
)
FIGURE = (
    r"(?<![A-Za-z0-9_.,])(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,9})(?:\.0+)?"
    r"(?![A-Za-z0-9_]|[.,][0-9])"
)
_OPEN_BOUND = re.compile(
    r"(?:more than|over|at least|at most|fewer than|less than|under|up to|no more than|"
    r"no less than|no fewer than|above|below|upwards of|minimum of|"
    r"maximum of|>|<|≥|≤|-)\s*$",
    re.IGNORECASE,
)
_OPEN_AFTER = re.compile(r"^\s*(?:\+|or (?:more|fewer|less|so many)|and (?:more|up)|plus)", re.I)
_TOTAL = re.compile(
    rf"(?:\b(?:total|sum|altogether|mak(?:es?|ing)|giv(?:es?|ing)|equals?|so|thus|hence|therefore|"
    rf"count(?: is)?|answer is|overall)\b|=)(?:\s*(?:of|is|are|there|comes to|:|=|,|the|number|"
    rf"count|about|approximately|around|exactly|i|get|have|see|it|that|makes|[~≈]))*\s*({FIGURE})(?!\s*,\s*\d)|"
    rf"({FIGURE})\s+(?:[a-z-]+ ){{0,3}}(?:in total|in all|altogether|overall|total)\b",
    re.IGNORECASE,
)
_RANGES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:between|from)\s+(?:about |around |roughly )?({FIGURE})\s+"
        rf"(?:and|to|through|up to)\s+({FIGURE})",
        rf"({FIGURE})\s*(?:-|~|…|\.{{2,3}}|/|to|through|till|until|up to|bis|à|至|到)\s*"
        rf"({FIGURE})",
        rf"[\[(]\s*({FIGURE})\s*[,;]\s*({FIGURE})\s*[\])]",
        rf"(?:\bat least|≥|>=)\s*({FIGURE})[^.\d]{{0,30}}(?:\bat most|\bno more than|\bup to|≤|<=)"
        rf"\s*({FIGURE})",
        rf"\b(?:min(?:imum)?|lowest|low|lower(?: bound)?)\W+(?:is |of )?({FIGURE})[^\d]{{1,40}}"
        rf"({FIGURE})",
    )
)
_PLUS_MINUS = re.compile(
    rf"({FIGURE})\s*(?:±|\+/-|\+-|plus or minus|give or take)\s*({FIGURE})", re.I
)


def parse_number(text: str) -> int | None:
    """The one whole number that an answer gives, or None.

    >>> [parse_number(text) for text in ("about 20", "twenty-one", "1,200 birds", "20 or 21")]
    [20, 21, 1200, None]
    """
    text = _counted(text)
    if _ranges(text):
        return None
    return _only(text) if text else None


def _only(text: str) -> int | None:
    numbers = set(_numbers(text))
    if len(numbers) == 1:
        number = numbers.pop()
        return number if number >= 0 else None
    if not numbers:
        none = re.match(r"^\W*(?:none|no|nothing|there (?:are|is) (?:no|none))\b", text, re.I)
        return 0 if none and not re.search(r"\d", text) else None
    totals = [match for match in _TOTAL.finditer(text) if not _is_open(text, match)]
    if totals:
        return figure_value(totals[-1][1] or totals[-1][2])
    sentences = split_sentences(text)
    if len(sentences) < 2:
        return None
    first = _only(sentences[0])
    return first if first is not None else _only(sentences[-1])


def _is_open(text: str, match: re.Match[str]) -> bool:
    group = 1 if match[1] else 2
    return _bounded(text, match.start(group), match.end(group))


def _bounded(text: str, start: int, end: int) -> bool:
    """Whether a number is only a bound: "more than 20", "20+"."""
    before, after = text[max(0, start - 20) : start], text[end : end + 20]
    return bool(_OPEN_BOUND.search(before) or _OPEN_AFTER.match(after))


def _numbers(text: str) -> Iterator[int]:
    for match in re.finditer(FIGURE, text):
        if not _bounded(text, match.start(), match.end()):
            yield figure_value(match[0])
        else:
            yield -1  # a bound beside a number makes two answers, alone it makes none
    if re.search(r"\d[.,]\d", re.sub(FIGURE, "", text)):
        yield -1


def parse_range(text: str) -> tuple[int, int] | None:
    """The one range that an answer gives, as (lowest, highest), or None.

    >>> parse_range("20–24"), parse_range("between twenty and 24"), parse_range("about 20")
    ((20, 24), (20, 24), None)
    """
    text = _counted(text)
    found = set(_ranges(text))
    if len(found) > 1:
        sentences = split_sentences(text)
        found = set(_ranges(sentences[0])) if len(sentences) > 1 else found
    return found.pop() if len(found) == 1 else None


def _ranges(text: str) -> list[tuple[int, int]]:
    if re.search(rf"{FIGURE}\s*-\s*{FIGURE}\s*-\s*{FIGURE}", text):
        return []  # a date, or no range of any kind
    for match in _PLUS_MINUS.finditer(text):
        middle, margin = figure_value(match[1]), figure_value(match[2])
        return [(max(0, middle - margin), middle + margin)]
    for pattern in _RANGES:
        ends = [
            (figure_value(match[1]), figure_value(match[2])) for match in pattern.finditer(text)
        ]
        if ends:
            return [(min(pair), max(pair)) for pair in ends]
    return []


def _counted(text: str) -> str:
    """The text with its numbers in figures, without those that count nothing or are denied."""
    text = unwrapped(plain(text))
    text = _NOT_A_COUNT.sub(" ", text)
    text = DENIED.sub(" ", text)
    return _NUMBER_WORDS.sub(lambda match: str(_word_value(match[0])), text)


def _word_value(words: str) -> int:
    """
    >>> _word_value("one thousand two hundred and five"), _word_value("half a dozen")
    (1205, 6)
    """
    if words.casefold() == "half a dozen":
        return 6
    total = part = 0
    for word in re.split(r"[\s,-]+", words.casefold()):
        if word == "hundred":
            part = max(1, part) * 100
        elif word == "dozen":
            part = max(1, part) * 12
        elif word == "thousand":
            total, part = total + max(1, part) * 1000, 0
        elif word != "and":
            part += int(word) if word.isdecimal() else _VALUES[word]
    return total + part


def figure_value(figure: str) -> int:
    return int(figure.replace(",", "").partition(".")[0])
