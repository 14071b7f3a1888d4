"""Ask models, compare runs, report."""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from groundfault.cli.completion import MODEL, names_of
from groundfault.cli.groups import grouped
from groundfault.cli.options import (
    AsJson,
    Bootstrap,
    DataOptions,
    Format,
    FormatOption,
    LoadingOptions,
    Metric,
    Published,
    RunningOptions,
    ScoringOptions,
    Seed,
    ShowingOptions,
    Shown,
    WordsOptions,
    add_commands,
    chosen_metrics,
    print_json,
    show_published,
    show_summary,
)
from groundfault.errors import GroundfaultError, UsageError

if TYPE_CHECKING:
    from groundfault.analysis.gates import Gate
    from groundfault.api.evaluating import Asked, Evaluation
    from groundfault.api.result import Result
    from groundfault.io.fetching import Fetched, Offer
    from groundfault.records import Benchmark


@grouped
def eval_(
    benchmark: Annotated[
        str,
        typer.Argument(
            help="A name of `groundfault list benchmarks` with its files (cafe and halluseg are "
            "fetched if none are given), or a folder of ours, of masks or of questions.",
            autocompletion=names_of("benchmarks"),
        ),
    ],
    model: Annotated[list[str], MODEL],
    out: Annotated[Path, typer.Option("--out", help="Folder for a run per model.")],
    data: DataOptions,
    loading: LoadingOptions,
    running: RunningOptions,
    words: WordsOptions,
    scoring: ScoringOptions,
    showing: ShowingOptions,
) -> None:
    """Ask models everything in a benchmark, store their answers, score them."""
    import gc

    from groundfault.analysis.gates import check_gate, parse_gate
    from groundfault.api.evaluating import Asked, Evaluation, check_beforehand, run_folders
    from groundfault.api.options import Options

    options = Options.of(
        {**loading.options(), **running.options(), **words.options(), **scoring.options()}
    )
    options.scoring  # noqa: B018 - refuses wrong thresholds before anything is read
    gates = [parse_gate(text) for text in showing.fail_if or ()]
    folders = run_folders([Asked.of(each) for each in model], out)
    check_beforehand(benchmark, model, options)
    found = read_benchmark(benchmark, data, offline=loading.offline, yes=loading.yes)
    evaluation = Evaluation(found, options, agree=agreement(yes=loading.yes))
    known = evaluation.protocol.metrics()
    for gate in gates:
        check_gate(gate, evaluation.protocol, known)
    for name in showing.metric or ():
        if name != "all":
            evaluation.protocol.metric_named(name, known)
    gc.enable()  # models make cycles; the records read so far do not
    gc.freeze()
    with interruptible():
        results = _evaluate(evaluation, folders, showing.shown())
    check_gates(gates, results)


def read_benchmark(name: str, data: DataOptions, *, offline: bool, yes: bool) -> Benchmark:
    """The benchmark that a name and its inputs stand for, fetched if it is a published one."""
    import functools

    from groundfault.io.sources import load

    fetch = functools.partial(fetch_published, offline=offline, yes=yes)
    return load(name, fetch=fetch, **data.inputs())


def _evaluate(
    evaluation: Evaluation, folders: Mapping[Asked, Path], shown: Shown
) -> dict[str, Result]:
    """Ask all models in turn, print as they end; what could be scored."""
    from groundfault.reports.events import RunReporter
    from groundfault.reports.tables import printable

    graders = evaluation.graders(list(folders))
    results: dict[str, Result] = {}
    stopped: dict[str, str] = {}
    unpublished = shown._replace(published=False)
    for asked, folder in folders.items():
        name = asked.name
        reporter = RunReporter(name, as_json=shown.as_json)
        result = evaluation.run(asked, folder, reporter, graders)
        if result is None:
            stopped[name] = "answered not one item, so there is nothing to score"
            continue
        results[name] = result
        run = result.run
        if run is not None and run.stopped and not run.within_budget:
            stopped[name] = f"was stopped: {run.stopped}"
        if not shown.as_json:
            if shown.format_ is Format.terminal:
                print(f"{printable(name)}:")
            # beside masks, papers' tables stand once, below all models
            show_summary(result.summary, shown if evaluation.in_words else unpublished)
            if evaluation.in_words:
                print()
            written = f"{folder / 'summary.json'}, {folder / 'cases.parquet'}"
            print(f"\nwritten: {written}", file=sys.stderr)
    if evaluation.protocol.name == "exam" and not shown.as_json and not shown.metric:
        show_exam(results, shown)
    elif len(results) > 1 and not shown.as_json:
        show_together(results, shown)
    if shown.published and results and not evaluation.in_words and not shown.as_json:
        first = next(iter(results.values())).summary
        print()
        show_published(first, first.rows, chosen_metrics(first, shown.metric), shown.format_)
    for name, reason in stopped.items():
        print(f"error: {printable(f'{name} {reason}')}", file=sys.stderr)
    if stopped:
        raise GroundfaultError(
            "answers are kept, run.json has the reasons; the same command goes on where this one "
            "ended"
        )
    return results


def show_together(results: Mapping[str, Result], shown: Shown) -> None:
    """One table of all models."""
    from groundfault.reports.summaries import models_table
    from groundfault.reports.tables import show

    summaries = {name: result.summary for name, result in results.items()}
    chosen = chosen_metrics(next(iter(summaries.values())), shown.metric)
    print()
    show(models_table(summaries, chosen), shown.format_)


def show_exam(results: Mapping[str, Result], shown: Shown) -> None:
    """The paper's layouts of all models together, habits of answering, and in each run's folder a
    figure of its causes."""
    from groundfault.io.store import write_bytes
    from groundfault.reports import exams as tables
    from groundfault.reports.exam_figures import cause_figure
    from groundfault.reports.page.drawing import standalone
    from groundfault.reports.tables import show

    def of(name: str) -> dict[str, Any]:
        return {spec: result.more[name] for spec, result in results.items() if result.more[name]}

    if not results or shown.metric:
        return
    scored = {spec: result.summary for spec, result in results.items()}
    published = shown.published
    found = [tables.overall_table(scored, published=published, brief=True)]
    found += tables.dimension_tables(scored, published=published, brief=True)
    if of("cot_effects"):
        effects = {spec: result.more["cot_effects"] for spec, result in results.items()}
        found.append(tables.cot_table(effects, published=published))  # type: ignore[arg-type]
    found += tables.question_tables(of("rates"), published=published)
    found.append(tables.yes_table(scored))
    found.append(tables.position_table(of("position_bias")))
    causes = of("causes")
    if causes:
        found.append(tables.cause_table(causes, published=published))
        found += tables.cause_tables(causes, published=published)
    if of("corrected"):
        found.append(tables.corrected_table(scored, of("corrected")))
    for table in found:
        show(table, shown.format_)
        print()
    for spec, found_causes in causes.items():
        folder = results[spec].folder
        if folder is not None:
            path = folder / "sub-causes.svg"
            write_bytes(path, standalone(cause_figure({spec: found_causes})).encode())
            print(f"figure: {path}", file=sys.stderr)


def agreement(*, yes: bool) -> Any:
    """Ask whoever pays; where nobody can be asked, say what to run."""

    def agree(question: str, free: bool) -> None:
        if yes or free:
            return
        again = shlex.join(["groundfault", *sys.argv[1:], "--yes"])
        if not sys.stdin.isatty():
            raise UsageError(f"nobody is there to agree to what this may cost. To ask it: {again}")
        if not typer.confirm(question, err=True):
            raise UsageError("called off before anything was asked")

    return agree


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """While work is done that the same command would take up again: Ctrl-C and SIGTERM say so. The
    first of them waits for answers that are under way."""
    from groundfault.io.interrupts import draining, exit_code

    with draining():
        try:
            yield
        except KeyboardInterrupt:
            print("interrupted: the same command goes on where this one ended", file=sys.stderr)
            raise typer.Exit(exit_code()) from None


def fetch_published(name: str, revision: str, *, offline: bool, yes: bool) -> Fetched:
    """A published set from the cache or the hub; a large download is asked about first."""
    from groundfault.io.fetching import LARGE_BYTES, fetch
    from groundfault.reports.progress import progress
    from groundfault.reports.tables import printable

    def agree(offer: Offer) -> None:
        print(printable(str(offer)), file=sys.stderr)
        if yes or offer.size_bytes < LARGE_BYTES:
            return
        again = shlex.join(["groundfault", *sys.argv[1:], "--yes"])
        if not sys.stdin.isatty():
            raise UsageError(f"nobody is there to agree to this download. To fetch it: {again}")
        if not typer.confirm("Fetch it?", err=True):
            raise UsageError("not fetched; give its files as options, or agree next time")

    with interruptible(), progress(f"fetching {name}") as advance:
        return fetch(name, revision, agree=agree, offline=offline, progress=advance)


def check_gates(gates: Sequence[Gate], results: Mapping[str, Result]) -> None:
    """Exit with 1 if any condition holds; one about an undefined number is an error, which is told
    after those that hold."""
    from groundfault.analysis.gates import gate_value

    values: dict[tuple[Gate, str], float] = {}
    problems: list[str] = []
    for gate in gates:
        for spec, result in results.items():
            outcomes = result.run.outcomes if result.run else {}
            try:
                values[gate, spec] = gate_value(gate, result.summary, outcomes)
            except UsageError as problem:
                problems.append(f"{spec}: {problem}" if len(results) > 1 else str(problem))
    held = [(gate, spec) for (gate, spec), value in values.items() if gate.holds(value)]
    for gate, spec in held:
        print(
            f"fail-if {gate.text} holds: {spec} has {gate.written(values[gate, spec])}",
            file=sys.stderr,
        )
    if problems:
        raise UsageError(problems[0])
    if held:
        raise typer.Exit(1)


def compare(
    runs: Annotated[list[Path], typer.Argument(help="Two or more folders written by score --out.")],
    metric: Metric = None,
    row: Annotated[list[str] | None, typer.Option("--row", help="Only these rows; repeat.")] = None,
    bootstrap: Bootstrap = None,
    seed: Seed = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for compare.json.")] = None,
    brief: Annotated[
        bool, typer.Option("--brief", help="Only values and ranks, not each test.")
    ] = False,
    published: Published = False,
    as_json: AsJson = False,
    format_: FormatOption = Format.terminal,
) -> None:
    """Does A really beat B? Paired bootstrap, McNemar, Holm; ties are shown as ties."""
    from groundfault.analysis.summary import read_results
    from groundfault.api.comparing import compare as compare_them
    from groundfault.io.store import write_json
    from groundfault.reports.comparisons import comparison_tables
    from groundfault.reports.tables import show

    found = compare_them(*runs, metrics=metric, rows=row, bootstrap=bootstrap, seed=seed).comparison
    if out is not None:
        write_json(out / "compare.json", found)
    if as_json:
        print_json(found)
        return
    for table in comparison_tables(found):
        show(table, format_)
        print()
        if brief:
            break
    if published:
        rows = list(found.rows)
        first = read_results(runs[0])[0]
        show_published(first, rows, list(found.rows[rows[0]]), format_)


def report(
    runs: Annotated[list[Path], typer.Argument(help="Folders written by score --out or eval.")],
    out: Annotated[Path, typer.Option("--out", help="HTML file to write.")] = Path("report.html"),
    images: Annotated[
        Path | None,
        typer.Option(
            "--images", help="Where the pictures are now: their folder or the benchmark's."
        ),
    ] = None,
    figures: Annotated[
        Path | None, typer.Option("--figures", help="Also each figure as a file, here.")
    ] = None,
    published: Published = False,
) -> None:
    """One HTML file about any number of runs: opens offline, needs nothing else."""
    from groundfault.api.reporting import report as write

    write(runs, out, images=images, figures=figures, published=published)
    print(f"written: {out}; open it in a browser", file=sys.stderr)
    if figures is not None:
        print(f"figures: {figures}", file=sys.stderr)


def register(app: typer.Typer, words: Sequence[str]) -> None:
    """Add these commands to the program."""
    add_commands(app, {"eval": eval_, "compare": compare, "report": report}, words)
