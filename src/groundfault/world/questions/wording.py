"""What of a scene may be asked for and what may be offered as wrong: places, colours, things that
are not there."""

from __future__ import annotations

from collections.abc import Sequence

from groundfault.errors import UsageError
from groundfault.exams.wording import Rng, some_of
from groundfault.world.contexts import CONTEXTS, PAINTED
from groundfault.world.forms import COLOURS
from groundfault.world.objects import CATEGORIES
from groundfault.world.perception import look_alike
from groundfault.world.phrases import count_phrase, matching
from groundfault.world.sampling import box_of
from groundfault.world.scene import Scene, Thing

TINTED = ("reef", "night city")
"""Contexts whose light is coloured: a white turtle is pale blue there."""
PARTS: dict[str, tuple[str, ...]] = {
    "apple": ("green", "brown"),
    "cactus": ("pink",),
    "penguin": ("white",),
    "snowman": ("orange",),
    "tree": ("brown",),
    "turtle": ("green", "tan", "brown"),
}
"""Colours that a part keeps when the thing is recoloured: not offered as its wrong colour."""

APART = 0.12
"""Share of the picture's side by which two of a kind are "the left" and "the right" one."""


def region_of(thing: Thing) -> str:
    """Where in the picture the middle of a thing's box is: one of six parts."""
    left, top, right, bottom = box_of(thing)
    column = ("left", "middle", "right")[max(0, min(2, int(3 * (left + right) / 2)))]
    return f"the {'upper' if (top + bottom) / 2 < 0.5 else 'lower'} {column} part of the picture"


REGIONS = tuple(
    f"the {row} {column} part of the picture"
    for row in ("upper", "lower")
    for column in ("left", "middle", "right")
)


def negated_half(rng: Rng) -> list[bool]:
    """Which two of the four yes/no questions state an absence, and are true."""
    order = rng.permutation(4)
    return [bool(place < 2) for place in order]


def plural_of(category: str) -> str:
    return count_phrase(category, 2).removeprefix("2 ")


def other_colours_than(
    rng: Rng, avoid: Sequence[str], count: int, *, never: Sequence[str] = ()
) -> list[str]:
    """Colours that nobody takes for one of `avoid`, nor for each other; `never` is left out."""
    found: list[str] = []
    for name in some_of(rng, [name for name in COLOURS if name not in never], len(COLOURS)):
        if not any(look_alike(name, other) for other in (*avoid, *found)):
            found.append(name)
    if len(found) < count:
        raise UsageError(f"too few colours differ from {', '.join(avoid)}")
    return found[:count]


def absent_from(
    rng: Rng, scenes: Sequence[Scene], avoid: Sequence[str], *, at_home: bool
) -> list[str]:
    """Categories of which no scene has one, in random order; at home in the context or not."""
    context = scenes[0].place.context
    return some_of(
        rng,
        [
            name
            for name, entry in CATEGORIES.items()
            if name not in (*avoid, *PAINTED.get(context, ()))
            and (context in entry.contexts) == at_home
            and not any(matching(scene, name) for scene in scenes)
        ],
        len(CATEGORIES),
    )


def check_backdrop(category: str, scene: Scene) -> None:
    context = scene.place.context
    if category in PAINTED.get(context, ()):
        raise UsageError(
            f"{CONTEXTS[context].phrase} other {plural_of(category)} are painted in the distance"
        )
