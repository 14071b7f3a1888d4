"""Masks that colours correct."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np

from groundfault.editors.procedural.edges import grown
from groundfault.editors.procedural.silhouettes import REACH_PX, mended, silhouette_of


def field() -> tuple[Any, Any]:
    """A brown animal on grass: a body on four legs, with its exact mask."""
    rng = np.random.default_rng(3)
    image = np.full((240, 320, 3), (70, 140, 50), np.float32)
    mask = np.zeros((240, 320), np.uint8)
    cv2.ellipse(mask, (160, 120), (70, 34), 0, 0, 360, 1, -1)
    for left in (105, 130, 180, 205):
        cv2.rectangle(mask, (left, 130), (left + 12, 195), 1, -1)
    shade = 1.15 - 0.3 * np.linspace(0, 1, 240)[:, None, None]
    image = np.where(mask[..., None] > 0, np.array((150, 95, 55)) * shade, image)
    image = cv2.GaussianBlur(image, (0, 0), 0.8) + rng.normal(0, 5, image.shape)
    return np.clip(image, 0, 255).astype(np.uint8), mask > 0


def test_colours_find_what_a_mask_took_along_and_forgot() -> None:
    image, mask = field()
    photo = image.astype(np.float32) / 255
    exact = silhouette_of(photo, mask)
    assert exact.wrong < 0.04
    drawn = mask.copy()
    drawn[150:195, 142:180] = True  # grass between the legs
    drawn[:, 82:96] = False  # a piece of the body
    found = silhouette_of(photo, drawn)
    assert found.taken > 0.04 and found.forgotten > 0.004
    iou = (found.mask & mask).sum() / (found.mask | mask).sum()
    assert iou > (drawn & mask).sum() / (drawn | mask).sum() + 0.02


def test_a_mask_is_only_mended_close_to_it_and_nothing_is_taken_away() -> None:
    image, mask = field()
    drawn = mask.copy()
    drawn[100:140, 215:] = False
    found = mended(drawn, drawn, silhouette_of(image.astype(np.float32) / 255, drawn))
    assert not (drawn & ~found).any() and not (found & ~grown(drawn, REACH_PX)).any()
    assert (found & mask).sum() > drawn.sum() and (found & ~grown(mask, 2)).sum() < 20
