"""What models say beside their masks, judged: does an answer to a false description name what is
there instead?

Only answers that reject the description with words are for the judge. Verdicts are kept with the
stored predictions, so a judge that is down, or another one later, costs no mask.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path

import msgspec

from groundfault.io.store import locked
from groundfault.judges import AnswerJudge, ShortAnswer, by_item
from groundfault.judges.grading import ModelJudge
from groundfault.records import Benchmark, Case, Item, Outcome, Prediction
from groundfault.runs.recorder import read_predictions, replace_predictions
from groundfault.runs.run import Grader, Run, write_run

__all__ = ["RUBRIC", "judge_run", "n_corrected"]

AnyPath = str | PathLike[str]

RUBRIC = (
    "The question describes something that is not in the picture; the reference describes what is "
    "there. The answer is right if it says or suggests, in any words, that what the reference "
    "describes is there; details of place or look may be left out as long as it is told from what "
    "the question describes. It is wrong if it only denies, names something else, or presents what "
    "the question describes as being there."
)


def n_corrected(benchmark: Benchmark) -> int:
    """Answers that a judge decides about, at most."""
    return sum(_has_correction(item) for item in benchmark.items)


def _has_correction(item: Item) -> bool:
    return item.answer is not None and not item.present


def judge_run(
    folder: AnyPath, run: Run, benchmark: Benchmark, judge: ModelJudge | AnswerJudge
) -> Run:
    """Give every correction of a run its verdict, and note who gave it. A model that has judged all
    of them before is not asked again."""
    folder = Path(folder)
    known = by_item(benchmark)
    with locked(folder):
        kept = [each for each in read_predictions(folder) if _is_correctable(each, known)]
        waiting = [each for each in kept if _is_for_a_judge(each)]
        if _is_judged_by(judge, run, waiting):
            return run
        if isinstance(judge, ModelJudge):
            canaried, before = judge.canaried(), judge.usage
            judged = _judged(waiting, known, canaried)
            spent = judge.usage - before
            grader = msgspec.structs.replace(
                judge.grader(canaried), tokens=spent.tokens, cost=spent.cost
            )
        else:
            judged, grader = _judged(waiting, known, judge), Grader(name=judge.name, cost=0.0)
        # what needs no verdict, a mask or silence, is noted as seen by the judge too
        seen = [msgspec.structs.replace(each, judge=grader.name, verdict=None) for each in kept]
        replace_predictions(folder, [*seen, *judged])
        unjudged = sum(each.verdict == "unjudged" for each in judged)
        noted = msgspec.structs.replace(
            grader, prompt_hash=_prompt_hash(grader.prompt_hash), unjudged=unjudged
        )
        run = msgspec.structs.replace(run, judged=noted)
        write_run(folder, run)
    return run


def _is_judged_by(
    judge: ModelJudge | AnswerJudge, run: Run, predictions: Sequence[Prediction]
) -> bool:
    """Whether a model has given all verdicts that there are; others cost nothing."""
    if not isinstance(judge, ModelJudge) or run.judged is None:
        return False
    now, before = judge.grader(), run.judged
    same = (now.name, now.server) == (before.name, before.server)
    same = same and before.prompt_hash == _prompt_hash(now.prompt_hash)
    return same and all(each.verdict is not None for each in predictions)


def _prompt_hash(of_judge: str) -> str:
    """Of all that a judge's prompts about corrections are made of."""
    return hashlib.sha256(f"{of_judge}\0{RUBRIC}".encode()).hexdigest()


def _is_correctable(prediction: Prediction, known: Mapping[str, tuple[Case, Item]]) -> bool:
    return prediction.item_id in known and _has_correction(known[prediction.item_id][1])


def _is_for_a_judge(prediction: Prediction) -> bool:
    return prediction.outcome is Outcome.ABSTAINED and bool(prediction.text.strip())


def _judged(
    predictions: Sequence[Prediction], known: Mapping[str, tuple[Case, Item]], judge: AnswerJudge
) -> list[Prediction]:
    answers = [ShortAnswer(*_shown(known[each.item_id]), each.text) for each in predictions]
    judgements = judge.judge_all(answers) if answers else ()
    return [
        msgspec.structs.replace(
            prediction,
            verdict=judgement.verdict or "unjudged",
            judge=judge.name,
            judge_text=judgement.refused or judgement.text,
        )
        for prediction, judgement in zip(predictions, judgements, strict=True)
    ]


def _shown(found: tuple[Case, Item]) -> tuple[Case, Item]:
    """A case and an item as a judge is shown them: with the rule for corrections."""
    case, item = found
    assert item.answer is not None  # asked only of such items
    return case, msgspec.structs.replace(
        item, answer=msgspec.structs.replace(item.answer, rubric=RUBRIC)
    )
