"""The lmms-eval tasks: what their functions do, and, where it is installed, lmms-eval itself."""

from __future__ import annotations

import importlib.util
import math
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest
from tests.exports.parts import answers_to, own_scores
from tests.models.tiny.torchvision_cpu import make_importable

from groundfault.errors import DataError
from groundfault.exports.lmms_eval import export_lmms_eval
from groundfault.exports.scores import modes_of, read_benchmark
from groundfault.records import Benchmark, Outcome
from groundfault.runner.prompts import prompt

TASKS = {"groundfault_exam": "std", "groundfault_exam_cot": "cot", "groundfault_exam_both": "both"}


@pytest.fixture(scope="module")
def exported(exam: Benchmark, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("lmms") / "tasks"
    assert export_lmms_eval(exam, exam.folder, out) == list(TASKS)
    return out


def functions(path: Path) -> ModuleType:
    """The written module, loaded as lmms-eval does."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def docs(path: Path) -> list[dict[str, Any]]:
    return [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]


def aggregated(module: ModuleType, results: list[dict[str, Any]]) -> dict[str, float]:
    return {
        name: getattr(module, name.replace("-", "_"))([result[name] for result in results])
        for name in results[0]
    }


@pytest.mark.parametrize("task", TASKS)
def test_functions_score_as_we_do(exam: Benchmark, exported: Path, task: str) -> None:
    modes = modes_of(TASKS[task])
    module = functions(exported / "groundfault_exam.py")
    asked, answers = docs(exported / f"{task}.jsonl"), answers_to(exam, modes)
    results = [
        module.process_results(doc, [answer.text])
        for doc, answer in zip(asked, answers, strict=True)
    ]
    found = aggregated(module, results)
    expected = own_scores(exam, answers)
    defined = {name: value for name, value in found.items() if not math.isnan(value)}
    assert defined == {name: pytest.approx(expected[name]) for name in defined}
    listed = (exported / f"{task}.yaml").read_text()
    assert all(f"- metric: {name}\n" in listed for name in defined)
    assert {"react_score", "counting_SA", "unparsed_rate"} <= set(defined)


def test_it_says_which_way_is_better(exported: Path) -> None:
    """As the metrics declare it, whatever their names look like."""
    listed = (exported / "groundfault_exam_both.yaml").read_text()
    told = dict(re.findall(r"- metric: (\S+)\n.*\n    higher_is_better: (\w+)", listed))
    assert {way: name for name, way in told.items()}.keys() == {"true", "false", "null"}
    assert (told["operation-hint"], told["yes_rate"]) == ("true", "null")
    assert told["tracing_unparsed_rate"] == told["unparsed_rate"] == "false"
    assert told["erasure_react_score"] == "true"


def test_a_failed_request_is_no_answer(exam: Benchmark, exported: Path) -> None:
    """lmms-eval gives its error's words in the place of an answer; here they say no."""
    module = functions(exported / "groundfault_exam.py")
    asked, answers = docs(exported / "groundfault_exam.jsonl"), answers_to(exam, ("std",))
    told = "[LMMS_EVAL_REQUEST_FAILED after 5 retries] Error code: 400 - no"
    said = [told if k % 3 == 0 else answer.text for k, answer in enumerate(answers)]
    results = [
        module.process_results(*each) for each in zip(asked, ([s] for s in said), strict=True)
    ]
    found = aggregated(module, results)
    failed = [
        msgspec.structs.replace(a, outcome=Outcome.FAILED, text="") if k % 3 == 0 else a
        for k, a in enumerate(answers)
    ]
    expected = own_scores(exam, failed)
    assert found == {
        name: pytest.approx(expected.get(name, math.nan), nan_ok=True) for name in found
    }
    assert found != aggregated(
        module, [module.process_results(d, [a.text]) for d, a in zip(asked, answers, strict=True)]
    )


def test_prompts_and_pictures(exam: Benchmark, exported: Path) -> None:
    module = functions(exported / "groundfault_exam.py")
    for doc, item in zip(docs(exported / "groundfault_exam.jsonl"), exam.items, strict=True):
        assert module.doc_to_text(doc) == prompt(item, "std")
        images = Path(exam.images).resolve()
        assert doc["pictures"] == [str(images / name) for name in item.images]
    shown = module.doc_to_visual(docs(exported / "groundfault_exam.jsonl")[0])
    assert [(picture.mode, picture.size) for picture in shown] == [("RGB", (128, 128))]


def test_pope(pope_benchmark: Benchmark, pope_folder: Path, tmp_path: Path) -> None:
    tasks = export_lmms_eval(pope_benchmark, pope_folder, tmp_path / "out")
    assert tasks == ["groundfault_pope", "groundfault_pope_cot"]
    module = functions(tmp_path / "out" / "groundfault_pope.py")
    answers = answers_to(pope_benchmark, ("std",))
    asked = docs(tmp_path / "out" / "groundfault_pope.jsonl")
    pairs = zip(asked, answers, strict=True)
    found = aggregated(module, [module.process_results(doc, [a.text]) for doc, a in pairs])
    expected = own_scores(pope_benchmark, answers)
    assert found == {name: pytest.approx(expected[name]) for name in found}


def test_a_changed_exam_is_refused(exam: Benchmark) -> None:
    with pytest.raises(DataError, match="export it again"):
        read_benchmark(exam.folder, None, "0" * 64)


def test_the_command_names_the_tasks(
    exam: Benchmark, tmp_path: Path, run: Callable[..., Any]
) -> None:
    ran = run("export", "lmms-eval", exam.folder, "--out", tmp_path / "out")
    assert ran.code == 0
    assert [line.split("--tasks ")[1].split()[0] for line in ran.out.splitlines()] == list(TASKS)
    assert run("export", "lmms-eval", exam.folder, "--out", tmp_path / "out").code == 2


@pytest.mark.filterwarnings("ignore")
def test_lmms_eval_runs_it(
    exam: Benchmark, exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own loader and evaluator, with its dummy model."""
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    if importlib.util.find_spec("lmms_eval") is None:
        pytest.skip("needs groundfault[lmms-eval]")
    make_importable()
    from lmms_eval.evaluator import simple_evaluate
    from lmms_eval.tasks import TaskManager

    manager = TaskManager(include_path=str(exported), include_defaults=False, model_name="dummy")
    assert set(manager.all_tasks) == set(TASKS)
    done = simple_evaluate(
        model="dummy",
        model_args="response=Yes.",
        tasks=["groundfault_exam_both"],
        task_manager=manager,
        bootstrap_iters=0,
    )
    found = {
        key.removesuffix(",none"): value
        for key, value in done["results"]["groundfault_exam_both"].items()
        if key.endswith(",none") and "stderr" not in key and not math.isnan(value)
    }
    modes = modes_of("both")
    answers = [msgspec.structs.replace(a, text="Yes.") for a in answers_to(exam, modes)]
    expected = own_scores(exam, answers)
    assert found == {name: pytest.approx(expected[name]) for name in found}
    assert found["yes_rate"] == 1.0
    assert found["react_score"] > 0
