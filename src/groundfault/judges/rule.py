"""A judge without a model: short answers about the world, by what they assert and what they deny.

It knows from a sample's facts which thing was erased, which colour is shown, what was altered, and
looks in the answer for that thing, that colour, that kind of change, told apart from mentions that
are denied ("no lamp") or only supposed ("a lamp would usually stand there"). It knows few synonyms:
good enough for answers in plain words, and no substitute for a reader. `docs/exam.md` has its
agreement with labelled answers.

Of attributes it knows colours alone: what is said about shapes, materials or textures it leaves
undecided, and `unmarkable` says which questions those are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from groundfault.benchmarks.reactbench import is_twin
from groundfault.judges import BY_RULE, Judgement, ShortAnswer, by_item, is_judged_in_words
from groundfault.parsing.assertions import (
    CLAUSE,
    NEGATED_BEFORE,
    SUPPOSED,
    asserts,
    denied,
    denies,
)
from groundfault.parsing.wording import split_sentences
from groundfault.protocols.words import expected
from groundfault.records import Benchmark, Case, Verdict

__all__ = ["RuleJudge", "colours_asserted", "unmarkable"]

LONGEST = 4000
"""Characters of an answer that are looked at."""


class RuleJudge:
    """Judges by rule; answers that its rules do not cover are left undecided."""

    name = BY_RULE

    def judge_all(self, answers: Sequence[ShortAnswer]) -> list[Judgement]:
        """One judgement per answer, in order."""
        return [Judgement(_verdict(answer)) for answer in answers]


def unmarkable(benchmark: Benchmark) -> dict[str, int]:
    """The short answers in words that the rules cannot mark: "attribute Q5 (shape)" → how many."""
    found: dict[str, int] = {}
    for case, item in by_item(benchmark).values():
        if is_judged_in_words(case, item) and not _is_markable(case):
            what = case.facts.get("attribute", "") if case.intervention == "attribute" else ""
            name = f"{case.intervention} Q{expected(item).number}{what and f' ({what})'}"
            found[name] = found.get(name, 0) + 1
    return found


def _is_markable(case: Case) -> bool:
    if case.intervention != "attribute":
        return (case.intervention, is_twin(case)) in _RULES
    if case.facts.get("by_words"):
        return True
    named = case.facts.get("attribute", "colour").casefold()
    return named in ("colour", "color") and case.facts.get("shown", "") in _SHADES


def _verdict(answer: ShortAnswer) -> Verdict | None:
    case, number, rubric = answer.case, answer.expected.number, answer.expected.rubric
    text = answer.text[-LONGEST:] if answer.reasoned else answer.text[:LONGEST]
    text = text.replace("’", "'").casefold()
    if not text.strip() or not _is_markable(case):
        return None
    rule = _RULES[case.intervention, is_twin(case)]
    if answer.reasoned:
        subject = _subject(case, number)
        for conclusion in _conclusions(text):
            found = None
            if subject.search(_NOTHING_ELSE.sub(" ", conclusion)):
                found = rule(case.facts, number, rubric, conclusion)
            if found is not None:
                return found
    found = rule(case.facts, number, rubric, text)
    habit = not is_twin(case) and _AS_USUAL.search(text)
    return "wrong" if found is None and habit else found


_AS_USUAL = re.compile(r"\bas (?:usual|always|expected|one would expect)\b")
"""Claims the habit, which the picture breaks, without naming it."""


def _conclusions(text: str) -> Iterator[str]:
    """The ends of a reasoning, from its last sentence to all of it."""
    sentences = split_sentences(text)
    for first in reversed(range(len(sentences))):
        yield " ".join(sentences[first:])


_NOTHING_ELSE = re.compile(r"\b(?:nothing|none|nobody|no one) (?:else|more|further)\b")
"""A remark that concludes nothing."""


def _subject(case: Case, number: int) -> re.Pattern[str]:
    """What a conclusion must be about; a remark about other things decides nothing."""
    facts = case.facts
    if case.intervention == "tracing":
        thing = _named(facts["object"]).pattern
        return re.compile(f"{thing}|{_NOTHING.pattern}" if is_twin(case) else thing)
    if case.intervention == "attribute" and facts.get("by_words"):
        words = f"{_told(facts['shown']).pattern}|{_told(facts['usual']).pattern}"
        return re.compile(f"{words}|{_NO_SUCH.pattern}")
    if case.intervention == "attribute":
        return re.compile(f"{_COLOUR.pattern}|{_NO_SUCH.pattern}")
    about = f"{_named(facts['erased']).pattern}|{_EMPTY.pattern}"
    if number == 7:
        about += f"|{_COLOUR.pattern}|{_UNTOLD.pattern}"
    return re.compile(about)


# What a text asserts.

_EMPTY = re.compile(
    r"\b(?:nothing|none|neither|empty|emptiness|bare|vacant|unoccupied|no such|"
    r"not (?:there|present|visible)|no (?:objects?|items?|things?|one|sign|trace)|only|just)\b|"
    r"^\W*no\b"
)

_ALSO = {
    "airplane": "plane aircraft jet aeroplane",
    "bee": "bumblebee insect",
    "book": "volume novel",
    "bus": "coach",
    "car": "automobile vehicle sedan",
    "cat": "kitten kitty feline",
    "cow": "cattle calf",
    "dog": "puppy hound pup canine",
    "hat": "cap headgear",
    "ladybug": "ladybird beetle",
    "lamp": "lantern light",
    "mug": "cup",
    "sailboat": "boat yacht",
    "snake": "serpent",
    "suitcase": "luggage case bag",
    "teapot": "kettle pot",
    "turtle": "tortoise",
    "umbrella": "parasol",
    "vase": "urn",
    "sculpture": "statue figure",
    "figurine": "statue figure",
    "figure": "statue sculpture",
    "carving": "statue sculpture figure",
}
_IRREGULAR = {"cactus": "cacti", "snowman": "snowmen", "strawberry": "strawberries"}


def _named(name: str, others: Iterable[str] = ()) -> re.Pattern[str]:
    """Finds a thing by its name, its last word, or another word for it. `others` are things that
    must not be taken for it: where one shares a word, that word does not count."""
    head = name.split()[-1]
    words = [name, head, *_ALSO.get(name, "").split(), *_ALSO.get(head, "").split()]
    taken = {word for other in others if other != name for word in (other, other.split()[-1])}
    words = [word for word in dict.fromkeys(words) if word not in taken or word == name]
    forms = [f"{re.escape(word)}(?:e?s)?|{_IRREGULAR.get(word, word)}" for word in words]
    return re.compile(rf"\b(?:{'|'.join(forms)})\b")


_CHOSEN = re.compile(r"^\W*(?:yes|yeah|both)\b|\bthe (?:former|latter)\b")
"""Accepts something that a question offers, without naming it."""


def _listed(rubric: str) -> list[str]:
    """What the rubric's parentheses say is really there."""
    inside = re.search(r"\(([^()]*)\)", rubric)
    names = inside[1].split(", ") if inside else []
    return [re.sub(r"^(?:an?|the) ", "", name) for name in names]


# Relational erasure.

_UNTOLD = re.compile(
    r"\b(?:can ?not|can't|could not|couldn't|unable|impossible|not possible|unknown|undetermined|"
    r"indeterminate|unclear|no way to|not (?:enough|determinable|discernible|applicable))\b"
)
"""Says that a property cannot be told."""
_GUESSES = re.compile(
    r"\b(?:but|though|although|however|still|maybe|perhaps|probably|likely|possibly|presumably|"
    r"seems?|looks?|appears?|guess|assume|might|may be|could be|would be)\b"
)
"""May give the property all the same, in words that are not known here."""


def _erasure(facts: dict[str, str], number: int, rubric: str, text: str) -> Verdict | None:
    seen = [name for name in facts.get("present", "").split(", ") if name]
    erased = _named(facts["erased"], seen)
    if number == 7:  # a property of what is not there
        gone = denies(text, erased) or re.search(
            r"\b(?:nothing|none|neither|no such|not (?:there|present|visible|in the picture)|"
            r"absent|missing|isn't (?:there|one|any)|doesn't exist|does not exist|bare|empty)\b|"
            r"^\W*no(?:ne)?\b|there (?:is|'s) no|there isn't",
            text,
        )
        if gone or re.search(rf"\b{re.escape(facts['erased'])}less\b", text):
            return "right"
        if not _UNTOLD.search(text) or colours_asserted(text):
            return "wrong"
        return None if _GUESSES.search(text) else "right"
    offered = [erased]
    if number == 8:
        other = re.search(r"says that (.+?) or (.+?) is there", rubric)
        names = [re.sub(r"^an? ", "", name) for name in other.groups()] if other else []
        offered += [_named(name, seen) for name in names]
        if _CHOSEN.search(text):
            return "wrong"
    if any(asserts(text, thing) for thing in offered):
        return "wrong"
    if any(denies(text, thing) for thing in offered) or _EMPTY.search(text):
        return "right"
    around = [facts["kept"], *seen, *_listed(rubric)]
    return "right" if any(_named(name).search(text) for name in around) else None


def _erasure_twin(facts: dict[str, str], number: int, rubric: str, text: str) -> Verdict | None:
    present = [name for name in facts.get("present", "").split(", ") if name]
    if number == 7 and facts.get("colour", "") in _SHADES:
        return _by_colour(text, facts["colour"])
    if number == 7:
        told = facts.get("value", "")
        return "right" if told and asserts(text, _told(told)) else None
    return "right" if asserts(text, _named(facts["erased"], present)) else "wrong"


# Counterfactual attribute.

_SHADES = {
    "red": "red reddish crimson scarlet ruby maroon burgundy cherry vermilion",
    "orange": "orange orangish tangerine apricot amber",
    "yellow": "yellow yellowish gold golden lemon mustard",
    "green": "green greenish lime olive emerald mint jade",
    "teal": "teal turquoise cyan aqua aquamarine",
    "blue": "blue bluish navy azure cobalt sapphire indigo",
    "purple": "purple purplish violet lavender lilac mauve plum",
    "pink": "pink pinkish magenta fuchsia rose salmon",
    "brown": "brown brownish chestnut chocolate mahogany",
    "tan": "tan beige sandy khaki cream",
    "grey": "grey gray greyish grayish silver silvery slate",
    "white": "white whitish ivory snow-white",
    "black": "black blackish ebony jet-black",
}
_COLOUR_OF = {word: colour for colour, words in _SHADES.items() for word in words.split()}
_COLOUR = re.compile(rf"\b(?:{'|'.join(sorted(_COLOUR_OF, key=len, reverse=True))})\b")
_MIXED = re.compile(r"\b(?:blue|bluish)[- ]green\b|\b(?:green|greenish)[- ]blue\b")


def colours_asserted(text: str) -> set[str]:
    """The colours that the first clause with any gives to something.

    >>> sorted(colours_asserted("not white, but turquoise, on white snow"))
    ['teal']
    """
    text = _MIXED.sub("teal", text.casefold())
    corrected = re.split(r"\b(?:but|however),? (?:it is|it's|it was|really)\b", text)
    if len(corrected) > 1 and (found := colours_asserted(corrected[-1])):
        return found
    for clause in CLAUSE.split(text):
        if SUPPOSED.search(clause):
            continue
        found = {
            _COLOUR_OF[mention[0]]
            for mention in _COLOUR.finditer(clause)
            if not denied(clause, mention)
        }
        if found:
            return found
    return set()


def _by_colour(text: str, shown: str) -> Verdict | None:
    found = colours_asserted(text)
    if found:
        return "right" if found == {shown} else "wrong"
    return "wrong" if _EMPTY.search(text) or NEGATED_BEFORE.search(text) else None


_NO_SUCH = re.compile(
    r"\b(?:no such|nowhere|none|nothing|neither|not (?:exist|there|present|visible)|doesn't exist|"
    r"cannot (?:be found|find|see)|can't (?:find|see|be found)|couldn't find|could not find)\b|"
    r"\bisn't (?:one|any)\b|\bis none\b|^\W*no\b"
)


def _by_words(facts: dict[str, str], number: int, twin: bool, text: str) -> Verdict | None:
    """Of an attribute that one or two words tell: those that are asserted. Another of the `values`
    that things of the exam have is wrong."""
    usual, shown = facts["usual"], facts["shown"]
    right = asserts(text, _told(shown))
    others = [value for value in facts.get("values", "").split(", ") if value not in ("", shown)]
    another = any(asserts(text, _told(value)) for value in others)
    if twin:
        return "right" if right else "wrong" if another or _EMPTY.search(text) else None
    if asserts(text, _told(usual)):
        return "wrong"
    gone = re.search(r"\b(?:neither|none|nor)\b", text) if number == 8 else None
    return "right" if right or gone else "wrong" if another else None


def _told(words: str) -> re.Pattern[str]:
    forms = {words.casefold(), words.casefold().removesuffix("en")}
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(forms)))})(?:en)?\b")


def _attribute(facts: dict[str, str], number: int, rubric: str, text: str) -> Verdict | None:
    if facts.get("by_words") and number != 7:
        return _by_words(facts, number, False, text)
    usual, shown = facts["usual"], facts["shown"]
    usual_words = (
        re.compile(rf"\b(?:{'|'.join(_SHADES[usual].split())})\b")
        if usual in _SHADES
        else re.compile(rf"\b{re.escape(usual)}\b")
    )
    if number == 7:  # where is the usual one?
        thing = _named(facts["object"])
        denied = _NO_SUCH.search(text) or denies(text, usual_words) or denies(text, thing)
        return "right" if denied or colours_asserted(text) == {shown} else "wrong"
    if number != 8:
        return _by_colour(text, shown)
    other = re.search(r"says [\w -]+, ([\w-]+) or any", rubric)
    if re.search(r"\b(?:neither|none|nor|not any)\b", text) and not asserts(text, usual_words):
        return "right" if colours_asserted(text) <= {shown} else "wrong"
    if other and asserts(text, re.compile(rf"\b{re.escape(other[1])}\b")):
        return "wrong"
    if _CHOSEN.search(text):
        return "wrong"
    found = colours_asserted(text)
    if found:
        return "right" if found == {shown} else "wrong"
    return "right" if re.match(r"^\W*(?:no|nothing)\b", text) else None


def _attribute_twin(facts: dict[str, str], number: int, rubric: str, text: str) -> Verdict | None:
    if number != 7 and facts.get("by_words"):
        return _by_words(facts, number, True, text)
    if number != 7:
        return _by_colour(text, facts["shown"])
    where = re.search(r"says that it is (?:on|in) the (left|middle|right)", rubric)
    if _NO_SUCH.search(text) or where is None:
        return "wrong" if where else None
    said = _columns(text)
    return ("right" if said == {where[1]} else "wrong") if said else None


# Alteration tracing.

_KINDS = {
    "replace": r"replaced|replacement|swapped|substituted|exchanged|turned into|became|"
    r"in its place|changed (?:in)?to an?|transformed|instead of|took the place|"
    r"where (?:the|an?) \w+(?: \w+)? (?:was|stood)|used to be an? [\w ]+, (?:and )?now",
    "move": r"moved|shifted|slid|slides|relocated|displaced|repositioned|position|further|farther|"
    r"elsewhere|somewhere else|(?:different|another|new|other) (?:place|spot|location|side)|"
    r"changed? (?:its )?place|(?:now|is) (?:more )?to the (?:left|right)|"
    r"first[^.]*\bleft\b[^.]*second[^.]*\bright|first[^.]*\bright\b[^.]*second[^.]*\bleft",
    "remove": r"removed|gone|missing|disappeared|vanished|deleted|erased|without|"
    r"t(?:aken|ook) (?:away|out)|took [\w ]+ out|no longer|absent|isn't there|"
    r"not (?:there|present)(?! (?:before|at first|in the first))|"
    r"(?:not|isn't) in the second|(?<!first one )(?<!first )lacks|"
    r"was an? [\w ]+; now",
    "add": r"added|appeared|appears|show(?:s|ed) up|new|extra|additional|another|inserted|placed|"
    r"includes|first (?:one )?lacks|now (?:there is|has|shows|stands|contains)|only in the second|"
    r"was no|wasn't|were no|not in the first|absent from the first|missing (?:in|from) the first|"
    r"(?:not|n't) (?:been )?there before",
    "recolour": r"colou?r|painted|turned (?:red|green|blue|white|black|yellow|pink|purple|orange)",
}
_KIND = {kind: re.compile(rf"\b(?:{words})\b") for kind, words in _KINDS.items()}
_SAME = re.compile(
    r"\b(?:nothing|no (?:change|difference|visible)|identical|the same|unchanged|not? changed?|"
    r"none|no object|didn't change|did not change|hasn't changed|not differ)\b"
)


_NO_CHANGE = re.compile(r"\b(?:nothing|no objects?)(?! else) (?:was|were|is|has|have)\b[^.;,]*")
""" "Nothing was removed" tells of no removal."""


def _tracing(facts: dict[str, str], number: int, rubric: str, text: str) -> Verdict | None:
    thing = _named(facts["object"])
    if not thing.search(text):
        return "wrong"
    if number == 9:
        return (
            "right" if _about_there(text, facts["location"]) and not _SAME.search(text) else "wrong"
        )
    told = _NO_CHANGE.sub(" nothing ", text)
    kinds = {kind for kind, pattern in _KIND.items() if pattern.search(told)}
    if _SAME.search(text) and not kinds & {"move", "replace", "add", "remove"}:
        return "wrong"
    return "right" if _fits(facts, kinds, text) else "wrong"


def _tracing_twin(facts: dict[str, str], number: int, rubric: str, text: str) -> Verdict | None:
    """Nothing changed."""
    told = _NO_CHANGE.sub(" nothing ", text)
    if _NOTHING.search(told):
        return "right"
    kinds = {kind for kind, pattern in _KIND.items() if pattern.search(told)}
    return "wrong" if kinds or _named(facts["object"]).search(told) else None


_NOTHING = re.compile(
    r"\b(?:nothing|no (?:changes?|differences?|such|objects?|visible)|identical|the same|unchanged|"
    r"not? changed?|none|didn't change|did not change|hasn't changed|not differ|"
    r"can(?:not|'t) (?:find|see) any)\b|^\W*no\b"
)
"""Says that two pictures are alike."""


def _fits(facts: dict[str, str], kinds: set[str], text: str) -> bool:
    """Whether the kinds of change that an answer tells are the one that was made."""
    kind, both = facts["operation"], {"remove", "add"} <= kinds
    if "recolour" in kinds and kind not in kinds:
        return False
    if kind == "replace":
        after = facts.get("after", "")
        there_now = bool(after) and asserts(text, _named(after, [facts["object"]]))
        return "replace" in kinds or ("remove" in kinds and there_now and "move" not in kinds)
    if kind == "move":
        return "replace" not in kinds and ("move" in kinds or both)
    if kinds & {"replace", "move"}:
        return False
    if kind == "add":
        first = re.search(r"(?:missing|absent|not|no|isn't|wasn't|without)\b[^.]*\bfirst", text)
        return "add" in kinds and ("remove" not in kinds or bool(first))
    return "remove" in kinds and "add" not in kinds - _stated_as_missing(text)


def _stated_as_missing(text: str) -> set[str]:
    """ "The new picture has no dog", "another": words of addition that add nothing."""
    return {"add"} if re.search(r"\b(?:new|another|other) (?:picture|image|one)\b", text) else set()


def _columns(text: str) -> set[str]:
    text = re.sub(r"\b(?:cent(?:er|re)|central)\b", "middle", text)
    return set(re.findall(r"\b(left|middle|right)\b", text))


def _about_there(text: str, location: str) -> bool:
    """Whether the places that a text names do not all lie on the other side of the picture."""
    said, true = _columns(text), _columns(location)
    opposite = {"left": {"right"}, "right": {"left"}}
    if said and true and said <= opposite.get(next(iter(true)), set()):
        return False
    rows = {
        "upper" if word in ("upper", "top") else "lower"
        for word in re.findall(r"\b(upper|top|lower|bottom)\b", text)
    }
    row = "upper" if "upper" in location else "lower" if "lower" in location else ""
    return not rows or not row or row in rows


_Rule = Callable[[dict[str, str], int, str, str], Verdict | None]
_RULES: Mapping[tuple[str, bool], _Rule] = {
    ("erasure", False): _erasure,
    ("erasure", True): _erasure_twin,
    ("attribute", False): _attribute,
    ("attribute", True): _attribute_twin,
    ("tracing", False): _tracing,
    ("tracing", True): _tracing_twin,
}
"""By task, and whether it is about the twin."""
