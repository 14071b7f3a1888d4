"""Stored answers judged, attributed to sub-causes, and scored; nobody is asked the questions again.

Each step reads a run folder and leaves its result there, so that a judge that is down, or another
judge later, costs no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from groundfault.analysis.summary import summarise, write_results
from groundfault.errors import UsageError
from groundfault.io.store import read_json, write_json
from groundfault.judges import causes, is_judged_in_words
from groundfault.judges.card import Canaried, JudgeCard, corrected_scores
from groundfault.judges.llm import JudgeDown, LlmJudge
from groundfault.judges.rule import RuleJudge
from groundfault.llm.batching import BatchedChatModel
from groundfault.llm.client import ChatClient
from groundfault.llm.cost import Usage
from groundfault.metrics import exam as metric
from groundfault.parsing.answers import Answered
from groundfault.protocols.exam import CONTROL
from groundfault.protocols.scored import Scored
from groundfault.records import Estimate, Outcome, Summary
from groundfault.runner.exam_papers import ExamPaper, Paper
from groundfault.runner.exams import ExamRun, Marker
from groundfault.runs import answers
from groundfault.runs.run import write_run

if TYPE_CHECKING:
    from groundfault.protocols.scored import Floats

__all__ = [
    "ModelJudge",
    "attribute_run",
    "correct_run",
    "distribution_of",
    "judge_run",
    "kept_answers",
    "read_exam_run",
    "score_run",
]

AnyPath = str | PathLike[str]
Chat = ChatClient | BatchedChatModel
RULE = Marker(name=RuleJudge.name, cost=0.0)


class ModelJudge:
    """A model that judges; canaries, and only they, are always asked anew."""

    def __init__(self, spec: str, asked: Chat, anew: Chat) -> None:
        self.spec, self.asked, self.anew = spec, asked, anew
        self.judge = LlmJudge(asked, spec)

    def canaried(self) -> Canaried:
        """The judge with canaries."""
        return Canaried(self.judge, anew=LlmJudge(self.anew, self.spec))

    @property
    def usage(self) -> Usage:
        """What all judgements so far took, canaries included."""
        return usage_of(self.asked) + usage_of(self.anew)

    def marker(self, canaried: Canaried | None = None) -> Marker:
        """What a run notes about it."""
        found = Marker(
            name=self.judge.name,
            prompt_hash=self.judge.prompt_hash,
            server=server_of(self.asked),
        )
        if canaried is None:
            return found
        pairs = zip(canaried.canaries, canaried.judgements, strict=False)
        return msgspec.structs.replace(
            found,
            canaries=len(canaried.judgements),
            canaries_missed=sum(said.verdict != canary.verdict for canary, said in pairs),
            warnings=tuple(canaried.drift()),
        )


def server_of(chat: Chat) -> str:
    """Where a model is, or which checkpoints it is made of."""
    return chat.server.url if isinstance(chat, ChatClient) else "+".join(chat.checkpoints)


def usage_of(chat: Chat) -> Usage:
    """What a model's replies took so far; nobody pays for one in this process."""
    return chat.cost.usage if isinstance(chat, ChatClient) else Usage(0, 0.0)


def read_exam_run(folder: AnyPath) -> ExamRun:
    """The run.json of a run that was asked in words."""
    folder = Path(folder)
    if not (folder / "run.json").is_file():
        raise UsageError(f"{folder}: is no run: it has no run.json")
    run = read_json(folder / "run.json", ExamRun)
    if not answers.shards(folder):
        raise UsageError(f"{folder}: holds no answers in words; give a run of an exam")
    if run.state == "running":
        raise UsageError(f"{folder}: was cut short; run its eval command again, then judge it")
    if run.outcomes["failed"] == run.n_items:
        raise UsageError(f"{folder}: not one question was answered; run its eval command again")
    return run


def kept_answers(folder: AnyPath, run: ExamRun, paper: Paper) -> list[Answered]:
    """The answers of a run to what it was last asked, in the order of the questions."""
    place = {one.key: k for k, one in enumerate(paper.questions(run.modes).asked())}
    rows = [row for row in answers.read_answers(folder) if (row.item_id, row.mode) in place]
    return sorted(rows, key=lambda row: place[row.item_id, row.mode])


def judge_run(
    folder: AnyPath, run: ExamRun, paper: Paper, judge: ModelJudge | None = None
) -> tuple[ExamRun, list[Answered]]:
    """Give every stored answer its verdict, by rule or by a model, and note who gave it.

    A model that has judged all of them before is not asked again.
    """
    folder = Path(folder)
    with answers.locked(folder):
        rows = kept_answers(folder, run, paper)
        if judge is not None and _is_judged_by(judge, run, rows):
            return run, rows
        if judge is None:
            rows, marker = paper.judge(rows, RuleJudge()), RULE
        else:
            rows, marker = _judged_by(judge, paper, rows)
        rows = [_without_stale_cause(row) for row in rows]
        answers.replace_answers(folder, rows)
        run = msgspec.structs.replace(run, judged=marker, outcomes=_outcomes(rows))
        write_run(folder, run)
    return run, rows


def _judged_by(
    judge: ModelJudge, paper: Paper, rows: Iterable[Answered]
) -> tuple[list[Answered], Marker]:
    canaried, before = judge.canaried(), judge.usage
    judged = paper.judge(rows, canaried)
    marker = _with_cost(judge.marker(canaried), judge.usage - before)
    unjudged = sum(row.verdict == "unjudged" for row in judged)
    return judged, msgspec.structs.replace(marker, unjudged=unjudged)


def _with_cost(marker: Marker, usage: Usage) -> Marker:
    return msgspec.structs.replace(marker, tokens=usage.tokens, cost=usage.cost)


def _is_judged_by(judge: ModelJudge, run: ExamRun, rows: Sequence[Answered]) -> bool:
    marker, before = judge.marker(), run.judged
    if before is None or marker.name != before.name or marker.server != before.server:
        return False
    if marker.prompt_hash != before.prompt_hash or getattr(judge.asked, "fresh", False):
        return False
    return all(row.verdict is not None for row in rows if row.outcome is Outcome.OK)


def _outcomes(rows: Iterable[Answered]) -> dict[str, int]:
    counts = {outcome.value: 0 for outcome in Outcome}
    for row in rows:
        counts[row.outcome.value] += 1
    return counts


def _is_attributable(row: Answered) -> bool:
    return row.mode == "cot" and row.verdict == "wrong"


def _without_stale_cause(row: Answered) -> Answered:
    """An answer that another judge no longer finds wrong has no cause."""
    if not row.cause_by or _is_attributable(row):
        return row
    return msgspec.structs.replace(row, cause=None, cause_by="", cause_text="")


def attribute_run(
    folder: AnyPath,
    run: ExamRun,
    paper: Paper,
    rows: Sequence[Answered],
    spec: str,
    asked: Chat,
) -> tuple[ExamRun, list[Answered]]:
    """Have a model name the sub-cause of every wrong chain of thought; it sees the pictures, unless
    it is blind."""
    if not isinstance(paper, ExamPaper):
        raise UsageError(f"sub-causes are those of ReactBench's tasks; {paper.name} has none")
    folder = Path(folder)
    images = None if spec.startswith("blind:") else paper.images
    before = usage_of(asked)
    with answers.locked(folder):
        try:
            found = causes.attribute(paper.exam, rows, asked, spec, images=images)
        except JudgeDown as problem:
            hint = "" if images is None else f"; if it reads no pictures, name it as blind:{spec}"
            raise UsageError(f"{problem}{hint}") from None
        by_item = {each.item_id: each for each in found}
        rows = [
            msgspec.structs.replace(
                row,
                cause=by_item[row.item_id].cause,
                cause_by=spec,
                cause_text=by_item[row.item_id].text,
            )
            if _is_attributable(row)
            else row
            for row in rows
        ]
        marker = Marker(
            name=spec,
            prompt_hash=causes.prompt_hash(),
            server=server_of(asked),
        )
        marker = _with_cost(marker, usage_of(asked) - before)
        answers.replace_answers(folder, rows)
        run = msgspec.structs.replace(run, attributed=marker)
        write_run(folder, run)
    return run, list(rows)


def score_run(
    folder: AnyPath,
    run: ExamRun,
    paper: Paper,
    rows: Sequence[Answered],
    *,
    bootstrap: int,
    seed: int,
) -> tuple[Scored, Summary]:
    """Score judged answers and write summary.json and cases.parquet."""
    scored = paper.score(rows, run.modes)
    summary = summarise(scored, bootstrap=bootstrap, seed=seed, data=paper.hashes)
    warnings = run.judged.warnings if run.judged else ()
    summary = msgspec.structs.replace(summary, notes=(*summary.notes, *warnings))
    write_results(folder, scored, summary)
    return scored, summary


def correct_run(
    folder: AnyPath,
    run: ExamRun,
    paper: Paper,
    rows: Sequence[Answered],
    scored: Scored,
    card: JudgeCard,
    *,
    bootstrap: int,
    seed: int,
) -> dict[str, dict[str, Estimate]]:
    """Scores corrected for the judge's error, by its card; also written to corrected.json."""
    if not isinstance(paper, ExamPaper) or run.judged is None:
        raise UsageError(f"{paper.name} is read by rule; there is no judge to correct for")
    marker = run.judged
    if (card.judge, card.prompt_hash) != (marker.name, marker.prompt_hash):
        raise UsageError(
            f"the card is about the judge {card.judge} (prompts {card.prompt_hash[:12] or 'none'}),"
            f" and {folder} was judged by {marker.name} ({marker.prompt_hash[:12] or 'none'}); "
            "make a card of that one with groundfault judge-card"
        )
    found = corrected_scores(
        scored.contributions,
        _judged_counts(paper, rows, marker.name),
        scored.case,
        {name: member for name, member in scored.rows.items() if name != CONTROL},
        card,
        resamples=bootstrap,
        seed=seed,
    )
    write_json(Path(folder) / "corrected.json", {"card": card, "rows": found})
    return found


def _judged_counts(paper: ExamPaper, rows: Iterable[Answered], judge: str) -> Floats:
    """(samples, modes × tasks) short answers in words that a judge decided about."""
    samples = paper.samples
    place = {sample: k for k, sample in enumerate(samples)}
    asked = {question.id: question for question in paper.exam.questions}
    counts = np.zeros((len(samples), len(metric.MODES), len(metric.TASKS)))
    for row in rows:
        question = asked[row.item_id]
        sample = samples[question.sample_id]
        decided = row.judge == judge and row.verdict != "unjudged"
        if decided and is_judged_in_words(sample, question):
            mode, task = metric.MODES.index(row.mode), metric.TASKS.index(sample.task)
            counts[place[sample.id], mode, task] += 1
    return counts.reshape(len(samples), -1)


def distribution_of(paper: ExamPaper, rows: Iterable[Answered]) -> causes.Distribution:
    """Task → label → how many wrong chains of thought were attributed to it."""
    samples = paper.samples
    task = {q.id: samples[q.sample_id].task for q in paper.exam.questions}
    return causes.distribution(
        causes.Attributed(row.item_id, task[row.item_id], row.cause) for row in rows if row.cause_by
    )
