"""What a reviewer sees and presses, in a real browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from tests.desk.parts import wait

from groundfault.building.review import Decision, read_decisions
from groundfault.web.review.desk import export


class Screen:
    """What a reviewer sees and presses."""

    def __init__(self, browser: Any, desk: Any, path: str = "") -> None:
        self.browser = browser
        browser.get(desk.url)
        wait(lambda: self.is_shown or self.is_at_end, "the first item")
        if path:
            browser.get(desk.base + path)

    def data(self, name: str) -> str:
        return self.browser.execute_script(f"return document.body.dataset.{name} ?? ''") or ""

    @property
    def is_shown(self) -> bool:
        return bool(self.data("item"))

    @property
    def is_at_end(self) -> bool:
        return self.data("end") == "1"

    @property
    def now(self) -> tuple[str, str]:
        return self.data("item"), self.data("stage")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.browser.switch_to.active_element.send_keys(key)

    def go_on(self, *keys: str) -> None:
        """Press keys and wait until another item, or none, is shown."""
        before = self.now
        self.press(*keys)
        wait(
            lambda: (self.is_shown and self.now != before) or self.is_at_end,
            f"something after {before}",
        )

    def wait_saved(self) -> None:
        wait(lambda: self.data("waiting") == "0", "everything saved")

    def text(self, selector: str) -> str:
        return str(self.browser.find_element(By.CSS_SELECTOR, selector).text)

    def find(self, selector: str) -> Any:
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    @property
    def captions(self) -> list[str]:
        """What stands over the pictures."""
        spans = "return [...document.querySelectorAll('#captions span')]"
        return list(
            self.browser.execute_script(f"{spans}.filter(e => !e.hidden).map(e => e.textContent)")
        )

    @property
    def focused(self) -> str:
        """The name of what has the focus."""
        script = "return document.activeElement.getAttribute('aria-label') ?? ''"
        return str(self.browser.execute_script(script))

    def tab_to(self, name: str) -> None:
        """Begin to correct, and go on by the Tab key to the field whose name fits a pattern."""
        self.press("e")
        for _ in range(200):
            if re.fullmatch(name, self.focused):
                return
            self.press(Keys.TAB)
        raise AssertionError(f"no field is called {name}")

    def retype(self, name: str, words: str) -> None:
        """Replace what stands in a field."""
        self.tab_to(name)
        self.press(Keys.CONTROL + "a", words, Keys.ESCAPE)

    def touch(self, kind: str, *points: tuple[int, int]) -> None:
        """Fingers at these points, from the canvas' middle: touchStart, touchMove, touchEnd."""
        box = self.find("#view").rect
        middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        fingers = [
            {"x": middle[0] + x, "y": middle[1] + y, "id": k} for k, (x, y) in enumerate(points)
        ]
        event = {"type": kind, "touchPoints": fingers}
        self.browser.execute_cdp_cmd("Input.dispatchTouchEvent", event)

    def drag(self, *points: tuple[int, int]) -> None:
        """Press the pointer at the first point, from the canvas' middle, and move to the others."""
        canvas = self.find("#view")
        chain = ActionChains(self.browser, duration=20)
        chain.move_to_element_with_offset(canvas, *points[0]).click_and_hold()
        for point in points[1:]:
            chain.move_to_element_with_offset(canvas, *point)
        chain.release().perform()


def decisions(folder: Path) -> list[Decision]:
    out = folder / "decisions.jsonl"
    export(folder, out)
    return read_decisions(out)
