"""Folders that groundfault wrote: benchmarks, exams and scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from groundfault.errors import GroundfaultError
from groundfault.io.inspection.benchmarks import describe
from groundfault.io.inspection.report import Draft, Report
from groundfault.io.results import read_results
from groundfault.registry import load

__all__ = [
    "exam_files",
    "inspect_benchmark_folder",
    "inspect_exam",
    "inspect_native_exam",
    "inspect_scores",
]


def exam_files() -> tuple[str, ...]:
    """What an exam's native files are called."""
    return tuple(f"{task}.json" for task in load("benchmarks", "reactbench").LAYOUT)


def inspect_benchmark_folder(path: Path) -> Report:
    """Everything that reading checks, and then each mask and image."""
    draft, folder = Draft(path, "folder"), load("benchmarks", "folder")
    try:
        benchmark = folder.read(path)
    except GroundfaultError as problem:
        draft.add_refusal(problem)
        return draft.report()
    describe(draft, benchmark)
    images = path / folder.IMAGES
    draft.counts["images included"] = int(images.is_dir())
    if images.is_dir():
        for name, item_id in {item.image: item.id for item in reversed(benchmark.items)}.items():
            if not (images / name).is_file():
                draft.add("an image is missing", f"item {item_id}: {name}")
    return draft.report()


def inspect_exam(path: Path) -> Report:
    """Everything that reading checks: rows, pictures, content hash."""
    draft, reactbench = Draft(path, "exam"), load("benchmarks", "reactbench")
    try:
        benchmark = reactbench.read(path)
    except GroundfaultError as problem:
        draft.add_refusal(problem)
        return draft.report()
    _describe_exam(draft, *reactbench.rows_of(benchmark))
    for note in benchmark.notes:
        draft.add_other("info", note, benchmark.card.name, "nothing to do")
    return draft.report()


def inspect_native_exam(path: Path) -> Report:
    """The files of all tasks in a folder, or one of them; pictures are elsewhere."""
    draft = Draft(path, "native exam")
    try:
        _describe_exam(draft, *load("benchmarks", "reactbench").read_native(path))
    except GroundfaultError as problem:
        draft.add_refusal(problem)
    return draft.report()


def _describe_exam(draft: Draft, samples: Sequence[Any], questions: Sequence[Any]) -> None:
    draft.counts |= {
        "samples": len(samples),
        "images": sum(len(sample.images) for sample in samples),
        "questions": len(questions),
    }
    for sample in samples:
        draft.saw_value("image height_px", sample.height_px)
        draft.saw_value("image width_px", sample.width_px)
    task_of = {sample.id: sample.task for sample in samples}
    for task, n in Counter(task_of.values()).items():
        draft.count(f"samples of {task}", n)
    for question in questions:
        draft.count(f"{question.type} questions of {task_of[question.sample_id]}")


def inspect_scores(path: Path) -> Report:
    """summary.json and cases.parquet of one run."""
    draft = Draft(path, "scores")
    try:
        summary, table = read_results(path)
    except GroundfaultError as problem:
        draft.add_refusal(problem)
        return draft.report()
    draft.counts = {f"cases in row {name}": row.n_cases for name, row in summary.rows.items()}
    draft.counts |= {f"{outcome} items": n for outcome, n in summary.outcomes.items()}
    draft.saw_fields(f"settings of {summary.benchmark}", summary.settings)
    draft.saw_fields("cases.parquet", dict.fromkeys(table.column_names))
    stored = len(table.column("case").unique()) if "case" in table.column_names else 0
    overall = summary.rows["Overall"].n_cases if "Overall" in summary.rows else 0
    if overall != stored:
        draft.add(
            "summary.json and cases.parquet do not belong together",
            f"{overall} cases there, {stored} here",
        )
    failed = summary.outcomes.get("failed", 0)
    if failed:
        draft.add("items failed and are not in the scores", f"{failed} items")
    for note in summary.notes:
        draft.add_other("info", note, summary.benchmark, "nothing to do")
    return draft.report()
