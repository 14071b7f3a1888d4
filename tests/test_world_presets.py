"""Benchmarks made of the world: the same bytes however they are made, and true by construction."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from tests.conftest import ALL

from groundfault.benchmarks import cafe, folder, halluseg
from groundfault.errors import UnknownName, UsageError
from groundfault.io.masks import decode
from groundfault.records import Role

pytest.importorskip("skia", reason="skia-python draws the world")

from groundfault.world.cases import sample_clean_scene, sample_intervention
from groundfault.world.contexts import PAINTED
from groundfault.world.objects import CATEGORIES
from groundfault.world.phrases import concept, disputed, matching
from groundfault.world.presets import BuildSettings, build, make_case
from groundfault.world.splits import SPLIT_KINDS, SPLITS, split_named, split_of

SMALL = BuildSettings(seed=3, size_px=128)


def contents(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(path.rglob("*.png"))}


def rows_of(run: Any, benchmark: Path, model: str, *options: object) -> dict[str, Any]:
    """The rows of a model's summary."""
    runs = benchmark.parent / "runs" / benchmark.name
    ran = run("eval", benchmark, "--model", model, "--out", runs, *options)
    assert ran.code == 0, ran.err
    rows: dict[str, Any] = json.loads((runs / model / "summary.json").read_text())["rows"]
    return rows


def test_workers_do_not_change_a_byte(tmp_path: Path) -> None:
    one = build("cafe", 6, tmp_path / "one", SMALL, workers=1)
    two = build("cafe", 6, tmp_path / "two", SMALL, workers=2)
    assert one.card.content_hash == two.card.content_hash
    assert one.card == two.card
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert folder.read(tmp_path / "one").items == one.items


def test_cafe_pairs_are_true(tmp_path: Path) -> None:
    benchmark = build("cafe", 9, tmp_path / "b", SMALL, workers=1)
    assert [case.intervention for case in benchmark.cases] == ["SM", "CC", "OC"] * 3
    for item in benchmark.items:
        assert item.target is not None and item.target.mask is not None
        assert item.present == (item.role is Role.POSITIVE)
        if item.role is Role.POSITIVE:
            assert item.regions[0] is item.target
        with Image.open(tmp_path / "b" / "images" / item.image) as picture:
            assert np.asarray(picture).shape == (128, 128, 3)
        assert decode(item.target.mask).any()


def test_a_crowd_has_true_answers_to_the_misleading_phrase() -> None:
    chosen = BuildSettings(seed=1, size_px=160, crowd=2)
    built = make_case("cafe", 0, settings=chosen)  # mimicry: the mimicked may stand by
    positive = next(item for item in built.items if item.role is Role.POSITIVE)
    assert len(positive.regions) == 3


def test_doses_and_controls() -> None:
    chosen = BuildSettings(seed=2, size_px=96, doses=(0.0, 0.5, 1.0), controls=True)
    built = make_case("cafe", 0, settings=chosen)
    assert [case.tags["dose"] for case in built.cases] == ["0", "0.5", "1", "0"]
    none, half, full, control = (built.pictures[f"{case.id}.png"] for case in built.cases)
    assert none == control and len({none, half, full}) == 3


def test_doses_and_controls_have_lines_of_their_own(run: Any, tmp_path: Path) -> None:
    options = ("--n", 3, "--size", 96, "--dose", "0.5,1", "--controls", "--workers", 1)
    run("world", "build", "--preset", "cafe", *options, "--out", tmp_path / "b")
    rows = rows_of(run, tmp_path / "b", "oracle", "--bootstrap", 0)
    counts = {name: row["n_cases"] for name, row in rows.items()}
    plain = {"Overall": 3, "SM": 1, "CC": 1, "OC": 1, "dose 0.5": 3, "control": 3}
    assert {name: counts[name] for name in counts if "seen" not in name} == plain
    assert rows["control"]["metrics"]["IL-FPR"]["value"] == 0.0


@settings(deadline=None, max_examples=50)
@given(st.sampled_from(SPLIT_KINDS), st.sampled_from(SPLITS), st.integers(0, 99))
def test_a_case_of_a_split_is_the_next_draw_that_fits(kind: str, split: str, index: int) -> None:
    found = sample_intervention(kind, 4, index, split=split)
    assert split_of(found) == split
    assert found == sample_intervention(kind, 4, index, split=split)
    first = sample_intervention(kind, 4, index)
    assert sample_intervention(kind, 4, index, split=split_of(first)) == first


def test_every_split_has_500_cases() -> None:
    for kind in SPLIT_KINDS:  # unseen pairs are the rarest: one draw in twelve to five
        for index in range(0, 500, 1 if ALL else 4):  # each is drawn by itself
            sample_intervention(kind, 6, index, split="unseen pair")


def test_only_edits_with_a_counterpart_have_a_split() -> None:
    with pytest.raises(UsageError, match="counting has none"):
        sample_intervention("counting", 0, 0, split="seen")
    with pytest.raises(UnknownName, match="Did you mean 'unseen-pair'"):
        split_named("unsen-pair")
    with pytest.raises(UnknownName, match="split"):
        build("cafe", 1, "nowhere", BuildSettings(split="unseen-pair"))
    with pytest.raises(UsageError, match="no split"):
        build("clean", 1, "nowhere", BuildSettings(split="seen"))


@pytest.mark.parametrize("preset", ["cafe", "halluseg"])
@pytest.mark.parametrize("split", SPLITS)
def test_cases_and_controls_carry_their_split(preset: str, split: str) -> None:
    chosen = BuildSettings(
        seed=5, size_px=64, split=split, controls=preset == "cafe", doses=(0.5, 1.0)
    )
    for index in range(3):
        cases = make_case(preset, index, settings=chosen).cases
        assert {case.tags["split"] for case in cases} == {split}
        clusters = [case.tags.get("cluster") for case in cases]
        assert clusters == ([f"{index:06d}"] * 3 if preset == "cafe" else [None])


def test_a_lone_case_is_its_own_cluster() -> None:
    (case,) = make_case("cafe", 0, settings=SMALL).cases
    assert "cluster" not in case.tags


def test_results_are_shown_by_split(run: Any, tmp_path: Path) -> None:
    options = ("--n", 30, "--size", 64, "--controls", "--workers", 1, "--seed", 1)
    run("world", "build", "--preset", "cafe", *options, "--out", tmp_path / "b")
    rows = rows_of(run, tmp_path / "b", "random", "--bootstrap", 50)
    counts = {name: row["n_cases"] for name, row in rows.items()}
    assert sum(counts[split] for split in SPLITS) == counts["Overall"] == 30
    assert sum(counts[f"control {split}"] for split in SPLITS) == counts["control"] == 30
    for kind in ("SM", "CC", "OC"):
        assert sum(counts.get(f"{kind} {split}", 0) for split in SPLITS) == counts[kind] == 10
    weighted = sum(rows[s]["metrics"]["IL-FPR"]["value"] * counts[s] for s in SPLITS)
    assert weighted == pytest.approx(rows["Overall"]["metrics"]["IL-FPR"]["value"] * 30)
    assert rows["seen"]["metrics"].keys() == rows["Overall"]["metrics"].keys()
    assert rows["seen"]["metrics"]["IL-FPR"]["low"] is not None
    one = run("world", "build", "--preset", "cafe", *options, "--split", "unseen pair",
              "--out", tmp_path / "one")  # fmt: skip
    assert one.code == 0
    rows = rows_of(run, tmp_path / "one", "random", "--bootstrap", 50)
    assert list(rows) == ["Overall", "SM", "CC", "OC", "control"]


def test_quads_are_shown_by_split(run: Any, tmp_path: Path) -> None:
    options = ("--n", 24, "--size", 64, "--workers", 1)
    run("world", "build", "--preset", "halluseg", *options, "--out", tmp_path / "b")
    rows = rows_of(run, tmp_path / "b", "random", "--bootstrap", 50)
    counts = {name: row["n_cases"] for name, row in rows.items()}
    assert sum(counts[split] for split in SPLITS) == 24
    assert sum(counts.get(f"referring {split}", 0) for split in SPLITS) == counts["referring"]
    assert not any(name.startswith(("S ", "M ", "L ")) for name in rows)


def test_clean_scenes_are_asked_for_all_there_is_and_as_much_that_is_not() -> None:
    chosen = BuildSettings(seed=8, size_px=96, material_share=0.2)
    for index in range(40):
        built = make_case("clean", index, settings=chosen)
        scene = sample_clean_scene(8, index, chosen.world)
        painted = {*PAINTED.get(scene.place.context, ())} | disputed(scene)
        there = {item.query: item for item in built.items if item.present}
        absent = [item.query for item in built.items if not item.present]
        assert set(there) == {concept(thing) for thing in scene.things} - {*painted}
        assert len(absent) == len(there) == len({*absent}) > 0
        for name, item in there.items():
            assert len(item.regions) == len(matching(scene, name))
        assert not {*absent} & {*painted, *(thing.category for thing in scene.things)}
        assert {item.role for item in built.items} == {Role.POSITIVE}
        at_home = {name for name in CATEGORIES if scene.place.context in CATEGORIES[name].contexts}
        possible = at_home - {*painted, *(thing.category for thing in scene.things)}
        assert len(at_home & {*absent}) >= min(len(absent) // 2, len(possible))


def test_clean_scenes_are_scored_as_plain_phrases(run: Any, tmp_path: Path) -> None:
    options = ("--n", 6, "--size", 96, "--workers", 1)
    ran = run("world", "build", "--preset", "clean", *options, "--out", tmp_path / "b")
    assert ran.code == 0, ran.err
    assert {case.intervention for case in folder.read(tmp_path / "b").cases} == {"clean"}
    exact = ("--bootstrap", 20, "--variant", "exact")
    rows = rows_of(run, tmp_path / "b", "oracle", *exact)
    assert list(rows) == ["Overall"] and rows["Overall"]["n_cases"] == 6
    metrics = rows["Overall"]["metrics"]
    assert metrics["positive_micro_F1"]["value"] == metrics["cgF1"]["value"] == 1.0
    assert metrics["IL_FPR"]["value"] == 0.0
    rows = rows_of(run, tmp_path / "b", "always-yes", *exact)
    assert rows["Overall"]["metrics"]["IL_FPR"]["value"] == 1.0


def test_quads_swap_what_is_true(tmp_path: Path) -> None:
    benchmark = build("halluseg", 4, tmp_path / "b", SMALL, workers=1)
    assert {case.tags["task"] for case in benchmark.cases} == {"referring", "reasoning"}
    by_role: dict[Role, Any] = {i.role: i for i in benchmark.items if i.case_id == "000000"}
    assert by_role[Role.FACTUAL].query == by_role[Role.VISUAL].query
    assert by_role[Role.FACTUAL].image == by_role[Role.TEXTUAL].image
    assert by_role[Role.FACTUAL].present and not by_role[Role.TEXTUAL].present


def test_native_files_can_be_read_back(run: Any, tmp_path: Path) -> None:
    common = ("--n", 3, "--size", 96, "--workers", 1)
    out, native = tmp_path / "b", tmp_path / "native"
    ran = run("world", "build", "--preset", "cafe", *common, "--out", out, "--native", native)
    assert ran.code == 0, ran.err
    assert len(cafe.read([native / "annotations.json"]).cases) == 3
    assert (native / "annotations_OC.json").is_file()
    out, native = tmp_path / "h", tmp_path / "native_h"
    ran = run("world", "build", "--preset", "halluseg", *common, "--out", out, "--native", native)
    assert ran.code == 0, ran.err
    assert len(halluseg.read(native / "results.json", native / "data").cases) == 3


def test_bad_requests(run: Any, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'cafe'"):
        build("caffe", 3, tmp_path / "x", SMALL)
    with pytest.raises(UsageError, match="at least one case"):
        build("cafe", 0, tmp_path / "x", SMALL)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("keep me")
    ran = run("world", "build", "--preset", "cafe", "--n", 2, "--out", tmp_path / "full")
    assert ran.code == 2 and "not an empty folder" in ran.err
    assert [file.name for file in (tmp_path / "full").iterdir()] == ["mine.txt"]
    ran = run("world", "build", "--preset", "cafe", "--size", 9, "--out", tmp_path / "tiny")
    assert ran.code == 2 and not (tmp_path / "tiny").exists()


def test_sheets(run: Any, tmp_path: Path) -> None:
    names = run("world", "sheet", "list").out.split()
    assert "categories" in names
    out = tmp_path / "sheet.png"
    assert run("world", "sheet", names[0], "--size", 64, "--out", out).code == 0
    with Image.open(out) as picture:
        assert picture.width > 64
