"""The page in a real browser, by what people do: click, slide, type, open a link."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.desk.parts import open_browser, serious_problems, set_scheme, wait
from tests.explore.conftest import EVIL

import groundfault as gf
from groundfault.analysis.compare import compare_runs

pytest.importorskip("uvicorn")
pytest.importorskip("selenium")

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

Runs = Callable[[str], list[Path]]
MOVE = """
const slider = document.getElementById(arguments[0]);
slider.value = arguments[1];
slider.dispatchEvent(new Event("input", {bubbles: true}));
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with open_browser(1400, 950) as driver:
        driver.set_script_timeout(300)
        yield driver


@pytest.fixture(scope="module")
def exploring(made: Runs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    where = tmp_path_factory.mktemp("beside")
    runs = [*made("pairs"), *made("quads"), *made("exam")]
    with gf.explore(runs, browser=False, notes=where / "notes.jsonl", exports=where) as found:
        yield found


class Page:
    """What somebody sees."""

    def __init__(self, browser: Any, exploring: Any) -> None:
        self.browser = browser
        self.base = exploring.url.partition("/join#")[0]
        browser.get(exploring.url)
        wait(lambda: browser.current_url.startswith(f"{self.base}/explore"), "the page")

    def go(self, query: str = "") -> None:
        self.browser.get(f"{self.base}/explore{query}")
        self.settled()

    def settled(self) -> None:
        """Wait until everything that was asked for is there."""
        script = (
            "const b = document.body, r = document.getElementById('rates');"
            "return document.querySelector('#cases *') && !b.classList.contains('busy')"
            " && r.firstChild && !r.classList.contains('waiting')"
        )
        wait(lambda: self.browser.execute_script(script), "a page at rest")

    def find(self, selector: str) -> Any:
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector: str) -> list[Any]:
        found: list[Any] = self.browser.find_elements(By.CSS_SELECTOR, selector)
        return found

    def texts(self, selector: str) -> list[str]:
        script = "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)"
        found: list[str] = self.browser.execute_script(script, selector)
        return found

    def text(self, selector: str) -> str:
        """What is to be read there now; elements may be drawn anew at any time."""
        script = "return document.querySelector(arguments[0])?.innerText ?? ''"
        return str(self.browser.execute_script(script, selector))

    def is_off(self, name: str) -> bool:
        """Whether a box is there and not ticked."""
        script = "return document.getElementById(arguments[0])?.checked"
        return self.browser.execute_script(script, name) is False

    def names(self) -> list[str]:
        return self.texts(".entries .name")

    def click(self, selector: str) -> None:
        wait(lambda: self.all(selector), selector)
        self.browser.execute_script("arguments[0].click()", self.find(selector))

    def rate(self, run: str, metric: str) -> str:
        """What the table of rates says, without the interval."""
        script = """
            const all = (selector) => [...document.querySelectorAll(`.rates ${selector}`)];
            const heads = all("thead th").map(e => e.firstChild.textContent);
            const named = (row) => row.querySelector(".run-name").textContent;
            const row = all("tbody tr").find(row => named(row) === arguments[0]);
            return row.children[heads.indexOf(arguments[1])].firstChild.textContent;
        """
        return str(self.browser.execute_script(script, run, metric))


@pytest.fixture
def page(browser: Any, exploring: Any) -> Iterator[Page]:
    yield Page(browser, exploring)
    said = [line["message"] for line in browser.get_log("browser")]
    browser.delete_all_cookies()
    assert [x for x in said if "Content Security Policy" in x or "Uncaught" in x] == []
    assert browser.title != "owned"


def test_sliders_give_what_sweep_gives(page: Page, made: Runs) -> None:
    page.go()
    summary = gf.open_run(made("pairs")[1]).summary
    heading = {"AFPR": "AFPR", "cgF1": "cgF1", "SoftSwap": "SoftSwap"}
    for metric in heading:
        value = summary.rows["Overall"].metrics[metric].value
        assert page.rate("nano-cft", metric) == f"{100 * value:.1f}".replace("-", "−")
    page.browser.execute_script(MOVE, "slide-t", "0.15")
    page.browser.execute_script(MOVE, "slide-tau", "0.7")
    wait(
        lambda: "t=0.15" in page.browser.current_url and "tau=0.7" in page.browser.current_url, "t"
    )
    page.settled()
    [point] = [
        p for p in gf.sweep(made("pairs")[1], t=(0.15,), tau=(0.7,)).points if p.row == "Overall"
    ]
    for metric in heading:
        value = point.metrics[metric].value
        assert value is not None
        shown = f"{100 * value:.1f}".replace("-", "−")
        wait(lambda metric=metric, shown=shown: page.rate("nano-cft", metric) == shown, metric)
    page.click("#own-t")
    wait(lambda: "t=0.15" not in page.browser.current_url, "t as scored")


def test_a_right_b_wrong_in_one_click(page: Page, made: Runs) -> None:
    page.go("?row=all&a=nano-cft&b=nano-base&on=p%E2%81%BA+found")
    wait(lambda: page.all(".quarter"), "the counts")
    n = int(page.texts(".quarter b")[0])
    page.click(".quarter[data-ab='10']")
    wait(lambda: "ab=10" in page.browser.current_url, "the address")
    page.settled()
    wait(lambda: len(page.names()) == n, "as many cases")
    rows = compare_runs([made("pairs")[1], made("pairs")[0]], rows=["Overall"], resamples=0)
    [test] = [each for each in rows.mcnemar if each.outcome == "p⁺ found"]
    page.go("?a=nano-cft&b=nano-base&on=p%E2%81%BA+found")
    wait(lambda: page.all(".quarter"), "the counts")
    assert page.texts(".quarter b")[:2] == [str(test.only_a_right), str(test.only_b_right)]
    p = f"p = {test.p:.3f}" if test.p >= 0.001 else "p "
    assert p in page.text("#verdict") and "McNemar" in page.text("#verdict")
    page.browser.execute_script("document.querySelector('.differences').open = true")
    wait(lambda: len(page.all(".differences tbody tr")) == 9, "the tests")


def test_a_link_reproduces_the_view(page: Page) -> None:
    page.go()
    page.click("[id='f=intervention:SM']")
    wait(lambda: "f=intervention" in page.browser.current_url, "a filter")
    page.settled()
    page.browser.execute_script(MOVE, "slide-t", "0.3")
    wait(lambda: "t=0.3" in page.browser.current_url, "t")
    page.settled()
    page.click(".entries .name")
    wait(lambda: page.find("#case").is_displayed() and page.all("#case .answer"), "the case")
    page.click("#case .run-toggle[data-run='1']")
    page.click("#case .shows-low")
    wait(lambda: "low=1" in page.browser.current_url, "what is drawn in the address")
    pressed = "#case .toggles [aria-pressed='true']"
    before = (
        page.names(),
        page.texts(".rates td"),
        page.texts("#case .answer"),
        page.texts(pressed),
    )
    link = page.browser.current_url
    page.browser.switch_to.new_window("tab")
    try:
        page.browser.get(link)
        page.settled()
        wait(lambda: page.all("#case .answer"), "the case")
        now = (page.names(), page.texts(".rates td"), page.texts("#case .answer"))
        assert (*now, page.texts(pressed)) == before
    finally:
        page.browser.close()
        page.browser.switch_to.window(page.browser.window_handles[0])


def test_back_and_forward(page: Page) -> None:
    page.go("?row=all")
    every = page.names()
    page.click("[id='f=dose:0.5']")
    wait(lambda: page.names() != every, "fewer")
    page.browser.back()
    wait(lambda: page.names() == every and page.is_off("f=dose:0.5"), "all")
    search = page.find("#search")
    search.send_keys("nothing has these words")
    wait(lambda: "No case fits" in page.text("#cases"), "nothing")
    page.click("#cases .nothing button")
    wait(lambda: page.names() == every, "all again")
    assert search.get_attribute("value") == ""


def test_hostile_words_are_text(page: Page) -> None:
    page.go("?row=all")
    assert any(EVIL in words for words in page.texts(".entries .words"))
    assert any(EVIL in words for words in page.texts(".rates .run-name"))
    page.click(".entries tbody tr:first-child .name")
    wait(lambda: EVIL in " ".join(page.texts("#case h3")), "the phrase")
    page.click("#tab-confusion")
    wait(lambda: EVIL in page.texts("#confusion tbody td:nth-child(2)"), "the phrase")
    assert page.all("img[src='x']") == []


def test_every_runs_masks_with_toggles(page: Page) -> None:
    page.go("?row=all&e=p%E2%81%BA%3ATA-TP%40nano-base&e=p%E2%81%BA%3ATA-TP%40nano-cft")
    page.click(".entries .name")
    wait(lambda: page.all("#case .mask"), "masks")
    visible = (
        "return [...document.querySelectorAll('#case .mask:not(.low)')]"
        ".filter(e => getComputedStyle(e).display !== 'none').map(e => e.dataset.run)"
    )
    runs = set(page.browser.execute_script(visible))
    assert {"0", "1"} <= runs
    page.click("#case .run-toggle[data-run='0']")
    assert "0" not in page.browser.execute_script(visible)
    name = page.text("#case-title")
    page.find("body").send_keys("j")
    wait(lambda: page.text("#case-title") != name and page.all("#case .mask"), "the next case")
    assert "0" not in page.browser.execute_script(visible)
    page.find("body").send_keys("1")
    assert "0" in page.browser.execute_script(visible)
    assert page.texts("#case .strip a > .small") == ["unedited", "dose 0.5", "dose 1"]
    page.click("#case .strip a:first-child")
    wait(
        lambda: "intervention control" in " ".join(page.text("#case .facts").split()),
        "control",
    )
    page.find("body").send_keys(Keys.ESCAPE)
    wait(lambda: not page.find("#case").is_displayed(), "the case closed")


def test_zoom_is_shared(page: Page) -> None:
    page.go("?row=all")
    page.click(".entries .name")
    wait(lambda: len(page.all("#case svg.picture")) == 2, "two pictures")
    boxes = (
        "return [...document.querySelectorAll('#case svg.picture')]"
        ".map(e => e.getAttribute('viewBox'))"
    )
    whole = page.browser.execute_script(boxes)
    page.find("#case svg.picture").send_keys("++")
    near = page.browser.execute_script(boxes)
    assert near[0] == near[1] != whole[0]
    page.find("#case svg.picture").send_keys("0")
    assert page.browser.execute_script(boxes) == whole


def test_an_episode_step_by_step(page: Page) -> None:
    page.go("?row=all")
    page.click(".entries .name")
    wait(lambda: page.all(".step-through"), "an agent")
    page.click(".step-through")
    wait(lambda: page.all(".episode h4"), "the episode")
    assert page.text(".episode h4") == "The question"
    drawn = "return document.querySelector('.step-pictures img').naturalWidth"
    wait(lambda: page.browser.execute_script(drawn), "its picture")
    page.find(".episode").send_keys(Keys.ARROW_RIGHT)
    assert page.text(".episode h4") == "Turn 1" and "segment_phrase" in page.text(".step")
    for _ in range(9):
        page.find(".episode").send_keys(Keys.ARROW_RIGHT)
    assert not page.find(".turns .on").is_enabled()


def test_corners_and_answers_with_the_judges_words(page: Page) -> None:
    page.go()
    options = page.all("#set option")
    assert len(options) == 3
    page.browser.execute_script(
        "const s = document.getElementById('set'); s.value = arguments[0];"
        "s.dispatchEvent(new Event('change'))",
        options[1].get_attribute("value"),
    )
    wait(lambda: "set=" in page.browser.current_url, "the set of quads")
    page.settled()
    page.click(".entries .name")
    wait(lambda: len(page.all("#case svg.picture")) == 4, "four corners")
    assert page.texts("#case h3 small") == ["(I, c)", "(I, c′)", "(I′, c)", "(I′, c′)"]
    exam = options_value(page, 2)
    page.go(f"?set={exam}&e=answer%3Awrong%40random&f=type%3ASA")
    page.click(".entries .name")
    wait(lambda: page.all("#case .judge"), "the judge's words")
    assert EVIL in page.texts("#case .judge")[0]
    shown = page.text("#case .exam")
    assert "judged by openai:judge" in shown and "SC1" in shown and "It expects a lamp." in shown
    assert "The other" in page.text("#case .others summary")


def options_value(page: Page, k: int) -> str:
    return str(page.all("#set option")[k].get_attribute("value"))


def test_notes_and_tags_stay(page: Page) -> None:
    page.go()
    page.click(".entries .name")
    wait(lambda: page.all("#new-tag"), "the case")
    page.find("#new-tag").send_keys("<b>odd</b>", Keys.ENTER)
    wait(lambda: page.texts("#case .chip"), "the tag")
    page.find("#new-note").send_keys("taken for glass")
    page.click(".new-note button")
    wait(lambda: "taken for glass" in " ".join(page.texts(".note-list p")), "the note")
    name = page.text("#case-title")
    page.go("?tag=%3Cb%3Eodd%3C%2Fb%3E")
    assert page.names() == [name] and "<b>odd</b>" in page.text(".entries tbody")
    page.click(".entries .name")
    wait(lambda: page.all("#case .chip button"), "the tag")
    page.click("#case .chip button")
    wait(lambda: not page.texts("#case .chip"), "no tag")


def test_a_training_list_has_to_be_allowed(page: Page, exploring: Any) -> None:
    page.go("?f=intervention%3AOC")
    page.click("#exports summary")
    page.click("[data-kind='training']")
    name = page.find("#export-name")
    name.clear()
    name.send_keys("by-hand", Keys.ENTER)
    wait(lambda: page.all("#allow"), "the guard")
    assert "must not be" in page.text(".export-said")
    page.click("#allow")
    wait(lambda: "held-out.txt" in page.text(".export-said"), "the list")
    path = Path(page.text(".export-said code"))
    about = json.loads((path / "about.json").read_text())
    assert about["cases"] and "intervention" in about["view"] and about["leaks_allowed"]


def test_what_is_taken_for_what_leads_to_its_cases(page: Page) -> None:
    page.go("?row=all&tab=confusion&t=0.1")
    wait(lambda: page.all("#confusion tbody tr"), "pairs of phrases")
    there, taken = page.texts("#confusion tbody tr:first-child td")[:2]
    page.click("#confusion tbody tr:first-child td:nth-child(2) button")
    wait(lambda: "tab=" not in page.browser.current_url, "the cases")
    page.settled()
    words = page.texts(".entries .words")
    assert words and all(there in each and taken in each for each in words)


def test_nothing_serious_for_axe(page: Page) -> None:
    pytest.importorskip("axe_core_python")
    page.go("?row=all")
    first, exam = page.names()[0], options_value(page, 2)
    for scheme in ("light", "dark"):
        set_scheme(page.browser, scheme)
        for query in (f"?f=intervention%3ASM&case={first}", "?tab=confusion&row=all",
                      f"?set={exam}&q=door&case=000000%3AQ5+std"):  # fmt: skip
            page.go(query)
            if "case" in query:
                wait(lambda: page.all("#case .answer"), "the case")
            assert serious_problems(page.browser, scheme) == [], query
    set_scheme(page.browser, "")


@pytest.mark.parametrize("width", [390, 834])
def test_small_screens_have_no_sideways_scroll(page: Page, width: int) -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": True}
    page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        for query in ("?row=all", "?row=all&tab=confusion"):
            page.go(query)
            assert (
                page.browser.execute_script("return document.documentElement.scrollWidth") <= width
            )
        page.go("?row=all")
        page.click(".entries .name")
        wait(lambda: page.all("#case .answer"), "the case")
        box = page.find("#case").rect
        assert box["x"] >= 0 and box["width"] <= width
    finally:
        page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
