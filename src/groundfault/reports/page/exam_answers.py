"""What a chapter in words is made of: the questions, and what every run answered to them.

Answers are in the run folders, questions and pictures where the benchmark is. Where that is gone,
the summary still gives the tables; what needs single answers is left out, and the page says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from groundfault.errors import GroundfaultError
from groundfault.judges import by_item
from groundfault.judges.causes import LABELS
from groundfault.records import Benchmark, Prediction
from groundfault.reports.page.inputs import Chapter, RunData
from groundfault.runs.benchmark import read_again
from groundfault.runs.recorder import read_predictions

__all__ = ["Answers", "Material", "in_words", "is_exam_folder", "material_of"]

Answers = Mapping[tuple[str, str], Prediction]
"""By item and mode."""
HEADER = "exam.json"
AGAIN = "Give its folder, or that of its pictures, with --images to see questions and answers."


class Material(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The single answers of a chapter."""

    benchmark: Benchmark | None
    """What the runs were asked; None where it is not at hand."""
    answers: tuple[Answers, ...]
    """Of each run; empty where there is no benchmark."""
    notes: tuple[str, ...] = ()

    @property
    def images(self) -> Path | None:
        """The folder of the pictures."""
        return Path(self.benchmark.images) if self.benchmark and self.benchmark.images else None

    def predictions(self, k: int) -> list[Prediction]:
        """The answers of a run as scoring takes them."""
        return list(self.answers[k].values())

    def causes(self, k: int) -> dict[str, dict[str, int]]:
        """Task → label → number of wrong answers of a run; {} where none was attributed."""
        if self.benchmark is None or not any(row.cause_by for row in self.answers[k].values()):
            return {}
        task = {name: case.intervention for name, (case, _) in by_item(self.benchmark).items()}
        counts = {name: dict.fromkeys((*LABELS, "unparsed"), 0) for name in task.values()}
        for row in self.answers[k].values():
            if row.cause_by and row.item_id in task:
                counts[task[row.item_id]][row.cause or "unparsed"] += 1
        return {name: found for name, found in counts.items() if any(found.values())}


def in_words(run: RunData) -> bool:
    """Whether a run answered in words."""
    return run.protocol.answers == "words"


def is_exam_folder(folder: Path | None) -> bool:
    """Whether a folder holds an exam, as opposed to a benchmark of masks."""
    return folder is not None and (folder / HEADER).is_file()


def material_of(chapter: Chapter, images_from: Path | None = None) -> Material:
    """Read the benchmark of a chapter once, and the answers of all its runs; `images_from` is the
    exam's folder, or where the pictures are, if not where they were."""
    made = next((run.run for run in chapter.runs if run.run is not None), None)
    nothing: tuple[Answers, ...] = tuple({} for _ in chapter.runs)
    if made is None:
        note = f"No single answers: these runs do not say where their exam is. {AGAIN}"
        return Material(benchmark=None, answers=nothing, notes=(note,))
    exam = images_from if is_exam_folder(images_from) else None
    try:
        found = read_again(made, data=exam, images=None if exam else images_from)
    except GroundfaultError as problem:
        if exam is not None:  # which somebody has named
            raise
        note = f"No single answers: {problem}. {AGAIN}"
        return Material(benchmark=None, answers=nothing, notes=(note,))
    notes: list[str] = []
    answers = tuple(_answers(run, found, notes) for run in chapter.runs)
    return Material(benchmark=found, answers=answers, notes=tuple(notes))


def _answers(run: RunData, benchmark: Benchmark, notes: list[str]) -> Answers:
    asked = {item.id for item in benchmark.items}
    try:
        rows = [row for row in read_predictions(run.folder) if row.item_id in asked]
    except GroundfaultError as problem:
        notes.append(f"Answers of {run.name} are not shown: {problem}")
        return {}
    if not rows:
        notes.append(f"{run.name} stores scores only: its answers cannot be shown.")
    return {row.key: row for row in rows}
