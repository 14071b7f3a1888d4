"""Audit segmenters on photographs of one's own, without labels."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import msgspec
import typer

from groundfault.cli.completion import MODEL
from groundfault.cli.evaluation import agreement, check_gates, interruptible
from groundfault.cli.groups import grouped
from groundfault.cli.options import (
    BaseUrl,
    Bootstrap,
    Format,
    FormatOption,
    LoadingOptions,
    RunningOptions,
    Seed,
    T,
    add_commands,
)
from groundfault.config import number
from groundfault.errors import UsageError

if TYPE_CHECKING:
    from groundfault.api.auditing import Audit


class MadeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What is made of the photographs."""

    TITLE: ClassVar[str] = "What is made of the photographs"

    stability: Annotated[
        int, typer.Option("--stability", min=0, help="Photographs to change harmlessly.")
    ] = 50
    change: Annotated[
        list[str] | None,
        typer.Option(
            "--change", help="re-encoded, mirrored, scaled, cropped, brightened; repeat. [all]"
        ),
    ] = None

    counterfactuals: Annotated[
        int | None,
        typer.Option("--counterfactuals", min=0, help="Photographs to edit a thing in. [20]"),
    ] = None
    edit: Annotated[
        list[str] | None,
        typer.Option("--edit", help="surface, material, context; repeat. [all]"),
    ] = None
    masks: Annotated[
        str, typer.Option("--masks", help="The model that marks what is edited. [the first]")
    ] = ""

    def options(self) -> dict[str, Any]:
        """As `audit` takes them."""
        chosen = {"changes": self.change, "edits": self.edit}
        return {
            "stability": self.stability,
            "counterfactuals": self.counterfactuals,
            "masks": self.masks,
            **{name: tuple(value) for name, value in chosen.items() if value},
        }


class ProposingOptions(msgspec.Struct, frozen=True, kw_only=True):
    """A phrases file to begin with."""

    TITLE: ClassVar[str] = "A phrases file to begin with"

    propose: Annotated[
        Path | None,
        typer.Option("--propose", help="Write phrases to this TOML file and audit nothing."),
    ] = None
    thing: Annotated[
        list[str] | None, typer.Option("--thing", help="What the photographs show; repeat.")
    ] = None
    from_coco: Annotated[
        Path | None, typer.Option("--from-coco", help="Propose from COCO annotations of them.")
    ] = None
    by: Annotated[str, typer.Option("--by", help="Propose by a chat model, openai:NAME.")] = ""

    def given(self) -> bool:
        """Whether any of them is."""
        return bool(self.thing or self.from_coco or self.by)


class JudgingOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How answers are judged."""

    TITLE: ClassVar[str] = "How answers are judged"

    t: T = None
    tau: Annotated[
        float | None,
        typer.Option(
            "--tau", parser=number, metavar="NUMBER", help="One region means IoU ≥ τ. [0.5]"
        ),
    ] = None
    bootstrap: Bootstrap = None
    seed: Seed = None


@grouped
def audit(
    images: Annotated[Path | None, typer.Option("--images", help="Folder of photographs.")] = None,
    phrases: Annotated[
        Path | None, typer.Option("--phrases", help="TOML with phrases and their relations.")
    ] = None,
    model: Annotated[list[str] | None, MODEL] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for pictures, runs and page.")
    ] = None,
    *,
    proposing: ProposingOptions,
    made: MadeOptions,
    loading: LoadingOptions,
    running: RunningOptions,
    judging: JudgingOptions,
    base_url: BaseUrl = "",
    fail_if: Annotated[
        list[str] | None,
        typer.Option("--fail-if", help="Exit with 1 if it holds: 'contradiction_rate>5%'; repeat."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print events, one JSON object per line.")
    ] = False,
    format_: FormatOption = Format.terminal,
) -> None:
    """Your own photographs, no labels: does a segmenter contradict itself?"""
    import functools
    import gc

    from groundfault.analysis.gates import parse_gate
    from groundfault.api.auditing import audit as carry_out
    from groundfault.reports.events import RunReporter

    if proposing.propose is not None:
        _propose(proposing, images, base_url, loading)
        return
    if proposing.given():
        raise UsageError("--thing, --from-coco and --by go with --propose FILE")
    if images is None or phrases is None or not model or out is None:
        raise UsageError(
            "give --images, --phrases, --model and --out; or --propose FILE to get phrases"
        )
    gc.enable()
    reporter = functools.partial(RunReporter, as_json=as_json)
    with interruptible():
        found = carry_out(
            images,
            phrases,
            model,
            out,
            fail_if=fail_if or (),
            agree=agreement(yes=loading.yes),
            reporter=reporter,
            base_url=base_url,
            **made.options(),
            **loading.options(),
            **running.options(),
            **msgspec.structs.asdict(judging),
        )
    _show(found, as_json=as_json, format_=format_)
    check_gates([parse_gate(text) for text in fail_if or ()], found.results)


def _propose(
    proposing: ProposingOptions, images: Path | None, base_url: str, loading: LoadingOptions
) -> None:
    from groundfault.api.proposing import propose_phrases

    found = propose_phrases(
        proposing.propose,
        things=proposing.thing or (),
        images=images,
        from_coco_file=proposing.from_coco,
        by=proposing.by,
        base_url=base_url,
        agree=agreement(yes=loading.yes),
        **loading.options(),
    )
    told = f"{len(found.asked())} phrases, {len(found.relations())} relations"
    print(f"written: {proposing.propose}: {told}; read it before you use it", file=sys.stderr)


def _show(found: Audit, *, as_json: bool, format_: Format) -> None:
    from groundfault.reports.audits import audit_tables
    from groundfault.reports.comparisons import comparison_tables
    from groundfault.reports.tables import printable_json, show

    compared = found.comparison.comparison if found.comparison is not None else None
    if as_json:
        event = {
            "event": "audited",
            "set": str(found.folder / "set"),
            "page": str(found.page),
            "runs": {name: str(result.folder) for name, result in found.results.items()},
            "comparison": compared,
        }
        print(printable_json(msgspec.json.encode(event)))
        return
    for table in audit_tables({name: result.summary for name, result in found.results.items()}):
        show(table, format_)
        print()
    if compared is not None:
        for table in [*comparison_tables(compared)][1:]:
            show(table, format_)
            print()
    print(f"written: {found.page}; open it in a browser", file=sys.stderr)


def register(app: typer.Typer, words: Sequence[str]) -> None:
    """Add these commands to the program."""
    add_commands(app, {"audit": audit}, words)
