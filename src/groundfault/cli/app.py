"""The program's commands. They live in the modules beside this one, which are imported only when
their command is named."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, NamedTuple

import typer

from groundfault import __version__

__all__ = ["COMMANDS", "Entry", "build_app", "build_overview"]


class Entry(NamedTuple):
    """Who adds a command, and what it does."""

    target: str
    about: str
    """The first line of its help, so that the list of all commands needs none of them."""


COMMANDS = {
    "demo": Entry(
        "demo:register",
        "See one small model misled by its habits and another not: offline, about a minute.",
    ),
    "score": Entry(
        "scoring:register_score", "Score a dump of predictions with the metrics of a benchmark."
    ),
    "sweep": Entry("scoring:register_sweep", "Score every threshold: t, τ and their grid."),
    "compare": Entry(
        "evaluation:register",
        "Does A really beat B? Paired bootstrap, McNemar, Holm; ties are shown as ties.",
    ),
    "eval": Entry(
        "evaluation:register",
        "Ask models everything in a benchmark, store their answers, score them.",
    ),
    "audit": Entry(
        "auditing:register",
        "Your own photographs, no labels: does a segmenter contradict itself?",
    ),
    "report": Entry(
        "evaluation:register",
        "One HTML file about any number of runs: opens offline, needs nothing else.",
    ),
    "leaderboard": Entry(
        "leaderboard:register",
        "A static site of runs with intervals and ties; others add theirs as checked JSON files.",
    ),
    "explore": Entry(
        "exploring:register",
        "Runs over one another in the browser: every case, every threshold, who is right where.",
    ),
    "status": Entry(
        "status:register", "How far are these runs? Also while they go on, from another terminal."
    ),
    "judge": Entry(
        "judging:register",
        "Judge and score stored answers again; no model is asked its questions again.",
    ),
    "judge-card": Entry(
        "judging:register",
        "How far can a judge be trusted? κ, α, precision and recall against labels, by task.",
    ),
    "reader-card": Entry(
        "judging:register",
        "How often are answers read as they are meant? By rule, and with a model for the rest.",
    ),
    "world": Entry(
        "world:register", "The embedded counterfactual world: build benchmarks, look at it."
    ),
    "build": Entry("building:register", "Make benchmarks from other data sets."),
    "review": Entry(
        "reviewing:register",
        "People look at edited pictures one by one: by keyboard, alone or together, blind.",
    ),
    "train": Entry("train:register", "Train models against hallucination."),
    "calibrate": Entry(
        "calibration:register",
        "Choose the threshold with the highest cgF1 over boxes, once, on data of its own.",
    ),
    "check-model": Entry(
        "checking:register",
        "Does a model keep the rules? One picture, every broken rule; exit code 2 if there is any.",
    ),
    "agent": Entry(
        "agents:register", "Runs of agents: what they cost, and what they did step by step."
    ),
    "convert": Entry(
        "files:register",
        "Turn a benchmark into another format, a run into a results file; what is lost is said.",
    ),
    "export": Entry(
        "exports:register", "Exams for other harnesses; preference pairs for other trainers."
    ),
    "inspect": Entry("files:register", "What is this file, is it sound? Exit code 2 if it is not."),
    "list": Entry(
        "about:register",
        "What there is: benchmarks, protocols, metrics, models, judges, editors, published tables.",
    ),
    "doctor": Entry("about:register", "Is everything here that groundfault needs?"),
    "conformance": Entry(
        "about:register", "Do the papers' own numbers follow from each other? A page in Markdown."
    ),
    "example": Entry(
        "about:register", "Write a small CAFE-like set with the predictions of two imagined models."
    ),
}


def build_app(words: Sequence[str]) -> typer.Typer:
    """The program, or just the command of it that the words name."""
    app = _empty_app()
    named = words[0] if words else ""
    entries = [COMMANDS[named]] if named in COMMANDS else COMMANDS.values()
    for target in dict.fromkeys(entry.target for entry in entries):
        module, _, function = target.partition(":")
        register = getattr(import_module(f"groundfault.cli.{module}"), function)
        register(app, words)
    return app


def build_overview() -> typer.Typer:
    """The program as `--help` shows it: commands that can be listed, not run."""
    app = _empty_app()
    for name, entry in COMMANDS.items():
        app.command(name, help=entry.about)(_nothing)
    return app


def _empty_app() -> typer.Typer:
    app = typer.Typer(
        name="groundfault",
        help="Does a vision model ground what it was asked for, or what it expected to see?",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_program)
    return app


def _version(value: bool) -> None:
    if value:
        print(f"groundfault {__version__}")
        raise typer.Exit


def _program(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def _nothing() -> None:
    pass
