"""Score dumps of predictions, and every threshold of them.

There is a command per benchmark that says what it is read from; its options are those inputs and
the settings of its protocol.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from groundfault.cli.options import (
    GRID_HELP,
    NUMBER,
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
from groundfault.config import number
from groundfault.errors import UsageError

if TYPE_CHECKING:
    from groundfault.analysis.scoring import Matched
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
    inputs, protocol, about, defaults = _declared(name)
    if protocol.answers != "masks":
        return None

    def command(**given: Any) -> None:
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
        if "missing" in protocol.settings and not _is_run(name):
            chosen.setdefault("missing", Missing.error)
        plain = {key: str(v) if isinstance(v, str) else v for key, v in chosen.items()}
        if _is_run(name):
            plain = _as_scored(name, plain)
        with progress("comparing masks") as advance:
            matched = _matched(name, inputs, given, plain, advance)
        scored = matched.score(plain)
        shown = Shown(given["as_json"], given["format_"], given["metric"], given["published"])
        finish(scored, settings, matched.hashes(scored), given["out"], shown)

    # a setting without a default, such as t where predictions have no scores, is no choice
    settings = {
        key: (_choice(key, value if key != "missing" else Missing.error.value), None)
        for key, value in defaults.items()
        if key in CHOICES and value is not None
    }
    options = {**settings, **EVERY_SCORE}
    return _typed(command, f"{about}.", inputs, options, predictions=not _is_run(name))


def _choice(name: str, default: object) -> Any:
    kind, about = CHOICES[name]
    parsed: dict[str, Any] = {"parser": number, "metavar": NUMBER} if kind is float else {}
    return Annotated[kind | None, typer.Option(f"--{name}", help=f"{about} [{default}]", **parsed)]


def sweep_command(name: str) -> Command | None:
    """The command that scores dumps for a benchmark at every threshold; None where it has none."""
    inputs, protocol, about, _ = _declared(name)
    if not protocol.along_t:
        return None

    def command(**given: Any) -> None:
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
        settings = {"iou": str(resolved.iou)}
        if resolved.variant is not None:
            settings["variant"] = str(resolved.variant)
        with progress("comparing masks") as advance:
            found = _matched(name, inputs, given, settings, advance)
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
    options = {**grids, **EVERY_SWEEP}
    about = f"{about}, at every threshold."
    return _typed(command, about, inputs, options, predictions=not _is_run(name))


def _declared(name: str) -> tuple[tuple[Input, ...], Protocol, str, dict[str, object]]:
    """What a benchmark is read from, how it is scored, what it is, and its settings by default."""
    from groundfault import protocols, registry

    if _is_run(name):
        from groundfault.analysis.scoring import KEPT, OF_A_RUN
        from groundfault.runs.run import read_run

        run = read_run(name)
        about = f"The stored predictions of {run.model}"
        protocol = protocols.find(run.protocol or "concept-pairs")
        kept = (key for key in KEPT if key in protocol.settings)
        return (OF_A_RUN,), protocol, about, dict.fromkeys(kept, "as it was scored")
    module = registry.load("benchmarks", name)
    card = getattr(module, "CARD", None)
    # a folder brings its own card: whatever any protocol of masks takes may be chosen
    protocol = protocols.find(card.protocol if card is not None else "concept-pairs")
    about = f"{card.title}: {protocol.title.lower()}" if card is not None else module.ABOUT
    defaults = {**protocol.settings, **getattr(module, "SETTINGS", {})}
    return getattr(module, "INPUTS", ()), protocol, about, defaults


def _is_run(name: str) -> bool:
    """Whether the place of a benchmark's name is taken by the folder of a run."""
    from groundfault.runs.run import RUN

    return (Path(name) / RUN).is_file()


def _as_scored(folder: str, given: Mapping[str, object]) -> dict[str, object]:
    """The settings of a run, and a line where there is something to be said about its t."""
    from groundfault.analysis.scoring import as_scored

    settings, told = as_scored(folder, given)
    if told:
        print(told, file=sys.stderr)
    return settings


def _matched(
    name: str,
    inputs: Iterable[Input],
    given: Mapping[str, Any],
    settings: Mapping[str, object],
    progress: Callable[[int, int], None],
) -> Matched:
    """The predictions of a dump, or of a run that names itself, compared with its benchmark."""
    from groundfault.analysis.scoring import match_files, match_run

    if _is_run(name):
        return match_run(name, settings, data=given["data"])
    files = _given_inputs(inputs, given)
    return match_files(name, files, given["predictions"], settings, progress=progress)


def _given_inputs(inputs: Iterable[Input], given: Mapping[str, Any]) -> dict[str, Any]:
    return {each.name: given[each.name] for each in inputs if given.get(each.name) is not None}


def _typed(
    command: Callable[..., None],
    about: str,
    inputs: Iterable[Input],
    options: Mapping[str, tuple[Any, Any]],
    *,
    predictions: bool,
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
    if predictions:
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
    known = named in registry.KINDS["benchmarks"] or named in registry.plugins("benchmarks")
    if known or (named and _is_run(named)):
        command = make(named)
        if command is None:
            raise _unfit(named, group)
        return {named: command}
    return {
        name: _described(entry.about)
        for name, entry in registry.names("benchmarks").items()
        if entry.answers == "masks" and (not narrow or make(name) is not None)
    }


def _unfit(named: str, group: str) -> UsageError:
    """Why a run, or a benchmark, cannot be scored or swept."""
    protocol = _declared(named)[1]
    if protocol.answers == "words":
        what = (
            "holds answers in words; score them"
            if _is_run(named)
            else ("is answered in words; score a run of it")
        )
        return UsageError(f"{named}: {what} with: groundfault judge")
    return UsageError(f"{named}: there is nothing to {group} in {protocol.title.lower()}")


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
