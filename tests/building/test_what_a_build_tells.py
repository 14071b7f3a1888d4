"""What a build says of itself: settings, models, and who dropped what for which task."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from PIL import Image
from tests.building.photographs import write_set

import groundfault as gf
from groundfault.building.recipe import read_recipe
from groundfault.building.review import Decision, write_decisions
from groundfault.building.stages import kept_candidates

WORDS = {"a": "accept", "r": "reject"}

RECIPE = """benchmark = "cafe"
seed = 5
[source]
annotations = "set/instances.json"
images = "set/images"
[mine]
tasks = ["SM", "OC"]
[propose]
by = "scripted:proposals.jsonl"
[edit]
by = "procedural"
options = {filters = false}
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    write_set(tmp_path / "set", 4)
    told: list[dict[str, object]] = [
        {
            "category": name,
            "task": "SM",
            "instruction": f"Cover the whole {name} with zebra stripes; keep its shape unchanged.",
            "value": "zebra",
            "positive": name,
            "negative": "ladybug",
        }
        for name in ("elephant", "bus", "chair", "cat")
    ]
    told += [{"category": name, "task": "OC", "none": True} for name in ("bus", "chair")]
    (tmp_path / "proposals.jsonl").write_text("\n".join(map(json.dumps, told)))
    (tmp_path / "recipe.toml").write_text(RECIPE)
    return tmp_path / "recipe.toml"


def test_a_release_names_every_setting_and_model_and_no_place(recipe: Path, tmp_path: Path) -> None:
    gf.build(read_recipe(recipe), tmp_path / "out", workers=1)
    text = (tmp_path / "out" / "release" / "made_by.json").read_text()
    made = json.loads(text)
    assert made["recipe"]["seed"] == made["recipe"]["mine"]["seed"] == 5
    assert made["recipe"]["mine"]["max_area_share"] == 0.5  # which the recipe does not say
    assert made["recipe"]["source"]["annotations"] == ["instances.json"]
    assert made["recipe"]["edit"]["edge_px"] == 6
    assert {"propose", "edit", "verify", "review"} == {*made["stages"]}
    assert made["stages"]["edit"]["editor"] == "procedural"
    assert made["recipe"]["propose"]["by"] == "scripted:proposals.jsonl"
    released = gf.load(tmp_path / "out" / "release")
    assert released.cases
    for told in (text, released.card.source, (tmp_path / "out" / "datasheet.md").read_text()):
        assert str(tmp_path) not in told


def test_paths_of_a_recipe_are_seen_from_its_folder_and_not_released(
    recipe: Path, tmp_path: Path
) -> None:
    (tmp_path / "held.txt").write_text("1\n")
    (tmp_path / "others").mkdir()
    with recipe.open("a") as file:
        file.write(
            '[mine.exclusions]\nfiles = {"tests" = "held.txt"}\n'
            'pictures = {"others" = "others"}\nimages = "set/images"\n'
        )
    read = read_recipe(recipe)
    assert read.mine["exclusions"]["files"]["tests"] == str(tmp_path / "held.txt")
    built = gf.build(read, tmp_path / "out", workers=1)
    assert built.funnel.stages[0].dropped["in tests"] > 0
    text = (tmp_path / "out" / "release" / "made_by.json").read_text()
    assert str(tmp_path) not in text and "held.txt" in text
    recipe.write_text(
        'benchmark = "cafe"\n[mine]\ntables = "counted"\n[review]\nprotocol = "mine.toml"\n'
        '[edit]\nby = "worker:mine.py"\n[edit.options]\nsam2 = "sam2"\ncare = 0.9\n'
    )
    read = read_recipe(recipe)
    assert read.edit.by == f"worker:{tmp_path / 'mine.py'}"
    assert read.edit.options == {"sam2": str(tmp_path / "sam2"), "care": 0.9}
    assert read.mine["tables"] == str(tmp_path / "counted")
    assert read.review.protocol == str(tmp_path / "mine.toml")


def test_the_funnel_is_told_by_task_source_and_category(recipe: Path, tmp_path: Path) -> None:
    built = gf.build(read_recipe(recipe), tmp_path / "out", workers=1)
    lines = (tmp_path / "out" / "datasheet.md").read_text().splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    [surface] = [row for row in rows if row[:2] == ["SM", "coco"] and len(row) > 4]
    mined = built.funnel.stages[0].kept
    [other] = [row for row in rows if row[:2] == ["OC", "coco"] and len(row) > 4]
    assert int(surface[2]) + int(other[2]) == mined
    assert int(surface[-2]) == built.released and other[3:-1] == ["0"] * len(other[3:-1])
    unsuited = {row[2]: int(row[3]) for row in rows if row[:2] == ["OC", "coco"] and len(row) == 4}
    assert unsuited == {"bus": 1, "chair": 1}


def test_the_mosaic_shows_every_edited_picture(recipe: Path, tmp_path: Path) -> None:
    built = gf.build(read_recipe(recipe), tmp_path / "out", workers=1)
    with Image.open(tmp_path / "out" / "mosaic.jpg") as picture:
        assert built.released <= 6 and picture.width > 300 * built.released
    figure = (tmp_path / "out" / "composition.svg").read_text()
    assert "elephant / ladybug" in figure


def test_words_of_a_proposal_are_no_names_of_files(recipe: Path, tmp_path: Path) -> None:
    script = tmp_path / "proposals.jsonl"
    script.write_text(script.read_text().replace('"ladybug"', '"../../ladybug; touch x"'))
    before = {*tmp_path.rglob("*")}
    built = gf.build(read_recipe(recipe), tmp_path / "out", workers=1)
    assert built.released
    made = {*tmp_path.rglob("*")} - before
    assert all(path.is_relative_to(tmp_path / "out") for path in made)
    assert not [path for path in made if "ladybug" in path.name or path.name == "x"]
    asked = {item.query for item in gf.load(tmp_path / "out" / "release").items}
    assert "../../ladybug; touch x" in asked


@pytest.mark.parametrize("file", ["decisions.jsonl", "decisions.parquet"])
def test_a_datasheet_says_how_far_reviewers_agree(recipe: Path, tmp_path: Path, file: str) -> None:
    gf.build(read_recipe(recipe), tmp_path / "out", until="verify", workers=1)
    asked = [c.id for c in kept_candidates(tmp_path / "out", "verify")][:3]
    votes = {asked[0]: "aaa", asked[1]: "aar", asked[2]: "rrr"}  # accept, reject
    made = [
        Decision(item_id=item, stage=stage, reviewer=f"r{k}", verdict=WORDS[vote])
        for item, said in votes.items()
        for stage, opinions in (("screening", "a"), ("detail", "a"), ("cross-check", said))
        for k, vote in enumerate(opinions)
    ]
    gone = Decision(
        item_id=asked[0], stage="cross-check", reviewer="r9", verdict="reject", undone=True
    )
    write_decisions(tmp_path / file, [*made, gone])
    change = msgspec.structs.replace
    read = read_recipe(recipe)
    decided = change(read, review=change(read.review, decisions=str(tmp_path / file)))
    built = gf.build(decided, tmp_path / "out", workers=1)
    found = json.loads((tmp_path / "out" / "review" / "agreement.json").read_text())
    [crossed] = [each for each in found if each["stage"] == "cross-check"]
    assert (crossed["items"], crossed["unanimous"]) == (3, 2)
    # of 9 opinions 5 accept: P_e = (5/9)² + (4/9)² = 41/81; P = (1 + 1/3 + 1) / 3 = 7/9
    assert crossed["kappa"]["value"] == pytest.approx((7 / 9 - 41 / 81) / (1 - 41 / 81))
    if built.stopped:  # the fourth waits
        assert len(list(kept_candidates(tmp_path / "out", "review"))) == 2
