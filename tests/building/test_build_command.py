"""`groundfault build` as it is typed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image
from tests.building.photographs import write_set
from tests.conftest import Ran

import groundfault as gf
from groundfault.building.cautions import cautions
from groundfault.building.recipe import read_recipe
from groundfault.building.records import Proposal
from groundfault.reports.datasheets import _change

Run = Callable[..., Ran]


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    """A recipe of a set in LVIS's name."""
    write_set(tmp_path / "set")
    file = tmp_path / "recipe.toml"
    file.write_text(
        'benchmark = "cafe"\n[source]\nname = "lvis"\n'
        'annotations = "set/instances.json"\nimages = "set/images"\n'
    )
    return file


def source_of(folder: Path) -> str:
    return str(json.loads((folder / "build.json").read_text())["source"])


def test_options_change_of_a_recipe_what_they_name_alone(
    recipe: Path, run: Run, tmp_path: Path
) -> None:
    images = tmp_path / "set" / "images"
    command = ("build", recipe, "--stage", "mine")
    assert run(*command, "--images", images, "--out", tmp_path / "a").code == 0
    assert source_of(tmp_path / "a") == "lvis"
    assert run(*command, "--source", "coco", "--out", tmp_path / "b").code == 0
    assert source_of(tmp_path / "b") == "coco"


def test_a_folder_of_photographs_needs_who_finds_things(run: Run, tmp_path: Path) -> None:
    _, images = write_set(tmp_path / "set", 2)
    command = ("build", "cafe", "--source", "folder", "--images", images, "--stage", "mine")
    alone = run(*command, "--out", tmp_path / "a")
    assert alone.code == 2 and "--segmenter" in alone.err
    found = run(*command, "--segmenter", "nano-base", "--out", tmp_path / "b")
    assert found.code == 0 and "mine" in found.out
    assert "warning: nano-base finds and names what is edited" in found.err


@pytest.mark.parametrize(
    ("table", "warned"),
    [
        ('[source]\nname = "folder"\noptions = {segmenter = "nano:mine/one"}', "finds and names"),
        ('[source]\nname = "folder"\noptions = {segmenter = "sam3"}', ""),
        ('[verify]\nresegment = "nano-cft"', "[verify] resegment"),
        ('[edit]\nmasker = "nano-base"', "[edit] masker"),
        ('[edit]\nby = "world:scenes"\n[verify]\nresegment = "nano-cft"', ""),
        ('[verify]\nresegment = "agent:nano-base+scripted:accept"', "nano-base checks"),
    ],
)
def test_segmenters_that_never_saw_a_photograph_are_warned_of(
    tmp_path: Path, table: str, warned: str
) -> None:
    file = tmp_path / "recipe.toml"
    file.write_text(f'benchmark = "cafe"\n{table}\n')
    found = cautions(read_recipe(file))
    assert len(found) == bool(warned) and warned in " ".join(found)


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ('[source]\nsegmenter = "sam3"', "'segmenter' in [source]: it belongs in [source.options]; "
         "[source] has: annotations, images, missing, name, options"),
        ("[source]\nphrases = []", "it belongs in [source.options]"),
        ("[source]\nlimit = 3", "it belongs at the top, before the first [table] or in [mine]"),
        ("[source]\nimage = 3", "'image' in [source]. Did you mean 'images'"),
        ('segmenter = "sam3"', "'segmenter': it belongs in [source.options]; at the top are: "),
        ("[source.options]\nmissing = 3", "in [source.options]: it belongs in [source]; "),
        ("[source.options]\nimages = 3", "in [source.options]: it belongs in [source] or in "),
        ("[source.options]\nsegmentr = 3", "Did you mean 'segmenter'"),
        ('[source.options]\nphrases = "cat"', "source.options.phrases: expected `array`"),
        ("[edit]\nsam2 = 3", "'sam2' in [edit]: it belongs in [edit.options]"),
        ("[mine]\nsplit = 3", "'split' in [mine]: it belongs in [source.options]"),
        ("[mine]\nper_picture = 3", "'per_picture' in [mine]. Did you mean 'per_image'"),
        ("[mine.exclusions]\nlimit = 3", "'limit' in [mine.exclusions]: it belongs "),
        ("[verify]\nqqq = 3", "'qqq' in [verify]. Known: "),
    ],
)  # fmt: skip
def test_a_setting_in_the_wrong_table_is_told_where_it_belongs(
    tmp_path: Path, run: Run, table: str, told: str
) -> None:
    write_set(tmp_path / "set", 2)
    file = tmp_path / "recipe.toml"
    file.write_text(f'benchmark = "cafe"\n{table}\n')
    given = ("--annotations", tmp_path / "set/instances.json", "--images", tmp_path / "set/images")
    ran = run("build", file, *given, "--stage", "mine", "--out", tmp_path / "out")
    assert ran.code == 2 and told in " ".join(ran.err.split())


def test_the_end_of_a_build_says_what_is_counted(recipe: Path, run: Run, tmp_path: Path) -> None:
    ran = run("build", recipe, "--out", tmp_path / "out", "--workers", 1)
    released = gf.load(tmp_path / "out" / "release")
    pictures = {case.tags["cluster"] for case in released.cases}
    assert f"{len(released.cases)} cases from {len(pictures)} photographs; results count" in ran.out
    said = f"{len(released.cases)} edits of {len(pictures)} photographs: tables count those of one"
    assert said in released.card.about
    rows = gf.evaluate(released, "oracle", out=tmp_path / "runs").summary.rows
    assert rows["Overall"].n_cases == len(pictures) < len(released.cases)


@pytest.mark.parametrize(
    ("kind", "value", "told"),
    [
        ("surface", "zebra", "car → zebra"),
        ("erase", "", "car → erased"),
        ("none", "", "car → left as it is"),
        ("move", "left", "car → moved left"),
        ("move", "", "car → moved"),
        ("add", "bush", "car + bush"),
        ("add", "", "car + another one"),
        ("recolour", "", "car → recolour"),
    ],
)
def test_every_change_of_a_datasheet_has_two_sides(kind: str, value: str, told: str) -> None:
    assert _change("car", Proposal(kind=kind, value=value, instruction="x")) == told


def test_a_datasheet_keeps_what_its_build_warned_of(recipe: Path, tmp_path: Path) -> None:
    recipe.write_text(recipe.read_text() + '[verify]\nresegment = "nano-base"\n')
    built = gf.build(recipe, tmp_path / "out", workers=1)
    assert built.released and "drawn scenes" in built.cautions[0]
    assert f"**Warning**: {built.cautions[0]}." in (tmp_path / "out" / "datasheet.md").read_text()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--editor", "procedurl"), "Did you mean 'procedural'"),
        (("--proposer", "rulez"), "Did you mean 'rules'"),
        (("--proposer", "scripted"), "scripted:proposals.jsonl"),
        (("--review", "nowhere.jsonl"), "nowhere.jsonl: no such file"),
        (("--proposer", "sam3"), "answers no questions"),
    ],
)
def test_what_cannot_work_is_told_before_anything_is_done(
    options: tuple[str, ...], told: str, recipe: Path, run: Run, tmp_path: Path
) -> None:
    ran = run("build", recipe, *options, "--out", tmp_path / "out")
    assert ran.code == 2 and told in ran.err
    assert not (tmp_path / "out").exists()


def mined(out: str) -> str:
    """The line of the first stage."""
    return next(line for line in out.splitlines() if line.startswith("mine "))


def test_annotations_and_exclusions_that_have_changed_are_mined_again(
    recipe: Path, run: Run, tmp_path: Path
) -> None:
    excluded = tmp_path / "ids.txt"
    excluded.write_text("1\n")
    with recipe.open("a") as file:
        file.write(f'[mine.exclusions]\nfiles = {{"tests" = "{excluded}"}}\n')
    command = ("build", recipe, "--stage", "mine", "--out", tmp_path / "out")
    first = mined(run(*command).out)
    assert mined(run(*command).out) == first
    excluded.write_text("1\n2\n3\n4\n")
    assert mined(run(*command).out) != first


def test_photographs_that_have_come_into_a_folder_are_mined(run: Run, tmp_path: Path) -> None:
    _, images = write_set(tmp_path / "set", 2)
    later = (images / "000002.png").rename(tmp_path / "later.png")
    command = ("build", "cafe", "--source", "folder", "--images", images, "--stage", "mine")
    command = (*command, "--segmenter", "nano-base", "--out", tmp_path / "out")
    assert run(*command).code == 0
    noted = tmp_path / "out" / "stages" / "mine.json"
    before = noted.read_bytes()
    assert run(*command).code == 0 and noted.read_bytes() == before
    later.rename(images / "000002.png")
    assert run(*command).code == 0 and noted.read_bytes() != before


def test_pictures_that_are_not_there_end_a_build_or_are_counted(
    recipe: Path, run: Run, tmp_path: Path
) -> None:
    images = tmp_path / "set" / "images"
    later = (images / "000002.png").rename(tmp_path / "later.png")
    (images / "000003.png").write_text("no picture")
    command = ("build", recipe, "--stage", "mine")
    ran = run(*command, "--out", tmp_path / "out")
    assert ran.code == 2 and "000002.png" in ran.err and 'missing = "drop"' in ran.err
    recipe.write_text(recipe.read_text() + 'missing = "drop"\n')
    assert "no usable picture 2" in run(*command, "--out", tmp_path / "out").out
    later.rename(images / "000002.png")
    assert "no usable picture 1" in run(*command, "--out", tmp_path / "out").out


def test_rules_that_a_recipe_leaves_out_drop_nothing(
    recipe: Path, run: Run, tmp_path: Path
) -> None:
    line = {
        "category": "cat",
        "task": "SM",
        "instruction": "Cover the whole cat with zebra stripes; keep its shape unchanged.",
        "value": "zebra",
        "positive": "cat",
        "negative": "two zebras",
    }
    (tmp_path / "said.jsonl").write_text(json.dumps(line))
    recipe.write_text(recipe.read_text() + '[mine]\ntasks = ["SM"]\n[propose]\n')
    command = ("build", recipe, "--proposer", f"scripted:{tmp_path / 'said.jsonl'}")
    command = (*command, "--stage", "propose", "--out", tmp_path / "out")
    assert "Q-quantity" in run(*command).out
    recipe.write_text(recipe.read_text() + 'unchecked = ["Q-quantity"]\n')
    ran = run(*command)
    assert ran.code == 0 and "Q-quantity" not in ran.out


def test_an_exam_without_pictures_has_its_datasheet_and_is_restored(
    run: Run, tmp_path: Path
) -> None:
    images = tmp_path / "images"
    images.mkdir()
    cups = [
        {"id": k, "image_id": 1, "category_id": 1, "bbox": [8 + 30 * k, 40, 20, 20], "iscrowd": 0}
        for k in range(10)
    ]
    Image.new("RGB", (320, 120), (90, 120, 60)).save(images / "1.png")
    said = {
        "images": [{"id": 1, "file_name": "1.png", "height": 120, "width": 320}],
        "annotations": cups,
        "categories": [{"id": 1, "name": "cup"}],
    }
    (tmp_path / "cups.json").write_text(json.dumps(said))
    recipe = tmp_path / "exam.toml"
    recipe.write_text(
        'benchmark = "reactbench"\n[source]\nannotations = "cups.json"\nimages = "images"\n'
        '[mine]\ntasks = ["counting"]\n[questions]\nlayout = "paper"\n'
        "[release]\npictures = false\n"
    )
    built = run("build", recipe, "--workers", 1, "--out", tmp_path / "out")
    assert built.code == 0 and "native" not in built.out
    assert "cup" in (tmp_path / "out" / "datasheet.md").read_text()
    release = tmp_path / "out" / "release"
    early = run("eval", release, "--model", "oracle", "--out", tmp_path / "runs")
    assert early.code == 2 and "build restore" in early.err
    assert run("build", "restore", release, "--images", images).code == 0
    assert run("eval", release, "--model", "oracle", "--out", tmp_path / "runs").code == 0


def test_who_looks_at_a_release_without_pictures_is_told_how_to_make_them(
    recipe: Path, run: Run, tmp_path: Path
) -> None:
    recipe.write_text(recipe.read_text() + "[release]\npictures = false\n")
    assert run("build", recipe, "--workers", 1, "--out", tmp_path / "out").code == 0
    release, photographs = tmp_path / "out" / "release", tmp_path / "set" / "images"
    asked = ("eval", release, "--model", "nano-base", "--out", tmp_path / "runs")
    way = f"groundfault build restore {release} --images PHOTOGRAPHS"
    for images in ((), ("--images", photographs)):  # the unedited ones are not those of the release
        early = run(*asked, *images)
        assert early.code == 2 and way in early.err and early.err.count("\n") == 1
    assert run("build", "restore", release, "--images", photographs).code == 0
    assert run(*asked).code == 0


def test_what_mining_dropped_is_explained_one_by_one(
    recipe: Path, run: Run, tmp_path: Path
) -> None:
    recipe.write_text(recipe.read_text() + '[mine]\nmin_area_share = 0.16\ntasks = ["SM"]\n')
    assert run("build", recipe, "--stage", "mine", "--out", tmp_path / "out").code == 0
    lines = (tmp_path / "out" / "stages" / "mine.dropped.jsonl").read_text().splitlines()
    funnel = run("build", "status", tmp_path / "out", "--json").json["stages"][0]
    assert len(lines) == sum(funnel["dropped"].values()) > 0
    told = run("build", "explain", tmp_path / "out", json.loads(lines[0])["id"])
    assert told.code == 0 and "mine: dropped, too small (" in told.out
    assert run("build", "explain", tmp_path / "out", "nobody").code == 2
