"""The command line: contracts of its output, lazy imports, comparisons, sweeps."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import CafeSet, Ran
from typer.main import get_command

from groundfault import __version__
from groundfault.analysis.summary import read_results
from groundfault.analysis.sweep import parse_grid
from groundfault.cli.app import COMMANDS, build_app
from groundfault.errors import UsageError
from groundfault.io.example import write_example
from groundfault.io.store import write_json, write_table
from groundfault.reports.health import vision_state

Run = Callable[..., Ran]

BY_THRESHOLD = (
    "cgF1", "precision", "recall", "F1", "positive_macro_F1", "positive_micro_F1",
    "positive_micro_precision",
)  # fmt: skip
IMAGE_LEVEL = ("IL_precision", "IL_recall", "IL_F1", "IL_FPR", "IL_MCC")
TARGET_AWARE = (
    "TA-TP", "UA-P", "TA-FN", "UA-FN", "TA-FP", "UA-FP", "TN", "lost",
    "AFPR", "UFPR", "IL-FPR", "ACSR", "UCSR", "CSR", "SoftSwap",
)  # fmt: skip
PCS = {*(name + at for name in BY_THRESHOLD for at in ("", "@0.50", "@0.75")), *IMAGE_LEVEL}


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Sixty pairs with the answers of two imagined models."""
    return write_example(tmp_path_factory.mktemp("example"), n=60, size_px=(60, 80))


@pytest.fixture
def score(example: dict[str, Path], run: Run, tmp_path: Path) -> Callable[..., Ran]:
    """score(model, …): `groundfault score cafe --json` into a folder of the model's name."""

    def run_score(model: str, *options: object, out: str | None = None) -> Ran:
        files = ("--annotations", example["annotations"], "--predictions", example[model])
        folder = tmp_path / (out or model)
        ran = run("score", "cafe", *files, "--out", folder, "--json", "--bootstrap", 200, *options)
        assert ran.code == 0, ran.err
        return ran

    return run_score


def program(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """The program in a process of its own."""
    command = [sys.executable, "-m", "groundfault.cli", *map(str, arguments)]
    return subprocess.run(command, text=True, **{"stderr": subprocess.PIPE, **options})


# Help --------------------------------------------------------------------------------------------


def test_help_lists_the_commands(run: Run) -> None:
    ran = run("--help")
    assert ran.code == 0
    for command in ("score", "sweep", "compare", "list", "doctor", "conformance", "example"):
        assert f"\n  {command} " in ran.out
    for group in ("score", "sweep"):
        ran = run(group, "--help")
        assert ran.code == 0
        assert "\n  cafe " in ran.out
        assert "\n  saco " in ran.out


def test_the_list_of_commands_says_what_their_own_help_says(run: Run) -> None:
    """It is made without them."""
    whole = get_command(build_app([])).commands  # type: ignore[attr-defined]
    first_lines = {name: command.help.split("\n\n")[0] for name, command in whole.items()}
    told = {name: " ".join(line.split()) for name, line in first_lines.items()}
    assert told == {name: entry.about for name, entry in COMMANDS.items()}


COMPLETED = {
    "groundfault judge": {"judge", "judge-card"},
    "groundfault score cafe --ann": {"--annotations"},
    "groundfault eval --model nano-": {"nano-base", "nano-cft"},
    "groundfault eval ca": {"cafe"},
    "groundfault world build --preset ": {"cafe", "halluseg", "reactbench", "clean", "all"},
    "groundfault list p": {"protocols", "published"},
    "groundfault convert x --to fp": {"fprefcoco"},
}


@pytest.mark.parametrize("line", COMPLETED)
@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_a_shell_completes_commands_options_and_names(shell: str, line: str) -> None:
    """What the functions that it installs ask, and get back."""
    asked = {
        "bash": {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)},
        "zsh": {"_TYPER_COMPLETE_ARGS": line},
    }[shell]
    code = "import sys; from groundfault import cli; sys.argv[0] = 'groundfault'; cli.main()"
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **asked, "_GROUNDFAULT_COMPLETE": f"complete_{shell}"},
        capture_output=True,
        text=True,
        check=False,
    )
    of_zsh = re.findall(r'(?:^|\(\()"([^"]+)"', ended.stdout, re.MULTILINE)
    found = ended.stdout.split() if shell == "bash" else of_zsh
    assert set(found) == COMPLETED[line], ended.stdout + ended.stderr


def test_version(run: Run) -> None:
    assert run("--version") == Ran(0, f"groundfault {__version__}\n", "")


def test_doctor_finds_everything(run: Run) -> None:
    ran = run("doctor", "--json")
    states = {row["what"]: row["state"] for row in ran.json}
    vision = states.pop("torchvision", "ok")
    assert states["mask arithmetic"] == "ok"
    assert set(states.values()) == {"ok"}
    assert ran.code == (0 if vision == "ok" else 2)


def test_doctor_tries_torchvision(run: Run) -> None:
    """Some machines have one that does not fit: doctor says what importing it says."""
    pytest.importorskip("torch")
    if importlib.util.find_spec("torchvision") is None:
        pytest.skip("no torchvision")
    works = subprocess.run(
        [sys.executable, "-c", "import torchvision.ops"], capture_output=True, check=False
    )
    (line,) = (row for row in run("doctor", "--json").json if row["what"] == "torchvision")
    assert line["state"] == ("ok" if works.returncode == 0 else "wrong")
    assert line["state"] == "ok" or "install both from one index" in line["detail"]


def test_doctor_names_the_torchvision_that_fits() -> None:
    problem = "RuntimeError: operator torchvision::nms does not exist"
    assert "'torchvision==0.21.*'" in vision_state("2.6.0+cu126", "0.17.2", problem)[1]
    assert "one index" in vision_state("2.6.0+cpu", "0.21.0+cu126", problem)[1]


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("scor", "cafe"), "Did you mean 'score'"),
        (("score", "caffe"), "Did you mean 'cafe'"),
        (("list", "metrik"), "Did you mean 'metrics'"),
        (("list", "benchmark"), "Did you mean 'benchmarks'"),
        (("score", "cafe", "--annotatons", "a.json"), "--annotations"),
    ],
)
def test_typing_errors_are_answered_with_the_nearest_name(
    run: Run, arguments: tuple[str, ...], hint: str
) -> None:
    ran = run(*arguments)
    assert ran.code == 2
    assert hint in ran.err
    assert ran.out == ""
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("score", "pope", "--help"), "pope: is answered in words; score a run of it with"),
        (("sweep", "reactbench"), "reactbench: is answered in words"),
        (("sweep", "halluseg"), "halluseg: there is nothing to sweep in replaced objects"),
    ],
)
def test_what_a_benchmark_has_no_use_for_is_said(
    run: Run, arguments: tuple[str, ...], told: str
) -> None:
    ran = run(*arguments)
    assert ran.code == 2 and told in ran.err and "Traceback" not in ran.err


# Score -------------------------------------------------------------------------------------------


def test_json_has_the_shape_of_the_contract(score: Callable[..., Ran], tmp_path: Path) -> None:
    found = score("gullible", "--seed", 3).json
    assert found["benchmark"] == "cafe"
    assert found["settings"] == {
        "t": 0.5, "tau": 0.3, "iou": "segm", "variant": "parity", "bootstrap": 200, "seed": 3,
    }  # fmt: skip
    assert list(found["rows"]) == ["Overall", "SM", "CC", "OC"]
    assert {name: row["n_cases"] for name, row in found["rows"].items()} == {
        "Overall": 60, "SM": 30, "CC": 15, "OC": 15,
    }  # fmt: skip
    for row in found["rows"].values():
        assert set(row) == {"n_cases", "metrics"}
        assert set(row["metrics"]) == PCS | set(TARGET_AWARE)
        for estimate in row["metrics"].values():
            assert set(estimate) == {"value", "low", "high", "n"}
            assert isinstance(estimate["n"], int)
            if estimate["value"] is not None:
                assert estimate["low"] <= estimate["high"]
    overall = found["rows"]["Overall"]["metrics"]
    assert overall["AFPR"]["low"] < overall["AFPR"]["value"] < overall["AFPR"]["high"]
    assert found["version"] == __version__
    assert json.loads((tmp_path / "gullible" / "summary.json").read_text()) == found


def test_cases_sum_up_to_the_overall_numbers(score: Callable[..., Ran], tmp_path: Path) -> None:
    """From the table alone, by the papers' formulas."""
    metrics = score("gullible").json["rows"]["Overall"]["metrics"]
    overall = {name: estimate["value"] for name, estimate in metrics.items()}
    _, table = read_results(tmp_path / "gullible")
    assert table.num_rows == 60
    assert len(set(table.column("case_id").to_pylist())) == 60
    names = table.schema.metadata[b"contributions"].decode().split(",")
    total = {name: math.fsum(table.column(name).to_pylist()) for name in names}
    cells = TARGET_AWARE[:7]
    assert {cell: total[f"target.{cell}"] for cell in cells} == {c: overall[c] for c in cells}
    assert total["target.pairs"] == 60
    assert overall["AFPR"] == pytest.approx(total["target.TA-FP"] / 60)
    assert overall["ACSR"] == pytest.approx(total["target.aligned_swaps"] / 60)
    assert overall["SoftSwap"] == pytest.approx(total["target.soft_swaps"] / 60)
    tp, objects = total["pcs.tp@0.50"], total["pcs.objects"]
    recall = tp / (objects + 1e-4)
    precision = tp / (total["pcs.predicted_on_positives"] + 1e-4)
    f1 = 2 * precision * recall / (precision + recall + 1e-4)
    il_tp, il_fp, il_tn, il_fn = (total[f"pcs.il_{cell}"] for cell in ("tp", "fp", "tn", "fn"))
    root = math.sqrt((il_tp + il_fp) * (il_tp + il_fn) * (il_tn + il_fp) * (il_tn + il_fn))
    mcc = (il_tp * il_tn - il_fp * il_fn) / (root + 1e-6)
    assert il_tp + il_fp + il_tn + il_fn == 120
    assert overall["recall@0.50"] == pytest.approx(recall, abs=1e-12)
    assert overall["cgF1@0.50"] == pytest.approx(f1 * mcc, abs=1e-12)
    outcomes = table.column("negative_cell").to_pylist()
    assert outcomes.count("TA-FP") == overall["TA-FP"]
    scores = table.column("positive_scores").to_pylist()
    overlaps = table.column("positive_target_ious").to_pylist()
    found = [
        any(s >= 0.5 and iou >= 0.3 for s, iou in zip(*pair, strict=True))
        for pair in zip(scores, overlaps, strict=True)
    ]
    assert sum(found) == overall["TA-TP"]


def test_without_resamples_there_are_no_intervals(score: Callable[..., Ran]) -> None:
    for row in score("gullible", "--bootstrap", 0).json["rows"].values():
        for estimate in row["metrics"].values():
            assert estimate["low"] is None
            assert estimate["high"] is None


def test_a_seed_decides_the_intervals_and_nothing_else(score: Callable[..., Ran]) -> None:
    first = score("gullible", "--seed", 1).json["rows"]
    again = score("gullible", "--seed", 1).json["rows"]
    other = score("gullible", "--seed", 2).json["rows"]
    assert first == again
    assert first != other
    for row in first:
        for name, estimate in first[row]["metrics"].items():
            assert estimate["value"] == other[row]["metrics"][name]["value"]


def table_of(run: Run, example: dict[str, Path], *options: object) -> str:
    files = ("--annotations", example["annotations"], "--predictions", example["gullible"])
    ran = run("score", "cafe", *files, "--bootstrap", 50, *options)
    assert ran.code == 0, ran.err
    return ran.out


def test_markdown_parses_as_a_table(run: Run, example: dict[str, Path]) -> None:
    out = table_of(run, example, "--format", "markdown", "--metric", "AFPR", "--metric", "cgF1")
    lines = [line for line in out.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert [row[0] for row in rows] == ["", ":--", "Overall", "SM", "CC", "OC"]
    assert {len(row) for row in rows} == {4}
    assert rows[0] == ["", "cases", "AFPR ↓", "cgF1 ↑"]


def test_csv_parses_with_intervals(run: Run, example: dict[str, Path]) -> None:
    out = table_of(run, example, "--format", "csv", "--metric", "AFPR")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["cases"] for row in rows] == ["60", "30", "15", "15"]
    assert 0 < float(rows[0]["AFPR ↓"]) < 100
    assert rows[0]["AFPR ↓ interval"].startswith("[")


def test_latex_has_rules_and_escapes(run: Run, example: dict[str, Path]) -> None:
    out = table_of(run, example, "--format", "latex", "--metric", "IL_MCC", "--metric", "AFPR")
    for part in (r"\toprule", r"\midrule", r"\bottomrule", r"IL\_MCC $\uparrow$", r"AFPR $\down"):
        assert part in out
    assert "{lrrr}" in out


def test_all_metrics_can_be_shown(run: Run, example: dict[str, Path]) -> None:
    out = table_of(run, example, "--metric", "all", "--format", "csv")
    [header, *_] = csv.reader(io.StringIO(out))
    assert len([name for name in header if name.endswith((" ↑", " ↓"))]) == len(PCS) + 15


def test_published_rows_stand_below(run: Run, example: dict[str, Path]) -> None:
    out = table_of(run, example, "--published", "--metric", "AFPR")
    assert "published" in out
    assert "SAM 3" in out


def test_an_unknown_metric_is_refused_before_anything_is_written(
    run: Run, example: dict[str, Path], tmp_path: Path
) -> None:
    files = ("--annotations", example["annotations"], "--predictions", example["gullible"])
    for json_or_not in ((), ("--json",)):
        ran = run(
            "score", "cafe", *files, "--metric", "ACRS", "--out", tmp_path / "out", *json_or_not
        )
        assert ran.code == 2
        assert "unknown metric 'ACRS'. Did you mean" in ran.err
        assert "'ACSR'" in ran.err
        assert not (tmp_path / "out").exists()


def test_the_example_is_the_same_for_the_same_seed(run: Run, tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        ran = run("example", tmp_path / name, "--n", 5, "--seed", seed)
        assert ran.code == 0
        assert str(tmp_path / name / "gullible.json") in ran.out
    a, b, c = ((tmp_path / name / "gullible.json").read_bytes() for name in "abc")
    assert a == b != c


def test_every_threshold_is_checked(run: Run) -> None:
    files = ("--annotations", "none.json", "--predictions", "none.json")
    for benchmark in ("cafe", "saco", "fprefcoco"):
        ran = run("score", benchmark, *files, "--t", "nan")
        assert ran.code == 2
        assert ran.err == "error: t: expected `float` >= -1000000.0\n"


@pytest.mark.parametrize("benchmark", ["cafe", "saco"])
def test_a_threshold_that_decides_nothing_is_refused(
    run: Run, cafe: CafeSet, benchmark: str
) -> None:
    files = cafe.write().options
    ran = run("score", benchmark, *files, "--t", 50, "--bootstrap", 0)
    assert ran.code == 2 and "50 decides nothing; 50 % is 0.5, or 50%" in ran.err
    assert run("score", benchmark, *files, "--t", "50%", "--bootstrap", 0).code == 0
    swept = run("sweep", benchmark, *files, "--t", "20,50")
    assert swept.code == 2 and "20 decides nothing" in swept.err
    for record in cafe.predictions:  # logits: there it may decide
        record["score"] = 8 * record["score"] - 4
    assert run("score", benchmark, *cafe.write().options, "--t", 2, "--bootstrap", 0).code == 0


# Compare -----------------------------------------------------------------------------------------


def test_identical_runs_cannot_be_told_apart(
    score: Callable[..., Ran], run: Run, tmp_path: Path
) -> None:
    score("gullible", out="one")
    score("gullible", out="two")
    ran = run("compare", tmp_path / "one", tmp_path / "two", "--bootstrap", 100, "--json")
    assert ran.code == 0, ran.err
    found = ran.json
    assert len(found["tests"]) == 9 and found["tested"] == ["Overall"]
    for test in found["tests"]:
        assert (test["difference"], test["p"], test["p_holm"]) == (0, 1, 1)
        if test["metric"] in ("cgF1", "IL_MCC"):  # no shares
            assert (test["low"], test["high"]) == (None, None)
        else:  # what was not seen in these cases may be in others
            assert test["low"] == -test["high"] < 0
    for test in found["mcnemar"]:
        assert (test["only_a_right"], test["only_b_right"], test["p"]) == (0, 0, 1)
    for metrics in found["ranks"].values():
        for ranks in metrics.values():
            assert set(ranks.values()) <= {1}


def test_a_better_model_is_ranked_first(
    score: Callable[..., Ran], run: Run, tmp_path: Path
) -> None:
    values = {}
    for model in ("gullible", "careful"):
        values[model] = score(model).json["rows"]["Overall"]["metrics"]
    folders = (tmp_path / "gullible", tmp_path / "careful")
    ran = run(
        "compare", *folders, "--metric", "AFPR", "--metric", "cgF1", "--row", "Overall",
        "--bootstrap", 500, "--out", tmp_path / "out", "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    afpr, cgf1 = ran.json["tests"]
    assert (afpr["a"], afpr["b"], afpr["metric"]) == ("gullible", "careful", "AFPR")
    expected = values["gullible"]["AFPR"]["value"] - values["careful"]["AFPR"]["value"]
    assert afpr["difference"] == pytest.approx(expected)
    assert 0 < afpr["low"] < afpr["difference"] < afpr["high"]
    assert cgf1["difference"] < 0
    assert max(afpr["p_holm"], cgf1["p_holm"]) < 0.05
    assert ran.json["ranks"]["Overall"] == {
        "AFPR": {"careful": 1, "gullible": 2},
        "cgF1": {"careful": 1, "gullible": 2},
    }
    assert json.loads((tmp_path / "out" / "compare.json").read_text()) == ran.json


@pytest.mark.parametrize("format_", ["terminal", "markdown", "latex", "csv"])
def test_comparisons_are_printed(
    score: Callable[..., Ran], run: Run, tmp_path: Path, format_: str
) -> None:
    score("gullible", "--bootstrap", 0)
    score("careful", "--bootstrap", 0)
    folders = (tmp_path / "gullible", tmp_path / "careful")
    ran = run("compare", *folders, "--bootstrap", 0, "--row", "SM", "--format", format_)
    assert ran.code == 0, ran.err
    assert "gullible" in ran.out
    assert "careful" in ran.out


def test_the_same_data_under_another_name_can_be_compared(
    example: dict[str, Path], score: Callable[..., Ran], run: Run, tmp_path: Path
) -> None:
    score("gullible")
    copied = shutil.copy(example["annotations"], tmp_path / "copied.json")
    files = ("--annotations", copied, "--predictions", example["careful"])
    assert run("score", "cafe", *files, "--bootstrap", 0, "--out", tmp_path / "other").code == 0
    assert run("compare", tmp_path / "gullible", tmp_path / "other", "--bootstrap", 0).code == 0


def test_what_is_not_alike_is_not_compared(
    cafe: CafeSet, score: Callable[..., Ran], run: Run, example: dict[str, Path], tmp_path: Path
) -> None:
    score("gullible")
    score("careful", "--tau", 0.5, out="tau")
    cafe_out, saco_out = tmp_path / "cafe-out", tmp_path / "saco-out"
    run("score", "cafe", *cafe.write().options, "--bootstrap", 0, "--out", cafe_out)
    files = ("--annotations", example["annotations"], "--predictions", example["careful"])
    run("score", "saco", *files, "--bootstrap", 0, "--out", saco_out)
    for other, message in (
        (cafe_out, "were scored on different data"),
        (saco_out, "gullible is a cafe result and saco-out a saco one"),
        (tmp_path / "tau", "has tau 0.3 and tau tau 0.5; score both alike"),
        (tmp_path / "none", "summary.json: no such file"),
    ):
        ran = run("compare", tmp_path / "gullible", other)
        assert ran.code == 2
        assert message in ran.err
        assert ran.out == ""
        assert "Traceback" not in ran.err


def test_another_operating_point_is_noted(
    score: Callable[..., Ran], run: Run, tmp_path: Path
) -> None:
    score("gullible")
    score("careful", "--t", 0.2)
    folders = (tmp_path / "gullible", tmp_path / "careful")
    found = run("compare", *folders, "--bootstrap", 0, "--json").json
    assert found["notes"] == [
        "Each is at its own operating point: gullible at t = 0.5 and careful at t = 0.2."
    ]


def replace_table(folder: Path) -> None:
    write_table(folder / "cases.parquet", {"case_id": ["1"]})


def replace_summary(folder: Path) -> None:
    write_json(folder / "summary.json", {"benchmark": "cafe", "settings": {}, "rows": {}})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--metric", "AFRP"), "unknown metric 'AFRP'. Did you mean 'AFPR'"),
        (("--metric", "pmf1"), "unknown metric 'pmf1'. Did you mean 'pmF1'"),
        (("--row", "SN"), "unknown row 'SN'. Did you mean 'SM'"),
        (("--bootstrap", "-1"), "bootstrap: expected `int` >= 0"),
    ],
)
def test_wrong_questions_to_compare_are_refused(
    score: Callable[..., Ran], run: Run, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    score("gullible", "--bootstrap", 0)
    folder = tmp_path / "gullible"
    ran = run("compare", folder, folder, *options, "--out", tmp_path / "out")
    assert ran.code == 2
    assert message in ran.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (replace_table, "was not written together with its summary.json"),
        (replace_summary, "was not written together with its summary.json"),
        (lambda folder: (folder / "cases.parquet").write_bytes(b"PAR1"), "not a readable table"),
        (lambda folder: (folder / "summary.json").write_bytes(b"{"), "not readable"),
        (lambda folder: (folder / "cases.parquet").unlink(), "cases.parquet: no such file"),
    ],
)
def test_broken_runs_are_not_compared(
    score: Callable[..., Ran],
    run: Run,
    tmp_path: Path,
    change: Callable[[Path], object],
    message: str,
) -> None:
    score("gullible", "--bootstrap", 0, out="one")
    score("gullible", "--bootstrap", 0, out="two")
    change(tmp_path / "one")
    for first, second in (("one", "two"), ("two", "one")):
        ran = run("compare", tmp_path / first, tmp_path / second, "--bootstrap", 0)
        assert ran.code == 2
        assert message in ran.err
        assert str(tmp_path / "one") in ran.err
        assert "Traceback" not in ran.err


def test_a_summary_beside_another_scoring_is_refused(
    score: Callable[..., Ran], run: Run, tmp_path: Path
) -> None:
    score("gullible", "--bootstrap", 0, out="one")
    score("gullible", "--bootstrap", 0, "--t", "0.3", out="two")
    (tmp_path / "one" / "summary.json").replace(tmp_path / "two" / "summary.json")
    ran = run("report", tmp_path / "two", "--out", tmp_path / "page.html")
    assert ran.code == 2
    assert "was not written together with its summary.json" in ran.err
    assert not (tmp_path / "page.html").exists()


def test_a_link_to_itself_is_one_message(run: Run, tmp_path: Path) -> None:
    loop = tmp_path / "loop.json"
    loop.symlink_to(loop)
    for words in (
        ("inspect", loop),
        ("score", "cafe", "--annotations", loop, "--predictions", loop),
    ):
        ran = run(*words)
        assert ran.code == 2
        assert ran.err.startswith("error: ") or ran.out
        assert "Traceback" not in ran.err


def test_a_damaged_run_is_not_compared_as_a_scored_dump(
    score: Callable[..., Ran], run: Run, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        score("gullible", "--bootstrap", 0, out=name)
    (tmp_path / "two" / "run.json").write_bytes(b'{"model": "rand')
    ran = run("compare", tmp_path / "one", tmp_path / "two")
    assert ran.code == 2
    assert "run.json: not readable" in ran.err


def test_one_process_at_a_time_writes_scores(
    run: Run, example: dict[str, Path], tmp_path: Path
) -> None:
    def score() -> Ran:
        files = ("--annotations", example["annotations"], "--predictions", example["gullible"])
        return run("score", "cafe", *files, "--out", tmp_path / "gullible", "--bootstrap", 0)

    code = "import sys; from groundfault.io.store import locked\n"
    code += "with locked(sys.argv[1]): print('ready', flush=True); sys.stdin.read()"
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "gullible")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"ready\n"
        ran = score()
        assert ran.code == 2
        assert "another process is working on this run" in ran.err
        assert not any((tmp_path / "gullible").iterdir())
    finally:
        holder.communicate(b"", timeout=60)
    assert score().code == 0


def test_one_run_is_not_enough(score: Callable[..., Ran], run: Run, tmp_path: Path) -> None:
    score("gullible", "--bootstrap", 0)
    ran = run("compare", tmp_path / "gullible")
    assert (ran.code, ran.out) == (2, "")
    assert "at least two" in ran.err


# Sweep -------------------------------------------------------------------------------------------


def test_a_sweep_has_the_values_of_single_scores(
    example: dict[str, Path], score: Callable[..., Ran], run: Run, tmp_path: Path
) -> None:
    files = ("--annotations", example["annotations"], "--predictions", example["gullible"])
    ran = run("sweep", "cafe", *files, "--json", "--out", tmp_path / "swept")
    assert ran.code == 0, ran.err
    assert json.loads((tmp_path / "swept" / "sweep.json").read_text()) == ran.json
    points = {(point["t"], point["tau"], point["row"]): point for point in ran.json["points"]}
    assert len(points) == len(ran.json["points"]) == 19 * 7 * 4
    for t, tau in ((0.5, 0.3), (0.05, 0.9), (0.95, 0.6)):
        rows = score("gullible", "--t", t, "--tau", tau, "--bootstrap", 0).json["rows"]
        for row in rows:
            assert points[t, tau, row]["metrics"] == rows[row]["metrics"]


def test_sweeps_are_printed(run: Run, example: dict[str, Path]) -> None:
    files = ("--annotations", example["annotations"], "--predictions", example["careful"])
    ran = run("sweep", "cafe", *files, "--t", "0.2,0.5", "--tau", "0.3:0.5:0.1", "--row", "SM")
    assert ran.code == 0, ran.err
    for title in ("SM along t, τ 0.3", "SM along τ, t 0.5", "SM AFPR: t down, τ across"):
        assert title in ran.out
    ran = run("sweep", "saco", *files, "--t", "0.2,0.5")
    assert ran.code == 0, ran.err
    assert "Overall along t" in ran.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--t", "low"), "'low' is no list of thresholds; write 0.5 or 0.2,0.5"),
        (("--t", "0.9:0.1:0.1"), "is no list of thresholds"),
        (("--t", "0:1:0"), "is no list of thresholds"),
        (("--t", "0:1:1e-9"), "is no list of thresholds"),
        (("--t", "nan"), "t: expected `float`"),
        (("--tau", "0.5,1.5"), "tau: expected `float` <= 1.0"),
        (("--metric", "AFRP"), "unknown metric 'AFRP'. Did you mean 'AFPR'"),
        (("--row", "overall"), "unknown row 'overall'. Did you mean 'Overall'"),
        (("--bootstrap", "-5"), "bootstrap: expected `int` >= 0"),
    ],
)
def test_wrong_sweeps_are_refused(
    run: Run, cafe: CafeSet, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    ran = run("sweep", "cafe", *cafe.write().options, *options, "--out", tmp_path / "out")
    assert ran.code == 2
    assert message in ran.err
    assert "Traceback" not in ran.err
    assert not (tmp_path / "out").exists()


def test_grids() -> None:
    assert parse_grid("0.5") == (0.5,)
    assert parse_grid("0.2, 0.5") == (0.2, 0.5)
    assert parse_grid("0.05:0.95:0.05") == tuple(round(0.05 * k, 2) for k in range(1, 20))
    assert parse_grid("0.3:0.9:0.1") == (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    for wrong in ("", "1:2", "a:b:c", "1:2:3:4", "0:1:-0.1", "inf:1:0.1"):
        with pytest.raises(UsageError):
            parse_grid(wrong)


# The program -------------------------------------------------------------------------------------

LOADED = """
import sys
from groundfault import cli
code = cli.run(sys.argv[1:])
heavy = {"numpy", "pyarrow", "scipy", "rlemasklib", "PIL", "rich"}
print(code, *sorted(heavy & set(sys.modules)), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "arguments", [("--help",), ("--version",), ("list",), ("list", "metrics"), ("score", "--help")]
)
def test_asking_for_help_loads_nothing_heavy(arguments: tuple[str, ...]) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", LOADED, *arguments], capture_output=True, text=True, check=True
    )
    assert ended.stderr.split() == ["0"]


def test_scoring_a_results_file_loads_neither_arrow_nor_scipy(
    cafe: CafeSet, tmp_path: Path
) -> None:
    """Half of what it costs to score a set of CAFE's size is imports."""
    arguments = ["score", "cafe", *map(str, cafe.write().options), "--out", str(tmp_path / "out")]
    ended = subprocess.run(
        [sys.executable, "-c", LOADED, *arguments], capture_output=True, text=True, check=True
    )
    assert ended.stderr.splitlines()[-1] == "0 numpy rlemasklib"
    assert read_results(tmp_path / "out")[1].num_rows


@pytest.mark.parametrize("arguments", [("--version",), ("list",), ("conformance",)])
def test_a_closed_pipe_ends_quietly(arguments: tuple[str, ...]) -> None:
    """As in `groundfault list | head -1`, with a reader that is gone before the first line."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        ended = program(*arguments, stdout=writer)
    finally:
        os.close(writer)
    assert ended.stderr == ""
    assert ended.returncode in (0, 1)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full device is Linux's")
def test_a_full_disk_behind_the_output_is_an_error() -> None:
    with Path("/dev/full").open("w") as full:
        ended = program("list", stdout=full)
    assert ended.returncode == 2
    assert ended.stderr.startswith("error: ")
    assert "No space left on device" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_terminal_without_greek_letters_is_no_error(cafe: CafeSet) -> None:
    ended = program(
        "score", "cafe", *cafe.write().options, "--bootstrap", 0,
        stdout=subprocess.PIPE, env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert "AFPR ?" in ended.stdout


def test_the_program_ends_with_the_code_of_its_command(cafe: CafeSet) -> None:
    cafe.predictions[0]["score"] = None
    ended = program("score", "cafe", *cafe.write().options, stdout=subprocess.PIPE)
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr.endswith("it has no score. Remedy: give every prediction one.\n")
