"""HalluSegBench's rules about replacements (Figure 13 of its supplement, in our words). The
published proposals themselves break some of them: docs/building.md has the counts."""

from __future__ import annotations

import re

from groundfault.building.proposals.kinds import is_vague, kin, named_denied, names_one_of
from groundfault.building.proposals.linter import Subject, rule
from groundfault.building.proposals.tables import usual
from groundfault.building.proposals.words import ARTICLES, QUANTITIES, article, plain, singular
from groundfault.building.records import Proposal

__all__ = ["contains_in_compound", "keeps_word"]

MOST_WORDS = 14
_FORM = re.compile(r"Change \S.* to \S.*", re.IGNORECASE)


@rule("HS-form", "error", "replacement", "The answer is exactly one line: Change X to Y.")
def _form(proposal: Proposal, subject: Subject) -> str:
    words = proposal.instruction.strip()
    fits = "\n" not in words and _FORM.match(words) and not re.search(r"[<>{}`|]", words)
    return "" if fits else f"'{words[:80]}'"


@rule("HS-type", "error", "replacement", "The edit is a replacement.")
def _type(proposal: Proposal, subject: Subject) -> str:
    return "" if proposal.kind == "replace" else f"an edit of the kind '{proposal.kind}'"


@rule("HS-length", "error", "replacement", "Both descriptions are short referring phrases.")
def _length(proposal: Proposal, subject: Subject) -> str:
    for phrase in (proposal.positive, proposal.negative):
        words = plain(phrase).split()
        if not words or len(words) > MOST_WORDS:
            return f"{len(words)} words in '{phrase[:80]}'"
    return ""


@rule("HS-2", "error", "replacement", "The new thing is nowhere in the picture, not even in part.")
def _absent(proposal: Proposal, subject: Subject) -> str:
    for name in sorted(subject.present):
        if kin(name, proposal.negative) and name != subject.category:
            return f"'{name}' is in the picture"
    return ""


@rule("HS-3", "error", "replacement", "The new thing is concrete and specific, never 'fruit'.")
def _vague(proposal: Proposal, subject: Subject) -> str:
    return f"'{proposal.negative}'" if is_vague(proposal.negative) else ""


@rule(
    "HS-4",
    "warning",
    "replacement",
    "The new thing is plausible there: of the same nature as the original.",
)
def _nature(proposal: Proposal, subject: Subject) -> str:
    old, new = usual(subject.category), usual(proposal.value or proposal.negative)
    if old is None or new is None or old.nature == new.nature:
        return ""
    return f"{new.nature} for {old.nature}"


@rule(
    "HS-5",
    "error",
    "replacement",
    "The new thing is clearly another one: its description does not keep the category.",
)
def _identity(proposal: Proposal, subject: Subject) -> str:
    kept = keeps_word(proposal.negative, subject.category)
    return f"'{proposal.negative}' keeps '{subject.category}'" if kept else ""


@rule(
    "HS-5k",
    "error",
    "replacement",
    "The new thing is no other word for the original, no kind of it, and nothing that it is a "
    "kind of.",
)
def _kin(proposal: Proposal, subject: Subject) -> str:
    if keeps_word(proposal.negative, subject.category):
        return ""  # HS-5 says so
    related = kin(proposal.negative, subject.category)
    return f"'{proposal.negative}' is a {related} of '{subject.category}'" if related else ""


@rule(
    "HS-5c",
    "warning",
    "replacement",
    "The description of the new thing has the category inside of a longer word.",
)
def _compound(proposal: Proposal, subject: Subject) -> str:
    word = contains_in_compound(proposal.negative, subject.category)
    return f"'{word}' has '{subject.category}' in it" if word else ""


@rule("HS-6", "error", "replacement", "The description of the original is false of the new thing.")
def _false(proposal: Proposal, subject: Subject) -> str:
    same = plain(proposal.positive) == plain(proposal.negative)
    return f"both are '{proposal.negative}'" if same else ""


@rule("HS-8a", "error", "replacement", "Descriptions begin with no article.")
def _article(proposal: Proposal, subject: Subject) -> str:
    return f"'{proposal.negative}'" if article(proposal.negative) else ""


@rule("HS-8i", "warning", "replacement", "There is no article anywhere in the instruction.")
def _article_inside(proposal: Proposal, subject: Subject) -> str:
    return names_one_of(proposal.instruction, ARTICLES)


@rule("HS-8q", "error", "replacement", "Descriptions have no words for quantities.")
def _quantity(proposal: Proposal, subject: Subject) -> str:
    return names_one_of(proposal.negative, QUANTITIES)


@rule("HS-denied", "error", "replacement", "People and sensitive things are left out.")
def _denied(proposal: Proposal, subject: Subject) -> str:
    both = (subject.category, proposal.negative)
    return next(filter(None, (named_denied(phrase, subject.denied) for phrase in both)), "")


@rule(
    "HS-question",
    "error",
    "replacement",
    "A rewritten question differs from the original, is a question or a request as it was, and "
    "names neither thing.",
)
def _question(proposal: Proposal, subject: Subject) -> str:
    old = proposal.fields.get("question", "")
    new = proposal.fields.get("counterfactual_question", "")
    if not old:
        return ""
    if not new.strip():
        return "it is missing"
    if plain(old) == plain(new):
        return "it is the original one"
    if old.strip().endswith("?") != new.strip().endswith("?"):
        return "it has another form"
    named = proposal.value or proposal.negative
    leaked = keeps_word(new, named) or (subject.category and keeps_word(new, subject.category))
    return "it names the thing" if leaked else ""


def keeps_word(phrase: str, category: str) -> bool:
    """Whether a phrase has a category among its words, in singular or plural.

    >>> keeps_word("toaster oven", "oven"), keeps_word("two ovens", "oven")
    (True, True)
    >>> keeps_word("armchair", "chair"), keeps_word("anything", "")
    (False, False)
    """
    words = plain(phrase).split()
    wanted = plain(category).split()
    if not wanted:
        return False
    for start in range(len(words) - len(wanted) + 1):
        *first, last = words[start : start + len(wanted)]
        if first == wanted[:-1] and singular(last) == singular(wanted[-1]):
            return True
    return False


def contains_in_compound(phrase: str, category: str) -> str:
    """The longer word of a phrase that has a category in it; "" if none has.

    >>> contains_in_compound("red armchair", "chair"), contains_in_compound("chair", "chair")
    ('armchair', '')
    """
    wanted = plain(category)
    if not wanted or keeps_word(phrase, category):
        return ""
    return next((word for word in plain(phrase).split() if wanted in word), "")
