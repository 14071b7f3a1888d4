"""The procedural editor on photographs made here: what it may change, what it refuses, and that it
gives the same bytes twice."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from groundfault.editors.contract import check_editor
from groundfault.editors.procedural import ProceduralEditor, load, repertoire
from groundfault.editors.procedural.edges import core, grown
from groundfault.editors.procedural.editor import EDGE_PX
from groundfault.interfaces import DirectEditor, Edited, EditRequest, ModelOptions, NotEdited
from groundfault.registry import load as from_registry

SIZE = (180, 240)


def photograph(size: tuple[int, int] = SIZE, seed: int = 0) -> tuple[Any, Any]:
    """A lit grey body on a grainy meadow, and its mask."""
    height, width = size
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width]
    sky = np.stack([120 + 0 * y, 150 + 0 * y, 200 - y * 60 // height], -1)
    meadow = np.array([70, 120, 50]) + rng.normal(0, 9, (height, width, 1))
    image = np.where((y < 0.4 * height)[..., None], sky, meadow)
    cy, cx, ry, rx = 0.6 * height, 0.5 * width, 0.22 * height, 0.20 * width
    mask = ((y - cy) / ry) ** 2 + ((x - cx) / rx) ** 2 < 1
    light = 150 - 40 * (x - cx) / rx - 25 * (y - cy) / ry + rng.normal(0, 4, size)
    image = np.where(mask[..., None], light[..., None] * np.array([1, 0.98, 0.95]), image)
    return np.clip(image, 0, 255).astype(np.uint8), mask


def request(kind: str, value: str = "", **fields: Any) -> EditRequest:
    return EditRequest(
        instruction=f"{kind} {value}", kind=kind, value=value, **{"category": "cow", **fields}
    )


def performed(editor: ProceduralEditor, kind: str, value: str = "", **fields: Any) -> Edited:
    image, mask = photograph()
    found = editor.perform(image, mask, request(kind, value, **fields))
    assert isinstance(found, Edited), found
    return found


EVERY = [
    *(("surface", value) for value in repertoire.SURFACES if value != "cow"),
    *(("material", value) for value in repertoire.MATERIALS),
    *(("context", value) for value in repertoire.PLACES),
    ("erase", ""),
]


@pytest.fixture(scope="module")
def editor() -> ProceduralEditor:
    return ProceduralEditor(filters=False)


@pytest.mark.parametrize(("kind", "value"), EVERY)
def test_every_edit_changes_what_it_may_and_nothing_else(
    editor: ProceduralEditor, kind: str, value: str
) -> None:
    image, mask = photograph()
    found = performed(editor, kind, value)
    assert found.image.shape == image.shape and found.image.dtype == np.uint8
    changed = (found.image != image).any(-1)
    assert not (changed & ~found.touched).any()
    assert (np.abs(found.image.astype(int) - image).max(-1) > 12).sum() > 0.2 * mask.sum()
    if kind in ("surface", "material"):
        assert not (changed & ~grown(mask, EDGE_PX)).any()
    if kind == "context":
        assert not (changed & core(mask, EDGE_PX)).any()
        assert changed[~grown(mask, EDGE_PX)].mean() > 0.9


def test_surfaces_leave_the_light(editor: ProceduralEditor) -> None:
    _, mask = photograph()
    grey = performed(editor, "surface", "dalmatian").image.mean(-1)
    left, right = mask.copy(), mask.copy()
    left[:, 110:], right[:, :130] = False, False
    assert grey[left].mean() > grey[right].mean() + 15


def test_erased_is_what_the_meadow_looks_like(editor: ProceduralEditor) -> None:
    image, mask = photograph()
    low = mask.copy()
    low[: int(0.45 * SIZE[0])] = False
    found = performed(editor, "erase").image[low].mean(0)
    assert np.abs(found - image[150:, :40].reshape(-1, 3).mean(0)).max() < 12


@pytest.mark.parametrize(("kind", "value"), EVERY)
def test_no_dose_is_no_change(editor: ProceduralEditor, kind: str, value: str) -> None:
    found = performed(editor, kind, value, dose=0.0)
    assert np.array_equal(found.image, photograph()[0]) and not found.touched.any()


def test_half_a_dose_is_between(editor: ProceduralEditor) -> None:
    image = photograph()[0].astype(int)
    whole = np.abs(performed(editor, "material", "bronze").image - image).mean()
    half = np.abs(performed(editor, "material", "bronze", dose=0.5).image - image).mean()
    assert 0.4 * whole < half < 0.6 * whole


def test_none_gives_the_photograph(editor: ProceduralEditor) -> None:
    image, mask = photograph()
    found = editor.perform(image, mask, request("none"))
    assert isinstance(found, Edited) and np.array_equal(found.image, image)
    assert found.image is not image


SOME = [("surface", "zebra"), ("material", "ice"), ("context", "beach"), ("erase", "")]


@pytest.mark.parametrize(("kind", "value"), SOME)
def test_same_bytes_from_the_same_seed_and_others_from_another(kind: str, value: str) -> None:
    first = performed(ProceduralEditor(filters=False), kind, value, seed=5)
    again = performed(ProceduralEditor(filters=False), kind, value, seed=5)
    other = performed(ProceduralEditor(filters=False), kind, value, seed=6)
    assert np.array_equal(first.image, again.image)
    assert not np.array_equal(first.image, other.image)


def test_threads_change_no_byte() -> None:
    import cv2

    before = cv2.getNumThreads()
    found = []
    try:
        for threads in (1, 4):
            cv2.setNumThreads(threads)
            found.append([performed(ProceduralEditor(filters=False), *one).image for one in SOME])
    finally:
        cv2.setNumThreads(before)
    assert all(np.array_equal(a, b) for a, b in zip(*found, strict=True))


def test_the_photograph_is_left_as_it_is(editor: ProceduralEditor) -> None:
    image, mask = photograph()
    for one in SOME:
        editor.perform(image, mask, request(*one))
    assert np.array_equal(image, photograph()[0]) and np.array_equal(mask, photograph()[1])


def reason(image: Any, mask: Any, wanted: EditRequest, **settings: Any) -> str:
    found = ProceduralEditor(**settings).perform(image, mask, wanted)
    assert isinstance(found, NotEdited) and found.outcome == "refused", found
    return found.reason


def test_what_does_not_suit_is_refused() -> None:
    image, mask = photograph()
    assert reason(image // 12, mask, request("surface", "zebra")) == "too dark"
    assert reason(image, mask, request("surface", "cow")) == "already so"
    assert reason(image, mask, request("surface", "zebra", category="bicycle")) == (
        "defined by its parts"
    )
    assert reason(image, mask, request("context", "snow", category="kite")) == (
        "does not stand on the ground"
    )
    assert reason(image, mask, request("context", "snow", category="gargoyle")) == "size unknown"
    pieces = mask.copy()
    pieces[:, 112:128] = False
    assert reason(image, pieces, request("material", "gold")) == "occluded"
    flat = np.full_like(image, 128)
    assert reason(flat, mask, request("surface", "zebra")) in ("outline unclear", "blurred")
    low = np.zeros_like(mask)
    low[100:, 90:170] = True
    assert reason(image, low, request("context", "snow", category="couch")) == "cut off below"
    busy = np.random.default_rng(0).integers(0, 256, image.shape, dtype=np.uint8)
    assert reason(busy, mask, request("erase")) == "surroundings too busy"


def test_what_nobody_knows_is_refused() -> None:
    image, mask = photograph()
    assert reason(image, mask, request("surface", "plaid")) == "unknown surface"
    assert reason(image, mask, request("context", "mars")) == "unknown context"
    assert reason(image, mask, request("fold")) == "unknown kind of edit"
    assert reason(image, mask[:-1], request("erase")) == "image and region differ in size"


@pytest.mark.parametrize("filters", [True, False])
@pytest.mark.parametrize(("kind", "value"), SOME)
def test_hostile_masks_and_pictures(kind: str, value: str, filters: bool) -> None:
    image, mask = photograph()
    nothing, everything, dot = np.zeros_like(mask), np.ones_like(mask), np.zeros_like(mask)
    dot[90, 120] = True
    wanted = request(kind, value)
    assert reason(image, nothing, wanted, filters=filters) == "too small"
    assert reason(image, everything, wanted, filters=filters) == "too large"
    assert reason(image, dot, wanted, filters=filters) == "too small"
    tiny = image[:9, :7], mask[:9, :7]
    assert reason(*tiny, wanted, filters=filters) == "too small"
    line = np.zeros_like(mask)
    line[20:24, :] = True
    half = np.zeros_like(mask)
    half[:, :120] = True
    for odd in (line, half, ~mask, np.random.default_rng(1).random(mask.shape) < 0.3):
        for picture in (image, np.zeros_like(image), np.full_like(image, 255)):
            found = ProceduralEditor(filters=filters).perform(picture, odd, wanted)
            assert isinstance(found, NotEdited) or found.image.shape == image.shape


def test_a_grey_photograph_stays_grey(editor: ProceduralEditor) -> None:
    image, mask = photograph()
    grey = np.repeat(image.mean(-1, keepdims=True).astype(np.uint8), 3, -1)
    for one in SOME:
        found = editor.perform(grey, mask, request(*one))
        assert isinstance(found, Edited)
        assert np.ptp(found.image.astype(int), axis=-1).max() <= 2


def test_a_large_photograph(editor: ProceduralEditor) -> None:
    image, mask = photograph((1100, 1500))
    for one in SOME[:2]:
        found = editor.perform(image, mask, request(*one))
        assert isinstance(found, Edited) and (found.image != image).any()


def test_it_keeps_the_contract_and_reads_no_prose() -> None:
    made = from_registry("editors", "procedural")("", ModelOptions())
    check_editor(made, "procedural")
    assert isinstance(made, DirectEditor)
    image, mask = photograph()
    assert isinstance(made.edit(image, mask, "please paint the cow"), NotEdited)
    bronze = load("", ModelOptions()).edit(image, mask, "material bronze")
    assert isinstance(bronze, NotEdited) or (bronze != image).any()


def test_the_lists_are_what_can_be_made_and_cost_no_import() -> None:
    from groundfault.editors.procedural import materials, places, surfaces

    assert set(surfaces.PATTERNS) == set(repertoire.SURFACES)
    assert set(materials.SUBSTANCES) == set(repertoire.MATERIALS)
    assert set(places.GROUNDS) == set(repertoire.PLACES)
    code = (
        "import sys, groundfault.editors.procedural.repertoire; "
        "sys.exit(any(m in sys.modules for m in ('cv2', 'scipy', 'numpy')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
