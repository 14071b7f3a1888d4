"""Whole numbers and ranges, in figures and in words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from groundfault.parsing.counting import (
    counted_aloud,
    is_bare_list,
    is_of_another,
    of_the_thing,
    roman,
)
from groundfault.parsing.spelled import in_figures
from groundfault.parsing.statements import denies_existence, is_unsure
from groundfault.parsing.vocabulary import language_of
from groundfault.parsing.wording import (
    AT_FIRST,
    DENIED,
    TAKEN_BACK,
    plain,
    split_sentences,
    unwrapped,
)

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
    "couple": 2,
    "single": 1,
    "pair": 2,
}
_SMALL = (
    rf"(?:(?:{'|'.join(_TENS)}|fourty)(?:[\s-](?:{'|'.join(_ONES)}))?"
    rf"|{'|'.join(_TEENS)}|{'|'.join(_ONES)})"
)
_HUNDREDS = rf"(?:(?:{_SMALL}|a)[\s-]hundred(?:[\s-](?:and[\s-])?{_SMALL})?|{_SMALL})"
_NUMBER_WORDS = re.compile(
    rf"\b(?:half[ -](?:a )?dozen|(?:a )?baker's dozen|(?:(?:{_SMALL}|\d+|a couple(?: of)?|"
    rf"couple(?: of)?|a) )?dozen"
    rf"(?: and a half)?|zero|(?:a |only )?(?:single|pair)(?= [a-z])|"
    rf"(?:{_HUNDREDS}|a)[\s-]thousand(?:[\s,-]+(?:and[\s-])?{_HUNDREDS})?|{_HUNDREDS})\b",
    re.IGNORECASE,
)
_UNCOUNTED = re.compile(
    r"\b(?:several|a few|few|many|some|multiple|various) (?:dozens?|hundreds?|thousands?)\b|"
    r"\b(?:dozens|hundreds|thousands)\b",
    re.IGNORECASE,
)
_OF_DOZENS = re.compile(rf"\b({_SMALL}|\d+) ?(?:-|to|or) ?({_SMALL}|\d+) dozen\b", re.IGNORECASE)
_IMAGE = r"(?:image|picture|photo(?:graph)?|figure|scene)"
_UNIT = (
    r"(?:%|percent|px|pixels?|cm|mm|m|km|kg|g|ft|feet|foot|inch(?:es)?|meters?|metres?|years?|hours?|"
    r"minutes?|seconds?|degrees|°|rows|columns|groups|lines|layers|piles|shelves|stacks)\b"
)
_NOT_A_COUNT = re.compile(
    r"\b(?:(?<!just )(?<!only )the|this|that|each|every|which|any|another|no|other|by|first|"
    r"last|left|right|middle|top|bottom|upper|lower|front|back) one\b|"
    r"\bone (?:of|by|can|could|would|sees|another|side|the|on|in|at|more)\b|"
    r"\b(?:image|picture|photo|figure|question|option|q|step|row|column|group|region|number|"
    r"no\.|page) ?"
    r"#?\d+\b(?! (?:in total|altogether))|\b\d+(?:st|nd|rd|th)\b|\b(?:both|two|2) (?:images|"
    rf"pictures|photos)\b|\b\d+ ?{_UNIT}(?!\s*[x×=])|\d+(?:\.\d+)? ?(?:%|°)|"
    rf"\b(?:19|20)\d\d(?= {_IMAGE})|\b(?:in|from|since|of) (?:19|20)\d\d\b|\b\d{{1,2}}:\d\d\b|"
    rf"\b\d+ ?[x×] ?\d+ ?(?:{_IMAGE}|{_UNIT})|\b(?:coordinates?|point|position|pixel) ?\(?\d+, "
    rf"?\d+\)?|"
    r"\baged? \d+(?: ?(?:-|to) ?\d+)?|\bconfidence\W{0,3}\d[\d.]*|(?m:^\s*\d+[.)]\s)",
    re.IGNORECASE,
)
FIGURE = (
    r"(?<![A-Za-z0-9_.,])(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,9})(?:\.0+)?"
    r"(?![A-Za-z0-9_]|[.,][0-9])"
)
_OPEN_BOUND = re.compile(
    r"(?:more than|over|at least|at most|fewer than|less than|under|up to|no more than|"
    r"no less than|no fewer than|above|below|upwards of|minimum of|"
    r"maximum of|>|<|≥|≤)\s*$|(?<!\S)-$",
    re.IGNORECASE,
)
_OPEN_AFTER = re.compile(
    r"^\s*(?:\+|[余多几來来]|-?odd\b|-?something\b|or (?:more|fewer|less|so many)|and (?:more|up)|"
    r"plus)",
    re.I,
)
_TOTAL = re.compile(
    rf"(?:\b(?:total|sum|altogether|mak(?:es?|ing)|giv(?:es?|ing)|equals?|ie|meaning|so|thus|hence|therefore|"
    rf"count(?: is)?|answer is|overall)\b|=)(?:\s*(?:of|is|are|there|comes to|:|=|,|the|number|"
    rf"count|about|approximately|around|exactly|i|get|have|see|it|that|makes|[~≈]))*\s*({FIGURE})(?!\s*(?:,|or|to|-|~)\s*\d)|"
    rf"({FIGURE})[^\S\n]+(?:[a-z-]+ ){{0,3}}(?:in total|in all|altogether|overall|total|to be "
    rf"(?:exact|precise))\b",
    re.IGNORECASE,
)
_RANGES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:between|from|entre|zwischen|von|tra|fra|da|desde|de|от|с|между|tussen|van)\s+"
        rf"(?:about |around |roughly )?({FIGURE})\s+"
        rf"(?:and|to|through|up to|y|a|et|à|und|bis|e|до|и|по|hasta|en|tot)\s+({FIGURE})",
        rf"({FIGURE})\s*(?:-|~|…|\.{{2,3}}|/|to|through|till|until|up to|bis|à|a|до|tot|"
        r"至|到|から)\s*"
        rf"({FIGURE})",
        rf"({FIGURE})\s*(?:≤|<=|<)\s*[a-z]\s*(?:≤|<=|<)\s*({FIGURE})",
        rf"[\[(]\s*({FIGURE})\s*[,;]\s*({FIGURE})\s*[\])]",
        rf"(?:\bat least|\bno (?:fewer|less) than|≥|>=)\s*({FIGURE})[^.\d]{{0,30}}(?:\bat most|"
        rf"\bno more than|\bup to|≤|<=)"
        rf"\s*({FIGURE})",
        rf"\b(?:min(?:imum)?|lowest|low|lower(?: bound)?)\W+(?:is |of )?({FIGURE})[^\d]{{1,40}}"
        rf"({FIGURE})",
    )
)
_PLUS_MINUS = re.compile(
    rf"({FIGURE})\s*,?\s*(?:±|\+/-|\+-|plus or minus|give or take)\s*({FIGURE})", re.I
)


def parse_number(text: str, *, question: str = "") -> int | None:
    """The one whole number that an answer gives, or None; of several things that it counts, the
    one that the question asks for.

    >>> [parse_number(text) for text in ("about 20", "twenty-one", "1,200 birds", "20 or 21")]
    [20, 21, 1200, None]
    >>> parse_number("21 apples: 7 above, 8 in the middle, 6 below.")
    21
    """
    counted = counted_aloud(_counted(text))
    if not counted or _ranges(counted) or _VAGUE.search(counted):
        return None
    found = _only(counted)
    if found is None and _says_none(unwrapped(plain(text)), counted):
        return 0
    if found is None or is_of_another(found, counted, question):
        return roman(text) or of_the_thing(counted, question)
    return found


_VAGUE = re.compile(
    r"\b(?:(?<!one )(?<!no )(?<!once )more(?! (?:than|precisely|exactly|accurately|likely))|"
    r"another|maybe \d+$|others)\b",
    re.I,
)
"""Words that leave open how many there are besides."""


def _only(text: str) -> int | None:
    numbers = list(_numbers(text))
    distinct = set(numbers)
    if len(distinct) == 1:
        number = -1 if _LABELLED.search(text) or _ALIKE_PARTS.search(text) else numbers[0]
        return number if number >= 0 else None
    if not numbers:
        return None
    totals = [match for match in _TOTAL.finditer(text) if not _is_open(text, match)]
    if totals:
        if _GOES_ON.match(text, totals[-1].end()):
            return None
        return figure_value(totals[-1][1] or totals[-1][2])
    if -1 in distinct or is_bare_list(text, len(numbers)):
        return None
    return _summed(numbers) or _without_asides(text) or _of_sentences(text)


_GOES_ON = re.compile(rf",? *(?:minus|less|plus|[+−-]) *{FIGURE}", re.IGNORECASE)
"""A sum that is no end: "3 × 6 = 18, minus one"."""
_LABELLED = re.compile(
    r"\b(?:top|middle|bottom|left|right|front|back|upper|lower|centre|center|first|second|third)"
    r"(?: \w+)?\s*:\s*\d",
    re.IGNORECASE,
)
_ALIKE_PARTS = re.compile(rf"{FIGURE} [^.;:()\n]{{1,60}}(?:\band|,) {FIGURE} ")
"""Two parts that happen to be of the same number: "9 white ones and 9 black ones"."""
_PARTIAL = re.compile(
    r"\b(?:on|at|in) the (?:left|right|top|bottom|front|back|middle|upper|lower)\b|\b(?:left|"
    r"right) side\b",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"\([^()]{0,200}\)|\b(?:on|in|around|at|behind|under) (?:the|these|those) \d+ [a-z]+|,? "
    r"(?:including|with|of which|\d+ of (?:them|which|these|"
    r"those))\b[^.;\n]{0,200}|"
    r"[:,] [^.;\n]{0,80}\b(?:each|per)\b[^.;\n]{0,80}|[:,] (?:arranged|made up|consisting|of "
    r"which)\b[^.;\n]{0,200}",
    re.IGNORECASE,
)


def _summed(numbers: list[int]) -> int | None:
    """The number that the others add up to or multiply to, if it comes first or last."""
    for whole, parts in ((numbers[0], numbers[1:]), (numbers[-1], numbers[:-1])):
        if len(parts) > 1 and sum(parts) == whole:
            return whole
        if len(parts) == 2 and parts[0] * parts[1] == whole:
            return whole
    return None


def _without_asides(text: str) -> int | None:
    """The number that is left without what is said by the way."""
    bare = _ASIDE.sub(" ", text)
    numbers = set(_numbers(bare)) if bare != text else set()
    return numbers.pop() if len(numbers) == 1 and -1 not in numbers else None


def _of_sentences(text: str) -> int | None:
    """The number of the first sentence, or else of the last; none if one tells only of a part."""
    sentences = split_sentences(text)
    if len(sentences) < 2 or _PARTIAL.search(text) or _LABELLED.search(text):
        return None
    first = _only(sentences[0])
    return first if first is not None else _only(sentences[-1])


def _says_none(text: str, counted: str) -> bool:
    """Whether an answer without a figure says that there are none."""
    if re.search(r"\d", counted) or _NUMBER_WORDS.search(counted):
        return False
    if re.search(r"\bnot (?:a single|even one)\b", text, re.IGNORECASE):
        return True
    if is_unsure(text, language_of(text)) or re.search(r"\bcount\b|\bnothing that\b", text, re.I):
        return False
    return len(split_sentences(text)) == 1 and denies_existence(text.strip(" \"'(["))


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
    """The text with its numbers in figures, without those that count nothing, are denied or were
    taken back."""
    text = _ABBREVIATED.sub(lambda match: match[0].replace(".", ""), unwrapped(plain(text)))
    text = _thousands(text)
    text = _NOT_A_COUNT.sub(" ", _UNCOUNTED.sub(" ", text))
    text = _DECADE.sub(_tens, _OF_DOZENS.sub(_dozens, text))
    text = _NUMBER_WORDS.sub(lambda match: str(_word_value(match[0])), in_figures(text))
    return DENIED.sub(" ", _last_said(text))


_DECADE = re.compile(
    r"\bin the (?:(twent|thirt|fort|fift|sixt|sevent|eight|ninet)ies|([2-9]0)'?s)\b", re.IGNORECASE
)


def _tens(match: re.Match[str]) -> str:
    """ "In the forties" is 40 to 49."""
    low = int(match[2]) if match[2] else _VALUES[f"{match[1].casefold()}y"]
    return f"{low}-{low + 9}"


_ABBREVIATED = re.compile(r"\b(?:i\.e|e\.g|approx|ca|vs|incl)\.", re.IGNORECASE)


def _last_said(text: str) -> str:
    """What follows the last words that take something back, if that has a number."""
    for pattern in (TAKEN_BACK, AT_FIRST):
        figures = [match.start() for match in re.finditer(r"\d", text)]
        cuts = [match.end() for match in pattern.finditer(text)]
        cuts = [cut for cut in cuts if figures and figures[0] < cut <= figures[-1]]
        text = text[cuts[-1] :] if cuts else text
    asked = [part for part in split_sentences(text) if not part.endswith("?")]
    return " ".join(asked) if "?" in text else text


_GROUPED = re.compile(
    r"(?<![\d.,])([1-9]\d{0,2})((?:([ '])\d{3})(?:\3\d{3})*)(?=[^\S\n][^\W\d_]|'|$)(?![.,]?\d)"
)
_DOTTED = re.compile(r"(?<![\d.,])([1-9]\d{0,2}(?:\.\d{3})+)(?=[^\S\n][^\W\d_])")
_LARGE = re.compile(
    r"(?<![\d.,])(\d{1,6}(?:\.\d{1,3})?) ?(k\b|thousand\b|million\b)", re.IGNORECASE
)


def _thousands(text: str) -> str:
    """Without separators: "3 000 people", "1'200"; a point is one only if it is not English."""
    text = _GROUPED.sub(_ungrouped, text)
    if _DOTTED.search(text) and not _is_english(text):
        text = _DOTTED.sub(lambda match: match[1].replace(".", ""), text)
    return _LARGE.sub(_multiplied, re.sub(r"(?<=\d)-?ish\b", "", text))


def _ungrouped(match: re.Match[str]) -> str:
    bare_space = match[3] == " " and match.end() == len(match.string)
    return match[0] if bare_space else re.sub(r"[ ']", "", match[0])


def _is_english(text: str) -> bool:
    return text.isascii() and language_of(text).code == "en"


def _multiplied(match: re.Match[str]) -> str:
    size = 1_000_000 if match[2].casefold() == "million" else 1000
    value = float(match[1]) * size
    return str(int(value)) if value == int(value) else match[0]


def _dozens(match: re.Match[str]) -> str:
    low, high = (_word_value(match[k]) * 12 for k in (1, 2))
    return f"{low} or {high}" if " or " in match[0] else f"{low}-{high}"


def _word_value(words: str) -> int:
    """
    >>> _word_value("one thousand two hundred and five"), _word_value("half a dozen")
    (1205, 6)
    """
    words = re.sub(r"^(?:a |only )(?=couple|single|pair)", "", words.casefold()).replace(" of", "")
    if words.startswith("half"):
        return 6
    if "baker" in words:
        return 13
    total, part = 6 * words.endswith(" and a half"), 0
    for word in re.split(r"[\s,-]+", words.removesuffix(" and a half")):
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
