"""Replacements cover what they replace: which size and place a donor gets, which donors are cut
off, and what care does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from groundfault.editors.loading import EditorOptions, load_editor
from groundfault.editors.procedural import ProceduralEditor
from groundfault.editors.procedural.covering import LARGER, covering, figure_of, is_cut
from groundfault.editors.procedural.covers import LEAST_CLEAR, clarity, objection_to_outline
from groundfault.editors.procedural.cutouts import Cutout
from groundfault.editors.procedural.donors import Donor
from groundfault.editors.procedural.edges import floats
from groundfault.editors.procedural.fitness import measure
from groundfault.editors.procedural.looks import Skin
from groundfault.editors.procedural.occlusion import Contact
from groundfault.editors.procedural.shadows import hole_of
from groundfault.editors.procedural.transplants import best_donor
from groundfault.errors import UsageError

SIZE = (200, 260)


def disc(row: float = 110, column: float = 130, tall: float = 50, wide: float = 50) -> Any:
    y, x = np.mgrid[: SIZE[0], : SIZE[1]]
    return ((y - row) / tall) ** 2 + ((x - column) / wide) ** 2 < 1


def photograph(mask: Any, colour: tuple[float, float, float], seed: int = 0) -> Any:
    """A lit body on a grainy ground."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[: SIZE[0], : SIZE[1]]
    light = 1 - 0.002 * (x - 130) - 0.002 * (y - 110) + rng.normal(0, 0.02, SIZE)
    ground = np.array([0.45, 0.5, 0.3]) + rng.normal(0, 0.05, (*SIZE, 1))
    image = np.where(mask[..., None], light[..., None] * np.array(colour), ground)
    return (np.clip(image, 0, 1) * 255).astype(np.uint8)


def test_a_donor_of_the_same_outline_keeps_its_size_and_place() -> None:
    unlike, fit = covering(figure_of(disc()), figure_of(disc()), flipped=False)
    assert unlike < 0.1 and fit.shift_px == 0 and 0.95 <= fit.scale <= 1.05


def test_what_would_stay_uncovered_makes_a_donor_larger() -> None:
    square = np.zeros(SIZE, bool)
    square[60:160, 80:180] = True
    round_ones = figure_of(disc())
    unlike, fit = covering(figure_of(square), round_ones, flipped=False)
    alike, _ = covering(round_ones, round_ones, flipped=False)
    assert fit.scale >= LARGER[2] and unlike > alike + 0.1


def test_a_donor_is_moved_to_where_most_of_the_object_is() -> None:
    lopsided = disc()
    lopsided[150:160, 180:215] = True  # a tail to the right
    _, right = covering(figure_of(lopsided), figure_of(disc()), flipped=False)
    _, left = covering(figure_of(lopsided[:, ::-1]), figure_of(disc()), flipped=False)
    assert right.shift_px < 0 < left.shift_px


@pytest.mark.parametrize(
    ("mask", "category", "cut"),
    [
        (disc(), "cat", False),
        (disc(row=147), "cat", False),
        (disc(row=149.5), "cat", True),  # ends a pixel before the border, as drawn masks do
        (disc() & (np.arange(SIZE[0])[:, None] < 130), "cat", True),
        (disc() & (np.arange(SIZE[0])[:, None] < 130), "bowl", False),
    ],
)
def test_what_the_border_or_something_straight_cuts_is_no_donor(
    mask: Any, category: str, cut: bool
) -> None:
    assert is_cut(mask, category) is cut


class Apples:
    def __init__(self, image: Any, mask: Any) -> None:
        self.image, self.mask = image, mask

    def of(self, category: str) -> list[Donor]:
        return [Donor("apple", "1", "", lambda: self.mask, lambda: self.image)]


@pytest.mark.parametrize(
    ("colour", "grey", "found"),
    [
        ((0.75, 0.3, 0.25), False, True),
        ((0.75, 0.3, 0.25), True, False),  # a black-and-white donor
        ((0.08, 0.03, 0.03), False, False),  # far darker than what it would replace
    ],
)
def test_a_donor_has_colours_and_about_the_same_light(
    colour: tuple[float, float, float], grey: bool, found: bool
) -> None:
    photo = floats(photograph(disc(), (0.9, 0.6, 0.2))) / 255
    given = photograph(disc(column=120), colour, seed=1)
    if grey:
        given = np.repeat(given.mean(-1, keepdims=True), 3, -1).astype(np.uint8)
    donors = Apples(given, disc(column=120))
    assert (best_donor(photo, disc(), "orange", "apple", donors) is not None) is found


def test_the_shadow_stays_for_what_replaces_a_thing() -> None:
    car = np.zeros(SIZE, bool)
    car[60:120, 80:180] = True
    photo = np.full((*SIZE, 3), 0.6, np.float32)
    photo[120:136, 80:180] = 0.2
    below = np.zeros(SIZE, bool)
    below[132:135, 100:160] = True
    assert hole_of(photo, car)[below].all()
    assert not hole_of(photo, car, replaced=True)[below].any()


# ---- how good odds must be


def test_more_care_wants_better_odds_and_nothing_in_front() -> None:
    cut = Cutout(disc(), sure=0.95, agreed=0.95, beyond=0.0)
    skin = Skin(fit=0.9, weak=0.05, motley=0.1)
    found = measure(floats(photograph(disc(), (0.9, 0.6, 0.2))) / 255, disc(), to_fill=False)
    odds = clarity("surface", "oven", cut, skin)

    def why(care: float, front: float = 0.0) -> str:
        touched = Contact(any=front, front=front, low=0.0, people=0.0)
        return objection_to_outline("surface", "oven", cut, found, skin, touched, care)

    enough = odds - LEAST_CLEAR["surface"]
    assert enough > 0 and why(0.0) == why(enough - 0.01) == ""
    assert why(enough + 0.01) == "outline unclear"
    assert why(0.0, front=0.45) == "occluded"
    assert clarity("surface", "oven", cut._replace(agreed=0.9), skin) < odds
    assert clarity("surface", "oven", cut._replace(agreed=1.0), skin) == clarity(
        "surface", "oven", cut._replace(agreed=0.97), skin
    )


def test_a_recipe_sets_care_and_a_slip_of_the_pen_is_told() -> None:
    editor = load_editor("procedural", EditorOptions(settings={"care": 1, "filters": False}))
    assert isinstance(editor, ProceduralEditor) and editor.care == 1 and not editor.filters
    named = load_editor("procedural:fill.onnx", EditorOptions(settings={"migan": "other.onnx"}))
    assert isinstance(named, ProceduralEditor) and named.migan == "fill.onnx"
    with pytest.raises(UsageError, match=r"no setting 'sam'; there is .*sam2"):
        load_editor("procedural", EditorOptions(settings={"sam": "sam2/"}))
    with pytest.raises(UsageError, match="care = 'much'"):
        load_editor("procedural", EditorOptions(settings={"care": "much"}))
