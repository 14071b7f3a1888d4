"""The option that an answer chooses, by its letter or by its words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_uppercase

from groundfault.parsing.numbers import FIGURE, figure_value, parse_number, parse_range
from groundfault.parsing.wording import (
    DENIED,
    has_words,
    is_refusal,
    listed,
    plain,
    split_sentences,
    unwrapped,
)
from groundfault.parsing.yes_no import denies

__all__ = ["parse_choice"]

_NEUTRAL = listed("the a an is are of it in on at this that option answer")


def parse_choice(text: str, options: Sequence[str]) -> str | None:
    """The letter of the one option that an answer chooses, by letter or by words, or None.

    >>> [parse_choice(text, ["red", "blue"]) for text in ("(B)", "It is blue.", "A or B", "E")]
    ['B', 'B', None, None]
    """
    text = unwrapped(plain(text)).strip(" \t\n\"'")
    if not has_words(text) or is_refusal(text):
        return None
    letters = ascii_uppercase[: len(options)]
    by_words = _by_words(text, options)
    named = _letters(text, letters)
    if named is None:
        return by_words
    if named == "":  # several
        return None
    stated = _exact(text, named, options)
    return named if stated in (None, named) else None


_REJECTED = re.compile(r"\b[A-H] is (?:wrong|incorrect|false|not\b)", re.IGNORECASE)


def _letters(text: str, letters: str) -> str | None:
    """The one letter that a text names; "" for several or one that is no option, None for none."""
    bare = re.fullmatch(r"\W*([A-Za-z])\W*", text)
    if bare:
        return bare[1].upper() if bare[1].upper() in letters else ""
    text = _REJECTED.sub(" ", DENIED.sub(" ", text))
    lead = re.match(r"\W*([A-Z])(?:[.):\]]|\s*[-–—]\s|\s*\n|,\s)", text)
    lower = re.match(r"\W*\(?([a-z])[.)](?:\s|$)", text)
    said = re.findall(
        r"(?:\b(?:option|choice|answer|letter|choose|pick|select|go with|say|is|it's|be)\s*:?\s*"
        r"[(\[\"']?)([A-Z])(?=[)\].,:;!?\"']|\s*$|\s+(?:because|since|as|is|seems|-|–))",
        text,
    )
    said += re.findall(r"\(([A-Z])\)", text) + re.findall(r"(?i:\boptions?) ([A-Z])\b", text)
    said += re.findall(r"(?:\b(?:and|or|nor)|[,/&])\s*([B-H])(?=[\s.,;!?)]|$)", text)
    said += re.findall(r"(?<![\w'])([A-H])(?=\s*(?:\b(?:and|or|nor)\b|[,/&])\s*[B-H]\b)", text)
    if lead:
        return _one_of({lead[1]} | set(said), letters)
    if lower:
        return _one_of({lower[1].upper()}, letters)
    said += re.findall(r"(?<![\w'])([B-H])(?![\w'-])", text)
    return _one_of(set(said), letters) if said else None


def _one_of(said: set[str], letters: str) -> str:
    return next(iter(said)) if len(said) == 1 and said <= set(letters) else ""


def _exact(text: str, named: str, options: Sequence[str]) -> str | None:
    """The letter of the option whose words follow the named letter, if they are one's whole."""
    rest = re.sub(rf"^.*?\b{named}\b\W*", "", text, count=1, flags=re.DOTALL)
    words = _words(split_sentences(rest)[0]) if has_words(rest) else []
    for letter, option in zip(ascii_uppercase, options, strict=False):
        if words and words == _words(option):
            return letter
    return None


def _by_words(text: str, options: Sequence[str]) -> str | None:
    if all(_span(option) for option in options):
        return _by_number(text, options)
    whole = [k for k, option in enumerate(options) if _words(text) == _words(option)]
    if len(whole) == 1:
        return ascii_uppercase[whole[0]]
    denial = [k for k, option in enumerate(options) if _is_denial(option)]
    named = [k for k in denial if _within(_words(options[k]), _words(text))]
    if len(named) == 1:
        denial = named
    kept = _words(DENIED.sub(" ", re.sub(r"\bno [\w-]+", " ", text, flags=re.I)))
    said = [
        k for k, option in enumerate(options) if k not in denial and _within(_words(option), kept)
    ]
    said = [k for k in said if not any(_inside(options[k], options[m]) for m in said if m != k)]
    if len(said) == 1:
        return ascii_uppercase[said[0]]
    if not said and len(denial) == 1 and (named or denies(text)):
        return ascii_uppercase[denial[0]]
    return None


def _by_number(text: str, options: Sequence[str]) -> str | None:
    spans = [_span(option) for option in options]
    found = parse_range(text)
    number = None if found else parse_number(text)
    if found is None and number is not None:
        found = (number, number)
    if found is None:
        return None
    holding = [
        k for k, span in enumerate(spans) if span and span[0] <= found[0] <= found[1] <= span[1]
    ]
    return ascii_uppercase[holding[0]] if len(holding) == 1 else None


def _span(option: str) -> tuple[int, int] | None:
    match = re.fullmatch(rf"\s*({FIGURE})(?:\s*-\s*({FIGURE}))?\s*", plain(option))
    return (figure_value(match[1]), figure_value(match[2] or match[1])) if match else None


def _is_denial(option: str) -> bool:
    return denies(option) or option.casefold().startswith(("no ", "nothing", "none", "neither"))


def _words(text: str) -> list[str]:
    found = re.findall(r"[^\W_]+", text.casefold())
    return [word for word in found if word not in _NEUTRAL]


def _within(words: list[str], text: list[str]) -> bool:
    size = len(words)
    return bool(size) and any(text[k : k + size] == words for k in range(len(text) - size + 1))


def _inside(option: str, other: str) -> bool:
    return option != other and _within(_words(option), _words(other))
