"""All three protocols from `build` over real keys to the release, as somebody would do it: build,
review in the browser, export, build again with what was decided."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.building.photographs import write_set
from tests.desk.parts import served, wait

import groundfault as gf

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("selenium")

from selenium.webdriver.common.keys import Keys
from tests.desk.screen import Screen

from groundfault.building.review import Decision, read_decisions, read_items
from groundfault.io.masks import decode
from groundfault.protocols.words import expected

pytestmark = pytest.mark.usefixtures("no_complaints")
PETS = {"dog": (190, 40, 40), "cat": (60, 60, 190)}
MIXED = {"bus": (190, 40, 40), "dog": (110, 70, 40)}
Build = Callable[..., list[str]]


@pytest.fixture
def build(run: Any, tmp_path: Path) -> Build:
    """`groundfault build NAME` from drawn photographs, with these options besides."""

    def build(name: str, things: dict[str, Any], *options: object) -> list[str]:
        place = tmp_path / "set"
        if not place.exists():
            write_set(place, 9 if name == "halluseg" else 3, things)
        source = ("--annotations", place / "instances.json", "--images", place / "images")
        ran = run("build", name, *source, "--out", tmp_path / "out", "--limit", 12, *options)
        assert ran.code == 0, ran.err
        return [item.id for item in read_items(tmp_path / "out")]

    return build


def review(browser: Any, folder: Path, decide: Callable[[Screen], None]) -> None:
    """One person goes through everything, by `groundfault review`."""
    with served(folder, "--overlap", 1) as desk:
        screen = Screen(browser, desk)
        while not screen.is_at_end:
            decide(screen)
        screen.wait_saved()


def released(run: Any, build: Build, name: str, things: Any, out: Path) -> list[Decision]:
    """Export what was decided, and build on with it; every decision."""
    file = out / "decisions.parquet"
    assert run("review", out, "--export", file).code == 0
    build(name, things, "--review", file)
    return read_decisions(file)


def test_cafe(browser: Any, run: Any, build: Build, tmp_path: Path) -> None:
    """Three stages; the second corrects p⁻, in the third one is rejected."""
    things, out = {"bus": (150, 110, 90), "cat": (150, 110, 90)}, tmp_path / "out"
    offered = build("cafe", things, "--stage", "review")
    rejected: set[str] = set()

    def decide(screen: Screen) -> None:
        item, stage = screen.now
        if stage == "cross-check" and not rejected:
            rejected.add(item)
            screen.go_on("2", "r")
            return
        if stage == "detail":
            screen.press("e", Keys.TAB, Keys.CONTROL + "a", f"corrected {item}", Keys.ENTER)
        screen.go_on("a")

    review(browser, out, decide)
    made = released(run, build, "cafe", things, out)
    found = gf.load(out / "release")
    kept = set(offered) - rejected
    assert {case.id for case in found.cases} == kept and len(kept) >= 2
    assert {i.query for i in found.items if not i.present} == {f"corrected {k}" for k in kept}
    assert {d.stage for d in made} == {"screening", "detail", "cross-check"}
    assert gf.evaluate(found, "oracle", out=tmp_path / "run").summary.outcomes["failed"] == 0


def test_halluseg(browser: Any, run: Any, build: Build, tmp_path: Path) -> None:
    """Four corners; one c′ is corrected, one mask touched up, one replacement rejected."""
    out = tmp_path / "out"
    offered = build("halluseg", PETS, "--stage", "review")
    before = {item.id: item for item in read_items(out)}
    renamed, painted, rejected = offered[:3]

    def decide(screen: Screen) -> None:
        item, stage = screen.now
        assert stage == "check" and screen.captions == [
            f"original: “{before[item].texts['positive']}” is here",
            f"original: no “{before[item].texts['negative']}”",
            f"edited: no “{before[item].texts['positive']}”",
            f"edited: “{before[item].texts['negative']}” is here",
        ]
        if item == rejected:
            screen.go_on("2", "5", "r")
            return
        if item == renamed:
            screen.press("e", Keys.TAB, Keys.CONTROL + "a", "large box", Keys.ENTER)
        if item == painted:
            screen.press("b")
            screen.drag((-230, -170), (-200, -170))
            screen.press("m")
        screen.go_on("a")

    review(browser, out, decide)
    made = {d.item_id: d for d in released(run, build, "halluseg", PETS, out)}
    found = gf.load(out / "release")
    assert {case.id for case in found.cases} == set(offered) - {rejected}
    assert made[rejected].reasons == ("old-present", "artefact")
    queries = {i.query for i in found.items if i.case_id == renamed}
    assert queries == {before[renamed].texts["positive"], "large box"}
    touched, old = made[painted].mask, before[painted].mask_after
    assert touched is not None and old is not None
    assert decode(touched).sum() > decode(old).sum()
    masks = [each.mask for i in found.items if i.case_id == painted for each in i.regions]
    assert touched in masks and old not in masks
    assert gf.evaluate(found, "oracle", out=tmp_path / "run").summary.outcomes["failed"] == 0


def test_reactbench(browser: Any, run: Any, build: Build, tmp_path: Path) -> None:
    """The picture, then its questions: what is wrong with a correction is said before it counts,
    and a question has its new words about both pictures."""
    out, words = tmp_path / "out", "By your own eyes, is it so?"
    offered = build("reactbench", MIXED, "--stage", "review")
    corrected, rejected = offered[:2]

    def decide(screen: Screen) -> None:
        item, stage = screen.now
        if (item, stage) == (rejected, "picture"):
            screen.go_on("3", "r")
            return
        if (item, stage) == (corrected, "questions"):
            refused(screen, "the question is empty", lambda: screen.retype("Q1: question", " "))
            screen.retype("Q1: question", words)
            screen.retype("Q5: answer, edited", "Green.")
            screen.retype("Q5: how it is judged, edited", "Right: says green.")
            refused(screen, "same key for both pictures", lambda: another_key(screen))
            another_key(screen)
        screen.go_on("a")

    def another_key(screen: Screen) -> None:
        screen.tab_to("Q9: [A-D] is right, edited")
        screen.press(Keys.ARROW_UP)

    def refused(screen: Screen, problem: str, change: Callable[[], None]) -> None:
        change()
        screen.press("a")
        wait(lambda: problem in screen.text(".questions"), problem)
        assert screen.now == (corrected, "questions")
        screen.press(Keys.ESCAPE)

    review(browser, out, decide)
    made = released(run, build, "reactbench", MIXED, out)
    found = gf.load(out / "release")
    of_case = {case.id for case in found.cases}
    assert of_case == {
        f"{name}{twin}" for name in set(offered) - {rejected} for twin in ("", "-twin")
    }
    said = {item.id: (item.query, expected(item).reference) for item in found.items}
    assert said[f"{corrected}:Q1"][0] == said[f"{corrected}-twin:Q1"][0] == words
    assert said[f"{corrected}:Q5"][1] == "Green."
    keys = [said[f"{name}:Q9"][1] for name in (corrected, f"{corrected}-twin")]
    assert keys[0] != keys[1]
    [change] = [d for d in made if d.questions is not None]
    before = {item.id: item for item in read_items(out)}[corrected]
    assert change.item_id == corrected and before.questions[0].query != words
    assert gf.evaluate(found, "oracle", out=tmp_path / "run").summary.outcomes["failed"] == 0
