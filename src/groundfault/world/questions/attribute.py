"""Counterfactual attribute: a colour that the thing never has."""

from __future__ import annotations

from groundfault.errors import UsageError
from groundfault.exams import Layout
from groundfault.exams import attribute as wording
from groundfault.exams.attribute import ABSURD_QUALITIES, Changed
from groundfault.exams.wording import Places, Rng, WordedQuestion, some_of
from groundfault.world.contexts import CONTEXTS
from groundfault.world.interventions import Intervention
from groundfault.world.perception import look_alike
from groundfault.world.phrases import concept, matching, with_article
from groundfault.world.questions.wording import (
    PARTS,
    TINTED,
    check_backdrop,
    negated_half,
    other_colours_than,
    plural_of,
    region_of,
)
from groundfault.world.sampling import box_of
from groundfault.world.scene import Scene, Thing

_WHERE = ("on the left", "in the middle", "on the right")
CLEAR = 0.04
"""Share of the picture's side that a thing is away from the border of its third, at least."""


def check_colour(scene: Scene, thing: Thing) -> None:
    """Refuse a thing whose colour no single word tells."""
    if thing.look.surface or thing.look.material or scene.place.context in TINTED:
        raise UsageError(f"no single word is the colour of the {concept(thing)}")


def _check(case: Intervention, layout: Layout) -> None:
    """Refuse what cannot be asked without doubt."""
    scene, name = case.counterfactual, case.counterfactual.things[case.after].category
    usual, shown = case.facts["usual"], case.facts["shown"]
    if len(matching(scene, name)) != 1:
        raise UsageError(f"there is more than one {name} in the scene: which one is meant?")
    check_backdrop(name, scene)
    if scene.place.context in TINTED:
        raise UsageError(f"{CONTEXTS[scene.place.context].phrase} the light itself is coloured")
    if look_alike(usual, shown):
        raise UsageError(f"{shown} is too near to {usual} to be told from it")
    if case.dose < 1.0:
        raise UsageError(f"with a dose of {case.dose:g} the {name} has a colour in between")
    if layout == "twins":
        check_colour(case.factual, case.factual.things[case.before])
        if shown in PARTS.get(name, ()):
            raise UsageError(f"a part of the {name} is {shown} in the unedited picture, too")


def _third(thing: Thing) -> str:
    """Where a thing is, in thirds of the picture."""
    left, _, right, _ = box_of(thing)
    thirds = 1.5 * (left + right)  # the middle of the thing
    if abs(thirds - round(thirds)) < 3 * CLEAR and 0.5 < thirds < 2.5:
        raise UsageError(f"the {thing.category} stands between two parts of the picture")
    return _WHERE[max(0, min(2, int(thirds)))]


def ask_attribute(
    rng: Rng, places: Places, case: Intervention, layout: Layout
) -> list[WordedQuestion]:
    """The questions about an unusual colour."""
    _check(case, layout)
    thing = case.counterfactual.things[case.after]
    name, usual, shown = thing.category, case.facts["usual"], case.facts["shown"]
    plural = plural_of(name)
    qualities = some_of(rng, ABSURD_QUALITIES, 2)
    negated = negated_half(rng) if layout == "paper" else places.half(0)
    about = Changed(
        name=name,
        usual=usual,
        shown=shown,
        habits=(
            f"{plural} are often {usual}.",
            f"most people would expect {with_article(name)} to be {usual}.",
            f"in many pictures of {plural}, their main colour is {usual}.",
        ),
        where=_WHERE,
        own=_third(thing) if layout == "twins" else "",
        at=f"in {region_of(thing)}",
        absurd=(qualities[0], qualities[1], ""),
    )

    def others() -> list[str]:
        return other_colours_than(rng, [usual, shown], 2, never=PARTS.get(name, ()))

    return wording.ask_attribute(rng, places, about, negated, others, layout)
