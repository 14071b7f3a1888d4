"""CAFE's rules about superficial mimicry, ontological and context conflicts, as far as words tell
whether they are kept (Appendix A.2 of the paper, in our words)."""

from __future__ import annotations

import re
from functools import lru_cache

from groundfault.building.proposals.kinds import (
    ABSTRACT,
    SCENES,
    is_known,
    is_vague,
    kin,
    named_denied,
    names_one_of,
)
from groundfault.building.proposals.linter import Subject, rule
from groundfault.building.proposals.tables import MODIFIERS, SURFACES, is_usual
from groundfault.building.proposals.words import CONNECTING, QUANTITIES, article, head, plain
from groundfault.building.records import Proposal

__all__: list[str] = []

CAFE = ("SM", "OC", "CC")
KINDS = {"SM": "surface", "OC": "material", "CC": "context"}
LONGEST_INSTRUCTION = 600
MOST_WORDS = 3
_STAYS = re.compile(
    r"\b(?:keep(?:ing)?|preserv\w+|unchanged|untouched|unaltered|without (?:changing|altering)|"
    r"(?:do not|don't|must not) (?:change|alter|touch|modify)|remains?|stays?|leav(?:e|ing)|"
    r"maintain\w*|retain\w*|exactly as|identical)\b",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"[<>{}`|\\]|\*\*|\[/?\w+\]|https?:|^\s*[#*-] ", re.MULTILINE)
_VOLUME = re.compile(
    r"\b(?:made (?:entirely )?(?:of|from|out of)|solid|carved|sculpt\w+|statue|cast in|molten|"
    r"transparent|translucent|hollow|inflated|see-through)\b",
    re.IGNORECASE,
)
_DEPICTED = re.compile(
    r"\b(?:poster|photo(?:graph)? of|picture of|screen (?:show|display)\w*|logo|sticker|"
    r"(?:shows?|display(?:s|ing)?|depict\w*) an? |painting of|emblem)\b",
    re.IGNORECASE,
)
_PARTIAL = re.compile(
    r"\b(?:half of|part of|parts of|patch(?:es)? on|some of|only (?:the|its) (?!surface)\w+|"
    r"partly|partially|one side|the (?:upper|lower|left|right|front|back) half)\b",
    re.IGNORECASE,
)
_COATING = re.compile(
    r"\b(?:coat(?:ed|ing)?|paint(?:ed)?|print(?:ed)?|covered (?:in|with)|overlay|wrap(?:ped)?|"
    r"fur (?:in)?to|(?:surface|fur|skin|feathers|coat|peel|paint) (?:becomes?|turns?|of the))\b",
    re.IGNORECASE,
)
_CONTEXT_HEADS = ABSTRACT | {"dog", "cat", "bird", "car", "bear", "horse", "cow", "fish"}


@rule("Q-form", "error", CAFE, "The edit instruction is one imperative sentence of plain text.")
def _form(proposal: Proposal, subject: Subject) -> str:
    words = proposal.instruction.strip()
    if not words:
        return "the instruction is empty"
    if "\n" in words or _MARKUP.search(words):
        return "the instruction has markup or several lines"
    return "" if len(words) <= LONGEST_INSTRUCTION else f"{len(words)} characters"


@rule("Q-type", "error", CAFE, "The type must be the one that was asked for.")
def _type(proposal: Proposal, subject: Subject) -> str:
    return "" if proposal.kind == KINDS[subject.task] else f"an edit of the kind '{proposal.kind}'"


@rule("Q-stays", "error", CAFE, "The instruction also says what must stay as it is.")
def _stays(proposal: Proposal, subject: Subject) -> str:
    return "" if _STAYS.search(proposal.instruction) else "nothing is said to stay"


@rule("Q-article", "error", CAFE, "Prompts have no article.")
def _article(proposal: Proposal, subject: Subject) -> str:
    return next((f"'{p}'" for p in (proposal.positive, proposal.negative) if article(p)), "")


@rule("Q-atomic", "error", CAFE, "Each prompt is one plain object category of at most three words.")
def _atomic(proposal: Proposal, subject: Subject) -> str:
    own = plain(subject.category)
    for prompt in (proposal.positive, proposal.negative):
        words = plain(prompt).split()
        if not words:
            return "a prompt is empty"
        if _MARKUP.search(prompt) or "," in prompt:
            return f"'{prompt}' is no plain phrase"
        if own and " ".join(words).endswith(own):  # the source's own phrase, as long as it is
            words = [*words[: len(words) - len(own.split())], "it"]
        joined = next((word for word in words if word in CONNECTING), "")
        if joined:
            return f"'{prompt}' has '{joined}'"
        if len(words) > MOST_WORDS:
            return f"'{prompt}' has {len(words)} words"
    return ""


@rule("Q-quantity", "error", CAFE, "Prompts have no words for quantities.")
def _quantity(proposal: Proposal, subject: Subject) -> str:
    return names_one_of(f"{proposal.positive} . {proposal.negative}", QUANTITIES)


@rule(
    "Q-context",
    "error",
    CAFE,
    "The negative prompt is no phrase that leans on the place, like 'street animal'.",
)
def _context(proposal: Proposal, subject: Subject) -> str:
    words = plain(proposal.negative).split()
    leaning = len(words) > 1 and words[-1] in _CONTEXT_HEADS and words[0] in SCENES
    return f"'{proposal.negative}'" if leaning else ""


@rule(
    "Q-vague",
    "error",
    CAFE,
    "The negative prompt names one concrete kind of thing, no class of many kinds.",
)
def _vague(proposal: Proposal, subject: Subject) -> str:
    return f"'{proposal.negative}'" if is_vague(proposal.negative) else ""


@rule(
    "Q-scene",
    "error",
    CAFE,
    "The negative prompt names a thing with a shape, no place and no stuff.",
)
def _scene(proposal: Proposal, subject: Subject) -> str:
    return f"'{proposal.negative}'" if plain(proposal.negative) in SCENES else ""


@rule("Q-denied", "error", CAFE, "People and sensitive things are left out.")
def _denied(proposal: Proposal, subject: Subject) -> str:
    both = (proposal.positive, proposal.negative)
    return next(filter(None, (named_denied(phrase, subject.denied) for phrase in both)), "")


@rule("Q-other", "error", CAFE, "The two prompts must differ.")
def _other(proposal: Proposal, subject: Subject) -> str:
    same = plain(proposal.positive) == plain(proposal.negative)
    return f"both are '{proposal.negative}'" if same else ""


@rule(
    "Q-absent", "error", ("SM", "CC"), "What the negative prompt names must not be in the picture."
)
def _absent(proposal: Proposal, subject: Subject) -> str:
    for name in sorted(subject.present):
        if kin(name, proposal.negative):
            return f"'{name}' is in the picture"
    return ""


@rule(
    "OC-alone",
    "error",
    "OC",
    "No other thing of the original category is in the picture: it would be what the negative "
    "prompt names.",
)
def _alone(proposal: Proposal, subject: Subject) -> str:
    return f"{subject.others} more of '{subject.category}'" if subject.others else ""


@rule("Q-vocabulary", "warning", CAFE, "The negative prompt should be a common word for a thing.")
def _vocabulary(proposal: Proposal, subject: Subject) -> str:
    names = (subject.category, *(surface.typical_of for surface in SURFACES.values()))
    known = is_known(proposal.negative) or any(kin(proposal.negative, name) for name in names)
    return "" if known else f"'{proposal.negative}' is not in the vocabulary"


@rule("Q-positive", "error", ("SM", "CC"), "The positive prompt names the original category.")
def _positive(proposal: Proposal, subject: Subject) -> str:
    fits = not subject.category or kin(proposal.positive, subject.category)
    return "" if fits else f"'{proposal.positive}' for '{subject.category}'"


@rule(
    "SM-12",
    "error",
    ("SM", "CC"),
    "The negative prompt is another category: no other word for the original one, no kind of "
    "it, nothing it is a kind of, no variant of its material or colour.",
)
def _different(proposal: Proposal, subject: Subject) -> str:
    related = kin(proposal.negative, subject.category or proposal.positive)
    return f"'{proposal.negative}' is a {related} of '{subject.category}'" if related else ""


@rule(
    "SM-6",
    "error",
    "SM",
    "Only the surface changes, like paint or print: no other material or volume.",
)
def _volume(proposal: Proposal, subject: Subject) -> str:
    found = _VOLUME.search(_change(proposal.instruction))
    return found.group() if found else ""


@rule(
    "SM-5",
    "error",
    "SM",
    "The surface itself changes; no picture of the other thing is shown on it.",
)
def _depicted(proposal: Proposal, subject: Subject) -> str:
    found = _DEPICTED.search(_change(proposal.instruction))
    return found.group() if found else ""


@rule("SM-11", "error", "SM", "The whole visible surface changes, all parts alike.")
def _partial(proposal: Proposal, subject: Subject) -> str:
    found = _PARTIAL.search(_change(proposal.instruction))
    return found.group() if found else ""


@rule(
    "OC-5",
    "error",
    "OC",
    "The whole thing is of the new substance, through and through; no coating, no part.",
)
def _coating(proposal: Proposal, subject: Subject) -> str:
    change = _change(proposal.instruction)
    found = _COATING.search(change) or _PARTIAL.search(change)
    return found.group() if found else ""


@rule(
    "OC-9",
    "error",
    "OC",
    "The positive prompt names what the thing has become, not the original category in another "
    "material.",
)
def _new_identity(proposal: Proposal, subject: Subject) -> str:
    related = kin(proposal.positive, subject.category)
    return f"'{proposal.positive}' is still '{subject.category}'" if related else ""


@rule(
    "OC-10",
    "warning",
    "OC",
    "The negative prompt is the original category with a modifier: real, living, functional, "
    "edible.",
)
def _modifier(proposal: Proposal, subject: Subject) -> str:
    known = {*MODIFIERS.values(), "real", "alive", "working", "actual", "genuine", "live"}
    has = known & {*plain(proposal.negative).split()}
    return "" if has else f"'{proposal.negative}' has no modifier"


@rule("OC-negative", "error", "OC", "The negative prompt names the original category.")
def _original(proposal: Proposal, subject: Subject) -> str:
    fits = not subject.category or kin(head(proposal.negative), subject.category)
    return "" if fits else f"'{proposal.negative}' for '{subject.category}'"


@rule("CC-8", "error", "CC", "The new place is one where the thing is hardly ever seen.")
def _unusual(proposal: Proposal, subject: Subject) -> str:
    common = proposal.value and is_usual(proposal.value, subject.category)
    return f"'{subject.category}' in '{proposal.value}' is usual" if common else ""


@rule("CC-5", "error", "CC", "Only the surroundings change, not the thing.")
def _outside(proposal: Proposal, subject: Subject) -> str:
    found = re.search(
        rf"\b(?:recolou?r|relight|repaint|make|turn|paint) (?:the |this )?"
        rf"{re.escape(subject.category)}\b",
        proposal.instruction,
        re.IGNORECASE,
    )
    return found.group() if found and subject.category else ""


@lru_cache(maxsize=64)  # several rules ask about one instruction
def _change(instruction: str) -> str:
    """The part of an instruction that says what changes: what stays may be named in any words."""
    kept = [part for part in re.split(r"[,;.]", instruction) if not _STAYS.search(part)]
    return ", ".join(kept) if kept else instruction
