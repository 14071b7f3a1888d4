"""Benchmarks made of the world: the same bytes however they are made, and true by construction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from groundfault.benchmarks import cafe, folder, halluseg
from groundfault.errors import UnknownName, UsageError
from groundfault.masks import decode
from groundfault.records import Role

pytest.importorskip("skia", reason="skia-python draws the world")

from groundfault.world.presets import BuildSettings, build, make_case

SMALL = BuildSettings(seed=3, size_px=128)


def contents(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(path.rglob("*.png"))}


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
    settings = BuildSettings(seed=1, size_px=160, crowd=2)
    built = make_case("cafe", 0, settings=settings)  # mimicry: the mimicked may stand by
    positive = next(item for item in built.items if item.role is Role.POSITIVE)
    assert len(positive.regions) == 3


def test_doses_and_controls() -> None:
    settings = BuildSettings(seed=2, size_px=96, doses=(0.0, 0.5, 1.0), controls=True)
    built = make_case("cafe", 0, settings=settings)
    assert [case.tags["dose"] for case in built.cases] == ["0", "0.5", "1", "0"]
    none, half, full, control = (built.pictures[f"{case.id}.png"] for case in built.cases)
    assert none == control and len({none, half, full}) == 3


def test_doses_and_controls_have_lines_of_their_own(run: Any, tmp_path: Path) -> None:
    options = ("--n", 3, "--size", 96, "--dose", "0.5,1", "--controls", "--workers", 1)
    run("world", "build", "--preset", "cafe", *options, "--out", tmp_path / "b")
    out = ("--out", tmp_path / "runs", "--bootstrap", 0, "--json")
    rows = run("eval", tmp_path / "b", "--model", "oracle", *out).json["rows"]
    counts = {name: row["n_cases"] for name, row in rows.items()}
    assert counts == {"Overall": 3, "SM": 1, "CC": 1, "OC": 1, "dose 0.5": 3, "control": 3}
    assert rows["control"]["metrics"]["IL-FPR"]["value"] == 0.0


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
