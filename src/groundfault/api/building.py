"""Make benchmarks from other data sets."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from groundfault import registry
from groundfault.api.grading import Agree, is_local, names_thinking
from groundfault.api.options import EvaluateOptions, Options
from groundfault.building.cautions import cautions
from groundfault.building.pairs import PairSettings, make_pairs
from groundfault.building.pipeline import Built, Services
from groundfault.building.pipeline import build as run_build
from groundfault.building.recipe import Recipe, read_recipe
from groundfault.building.stages import Count
from groundfault.editors.loading import EditorOptions
from groundfault.errors import UnknownName, UsageError
from groundfault.io.convert import write_any
from groundfault.io.interrupts import draining
from groundfault.io.store import check_vacant
from groundfault.llm.batching import BatchedChatModel
from groundfault.llm.client import ChatClient
from groundfault.llm.cost import CostEstimate, CostTracker, parse_price
from groundfault.llm.loading import load_chat_model
from groundfault.records import Benchmark
from groundfault.reports.datasheets import write_datasheet
from groundfault.reports.events import estimate_line
from groundfault.reports.progress import Display

__all__ = ["build", "build_pairs", "chat_model", "nobody"]

AnyPath = str | PathLike[str]
EDITS_AT_ONCE = 8
OFFLINE = ("rules", "scripted")
"""Proposers for whom nobody is asked."""


def nobody(question: str, free: bool) -> None:
    """Nobody is asked: who calls from Python has agreed."""


def build(
    recipe: Recipe | AnyPath,
    out: AnyPath,
    *,
    until: str = "release",
    again: bool = False,
    quiet: bool = True,
    agree: Agree = nobody,
    edit_price: float | None = None,
    editor_base_url: str = "",
    **options: Unpack[EvaluateOptions],
) -> Built:
    """Make a benchmark from photographs, as a recipe says: the path of a TOML file, or a `Recipe`.

    The same call goes on where an earlier one ended. `until` is the last stage to do; with `again`
    what failed is asked again. `options` are those of `evaluate` that say how models and services
    are reached and paid (base_url, budget, price, concurrency, workers, engine …); `edit_price` is
    money for one picture of an editing service, `editor_base_url` its address if it is another.
    The result names the folder and its funnel, and what to be careful about (`cautions`);
    `gf.load(OUT/release)` is the benchmark.
    """
    made = recipe if isinstance(recipe, Recipe) else read_recipe(recipe)
    settings = Options.of(options).with_shared_budget()
    for caution in () if quiet else cautions(made):
        print(f"warning: {caution}", file=sys.stderr)
    watcher = _BuildDisplay(quiet)
    try:
        with draining():
            built = run_build(
                made,
                out,
                until=until,
                plan=settings.plan(),
                retry=again,
                watcher=watcher,
                services=_services(made, settings, agree, edit_price, editor_base_url),
            )
        if built.benchmark is not None:
            write_datasheet(built.folder, built.benchmark, cautions=built.cautions)
        return built
    finally:
        watcher.close()


def _services(
    recipe: Recipe,
    options: Options,
    agree: Agree,
    edit_price: float | None,
    editor_base_url: str,
) -> Services:
    """What stages that ask others need; nothing is asked yet."""
    editor = EditorOptions(
        device=options.device,
        dtype=options.dtype,
        revision=options.revision,
        offline=options.offline,
        base_url=editor_base_url or options.base_url,
        fresh=options.fresh,
        budget=options.budget,
        price=edit_price,
        responses=options.responses,
        concurrency=options.concurrency or EDITS_AT_ONCE,
    )
    addresses = [url for url in (options.base_url, editor.base_url) if url]
    local = bool(addresses) and all(map(is_local, addresses))

    def agreed(about: str, guess: CostEstimate) -> None:
        free = guess.cost == 0 or (guess.cost is None and local)
        agree(f"{about}: {estimate_line(guess)}. Ask?", free)

    by, critic, verify = recipe.propose.by, recipe.propose.critic, recipe.verify
    proposer, known = by.partition(":")[0], (*OFFLINE, *registry.answering("words"))
    if proposer not in (*known, *registry.names("models")):
        raise UnknownName("proposer", proposer, known)
    return Services(
        editor=editor,
        agree=agreed,
        chat=None if proposer in OFFLINE else chat_model(by, options),
        critic=chat_model(critic, options) if critic else None,
        vlm=chat_model(verify.vlm, options) if verify.vlm else None,
        second_vlm=chat_model(verify.second_vlm, options) if verify.second_vlm else None,
    )


def chat_model(spec: str, options: Options) -> ChatClient | BatchedChatModel:
    """A model that proposes, criticises or checks."""
    price = parse_price(options.price) if options.price else None
    return load_chat_model(
        spec,
        options.for_words(thinking=names_thinking(spec)),
        responses=options.responses or None,
        fresh=options.fresh,
        concurrency=options.plan().concurrency,
        retry=options.retry_policy(),
        cost=CostTracker(options.budget, price),
    )


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
