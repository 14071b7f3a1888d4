"""Overlays and close-ups: readable, collision-free, true to the pixels."""

from __future__ import annotations

import io
import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from tests.agent.parts import EXAMINE, SEGMENT, found, picture, reply, squares

from groundfault.io.masks import encode, parse_mask
from groundfault.models.agent import Episode, Scene, Settings
from groundfault.models.agent.pictures import (
    PALETTE,
    _colours,
    _ink,
    close_up,
    close_up_picture,
    contrast,
    encoded,
    mask_bounds,
    numbered,
    place_labels,
)
from groundfault.models.agent.scripted import call
from groundfault.models.agent.tools import apart, worth_showing
from groundfault.records import Outcome, Prediction

Mask = NDArray[np.bool_]


def blobs(n: int, height_px: int, width_px: int, seed: int = 0) -> list[Mask]:
    """n ellipses of all sizes that do not overlap, some cut by the border."""
    rng = np.random.default_rng(seed)
    rows, columns = np.mgrid[:height_px, :width_px]
    masks: list[Mask] = []
    used = np.zeros((height_px, width_px), bool)
    while len(masks) < n:
        y, x = rng.uniform(0, height_px), rng.uniform(0, width_px)
        a, b = rng.uniform(2, min(height_px, width_px) / 9, 2)
        mask = (((rows - y) / a) ** 2 + ((columns - x) / b) ** 2 < 1) & ~used
        if mask.sum() >= 6:
            used |= mask
            masks.append(mask)
    return masks


def boxed(masks: list[Mask]) -> tuple[list[Mask], list[tuple[int, int, int, int]]]:
    return masks, [mask_bounds(mask) for mask in masks]


@pytest.mark.parametrize("n", [1, 2, 5, 12, 30, 60])
@pytest.mark.parametrize("size_px", [(480, 640), (240, 640)])
def test_numbers_do_not_meet_and_stay_inside(n: int, size_px: tuple[int, int]) -> None:
    height_px, width_px = size_px
    labels = place_labels(blobs(n, height_px, width_px, seed=n), (width_px, height_px))
    assert [label.number for label in labels] == list(range(1, n + 1))
    for label in labels:
        left, top, right, bottom = label.box
        assert 0 <= left < right < width_px and 0 <= top < bottom < height_px
        assert bottom - top >= 10
    for one, other in itertools.combinations([label.box for label in labels], 2):
        apart_ = one[2] < other[0] or other[2] < one[0] or one[3] < other[1] or other[3] < one[1]
        assert apart_, (one, other)


def test_sixty_numbers_on_one_spot() -> None:
    mask = np.zeros((480, 640), bool)
    mask[240:243, 320:323] = True
    assert len(place_labels([mask] * 60, (640, 480))) == 60


def test_a_crowd_is_drawn_larger_so_that_numbers_hide_little() -> None:
    image = picture(side_px=128)
    masks = blobs(60, 128, 128)
    assert numbered(image, masks[:12]).size == (384, 384)
    size = numbered(image, masks).size
    assert size == (768, 768)
    boxes = [label.box for label in place_labels(masks, size)]
    hidden = sum((right - left) * (bottom - top) for left, top, right, bottom in boxes)
    assert hidden < 0.15 * size[0] * size[1]


def test_every_number_can_be_read_on_its_colour() -> None:
    assert all(contrast(colour, _ink(colour)) >= 4.5 for colour in PALETTE)


def test_a_few_masks_have_as_many_colours() -> None:
    image = picture(side_px=96)
    assert len(set(_colours(image, *boxed(squares(6))))) == 6
    assert len(set(_colours(image, *boxed(squares(12))))) >= 10


def test_a_colour_stands_out_from_what_it_covers() -> None:
    for own in PALETTE:
        image = np.full((96, 96, 3), own, np.uint8)
        for colour in _colours(image, *boxed(squares(4))):
            assert np.abs(np.subtract(colour, own)).sum() > 150


@pytest.mark.parametrize(("height_px", "width_px"), [(40, 40), (64, 200), (480, 640), (900, 30)])
def test_the_overlay_is_large_enough_to_read(height_px: int, width_px: int) -> None:
    image = np.zeros((height_px, width_px, 3), np.uint8)
    mask = np.zeros((height_px, width_px), bool)
    mask[height_px // 4 : height_px // 2, width_px // 4 : width_px // 2] = True
    overlay = numbered(image, [mask])
    assert (
        max(overlay.size) <= 1568
        and abs(overlay.width / overlay.height - width_px / height_px) < 0.1 * width_px / height_px
    )
    assert min(overlay.size) >= min(384, 1560 * min(image.shape[:2]) // max(image.shape[:2]))
    assert np.asarray(overlay).any()


def test_pixels_outside_masks_and_numbers_are_left_alone() -> None:
    image = picture(side_px=512)
    mask = np.zeros((512, 512), bool)
    mask[200:300, 200:300] = True
    drawn = np.asarray(numbered(image, [mask]))
    changed = (drawn != image).any(axis=2)
    assert changed[200:300, 200:300].mean() > 0.9
    changed[192:308, 192:308] = False
    assert not changed.any()


@pytest.mark.parametrize(
    "box",
    [(10, 10, 40, 40), (0, 0, 3, 3), (100, 5, 104, 235), (0, 0, 320, 240), (319, 239, 320, 240)],
)
def test_close_ups(box: tuple[int, int, int, int]) -> None:
    image = picture(side_px=320)[:240]
    left, top, right, bottom = box
    mask = np.zeros((240, 320), bool)
    mask[top:bottom, left:right] = True
    zoomed = close_up(image, mask)
    assert min(zoomed.size) >= 512 and max(zoomed.size) <= 4 * 512 + 600


def test_the_margin_is_a_fifth_on_each_side() -> None:
    image = np.zeros((1000, 1000, 3), np.uint8)
    image[400:600, 450:550] = 255
    zoomed = np.asarray(close_up(image, image[..., 0] > 0).convert("L")) > 200
    assert zoomed.mean(axis=(0, 1)) == pytest.approx(1 / 1.4**2, abs=0.02)


def test_a_close_up_leaves_the_thing_itself_alone() -> None:
    image = picture(side_px=1024)
    mask = np.zeros((1024, 1024), bool)
    mask[300:700, 300:700] = True
    zoomed = np.asarray(close_up(image, mask))
    part = image[220:780, 220:780]
    assert zoomed.shape == part.shape
    inside = mask[220:780, 220:780]
    assert (zoomed[inside] == part[inside]).all()
    changed = (zoomed != part).any(axis=2).sum()
    assert 0 < changed < 4 * 2 * 420  # a line of two pixels around it


def test_only_what_is_enlarged_a_lot_has_its_colours_thinned() -> None:
    rng = np.random.default_rng(0)
    coarse = rng.integers(0, 255, (50, 50, 3), np.uint8)
    image = np.kron(coarse, np.ones((8, 8, 1), np.uint8)).astype(np.uint8)
    for side_px, thinned in ((40, True), (200, False), (400, False)):
        mask = np.zeros((400, 400), bool)
        mask[:side_px, :side_px] = True
        sent = Image.open(io.BytesIO(close_up_picture(image, mask).content))
        assert (sent.layer[0][1:3] == (2, 2)) is thinned  # 4:2:0
        drawn = np.asarray(close_up(image, mask), float)
        assert np.abs(np.asarray(sent.convert("RGB"), float) - drawn).mean() < 4


def test_a_picture_is_drawn_once_for_all_who_look_at_the_same_masks() -> None:
    scene = Scene(picture(), ["tiger", "lion"])
    first, second = (Episode(scene, query, Settings()) for query in scene.queries)
    for episode in (first, second):
        episode.add_reply(reply(SEGMENT))
        episode.add_segmentation(found(2))
        episode.add_reply(reply(EXAMINE))
    assert [turn.pictures for turn in first.turns] == [turn.pictures for turn in second.turns]
    for sha256, shown_ in first.pictures.items():
        assert second.pictures[sha256] is shown_
    second.add_reply(reply(call("examine_masks", mask_indices=[2])))
    assert second.turns[-1].pictures != second.turns[-2].pictures


def test_pictures_are_known_by_their_content() -> None:
    one, same, other = encoded(picture(1)), encoded(picture(1)), encoded(picture(2))
    assert one.sha256 == same.sha256 != other.sha256
    assert one.mime == "image/jpeg" and one.content.startswith(b"\xff\xd8\xff")
    assert len(encoded(np.zeros((3000, 4000, 3), np.uint8)).content) < 100_000


# Which masks get a number.


def reference(masks: list[Mask], scores: list[float]) -> list[int]:
    """Greedy by score with plain arrays."""
    kept: list[int] = []
    for index in sorted(range(len(masks)), key=lambda i: -scores[i]):
        overlaps = [
            (masks[index] & masks[k]).sum() / max(1, min(masks[index].sum(), masks[k].sum()))
            for k in kept
        ]
        if all(overlap <= 0.3 for overlap in overlaps):
            kept.append(index)
    return kept


@pytest.mark.parametrize("seed", range(8))
def test_overlapping_masks_as_published(seed: int) -> None:
    rng = np.random.default_rng(seed)
    masks = []
    for _ in range(25):
        mask = np.zeros((60, 80), bool)
        (y, x), (h, w) = rng.integers(0, 50, 2), rng.integers(4, 30, 2)
        mask[y : y + h, x : x + w] = True
        masks.append(mask)
    scores = [float(score) for score in rng.permutation(25) / 25]
    kept = reference(masks, scores)
    result = worth_showing(
        "x",
        Prediction(
            item_id="",
            outcome=Outcome.OK,
            masks=tuple(encode(mask) for mask in masks),
            scores=tuple(scores),
        ),
        t=0.0,
        size_px=(60, 80),
    )
    assert result.scores == tuple(scores[index] for index in kept)
    assert result.masks == tuple(encode(masks[index]) for index in kept)
    assert result.left_out == 25 - len(kept)


def test_a_third_is_the_limit() -> None:
    one, other = np.zeros((1, 20), bool), np.zeros((1, 20), bool)
    one[0, :10] = True
    other[0, 7:17] = True  # 30 %: stays
    pair = [parse_mask(encode(mask), 1, 20) for mask in (one, other)]
    assert apart(pair) == [0, 1]
    other[0, 6] = True
    assert apart([pair[0], parse_mask(encode(other), 1, 20)]) == [0]


def test_tiny_masks_are_left_out_but_not_the_whole_picture() -> None:
    nothing, everything = np.zeros((40, 40), bool), np.ones((40, 40), bool)
    both = Prediction(
        item_id="",
        outcome=Outcome.OK,
        masks=(encode(nothing), encode(everything)),
        scores=(0.9, 0.8),
    )
    assert worth_showing("x", both, t=0.5, size_px=(40, 40)).scores == (0.8,)
    assert worth_showing("x", both, t=0.85, size_px=(40, 40)).outcome is Outcome.ABSTAINED


@pytest.mark.parametrize("style", ["paper", "published"])
@pytest.mark.parametrize("size_px", [(512, 1024), (1024, 512), (4096, 4096)])
def test_masks_without_area_are_left_out_of_large_pictures(
    size_px: tuple[int, int], style: Any
) -> None:
    """There the code of nothing is as long as that of something: 5 letters from 2¹⁹ pixels on."""
    nothing, something = np.zeros(size_px, bool), np.zeros(size_px, bool)
    something[7:90, 8:99] = True
    assert len(encode(nothing)["counts"]) >= 5
    both = Prediction(
        item_id="",
        outcome=Outcome.OK,
        masks=(encode(nothing), encode(something)),
        scores=(0.9, 0.8),
    )
    result = worth_showing("x", both, t=0.5, size_px=size_px, style=style)
    assert (result.scores, result.left_out) == ((0.8,), 1)


def test_an_episode_about_a_large_picture_with_an_empty_mask() -> None:
    image = np.full((512, 1024, 3), 90, np.uint8)
    empty = encode(np.zeros(image.shape[:2], bool))
    for style in ("paper", "published"):
        episode = Episode(Scene(image, style=style), "tiger", Settings(style=style))
        assert episode.add_reply(reply(SEGMENT)) == "tiger"
        episode.add_segmentation(
            Prediction(item_id="", outcome=Outcome.OK, masks=(empty,), scores=(0.9,))
        )
        assert "found nothing" in episode.messages[-1].text
        episode.add_reply(reply(call("report_no_mask")))
        assert episode.prediction().outcome is Outcome.ABSTAINED
