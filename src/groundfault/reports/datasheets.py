"""The datasheet of a built set, in Markdown: what it is, how it came about, what it is made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from groundfault.analysis.composition import composition
from groundfault.building.agreement import AGREEMENT, Agreement
from groundfault.building.funnel import read_funnel
from groundfault.building.records import Candidate, Proposal
from groundfault.building.stages import kept_candidates, stage_file
from groundfault.io.masks import RLEMask
from groundfault.io.store import read_json, write_bytes
from groundfault.records import Benchmark
from groundfault.reports.compositions import composition_figure, composition_table
from groundfault.reports.funnels import by_task_and_source, funnel_table, nothing_to_propose
from groundfault.reports.page.drawing import standalone
from groundfault.reports.tables import Table, render

__all__ = ["write_datasheet"]

COCO_LIMITS = (32**2, 96**2)
TOP = 12


def write_datasheet(folder: Path, released: Benchmark, *, cautions: Sequence[str] = ()) -> Path:
    """Write DIR/datasheet.md about a release, which may have been left without its pictures, and a
    figure beside it where the set has pairs of prompts. `cautions` are what its build warned of."""
    candidates = list(kept_candidates(folder, "review"))
    lines = [*_opening(released, candidates)]
    lines += [line for caution in cautions for line in ("", f"**Warning**: {caution}.")]
    lines += [*_made(folder), *_agreed(folder)]
    lines += [*_contents(released, candidates)]
    if released.card.protocol == "concept-pairs":
        found = composition(released)
        lines += ["", render(composition_table(found), "markdown"), "", "![](composition.svg)"]
        lines += ["", "![](mosaic.jpg)"]
        figure = composition_figure(found, released.card.title)
        write_bytes(folder / "composition.svg", standalone(figure).encode())
    lines += _rights(candidates)
    path = folder / "datasheet.md"
    write_bytes(path, ("\n".join(lines) + "\n").encode())
    return path


def _opening(released: Benchmark, candidates: list[Candidate]) -> Iterator[str]:
    photographs = len({(c.photograph.source, c.photograph.id) for c in candidates})
    yield f"# {released.card.title}"
    yield ""
    yield released.card.about
    yield ""
    yield (
        f"{len(candidates)} cases from {photographs} photographs, {len(released.items)} items; "
        f"{released.card.source}. Content hash {released.card.content_hash}."
    )


def _made(folder: Path) -> Iterator[str]:
    yield from ("", "## How it came about", "")
    funnel = read_funnel(folder)
    yield render(funnel_table(funnel), "markdown")
    stages = [count.name for count in funnel.stages if stage_file(folder, count.name).is_file()]
    yield from ("", "What each stage let through, by task and source:", "")
    yield render(by_task_and_source(folder, stages), "markdown")
    unsuited = nothing_to_propose(folder) if "propose" in stages else None
    if unsuited is not None:
        yield from ("", 'For which targets the proposer had nothing to propose ("None"):', "")
        yield render(unsuited, "markdown")


def _agreed(folder: Path) -> Iterator[str]:
    """How far reviewers agree, where people have decided."""
    if not (folder / AGREEMENT).is_file():
        return
    yield from ("", "How far reviewers agree:", "")
    rows = [
        [
            found.stage,
            found.kind or "all",
            f"{found.items:,}",
            f"{100 * found.unanimous / found.items:.1f} %",
            *(
                "" if each.value is None else f"{each.value:.3f}"
                for each in (found.kappa, found.alpha)
            ),
        ]
        for found in read_json(folder / AGREEMENT, list[Agreement])
    ]
    columns = ["stage", "kind", "items", "unanimous", "κ", "α"]
    yield render(Table(columns, rows, left_columns=2), "markdown")


def _contents(released: Benchmark, candidates: list[Candidate]) -> Iterator[str]:
    yield from ("", "## What it is made of", "")
    yield from _counted("task", (c.task for c in candidates))
    yield from _counted("source", (c.photograph.source for c in candidates))
    yield from _counted("task × source", (f"{c.task} × {c.photograph.source}" for c in candidates))
    yield from _counted("category", (c.target.category for c in candidates))
    yield from _counted("change", (_change(c.target.category, c.proposal) for c in candidates))
    yield from _counted("size of the target (COCO's limits)", map(_size, candidates))
    yield from _counted("editor", (c.edited.editor for c in candidates if c.edited))
    yield from _counted("proposer", (c.proposal.by for c in candidates if c.proposal))
    warned = Counter(rule for c in candidates for rule in c.violations)
    if warned:
        yield from _counted("warning of the linter", warned.elements())


def _change(category: str, proposal: Proposal | None) -> str:
    """What became of a thing: its new value or, where there is none, what was done."""
    kind, value = ("", "") if proposal is None else (proposal.kind, proposal.value)
    if kind == "add":
        return f"{category} + {value or 'another one'}"
    done = {"erase": "erased", "none": "left as it is", "move": f"moved {value}".rstrip()}
    return f"{category} → {done.get(kind) or value or kind}"


def _counted(name: str, values: Iterable[str]) -> Iterator[str]:
    """A small table, most frequent first."""
    found = Counter(values)
    total = sum(found.values())
    rows = [[value, f"{n:,}", f"{100 * n / total:.1f} %"] for value, n in found.most_common(TOP)]
    others = total - sum(n for _, n in found.most_common(TOP))
    if others:
        rows.append([f"{len(found) - TOP} others", f"{others:,}", f"{100 * others / total:.1f} %"])
    yield render(Table([name, "n", "share"], rows), "markdown")
    yield ""


def _size(candidate: Candidate) -> str:
    if candidate.target.mask is None:
        return "no mask"
    area = int(RLEMask.from_dict({**candidate.target.mask}).area())
    return "small" if area < COCO_LIMITS[0] else "medium" if area < COCO_LIMITS[1] else "large"


def _rights(candidates: list[Candidate]) -> Iterator[str]:
    yield from ("", "## Rights", "")
    yield from _counted("licence", (c.photograph.licence or "not stated" for c in candidates))
    masks = Counter(c.target.masked_by or "annotators" for c in candidates)
    made = msgspec.json.encode(dict(masks)).decode()
    yield (
        "Every picture names its source and address in provenance.parquet, and whether it was "
        "edited; its metadata say so too, or, where unedited ones are shown beside it, that some "
        f"of the set were. Masks by: {made}."
    )
