"""The Inspect AI task, run by Inspect with a model that says what it is told to."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from tests.exports.parts import answers_to, own_scores

from groundfault.errors import UsageError
from groundfault.exports.scores import modes_of
from groundfault.judges import expected as expected_of
from groundfault.records import MODES, Benchmark, Mode, Prediction
from groundfault.runner.prompts import prompt

inspect_ai = pytest.importorskip("inspect_ai", reason="needs groundfault[inspect]")
pytestmark = pytest.mark.filterwarnings("ignore")  # Inspect and anyio have some

from inspect_ai.model import ModelOutput, ModelUsage, get_model  # noqa: E402

from groundfault.exports import inspect_ai as tasks  # noqa: E402

ASKED_BY_NAME = """
import sys
import inspect_ai
from inspect_ai.model import ModelOutput, ModelUsage, get_model
output = ModelOutput.from_content("mockllm", "Yes.")
output.usage = ModelUsage()
model = get_model("mockllm/model", custom_outputs=[output] * 3)
arguments = dict(each.split("=") for each in sys.argv[2:])
(log,) = inspect_ai.eval(sys.argv[1], model=model, task_args=arguments, limit=3, display="none")
print(log.status, log.eval.task, log.error or "", *log.results.scores[0].metrics)
"""


def saying(text: str, **more: Any) -> ModelOutput:
    """An output with its usage, which Inspect would otherwise count with a tokeniser it fetches."""
    output = ModelOutput.from_content("mockllm/model", text, **more)
    output.usage = ModelUsage()
    return output


@pytest.fixture
def evaluate(tmp_path: Path) -> Callable[..., Any]:
    """Run a task with prepared answers, one after the other; gives the log."""

    def run(
        task: Any, answers: Sequence[Prediction | ModelOutput], grader: Any = None, **options: Any
    ) -> Any:
        outputs = [saying(a.text) if isinstance(a, Prediction) else a for a in answers]
        (log,) = inspect_ai.eval(
            task,
            model=get_model("mockllm/model", custom_outputs=outputs, memoize=False),
            model_roles={"grader": grader} if grader else None,
            max_samples=1,
            display="none",
            log_dir=str(tmp_path / "logs"),
            **options,
        )
        return log

    return run


def metrics_of(log: Any) -> dict[str, float]:
    assert log.status == "success", log.error
    (score,) = log.results.scores
    return {name: metric.value for name, metric in score.metrics.items()}


@pytest.mark.parametrize("mode", ["std", "both"])
def test_scores_are_ours(exam: Benchmark, evaluate: Callable[..., Any], mode: str) -> None:
    modes = modes_of(mode)
    answers = answers_to(exam, modes)
    found = metrics_of(evaluate(tasks.exam(exam.folder, mode=mode), answers))
    expected = own_scores(exam, answers)
    assert found == {name: pytest.approx(expected[name]) for name in found}
    assert {"react_score", "accuracy_std", "tracing_accuracy_std", "unparsed_rate"} <= set(found)
    assert ("cot_effect" in found) == (mode == "both")
    assert 0.2 < found["accuracy_std"] < 0.8


def test_prompts_and_pictures_are_ours(exam: Benchmark) -> None:
    dataset = tasks.exam(exam.folder, mode="cot").dataset
    assert [sample.id for sample in dataset] == [item.id for item in exam.items]
    for sample, item in zip(dataset, exam.items, strict=True):
        *pictures, text = sample.input[0].content
        assert text.text == prompt(item, "cot")
        shown = [Path(exam.images).resolve() / name for name in item.images]
        assert [Path(picture.image) for picture in pictures] == shown


def test_the_unreadable_is_neither_yes_nor_no(
    exam: Benchmark, evaluate: Callable[..., Any]
) -> None:
    n = len(exam.items)
    cut_off = saying("Yes", stop_reason="model_length")
    log = evaluate(tasks.exam(exam.folder), [cut_off] * n)
    found = metrics_of(log)
    assert (found["accuracy_std"], found["unparsed_rate"]) == (0.0, 1.0)
    assert not [name for name in found if "yes_rate" in name]
    score = log.samples[0].scores["judged"]
    assert (score.value, score.answer) == ("N", None)
    assert "cut off" in score.explanation


def test_epochs_count_each_answer(exam: Benchmark, evaluate: Callable[..., Any]) -> None:
    right, empty = saying(expected_of(exam.items[0]).reference), saying("")
    log = evaluate(tasks.exam(exam.folder), [right, empty], limit=1, epochs=2)
    found = metrics_of(log)
    assert (found["accuracy_std"], found["unparsed_rate"]) == (0.5, 0.5)


def test_a_grader_judges_short_answers(exam: Benchmark, evaluate: Callable[..., Any]) -> None:
    answers = ((item, expected_of(item)) for item in exam.items)
    words = next(i for i, a in answers if a.type == "SA" and not a.reference[0].isdigit())
    answer = saying("Something else altogether.")
    said = [saying("Well, yes"), saying("right")]
    grader = get_model("mockllm/model", custom_outputs=said, memoize=False)
    task = tasks.exam(exam.folder, judge="grader")
    log = evaluate(task, [answer], grader, sample_id=words.id)
    score = log.samples[0].scores["judged"]
    assert (score.value, score.explanation) == ("C", "Well, yes\nright")  # asked again once
    log = evaluate(tasks.exam(exam.folder, judge="grader"), [answer], sample_id=words.id)
    assert log.status == "error"  # no grader, no score: the model does not mark itself


def test_pope(pope_benchmark: Benchmark, pope_folder: Path, evaluate: Callable[..., Any]) -> None:
    modes: tuple[Mode, ...] = ("std",)
    answers = answers_to(pope_benchmark, modes)
    folder = str(pope_folder)
    found = metrics_of(evaluate(tasks.pope(folder, pope_benchmark.images), answers))
    expected = own_scores(pope_benchmark, answers)
    assert found == {name: pytest.approx(expected[name]) for name in found}
    assert {"F1", "random_F1", "popular_yes_ratio"} <= set(found)


def test_what_it_does_not_know(exam: Benchmark) -> None:
    with pytest.raises(UsageError, match="std, cot and both"):
        tasks.exam(exam.folder, mode="fast")
    with pytest.raises(UsageError, match="rule and grader"):
        tasks.exam(exam.folder, judge="me")
    assert modes_of("both") == MODES


@pytest.mark.parametrize("named", ["groundfault/exam", "file"])
def test_it_is_found_by_name(
    exam: Benchmark, tmp_path: Path, run: Callable[..., Any], named: str
) -> None:
    """Through the entry point, and as an exported file, by a process that never imported us."""
    arguments = [f"folder={exam.folder}"]
    if named == "file":
        assert run("export", "inspect", exam.folder, "--out", tmp_path / "task").code == 0
        named, arguments = "task/groundfault_exam.py", ["judge=rule"]  # Inspect's are relative
    elif not entry_points(group="inspect_ai", name="groundfault"):
        pytest.skip("groundfault was installed without its entry points; install it again")
    ran = subprocess.run(
        [sys.executable, "-c", ASKED_BY_NAME, named, *arguments],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=1800,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.startswith("success groundfault")
    assert "accuracy_std" in ran.stdout
