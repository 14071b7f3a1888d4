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

from groundfault.analysis.exam import hallucination_rates
from groundfault.analysis.summary import summarise
from groundfault.benchmarks import reactbench
from groundfault.benchmarks.reactbench import LAYOUT, Question, Sample
from groundfault.errors import DataError, UsageError
from groundfault.io.convert import read_any
from groundfault.protocols.exam import score
from groundfault.records import Outcome, Prediction
from groundfault.reports.exams import question_tables
from groundfault.runs.run import read_run

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


# Two wordings of Q1, any attribute, any width, native files.


def with_both_wordings() -> list[Question]:
    first = QUESTIONS[at("erasure", 1)]
    second = msgspec.structs.replace(first, id="erasure:Q1b", text="Question 1, put otherwise?")
    return [first, second, *QUESTIONS[1:]]


def graded(items: Any, wrong: set[str]) -> list[Prediction]:
    return [
        Prediction(
            item_id=item.id,
            mode="std",
            outcome=Outcome.OK,
            parsed="x",
            verdict="wrong" if item.id in wrong else "right",
        )
        for item in items
    ]


def test_q1_may_be_asked_in_both_wordings_which_count_as_one_question(tmp_path: Path) -> None:
    exam = reactbench.write_exam(tmp_path / "e", SAMPLES, with_both_wordings(), PICTURES)
    assert reactbench.read(tmp_path / "e") == exam
    labels = list(reactbench.question_labels(exam.items).values())
    assert labels[:3] == ["Q1a", "Q1b", "Q2"] and labels[13:14] == ["Q1"]
    rows = graded(exam.items, {"erasure:Q1b"})
    summary = summarise(score(exam, rows), bootstrap=0, seed=0, data={})
    erasure = summary.rows["erasure"].metrics
    assert erasure["YN"].value == pytest.approx(3.5 / 4) and erasure["YN"].n == 4
    assert erasure["accuracy_std"].value == pytest.approx(11.5 / 12)
    rates = hallucination_rates(exam, rows)["erasure"]["std"]
    assert [rates[q].value for q in ("Q1a", "Q1b", "Q2")] == [0.0, 1.0, 0.0] and len(rates) == 13
    table = question_tables({"mine": hallucination_rates(exam, rows)})[0]
    assert table.columns[3:6] == ["Q1a", "Q1b", "Q2"]
    printed = next(row for row in table.rows if str(row[1]) == "Qwen3.5-9B" and row[2] == "std")
    assert printed[3:5] == ["29.0", "93.4"]  # Table 11


@pytest.mark.parametrize("place", [0, 5])
def test_other_questions_are_asked_once(tmp_path: Path, place: int) -> None:
    twice = msgspec.structs.replace(QUESTIONS[place + 12], id="again")
    asked = [*QUESTIONS[: place + 13], twice, *QUESTIONS[place + 13 :]]
    with pytest.raises(DataError, match="attribute has"):
        reactbench.write_exam(tmp_path / "e", SAMPLES, asked, PICTURES)


def test_options_of_counts_in_the_thousands_are_ranges_of_any_width(tmp_path: Path) -> None:
    facts = {"object": "duck", "count": "3000"}
    samples = [*SAMPLES[:3], msgspec.structs.replace(SAMPLES[3], facts=facts)]
    changes = {
        5: {"answer": "3000"},
        6: {"answer": "2998-3003"},
        7: {"options": ("2400", "3000"), "answer": "B"},
        8: {"options": ("2000-2499", "2500-2999", "3000-3499"), "answer": "C"},
    }
    asked = list(QUESTIONS)
    for number, fields in changes.items():
        k = at("counting", number)
        asked[k] = msgspec.structs.replace(asked[k], **fields)
    assert reactbench.write_exam(tmp_path / "e", samples, asked, PICTURES)
    asked[at("counting", 6)] = msgspec.structs.replace(asked[at("counting", 6)], answer="2900-3100")
    with pytest.raises(DataError, match="holds more than 6 numbers"):
        reactbench.write_exam(tmp_path / "f", samples, asked, PICTURES)


def test_attributes_are_of_any_type_in_six_directions(tmp_path: Path) -> None:
    samples, asked, pictures = list(SAMPLES), list(QUESTIONS), dict(PICTURES)
    for direction in (*reactbench.DIRECTIONS, ""):
        name = f"more-{direction}"
        facts = {"object": "rope", "attribute": "weave", "usual": "round", "shown": "flat"}
        facts |= {"direction": direction} if direction else {}
        samples.append(
            msgspec.structs.replace(sample("attribute"), id=name, images=(name,), facts=facts)
        )
        pictures[name] = name.encode()
        asked += [
            msgspec.structs.replace(each, id=f"{name}{each.number}", sample_id=name)
            for each in QUESTIONS[12:24]
        ]
    exam = reactbench.write_exam(tmp_path / "e", samples, asked, pictures)
    rows = score(exam, graded(exam.items, set())).rows
    assert [name for name in rows if name.startswith("attribute ")] == [
        f"attribute {direction}" for direction in reactbench.DIRECTIONS
    ]
    odd = msgspec.structs.replace(samples[-2], facts=samples[-2].facts | {"direction": "sideways"})
    with pytest.raises(DataError, match="its direction is 'sideways'; there are material, colour"):
        reactbench.write_exam(tmp_path / "f", [*samples[:-2], odd, samples[-1]], asked, pictures)


@pytest.fixture
def native(exam: Path, tmp_path: Path) -> Path:
    reactbench.write_native(reactbench.read(exam), tmp_path / "native")
    return tmp_path / "native"


@pytest.mark.parametrize("to", ["folder", "reactbench"])
def test_native_files_become_a_folder_that_is_evaluated(
    run: Callable[..., Any], exam: Path, native: Path, tmp_path: Path, to: str
) -> None:
    images, out = exam / "images", tmp_path / "made"
    ran = run("convert", native, "--to", to, "--images", images, "--out", out)
    assert ran.code == 0 and "4 cases, 44 items" in ran.out, ran.err
    assert "note:" not in ran.out, "the pictures are there"
    assert not read_any(out).notes
    if to == "reactbench":
        assert reactbench.read(out).card.content_hash == reactbench.read(exam).card.content_hash
    evaluated = run("eval", out, "--model", "oracle", "--out", tmp_path / "runs", "--bootstrap", 0)
    assert evaluated.code == 0, evaluated.err
    assert "React-Score" in evaluated.out
    assert "Relational Erasure: hallucination rate per question" in evaluated.out


def test_one_native_file_is_an_exam_too(
    run: Callable[..., Any], exam: Path, native: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine.json").write_bytes((native / "erasure.json").read_bytes())
    shown = ("--images", exam / "images")
    for file in (native / "erasure.json", tmp_path / "mine.json"):
        assert run("inspect", file, "--json").json["format"] == "native exam"
        out = tmp_path / f"of-{file.stem}"
        ran = run("convert", file, "--to", "folder", *shown, "--out", out)
        assert ran.code == 0 and "1 cases, 12 items" in ran.out, ran.err
    data = ("--data", native / "erasure.json", *shown)
    ran = run("eval", "reactbench", *data, "--model", "oracle", "--out", tmp_path / "runs")
    assert ran.code == 0 and "React-Score" in ran.out, ran.err


def test_facts_of_native_files_may_be_numbers(native: Path, tmp_path: Path) -> None:
    rows = json.loads((native / "counting.json").read_text())
    for row in rows:
        row["facts"] |= {"count": int(row["facts"]["count"]), "rows": 4}
    (native / "counting.json").write_text(json.dumps(rows))
    samples, _ = reactbench.read_native(native)
    facts = [sample.facts for sample in samples if sample.task == "counting"]
    assert [each["rows"] for each in facts] == ["4"]
    assert facts[0]["count"] == str(rows[0]["facts"]["count"])
    for row in rows:
        row["facts"]["count"] = 3000
    (native / "counting.json").write_text(json.dumps(rows))
    with pytest.raises(DataError, match=r"misses the count, 3000\. Remedy: correct the record"):
        reactbench.read_native(native)


def test_native_files_are_evaluated_as_they_are(
    run: Callable[..., Any], exam: Path, native: Path, tmp_path: Path
) -> None:
    asked = ("--model", "oracle", "--out", tmp_path / "runs", "--bootstrap", 0)
    ran = run("eval", native, "--images", exam / "images", *asked)
    assert ran.code == 0, ran.err
    there = read_run(tmp_path / "runs" / "oracle")
    assert there.content_hash == reactbench.read(exam).card.content_hash
    again = run("eval", exam, *asked)  # the same questions and pictures: the same run
    assert again.code == 0, again.err
    ran = run("eval", native, "--images", tmp_path, *asked)
    assert ran.code == 2 and "has 0 of 5 pictures" in ran.err and "--images" in ran.err
    with pytest.raises(UsageError, match="has its own pictures"):
        reactbench.read(exam, images=tmp_path)
    assert "5 of 5 pictures are not in images/" in reactbench.read(native).notes[0]
    ran = run("convert", native, "--to", "reactbench", "--out", tmp_path / "made")
    assert ran.code == 2 and "--images" in ran.err
    ran = run("inspect", native)
    assert ran.code == 0 and "44" in ran.out
