"""Reading and writing HalluSegBench folders: both releases, hostile lists, round trips."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest
from PIL import Image

from groundfault.benchmarks import halluseg
from groundfault.errors import DataError, UsageError
from groundfault.io.masks import decode, encode
from groundfault.matching.quads import ROLES
from groundfault.records import Benchmark, Case, Item, Prediction, Region, Role

NEW = {
    "factual_image_path": "factual_images/zoo.jpg",
    "counterfactual_image_path": "counterfactual_images/zoo_7_edited.png",
    "ann_id": 7,
    "factual_mask_path": "factual_masks/zoo_7_mask.png",
    "counterfactual_mask_path": "counterfactual_masks/zoo_7_newmask.png",
    "label": "zebra",
    "gpt_instruction": "Change left zebra to a horse.",
    "factual_label": "left zebra",
    "counterfactual_label": "a horse",
    "mask_orgl_orgi": "orgl_orgi/zoo_7_mask.png",
    "mask_orgl_edti": "orgl_edti/zoo_7_mask.png",
    "mask_edtl_edti": "edtl_edti/zoo_7_mask.png",
    "mask_edtl_orgi": "edtl_orgi/zoo_7_mask.png",
    "score_edtl_orgi": 0.5,
}
OLD = {
    "image_file": "factual_images/zoo.jpg",
    "mask_file": "factual_masks/zoo_7_mask.png",
    "label": "zebra",
    "ann_id": 7,
    "gpt_instruction": "Change left zebra to a horse.",
    "edited_image_path": "counterfactual_images/zoo_7_edited.png",
    "original_label": "left zebra",
    "new_label": "a horse",
    "new_mask_path": "counterfactual_masks/zoo_7_newmask.png",
    "mask_orgl_orgi": "/home/someone/Results/orgl_orgi/zoo_7_mask.png",
    "mask_orgl_edti": "/home/someone/Results/orgl_edti/zoo_7_mask.png",
    "mask_edtl_edti": "/home/someone/Results/edtl_edti/zoo_7_mask.png",
    "mask_edtl_orgi": "/home/someone/Results/edtl_orgi/zoo_7_mask.png",
}


def without(record, *names):
    return {key: value for key, value in record.items() if key not in names}


def write_list(folder, records):
    path = folder / "results.json"
    path.write_text(records if isinstance(records, str) else json.dumps(records))
    return path


def write_png(path, pixels):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.uint8(pixels) * 255).save(path)


@pytest.fixture
def folder(tmp_path):
    """data/ with the masks of NEW and OLD, and an empty pred/."""
    factual, edited = np.zeros((6, 8), bool), np.zeros((5, 7), bool)
    factual[1:3, 2:5] = True
    edited[2:] = True
    write_png(tmp_path / "data" / NEW["factual_mask_path"], factual)
    write_png(tmp_path / "data" / NEW["counterfactual_mask_path"], edited)
    (tmp_path / "pred").mkdir()
    return tmp_path


def read(folder, *records):
    return halluseg.read(write_list(folder, list(records)), folder / "data")


def find(folder, *records):
    path = write_list(folder, list(records))
    entries = halluseg.read_entries(path)
    data = halluseg._Folder(folder / "data", path, "--data")
    return [
        SimpleNamespace(
            truths=tuple(data.path(mask, entry.record) for mask in entry.masks),
            predictions=predictions,
        )
        for entry, predictions in zip(
            entries, halluseg.find_predictions(entries, path, folder / "pred"), strict=True
        )
    ]


def test_both_releases_give_the_same_benchmark(folder):
    benchmark = read(folder, NEW)
    assert read(folder, OLD) == benchmark
    assert benchmark.card.name == "halluseg"
    (case,) = benchmark.cases
    assert (case.id, case.intervention) == ("zoo_7", "replacement")
    assert case.tags == {"label": "zebra", "task": "referring"}
    asked = {item.role: (item.image.split("/")[0], item.query) for item in benchmark.items}
    assert asked == {
        Role.FACTUAL: ("factual_images", "left zebra"),
        Role.TEXTUAL: ("factual_images", "a horse"),
        Role.VISUAL: ("counterfactual_images", "left zebra"),
        Role.COUNTERFACTUAL: ("counterfactual_images", "a horse"),
    }
    factual, textual, visual, counterfactual = benchmark.items
    assert (factual.height_px, factual.width_px) == (textual.height_px, textual.width_px) == (6, 8)
    assert (visual.height_px, visual.width_px) == (5, 7)
    assert factual.present and counterfactual.present
    assert not textual.present and not visual.present
    assert factual.target == textual.target and visual.target == counterfactual.target
    assert decode(factual.target.mask).sum() == 6
    assert factual.id == "zoo_7/orgl_orgi" and visual.id == "zoo_7/orgl_edti"


def test_queries_of_reasoning_cases_and_of_short_lists(folder):
    questions = {"question": "Who is striped?", "counterfactual_question": "Who is not?"}
    items = read(folder, NEW | questions).items
    assert (items[0].query, items[1].query) == ("Who is striped?", "Who is not?")
    short = without(NEW, "factual_label", "counterfactual_label") | {"edited_label": "horse"}
    items = read(folder, short).items
    assert (items[0].query, items[1].query) == ("zebra", "horse")
    alias = without(NEW, "counterfactual_mask_path")
    alias["counterfactual_mask"] = NEW["counterfactual_mask_path"]
    assert read(folder, alias).items == read(folder, NEW).items


@pytest.mark.parametrize(
    ("fields", "task"),
    [
        ({"task": "referring"}, "referring"),
        ({"task": "Reasoning"}, "reasoning"),
        ({"type": "reason_seg_val"}, "reasoning"),
        ({"type": 3, "task": "refer_seg"}, "referring"),
        ({"task": "counting"}, "counting"),
        ({"question": "Which of the animals in this picture is striped?"}, "reasoning"),
        ({"question": "Who has stripes?", "task": "refer_seg"}, "referring"),
        ({"question": ""}, "referring"),
        ({"question": None, "type": 3}, "referring"),
        ({}, "referring"),
        ({"task": ""}, ""),
        ({"task": "", "question": "Who has stripes?"}, ""),
    ],
)
def test_task_is_what_the_list_says_or_whether_it_has_a_question(folder, fields, task):
    (case,) = read(folder, NEW | fields).cases
    assert case.tags.get("task", "") == task


def test_empty_ground_truth_has_no_region(folder):
    write_png(folder / "data" / NEW["factual_mask_path"], np.zeros((6, 8)))
    benchmark = read(folder, NEW)
    assert benchmark.items[0].regions == () and benchmark.items[0].target is not None
    assert "empty ground-truth mask, e.g. zoo_7" in benchmark.notes[0]


# Where predictions are


def test_prediction_paths_as_given_or_by_name(folder):
    usual = [f"{halluseg.CORNERS[role]}/zoo_7_mask.png" for role in ROLES]
    bare = without(NEW, *(f"mask_{corner}" for corner in halluseg.CORNERS.values()))
    for record in (NEW, OLD, bare):
        (files,) = find(folder, record)
        found = [path.relative_to(folder / "pred").as_posix() for path in files.predictions]
        assert found == usual
        assert files.truths == (
            folder / "data" / NEW["factual_mask_path"],
            folder / "data" / NEW["counterfactual_mask_path"],
        )


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("mine/x.png", "mine/x.png"),
        ("runs/model/orgl_orgi/y.png", "orgl_orgi/y.png"),
        ("/etc/passwd", "orgl_orgi/passwd"),
        ("../../etc/passwd", "orgl_orgi/passwd"),
        ("mine/../../x.png", "orgl_orgi/x.png"),
        (r"C:\runs\orgl_orgi\y.png", "orgl_orgi/y.png"),
        ("a/..", "orgl_orgi/zoo_7_mask.png"),
        ("bad\0name.png", "orgl_orgi/zoo_7_mask.png"),
    ],
)
def test_a_prediction_path_never_leads_outside(folder, given, found):
    for name in ("mine/x.png", "orgl_orgi/y.png", "orgl_orgi/zoo_7_mask.png"):
        write_png(folder / "pred" / name, np.ones((2, 2)))
    (files,) = find(folder, NEW | {"mask_orgl_orgi": given})
    assert files.predictions[0] == folder / "pred" / found


def test_links_are_followed_inside_and_refused_outside(folder):
    write_png(folder / "outside.png", np.ones((2, 2)))
    write_png(folder / "pred" / "shared.png", np.ones((2, 2)))
    (folder / "pred" / "orgl_orgi").mkdir()
    link = folder / "pred" / "orgl_orgi" / "zoo_7_mask.png"
    link.symlink_to(folder / "pred" / "shared.png")
    (files,) = find(folder, NEW)
    assert files.predictions[0] == folder / "pred" / "shared.png"
    link.unlink()
    link.symlink_to(folder / "outside.png")
    with pytest.raises(DataError, match="leads outside the folder"):
        find(folder, NEW)


@pytest.mark.parametrize("path", ["../../etc/passwd", "/etc/passwd", "masks/../../x.png", "a\0b"])
@pytest.mark.parametrize("field", ["factual_mask_path", "counterfactual_mask_path"])
def test_a_mask_path_outside_is_refused(folder, field, path):
    for function in (find, read):
        with pytest.raises(DataError) as caught:
            function(folder, NEW | {field: path})
        assert caught.value.file.endswith("results.json")
        assert caught.value.record == "record 0 (image factual_images/zoo.jpg, ann_id 7)"
        assert "outside" in str(caught.value) or "is no path" in str(caught.value)


def test_paths_that_no_system_has(folder):
    with pytest.raises(DataError, match=r"cannot be read|no path|not there"):
        read(folder, NEW | {"factual_mask_path": "m" * 5000 + ".png"})
    loop = folder / "data" / "loop"
    loop.symlink_to(loop)
    with pytest.raises(DataError, match=r"cannot be read|no path|not there"):
        read(folder, NEW | {"factual_mask_path": "loop/x.png"})


# What the documentation says about fields

FORMATS = Path(__file__).parents[1] / "docs" / "formats.md"


@pytest.mark.parametrize(
    ("heading", "fields"),
    [
        ("| field of data.json |", {*halluseg.Record.__struct_fields__, *NEW, *OLD}),
        ("| field | of | means |", set(Prediction.__struct_fields__)),
    ],
)
def test_every_field_is_documented(heading, fields):
    text = FORMATS.read_text(encoding="utf-8")
    table = text[text.index(heading) :].split("\n\n")[0]
    listed = {name for line in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", line)}
    assert fields - {"score_edtl_orgi"} <= listed  # what a script has left there is ignored
    if heading.startswith("| field |"):
        first = [line.split("|")[1] for line in table.splitlines()[2:]]
        assert {name for cell in first for name in re.findall(r"`(\w+)`", cell)} == fields


# Lists that are not right


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "the file is empty"),
        ("[]", "the list has no cases"),
        ('{"cases": []}', "a JSON object, not a list"),
        (json.dumps([NEW, NEW | {"ann_id": 8}])[:-30], "ends in the middle of its JSON"),
        ("[1, 2]", "Expected `object`, got `int`"),
        (json.dumps([NEW | {"ann_id": [1]}]), "ann_id"),
        (json.dumps([NEW | {"factual_mask_path": 3}]), "factual_mask_path"),
        (json.dumps([NEW])[:-2] + ', "score": NaN}]', "NaN"),
    ],
)
def test_unsound_lists_are_refused(folder, content, problem):
    path = write_list(folder, content)
    with pytest.raises(DataError) as caught:
        halluseg.read_entries(path)
    assert problem in str(caught.value)
    assert caught.value.file.endswith("results.json") and caught.value.remedy


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        (without(NEW, "ann_id"), "it has no ann_id"),
        (without(NEW, "factual_image_path"), r"it has no factual_image_path \(or image_file\)"),
        (without(NEW, "factual_mask_path"), r"it has no factual_mask_path \(or mask_file\)"),
        (without(OLD, "new_mask_path"), "it has no counterfactual_mask_path"),
        (NEW | {"factual_mask_path": ""}, "it has no factual_mask_path"),
        (without(NEW, "mask_edtl_edti"), "mask_edtl_edti is missing while other"),
        (NEW | {"mask_orgl_edti": None}, "mask_orgl_edti is missing while other"),
    ],
)
def test_missing_fields_are_refused(folder, record, problem):
    path = write_list(folder, [NEW | {"ann_id": 1}, record])
    with pytest.raises(DataError, match=problem) as caught:
        halluseg.read_entries(path)
    assert caught.value.record.startswith("record 1") and caught.value.remedy


@pytest.mark.parametrize(
    ("missing", "problem"),
    [
        (("counterfactual_image_path",), "it has no counterfactual_image_path"),
        (("factual_label", "label"), "it has no factual_label"),
        (("counterfactual_label",), "it has no counterfactual_label"),
    ],
)
def test_a_benchmark_needs_pictures_and_queries(folder, missing, problem):
    """Scoring does without, as the published scripts do."""
    assert find(folder, without(NEW, *missing))
    with pytest.raises(DataError, match=problem):
        read(folder, without(NEW, *missing))


def test_twice_the_same_case_is_refused(folder):
    path = write_list(folder, [NEW, NEW | {"ann_id": 8}, OLD])
    with pytest.raises(DataError, match=r"record 2 .*record 0 is of the same image and ann_id"):
        halluseg.read_entries(path)


def test_absent_files_and_folders(folder):
    (folder / "data" / NEW["factual_mask_path"]).unlink()
    with pytest.raises(DataError, match=r"zoo_7_mask\.png, record 0 .*ground truth is not there"):
        read(folder, NEW)
    with pytest.raises(UsageError, match="no such folder"):
        halluseg.read(folder / "results.json", folder / "nowhere")
    with pytest.raises(UsageError, match="no such file"):
        halluseg.read(folder / "nowhere.json", folder / "data")


# Writing


def test_write_and_read_again(folder):
    other = NEW | {"ann_id": "8b", "task": "reasoning", "factual_label": "Wer ist’s? ü"}
    benchmark = read(folder, NEW, other, NEW | {"ann_id": "007"}, NEW | {"ann_id": -1})
    halluseg.write(benchmark, folder / "copy")
    again = halluseg.read(folder / "copy" / "results.json", folder / "copy" / "data")
    assert again == benchmark
    first = json.loads((folder / "copy" / "results.json").read_text())[0]
    assert first["ann_id"] == 7
    assert first["mask_edtl_orgi"] == "edtl_orgi/zoo_7_mask.png"
    with Image.open(folder / "copy" / "data" / first["factual_mask_path"]) as picture:
        assert picture.mode == "L" and set(np.unique(np.asarray(picture))) == {0, 255}


def quad(case_id="k1", **changes):
    """A benchmark of another origin: own case id, two regions, no target."""
    left, right = np.zeros((4, 6), bool), np.zeros((4, 6), bool)
    left[:, 0], right[:, 5] = True, True
    regions = (Region(encode(left)), Region(encode(right)))
    items = tuple(
        Item(
            id=f"{case_id}-{role}",
            case_id=case_id,
            role=role,
            images=("scene.png" if role in (Role.FACTUAL, Role.TEXTUAL) else "edited.png",),
            height_px=4,
            width_px=6,
            query="cup" if role in (Role.FACTUAL, Role.VISUAL) else "bowl",
            regions=regions if role is Role.FACTUAL else (),
            **changes,
        )
        for role in ROLES
    )
    return Benchmark(card=halluseg.CARD, cases=(Case(id=case_id),), items=items)


def test_write_a_benchmark_of_another_origin(tmp_path):
    halluseg.write(quad(), tmp_path / "out")
    again = halluseg.read(tmp_path / "out" / "results.json", tmp_path / "out" / "data")
    assert [case.id for case in again.cases] == ["scene_k1"]
    assert [item.query for item in again.items] == ["cup", "bowl", "cup", "bowl"]
    assert decode(again.items[0].target.mask)[:, [0, 5]].all()
    assert decode(again.items[0].target.mask).sum() == 8
    assert decode(again.items[2].target.mask).sum() == 0
    halluseg.write(again, tmp_path / "more")
    assert halluseg.read(tmp_path / "more" / "results.json", tmp_path / "more" / "data") == again


def test_what_cannot_be_written(tmp_path):
    benchmark = quad()
    short = msgspec.structs.replace(benchmark, items=benchmark.items[:3])
    with pytest.raises(UsageError, match="case k1 is not a quad"):
        halluseg.write(short, tmp_path / "short")
    with pytest.raises(UsageError, match="cannot be part of a file name"):
        halluseg.write(quad("a/../../b"), tmp_path / "path")
    assert not list(tmp_path.iterdir())
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(UsageError, match="not an empty folder"):
        halluseg.write(benchmark, tmp_path / "full")
