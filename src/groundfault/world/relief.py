"""Roundness: what a form looks like to light, and simple models of light on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np
from scipy.ndimage import uniform_filter

from groundfault.world.canvas import Canvas, Rgb, paint, skia
from groundfault.world.forms import Bulge, Form, Mark

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Bytes = NDArray[np.uint8]
    Places = NDArray[np.intp]

__all__ = [
    "Light",
    "Relief",
    "diffuse",
    "draw_relief",
    "highlight",
    "read_relief",
    "take",
    "tint",
]

FULL_DEPTH = 0.40
"""Pieces that round off over this much or more reach the full height."""
BULGE = 0.34
"""Height of the highest point in form units: sets how steep the edges are."""


class Light(msgspec.Struct, frozen=True, gc=False):
    """One key light from above, and what the surroundings throw back."""

    azimuth: float = -0.5
    """-1: from the left … 1: from the right."""
    key: Rgb = (1.0, 0.97, 0.90)
    fill: Rgb = (0.60, 0.64, 0.72)

    @property
    def direction(self) -> tuple[float, float, float]:
        """Towards the light: x right, y down, z to the viewer; length 1."""
        x, y, z = 0.9 * self.azimuth, -0.62, 0.70
        length = (x * x + y * y + z * z) ** 0.5
        return x / length, y / length, z / length


class Relief(msgspec.Struct, frozen=True, gc=False):
    """Which way the form faces, and how much of it what covers, for n pixels of it."""

    nx: Floats
    ny: Floats
    nz: Floats
    height: Floats
    """0 at edges and seams … 1 on the most raised parts."""
    occlusion: Floats
    """1 in the open; lower in creases and behind."""
    takes: Floats
    """1 where the look's surface goes."""


def draw_relief(canvas: Canvas, form: Form) -> None:
    """Height into red, surface-taking into green, occlusion into blue, coverage into alpha."""
    modulate = skia.BlendMode.kModulate
    atop = skia.BlendMode.kSrcATop
    merge = paint(mode=skia.BlendMode.kLighten)
    for piece in form.pieces:
        if isinstance(piece, Bulge):
            canvas.drawPath(
                piece.path, paint((1.0, 1.0, 1.0), piece.height, blur=piece.blur, mode=atop)
            )
            continue
        if isinstance(piece, Mark):
            if piece.dent or piece.takes < 1.0:
                solid = piece.takes + (1.0 - piece.takes) * (1.0 - piece.alpha)
                brush = paint(
                    (1.0 - 0.4 * piece.dent, solid, 1.0),
                    stroke=piece.stroke,
                    blur=piece.blur,
                    mode=modulate,
                )
                canvas.drawPath(piece.path, brush)
            continue
        if piece.grown:  # the higher of the two shows, so that the slopes run into each other
            canvas.saveLayer(piece.path.getBounds().makeOutset(0.05, 0.05), merge)
        top = min(1.0, piece.depth / FULL_DEPTH)
        canvas.drawPath(piece.path, paint((top, piece.takes, piece.dim)))
        if piece.depth:
            canvas.save()
            canvas.clipPath(piece.path, True)
            # A wide blurred line along the edge, seen only inside: the rim gets low.
            dark = piece.dim * (1.0 - 0.22 * piece.seam)
            canvas.drawPath(
                piece.path,
                paint((0.0, piece.takes, dark), stroke=piece.depth * 0.8, blur=piece.depth * 0.42),
            )
            canvas.restore()
        if piece.grown:
            canvas.restore()


def read_relief(pixels: Bytes, at: Places, unit_px: float) -> Relief:
    """What was drawn, at flat places in the window; `unit_px` is the length of one form unit."""
    # Heights are bytes: averaging keeps their steps from showing as rings on big smooth parts.
    reach = max(1, round(unit_px / 70))
    height = uniform_filter(pixels[..., 0].astype(np.float32), 2 * reach + 1, mode="constant")
    slope = np.float32(unit_px * BULGE / (2 * reach * 255))
    flat, below = height.ravel(), reach * height.shape[1]
    # The window has a margin, so that neighbours of covered pixels are always in it.
    across = np.clip((flat[at + reach] - flat[at - reach]) * slope, -1.6, 1.6)
    down = np.clip((flat[at + below] - flat[at - below]) * slope, -1.6, 1.6)
    nz = 1.0 / np.sqrt(1.0 + across * across + down * down)
    red, green, blue = take(pixels, at) * np.float32(1 / 255)
    return Relief(nx=-across * nz, ny=-down * nz, nz=nz, height=red, occlusion=blue, takes=green)


def take(pixels: Bytes, at: Places) -> Floats:
    """The colours (3, n) from 0 to 255 at flat places of a (height, width, 4) array."""
    picked = pixels.view(np.uint32).ravel()[at].view(np.uint8).reshape(-1, 4)
    return np.ascontiguousarray(picked[:, :3].T).astype(np.float32)


def tint(red: float, green: float, blue: float) -> Floats:
    """A colour that multiplies (3, n) colours."""
    return np.array([[red], [green], [blue]], np.float32)


def diffuse(relief: Relief, light: Light, wrap: float = 0.15) -> Floats:
    """How much of the key light arrives, (n,) from 0 to 1; `wrap` lets it reach around."""
    x, y, z = light.direction
    towards: Floats = relief.nx * x + relief.ny * y + relief.nz * z
    lit: Floats = np.clip((towards + wrap) * (1.0 / (1.0 + wrap)), 0.0, 1.0)
    return lit


def highlight(relief: Relief, light: Light, squarings: int) -> Floats:
    """A shiny spot, (n,) from 0 to 1: the cosine to the power 2^squarings."""
    x, y, z = light.direction
    z += 1.0
    length = (x * x + y * y + z * z) ** 0.5
    spot: Floats = relief.nx * (x / length) + relief.ny * (y / length) + relief.nz * (z / length)
    np.clip(spot, 0.0, 1.0, out=spot)
    for _ in range(squarings):
        spot *= spot
    return spot
