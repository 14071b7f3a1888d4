"""Scenes for counting: 2 to 200 things of a kind in five layouts, with others among them.

Every counted thing is seen: at least `LEAST_SEEN` of it shows, also in a pile.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import msgspec
import numpy as np

from groundfault.errors import UnknownName, UsageError
from groundfault.world.forms import between
from groundfault.world.interventions import Intervention
from groundfault.world.objects import CATEGORIES
from groundfault.world.perception import look_alike
from groundfault.world.render import Rendered
from groundfault.world.sampling import WorldSettings, draw_look, empty_scene, extent
from groundfault.world.scene import Scene, Thing

__all__ = [
    "COUNTED",
    "LAYOUTS",
    "LEAST_SEEN",
    "MOST",
    "check_countable",
    "crowded_scene",
    "draw_count",
    "most_countable",
]

LEAST, MOST = 2, 200
LEAST_SEEN = 0.5
"""Share of a thing's outline that must show."""
LEAST_PX = 24
COUNTED = (
    "apple",
    "banana",
    "book",
    "cat",
    "duck",
    "hat",
    "ladybug",
    "mug",
    "penguin",
    "pineapple",
    "soccer ball",
    "strawberry",
    "suitcase",
    "teapot",
    "turtle",
    "vase",
    "watermelon",
)
"""Compact things: one of them is never taken for two."""
MOTTLED = ("soccer ball", "watermelon", "vase")
"""In a pile their patterns run into each other."""
FAINT = ("book", "cat", "hat", "pineapple", "suitcase", "turtle", "vase")
MOST_FAINT = 60
"""More of these would be so small that one loses them against the ground."""
CONTEXTS = ("kitchen", "library", "meadow", "street", "snow", "beach", "desert")
LARGEST = 0.2
"""Share of the picture's side that a thing is wide or high, at most."""
MANY = 24
"""From here on a twin may be so crowded that colours must tell what is not counted."""
Slots = list[tuple[float, float]]
Spread = Callable[[np.random.Generator, int, float, float], Slots]
"""Gives each thing a place for its middle in a field from 0 to 1 each way, given how many there are
and how wide and high one is in the field."""


def _rows(rng: np.random.Generator, count: int, wide: float, high: float) -> Slots:
    columns = max(1, min(count, round(math.sqrt(count * high / wide))))
    rows = -(-count // columns)
    return [
        ((k % columns + 0.5) / columns, (k // columns + 0.5) / max(rows, 2)) for k in range(count)
    ]


def _scattered(rng: np.random.Generator, count: int, wide: float, high: float) -> Slots:
    found: Slots = []
    for _ in range(count * 400):
        x, y = between(rng, wide / 2, 1 - wide / 2), between(rng, high / 2, 1 - high / 2)
        if all(abs(x - a) > wide * 1.02 or abs(y - b) > high * 1.02 for a, b in found):
            found.append((x, y))
            if len(found) == count:
                return found
    raise UsageError("no room to scatter them")


def _piled(rng: np.random.Generator, count: int, wide: float, high: float) -> Slots:
    """A heap: each row one shorter than the one before it, and partly hidden by it."""
    base = math.ceil((math.sqrt(8 * count + 1) - 1) / 2)
    found: Slots = []
    for row in range(base):
        for k in range(base - row):
            if len(found) < count:
                x = (
                    0.5
                    + (k - (base - row - 1) / 2) * wide * 0.86
                    + between(rng, -0.04, 0.04) * wide
                )
                found.append((x, 1 - high / 2 - row * high * 0.64))
    return found


def _clusters(rng: np.random.Generator, count: int, wide: float, high: float) -> Slots:
    """Groups of a few, each packed, with gaps between the groups."""
    groups = max(2, min(9, round(math.sqrt(count))))
    sizes = [count // groups + (k < count % groups) for k in range(groups)]
    sizes = [size for size in sizes if size]
    columns = math.ceil(math.sqrt(len(sizes)))
    lines = -(-len(sizes) // columns)
    found: Slots = []
    for k, size in enumerate(sizes):
        cx = (k % columns + 0.5 + between(rng, -0.06, 0.06)) / columns
        cy = (k // columns + 0.5 + between(rng, -0.06, 0.06)) / lines
        side = math.ceil(math.sqrt(size))
        tall = -(-size // side)
        for j in range(size):
            shift = 0.25 if (j // side) % 2 else -0.25
            x = cx + (j % side - (side - 1) / 2 + shift) * wide * 1.03
            found.append((x, cy + (j // side - (tall - 1) / 2) * high * 1.03))
    return found


def _curve(rng: np.random.Generator, count: int, wide: float, high: float) -> Slots:
    """Along a spiral with as many turns as all of them need, at equal distances."""
    inner, outer, side = 0.09, 0.5 - max(wide, high) / 2, max(wide, high)
    turns = max(1, math.ceil(count * side * 1.12 / (math.pi * (inner + outer))))
    t = np.linspace(0, 1, 6000)
    reach = inner + (outer - inner) * t
    turn = 2 * math.pi * (turns * t + float(rng.random()))
    x, y = 0.5 + reach * np.cos(turn), 0.5 + reach * np.sin(turn)
    along = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])
    at = np.linspace(0, along[-1], count)
    return [(float(np.interp(s, along, x)), float(np.interp(s, along, y))) for s in at]


LAYOUTS: dict[str, Spread] = {
    "rows": _rows,
    "scattered": _scattered,
    "piled": _piled,
    "clusters": _clusters,
    "along a curve": _curve,
}
DENSITY = {"rows": 0.60, "scattered": 0.30, "piled": 0.56, "clusters": 0.34, "along a curve": 0.28}
"""Share of the field that the boxes of all things take up."""


def most_countable(size_px: int) -> int:
    """How many things of `LEAST_PX` or more pixels a picture can show without crowding them out."""
    return min(MOST, int(size_px * size_px * 0.1 / LEAST_PX))


def draw_count(rng: np.random.Generator, settings: WorldSettings, layout: str = "") -> Intervention:
    """A number of things in a layout ("" draws one): as many small numbers as large ones."""
    layout = layout or tuple(LAYOUTS)[int(rng.integers(len(LAYOUTS)))]
    fit = [name for name in COUNTED if layout != "piled" or name not in MOTTLED]
    allowed = [name for name in fit if name in (settings.categories or fit)]
    if not allowed:
        raise UsageError(f"what can be counted is one of {', '.join(COUNTED)}")
    category = allowed[int(rng.integers(len(allowed)))]
    most = most_countable(settings.size_px)
    if category in FAINT:
        most = min(most, MOST_FAINT)
    count = round(LEAST * (most / LEAST) ** float(rng.random()))
    others = [name for name in fit if _differ(category, name, by_colour=count > MANY)]
    if not others:
        raise UsageError(f"no other thing is easily told from so small a {category}")
    distractor = others[int(rng.integers(len(others)))]
    home = [name for name in CATEGORIES[category].contexts if name in CONTEXTS]
    context = home[int(rng.integers(len(home)))]
    scene = crowded_scene(rng, category, count, layout, distractor, context, settings)
    return Intervention(
        kind="counting",
        factual=scene,
        counterfactual=scene,
        positive=category,
        facts={
            "object": category,
            "count": str(count),
            "layout": layout,
            "distractor": distractor,
        },
    )


def _differ(one: str, other: str, *, by_colour: bool) -> bool:
    """Whether two kinds of things are told apart, also where they are as small as in crowds."""
    first, second = CATEGORIES[one], CATEGORIES[other]
    if first.shape == second.shape:
        return False
    return not by_colour or not any(
        look_alike(a, b) or a == b for a in first.colours for b in second.colours
    )


def crowded_scene(
    rng: np.random.Generator,
    category: str,
    count: int,
    layout: str,
    distractor: str,
    context: str,
    settings: WorldSettings,
) -> Scene:
    """So many things of a category in a layout, with a few of another kind among them."""
    if layout not in LAYOUTS:
        raise UnknownName("layout", layout, LAYOUTS)
    if not LEAST <= count <= MOST:
        raise UsageError(f"{count} things asked for; a crowd has {LEAST} to {MOST}")
    scene = empty_scene(rng, context, settings.size_px)
    scene = msgspec.structs.replace(scene, horizon=between(rng, 0.16, 0.22))
    top = scene.horizon + 0.04
    field = (0.03, top, 0.97, 0.98)
    extra = int(rng.integers(1, max(2, min(24, count // 3)) + 1))
    names = np.array([category] * count + [distractor] * extra)
    wide, high = _cell(names, layout, field)
    slots = LAYOUTS[layout](rng, len(names), wide, high)
    rng.shuffle(names)
    things = [
        _fitted(rng, str(name), _in_field(slot, field), wide, high, field, settings)
        for name, slot in zip(names, slots, strict=True)
    ]
    things.sort(key=lambda thing: (thing.y, thing.x))
    return msgspec.structs.replace(scene, things=tuple(things))


def _cell(
    names: np.ndarray, layout: str, field: tuple[float, float, float, float]
) -> tuple[float, float]:
    """How wide and high the room of one thing is, as shares of the field."""
    left, top, right, bottom = field
    area = DENSITY[layout] / len(names)
    most = LARGEST / (bottom - top)
    side = min(math.sqrt(area), most)
    return side, side * (right - left) / (bottom - top)


def _in_field(
    slot: tuple[float, float], field: tuple[float, float, float, float]
) -> tuple[float, float]:
    left, top, right, bottom = field
    return left + slot[0] * (right - left), top + slot[1] * (bottom - top)


def _fitted(
    rng: np.random.Generator,
    name: str,
    middle: tuple[float, float],
    wide: float,
    high: float,
    field: tuple[float, float, float, float],
    settings: WorldSettings,
) -> Thing:
    """A thing that fills its room, whatever its own proportions."""
    left, top, right, bottom = extent(name)
    room = (wide * (field[2] - field[0]), high * (field[3] - field[1]))
    scale = 2 * min(room[0] / (right - left), room[1] / (bottom - top)) * between(rng, 0.90, 1.0)
    flip, unit = bool(rng.random() < 0.5), scale / 2
    centre = (left + right) / 2 * (-1 if flip else 1)
    plain = msgspec.structs.replace(settings, material_share=0.0, surface_correlation=1.0)
    return Thing(
        category=name,
        seed=int(rng.integers(1 << 31)),
        x=middle[0] - centre * unit,
        y=middle[1] + (1 - (top + bottom) / 2) * unit,
        scale=scale,
        flip=flip,
        look=draw_look(rng, name, plain),
    )


def check_countable(rendered: Rendered) -> None:
    """Refuse a picture in which a thing is too small or too much hidden to be counted."""
    for index, whole in enumerate(rendered.whole_px):
        seen = int(rendered.masks[index].sum())
        if seen < LEAST_PX or seen < LEAST_SEEN * whole:
            raise UsageError(f"of thing {index} only {seen} of {whole} pixels are seen")
