"""A small exam, and POPE's files about some of its pictures."""

from __future__ import annotations

import json

import pytest
from groundfault.runner.exam_papers import ExamPaper, PopePaper, read_paper

from groundfault.world.exams import build_exam


@pytest.fixture(scope="session")
def paper(tmp_path_factory: pytest.TempPathFactory) -> ExamPaper:
    """Every task has samples."""
    folder = tmp_path_factory.mktemp("exports") / "exam"
    exam = build_exam(10, folder, size_px=128, workers=1)
    assert {sample.task for sample in exam.samples} == {
        "erasure",
        "attribute",
        "tracing",
        "counting",
    }
    return ExamPaper(folder)


@pytest.fixture(scope="session")
def pope_paper(paper: ExamPaper, tmp_path_factory: pytest.TempPathFactory) -> PopePaper:
    """Twelve questions of two settings."""
    folder = tmp_path_factory.mktemp("pope")
    pictures = sorted(path.name for path in paper.images.iterdir())[:3]
    for setting in ("random", "popular"):
        rows = [
            {
                "question_id": k,
                "image": pictures[k % 3],
                "text": f"Is there a {thing} in the image?",
                "label": "yes" if k % 2 else "no",
            }
            for k, thing in enumerate(("kite", "bus", "cup", "fork", "lamp", "dog"))
        ]
        lines = "\n".join(map(json.dumps, rows))
        (folder / f"coco_pope_{setting}.json").write_text(lines)
    found = read_paper(str(folder), images=paper.images)
    assert isinstance(found, PopePaper)
    return found
