"""Other people's models: what they may answer, what is said when they break, and that a changed one
never gets the answers of the one before."""

from __future__ import annotations

import importlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from tests.conftest import Ran
from tests.llm.exams import whole_exam
from tests.runner.conftest import painted_set
from tests.runner.plug_ins import PlugIn

import groundfault as gf
from groundfault.benchmarks import folder
from groundfault.errors import GroundfaultError, raised_in
from groundfault.interfaces import ModelOptions
from groundfault.io.masks import decode
from groundfault.records import Item, Outcome, Prediction
from groundfault.runs.identity import model_identity
from groundfault.runs.recorder import read_predictions
from groundfault.runs.run import read_run

Command = Callable[..., Ran]
Folder = Callable[[int], Path]
FOUND = "as_prediction([square(image)], [0.9])"


class Evaluating:
    """`groundfault eval` of the plug-in on one benchmark folder."""

    def __init__(self, run: Command, data: Path, out: Path) -> None:
        self.run, self.data, self.out = run, data, out

    def __call__(self, *more: object, model: str = "mine") -> Ran:
        options = ("--bootstrap", 0, "--out", self.out)
        return self.run("eval", self.data, "--model", model, *options, *more)

    @property
    def folder(self) -> Path:
        return self.out / "mine"

    def predictions(self) -> dict[str, Prediction]:
        return {each.item_id: each for each in read_predictions(self.folder)}


@pytest.fixture
def evaluate(run: Command, benchmark_folder: Folder, tmp_path: Path) -> Evaluating:
    return Evaluating(run, benchmark_folder(6), tmp_path / "runs")


# --- identity


def test_a_changed_plug_in_does_not_get_its_old_answers(own: PlugIn, evaluate: Evaluating) -> None:
    own.answer(FOUND)
    assert evaluate().code == 0
    own.answer(FOUND)
    again = evaluate()
    assert again.code == 0 and "12 of them were answered before and are reused" in again.err
    own.answer("as_prediction([], [])")
    changed = evaluate()
    assert changed.code == 2 and "holds answers with another plug-in code" in changed.err
    assert "--no-resume" in changed.err
    anew = evaluate("--no-resume")
    assert anew.code == 0 and "reused" not in anew.err
    assert {p.outcome for p in evaluate.predictions().values()} == {Outcome.ABSTAINED}


def test_another_version_or_another_module_of_its_package(
    own: PlugIn, evaluate: Evaluating
) -> None:
    own.answer(FOUND, net="SIZE = 1")
    assert evaluate().code == 0
    own.answer(FOUND, net="SIZE = 2")
    assert "another plug-in code" in evaluate().err
    own.answer(FOUND, net="SIZE = 1", version="1.1")
    ran = evaluate()
    assert ran.code == 2
    assert "another plug-in: 'test_plug_in 1.0' there, 'test_plug_in 1.1' now" in ran.err


def test_files_that_a_plug_in_names(own: PlugIn, tmp_path: Path) -> None:
    weights = tmp_path / "weights.npz"
    weights.write_bytes(b"one")
    own.write(
        f"""
        from pathlib import Path
        def load(argument, options):
            raise NotImplementedError
        load.named_files = lambda argument: [Path({str(weights)!r})]
        """
    )
    before = model_identity("mine", ModelOptions())
    weights.write_bytes(b"two")
    after = model_identity("mine", ModelOptions())
    assert {name for name in before if before[name] != after[name]} == {"model file"}


class Abstaining:
    """Of a test: its module is this file."""

    def segment(self, image: Any, phrases: Any) -> list[Prediction]:
        return [gf.as_prediction([], []) for _ in phrases]


def test_objects_have_the_code_of_their_module(tmp_path: Path) -> None:
    benchmark = painted_set(tmp_path / "images", 2)
    gf.evaluate(benchmark, Abstaining(), tmp_path / "run", bootstrap=0)
    run = read_run(tmp_path / "run")
    assert len(run.identity["plug-in code"]) == 64
    changed = {**run.identity, "plug-in code": "0" * 64}
    made = msgspec.structs.replace(run, identity=changed)
    (tmp_path / "run" / "run.json").write_bytes(msgspec.json.encode(made))
    with pytest.raises(GroundfaultError, match="another plug-in code"):
        gf.evaluate(benchmark, Abstaining(), tmp_path / "run", bootstrap=0)


# --- what they answer

COCO = '{"size": list(image.shape[:2]), "counts": encode(square(image))["counts"].encode()}'
SOUND = {
    "NumPy scalars": "Prediction(item_id='', outcome='ok', masks=[encode(square(image))], "
    "scores=np.array([0.5], np.float32), presence=np.float64(0.5))",
    "arrays of booleans": "Prediction(item_id='', outcome=Outcome.OK, masks=square(image)[None], "
    "scores=[np.float16(0.5)])",
    "arrays of 0 and 255": "Prediction(item_id='', outcome='ok', "
    "masks=(square(image) * np.uint8(255),), scores=(0.5,))",
    "boxes as arrays": "Prediction(item_id='', outcome='ok', masks=[square(image)], scores=[0.5], "
    "boxes_xywh=np.array([[4, 5, 12, 10]], np.int32))",
    "run lengths in bytes": f"Prediction(item_id='', outcome='ok', masks=[{COCO}], scores=[0.5])",
    "no text": "Prediction(item_id='', outcome='ok', masks=[square(image)], scores=[0.5], "
    "text=None, category_ids=np.array([1]))",
}


@pytest.mark.parametrize("expression", SOUND.values(), ids=SOUND)
def test_what_has_one_meaning_is_taken(own: PlugIn, evaluate: Evaluating, expression: str) -> None:
    own.answer(expression)
    ran = evaluate()
    assert ran.code == 0, ran.err
    for found in evaluate.predictions().values():
        assert found.outcome is Outcome.OK and found.scores == (0.5,)
        assert decode(found.masks[0])[5:15, 4:16].all() and decode(found.masks[0]).sum() == 120
    again = evaluate("--no-resume", "--workers", 2)  # and it passes through a worker's pipe
    assert again.code == 0, again.err


UNSOUND = {
    "a dict": ("{'masks': []}", "a dict, not a Prediction: make one with groundfault.as_predict"),
    "nothing": ("None", "a NoneType, not a Prediction"),
    "an outcome": ("Prediction(item_id='', outcome='found')", "outcome: 'found' is none of ok, ab"),
    "a map": (
        "Prediction(item_id='', outcome='ok', masks=[square(image) * 0.3], scores=[1])",
        "mask 0: an array of float64 with other values than 0 and 1: threshold it",
    ),
    "a shape": (
        "Prediction(item_id='', outcome='ok', masks=square(image), scores=[1])",
        "mask 0: an array of shape (32,): a mask is (height, width)",
    ),
    "a box": (
        "Prediction(item_id='', outcome='ok', masks=[square(image)], scores=[1], "
        "boxes_xywh=np.array([[1, 2, -3, 4]]))",
        "box 0: [1.0, 2.0, -3.0, 4.0] is not x, y, width, height: a side is negative",
    ),
    "words for a score": (
        "Prediction(item_id='', outcome='ok', masks=[square(image)], scores=['high'])",
        "score 0: 'high' is no number",
    ),
    "a contradiction": (
        "Prediction(item_id='', outcome='abstained', masks=[square(image)], scores=[1])",
        "it says abstained, and gives 1 masks",
    ),
    "two things": (
        "Prediction(item_id='', outcome='ok', masks=['here'], scores=[float('inf')])",
        "mask 0: a str is no mask: give an array, or run lengths of COCO; score 0: a score is not "
        "finite: inf",
    ),
}


@pytest.mark.parametrize(("expression", "reason"), UNSOUND.values(), ids=UNSOUND)
def test_what_has_none_fails_alone_with_its_reason(
    own: PlugIn, evaluate: Evaluating, expression: str, reason: str
) -> None:
    own.answer(f"{FOUND} if phrase == 'green' else {expression}")
    ran = evaluate()
    assert ran.code == 0, ran.err  # the run goes on
    found = evaluate.predictions()
    assert found["0-green"].outcome is Outcome.OK
    assert found["0-blue"].outcome is Outcome.FAILED and reason in found["0-blue"].reason
    assert "6 failed: the model's answer is unsound: " in ran.err


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        ("None", "segment gave a NoneType, not a list with one answer per phrase"),
        ("as_prediction([], [])", "segment gave a Prediction, not a list"),
        ("[as_prediction([], [])]", "segment gave 1 answers to 2 phrases"),
    ],
)
def test_what_is_no_list_of_answers(
    own: PlugIn, evaluate: Evaluating, returned: str, reason: str
) -> None:
    own.write(
        f"""
        class Model:
            def segment(self, image, phrases):
                return {returned} if image[0, 0, 0] else (as_prediction([], []) for _ in phrases)
        load = lambda argument, options: Model()
        """
    )
    assert evaluate().code == 0
    found = evaluate.predictions()
    assert reason in found["1-blue"].reason
    assert found["0-green"].outcome is Outcome.ABSTAINED  # a generator is as good as a list


# --- what they raise


def test_an_exception_is_shown_with_its_kind_and_place(own: PlugIn, evaluate: Evaluating) -> None:
    own.write(
        """
        def look_up(phrase):
            return np.array([1.0])[{"blue": 0}[phrase]]

        class Model:
            def segment(self, image, phrases):
                if image[0, 0, 0] == 1:
                    [look_up(phrase) for phrase in phrases]
                return [as_prediction([], []) for _ in phrases]

        load = lambda argument, options: Model()
        """
    )
    assert evaluate().code == 0
    line = _line(own, "np.array([1.0])")
    reason = evaluate.predictions()["1-blue"].reason
    assert reason == f"KeyError: 'green' (at test_plug_in/model.py:{line})"


def test_a_package_of_one_file_is_named_too(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "lone").mkdir()
    (tmp_path / "lone" / "__init__.py").write_text("def load():\n    return {}['weights']\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(KeyError) as problem:
        importlib.import_module("lone").load()
    assert raised_in(problem.value, ["lone"]) == "lone/__init__.py:2"


def _line(own: PlugIn, words: str) -> int:
    lines = (own.folder / own.name / "model.py").read_text().splitlines()
    return next(k for k, line in enumerate(lines, start=1) if words in line)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("def load(argument, options):\n    return open('/nowhere/weights')", "FileNotFoundError"),
        ("def load(argument, options):\n    return {}['weights']", "KeyError: 'weights'"),
        ("WEIGHTS = 1 / 0\nload = None", "ZeroDivisionError: division by zero"),
        ("import no_such_library\nload = None", "ModuleNotFoundError: No module named"),
    ],
)
def test_a_load_that_fails_says_where_and_leaves_nothing_behind(
    own: PlugIn, evaluate: Evaluating, code: str, kind: str
) -> None:
    own.write(code)
    ran = evaluate()
    assert ran.code == 2 and kind in ran.err and "(at test_plug_in/model.py:" in ran.err
    assert not evaluate.folder.exists()
    own.answer(FOUND)
    assert evaluate().code == 0


def test_a_run_in_which_everything_failed_does_not_block_its_repair(
    own: PlugIn, evaluate: Evaluating
) -> None:
    own.answer("1 / 0")
    ran = evaluate()
    assert ran.code == 2 and "answered not one item" in ran.err
    assert read_run(evaluate.folder).outcomes["failed"] == 12
    own.answer(FOUND)
    repaired = evaluate()
    assert repaired.code == 0 and "reused" not in repaired.err
    assert read_run(evaluate.folder).outcomes["ok"] == 12


def test_a_plug_in_does_not_end_the_program(own: PlugIn, evaluate: Evaluating) -> None:
    own.write(
        """
        import sys
        class Model:
            def segment(self, image, phrases):
                if image[0, 0, 0] == 1:
                    sys.exit("no GPU")
                return [as_prediction([], []) for _ in phrases]
        load = lambda argument, options: Model()
        """
    )
    assert evaluate().code == 0
    assert evaluate.predictions()["1-blue"].reason.startswith("SystemExit: no GPU (at test_plug_")
    own.write("def load(argument, options):\n    raise SystemExit(1)")
    ran = evaluate("--no-resume")
    assert ran.code == 2 and "cannot be loaded (SystemExit: 1 (at test_plug_in/model.py:" in ran.err
    own.write("import sys\nsys.exit(1)")
    assert evaluate("--no-resume").code == 2


# --- when to stop


def many(tmp_path: Path, n: int) -> gf.Benchmark:
    return painted_set(tmp_path / "many", n)


class Breaking:
    """Fails on the pictures whose number is among those given."""

    def __init__(self, wrong: Any) -> None:
        self.wrong, self.n = wrong, 0

    def segment(self, image: Any, phrases: Any) -> list[Prediction]:
        self.n += 1
        number = int(image[0, 0, 0])
        if self.wrong(number):
            raise RuntimeError(f"number {number} of '{phrases[0]}'")
        return [gf.as_prediction([], []) for _ in phrases]


def test_identical_failures_end_a_run(tmp_path: Path) -> None:
    model = Breaking(lambda number: number >= 5)
    result = gf.evaluate(many(tmp_path, 40), model, tmp_path / "run", bootstrap=0)
    run = result.run
    assert run is not None and run.state == "stopped" == read_run(tmp_path / "run").state
    assert model.n == 15 and run.outcomes == {"ok": 0, "abstained": 10, "unparsed": 0, "failed": 70}
    assert run.stopped.startswith("20 failures in a row, all alike: RuntimeError: number 5 of")
    assert sum(n for why, n in run.failures.items() if why.startswith("not asked: 20 fail")) == 50
    repaired = Breaking(lambda number: False)
    assert gf.evaluate(many_again(tmp_path, 40), repaired, tmp_path / "run", bootstrap=0).run
    assert repaired.n == 35 and read_run(tmp_path / "run").state == "finished"


def many_again(tmp_path: Path, n: int) -> gf.Benchmark:
    (tmp_path / "many").rename(tmp_path / "before")
    return many(tmp_path, n)


@pytest.mark.parametrize(
    ("wrong", "most", "n_asked"),
    [
        (lambda number: True, 7, 4),  # two phrases each
        (lambda number: True, 0, 40),  # never
        (lambda number: True, 1, 1),
        (lambda number: number % 10 != 0, 20, 40),  # an answer begins the count anew
    ],
)
def test_how_many_failures_in_a_row(tmp_path: Path, wrong: Any, most: int, n_asked: int) -> None:
    model = Breaking(wrong)
    try:
        gf.evaluate(many(tmp_path, 40), model, tmp_path / "run", bootstrap=0, max_failures=most)
    except GroundfaultError as problem:
        assert "not one item was answered" in str(problem)
    assert model.n == n_asked


def test_one_picture_with_many_phrases_is_no_row_of_failures(tmp_path: Path) -> None:
    made = many(tmp_path, 8)
    first = made.items[0]
    asked = [_like(first, f"thing {k}") for k in range(30)]
    benchmark = msgspec.structs.replace(made, items=(*asked, *made.items[2:]))
    model = Breaking(lambda number: number == 0)
    run = gf.evaluate(benchmark, model, tmp_path / "run", bootstrap=0).run
    assert run is not None and run.state == "finished" and run.outcomes["failed"] == 30


def _like(item: Item, query: str) -> Item:
    return msgspec.structs.replace(item, id=query, query=query)


def test_the_command_says_why_it_stopped(
    own: PlugIn, run: Command, benchmark_folder: Folder, tmp_path: Path
) -> None:
    own.answer("1 / 0")
    command = Evaluating(run, benchmark_folder(30), tmp_path / "runs")
    for more in ((), ("--workers", 2, "--no-resume")):
        ran = command(*more)
        assert ran.code == 2
        assert "failures in a row, all alike: ZeroDivisionError: division by zero" in ran.err
        assert "--max-failures" in ran.err and len(command.predictions()) == 60
    last = json.loads(command("--json", "--no-resume").out.splitlines()[-1])
    assert (last["event"], last["state"]) == ("finished", "stopped")
    assert last["stopped"].startswith("20 failures in a row")
    told = run("status", command.out).out
    assert re.search(r"stopped +0 of 60 ", told), "what failed was not answered"


class Mute:
    """A chat model whose replies are no replies."""

    def __init__(self) -> None:
        self.n = 0

    def complete(self, conversations: Any) -> list[Any]:
        self.n += len(conversations)
        return ["yes"] * len(conversations)


class Spoken(Mute):
    def complete(self, conversations: Any) -> list[Any]:
        self.n += len(conversations)
        tokens: Any = np.int64(3)
        return [gf.Reply(outcome="ok", text="Yes.", tokens_in=tokens) for _ in conversations]  # type: ignore[arg-type]


def test_replies_in_words(tmp_path: Path) -> None:
    exam = whole_exam(tmp_path / "exam")
    model = Mute()
    with pytest.raises(
        GroundfaultError, match=r"a str, not a Reply: make one with groundfault\.Rep"
    ):
        gf.evaluate(exam, model, tmp_path / "run", bootstrap=0)
    run = read_run(tmp_path / "run")
    assert run.state == "stopped" and model.n < run.n_items
    told = gf.evaluate(exam, Spoken(), tmp_path / "spoken", bootstrap=0).run
    assert told is not None and told.outcomes["failed"] == 0 and told.tokens_in == 3 * told.n_items


# --- states, and what reports make of them


class Ending:
    """A baseline that answers about two pictures and then raises."""

    def __init__(self, problem: BaseException) -> None:
        self.problem, self.n = problem, 0

    def predict(self, items: Any, mode: str = "") -> list[Prediction]:
        self.n += 1
        if self.n > 2:
            raise self.problem
        return [gf.as_prediction([], []) for _ in items]


@pytest.mark.parametrize(
    ("problem", "state"),
    [
        (KeyboardInterrupt(), "interrupted"),
        (GroundfaultError("the file is unsound"), "failed"),
    ],
)
def test_every_end_is_noted(tmp_path: Path, problem: BaseException, state: str) -> None:
    with pytest.raises(type(problem)):
        gf.evaluate(many(tmp_path, 6), Ending(problem), tmp_path / "run", bootstrap=0)
    found = read_run(tmp_path / "run")
    assert found.state == state and found.outcomes["abstained"] == 4
    assert found.stopped == (str(problem) if state == "failed" else "interrupted")
    rest = Ending(problem)
    rest.n = -10
    result = gf.evaluate(many_again(tmp_path, 6), rest, tmp_path / "run", bootstrap=0)
    assert result.run is not None and rest.n == -6
    assert (result.run.state, result.run.stopped, result.run.reused) == ("finished", "", 4)


def test_a_load_that_fails_later_makes_no_finished_run(own: PlugIn, evaluate: Evaluating) -> None:
    code = """
        import os
        class Model:
            def segment(self, image, phrases):
                if image[0, 0, 0] > 3:
                    raise ValueError("for now")
                return [as_prediction([], []) for _ in phrases]
        def load(argument, options):
            return Model() if "MINE" in os.environ else {}["weights"]
        """
    own.write(code)
    os.environ["MINE"] = "1"
    try:
        assert evaluate().code == 0
    finally:
        del os.environ["MINE"]
    assert read_run(evaluate.folder).state == "finished"
    own.forget()
    assert evaluate().code == 2
    run = read_run(evaluate.folder)
    assert run.state == "failed" and "KeyError: 'weights'" in run.stopped
    assert run.outcomes["failed"] == 0 and run.outcomes["abstained"] == 8


def test_a_polite_kill_is_noted(own: PlugIn, benchmark_folder: Folder, tmp_path: Path) -> None:
    own.write(
        """
        import time
        class Model:
            def segment(self, image, phrases):
                if image[0, 0, 0] == 2:
                    print("here", flush=True)
                    time.sleep(3600)
                return [as_prediction([], []) for _ in phrases]
        load = lambda argument, options: Model()
        """
    )
    path = os.pathsep.join(
        filter(None, [str(own.folder), *map(str, sys.path[:2]), os.environ.get("PYTHONPATH", "")])
    )
    command = [sys.executable, "-m", "groundfault.cli", "eval", str(benchmark_folder(4)), "--model"]
    process = subprocess.Popen(
        [*command, "mine", "--out", str(tmp_path / "runs")],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "here\n"
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 143 and "the same command goes on" in err
    assert read_run(tmp_path / "runs" / "mine").state == "interrupted"


def test_reports_skip_what_is_no_finished_run(
    own: PlugIn, evaluate: Evaluating, run: Command, tmp_path: Path
) -> None:
    own.answer(FOUND)
    assert evaluate().code == 0
    cut = evaluate.out / "cut"
    cut.mkdir()
    made = msgspec.structs.replace(read_run(evaluate.folder), state="interrupted")
    (cut / "run.json").write_bytes(msgspec.json.encode(made))
    (evaluate.out / "empty").mkdir()
    (evaluate.out / "sub-causes.svg").write_text("<svg/>")
    page = tmp_path / "report.html"
    ran = run("report", *sorted(evaluate.out.iterdir()), "--out", page)
    assert ran.code == 0, ran.err
    skipped = [line for line in ran.err.splitlines() if line.startswith("skipped: ")]
    assert len(skipped) == 3 and f"skipped: {cut}: was interrupted" in ran.err
    assert "mine" in page.read_text()
    page.unlink()
    alone = run("report", cut, evaluate.out / "empty", "--out", page)
    assert alone.code == 2 and alone.err.count("\n") == 1 and not page.exists()


# --- pictures that are not there


def test_a_wrong_picture_folder_is_one_message(
    own: PlugIn, evaluate: Evaluating, run: Command, tmp_path: Path
) -> None:
    own.answer(FOUND)
    (tmp_path / "elsewhere").mkdir()
    options = ("--model", "mine", "--out", tmp_path / "other")
    ran = run("eval", evaluate.data, "--images", tmp_path / "elsewhere", *options)
    assert ran.code == 2 and ran.err.count("\n") == 1
    assert "elsewhere: none of the 6 pictures is in this folder, e.g. '" in ran.err
    assert not (tmp_path / "other" / "mine").exists()
    near = run("eval", evaluate.data, "--images", evaluate.data, *options)
    assert f"did you mean --images {evaluate.data / 'images'}?" in near.err


# --- labels, and all models in one table


def test_labels_name_runs_and_tables(own: PlugIn, evaluate: Evaluating, run: Command) -> None:
    own.answer(FOUND)
    ran = run(
        "eval", evaluate.data, "--model", "ours=mine:x=y", "--model", "mine:b", "--model",
        "chance=random:3", "--bootstrap", 0, "--out", evaluate.out,
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert sorted(p.name for p in evaluate.out.iterdir()) == ["chance", "mine-b", "ours"]
    ours = read_run(evaluate.out / "ours")
    assert (ours.label, ours.model, ours.name) == ("ours", "mine:x=y", "ours")
    assert "ours: 12 of 12 answered" in ran.err and "random:3" not in ran.out
    table = ran.out[ran.out.index("all models") :]
    lines = [line.split() for line in table.splitlines()[3:6]]
    assert [line[0] for line in lines] == ["ours", "mine:b", "chance"]
    assert [line[1] for line in lines] == ["6"] * 3  # cases
    page = evaluate.out / "report.html"
    assert run("report", *sorted(p for p in evaluate.out.iterdir()), "--out", page).code == 0
    assert "ours" in page.read_text()
    again = run("eval", evaluate.data, "--model", "ours=mine:x=y", "--out", evaluate.out)
    assert again.code == 0 and "12 of them were answered before" in again.err
    other = run("eval", evaluate.data, "--model", "ours=mine:z", "--out", evaluate.out)
    assert other.code == 2 and "another model: 'mine:x=y' there, 'mine:z' now" in other.err


def test_a_label_is_calibrated_under_its_name(
    own: PlugIn, evaluate: Evaluating, run: Command, tmp_path: Path
) -> None:
    own.answer(f"{FOUND} if phrase == 'blue' else as_prediction([square(image)], [0.3])")
    where = tmp_path / "calibration"
    options = ("--data", evaluate.data, "--out", where, "--bootstrap", 0)
    ran = run("calibrate", "ours=mine", *options)
    assert ran.code == 0, ran.err
    assert "ours: 12 of 12 answered" in ran.err and (where / "ours" / "calibration.json").is_file()
    made = painted_set(tmp_path / "others", 4)
    folder.write(made, tmp_path / "other", images_from=tmp_path / "others")
    used = run(
        "eval", tmp_path / "other", "--model", "again=mine", "--calibration", where, "--out",
        tmp_path / "used", "--bootstrap", 0,
    )  # fmt: skip
    assert used.code == 0, used.err  # a threshold belongs to the model, not to its label


@pytest.mark.parametrize(
    ("models", "message"),
    [
        (("a=oracle", "a=random"), "two of a, a would share a folder; give them labels"),
        (("a=",), "give LABEL=SPEC"),
        (("=oracle",), "give LABEL=SPEC"),
        (("a=nonsense",), "unknown model 'nonsense'"),
    ],
)
def test_labels_that_are_none(
    run: Command, benchmark_folder: Folder, tmp_path: Path, models: tuple[str, ...], message: str
) -> None:
    named = [part for model in models for part in ("--model", model)]
    ran = run("eval", benchmark_folder(1), *named, "--out", tmp_path / "runs")
    assert ran.code == 2 and message in ran.err and ran.err.count("\n") == 1


def test_labels_in_python(tmp_path: Path) -> None:
    benchmark = painted_set(tmp_path / "images", 3)
    by_name = gf.evaluate(benchmark, "chance=random:3", tmp_path / "a", bootstrap=0)
    by_option = gf.evaluate(benchmark, Abstaining(), tmp_path / "b", label="shy", bootstrap=0)
    assert (by_name.name, by_option.name) == ("chance", "shy")
    assert by_name.run is not None and by_name.run.model == "random:3"
    page = gf.report([by_name, by_option], tmp_path / "report.html")
    assert json.dumps("shy") in page.read_text() or ">shy<" in page.read_text()


# --- check-model


def checked(ran: Ran) -> dict[str, list[str]]:
    """State → rules with what was found."""
    found: dict[str, list[str]] = {}
    for each in json.loads(ran.out):
        found.setdefault(each["state"], []).append(f"{each['rule']}: {each['told']}")
    return found


def test_a_sound_model_keeps_every_rule(own: PlugIn, run: Command) -> None:
    own.answer(f"{FOUND} if 'zebra' not in phrase else as_prediction([], [])")
    ran = run("check-model", "mine", "--json")
    assert ran.code == 0 and set(checked(ran)) == {"ok"}
    table = run("check-model", "mine")
    assert table.code == 0 and "3 phrases: 2 masks, 1 abstentions" in table.out


def test_every_broken_rule_is_listed_not_the_first(own: PlugIn, run: Command) -> None:
    own.write(
        """
        ANSWERS = {
            "red square": Prediction(item_id="", outcome="seen", masks=["here"], scores=["high"]),
            "green disc": {"masks": []},
            "zebra": as_prediction([], []),
        }

        class Model:
            checkpoints = "weights.pt"
            images_at_once = 0

            def segment(self, image, phrases):
                image[:] = 0
                if image.shape[0] > image.shape[1]:
                    raise IndexError("too high")
                return [ANSWERS[phrase] for phrase in phrases]

            def segment_batch(self, images, phrases):
                return []

            def encode(self, images):
                raise MemoryError("no room")

            def segment_encoded(self, encoded, phrases):
                return []

            def frame_probe(self, image):
                return image[::-1, :, 0] > 128

            def close(self):
                del self.segmenter

        def load(argument, options):
            return Model()

        load.identity = lambda argument, options: ["version 1"]
        load.named_files = lambda argument: "weights.pt"
        """
    )
    ran = run("check-model", "mine", "--json")
    assert ran.code == 2 and "rules are broken" in ran.err
    broken = "\n".join(checked(ran)["broken"])
    for part in (
        "load.identity gives names and values: a list, not a dict",
        "load.named_files gives paths: a str, not a list of paths",
        "the answer to 'red square' is sound: outcome: 'seen' is none of ok, abstained",
        "the answer to 'red square' is sound: mask 0: a str is no mask",
        "the answer to 'red square' is sound: score 0: 'high' is no number",
        "the answer to 'green disc' is sound: a dict, not a Prediction",
        "the picture stays as it is: segment writes to the array that it is given",
        "a picture of another shape: IndexError: too high (at test_plug_in/model.py:",
        "segment_batch gives what segment gives: segment_batch gave 0 answers to 2 pictures",
        "images_at_once: images_at_once is 0",
        "encode and segment_encoded give what segment gives: MemoryError: no room (at test_plug_",
        "frame_probe: squares come back where they were: the model's coordinate frame is off",
        "checkpoints is a tuple of words: 'weights.pt' is no tuple of words",
        "close() can be called twice: AttributeError",
    ):
        assert part in broken, part
    assert len(checked(ran)["broken"]) == 14


def test_what_is_allowed_and_seldom_meant_is_a_remark(own: PlugIn, run: Command) -> None:
    own.write(
        """
        class Model:
            n = 0
            def segment(self, image, phrases):
                self.n += 1
                mask = encode(square(image))
                found = Prediction(item_id="", outcome="ok", masks=[mask], scores=[5.0 + self.n])
                return [found, *[Prediction(item_id="", outcome="ok") for _ in phrases[1:]]]
        load = lambda argument, options: Model()
        """
    )
    ran = run("check-model", "mine", "--json")
    assert ran.code == 0
    remarks = "\n".join(checked(ran)["remark"])
    assert "what is not there is an abstention: 'green disc': ok, and no mask" in remarks
    assert "scores are in 0–1: a score of 6" in remarks
    assert "the same question has the same answer: 'red square': a score of 6.0000, th" in remarks
    assert "a phrase asked alone has the same answer: 'red square': a score of 6.0" in remarks


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (
            "def load(argument, options):\n    return {}['w']",
            "a model: KeyError: 'w' (at test_plug",
        ),
        ("def load():\n    pass", "a model: TypeError: load() takes 0 positional arguments but 2"),
        ("def load(argument, options):\n    return 3", "predict: a int has none of them"),
        (
            "class Chat:\n    def complete(self, asked):\n        return ['yes' for _ in asked]\n"
            "load = lambda argument, options: Chat()",
            "reply 2 is sound: a str, not a Reply",
        ),
    ],
)
def test_models_that_are_none(own: PlugIn, run: Command, code: str, told: str) -> None:
    own.write(code)
    ran = run("check-model", "mine", "--json")
    assert ran.code == 2 and told in "\n".join(checked(ran)["broken"])


def test_a_picture_and_phrases_of_ones_own(own: PlugIn, run: Command, tmp_path: Path) -> None:
    painted_set(tmp_path / "images", 1)
    own.answer(f"as_prediction([], []) if phrase == 'nothing' else {FOUND}")
    asked = ("--image", tmp_path / "images" / "0.png", "--phrase", "nothing", "--json")
    ran = run("check-model", "mine", *asked)
    assert ran.code == 0 and "every answer is sound: 1 phrases: 0 masks, 1 abst" in "\n".join(
        checked(ran)["ok"]
    )
    found = gf.check_model(Abstaining(), phrases=["cat"])
    assert all(each.state == "ok" for each in found)
