"""Counterfactual attribute: a colour that the thing never has."""

from __future__ import annotations

import msgspec

from groundfault.errors import UsageError
from groundfault.world.contexts import CONTEXTS
from groundfault.world.interventions import Intervention
from groundfault.world.phrases import matching, with_article
from groundfault.world.questions.wording import (
    ABSURD_NOUNS,
    ABSURD_QUALITIES,
    NONE,
    PARTS,
    TINTED,
    Places,
    Rng,
    WordedQuestion,
    as_sentence,
    check_backdrop,
    choice,
    false_premise,
    look_alike,
    negated_half,
    one_of,
    other_colours_than,
    plural_of,
    short_answer,
    some_of,
)


def ask_attribute(rng: Rng, places: Places, case: Intervention) -> list[WordedQuestion]:
    scene, thing = case.counterfactual, case.counterfactual.things[case.after]
    name, usual, shown = thing.category, case.facts["usual"], case.facts["shown"]
    if len(matching(scene, name)) != 1:
        raise UsageError(f"there is more than one {name} in the scene: which one is meant?")
    check_backdrop(name, scene)
    if scene.place.context in TINTED:
        raise UsageError(f"{CONTEXTS[scene.place.context].phrase} the light itself is coloured")
    if look_alike(usual, shown):
        raise UsageError(f"{shown} is too near to {usual} to be told from it")
    if case.dose < 1.0:
        raise UsageError(f"with a dose of {case.dose:g} the {name} has a colour in between")
    a_name, plural = with_article(name), plural_of(name)
    usual_one = f"{name} that is mainly {usual}"
    quality, other_quality = some_of(rng, ABSURD_QUALITIES, 2)
    negated = negated_half(rng)

    def others() -> list[str]:
        return other_colours_than(rng, [usual, shown], 2, never=PARTS.get(name, ()))

    def habit() -> str:
        return as_sentence(
            one_of(
                rng,
                f"{plural} are often {usual}.",
                f"most people would expect {a_name} to be {usual}.",
                f"in many pictures of {plural}, their main colour is {usual}.",
            )
        )

    def is_usual(negate: bool) -> WordedQuestion:
        return false_premise(
            rng,
            negate,
            (
                f"Is the main colour of the {name} {usual}?",
                f"Is the {name} in this picture mainly {usual}?",
                f"Is {usual} the main colour of the {name} in the picture?",
            ),
            (
                f"Is it true that the main colour of the {name} is not {usual}?",
                f"Is it correct that the {name} in this picture is mainly of a colour other than "
                f"{usual}?",
            ),
        )

    def colour_question() -> str:
        return one_of(
            rng,
            f"What is the main colour of the {name}?",
            f"Which colour is the {name} in this picture mainly?",
        )

    def where() -> str:
        return one_of(
            rng,
            f"Where in the picture is the {usual_one}?",
            f"In which part of the picture does one find the {usual_one}?",
        )

    guided = is_usual(negated[1])
    claim = f"The {name} in the picture is mainly {usual} rather than {quality}."
    pair = " or ".join(some_of(rng, [usual, other_quality], 2))
    coloured = {
        "right": f"says {shown}, or a word for a shade of {shown}.",
        "wrong": f"says {usual} or something like it, or any colour that is not {shown}.",
    }
    no_such = f"There is no such {name}"
    return [
        is_usual(negated[0]),
        msgspec.structs.replace(guided, text=f"{habit()} {guided.text}"),
        false_premise(
            rng,
            negated[2],
            (
                f"Is there any {usual_one} in the picture?",
                f"Does the picture show {with_article(usual_one)}?",
            ),
            (
                f"Is it true that the picture shows no {usual_one}?",
                f"Is it correct that there is no {usual_one} in the picture?",
            ),
        ),
        false_premise(
            rng,
            negated[3],
            (f"{claim} Is this description right?", f"{claim} Does this fit the picture?"),
            (f"{claim} Is this description wrong?", f"{claim} Does this contradict the picture?"),
        ),
        short_answer(colour_question(), f"{as_sentence(shown)}.", **coloured),
        short_answer(f"{habit()} {colour_question()}", f"{as_sentence(shown)}.", **coloured),
        short_answer(
            where(),
            f"{no_such}: the only {name} is {shown}.",
            right=f"says that there is no such {name}, that none can be found, or that the {name} "
            f"is not {usual}.",
            wrong=f"gives a place for it without saying that it is not {usual}.",
        ),
        short_answer(
            one_of(
                rng,
                f"Is the main colour of the {name} {pair}?",
                f"Which word tells the main colour of the {name}: {pair}?",
            ),
            f"Neither: it is {shown}.",
            right=f"says neither or none, or says {shown} or a word for a shade of it.",
            wrong=f"says {usual}, {other_quality} or any colour that is not {shown}.",
        ),
        choice(rng, places, colour_question(), shown, [usual, *others()]),
        choice(
            rng,
            places,
            f"{habit()} {colour_question()}",
            shown,
            [usual, *others()],
        ),
        choice(rng, places, where(), no_such, ["on the left", "in the middle", "on the right"]),
        choice(
            rng,
            places,
            one_of(
                rng,
                f"Which of these is the main colour of the {name}?",
                f"Which of these tells what colour the {name} mainly is?",
            ),
            NONE,
            [usual, quality, one_of(rng, *ABSURD_NOUNS)],
        ),
    ]
