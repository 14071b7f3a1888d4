"""From fields to questions about an attribute that was changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from groundfault.building.proposals.tables import usual
from groundfault.building.proposals.words import with_article
from groundfault.building.questions.looks import NAMES, alike
from groundfault.building.questions.scenes import after_look, before_look, third, told_name
from groundfault.building.questions.validators import NotAsked, differ, mentions, required, short
from groundfault.building.records import Candidate
from groundfault.exams import Layout
from groundfault.exams.attribute import Changed
from groundfault.exams.wording import Rng, some_of

__all__ = ["attribute_facts", "changed"]

NEEDED = ("A_object", "attribute_type", "B_original_attribute", "C_new_attribute",
          "plausible_wrong_attribute_1", "plausible_wrong_attribute_2", "E_absurd_same_slot",
          "absurd_attribute_2")  # fmt: skip
DIRECTIONS = {"recolour": "colour", "material": "material", "surface": "texture"}
_COLOUR = "main colour"


def changed(
    rng: Rng, candidate: Candidate, build: Path, layout: Layout
) -> tuple[Changed, Callable[[], list[str]]]:
    """What is asked about, and a function that draws two wrong values."""
    assert candidate.proposal is not None
    fields = candidate.proposal.fields
    required(fields, NEEDED)
    short(fields)
    name, slot = fields["A_object"], fields["attribute_type"].casefold()
    mentions(fields.get("D_location", ""), (name,), "Q-self")
    by_rule = candidate.proposal.by == "rules"
    name = told_name(candidate, name) if by_rule else name
    kind = _COLOUR if slot in ("color", "colour") else slot
    old, new = fields["B_original_attribute"], fields["C_new_attribute"]
    wrong = [fields["plausible_wrong_attribute_1"], fields["plausible_wrong_attribute_2"]]
    if kind == _COLOUR:
        old, wrong = _measured(rng, candidate, build, new)
    elif by_rule:
        _check_usual(candidate, build, old)
        wrong = _other_stuffs(rng, old, new) if kind == "material" else wrong
    absurd = (fields["E_absurd_same_slot"], fields["absurd_attribute_2"])
    differ([old, new, *wrong, *absurd], "Q-differ")
    a_name = with_article(fields["A_object"])
    own, where = _where(candidate, fields, by_rule)
    about = Changed(
        name=name,
        kind=kind,
        usual=old,
        shown=new,
        habits=(
            f"one would expect the {kind} of {a_name} to be {old}.",
            f"for {a_name}, {old} is nothing unusual as its {kind}.",
        ),
        where=where,
        own=own if layout == "twins" else "",
        at=own,
        absurd=(*absurd, ""),
    )
    return about, lambda: some_of(rng, wrong, 2)


def _where(
    candidate: Candidate, fields: dict[str, str], by_rule: bool
) -> tuple[str, tuple[str, ...]]:
    """The thing's own place, and three to choose from."""
    if by_rule or not fields.get("D_location"):
        return third(candidate)
    own = fields["D_location"]
    others = [fields.get(f"wrong_location_{k}", "") for k in (1, 2)]
    differ([own, *others], "Q-differ")
    return own, (own, *others)


def _measured(rng: Rng, candidate: Candidate, build: Path, new: str) -> tuple[str, list[str]]:
    """The colour that the thing has in the photograph, and two that it has in neither picture."""
    before, after = before_look(candidate, build), after_look(candidate, build)
    if not before.colour:
        raise NotAsked("Q-colour", "no single word tells its colour")
    if alike(before.colour, new):
        raise NotAsked("Q-colour", f"{new} is too near to {before.colour}")
    if after.colour and not alike(after.colour, new):
        raise NotAsked("Q-colour", f"the edited picture shows {after.colour} rather than {new}")
    if not after.colour:
        raise NotAsked("Q-colour", f"the edited picture is {new} in part only")
    fitting = [n for n in NAMES if before.lacks(n) and after.lacks(n) and not alike(n, new)]
    if len(fitting) < 2:
        raise NotAsked("Q-colour", "too few other colours")
    return before.colour, some_of(rng, fitting, 2)


_TAKEN_FOR = (
    {"plastic", "metal", "rubber", "glass", "foam", "silver", "gold", "bronze"},
    {"cloth", "leather", "plush", "silk", "wool", "fur"},
    {"concrete", "porcelain", "marble", "granite", "terracotta", "stone", "ceramic", "glass"},
    {"wood", "chocolate", "bronze", "terracotta", "leather"},
)
"""Materials that may be taken for each other, or stand beside each other in one thing."""


_OFFERED = ("paper", "wool", "glass", "wood", "leather", "concrete", "rubber", "straw", "cardboard",
            "wax")  # fmt: skip


def _other_stuffs(rng: Rng, old: str, new: str) -> list[str]:
    """Two materials that neither picture could be said to show."""
    banned = {old, new}.union(*(group for group in _TAKEN_FOR if {old, new} & group))
    fitting = [stuff for stuff in _OFFERED if stuff not in banned]
    return some_of(rng, fitting, 2)


def _check_usual(candidate: Candidate, build: Path, old: str) -> None:
    """Q-usual: that a thing is of a single colour can be measured; what it is made of is known only
    where its kind has one material."""
    if old == "single-coloured":
        if not before_look(candidate, build).colour:
            raise NotAsked("Q-usual", "it has more than one colour")
        return
    of = usual(candidate.target.category)
    if of is None or of.materials != (old,):
        raise NotAsked("Q-usual", f"it may be of something else than {old}")


def attribute_facts(candidate: Candidate, about: Changed) -> dict[str, str]:
    """What is known about the sample."""
    assert candidate.proposal is not None
    facts = {
        "object": about.name,
        "attribute": "colour" if about.is_colour else about.kind,
        "usual": about.usual,
        "shown": about.shown,
    }
    direction = DIRECTIONS.get(candidate.proposal.kind, candidate.proposal.kind)
    return facts | {"direction": direction} | ({} if about.is_colour else {"by_words": "yes"})
