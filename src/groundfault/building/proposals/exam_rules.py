"""ReactBench's rules about instructions and the fields that questions are made from (Figures 17 to
22 of the paper, in our words)."""

from __future__ import annotations

import re

from groundfault.building.proposals.kinds import kin, named_denied, names_one_of
from groundfault.building.proposals.linter import Subject, rule
from groundfault.building.proposals.replacement_rules import keeps_word
from groundfault.building.proposals.tables import usual
from groundfault.building.proposals.words import CONNECTING, article, plain
from groundfault.building.records import Candidate, Proposal

__all__ = ["OPERATIONS", "assigned_operations"]

EXAMS = ("erasure", "attribute", "tracing")
OPERATIONS = {"delete": "erase", "add": "add", "replace": "replace", "move": "move"}
"""Operations of alteration tracing, and the kinds of edit that they are."""
KINDS = {
    "erasure": ("erase",),
    "attribute": ("recolour", "material", "surface", "state", "finish", "shape"),
    "tracing": tuple(OPERATIONS.values()),
}
MOST_WORDS_B = 12
LONGEST = 1000
EMPTY_WORDS = frozenset(
    {
        "natural",
        "normal",
        "typical",
        "plain",
        "usual",
        "ordinary",
        "standard",
        "regular",
        "original",
        "common",
        "default",
    }
)
PREPOSITIONS = CONNECTING | {"across", "along", "beneath", "atop", "underneath", "amid"}
_STAYS = re.compile(
    r"\b(?:preserv\w+|do not (?:alter|change|modify)|unchanged|keep(?:ing)?|leav(?:e|ing))\b",
    re.IGNORECASE,
)
_GLARING = re.compile(
    r"\b(?:neon|glow\w*|led|led lights?|luminous|fluorescent|circuit\w*|holograph\w*|jelly|liquid|"
    r"lava|molten|crystal\w*|burning|on fire|exploded?|shattered|sci-fi|futuristic|rainbow)\b",
    re.IGNORECASE,
)
_MEASURED = re.compile(r"\b\d+(?:\.\d+)?\s*(?:cm|mm|m|px|pixels?|inch(?:es)?|feet|%)\b", re.I)


@rule("RB-form", "error", EXAMS, "The instruction is one line of plain text.")
def _form(proposal: Proposal, subject: Subject) -> str:
    words = proposal.instruction.strip()
    if not words or "\n" in words or re.search(r"[<>{}`|]|\*\*", words):
        return "it is empty, has markup, or several lines"
    return "" if len(words) <= LONGEST else f"{len(words)} characters"


@rule("RB-type", "error", EXAMS, "The edit is of a kind that the task has.")
def _type(proposal: Proposal, subject: Subject) -> str:
    fits = proposal.kind in KINDS[subject.task]
    return "" if fits else f"an edit of the kind '{proposal.kind}'"


@rule("RB-stays", "error", EXAMS, "The instruction says that the surroundings stay as they are.")
def _stays(proposal: Proposal, subject: Subject) -> str:
    return "" if _STAYS.search(proposal.instruction) else "nothing is said to stay"


@rule("RB-denied", "error", EXAMS, "People and sensitive things are left out.")
def _denied(proposal: Proposal, subject: Subject) -> str:
    named = [subject.category, proposal.value, proposal.fields.get("B_name", "")]
    return next(filter(None, (named_denied(name, subject.denied) for name in named)), "")


@rule("RB-english", "error", EXAMS, "Fields are in English, of one line, without markup.")
def _english(proposal: Proposal, subject: Subject) -> str:
    for name, value in proposal.fields.items():
        if name == "chinese_name":
            continue
        if re.search(r"[\u3000-\u9fff\uac00-\ud7af\u0400-\u06ff]|[<>{}`]|\n", value):
            return f"{name}: '{value[:60]}'"
    return ""


@rule("RE-blank", "error", "erasure", "No field is blank.")
def _blank(proposal: Proposal, subject: Subject) -> str:
    return next((name for name, value in proposal.fields.items() if not value.strip()), "")


@rule("RE-B", "error", "erasure", "B_name has no article and at most 12 words.")
def _b_name(proposal: Proposal, subject: Subject) -> str:
    name = proposal.fields.get("B_name", "")
    if article(name):
        return f"'{name}'"
    return f"{len(name.split())} words" if len(name.split()) > MOST_WORDS_B else ""


@rule(
    "RE-A",
    "error",
    "erasure",
    "A_location is a noun phrase that never mentions B and begins with no preposition.",
)
def _a_location(proposal: Proposal, subject: Subject) -> str:
    place, name = proposal.fields.get("A_location", ""), proposal.fields.get("B_name", "")
    if _leads_with_preposition(place):
        return f"'{place}' begins with a preposition"
    mentioned = keeps_word(place, name) or keeps_word(place, subject.category)
    return f"'{place}' mentions it" if mentioned else ""


@rule(
    "RE-remaining",
    "error",
    "erasure",
    "What remains at A does not have B in it, except to say that there is none.",
)
def _remaining(proposal: Proposal, subject: Subject) -> str:
    left, name = proposal.fields.get("remaining_at_A", ""), proposal.fields.get("B_name", "")
    if not name or not keeps_word(left, name) or re.search(r"\b(?:no|without)\b", left):
        return ""
    return f"'{left}'"


@rule(
    "RE-options",
    "error",
    "erasure",
    "Options about the attribute differ, and one is the true value.",
)
def _options(proposal: Proposal, subject: Subject) -> str:
    value = plain(proposal.fields.get("attribute_value", ""))
    options = [plain(proposal.fields.get(f"attribute_option_{k}", "")) for k in (1, 2, 3)]
    if not any(options):
        return ""
    if len({*options}) < 3:
        return "two are equal"
    return "" if value in options else f"'{value}' is none of them"


@rule("RE-absurd", "error", "erasure", "Absurd objects are not in the picture and not B.")
def _absurd(proposal: Proposal, subject: Subject) -> str:
    for k in (1, 2):
        name = proposal.fields.get(f"absurd_object_{k}", "")
        near = [
            other for other in (subject.category, *subject.present) if name and kin(name, other)
        ]
        if near:
            return f"'{name}' and '{near[0]}'"
    return ""


@rule(
    "RA-glaring",
    "error",
    "attribute",
    "The change is subtle: no neon, glow, circuits, liquids, disasters.",
)
def _glaring(proposal: Proposal, subject: Subject) -> str:
    found = _GLARING.search(proposal.instruction)
    return found.group() if found else ""


@rule(
    "RA-usual", "error", "attribute", "The new attribute is one that such a thing hardly ever has."
)
def _usual(proposal: Proposal, subject: Subject) -> str:
    of = usual(subject.category)
    if of is None or not proposal.value:
        return ""
    normal = {"recolour": of.colours, "material": of.materials}.get(proposal.kind, ())
    return f"{proposal.value} {of.name}" if "any" in normal or proposal.value in normal else ""


@rule(
    "RA-concrete",
    "error",
    "attribute",
    "The original attribute is concrete, never 'natural' or 'typical'.",
)
def _concrete(proposal: Proposal, subject: Subject) -> str:
    return names_one_of(proposal.fields.get("B_original_attribute", ""), EMPTY_WORDS)


@rule("RA-differ", "error", "attribute", "Old, new and wrong attributes are all different.")
def _differ(proposal: Proposal, subject: Subject) -> str:
    names = (
        "B_original_attribute",
        "C_new_attribute",
        "plausible_wrong_attribute_1",
        "plausible_wrong_attribute_2",
        "E_absurd_same_slot",
        "absurd_attribute_2",
    )
    return _repeated([proposal.fields.get(name, "") for name in names])


@rule(
    "RA-places", "error", "attribute", "Wrong places differ from each other and from the true one."
)
def _places(proposal: Proposal, subject: Subject) -> str:
    names = ("D_location", "wrong_location_1", "wrong_location_2", "wrong_location_3")
    return _repeated([proposal.fields.get(name, "") for name in names])


@rule("RA-self", "error", "attribute", "A thing is not told by itself: no 'rope on the rope'.")
def _self_reference(proposal: Proposal, subject: Subject) -> str:
    name = proposal.fields.get("A_object", "")
    places = [proposal.fields.get(key, "") for key in ("D_location", "D_alt_location")]
    return next((f"'{place}'" for place in places if name and keeps_word(place, name)), "")


@rule("RT-operation", "error", "tracing", "The operation is one of delete, add, replace, move.")
def _operation(proposal: Proposal, subject: Subject) -> str:
    named = proposal.fields.get("edit_type", "")
    fits = not named or OPERATIONS.get(named) == proposal.kind
    return "" if fits else f"'{named}' as '{proposal.kind}'"


@rule("RT-delete", "error", "tracing", "One is deleted only if another of its kind remains.")
def _delete(proposal: Proposal, subject: Subject) -> str:
    alone = proposal.kind == "erase" and not subject.others
    return f"it is the only '{subject.category}'" if alone else ""


@rule(
    "RT-measure", "error", "tracing", "Places are told by things, never by distances like '20 cm'."
)
def _measure(proposal: Proposal, subject: Subject) -> str:
    found = _MEASURED.search(proposal.instruction)
    return found.group() if found else ""


@rule(
    "RT-A",
    "error",
    "tracing",
    "A is a spatial noun phrase without a leading preposition, and A_prime another one.",
)
def _places_of_tracing(proposal: Proposal, subject: Subject) -> str:
    place, other = proposal.fields.get("A", ""), proposal.fields.get("A_prime", "")
    if _leads_with_preposition(place) or _leads_with_preposition(other):
        return f"'{place}', '{other}'"
    return f"both are '{place}'" if place and plain(place) == plain(other) else ""


@rule("RT-B", "error", "tracing", "B has no article, and B_prime is another kind of thing.")
def _things_of_tracing(proposal: Proposal, subject: Subject) -> str:
    name, other = proposal.fields.get("B", ""), proposal.fields.get("B_prime", "")
    if article(name):
        return f"'{name}'"
    return f"'{name}' and '{other}'" if name and other and kin(name, other) else ""


@rule("RT-C", "error", "tracing", "C is a predicate that begins with was or had.")
def _predicate(proposal: Proposal, subject: Subject) -> str:
    words = proposal.fields.get("C", "")
    return "" if not words or words.startswith(("was ", "had ", "were ")) else f"'{words}'"


@rule("RT-options", "error", "tracing", "The options of a question all differ.")
def _options_of_tracing(proposal: Proposal, subject: Subject) -> str:
    for group in ("1a_distractor", "2a", "3a", "1b", "2b", "3b"):
        options = [proposal.fields.get(f"choice_{group}_{k}", "") for k in (1, 2, 3)]
        if found := _repeated(options):
            return f"choice_{group}: {found}"
    return ""


@rule(
    "RT-length",
    "warning",
    "tracing",
    "Options of the first question have 15 to 25 words, of the third 10 to 23.",
)
def _lengths(proposal: Proposal, subject: Subject) -> str:
    for group, low, high in (("1a_distractor", 15, 25), ("3a", 10, 23)):
        for k in (1, 2, 3):
            words = len(proposal.fields.get(f"choice_{group}_{k}", "").split())
            if words and not low <= words <= high:
                return f"choice_{group}_{k} has {words}"
    return ""


def _leads_with_preposition(phrase: str) -> bool:
    return plain(phrase).partition(" ")[0] in PREPOSITIONS


def _repeated(phrases: list[str]) -> str:
    """The first of some phrases that another one repeats; empty ones are not looked at."""
    seen: set[str] = set()
    for phrase in filter(None, map(plain, phrases)):
        if phrase in seen:
            return f"'{phrase}' twice"
        seen.add(phrase)
    return ""


def assigned_operations(candidate: Candidate) -> list[str]:
    """The operation that mining assigned, and its fallbacks in order; none where it did not."""
    facts = candidate.facts
    said = f"{facts.get('assigned', '')} {facts.get('operation', '')} {facts.get('fallbacks', '')}"
    named = [name for name in said.replace(",", " ").split() if name in OPERATIONS]
    return list(dict.fromkeys(named))
