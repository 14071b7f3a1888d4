"""Interventions: a scene, the same scene with one thing changed, and the words for both.

All are pure functions of scenes. Because the renderer makes the change, each is exact: no pixel
changes outside the region that the edit may touch (`exactness.edit_region`), which is

- of a change of look (mimicry, ontological conflict, attribute): the target's mask;
- of a change of place (context conflict): all but the masks of things;
- of a change of things (replacement, erasure, alteration): the `reach` of the things that came,
  went or moved, which is their body, outline and shadow.

Changes of look and place alter no mask.

Changes of look and place take a **dose** from 0 (the original bytes) to 1 (the full edit).
Rules follow the papers: CAFE's appendix A for prompts, HalluSegBench for replacement,
ReactBench for erasure, attributes and alteration.
"""

from __future__ import annotations

import msgspec

from groundfault.errors import UnknownName, UsageError
from groundfault.world.belonging import no_surprise
from groundfault.world.contexts import CONTEXTS, PAINTED
from groundfault.world.forms import COLOURS
from groundfault.world.materials import MATERIALS
from groundfault.world.objects import CATEGORIES
from groundfault.world.phrases import concept, disputed, reasoning_query, referring_query, unreal
from groundfault.world.recognition import UNKNOWABLE, materials_for, too_alike
from groundfault.world.render import colour_of
from groundfault.world.replacements import fitted
from groundfault.world.sampling import perspective, settle
from groundfault.world.scene import Look, Place, Scene, Thing
from groundfault.world.surfaces import SURFACES
from groundfault.world.usual import NORMAL_COLOURS

__all__ = [
    "KINDS",
    "Intervention",
    "add",
    "change_attribute",
    "change_context",
    "change_material",
    "change_nothing",
    "change_surface",
    "erase",
    "exchange",
    "materials_for",
    "misleading_category",
    "move",
    "remove",
    "replace",
    "swap",
]

KINDS = (
    "SM",
    "CC",
    "OC",
    "replacement",
    "erasure",
    "attribute",
    "move",
    "remove",
    "add",
    "replace",
    "counting",
    "no-op",
)
"""Codes of the kinds; the first three as CAFE abbreviates them."""


class Intervention(msgspec.Struct, frozen=True, kw_only=True):
    """One counterfactual case before it is rendered."""

    kind: str
    factual: Scene
    counterfactual: Scene
    before: int = -1
    """Index of the target in the factual scene; -1 where it is not there."""
    after: int = -1
    """The same in the counterfactual scene."""
    positive: str
    """True of the target after the intervention (before it, where it went away)."""
    negative: str = ""
    """Suggested by the intervention, by habit or by what was there before; not true."""
    dose: float = 1.0
    facts: dict[str, str] = msgspec.field(default_factory=dict)
    """What questions are made of: queries, attributes, places."""


def _target(scene: Scene, index: int) -> Thing:
    if not 0 <= index < len(scene.things):
        raise UsageError(f"the scene has {len(scene.things)} things; there is no number {index}")
    return scene.things[index]


def _check_dose(dose: float) -> None:
    if not 0.0 <= dose <= 1.0:
        raise UsageError(f"the dose is {dose}; it goes from 0 (nothing) to 1 (the full edit)")


def _with_thing(scene: Scene, index: int, thing: Thing) -> Scene:
    things = (*scene.things[:index], thing, *scene.things[index + 1 :])
    return msgspec.structs.replace(scene, things=things)


def _with_look(scene: Scene, index: int, look: Look, dose: float) -> Scene:
    return _with_thing(
        scene, index, msgspec.structs.replace(scene.things[index], over=look, dose=dose)
    )


def _check_absent(scene: Scene, name: str, *, crowd: bool) -> None:
    """Refuse what is there already, as a sculpture too: whether a bronze dog is a dog is open."""
    if not crowd and any(name in (concept(thing), thing.category) for thing in scene.things):
        raise UsageError(f"there is a {name} in the scene already: it would be no false premise")


def _check_askable(scene: Scene, context: str, *names: str) -> None:
    """Refuse what a backdrop shows too, where it has no mask, and what may be meant otherwise."""
    for name in names:
        if name in disputed(scene):
            raise UsageError(f"something else in the scene may be called a {name}")
        if name in PAINTED.get(context, ()):
            raise UsageError(f"{CONTEXTS[context].phrase} the backdrop may show a {name} too")


def change_surface(
    scene: Scene, index: int, surface: str, *, dose: float = 1.0, seed: int = 0, crowd: bool = False
) -> Intervention:
    """Superficial mimicry: the target wears the surface of another category.

    Positive: what it is. Negative: what it looks like. With `crowd` real ones may stand by.
    """
    thing = _target(scene, index)
    _check_dose(dose)
    if surface not in SURFACES:
        raise UnknownName("surface", surface, SURFACES)
    if surface in (thing.look.surface, thing.category):
        raise UsageError(f"a {thing.category} wears {surface} by nature: nothing would change")
    if thing.category in UNKNOWABLE or too_alike(thing.category, surface):
        raise UsageError(f"nobody would know a {thing.category} under the surface of a {surface}")
    _check_absent(scene, surface, crowd=crowd)
    _check_askable(scene, scene.place.context, thing.category, surface)
    look = msgspec.structs.replace(thing.look, surface=surface, seed=seed or thing.look.seed)
    return Intervention(
        kind="SM",
        factual=scene,
        counterfactual=_with_look(scene, index, look, dose),
        before=index,
        after=index,
        positive=thing.category,
        negative=surface,
        dose=dose,
        facts={"surface": surface},
    )


def change_material(
    scene: Scene,
    index: int,
    material: str,
    *,
    dose: float = 1.0,
    seed: int = 0,
    crowd: bool = False,
) -> Intervention:
    """Ontological conflict: the target turns into a sculpture, a figure, a cloud.

    Positive: the new thing ("bronze sculpture"). Negative: the old one with the word that
    settles it ("living dog"). With `crowd` other things of that material may stand by.
    """
    thing = _target(scene, index)
    _check_dose(dose)
    if material not in MATERIALS:
        raise UnknownName("material", material, MATERIALS)
    if material not in materials_for(thing.category):
        raise UsageError(
            f"a {material} {thing.category} is still a {thing.category}, or looks it; "
            f"allowed: {', '.join(materials_for(thing.category)) or 'none'}"
        )
    others = [other for number, other in enumerate(scene.things) if number != index]
    if not crowd and any(other.category == thing.category for other in others):
        raise UsageError(
            f"there is another {thing.category} in the scene: it would be no false premise"
        )
    phrase = MATERIALS[material].phrase
    _check_absent(scene, phrase, crowd=crowd)
    _check_askable(scene, scene.place.context, phrase, thing.category)
    look = Look(seed=seed or thing.look.seed, material=material)
    return Intervention(
        kind="OC",
        factual=scene,
        counterfactual=_with_look(scene, index, look, dose),
        before=index,
        after=index,
        positive=phrase,
        negative=unreal(thing.category),
        dose=dose,
        facts={"material": material, "category": thing.category},
    )


def misleading_category(category: str, context: str, absent_from: Scene) -> str | None:
    """What one would expect in a context instead of a thing: of its shape or nature, if any is."""
    present = {thing.category for thing in absent_from.things} | {category}
    present.update(PAINTED.get(context, ()))
    at_home = [
        entry
        for entry in CATEGORIES.values()
        if context in entry.contexts and entry.name not in present
    ]
    own = CATEGORIES[category]
    alike = [entry for entry in at_home if entry.shape == own.shape]
    akin = [entry for entry in at_home if entry.nature == own.nature]
    choices = alike or akin or at_home
    return choices[len(category) % len(choices)].name if choices else None


def change_context(
    scene: Scene, index: int, context: str, *, dose: float = 1.0, seed: int = 0, negative: str = ""
) -> Intervention:
    """Context conflict: everything around the things is replaced, they and their light stay.

    Negative: a category that belongs in the new context and is not in the scene.
    """
    thing = _target(scene, index)
    _check_dose(dose)
    if context not in CONTEXTS:
        raise UnknownName("context", context, CONTEXTS)
    if context == scene.place.context or no_surprise(thing.category, context):
        raise UsageError(f"a {thing.category} is no surprise in the context '{context}'")
    expected = negative or misleading_category(thing.category, context, scene)
    if expected is None:
        raise UsageError(
            f"everything that belongs in the context '{context}' is in the scene already"
        )
    _check_absent(scene, expected, crowd=False)
    _check_askable(scene, context, concept(thing), expected)
    return Intervention(
        kind="CC",
        factual=scene,
        counterfactual=msgspec.structs.replace(scene, over=Place(context, seed), dose=dose),
        before=index,
        after=index,
        positive=concept(thing),
        negative=expected,
        dose=dose,
        facts={"context": context, "original context": scene.place.context},
    )


def change_attribute(
    scene: Scene, index: int, colour: str, *, dose: float = 1.0, seed: int = 0
) -> Intervention:
    """Counterfactual attribute: a colour that the target never has."""
    thing = _target(scene, index)
    _check_dose(dose)
    if colour not in COLOURS:
        raise UnknownName("colour", colour, COLOURS)
    entry = CATEGORIES[thing.category]
    normal = (*entry.colours, *NORMAL_COLOURS.get(thing.category, ()))
    if entry.motley or thing.look.material or colour in normal:
        raise UsageError(f"a {colour} {concept(thing)} surprises nobody")
    if thing.look.surface:
        raise UsageError(f"one knows a {thing.category} by its surface, not by a colour")
    look = Look(seed=seed or thing.look.seed, colour=colour)
    usual = colour_of(thing.look, thing.category)
    return Intervention(
        kind="attribute",
        factual=scene,
        counterfactual=_with_look(scene, index, look, dose),
        before=index,
        after=index,
        positive=f"{colour} {thing.category}",
        negative=f"{usual} {thing.category}",
        dose=dose,
        facts={"attribute": "colour", "usual": usual, "shown": colour, "object": thing.category},
    )


def _check_free(scene: Scene, index: int) -> None:
    """Nothing may stand on, under or beside what goes: it would hang in the air."""
    for thing in scene.things:
        if thing.partner == index and thing.relation in ("on", "worn by"):
            raise UsageError(
                f"the {thing.category} is {thing.relation} number {index}: take that first"
            )


def _check_stand_in(scene: Scene, index: int, category: str) -> None:
    if category not in CATEGORIES:
        raise UnknownName("category", category, CATEGORIES)
    if category == scene.things[index].category:
        raise UsageError(f"a {category} for a {category} is no replacement")
    _check_absent(scene, category, crowd=False)
    _check_free(scene, index)


def _swapped(scene: Scene, index: int, category: str, seed: int) -> Scene:
    thing = _target(scene, index)
    _check_stand_in(scene, index, category)
    old, new = CATEGORIES[thing.category], CATEGORIES[category]
    airborne = new.flies or new.swims
    stand_in = Thing(
        category=category,
        seed=seed,
        x=thing.x,
        y=thing.y,
        scale=thing.scale / old.size * new.size,
        flip=thing.flip,
        lift=max(thing.lift, 0.08) if airborne else 0.0,
        shadow=thing.shadow,
        look=Look(seed=seed, surface=new.surface),
        relation=thing.relation,
        partner=thing.partner,
    )
    return _with_thing(scene, index, stand_in)


def replace(
    scene: Scene, index: int, category: str, *, seed: int = 0, wording: int = 0
) -> Intervention:
    """Object replacement: another category fills the target's place, with the queries of a quad.

    On the factual picture `negative` is true and `positive` false, on the counterfactual one
    the other way round. `wording` is the number of the reasoning queries (`wordings`).
    """
    thing = _target(scene, index)
    _check_stand_in(scene, index, category)
    after = _with_thing(scene, index, fitted(thing, category, seed))
    old = thing.category
    for shown in (scene, after):
        _check_askable(shown, scene.place.context, old, category)
    return Intervention(
        kind="replacement",
        factual=scene,
        counterfactual=after,
        before=index,
        after=index,
        positive=category,
        negative=old,
        facts={
            "factual referring": referring_query(scene, index),
            "counterfactual referring": referring_query(after, index),
            "factual reasoning": reasoning_query(old, wording),
            "counterfactual reasoning": reasoning_query(category, wording),
        },
    )


def _taken(scene: Scene, index: int) -> Scene:
    _target(scene, index)
    _check_free(scene, index)
    things = []
    for number, thing in enumerate(scene.things):
        if number == index:
            continue
        if thing.partner == index:
            thing = msgspec.structs.replace(thing, partner=-1, relation="")
        elif thing.partner > index:
            thing = msgspec.structs.replace(thing, partner=thing.partner - 1)
        things.append(thing)
    return msgspec.structs.replace(scene, things=tuple(things))


def erase(scene: Scene, index: int) -> Intervention:
    """Relational erasure: one of two things that go together is gone; the other remains."""
    thing = _target(scene, index)
    if thing.partner < 0:
        raise UsageError(f"the {thing.category} stands in no relation that could be erased")
    if sum(other.category == thing.category for other in scene.things) > 1:
        raise UsageError(
            f"there is another {thing.category} in the scene: the answer would still be yes"
        )
    anchor = concept(scene.things[thing.partner])
    return Intervention(
        kind="erasure",
        factual=scene,
        counterfactual=_taken(scene, index),
        before=index,
        positive=anchor,
        negative=concept(thing),
        facts={"erased": concept(thing), "relation": thing.relation, "kept": anchor},
    )


def _third(x: float, y: float) -> str:
    column = ("left", "middle", "right")[min(2, int(3 * x))]
    return f"{'front' if y > 0.78 else 'back'} {column}"


def _alteration(
    kind: str, factual: Scene, after: Scene, before: int, index: int, **facts: str
) -> Intervention:
    subject = factual.things[before] if before >= 0 else after.things[index]
    return Intervention(
        kind=kind,
        factual=factual,
        counterfactual=after,
        before=before,
        after=index,
        positive=concept(subject if index < 0 else after.things[index]),
        facts={"object": concept(subject), "where": _third(subject.x, subject.y), **facts},
    )


def remove(scene: Scene, index: int) -> Intervention:
    """Alteration: a thing is there in the first picture only."""
    return _alteration("remove", scene, _taken(scene, index), index, -1)


def add(scene: Scene, thing: Thing) -> Intervention:
    """Alteration: a thing is there in the second picture only."""
    after = msgspec.structs.replace(scene, things=settle([*scene.things, thing]))
    return _alteration("add", scene, after, -1, after.things.index(thing))


def move(scene: Scene, index: int, x: float, y: float) -> Intervention:
    """Alteration: a thing stands somewhere else, as large as it is there."""
    thing = _target(scene, index)
    _check_free(scene, index)
    growth = perspective(scene.horizon, y) / perspective(scene.horizon, thing.y)
    moved = msgspec.structs.replace(
        thing, x=x, y=y, scale=thing.scale * growth, relation="", partner=-1
    )
    things = [moved if number == index else other for number, other in enumerate(scene.things)]
    after = msgspec.structs.replace(scene, things=settle(things))
    where = after.things.index(moved)
    return _alteration("move", scene, after, index, where, to=_third(x, y))


def swap(scene: Scene, index: int, category: str, *, seed: int = 0) -> Intervention:
    """Alteration: another thing in a thing's place."""
    after = _swapped(scene, index, category, seed)
    return _alteration("replace", scene, after, index, index, by=category)


def exchange(scene: Scene, index: int, thing: Thing) -> Intervention:
    """Alteration: a given thing in a thing's place."""
    _target(scene, index)
    _check_absent(scene, concept(thing), crowd=False)
    _check_free(scene, index)
    after = _with_thing(scene, index, thing)
    return _alteration("replace", scene, after, index, index, by=concept(thing))


def change_nothing(scene: Scene, index: int) -> Intervention:
    """The control: edited by nobody, rendered twice."""
    thing = _target(scene, index)
    return Intervention(
        kind="no-op",
        factual=scene,
        counterfactual=scene,
        before=index,
        after=index,
        positive=concept(thing),
        dose=0.0,
    )
