"""Options that commands share, and how results are finished: summarised, written, printed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

import msgspec
import typer

from groundfault.cli.groups import GroupedCommand
from groundfault.config import number
from groundfault.errors import UsageError

if TYPE_CHECKING:
    from groundfault.config import ScoreSettings
    from groundfault.protocols.scored import Scored
    from groundfault.records import Summary

Command = Callable[..., None]


def add_commands(app: typer.Typer, commands: Mapping[str, Command], words: Sequence[str]) -> None:
    """Give an app the command that the words name, or all if they name none. Typer inspects every
    parameter of every command that it is given, which takes longer than to run most."""
    chosen = words[0] if words else ""
    for name in [chosen] if chosen in commands else commands:
        app.command(name, cls=GroupedCommand)(commands[name])


def add_group(
    app: typer.Typer, name: str, about: str, commands: Mapping[str, Command], words: Sequence[str]
) -> None:
    """The same for a group of commands."""
    group = typer.Typer(help=about, no_args_is_help=True)
    add_commands(group, commands, words[1:] if words and words[0] == name else ())
    app.add_typer(group, name=name)


class IouType(StrEnum):
    segm = "segm"
    bbox = "bbox"


class Variant(StrEnum):
    parity = "parity"
    exact = "exact"


class Missing(StrEnum):
    error = "error"
    empty = "empty"


class Format(StrEnum):
    terminal = "terminal"
    markdown = "markdown"
    latex = "latex"
    csv = "csv"


class Engine(StrEnum):
    local = "local"
    ray = "ray"


class Retry(StrEnum):
    timeout = "timeout"


NUMBER = "NUMBER"
"""0.5 or 50%."""
Predictions = Annotated[
    Path,
    typer.Option(
        "--predictions", help="COCO results JSON, a run, or as the benchmark's own tools write."
    ),
]
T = Annotated[
    float | None,
    typer.Option(
        "--t", parser=number, metavar=NUMBER, help="Score threshold, accepted is ≥ t. [0.5]"
    ),
]
Tau = Annotated[
    float | None,
    typer.Option(
        "--tau", parser=number, metavar=NUMBER, help="Overlap threshold, aligned is ≥ τ. [0.3]"
    ),
]
Iou = Annotated[IouType | None, typer.Option("--iou", help="What the cgF1 family compares. [segm]")]
VariantOption = Annotated[
    Variant | None,
    typer.Option(
        "--variant", help="As published, or by the definitions. [cafe, saco: parity; else exact]"
    ),
]
Bootstrap = Annotated[
    int | None, typer.Option("--bootstrap", help="Resamples of cases; 0 for none. [10000]")
]
Seed = Annotated[int | None, typer.Option("--seed", help="Seed of the resamples. [0]")]
Config = Annotated[
    Path | None, typer.Option("--config", help="TOML with these settings; options win over it.")
]
Out = Annotated[
    Path | None, typer.Option("--out", help="Folder for summary.json and cases.parquet.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
FormatOption = Annotated[Format, typer.Option("--format", help="How to print the table.")]
Metric = Annotated[
    list[str] | None, typer.Option("--metric", help="Show these metrics; repeat. 'all' for all.")
]
SIZES_HELP = "Small, medium, large: coco, quantile, or limits in px as 1024,9216."
GRID_HELP = "Thresholds: start:stop:step, or a,b,c."
TGrid = Annotated[str, typer.Option("--t", help=GRID_HELP)]
SweepBootstrap = Annotated[int, typer.Option("--bootstrap", help="Resamples at every point.")]
SweepOut = Annotated[Path | None, typer.Option("--out", help="Folder for sweep.json.")]
EngineOption = Annotated[Engine, typer.Option("--engine", help="Where the model runs.")]
Workers = Annotated[
    int, typer.Option("--workers", min=0, help="Copies of the model. [1; ray: one per GPU]")
]
RayAddress = Annotated[
    str, typer.Option("--ray-address", help="Of a Ray cluster; else one is started here.")
]
Batch = Annotated[
    int | None,
    typer.Option("--batch", min=1, help="Images at once, for models that can. [4; agent: 16]"),
]
Device = Annotated[str, typer.Option("--device", help="cpu, cuda, cuda:1, mps.")]
Dtype = Annotated[str, typer.Option("--dtype", help="float32, bfloat16, float16.")]
Revision = Annotated[str, typer.Option("--revision", help="Of a hub checkpoint.")]
Offline = Annotated[bool, typer.Option("--offline", help="Only what is on this disk.")]
Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout", min=0.1, help="Seconds for a model outside this process. [600; exams: 120]"
    ),
]
Probe = Annotated[
    bool, typer.Option("--probe/--no-probe", help="Check the model's coordinates first.")
]
BaseUrl = Annotated[
    str, typer.Option("--base-url", help="Of a server with OpenAI's protocol; an agent's too.")
]
JudgeOption = Annotated[
    str,
    typer.Option(
        "--judge", help="Of short answers: openai:NAME, vllm:URL, gemini:NAME, or rule. [rule]"
    ),
]
ReaderOption = Annotated[
    str, typer.Option("--reader", help="The model that reads what the rules leave unread.")
]
Attribute = Annotated[
    str, typer.Option("--attribute", help="The model that names sub-causes, openai:NAME.")
]
CardOption = Annotated[
    Path | None, typer.Option("--card", help="The judge's card, to correct for its errors.")
]
Concurrency = Annotated[
    int | None, typer.Option("--concurrency", min=1, help="Requests at a time. [96]")
]
BudgetOption = Annotated[
    str, typer.Option("--budget", help="Stop at 5 (money) or '200k tokens', judges included.")
]
MaxTokens = Annotated[
    int | None,
    typer.Option("--max-tokens", min=1, help="Of an answer. [1024; of one that thinks: 8192]"),
]
ExtraBody = Annotated[
    str, typer.Option("--extra-body", help="JSON object: further fields of each request.")
]
Temperature = Annotated[
    str, typer.Option("--temperature", help="A number, or 'none' to leave it out. [0.2]")
]
PatienceOption = Annotated[
    float | None, typer.Option("--patience", min=0, help="Seconds a server may be away. [600]")
]
MaxWaitOption = Annotated[
    float | None,
    typer.Option("--max-wait", min=0, help="Total seconds to wait for servers. [no limit]"),
]
Published = Annotated[
    bool, typer.Option("--published", help="Add what the papers report, also beside other data.")
]


class Shown(NamedTuple):
    """How results are printed."""

    as_json: bool
    format_: Format
    metric: list[str] | None = None
    published: bool = False


class ModeChoice(StrEnum):
    std = "std"
    cot = "cot"
    both = "both"


class DataOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The files of a benchmark that is named."""

    TITLE: ClassVar[str] = "The files of a benchmark that is named"

    annotations: Annotated[
        list[Path] | None,
        typer.Option(
            "--annotations", help="Annotation JSON; cafe, saco: repeat for parts, annotators."
        ),
    ] = None
    subset: Annotated[
        str | None, typer.Option("--subset", help="fprefcoco: val, testA, testB or test.")
    ] = None
    images: Annotated[Path | None, typer.Option("--images", help="Folder of the pictures.")] = None
    cases: Annotated[
        Path | None, typer.Option("--cases", help="halluseg: the JSON list of cases.")
    ] = None
    data: Annotated[
        Path | None,
        typer.Option("--data", help="halluseg: pictures and masks; reactbench, pope: questions."),
    ] = None
    input_: Annotated[
        list[str] | None,
        typer.Option("--input", help="NAME=PATH, an input of a plug-in's benchmark; repeat."),
    ] = None

    def inputs(self) -> dict[str, Any]:
        """What was given, by the name of the input."""
        found = {
            "annotations": self.annotations,
            "subset": self.subset,
            "images": self.images,
            "cases": self.cases,
            "data": self.data,
        }
        for text in self.input_ or ():
            name, equals, path = text.partition("=")
            if not equals:
                raise UsageError(f"--input '{text}': give NAME=PATH")
            found[name] = Path(path)
        return {name: value for name, value in found.items() if value}


class LoadingOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a model is loaded or reached."""

    TITLE: ClassVar[str] = "How a model is loaded or reached"

    device: Device = "auto"
    dtype: Dtype = "auto"
    revision: Revision = ""
    offline: Offline = False
    timeout: Timeout = None
    yes: Annotated[
        bool, typer.Option("--yes", help="Fetch large sets, pay for answers, without asking.")
    ] = False

    def options(self) -> dict[str, Any]:
        """As `evaluate` takes them."""
        return {
            "device": self.device,
            "dtype": self.dtype,
            "revision": self.revision,
            "offline": self.offline,
            "timeout_s": self.timeout,
        }


class RunningOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a run is carried out."""

    TITLE: ClassVar[str] = "How the run is carried out"

    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Only the first N cases.")] = (
        None
    )
    engine: EngineOption = Engine.local
    workers: Workers = 0
    ray_address: RayAddress = ""
    batch: Batch = None
    resume: Annotated[
        bool, typer.Option("--resume/--no-resume", help="Go on where a run ended, or anew.")
    ] = True
    retry: Annotated[
        Retry | None,
        typer.Option("--retry", help="Also ask again: agents that ran out of turns (timeout)."),
    ] = None
    max_failures: Annotated[
        int,
        typer.Option(
            "--max-failures", min=0, help="Stop after N identical failures in a row; 0: never."
        ),
    ] = 20
    probe: Probe = True

    def options(self) -> dict[str, Any]:
        """As `evaluate` takes them."""
        return {
            **msgspec.structs.asdict(self),
            "engine": self.engine.value,
            "batch": self.batch or 0,
            "retry": self.retry.value if self.retry else "",
        }


class WordsOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Models that answer questions in words, and who judges them."""

    TITLE: ClassVar[str] = "Questions in words"

    base_url: BaseUrl = ""
    mode: Annotated[
        ModeChoice | None,
        typer.Option("--mode", help="std, cot (reason first), both. [both; POPE: std]"),
    ] = None
    judge: JudgeOption = ""
    judge_base_url: Annotated[
        str, typer.Option("--judge-base-url", help="Of the judge's server. [--base-url]")
    ] = ""
    reader: ReaderOption = ""
    attribute: Attribute = ""
    card: CardOption = None
    concurrency: Concurrency = None
    budget: BudgetOption = ""
    price: Annotated[
        str, typer.Option("--price", help="IN/OUT, money per million tokens, as 0.4/1.6.")
    ] = ""
    judge_price: Annotated[
        str, typer.Option("--judge-price", help="Of judge and --attribute. [--price]")
    ] = ""
    fresh: Annotated[bool, typer.Option("--fresh", help="Ask again what was asked before.")] = False
    max_tokens: MaxTokens = None
    temperature: Temperature = ""
    sampling_seed: Annotated[
        int | None, typer.Option("--sampling-seed", help="From which the model draws its words.")
    ] = None
    extra_body: ExtraBody = ""
    judge_extra_body: Annotated[
        str, typer.Option("--judge-extra-body", help="The same for judge and --attribute.")
    ] = ""
    system: Annotated[str, typer.Option("--system", help="A system message, as text.")] = ""
    prompt: Annotated[
        Path | None, typer.Option("--prompt", help="Text that asks to reason, in place of ours.")
    ] = None
    thinking: Annotated[
        bool | None,
        typer.Option(
            "--thinking/--no-thinking",
            help="The model always reasons: one mode, cot, and more tokens. [its replies tell]",
        ),
    ] = None
    patience: PatienceOption = None
    max_wait: MaxWaitOption = None

    def options(self) -> dict[str, Any]:
        """As `evaluate` takes them."""
        found = msgspec.structs.asdict(self)
        found["prompt"] = self.prompt or ""
        found["patience_s"] = found.pop("patience")
        found["max_wait_s"] = found.pop("max_wait")
        found["mode"] = None if self.mode is None else self.mode.value
        found["budget"] = self.budget or None
        return found


class ScoringOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How predictions are scored."""

    TITLE: ClassVar[str] = "How predictions are scored"

    t: T = None
    calibration: Annotated[
        str,
        typer.Option("--calibration", help="Each model's t: calibrate's output, or 'published'."),
    ] = ""
    tau: Tau = None
    iou: Iou = None
    variant: VariantOption = None
    sizes: Annotated[str, typer.Option("--sizes", help=f"{SIZES_HELP} [coco]")] = ""
    bootstrap: Bootstrap = None
    seed: Seed = None

    def options(self) -> dict[str, Any]:
        """As `evaluate` takes them."""
        found = msgspec.structs.asdict(self)
        found["iou"] = None if self.iou is None else self.iou.value
        found["variant"] = None if self.variant is None else self.variant.value
        return found


class ShowingOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What is printed, and what fails a check."""

    TITLE: ClassVar[str] = "What is printed, and what fails a check"

    as_json: Annotated[
        bool, typer.Option("--json", help="Print events, one JSON object per line.")
    ] = False
    format_: FormatOption = Format.terminal
    metric: Metric = None
    published: Published = False
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-if", help="Exit with 1 if it holds: 'SM:AFPR>20%', 'failed>0'; repeat."
        ),
    ] = None

    def shown(self) -> Shown:
        """How results are printed."""
        return Shown(self.as_json, self.format_, self.metric, self.published)


def resolve_settings(config: Path | None, **given: Any) -> ScoreSettings:
    from groundfault.config import ScoreSettings, check, load_toml

    settings = load_toml(config, ScoreSettings) if config else ScoreSettings()
    changes = {name: value for name, value in given.items() if value is not None}
    return check(msgspec.structs.replace(settings, **changes))


def finish(
    scored: Scored, settings: ScoreSettings, data: dict[str, str], out: Path | None, shown: Shown
) -> None:
    """Summarise, write, print."""
    from groundfault.analysis.summary import summarise, write_results

    summary = summarise(scored, bootstrap=settings.bootstrap, seed=settings.seed, data=data)
    chosen_metrics(summary, shown.metric)  # refuses unknown ones before anything is written
    if out is not None:
        write_results(out, scored, summary)
    if shown.as_json:
        print_json(summary)
        return
    show_summary(summary, shown)
    if out is not None:
        print(f"\nwritten: {out / 'summary.json'}, {out / 'cases.parquet'}", file=sys.stderr)


def chosen_metrics(summary: Summary, asked: list[str] | None) -> list[str] | None:
    """The names of the metrics that are asked for, by name or as tables print them; None for the
    usual ones."""
    from groundfault.protocols import of_summary

    known = summary.rows["Overall"].metrics
    if not asked or asked == ["all"]:
        return list(known) if asked else None
    protocol = of_summary(summary)
    return [protocol.metric_named(name, known) for name in asked]


def show_summary(summary: Summary, shown: Shown) -> None:
    """Print the table of a result, and what the papers report if that is wanted."""
    from groundfault.reports.summaries import conventions_table, summary_table
    from groundfault.reports.tables import show

    chosen = chosen_metrics(summary, shown.metric)
    show(summary_table(summary, chosen), shown.format_)
    conventions = None if chosen else conventions_table({"": summary})
    if conventions is not None:
        print()
        show(conventions, shown.format_)
    if shown.published:
        show_published(summary, summary.rows, chosen, shown.format_)


def show_published(
    summary: Summary, rows: Collection[str], metrics: Sequence[str] | None, format_: Format
) -> None:
    """Print what the papers report of these rows and metrics, and whether it is on this data."""
    from groundfault.protocols import of_summary
    from groundfault.published import is_published_data, rows_beside
    from groundfault.reports.summaries import published_table
    from groundfault.reports.tables import show

    protocol = of_summary(summary)
    names = metrics or protocol.shown(summary.rows["Overall"].metrics)
    beside = rows_beside(summary, protocol, other_data=True)
    known = [row for row in beside if row.table_row in rows]
    if not known:
        print(f"no paper's results are stored for {protocol.name}", file=sys.stderr)
        return
    other = not is_published_data(summary)
    show(published_table(known, [protocol.metric(n) for n in names], other_data=other), format_)


def print_json(value: object) -> None:
    from groundfault.reports.tables import printable_json

    print(printable_json(msgspec.json.format(msgspec.json.encode(value), indent=2)))
