"""The exam folder: what goes in comes out, and nothing unsound gets in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from groundfault.benchmarks import reactbench
from groundfault.benchmarks.reactbench import LAYOUT, Question, Sample
from groundfault.errors import DataError, UsageError

COUNT = 9
FACTS: dict[str, dict[str, str]] = {
    "erasure": {"erased": "mug", "relation": "on", "kept": "table"},
    "attribute": {"object": "apple", "usual": "red", "shown": "blue"},
    "tracing": {"operation": "move", "object": "cat", "location": "the left"},
    "counting": {"object": "duck", "count": str(COUNT)},
}


def sample(task: Any) -> Sample:
    names = (f"{task}-1.png", f"{task}-2.png") if task == "tracing" else (f"{task}.png",)
    return Sample(id=task, task=task, images=names, height_px=8, width_px=6, facts=FACTS[task])


def question(task: Any, number: int, type_: Any, dimension: Any) -> Question:
    interval = dimension == "interval"
    options: tuple[str, ...] = ()
    answer = "There is “none” — ü"
    if type_ == "YN":
        answer = "yes"
    elif type_ == "MC":
        answer = "B"
        options = ("a mug", "nothing")
        if task == "counting":
            options = ("1-4", "5-9") if interval else ("8", "9")
    elif task == "counting":
        answer = "7-12" if interval else "9"
    polarity: Any = ""
    if type_ == "YN":
        polarity = "negated" if number % 2 == 0 else "affirmed"
    return Question(
        id=f"{task}:Q{number}",
        sample_id=task,
        number=number,
        type=type_,
        dimension=dimension,
        text=f"Question {number}?",
        options=options,
        answer=answer,
        rubric="Right: this. Wrong: that." if type_ == "SA" else "",
        polarity=polarity,
    )


SAMPLES = [sample(task) for task in LAYOUT]
QUESTIONS = [
    question(task, number, *slot)
    for task, layout in LAYOUT.items()
    for number, slot in enumerate(layout, start=1)
]
PICTURES: dict[str, bytes | Path] = {name: name.encode() for one in SAMPLES for name in one.images}


@pytest.fixture
def exam(tmp_path: Path) -> Path:
    reactbench.write_exam(tmp_path / "exam", SAMPLES, QUESTIONS, PICTURES, notes=["a note"])
    return tmp_path / "exam"


def test_layout_is_the_papers() -> None:
    counts = {task: [t for t, _ in layout] for task, layout in LAYOUT.items()}
    assert [len(layout) for layout in LAYOUT.values()] == [12, 12, 12, 8]
    assert counts["erasure"] == counts["attribute"] == ["YN"] * 4 + ["SA"] * 4 + ["MC"] * 4
    assert counts["tracing"] == ["YN"] * 6 + ["SA"] * 3 + ["MC"] * 3
    assert counts["counting"] == ["YN"] * 4 + ["SA"] * 2 + ["MC"] * 2


def test_round_trip(exam: Path) -> None:
    read = reactbench.read(exam)
    assert reactbench.rows_of(read) == (SAMPLES, QUESTIONS)
    assert read.card.name == "reactbench" and read.notes == ("a note",)
    assert json.loads((exam / "exam.json").read_text())["counts"] == {
        "samples": 4, "questions": 44, "images": 5,
        "erasure": 1, "attribute": 1, "tracing": 1, "counting": 1,
    }  # fmt: skip
    assert (exam / "images" / "tracing-2.png").read_bytes() == b"tracing-2.png"


def test_pictures_from_files(exam: Path, tmp_path: Path) -> None:
    files: dict[str, bytes | Path] = {name: exam / "images" / name for name in PICTURES}
    again = reactbench.write_exam(tmp_path / "again", SAMPLES, QUESTIONS, files, notes=["other"])
    assert again.card.content_hash == reactbench.read(exam).card.content_hash
    with pytest.raises(UsageError, match=r"no picture was given for counting\.png"):
        few = {name: content for name, content in PICTURES.items() if name != "counting.png"}
        reactbench.write_exam(tmp_path / "few", SAMPLES, QUESTIONS, few)
    files["erasure.png"] = tmp_path / "absent.png"
    with pytest.raises(UsageError, match="no such picture"):
        reactbench.write_exam(tmp_path / "few", SAMPLES, QUESTIONS, files)
    assert not (tmp_path / "few").exists()
    with pytest.raises(UsageError, match="not an empty folder"):
        reactbench.write_exam(exam, SAMPLES, QUESTIONS, PICTURES)


def changed(index: int, **fields: Any) -> Callable[[list[Any]], list[Any]]:
    def change(rows: list[Any]) -> list[Any]:
        rows = list(rows)
        rows[index] = msgspec.structs.replace(rows[index], **fields)
        return rows

    return change


def at(task: str, number: int) -> int:
    return next(k for k, q in enumerate(QUESTIONS) if q.sample_id == task and q.number == number)


BAD_SAMPLES = {
    "it occurs twice": lambda rows: [*rows, rows[0]],
    "tracing has 2 pictures": changed(2, images=("tracing-1.png",)),
    "not a plain file name": changed(0, images=("../secret.png",)),
    "not a plain file name ": changed(0, images=("/etc/passwd",)),
    "not a plain file name  ": changed(0, images=("..\\secret.png",)),
    "not a plain file name   ": changed(0, images=("C:secret.png",)),
    "not a plain file name    ": changed(0, images=("..",)),
    "not a plain file name     ": changed(0, images=("a\0b",)),
    "every image needs its own": changed(0, images=("counting.png",)),
    "pixels": changed(0, height_px=0),
    "do not give 'kept'": changed(0, facts={"erased": "mug", "relation": "on"}),
    "no whole number": changed(3, facts={"object": "duck", "count": "many"}),
}
BAD_QUESTIONS = {
    "it occurs twice": lambda rows: [*rows, rows[-1]],
    "no sample 'nobody'": changed(0, sample_id="nobody"),
    "it has 7 questions; counting has 8": lambda rows: rows[:-1],
    "it has 13 questions": lambda rows: [
        *rows[:12], msgspec.structs.replace(rows[11], id="x", number=13), *rows[12:],
    ],
    "where erasure has Q1, YN, direct": lambda rows: rows[1:],
    "where erasure has Q2": changed(1, dimension="direct"),
    "the order of the samples": lambda rows: rows[12:] + rows[:12],
    "it asks nothing": changed(0, text=" "),
    "neither yes nor no": changed(0, answer="Yes"),
    "have a polarity": changed(0, polarity=""),
    "have a rubric": changed(at("erasure", 5), rubric=""),
    "no answer": changed(at("erasure", 5), answer=""),
    "have options": changed(at("erasure", 9), options=()),
    "1 options": changed(at("erasure", 9), options=("a",)),
    "two of its options": changed(at("erasure", 9), options=("Nothing", "nothing")),
    "options is empty": changed(at("erasure", 9), options=("Nothing", "")),
    "letter of no option": changed(at("erasure", 9), answer="C"),
    "Q2 of tracing is negated": changed(at("tracing", 2), polarity="affirmed"),
    "10 misses the count, 9": changed(at("counting", 5), answer="10"),
    "'9-9' is no number|'8-9' is no number": changed(at("counting", 5), answer="8-9"),
    "more than 6 numbers": changed(at("counting", 6), answer="6-12"),
    "is no range": changed(at("counting", 6), answer="12-7"),
    "1-2 misses the count": changed(at("counting", 6), answer="1-2"),
    "8 misses the count": changed(at("counting", 7), answer="A"),
    "8-10 also holds": changed(at("counting", 8), options=("8-10", "5-9")),
}  # fmt: skip


@pytest.mark.parametrize("problem", BAD_SAMPLES)
def test_bad_samples_are_refused(problem: str, exam: Path, tmp_path: Path) -> None:
    rows: list[Any] = BAD_SAMPLES[problem](SAMPLES)
    with pytest.raises(DataError, match=problem.strip()) as writing:
        reactbench.write_exam(tmp_path / "bad", rows, QUESTIONS, PICTURES)
    assert not (tmp_path / "bad").exists()
    reactbench._write_rows(exam / "samples.parquet", reactbench._sample_schema(), rows)
    with pytest.raises(DataError, match=problem.strip()) as reading:
        reactbench.read(exam)
    for raised in (writing.value, reading.value):
        assert raised.record and raised.remedy and "samples.parquet" in raised.file


@pytest.mark.parametrize("problem", BAD_QUESTIONS)
def test_bad_questions_are_refused(problem: str, exam: Path, tmp_path: Path) -> None:
    rows: list[Any] = BAD_QUESTIONS[problem](QUESTIONS)
    with pytest.raises(DataError, match=problem):
        reactbench.write_exam(tmp_path / "bad", SAMPLES, rows, PICTURES)
    reactbench._write_rows(exam / "questions.parquet", reactbench._question_schema(), rows)
    with pytest.raises(DataError, match=problem) as reading:
        reactbench.read(exam)
    assert reading.value.record and "questions.parquet" in reading.value.file


def test_a_changed_folder_is_refused(exam: Path) -> None:
    picture = exam / "images" / "erasure.png"
    content = picture.read_bytes()
    picture.write_bytes(b"another picture")
    with pytest.raises(DataError, match="other content"):
        reactbench.read(exam)
    picture.unlink()
    with pytest.raises(DataError, match=r"images/erasure\.png is missing"):
        reactbench.read(exam)
    picture.symlink_to("/dev/null")
    with pytest.raises(DataError, match="leads outside"):
        reactbench.read(exam)
    picture.unlink()
    picture.write_bytes(content)
    reactbench.read(exam)
    rows = [msgspec.structs.replace(QUESTIONS[0], text="Another?"), *QUESTIONS[1:]]
    reactbench._write_rows(exam / "questions.parquet", reactbench._question_schema(), rows)
    with pytest.raises(DataError, match="other content"):
        reactbench.read(exam)


@pytest.mark.parametrize(
    ("card", "problem"),
    [
        ({"format": "groundfault benchmark"}, "of format 'groundfault benchmark'"),
        ({"name": "cafe"}, "it is 'cafe'"),
        ({"version": 2}, "format version 2"),
        ({"counts": "many"}, "Expected"),
    ],
)
def test_other_cards_are_refused(exam: Path, card: dict[str, Any], problem: str) -> None:
    path = exam / "exam.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | card))
    with pytest.raises(DataError, match=problem):
        reactbench.read(exam)


def test_damaged_tables_are_refused(exam: Path, tmp_path: Path) -> None:
    path = exam / "samples.parquet"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="not a readable table"):
        reactbench.read(exam)
    pq.write_table(pa.table({"id": ["x"]}), path)
    with pytest.raises(DataError, match="columns are not those"):
        reactbench.read(exam)
    table = pq.read_table(pa.BufferReader(whole))
    unknown = pa.array(["sorting"] * 4)
    pq.write_table(table.set_column(1, "task", unknown), path)
    with pytest.raises(DataError, match=r"Invalid enum value 'sorting'.*row 0|row 0.*sorting"):
        reactbench.read(exam)
    pq.write_table(table.set_column(5, "facts", pa.nulls(4, table.schema[5].type)), path)
    with pytest.raises(DataError, match="row 0"):
        reactbench.read(exam)
    path.unlink()
    with pytest.raises(UsageError, match="no such file"):
        reactbench.read(exam)
    with pytest.raises(UsageError, match=r"no exam\.json"):
        reactbench.read(tmp_path)
