"""The procedural editor on photographs made here: what it may change, what it refuses, and that it
gives the same bytes twice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from PIL import Image

from groundfault.editors.contract import check_editor
from groundfault.editors.loading import EditorOptions
from groundfault.editors.procedural import ProceduralEditor, load, repertoire
from groundfault.editors.procedural.colours import distinct_colours
from groundfault.editors.procedural.donors import Donor, ListedDonors, is_clear, read_list
from groundfault.editors.procedural.edges import core, grown
from groundfault.editors.procedural.editor import EDGE_PX
from groundfault.editors.procedural.grounds import is_collage
from groundfault.editors.procedural.looks import skin_of
from groundfault.editors.procedural.occlusion import contact_with
from groundfault.editors.procedural.shadows import shadow_of
from groundfault.editors.procedural.suited import suited_values
from groundfault.editors.procedural.transplants import _of_a_size
from groundfault.errors import DataError
from groundfault.interfaces import (
    DirectEditor,
    Edited,
    EditRequest,
    ModelOptions,
    Neighbour,
    NotEdited,
)
from groundfault.io.masks import encode
from groundfault.io.photographs import Photograph, Thing
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
    cy, cx, ry, rx = 0.6 * height, 0.4 * width, 0.22 * height, 0.16 * width
    mask = ((y - cy) / ry) ** 2 + ((x - cx) / rx) ** 2 < 1
    light = 150 - 40 * (x - cx) / rx - 25 * (y - cy) / ry + rng.normal(0, 4, size)
    image = np.where(mask[..., None], light[..., None] * np.array([1, 0.98, 0.95]), image)
    return np.clip(image, 0, 255).astype(np.uint8), mask


def request(kind: str, value: str = "", **fields: Any) -> EditRequest:
    return EditRequest(
        instruction=f"{kind} {value}", kind=kind, value=value, **{"category": "bear", **fields}
    )


def performed(editor: ProceduralEditor, kind: str, value: str = "", **fields: Any) -> Edited:
    image, mask = photograph()
    found = editor.perform(image, mask, request(kind, value, **fields))
    assert isinstance(found, Edited), found
    return found


EVERY = [
    *(("surface", value) for value in repertoire.SURFACES),
    *(("material", value) for value in repertoire.MATERIALS),
    *(("context", value) for value in repertoire.PLACES),
    *(("recolour", value) for value in repertoire.COLOURS),
    ("erase", ""),
    ("replace", ""),
    ("replace", "dog"),
    ("add", ""),
    ("add", "bear"),
    ("add", "dog"),
    ("move", ""),
]


class OneDonor:
    """A collection with one dog."""

    def of(self, category: str) -> list[Donor]:
        image, mask = photograph((200, 260), seed=3)
        image = np.where(mask[..., None], 255 - image, image)
        dog = Donor("dog", "one", "CC BY", lambda: mask, lambda: image)
        return [dog] if category in ("", "dog") else []


@pytest.fixture(scope="module")
def editor() -> ProceduralEditor:
    return ProceduralEditor(filters=False, donors=OneDonor())


@pytest.mark.parametrize(("kind", "value"), EVERY)
def test_every_edit_changes_what_it_may_and_nothing_else(
    editor: ProceduralEditor, kind: str, value: str
) -> None:
    image, mask = photograph()
    found = performed(editor, kind, value)
    assert found.image.shape == image.shape and found.image.dtype == np.uint8
    changed = (found.image != image).any(-1)
    assert not (changed & ~found.touched).any()
    if value != "grey":
        assert (np.abs(found.image.astype(int) - image).max(-1) > 12).sum() > 0.2 * mask.sum()
    assert (found.mask is not None) == (kind in ("replace", "add", "move"))
    if kind in ("surface", "material", "recolour"):
        assert not (changed & ~grown(mask, EDGE_PX)).any()
    if kind == "context":
        assert not (changed & core(mask, EDGE_PX)).any()
        meadow = ~grown(mask, EDGE_PX) & (np.arange(SIZE[0])[:, None] > 0.42 * SIZE[0])
        assert changed[meadow].mean() > 0.9


def test_surfaces_leave_the_light(editor: ProceduralEditor) -> None:
    _, mask = photograph()
    grey = performed(editor, "surface", "dalmatian").image.mean(-1)
    left, right = mask.copy(), mask.copy()
    left[:, 88:], right[:, :104] = False, False
    assert grey[left].mean() > grey[right].mean() + 15


def test_erased_is_what_the_meadow_looks_like(editor: ProceduralEditor) -> None:
    image, mask = photograph()
    low = mask.copy()
    low[: int(0.45 * SIZE[0])] = False
    found = performed(editor, "erase").image[low].mean(0)
    assert np.abs(found - image[150:, :40].reshape(-1, 3).mean(0)).max() < 12


def test_a_thing_is_where_its_new_mask_is(editor: ProceduralEditor) -> None:
    image, mask = photograph()
    moved = performed(editor, "move")
    iou = (moved.mask & mask).sum() / (moved.mask | mask).sum()
    assert iou < 0.5 and 0.85 < moved.mask.sum() / mask.sum() < 1.15
    light = image[mask].mean()
    assert abs(moved.image[core(moved.mask, 6)].mean() - light) < 12
    added = performed(editor, "add", "bear")
    assert not (added.mask & mask).any()
    assert np.array_equal(added.image[core(mask, 6)], image[core(mask, 6)])
    instead = performed(editor, "replace", "dog")
    assert (instead.mask & mask).sum() / (instead.mask | mask).sum() > 0.75
    assert instead.details == {"donor": "one", "licence": "CC BY", "category": "dog"}


def test_a_colour_is_the_one_that_was_asked_for(editor: ProceduralEditor) -> None:
    _, mask = photograph()
    red = performed(editor, "recolour", "red").image[mask].mean(0)
    blue = performed(editor, "recolour", "blue").image[mask].mean(0)
    assert red[0] > red[1] + 50 and red[0] > red[2] + 40
    assert blue[2] > blue[0] + 40 and blue[2] > blue[1] + 20
    black, white = (performed(editor, "recolour", name).image[mask] for name in ("black", "white"))
    assert black.mean() < 90 and white.mean() > 180


def test_colours_are_distinct_from_the_one_that_a_thing_has() -> None:
    image, mask = photograph()
    image[mask] = (190, 30, 25)
    found = distinct_colours(image.astype(np.float32) / 255, mask)
    assert "red" not in found and {"blue", "green", "yellow"} <= set(found)


def test_a_surface_covers_most_of_a_thing_or_is_refused() -> None:
    image, mask = photograph()
    image[118:][mask[118:]] = (22, 22, 24)
    asked = request("surface", "ladybug", category="fire hydrant")
    assert reason(image, mask, asked) == "dark parts"


def test_without_a_donor_or_room_nothing_is_put_in() -> None:
    image, mask = photograph()
    assert reason(image, mask, request("replace", "dog"), filters=False) == "no donor"
    assert reason(image, mask, request("replace", "cat"), filters=False, donors=OneDonor()) == (
        "no donor"
    )
    alone = image[:, 46:146], mask[:, 46:146]
    assert reason(*alone, request("add", "bear"), filters=False) == "no room"


def test_nothing_is_put_on_or_before_what_else_is_there() -> None:
    image, mask = photograph()
    editor = ProceduralEditor(filters=False)
    free = performed(editor, "add", "bear").mask
    taken = Neighbour(category="chair", mask=grown(free, 3) & ~grown(mask, 3))
    found = editor.perform(image, mask, request("add", "bear", others=(taken,)))
    assert isinstance(found, NotEdited) or not (found.mask & taken.mask).any()
    fence = np.zeros_like(mask)
    fence[-12:-4] = True  # stands in front: its foot is lower
    behind = performed(editor, "add", "bear", others=(Neighbour(category="bench", mask=fence),))
    assert not (behind.mask & fence).any()
    assert np.array_equal(behind.image[core(fence, 3)], image[core(fence, 3)])


def test_what_others_hide_or_hold_is_left_alone() -> None:
    image, mask = photograph()
    half = np.zeros_like(mask)
    half[:, 96:150] = True
    shown, hides = mask & ~half, grown(mask, 20) & half
    hides[-1] = True
    dog = Neighbour(category="dog", mask=hides)
    assert reason(image, shown, request("add", "bear", others=(dog,))) == "occluded"
    hand = grown(mask, 12) & ~grown(mask, 1)
    hand[int(0.6 * SIZE[0]) :] = False
    person = Neighbour(category="person", mask=hand)
    assert reason(image, mask, request("erase", others=(person,))) == "held"
    twin = Neighbour(category="bear", mask=hand)
    assert reason(image, mask, request("erase", others=(twin,))) == "touches others"
    assert reason(image, mask, request("erase", category="toilet")) == "leaves traces"


def test_what_leaves_others_behind_or_is_a_part_of_something_stays() -> None:
    image, mask = photograph()

    def why(kind: str, category: str) -> str:
        return reason(image, mask, request(kind, category=category), migan="some.onnx")

    assert why("erase", "vase") == "leaves traces"
    assert why("move", "keyboard") == "fixed in its place"
    assert why("add", "toothbrush") == why("replace", "toothbrush") == "no donor"
    double = request("add", "keyboard", category="keyboard")
    assert reason(image, mask, double) == "fixed in its place"
    assert why("move", "cow") == "occluded"  # a cow without legs


def test_another_animal_is_not_put_beside_one_that_touches_its_like() -> None:
    image, mask = photograph()
    touching = grown(mask, 24) & ~mask
    touching[np.argwhere(mask)[:, 0].mean().astype(int) :] = False
    touching[:, np.argwhere(mask)[:, 1].mean().astype(int) :] = False
    beside = Neighbour(category="dog", mask=touching)
    for kind, value in (("add", "dog"), ("move", "")):
        wanted = request(kind, value, category="dog", others=(beside,))
        assert reason(image, mask, wanted, migan="some.onnx") == "touches others"


def test_a_donor_is_about_as_large_as_what_it_replaces() -> None:
    assert _of_a_size("pizza", "sandwich") and _of_a_size("chair", "dog")
    assert not _of_a_size("apple", "pizza") and not _of_a_size("bus", "dog")
    assert _of_a_size("dog", "cat")


def test_nothing_coloured_is_put_into_a_sepia_print() -> None:
    image, mask = photograph()
    grey = image.mean(-1, keepdims=True) / 255
    sepia = (255 * grey ** np.array([0.8, 1.0, 1.3])).astype(np.uint8)
    wanted = request("replace", category="sheep")
    assert reason(sepia, mask, wanted, donors=OneDonor()) == "no colours"


def test_a_donor_stands_free() -> None:
    _, mask = photograph()
    beside = np.roll(mask, 100, 1)
    near = (grown(mask, 12) & ~mask) & (np.arange(SIZE[1]) > 96)
    dog, table = (Thing(id=name, category=name, mask=encode(mask)) for name in ("dog", "bed"))
    for other, clear in ((beside, True), (near, False)):
        cat = Thing(id="cat", category="cat", mask=encode(np.asarray(other)))
        height, width = SIZE
        found = Photograph(
            id="1",
            source="own",
            file="1.png",
            height_px=height,
            width_px=width,
            things=(dog, table, cat),
        )
        assert is_clear(found, dog) is clear


def test_donors_from_a_list_of_photographs(tmp_path: Path) -> None:
    image, mask = photograph((200, 260), seed=3)
    Image.fromarray(image).save(tmp_path / "one.png")
    thing = Thing(id="7", category="dog", mask=encode(mask))
    crowd = Thing(id="8", category="dog", mask=encode(mask), crowd=True)
    photo = Photograph(
        id="1", source="coco", file="one.png", height_px=200, width_px=260, things=(thing, crowd)
    )
    (tmp_path / "donors.jsonl").write_bytes(msgspec.json.encode(photo) + b"\n")
    options = EditorOptions(donors=str(tmp_path / "donors.jsonl"), images=(str(tmp_path),))
    donors = load("", options).donors
    assert isinstance(donors, ListedDonors)
    (found,) = donors.of("dog")
    assert np.array_equal(found.mask(), mask) and np.array_equal(found.image(), image)
    assert [donor.name for donor in donors.of("")] == ["coco 1 7"] and not donors.of("cow")
    (tmp_path / "one.png").unlink()
    with pytest.raises(DataError, match="picture is missing"):
        found.image()
    (tmp_path / "donors.jsonl").write_text('{"id": 1}')
    with pytest.raises(DataError, match="line 1"):
        read_list(tmp_path / "donors.jsonl", [tmp_path])


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


SOME = [
    ("surface", "zebra"),
    ("material", "ice"),
    ("context", "deep sea"),
    ("recolour", "blue"),
    ("erase", ""),
    ("move", ""),
]


@pytest.mark.parametrize(("kind", "value"), SOME)
def test_same_bytes_from_the_same_seed_and_others_from_another(kind: str, value: str) -> None:
    first = performed(ProceduralEditor(filters=False), kind, value, seed=5)
    again = performed(ProceduralEditor(filters=False), kind, value, seed=5)
    other = performed(ProceduralEditor(filters=False), kind, value, seed=6)
    assert np.array_equal(first.image, again.image)
    assert np.array_equal(first.image, other.image) == (kind == "recolour")


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
    dark = reason(image // 12, mask, request("material", "granite", category="laptop"))
    assert dark == "too dark"
    assert reason(image, mask, request("surface", "cow", category="cow")) == "already so"
    assert reason(image, mask, request("recolour", "red", category="cup")) == "seldom kept"
    assert reason(image, mask, request("surface", "ladybug", category="tv")) == "seldom kept"
    assert reason(image, mask, request("surface", "zebra", category="bicycle")) == (
        "defined by its parts"
    )
    assert reason(image, mask, request("move", category="oven")) == "fixed in its place"
    assert reason(image, mask, request("surface", "zebra", category="sandwich")) == (
        "defined by its parts"
    )
    assert reason(image, mask, request("recolour", "red", category="tv")) == "many colours"
    assert reason(image, mask, request("recolour", "grey")) == "already so"
    pieces = mask.copy()
    pieces[:, 88:104] = False
    assert reason(image, pieces, request("material", "gold")) == "occluded"
    flat = np.full_like(image, 128)
    unseen = reason(flat, mask, request("material", "granite", category="laptop"))
    assert unseen in ("doubtful", "blurred")
    grey = np.repeat(image[..., :1], 3, -1)
    sepia = (grey * np.array([1, 0.8, 0.55])).astype(np.uint8)
    assert reason(grey, mask, request("recolour", "red")) == "no colours"
    assert reason(sepia, mask, request("recolour", "red")) == "no colours"
    slats = np.where((mask & (np.arange(SIZE[1]) % 12 < 7))[..., None], image[120, 220], image)
    slats = slats.astype(np.uint8)
    assert reason(slats, mask, request("recolour", "red", category="chair")) == "seen through"


def test_what_suits_is_offered_and_nothing_else() -> None:
    known = {
        "surface": repertoire.SURFACES,
        "material": repertoire.MATERIALS,
        "context": repertoire.PLACES,
        "recolour": repertoire.COLOURS,
    }
    for kind, names in known.items():
        for category in ("", "banana", "bear", "chair", "pizza", "train", "gargoyle"):
            assert set(suited_values(kind, category)) <= set(names)
    assert suited_values("surface", "pizza") == () and suited_values("erase", "pizza") == ("",)
    assert "strawberry" in suited_values("surface", "banana")
    image, mask = photograph()
    assert reason(image, mask, request("surface", "bee", category="couch")) == (
        "surface does not suit"
    )


def test_outlines_that_are_drawn_beside_the_object_are_noticed() -> None:
    image, mask = photograph()
    photo = image.astype(np.float32) / 255
    right, shifted = skin_of(photo, mask), skin_of(photo, np.roll(mask, 6, 1))
    assert right.fit > 0.9 and shifted.fit < right.fit - 0.2
    motley = photo.copy()
    motley[100:110][mask[100:110]] = (0.8, 0.1, 0.1)
    assert skin_of(motley, mask).motley > right.motley + 0.05


def test_one_thing_under_two_names_hides_nothing() -> None:
    _, mask = photograph()
    again = Neighbour(category="couch", mask=grown(mask, 1))
    assert contact_with(mask, (again,)).any == 0


def test_all_of_a_car_is_dyed_and_its_windows_are_still_seen() -> None:
    image, mask = photograph()
    window = np.zeros(SIZE, bool)
    window[95:115, 85:110] = True
    image[window] = (30, 36, 44)
    editor = ProceduralEditor(filters=False)
    car = editor.perform(image, mask, request("surface", "strawberry", category="car"))
    assert isinstance(car, Edited)
    red = car.image[..., 0].astype(int) - car.image[..., 1:].max(-1)
    assert red[core(mask, 4)].min() > 0
    light = car.image.mean(-1)
    assert light[core(window, 3)].mean() < 0.6 * light[core(mask & ~window, 6)].mean()


def test_a_fill_that_invents_something_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    image, _ = photograph()
    small = np.zeros(SIZE, bool)
    small[110:150, 180:215] = True

    def invented(photo: Any, hole: Any, **settings: Any) -> Any:
        return np.where(hole[..., None], np.float32([0.9, 0.1, 0.8]), photo)

    asked = request("erase")
    assert isinstance(ProceduralEditor().perform(image, small, asked), Edited)
    monkeypatch.setattr("groundfault.editors.procedural.editor.fill", invented)
    assert reason(image, small, asked) == "fill does not fit"


def test_what_nobody_knows_is_refused() -> None:
    image, mask = photograph()
    assert reason(image, mask, request("surface", "plaid")) == "unknown surface"
    assert reason(image, mask, request("context", "mars")) == "unknown context"
    assert reason(image, mask, request("fold")) == "unknown kind of edit"
    assert reason(image, mask[:-1], request("erase")) == "image and region differ in size"


@pytest.mark.parametrize("filters", [True, False])
@pytest.mark.parametrize(("kind", "value"), SOME)
def test_hostile_masks_and_pictures(kind: str, value: str, filters: bool) -> None:
    image, mask = photograph((108, 144))
    nothing, everything, dot = np.zeros_like(mask), np.ones_like(mask), np.zeros_like(mask)
    dot[54, 72] = True
    wanted = request(kind, value)
    assert reason(image, nothing, wanted, filters=filters) == "too small"
    assert reason(image, everything, wanted, filters=filters) == "too large"
    assert reason(image, dot, wanted, filters=filters) == "too small"
    tiny = image[:9, :7], mask[:9, :7]
    assert reason(*tiny, wanted, filters=filters) == "too small"
    line = np.zeros_like(mask)
    line[20:24, :] = True
    half = np.zeros_like(mask)
    half[:, :72] = True
    for odd in (line, half, ~mask, np.random.default_rng(1).random(mask.shape) < 0.3):
        for picture in (image, np.zeros_like(image)):
            found = ProceduralEditor(filters=filters).perform(picture, odd, wanted)
            assert isinstance(found, NotEdited) or found.image.shape == image.shape


def test_a_grey_photograph_stays_grey(editor: ProceduralEditor) -> None:
    image, mask = photograph()
    grey = np.repeat(image.mean(-1, keepdims=True).astype(np.uint8), 3, -1)
    for kind, value in SOME:
        if kind == "context":  # paper and ink have colours of their own
            continue
        found = editor.perform(grey, mask, request(kind, value))
        assert isinstance(found, Edited)
        assert np.ptp(found.image.astype(int), axis=-1).max() <= 2


def test_a_large_photograph(editor: ProceduralEditor) -> None:
    image, mask = photograph((700, 950))  # larger than what is looked at, and solved for
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
    from groundfault.editors.procedural import colours, immersion, materials, overgrown, surfaces

    laid_on = {*repertoire.GROWN}
    assert set(colours.PAINTS) == set(repertoire.COLOURS)
    assert set(surfaces.PATTERNS) == set(repertoire.SURFACES)
    assert set(materials.SUBSTANCES) == set(repertoire.MATERIALS) - laid_on
    assert set(overgrown.PIECES) == laid_on
    assert set(immersion.WATERS) == set(repertoire.PLACES)
    code = (
        "import sys, groundfault.editors.procedural.repertoire; "
        "sys.exit(any(m in sys.modules for m in ('cv2', 'scipy', 'numpy')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_stands_before_an_erased_thing_stays() -> None:
    image, mask = photograph()
    fence = np.zeros_like(mask)
    fence[140:170, 85:110] = True
    others = (Neighbour(category="bench", mask=fence),)
    found = performed(ProceduralEditor(filters=False), "erase", others=others)
    kept = core(fence & ~mask, 3)
    assert np.array_equal(found.image[kept], image[kept])
    assert not (found.touched & kept).any()


def test_a_long_shadow_goes_with_its_thing() -> None:
    image, mask = photograph((240, 400))
    photo = (image / 255).astype(np.float32)
    y, x = np.mgrid[:240, :400]
    shadow = (np.abs(y - 185) < 8) & (x > 170) & (x < 290) & ~mask
    dark = np.where(shadow[..., None], 0.35 * photo, photo).astype(np.float32)
    assert (shadow_of(dark, mask) & shadow).sum() > 0.9 * shadow.sum()
    assert (shadow_of(photo, mask) & shadow).sum() < 0.1 * shadow.sum()


def test_a_collage_is_known_by_its_seam() -> None:
    image, _ = photograph()
    photo = (image / 255).astype(np.float32)
    both = np.concatenate([photo[80:], 0.3 * photo[80:, ::-1]], 1)
    assert is_collage(both) and not is_collage(photo[80:])


def test_without_a_network_what_touches_others_gets_no_other_place() -> None:
    image, mask = photograph()
    apart = np.zeros_like(mask)
    apart[60:100, 200:230] = True
    for other, alone in ((apart, True), (grown(mask, 24) & ~mask, False)):
        wanted = request("context", "deep sea", others=(Neighbour(category="bear", mask=other),))
        found = ProceduralEditor().perform(image, mask, wanted)
        assert isinstance(found, Edited) == alone, found
