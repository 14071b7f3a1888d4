"""What a yes/no question asks for, as far as telling whether a sentence is about it takes.

The question is cut into the thing that it asks for, what is said about that thing, and where; its
negation is noted and taken out, so that the rest is what a plain yes would affirm.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

import msgspec

from groundfault.parsing.vocabulary import Language, language_of, listed
from groundfault.parsing.wording import plain, split_sentences, stem, tokens, unwrapped

__all__ = ["PICTURE", "Asked", "asked_by"]

PICTURE = r"(?:images?|pictures?|photos?|photographs?|scene|frame|view|shot|illustration)"


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A question, read."""

    language: Language
    negated: bool = False
    """Whether it asks if something is not so."""
    existence: bool = False
    """Whether it asks if there is such a thing."""
    absence: bool = False
    """Whether what it asks about is itself an absence: "Was the dog removed?"."""
    head: tuple[str, ...] = ()
    """The thing, in stems."""
    detail: tuple[str, ...] = ()
    """What else must hold of the thing: "riding a bicycle"."""
    place: tuple[str, ...] = ()
    """Where, unless that is the picture."""
    prepositions: frozenset[str] = frozenset()

    @property
    def content(self) -> tuple[str, ...]:
        """All that it names, in order."""
        return self.head + self.detail + self.place


_META = re.compile(
    r"^(?:is|does|would) (?:this|that|it|the)(?: (?:description|statement|claim|sentence))?"
    r"(?: (?:be|to be))? ?(right|correct|true|accurate|fit|match|wrong|false|incorrect|contradict)"
    rf"(?: (?:the|this) {PICTURE})?$"
)
_FRAME = re.compile(
    r"^(?:is|was|would) it (?:be )?(true|correct|right|wrong|false|incorrect)(?: to say)?(?: "
    r"that)?,? "
    r"|^(?:can|could|would|will) you (?:confirm|say|tell me|agree)(?: that| if| whether)? "
    r"|^(?:do|would) you (?:think|say|agree)(?: that)? "
)
_WRONG = listed("wrong false incorrect contradict")
_NEGATION = re.compile(r"\b(?:no|not|never|nothing|nobody|none|without)\b")
_ABSENCE = re.compile(
    r"\b(?:remov|delet|eras|miss|absen|empt|bare\b|gone\b|disappear|vanish|lack|tak\w+ (?:away|"
    r"out)|"
    r"chang|differ|same\b|identical|replac|vacant)"
)
_EXISTENCE = tuple(
    re.compile(pattern)
    for pattern in (
        r"^(?:is|are|was|were)(?:n't)? there(?: (?:a total of|really|actually))?\b(.*)",
        r"^there (?:is|are|was|were)\b(.*)",
        r"^(?:can|could|do|did)(?:n't)? (?:you|one|we|i)(?: \w+ly)? (?:see|find|spot|detect|"
        r"identify|"
        r"observe|notice|make out)\b(.*)",
        rf"^(?:does|do|did)(?:n't)? (?:the|this|that|these) (?:\w+ )?{PICTURE} (?:show|contain|"
        rf"have|"
        r"include|feature|depict|display)\b(.*)",
        rf"^(?:the|this) {PICTURE} (?:shows?|contains?|has|have|includes?|features?|"
        rf"depicts?)\b(.*)",
        r"^(?:is|are|was|were) (?=(?:a|an|any|some)\b)(.*?\b(?:visible|present|shown|seen|"
        r"depicted)\b.*)",
        r"^((?:a|an|any|some)\b.*?\b(?:can be seen|is visible|are visible|is present)\b.*)",
    )
)
_AUXILIARY = re.compile(
    r"^(?:is|are|was|were|does|do|did|has|have|had|can|could|will|would|should)(?:n't)?\b"
)


@lru_cache(maxsize=4096)
def asked_by(question: str) -> Asked:
    """What a question asks; nothing is its head if there is no telling.

    >>> lamp = asked_by("Is there no red lamp on the table?")
    >>> lamp.head, lamp.place, lamp.negated
    (('red', 'lamp'), ('tabl',), True)
    """
    text = unwrapped(plain(question[:2000]))
    sentences = [part.strip(" \"'") for part in split_sentences(text.casefold())]
    asking = [k for k, part in enumerate(sentences) if part.endswith(("?", "？", "؟"))]
    if not sentences:
        return Asked(language=language_of(text))
    at = asking[-1] if asking else len(sentences) - 1
    language = language_of(text)
    if language.code != "en":
        return _asked_elsewhere(sentences[at], language)
    return _asked(sentences[at], sentences[at - 1] if at else "")


def _asked(text: str, before: str) -> Asked:
    text, negated = text.rstrip(" ?."), False
    meta = _META.match(text)
    if meta:
        text, negated = before.rstrip(" ?."), meta[1] in _WRONG
    if moved := re.match(r"^((?:in|on|at|under|from|between|behind|near) [^,]+), (.*)", text):
        text = f"{moved[2]} {moved[1]}"
    while frame := _FRAME.match(text):
        negated ^= frame[1] in _WRONG
        text = text[frame.end() :]
    text = re.sub(r", not [^,]*", "", text)
    if _NEGATION.search(text):
        negated = not negated
        text = _NEGATION.sub("", text)
    text = " ".join(text.split())
    absence = bool(_ABSENCE.search(text))
    for pattern in _EXISTENCE:
        if found := pattern.match(text):
            return _parts(found[1], negated=negated, existence=True, absence=absence)
    return _parts(_AUXILIARY.sub("", text), negated=negated, existence=False, absence=absence)


def _parts(text: str, *, negated: bool, existence: bool, absence: bool) -> Asked:
    language = language_of("")
    stop, places = listed(language.stop), listed(language.places)
    pictures = listed(language.pictures)
    if re.search(rf"\b{PICTURE}\b", text):
        stop |= {"first", "second", "two", "both", "other"}  # of the pictures
    words = [word for word in tokens(text) if word != ","]
    head: list[str] = []
    detail: list[str] = []
    place: list[str] = []
    into, prepositions = head, set()
    for k, word in enumerate(words):
        if word in places:
            into = place
            prepositions.add(word)
        elif existence and into is head and _opens_detail(words, k, head):
            into = detail
        if word not in stop and word not in places and word not in pictures:
            into.append(stem(word))
    return Asked(
        language=language, negated=negated, existence=existence, absence=absence,
        head=tuple(head), detail=tuple(detail), place=tuple(place),
        prepositions=frozenset(prepositions) if place else frozenset(),
    )  # fmt: skip


_OPENS = listed("with that which who whose wearing from to made")
_AFTER_VERB = listed("a an the on in at against by up down over under its his her their")


def _opens_detail(words: list[str], k: int, head: list[str]) -> bool:
    if not head:
        return False
    word, after = words[k], words[k + 1] if k + 1 < len(words) else ""
    return word in _OPENS or (word.endswith("ing") and after in _AFTER_VERB)


def _asked_elsewhere(text: str, language: Language) -> Asked:
    """A question in a language other than English: its words that name something."""
    if language.spaced:
        head, place = _spaced_parts(tokens(text), language)
    else:
        head, place = _unspaced_parts(text, language)
    return Asked(language=language, existence=True, head=tuple(head), place=tuple(place))


def _spaced_parts(words: Iterable[str], language: Language) -> tuple[list[str], list[str]]:
    stop, places = listed(language.stop), listed(language.places)
    pictures = listed(language.pictures)
    head: list[str] = []
    place: list[str] = []
    named = False
    for word in words:
        for part in word.split("'"):
            if part in places:
                named = True
            elif part and part != "," and part not in stop:
                (place if named else head).append(part)
                named = False
    place = [word for word in place if word not in pictures]
    head = [word for word in head if word not in pictures]
    if language.head_last:
        head, place = head[-1:], head[:-1] + place
    return head, place


_RUN = re.compile("[\u3005\u30a0-\u30ff\u4e00-\u9fff]+")


def _unspaced_parts(text: str, language: Language) -> tuple[list[str], list[str]]:
    before, after = "", text
    if not language.head_last and (found := re.search("有没有|是否有|有|存在|看到", text)):
        before, after = text[: found.start()], text[found.end() :]
    head, place = (_runs(part, language) for part in (after, before))
    if language.head_last:
        head, place = head[-1:], head[:-1]
    return (head, place) if head else (place, [])


def _runs(text: str, language: Language) -> list[str]:
    for word in sorted(listed(language.stop), key=len, reverse=True):
        text = text.replace(word, " ")
    return _RUN.findall(text)
