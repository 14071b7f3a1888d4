"""Rendered scenes as photographs: the whole of a build, checked against what the renderer knows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import groundfault as gf
from groundfault.building.distances import grown, shrunk
from groundfault.building.editing import EditSettings
from groundfault.building.pipeline import Built, build
from groundfault.building.recipe import Recipe, SourceSettings
from groundfault.building.stages import kept_candidates
from groundfault.editors.contract import check_editor
from groundfault.editors.loading import EditorOptions, editor_identity, load_editor
from groundfault.errors import DataError, UsageError
from groundfault.interfaces import Edited, EditRequest, NotEdited
from groundfault.io.masks import decode
from groundfault.world.photographs import read_scenes, scene_key, write_photographs
from groundfault.world.render import render
from groundfault.world.sampling import WorldSettings

SIDE_PX = 160


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("world") / "scenes"
    write_photographs(place, 14, WorldSettings(size_px=SIDE_PX), seed=3)
    return place


def made(scenes: Path, benchmark: str, out: Path, **mine: object) -> Built:
    source = SourceSettings(
        annotations=str(scenes / "instances.json"), images=str(scenes / "images")
    )
    recipe = Recipe(
        benchmark=benchmark,  # type: ignore[arg-type]
        source=source,
        mine={"min_area_share": 0.005, **mine},
        edit=EditSettings(by=f"world:{scenes}"),
    )
    return build(recipe, out)


def test_pictures_annotations_and_scenes_belong_together(scenes: Path) -> None:
    known = read_scenes(scenes)
    told = json.loads((scenes / "instances.json").read_text())
    for image in told["images"]:
        pixels = np.asarray(Image.open(scenes / "images" / image["file_name"]))
        rendered = render(known[scene_key(pixels)])
        assert (rendered.image == pixels).all()
        own = [each for each in told["annotations"] if each["image_id"] == image["id"]]
        masks = {mask.tobytes() for mask in rendered.masks}
        assert own and all(decode(each["segmentation"]).tobytes() in masks for each in own)


def test_a_build_changes_what_it_should_and_the_checks_agree(scenes: Path, tmp_path: Path) -> None:
    built = made(scenes, "cafe", tmp_path / "built")
    assert built.released >= 12 and not built.funnel.problem
    kinds = set()
    for candidate in kept_candidates(tmp_path / "built", "review"):
        assert candidate.edited is not None and candidate.proposal is not None
        assert candidate.target.mask is not None
        before, after = (
            np.asarray(Image.open(tmp_path / "built" / file).convert("RGB")).astype(int)
            for file in (candidate.edited.before, candidate.edited.after)
        )
        changed, region = (before != after).any(axis=2), decode(candidate.target.mask)
        if candidate.task == "CC":
            assert not (changed & shrunk(region, 6)).any()
        else:
            assert not (changed & ~grown(region, 6)).any()
        kinds.add(candidate.task)
        assert candidate.edited.editor == "world:scenes"
    assert kinds == {"SM", "CC", "OC"}
    run = gf.evaluate(gf.load(tmp_path / "built" / "release"), "oracle", out=tmp_path / "runs")
    assert run.summary.rows["Overall"].metrics["cgF1"].value == 1.0
    dropped = {stage.name: stage.dropped for stage in built.funnel.stages}
    assert sum(dropped["verify"].values()) <= built.released // 4


def test_new_things_have_the_renderers_own_masks(scenes: Path, tmp_path: Path) -> None:
    built = made(scenes, "halluseg", tmp_path / "built")
    assert built.released >= 3
    editor = load_editor(f"world:{scenes}")
    for candidate in kept_candidates(tmp_path / "built", "review"):
        edited, proposal = candidate.edited, candidate.proposal
        assert edited is not None and edited.mask is not None and proposal is not None
        image = np.asarray(Image.open(scenes / "images" / candidate.photograph.file))
        assert candidate.target.mask is not None
        request = EditRequest(
            instruction="", kind="replace", value=proposal.value, seed=candidate.seed
        )
        again = editor.perform(image, decode(candidate.target.mask), request)  # type: ignore[attr-defined]
        assert (again.mask == decode(edited.mask)).all()


def test_whoever_knows_the_truth_is_right(scenes: Path, tmp_path: Path) -> None:
    made(scenes, "halluseg", tmp_path / "built")
    run = gf.evaluate(gf.load(tmp_path / "built" / "release"), "oracle", out=tmp_path / "runs")
    found = next(iter(run.summary.rows.values())).metrics
    assert found["CMS_fact"].value == found["CMS_counterfact"].value == 0.0


Perform = Callable[..., Edited | NotEdited]


def first_thing(scenes: Path) -> tuple[np.ndarray, np.ndarray, str]:
    told = json.loads((scenes / "instances.json").read_text())
    largest = max(told["annotations"], key=lambda each: each["area"])
    image = told["images"][largest["image_id"] - 1]
    names = {each["id"]: each["name"] for each in told["categories"]}
    pixels = np.asarray(Image.open(scenes / "images" / image["file_name"]))
    return pixels, decode(largest["segmentation"]), names[largest["category_id"]]


def test_what_it_cannot_do_is_refused_with_a_reason(scenes: Path) -> None:
    editor = load_editor(f"world:{scenes}")
    check_editor(editor)
    image, region, _ = first_thing(scenes)
    perform: Perform = editor.perform  # type: ignore[attr-defined]
    unknown = perform(255 - image, region, EditRequest(instruction="", kind="erase"))
    assert isinstance(unknown, NotEdited) and "no picture" in unknown.reason
    nothing = perform(image, np.zeros_like(region), EditRequest(instruction="", kind="erase"))
    assert isinstance(nothing, NotEdited) and "no thing" in nothing.reason
    for kind, value in (("surface", "moon"), ("melt", ""), ("material", "moon")):
        found = perform(image, region, EditRequest(instruction="", kind=kind, value=value))
        assert isinstance(found, NotEdited) and found.outcome == "refused"
        assert found.reason == "not in this scene" and found.details
    same = perform(image, region, EditRequest(instruction="", kind="none"))
    assert isinstance(same, Edited) and (same.image == image).all() and not same.touched.any()


def test_scenes_of_elsewhere_are_told_in_words(scenes: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="name the folder"):
        load_editor("world")
    with pytest.raises(UsageError, match="world scenes"):
        load_editor(f"world:{tmp_path}")
    lines = (scenes / "scenes.jsonl").read_text().splitlines()
    other = tmp_path / "scenes.jsonl"
    other.write_text("\n".join([lines[0], '{"pixels": 3}']))
    with pytest.raises(DataError, match="line 2"):
        load_editor(f"world:{other}")
    other.write_text(lines[0].replace('"version":2', '"version":1'))
    with pytest.raises(UsageError, match="no scene of world 2"):
        load_editor(f"world:{other}")
    ours, others = (editor_identity(f"world:{p}", EditorOptions()) for p in (scenes, other))
    assert ours["scenes"] != others["scenes"]
