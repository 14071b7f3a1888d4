"""The report of POPE: questions beside their pictures, and what it says where they are gone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tests.conftest import Ran
from tests.test_report_page import choose, chromium, page_of

from groundfault.reports.page.exam_answers import material_of
from groundfault.reports.page.exam_cards import Cards, make_cards, shown_questions
from groundfault.reports.page.inputs import chapters, load_runs
from groundfault.reports.page.pictures import Pictures

pytest.importorskip("jinja2")

EVIL = "<script>alert(1)</script>"


@pytest.fixture
def runs(run: Callable[..., Ran], tmp_path: Path) -> list[Path]:
    """Two runs over 4 pictures, each with a thing that is there and one that is not."""
    images = tmp_path / "pictures"
    images.mkdir()
    for k in range(4):
        Image.new("RGB", (60, 40), (60 * k, 120, 90)).save(images / f"{k}.jpg")
    questions = tmp_path / "questions"
    questions.mkdir()
    for setting in ("random", "adversarial"):
        lines = [
            {
                "question_id": k,
                "image": f"{k // 2}.jpg",
                "text": f"Is there a {EVIL if k == 1 else 'thing'} {k} in the image?",
                "label": ("yes", "no")[k % 2],
            }
            for k in range(8)
        ]
        text = "\n".join(map(json.dumps, lines))
        (questions / f"coco_pope_{setting}.json").write_text(text)
    out = tmp_path / "runs"
    replies = tmp_path / "model.jsonl"
    said = [
        {"item_id": f"{setting}:{k}", "mode": "std", "text": "Hard to say" if k == 2 else "No."}
        for setting in ("random", "adversarial")
        for k in range(8)
    ]
    replies.write_text("\n".join(map(json.dumps, said)))
    models = ("--model", "always-yes", "--model", f"replay:{replies}")
    ran = run("eval", questions, "--images", images, *models, "--out", out, "--bootstrap", 20)
    assert ran.code == 0, ran.err
    return sorted(folder for folder in out.iterdir() if folder.is_dir())


def cards_of(runs: list[Path], max_cases: int) -> Cards:
    [chapter] = chapters(load_runs(runs))
    asked = shown_questions(chapter, material_of(chapter))
    return make_cards([asked], max_cases=max_cases, pictures=Pictures())


def test_every_split_and_truth_is_shown_with_picture_answer_and_truth(runs: list[Path]) -> None:
    cards = cards_of(runs, 4)
    assert len(cards.cards) == 4 and (cards.n_wrong, cards.n_asked) == (16, 16)
    slots = {(card.dimension, card.truth) for card in cards.cards}
    assert slots == {(s, t) for s in ("random", "adversarial") for t in ("yes", "no")}
    assert all(len(card.seen) == 1 and card.yes_no == card.truth for card in cards.cards)
    for card in cards_of(runs, 100).cards:
        model, habit = card.said
        assert (habit.run, habit.reading or habit.text) == ("always-yes", "Yes.")
        assert (habit.verdict == "right") == (card.truth == "yes")
        if card.number == 2:
            assert model.outcome == "unparsed" and "neither yes nor no" in model.reason
        else:
            assert (model.verdict == "right") == (card.truth == "no")


def test_what_the_model_got_wrong_comes_before_what_a_baseline_did(runs: list[Path]) -> None:
    truths = [card.truth for card in cards_of(runs, 100).cards]
    assert truths == ["yes"] * 8 + ["no"] * 8, "the model says no, the baseline yes"


def test_the_page_has_filters_and_foreign_words_stay_words(
    runs: list[Path], tmp_path: Path
) -> None:
    page = page_of(runs, tmp_path / "report.html")
    assert "Answers beside their pictures" in page.text and "Worst cases" not in page.text
    assert EVIL in page.text and EVIL not in page.source
    for name in ("run", "dimension", "truth", "verdict", "outcome"):
        assert f'<select name="{name}">' in page.source
    assert "Split" in page.text and 'data-picture="0"' in page.source
    assert "beyond chance" not in page.text, "one model alone is ahead of nobody"


def test_where_files_are_gone_the_numbers_stay_and_the_page_says_so(
    runs: list[Path], tmp_path: Path
) -> None:
    moved = tmp_path / "moved"
    (tmp_path / "pictures").rename(moved)
    page = page_of(runs, tmp_path / "1.html")
    assert "No single answers" in page.text and "--images" in page.text and "F1" in page.text
    assert 'data-picture="0"' in page_of(runs, tmp_path / "2.html", images_from=moved).source
    file = tmp_path / "questions" / "coco_pope_random.json"
    file.write_text(file.read_text().replace("thing 3", "thing 33"))
    page = page_of(runs, tmp_path / "3.html", images_from=moved)
    assert "has other questions than this run was asked" in page.text
    shutil.rmtree(tmp_path / "questions")
    assert "No single answers" in page_of(runs, tmp_path / "4.html", images_from=moved).text


def test_split_and_truth_choose_questions(runs: list[Path], tmp_path: Path) -> None:
    def shown(browser: Any) -> list[str]:
        script = "return [...document.querySelectorAll('#answer-cards .card:not([hidden]) .id')]"
        found: list[str] = browser.execute_script(f"{script}.map(e => e.textContent)")
        return sorted(found)

    page_of(runs, tmp_path / "report.html")
    with chromium(tmp_path / "profile") as browser:
        browser.get((tmp_path / "report.html").as_uri())
        assert len(shown(browser)) == 16
        choose(browser, "dimension", "adversarial", "answer-filters")
        choose(browser, "truth", "no", "answer-filters")
        assert shown(browser) == [f"{k // 2}.jpg adversarial:{k}" for k in (1, 3, 5, 7)]
        choose(browser, "outcome", "unparsed", "answer-filters")
        assert shown(browser) == []
        assert browser.get_log("browser") == []
