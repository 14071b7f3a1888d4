"""The same questions about the unedited picture, where habit is right.

About an edited picture, "there is none" and the surprising colour are always right: whoever has
found that out need not look. Asked about both pictures, the two answers cannot both be right.
"""

from __future__ import annotations

import msgspec

from groundfault.benchmarks.reactbench import LETTERS, Question
from groundfault.errors import UsageError
from groundfault.world.interventions import Intervention
from groundfault.world.phrases import concept, with_article
from groundfault.world.questions.wording import PARTS, TINTED, as_sentence, region_of
from groundfault.world.render import colour_of
from groundfault.world.sampling import box_of
from groundfault.world.scene import Thing

__all__ = ["CONTROLLED", "control_questions"]

CONTROLLED = ("erasure", "attribute")
"""Tasks whose answers do not depend on the picture."""
CLEAR = 0.04
"""Share of the picture's side that a thing is away from the border of its third, at least."""


def control_questions(
    case: Intervention, asked: tuple[Question, ...], sample_id: str
) -> tuple[Question, ...]:
    """What was asked about the edited picture, with the answers that the unedited one has.

    A question that has no single answer there makes the case unfit for a control.
    """
    if case.kind not in CONTROLLED:
        raise UsageError(f"{case.kind} has no control; {' and '.join(CONTROLLED)} have")
    thing = case.factual.things[case.before]
    colour = colour_of(thing.look, thing.category)
    _check_colour(case, thing, colour, asked)
    answers = _erasure(case, thing, colour) if case.kind == "erasure" else _attribute(thing, colour)
    return tuple(
        msgspec.structs.replace(
            _answered(question, *answers.get(question.number, ("", ""))),
            id=f"{sample_id}:Q{question.number}",
            sample_id=sample_id,
        )
        for question in asked
    )


def _check_colour(
    case: Intervention, thing: Thing, colour: str, asked: tuple[Question, ...]
) -> None:
    if thing.look.surface or thing.look.material or case.factual.place.context in TINTED:
        raise UsageError(f"no single word is the colour of the {concept(thing)}")
    offered = {option for question in asked for option in question.options}
    if offered & {*PARTS.get(thing.category, ())} - {colour}:
        raise UsageError(f"a part of the {thing.category} has a colour that is offered as wrong")


def _answered(question: Question, answer: str, rubric: str) -> Question:
    """A yes/no question is about what the edit changed: its answer is the other one."""
    if question.type == "YN":
        return msgspec.structs.replace(question, answer="no" if question.answer == "yes" else "yes")
    if question.type == "SA":
        return msgspec.structs.replace(question, answer=f"{as_sentence(answer)}.", rubric=rubric)
    options = [option.replace(", partly hidden", ", upside down") for option in question.options]
    if answer not in options:  # in the place after the old answer, which is anywhere
        options[(LETTERS.index(question.answer) + 1) % len(options)] = answer
    return msgspec.structs.replace(
        question, options=tuple(options), answer=LETTERS[options.index(answer)]
    )


def _erasure(case: Intervention, thing: Thing, colour: str) -> dict[int, tuple[str, str]]:
    name = concept(thing)
    a_name, seen = with_article(name), with_article(f"{colour} {name}")
    described = (
        f"Right: mentions {a_name} there, whatever word is used for it. Wrong: says that nothing "
        f"is there, or does not mention the {name}."
    )
    coloured = _coloured(colour, f"says that there is no {name}")
    either = f"Right: says {name}. Wrong: says neither, none, or the other one."
    return {
        5: (seen, described),
        6: (seen, described),
        7: (colour, coloured),
        8: (a_name, either),
        9: (seen, ""),
        10: (seen, ""),
        11: (colour, ""),
        12: (a_name, ""),
    }


def _attribute(thing: Thing, colour: str) -> dict[int, tuple[str, str]]:
    left, _, right, _ = box_of(thing)
    thirds = 1.5 * (left + right)  # the middle of the thing, in thirds of the picture
    if abs(thirds - round(thirds)) < 3 * CLEAR and 0.5 < thirds < 2.5:
        raise UsageError(f"the {thing.category} stands between two parts of the picture")
    where = ("on the left", "in the middle", "on the right")[max(0, min(2, int(thirds)))]
    coloured = _coloured(colour, "says neither")
    found = (
        f"Right: says that it is {where}, or describes a place there. Wrong: says that there is no "
        "such thing, or names another place."
    )
    plain = dict.fromkeys((5, 6, 8, 9, 10, 12), (colour, coloured))
    return plain | {7: (f"in {region_of(thing)}", found), 11: (where, "")}


def _coloured(colour: str, denial: str) -> str:
    return (
        f"Right: says {colour}, or a word for a shade of {colour}. Wrong: {denial}, or gives any "
        "other colour."
    )
