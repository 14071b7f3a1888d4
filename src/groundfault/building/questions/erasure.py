"""From fields to questions about something that was erased."""

from __future__ import annotations

from pathlib import Path

from groundfault.building.proposals.exam_fields import ABSURD, STUFFS
from groundfault.building.proposals.kinds import kin
from groundfault.building.proposals.layout import placed
from groundfault.building.proposals.tables import usual
from groundfault.building.proposals.words import joined, with_article
from groundfault.building.questions.looks import NAMES, Look
from groundfault.building.questions.scenes import before_look, place_apart
from groundfault.building.questions.validators import (
    NotAsked,
    differ,
    mentions,
    required,
    short,
    told,
)
from groundfault.building.records import Candidate
from groundfault.exams import Layout
from groundfault.exams.erasure import Erased
from groundfault.exams.wording import Rng, as_sentence, some_of

__all__ = ["erased", "erasure_facts"]

NEEDED = ("B_name", "A_location", "common_knowledge", "attribute_type", "attribute_value",
          "absurd_object_1", "absurd_object_2")  # fmt: skip
_MANY = frozenset({"some", "several", "many", "two", "three", "four", "five", "six"})
OF_MORE = frozenset({"potted plant"})
"""Things of which the table names the material of one part: the pot is not of leaves."""
_STATES = ("upside down", "cut in half", "wrapped in foil", "hanging from a string")


def erased(rng: Rng, candidate: Candidate, build: Path, layout: Layout) -> Erased:
    """What is asked about; raises NotAsked where that would be debatable."""
    assert candidate.proposal is not None
    fields = candidate.proposal.fields
    required(fields, NEEDED)
    short(fields)
    name, place = fields["B_name"], fields["A_location"]
    if candidate.proposal.by == "rules":  # nobody looked whether others of its kind are there
        place = place_apart(candidate)
    mentions(place, (name, candidate.target.category), "Q-location")
    absurd = [fields["absurd_object_1"], fields["absurd_object_2"]]
    absurd.append(_third_absurd(rng, candidate, absurd))
    told(candidate, absurd)
    count = fields.get("B_count_descriptor", "").strip().casefold()
    many = count in _MANY
    a_name = f"{count} {name}" if many else with_article(name)
    kind, value, others = _value(rng, candidate, build)
    differ([value, *others], "Q-differ")
    left = [thing.category for thing in candidate.photograph.things]
    present = sorted({thing for thing in left if thing and thing != candidate.target.category})
    around = joined([with_article(thing) for thing in present]) if present else "the background"
    seen, variants = _descriptions(rng, fields, name, a_name, kind, value, others)
    differ([seen, *variants], "Q-differ")
    return Erased(
        name=name,
        a_name=a_name,
        place=_at(place),
        habits=(_sentence(fields["common_knowledge"]),),
        kind=kind,
        value=value,
        others=others,
        absurd=tuple(with_article(thing) for thing in absurd),
        seen=seen,
        variants=variants,
        empty=f"no {name} at all",
        around=around,
        present=around,
        many=many,
        area=True,
    )


def _third_absurd(rng: Rng, candidate: Candidate, taken: list[str]) -> str:
    there = [*taken, *(thing.category for thing in candidate.photograph.things)]
    fitting = [name for name in ABSURD if not any(kin(name, other) for other in there if other)]
    return some_of(rng, fitting, 1)[0]


def _value(rng: Rng, candidate: Candidate, build: Path) -> tuple[str, str, tuple[str, ...]]:
    """Kind and value of the attribute that is asked for, and two or three wrong values."""
    assert candidate.proposal is not None
    fields = candidate.proposal.fields
    kind = {"color": "colour"}.get(fields["attribute_type"].casefold(), fields["attribute_type"])
    if candidate.proposal.by == "rules" or kind == "colour":
        look = before_look(candidate, build)
        if look.colour:
            return "colour", look.colour, _wrong_colours(rng, look)
        return _material(rng, candidate)
    value = fields["attribute_value"]
    offered = [fields.get(f"attribute_option_{k}", "") for k in (1, 2, 3)]
    wrong = [each for each in offered if each and each.casefold() != value.casefold()]
    if len(wrong) < 2:
        raise NotAsked("Q-options", "fewer than two wrong values")
    return kind, value, tuple(wrong)


def _material(rng: Rng, candidate: Candidate) -> tuple[str, str, tuple[str, str, str]]:
    """What a thing of no single colour is made of, where its kind has one material (Q-colour)."""
    of = usual(candidate.target.category)
    if of is not None and of.name in OF_MORE:
        raise NotAsked("Q-colour", f"a {of.name} is of more than one material")
    if of is None or len(of.materials) != 1 or "any" in of.materials:
        raise NotAsked("Q-colour", "neither a colour nor a material is sure")
    made = of.materials[0]
    first, second, third = some_of(rng, [stuff for stuff in STUFFS if stuff != made], 3)
    return "material", made, (first, second, third)


def _wrong_colours(rng: Rng, look: Look) -> tuple[str, str, str]:
    fitting = [name for name in NAMES if look.lacks(name) and name != "tan"]
    if len(fitting) < 3:
        raise NotAsked("Q-colour", "too few colours differ from its own")
    first, second, third = some_of(rng, fitting, 3)
    return first, second, third


def _descriptions(
    rng: Rng,
    fields: dict[str, str],
    name: str,
    a_name: str,
    kind: str,
    value: str,
    others: tuple[str, ...],
) -> tuple[str, tuple[str, ...]]:
    """What is seen in the unedited picture, and what is seen in neither."""
    if kind == "material" and fields["attribute_type"] != "material":
        made = [f"{a_name} made of {stuff}" for stuff in (value, *others)]
        return made[0], tuple(made[1:])
    if kind != "colour":
        told_ = [fields.get(f"B_variant_{k}", "") for k in (1, 2, 3, 4)]
        required(fields, ("B_full_desc",))
        return fields["B_full_desc"], tuple(each for each in told_ if each)
    state = some_of(rng, _STATES, 1)[0]
    coloured = [with_article(f"{colour} {name}") for colour in (value, *others)]
    return coloured[0], (*coloured[1:], f"{a_name}, {state}")


def _at(place: str) -> str:
    """
    >>> _at("the top of the dining table"), _at("the area left of the chair")
    ('on top of the dining table', 'in the area left of the chair')
    """
    if place.startswith("the top of "):
        return f"on {place.removeprefix('the ')}"
    return placed(place) if place.startswith("the ") else f"at {place}"


def _sentence(text: str) -> str:
    text = as_sentence(text.strip())
    return text if text.endswith(".") else f"{text}."


def erasure_facts(candidate: Candidate, about: Erased) -> dict[str, str]:
    """What is known about the sample."""
    facts = candidate.facts
    return {
        "erased": about.name,
        "relation": facts.get("relation", "") or "near",
        "kept": facts.get("kept", "") or about.place,
        "location": about.place,
        about.kind: about.value,
        "value": about.value,
        "present": ", ".join(
            sorted({t.category for t in candidate.photograph.things} - {candidate.target.category})
        ),
    }
