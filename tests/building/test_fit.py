"""Photographs on canvases and back, replies laid over them, edits pasted back."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from groundfault.building.fit import (
    BUCKETS,
    fit_to,
    free_canvas,
    nearest_bucket,
    paste_back,
    round_trip_iou,
    survives,
)
from groundfault.building.registration import drift_outside, register, registered_reply
from groundfault.errors import UnknownName, UsageError

sides = st.integers(1, 300)
sizes = st.tuples(sides, sides)
modes = st.sampled_from(["letterbox", "crop", "stretch"])


@lru_cache
def scene(height_px: int = 240, width_px: int = 320, seed: int = 0) -> Any:
    """A picture with detail of every size, as photographs have it."""
    rng = np.random.default_rng(seed)
    layers = [
        ndimage.gaussian_filter(rng.normal(0, 1, (height_px, width_px, 3)), (blur, blur, 0)) * blur
        for blur in (1, 2, 4, 8, 16)
    ]
    total = sum(layers)
    return np.clip(128 + 45 * (total - total.mean()) / total.std(), 0, 255).astype(np.uint8)


def blob(height_px: int, width_px: int) -> Any:
    rows, columns = np.mgrid[:height_px, :width_px]
    reach = ((rows - height_px * 0.45) / (height_px * 0.2)) ** 2
    return reach + ((columns - width_px * 0.5) / (width_px * 0.2)) ** 2 < 1


@given(size=sizes, canvas=sizes, mode=modes)
def test_the_inverse_undoes_the_map(size: Any, canvas: Any, mode: str) -> None:
    fit = fit_to(size, canvas, mode)
    there, back = (np.vstack([matrix, (0, 0, 1)]) for matrix in (fit.matrix, fit.inverse))
    assert back @ there == pytest.approx(np.eye(3), abs=1e-9)
    assert 0 <= fit.place[0] < fit.place[2] <= canvas[0]
    assert 0 <= fit.crop[1] < fit.crop[3] <= size[1]


@settings(max_examples=50)
@given(size=sizes, scale=st.floats(1, 3), mode=modes, seed=st.integers(0, 9))
def test_masks_come_back_from_a_canvas_that_is_not_smaller(
    size: Any, scale: float, mode: str, seed: int
) -> None:
    canvas = tuple(int(np.ceil(side * scale)) for side in size)
    fit = fit_to(size, canvas, mode)
    mask = np.random.default_rng(seed).random(size) < 0.5
    assert (fit.mask_back(fit.mask(mask))[fit.covered] == mask[fit.covered]).all()
    if mode != "crop":
        assert survives(fit, mask)


@given(size=sizes, mode=modes)
def test_a_canvas_of_the_same_size_changes_nothing(size: Any, mode: str) -> None:
    fit = fit_to(size, size, mode)
    pixels = np.random.default_rng(0).integers(0, 256, (*size, 3)).astype(np.uint8)
    assert fit.matrix == ((1, 0, 0), (0, 1, 0))
    assert (fit.picture(pixels) == pixels).all()
    assert (fit.picture_back(pixels, pixels) == pixels).all()


@pytest.mark.parametrize("canvas", [(1024, 1024), (1024, 1536), (480, 640), (512, 512)])
@pytest.mark.parametrize("mode", ["letterbox", "stretch"])
def test_what_is_lost_on_the_way_is_measured(canvas: Any, mode: str) -> None:
    fit = fit_to((480, 640), canvas, mode)
    assert round_trip_iou(fit, blob(480, 640)) >= 0.98
    speck = np.zeros((480, 640), bool)
    speck[100, 100:103] = True
    assert not survives(fit_to((480, 640), (64, 64), mode), speck)
    assert round_trip_iou(fit, np.zeros((480, 640), bool)) == 1.0


def test_picture_and_mask_take_the_same_way() -> None:
    mask = blob(240, 320)
    pixels = np.where(mask, 255, 0)[..., None].repeat(3, 2).astype(np.uint8)
    for mode in ("letterbox", "crop", "stretch"):
        fit = fit_to((240, 320), (512, 384), mode)
        seen, expected = fit.picture(pixels)[..., 0] > 127, fit.mask(mask)
        assert (seen & expected).sum() / (seen | expected).sum() > 0.99
        x, y = 160, 108  # the blob's middle
        (a, _, c), (_, e, f) = fit.matrix
        rows, columns = np.nonzero(expected)
        assert (columns.mean(), rows.mean()) == pytest.approx((a * x + c, e * y + f), abs=1.5)


def test_a_crop_is_centred_at_the_target_and_keeps_the_rest() -> None:
    fit = fit_to((100, 300), (64, 64), "crop", around=(290, 50))
    assert fit.crop == (0, 200, 100, 300)
    original = scene(100, 300)
    back = fit.picture_back(np.zeros((64, 64, 3), np.uint8), original)
    assert (back[:, :200] == original[:, :200]).all() and not back[:, 200:].any()


@given(size=st.tuples(st.integers(16, 4000), st.integers(16, 4000)))
def test_free_canvases_are_what_services_take(size: Any) -> None:
    height, width = free_canvas(size)
    assert height % 16 == width % 16 == 0
    assert 1 / 3 <= height / width <= 3
    assert min(height, width) >= 256 and max(height, width) <= 2048


def test_buckets_and_what_cannot_be_meant() -> None:
    assert nearest_bucket((640, 480), BUCKETS["gpt-image-1"]) == (1536, 1024)
    assert nearest_bucket((500, 500), BUCKETS["gemini"]) == (1024, 1024)
    with pytest.raises(UsageError, match="at least one"):
        nearest_bucket((1, 1), ())
    with pytest.raises(UnknownName, match="Did you mean 'letterbox'"):
        fit_to((1, 1), (1, 1), "leterbox")
    with pytest.raises(UsageError, match="above 0"):
        fit_to((0, 1), (1, 1))
    with pytest.raises(ValueError, match="the mask is 2x2, not 1x1"):
        fit_to((1, 1), (4, 4)).mask(np.zeros((2, 2), bool))


@settings(max_examples=40)
@given(feather=st.floats(0, 12), seed=st.integers(0, 99), share=st.floats(0, 1))
def test_nothing_outside_is_touched(feather: float, seed: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    original, edited = rng.integers(0, 256, (2, 40, 50, 3)).astype(np.uint8)
    noise = ndimage.gaussian_filter(rng.random((40, 50)), 4)
    touchable = noise <= np.quantile(noise, share)
    pasted = paste_back(original, edited, touchable, feather)
    assert pasted.dtype == np.uint8
    assert (pasted[~touchable] == original[~touchable]).all()
    if feather == 0 or touchable.all():
        assert (pasted[touchable] == edited[touchable]).all()


def test_the_edit_fades_in_from_the_border() -> None:
    original, edited = np.zeros((60, 60, 3), np.uint8), np.full((60, 60, 3), 200, np.uint8)
    region = np.zeros((60, 60), bool)
    region[10:50, 10:50] = True
    pasted = paste_back(original, edited, region, 4)
    assert pasted[30, 9:16, 0].tolist() == [0, 40, 80, 120, 160, 200, 200]
    inverse = paste_back(original, edited, ~region, 4)  # a context conflict keeps the target
    assert not inverse[region].any() and inverse[0, 0, 0] == 200


def moved(pixels: Any, right: float, down: float) -> Any:
    """As an editor may give it back: moved, recoloured, with noise, another target."""
    rng = np.random.default_rng(7)
    channels = [
        ndimage.shift(pixels[..., k].astype(float), (down, right), order=3, mode="nearest")
        for k in range(3)
    ]
    changed = np.stack(channels, -1) * [1.1, 0.92, 1.0] + [5, -8, 12]
    reply = np.clip(changed + rng.normal(0, 3, changed.shape), 0, 255).astype(np.uint8)
    mask = blob(*pixels.shape[:2])
    reply[mask] = rng.integers(0, 256, (mask.sum(), 3))
    return reply


@pytest.mark.parametrize("shift", [(3.0, 0.0), (0.0, -3.0), (-2.5, 1.25), (0.4, -0.3), (9.6, 7.2)])
def test_shifts_and_colours_are_measured_and_undone(shift: tuple[float, float]) -> None:
    original = scene()
    region = blob(240, 320)
    found = register(original, moved(original, *shift), region)
    assert found.shift_xy == pytest.approx(shift, abs=0.12)
    assert found.residual_px is not None and found.residual_px < 0.3
    assert found.gains == pytest.approx((1.1, 0.92, 1.0), abs=0.06)
    assert found.before.mean > 10 and found.after.mean < 6  # what came in at the edges is lost
    assert found.details["shift_px"] and found.after.psnr_db


def test_an_untouched_reply_stays_as_it_is() -> None:
    original, region = scene(), blob(240, 320)
    found = register(original, original, region)
    assert (found.image == original).all()
    assert (found.shift_xy, found.gains, found.offsets) == ((0, 0), (1, 1, 1), (0, 0, 0))
    assert found.before == drift_outside(original, original, region)
    assert found.before.mean == 0 and found.before.psnr_db is None


def test_what_cannot_be_registered_is_left_and_seen() -> None:
    original, region = scene(), blob(240, 320)
    found = register(original, scene(seed=5), region)
    assert found.shift_xy == (0, 0) and found.after.mean > 20
    flat = np.full_like(original, 90)
    assert register(flat, flat + 9, region).residual_px is None
    zoomed = np.asarray(ndimage.zoom(original, (1.04, 1.04, 1), order=1))[:240, :320]
    residual = register(original, zoomed, region).residual_px
    assert residual is not None and residual > 2


@pytest.mark.parametrize("size", [(256, 256), (512, 512), (384, 256), (256, 384)])
@pytest.mark.parametrize("mode", ["stretch", "crop", "letterbox"])
def test_replies_of_another_size_are_laid_over_the_photograph(size: Any, mode: str) -> None:
    original, region = scene(120, 160), blob(120, 160)
    fit = fit_to((120, 160), (320, 320))
    reply = fit_to((320, 320), size, mode).picture(fit.picture(original))
    found = registered_reply(original, reply, region, fit)
    assert found.after.mean < 5 and found.resized_from == size
    assert found.residual_px is not None and found.residual_px < 0.5
    if size[0] != size[1]:
        assert found.laid_as == {"stretch": "resized"}.get(mode, mode)


def test_a_reply_without_our_bars() -> None:
    original, region = scene(120, 160), blob(120, 160)
    fit = fit_to((120, 160), (320, 320))
    reply = fit_to((120, 160), (300, 400), "stretch").picture(original)
    assert registered_reply(original, reply, region, fit).laid_as == "without bars"
