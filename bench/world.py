"""Rendering scenes with masks: scenes per second and core, and memory as n grows.

    python bench/world.py [--scenes 120] [--times 3]

Every scene is another one: sampled, drawn, masks taken. CPU seconds of one process. The pair
row draws both sides of an intervention, where the second side finds its place in the cache.

The peer is Pillow, the usual way to get smooth edges from it: the same outlines and marks as
polygons, four times as large each way, scaled down with a box filter, one mask per thing. It has
no shading, no texture, no shadow and one gradient for a backdrop, and gets its polygons for free.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from groundfault.world import (
    KINDS,
    Scene,
    WorldSettings,
    render,
    sample_intervention,
    sample_scene,
)
from groundfault.world.canvas import skia
from groundfault.world.forms import Bulge, Mark
from groundfault.world.render import form_of
from measure import run

SIZES_PX = (256, 384, 1024)
SUPERSAMPLING = 4


def seconds_per_scene(size_px: int, scenes: int) -> float:
    settings = WorldSettings(size_px=size_px)
    render(sample_scene(0, 0, settings)).masks  # noqa: B018 — warms the caches up
    started = time.process_time()
    for index in range(scenes):
        render(sample_scene(1, index, settings)).masks  # noqa: B018
    return (time.process_time() - started) / scenes


def seconds_per_pair(size_px: int, pairs: int) -> float:
    settings = WorldSettings(size_px=size_px)
    kinds = [kind for kind in KINDS if kind not in ("counting", "no-op")]
    started = time.process_time()
    for index in range(pairs):
        case = sample_intervention(kinds[index % len(kinds)], 1, index, settings)
        render(case.factual).masks  # noqa: B018
        render(case.counterfactual).masks  # noqa: B018
    return (time.process_time() - started) / pairs


def polygons(scene: Scene, size_px: int) -> list[list[tuple[Any, list[tuple[float, float]]]]]:
    """For each thing, its pieces in painting order: colour and corner points in pixels."""
    things = []
    for thing in scene.things:
        unit, pieces = thing.scale * size_px / 2, []
        side = -unit if thing.flip else unit
        left, foot = thing.x * size_px, (thing.y - thing.lift) * size_px
        for piece in form_of(thing).pieces:
            if isinstance(piece, Bulge) or (isinstance(piece, Mark) and piece.stroke):
                continue
            colour = tuple(round(255 * part) for part in piece.colour)
            measure = skia.PathMeasure(piece.path, True)
            length = measure.getLength()
            places = [measure.getPosTan(length * k / 40)[0] for k in range(40)]
            points = [(left + side * p.x(), foot + unit * (p.y() - 1)) for p in places]
            pieces.append((colour, points))
        things.append(pieces)
    return things


def draw_with_pillow(things: list[Any], size_px: int) -> tuple[Any, list[Any]]:
    large = size_px * SUPERSAMPLING
    page = Image.linear_gradient("L").resize((large, large)).convert("RGB")
    pen, masks = ImageDraw.Draw(page), []
    for pieces in things:
        mask = Image.new("L", (large, large))
        stencil = ImageDraw.Draw(mask)
        for colour, points in pieces:
            enlarged = [(SUPERSAMPLING * x, SUPERSAMPLING * y) for x, y in points]
            pen.polygon(enlarged, fill=colour)
            stencil.polygon(enlarged, fill=255)
        masks.append(np.asarray(mask.resize((size_px, size_px), Image.Resampling.BOX)) > 127)
    return np.asarray(page.resize((size_px, size_px), Image.Resampling.BOX)), masks


def seconds_with_pillow(size_px: int, scenes: int) -> float:
    settings = WorldSettings(size_px=size_px)
    work = [polygons(sample_scene(1, index, settings), size_px) for index in range(scenes)]
    started = time.process_time()
    for things in work:
        draw_with_pillow(things, size_px)
    return (time.process_time() - started) / scenes


def peak_mb(scenes: int, folder: Path) -> float:
    """Peak memory of a process that renders this many scenes at 384 px."""
    command = [sys.executable, __file__, "--render-only", str(scenes)]
    return run(command, log=folder / f"{scenes}.log").peak_mb


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scenes", type=int, default=120)
    parser.add_argument("--times", type=int, default=3, help="the best of so many runs counts")
    parser.add_argument("--render-only", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.render_only:
        seconds_per_scene(384, options.render_only)
        return
    print(
        f"{'size':>6} {'scenes/s/core':>14} {'pairs/s/core':>13} {'Pillow 4x/s':>12} {'ratio':>6}"
    )
    for size_px in SIZES_PX:
        scenes = options.scenes if size_px < 1024 else max(10, options.scenes // 5)
        rounds = range(options.times)
        ours = min(seconds_per_scene(size_px, scenes) for _ in rounds)
        pair = min(seconds_per_pair(size_px, scenes // 2) for _ in rounds)
        peer = min(seconds_with_pillow(size_px, scenes // 2) for _ in rounds)
        rates = f"{1 / ours:>14.1f} {1 / pair:>13.1f} {1 / peer:>12.1f}"
        print(f"{size_px:>6} {rates} {peer / ours:>6.2f}")
    with tempfile.TemporaryDirectory() as folder:
        few, many = peak_mb(50, Path(folder)), peak_mb(500, Path(folder))
    print(f"peak memory: {few:.0f} MB after 50 scenes, {many:.0f} MB after 500")


if __name__ == "__main__":
    main()
