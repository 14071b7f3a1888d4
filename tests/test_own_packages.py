"""A metric family, a protocol and a benchmark of another package, in every command."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import CafeSet, Ran

from groundfault import protocols
from groundfault.io.masks import encode
from groundfault.records import Estimate, Row, Summary

Run = Callable[..., Ran]

MODULE = """
import json
from pathlib import Path

import numpy as np

from groundfault.io.inputs import Input
from groundfault.metrics import Family, Metric, columns_of
from groundfault.protocols import Protocol, Scored
from groundfault.records import Benchmark, Card, Case, Item, Region, Role

# A family that adds to CAFE's protocol: how sure the wrong answers are.


def _sure(table, settings):
    scores = table.column("negative_scores").to_pylist()
    return np.array([[max(listed or [0.0]), 1.0] for listed in scores])


SURE = Family(
    name="sure",
    about="how sure wrong answers are",
    metrics=(
        Metric(
            name="misled_score",
            label="misled",
            about="Highest score under the misleading phrase, on average.",
            better="lower",
            unit="plain",
        ),
    ),
    columns=("score", "pairs"),
    values=lambda sums, settings: {"misled_score": sums[..., 0] / sums[..., 1]},
    extends=("concept-pairs",),
    contributions=_sure,
)

# A protocol with a family of its own: is anything marked at all?

MARKED = Family(
    name="marked",
    about="is anything marked?",
    metrics=(Metric(name="marked_rate", label="marked", about="Share of queries with a mask."),),
    columns=("marked", "queries"),
    values=lambda sums, settings: {"marked_rate": sums[..., 0] / sums[..., 1]},
)


def _contribute(benchmark, predictions, settings):
    found = {p.item_id for p in predictions if any(s >= settings["t"] for s in p.scores)}
    items = benchmark.items
    return Scored(
        benchmark=benchmark.card.name,
        settings={"t": settings["t"]},
        columns=lambda: {
            "case_id": [item.case_id for item in items],
            "marked": [item.id in found for item in items],
        },
        contributions=np.array([[item.id in found, 1.0] for item in items]),
        contribution_names=columns_of(MARKED),
        case=np.arange(len(items)),
        rows={"Overall": np.ones(len(items), bool)},
    )


MARKING = Protocol(
    name="marking",
    title="Marking",
    families=("marked",),
    settings={"t": 0.5},
    contribute=_contribute,
    headlines=("marked_rate",),
    main="marked_rate",
    right_or_wrong={"marked": ("marked", bool)},
    asked="Is anything there?",
    told="marked_rate",
    sentence="marks something for {value} of queries {interval}",
    bars=("marked_rate",),
)

# A benchmark: lines of "picture height width phrase".

CARD = Card(
    name="lines", protocol="marking", title="Lines", source="", licence="", citation="x",
    main_metric="marked_rate",
)
ABOUT = "a list of lines"
INPUTS = (
    Input("listing", "The lines."),
    Input("pictures", "Folder of the pictures.", "folder", required=False, pictures=True),
)


def recognise(outline):
    return outline.kind == "list" and "lines_of" in outline.fields


def read(listing, pictures=None):
    rows = json.loads(Path(listing).read_text())[0]["lines_of"]
    return Benchmark(
        card=CARD,
        cases=tuple(Case(id=str(k)) for k in range(len(rows))),
        items=tuple(
            Item(
                id=str(k), case_id=str(k), role=Role.POSITIVE, images=(image,), height_px=height,
                width_px=width, query=phrase, regions=(Region(None, (0, 0, 1, 1)),),
            )
            for k, (image, height, width, phrase) in enumerate(rows)
        ),
    )
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    place = tmp_path / "packages"
    (place / "other-1.0.dist-info").mkdir(parents=True)
    (place / "other_package.py").write_text(MODULE)
    (place / "other-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: other\nVersion: 1.0\n"
    )
    (place / "other-1.0.dist-info" / "entry_points.txt").write_text(
        "[groundfault.metrics]\nsure = other_package:SURE\nmarked = other_package:MARKED\n"
        "[groundfault.protocols]\nmarking = other_package:MARKING\n"
        "[groundfault.benchmarks]\nlines = other_package\n"
    )
    monkeypatch.syspath_prepend(str(place))
    importlib.invalidate_caches()
    yield tmp_path
    sys.modules.pop("other_package", None)


@pytest.mark.usefixtures("installed")
def test_a_metric_family_is_in_tables_gates_and_comparisons(
    run: Run, cafe: CafeSet, tmp_path: Path
) -> None:
    files = cafe.write().options
    for name, t in (("a", 0.5), ("b", 0.9)):
        ran = run("score", "cafe", *files, "--t", t, "--bootstrap", 50, "--out", tmp_path / name)
        assert ran.code == 0, ran.err
        assert "misled ↓" in ran.out and "AFPR ↓" in ran.out
    summary = json.loads((tmp_path / "a" / "summary.json").read_text())
    found = summary["rows"]["Overall"]["metrics"]["misled_score"]
    assert 0 < found["value"] < 1 and found["low"] <= found["value"] <= found["high"]
    shown = run("score", "cafe", *files, "--metric", "misled", "--bootstrap", 0)
    assert "misled ↓" in shown.out and "AFPR" not in shown.out
    ran = run("compare", tmp_path / "a", tmp_path / "b", "--bootstrap", 200, "--json")
    assert ran.code == 0, ran.err
    assert {test["metric"] for test in ran.json["tests"]} >= {"misled_score", "cgF1"}
    ran = run("report", tmp_path / "a", tmp_path / "b", "--out", tmp_path / "report.html")
    assert ran.code == 0, ran.err
    page = (tmp_path / "report.html").read_text()
    assert "Highest score under the misleading phrase" in page


def lines(where: Path) -> tuple[Path, Path]:
    import numpy as np
    from PIL import Image

    (where / "pictures").mkdir()
    for k in range(3):
        Image.fromarray(np.full((8, 8, 3), 60 * k, np.uint8)).save(where / "pictures" / f"{k}.png")
    rows = [[f"{k}.png", 8, 8, f"thing {k}"] for k in range(3)]
    (where / "lines.json").write_text(json.dumps([{"lines_of": rows}]))
    mask = encode(np.ones((8, 8), bool))
    results = [{"image_id": 0, "score": 0.9, "segmentation": mask}]
    (where / "results.json").write_text(json.dumps(results))
    return where / "lines.json", where / "results.json"


def test_a_benchmark_with_its_own_protocol_is_in_every_command(run: Run, installed: Path) -> None:
    listing, results = lines(installed)
    ran = run("score", "lines", "--listing", listing, "--predictions", results,
              "--bootstrap", 100, "--out", installed / "dump")  # fmt: skip
    assert ran.code == 0, ran.err
    assert "marked ↑" in ran.out and "33.3" in ran.out
    inputs = ("--input", f"listing={listing}", "--input", f"pictures={installed / 'pictures'}")
    ran = run("eval", "lines", *inputs, "--model", "blind", "--model", "always-yes",
              "--bootstrap", 100, "--out", installed / "runs", "--fail-if", "marked<0")  # fmt: skip
    assert ran.code == 0, ran.err
    runs = (installed / "runs" / "blind", installed / "runs" / "always-yes")
    assert run("compare", *runs, "--bootstrap", 100).code == 0
    ran = run("report", *runs, "--out", installed / "report.html")
    assert ran.code == 0, ran.err
    page = (installed / "report.html").read_text()
    assert "Lines: 2 runs" in page and "marks something for" in page
    ran = run("inspect", listing)
    assert ran.code == 0 and "a list of lines" in ran.out
    ran = run("convert", listing, "--to", "folder", "--out", installed / "folder",
              "--images", installed / "pictures")  # fmt: skip
    assert ran.code == 0, ran.err
    ran = run("eval", installed / "folder", "--model", "blind", "--out", installed / "again",
              "--bootstrap", 0)  # fmt: skip
    assert ran.code == 0 and "marked ↑" in ran.out
    assert "lines" in run("list", "benchmarks").out


def test_results_of_a_package_that_is_gone_are_still_shown() -> None:
    row = Row(n_cases=1, metrics={"marked_rate": Estimate(0.5)})
    summary = Summary(benchmark="x", protocol="marking", settings={}, rows={"Overall": row})
    protocol = protocols.of_summary(summary)
    assert protocol.name == "marking" and protocol.headlines == ("marked_rate",)
    assert protocol.metric("marked_rate").short == "marked_rate"


# Folders with a name of their own.


def test_false_premises_from_file_to_report(run: Run, tmp_path: Path) -> None:
    from tests.test_fprefcoco import LEFT, RIGHT, pairs, rle

    (tmp_path / "pairs.json").write_text(json.dumps(pairs()))
    ran = run("convert", tmp_path / "pairs.json", "--to", "folder", "--out", tmp_path / "folder")
    assert ran.code == 0, ran.err
    folders = []
    for name, masks in (("good", {1: LEFT}), ("bad", {1: RIGHT, 3: RIGHT})):
        results: list[dict[str, Any]] = [
            {"image_id": k, "score": 0.9, "segmentation": rle(mask)} for k, mask in masks.items()
        ]
        (tmp_path / f"{name}.json").write_text(json.dumps(results))
        ran = run("eval", tmp_path / "folder", "--model", f"replay:{tmp_path / name}.json",
                  "--out", tmp_path / name, "--bootstrap", 100)  # fmt: skip
        assert ran.code == 0, ran.err
        assert "See ↑" in ran.out and "Segment ↑" in ran.out
        folders += (tmp_path / name).iterdir()
    ran = run("compare", *folders, "--bootstrap", 100)
    assert ran.code == 0 and "existence right" in ran.out
    ran = run("report", *folders, "--out", tmp_path / "report.html")
    assert ran.code == 0, ran.err
    page = (tmp_path / "report.html").read_text()
    assert "FP-RefCOCO: 2 runs" in page and "is right about existence for" in page


@pytest.mark.parametrize("protocol", ["concept-pairs", ""])
def test_a_name_of_its_own_is_evaluated_compared_and_reported(
    run: Run, cafe: CafeSet, tmp_path: Path, protocol: str
) -> None:
    """Also where an older version wrote the folder, which does not say how it is scored."""
    annotations = cafe.write().options[1]
    assert run("convert", annotations, "--to", "folder", "--out", tmp_path / "mine").code == 0
    header = json.loads((tmp_path / "mine" / "benchmark.json").read_text())
    header["card"] |= {"name": "mine", "title": "Mine", "protocol": protocol}
    (tmp_path / "mine" / "benchmark.json").write_text(json.dumps(header))
    ran = run("eval", tmp_path / "mine", "--model", "oracle", "--model", "always-yes",
              "--out", tmp_path / "runs", "--bootstrap", 50, "--fail-if", "pmF1<0")  # fmt: skip
    assert ran.code == 0, ran.err
    runs = sorted((tmp_path / "runs").iterdir())
    summary = json.loads((runs[0] / "summary.json").read_text())
    assert (summary["benchmark"], summary["protocol"]) == ("mine", "concept-pairs")
    assert run("compare", *runs, "--metric", "pmF1", "--bootstrap", 50).code == 0
    ran = run("compare", *runs, "--published", "--bootstrap", 50)
    assert "published, other data" in ran.out and "SAM 3" in ran.out
    assert run("report", *runs, "--out", tmp_path / "report.html").code == 0
    page = (tmp_path / "report.html").read_text()
    assert "Mine: 2 runs" in page and "SAM 3" not in page


def test_results_of_the_first_version_are_understood() -> None:
    def summary(benchmark: str, *metrics: str) -> Summary:
        row = Row(n_cases=1, metrics=dict.fromkeys(metrics, Estimate(0.5)))
        return Summary(benchmark=benchmark, settings={}, rows={"Overall": row})

    expected = [
        (summary("cafe", "cgF1"), "concept-pairs"),
        (summary("saco", "cgF1"), "concepts"),
        (summary("halluseg", "CCMS"), "replacement-quads"),
        (summary("mine", "cgF1", "IL-FPR"), "concept-pairs"),
        (summary("mine", "cgF1"), "concepts"),
        (summary("mine", "F1", "accuracy"), "yes-no"),
        (summary("reactbench", "react_score"), "exam"),
    ]
    for old, name in expected:
        assert protocols.of_summary(old).name == name


def test_a_rendered_world_says_so(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("skia")
    ran = run("world", "build", "--preset", "cafe", "--n", 3, "--size", 96, "--workers", 1,
              "--out", tmp_path / "world")  # fmt: skip
    assert ran.code == 0, ran.err
    ran = run("eval", tmp_path / "world", "--model", "oracle", "--out", tmp_path / "runs",
              "--bootstrap", 20)  # fmt: skip
    assert ran.code == 0 and "rendered by groundfault" in ran.out
    assert run("report", tmp_path / "runs" / "oracle", "--out", tmp_path / "report.html").code == 0
    page = (tmp_path / "report.html").read_text()
    assert "World: concept pairs: 1 run" in page and " The scenes are rendered" in page
    assert "SAM 3" not in page and "<h1" in page and ">CAFE<" not in page
