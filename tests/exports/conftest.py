"""A small exam, and POPE's files about some of its pictures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from groundfault.benchmarks import pope
from groundfault.benchmarks.reactbench import read
from groundfault.records import Benchmark
from groundfault.world.exams import build_exam


@pytest.fixture(scope="session")
def exam(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    """Every task has samples."""
    folder = tmp_path_factory.mktemp("exports") / "exam"
    built = build_exam(10, folder, size_px=128, layout="paper", workers=1)
    assert {case.intervention for case in built.cases} == {
        "erasure",
        "attribute",
        "tracing",
        "counting",
    }
    return read(folder)


@pytest.fixture(scope="session")
def pope_folder(exam: Benchmark, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve questions of two settings, about pictures of the exam."""
    folder = tmp_path_factory.mktemp("pope")
    pictures = sorted(path.name for path in Path(exam.images).iterdir())[:3]
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
    return folder


@pytest.fixture(scope="session")
def pope_benchmark(pope_folder: Path, exam: Benchmark) -> Benchmark:
    return pope.read(pope_folder, exam.images)
