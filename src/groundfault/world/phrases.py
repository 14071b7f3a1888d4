"""Words for things: concepts, what they are true of, and ways to ask for one thing.

Phrases are atomic object categories, as CAFE asks ("dog", "bronze sculpture", "living dog"):
never "snow animal". A thing made of a material is that material's thing and no longer the
original; a surface or a colour changes what a thing looks like, not what it is.
"""

from __future__ import annotations

from groundfault.errors import UsageError
from groundfault.world.contexts import CONTEXTS
from groundfault.world.materials import MATERIALS
from groundfault.world.objects import CATEGORIES, DRAWN
from groundfault.world.scene import Scene, Thing
from groundfault.world.wordings import reasoning_wordings

__all__ = [
    "ALSO_CALLED",
    "SUBSTANCE_SINCE",
    "SYNONYMS",
    "concept",
    "concepts",
    "count_phrase",
    "disputed",
    "matching",
    "material_of",
    "reasoning_query",
    "referring_query",
    "relation_phrase",
    "unreal",
    "where_phrase",
    "with_article",
]

SYNONYMS: dict[str, tuple[str, ...]] = {
    "airplane": ("plane", "aircraft"),
    "bee": ("bumblebee",),
    "book": ("hardcover book",),
    "brick wall": ("wall",),
    "bus": ("coach",),
    "cactus": ("saguaro",),
    "car": ("automobile",),
    "cow": ("dairy cow",),
    "dog": ("puppy",),
    "ladybug": ("ladybird",),
    "lamp": ("table lamp",),
    "mug": ("coffee cup",),
    "sailboat": ("sailing boat",),
    "soccer ball": ("football",),
    "suitcase": ("travel case",),
}
"""Other names that mean the same here."""

ALSO_CALLED: dict[str, tuple[str, ...]] = {"fish": ("shark",), "cat": ("tiger", "leopard")}
"""Other categories that a name is true of as well, if one is strict: where one of them stands,
nobody is asked for the name."""

SUBSTANCE_SINCE = 0.5
"""From this dose on a thing counts as made of the material; between, by convention."""


def material_of(thing: Thing) -> str:
    """What a thing is made of; "" for the real one."""
    if thing.over is not None and thing.dose >= SUBSTANCE_SINCE:
        return thing.over.material
    return thing.look.material


def concept(thing: Thing) -> str:
    """The name of a thing as it is.

    >>> concept(Thing(category="dog", seed=0, x=0.5, y=0.9, scale=0.3))
    'dog'
    """
    material = material_of(thing)
    return MATERIALS[material].phrase if material else DRAWN[thing.category].noun or thing.category


def unreal(category: str) -> str:
    """The original's name after it was turned into a material: what it no longer is.

    >>> unreal("dog"), unreal("apple"), unreal("airplane")
    ('living dog', 'edible apple', 'functional airplane')
    """
    nature = CATEGORIES[category].nature
    return f"{'living' if nature == 'growing' else nature} {category}"


def concepts(thing: Thing) -> frozenset[str]:
    """Every phrase that is true of a thing."""
    name = concept(thing)
    if name != thing.category:
        return frozenset((name,))
    return frozenset((name, unreal(name), f"real {name}", *SYNONYMS.get(name, ())))


def matching(scene: Scene, phrase: str) -> tuple[int, ...]:
    """The things of a scene that a phrase is true of: what a perfect segmenter returns."""
    return tuple(index for index, thing in enumerate(scene.things) if phrase in concepts(thing))


def disputed(scene: Scene) -> frozenset[str]:
    """Names that may be true of a thing which is called otherwise here: a shark is a fish, too."""
    there = {thing.category for thing in scene.things}
    return frozenset(name for name, others in ALSO_CALLED.items() if there & {*others})


def referring_query(scene: Scene, index: int) -> str:
    """A phrase that means one thing only, told apart from its like by where it stands."""
    name = concept(scene.things[index])
    alike = [other for other, thing in enumerate(scene.things) if concept(thing) == name]
    alike.sort(key=lambda other: scene.things[other].x)
    place, count = alike.index(index), len(alike)
    if count == 1:
        return f"the {name}"
    if count == 2:
        return f"the {('left', 'right')[place]} {name}"
    if place in (0, count - 1):
        return f"the {'leftmost' if place == 0 else 'rightmost'} {name}"
    if count == 3:
        return f"the {name} in the middle"
    ordinals = (
        "",
        "second",
        "third",
        "fourth",
        "fifth",
        "sixth",
        "seventh",
        "eighth",
        "ninth",
        "tenth",
    )
    if place < len(ordinals):
        return f"the {ordinals[place]} {name} from the left"
    raise UsageError(f"no short phrase tells the {count} {name}s of this scene apart")


def reasoning_query(category: str, wording: int = 0) -> str:
    """Means a category without naming it, in one of the `wordings`.

    >>> reasoning_query("mug"), reasoning_query("mug", 1)
    ('the thing one drinks coffee from', 'the thing with a handle that holds a hot drink')
    """
    ways = reasoning_wordings(category)
    return ways[wording % len(ways)]


def relation_phrase(scene: Scene, index: int) -> str:
    """Two things and how they stand to each other: "mug on table"."""
    thing = scene.things[index]
    if thing.partner < 0:
        raise UsageError(f"the {thing.category} of this scene stands in no relation")
    return f"{concept(thing)} {thing.relation} {concept(scene.things[thing.partner])}"


def count_phrase(category: str, count: int) -> str:
    """A number of things.

    >>> count_phrase("strawberry", 3), count_phrase("fish", 1)
    ('3 strawberries', '1 fish')
    """
    entry = CATEGORIES[category]
    return f"{count} {entry.name if count == 1 else entry.plural or entry.name + 's'}"


def with_article(name: str) -> str:
    """
    >>> with_article("umbrella"), with_article("mug")
    ('an umbrella', 'a mug')
    """
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def where_phrase(context: str) -> str:
    """ "in the snow", "on a beach"."""
    return CONTEXTS[context].phrase
