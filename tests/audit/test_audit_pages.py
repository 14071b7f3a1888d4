"""The page of an audit in a browser, and its runs in explore."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.audit.scripted import Scripted, write_pictures
from tests.test_report_page import chromium

import groundfault as gf

pytest.importorskip("jinja2")

HOSTILE = "<img src=x onerror=document.title='taken'>"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """An audit with hostile phrases, titles and file names."""
    folder = tmp_path_factory.mktemp("audit")
    images = write_pictures(folder / "photographs", (0, 1, 2))
    (images / "0.png").rename(images / f"{HOSTILE}.png")
    script = {(0, HOSTILE): [(0, 32, 0.9)], (0, "a"): [(0, 32, 0.8)], (1, "a"): [(0, 16, 0.4)]}
    phrases = {"title": HOSTILE, "exclusive": [[HOSTILE, "a"]], "absent": ["</script>"]}
    models = [Scripted(script), "random:3"]
    return gf.audit(images, phrases, models, folder / "out", counterfactuals=0, bootstrap=100)


def test_the_page_in_a_browser(found: Any, tmp_path: Path) -> None:
    if shutil.which("chromium") is None:
        pytest.skip("no chromium")
    with chromium(tmp_path / "profile") as browser:
        browser.get(found.page.as_uri())
        assert browser.title.startswith(HOSTILE)  # as text, and nothing has run
        assert "taken" not in browser.title.replace(HOSTILE, "")
        cards = browser.find_elements("css selector", "#cases .card")
        assert cards and HOSTILE in cards[0].text and "accepted: 0.80" in cards[0].text
        assert browser.find_elements("css selector", "#cases image[href^='data:image/jpeg']")
        top = [
            browser.find_element("id", name).location["y"] for name in ("gallery", "audit-along-t")
        ]
        assert top == sorted(top)  # pictures first
        browser.set_window_size(390, 800)
        wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert browser.execute_script(wide) <= 0
        assert browser.get_log("browser") == []


def test_every_photograph_is_seen_before_one_is_seen_again(tmp_path: Path) -> None:
    from groundfault.reports.page.gallery import make_gallery
    from groundfault.reports.page.inputs import chapters, load_runs
    from groundfault.reports.page.pictures import Pictures
    from groundfault.reports.page.sources import Sources

    images = write_pictures(tmp_path / "photographs", (0, 1, 2))
    phrases = {"exclusive": [["a", "b", "c", "d"]]}  # six pairs
    script = {(n, p): [(0, 32, 0.9 - 0.1 * n)] for n in range(3) for p in "abcd"}
    options = {"stability": 0, "counterfactuals": 0, "bootstrap": 0, "page": False}
    found = gf.audit(images, phrases, Scripted(script), tmp_path / "out", **options)
    runs = load_runs([result.folder for result in found.results.values()])
    gallery = make_gallery(chapters(runs), sources=Sources(), max_cases=12, pictures=Pictures())
    order = [example.case_id for example in gallery.examples]
    assert len(order) == 12
    assert [{*order[k : k + 3]} for k in (0, 3, 6, 9)] == [{"0.png", "1.png", "2.png"}] * 4


def test_explore_knows_comparisons(found: Any) -> None:
    pytest.importorskip("starlette")
    from groundfault.reports.page.inputs import load_runs
    from groundfault.reports.page.sources import Sources
    from groundfault.web.explore.board import OWN, Material
    from groundfault.web.explore.comparisons import ComparisonBoard

    runs = load_runs([result.folder for result in found.results.values()])
    board = ComparisonBoard(Material(tuple(runs), Sources()))
    ends = board.ends(OWN)[0]["answers"].tolist()
    wrong = [k for k, end in enumerate(ends) if end == 1]
    [place] = [k for k in wrong if board.asked(k)[0].role == "either"]
    first, second = board.asked(place)  # the one pair that contradicts itself
    assert {first.role, second.role} == {"either", "or"}
    assert {first.words, second.words} == {HOSTILE, "a"}
    assert "accepted: 0.80" in board.said(0, place)["answers"]
    assert -1 in ends  # nothing was accepted: not judged
