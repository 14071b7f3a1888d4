"""Candidates for HalluSegBench: one thing, and words that denote it and nothing else.

Referring: the words are one of its expressions (RefCOCO) or, where a source has none, its category,
which then must be the only one of its kind in the photograph. Reasoning: the words are a question
(ReasonSeg). The papers leave open which of several sentences is taken, how large things may be and
how near to the edge: settings, recorded with the build. Every photograph of a val or test split of
any set can be kept out (`exclusions.files`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec

from groundfault.building.denied import denied_word
from groundfault.building.mining.selection import (
    Common,
    OnDrop,
    Targets,
    candidate_id,
    draw,
    measure,
    trouble_with,
)
from groundfault.building.records import Candidate, Dropped
from groundfault.errors import UsageError
from groundfault.io.masks import RLEMask, mask_box
from groundfault.io.photographs import Photograph, Thing, spoken

__all__ = ["SETTINGS", "HallusegSettings", "mine"]


class HallusegSettings(Common, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How candidates for HalluSegBench are selected."""

    min_area_share: float = 0.002
    per_image: int | None = 8
    expression: Literal["longest", "first", "drawn"] = "longest"
    """Which of several sentences is taken, of those with at least `min_words`."""
    min_words: int = 2
    """Of an expression, unless none has so many; "yep" says nothing."""
    bare_categories: bool = True
    """Take things without an expression by their category."""
    edits_per_target: int = 1
    """Replacements of one thing, each by another; 2 where rules propose, which costs nothing. The
    paper has one."""
    told_by_side: bool = True
    """Of two of a category without expressions, one in each half of the picture, take "left …" and
    "right …": neither name fits the other one when its own is replaced."""
    splits: tuple[str, ...] = ()
    """Photographs of these splits alone; () takes all. One that is in two has to have both here."""


SETTINGS = HallusegSettings


def mine(
    photographs: Iterable[Photograph], settings: HallusegSettings, on_drop: OnDrop
) -> Iterator[Candidate]:
    """Candidates, photograph by photograph in their order. `facts` has `kind` ("referring" or
    "reasoning"), the chosen `expression` or `question`, and what was measured of the target."""
    if settings.edits_per_target < 1:
        raise UsageError(f"edits_per_target {settings.edits_per_target}: give 1 or more")
    targets = Targets(settings, on_drop)
    for photograph in photographs:
        yield from _of_photograph(photograph, targets)


def _of_photograph(
    photograph: Photograph, targets: Targets[HallusegSettings]
) -> Iterator[Candidate]:
    settings = targets.settings
    unused = _of_other_split(photograph, settings)
    if unused is None and photograph.things:
        unused = targets.unused(photograph)
    things = [_sided(photograph, thing, settings) for thing in photograph.things]
    said = Counter(words for thing in things for words in {*map(_folded, _words(thing))})
    taken = 0
    for thing in targets.shuffled(photograph, things):
        decent = _decent(thing, settings)
        enough = settings.per_image is not None and taken >= settings.per_image
        facts, wordless = _facts(photograph, decent, said, settings)
        target = measure(photograph, decent)
        why = (
            unused
            or trouble_with(target, _singled_out(decent, settings))
            or wordless
            or (Dropped(reason="enough of its photograph") if enough else None)
            or targets.capped(thing.category)
        )
        if why:
            targets.drop([candidate_id(photograph, thing.id, "replacement")], why)
            continue
        taken += 1
        told = _with_words_first(decent, facts)
        known, times = {**target.facts, **facts}, settings.edits_per_target
        yield from targets.give_several(photograph, told, "replacement", known, times)


def _with_words_first(thing: Thing, facts: dict[str, str]) -> Thing:
    """A thing whose chosen words are the first of their kind."""
    question, expression = facts.get("question", ""), facts.get("expression", "")
    questions = sorted(thing.questions, key=lambda each: each != question)
    phrases = sorted(thing.phrases, key=lambda each: each != expression)
    return msgspec.structs.replace(thing, phrases=tuple(phrases), questions=tuple(questions))


def _of_other_split(photograph: Photograph, settings: HallusegSettings) -> Dropped | None:
    own = set(filter(None, photograph.split.split("+")))
    if not settings.splits or (own and own <= set(settings.splits)):
        return None
    return Dropped(reason="of another split", details=photograph.split)


def _words(thing: Thing) -> Sequence[str]:
    return (*thing.phrases, *thing.questions)


def _folded(words: str) -> str:
    return " ".join(words.casefold().split()).rstrip(".?! ")


def _decent(thing: Thing, settings: HallusegSettings) -> Thing:
    """A thing without those of its sentences that have a denied word, unless all have one."""
    phrases = tuple(each for each in thing.phrases if not denied_word(each, settings.denied))
    questions = tuple(each for each in thing.questions if not denied_word(each, settings.denied))
    if not (phrases or questions):
        return thing
    return msgspec.structs.replace(thing, phrases=phrases, questions=questions)


def _singled_out(thing: Thing, settings: HallusegSettings) -> HallusegSettings:
    """Things with words of their own may have others of their category beside them."""
    return msgspec.structs.replace(settings, several=True) if _words(thing) else settings


def _sided(photograph: Photograph, thing: Thing, settings: HallusegSettings) -> Thing:
    """A thing with its side as its phrase, where that alone tells it from one other."""
    same = [each for each in photograph.things if each.category == thing.category]
    if not settings.told_by_side or _words(thing) or len(same) != 2 or not thing.category:
        return thing
    if any(each.crowd or _words(each) for each in same):
        return thing
    middle = photograph.width_px / 2
    spans = {each.id: _span(each) for each in same}
    own, other = spans.pop(thing.id), next(iter(spans.values()), None)
    if own is None or other is None:
        return thing
    for side, first, second in (("left", own, other), ("right", other, own)):
        if first[1] <= middle <= second[0]:
            return msgspec.structs.replace(thing, phrases=(f"{side} {spoken(thing.category)}",))
    return thing


def _span(thing: Thing) -> tuple[float, float] | None:
    """From where to where a thing reaches across the picture."""
    if thing.mask is not None:
        x, _, width, _ = mask_box(RLEMask.from_dict({**thing.mask}))
    elif thing.box_xywh is not None:
        x, _, width, _ = thing.box_xywh
    else:
        return None
    return float(x), float(x + width)


def _facts(
    photograph: Photograph, thing: Thing, said: Counter[str], settings: HallusegSettings
) -> tuple[dict[str, str], Dropped | None]:
    """The words that are taken, or why there are none."""
    words = _words(thing)
    if not words:
        if not (settings.bare_categories and thing.category):
            return {}, Dropped(reason="no expression")
        return {"kind": "referring", "expression": spoken(thing.category)}, None
    single = [each for each in words if said[_folded(each)] == 1]
    if not single:
        return {}, Dropped(reason="ambiguous expression", details=words[0])
    kind = "reasoning" if thing.questions else "referring"
    name = candidate_id(photograph, thing.id, "replacement")
    key = "question" if kind == "reasoning" else "expression"
    return {"kind": kind, key: _chosen(single, name, settings)}, None


def _chosen(words: Sequence[str], name: str, settings: HallusegSettings) -> str:
    telling = [each for each in words if len(each.split()) >= settings.min_words] or list(words)
    if settings.expression == "first":
        return telling[0]
    if settings.expression == "drawn":
        return telling[draw(name, settings.seed, "expression") % len(telling)]
    return max(telling, key=lambda each: (len(each.split()), len(each)))
