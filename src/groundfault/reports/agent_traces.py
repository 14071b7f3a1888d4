"""An agent's episodes, to be stepped through; and what its rejections cost.

The page is one file that opens offline. Everything in a trace is somebody's text: all of it is
escaped, and the page's own policy allows no script but the one below.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import msgspec

from groundfault.io.foreign import within
from groundfault.io.pictures import read_image
from groundfault.io.store import write_bytes
from groundfault.models.agent.replays import replay
from groundfault.models.agent.traces import Trace, picture_file, read_traces, trace_of
from groundfault.records import Benchmark, Item, Outcome, Prediction
from groundfault.reports.tables import Cell, Table
from groundfault.runs.recorder import read_predictions

__all__ = [
    "Costs",
    "Shown",
    "cost_table",
    "costs",
    "ending_words",
    "facts_of",
    "from_folder",
    "from_run",
    "page",
    "script_hash",
    "write_page",
]

ENDINGS = {
    "select": "selected",
    "report": "reported nothing",
    "turns": "ran out of turns",
    "failed": "failed",
    "unread": "never answered",
}


def ending_words(trace: Trace) -> str:
    """How an episode ended, with the numbers of what it chose."""
    return " ".join([ENDINGS[trace.ending], ", ".join(map(str, trace.chosen))]).strip()


def facts_of(trace: Trace) -> tuple[str, ...]:
    """What an episode took, in a few words each."""
    turns = len(trace.turns)
    facts = [f"{turns} turn{'s' if turns != 1 else ''} of {trace.settings.turns}"]
    if trace.phrases:
        facts.append(f"tried {', '.join(trace.phrases)}")
    if trace.tokens:
        facts.append(f"{trace.tokens:,} tokens")
    if trace.cost:
        facts.append(f"cost {trace.cost:.4f}")
    if trace.latency_s:
        facts.append(f"{trace.latency_s:.1f} s")
    return tuple(facts)


class Shown(NamedTuple):
    """An episode with its pictures by hash."""

    name: str
    trace: Trace
    pictures: dict[str, bytes]
    note: str = ""


def from_folder(folder: str | PathLike[str]) -> Iterator[Shown]:
    """The episodes of a folder of traces."""
    for name, trace in read_traces(folder):
        mentioned = {trace.picture, *(sha for turn in trace.turns for sha in turn.pictures)}
        files = {sha: picture_file(folder, sha).read_bytes() for sha in mentioned if sha}
        yield Shown(name, trace, files, trace.source)


def from_run(
    run: str | PathLike[str], images: str | PathLike[str], benchmark: Benchmark
) -> Iterator[Shown]:
    """The episodes of a run in the benchmark's order, their pictures drawn again."""
    answers = {answer.item_id: answer for answer in read_predictions(run)}
    for item in benchmark.items:
        trace = trace_of(answers[item.id]) if item.id in answers else None
        if trace is None:
            continue
        path = within(images, item.image, file="the benchmark", record=f"item {item.id}")
        episode = replay(trace, read_image(path, size_px=trace.size_px))
        files = {name: picture.content for name, picture in episode.pictures.items()}
        yield Shown(item.id, trace, files, _verdict(item, trace.outcome))


def _verdict(item: Item, outcome: Outcome) -> str:
    if outcome is Outcome.FAILED:
        return "not scored"
    there = "there" if item.present else "not there"
    return f"in truth {there}"


# What rejections cost.


class Costs(msgspec.Struct, frozen=True, kw_only=True):
    """Of one agent's run, over the episodes that did not fail."""

    model: str
    episodes: int
    failed: int
    turns: float | None
    """Per episode."""
    tokens: float | None
    """Per episode; None where a server does not count them."""
    false_positives: float | None
    """Share of negatives with an answer."""
    found: float | None
    """Share of positives with an answer."""
    rejections: int
    """Correct ones: negatives without an answer."""
    turns_per_rejection: float | None
    """Of all episodes, positives too: what it takes to have one."""
    tokens_per_rejection: float | None
    cost_per_rejection: float | None


def costs(model: str, answers: Iterable[Prediction], items: Sequence[Item]) -> Costs:
    """Count what an agent's correct rejections took. Answers without a trace are no agent's."""
    by_id = {item.id: item for item in items}
    pairs = [
        (by_id[answer.item_id], answer, trace)
        for answer in answers
        if answer.item_id in by_id and (trace := trace_of(answer)) is not None
    ]
    ended = [pair for pair in pairs if pair[1].outcome is not Outcome.FAILED]
    negatives = [answer for item, answer, _ in ended if not item.present]
    positives = [answer for item, answer, _ in ended if item.present]
    rejections = sum(answer.outcome is Outcome.ABSTAINED for answer in negatives)
    turns = sum(len(trace.turns) for _, _, trace in ended)
    tokens = _total([trace.tokens for _, _, trace in ended])
    return Costs(
        model=model,
        episodes=len(ended),
        failed=len(pairs) - len(ended),
        turns=_ratio(turns, len(ended)),
        tokens=_ratio(tokens, len(ended)),
        false_positives=_ratio(len(negatives) - rejections, len(negatives)),
        found=_ratio(sum(a.outcome is Outcome.OK for a in positives), len(positives)),
        rejections=rejections,
        turns_per_rejection=_ratio(turns, rejections),
        tokens_per_rejection=_ratio(tokens, rejections),
        cost_per_rejection=_ratio(_total([trace.cost for _, _, trace in ended]), rejections),
    )


def _total(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _ratio(total: float | None, count: int) -> float | None:
    return total / count if total is not None and count else None


def cost_table(rows: Sequence[Costs]) -> Table:
    """Cost and turns per correct rejection, one line per agent or ablation."""
    columns = ["model", "n", "FPR %", "found %", "turns", "rejections"]
    columns += ["turns/rejection", "tokens/rejection", "cost/rejection"]
    return Table(
        title="What a correct rejection costs",
        columns=columns,
        rows=[
            [
                Cell(row.model),
                Cell(f"{row.episodes}" + (f" ({row.failed} failed)" if row.failed else "")),
                Cell(_text(row.false_positives, 100)),
                Cell(_text(row.found, 100)),
                Cell(_text(row.turns)),
                Cell(str(row.rejections)),
                Cell(_text(row.turns_per_rejection)),
                Cell(_text(row.tokens_per_rejection, digits=0)),
                Cell(_text(row.cost_per_rejection, digits=4)),
            ]
            for row in rows
        ],
    )


def _text(value: float | None, scale: float = 1, digits: int = 1) -> str:
    return "—" if value is None else f"{value * scale:.{digits}f}"


# The page.


def write_page(path: str | PathLike[str], title: str, episodes: Iterable[Shown]) -> None:
    """Write the step-through as one HTML file."""
    write_bytes(path, page(title, episodes).encode())


def page(title: str, episodes: Iterable[Shown]) -> str:
    """All episodes, turn by turn."""
    from jinja2 import Environment

    here = Path(__file__)
    template = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(
        here.with_suffix(".html").read_text(encoding="utf-8")
    )
    script = here.with_suffix(".js").read_text(encoding="utf-8")
    return template.render(
        title=title,
        episodes=list(episodes),
        endings=ENDINGS,
        data_url=_data_url,
        words=_words,
        script=script,
        allowed=script_hash(script),
    )


def script_hash(script: str) -> str:
    """By which a page's policy allows a script."""
    return f"sha256-{b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


def _data_url(content: bytes) -> str:
    kind = "png" if content.startswith(b"\x89PNG") else "jpeg"
    return f"data:image/{kind};base64,{b64encode(content).decode()}"


def _words(parameters: dict[str, object]) -> str:
    return msgspec.json.encode(parameters).decode() if parameters else ""
