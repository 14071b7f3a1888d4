"""`compare`: which tests are made, whether they can tell runs apart, on which cases."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from tests.conftest import Ran
from tests.runner.conftest import painted_set

import groundfault as gf
from groundfault.analysis.compare import SIGNIFICANT, compare_runs
from groundfault.analysis.statistics import holm, mcnemar
from groundfault.analysis.summary import read_results, summarise, write_results
from groundfault.benchmarks import folder
from groundfault.io.example import write_example
from groundfault.metrics import columns_of, target_aware
from groundfault.protocols.scored import Scored
from groundfault.reports.comparisons import comparison_tables
from groundfault.reports.tables import render
from groundfault.runs.run import Run, write_run

Command = Callable[..., Ran]


def write_scores(
    where: Path, accepted: np.ndarray, *, cases: list[str] | None = None, model: str = ""
) -> Path:
    """A run of pairs whose p⁺ is always found, and whose p⁻ is accepted where the flags say."""
    n = len(accepted)
    scores = target_aware.PairScores(
        positive_cell=np.zeros(n, int),
        negative_cell=np.where(accepted, 0, 2),
        positive_score=np.ones(n),
        negative_score=accepted.astype(float),
        soft_swap=np.zeros(n, bool),
        counted=np.ones(n, bool),
    )
    names = cases or [f"case {k}" for k in range(n)]
    scored = Scored(
        benchmark="mine",
        protocol="concept-pairs",
        settings={"variant": "exact"},
        columns=lambda: {"case_id": names},
        contributions=target_aware.contributions(scores),
        contribution_names=columns_of(target_aware.FAMILY),
        case=np.arange(n),
        rows={
            "Overall": np.ones(n, bool),
            "SM": np.arange(n) % 2 == 0,
            "CC": np.arange(n) % 2 == 1,
        },
    )
    limit = {"limit": str(n)} if cases is not None else {}
    summary = summarise(scored, bootstrap=50, seed=0, data={"annotations": "same", **limit})
    write_results(where, scored, summary)
    if model:
        write_run(where, Run(model=model, benchmark="mine", benchmark_folder="", content_hash="x"))
    return where


def eighteen(where: Path, n: int) -> list[Path]:
    """Runs that accept 0 %, 5 %, …, 80 % and 100 % of n misleading phrases."""
    rng = np.random.default_rng(1)
    shares = [0.0, *(0.05 * k for k in range(1, 17)), 1.0]
    hard = rng.random(n)  # which phrases mislead is much the same for all
    return [
        write_scores(where / f"run{k:02d}", (hard + rng.normal(0, 0.1, n)) < share * 1.2 - 0.1)
        if 0 < share < 1
        else write_scores(where / f"run{k:02d}", np.full(n, share == 1))
        for k, share in enumerate(shares)
    ]


@pytest.mark.parametrize("n", [60, 400])
def test_eighteen_runs_are_told_apart(tmp_path: Path, n: int) -> None:
    found = compare_runs(eighteen(tmp_path, n), resamples=200)
    pairs, metrics = 18 * 17 // 2, 6
    assert len(found.tests) == pairs * metrics and found.tested == ("Overall",)
    ranks = found.ranks["Overall"]["AFPR"]
    assert ranks["run00"] == 1 and ranks["run17"] >= 17
    assert sum(rank == 1 for rank in ranks.values()) <= (8 if n == 60 else 4)
    for test in found.tests:
        assert test.method == "McNemar"
    # p is what counting says, and Holm is over what was tested, all of it and nothing else
    (ends,) = [t for t in found.tests if (t.a, t.b, t.metric) == ("run00", "run17", "AFPR")]
    assert ends.p == mcnemar(n, 0) < 1e-15 and ends.difference == -1
    assert ends.p_holm is not None and ends.p_holm < SIGNIFICANT
    adjusted = holm({k: test.p for k, test in enumerate(found.tests)})
    assert [test.p_holm for test in found.tests] == [adjusted[k] for k in range(len(found.tests))]


def test_what_is_named_is_the_family(tmp_path: Path) -> None:
    runs = eighteen(tmp_path, 60)[:4]
    headlines = compare_runs(runs, resamples=50)
    named = compare_runs(runs, metrics=["AFPR"], rows=["SM", "CC"], resamples=50)
    assert len(named.tests) == 6 * 1 * 2 and named.tested == ("SM", "CC")
    assert {*headlines.rows} == {"Overall", "SM", "CC"} and {*named.rows} == {"SM", "CC"}
    assert headlines.ranks["SM"]["AFPR"] == {} and named.ranks["SM"]["AFPR"]["run00"] == 1
    alone = compare_runs(runs, metrics=["AFPR"], resamples=50)
    by_pair = {(t.a, t.b): t.p_holm for t in headlines.tests if t.metric == "AFPR"}
    for test in alone.tests:
        before = by_pair[test.a, test.b]
        assert test.p_holm is not None and before is not None and test.p_holm <= before


def test_python_gives_the_same(tmp_path: Path) -> None:
    runs = eighteen(tmp_path, 60)[:3]
    found = gf.compare(*runs, metrics=["AFPR"], bootstrap=50)
    assert found.comparison == compare_runs(runs, metrics=["AFPR"], resamples=50)
    assert {str(method) for method in found.tests()["method"]} == {"McNemar"}


def test_many_runs_stay_readable(tmp_path: Path) -> None:
    found = compare_runs(eighteen(tmp_path, 60), resamples=50)
    values, differences, *_ = comparison_tables(found)
    assert len(values.rows) == 18 and {row[0] for row in values.rows} == {"Overall"}
    assert "Holm over 918 tests: Overall, 6 metrics, 153 pairs" in values.notes[0]
    assert "not tested nor shown: SM, CC" in " ".join(values.notes)
    assert len(differences.rows) == 6 * 3
    # the best against those nearest to it, better by what the line says
    pair, metric, shown = (str(cell) for cell in differences.rows[1][1:4])
    assert pair.startswith("run00 − ") and metric == "IL-FPR" and shown.startswith("−")
    assert "of 918 tests" in render(differences, "terminal")
    few = compare_runs(eighteen(tmp_path / "few", 60)[:3], resamples=50)
    values, differences, *_ = comparison_tables(few)
    assert len(values.rows) == 3 * 3 and len(differences.rows) == len(few.tests)
    assert "not tested: SM, CC" in " ".join(values.notes)


def test_baselines_are_not_ranked_beside_models(tmp_path: Path) -> None:
    n = 80
    some, more = np.arange(n) < 10, np.arange(n) < 50
    runs = [
        write_scores(tmp_path / "a", some, model="sam3"),
        write_scores(tmp_path / "b", more, model="clipseg"),
        write_scores(tmp_path / "c", np.zeros(n, bool), model="oracle"),
        write_scores(tmp_path / "d", np.ones(n, bool), model="random:3"),
    ]
    found = compare_runs(runs, metrics=["AFPR"], resamples=50)
    assert found.baselines == ("c", "d") and found.ranks["Overall"]["AFPR"] == {"a": 1, "b": 2}
    assert len(found.tests) == 6  # against baselines too
    assert "not ranked, as baselines: c, d" in render(next(comparison_tables(found)), "markdown")
    lone = compare_runs(runs[1:], metrics=["AFPR"], resamples=50)
    assert lone.ranks["Overall"]["AFPR"] == {} and len(lone.tests) == 3
    alone = compare_runs(runs[2:], metrics=["AFPR"], resamples=50)
    assert alone.baselines == () and alone.ranks["Overall"]["AFPR"] == {"c": 1, "d": 2}


def test_a_part_is_compared_on_the_cases_that_all_have(run: Command, tmp_path: Path) -> None:
    made = painted_set(tmp_path / "images", 8)
    folder.write(made, tmp_path / "set", images_from=tmp_path / "images")
    for name, model, more in (
        ("whole", "always-yes", ()),
        ("part", "oracle", ("--limit", 5)),
    ):
        out = ("--bootstrap", 0, "--out", tmp_path / name, *more)
        assert run("eval", tmp_path / "set", "--model", model, *out).code == 0
    runs = (tmp_path / "whole" / "always-yes", tmp_path / "part" / "oracle")
    ran = run("compare", *runs, "--bootstrap", 100, "--json")
    assert ran.code == 0, ran.err
    found = ran.json
    ids = [case.id for case in made.cases[:5]]
    assert found["n_cases"] == 5
    (note,) = [note for note in found["notes"] if "all runs have" in note]
    assert f"({', '.join(ids)})" in note
    assert "always-yes has 8" in note and "oracle has 5" in note
    afpr = found["rows"]["Overall"]["AFPR"]
    assert afpr["always-yes"]["n"] == afpr["oracle"]["n"] == 5  # not of its eight
    (test,) = [test for test in found["tests"] if test["metric"] == "AFPR"]
    assert test["n"] == 5
    assert test["difference"] == afpr["always-yes"]["value"] - afpr["oracle"]["value"]
    assert "all runs have" in run("compare", *runs, "--brief", "--bootstrap", 50).out


def test_cases_in_the_middle_can_be_common_too(tmp_path: Path) -> None:
    """Values and tests are of the cases 10 to 39, whatever else each run has."""
    rng = np.random.default_rng(0)
    flags = {name: rng.random(50) < 0.4 for name in "ab"}
    names = [f"case {k}" for k in range(50)]
    a = write_scores(tmp_path / "a", flags["a"][:40], cases=names[:40])
    b = write_scores(tmp_path / "b", flags["b"][10:], cases=names[10:])
    found = compare_runs([a, b], metrics=["AFPR"], resamples=50)
    assert found.n_cases == 30 and "case 10, case 11, case 12 … case 39" in found.notes[0]
    value = {run: e.value for run, e in found.rows["Overall"]["AFPR"].items()}
    assert value == {name: pytest.approx(flags[name][10:40].mean()) for name in "ab"}
    only_a = int((flags["a"] & ~flags["b"])[10:40].sum())
    only_b = int((flags["b"] & ~flags["a"])[10:40].sum())
    assert found.tests[0].p == mcnemar(only_a, only_b)


def test_nothing_in_common_is_refused(run: Command, tmp_path: Path) -> None:
    a = write_scores(tmp_path / "a", np.ones(3, bool), cases=["1", "2", "3"])
    b = write_scores(tmp_path / "b", np.ones(3, bool), cases=["4", "5", "6"])
    ran = run("compare", a, b)
    assert ran.code == 2 and "a, b have no cases in common" in ran.err


def test_a_zero_of_parity_is_marked(run: Command, tmp_path: Path) -> None:
    """A set without negatives: what exact leaves undefined, parity gives as 0, with a mark."""
    made = painted_set(tmp_path / "images", 6)
    lone = tuple(item for item in made.items if item.role.value == "positive")
    benchmark = msgspec.structs.replace(made, items=lone)
    folder.write(benchmark, tmp_path / "set", images_from=tmp_path / "images")
    out = ("--bootstrap", 50, "--metric", "cgF1", "--metric", "IL_FPR", "--metric", "pmF1")
    command = ("eval", tmp_path / "set", "--model", "oracle", *out)
    ran = run(*command, "--out", tmp_path / "exact")
    assert ran.code == 0 and "variant exact" in ran.out and "†" not in ran.out
    exact, _ = read_results(tmp_path / "exact" / "oracle")
    found = exact.rows["Overall"].metrics
    assert (found["cgF1"].value, found["IL_FPR"].value, found["IL_FPR"].n) == (None, None, 0)
    assert found["positive_micro_F1"].value == 1
    ran = run(*command, "--variant", "parity", "--out", tmp_path / "parity")
    assert ran.code == 0 and "0.0†" in ran.out and "undefined by its definition" in ran.out
    written = json.loads((tmp_path / "parity" / "oracle" / "summary.json").read_text())
    metrics: dict[str, Any] = written["rows"]["Overall"]["metrics"]
    for name in ("cgF1", "IL_FPR", "IL_MCC"):
        assert metrics[name] == {**metrics[name], "value": 0.0, "low": None, "undefined": True}
    assert "undefined" not in metrics["positive_micro_F1"]
    summary, _ = read_results(tmp_path / "parity" / "oracle")
    assert summary.rows["Overall"].metrics["cgF1"].undefined is True
    # a gate about it is an error, as about any number that is not there
    gated = run(*command, "--variant", "parity", "--out", tmp_path / "parity", "--fail-if",
                "IL_FPR>0.2")  # fmt: skip
    assert gated.code == 2 and "IL_FPR is undefined in row Overall" in gated.err
    page = tmp_path / "report.html"
    assert run("report", tmp_path / "parity" / "oracle", "--out", page).code == 0
    assert "0.0†" in page.read_text() and "undefined by its definition" in page.read_text()


def test_files_are_scored_as_published_and_folders_by_the_definitions(
    run: Command, tmp_path: Path
) -> None:
    paths = write_example(tmp_path, n=12, size_px=(40, 50))
    used = {}
    for name in ("cafe", "saco"):
        files = ("--annotations", paths["annotations"], "--predictions", paths["gullible"])
        ran = run("score", name, *files, "--bootstrap", 0, "--json")
        used[name] = ran.json["settings"]["variant"]
        assert run("score", name, "--help").out.count("[parity]") == 1
    assert (
        run("convert", paths["annotations"], "--to", "folder", "--out", tmp_path / "set").code == 0
    )
    files = ("--folder", tmp_path / "set", "--predictions", paths["gullible"])
    ran = run("score", "folder", *files, "--bootstrap", 0, "--json")
    used["folder"] = ran.json["settings"]["variant"]
    spec = f"replay:{paths['gullible']}"
    ran = run("eval", tmp_path / "set", "--model", spec, "--out", tmp_path / "r", "--bootstrap", 0)
    assert ran.code == 0, ran.err
    used["eval folder"] = read_results(next((tmp_path / "r").iterdir()))[0].settings["variant"]
    assert used == {"cafe": "parity", "saco": "parity", "folder": "exact", "eval folder": "exact"}
    swept = gf.sweep(
        "cafe", annotations=paths["annotations"], predictions=paths["gullible"], t=[0.5]
    )
    assert swept.settings["variant"] == "parity"


def test_what_is_undefined_is_no_test(tmp_path: Path, run: Command) -> None:
    """always-yes has no cgF1 and no IL_MCC, as nothing is ever rejected: Holm's correction is over
    the tests that could be made, and so many are told."""
    bench, runs = tmp_path / "bench", tmp_path / "runs"
    run("world", "build", "--preset", "cafe", "--n", 6, "--size", 96, "--out", bench)
    models = ("--model", "oracle", "--model", "always-yes")
    run("eval", bench, *models, "--out", runs, "--bootstrap", 0)
    compared = ("compare", runs / "oracle", runs / "always-yes", "--bootstrap", 200)
    ran = run(*compared)
    assert "over 7 tests: Overall, 9 metrics, 1 pair of runs, without 2 where" in ran.out
    one = run(*compared, "--metric", "AFPR", "--row", "SM")
    assert "over 1 test: SM, 1 metric, 1 pair of runs\n" in one.out
