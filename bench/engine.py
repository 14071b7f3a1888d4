"""What the engine gains and costs, against a plain loop over the same model.

    python bench/engine.py [encode overhead memory ray] [--small]

encode    two phrases per image: the engine encodes it once, the loop twice (at least 1.6 times)
overhead  a model that does nothing: what is left is ours (below 1 ms per item)
memory    what a run adds to its benchmark's memory, from 1,000 to 50,000 items (flat)
ray       two Ray workers against one, 0.3 s of CPU per image (at least 1.7 times on two idle
          cores), and what Ray adds at CAFE's 2,146 cases; left out where Ray is not installed

Ratios are of one session, so that a busy machine slows both sides. It ends with 1 if an aim is
missed. --small only shows that everything runs: fewer images, and no aim is checked.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from engine_models import Costly
from groundfault.io.masks import encode
from groundfault.io.pictures import read_image
from groundfault.records import Benchmark, Card, Case, Item, Region, Role
from groundfault.runner.session import predict
from groundfault.runner.ways import InMasks
from groundfault.runner.work import Plan
from measure import run

DATA = Path(__file__).parent / "data"
CARD = Card(name="cafe", title="", source="", licence="", citation="", main_metric="cgF1")
PARTS = ("encode", "overhead", "memory", "ray")
MOST_GROWN_MB = 25.0
"""The names and outcomes of 50,000 items; their masks alone would be many times that."""
MOST_ADDED_MS = 5.0
"""By Ray, per image: 2 % of what a model of 0.3 s takes."""


def make(n_images: int, size_px: tuple[int, int]) -> tuple[Benchmark, Path]:
    """A benchmark whose pictures are all one file, under as many names."""
    height_px, width_px = size_px
    folder = DATA / f"engine_{height_px}x{width_px}"
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 100, (height_px, width_px, 3), np.uint8)
    pixels[height_px // 4 : height_px // 2, width_px // 4 : width_px // 2] = 250
    one = folder / "one.jpg"
    Image.fromarray(pixels).save(one, quality=90)
    region = Region(encode(pixels[..., 0] > 128))
    cases, items = [], []
    for k in range(n_images):
        picture = folder / f"{k}.jpg"
        if not picture.exists():
            os.link(one, picture)
        cases.append(Case(id=str(k), intervention="SM"))
        items += [
            Item(
                id=f"{k}{role.value}",
                case_id=str(k),
                role=role,
                images=(picture.name,),
                height_px=height_px,
                width_px=width_px,
                query=role.value,
                regions=(region,) if role is Role.POSITIVE else (),
                target=region,
            )
            for role in (Role.POSITIVE, Role.NEGATIVE)
        ]
    found = Benchmark(card=CARD, cases=tuple(cases), items=tuple(items), images=str(folder))
    return found, folder


def engine_s(
    made: tuple[Benchmark, Path],
    load: Callable[[], Any],
    *,
    plan: Plan | None = None,
    progress: Callable[[object], None] | None = None,
) -> tuple[float, float]:
    """Seconds of a run, in all and while asking."""
    out, plan = Path(tempfile.mkdtemp(dir=DATA)), plan or Plan()
    way = InMasks(load, "bench", made[1], plan, out)
    try:
        started = time.perf_counter()
        run = predict(made[0], way, out, name="bench", plan=plan, progress=progress)
        return time.perf_counter() - started, run.seconds
    finally:
        shutil.rmtree(out)


def loop_s(made: tuple[Benchmark, Path], model: Costly) -> float:
    """Seconds of what one writes first: item by item."""
    started = time.perf_counter()
    kept = []
    for item in made[0].items:
        kept += model.segment(read_image(made[1] / item.image), [item.query])
    return time.perf_counter() - started


class Aims:
    """What was promised, and whether it was kept."""

    def __init__(self, *, small: bool) -> None:
        self.small = small
        self.missed = 0

    def check(
        self, name: str, value: float, *, least: float = -np.inf, most: float = np.inf
    ) -> None:
        """Say whether a number is as promised; small runs prove nothing."""
        if self.small:
            return
        kept = least <= value <= most
        self.missed += not kept
        limit = f"at least {least:g}" if np.isfinite(least) else f"at most {most:g}"
        print(f"  {'kept  ' if kept else 'MISSED'} {name}: {value:.3g}, {limit}")


def measure_encode(aims: Aims) -> None:
    n = 10 if aims.small else 60
    made, model = make(n, (480, 640)), Costly(encode_s=0.05, phrase_s=0.005)
    rounds = [(loop_s(made, model), engine_s(made, lambda: model)[0]) for _ in range(3)]
    loop, engine = map(min, zip(*rounds, strict=True))
    print(
        f"encode: {n} images of 480x640, 2 phrases, 50 ms per encoding, 5 ms per phrase: loop "
        f"{loop:.2f} s, engine {engine:.2f} s, {loop / engine:.2f} times"
    )
    aims.check("engine against a loop", loop / engine, least=1.6)


def measure_overhead(aims: Aims) -> None:
    for size_px in ((32, 48), (480, 640)):
        made = make(100 if aims.small else 1000, size_px)
        n = len(made[0].items)
        loop, engine = loop_s(made, Costly()), engine_s(made, Costly)[0]
        print(
            f"overhead: {n} items, {size_px[0]}x{size_px[1]}, no-op model: engine "
            f"{1000 * engine / n:.3f} ms per item with decoding; a loop that keeps nothing "
            f"{1000 * loop / n:.3f} ms"
        )
        if size_px == (32, 48):  # of larger ones, decoding is most of it
            aims.check("ms per item", 1000 * engine / n, most=1.0)


def measure_memory(aims: Aims) -> None:
    grown = {}
    for n_items in (200, 2_000) if aims.small else (1_000, 50_000):
        log = DATA / f"engine_memory_{n_items}.log"
        cost = run([sys.executable, __file__, "--grow", str(n_items)], log=log)
        grown[n_items] = json.loads(log.read_text().splitlines()[-1])
        print(
            f"memory: {n_items} items: benchmark {grown[n_items]['before_mb']:.0f} MB, the run "
            f"added {grown[n_items]['added_mb']:.1f} MB ({cost.wall_s:.1f} s)"
        )
    few, many = (grown[n]["added_mb"] for n in grown)
    aims.check("MB more for 49,000 items more", many - few, most=MOST_GROWN_MB)


def grow(n_items: int) -> None:
    """Run in a process of its own: what a run adds to the memory of its benchmark."""
    made = make(n_items // 2, (32, 48))
    engine_s(make(50, (32, 48)), Costly)  # libraries are loaded
    before, most = resident_mb(), 0.0

    def watch(_: object) -> None:
        nonlocal most
        most = max(most, resident_mb())

    engine_s(made, Costly, progress=watch)
    print(json.dumps({"before_mb": before, "added_mb": most - before}))


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def measure_ray(aims: Aims) -> None:
    if importlib.util.find_spec("ray") is None:
        print("ray: not installed, not measured")
        return
    n, busy = (6, 0.05) if aims.small else (60, 0.3)
    made = make(n, (480, 640))
    for what, load in (
        (f"{busy} s of CPU each", functools.partial(Costly, busy)),
        (
            f"{busy} s of waiting each, which other programs do not slow",
            functools.partial(Costly, wait_s=busy),
        ),
    ):
        seconds = {
            workers: engine_s(made, load, plan=Plan(engine="ray", workers=workers))
            for workers in (1, 2)
        }
        print(
            f"ray: {n} images, {what}: one worker {seconds[1][1]:.2f} s, two "
            f"{seconds[2][1]:.2f} s, {seconds[1][1] / seconds[2][1]:.2f} times; start-up and end "
            f"{seconds[2][0] - seconds[2][1]:.1f} s"
        )
        aims.check("two workers against one", seconds[1][1] / seconds[2][1], least=1.7)
    n = 100 if aims.small else 2146
    made = make(n, (32, 48))
    here, there = (
        engine_s(made, Costly)[1],
        engine_s(made, Costly, plan=Plan(engine="ray", workers=1))[1],
    )
    print(
        f"ray: {n} cases, no-op model, one worker: {there:.2f} s, local {here:.2f} s: Ray adds "
        f"{1000 * (there - here) / n:.2f} ms per image"
    )
    aims.check("ms that Ray adds per image", 1000 * (there - here) / n, most=MOST_ADDED_MS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    parser.add_argument("--small", action="store_true", help="only show that everything runs")
    parser.add_argument("--grow", type=int, help="only measure the memory of so many items")
    arguments = parser.parse_args()
    if arguments.grow:
        grow(arguments.grow)
        return
    DATA.mkdir(exist_ok=True)
    aims = Aims(small=arguments.small)
    for part in arguments.parts or PARTS:
        globals()[f"measure_{part}"](aims)
    if aims.missed:
        sys.exit(1)


if __name__ == "__main__":
    main()
