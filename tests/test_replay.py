"""`eval --model replay:…` gives what `score` gives, to the bit."""

from __future__ import annotations

import gzip
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import CafeSet, Ran
from tests.llm.exams import counting_exam
from tests.llm.runs import run_exam

from groundfault.analysis.summary import read_results
from groundfault.errors import DataError, UsageError
from groundfault.interfaces import ModelOptions
from groundfault.judges import grade
from groundfault.judges.rule import RuleJudge
from groundfault.models.baselines import Oracle
from groundfault.models.replay import replay
from groundfault.records import MODES, Benchmark, Outcome, Prediction
from groundfault.runs.recorder import read_predictions, replace_predictions

GOLDEN = Path(__file__).parent / "golden"
SIDES = ("factual", "counterfactual")
Run = Callable[..., Ran]


@pytest.fixture(params=["cafe_n60_s11", "cafe_n60_s12"])
def golden(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    for packed in (GOLDEN / request.param).glob("*.json.gz"):
        (tmp_path / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
    return tmp_path


def check_equal(scored: Path, replayed: Path) -> None:
    """Summaries and case tables are equal; notes about a file's records may differ."""
    ours, theirs = read_results(replayed), read_results(scored)
    for part in ("benchmark", "settings", "rows", "outcomes", "bounds", "data", "version"):
        assert getattr(ours[0], part) == getattr(theirs[0], part), part
    assert ours[1].equals(theirs[1])
    assert (scored / "cases.parquet").read_bytes() == (replayed / "cases.parquet").read_bytes()


@pytest.mark.parametrize("benchmark", ["cafe", "saco"])
@pytest.mark.parametrize("annotators", ["annotations", "annotations_b annotations_c"])
@pytest.mark.parametrize(
    ("predictions", "more"),
    [("pred", ()), ("pred", ("--variant", "exact", "--t", 0.3)), ("pred_bbox", ("--iou", "bbox"))],
)
def test_golden_sets(
    golden: Path, run: Run, benchmark: str, annotators: str, predictions: str, more: tuple[Any, ...]
) -> None:
    files = [
        golden / f"{name}.json" for name in dict.fromkeys(("annotations", *annotators.split()))
    ]
    options = [word for file in files for word in ("--annotations", file)]
    options += ["--bootstrap", 200, *more]
    dump = golden / f"{predictions}.json"
    scored = run("score", benchmark, *options, "--predictions", dump, "--out", golden / "scored")
    assert scored.code == 0, scored.err
    spec = f"replay:{dump}"
    replayed = run("eval", benchmark, *options, "--model", spec, "--out", golden / "runs")
    assert replayed.code == 0, replayed.err
    [folder] = (golden / "runs").iterdir()
    check_equal(golden / "scored", folder)
    assert replayed.out.split("\n", 1)[1] == scored.out


def test_outcomes_forms_and_categories_of_a_dump(cafe: CafeSet, run: Run, tmp_path: Path) -> None:
    """Failed and unreadable records, plain run lengths, undeclared categories, silence."""
    cafe.predictions[0]["category_id"] = 77
    cafe.predictions[1] = {"image_id": 1_000_000_001, "outcome": "failed", "reason": "no luck"}
    cafe.predictions[2] = {"image_id": 2, "outcome": "unparsed"}
    del cafe.predictions[3]
    cafe.write()
    out = tmp_path / "out"
    assert run("score", "cafe", *cafe.options, "--bootstrap", 50, "--out", out / "scored").code == 0
    replayed = run(
        "eval", "cafe", "--annotations", cafe.annotation_file, "--bootstrap", 50,
        "--model", f"replay:{cafe.prediction_file}", "--out", out / "runs",
    )  # fmt: skip
    assert replayed.code == 0 and "1 failed: no luck" in replayed.err
    [folder] = (out / "runs").iterdir()
    check_equal(out / "scored", folder)
    notes = [read_results(where)[0].notes for where in (out / "scored", folder)]
    assert notes[0] == notes[1]

    again = run(
        "eval", "cafe", "--annotations", cafe.annotation_file, "--bootstrap", 50,
        "--model", f"replay:{folder}", "--out", out / "again",
    )  # fmt: skip
    assert again.code == 0
    check_equal(out / "scored", next((out / "again").iterdir()))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p[0].pop("score"), "it has no score"),
        (lambda p: p[0]["segmentation"].update(counts="ZZ"), "unsound mask"),
        (lambda p: p[0].pop("segmentation"), "it has no segmentation"),
        (lambda p: [r.update(image_id=r["image_id"] + 5000) for r in p], "no answer belongs"),
    ],
)
def test_unsound_dumps_are_refused(
    cafe: CafeSet, run: Run, tmp_path: Path, change: Callable[[Any], Any], message: str
) -> None:
    for record in cafe.predictions:
        del record["bbox"]
    change(cafe.predictions)
    cafe.write()
    ran = run(
        "eval", "cafe", "--annotations", cafe.annotation_file, "--bootstrap", 0,
        "--model", f"replay:{cafe.prediction_file}", "--out", tmp_path / "runs",
    )  # fmt: skip
    assert ran.code == 2 and message in ran.err


def test_what_replay_cannot_read(cafe: CafeSet, run: Run, tmp_path: Path) -> None:
    cafe.write()
    for spec, message in (
        ("replay", "name the answers"),
        (f"replay:{tmp_path / 'none.json'}", "no such file"),
        (f"replay:{tmp_path}", "holds neither"),
    ):
        ran = run(
            "eval", "cafe", "--annotations", cafe.annotation_file, "--model", spec,
            "--out", tmp_path / "runs",
        )  # fmt: skip
        assert ran.code == 2 and message in ran.err


def test_halluseg_pictures(run: Run, tmp_path: Path) -> None:
    """The metrics of `score halluseg`; a PNG that is not there is a failure."""
    with tarfile.open(GOLDEN / "halluseg_n60_s21.tar.xz") as packed:
        packed.extractall(tmp_path, filter="data")
    data, pngs = tmp_path / "data", tmp_path / "pred"
    corners = ("orgl_orgi", "edtl_orgi", "orgl_edti", "edtl_edti")
    whole = [
        record
        for record in json.loads((tmp_path / "results.json").read_text())
        if all((data / record[f"{side}_mask_path"]).is_file() for side in SIDES)
        and all((pngs / record[f"mask_{corner}"]).is_file() for corner in corners)
    ]
    assert len(whole) > 50
    cases = tmp_path / "whole.json"
    cases.write_text(json.dumps(whole))
    options = ("--cases", cases, "--data", data, "--bootstrap", 100, "--json")
    scored = run("score", "halluseg", *options, "--predictions", pngs)
    assert scored.code == 0, scored.err
    command = ("eval", "halluseg", *options, "--model", f"replay:{pngs}", "--out", tmp_path / "out")
    replayed = run(*command)
    assert replayed.code == 0, replayed.err
    summary = json.loads(replayed.out.splitlines()[-1])["summary"]
    assert summary["rows"] == scored.json["rows"]

    (pngs / whole[0]["mask_orgl_edti"]).unlink()
    missing = run(*command, "--no-resume")
    event = json.loads(missing.out.splitlines()[-1])
    assert event["failures"] == {"its PNG is not there": 1}
    overall = event["summary"]["rows"]["Overall"]
    assert overall["n_cases"] == len(whole)
    assert {overall["metrics"][m]["n"] for m in ("IoU_fact", "CMS_fact")} == {len(whole) - 1}
    low, high = event["summary"]["bounds"]["Overall"]["CMS_counterfact"]
    assert low < overall["metrics"]["CMS_counterfact"]["value"] < high


# In words.


@pytest.fixture(scope="module")
def exam(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    """An exam of 240 questions."""
    return counting_exam(tmp_path_factory.mktemp("exams") / "counting", 30)


def answers_of(exam: Benchmark, model: Any, out: Path) -> dict[tuple[str, str], Prediction]:
    run_exam(exam, lambda: model, out, name="replay", modes=MODES)
    return {each.key: each for each in read_predictions(out)}


def test_replay_of_a_run_in_words(exam: Benchmark, tmp_path: Path) -> None:
    """What was said is said again; verdicts are for whoever judges this run."""
    first = answers_of(exam, Oracle(), tmp_path / "first")
    judged = grade(exam, first.values(), RuleJudge())
    assert {each.verdict for each in judged} == {"right"}
    replace_predictions(tmp_path / "first", judged)
    replayed = replay(str(tmp_path / "first"), ModelOptions())
    second = answers_of(exam, replayed, tmp_path / "second")
    assert {key: each.text for key, each in first.items()} == {
        key: each.text for key, each in second.items()
    }
    assert {(each.verdict, each.judge, each.cost) for each in second.values()} == {(None, "", 0.0)}


def test_replay_of_lines(exam: Benchmark, tmp_path: Path) -> None:
    lines = [
        {"item_id": "s00000:Q1", "text": "Yes"},
        {"item_id": "s00000:Q2", "mode": "std", "text": ""},
        {"item_id": "s00000:Q3", "text": "I lo", "finish": "length"},
    ]
    file = tmp_path / "answers.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)) + "\n\n")
    model = replay(str(file), ModelOptions())
    found = run_exam(exam, lambda: model, tmp_path / "run", name="replay", modes=MODES)
    assert found.outcomes == {"ok": 2, "abstained": 0, "unparsed": 3, "failed": 475}
    answers = {each.key: each for each in read_predictions(tmp_path / "run")}
    assert answers["s00000:Q2", "std"].reason == "empty answer"
    assert answers["s00000:Q2", "cot"].outcome is Outcome.FAILED
    assert "truncated" in answers["s00000:Q3", "cot"].reason
    file.write_text('{"item_id": 7}')
    with pytest.raises(DataError, match="line 1"):
        replay(str(file), ModelOptions())
    with pytest.raises(UsageError, match="holds neither"):
        replay(exam.folder, ModelOptions())
