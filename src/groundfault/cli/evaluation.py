"""Ask models, compare runs. What is asked in words is in `exams`."""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from groundfault.cli import exam_options, exams
from groundfault.cli.options import (
    TIMEOUT_S,
    AsJson,
    Batch,
    Bootstrap,
    Device,
    Dtype,
    Engine,
    EngineOption,
    Format,
    FormatOption,
    Iou,
    Metric,
    Offline,
    Probe,
    Published,
    RayAddress,
    Revision,
    Seed,
    Shown,
    T,
    Tau,
    Timeout,
    VariantOption,
    Workers,
    add_commands,
    finish,
    print_json,
    resolve_settings,
    show_published,
)
from groundfault.errors import GroundfaultError, UsageError

if TYPE_CHECKING:
    from groundfault.analysis.gates import Gate
    from groundfault.config import ScoreSettings
    from groundfault.interfaces import ModelOptions
    from groundfault.io.fetching import Fetched, Offer
    from groundfault.records import Benchmark, Summary
    from groundfault.runner.work import Plan
    from groundfault.runs.run import Run


def eval_(
    benchmark: Annotated[
        str,
        typer.Argument(
            help="cafe or halluseg, which are fetched if no files are given; saco, reactbench or "
            "pope with their files; or our own folder, of segmentation or an exam."
        ),
    ],
    model: Annotated[
        list[str], typer.Option("--model", help="NAME or NAME:argument of a model; repeat.")
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder for a run per model.")],
    annotations: Annotated[
        list[Path] | None,
        typer.Option("--annotations", help="cafe, saco: annotation JSON; repeat for annotators."),
    ] = None,
    images: Annotated[Path | None, typer.Option("--images", help="Folder of the pictures.")] = None,
    cases: Annotated[
        Path | None, typer.Option("--cases", help="halluseg: the JSON list of cases.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", help="halluseg: pictures and masks; reactbench, pope: questions."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Only the first N cases.")
    ] = None,
    engine: EngineOption = Engine.local,
    workers: Workers = 0,
    ray_address: RayAddress = "",
    batch: Batch = None,
    device: Device = "auto",
    dtype: Dtype = "auto",
    revision: Revision = "",
    offline: Offline = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Fetch large sets, pay for answers, without asking.")
    ] = False,
    timeout: Timeout = None,
    resume: Annotated[
        bool, typer.Option("--resume/--no-resume", help="Go on where a run ended, or anew.")
    ] = True,
    probe: Probe = True,
    input_: Annotated[
        list[str] | None,
        typer.Option("--input", help="NAME=VALUE of a benchmark's input without an option; repeat"),
    ] = None,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-if", help="Exit with 1 if it holds: 'SM:AFPR>0.2', 'failed>0'; repeat."
        ),
    ] = None,
    t: T = None,
    calibration: Annotated[
        str,
        typer.Option("--calibration", help="Each model's t: calibrate's output, or 'published'."),
    ] = "",
    tau: Tau = None,
    iou: Iou = None,
    variant: VariantOption = None,
    bootstrap: Bootstrap = None,
    seed: Seed = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print events, one JSON object per line.")
    ] = False,
    format_: FormatOption = Format.terminal,
    metric: Metric = None,
    base_url: exam_options.BaseUrl = "",
    mode: exam_options.Mode_ = None,
    judge: exam_options.Judge_ = "",
    judge_base_url: exam_options.JudgeUrl = "",
    attribute: exam_options.Attribute = "",
    card: exam_options.Card_ = None,
    concurrency: exam_options.Concurrency = None,
    budget: exam_options.Budget_ = "",
    price: exam_options.Price_ = "",
    judge_price: exam_options.JudgePrice = "",
    fresh: exam_options.Fresh = False,
    max_tokens: exam_options.MaxTokens = None,
    temperature: exam_options.Temperature = "",
    patience: exam_options.Patience_ = None,
    published: Published = False,
) -> None:
    """Ask models everything in a benchmark, store their answers, score them."""
    import functools
    import gc

    from groundfault.analysis.calibration import operating_points
    from groundfault.analysis.gates import check_gate, parse_gate
    from groundfault.interfaces import ModelOptions
    from groundfault.io.sources import load
    from groundfault.protocols import of_benchmark
    from groundfault.runner.scoring import metric_names
    from groundfault.runner.session import folder_name
    from groundfault.runner.work import Plan, first_cases
    from groundfault.runs.identity import model_identity

    settings = resolve_settings(
        None, t=t, tau=tau, iou=iou, variant=variant, bootstrap=bootstrap, seed=seed
    )
    gates = [parse_gate(text) for text in fail_if or ()]
    shown = Shown(as_json, format_, metric, published)
    place = {"device": device, "dtype": dtype, "revision": revision, "offline": offline}
    in_words = {
        "--base-url": base_url,
        "--mode": mode,
        "--judge": judge,
        "--judge-base-url": judge_base_url,
        "--attribute": attribute,
        "--card": card,
        "--concurrency": concurrency,
        "--budget": budget,
        "--price": price,
        "--judge-price": judge_price,
        "--fresh": fresh,
        "--max-tokens": max_tokens,
        "--temperature": temperature,
        "--patience": patience,
        "--published": published,
    }
    in_masks = {
        "--annotations": annotations,
        "--cases": cases,
        "--engine": engine is not Engine.local,
        "--workers": workers,
        "--ray-address": ray_address,
        "--no-probe": not probe,
        "--t": t,
        "--calibration": calibration,
        "--tau": tau,
        "--iou": iou,
        "--variant": variant,
    }
    if exams.is_asked_in_words(benchmark, data):
        _refuse(in_masks, f"{benchmark}, which is asked in words")
        means = exam_options.make_means(
            base_url=base_url,
            mode=mode,
            judge=judge or exam_options.RULE,
            judge_url=judge_base_url,
            attribute=attribute,
            card=card,
            concurrency=concurrency,
            patience_s=patience,
            budget=budget,
            price=price,
            judge_price=judge_price,
            fresh=fresh,
            resume=resume,
            yes=yes,
            max_tokens=max_tokens,
            temperature=temperature,
            timeout_s=timeout,
            batch=batch or 4,
            **place,
        )
        with interruptible():
            marked = exams.evaluate(
                benchmark, model, out, means, settings, shown, data=data, images=images, limit=limit
            )
        _check_gates(gates, marked)
        return
    _refuse(in_words, f"{benchmark}, which is asked for masks")
    for spec in model:
        _check_segmenter(spec)
    options = ModelOptions(**place, timeout_s=timeout or TIMEOUT_S)  # type: ignore[arg-type]
    folders = {spec: out / folder_name(spec) for spec in model}
    if len(set(folders.values())) < len(folders):
        raise UsageError(f"two of {', '.join(folders)} would share a folder; ask them one by one")
    identities = {spec: model_identity(spec, options) for spec in folders}
    loaded = load(
        benchmark,
        fetch=functools.partial(fetch_published, offline=offline, yes=yes),
        annotations=annotations,
        images=images,
        cases=cases,
        data=data,
        **_named_inputs(input_ or ()),
    )
    asked = loaded if limit is None else first_cases(loaded, limit)
    for gate in gates:
        check_gate(gate, of_benchmark(asked), metric_names(asked))
    if calibration and t is not None:
        raise UsageError("--calibration and --t both set the threshold; give one of them")
    if calibration:
        operating_points(identities, calibration, loaded)  # refused before it is asked
    gc.enable()  # models make cycles; the records read so far do not
    gc.freeze()
    plan = Plan(
        engine=engine.value,
        workers=workers,
        batch=batch or 0,
        ray_address=ray_address,
        device=device,
        resume=resume,
        probe=probe,
    )
    given = {
        "t": settings.t,
        "tau": tau,
        "iou": iou and str(iou),
        "variant": variant and str(variant),
    }
    chosen = {name: value for name, value in given.items() if value is not None}
    results: dict[str, tuple[Run, Summary]] = {}
    with interruptible():
        for spec, folder in folders.items():
            run, summary = _evaluate(
                spec,
                folder,
                identities[spec],
                loaded,
                asked,
                limit,
                plan,
                options,
                settings,
                chosen,
                shown,
                calibration,
            )
            if summary is not None:
                results[spec] = run, summary
    unanswered = [spec for spec in folders if spec not in results]
    if unanswered:
        raise GroundfaultError(
            f"{', '.join(unanswered)}: not one item was answered, so there is nothing to score; "
            "run.json has the reasons, and the same command asks again"
        )
    _check_gates(gates, results)


def _named_inputs(given: Sequence[str]) -> dict[str, Any]:
    """The inputs that --input names."""
    pairs = [text.partition("=") for text in given]
    for name, sign, value in pairs:
        if not (name and sign and value):
            raise UsageError(f"--input '{name}{sign}{value}': give NAME=VALUE")
    return {name.replace("-", "_"): value for name, _, value in pairs}


def _refuse(given: Mapping[str, object], benchmark: str) -> None:
    """Refuse options that mean nothing to a benchmark."""
    for option, value in given.items():
        if value not in (None, "", False, 0):
            raise UsageError(f"{option} does not go with {benchmark}")


def _check_segmenter(spec: str) -> None:
    """Refuse a name that only answers in words, and say what fits."""
    from groundfault import registry

    name = spec.partition(":")[0]
    if name in registry.names("answerers") and name not in registry.names("models"):
        raise UsageError(
            f"{spec} answers questions in words and finds no masks. What does: "
            f"{', '.join(sorted(registry.names('models')))}; did you mean to ask it an exam?"
        )


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """While work is done that the same command would take up again: Ctrl-C says so."""
    try:
        yield
    except KeyboardInterrupt:
        print("interrupted: the same command goes on where this one ended", file=sys.stderr)
        raise typer.Exit(130) from None


def fetch_published(name: str, revision: str, *, offline: bool, yes: bool) -> Fetched:
    """A published set from the cache or the hub; a large download is asked about first."""
    from groundfault.io.fetching import LARGE_BYTES, fetch
    from groundfault.report.progress import progress

    def agree(offer: Offer) -> None:
        print(offer, file=sys.stderr)
        if yes or offer.size_bytes < LARGE_BYTES:
            return
        again = shlex.join(["groundfault", *sys.argv[1:], "--yes"])
        if not sys.stdin.isatty():
            raise UsageError(f"nobody is there to agree to this download. To fetch it: {again}")
        if not typer.confirm("Fetch it?", err=True):
            raise UsageError("not fetched; give its files as options, or agree next time")

    with interruptible(), progress(f"fetching {name}") as advance:
        return fetch(name, revision, agree=agree, offline=offline, progress=advance)


def _evaluate(
    spec: str,
    folder: Path,
    identity: dict[str, str],
    benchmark: Benchmark,
    asked: Benchmark,
    limit: int | None,
    plan: Plan,
    options: ModelOptions,
    settings: ScoreSettings,
    chosen: Mapping[str, object],
    shown: Shown,
    calibration: str,
) -> tuple[Run, Summary | None]:
    """Ask one model, score it, say how it went. Where nothing was answered there is no score."""
    import functools

    import msgspec

    from groundfault import registry
    from groundfault.analysis.calibration import operating_points
    from groundfault.analysis.scoring import data_hashes
    from groundfault.analysis.summary import summarise, write_results
    from groundfault.io.store import read_json
    from groundfault.records import Summary
    from groundfault.report.live import Teller
    from groundfault.runner.scoring import score_run
    from groundfault.runner.session import predict

    teller = Teller(spec, as_json=shown.as_json)
    with teller.asking():
        run = predict(
            benchmark,
            functools.partial(registry.load_model, spec, options),
            folder,
            name=spec,
            images=benchmark.images or None,
            identity=identity,
            settings={
                **msgspec.to_builtins(options),
                "limit": limit,
                "dataset": benchmark.origin,
                "calibration": calibration,
            },
            benchmark_folder=benchmark.folder,
            asked=asked,
            plan=plan,
            started=teller.started,
            progress=teller.progress,
        )
    teller.ended(run)
    if run.n_items and run.outcomes["failed"] == run.n_items:
        teller.finished(run, folder, None)
        return run, None
    if calibration:
        points = operating_points({spec: run.identity}, calibration, benchmark)
        chosen = {**chosen, "t": points[spec]}
    scored = score_run(asked, folder, chosen)
    hashes = data_hashes(benchmark, scored)
    if len(asked.cases) < len(benchmark.cases):
        hashes = {**hashes, "limit": str(limit)}
    if shown.as_json:
        summary = summarise(scored, bootstrap=settings.bootstrap, seed=settings.seed, data=hashes)
        write_results(folder, scored, summary)
        teller.finished(run, folder, summary)
        return run, summary
    if shown.format_ is Format.terminal:
        print(f"{spec}:")
    finish(scored, settings, hashes, folder, shown)
    return run, read_json(folder / "summary.json", Summary)


def _check_gates(gates: Sequence[Gate], results: Mapping[str, tuple[Run, Summary]]) -> None:
    """Exit with 1 if any condition holds; one about an undefined number is an error."""
    from groundfault.analysis.gates import gate_value

    values = {
        (gate, spec): gate_value(gate, summary, run.outcomes)
        for gate in gates
        for spec, (run, summary) in results.items()
    }
    held = [(gate, spec) for (gate, spec), value in values.items() if gate.holds(value)]
    for gate, spec in held:
        print(f"fail-if {gate.text} holds: {spec} has {values[gate, spec]:.6g}", file=sys.stderr)
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
    from groundfault.analysis.compare import compare_runs
    from groundfault.analysis.summary import read_results
    from groundfault.io.store import write_json
    from groundfault.report.comparisons import comparison_tables
    from groundfault.report.tables import show

    if not runs:
        raise UsageError("give at least two score folders to compare")
    settings = resolve_settings(None, bootstrap=bootstrap, seed=seed)
    summary = read_results(runs[0])[0]
    known = summary.rows["Overall"].metrics if "Overall" in summary.rows else {}
    found = compare_runs(
        runs,
        metrics=list(known) if metric == ["all"] else metric,
        rows=row,
        resamples=settings.bootstrap,
        seed=settings.seed,
    )
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
        show_published(summary, rows, list(found.rows[rows[0]]), format_)


def report(
    runs: Annotated[list[Path], typer.Argument(help="Folders written by score --out or eval.")],
    out: Annotated[Path, typer.Option("--out", help="HTML file to write.")] = Path("report.html"),
    images: Annotated[
        Path | None,
        typer.Option("--images", help="Benchmark folder with the pictures; POPE: COCO's."),
    ] = None,
    figures: Annotated[
        Path | None, typer.Option("--figures", help="Also each figure as a file, here.")
    ] = None,
    published: Published = False,
) -> None:
    """One HTML file about any number of runs: opens offline, needs nothing else."""
    from groundfault.report.page import write_figures, write_report

    write_report(runs, out, images_from=images, with_published=published)
    print(f"written: {out}; open it in a browser", file=sys.stderr)
    if figures is not None:
        write_figures(runs, figures)
        print(f"figures: {figures}", file=sys.stderr)


def register(app: typer.Typer, words: Sequence[str]) -> None:
    """Add these commands to the program."""
    add_commands(app, {"eval": eval_, "compare": compare, "report": report}, words)
