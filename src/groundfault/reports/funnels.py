"""The funnel of a build as a table, and the life of one candidate in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from groundfault.building.funnel import Funnel, read_funnel
from groundfault.building.mined import read_dropped
from groundfault.building.records import Candidate, Proposal
from groundfault.building.sheet import sheet
from groundfault.building.stages import Count, kept_candidates, read_records, stage_file
from groundfault.errors import UsageError
from groundfault.io.store import write_bytes
from groundfault.reports.tables import Table

__all__ = ["by_task_and_source", "draw_life", "funnel_table", "nothing_to_propose", "told_life"]

REASONS = 8
"""Reasons that a row names; the others are counted together."""


def funnel_table(funnel: Funnel) -> Table:
    """A row per stage: how many came in, went on and were dropped; below it, why."""
    waiting = any(count.waiting for count in funnel.stages)
    columns = ["stage", "in", "out", "kept", "dropped", *(["waiting"] if waiting else [])]
    rows = [_row(count)[: len(columns)] for count in funnel.stages]
    notes = [f"{count.name} dropped: {_reasons(count)}" for count in funnel.stages if count.dropped]
    return Table(columns, rows, notes=notes)


def _row(count: Count) -> list[str]:
    share = f"{100 * count.kept / count.entered:.0f} %" if count.entered else ""
    dropped = sum(count.dropped.values())
    numbers = [f"{n:,}" if n else "" for n in (dropped, count.waiting)]
    return [count.name, f"{count.entered:,}", f"{count.kept:,}", share, *numbers]


def _reasons(count: Count) -> str:
    named = [f"{reason} {n:,}" for reason, n in list(count.dropped.items())[:REASONS]]
    others = sum(list(count.dropped.values())[REASONS:])
    return ", ".join([*named, *([f"others {others:,}"] if others else [])])


def by_task_and_source(folder: Path, stages: Sequence[str]) -> Table:
    """A row per task and source: how many candidates each stage let through, and the share of
    those that were mined which came to the end."""
    kept: dict[tuple[str, str], Counter[str]] = {}
    for stage in stages:
        for candidate in kept_candidates(folder, stage):
            row = kept.setdefault((candidate.task, candidate.photograph.source), Counter())
            row[stage] += 1
    rows = []
    for (task, source), counts in sorted(kept.items()):
        share = 100 * counts[stages[-1]] / counts[stages[0]]
        rows.append([task, source, *(f"{counts[stage]:,}" for stage in stages), f"{share:.1f} %"])
    return Table(["task", "source", *stages, "kept"], rows, left_columns=2)


def nothing_to_propose(folder: Path) -> Table | None:
    """A row per task, source and category for which "None" was the answer; None if nobody said
    that."""
    about = {
        candidate.id: (candidate.task, candidate.photograph.source, candidate.target.category)
        for candidate in kept_candidates(folder, "mine")
    }
    records = read_records(folder, "propose")
    found = Counter(about[record.id] for record in records if record.reason == "None")
    rows = [[*named, f"{n:,}"] for named, n in sorted(found.items())]
    return Table(["task", "source", "category", "None"], rows, left_columns=3) if rows else None


def told_life(folder: Path, name: str) -> Iterator[str]:
    """What became of one candidate, stage by stage."""
    funnel = read_funnel(folder)
    known = False
    proposal: Proposal | None = None
    for count in funnel.stages:
        if not stage_file(folder, count.name).is_file():
            continue
        for record in read_records(folder, count.name):
            if record.id != name:
                continue
            known = True
            if record.candidate is None:
                details = f" ({record.details})" if record.details else ""
                yield f"{count.name}: dropped, {record.reason}{details}"
            else:
                yield f"{count.name}: kept"
                yield from (f"    {line}" for line in _told(record.candidate, count.name, proposal))
                proposal = record.candidate.proposal
    for record in () if known else read_dropped(folder):
        if record.id == name:
            known = True
            details = f" ({record.details})" if record.details else ""
            yield f"mine: dropped, {record.reason}{details}"
    if not known:
        raise UsageError(
            f"{folder}: no candidate '{name}'; stages/mine.jsonl lists them, and "
            "stages/mine.dropped.jsonl what was not taken"
        )


def draw_life(folder: Path, name: str, out: Path) -> None:
    """A picture of a candidate that was edited: before, after, target, phrases."""
    for stage in ("verify", "edit"):
        if not stage_file(folder, stage).is_file():
            continue
        for record in read_records(folder, stage):
            if record.id == name and record.candidate is not None:
                write_bytes(out, sheet([record.candidate], folder))
                return
    raise UsageError(f"{folder}: candidate '{name}' was not edited; there is no picture of it")


def _told(candidate: Candidate, stage: str, before: Proposal | None) -> Iterator[str]:
    """What a stage added; `before` is the proposal as it came in. Where an editor refuses what was
    proposed it may carry out an alternative, and reviewers may correct phrases."""
    photograph, proposal, edited = candidate.photograph, candidate.proposal, candidate.edited
    if stage == "mine":
        yield f"{candidate.task}: {candidate.target.category} {candidate.target.id}"
        yield f"photograph {photograph.file} of {photograph.source}"
        yield from (f"{name}: {fact}" for name, fact in candidate.facts.items())
    elif stage == "propose" and proposal is not None:
        yield from _intended("proposed", proposal)
        yield from (f"or else: {other.instruction}" for other in proposal.alternatives)
        yield from (f"warning: {rule}" for rule in candidate.violations)
    elif stage == "edit" and edited is not None and proposal is not None:
        same = before is not None and proposal.instruction == before.instruction
        yield from _intended("done" if same else "done instead", proposal)
        yield f"before {edited.before}, after {edited.after}"
        yield from (f"{name}: {detail}" for name, detail in edited.details.items())
    elif stage == "verify":
        yield ", ".join(f"{name} {value}" for name, value in candidate.checks.items())
    elif stage == "questions":
        yield from (f"Q{q.number} {q.query} → {q.reference}" for q in candidate.questions)
    elif stage == "review":
        if proposal is not None and before is not None and _phrases(proposal) != _phrases(before):
            yield f"corrected: {_phrases(proposal)}"
        if candidate.votes:
            yield ", ".join(f"{verdict} {n}" for verdict, n in candidate.votes.items())


def _intended(how: str, proposal: Proposal) -> Iterator[str]:
    """An instruction, and the phrases that go with it."""
    if proposal.instruction:
        yield f"{how}: {proposal.instruction}"
    if proposal.positive:
        yield _phrases(proposal)


def _phrases(proposal: Proposal) -> str:
    """p⁺ and, where there is one, p⁻."""
    negative = f"   − {proposal.negative}" if proposal.negative else ""
    return f"+ {proposal.positive}{negative}"
