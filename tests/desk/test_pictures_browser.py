"""Pictures and masks of the review in a real browser: views, zoom, fingers, brush, run lengths."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from pycocotools import mask as coco_mask
from tests.desk.parts import (
    hosted,
    make_item,
    make_review,
    wait,
)

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("selenium")

from selenium.webdriver.common.keys import Keys
from tests.desk.screen import Screen, decisions

from groundfault.building.review import write_items
from groundfault.io.masks import decode, encode

pytestmark = pytest.mark.usefixtures("no_complaints")


def test_masks_are_touched_up_with_brush_eraser_and_polygon(browser: Any, tmp_path: Path) -> None:
    folder = make_review(tmp_path, 1, protocol="halluseg", side_px=2048)
    before = decode(make_item(tmp_path, 0, "halluseg", 2048).mask_after)  # type: ignore[arg-type]
    with hosted(folder) as desk:
        screen = Screen(browser, desk)
        screen.press("b")
        screen.drag((-200, 150), (-150, 180))
        screen.press("x")
        screen.drag((0, 0), (10, 10), (20, -10))
        screen.press("p")
        for point in ((150, 100), (220, 100), (220, 180), (150, 180)):
            screen.drag(point)
        screen.press(Keys.ENTER)
        screen.drag((-50, 200))  # a corner too many,
        screen.press("z")  # taken back
        screen.press("m")
        wait(lambda: "touched up" in screen.text("#said"), "the mask in place")
        screen.go_on("a")
        screen.wait_saved()
    [decision] = decisions(tmp_path)
    assert decision.mask is not None
    after = decode(decision.mask)
    assert after.shape == before.shape
    added, removed = after & ~before, before & ~after
    assert added.sum() > 500 and removed.sum() > 100
    assert encode(after) == decision.mask
    theirs = coco_mask.encode(np.asfortranarray(after.astype(np.uint8)))
    assert theirs["counts"].decode() == decision.mask["counts"]


@pytest.fixture
def tablet(browser: Any) -> Iterator[Any]:
    """The browser as one on a tablet."""
    size = {"width": 834, "height": 1112, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    yield browser
    browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_two_fingers_zoom_and_move_and_one_paints(tablet: Any, tmp_path: Path) -> None:
    make_review(tmp_path, 1, protocol="halluseg", side_px=400)
    with hosted(tmp_path) as desk:
        screen = Screen(tablet, desk)
        assert "Keys" not in screen.text(".verdicts") and screen.text("#zoom") == ""
        screen.touch("touchStart", (-40, 0))
        screen.touch("touchStart", (-40, 0), (40, 0))
        screen.touch("touchMove", (-80, 10), (80, 10))
        wait(lambda: screen.text("#zoom") == "2.0×", "twice as large")
        screen.touch("touchMove", (-120, 10), (120, 10))
        wait(lambda: screen.text("#zoom") == "3.0×", "three times as large")
        screen.touch("touchMove", (-20, 10), (20, 10))
        wait(lambda: screen.text("#zoom") == "", "as small as it gets")
        screen.touch("touchEnd")
        screen.find("[data-act='touchup']").click()
        screen.touch("touchStart", (-150, 150))
        screen.touch("touchMove", (-100, 170))
        screen.touch("touchEnd")
        screen.touch("touchStart", (-150, -150))  # the first of two fingers paints nothing
        screen.touch("touchStart", (-150, -150), (150, -150))
        screen.touch("touchMove", (-170, -150), (170, -150))
        screen.touch("touchEnd")
        screen.find("[data-act='mask-done']").click()
        wait(lambda: "touched up" in screen.text("#said"), "the mask in place")
        screen.find("[data-act='accept']").click()
        wait(lambda: screen.is_at_end, "the end")
        screen.wait_saved()
    before = decode(make_item(tmp_path, 0, "halluseg", 400).mask_after)  # type: ignore[arg-type]
    [decision] = decisions(tmp_path)
    assert decision.mask is not None
    added = decode(decision.mask) & ~before
    rows = np.flatnonzero(added.any(axis=1))
    assert added.any() and rows.min() > 200  # below the middle, where one finger was


PIXELS = """
const canvas = document.getElementById("view"), pen = canvas.getContext("2d");
const width = Math.floor((canvas.width - 8) / 2), { height } = canvas;
const sum = x => {
  const words = new Uint32Array(pen.getImageData(x, 0, width, height).data.buffer);
  return words.reduce((all, word) => Math.imul(all ^ word, 16777619), 2166136261);
};
return [sum(0) === sum(canvas.width - width), sum(0)];
"""


def test_every_view_by_its_key_and_both_pictures_move_as_one(browser: Any, tmp_path: Path) -> None:
    item = make_item(tmp_path, 0, "cafe", 64, mask=None)
    write_items(tmp_path, [msgspec.structs.replace(item, after=item.before)])
    with hosted(tmp_path) as desk:
        screen = Screen(browser, desk)
        shown = [screen.captions]
        for key in (" ", " ", "w", "d", "k", "v"):  # there are no corners here
            screen.press(key)
            shown.append(screen.captions)
        assert shown == [
            ["original", "edited"], ["original"], ["edited"], ["original | edited"],
            ["difference × 4"], ["difference × 4"], ["original", "edited"],
        ]  # fmt: skip
        views: list[int] = []
        for keys in ("", "+++", Keys.ARROW_RIGHT, Keys.ARROW_DOWN, "-", "h"):
            screen.press(*keys)
            same, pixels = wait(lambda: pictures_of(screen, views), f"another view by {keys!r}")
            assert same
            views.append(pixels)
        assert views[-1] == views[0] and len(set(views)) == 5


def pictures_of(screen: Screen, seen: list[int]) -> Any:
    """Whether both halves show the same, and what; None until it is another than the last."""
    found = screen.browser.execute_script(PIXELS)
    return None if seen and found[1] == seen[-1] else found


def test_leaving_the_mask_changes_nothing(browser: Any, tmp_path: Path) -> None:
    make_review(tmp_path, 1, protocol="halluseg")
    with hosted(tmp_path) as desk:
        screen = Screen(browser, desk)
        screen.press("b")
        screen.drag((-100, 100), (-50, 120))
        screen.press(Keys.ESCAPE)
        screen.go_on("a")
        screen.wait_saved()
    assert decisions(tmp_path)[0].mask is None


RLE = """
const done = arguments[arguments.length - 1], cases = arguments[0];
import("/static/rle.js").then(rle => done(cases.map(({size, counts}) => {
  const [height, width] = size, mask = rle.decode({size, counts});
  return [rle.encode(mask, height, width).counts, mask.join("")];
})), problem => done(String(problem)));
"""


def test_run_lengths_equal_pycocotools(browser: Any, tmp_path: Path) -> None:
    make_review(tmp_path, 1)
    rng = np.random.default_rng(0)
    cases, drawn = [], []
    for number in range(400):
        height, width = (int(v) for v in rng.integers(1, 40, 2))
        density = (0.0, 1.0, 0.02, 0.5, 0.97)[number % 5]
        pixels = (rng.random((height, width)) < density).astype(np.uint8)
        if number % 100 == 0:  # long runs
            pixels = np.zeros((300, 200), np.uint8)
            pixels[10 : 280 - number % 200, 5:150] = 1
        coded = coco_mask.encode(np.asfortranarray(pixels))
        cases.append({"size": coded["size"], "counts": coded["counts"].decode()})
        drawn.append(pixels)
    with hosted(tmp_path) as desk:
        Screen(browser, desk)
        found = browser.execute_async_script(RLE, cases)
    for case, pixels, (counts, decoded) in zip(cases, drawn, found, strict=True):
        assert decoded == "".join(map(str, pixels.ravel().tolist()))
        assert counts == case["counts"]


def test_unsound_run_lengths_are_refused_not_looped_over(browser: Any, tmp_path: Path) -> None:
    make_review(tmp_path, 1)
    script = """
    const done = arguments[arguments.length - 1];
    import("/static/rle.js").then(({decode}) => done(arguments[0].map(counts => {
      try { decode({size: [4, 4], counts}); return "read"; }
      catch (problem) { return problem.name; }
    })));
    """
    with hosted(tmp_path) as desk:
        Screen(browser, desk)
        codes = ["", "P", "\x01", "4", "oooooooooooooooo", "`" * 9, "@0", "1O"]
        assert set(browser.execute_async_script(script, codes)) == {"RangeError"}
