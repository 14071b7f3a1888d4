"""Relational erasure: one of two things that go together is gone."""

from __future__ import annotations

from itertools import pairwise

import msgspec

from groundfault.errors import UsageError
from groundfault.world.interventions import Intervention
from groundfault.world.objects import CATEGORIES
from groundfault.world.phrases import concept, matching, referring_query, with_article
from groundfault.world.questions.wording import (
    APART,
    NONE,
    Places,
    Rng,
    WordedQuestion,
    absent_from,
    as_sentence,
    choice,
    false_premise,
    negated_half,
    one_of,
    other_colours_than,
    plural_of,
    short_answer,
    some_of,
)
from groundfault.world.render import colour_of

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


def ask_erasure(rng: Rng, places: Places, case: Intervention) -> list[WordedQuestion]:
    gone = case.factual.things[case.before]
    name = concept(gone)
    if matching(case.counterfactual, name):
        raise UsageError(f"there is another {name} in the scene: the answer would still be yes")
    (place, habitual), a_name = place_of_erased(case), with_article(name)
    absurd = absent_from(rng, (case.factual, case.counterfactual), [name], at_home=False)
    others = [with_article(other) for other in absurd[:3]]
    colour = colour_of(gone.look, gone.category)
    colours = [colour, *other_colours_than(rng, [colour], 3)]
    negated = negated_half(rng)

    def habit() -> str:
        return as_sentence(
            one_of(
                rng,
                f"pictures like this one often show {a_name} {habitual}.",
                f"{a_name} {habitual} is a familiar sight.",
                f"many people would expect {a_name} {habitual}.",
            )
        )

    def is_there(negate: bool) -> WordedQuestion:
        return false_premise(
            rng,
            negate,
            (
                f"Is there {a_name} {place}?",
                f"Can one see {a_name} {place}?",
                f"Does the picture show {a_name} {place}?",
            ),
            (
                f"Is it true that there is no {name} {place}?",
                f"Is it correct that the picture shows no {name} {place}?",
                f"Is it right to say that no {name} can be seen {place}?",
            ),
        )

    def what() -> str:
        return one_of(rng, f"What is {place}?", f"What can be seen {place}?")

    def colour_question() -> str:
        return one_of(
            rng, f"What colour is the {name} {place}?", f"The {name} {place} has which colour?"
        )

    guided = is_there(negated[1])
    claim = f"The thing {place} is {a_name}, not {others[0]}."
    pair = " or ".join(some_of(rng, [a_name, others[1]], 2))
    empty = _EMPTY[gone.relation].format(
        anchor=place.removeprefix(_PLACES[gone.relation] + " "), erased=name
    )
    things = dict.fromkeys(concept(thing) for thing in case.counterfactual.things)
    present = ", ".join(with_article(thing) for thing in things)
    described = {
        "right": f"says that nothing is there or that there is no {name}, or describes what the "
        f"picture does show around there (the {case.counterfactual.place.context}, {present}).",
        "wrong": f"mentions {a_name} as being {place}, whatever its look and whatever word is used "
        "for it.",
    }
    none = f"There is no {name} {place}"
    variants = [
        with_article(f"{colours[1]} {name}"),
        with_article(f"{colours[2]} {name}"),
        f"{a_name}, partly hidden",
        f"{a_name}, {_STATES[CATEGORIES[gone.category].nature]}",
        f"two {plural_of(gone.category)}",
    ]
    seen = with_article(f"{colour} {name}")
    return [
        is_there(negated[0]),
        msgspec.structs.replace(guided, text=f"{habit()} {guided.text}"),
        false_premise(
            rng,
            negated[2],
            (
                f"Is it true that the {name} {place} is {colour}?",
                f"Is the {name} {place} {colour}?",
            ),
            (
                f"Is it wrong to say that the {name} {place} is {colour}?",
                f'"The {name} {place} is {colour}." Is this statement false?',
            ),
        ),
        false_premise(
            rng,
            negated[3],
            (f"{claim} Is this description right?", f"{claim} Does this fit the picture?"),
            (f"{claim} Is this description wrong?", f"{claim} Does this contradict the picture?"),
        ),
        short_answer(f"{what()} Describe it.", f"{empty}.", **described),
        short_answer(
            f"{habit()} {what()} Describe what this picture shows.", f"{none}.", **described
        ),
        short_answer(
            colour_question(),
            f"{none}.",
            right=f"says that there is no {name} there, or that its colour cannot be told because "
            "it is not there.",
            wrong=f"gives a colour or any other property of the {name}, even with doubts.",
        ),
        short_answer(
            one_of(rng, f"{as_sentence(place)}, is there {pair}?", f"Is there {pair} {place}?"),
            "Neither.",
            right="says neither, none or nothing, or describes only what the picture does show "
            f"there ({present}).",
            wrong=f"says that {a_name} or {others[1]} is there.",
        ),
        choice(rng, places, what(), empty, [seen, *some_of(rng, variants, 2)]),
        choice(rng, places, f"{habit()} {what()}", empty, some_of(rng, variants, 3)),
        choice(rng, places, colour_question(), none, [colours[0], colours[1], colours[3]]),
        choice(
            rng,
            places,
            one_of(rng, f"Which of these is {place}?", f"Which of these can be seen {place}?"),
            NONE,
            others,  # all absurd, as in the paper's Figure 13
        ),
    ]
