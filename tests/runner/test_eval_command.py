"""The contract of `groundfault eval`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Ran
from tests.runner.conftest import painted_set

from groundfault.analysis.gates import parse_gate
from groundfault.analysis.summary import read_results
from groundfault.benchmarks import cafe, folder, halluseg, saco
from groundfault.interfaces import ModelOptions
from groundfault.protocols import of_benchmark
from groundfault.records import Benchmark, Card, Case, Item, Region, Role
from groundfault.runner.session import folder_name
from groundfault.runs.identity import model_identity
from groundfault.runs.recorder import read_predictions
from groundfault.runs.run import read_run

Command = Callable[..., Ran]
Folder = Callable[[int], Path]


def events(ran: Ran) -> list[dict[str, Any]]:
    return [json.loads(line) for line in ran.out.splitlines()]


def test_our_own_folder(run: Command, benchmark_folder: Folder, tmp_path: Path) -> None:
    ran = run(
        "eval", benchmark_folder(6), "--model", "oracle", "--model", "random:3", "--bootstrap", 50,
        "--out", tmp_path / "runs",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert "oracle: 12 of 12 answered" in ran.err and "random:3:" in ran.out
    for name in ("oracle", "random-3"):
        written = sorted(path.name for path in (tmp_path / "runs" / name).iterdir())
        assert written == ["cases.parquet", "predictions-00000.parquet", "run.json", "summary.json"]
    stored = read_run(tmp_path / "runs" / "oracle")
    assert stored.state == "finished" and stored.n_items == 12 and stored.n_images == 6
    assert stored.settings["engine"] == "local" and stored.settings["device"] == "auto"
    assert {"python", "groundfault", "numpy"} <= set(stored.versions)
    assert stored.identity["data"] == stored.content_hash != ""


@pytest.mark.usefixtures("plugin")
@pytest.mark.parametrize("name", ["cafe", "saco"])
def test_published_formats(run: Command, tmp_path: Path, name: str) -> None:
    made = painted_set(tmp_path / "images", 6)
    numbered = tuple(
        Item(**{**_fields(item), "id": str(k + 1), "case_id": str(k // 2 * 2 + 1)})
        for k, item in enumerate(made.items)
    )
    cases = tuple(
        Case(id=str(2 * k + 1), intervention=case.intervention) for k, case in enumerate(made.cases)
    )
    annotations = tmp_path / "annotations.json"
    {"cafe": cafe, "saco": saco}[name].write(
        Benchmark(card=made.card, cases=cases, items=numbered), annotations
    )
    ran = run(
        "eval", name, "--annotations", annotations, "--images", tmp_path / "images",
        "--model", "finder", "--bootstrap", 0, "--out", tmp_path / "runs", "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    started, *_, finished = events(ran)
    assert (started["event"], started["model"], started["n_items"]) == ("started", "finder", 12)
    assert finished["event"] == "finished" and finished["answered"] == 12
    assert finished["probe"] == "not offered by the model"
    summary, _ = read_results(tmp_path / "runs" / "finder")
    assert summary.benchmark == name and list(summary.data) == ["annotations 1"]


def _fields(item: Item) -> dict[str, Any]:
    return {name: getattr(item, name) for name in item.__struct_fields__}


@pytest.mark.usefixtures("plugin")
def test_halluseg(run: Command, tmp_path: Path) -> None:
    made = painted_set(tmp_path / "pictures", 4)
    items, cases = [], []
    for k in (0, 2):  # two pictures of one size make a quad
        fact, edit = made.items[2 * k], made.items[2 * k + 4 if k == 0 else 0]
        cases.append(Case(id=f"{k}_{k}", intervention="replacement"))
        for role, picture, query in (
            (Role.FACTUAL, fact, "blue"),
            (Role.TEXTUAL, fact, "green"),
            (Role.VISUAL, edit, "blue"),
            (Role.COUNTERFACTUAL, edit, "green"),
        ):
            region = Region(encode_target(picture))
            items.append(
                Item(
                    id=f"{k}_{k}/{halluseg.CORNERS[role]}",
                    case_id=f"{k}_{k}",
                    role=role,
                    images=(picture.image,),
                    height_px=picture.height_px,
                    width_px=picture.width_px,
                    query=query,
                    target=region,
                )
            )
    card = Card(name="halluseg", title="", source="", licence="", citation="", main_metric="CCMS")
    benchmark = Benchmark(card=card, cases=tuple(cases), items=tuple(items))
    halluseg.write(benchmark, tmp_path / "set")
    data = tmp_path / "set" / "data"
    for picture in (tmp_path / "pictures").iterdir():
        picture.rename(data / picture.name)
    ran = run(
        "eval", "halluseg", "--cases", tmp_path / "set" / "results.json", "--data", data,
        "--model", "finder", "--t", 0.2, "--bootstrap", 0, "--out", tmp_path / "runs", "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    metrics = events(ran)[-1]["summary"]["rows"]["Overall"]["metrics"]
    assert {*metrics} == {*of_benchmark(benchmark).metrics()}
    assert metrics["IoU_fact"]["value"] == 1.0 and metrics["IoU_visual"]["value"] == 1.0
    assert len(list(read_predictions(tmp_path / "runs" / "finder"))) == 8


def encode_target(item: Item) -> Any:
    assert item.target is not None and item.target.mask is not None
    return item.target.mask


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("caffe", "--model", "oracle"), "unknown benchmark 'caffe'. Did you mean 'cafe'"),
        (("no/where", "--model", "oracle"), "no/where: no such benchmark folder"),
        (("saco", "--model", "oracle"), "saco: give its files with --annotations"),
        (("cafe", "--images", "x", "--model", "oracle"), "cafe: give its files with --annotations"),
        (("saco@main", "--model", "oracle"), "Did you mean 'saco'"),
        (("halluseg", "--cases", "x", "--model", "oracle"), "give its files with --data"),
        (("HERE", "--data", "x", "--model", "oracle"), "--data does not go with"),
        (("HERE", "--model", "orcle"), "Did you mean 'oracle'"),
        (("HERE", "--model", "oracle:1"), "takes no argument"),
        (("HERE", "--model", "random:1", "--model", "random/1"), "would share a folder"),
        (("HERE", "--model", "oracle", "--fail-if", "AFPR"), "give METRIC>NUMBER"),
        (("HERE", "--model", "oracle", "--metric", "cgf1"), "Did you mean 'cgF1'"),
    ],
)
def test_what_does_not_fit_together(
    run: Command, benchmark_folder: Folder, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    folder = benchmark_folder(2)
    words = [str(folder) if word == "HERE" else word for word in arguments]
    ran = run("eval", *words, "--bootstrap", 0, "--out", tmp_path / "runs")
    assert ran.code == 2 and message in ran.err


def test_a_limit_is_the_first_cases(run: Command, benchmark_folder: Folder, tmp_path: Path) -> None:
    command = ("eval", benchmark_folder(6), "--model", "oracle", "--bootstrap", 0, "--json")
    out = ("--out", tmp_path / "runs")
    part = events(run(*command, *out, "--limit", 2))[-1]
    assert part["n_items"] == 4 and part["summary"]["rows"]["Overall"]["n_cases"] == 2
    assert part["summary"]["data"]["limit"] == "2"
    whole = events(run(*command, *out))[-1]
    assert whole["n_items"] == 12 and "limit" not in whole["summary"]["data"]


@pytest.mark.parametrize(
    ("conditions", "code", "message"),
    [
        (["AFPR>0.2"], 0, ""),
        (["AFPR>=0"], 1, "fail-if AFPR>=0 holds: oracle has 0"),
        (["cgF1<0.5", "SM:cgF1 <= 1"], 1, "fail-if SM:cgF1 <= 1 holds"),
        (["SN:AFPR>0.2"], 2, "unknown row 'SN'"),
        (["OC:AFPR>0.2"], 2, "AFPR is undefined in row OC, which has 0 cases"),
        (["failed>0", "unparsed>0"], 0, ""),
        (["abstained>=2"], 1, "fail-if abstained>=2 holds: oracle has 2"),
        (["pmF1 > 99.5 %"], 1, "fail-if pmF1 > 99.5 % holds: oracle has 100%"),
        (["AFPR>20%", "TA-TP>50"], 0, ""),
        (["AFPR>=0.0%"], 1, "fail-if AFPR>=0.0% holds: oracle has 0%"),
    ],
)
def test_exit_codes_for_ci(
    run: Command,
    benchmark_folder: Folder,
    tmp_path: Path,
    conditions: list[str],
    code: int,
    message: str,
) -> None:
    options = [word for condition in conditions for word in ("--fail-if", condition)]
    ran = run(
        "eval", benchmark_folder(2), "--model", "oracle", "--bootstrap", 0, *options,
        "--out", tmp_path / "runs",
    )  # fmt: skip
    assert ran.code == code and message in ran.err
    assert (tmp_path / "runs" / "oracle" / "summary.json").is_file()


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("cgf1<0.5", "unknown metric 'cgf1'. Did you mean 'cgF1'"),
        ("SM:CCMS>0", "unknown metric 'CCMS'"),
        ("fail>0", "unknown metric 'fail'. Did you mean 'failed'"),
        ("SM:failed>0", "counted over the whole run; leave 'SM:' out"),
        ("AFPR>20", "AFPR goes from 0 to 1, printed in percent: write AFPR>20%, or 0.2"),
        ("SM:pmF1<50", "write pmF1<50%, or 0.5. As it stands, the condition always holds"),
        ("AFPR>1", "write AFPR>1%, or 0.01. As it stands, the condition never holds"),
        ("AFPR>120%", "AFPR goes from 0 to 1. As it stands, the condition never holds"),
        ("cgF1<-2", "cgF1 goes from -1 to 1. As it stands, the condition never holds"),
        ("IL_MCC>50", "IL_MCC goes from -1 to 1. As it stands"),
        ("IL_MCC>50%", "IL_MCC is no share; give a plain number"),
        ("failed>5%", "outcomes are counts of items"),
    ],
)
def test_a_condition_that_cannot_hold_is_refused_before_the_model_is_asked(
    run: Command, benchmark_folder: Folder, tmp_path: Path, condition: str, message: str
) -> None:
    ran = run(
        "eval", benchmark_folder(1), "--model", "oracle", "--fail-if", condition,
        "--out", tmp_path / "runs",
    )  # fmt: skip
    assert ran.code == 2 and message in ran.err
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--t", 50), "t: scores go from 0 to 1, so 50 decides nothing; 50 % is 0.5, or 50%"),
        (("--t", -0.5), "t: scores go from 0 to 1, so -0.5 decides nothing"),
        (("--tau", "30"), "tau: expected `float` <= 1.0"),
        (("--t", "half"), "Invalid value for '--t'"),
        (("--metric", "pmf1"), "unknown metric 'pmf1'"),
        (("--metric", "cgF1", "--metric", "CCMS"), "unknown metric 'CCMS'"),
    ],
)
def test_what_is_asked_for_is_checked_before_the_model_is_asked(
    run: Command,
    benchmark_folder: Folder,
    tmp_path: Path,
    options: tuple[object, ...],
    message: str,
) -> None:
    out = ("--out", tmp_path / "runs")
    ran = run("eval", benchmark_folder(1), "--model", "oracle", *options, *out)
    assert ran.code == 2 and message in ran.err
    assert not (tmp_path / "runs").exists()


def test_an_exam_is_checked_beforehand_too(run: Command, tmp_path: Path) -> None:
    from tests.llm.exams import whole_exam

    whole_exam(tmp_path / "exam", per_task=1)
    for options, message in (
        (("--metric", "React"), "unknown metric 'React'"),
        (("--fail-if", "React-Score<50"), "react_score goes from 0 to 1, printed in percent"),
    ):
        out = ("--out", tmp_path / "runs")
        ran = run("eval", tmp_path / "exam", "--model", "oracle", *options, *out)
        assert ran.code == 2 and message in ran.err
        assert not (tmp_path / "runs").exists()


def test_thresholds_may_be_percent(run: Command, benchmark_folder: Folder, tmp_path: Path) -> None:
    out = ("--out", tmp_path / "runs", "--bootstrap", 0)
    given = ("--t", "40%", "--tau", "35 %", "--metric", "pmF1")
    ran = run("eval", benchmark_folder(2), "--model", "oracle", *given, *out)
    assert ran.code == 0 and "pmF1 ↑" in ran.out, ran.err
    settings = read_results(tmp_path / "runs" / "oracle")[0].settings
    assert (settings["t"], settings["tau"]) == (0.4, 0.35)


def test_the_metrics_of_a_benchmark_are_known_beforehand(run: Command, tmp_path: Path) -> None:
    """With and without negatives; a benchmark of replaced objects is in `test_halluseg`."""
    made = painted_set(tmp_path / "images", 2)
    lone = tuple(item for item in made.items if item.role is Role.POSITIVE)
    card = Card(name="saco", title="", source="", licence="", citation="", main_metric="cgF1")
    for name, items in (("both", made.items), ("lone", lone)):
        benchmark = Benchmark(card=card, cases=made.cases, items=items)
        folder.write(benchmark, tmp_path / name, images_from=tmp_path / "images")
        out = ("--bootstrap", 0, "--out", tmp_path / "runs" / name)
        assert run("eval", tmp_path / name, "--model", "oracle", *out).code == 0
        summary, _ = read_results(tmp_path / "runs" / name / "oracle")
        assert {*of_benchmark(benchmark).metrics()} == {*summary.rows["Overall"].metrics}


@pytest.mark.parametrize(
    "text",
    ["", "AFPR", "AFPR>", ">0.2", "AFPR=0.2", "a:b:AFPR>1", "AFPR>x", "AFPR>nan", "AFPR>inf"],
)
def test_conditions_that_are_none(text: str) -> None:
    with pytest.raises(Exception, match="give METRIC>NUMBER"):
        parse_gate(text)


@pytest.mark.usefixtures("plugin")
def test_the_end_says_what_failed_and_how_to_retry(
    run: Command, benchmark_folder: Folder, tmp_path: Path
) -> None:
    folder = benchmark_folder(6)
    good = {k: (folder / "images" / f"{k}.png").read_bytes() for k in (1, 4)}
    for k in good:
        (folder / "images" / f"{k}.png").write_text("no picture")
    command = ("eval", folder, "--model", "finder", "--bootstrap", 0, "--out", tmp_path / "runs")
    ran = run(*command)
    assert ran.code == 0
    assert "finder: 8 of 12 answered" in ran.err
    assert "4 failed: UnidentifiedImageError: cannot identify image file" in ran.err
    assert "the same command again asks exactly those that failed" in ran.err
    gated = run(*command, "--fail-if", "failed>0", "--fail-if", "failed > 4")
    assert gated.code == 1 and "fail-if failed>0 holds: finder has 4" in gated.err
    assert "failed > 4 holds" not in gated.err
    for k, content in good.items():
        (folder / "images" / f"{k}.png").write_bytes(content)
    again = run(*command)
    assert "finder: 12 of 12 answered" in again.err and " failed:" not in again.err


@pytest.mark.usefixtures("plugin")
def test_a_run_without_an_answer_is_no_result(
    run: Command, benchmark_folder: Folder, tmp_path: Path
) -> None:
    folder = benchmark_folder(2)
    pictures = {path: path.read_bytes() for path in (folder / "images").iterdir()}
    for path in pictures:
        path.write_text("no picture")
    command = ("eval", folder, "--bootstrap", 0, "--out", tmp_path / "runs", "--model", "finder")
    ran = run(*command, "--model", "oracle")
    assert ran.code == 2 and "finder: 0 of 4 answered" in ran.err
    assert "error: finder answered not one item" in ran.err
    assert (tmp_path / "runs" / "oracle" / "summary.json").is_file()  # it was asked all the same
    assert not (tmp_path / "runs" / "finder" / "summary.json").exists()
    assert read_run(tmp_path / "runs" / "finder").outcomes["failed"] == 4
    finished = events(run(*command, "--json"))[-1]
    assert (finished["answered"], finished["summary"]) == (0, None)
    for path, content in pictures.items():
        path.write_bytes(content)
    assert run(*command).code == 0


@pytest.mark.usefixtures("plugin")
def test_other_options_are_not_mixed(
    run: Command, benchmark_folder: Folder, tmp_path: Path
) -> None:
    command = ("eval", benchmark_folder(2), "--model", "finder", "--bootstrap", 0)
    out = ("--out", tmp_path / "runs")
    assert run(*command, *out).code == 0
    refused = run(*command, *out, "--dtype", "float16")
    assert refused.code == 2 and "another dtype: 'auto' there, 'float16' now" in refused.err
    assert run(*command, *out, "--batch", 1, "--workers", 2, "--t", 0.4).code == 0
    assert run(*command, *out, "--dtype", "float16", "--no-resume").code == 0


def test_changed_files_of_a_model_are_noticed(
    run: Command, benchmark_folder: Folder, tmp_path: Path
) -> None:
    dump = tmp_path / "dump.json"
    mask = encode_target(painted_set(tmp_path / "more", 1).items[0])
    record = {"image_id": "0-blue", "category_id": 1, "segmentation": {**mask}, "score": 0.9}
    dump.write_text(json.dumps([record]))
    command = (
        "eval", benchmark_folder(2), "--model", f"replay:{dump}", "--bootstrap", 0,
        "--out", tmp_path / "runs",
    )  # fmt: skip
    assert run(*command).code == 0
    dump.write_text(json.dumps([{**record, "score": 0.8}]))
    refused = run(*command)
    assert refused.code == 2 and "another model file" in refused.err


def test_files_that_only_begin_like_a_models_argument_are_somebody_elses(
    run: Command, benchmark_folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a log does that is written beside a run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "5.log").write_text("begun")
    command = ("eval", benchmark_folder(2), "--model", "random:5", "--bootstrap", 0)
    assert run(*command, "--out", tmp_path / "runs").code == 0
    (tmp_path / "5.log").write_text("begun, and ended")
    assert run(*command, "--out", tmp_path / "runs").code == 0


@pytest.mark.parametrize("content", ["", '{"model": "ran', "[]"])
def test_a_damaged_run_json_names_a_remedy_that_works(
    run: Command, benchmark_folder: Folder, tmp_path: Path, content: str
) -> None:
    command = ("eval", benchmark_folder(2), "--model", "random:5", "--bootstrap", 0)
    out = ("--out", tmp_path / "runs")
    assert run(*command, *out).code == 0
    (tmp_path / "runs" / "random-5" / "run.json").write_text(content)
    refused = run(*command, *out)
    assert refused.code == 2 and "run.json" in refused.err and "--no-resume" in refused.err
    assert run(*command, *out, "--no-resume").code == 0
    assert run(*command, *out).code == 0


WORKER = """
import os
from groundfault.workers.runtime import Answer
def load(options):
    if options["checkpoint"] == "nowhere":
        raise RuntimeError("clone its repository first")
    return Model()
class Model:
    model, versions = "mine/weights", {"torch": "1.13.1"}
    def segment(self, picture, phrases):
        if picture.rgb[0] == 1:
            os.write(2, b"I do not like this one\\n")
            os.kill(os.getpid(), 9)
        return [Answer(outcome="abstained") for _ in phrases]
"""


def test_a_worker_that_cannot_load_ends_the_run_and_one_that_can_is_noted(
    run: Command, benchmark_folder: Folder, tmp_path: Path
) -> None:
    script = tmp_path / "mine.py"
    script.write_text(WORKER)
    command = ("eval", benchmark_folder(4), "--bootstrap", 0, "--out", tmp_path / "runs", "--model")
    refused = run(*command, f"worker:{script}:nowhere")
    assert refused.code == 2 and "clone its repository first" in refused.err
    ran = run(*command, f"worker:{script}:somewhere")
    assert ran.code == 0 and "6 of 8 answered" in ran.err
    made = read_run(tmp_path / "runs" / folder_name(f"worker:{script}:somewhere"))
    assert made.identity["checkpoints"] == "mine/weights" and made.identity["model file"]
    assert made.versions["worker's torch"] == "1.13.1"
    [died] = made.failures
    assert "signal 9" in died
    log = tmp_path / "runs" / folder_name(f"worker:{script}:somewhere") / "worker-1.log"
    assert log.read_text().count("--- worker mine, process") == 2  # it was started again
    assert "I do not like this one" in log.read_text()


def test_the_name_of_a_script_is_no_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = model_identity("worker:sesame", ModelOptions())
    (tmp_path / "sesame").mkdir()
    (tmp_path / "sesame" / "README").write_text("a clone, say")
    (tmp_path / "sesame.json").write_text("{}")
    assert model_identity("worker:sesame", ModelOptions()) == before
    assert model_identity("worker:lisa:sesame", ModelOptions())["model file"]  # weights are
    assert model_identity("replay:sesame", ModelOptions())["model file"]


def test_ray_that_is_not_installed_is_named(
    run: Command, benchmark_folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    ran = run(
        "eval", benchmark_folder(1), "--model", "oracle", "--engine", "ray", "--out", tmp_path / "r"
    )
    assert ran.code == 2 and "pip install 'groundfault[ray]'" in ran.err
