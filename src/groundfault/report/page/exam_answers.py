"""What a chapter about an exam is made of: the questions, and what every run answered to them.

Answers are in the run folders, questions and pictures in the exam's folder. Where that is gone,
the summary still gives the tables; what needs single answers is left out, and the page says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from groundfault.benchmarks import reactbench
from groundfault.benchmarks.reactbench import Exam
from groundfault.errors import GroundfaultError
from groundfault.judges.causes import LABELS
from groundfault.parsing.answers import Answered, Mode
from groundfault.report.page.inputs import Chapter, RunData
from groundfault.runs.answers import read_answers

__all__ = ["Answers", "ExamMaterial", "exam_material", "is_exam", "is_exam_folder"]

Answers = Mapping[tuple[str, Mode], Answered]
"""By item and mode."""
HEADER = "exam.json"


class ExamMaterial(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The single answers of a chapter."""

    exam: Exam | None
    """The samples that the runs are about; None where the folder is not at hand."""
    images: Path | None
    answers: tuple[Answers, ...]
    """Of each run; empty where there is no exam."""
    notes: tuple[str, ...] = ()

    def rows(self, k: int) -> list[Answered]:
        """The answers of a run as scoring takes them."""
        return list(self.answers[k].values())

    def causes(self, k: int) -> dict[str, dict[str, int]]:
        """Task → label → number of wrong answers of a run; {} where none was attributed."""
        if self.exam is None or not any(row.cause_by for row in self.answers[k].values()):
            return {}
        task = {sample.id: sample.task for sample in self.exam.samples}
        of_item = {question.id: task[question.sample_id] for question in self.exam.questions}
        counts = {name: dict.fromkeys((*LABELS, "unparsed"), 0) for name in task.values()}
        for row in self.answers[k].values():
            if row.cause_by and row.item_id in of_item:
                counts[of_item[row.item_id]][row.cause or "unparsed"] += 1
        return {name: found for name, found in counts.items() if any(found.values())}


def is_exam(run: RunData) -> bool:
    """Whether a run answered questions in words."""
    return run.protocol.name == "exam"


def is_exam_folder(folder: Path | None) -> bool:
    """Whether a folder holds an exam, as opposed to a benchmark of masks."""
    return folder is not None and (folder / HEADER).is_file()


def exam_material(chapter: Chapter, images_from: Path | None = None) -> ExamMaterial:
    """Read the exam of a chapter once, and the answers of all its runs."""
    notes: list[str] = []
    folder = images_from if is_exam_folder(images_from) else None
    exam, images = _exam(chapter.runs, folder, notes)
    answers = tuple(_answers(run, exam, notes) if exam else {} for run in chapter.runs)
    return ExamMaterial(exam=exam, images=images, answers=answers, notes=tuple(notes))


def _exam(
    runs: Sequence[RunData], given: Path | None, notes: list[str]
) -> tuple[Exam | None, Path | None]:
    """The exam's samples that the runs' cases name."""
    stored = [
        Path(run.run.benchmark_folder) for run in runs if run.run and run.run.benchmark_folder
    ]
    places = [given] if given else list(dict.fromkeys(stored))
    if not places:
        notes.append(
            "No single answers: these runs do not say where their exam is. Give its folder with "
            "--images to see questions, pictures and answers."
        )
        return None, None
    there = next((place for place in places if place.is_dir()), None)
    if there is None:
        notes.append(
            f"No single answers: the exam's folder {places[0]} is not there any more. Give it with "
            "--images."
        )
        return None, None
    try:
        exam = reactbench.read(there)
    except GroundfaultError as problem:
        if given:
            raise
        notes.append(f"No single answers: {problem}")
        return None, None
    expected = {run.run.content_hash for run in runs if run.run and run.run.content_hash}
    if expected and exam.card.content_hash not in expected:
        notes.append(f"No single answers: {there} holds another exam than these runs answered.")
        return None, None
    asked = set(runs[0].table.column("case_id").to_pylist())
    samples = tuple(sample for sample in exam.samples if sample.id in asked)
    questions = tuple(question for question in exam.questions if question.sample_id in asked)
    exam = Exam(card=exam.card, samples=samples, questions=questions)
    return exam, there / reactbench.IMAGES


def _answers(run: RunData, exam: Exam, notes: list[str]) -> Answers:
    asked = {question.id for question in exam.questions}
    try:
        rows = [row for row in read_answers(run.folder) if row.item_id in asked]
    except GroundfaultError as problem:
        notes.append(f"Answers of {run.name} are not shown: {problem}")
        return {}
    if not rows:
        notes.append(f"{run.name} stores scores only: its answers cannot be shown.")
    return {(row.item_id, row.mode): row for row in rows}
