"""Stored predictions in words graded, attributed to sub-causes, and scored; no model is asked its
questions again.

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
from groundfault.interfaces import ChatModel, Checkpointed
from groundfault.io.store import locked, write_json
from groundfault.judges import AnswerJudge, by_item, causes, expected, grade, is_judged_in_words
from groundfault.judges.card import Canaried, JudgeCard, corrected_scores
from groundfault.judges.llm import JudgeDown, LlmJudge
from groundfault.judges.reader import LlmReader, read_unread
from groundfault.judges.rule import RuleJudge
from groundfault.llm.client import ChatClient
from groundfault.llm.cost import Usage
from groundfault.metrics import exam as metric
from groundfault.protocols.exam import CONTROL
from groundfault.protocols.scored import Scored
from groundfault.records import MODES, Benchmark, Estimate, Outcome, Prediction, Summary
from groundfault.runs.recorder import read_predictions, replace_predictions
from groundfault.runs.run import RUN, Grader, Run, read_run, write_run
from groundfault.runs.shards import shards

if TYPE_CHECKING:
    from groundfault.protocols.scored import Floats

__all__ = [
    "ModelJudge",
    "attribute_run",
    "correct_run",
    "distribution_of",
    "grade_run",
    "kept_predictions",
    "n_judged",
    "read_run_again",
    "read_run_in_words",
    "score_graded",
]

AnyPath = str | PathLike[str]
NOTHING = Usage(0, 0.0)


class ModelJudge:
    """A model that judges; canaries, and only they, are always asked anew."""

    def __init__(self, spec: str, model: ChatModel, anew: ChatModel) -> None:
        self.spec, self.model, self.anew = spec, model, anew
        self.judge = LlmJudge(model, spec)

    def canaried(self) -> Canaried:
        """The judge with canaries."""
        return Canaried(self.judge, anew=LlmJudge(self.anew, self.spec))

    @property
    def usage(self) -> Usage:
        """Of all judgements so far, canaries included."""
        return usage_of(self.model) + usage_of(self.anew)

    def grader(self, canaried: Canaried | None = None) -> Grader:
        """What a run notes about it."""
        found = Grader(
            name=self.judge.name,
            prompt_hash=self.judge.prompt_hash,
            server=server_of(self.model),
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


def usage_of(model: ChatModel) -> Usage:
    """What a model's replies took so far; one in this process takes nothing."""
    return model.cost.usage if isinstance(model, ChatClient) else NOTHING


def server_of(model: ChatModel) -> str:
    """Where a model is, or which checkpoints it is made of."""
    if isinstance(model, ChatClient):
        return model.server.url
    return "+".join(model.checkpoints) if isinstance(model, Checkpointed) else ""


def read_run_in_words(folder: AnyPath) -> Run:
    """The run.json of a run that was asked in words."""
    folder = Path(folder)
    if not (folder / RUN).is_file():
        raise UsageError(f"{folder}: is no run: it has no {RUN}")
    run = read_run(folder)
    if not run.modes or not shards(folder):
        raise UsageError(f"{folder}: holds no answers in words; give a run of an exam")
    if run.state == "running":
        raise UsageError(f"{folder}: was cut short; run its eval command again, then judge it")
    if run.outcomes["failed"] == run.n_items:
        raise UsageError(f"{folder}: not one question was answered; run its eval command again")
    return run


def kept_predictions(folder: AnyPath, run: Run, benchmark: Benchmark) -> list[Prediction]:
    """The predictions of a run to what it was last asked, in the order of the questions."""
    place: dict[tuple[str, str], int] = {
        key: k
        for k, key in enumerate((item.id, mode) for item in benchmark.items for mode in run.modes)
    }
    found = [each for each in read_predictions(folder) if each.key in place]
    return sorted(found, key=lambda each: place[each.key])


def n_judged(benchmark: Benchmark, n_modes: int) -> int:
    """Answers that a judge decides about, at most."""
    return n_modes * sum(is_judged_in_words(*found) for found in by_item(benchmark).values())


def grade_run(
    folder: AnyPath,
    run: Run,
    benchmark: Benchmark,
    judge: ModelJudge | AnswerJudge | None = None,
) -> tuple[Run, list[Prediction]]:
    """Give every stored answer its verdict, by rule or by a judge, and note who gave it.

    A model that has judged all of them before is not asked again.
    """
    folder = Path(folder)
    with locked(folder):
        kept = kept_predictions(folder, run, benchmark)
        if isinstance(judge, ModelJudge):
            if _is_graded_by(judge, run, kept):
                return run, kept
            graded, grader = _graded_by(judge, benchmark, kept)
        else:
            judge = judge or RuleJudge()
            graded = grade(benchmark, kept, judge)
            grader = Grader(name=judge.name, cost=0.0)
        graded = [_without_stale_cause(each) for each in graded]
        replace_predictions(folder, graded)
        run = msgspec.structs.replace(run, judged=grader, read=None, outcomes=_outcomes(graded))
        write_run(folder, run)
    return run, graded


def _graded_by(
    judge: ModelJudge, benchmark: Benchmark, predictions: Iterable[Prediction]
) -> tuple[list[Prediction], Grader]:
    canaried, before = judge.canaried(), judge.usage
    graded = grade(benchmark, predictions, canaried)
    grader = _with_cost(judge.grader(canaried), judge.usage - before)
    unjudged = sum(each.verdict == "unjudged" for each in graded)
    return graded, msgspec.structs.replace(grader, unjudged=unjudged)


def _with_cost(grader: Grader, usage: Usage) -> Grader:
    return msgspec.structs.replace(grader, tokens=usage.tokens, cost=usage.cost)


def _is_graded_by(judge: ModelJudge, run: Run, predictions: Sequence[Prediction]) -> bool:
    now, before = judge.grader(), run.judged
    if before is None or now.name != before.name or now.server != before.server:
        return False
    fresh = isinstance(judge.model, ChatClient) and judge.model.fresh
    if now.prompt_hash != before.prompt_hash or fresh:
        return False
    return all(each.verdict is not None for each in predictions if each.outcome is Outcome.OK)


def _outcomes(predictions: Iterable[Prediction]) -> dict[str, int]:
    counts = {outcome.value: 0 for outcome in Outcome}
    for each in predictions:
        counts[each.outcome.value] += 1
    return counts


def _is_attributable(prediction: Prediction) -> bool:
    return prediction.mode == "cot" and prediction.verdict == "wrong"


def _without_stale_cause(prediction: Prediction) -> Prediction:
    """An answer that another judge no longer finds wrong has no cause."""
    if not prediction.cause_by or _is_attributable(prediction):
        return prediction
    return msgspec.structs.replace(prediction, cause=None, cause_by="", cause_text="")


def read_run_again(
    folder: AnyPath,
    run: Run,
    benchmark: Benchmark,
    predictions: Sequence[Prediction],
    reader: LlmReader,
) -> tuple[Run, list[Prediction]]:
    """Have a model read the answers that the rules left unread; what it reads is marked by rule."""
    folder, before = Path(folder), usage_of(reader.chat)
    with locked(folder):
        found = read_unread(benchmark, predictions, reader)
        grader = Grader(
            name=reader.name, prompt_hash=reader.prompt_hash, server=server_of(reader.chat)
        )
        grader = _with_cost(grader, usage_of(reader.chat) - before)
        replace_predictions(folder, found)
        run = msgspec.structs.replace(run, read=grader, outcomes=_outcomes(found))
        write_run(folder, run)
    return run, found


def attribute_run(
    folder: AnyPath,
    run: Run,
    benchmark: Benchmark,
    predictions: Sequence[Prediction],
    spec: str,
    model: ChatModel,
) -> tuple[Run, list[Prediction]]:
    """Have a model name the sub-cause of every wrong chain of thought; it sees the pictures, unless
    it is blind."""
    _check_has_causes(benchmark)
    folder = Path(folder)
    images = None if spec.startswith("blind:") else benchmark.images
    before = usage_of(model)
    with locked(folder):
        try:
            found = causes.attribute(benchmark, predictions, model, spec, images=images)
        except JudgeDown as problem:
            hint = "" if images is None else f"; if it reads no pictures, name it as blind:{spec}"
            raise UsageError(f"{problem}{hint}") from None
        by_id = {each.item_id: each for each in found}
        attributed = [
            msgspec.structs.replace(
                each,
                cause=by_id[each.item_id].cause,
                cause_by=spec,
                cause_text=by_id[each.item_id].text,
            )
            if _is_attributable(each)
            else each
            for each in predictions
        ]
        grader = Grader(name=spec, prompt_hash=causes.prompt_hash(), server=server_of(model))
        grader = _with_cost(grader, usage_of(model) - before)
        replace_predictions(folder, attributed)
        run = msgspec.structs.replace(run, attributed=grader)
        write_run(folder, run)
    return run, attributed


def _check_has_causes(benchmark: Benchmark) -> None:
    if any(case.intervention not in causes.CAUSES for case in benchmark.cases):
        raise UsageError(
            f"sub-causes are those of ReactBench's tasks; {benchmark.card.name} has none"
        )


def score_graded(
    folder: AnyPath,
    run: Run,
    benchmark: Benchmark,
    scored: Scored,
    *,
    bootstrap: int,
    seed: int,
    hashes: dict[str, str],
) -> Summary:
    """Summarise scored answers and write summary.json and cases.parquet."""
    summary = summarise(scored, bootstrap=bootstrap, seed=seed, data=hashes)
    warnings = run.judged.warnings if run.judged else ()
    summary = msgspec.structs.replace(summary, notes=(*summary.notes, *warnings))
    write_results(folder, scored, summary)
    return summary


def correct_run(
    folder: AnyPath,
    run: Run,
    benchmark: Benchmark,
    predictions: Sequence[Prediction],
    scored: Scored,
    card: JudgeCard,
    *,
    bootstrap: int,
    seed: int,
) -> dict[str, dict[str, Estimate]]:
    """Scores corrected for the judge's error, by its card; also written to corrected.json."""
    if not n_judged(benchmark, 1) or run.judged is None:
        raise UsageError(
            f"{benchmark.card.name} is parsed by rule; there is no judge to correct for"
        )
    grader = run.judged
    if (card.judge, card.prompt_hash) != (grader.name, grader.prompt_hash):
        raise UsageError(
            f"the card is about the judge {card.judge} (prompts {card.prompt_hash[:12] or 'none'}),"
            f" and {folder} was judged by {grader.name} ({grader.prompt_hash[:12] or 'none'}); "
            "make a card of that one with groundfault judge-card"
        )
    found = corrected_scores(
        scored.contributions,
        _judged_counts(benchmark, predictions, grader.name),
        scored.case,
        {name: member for name, member in scored.rows.items() if name != CONTROL},
        card,
        resamples=bootstrap,
        seed=seed,
    )
    write_json(Path(folder) / "corrected.json", {"card": card, "rows": found})
    return found


def _judged_counts(benchmark: Benchmark, predictions: Iterable[Prediction], judge: str) -> Floats:
    """(cases, modes × tasks) short answers in words that a judge decided about."""
    place = {case.id: k for k, case in enumerate(benchmark.cases)}
    known = by_item(benchmark)
    counts = np.zeros((len(place), len(MODES), len(metric.TASKS)))
    for each in predictions:
        case, item = known[each.item_id]
        decided = each.judge == judge and each.verdict != "unjudged"
        if decided and expected(item).type == "SA" and is_judged_in_words(case, item):
            mode, task = MODES.index(each.mode), metric.TASKS.index(case.intervention)
            counts[place[case.id], mode, task] += 1
    return counts.reshape(len(place), -1)


def distribution_of(benchmark: Benchmark, predictions: Iterable[Prediction]) -> causes.Distribution:
    """Task → label → how many wrong chains of thought were attributed to it."""
    task = {item_id: case.intervention for item_id, (case, _) in by_item(benchmark).items()}
    return causes.distribution(
        causes.Attributed(each.item_id, task[each.item_id], each.cause)
        for each in predictions
        if each.cause_by
    )
