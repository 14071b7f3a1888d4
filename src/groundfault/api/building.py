"""Make benchmarks from other data sets."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from groundfault.build.pairs import PairSettings, make_pairs
from groundfault.build.pipeline import Built
from groundfault.build.pipeline import build as run_build
from groundfault.build.recipe import Recipe, read_recipe
from groundfault.build.stages import Count
from groundfault.errors import UnknownName, UsageError
from groundfault.io.convert import write_any
from groundfault.io.interrupts import draining
from groundfault.io.store import check_vacant
from groundfault.records import Benchmark
from groundfault.reports.progress import Display
from groundfault.runner.work import Plan

__all__ = ["build", "build_pairs"]

AnyPath = str | PathLike[str]


def build(
    recipe: Recipe | AnyPath,
    out: AnyPath,
    *,
    until: str = "release",
    plan: Plan | None = None,
    retry: bool = False,
    quiet: bool = True,
) -> Built:
    """Make a benchmark from photographs, as a recipe says: the path of a TOML file, or a `Recipe`.

    The same call goes on where an earlier one ended. `until` is the last stage to do, `retry` asks
    again for what failed. The result names the folder and its funnel; `gf.load(OUT/release)` is
    the benchmark.
    """
    made = recipe if isinstance(recipe, Recipe) else read_recipe(recipe)
    watcher = _BuildDisplay(quiet)
    try:
        with draining():
            return run_build(made, out, until=until, plan=plan, retry=retry, watcher=watcher)
    finally:
        watcher.close()


class _BuildDisplay:
    """A bar per stage."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.name, self.display = "", Display("", enabled=False)

    def progress(self, name: str, count: Count) -> None:
        """Show how far a stage is."""
        if name != self.name:
            self.display.close()
            self.name, self.display = name, Display(name, enabled=not self.quiet)
        done = count.kept + sum(count.dropped.values())
        self.display.update(done, count.entered, lambda: f"{count.kept} kept")

    def close(self) -> None:
        """Take the bar away."""
        self.display.close()


def build_pairs(
    annotations: AnyPath,
    out: AnyPath | Sequence[AnyPath] = (),
    *,
    images: AnyPath | None = None,
    **settings: Any,
) -> Benchmark:
    """Make pairs of a true and a false phrase from COCO or LVIS by absent categories.

    `out` is a folder of ours, which gets a copy of the pictures in `images`, or a file NAME.json in
    CAFE's format, or several of them. `settings` are those of `PairSettings`: n, per_image,
    negatives ("random", "popular", "adversarial"), several, seed.
    """
    for name in settings:
        if name not in PairSettings.__struct_fields__:
            raise UnknownName("option", name, PairSettings.__struct_fields__)
    places = [Path(out)] if isinstance(out, (str, PathLike)) else [Path(each) for each in out]
    for place in places:
        if _is_folder(place):
            check_vacant(place)
        elif place.is_dir():
            raise UsageError(f"{place}: is a folder; name a file, or a folder without .json")
    made = make_pairs(annotations, images, PairSettings(**settings))
    for place in sorted(places, key=_is_folder, reverse=True):  # copying pictures may fail
        if _is_folder(place):
            write_any(made, "folder", place, images_from=images)
        else:
            write_any(made, "cafe", place)
    return made


def _is_folder(place: Path) -> bool:
    return place.suffix.lower() != ".json"
