"""Counterfactual attribute: a thing with a value that its kind never has."""

from __future__ import annotations

from groundfault.errors import UsageError
from groundfault.exams import Layout
from groundfault.exams import attribute as wording
from groundfault.exams.attribute import ABSURD_QUALITIES, Changed
from groundfault.exams.wording import Places, Rng, WordedQuestion, some_of
from groundfault.world.attributes import plural_name
from groundfault.world.contexts import CONTEXTS
from groundfault.world.interventions import Intervention
from groundfault.world.perception import look_alike
from groundfault.world.phrases import with_article
from groundfault.world.questions.wording import (
    PARTS,
    TINTED,
    check_backdrop,
    negated_half,
    other_colours_than,
    region_of,
)
from groundfault.world.sampling import box_of
from groundfault.world.scene import Thing
from groundfault.world.usual import USUAL, VALUES

_WHERE = ("on the left", "in the middle", "on the right")
CLEAR = 0.04
"""Share of the picture's side that a thing is away from the border of its third, at least."""


def _check(case: Intervention, layout: Layout) -> None:
    """Refuse what cannot be asked without doubt."""
    scene, name = case.counterfactual, case.counterfactual.things[case.after].category
    usual, shown = case.facts["usual"], case.facts["shown"]
    if sum(thing.category == name for thing in scene.things) != 1:
        raise UsageError(f"there is more than one {name} in the scene: which one is meant?")
    check_backdrop(name, scene)
    if scene.place.context in TINTED:
        raise UsageError(f"{CONTEXTS[scene.place.context].phrase} the light itself is coloured")
    if case.dose < 1.0:
        raise UsageError(f"with a dose of {case.dose:g} the {name} has a colour in between")
    if case.facts["attribute"] != "colour":
        return
    if look_alike(usual, shown):
        raise UsageError(f"{shown} is too near to {usual} to be told from it")
    if layout == "twins" and shown in PARTS.get(name, ()):
        raise UsageError(f"a part of the {name} is {shown} in the unedited picture, too")
    look = case.factual.things[case.before].look
    if look.surface or look.material:
        raise UsageError(f"no single word is the colour of the {name}")


def _third(thing: Thing) -> str:
    """Where a thing is, in thirds of the picture."""
    left, _, right, _ = box_of(thing)
    thirds = 1.5 * (left + right)  # the middle of the thing
    if abs(thirds - round(thirds)) < 3 * CLEAR and 0.5 < thirds < 2.5:
        raise UsageError(f"the {thing.category} stands between two parts of the picture")
    return _WHERE[max(0, min(2, int(thirds)))]


def habits_of(direction: str, name: str, usual: str) -> tuple[str, ...]:
    """True sentences that make one expect the usual value."""
    plural = plural_name(name)
    if direction == "colour":
        return (
            f"{plural} are often {usual}.",
            f"most people would expect {with_article(name)} to be {usual}.",
            f"in many pictures of {plural}, their main colour is {usual}.",
        )
    said = USUAL[direction][name].habit.format(plural)
    return (
        f"{said}.",
        f"most people would expect the {direction} of {with_article(name)} to be {usual}.",
        f"in nearly all pictures of {plural}, their {direction} is {usual}.",
    )


def ask_attribute(
    rng: Rng, places: Places, case: Intervention, layout: Layout
) -> list[WordedQuestion]:
    """The questions about an unusual value."""
    _check(case, layout)
    thing, direction = case.counterfactual.things[case.after], case.facts["attribute"]
    name, usual, shown = thing.category, case.facts["usual"], case.facts["shown"]
    qualities = some_of(rng, ABSURD_QUALITIES, 2)
    negated = negated_half(rng) if layout == "paper" else places.half(0)
    about = Changed(
        name=name,
        kind="main colour" if direction == "colour" else direction,
        usual=usual,
        shown=shown,
        habits=habits_of(direction, name, usual),
        where=_WHERE,
        own=_third(thing) if layout == "twins" else "",
        at=f"in {region_of(thing)}",
        absurd=(qualities[0], qualities[1], ""),
    )

    def others() -> list[str]:
        if direction == "colour":
            return other_colours_than(rng, [usual, shown], 2, never=PARTS.get(name, ()))
        return some_of(rng, [v for v in VALUES[direction] if v not in (usual, shown)], 2)

    return wording.ask_attribute(rng, places, about, negated, others, layout)


def facts_of_attribute(case: Intervention) -> dict[str, str]:
    """What is known about a changed attribute; `by_words` lets the rule judge go by the words."""
    facts = {name: case.facts[name] for name in ("object", "attribute", "usual", "shown")}
    named = facts["attribute"]
    facts["direction"] = "texture" if named == "pattern" else named  # as the paper calls it
    if named == "colour":
        return facts
    return facts | {"by_words": "yes", "values": ", ".join((facts["usual"], *VALUES[named]))}
