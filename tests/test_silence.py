"""Questions without words are refused before anybody is asked, whatever file they come from."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.conftest import CafeSet, Ran

import groundfault as gf
from groundfault.benchmarks import folder, saco
from groundfault.errors import GroundfaultError
from groundfault.io.inspection import inspect

Command = Callable[..., Ran]
SILENT: tuple[Any, ...] = ("", "  \n", None)
"""None: the field is not there."""


def silence(cafe: CafeSet, number: int, words: str | None) -> None:
    entry = cafe.annotations["images"][number]
    entry.pop("text_input")
    if words is not None:
        entry["text_input"] = words


def evaluate(run: Command, name: str, annotations: Path, out: Path) -> Ran:
    return run("eval", name, "--annotations", annotations, "--model", "random", "--out", out)


@pytest.mark.parametrize("words", SILENT)
@pytest.mark.parametrize("name", ["cafe", "saco"])
def test_a_pair_without_its_phrase(
    run: Command, cafe: CafeSet, tmp_path: Path, name: str, words: str | None
) -> None:
    silence(cafe, 3, words)
    cafe.write()
    ran = evaluate(run, name, cafe.annotation_file, tmp_path / "runs")
    assert ran.code == 2 and not (tmp_path / "runs").exists()
    record = f"annotations.json, images[3] (id {cafe.annotations['images'][3]['id']})"
    assert record in ran.err and "text_input is missing or empty" in ran.err
    assert "Remedy: give it its phrase" in ran.err and "plain COCO" not in ran.err
    assert not inspect(cafe.annotation_file).sound


def test_pairs_that_lost_all_their_phrases_are_no_plain_coco_file(
    run: Command, cafe: CafeSet, tmp_path: Path
) -> None:
    for number in range(len(cafe.annotations["images"])):
        silence(cafe, number, None)
    cafe.write()
    ran = evaluate(run, "cafe", cafe.annotation_file, tmp_path / "runs")
    assert ran.code == 2 and "(and 7 more)" in ran.err and "plain COCO" not in ran.err
    [found] = [f for f in inspect(cafe.annotation_file).findings if f.severity == "error"]
    assert found.problem == "a pair has no text_input" and found.count == 8


def plain(where: Path, **more: Any) -> Path:
    box = {"bbox": [1, 1, 5, 5], "segmentation": [[1, 1, 6, 1, 6, 6, 1, 6]], "iscrowd": 0}
    shared = {"height": 20, "width": 20, **more}
    content = {
        "images": [{"id": k, "file_name": f"{k}.jpg", **shared} for k in (7, 8)],
        "annotations": [{"id": k, "image_id": k, "category_id": 3, **box} for k in (7, 8)],
        "categories": [{"id": 3, "name": "dog"}, {"id": 4, "name": "cat"}],
    }
    where.write_text(json.dumps(content))
    return where


@pytest.mark.parametrize(
    ("name", "more", "kind"),
    [
        ("cafe", {}, "plain COCO file"),
        ("saco", {}, "plain COCO file"),
        ("cafe", {"neg_category_ids": [4], "not_exhaustive_category_ids": []}, "plain LVIS file"),
    ],
)
def test_annotations_by_category_are_recognised(
    run: Command, tmp_path: Path, name: str, more: dict[str, Any], kind: str
) -> None:
    file = plain(tmp_path / "instances.json", **more)
    ran = evaluate(run, name, file, tmp_path / "runs")
    assert ran.code == 2 and kind in ran.err
    assert "groundfault build pairs" in ran.err and "groundfault convert FILE" in ran.err
    converted = run("convert", file, "--to", "folder", "--out", tmp_path / "folder")
    assert converted.code == 0, converted.err  # what the message names works


def test_a_folder_of_ours_and_a_benchmark_made_in_python(tmp_path: Path) -> None:
    file = plain(tmp_path / "instances.json")
    made = gf.load("coco", annotations=file)
    items = tuple(msgspec.structs.replace(item, query=" ") for item in made.items)
    silent = msgspec.structs.replace(made, items=items)
    with pytest.raises(GroundfaultError, match="item 7:3: its query is empty, and so are 1 more"):
        gf.evaluate(silent, "random", tmp_path / "run")
    assert not (tmp_path / "run").exists()
    folder.write(silent, tmp_path / "folder")
    assert not inspect(tmp_path / "folder").sound
    saco.write(silent, tmp_path / "saco.json")
    assert not inspect(tmp_path / "saco.json").sound
