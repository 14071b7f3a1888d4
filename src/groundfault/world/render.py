"""Scenes to pixels, with exact masks.

A thing's outline, roundness and shadow come from its form alone, its colours from its look
alone. At the outline no pixel mixes the two sides: one that the thing covers by half or more
shows the thing only, one that it covers less shows what is behind only; both get darker
towards the edge, which draws a fine line that hides the step. So a mask cuts the picture
cleanly:

- another look changes no pixel outside the thing's mask, not even in its shadow;
- another place changes no pixel inside any mask.

Masks are the pixels covered by half or more and not hidden by a later thing. A shadow belongs
to its thing's form, not to its look, and falls on whatever was painted before.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import numpy as np

from groundfault.errors import UnknownName
from groundfault.world.attires import CLEAR, COATS, FINISHES, PATTERNS, SHAPES, reshaped, snowed
from groundfault.world.canvas import Canvas, Rgb, paint, skia, surface
from groundfault.world.contexts import CONTEXTS
from groundfault.world.forms import COLOURS, Form, Mark, Part, jittered
from groundfault.world.materials import MATERIALS
from groundfault.world.noise import draw_noise
from groundfault.world.objects import DRAWN
from groundfault.world.relief import (
    Light,
    Relief,
    diffuse,
    draw_relief,
    highlight,
    read_relief,
    take,
    tint,
)
from groundfault.world.scene import Look, Place, Scene, Thing
from groundfault.world.surfaces import SURFACES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]
    Floats = NDArray[np.float32]
    Bools = NDArray[np.bool_]

__all__ = ["Rendered", "colour_of", "form_of", "reach", "render"]

T = TypeVar("T")

INK = 0.50
"""How dark the outline is, on both sides of the edge."""
WRAP = 0.13
"""How far, in form units, a surface is pulled around the edge of a rounded part."""


class Rendered(msgspec.Struct, frozen=True, dict=True):
    """A picture and whose every pixel is."""

    image: Bytes
    """(height, width, 3) RGB."""
    labels: NDArray[np.int16]
    """(height, width): index of the thing that shows; -1 for the place."""
    count: int
    whole_px: tuple[int, ...] = ()
    """How many pixels of the picture each thing would have if nothing stood before it."""

    @cached_property
    def masks(self) -> tuple[Bools, ...]:
        """The visible part of each thing, in the order of the scene's things."""
        return tuple(self.labels == index for index in range(self.count))


def render(scene: Scene) -> Rendered:
    """Draw a scene. The same scene always gives the same bytes."""
    size_px = scene.size_px
    image = _backdrop(scene)
    labels, whole_px = np.full((size_px, size_px), -1, np.int16), []
    for index, thing in enumerate(scene.things):
        figure = _Figure(thing, size_px)
        _cast_shadow(image, figure, scene)
        _put(image, labels, index, figure, scene.light)
        whole_px.append(figure.own.size)
    return Rendered(image, labels, len(scene.things), tuple(whole_px))


def reach(scene: Scene, index: int) -> Bools:
    """(height, width): every pixel that a thing can influence — body, outline and shadow.

    Taking the thing out, or another in its stead, changes nothing elsewhere.
    """
    size_px = scene.size_px
    touched = np.zeros((size_px, size_px), np.bool_)
    figure = _Figure(scene.things[index], size_px)
    rows, columns = figure.window
    touched[rows, columns] |= figure.coverage[figure.inner] > 0
    for window, dark in _shadows(figure, scene):
        touched[window] |= dark > 0
    return touched


def form_of(thing: Thing) -> Form:
    """A thing's geometry, in its colours."""
    category = find("category", thing.category, DRAWN)
    form = category.draw(
        np.random.default_rng(thing.seed), _main_colour(thing.look, thing.category)
    )
    if not thing.shape:
        return form
    find("shape", thing.shape, SHAPES)
    return reshaped(form, thing.shape)


def find(kind: str, name: str, table: dict[str, T]) -> T:
    """An entry of a table; names the nearest ones where there is none."""
    if name not in table:
        raise UnknownName(kind, name, table)
    return table[name]


def colour_of(look: Look, category: str) -> str:
    """The name of a thing's main colour."""
    usual = DRAWN[category].colours
    return look.colour or usual[look.seed % len(usual)]


def _main_colour(look: Look, category: str) -> Rgb:
    shade = find("colour", colour_of(look, category), COLOURS)
    return jittered(shade, np.random.default_rng(look.seed), 0.05)


def _backdrop(scene: Scene) -> Bytes:
    """The place alone, (size, size, 3); two of them blended where the scene has a second."""
    if scene.over is None or scene.dose <= 0.0:
        return _paint_place(scene.place, scene.horizon, scene.size_px).copy()
    if scene.dose >= 1.0:
        return _paint_place(scene.over, scene.horizon, scene.size_px).copy()
    under = _paint_place(scene.place, scene.horizon, scene.size_px)
    over = _paint_place(scene.over, scene.horizon, scene.size_px)
    share = np.float32(scene.dose)
    blended = under * (1 - share) + over * share
    return (blended + np.float32(0.5)).astype(np.uint8)


@lru_cache(maxsize=4)  # the two sides of an intervention mostly share their place
def _paint_place(place: Place, horizon: float, size_px: int) -> Bytes:
    context = find("context", place.context, CONTEXTS)
    pixels, board, canvas = surface(size_px, size_px)
    canvas.scale(size_px, size_px)
    context.paint(canvas, np.random.default_rng(place.seed), horizon)
    board.flushAndSubmit()
    return np.ascontiguousarray(pixels[..., :3])


class _Figure:
    """A thing on its way into the picture: its form, drawn once, in a window of its own size."""

    def __init__(self, thing: Thing, size_px: int) -> None:
        self.thing, self.size_px = thing, size_px
        self.form = form_of(thing)
        self.unit_px = thing.scale * size_px / 2
        self.matrix = self._to_picture()
        bounds = self._bounds()
        margin = 3 + round(self.unit_px / 60)
        self.left, self.top = int(bounds.left()) - margin, int(bounds.top()) - margin
        self.height = max(2 * margin + 1, int(bounds.bottom()) + margin + 1 - self.top)
        self.width = max(2 * margin + 1, int(bounds.right()) + margin + 1 - self.left)
        pixels, board, canvas = surface(self.height, self.width)
        self.enter(canvas)
        draw_relief(canvas, self.form)
        board.flushAndSubmit()
        self.coverage = pixels[..., 3]
        own = np.zeros(self.coverage.shape, np.bool_)
        own[self.inner] = self.coverage[self.inner] >= 128
        self.own = np.flatnonzero(own)
        """Flat places in the window of the pixels that are the figure's own."""
        self.relief = read_relief(pixels, self.own, self.unit_px)

    def _to_picture(self) -> Any:
        thing, matrix = self.thing, skia.Matrix()
        matrix.setTranslate(0, -1)  # the foot to the origin
        matrix.postScale(-self.unit_px if thing.flip else self.unit_px, self.unit_px)
        matrix.postRotate(thing.turn)
        matrix.postTranslate(thing.x * self.size_px, (thing.y - thing.lift) * self.size_px)
        return matrix

    def _bounds(self) -> Any:
        bounds = skia.Rect.MakeEmpty()
        for piece in self.form.pieces:
            if isinstance(piece, Part):
                bounds.join(piece.path.getBounds())
        return self.matrix.mapRect(bounds)

    def enter(self, canvas: Any) -> None:
        """Let the canvas of a window take form units."""
        canvas.translate(-self.left, -self.top)
        canvas.concat(self.matrix)

    @property
    def name(self) -> str:
        return self.thing.category

    def places(self) -> tuple[Floats, Floats]:
        """How high and how far right each own pixel is, in heights of the figure."""
        rows, columns = np.divmod(self.own, self.width)
        low, high = int(rows.max(initial=0)), int(rows.min(initial=self.height))
        tall = np.float32(max(1, low - high))
        return (low - rows).astype(np.float32) / tall, columns.astype(np.float32) / tall

    @property
    def window(self) -> tuple[slice, slice]:
        """The part of the picture that the window covers."""
        return (
            slice(max(0, self.top), max(0, min(self.size_px, self.top + self.height))),
            slice(max(0, self.left), max(0, min(self.size_px, self.left + self.width))),
        )

    @property
    def inner(self) -> tuple[slice, slice]:
        """The part of the window that lies in the picture."""
        rows, columns = self.window
        return (
            slice(rows.start - self.top, rows.stop - self.top),
            slice(columns.start - self.left, columns.stop - self.left),
        )


def _put(
    image: Bytes, labels: NDArray[np.int16], index: int, figure: _Figure, light: Light
) -> None:
    """Paint a figure into the picture and its label over the pixels that are now its own."""
    thing, inner, window = figure.thing, figure.inner, figure.window
    if thing.over is None or thing.dose <= 0.0:
        colours = _colours(figure, thing.look, light)
    else:
        colours = _colours(figure, thing.over, light)
        if thing.dose < 1.0:
            under = _colours(figure, thing.look, light)
            colours = under + (colours - under) * np.float32(thing.dose)
    coverage = figure.coverage[inner]
    rim = (coverage > 0) & (coverage < 128)
    behind, own = image[window], coverage >= 128
    behind[rim] = (behind[rim] * _ink(coverage[rim])[:, None] + np.float32(0.5)).astype(np.uint8)
    lit = np.clip(colours * _ink(coverage[own]), 0, 1) * np.float32(255) + np.float32(0.5)
    if (thing.over or thing.look).finish == "see-through":
        lit += (behind[own].T - lit) * np.float32(CLEAR)
    behind[own] = lit.astype(np.uint8).T
    labels[window][own] = index


def _ink(coverage: Bytes) -> Floats:
    """How much of a pixel's brightness the outline leaves: least at half coverage."""
    away = np.abs(coverage.astype(np.float32) * np.float32(2 / 255) - 1)
    left: Floats = 1 - np.float32(INK) * (1 - away)
    return left


def _colours(figure: _Figure, look: Look, light: Light) -> Floats:
    """A figure's own pixels, lit, under a look: (3, n) from 0 to 1."""
    relief, rng = figure.relief, np.random.default_rng((look.seed, 1))
    if look.material:
        material = find("material", look.material, MATERIALS)
        texture = _drawn(figure, lambda canvas: material.texture(canvas, rng))
        return _grounded(material.light(_bent(texture, figure), relief, light), figure)
    albedo = _albedo(figure, look, rng)
    if look.finish:
        finish = find("finish", look.finish, FINISHES)
        return _grounded(finish(albedo, relief, light, rng), figure)
    gloss = DRAWN[figure.thing.category].gloss
    return _grounded(_daylight(albedo, relief, light, gloss), figure)


def _albedo(figure: _Figure, look: Look, rng: np.random.Generator) -> Floats:
    """A figure's own colours and, over them, its surface: (3, n) from 0 to 1.

    A coat by nature leaves eyes, hooves and tyres free; a borrowed one covers every pixel.
    """
    borrowed = look.surface != DRAWN[figure.thing.category].surface
    if look.surface:
        cover = find("surface", look.surface, SURFACES)
        pattern = _bent(_drawn(figure, lambda canvas: cover(canvas, rng)), figure)
        if borrowed:
            return pattern
    drawn = _drawn(figure, lambda canvas: _paint_own(canvas, figure, look))
    own = take(drawn, figure.own) * np.float32(1 / 255)
    if look.surface:
        own += (pattern - own) * figure.relief.takes
    return _attired(own, figure, look) if look.pattern or look.coat else own


def _attired(own: Floats, figure: _Figure, look: Look) -> Floats:
    """A figure's own colours under a pattern and a coat."""
    relief, rng = figure.relief, np.random.default_rng((look.seed, 3))
    if look.pattern:
        pattern, colour = find("pattern", look.pattern, PATTERNS), _main_colour(look, figure.name)
        drawn = _drawn(figure, lambda canvas: pattern(canvas, rng, colour))
        own = own + (_bent(drawn, figure) - own) * relief.takes
    if look.coat == "covered in snow":
        return snowed(own, relief, *figure.places())
    if look.coat:
        coat = find("coat", look.coat, COATS)
        drawn = _drawn(figure, lambda canvas: coat(canvas, rng))
        bare = 1 - drawn[..., 3].ravel()[figure.own] * np.float32(1 / 255)
        own = own * bare + take(drawn, figure.own) * np.float32(1 / 255)
    return own


def _daylight(albedo: Floats, relief: Relief, light: Light, gloss: float) -> Floats:
    """Paint, fur, peel: soft form shadows, a faint gloss, sky light along the upper rim."""
    key, fill = tint(*light.key), tint(*light.fill)
    lit: Floats = albedo * (fill * 0.78 + key * (diffuse(relief, light, 0.25) * 0.58))
    rim = (1 - relief.nz) * np.clip(-relief.ny, 0, 1) * 0.30
    shine = highlight(relief, light, 4) * gloss
    lit += (rim * (0.25 + 0.75 * albedo) + shine) * key
    lit *= relief.occlusion
    return lit


def _grounded(lit: Floats, figure: _Figure) -> Floats:
    """A little less light towards the feet: the ground takes the sky away."""
    rows = (figure.own // figure.width).astype(np.float32) + figure.top
    foot = (figure.thing.y - figure.thing.lift) * figure.size_px
    up = np.clip((foot - rows) * (2.5 / (figure.thing.scale * figure.size_px)), 0, 1)
    dimmed: Floats = lit * (0.80 + 0.20 * up)
    return dimmed


def _drawn(figure: _Figure, draw: Callable[[Canvas], None]) -> Bytes:
    """What `draw` paints in form units, as an opaque (height, width, 4) array."""
    pixels, board, canvas = surface(figure.height, figure.width)
    figure.enter(canvas)
    draw(canvas)
    board.flushAndSubmit()
    return pixels


def _bent(texture: Bytes, figure: _Figure) -> Floats:
    """A flat texture pulled around the form, squeezed where it turns away: (3, n) from 0 to 1."""
    relief, pull = figure.relief, WRAP * figure.unit_px
    rows, columns = np.divmod(figure.own, figure.width)
    y = np.clip(rows.astype(np.float32) + relief.ny * pull, 0, figure.height - 1.01)
    x = np.clip(columns.astype(np.float32) + relief.nx * pull, 0, figure.width - 1.01)
    top, left = y.astype(np.intp), x.astype(np.intp)
    down, across = y - top.astype(np.float32), x - left.astype(np.float32)
    at = top * figure.width + left
    upper, lower = take(texture, at), take(texture, at + figure.width)
    upper += (take(texture, at + 1) - upper) * across
    lower += (take(texture, at + figure.width + 1) - lower) * across
    upper += (lower - upper) * down
    upper *= np.float32(1 / 255)
    return upper


def _paint_own(canvas: Any, figure: _Figure, look: Look) -> None:
    """The form in its own colours."""
    form = figure.form
    if look is not figure.thing.look:
        thing = msgspec.structs.replace(figure.thing, look=look)
        form = form_of(thing)
    canvas.drawColor(skia.Color4f(*_main_colour(look, figure.thing.category), 1.0))
    for piece in form.pieces:
        if isinstance(piece, Mark):
            canvas.drawPath(
                piece.path, paint(piece.colour, piece.alpha, stroke=piece.stroke, blur=piece.blur)
            )
        elif isinstance(piece, Part):
            canvas.drawPath(piece.path, paint(piece.colour))
    grain = DRAWN[figure.thing.category].grain
    if grain:
        fur = np.random.default_rng((look.seed, 2))
        area, period = (-1.2, -1.2, 1.2, 1.2), (0.36, 0.12)
        draw_noise(canvas, fur, area, (0.10, 0.07, 0.05), period, alpha=grain, contrast=3.0)


def _shadows(figure: _Figure, scene: Scene) -> list[tuple[tuple[slice, slice], Floats]]:
    """Where a figure darkens what lies below, and by how much (0…1).

    Soft ovals with an end: a wide one for the body, away from the light, and a small dark one
    under each foot.
    """
    thing, form = figure.thing, figure.form
    if not thing.shadow:
        return []
    unit, y = thing.scale / 2, thing.y
    side = -1 if thing.flip else 1
    xs = [thing.x + side * x * unit for x, _ in form.feet]
    halves = [half * unit for _, half in form.feet]
    left = min(x - half for x, half in zip(xs, halves, strict=True))
    right = max(x + half for x, half in zip(xs, halves, strict=True))
    wide = (right - left) / 2
    away = -scene.light.azimuth * 0.30 * min(thing.scale, 0.4)
    strength = 0.40 * thing.shadow / (1 + 6 * max(0.0, thing.lift))
    ovals = [
        (
            (left + right) / 2 + away * 0.6,
            y,
            wide * 1.25 + 0.02 + abs(away) * 0.5,
            wide * 0.30 + 0.014,
            strength,
        )
    ]
    if thing.lift < 0.02:
        ovals += [
            (x, y - 0.001, half * 1.15 + 0.004, half * 0.22 + 0.006, 0.52 * thing.shadow)
            for x, half in zip(xs, halves, strict=True)
        ]
    return [patch for oval in ovals if (patch := _soft_oval(oval, figure.size_px)) is not None]


def _soft_oval(
    oval: tuple[float, float, float, float, float], size_px: int
) -> tuple[tuple[slice, slice], Floats] | None:
    x, y, rx, ry, strength = oval
    x, y, rx, ry = x * size_px, y * size_px, rx * size_px, ry * size_px
    top, bottom = max(0, int(y - ry)), min(size_px, int(y + ry) + 2)
    left, right = max(0, int(x - rx)), min(size_px, int(x + rx) + 2)
    if top >= bottom or left >= right:
        return None
    across = ((np.arange(left, right, dtype=np.float32) + 0.5 - x) / rx) ** 2
    down = ((np.arange(top, bottom, dtype=np.float32) + 0.5 - y) / ry) ** 2
    near = np.clip(1 - across[None, :] - down[:, None], 0, 1)
    dark = np.float32(strength) * near * (2 - near) * near**0.5
    return (slice(top, bottom), slice(left, right)), dark.astype(np.float32)


def _cast_shadow(image: Bytes, figure: _Figure, scene: Scene) -> None:
    for window, dark in _shadows(figure, scene):
        tint = 1 - dark[..., None] * np.asarray((1.0, 0.97, 0.90), np.float32)
        image[window] = (image[window] * tint + np.float32(0.5)).astype(np.uint8)
