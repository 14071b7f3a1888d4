"""The report of exams: what it says, that foreign words stay words, how it behaves in a browser."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
from PIL import Image
from tests.test_report_page import (
    Page,
    choose,
    chromium,
    page_of,
    score_example,
    wait_until,
    width_on_a_phone,
)

from groundfault.analysis.summary import read_results, summarise, write_results
from groundfault.benchmarks import reactbench
from groundfault.benchmarks.reactbench import LAYOUT, Question, Sample, Task, rows_of
from groundfault.errors import UsageError
from groundfault.protocols import exam as scoring
from groundfault.records import MODES, Benchmark, Mode, Outcome, Prediction
from groundfault.reports.page import exam_cards, write_figures, write_report
from groundfault.reports.page.exam_answers import material_of
from groundfault.reports.page.exam_cards import make_cards, shown_questions
from groundfault.reports.page.inputs import chapters, load_runs
from groundfault.reports.page.pictures import Pictures
from groundfault.runs.recorder import read_predictions
from groundfault.runs.run import Grader, Run, write_run
from groundfault.runs.shards import write_shard

pytest.importorskip("jinja2")

EVIL = '<script>alert("x")</script>'
SIDE_PX = 64
PER_TASK = 3
FACTS: dict[Task, dict[str, str]] = {
    "erasure": {"erased": "lamp", "relation": "on", "kept": "table"},
    "attribute": {"object": "apple", "usual": "red", "shown": "blue"},
    "tracing": {"operation": "remove", "object": "dog", "location": "the left part"},
    "counting": {"object": "bee", "count": "20"},
}
RIGHT_OF_TEN = {"weak": 3, "strong": 8}


# ── runs to report on ──────────────────────────────────────────────────────────────────────────


def jpeg(number: int) -> bytes:
    out = BytesIO()
    Image.new("RGB", (SIDE_PX, SIDE_PX), (number * 9 % 256, 120, 160)).save(out, "JPEG")
    return out.getvalue()


def question_of(sample: Sample, number: int) -> Question:
    kind, dimension = LAYOUT[sample.task][number - 1]
    interval = dimension == "interval"
    words = {"YN": ("no", "yes")[number % 2], "SA": "Nothing at all.", "MC": "ABCD"[number % 4]}
    if sample.task == "counting" and kind == "SA":
        words["SA"] = "18-22" if interval else "20"
    options: tuple[str, ...] = ("one", "two", "three", "four")
    if sample.task == "counting":
        options = ("18-22", "1-3", "5-7", "30-33") if interval else ("5", "9", "12", "20")
    evil = sample.id == "erasure0" and number == 1
    turned = sample.task == "tracing" and number % 2 == 0
    return Question(
        id=f"{sample.id}:Q{number}",
        sample_id=sample.id,
        number=number,
        type=kind,
        dimension=dimension,
        text=f"What of {sample.id}, asked the {number}th time?{' ' + EVIL if evil else ''}",
        options=options if kind == "MC" else (),
        answer=words[kind],
        rubric="Says that there is none." if kind == "SA" else "",
        polarity="" if kind != "YN" else "negated" if turned else "affirmed",
    )


def written_exam(folder: Path) -> Benchmark:
    samples, questions, pictures = [], [], {}
    for task in LAYOUT:
        for number in range(PER_TASK):
            name = f"{task}{number}"
            images = (f"{name}-1.jpg", f"{name}-2.jpg") if task == "tracing" else (f"{name}.jpg",)
            sample = Sample(
                id=name, task=task, images=images, height_px=SIDE_PX, width_px=SIDE_PX,
                facts=FACTS[task],
            )  # fmt: skip
            samples.append(sample)
            questions += [question_of(sample, k) for k in range(1, len(LAYOUT[task]) + 1)]
            pictures |= {image: jpeg(len(pictures) + k) for k, image in enumerate(images)}
    return reactbench.write_exam(folder, samples, questions, pictures)


def answer(question: Question, mode: Mode, model: str, k: int) -> Prediction:
    """Right as often as the model is good; one in 23 cannot be read, one in 37 fails."""
    right = (7 * k + len(mode)) % 10 < RIGHT_OF_TEN[model]
    known: dict[str, Any] = {"item_id": question.id, "mode": mode, "seconds": 0.5}
    if k % 37 == 5:
        return Prediction(outcome=Outcome.FAILED, reason="time-out", **known)
    if k == 4:
        refused = {"judge": "openai:judge", "judge_text": "refused: by a filter"}
        return Prediction(outcome=Outcome.OK, text="A", verdict="unjudged", **refused, **known)
    if k % 23 == 7:
        why = "says nothing that can be read as an answer"
        return Prediction(outcome=Outcome.UNPARSED, text="Hm.", reason=why, **known)
    other = {"yes": "no", "no": "yes", "20": "12", "18-22": "1-3", "A": "B"}
    said = question.answer if right else other.get(question.answer, "A")
    in_words = question.type == "SA" and not question.sample_id.startswith("counting")
    wrong_thought = mode == "cot" and not right
    return Prediction(
        outcome=Outcome.OK,
        text=f"I look.\nI think. {EVIL} Final answer: {said}" if mode == "cot" else said,
        parsed=said,
        verdict="right" if right else "wrong",
        judge="openai:judge" if in_words else "rule",
        judge_text=f"{'Right' if right else 'Wrong'}, says {EVIL}" if in_words else "",
        cause="SC1" if wrong_thought and model == "weak" else None,
        cause_by="openai:judge" if wrong_thought and model == "weak" else "",
        tokens_in=1000,
        tokens_out=20,
        cost=0.001,
        **known,
    )


def written_run(
    out: Path, exam: Benchmark, folder: Path, model: str, modes: tuple[Mode, ...] = MODES
) -> Path:
    rows = [
        answer(question, mode, model, k)
        for mode in modes
        for k, question in enumerate(rows_of(exam)[1])
    ]
    write_shard(out, 0, rows)
    scored = scoring.score(exam, rows)
    data = {"exam": exam.card.content_hash}
    write_results(out, scored, summarise(scored, bootstrap=50, seed=0, data=data))
    run = Run(
        model=f"openai:{model}", benchmark="reactbench", benchmark_folder=str(folder),
        content_hash=exam.card.content_hash, modes=modes, tokens_in=1000 * len(rows),
        tokens_out=20 * len(rows), cost=0.25, latency_s={"median": 0.5, "p95": 1.25},
        judged=Grader(
            name="openai:judge", prompt_hash="f00d", canaries=10, canaries_missed=1,
            warnings=("the judge was wrong about 1 of 10 canaries",), tokens=4321, cost=0.5,
            unjudged=1,
        ),
        attributed=Grader(name="openai:judge", tokens=1000, cost=0.25),
    )  # fmt: skip
    write_run(out, run)
    return out


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    where = tmp_path_factory.mktemp("exam")
    exam = written_exam(where / "exam")
    return [written_run(where / model, exam, where / "exam", model) for model in RIGHT_OF_TEN]


@pytest.fixture(scope="module")
def page(runs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Page:
    return page_of(runs, tmp_path_factory.mktemp("page") / "report.html")


def copied(run: Path, out: Path, **fields: Any) -> Path:
    shutil.copytree(run, out)
    stored = json.loads((out / "run.json").read_text())
    (out / "run.json").write_text(json.dumps(stored | fields))
    return out


# ── what the page says ─────────────────────────────────────────────────────────────────────────


def test_the_page_is_complete_and_loads_nothing(page: Page) -> None:
    assert all(re.match(r"#|data:", link) for link in page.links)
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
    for title in (
        "Who stands where?", "By task, question type and dimension", "Does thinking aloud help?",
        "Question by question", "Habits of answering", "Why were the answers wrong?",
        "Answers beside their pictures",
    ):  # fmt: skip
        assert title in page.text
    assert "Worst cases" not in page.text
    assert "score is at least t" not in page.text  # thresholds are for masks


def test_numbers_stand_with_intervals_and_published_rows(runs: list[Path], page: Page) -> None:
    found = read_results(runs[1])[0].rows["Overall"].metrics
    for metric in ("react_score", "react_score_plain", "accuracy_std", "accuracy_cot", "SA"):
        estimate = found[metric]
        assert estimate.value is not None
        assert estimate.low is not None
        assert f"{100 * estimate.value:.1f} {100 * estimate.low:.1f} –" in page.text, metric
    assert "openai:strong reaches a React-Score of" in page.text
    assert "openai:strong leads on React-Score, beyond chance" in page.text
    assert "Qwen3VL-32B-Instruct" not in page.text


def test_what_it_took_and_who_judged(page: Page) -> None:
    n = 2 * PER_TASK * sum(map(len, LAYOUT.values()))
    assert f"{1000 * n:,} {20 * n:,} 0.25 0.50 s 1.25 s openai:judge, rule 5,321 0.75" in page.text
    assert "judged by judges' tokens cost" in page.text
    assert "openai:weak: its judge left 1 answers unjudged" in page.text
    assert "answers failed and are left out" in page.text
    assert "openai:weak: the judge was wrong about 1 of 10 canaries" in page.text
    assert "f00d" in page.text


def test_foreign_text_stays_text(page: Page) -> None:
    assert EVIL not in page.source
    assert f"asked the 1th time? {EVIL}" in page.text
    assert f"says {EVIL}" in page.text
    assert page.scripts == 3  # theme, pictures, behaviour
    assert "<img" not in page.source


def test_the_same_runs_give_the_same_bytes(runs: list[Path], page: Page, tmp_path: Path) -> None:
    assert page_of(runs, tmp_path / "again.html").source == page.source


def test_answers_stand_beside_question_and_truth(page: Page) -> None:
    assert "sub-cause SC1 Part-Whole Completion" in page.text
    assert "by openai:judge" in page.text
    assert "not read" in page.text
    assert "not judged by openai:judge refused: by a filter" in page.text
    assert "time-out" in page.text
    assert page.source.count('class="compare"') > 0
    assert re.search(r"A one B two C three D four", page.text.replace(" the truth", ""))


def test_causes_are_shown_only_where_somebody_named_them(runs: list[Path], tmp_path: Path) -> None:
    run = copied(runs[0], tmp_path / "old")
    rows = [msgspec.structs.replace(row, cause=None, cause_by="") for row in read_predictions(run)]
    write_shard(run, 0, rows)
    assert "Why were the answers wrong?" not in page_of([run], tmp_path / "report.html").text


def test_without_the_exam_the_numbers_stay(runs: list[Path], tmp_path: Path) -> None:
    gone = [copied(run, tmp_path / run.name, benchmark_folder="/gone") for run in runs]
    page = page_of(gone, tmp_path / "1.html")
    assert "is no longer there" in page.text
    assert "Who stands where?" in page.text
    assert "Question by question" not in page.text
    assert "there are no single answers to show" in page.text
    given = page_of(gone, tmp_path / "2.html", images_from=runs[0].parent / "exam")
    assert "Question by question" in given.text
    other = [copied(run, tmp_path / f"{run.name}2", content_hash="other") for run in runs]
    assert "has other questions" in page_of(other, tmp_path / "3.html").text


def test_a_damaged_exam_that_is_given_is_refused(runs: list[Path], tmp_path: Path) -> None:
    exam = Path(shutil.copytree(runs[0].parent / "exam", tmp_path / "exam"))
    (exam / "questions.parquet").unlink()
    with pytest.raises(UsageError, match=r"questions\.parquet"):
        write_report(runs, tmp_path / "report.html", images_from=exam)


def test_one_mode_and_one_run(runs: list[Path], tmp_path: Path) -> None:
    folder = runs[0].parent / "exam"
    alone = written_run(tmp_path / "std", reactbench.read(folder), folder, "strong", ("std",))
    page = page_of([alone], tmp_path / "1.html")
    assert "Does thinking aloud help?" not in page.text
    assert "Why were the answers wrong?" not in page.text
    both = page_of([runs[0], alone], tmp_path / "2.html")
    assert "Asked in one mode only: openai:strong" in both.text
    assert "one mode only" in both.source


def test_runs_that_store_scores_only(runs: list[Path], tmp_path: Path) -> None:
    bare = Path(shutil.copytree(runs[0], tmp_path / "bare"))
    (bare / "predictions-00000.parquet").unlink()
    assert "stores scores only" in page_of([bare, runs[1]], tmp_path / "1.html").text
    (bare / "run.json").unlink()
    assert "do not say where their exam is" in page_of([bare], tmp_path / "2.html").text


def test_beside_masks_each_keeps_its_own(runs: list[Path], tmp_path: Path) -> None:
    masks = score_example(tmp_path / "example", 20, bootstrap=20)
    page = page_of([*masks, *runs], tmp_path / "report.html", images_from=runs[0].parent / "exam")
    assert "Worst cases" in page.text
    assert "Answers beside their pictures" in page.text
    assert page.source.count('class="chapter"') == 2


# ── which answers, which figures ───────────────────────────────────────────────────────────────


def cards_of(runs: list[Path], max_cases: int) -> exam_cards.Cards:
    [chapter] = chapters(load_runs(runs))
    material = material_of(chapter)
    asked = shown_questions(chapter, material)
    return make_cards([asked], max_cases=max_cases, pictures=Pictures())


def test_the_worst_questions_of_every_slot_come_first(runs: list[Path]) -> None:
    slots = sum(map(len, LAYOUT.values()))
    cards = cards_of(runs, slots)
    severities = [card.severity for card in cards.cards]
    assert severities == sorted(severities, reverse=True)
    assert len({(card.task, card.number) for card in cards.cards}) == slots
    assert all(len(card.said) == 4 for card in cards.cards)
    assert {len(card.seen) for card in cards.cards if card.task == "tracing"} == {2}
    assert len(cards_of(runs, 5).cards) == 5
    assert cards.n_asked == PER_TASK * slots


def test_long_answers_keep_their_end(runs: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exam_cards, "TEXT_LETTERS", 100)
    monkeypatch.setattr(exam_cards, "LETTERS_EACH", (1000, 60))
    said = [said for card in cards_of(runs, 40).cards for said in card.said if said.left_out]
    assert said
    assert all(len(each.text) <= 63 for each in said)
    assert all("Final answer" in each.text for each in said if each.mode == "cot")


def test_figures_and_tables_are_files(
    runs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    written = {path.name: path for path in write_figures(runs, tmp_path)}
    for name in ("ranking-react_score", "radar", "cot", "questions-tracing", "yes", "letters-std"):
        path = written[f"reactbench-{name}.svg"]
        ElementTree.parse(path)
        assert "var(" not in path.read_text()
    radar = written["reactbench-radar.svg"].read_text()
    axes = ("Erasure", "Attribute", "Tracing", "Counting", "React-Score")
    assert all(f">{axis}<" in radar for axis in axes), "the five axes of the paper's Figure 3"
    assert "reactbench-causes-erasure.svg" in written
    for name in ("overall", "cot", "questions-counting", "positions", "causes"):
        latex = written[f"reactbench-table-{name}.tex"].read_text()
        assert r"\begin{tabular}" in latex
        assert "openai:strong" in latex or name == "causes"


# ── in a browser ───────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with chromium(tmp_path_factory.mktemp("chromium")) as started:
        yield started


@pytest.fixture
def opened(browser: Any, runs: list[Path], tmp_path: Path) -> Any:
    write_report(runs, tmp_path / "report.html")
    browser.get((tmp_path / "report.html").as_uri())
    return browser


def shown(browser: Any) -> list[str]:
    script = "return [...document.querySelectorAll('#answer-cards .card:not([hidden]) .id')]"
    found: list[str] = browser.execute_script(f"{script}.map(e => e.textContent)")
    return found


def pick(browser: Any, **values: str) -> None:
    for name, value in values.items():
        choose(browser, name, value, "answer-filters")


def test_it_opens_without_complaints(opened: Any) -> None:
    assert opened.get_log("browser") == []
    opened.execute_script("document.getElementById('answers').scrollIntoView()")
    filled = "return document.querySelectorAll('#answer-cards image[href^=data]').length"
    wait_until(lambda: opened.execute_script(filled) > 0)
    assert opened.get_log("browser") == []


def test_filters_choose_questions_and_dim_answers(opened: Any) -> None:
    everything = shown(opened)
    assert len(everything) == 40  # the first page of them
    pick(opened, task="tracing", type="SA")
    some = shown(opened)
    assert some
    assert all(name.startswith("tracing") for name in some)
    pick(opened, dimension="location-hint")
    assert 0 < len(shown(opened)) < len(some)
    pick(opened, task="", type="", dimension="", run="openai:strong", mode="cot", verdict="wrong")
    assert shown(opened)
    clear = opened.execute_script(
        "return [...document.querySelectorAll('.card:not([hidden]) .said > li:not(.off)')]"
        ".map(({dataset}) => [dataset.run, dataset.mode, dataset.verdict].join())"
    )
    assert set(clear) == {"openai:strong,cot,wrong"}
    pick(opened, run="", mode="", verdict="", outcome="failed")
    assert 0 < len(shown(opened)) < 40
    pick(opened, outcome="", search="alert(")
    assert set(shown(opened)) >= {"erasure0:Q1"}
    pick(opened, search="no such words")
    assert shown(opened) == []
    assert opened.find_element("css selector", "#answers .nothing").is_displayed()


def test_slider_and_blink(opened: Any) -> None:
    keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
    pick(opened, task="tracing")
    card = opened.find_element("css selector", "#answer-cards .card:not([hidden])")
    button = card.find_element("css selector", ".ways [data-way=slider]")
    button.click()
    assert not opened.find_element("id", "enlarged").is_displayed()
    assert button.get_attribute("aria-pressed") == "true"
    cut = (
        "return getComputedStyle(arguments[0].querySelector('.after .picture')).clipPath"
        ".match(/([\\d.]+)%/)[1]"
    )
    assert float(opened.execute_script(cut, card)) == 50
    card.find_element("css selector", ".ways input").send_keys(keys.ARROW_RIGHT)
    wait_until(lambda: float(opened.execute_script(cut, card)) == 51)
    opened.execute_script("arguments[0].focus()", card)
    card.send_keys(keys.ENTER)
    stage = opened.find_element("id", "enlarged-case")
    wait_until(stage.is_displayed)
    before, after = stage.find_elements("css selector", ".pair figure")
    for key, expected in (
        ("b", [True, False]),
        ("b", [False, True]),  # who wants no motion turns them by hand
        ("d", [True, True]),
    ):
        opened.switch_to.active_element.send_keys(key)
        wait_until(lambda now=expected: [before.is_displayed(), after.is_displayed()] == now)
    opened.switch_to.active_element.send_keys(keys.ESCAPE)
    assert opened.get_log("browser") == []


def test_keys_walk_over_answers(opened: Any) -> None:
    keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
    cards = opened.find_elements("css selector", "#answer-cards .card:not([hidden])")
    cards[0].send_keys(keys.ARROW_DOWN)
    wait_until(lambda: opened.switch_to.active_element == cards[1])
    cards[1].send_keys(keys.ENTER)
    place = opened.find_element("id", "place")
    wait_until(lambda: place.text.startswith("2 of"))
    stage = opened.find_element("id", "enlarged-case")
    assert stage.find_element("css selector", ".more-known").is_displayed()
    opened.switch_to.active_element.send_keys(keys.ARROW_RIGHT)
    wait_until(lambda: place.text.startswith("3 of"))
    opened.switch_to.active_element.send_keys(keys.ESCAPE)
    wait_until(lambda: opened.switch_to.active_element == cards[2])


def test_nothing_sticks_out_on_a_phone(opened: Any) -> None:
    assert width_on_a_phone(opened) == 390
