"""Make benchmarks from other data sets.

`build` is a group of commands. The path of a recipe may stand in the place of a command's name, as
that of a run does in `score`: `register` sees the words.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import msgspec
import typer

from groundfault.cli.completion import names_of
from groundfault.cli.groups import grouped
from groundfault.cli.options import (
    BaseUrl,
    BudgetOption,
    Command,
    Concurrency,
    Engine,
    Format,
    RayAddress,
    add_group,
    print_json,
)
from groundfault.errors import UsageError

if TYPE_CHECKING:
    from groundfault.building.recipe import Recipe


MOST_PROCESSES = 8


class Negatives(StrEnum):
    random = "random"
    popular = "popular"
    adversarial = "adversarial"


def pairs(
    annotations: Annotated[Path, typer.Argument(help="COCO instances or LVIS annotations, JSON.")],
    out: Annotated[
        list[Path],
        typer.Option("--out", help="A folder of ours, or NAME.json in CAFE's format; repeat."),
    ],
    images: Annotated[
        Path | None, typer.Option("--images", help="Folder of the pictures, copied into ours.")
    ] = None,
    n: Annotated[int | None, typer.Option("--n", min=1, help="Number of cases. [all]")] = None,
    per_image: Annotated[
        int, typer.Option("--per-image", min=1, help="Cases of one picture at most.")
    ] = 1,
    negatives: Annotated[
        Negatives, typer.Option("--negatives", help="Which of the absent categories is asked for.")
    ] = Negatives.random,
    several: Annotated[
        bool, typer.Option("--several", help="Also categories with several objects.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed.")] = 0,
) -> None:
    """Pairs of a true and a false phrase by absent categories; no picture is edited."""
    from groundfault.api.building import build_pairs

    made = build_pairs(
        annotations,
        out,
        images=images,
        n=n,
        per_image=per_image,
        negatives=negatives.value,
        several=several,
        seed=seed,
    )
    for note in made.notes:
        print(note)
    for place in out:
        where = f"--images {images or 'DIR'}"
        words = f"cafe --annotations {place} {where}" if place.suffix.lower() == ".json" else place
        print(f"written: {place}; ask it with: groundfault eval {words} --model NAME --out RUNS")


class Stages(StrEnum):
    mine = "mine"
    propose = "propose"
    edit = "edit"
    verify = "verify"
    questions = "questions"
    review = "review"
    release = "release"


class Sources(msgspec.Struct, frozen=True, kw_only=True):
    """Where photographs come from."""

    TITLE: ClassVar[str] = "Source"
    source: Annotated[
        str,
        typer.Option("--source", help="coco, lvis, saco, refcoco, reasonseg, … or folder. [coco]"),
    ] = ""
    annotations: Annotated[
        list[Path] | None, typer.Option("--annotations", help="Its annotations; repeat for parts.")
    ] = None
    images: Annotated[
        list[Path] | None, typer.Option("--images", help="Folder of the photographs; repeat.")
    ] = None
    segmenter: Annotated[
        str, typer.Option("--segmenter", help="Who finds the things of a plain folder: sam3, …")
    ] = ""
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            min=1,
            help="Candidates at most, spread over all photographs by the seed. [all]",
        ),
    ] = None


class Makers(msgspec.Struct, frozen=True, kw_only=True):
    """Who proposes, edits and decides."""

    TITLE: ClassVar[str] = "Proposals, edits, decisions"
    proposer: Annotated[
        str, typer.Option("--proposer", help="rules, scripted:FILE, or a chat model: openai:NAME.")
    ] = ""
    editor: Annotated[
        str,
        typer.Option(
            "--editor",
            help="procedural, or a service: openai:NAME, gemini:NAME, …",
            autocompletion=names_of("editors"),
        ),
    ] = ""
    review: Annotated[
        str, typer.Option("--review", help="none, decisions.jsonl or decisions.parquet.")
    ] = ""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """How chat models and editing services are reached and paid."""

    TITLE: ClassVar[str] = "Models and services"
    base_url: BaseUrl = ""
    editor_base_url: Annotated[
        str, typer.Option("--editor-base-url", help="Of the editing service. [--base-url]")
    ] = ""
    concurrency: Concurrency = None
    budget: BudgetOption = ""
    price: Annotated[
        str, typer.Option("--price", help="IN/OUT, money per million tokens, as 0.4/1.6.")
    ] = ""
    edit_price: Annotated[
        float | None, typer.Option("--edit-price", help="Money for one edited picture.")
    ] = None
    fresh: Annotated[bool, typer.Option("--fresh", help="Ask again what was asked before.")] = False
    yes: Annotated[bool, typer.Option("--yes", help="Pay without asking.")] = False

    def options(self) -> dict[str, Any]:
        """As `build` takes them."""
        found = msgspec.structs.asdict(self)
        del found["yes"]
        return {**found, "budget": self.budget or None}


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """How it is done."""

    TITLE: ClassVar[str] = "Work"
    stage: Annotated[Stages, typer.Option("--stage", help="The last stage to do.")] = Stages.release
    workers: Annotated[
        int,
        typer.Option(
            "--workers", min=0, help="Processes that edit. [1; procedural: one per core, up to 8]"
        ),
    ] = 0
    engine: Annotated[Engine, typer.Option("--engine", help="Processes here, or Ray.")] = (
        Engine.local
    )
    ray_address: RayAddress = ""
    retry: Annotated[
        bool, typer.Option("--retry", help="Ask again for what failed, as an editor that was down.")
    ] = False


def _build(recipe: Recipe, out: Path, asked: Asked, work: Work) -> None:
    """Build, and say what came of it."""
    from groundfault.api.building import build
    from groundfault.cli.evaluation import agreement, interruptible
    from groundfault.reports.funnels import funnel_table
    from groundfault.reports.tables import printable, show

    with interruptible():
        made = build(
            recipe,
            out,
            until=work.stage.value,
            again=work.retry,
            quiet=False,
            agree=agreement(yes=asked.yes),
            engine=work.engine.value,
            workers=work.workers or _cores_for(recipe),
            ray_address=work.ray_address,
            **asked.options(),
        )
    show(funnel_table(made.funnel), Format.terminal)
    if made.stopped:
        print(f"\nstopped: {printable(made.stopped)}; the same command goes on", file=sys.stderr)
    elif made.released:
        told = f"{made.released:,} cases from {made.photographs:,} photographs"
        counted = (
            ""
            if made.benchmark is None or recipe.benchmark == "reactbench"
            else ("; results count those of one photograph as one case")
        )
        print(f"\n{told}{counted if made.released > made.photographs else ''}")
        places = [out / "release", out / "native", out / "sheet.jpg"]
        print(f"written: {', '.join(str(place) for place in places if place.exists())}")
        print(f"ask it with: groundfault eval {out / 'release'} --model NAME --out RUNS")
    elif work.stage is Stages.release:
        raise UsageError(
            f"no candidate was left: see {out / 'funnel.json'} for why, and `groundfault build "
            f"explain {out} ID` for one of them"
        )


def _cores_for(recipe: Recipe) -> int:
    """As many processes as the procedural editor keeps busy: it computes, and loads no weights."""
    if recipe.edit.by.partition(":")[0] != "procedural":
        return 0
    return min(MOST_PROCESSES, os.cpu_count() or 1)


def _changed(recipe: Recipe, sources: Sources, makers: Makers, seed: int | None) -> Recipe:
    """A recipe with what the command line says; what it does not say stays the recipe's."""
    change, source = msgspec.structs.replace, recipe.source
    if sources.source:
        source = change(source, name=sources.source)
    if sources.annotations:
        source = change(source, annotations=tuple(map(str, sources.annotations)))
    if sources.images:
        source = change(source, images=tuple(map(str, sources.images)))
    if sources.segmenter:
        source = change(source, options={**source.options, "segmenter": sources.segmenter})
    recipe = change(recipe, source=source)
    if makers.proposer:
        recipe = change(recipe, propose=change(recipe.propose, by=makers.proposer))
    if makers.editor:
        recipe = change(recipe, edit=change(recipe.edit, by=makers.editor))
    if makers.review:
        recipe = change(recipe, review=change(recipe.review, decisions=makers.review))
    if sources.limit is not None:
        recipe = change(recipe, limit=sources.limit)
    return recipe if seed is None else change(recipe, seed=seed)


Out = Annotated[Path, typer.Option("--out", help="Folder of the build; the same one goes on.")]
SeedOption = Annotated[int | None, typer.Option("--seed", min=0, help="Seed. [0]")]


def _from_benchmark(benchmark: str, about: str) -> Command:
    """The command that builds a benchmark without a recipe's file."""

    def command(
        out: Out,
        sources: Sources,
        makers: Makers,
        asked: Asked,
        work: Work,
        seed: SeedOption = None,
    ) -> None:
        from groundfault.building.recipe import Recipe

        if not sources.images:
            raise UsageError("say where the photographs are with --images DIR")
        recipe = Recipe(benchmark=benchmark)  # type: ignore[arg-type]
        _build(_changed(recipe, sources, makers, seed), out, asked, work)

    command.__doc__ = about
    return grouped(command)


def _from_recipe(path: str) -> Command:
    """The command that builds what a recipe says."""

    def command(
        out: Out,
        sources: Sources,
        makers: Makers,
        asked: Asked,
        work: Work,
        seed: SeedOption = None,
    ) -> None:
        from groundfault.building.recipe import read_recipe

        _build(_changed(read_recipe(path), sources, makers, seed), out, asked, work)

    command.__doc__ = "Build what the recipe says."
    return grouped(command)


def status(
    folder: Annotated[Path, typer.Argument(help="The folder of a build.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """The funnel of a build, also while it goes on."""
    from groundfault.building.funnel import read_funnel
    from groundfault.reports.funnels import funnel_table
    from groundfault.reports.tables import show

    funnel = read_funnel(folder)
    if as_json:
        print_json(funnel)
    else:
        show(funnel_table(funnel), Format.terminal)


def explain(
    folder: Annotated[Path, typer.Argument(help="The folder of a build.")],
    name: Annotated[str, typer.Argument(metavar="ID", help="A candidate's id.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="A JPEG: before, after, target, phrases.")
    ] = None,
) -> None:
    """The life of one candidate, stage by stage, with its pictures."""
    from groundfault.reports.funnels import draw_life, told_life
    from groundfault.reports.tables import printable

    for line in told_life(folder, name):
        print(printable(line))
    if out is not None:
        draw_life(folder, name, out)
        print(f"written: {out}")


def check_card(
    folder: Annotated[Path, typer.Argument(help="The folder of a build.")],
    labels: Annotated[
        Path,
        typer.Option(
            "--labels", help='Lines {"id", "verdict": "accept" or "reject"}, or decisions.jsonl.'
        ),
    ],
    recipe: Annotated[
        Path | None, typer.Option("--recipe", help="Whose thresholds are tried. [the default ones]")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """How often each automatic check is wrong, by labels that people gave."""
    from groundfault.building.checks.card import check_cards, read_labels
    from groundfault.building.recipe import read_recipe
    from groundfault.reports.check_cards import card_table
    from groundfault.reports.tables import show

    settings = None if recipe is None else read_recipe(recipe).verify
    cards = check_cards(folder, read_labels(labels), settings)
    if as_json:
        print_json(cards)
    else:
        show(card_table(cards), Format.terminal)


def restore(
    release: Annotated[Path, typer.Argument(help="A release without pictures.")],
    images: Annotated[list[Path], typer.Option("--images", help="Its photographs; repeat.")],
) -> None:
    """Make a release's pictures again from the photographs, byte by byte."""
    from groundfault.building.patches import restore as made_again

    print(f"{made_again(release, images)} pictures written: {release / 'images'}")


ABOUT = {
    "cafe": "Photographs with another surface, context or material; p⁺ and p⁻ (CAFE).",
    "halluseg": "Photographs with an object replaced; four corners (HalluSegBench).",
    "reactbench": "An exam about edited photographs; 8 to 12 questions each (ReactBench).",
}


def register(app: typer.Typer, words: Sequence[str]) -> None:
    """Add these commands to the program."""
    commands: dict[str, Command] = {name: _from_benchmark(name, a) for name, a in ABOUT.items()}
    commands |= {"pairs": pairs, "status": status, "explain": explain, "restore": restore}
    commands["check-card"] = check_card
    named = words[1] if len(words) > 1 and words[0] == "build" else ""
    if named.endswith(".toml"):
        commands = {named: _from_recipe(named)}
    add_group(app, "build", "Make benchmarks from other data sets.", commands, words)
