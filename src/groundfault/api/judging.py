"""Judge stored answers again, and find out how far a judge can be trusted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import msgspec

from groundfault.api.evaluating import Evaluation
from groundfault.api.grading import Agree, load_graders, load_judge, load_reader
from groundfault.api.options import EvaluateOptions, Options
from groundfault.api.result import Result
from groundfault.errors import UsageError
from groundfault.judges.card import JudgeCard
from groundfault.judges.card import judge_card as make_card
from groundfault.judges.grading import ModelJudge, read_run_in_words
from groundfault.judges.labelled import Labelled, labelled_answers, read_labels
from groundfault.judges.reader import ReaderCard, read_labelled_texts
from groundfault.judges.reader import reader_card as make_reader_card
from groundfault.judges.rule import RuleJudge
from groundfault.reports.events import RunReporter
from groundfault.runs.benchmark import read_again

if TYPE_CHECKING:
    from groundfault.runs.run import Run

__all__ = ["judge", "judge_card", "reader_card"]

AnyPath = str | PathLike[str]


def _nobody(question: str, free: bool) -> None:
    """Nobody is asked: who calls from Python has agreed."""


def judge(
    runs: Sequence[AnyPath] | AnyPath,
    *,
    data: AnyPath | None = None,
    images: AnyPath | None = None,
    agree: Agree = _nobody,
    reporter: Callable[[str], RunReporter] | None = None,
    **options: Unpack[EvaluateOptions],
) -> dict[str, Result]:
    """Judge and score stored answers again, by name of the run; no model is asked its questions
    again. `data` is where the questions are, if not where they were."""
    folders = [Path(runs)] if isinstance(runs, (str, PathLike)) else [Path(run) for run in runs]
    made = Options.of(options).with_shared_budget()
    stored = {folder: read_run_in_words(folder) for folder in folders}
    asked = {folder: read_again(run, data=data, images=images) for folder, run in stored.items()}
    if len({run.content_hash for run in stored.values()}) > 1:
        raise UsageError("these runs are about different questions; judge them one by one")
    graders = load_graders(
        made, {str(f): (asked[f], run.modes) for f, run in stored.items()}, agree
    )
    found: dict[str, Result] = {}
    for folder, run in stored.items():
        limit = run.settings.get("limit")
        evaluation = Evaluation(
            asked[folder],
            msgspec.structs.replace(made, limit=limit if isinstance(limit, int) else None),
        )
        reports = reporter(run.model) if reporter else RunReporter(run.model, quiet=True)
        result = evaluation.grade(run, folder, graders, reports)
        reports.finished(result.run or run, folder, result.summary, result.more)
        found[_name(folder, run, found)] = result
    return found


def _name(folder: Path, run: Run, taken: dict[str, Result]) -> str:
    """The model's name, or the folder's where it is taken."""
    if run.model not in taken:
        return run.model
    return folder.resolve().name if folder.resolve().name not in taken else str(folder)


def judge_card(
    labels: AnyPath,
    *,
    exam: AnyPath | None = None,
    n_labels: int | None = None,
    agree: Agree = _nobody,
    **options: Unpack[EvaluateOptions],
) -> JudgeCard:
    """A judge's agreement with labelled answers: JSON lines of {"item_id", "text", "verdict"} about
    the questions of `exam`, or an exam folder, from whose facts they are made; `n_labels` of them,
    spread evenly."""
    labelled, about = _labels(Path(labels), None if exam is None else Path(exam))
    if n_labels is not None and n_labels < len(labelled):
        labelled = [labelled[k * len(labelled) // n_labels] for k in range(n_labels)]
    made = Options.of(options).with_shared_budget()
    found = load_judge(made, len(labelled), agree)
    judges = found.judge if isinstance(found, ModelJudge) else found or RuleJudge()
    return make_card(judges, labelled, labels=about)


def reader_card(
    labels: AnyPath, *, agree: Agree = _nobody, **options: Unpack[EvaluateOptions]
) -> ReaderCard:
    """How often answers are read as they are meant, by rule and, with `reader`, where a model reads
    what the rules leave unread: JSON lines of {"kind", "text", "value"}."""
    from groundfault.io.foreign import sha256

    labelled = read_labelled_texts(labels)
    reader = load_reader(Options.of(options).with_shared_budget(), len(labelled), agree)
    about = f"{Path(labels).name}, {sha256(Path(labels))[:12]}"
    return make_reader_card(labelled, reader, labels=about)


def _labels(labels: Path, exam: Path | None) -> tuple[list[Labelled], str]:
    """Labelled answers, and where they come from."""
    from groundfault.io.foreign import sha256
    from groundfault.io.sources import load

    if labels.is_dir():
        made = list(labelled_answers(load(str(labels))))
        if not made:
            raise UsageError(
                f"{labels}: has no short answers in words, so there is no judge to try"
            )
        return made, f"made from the facts of {labels.name}"
    if exam is None:
        raise UsageError(f"{labels}: name the exam that these labels are about with --exam DIR")
    return read_labels(labels, load(str(exam))), f"{labels.name}, {sha256(labels)[:12]}"
