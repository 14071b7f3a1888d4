"""Exam papers: what is asked in words, how its answers are judged, and how they are scored.

`read_paper` finds out what a folder holds: an exam (ReactBench's form) or POPE's own files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Protocol

import msgspec

from groundfault.benchmarks import pope, reactbench
from groundfault.errors import DataError, UsageError
from groundfault.judges import AnswerJudge, is_judged_in_words, judge_answers
from groundfault.judges.rule import RuleJudge
from groundfault.parsing.answers import Answered, Mode
from groundfault.protocols import exam as exam_scoring
from groundfault.protocols.scored import Scored
from groundfault.runner.prompts import Questionnaire, exam_questions, pope_questions

__all__ = ["ExamPaper", "Paper", "PopePaper", "holds_pope", "read_paper"]

AnyPath = str | PathLike[str]
BUILD = "groundfault world build --preset reactbench --out exam"


class Paper(Protocol):
    """A benchmark that is asked in words; `limit` has already been applied."""

    @property
    def name(self) -> str:
        """Of the benchmark."""
        ...

    @property
    def place(self) -> dict[str, object]:
        """Where it was read from, for a run to note: what `read_paper` takes."""
        ...

    @property
    def hashes(self) -> dict[str, str]:
        """Of its content; only runs with the same ones are compared."""
        ...

    def questions(self, modes: Sequence[Mode]) -> Questionnaire:
        """Everything that it asks."""
        ...

    def n_judged(self, modes: Sequence[Mode]) -> int:
        """Answers that a judge decides about, at most."""
        ...

    def judge(self, rows: Iterable[Answered], judge: AnswerJudge) -> list[Answered]:
        """The rows with their readings and verdicts."""
        ...

    def score(self, rows: Sequence[Answered], modes: Sequence[Mode]) -> Scored:
        """Score judged answers; what has none has failed."""
        ...


class ExamPaper:
    """An exam folder, or its first samples."""

    def __init__(self, folder: AnyPath, *, limit: int | None = None) -> None:
        self.folder, self.limit = Path(folder), limit
        whole = reactbench.read(folder)
        self.whole = limit is None or limit >= len(whole.samples)
        samples = whole.samples[:limit]
        kept = {sample.id for sample in samples}
        self.exam = msgspec.structs.replace(
            whole,
            samples=samples,
            questions=tuple(each for each in whole.questions if each.sample_id in kept),
        )

    name = reactbench.CARD.name

    @property
    def images(self) -> Path:
        """The folder of the pictures."""
        return self.folder / reactbench.IMAGES

    @property
    def place(self) -> dict[str, object]:
        return {"data": str(self.folder.resolve()), "limit": self.limit}

    @property
    def hashes(self) -> dict[str, str]:
        limit = {} if self.whole else {"limit": str(self.limit)}
        return {"benchmark": self.exam.card.content_hash} | limit

    def questions(self, modes: Sequence[Mode]) -> Questionnaire:
        return exam_questions(self.folder, modes, exam=self.exam)

    @property
    def samples(self) -> dict[str, reactbench.Sample]:
        """By id."""
        return {sample.id: sample for sample in self.exam.samples}

    def n_judged(self, modes: Sequence[Mode]) -> int:
        samples = self.samples
        asked = (is_judged_in_words(samples[q.sample_id], q) for q in self.exam.questions)
        return sum(asked) * len(modes)

    def judge(self, rows: Iterable[Answered], judge: AnswerJudge) -> list[Answered]:
        return judge_answers(self.exam, rows, judge)

    def score(self, rows: Sequence[Answered], modes: Sequence[Mode]) -> Scored:
        return exam_scoring.score(self.exam, rows)


class PopePaper:
    """POPE's files, or their first questions."""

    def __init__(
        self, files: Sequence[AnyPath], images: AnyPath, *, limit: int | None = None
    ) -> None:
        self.files, self.images, self.limit = [Path(file) for file in files], Path(images), limit
        whole = pope.read(*files)
        self.whole = limit is None or limit >= len(whole.questions)
        self.pope = msgspec.structs.replace(whole, questions=whole.questions[:limit])

    name = pope.CARD.name

    @property
    def place(self) -> dict[str, object]:
        folder = self.files[0] if len(self.files) == 1 else self.files[0].parent
        where = {"data": str(folder.resolve()), "images": str(self.images.resolve())}
        return {**where, "limit": self.limit}

    @property
    def hashes(self) -> dict[str, str]:
        limit = {} if self.whole else {"limit": str(self.limit)}
        return {"benchmark": self.pope.card.content_hash} | limit

    def questions(self, modes: Sequence[Mode]) -> Questionnaire:
        if len(modes) > 1:
            raise UsageError(
                "POPE is scored in one mode: give --mode std or --mode cot, and another --out for "
                "the other"
            )
        return pope_questions(self.pope, self.images, modes)

    def n_judged(self, modes: Sequence[Mode]) -> int:
        return 0

    def judge(self, rows: Iterable[Answered], judge: AnswerJudge) -> list[Answered]:
        if not isinstance(judge, RuleJudge):
            raise UsageError("POPE asks for yes or no, which needs no judge; leave --judge out")
        return pope.judge_answers(self.pope, rows)

    def score(self, rows: Sequence[Answered], modes: Sequence[Mode]) -> Scored:
        return pope.score(self.pope, rows, mode=modes[0])


def read_paper(
    name: str,
    *,
    data: AnyPath | None = None,
    images: AnyPath | None = None,
    limit: int | None = None,
) -> ExamPaper | PopePaper:
    """Read `reactbench` or `pope` from `data`, or the folder that `name` is."""
    folder = Path(data) if data is not None else Path(name)
    if data is None and not folder.is_dir():
        raise UsageError(_not_given(name))
    if (folder / reactbench.HEADER).is_file() and name != pope.CARD.name:
        if images is not None:
            raise UsageError("--images does not go with an exam folder, which has its own")
        return ExamPaper(folder, limit=limit)
    if name == reactbench.CARD.name:
        raise UsageError(f"{folder}: is no exam folder: it has no {reactbench.HEADER}")
    files = [folder] if folder.is_file() else _pope_files(folder)
    if images is None:
        raise UsageError(f"{folder}: POPE's questions are about COCO's pictures: give --images")
    if not Path(images).is_dir():
        raise UsageError(f"{images}: no such folder of pictures")
    return PopePaper(files, images, limit=limit)


def holds_pope(folder: AnyPath) -> bool:
    """Whether a folder has POPE's own files."""
    return any(_named_pope(Path(folder)))


def _named_pope(folder: Path) -> list[Path]:
    found = [folder.glob(f"*pope_{setting}.json") for setting in pope.SETTINGS]
    return [path for paths in found for path in sorted(paths)]


def _pope_files(folder: Path) -> list[Path]:
    files = _named_pope(folder)
    if not files:
        raise UsageError(f"{folder}: holds no coco_pope_random.json, …_popular, …_adversarial")
    families = sorted({path.stem.rpartition("_")[0] for path in files})
    if len(families) > 1:
        raise DataError(
            folder,
            f"it holds the questions of several sets ({', '.join(families)})",
            remedy="give a folder with the files of one, or one file",
        )
    return files


def _not_given(name: str) -> str:
    if name == reactbench.CARD.name:
        return (
            "reactbench: the paper's questions are not released, so there is nothing to fetch. "
            f"Build the embedded exam with `{BUILD}`, then `groundfault eval exam …`; or give "
            "another exam folder with --data DIR"
        )
    if name == pope.CARD.name:
        return (
            "pope: give its files with --data DIR (coco_pope_random.json, coco_pope_popular.json, "
            f"coco_pope_adversarial.json, from {pope.CARD.source}) and COCO's val2014 pictures "
            "with --images DIR"
        )
    return f"{name}: no such folder"
