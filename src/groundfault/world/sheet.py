"""Contact sheets: what the world looks like, on one page each.

Sheets are drawn with Pillow's built-in font, so that they look the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from os import PathLike
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageDraw

from groundfault.errors import UnknownName
from groundfault.io.store import write_bytes
from groundfault.world.cases import sample_intervention
from groundfault.world.contexts import CONTEXTS
from groundfault.world.interventions import KINDS, Intervention
from groundfault.world.materials import MATERIALS
from groundfault.world.objects import CATEGORIES
from groundfault.world.relief import Light
from groundfault.world.render import Rendered, render
from groundfault.world.sampling import WorldSettings, crowd_scene, sample_scene
from groundfault.world.scene import Look, Place, Scene, Thing
from groundfault.world.surfaces import SURFACES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]
    Cell = tuple[str, Bytes]

__all__ = ["SHEETS", "draw_sheet", "portrait", "show_mask"]

LINE_PX = 15
MOST_LINES = 2


def draw_sheet(name: str, path: str | PathLike[str], *, size_px: int = 256, seed: int = 1) -> None:
    """Write one of the `SHEETS` to a PNG."""
    if name not in SHEETS:
        raise UnknownName("sheet", name, SHEETS)
    WorldSettings(size_px=size_px)  # it checks its own range
    cells, columns = SHEETS[name](size_px, seed)
    captions = [
        wrap(caption, size_px // 6, max_lines=MOST_LINES, placeholder=" ...")
        for caption, _ in cells
    ]
    rows = -(-len(cells) // columns)
    width_px = size_px + 4
    height_px = size_px + 2 + LINE_PX * max(map(len, captions))
    page = Image.new("RGB", (columns * width_px, rows * height_px), "white")
    pen = ImageDraw.Draw(page)
    for number, (_, picture) in enumerate(cells):
        left, top = number % columns * width_px, number // columns * height_px
        page.paste(Image.fromarray(picture), (left, top))
        for line, words in enumerate(captions[number]):
            pen.text((left + 3, top + size_px + 1 + LINE_PX * line), words, fill="black")
    content = BytesIO()
    page.save(content, "PNG")
    write_bytes(path, content.getvalue())


def portrait(
    category: str, size_px: int, seed: int, look: Look | None = None, context: str = ""
) -> Rendered:
    """One thing, large, where it belongs."""
    entry = CATEGORIES[category]
    place = context or entry.contexts[0]
    backdrop = CONTEXTS[place]
    thing = Thing(
        category=category,
        seed=seed,
        x=0.5,
        y=0.9,
        scale=0.8,
        lift=0.08 if entry.flies or entry.swims else 0.0,
        look=look or Look(seed=seed, surface=entry.surface),
    )
    light = Light(key=backdrop.key, fill=backdrop.fill)
    return render(Scene(place=Place(place, seed), light=light, things=(thing,), size_px=size_px))


def show_mask(rendered: Rendered, index: int) -> Bytes:
    """The picture, dark but for one thing's mask; all dark where there is no such thing."""
    mask = rendered.labels == index if index >= 0 else np.zeros(rendered.labels.shape, np.bool_)
    return np.where(mask[..., None], rendered.image, rendered.image // 5).astype(np.uint8)


def _categories(size_px: int, seed: int) -> tuple[list[Cell], int]:
    return [(name, portrait(name, size_px, seed).image) for name in CATEGORIES], 11


def _materials(size_px: int, seed: int) -> tuple[list[Cell], int]:
    shown = ("dog", "elephant", "duck", "airplane", "guitar", "apple", "tree", "car")
    return [
        (
            f"{MATERIALS[material].phrase} ({name})",
            portrait(name, size_px, seed, Look(seed=seed, material=material)).image,
        )
        for material in MATERIALS
        for name in shown
    ], len(shown)


def _surfaces(size_px: int, seed: int) -> tuple[list[Cell], int]:
    shown = ("mug", "dog", "car", "vase", "umbrella", "elephant", "apple", "chair")
    return [
        (
            f"{surface} on {name}",
            portrait(name, size_px, seed, Look(seed=seed, surface=surface)).image,
        )
        for surface in SURFACES
        for name in shown
    ], len(shown)


def _contexts(size_px: int, seed: int) -> tuple[list[Cell], int]:
    return [
        (
            name,
            render(
                Scene(
                    place=Place(name, seed + number), size_px=size_px, horizon=0.45 + 0.04 * number
                )
            ).image,
        )
        for name in CONTEXTS
        for number in range(3)
    ], 9


def _scenes(size_px: int, seed: int) -> tuple[list[Cell], int]:
    settings = WorldSettings(size_px=size_px)
    cells = []
    for index in range(30):
        scene = sample_scene(seed, index, settings)
        cells.append((", ".join(thing.category for thing in scene.things), render(scene).image))
    return cells, 6


def _counting(size_px: int, seed: int) -> tuple[list[Cell], int]:
    wanted = (
        ("dog", 5),
        ("apple", 25),
        ("penguin", 60),
        ("car", 12),
        ("fish", 40),
        ("mug", 18),
        ("bee", 33),
        ("hat", 2),
    )
    settings = WorldSettings(size_px=size_px)
    return [
        (f"{count} x {name}", render(crowd_scene(seed, count, name, count, settings)).image)
        for name, count in wanted
    ], 4


def _interventions(size_px: int, seed: int) -> tuple[list[Cell], int]:
    cells: list[Cell] = []
    settings = WorldSettings(size_px=size_px)
    for kind in KINDS:
        for index in range(3 if kind in ("SM", "CC", "OC", "replacement") else 2):
            case = sample_intervention(kind, seed, index, settings)
            before, after = render(case.factual), render(case.counterfactual)
            cells.append((f"{kind}: before", before.image))
            cells.append((_asked(case), after.image))
            shown = (
                show_mask(after, case.after) if case.after >= 0 else show_mask(before, case.before)
            )
            cells.append(("target", shown))
    return cells, 9


def _asked(case: Intervention) -> str:
    """What is there and, where the edit has such a phrase, what merely seems to be."""
    return f"+ {case.positive} - {case.negative}" if case.negative else f"+ {case.positive}"


def _doses(size_px: int, seed: int) -> tuple[list[Cell], int]:
    cells = []
    for kind in ("SM", "CC", "OC", "attribute"):
        for dose in (0.0, 0.25, 0.5, 0.75, 1.0):
            case = sample_intervention(kind, seed, 0, WorldSettings(size_px=size_px), dose=dose)
            cells.append((f"{kind} {dose}", render(case.counterfactual).image))
    return cells, 5


def _crowds(size_px: int, seed: int) -> tuple[list[Cell], int]:
    cells = []
    for index in range(8):
        kind = ("SM", "OC")[index % 2]
        case = sample_intervention(kind, seed, index, WorldSettings(size_px=size_px), crowd=2)
        after = render(case.counterfactual)
        cells += [
            (f"{kind} crowd {_asked(case)}", after.image),
            ("target", show_mask(after, case.after)),
        ]
    return cells, 4


SHEETS: dict[str, Callable[[int, int], tuple[list[Cell], int]]] = {
    "categories": _categories,
    "contexts": _contexts,
    "counting": _counting,
    "crowds": _crowds,
    "doses": _doses,
    "interventions": _interventions,
    "materials": _materials,
    "scenes": _scenes,
    "surfaces": _surfaces,
}
"""Name → (cells, columns), for a cell size and a seed."""
