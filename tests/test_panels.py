"""Statistics of sets, and cases as panels: what is counted, chosen and drawn."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import CafeSet, Ran

import groundfault as gf
from groundfault.analysis.composition import composition
from groundfault.benchmarks import cafe as cafe_files
from groundfault.errors import UsageError
from groundfault.reports.page import html, write_figures

Run = Callable[..., Ran]


def words_of(path: Path) -> str:
    return "".join(ElementTree.fromstring(path.read_text()).itertext())


# ── statistics ─────────────────────────────────────────────────────────────────────────────────


def prompts(cafe: CafeSet, pairs: list[tuple[str, str]]) -> Path:
    """The small set with other prompts; returns its annotations."""
    images = cafe.annotations["images"]
    for k, (positive, negative) in enumerate(pairs):
        images[2 * k]["text_input"], images[2 * k + 1]["text_input"] = positive, negative
    path: Path = cafe.folder.parent / "set.json"
    path.write_text(json.dumps(cafe.annotations))
    return path


def test_what_a_set_is_made_of(cafe: CafeSet, run: Run, tmp_path: Path) -> None:
    """By hand: two pairs of prompts are the same but for case and spaces, the others occur once."""
    asked = [("cat", "tiger"), ("Cat ", "tiger"), ("cat", "lion"), ("bag", "lion")]
    path = prompts(cafe, asked)
    found = composition(cafe_files.read([path]))
    assert (found.n_pairs, found.n_positive_prompts, found.n_negative_prompts) == (4, 2, 2)
    assert (found.n_prompt_pairs, found.n_once, found.frequencies) == (3, 2, (2, 1, 1))
    assert found.by_edit == {"SM": 2, "CC": 1, "OC": 1}
    assert found.sizes == (0, 0, 4, 0, 0)  # 12x12 of 40x40 pixels: 9 %
    assert found.size_quartiles == pytest.approx((0.09, 0.09, 0.09))
    told = run("inspect", path, "--stats", "--figure", tmp_path / "f.svg")
    assert told.code == 0
    for row in (
        r"pairs\s+4",
        r"Superficial Mimicry\s+2\s+50\.0 %",
        r"that occur once\s+2\s+66\.7 %",
    ):
        assert re.search(row, told.out), row
    drawn = words_of(tmp_path / "f.svg")
    assert "2 of 3 occur once (66.7 %)" in drawn and "cat / tiger" in drawn
    counted = run("inspect", path, "--stats", "--json").json["statistics"]
    assert counted["n_prompt_pairs"] == 3 and counted["most_frequent"][0]["n"] == 2


def test_statistics_of_a_folder_and_of_what_has_no_pairs(
    cafe: CafeSet, run: Run, tmp_path: Path
) -> None:
    path = prompts(cafe, [])
    assert run("convert", path, "--to", "folder", "--out", tmp_path / "ours").code == 0
    assert re.search(r"pairs\s+4", run("inspect", tmp_path / "ours", "--stats").out)
    positives = [i for i in cafe.annotations["images"] if "fp_source_id" not in i]
    for image in positives:
        del image["edit_type"]
    cafe.annotations["images"] = positives
    path.write_text(json.dumps(cafe.annotations))
    refused = run("inspect", path, "--stats")
    assert refused.code == 2 and "has no pairs of a true and a misleading phrase" in refused.err
    refused = run("inspect", tmp_path / "ours", "--figure", tmp_path / "f.gif")
    assert refused.code == 2 and ".svg, .png or .pdf" in refused.err


def test_figure_three_of_a_long_tail(tmp_path: Path, run: Run) -> None:
    """A set as long-tailed as the published one is drawn in a small file."""
    gf_example = run("example", tmp_path / "example")
    assert gf_example.code == 0
    annotations = next((tmp_path / "example").glob("annotations*.json"))
    for name in ("f.svg", "f.pdf"):
        assert run("inspect", annotations, "--stats", "--figure", tmp_path / name).code == 0
    assert (tmp_path / "f.svg").stat().st_size < 40_000
    assert (tmp_path / "f.pdf").read_bytes().startswith(b"%PDF")


# ── panels ─────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """nano-base by itself, verified by an agent that rejects everything, and a baseline."""
    pytest.importorskip("skia")
    from groundfault.world.presets import BuildSettings, build

    place = tmp_path_factory.mktemp("panels")
    build("cafe", 18, place / "bench", BuildSettings(seed=5))
    for name, model in (
        ("base", "nano-base"), ("agent", "agent:nano-base+scripted:reject"), ("oracle", "oracle"),
    ):  # fmt: skip
        gf.evaluate(str(place / "bench"), model, out=place / name, bootstrap=0)
    return place


@pytest.fixture(autouse=True)
def only_svg(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where vl-convert is not installed: drawing every figure three times takes a minute."""
    monkeypatch.setattr(html, "find_spec", lambda name: None)


def figures(runs: Path, out: Path, *names: str, **more: Any) -> dict[str, Path]:
    written = write_figures([runs / name for name in names], out, **more)
    return {path.name: path for path in written if path.suffix == ".svg"}


def test_panels_are_written_with_the_other_figures(runs: Path, tmp_path: Path) -> None:
    found = figures(runs, tmp_path, "base", "agent", "oracle")
    assert {name for name in found if name.startswith("panels")} == {
        "panels-examples.svg", "panels-base.svg", "panels-agent-agent.svg",
    }  # fmt: skip
    rows = gf.open_run(runs / "base").cases()
    rows = rows.to_pylist() if hasattr(rows, "to_pylist") else rows.to_dict("records")
    examples = words_of(found["panels-examples.svg"])
    assert "Superficial mimicry" in examples and "Ontological conflict" in examples
    asked = {row["positive_query"] for row in rows}
    assert sum(query in examples for query in asked) >= 6
    content = found["panels-examples.svg"].read_text()
    assert content.count("<image ") == content.count('class="edge"') > 6  # each with its target


def test_a_models_panel_shows_what_it_accepts(runs: Path, tmp_path: Path) -> None:
    content = figures(runs, tmp_path, "base")["panels-base.svg"].read_text()
    rows = gf.open_run(runs / "base").cases()
    rows = rows.to_pylist() if hasattr(rows, "to_pylist") else rows.to_dict("records")
    accepted = [row for row in rows if row["negative_cell"] in ("TA-FP", "UA-FP")]
    assert accepted
    drawn = words_of(tmp_path / "panels-base.svg")
    shown = [row for row in rows if f"case {row['case_id']}" in drawn]
    assert shown and all(row in accepted for row in shown)
    assert {row["intervention"] for row in shown} == {row["intervention"] for row in accepted}
    assert content.count("<image ") == 3 * len(shown)


def test_an_agent_beside_its_segmenter(runs: Path, tmp_path: Path) -> None:
    found = figures(runs, tmp_path, "base", "agent")
    drawn = words_of(found["panels-agent-agent.svg"])
    counts = {
        words: int(re.search(rf"{words}: (\d+)", drawn)[1])  # type: ignore[index]
        for words in ("the agent is right, the segmenter is not", "both are wrong",
                      "the segmenter is right, the agent is not", "both are right")
    }  # fmt: skip
    assert sum(counts.values()) == 36  # every question once
    assert counts["both are right"] > 0  # what both reject
    assert "report_no_mask" in drawn and "segment_phrase" in drawn
    alone = figures(runs, tmp_path / "alone", "agent")
    assert not any("panels-agent" in name for name in alone)  # nothing to compare it with


def test_without_pictures_it_is_said(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notes: list[str] = []
    (runs / "bench" / "images").rename(runs / "elsewhere")
    try:
        found = figures(runs, tmp_path / "a", "base", notes=notes)
        assert found and not any(name.startswith("panels") for name in found)
        assert any("No pictures" in note for note in notes)
        gf.report([runs / "base"], tmp_path / "r.html", figures=tmp_path / "b")
        assert "figures: No pictures" in capsys.readouterr().err
        given = figures(runs, tmp_path / "c", "base", images_from=runs / "elsewhere")
        assert "panels-examples.svg" in given
    finally:
        (runs / "elsewhere").rename(runs / "bench" / "images")


def test_a_set_without_pairs_has_no_panels(tmp_path: Path) -> None:
    pytest.importorskip("skia")
    from groundfault.world.presets import BuildSettings, build

    build("clean", 3, tmp_path / "bench", BuildSettings(seed=1))
    gf.evaluate(str(tmp_path / "bench"), "nano-base", out=tmp_path / "run", bootstrap=0)
    assert not any(name.startswith("panels") for name in figures(tmp_path, tmp_path / "f", "run"))


def test_composition_refuses_a_set_without_pairs() -> None:
    with pytest.raises(UsageError, match="has no pairs"):
        composition(gf.Benchmark(card=cafe_files.CARD, cases=(), items=()))
