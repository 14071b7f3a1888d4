"""What a demonstration found, told on one screen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from groundfault.metrics import Metric
from groundfault.records import Estimate
from groundfault.reports.summaries import estimate_cell
from groundfault.reports.tables import Table, render

__all__ = ["Finding", "Scene", "Story", "story_lines"]

EDITS: Mapping[str, str] = {
    "SM": "The {positive} below was given the surface of a {surface}.",
    "CC": "The {positive} below was moved: its place is now this: {context}.",
    "OC": "The {category} below was remade in {material}: nothing of it but the shape is left.",
}


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One metric of both models, and the paired difference: cured minus base."""

    words: str
    metric: Metric
    base: Estimate
    cured: Estimate
    difference: Estimate
    beyond_chance: bool


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """A case that the base model gets wrong and the other right."""

    kind: str
    tags: Mapping[str, str]
    answers: tuple[str, ...]
    """What each model did when asked for what is not there."""
    picture: Path
    """Before the edit, then what each model marked."""


class Story(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to tell."""

    folder: Path
    models: tuple[str, str]
    """Before and after fine-tuning."""
    n_edited: int
    n_replaced: int
    scene: Scene | None
    findings: tuple[Finding, ...]
    unedited: Finding
    """How they do on pictures that were left alone."""


def story_lines(story: Story, drawn: str = "") -> Iterable[str]:
    """Line by line; `drawn` is the scene's picture, where a terminal can show it."""
    yield "Does a model find what you ask for, or what it expects to see?"
    yield ""
    yield from _edit(story, drawn)
    yield from render(_table(story), "terminal").splitlines()
    yield ""
    yield from _learnt(story)
    yield ""
    yield f"  all of it, with pictures   {story.folder / 'report.html'} (open it in a browser)"
    yield f"  every kind of edit         {story.folder / 'interventions.png'}"
    yield f"  the long tables            {story.folder / 'tables.txt'}"


def _edit(story: Story, drawn: str) -> Iterable[str]:
    yield (
        f"1. {story.n_edited:,} drawn scenes, each with one thing changed exactly; in "
        f"{story.n_replaced:,} more, one thing replaced."
    )
    scene = story.scene
    if scene is not None:
        yield f"   {EDITS[scene.kind].format_map(scene.tags)}"
        yield f"   Asked for “{scene.tags['negative']}”, which is not there:"
        for model, answer in zip(story.models, scene.answers, strict=True):
            yield f"     {model:<10} {answer}"
        if drawn:
            yield drawn
        yield f"   before | {' | '.join(story.models)}: {scene.picture}"
    yield ""


def _table(story: Story) -> Table:
    rows = []
    for finding in story.findings:
        arrow = finding.metric.arrow
        cells = (estimate_cell(finding.metric, e) for e in (finding.base, finding.cured))
        rows.append([f"   {finding.words} {arrow}", *cells, finding.metric.heading])
    return Table(["2. Two models, three numbers", *story.models, ""], rows)


def _learnt(story: Story) -> Iterable[str]:
    before, after = story.models
    yield f"3. {after} is {before}, fine-tuned on pictures beside their edited twins. It did this:"
    for finding in (*story.findings, story.unedited):
        cell = estimate_cell(finding.metric, finding.difference)
        change = cell.text if cell.text.startswith("−") else f"+{cell.text}"
        sure = "" if finding.beyond_chance else ", within chance"
        yield f"     {finding.words}: {change} {cell.detail}{sure}"
