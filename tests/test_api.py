"""The Python API: its names, its speed of import, and that it gives what the commands give."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import groundfault as gf
from groundfault.errors import UnknownName, UsageError
from groundfault.records import Message, Outcome, Picture, Prediction, Reply

pytest.importorskip("skia")

PUBLIC = [
    "Benchmark",
    "Estimate",
    "GroundfaultError",
    "Item",
    "Message",
    "Outcome",
    "Picture",
    "Prediction",
    "Reply",
    "Result",
    "__version__",
    "as_prediction",
    "audit",
    "build",
    "build_pairs",
    "calibrate",
    "check_model",
    "compare",
    "evaluate",
    "explore",
    "judge",
    "judge_card",
    "leaderboard",
    "load",
    "log_run",
    "open_run",
    "parse_answer",
    "propose_phrases",
    "reader_card",
    "report",
    "score",
    "status",
    "sweep",
    "to_datasets",
    "to_fiftyone",
    "to_supervision",
    "train",
]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from groundfault.world.presets import BuildSettings, build

    folder = tmp_path_factory.mktemp("api") / "world"
    build("cafe", 4, folder, BuildSettings(seed=5, size_px=128))
    return folder


@pytest.fixture(scope="module")
def exam(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from groundfault.world.exams import build_exam

    folder = tmp_path_factory.mktemp("api") / "exam"
    build_exam(4, folder, seed=1, layout="paper")
    return folder


def test_public_names() -> None:
    assert sorted(gf.__all__) == sorted(PUBLIC)
    for name in PUBLIC:
        assert getattr(gf, name) is not None
    assert set(PUBLIC) <= set(dir(gf))
    assert callable(gf.report)  # and no module of that name gets in its way
    with pytest.raises(AttributeError, match="no attribute 'evalute'"):
        _ = gf.evalute  # type: ignore[attr-defined]


def test_importing_loads_nothing_heavy() -> None:
    heavy = ["numpy", "pyarrow", "scipy", "PIL", "msgspec", "rich", "typer", "torch"]
    code = f"import sys, groundfault; print([m for m in {heavy} if m in sys.modules])"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.stdout.strip() == "[]", ended.stderr


def test_a_run_is_what_the_command_makes(world: Path, tmp_path: Path) -> None:
    from groundfault import cli

    run = gf.evaluate(gf.load(world), "random:3", out=tmp_path / "api", bootstrap=50)
    words = ["eval", world, "--model", "random:3", "--out", tmp_path / "cli", "--bootstrap", 50]
    assert cli.run([str(word) for word in words]) == 0
    ours = json.loads((tmp_path / "api" / "summary.json").read_bytes())
    theirs = json.loads((tmp_path / "cli" / "random-3" / "summary.json").read_bytes())
    assert ours == theirs
    assert run.folder == tmp_path / "api" and run.run is not None and run.run.state == "finished"
    assert len(list(run.predictions())) == 8
    again = gf.open_run(tmp_path / "api")
    assert again.summary == run.summary and again.name == "random:3"
    assert run.check("failed<1") and not run.check("AFPR<0")


def test_tables(world: Path, tmp_path: Path) -> None:
    run = gf.evaluate(world, "oracle", out=tmp_path / "run", bootstrap=0)
    table, cases = run.table(["pmF1", "AFPR"]), run.cases()
    if hasattr(table, "column_names"):  # Arrow: pandas is not installed
        assert {"row", "positive_micro_F1", "AFPR"} <= set(table.column_names)
        assert cases.num_rows == 4
    else:
        assert table.loc["Overall", "positive_micro_F1"] > 0.99 and len(cases) == 4
    assert "Overall" in repr(run) and "<table>" in run._repr_html_()
    with pytest.raises(UnknownName, match=r"(?i)did you mean"):
        run.table(["AFPRR"])


class Everything:
    """Accepts the whole picture, whatever is asked."""

    def segment(self, image: Any, phrases: list[str]) -> list[Prediction]:
        return [gf.as_prediction([np.ones(image.shape[:2], bool)], [1.0]) for _ in phrases]


class Broken:
    """Gives one mask for two scores."""

    def segment(self, image: Any, phrases: list[str]) -> list[Prediction]:
        return [gf.as_prediction([np.ones(image.shape[:2], bool)], [1.0, 0.5]) for _ in phrases]


class Agrees:
    """Says yes, and A."""

    def complete(self, conversations: list[tuple[Message, ...]]) -> list[Reply]:
        for messages in conversations:
            assert all(isinstance(picture, Picture) for picture in messages[-1].pictures)
        return [Reply(outcome=Outcome.OK, text="Yes." if "yes or no" in c[-1].text else "A.")
                for c in conversations]  # fmt: skip


def test_a_model_that_never_answers_is_told_why(world: Path) -> None:
    with pytest.raises(gf.GroundfaultError, match="1 masks with 2 scores"):
        gf.evaluate(world, Broken())
    with pytest.raises(ValueError, match="height, width"):
        gf.as_prediction([np.ones((1, 2, 2), bool)], [1.0])
    assert gf.as_prediction([], []).outcome is Outcome.ABSTAINED


def test_objects_as_models(world: Path, exam: Path) -> None:
    run = gf.evaluate(world, Everything(), bootstrap=0)
    assert run.summary.rows["Overall"].metrics["IL-FPR"].value == 1 and run.name == "Everything"
    asked = gf.evaluate(exam, Agrees(), mode="std", bootstrap=0)
    same = gf.evaluate(exam, "always-yes", mode="std", bootstrap=0)
    rates = [r.summary.rows["Overall"].metrics["yes_rate"].value for r in (asked, same)]
    assert rates == [1, 1]
    with pytest.raises(UsageError, match="has no segment"):
        gf.evaluate(world, Agrees())
    with pytest.raises(UsageError, match="has no complete"):
        gf.evaluate(exam, Everything())


def test_options_are_checked_before_anything_is_asked(world: Path, exam: Path) -> None:
    with pytest.raises(UnknownName, match=r"(?i)did you mean 'bootstrap'"):
        gf.evaluate(world, "oracle", boostrap=0)  # type: ignore[call-arg]
    with pytest.raises(UsageError, match="--mode does not go with"):
        gf.evaluate(world, "oracle", mode="both")
    with pytest.raises(UsageError, match="--tau does not go with"):
        gf.evaluate(exam, "oracle", tau=0.2)
    with pytest.raises(UsageError, match="answers no questions"):
        gf.evaluate(exam, "sam3")


def test_in_a_running_event_loop(exam: Path) -> None:
    async def cell() -> float | None:
        run = gf.evaluate(exam, "oracle", bootstrap=0)
        return run.summary.rows["Overall"].metrics["react_score"].value

    assert asyncio.run(cell()) == 1


def test_compare_report_and_pictures(world: Path, exam: Path, tmp_path: Path) -> None:
    runs = [
        gf.evaluate(world, name, out=tmp_path / name, bootstrap=0) for name in ("oracle", "blind")
    ]
    compared = gf.compare(*runs, bootstrap=50, metrics=["pmF1"], rows=["Overall"])
    assert compared.comparison.ranks["Overall"]["positive_micro_F1"]["oracle"] == 1
    assert "oracle" in repr(compared) and "<table>" in compared._repr_html_()
    page = gf.report(runs, tmp_path / "report.html")
    assert "oracle" in page.read_text()
    case = runs[0].benchmark().cases[0].id
    shown = runs[0].show(case)
    assert shown.image.size[0] > 0 and "accepted (1.00)" in shown._repr_html_()
    assert shown.save(tmp_path / "case.png").stat().st_size > 1000
    with pytest.raises(UnknownName):
        runs[0].show("nobody")
    asked = gf.evaluate(exam, "oracle", mode="std", bootstrap=0)
    words = asked.show(gf.load(exam).cases[0].id)._repr_html_()
    assert "[right]" in words


def test_score_and_sweep(tmp_path: Path) -> None:
    from groundfault.io.example import write_example

    write_example(tmp_path, n=20, seed=1)
    files = {
        "annotations": tmp_path / "annotations.json",
        "predictions": tmp_path / "gullible.json",
    }
    result = gf.score("cafe", **files, t=0.5, bootstrap=0, out=tmp_path / "scores")
    assert result.summary.rows["Overall"].n_cases == 20
    assert gf.open_run(tmp_path / "scores").summary == result.summary
    in_memory = gf.score("cafe", **files, bootstrap=0)
    assert len(in_memory.cases()) == 20
    with pytest.raises(UsageError, match="give out="):
        list(in_memory.predictions())
    swept = gf.sweep("cafe", **files, t=[0.3, 0.5], tau=[0.3])
    assert {(point.t, point.tau) for point in swept.points} == {(0.3, 0.3), (0.5, 0.3)}
    with pytest.raises(UnknownName, match=r"(?i)did you mean 'annotations'"):
        gf.score("cafe", annotation=files["annotations"], predictions=files["predictions"])


def test_calibrate(world: Path, tmp_path: Path) -> None:
    found = gf.calibrate("nano-base", world, tmp_path, bootstrap=0)
    assert (tmp_path / "nano-base" / "calibration.svg").is_file()
    run = gf.evaluate(world, "nano-base", out=tmp_path / "other", bootstrap=0)
    assert gf.calibrate(run, world, bootstrap=0).t == found.t
    with pytest.raises(gf.GroundfaultError, match="every score is 1, so no threshold"):
        gf.calibrate("oracle", world, tmp_path, bootstrap=0)


def test_judge_again(exam: Path, tmp_path: Path) -> None:
    gf.evaluate(exam, "oracle", out=tmp_path / "oracle", mode="cot", bootstrap=0)

    class Strict:
        def judge(self, question: str, answer: str, rubric: str) -> bool | None:
            return False

    [again] = gf.judge(tmp_path / "oracle", judge=Strict(), bootstrap=0).values()
    assert again.run is not None and again.run.judged is not None
    assert again.run.judged.name == "Strict"
    assert again.summary.rows["erasure"].metrics["SA"].value == 0
    card = gf.judge_card(exam, n_labels=12)
    assert card.judge == "rule" and card.tasks["Overall"].n_right > 0


def test_parse_answer() -> None:
    assert gf.parse_answer("Yes.", "yes_no").value is True
    assert gf.parse_answer("There is no dog.", "yes_no", question="Is there no dog?").value is True
    assert gf.parse_answer("(b)", "choice", options=("red", "blue")).value == "B"
    assert gf.parse_answer("between 3 and 5", "range").value == (3, 5)
    nothing = gf.parse_answer("I can't view images.", "number")
    assert nothing.value is None and nothing.why == "a refusal"


def test_the_notebook_runs(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("onnxruntime")
    path = Path(__file__).parent.parent / "examples" / "notebook.ipynb"
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=1800, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    )
    client.execute()
    pages = [
        output["data"]
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if "data" in output
    ]
    assert sum("text/html" in data for data in pages) >= 5
