"""Relational erasure: a thing without the part, or without what is in or on it, that it usually
has."""

from __future__ import annotations

from groundfault.errors import UsageError
from groundfault.exams import Layout
from groundfault.exams import erasure as wording
from groundfault.exams.erasure import Erased
from groundfault.exams.wording import Places, Rng, WordedQuestion
from groundfault.world.interventions import Intervention
from groundfault.world.objects.exhibits import Exhibit
from groundfault.world.phrases import with_article
from groundfault.world.priors import PART, bystanders, exhibit_of
from groundfault.world.questions.wording import (
    TINTED,
    absent_from,
    negated_half,
    other_colours_than,
)
from groundfault.world.render import colour_of


def named(exhibit: Exhibit, name: str) -> str:
    """The part, in whatever look, with an article where it takes one."""
    return name if exhibit.many or exhibit.mass else with_article(name)


def facts_of_erasure(case: Intervention) -> dict[str, str]:
    """What is known about an erasure."""
    exhibit, gone = exhibit_of(case), case.factual.things[case.before]
    return {
        "erased": exhibit.part,
        "relation": PART,
        "kept": exhibit.whole,
        "location": exhibit.place.format(f"the {exhibit.whole}"),
        "colour": colour_of(gone.look, gone.category),
        "present": ", ".join([exhibit.whole, *bystanders(case)]),
    }


def erased(rng: Rng, case: Intervention) -> Erased:
    """What is asked about: the place of the part, told by the whole."""
    exhibit, facts = exhibit_of(case), facts_of_erasure(case)
    name, colour = exhibit.part, facts["colour"]
    if case.factual.place.context in TINTED:
        raise UsageError(f"in coloured light no word is the colour of the {name}")
    a_name = named(exhibit, name)
    habitual = exhibit.place.format(with_article(exhibit.whole))
    absurd = absent_from(rng, (case.factual, case.counterfactual), [exhibit.whole], at_home=False)
    absurd = [other for other in absurd if other not in (name, exhibit.whole)]
    never = [other for other in exhibit.spare if other != colour]
    colours = other_colours_than(rng, [colour, *never], 3)
    things = ", ".join(with_article(thing) for thing in (exhibit.whole, *bystanders(case)))
    be = "are" if exhibit.many else "is"
    return Erased(
        name=name,
        a_name=a_name,
        place=facts["location"],
        habits=(
            f"{exhibit.habit}.",
            f"most people would expect {a_name} {habitual}.",
            f"{a_name} {habitual} {be} a familiar sight.",
        ),
        value=colour,
        others=tuple(colours),
        absurd=tuple(with_article(other) for other in absurd[:3]),
        seen=named(exhibit, f"{colour} {name}"),
        variants=tuple(named(exhibit, f"{other} {name}") for other in colours),
        empty=f"No {name} at all",
        around=f"the {case.counterfactual.place.context}, {things}",
        present=things,
        many=exhibit.many,
        part=True,
    )


def ask_erasure(
    rng: Rng, places: Places, case: Intervention, layout: Layout
) -> list[WordedQuestion]:
    """The questions about an erasure."""
    about = erased(rng, case)
    negated = negated_half(rng) if layout == "paper" else places.half(0)
    return wording.ask_erasure(rng, places, about, negated, layout)
