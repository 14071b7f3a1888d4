"""Score dumps of predictions, and every threshold of them.

There is a command per benchmark that says what it is read from; its options are those inputs and
the settings of its protocol.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from groundfault.cli.options import (
    GRID_HELP,
    SIZES_HELP,
    AsJson,
    Bootstrap,
    Command,
    Config,
    Format,
    FormatOption,
    Iou,
    IouType,
    Metric,
    Missing,
    Out,
    Predictions,
    Published,
    Seed,
    Shown,
    SweepBootstrap,
    SweepOut,
    TGrid,
    Variant,
    VariantOption,
    add_group,
    finish,
    print_json,
    resolve_settings,
)

if TYPE_CHECKING:
    from groundfault.analysis.sweep import Sweep
    from groundfault.io.inputs import Input
    from groundfault.protocols import Protocol

KINDS_OF_INPUT: dict[str, Any] = {"file": Path, "files": list[Path], "folder": Path, "text": str}
CHOICES: dict[str, tuple[Any, str]] = {
    "t": (float, "Score threshold: accepted is ≥ t."),
    "tau": (float, "Overlap threshold: aligned is ≥ τ."),
    "iou": (IouType, "What the cgF1 family compares."),
    "variant": (Variant, "As published, or by the definitions."),
    "missing": (Missing, "What an absent prediction means."),
    "sizes": (str, SIZES_HELP),
}
"""The options of the settings that protocols have."""
EVERY_SCORE: dict[str, tuple[Any, Any]] = {
    "bootstrap": (Bootstrap, None),
    "seed": (Seed, None),
    "config": (Config, None),
    "out": (Out, None),
    "as_json": (AsJson, False),
    "format_": (FormatOption, Format.terminal),
    "metric": (Metric, None),
    "published": (Published, False),
}
EVERY_SWEEP: dict[str, tuple[Any, Any]] = {
    "iou": (Iou, None),
    "variant": (VariantOption, None),
    "bootstrap": (SweepBootstrap, 0),
    "metric": (Annotated[str, typer.Option("--metric", help="What the grid shows.")], ""),
    "row": (Annotated[str, typer.Option("--row", help="Row of the table.")], "Overall"),
    "out": (SweepOut, None),
    "as_json": (AsJson, False),
    "format_": (FormatOption, Format.terminal),
}


def score_command(name: str) -> Command | None:
    """The command that scores dumps for a benchmark; None where it is asked in words."""
    inputs, protocol, about = _declared(name)
    if protocol.answers != "masks":
        return None

    def command(**given: Any) -> None:
        from groundfault.analysis.scoring import score_files
        from groundfault.config import ScoreSettings
        from groundfault.reports.progress import progress

        usual = ScoreSettings()
        chosen = {key: given[key] for key in protocol.settings if given.get(key) is not None}
        settings = resolve_settings(
            given["config"],
            bootstrap=given["bootstrap"],
            seed=given["seed"],
            **{key: value for key, value in chosen.items() if hasattr(usual, key)},
        )
        for key in protocol.settings:  # from the configuration
            if getattr(settings, key, None) != getattr(usual, key, None):
                chosen.setdefault(key, getattr(settings, key))
        if "missing" in protocol.settings:
            chosen.setdefault("missing", Missing.error)
        with progress("comparing masks") as advance:
            scored, hashes = score_files(
                name,
                _given_inputs(inputs, given),
                given["predictions"],
                {key: str(v) if isinstance(v, str) else v for key, v in chosen.items()},
                progress=advance,
            )
        shown = Shown(given["as_json"], given["format_"], given["metric"], given["published"])
        finish(scored, settings, hashes, given["out"], shown)

    # a setting without a default, such as t where predictions have no scores, is no choice
    settings = {
        key: (_choice(key, value if key != "missing" else Missing.error.value), None)
        for key, value in protocol.settings.items()
        if key in CHOICES and value is not None
    }
    return _typed(command, f"{about}.", inputs, {**settings, **EVERY_SCORE})


def _choice(name: str, default: object) -> Any:
    kind, about = CHOICES[name]
    return Annotated[kind | None, typer.Option(f"--{name}", help=f"{about} [{default}]")]


def sweep_command(name: str) -> Command | None:
    """The command that scores dumps for a benchmark at every threshold; None where it has none."""
    inputs, protocol, about = _declared(name)
    if not protocol.along_t:
        return None

    def command(**given: Any) -> None:
        from groundfault.analysis.scoring import match_files
        from groundfault.analysis.sweep import parse_grid, sweep
        from groundfault.reports.progress import progress

        t_values = parse_grid(given["t"])
        tau_values = parse_grid(given["tau"]) if "tau" in given else (None,)
        for t in t_values:
            resolve_settings(None, t=t)
        for tau in tau_values:
            resolve_settings(None, tau=tau)
        resolved = resolve_settings(
            None, iou=given["iou"], variant=given["variant"], bootstrap=given["bootstrap"]
        )
        settings = {"iou": str(resolved.iou), "variant": str(resolved.variant)}
        with progress("comparing masks") as advance:
            found = match_files(
                name, _given_inputs(inputs, given), given["predictions"], settings, progress=advance
            )
        with progress("sweeping") as advance:
            swept = sweep(
                found.protocol,
                found.benchmark,
                found.matched,
                settings=settings,
                t_values=t_values,
                tau_values=tau_values,
                bootstrap=resolved.bootstrap,
                seed=resolved.seed,
                progress=advance,
            )
        shown = Shown(given["as_json"], given["format_"])
        _finish_sweep(swept, given["metric"], given["row"], given["out"], shown)

    grids: dict[str, tuple[Any, Any]] = {"t": (TGrid, "0.05:0.95:0.05")}
    if "tau" in protocol.settings:
        grids["tau"] = (Annotated[str, typer.Option("--tau", help=GRID_HELP)], "0.3:0.9:0.1")
    return _typed(command, f"{about}, at every threshold.", inputs, {**grids, **EVERY_SWEEP})


def _declared(name: str) -> tuple[tuple[Input, ...], Protocol, str]:
    """What a benchmark is read from, how it is scored, and what it is."""
    from groundfault import protocols, registry

    module = registry.load("benchmarks", name)
    card = getattr(module, "CARD", None)
    # a folder brings its own card: whatever any protocol of masks takes may be chosen
    protocol = protocols.find(card.protocol if card is not None else "concept-pairs")
    about = f"{card.title}: {protocol.title.lower()}" if card is not None else module.ABOUT
    return getattr(module, "INPUTS", ()), protocol, about


def _given_inputs(inputs: Iterable[Input], given: Mapping[str, Any]) -> dict[str, Any]:
    return {each.name: given[each.name] for each in inputs if given.get(each.name) is not None}


def _typed(
    command: Callable[..., None],
    about: str,
    inputs: Iterable[Input],
    options: Mapping[str, tuple[Any, Any]],
) -> Command:
    """The command with a signature that Typer can read: inputs, predictions, options."""
    parameters = []
    for each in (each for each in inputs if each.required or not each.pictures):
        kind = KINDS_OF_INPUT[each.kind]
        option = typer.Option(each.option, help=each.about)
        needed = each.required
        parameters.append(
            _parameter(
                each.name,
                Annotated[kind if needed else kind | None, option],
                inspect.Parameter.empty if needed else None,
            )
        )
    parameters.append(_parameter("predictions", Predictions, inspect.Parameter.empty))
    parameters += [_parameter(name, kind, default) for name, (kind, default) in options.items()]
    command.__doc__ = about
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command


def _parameter(name: str, kind: Any, default: Any) -> inspect.Parameter:
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, keyword, default=default, annotation=kind)


def _finish_sweep(swept: Sweep, metric: str, row: str, out: Path | None, shown: Shown) -> None:
    from groundfault.io.store import write_json
    from groundfault.reports.sweeps import sweep_tables
    from groundfault.reports.tables import show

    tables = list(sweep_tables(swept, metric=metric, row=row))
    if out is not None:
        write_json(out / "sweep.json", swept)
    if shown.as_json:
        print_json(swept)
        return
    for table in tables:
        show(table, shown.format_)
        print()


def _commands(
    words: Sequence[str], group: str, make: Callable[[str], Command | None], *, narrow: bool
) -> dict[str, Command]:
    """The command that the words name; else all of a group, for its help alone: those only say what
    they are. Not every benchmark of masks has a command of a `narrow` group."""
    from groundfault import registry

    if not words or words[0] != group:
        return {}
    named = words[1] if len(words) > 1 else ""
    if named in registry.KINDS["benchmarks"] or named in registry.plugins("benchmarks"):
        command = make(named)
        return {} if command is None else {named: command}
    return {
        name: _described(entry.about)
        for name, entry in registry.names("benchmarks").items()
        if entry.answers == "masks" and (not narrow or make(name) is not None)
    }


def _described(about: str) -> Command:
    def command() -> None: ...

    command.__doc__ = f"{about[:1].upper()}{about[1:]}."
    return command


def register_score(app: typer.Typer, words: Sequence[str]) -> None:
    """Add `score` to the program."""
    about = "Score a dump of predictions with the metrics of a benchmark."
    add_group(app, "score", about, _commands(words, "score", score_command, narrow=False), words)


def register_sweep(app: typer.Typer, words: Sequence[str]) -> None:
    """Add `sweep` to the program."""
    about = "Score every threshold: t, τ and their grid."
    add_group(app, "sweep", about, _commands(words, "sweep", sweep_command, narrow=True), words)
