"""Relational erasure: one of two things that go together is gone."""

from __future__ import annotations

from itertools import pairwise

from groundfault.errors import UsageError
from groundfault.exams import Layout
from groundfault.exams import erasure as wording
from groundfault.exams.erasure import Erased
from groundfault.exams.wording import Places, Rng, WordedQuestion
from groundfault.world.interventions import Intervention
from groundfault.world.objects import CATEGORIES
from groundfault.world.phrases import concept, matching, referring_query, with_article
from groundfault.world.questions.wording import (
    APART,
    PARTS,
    TINTED,
    absent_from,
    negated_half,
    other_colours_than,
    plural_of,
)
from groundfault.world.render import colour_of
from groundfault.world.scene import Scene, Thing

_PLACES = {"on": "on", "under": "under", "beside": "next to", "worn by": "on the head of"}
_EMPTY = {
    "on": "Nothing at all: {anchor} is bare",
    "under": "Nothing at all: nothing stands or lies there",
    "beside": "No {erased} at all",  # other things may well be near
    "worn by": "Nothing at all: the head is bare",
}
_STATES = {
    "living": "fast asleep",
    "edible": "cut in half",
    "functional": "lying on its side",
    "growing": "withered",
}


def place_of_erased(case: Intervention) -> tuple[str, str]:
    """Where the erased thing was, told by what remains; and the habit: "on the left table",
    "on a table"."""
    gone, scene = case.factual.things[case.before], case.counterfactual
    anchor = gone.partner - (gone.partner > case.before)
    kept, preposition = concept(scene.things[anchor]), _PLACES[gone.relation]
    alike = sorted(scene.things[index].x for index in matching(scene, kept))
    if any(right - left < APART for left, right in pairwise(alike)):
        raise UsageError(f"left and right do not tell the {kept}s of this scene apart")
    return (
        f"{preposition} {referring_query(scene, anchor)}",
        f"{preposition} {with_article(kept)}",
    )


def erased(rng: Rng, case: Intervention, layout: Layout) -> Erased:
    """What is asked about: the place where the erased thing was, told by what remains."""
    gone = case.factual.things[case.before]
    name = concept(gone)
    if matching(case.counterfactual, name):
        raise UsageError(f"there is another {name} in the scene: the answer would still be yes")
    (place, habitual), a_name = place_of_erased(case), with_article(name)
    absurd = absent_from(rng, (case.factual, case.counterfactual), [name], at_home=False)
    colour = colour_of(gone.look, gone.category)
    if layout == "twins":
        check_colour(case.factual, gone)
    never = PARTS.get(gone.category, ()) if layout == "twins" else ()
    colours = other_colours_than(rng, [colour], 3, never=[c for c in never if c != colour])
    things = dict.fromkeys(concept(thing) for thing in case.counterfactual.things)
    present = ", ".join(with_article(thing) for thing in things)
    return Erased(
        name=name,
        a_name=a_name,
        place=place,
        habits=(
            f"pictures like this one often show {a_name} {habitual}.",
            f"{a_name} {habitual} is a familiar sight.",
            f"many people would expect {a_name} {habitual}.",
        ),
        value=colour,
        others=tuple(colours),
        absurd=tuple(with_article(other) for other in absurd[:3]),
        seen=with_article(f"{colour} {name}"),
        variants=(
            with_article(f"{colours[0]} {name}"),
            with_article(f"{colours[1]} {name}"),
            f"{a_name}, {'upside down' if layout == 'twins' else 'partly hidden'}",
            f"{a_name}, {_STATES[CATEGORIES[gone.category].nature]}",
            f"two {plural_of(gone.category)}",
        ),
        empty=_EMPTY[gone.relation].format(
            anchor=place.removeprefix(_PLACES[gone.relation] + " "), erased=name
        ),
        around=f"the {case.counterfactual.place.context}, {present}",
        present=present,
    )


def check_colour(scene: Scene, thing: Thing) -> None:
    """Refuse a thing whose colour no single word tells."""
    if thing.look.surface or thing.look.material or scene.place.context in TINTED:
        raise UsageError(f"no single word is the colour of the {concept(thing)}")


def ask_erasure(
    rng: Rng, places: Places, case: Intervention, layout: Layout
) -> list[WordedQuestion]:
    """The questions about an erasure."""
    about = erased(rng, case, layout)
    negated = negated_half(rng) if layout == "paper" else places.half(0)
    return wording.ask_erasure(rng, places, about, negated, layout)
