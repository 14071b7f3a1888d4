"""`groundfault eval`, `judge`, `judge-card` and `compare` of exams, without a server."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from tests.conftest import Ran
from tests.llm.exams import whole_exam

from groundfault.analysis.summary import read_results
from groundfault.api.evaluating import Evaluation
from groundfault.api.options import Options
from groundfault.benchmarks.reactbench import read
from groundfault.io.store import read_json
from groundfault.judges.card import JudgeCard
from groundfault.runs.recorder import read_predictions, replace_predictions
from groundfault.runs.run import read_run, write_run

Command = Callable[..., Ran]


@pytest.fixture(scope="module")
def exam_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "exam"
    whole_exam(folder, per_task=3)
    return folder


@pytest.fixture
def pope_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "questions"
    (folder / "pictures").mkdir(parents=True)
    for setting in ("random", "popular"):
        lines = [
            {
                "question_id": k,
                "image": f"{k // 2}.jpg",
                "text": f"Is there a thing {k} in the image?",
                "label": "yes" if k % 4 == 0 else "no",
            }
            for k in range(8)
        ]
        text = "\n".join(map(json.dumps, lines))
        (folder / f"coco_pope_{setting}.json").write_text(text)
    return folder


def evaluate(run: Command, what: object, out: Path, *more: object) -> Ran:
    ran = run("eval", what, "--out", out, "--bootstrap", 20, *more)
    assert ran.code == 0, ran.err
    return ran


def test_the_oracle_knows_everything_and_habit_a_half_of_yes_and_no(
    run: Command, exam_dir: Path, tmp_path: Path
) -> None:
    ran = evaluate(run, exam_dir, tmp_path, "--model", "oracle", "--model", "always-yes")
    oracle, habit = (read_results(tmp_path / name)[0] for name in ("oracle", "always-yes"))
    for row in ("Overall", "erasure", "attribute", "tracing", "counting"):
        values = oracle.rows[row].metrics
        names = ("react_score", "react_score_plain", "accuracy_std", "accuracy_cot", "YN", "SA")
        assert {values[name].value for name in names} == {1.0}
        assert habit.rows[row].metrics["YN"].value == 0.5
        assert habit.rows[row].metrics["yes_rate"].value == 1.0
    assert "Accuracy with and without chain of thought" in ran.out
    assert "Chain of thought: change of the hallucination rate" in ran.out
    assert "Multiple choice by place of the option" in ran.out
    assert 'Share of "yes"' in ran.out and "published" not in ran.out.replace("The published", "")
    ran = evaluate(run, exam_dir, tmp_path, "--model", "oracle", "--published")
    assert "Qwen3VL-32B-Thinking" in ran.out


def test_what_is_asked_decides_who_may_answer(run: Command, exam_dir: Path, tmp_path: Path) -> None:
    ran = run("eval", exam_dir, "--model", "sam3", "--out", tmp_path)
    assert ran.code == 2 and "did you mean openai:NAME" in ran.err
    ran = run("eval", exam_dir, "--model", "opnai:x", "--out", tmp_path)
    assert ran.code == 2 and "Did you mean 'openai'" in ran.err
    ran = run("eval", "cafe", "--model", "openai:x", "--out", tmp_path)
    assert ran.code == 2 and "finds no masks" in ran.err and "sam3" in ran.err
    for option in (("--tau", 0.5), ("--engine", "ray"), ("--no-probe",)):
        ran = run("eval", exam_dir, "--model", "oracle", "--out", tmp_path, *option)
        assert ran.code == 2 and f"{option[0]} does not go with" in ran.err
    for option in (("--judge", "rule"), ("--budget", "5"), ("--temperature", "1")):
        ran = run("eval", "cafe", "--model", "oracle", "--out", tmp_path, *option)
        assert ran.code == 2 and f"{option[0]} does not go with" in ran.err
    assert not list(tmp_path.iterdir())


def test_what_cannot_judge_is_refused(run: Command, exam_dir: Path, tmp_path: Path) -> None:
    for name, words in (("oracle", "judges nothing"), ("sam3", "no questions"), ("x", "unknown")):
        for option in ("--judge", "--attribute"):
            ran = run("eval", exam_dir, "--model", "blind", "--out", tmp_path, option, name)
            assert ran.code == 2 and words in ran.err, ran.err
    more = ("--mode", "std", "--attribute", "openai:x")
    ran = run("eval", exam_dir, "--model", "blind", "--out", tmp_path, *more)
    assert ran.code == 2 and "--mode cot" in ran.err


def test_reactbench_by_name(run: Command, exam_dir: Path, tmp_path: Path) -> None:
    ran = run("eval", "reactbench", "--model", "oracle", "--out", tmp_path)
    assert ran.code == 2
    assert "not released" in ran.err and "world build --preset reactbench" in ran.err
    ran = run("eval", "reactbench", "--data", tmp_path, "--model", "oracle", "--out", tmp_path)
    assert ran.code == 2 and "not a groundfault exam folder" in ran.err
    evaluate(run, "reactbench", tmp_path, "--data", exam_dir, "--model", "oracle")
    assert read_results(tmp_path / "oracle")[0].benchmark == "reactbench"


def test_a_model_that_always_reasons_has_one_mode(
    run: Command, exam_dir: Path, tmp_path: Path
) -> None:
    evaluation = Evaluation(read(exam_dir), Options())
    assert evaluation.modes("hf:Qwen/Qwen3-VL-4B-Thinking") == ("cot",)
    assert evaluation.modes("openai:unthinking") == evaluation.modes("openai:x") == ("std", "cot")
    answers = tmp_path / "thinking.jsonl"
    answers.write_text('{"item_id": "erasure0:Q1", "text": "No."}\n')
    ran = run("eval", exam_dir, "--model", f"replay:{answers}", "--out", tmp_path)
    assert ran.code == 0 and "one mode, cot" in ran.err
    (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
    summary, _ = read_results(folder)
    assert summary.settings["modes"] == ["cot"]
    assert summary.rows["Overall"].metrics["accuracy_std"].value is None
    assert summary.rows["erasure"].metrics["accuracy_cot"].n == 1


def test_modes_and_samples_can_be_added_to_a_run(
    run: Command, exam_dir: Path, tmp_path: Path
) -> None:
    def keys() -> set[tuple[str, str]]:
        rows = list(read_predictions(tmp_path / "blind"))
        found = {(row.item_id, row.mode) for row in rows}
        assert len(found) == len(rows)
        return found

    evaluate(run, exam_dir, tmp_path, "--model", "blind", "--mode", "std", "--limit", 2)
    assert len(keys()) == 24
    summary, _ = read_results(tmp_path / "blind")
    assert summary.data["limit"] == "2" and summary.rows["Overall"].n_cases == 2
    evaluate(run, exam_dir, tmp_path, "--model", "blind")
    assert len(keys()) == 2 * 3 * 44
    full, _ = read_results(tmp_path / "blind")
    assert "limit" not in full.data and not full.outcomes["failed"]
    evaluate(run, exam_dir, tmp_path, "--model", "blind", "--mode", "std")
    again, _ = read_results(tmp_path / "blind")
    assert again.settings["modes"] == ["std"] and len(keys()) == 2 * 3 * 44
    assert (
        again.rows["Overall"].metrics["accuracy_std"]
        == (full.rows["Overall"].metrics["accuracy_std"])
    )


def test_a_run_is_replayed_and_a_changed_file_is_another_model(
    run: Command, exam_dir: Path, tmp_path: Path
) -> None:
    evaluate(run, exam_dir, tmp_path / "a", "--model", "random:7")
    spec = f"replay:{tmp_path / 'a' / 'random-7'}"
    evaluate(run, exam_dir, tmp_path / "b", "--model", spec)
    (folder,) = (tmp_path / "b").iterdir()
    first, second = read_results(tmp_path / "a" / "random-7")[0], read_results(folder)[0]
    assert first.rows == second.rows
    evaluate(run, exam_dir, tmp_path / "a", "--model", "random:7", "--no-resume", "--mode", "std")
    ran = run("eval", exam_dir, "--model", spec, "--out", tmp_path / "b")
    assert ran.code == 2 and "another model file" in ran.err


def test_a_run_without_any_answer_passes_for_nothing(
    run: Command, exam_dir: Path, tmp_path: Path
) -> None:
    answers = tmp_path / "none.jsonl"
    answers.write_text('{"item_id": "of another exam", "text": "No."}\n')
    more = ("--model", f"replay:{answers}", "--out", tmp_path, "--fail-if", "failed>0")
    ran = run("eval", exam_dir, *more)
    assert ran.code == 2 and "answered not one item" in ran.err
    (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
    assert not (folder / "summary.json").exists()


def test_a_run_that_was_cut_short_is_not_judged(
    run: Command, exam_dir: Path, tmp_path: Path
) -> None:
    evaluate(run, exam_dir, tmp_path, "--model", "blind")
    folder = tmp_path / "blind"
    noted = read_run(folder)
    write_run(folder, msgspec.structs.replace(noted, state="running"))
    ran = run("judge", folder)
    assert ran.code == 2 and "cut short" in ran.err


def test_gates_and_metrics(run: Command, exam_dir: Path, tmp_path: Path) -> None:
    evaluate(run, exam_dir, tmp_path, "--model", "blind", "--fail-if", "react_score>0.9")
    ran = run(
        "eval", exam_dir, "--model", "blind", "--out", tmp_path, "--fail-if", "erasure:SA<0.5"
    )
    assert ran.code == 1 and "fail-if erasure:SA<0.5 holds: blind has 0" in ran.err
    ran = evaluate(run, exam_dir, tmp_path, "--model", "blind", "--metric", "premise-based")
    assert "premise-based" in ran.out and "Multiple choice" not in ran.out
    ran = run("eval", exam_dir, "--model", "blind", "--out", tmp_path, "--metric", "premise")
    assert ran.code == 2 and "premise-based" in ran.err


def test_runs_are_compared(run: Command, exam_dir: Path, tmp_path: Path) -> None:
    evaluate(run, exam_dir, tmp_path, "--model", "oracle", "--model", "always-yes")
    folders = (tmp_path / "oracle", tmp_path / "always-yes")
    ran = run("compare", *folders, "--json", "--bootstrap", 200)
    assert ran.code == 0, ran.err
    found = ran.json
    ranks = found["ranks"]["Overall"]
    assert ranks["react_score"] == {"oracle": 1, "always-yes": 2}
    assert ranks["unparsed_rate"]["oracle"] == 1 and "yes_rate" not in ranks
    evaluate(run, exam_dir, tmp_path / "std", "--model", "oracle", "--mode", "std")
    ran = run("compare", folders[0], tmp_path / "std" / "oracle", "--bootstrap", 50)
    assert ran.code == 0 and "modes" in ran.out


def test_pope(run: Command, pope_dir: Path, tmp_path: Path) -> None:
    shown = ("--images", pope_dir / "pictures")
    out = tmp_path / "runs"
    evaluate(run, pope_dir, out, *shown, "--model", "oracle", "--model", "always-yes")
    habit, _ = read_results(out / "always-yes")
    assert habit.benchmark == "pope" and list(habit.rows) == ["Overall", "random", "popular"]
    values = {name: e.value for name, e in habit.rows["popular"].metrics.items()}
    assert values["accuracy"] == values["precision"] == 0.25 and values["recall"] == 1.0
    assert values["yes_ratio"] == 1.0 and values["F1"] == pytest.approx(0.4)
    ran = run("compare", out / "oracle", out / "always-yes", "--json", "--bootstrap", 50)
    assert ran.code == 0, ran.err
    # of four pictures, nobody can say more than p = 0.125, however clear they are
    (ahead,) = [test for test in ran.json["tests"] if test["metric"] == "F1"]
    assert ahead["difference"] > 0.5 and ahead["p"] == 0.125
    assert ran.json["ranks"]["Overall"]["F1"] == {"oracle": 1, "always-yes": 1}
    assert run("judge", out / "oracle").code == 0
    evaluate(run, "pope", tmp_path / "one", "--data", pope_dir, *shown, "--model", "oracle")
    file = pope_dir / "coco_pope_random.json"
    evaluate(run, "pope", tmp_path / "two", "--data", file, *shown, "--model", "oracle")
    assert list(read_results(tmp_path / "two" / "oracle")[0].rows) == ["Overall", "random"]
    for more, words in (
        (("--judge", "openai:x"), "yes or no"),
        (("--mode", "both"), "one mode"),
    ):
        ran = run("eval", pope_dir, *shown, "--model", "oracle", "--out", tmp_path / "x", *more)
        assert ran.code == 2 and words in ran.err
    evaluate(run, pope_dir, tmp_path / "unseen", "--model", "text-only")  # it looks at nothing
    ran = run("eval", "pope", "--model", "oracle", "--out", tmp_path / "x")
    assert ran.code == 2 and "--data" in ran.err


def test_stored_answers_are_judged_again_where_the_exam_has_moved(
    run: Command, exam_dir: Path, tmp_path: Path
) -> None:
    moved = tmp_path / "exam"
    exam = whole_exam(moved, per_task=3)
    evaluate(run, moved, tmp_path, "--model", "oracle")
    moved.rename(tmp_path / "elsewhere")
    ran = run("judge", tmp_path / "oracle")
    assert ran.code == 2 and "--data" in ran.err
    ran = run("judge", tmp_path / "oracle", "--data", exam_dir, "--bootstrap", 0)
    assert ran.code == 0, ran.err
    judged = read_run(tmp_path / "oracle")
    assert judged.judged is not None and judged.judged.name == "rule"
    assert judged.outcomes["ok"] == 2 * len(exam.items)
    other = tmp_path / "other"
    whole_exam(other, per_task=1)
    ran = run("judge", tmp_path / "oracle", "--data", other)
    assert ran.code == 2 and "other questions" in ran.err
    assert run("judge", exam_dir).code == 2


def test_the_card_of_the_rule_judge(run: Command, exam_dir: Path, tmp_path: Path) -> None:
    card_file = tmp_path / "card.json"
    ran = run("judge-card", exam_dir, "--out", card_file)
    assert ran.code == 0 and "κ" in ran.out and "tracing" in ran.out
    card = read_json(card_file, JudgeCard)
    assert card.judge == "rule" and set(card.tasks) == {
        "Overall",
        "erasure",
        "attribute",
        "tracing",
    }
    few = run("judge-card", exam_dir, "--limit", 10, "--json").json
    assert few["tasks"]["Overall"]["n_right"] + few["tasks"]["Overall"]["n_wrong"] == 10
    ran = evaluate(run, exam_dir, tmp_path, "--model", "oracle", "--card", card_file)
    assert "Scores corrected for the judge's errors" in ran.out
    assert (tmp_path / "oracle" / "corrected.json").is_file()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"item_id": "erasure0:Q5", "text": "a", "verdict": "maybe"}', "line 2"),
        ('{"item_id": "erasure9:Q5", "text": "a", "verdict": "right"}', "no item 'erasure9:Q5'"),
        ('{"item_id": "erasure0:Q1", "text": "a", "verdict": "right"}', "needs no judge"),
        ("nonsense", "line 2"),
    ],
)
def test_unsound_labels_are_refused(
    run: Command, exam_dir: Path, tmp_path: Path, line: str, words: str
) -> None:
    sound = '{"item_id": "erasure0:Q5", "text": "There is no lamp.", "verdict": "right"}'
    labels = tmp_path / "labels.jsonl"
    labels.write_text(f"{sound}\n{line}\n")
    ran = run("judge-card", labels, "--exam", exam_dir)
    assert ran.code == 2 and words in ran.err
    assert run("judge-card", labels).code == 2
    labels.write_text(sound)
    ran = run("judge-card", labels, "--exam", exam_dir, "--json")
    assert ran.code == 0 and ran.json["tasks"]["erasure"]["called_right"] == 1


def test_an_answer_that_is_no_longer_wrong_loses_its_cause(
    run: Command, exam_dir: Path, tmp_path: Path
) -> None:
    evaluate(run, exam_dir, tmp_path, "--model", "always-yes")
    folder = tmp_path / "always-yes"
    rows = [
        msgspec.structs.replace(row, cause="SC1", cause_by="openai:why")
        for row in read_predictions(folder)
    ]
    replace_predictions(folder, rows)
    assert run("judge", folder, "--bootstrap", 0).code == 0
    kept = {row for row in read_predictions(folder) if row.cause_by}
    wrong = {
        row for row in read_predictions(folder) if row.mode == "cot" and row.verdict == "wrong"
    }
    assert kept == wrong and {row.cause for row in kept} == {"SC1"}
