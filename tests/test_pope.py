"""POPE: a second answer benchmark in one file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from tests.conftest import Ran

from groundfault.analysis.summary import summarise
from groundfault.benchmarks import pope
from groundfault.errors import DataError, UsageError
from groundfault.judges import grade
from groundfault.judges.rule import RuleJudge
from groundfault.protocols.yes_no import score
from groundfault.records import Benchmark, Outcome, Prediction

LINES = """\
{"question_id": 1, "image": "a.jpg", "text": "Is there a kite in the image?", "label": "yes"}
{"question_id": 2, "image": "a.jpg", "text": "Is there a bus in the image?", "label": "no"}

{"question_id": 3, "image": "b.jpg", "text": "Is there a cup in the image?", "label": "yes"}
{"question_id": 4, "image": "b.jpg", "text": "Is there a fork in the image?", "label": "no"}
"""


def written(folder: Path, text: str = LINES, name: str = "coco_pope_random.json") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def read(*files: Path) -> Benchmark:
    """The questions about pictures that nobody looks at."""
    return pope.read(files, files[0].parent)


def graded(questions: Benchmark, answers: list[Prediction]) -> list[Prediction]:
    return grade(questions, answers, RuleJudge())


def answered(texts: dict[str, str], setting: str = "random") -> list[Prediction]:
    return [
        Prediction(
            item_id=f"{setting}:{number}",
            mode="std",
            outcome=Outcome.FAILED if text == "failed" else Outcome.OK,
            text="" if text == "failed" else text,
        )
        for number, text in texts.items()
    ]


def test_metrics_by_hand(tmp_path: Path) -> None:
    questions = read(written(tmp_path))
    texts = {"1": "Yes.", "2": "Yes, a red one.", "3": "There is no cup.", "4": "No"}
    scored = score(questions, graded(questions, answered(texts)))
    row = summarise(scored, bootstrap=50, seed=0).rows["random"]
    values = {name: estimate.value for name, estimate in row.metrics.items()}
    assert values["accuracy"] == values["precision"] == values["recall"] == 0.5
    assert values["F1"] == values["yes_ratio"] == 0.5
    assert values["unparsed_rate"] == 0
    assert row.n_cases == 2


def test_what_cannot_be_read_is_wrong_and_neither_yes_nor_no(tmp_path: Path) -> None:
    questions = read(written(tmp_path))
    texts = {"1": "Yes", "2": "Hard to say.", "3": "I can't view images.", "4": "No"}
    rows = graded(questions, answered(texts))
    assert [row.verdict for row in rows] == ["right", None, None, "right"]
    assert [row.outcome for row in rows].count(Outcome.UNPARSED) == 2
    values = summarise(score(questions, rows), bootstrap=0, seed=0).rows["Overall"].metrics
    assert (values["accuracy"].value, values["accuracy"].n) == (0.5, 4)
    assert (values["recall"].value, values["precision"].value) == (0.5, 1.0)
    assert (values["yes_ratio"].value, values["yes_ratio"].n) == (0.5, 2)
    assert values["unparsed_rate"].value == 0.5


def test_failed_answers_are_not_scored_but_bound(tmp_path: Path) -> None:
    questions = read(written(tmp_path))
    texts = {"1": "Yes", "2": "failed", "3": "Yes", "4": "No"}
    scored = score(questions, graded(questions, answered(texts)))
    summary = summarise(scored, bootstrap=0, seed=0)
    assert summary.rows["Overall"].metrics["accuracy"].value == 1
    assert summary.bounds["Overall"]["accuracy"] == (0.75, 1.0)
    assert summary.bounds["Overall"]["yes_ratio"] == (0.5, 0.75)
    assert summary.outcomes["failed"] == 1


def test_settings_are_rows_and_share_their_images(tmp_path: Path) -> None:
    files = [written(tmp_path, name=f"coco_pope_{setting}.json") for setting in pope.SAMPLINGS]
    questions = read(*files)
    rows = [
        row
        for setting in pope.SAMPLINGS
        for row in answered({"1": "Yes", "2": "No", "3": "Yes", "4": "No"}, setting)
    ]
    summary = summarise(score(questions, graded(questions, rows)), bootstrap=20, seed=0)
    assert list(summary.rows) == ["Overall", *pope.SAMPLINGS]
    assert {row.n_cases for row in summary.rows.values()} == {2}
    assert summary.rows["Overall"].metrics["accuracy"].n == 12


def test_one_mode_is_scored_and_nothing_but_words(tmp_path: Path) -> None:
    questions = read(written(tmp_path))
    rows = answered({"1": "Yes", "2": "No"})
    rows[1] = msgspec.structs.replace(rows[1], mode="cot")
    with pytest.raises(UsageError, match="in one mode"):
        score(questions, graded(questions, rows))
    masks = msgspec.structs.replace(questions.items[0], answer=None)
    changed = msgspec.structs.replace(questions, items=(masks, *questions.items[1:]))
    with pytest.raises(DataError, match="asks for masks"):
        score(changed, [])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"question_id": 1}', "missing required field"),
        ("no json", "line 1"),
        (LINES + LINES, "occurs twice"),
        (LINES.replace('"no"', '"maybe"'), "maybe"),
    ],
)
def test_unsound_files_are_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        read(written(tmp_path, text))


def test_a_file_of_no_setting_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="adversarial"):
        read(written(tmp_path, name="questions.json"))
    with pytest.raises(UsageError, match="cannot be read"):
        read(tmp_path / "coco_pope_random_popular.json")
    with pytest.raises(DataError, match="holds no question"):
        read(written(tmp_path, "\n"))


def test_a_foreign_answer_is_refused(tmp_path: Path) -> None:
    questions = read(written(tmp_path))
    with pytest.raises(DataError, match="no such question"):
        graded(questions, answered({"9": "Yes"}))


def test_answers_in_sentences_are_read_and_popes_own_rule_stands_beside_ours(
    tmp_path: Path,
) -> None:
    questions = read(written(tmp_path))
    texts = {
        "1": "The image shows a kite high above the beach.",
        "2": "The image shows a van.",  # of a bus it says nothing; POPE's rule takes it for a yes
        "3": "There is a cup.",
        "4": "There are no forks in the image.",
    }
    rows = graded(questions, answered(texts))
    assert [row.parsed for row in rows] == ["yes", None, "yes", "no"]
    values = summarise(score(questions, rows), bootstrap=0, seed=0).rows["Overall"].metrics
    assert (values["F1"].value, values["recall"].value) == (1.0, 1.0)
    assert (values["unparsed_rate"].value, values["accuracy"].value) == (0.25, 0.75)
    assert values["F1_pope"].value == pytest.approx(0.8)
    assert (values["accuracy_pope"].value, values["yes_ratio_pope"].value) == (0.75, 0.75)
    assert (values["precision_pope"].n, values["F1_pope"].n) == (3, 4)


def test_popes_own_rule_counts_failures_in_its_bounds_only(tmp_path: Path) -> None:
    questions = read(written(tmp_path))
    texts = {"1": "There is a kite.", "2": "failed", "3": "A cup, not a mug.", "4": "no"}
    summary = summarise(score(questions, graded(questions, answered(texts))), bootstrap=0, seed=0)
    values = summary.rows["Overall"].metrics
    assert values["accuracy_pope"].n == 3 and values["recall_pope"].value == 0.5
    assert summary.bounds["Overall"]["accuracy_pope"] == (0.5, 0.75)


def test_questions_are_looked_at_without_their_pictures(
    run: Callable[..., Ran], tmp_path: Path
) -> None:
    line = {"question_id": 1, "image": "1.jpg", "text": "Is there a dog?", "label": "yes"}
    (tmp_path / "coco_pope_random.json").write_text(json.dumps(line))
    ran = run("inspect", tmp_path, "--json")
    assert ran.code == 0, ran.err
    assert ran.json["format"] == "pope"
    unseen = ("eval", "pope", "--data", tmp_path, "--out", tmp_path / "out", "--model")
    assert run(*unseen, "blind").code == 0, "a coin looks at nothing"
    asked = run(*unseen, "openai:x", "--base-url", "http://127.0.0.1:9/v1", "--yes")
    assert asked.code == 2
    assert "--images" in asked.err
    assert not (tmp_path / "out" / "openai-x").exists()
