"""The review in a real browser, by real keys: decisions, undo, corrections, masks, protocols."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.desk.parts import (
    EVIL,
    cut_off,
    hosted,
    make_item,
    make_review,
    serious_problems,
    served,
    set_scheme,
    wait,
)

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("selenium")

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from tests.desk.screen import Screen, decisions

from groundfault.building.review import settle, write_items
from groundfault.building.review_rules import load_protocols
from groundfault.web.review.desk import open_desk

pytestmark = pytest.mark.usefixtures("no_complaints")


def test_a_whole_cafe_review_by_keys(browser: Any, tmp_path: Path) -> None:
    make_review(tmp_path, 3)
    with hosted(tmp_path, overlap=1) as desk:
        screen = Screen(browser, desk)
        while not screen.is_at_end:
            item, stage = screen.now
            if (item, stage) == ("case-1", "cross-check"):
                screen.go_on("1", "6", "r")
            else:
                screen.go_on("a")
        screen.wait_saved()
    found = decisions(tmp_path)
    assert [d.stage for d in found].count("cross-check") == 3
    assert all(d.seconds > 0 for d in found)
    [no] = [d for d in found if d.verdict == "reject"]
    assert (no.item_id, no.reasons) == ("case-1", ("artefact", "CC-1"))
    cafe = load_protocols(["cafe"], overlap=1)["cafe"]
    with_desk = open_desk(tmp_path, overlap=1)
    states = [
        settle(with_desk.items.record(item), [d for d in found if d.item_id == item], cafe).state
        for item in with_desk.items
    ]
    with_desk.close()
    assert states == ["accepted", "rejected", "accepted"]


def test_undo_of_any_depth_with_decisions_in_flight(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_review(tmp_path, 6, protocol="halluseg")
    with hosted(tmp_path) as desk:
        screen = Screen(browser, desk)
        answering, do = threading.Event(), desk.desk.assignments.do
        monkeypatch.setattr(
            desk.desk.assignments, "do", lambda *work: answering.wait() and do(*work)
        )  # no answer comes before the last key
        screen.go_on("a")
        screen.go_on("a")
        screen.go_on("a")
        assert screen.now[0] == "case-3"
        assert int(screen.data("waiting")) > 0
        screen.go_on("z")
        assert screen.now[0] == "case-2"  # one back, not two
        screen.go_on("z")
        assert screen.now[0] == "case-1"
        screen.go_on("1", "r")
        answering.set()
        screen.wait_saved()
        assert screen.now[0] == "case-2"
        while not screen.is_at_end:
            screen.go_on("a")
        screen.wait_saved()
    found = decisions(tmp_path)
    standing = {d.item_id: d.verdict for d in found if not d.undone}
    expected = {f"case-{k}": "reject" if k == 1 else "accept" for k in range(6)}
    assert standing == expected
    assert [d.item_id for d in found if d.undone] == ["case-1", "case-2"]


def test_undo_goes_on_after_the_page_was_opened_again(browser: Any, tmp_path: Path) -> None:
    make_review(tmp_path, 3, protocol="halluseg")
    with hosted(tmp_path) as desk:
        screen = Screen(browser, desk)
        screen.go_on("a")
        screen.go_on("a")
        screen.wait_saved()
        browser.refresh()
        wait(lambda: screen.now[0] == "case-2", "where one left off")
        screen.go_on("z")
        assert screen.now[0] == "case-1"
        screen.go_on("z")
        assert screen.now[0] == "case-0"


def test_what_is_decided_without_a_connection_is_sent_later(browser: Any, tmp_path: Path) -> None:
    make_review(tmp_path, 4, protocol="halluseg")
    with hosted(tmp_path) as desk:
        screen = Screen(browser, desk)
        wait(lambda: len(browser.execute_script(FETCHED)) >= 8, "pictures fetched beforehand")
        cut_off(browser)
        screen.go_on("a")
        screen.go_on("r")
        wait(lambda: "not saved yet" in screen.text("#saved"), "a word about it")
        assert decisions(tmp_path) == []
        cut_off(browser, False)
        screen.wait_saved()
        assert [d.verdict for d in decisions(tmp_path)] == ["accept", "reject"]


def test_what_a_closed_tab_could_not_send_another_one_sends(browser: Any, tmp_path: Path) -> None:
    make_review(tmp_path, 4, protocol="halluseg")
    with hosted(tmp_path) as desk:
        screen = Screen(browser, desk)
        screen.go_on("a")
        screen.wait_saved()
        first = browser.current_window_handle
        browser.switch_to.new_window("tab")
        second = browser.current_window_handle
        browser.get(desk.base)
        wait(lambda: screen.now[0] == "case-1", "where one left off")
        browser.switch_to.window(first)
        cut_off(browser)
        screen.go_on("r")  # case-1, which is kept in this browser
        browser.switch_to.window(second)
        screen.go_on("z")  # case-0, which is sent at once
        screen.wait_saved()
        browser.switch_to.window(first)
        browser.close()
        browser.switch_to.window(second)
        assert len(decisions(tmp_path)) == 1
        browser.refresh()
        wait(lambda: len(decisions(tmp_path)) == 2, "what the other tab had left")
    found = [(d.item_id, d.verdict, d.undone) for d in decisions(tmp_path)]
    assert found == [("case-0", "accept", True), ("case-1", "reject", False)]


def test_a_killed_server_loses_nothing_and_the_page_goes_on(browser: Any, tmp_path: Path) -> None:
    make_review(tmp_path, 4, protocol="halluseg")
    with served(tmp_path) as desk:
        port = desk.base.rpartition(":")[2]
        screen = Screen(browser, desk)
        screen.go_on("a")
        screen.wait_saved()
        desk.kill()
        screen.go_on("r")
        wait(lambda: "not saved yet" in screen.text("#saved"), "a word about it")
    with served(tmp_path, "--port", port):
        screen.wait_saved()
    assert [d.verdict for d in decisions(tmp_path)] == ["accept", "reject"]


def test_texts_are_corrected_in_place_and_both_versions_kept(browser: Any, tmp_path: Path) -> None:
    make_review(tmp_path, 1)
    with hosted(tmp_path, overlap=1) as desk:
        screen = Screen(browser, desk)
        screen.go_on("a")
        screen.press("e")
        screen.press(Keys.CONTROL + "a")
        screen.press("grey elephant arz", Keys.ENTER)  # letters that are keys elsewhere
        assert screen.text(".text.positive .was") == "was: elephant"
        screen.press("c")
        screen.press("looks fine", Keys.ESCAPE, "f")
        screen.go_on("a") if not screen.is_at_end else None
        screen.wait_saved()
        assert screen.is_at_end  # flagged: an adjudicator has the word
        browser.get(desk.base + "/adjudication")
        wait(lambda: screen.is_shown, "the flagged item")
        assert screen.now == ("case-0", "adjudication:detail")
        assert "grey elephant arz" in screen.text(".opinions")
        assert "looks fine" in screen.text(".opinions")
        screen.go_on("a")
        screen.wait_saved()
    detail, ruling = decisions(tmp_path)[1:]
    assert detail.texts == {"positive": "grey elephant arz"}
    assert (detail.comment, detail.flagged) == ("looks fine", True)
    assert ruling.stage == "adjudication:detail"


FETCHED = """
return performance.getEntriesByType("resource").filter(e => /picture/.test(e.name) && e.responseEnd)
"""
REACHED = """
return [...document.querySelectorAll("button, input, textarea, select, a, [tabindex]")]
  .filter(e => e.checkVisibility() && e.tabIndex >= 0)
  .map(e => e.getAttribute("aria-label") || e.labels?.[0]?.textContent || e.textContent)
"""


def test_questions_are_corrected_and_checked_in_place(browser: Any, tmp_path: Path) -> None:
    make_review(tmp_path, 1, protocol="reactbench")
    with hosted(tmp_path) as desk:
        screen = Screen(browser, desk)
        screen.go_on("a")
        assert screen.now == ("case-0", "questions")
        option = screen.find('[aria-label="Q9: option A"]')
        option.clear()
        option.send_keys("a dog", Keys.ESCAPE)
        screen.press("a")
        wait(lambda: "the same" in screen.text(".questions"), "what is wrong with it")
        assert not screen.is_at_end
        option = screen.find('[aria-label="Q9: option A"]')
        option.clear()
        option.send_keys("five wheels", Keys.ESCAPE)
        screen.find('[aria-label="Q9: A is right"]').click()
        screen.find("#stage").click()
        screen.go_on("a")
        screen.wait_saved()
    last = decisions(tmp_path)[-1]
    assert last.questions is not None
    assert last.questions[2].options[0] == "five wheels"
    assert last.questions[2].reference == "A"
    assert last.questions[0].query == "Are there wheels?"


def test_the_warm_up_tells_what_was_right(browser: Any, tmp_path: Path) -> None:
    make_review(tmp_path, 1, protocol="halluseg", gold=2)
    with hosted(tmp_path) as desk:
        screen = Screen(browser, desk)
        assert screen.now[1] == "warm-up"
        screen.press("r")  # it is a good one
        wait(lambda: "known to be good" in screen.text("#feedback"), "feedback")
        assert screen.now[0] == "case-0"
        screen.go_on(Keys.ENTER)
        screen.go_on("r")
        assert screen.text("#said").startswith("Right")
        assert screen.now == ("case-2", "check")
        screen.go_on("a")
        screen.wait_saved()
    assert [d.stage for d in decisions(tmp_path)] == ["warm-up", "warm-up", "check"]


def test_skipped_items_come_again_when_asked_for(browser: Any, tmp_path: Path) -> None:
    make_review(tmp_path, 2, protocol="halluseg")
    with hosted(tmp_path) as desk:
        screen = Screen(browser, desk)
        screen.go_on("s")
        screen.go_on("a")
        wait(lambda: browser.find_elements(By.CSS_SELECTOR, "#veil button"), "the way back")
        screen.find("#veil button").click()
        wait(lambda: screen.now[0] == "case-0", "the skipped item")
        screen.go_on("a")
        screen.wait_saved()
    assert [d.verdict for d in decisions(tmp_path)] == ["skip", "accept", "accept"]


def test_hostile_texts_are_shown_as_text(browser: Any, tmp_path: Path) -> None:
    texts = {"positive": EVIL, "negative": EVIL, EVIL: EVIL}
    item = make_item(tmp_path, 0, "halluseg", 64, texts=texts, kind=EVIL, checks={EVIL: EVIL})
    write_items(tmp_path, [item])
    with hosted(tmp_path) as desk:
        screen = Screen(browser, desk)
        assert screen.text("#kind") == EVIL
        assert EVIL in screen.text(".text.other p")
        assert screen.find(".text.positive input").get_attribute("value") == EVIL
        assert browser.execute_script("return document.querySelectorAll('main img').length") == 0
        assert "Review" in browser.title
        screen.press("c")
        screen.press(EVIL, Keys.ESCAPE, "f")
        screen.go_on("a")
        screen.wait_saved()
        browser.get(desk.base + "/adjudication")
        wait(lambda: screen.is_shown, "the flagged item")
        assert EVIL in screen.text(".opinions")
        browser.get(desk.base + "/overview")
        wait(lambda: screen.data("ready"), "the overview")
        assert browser.execute_script("return document.querySelectorAll('main img').length") == 0


def test_owners_invite_people_who_join_under_their_names(browser: Any, tmp_path: Path) -> None:
    make_review(tmp_path, 2, protocol="halluseg")
    with hosted(tmp_path) as desk:
        screen = Screen(browser, desk)
        browser.get(desk.base + "/overview")
        wait(lambda: screen.data("ready"), "the overview")
        screen.find("#invite button").click()
        link = wait(lambda: browser.find_elements(By.CSS_SELECTOR, "#link code"), "a link")[0].text
        browser.delete_all_cookies()
        browser.get("about:blank")
        browser.get(link)
        wait(lambda: screen.find("#name").is_displayed(), "who are you")
        screen.find("#name").send_keys(f"Zoë {EVIL}", Keys.ENTER)
        wait(lambda: screen.is_shown, "the first item")
        assert EVIL in screen.text(".me")
        assert browser.find_elements(By.LINK_TEXT, "Overview") == []
        assert "#" not in browser.current_url
        screen.go_on("a")
        screen.wait_saved()
    assert decisions(tmp_path)[0].reviewer == f"Zoë {EVIL}"


def test_a_link_opened_on_the_page_that_asks_for_one_lets_in(browser: Any, tmp_path: Path) -> None:
    make_review(tmp_path, 1, protocol="halluseg")
    with hosted(tmp_path) as desk:
        browser.get(desk.base)  # without a session
        wait(lambda: "Open the link" in browser.find_element(By.ID, "said").text, "what to do")
        browser.get(f"{desk.base}/join#%E0%A4%A")  # no text at all
        wait(lambda: "not valid" in browser.find_element(By.ID, "said").text, "a refusal")
        Screen(browser, desk)
        assert "#" not in browser.current_url


def test_nothing_serious_for_axe_in_light_and_dark(browser: Any, tmp_path: Path) -> None:
    pytest.importorskip("axe_core_python")
    items = [make_item(tmp_path, k, "cafe", 64) for k in range(2)]
    items.append(make_item(tmp_path, 3, "reactbench", 64))
    write_items(tmp_path, items)
    ready = {"/": "item", "/overview": "ready", "/adjudication": "end", "/join": ""}
    with hosted(tmp_path, overlap=1) as desk:
        screen = Screen(browser, desk)
        for scheme in ("light", "dark"):
            set_scheme(browser, scheme)
            for path, name in ready.items():
                browser.get(desk.base + path)
                wait(lambda name=name: not name or screen.data(name), f"{path} ready")
                assert serious_problems(browser, scheme) == [], path
        set_scheme(browser, "")
        browser.get(desk.base)
        wait(lambda: screen.is_shown, "an item")
        while screen.now[1] != "questions":
            screen.go_on("a")
        assert serious_problems(browser, "light") == []
        screen.press("?")
        assert serious_problems(browser, "light") == []


def test_everything_is_reached_by_the_tab_key_and_named(browser: Any, tmp_path: Path) -> None:
    make_review(tmp_path, 1)
    with hosted(tmp_path) as desk:
        screen = Screen(browser, desk)
        names = browser.execute_script(REACHED)
        assert all(name.strip() for name in names)
        seen = set()
        screen.find("body").send_keys(Keys.HOME)
        for _ in range(len(names) + 3):
            screen.press(Keys.TAB)
            seen.add(browser.execute_script("return document.activeElement.outerHTML"))
        assert len(seen) >= len(names)


def test_the_json_of_a_request_is_what_the_contract_says(tmp_path: Path) -> None:
    make_review(tmp_path, 1, protocol="halluseg")
    desk = open_desk(tmp_path)
    shown = desk.database.call(lambda rows: desk.assignments.queue(rows, "a"))[0]
    desk.close()
    sent = json.loads(msgspec.json.encode(shown))
    assert sent["item"]["gold"] is None
    assert {"item", "stage", "rules", "place", "original", "feedback"} == set(sent)
