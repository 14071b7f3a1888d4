"""The option that an answer chooses, by its letter, by its words, by its place or by its number.

The rules, in this order; two answers of one rule, or of two rules, are none:

1. What was taken back, supposed or asked does not count; what follows "so" counts alone.
2. Options that are said again with a verdict ("A. a lamp: no") are chosen or rejected; several that
   are said again without one are only the question.
3. Letters that are named as the answer; then the words of an option; then "the second one".
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from string import ascii_uppercase

from groundfault.parsing.numbers import FIGURE, figure_value, parse_number, parse_range
from groundfault.parsing.ratings import best_rated
from groundfault.parsing.vocabulary import language_of, listed
from groundfault.parsing.wording import (
    AT_FIRST,
    DENIED,
    TAKEN_BACK,
    has_words,
    is_refusal,
    plain,
    split_sentences,
    stem,
    unwrapped,
)
from groundfault.parsing.yes_no import denies

__all__ = ["parse_choice"]

_NEUTRAL = listed("the a an is are of it in on at this that option answer both and its")
_CONCLUDES = re.compile(
    r"\b(?:so|therefore|thus|hence|consequently|which leaves|leaving)\b[,:]?", re.I
)
_DOUBTS = re.compile(
    r"\b(?:not sure|unsure|either|maybe|perhaps|might|whether|can't (?:tell|decide)|could be|"
    r"hard to)\b",
    re.I,
)


def parse_choice(text: str, options: Sequence[str]) -> str | None:
    """The letter of the one option that an answer chooses, by letter or by words, or None.

    >>> [parse_choice(text, ["red", "blue"]) for text in ("(B)", "It is blue.", "A or B", "E")]
    ['B', 'B', None, None]
    """
    text = unwrapped(plain(text)).strip(" \t\n\"'")
    if not has_words(text) or is_refusal(text):
        return None
    whole = [k for k, option in enumerate(options) if _words(text) == _words(option) != []]
    if len(whole) == 1 and not re.match(r"\W*[A-Za-z](?:\W*$|[.):])", text):
        return ascii_uppercase[whole[0]]
    rated = _best_rated(text, options)
    if rated is not None:
        return rated or None
    text = _last_said(text)
    concluded = list(_CONCLUDES.finditer(text))
    found = _chosen(text[concluded[-1].end() :], options) if concluded else None
    return found if found is not None else _chosen(text, options)


def _best_rated(text: str, options: Sequence[str]) -> str | None:
    """The letter of the option with the highest share, where an answer rates them; "" for a tie,
    None where it does not. Options that are numbers could be taken for shares."""
    if any(re.search(r"\d", option) for option in options):
        return None
    names = [
        rf"(?-i:{letter})(?:[.)] *{_pattern(option)})?|{_pattern(option)}"
        for letter, option in zip(ascii_uppercase, options, strict=False)
    ]
    best = best_rated(text, names)
    return None if best is None else ascii_uppercase[best] if best >= 0 else ""


def _pattern(option: str) -> str:
    """What an option looks like in a text; it matches nothing if it has no words."""
    words = [word for word in re.findall(r"\w+", option) if word.casefold() not in _NEUTRAL]
    return r"\W+".join(map(re.escape, words)) or "(?!)"


def _last_said(text: str) -> str:
    """What follows the last words that take something back."""
    for pattern in (TAKEN_BACK, AT_FIRST):
        cuts = [match.end() for match in pattern.finditer(text) if has_words(text[match.end() :])]
        text = text[cuts[-1] :] if cuts and has_words(text[: cuts[-1]]) else text
    sentences = [part for part in split_sentences(text) if not part.endswith("?")]
    return "\n".join(sentences) if "?" in text and sentences else text


def _chosen(text: str, options: Sequence[str]) -> str | None:
    text = text.strip(" \t\n\"',:")
    if not has_words(text):
        return None
    text, confirmed = _without_options(text, options)
    if confirmed is not None:
        return confirmed or None
    letters = ascii_uppercase[: len(options)]
    named = _letters(text, letters)
    if named is None:
        return _by_words(text, options) or _by_place(text, options)
    if named == "":  # several
        return None
    stated = _exact(text, named, options)
    return named if stated in (None, named) else None


# Options that are said again.

_VERDICT = (
    r"\s*[-–—:(→]*\s*(?:(?P<yes>[✅✔☑✓]|yes|correct|right|true|this is (?:correct|right))|"
    r"(?P<no>[❌✖✘✗]|no\b|not\b|incorrect|wrong|false|is (?:wrong|incorrect|not|false)))?"
)


def _without_options(text: str, options: Sequence[str]) -> tuple[str, str | None]:
    """The text without the options that it says again, and the one of them that it confirms: "" for
    several, None for none."""
    kept, spans, confirmed, rejected, plainly = text, [], [], 0, []
    for letter, option in zip(ascii_uppercase, options, strict=False):
        words = r"\W+".join(map(re.escape, re.findall(r"\w+", option)))
        pattern = rf"(?<![A-Za-z])\(?{letter}\s*[.):=→]+\s*(?:{words}\b)?{_VERDICT}"
        for found in re.finditer(pattern, text, re.IGNORECASE):
            again = re.search(words, found[0], re.IGNORECASE) is not None
            if not (again or found["yes"] or found["no"]):
                continue
            spans.append(found.span())
            confirmed += [letter] if found["yes"] else []
            rejected += found["no"] is not None
            plainly += [letter] if not (found["yes"] or found["no"]) else []
    if len({start for start, _ in spans}) < 2 and not rejected:
        return text, None
    for start, end in sorted(spans, reverse=True):
        kept = f"{kept[:start]} {kept[end:]}"
    if has_words(kept) and _letters(kept, ascii_uppercase[: len(options)]) is not None:
        return kept, None
    chosen = set(confirmed) or set(plainly if rejected else ())
    if len(chosen) == 1:
        return kept, chosen.pop()
    return kept, "" if confirmed or not has_words(kept) or not rejected else None


# Letters.

_LETTER_LIST = r"[A-H](?:[ ,/&]{1,3}(?:(?:and|or|nor) )?[A-H]\b){0,8}"
_REJECTED = re.compile(
    rf"\b{_LETTER_LIST}:? (?:is|are) (?:wrong|incorrect|false|out|not|eliminated|ruled out)\b|"
    rf"\b(?:rul(?:e|ing) out|eliminat(?:e|ing)|exclud(?:e|ing)|neither|not)\s+(?:options? "
    rf")?{_LETTER_LIST}\b|"
    rf"\b(?:can't|cannot|can not) be\s+{_LETTER_LIST}\b",
    re.IGNORECASE,
)
_WEIGHED = re.compile(
    r"\b(?:between|among|(?:out )?of|torn between)\s+(?:options? )?"
    r"[A-H](?:[ ,/&]{1,3}(?:(?:and|or) )?[A-H]\b)+"
    r"(?=(?:[;:]|,(?! [A-H]\b)) .*(?<![\w'])[A-H](?![\w']))",
    re.IGNORECASE,
)
"""Letters among which one is chosen afterwards: "Between B and C, I'd take C."."""
_NAMED = (
    re.compile(
        r"(?:\b(?i:option|choice|answer|letter|choose|pick|select|go with|say|is|it's|be|"
        r"leaves?|antwort|"
        r"opción|opção|réponse|вариант)\s*:?\s*[(\[\"']?)([A-Z])(?=[)\].,:;!?\"']|\s*$|"
        r"\s+(?:because|since|as|is|seems|ist|es|est|-|–))"
    ),
    re.compile(
        r"(?<![\w'])([A-Z]) (?:is|seems|must be|would be) (?:definitely |clearly )?(?:the )?"
        r"(?:correct|right|best|answer|most|only|true)\b"
    ),
    re.compile(r"\(([A-Z])\)"),
    re.compile(r"(?<![\w'])([A-H]) it is\b"),
    re.compile(r"(?i:\boptions?) ([A-Z])\b"),
    re.compile(
        r"(?i:\b(?:pick|choose|select|option|answer(?: is)?|choice|go with)) \(?([a-h])\)?\W*$"
    ),
    re.compile(r"(?:\b(?:and|or|nor)|[,/&])\s*([B-H])(?=[\s.,;!?)]|$)"),
    re.compile(r"(?<![\w'])([A-H])(?=\s*(?:\b(?:and|or|nor)\b|[,/&])\s*[B-H]\b)"),
)
_UNSPACED_LETTER = re.compile(r"(?<![A-Za-z])([A-H])(?![A-Za-z])")


def _letters(text: str, letters: str) -> str | None:
    """The one letter that a text names; "" for several or one that is no option, None for none."""
    bare = re.fullmatch(r"[\W_]*([A-Za-z])[\W_]*", text)
    if bare:
        return bare[1].upper() if bare[1].upper() in letters else ""
    text = DENIED.sub(" ", _REJECTED.sub(" ", _WEIGHED.sub(" ", text)))
    if not language_of(text).spaced:
        said = _UNSPACED_LETTER.findall(text)
        return _one_of(set(said), letters) if said else None
    alone = re.findall(r"(?m)^\W*([A-H])\W*$", text)
    if len(set(alone)) > 1:
        return ""
    lead = re.match(r"\W*([A-Z])(?:[.):\]]|\s*[-–—]\s|\s*\n|,\s|\s\()", text)
    lower = re.match(r"\W*\(?([a-z])[.)](?:\s|$)", text)
    said = [letter.upper() for pattern in _NAMED for letter in pattern.findall(text)]
    if lead:
        return _one_of({lead[1]} | set(said), letters)
    if lower:
        return _one_of({lower[1].upper()}, letters)
    said += re.findall(r"(?<![\w'])([B-H])(?![\w'-])", text)
    if said and _DOUBTS.search(text):
        return ""
    return _one_of(set(said), letters) if said else None


def _one_of(said: set[str], letters: str) -> str:
    return next(iter(said)) if len(said) == 1 and said <= set(letters) else ""


def _exact(text: str, named: str, options: Sequence[str]) -> str | None:
    """The letter of the option whose words follow the named letter, if they are one's whole."""
    found = re.search(rf"\b{named}\b\W*", text)
    rest = text[found.end() :] if found else text
    words = _words(split_sentences(rest)[0]) if has_words(rest) else []
    for letter, option in zip(ascii_uppercase, options, strict=False):
        if words and words == _words(option):
            return letter
    return None


# Words.

_NONE_OF_THEM = re.compile(
    r"\bnone of (?:them|these|those|the (?:above|options|others|choices))\b", re.IGNORECASE
)
_NEITHER = re.compile(r"\bneither\b[^.;:!?\n]{0,200}?\bnor\b[^,.;:!?\n]*", re.IGNORECASE)
_NO_THING = re.compile(r"\bno [\w-]+", re.IGNORECASE)
_BARE = re.compile(r"\b(?:empty|bare|vacant|unoccupied)\b", re.IGNORECASE)
_IDENTITY = re.compile(
    r"^\W*(?:it|that|this|he|she|they)(?:'s| is| are)? ?(?:not|n't|isn't|aren't)\b", re.I
)


def _by_words(text: str, options: Sequence[str]) -> str | None:
    if all(_span(option) for option in options):
        return _by_number(text, options)
    counts = all(_span(option) or _is_denial(option) for option in options)
    if counts and not re.search(r"\b(?:none|neither)\b", text, re.IGNORECASE):
        found = _by_number(text, options)
        if found:
            return found
    both = [k for k, option in enumerate(options) if re.match(r"both\b", option, re.IGNORECASE)]
    if len(both) == 1 and re.fullmatch(r"\W*both(?: of (?:them|these))?\W*", text, re.IGNORECASE):
        return ascii_uppercase[both[0]]
    denial = [k for k, option in enumerate(options) if _is_denial(option)]
    none_of_them = _NONE_OF_THEM.search(text) and not _NONE_OF_THEM.search(_denied(text))
    named = denial if none_of_them and len(denial) == 1 else []
    named = named or [
        k for k in denial if _says(options[k], text) and not _says(options[k], _denied(text))
    ]
    if len(named) == 1:
        denial = named
    kept = DENIED.sub(" ", _NO_THING.sub(" ", _NEITHER.sub(" ", text)))
    said = [k for k, option in enumerate(options) if k not in denial and _says(option, kept)]
    said = [k for k in said if not any(_inside(options[k], options[m]) for m in said if m != k)]
    if len(said) == 1:
        return None if named or _DOUBTS.search(text) else ascii_uppercase[said[0]]
    if said or len(denial) != 1:
        return None
    none = named or _BARE.search(text) or (denies(text) and not _IDENTITY.match(text))
    others = [option for k, option in enumerate(options) if k not in denial]
    return ascii_uppercase[denial[0]] if none and (named or _of_all(text, others)) else None


def _denied(text: str) -> str:
    """What a text says with "not" before it."""
    return " ".join(re.findall(r"\bnot\s+([^,.;:!?\n]*)", text, re.IGNORECASE))


def _of_all(text: str, options: Sequence[str]) -> bool:
    """Whether a denial is about all options or none in particular, not about one of several."""
    about = {stem(word) for word in _words(text)}
    named = [bool(about & {stem(word) for word in _words(option)}) for option in options]
    return all(named) or not any(named)


def _says(option: str, text: str) -> bool:
    """Whether a text contains an option's words."""
    if not language_of(option).spaced:
        return option.strip() in re.sub(
            rf"(?:不是|没有|并非|非|不){re.escape(option.strip())}", "", text
        )
    return _within(_words(option), _words(text))


_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
_ORDINAL = re.compile(
    rf"\bthe ({'|'.join(_ORDINALS)}|last)(?: (?:option|choice|answer|one)\b|\W*$)|\boption "
    rf"?#?(\d)\b|"
    r"^\W*(\d)\W*$",
    re.IGNORECASE,
)


def _by_place(text: str, options: Sequence[str]) -> str | None:
    """ "The second option.", "Option 3"; not where the options are numbers themselves."""
    if any(re.search(r"\d", option) for option in options):
        return None
    said = set()
    for word, figure, alone in _ORDINAL.findall(DENIED.sub(" ", text)):
        place = (
            int(figure or alone or 0)
            or ({"last": len(options)} | {name: k for k, name in enumerate(_ORDINALS, start=1)})[
                word.casefold()
            ]
        )
        said.add(place)
    others = len(re.findall(rf"\b(?:{'|'.join(_ORDINALS)})\b", text, re.IGNORECASE)) > 1
    place = said.pop() if len(said) == 1 and not others else 0
    return ascii_uppercase[place - 1] if 0 < place <= len(options) else None


# Numbers.


def _by_number(text: str, options: Sequence[str]) -> str | None:
    spans = [_span(option) for option in options]
    same = _span(text.strip(" ."))
    found: tuple[float, float] | None = same if same in spans else parse_range(text)
    number = None if found else parse_number(text)
    if found is None and number is not None:
        found = (number, number)
    if found is None:
        return None
    holding = [
        k for k, span in enumerate(spans) if span and span[0] <= found[0] <= found[1] <= span[1]
    ]
    return ascii_uppercase[holding[0]] if len(holding) == 1 else None


_SPANS = re.compile(
    rf"\s*(?:(?P<over>more than|over|above|>)\s*)?(?:(?P<under>fewer than|less than|under|"
    rf"below|<)\s*)?"
    rf"(?:(?P<least>at least|≥)\s*)?({FIGURE})(?:\s*(?:-|to)\s*({FIGURE}))?(?P<up>\s*(?:\+|or "
    rf"more))?\s*",
    re.IGNORECASE,
)


def _span(option: str) -> tuple[float, float] | None:
    """
    >>> _span("10-14"), _span("more than 24"), _span("a lamp")
    ((10, 14), (25, inf), None)
    """
    match = _SPANS.fullmatch(plain(option))
    if match is None:
        return None
    low = figure_value(match[4])
    if match["over"]:
        return low + 1, math.inf
    if match["least"] or match["up"]:
        return low, math.inf
    if match["under"]:
        return 0, low - 1
    return low, figure_value(match[5] or match[4])


def _is_denial(option: str) -> bool:
    return denies(option) or re.match(_NONE, option.strip(), re.IGNORECASE) is not None


_NONE = (
    r"no |nothing|none|neither|以上都不|都不是|没有|"
    r"keine?r?s? (?:davon|der)|aucun|ningun|nessun|nenhum|"
    r"ничего|"
    r"ни один"
)


def _words(text: str) -> list[str]:
    found = re.findall(r"[^\W_]+", text.casefold())
    return [word for word in found if word not in _NEUTRAL]


def _within(words: list[str], text: list[str]) -> bool:
    size = len(words)
    return bool(size) and any(text[k : k + size] == words for k in range(len(text) - size + 1))


def _inside(option: str, other: str) -> bool:
    return option != other and _within(_words(option), _words(other))
