"""Replaced objects by how answers ended: unreadable, failed and absent ones, sizes and tasks."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

import groundfault as gf
from groundfault.analysis.compare import compare_runs
from groundfault.analysis.summary import summarise, write_results
from groundfault.benchmarks.halluseg import CARD, CORNERS
from groundfault.errors import DataError, UsageError
from groundfault.io.masks import decode, encode
from groundfault.matching.quads import ROLES
from groundfault.protocols.replacement import PROTOCOL, size_limits
from groundfault.records import Benchmark, Case, Item, Outcome, Prediction, Region, Role, Summary
from groundfault.reports.page.failures import judged_case
from groundfault.reports.page.inputs import chapters, load_runs
from groundfault.reports.summaries import conventions_table, summary_table
from groundfault.reports.tables import render

SIDE = 12


def square(side: int) -> np.ndarray:
    pixels = np.zeros((SIDE, SIDE), bool)
    pixels[:side, :side] = True
    return pixels


def quads(sides: Sequence[int], tasks: Sequence[str] = ()) -> Benchmark:
    """Cases whose object is a square of so many pixels a side, in both pictures."""
    cases, items = [], []
    for number, side in enumerate(sides):
        name = f"k{number}"
        tags = {"task": tasks[number]} if tasks else {}
        cases.append(Case(id=name, intervention="replacement", tags=tags))
        region = Region(encode(square(side)))
        for role in ROLES:
            meant = role in (Role.FACTUAL, Role.COUNTERFACTUAL)
            items.append(
                Item(
                    id=f"{name}/{CORNERS[role]}",
                    case_id=name,
                    role=role,
                    images=(f"{name}.png",),
                    height_px=SIDE,
                    width_px=SIDE,
                    query="cup" if role in (Role.FACTUAL, Role.VISUAL) else "bowl",
                    regions=(region,) if meant else (),
                    target=region,
                )
            )
    return Benchmark(card=CARD, cases=tuple(cases), items=tuple(items))


def said(item_id: str, answer: Outcome | np.ndarray) -> Prediction:
    if isinstance(answer, Outcome):
        return Prediction(item_id=item_id, outcome=answer)
    return Prediction(item_id=item_id, outcome=Outcome.OK, masks=(encode(answer),), scores=(1.0,))


def right(benchmark: Benchmark) -> dict[str, Any]:
    """Item → what a perfect model says."""
    return {
        item.id: decode(item.target.mask) if item.present else Outcome.ABSTAINED
        for item in benchmark.items
    }


def score(benchmark: Benchmark, answers: dict[str, Any], **given: Any) -> Any:
    found = (said(item_id, answer) for item_id, answer in answers.items())
    return PROTOCOL.score(benchmark, found, given)


def summed(benchmark: Benchmark, answers: dict[str, Any], **given: Any) -> Summary:
    return summarise(score(benchmark, answers, **given), bootstrap=0, seed=0)


def values(summary: Summary, row: str = "Overall") -> dict[str, float | None]:
    return {name: estimate.value for name, estimate in summary.rows[row].metrics.items()}


# Answers that could not be read


def test_one_unreadable_answer_does_not_move_cms() -> None:
    """As a mask of the whole picture it moved CMS_fact from 0 to (3·4 + 140) / 12 / 80 = 0.158."""
    benchmark = quads([2] * 80)
    answers = right(benchmark) | {"k7/edtl_orgi": Outcome.UNPARSED}
    summary = summed(benchmark, answers)
    found = summary.rows["Overall"].metrics
    assert (found["CMS_fact"].value, found["CMS_fact"].n) == (0.0, 79)
    assert (found["unparsed_rate"].value, found["unparsed_rate"].n) == (1 / 320, 320)
    assert found["CMS_bounded_fact"].value == pytest.approx(1 / 80)
    assert found["CMS_bounded_fact"].n == 80
    assert summary.bounds["Overall"]["CMS_fact"] == (0.0, pytest.approx(152 / 12 / 80))
    assert summary.bounds["Overall"]["CMS_bounded_fact"] == (0.0, pytest.approx(1 / 80))
    assert summary.outcomes == {"ok": 160, "abstained": 159, "unparsed": 1, "failed": 0}
    assert found["IoU_textual"].value == pytest.approx(1 / 80)  # wrong, never a rejection
    assert found["dIoU_textual"].value == pytest.approx(79 / 80)
    assert any("1 of 320 answers could not be read, e.g. of case k7" in n for n in summary.notes)


def test_unreadable_where_the_object_is_asked_for() -> None:
    benchmark = quads([3] * 10)
    answers = right(benchmark) | {
        "k0/orgl_orgi": Outcome.UNPARSED,
        "k1/orgl_edti": Outcome.UNPARSED,
        "k2/edtl_edti": Outcome.UNPARSED,
    }
    summary = summed(benchmark, answers)
    found, bounds = values(summary), summary.bounds["Overall"]
    assert (found["IoU_fact"], found["IoU_cf"]) == (0.9, 0.9)
    assert bounds["IoU_fact"] == bounds["IoU_cf"] == (0.9, 1.0)
    assert (found["IoU_visual"], found["dIoU_visual"]) == (0.1, pytest.approx(0.8))
    assert bounds["dIoU_visual"] == (pytest.approx(0.8), 1.0)
    assert (found["CMS_counterfact"], found["CMS_bounded_counterfact"]) == (0.0, 0.1)
    assert summary.rows["Overall"].metrics["CMS_counterfact"].n == 9
    assert bounds["CMS_counterfact"] == (0.0, pytest.approx((27 + 135) / 27 / 10))
    assert bounds["CCMS_mean"] == (None, None)


def test_everything_unreadable_is_undefined_not_zero() -> None:
    benchmark = quads([3, 4])
    found = values(summed(benchmark, dict.fromkeys(right(benchmark), Outcome.UNPARSED)))
    assert found["CMS_fact"] is found["CMS_counterfact"] is found["CCMS"] is None
    assert found["CMS_bounded_fact"] == found["unparsed_rate"] == 1.0
    assert found["IoU_fact"] == 0.0 and found["dIoU_textual"] == found["dIoU_visual"] == -1.0
    assert found["absent_rate"] is None


ENDS = st.sampled_from(["mask", "empty", "abstained", "unparsed", "failed"])


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_bounds_hold_whatever_the_doubtful_answers_were(data: st.DataObject) -> None:
    sides = data.draw(st.lists(st.integers(1, 8), min_size=1, max_size=4))
    benchmark = quads(sides)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    variant = data.draw(st.sampled_from(["exact", "parity"]))
    truth, answers = {}, {}
    for item in benchmark.items:
        mask = rng.random((SIDE, SIDE)) < rng.choice([0.0, 0.2, 1.0])
        end = data.draw(ENDS)
        truth[item.id] = mask if end != "abstained" else Outcome.ABSTAINED
        answers[item.id] = truth[item.id] if end in ("mask", "abstained") else mask & False
        if end in ("unparsed", "failed"):
            answers[item.id] = Outcome(end)
        elif end == "empty":
            truth[item.id] = answers[item.id]
    failed = {key.split("/")[0] for key, answer in answers.items() if answer is Outcome.FAILED}
    if len(failed) == len(sides):
        with pytest.raises(DataError, match="no case has all four corners"):
            summed(benchmark, answers, variant=variant)
        return
    summary = summed(benchmark, answers, variant=variant)
    whole = values(summed(benchmark, truth, variant=variant))
    doubtful = any(answer in (Outcome.UNPARSED, Outcome.FAILED) for answer in answers.values()
                   if isinstance(answer, Outcome))  # fmt: skip
    assert bool(summary.bounds) == doubtful
    for name, (low, high) in summary.bounds.get("Overall", {}).items():
        if low is None or high is None or whole[name] is None:
            continue
        assert low - 1e-9 <= whole[name] <= high + 1e-9, name
    readable = [
        said
        for key, said in answers.items()
        if key.endswith("edtl_orgi") and key.split("/")[0] not in failed
        and not (isinstance(said, Outcome) and said is Outcome.UNPARSED)
    ]  # fmt: skip
    assert summary.rows["Overall"].metrics["CMS_fact"].n == len(readable)


def test_failed_cases_are_left_out_bounded_and_still_compared(tmp_path: Path) -> None:
    """Two runs of which one has a failure have the same cases, so they can be compared."""
    benchmark = quads([2, 3, 4])
    whole = score(benchmark, right(benchmark))
    broken = score(benchmark, right(benchmark) | {"k1/orgl_edti": Outcome.FAILED})
    summary = summarise(broken, bootstrap=0, seed=0)
    assert summary.outcomes["failed"] == 1
    assert summary.rows["Overall"].metrics["IoU_fact"].n == 2
    assert summary.bounds["Overall"]["IoU_fact"] == (1.0, 1.0)
    assert summary.bounds["Overall"]["CMS_counterfact"] == (
        0.0,
        pytest.approx((27 + 135) / 27 / 3),
    )
    for name, scored in (("whole", whole), ("broken", broken)):
        write_results(tmp_path / name, scored, summarise(scored, bootstrap=100, seed=0))
    found = compare_runs([tmp_path / "whole", tmp_path / "broken"], rows=["Overall"], resamples=100)
    assert "broken has 1 failed items" in found.notes[0]


def test_ccms_without_a_bound_has_none() -> None:
    """If the unreadable answer was an abstention, CMS_counterfact is 0 and CCMS has no value."""
    benchmark = quads([3] * 4)
    answers = right(benchmark) | {"k0/edtl_orgi": square(3), "k1/orgl_edti": Outcome.UNPARSED}
    assert summed(benchmark, answers).bounds["Overall"]["CCMS"] == (None, None)
    answers["k2/orgl_edti"] = square(3)
    low, high = summed(benchmark, answers).bounds["Overall"]["CCMS"]
    assert (low, high) == (pytest.approx(1 / (1 + 6)), pytest.approx(1.0))


# Absent masks


def test_absent_masks_counted_and_skipped() -> None:
    """A model that rejects three of four wrong questions and dares one right answer too few."""
    benchmark = quads([4] * 4)
    answers = right(benchmark) | {"k0/edtl_orgi": square(4), "k3/orgl_orgi": Outcome.ABSTAINED}
    summary = summed(benchmark, answers)
    found = summary.rows["Overall"].metrics
    told = {name: (found[name].value, found[name].n) for name in found if "CMS_fact_" in name}
    assert told == {"CMS_fact_counted": (0.25, 4), "CMS_fact_skipped": (1.0, 1)}
    assert (found["IoU_fact_counted"].value, found["IoU_fact_skipped"].value) == (0.75, 1.0)
    assert (found["dIoU_textual_counted"].value, found["dIoU_textual_counted"].n) == (0.5, 4)
    assert (found["dIoU_textual_skipped"].value, found["dIoU_textual_skipped"].n) == (0.0, 1)
    assert found["dIoU_visual_skipped"].value is None and found["dIoU_visual_skipped"].n == 0
    assert found["absent_rate"].value == pytest.approx(8 / 16)
    for name in ("IoU_fact", "dIoU_textual", "CMS_fact"):
        assert found[name].value == found[f"{name}_counted"].value


def test_in_parity_a_file_that_is_not_there_is_skipped_and_both_are_shown() -> None:
    benchmark = quads([4] * 4)
    answers = {key: a for key, a in right(benchmark).items() if a is not Outcome.ABSTAINED}
    found = values(summed(benchmark, answers | {"k0/edtl_orgi": square(4)}, variant="parity"))
    assert found["CMS_fact"] == found["CMS_fact_skipped"] == 1.0
    assert found["CMS_fact_counted"] == 0.25
    assert (found["CMS_counterfact"], found["CMS_counterfact_counted"]) == (None, 0.0)


def test_the_table_of_conventions_is_shown_where_they_differ() -> None:
    benchmark = quads([4] * 4)
    summary = summed(benchmark, right(benchmark))
    table = conventions_table({"": summary})
    assert table is not None
    assert [row[:2] for row in table.rows][:2] == [["Overall", "counted"], ["Overall", "skipped"]]
    text = render(table, "terminal")
    assert "abstention = 0" in text and "absent = skipped" in text and "n 4" in text
    everything = {item.id: square(4) for item in benchmark.items}
    assert conventions_table({"": summed(benchmark, everything)}) is None


# Sizes and tasks


def test_sizes_are_cocos_quartiles_or_ones_own() -> None:
    benchmark = quads(range(1, 9))
    answers = right(benchmark)

    def sizes(**given: Any) -> tuple[list[str], Any]:
        scored = score(benchmark, answers, **given)
        return scored.columns()["size"], scored.settings

    found, used = sizes()
    assert found == ["S"] * 8 and used["sizes"] == "coco"
    assert used["size_limits_px"] == [1024, 9216]
    found, used = sizes(sizes="quantile")
    assert found == ["S"] * 2 + ["M"] * 4 + ["L"] * 2
    assert used["sizes"] == "quantile" and used["size_limits_px"] == [9, 49]
    for own in ("5,50", (5, 50)):
        found, used = sizes(sizes=own)
        assert found == ["S"] * 2 + ["M"] * 5 + ["L"]
        assert used["sizes"] == "own limits" and used["size_limits_px"] == [5, 50]


@pytest.mark.parametrize("sizes", ["cocos", "9,9", "0,5", "5", "1,2,3", (7.5, 9), "", (9, 5)])
def test_sizes_that_make_no_sense(sizes: Any) -> None:
    benchmark = quads([2])
    with pytest.raises(UsageError, match=r"coco, quantile|rising"):
        score(benchmark, right(benchmark), sizes=sizes)


@given(st.lists(st.integers(0, 30), max_size=40))
def test_quartiles_leave_a_quarter_on_each_side(areas: list[int]) -> None:
    medium, large = size_limits("quantile", np.array(areas, dtype=np.int64))
    there = [area for area in areas if area]
    assert medium < large
    if there:
        assert sum(area < medium for area in there) <= len(there) / 4 + 0.5
        assert sum(area >= large for area in there) <= len(there) / 4 + 0.5 + there.count(large)


def test_failed_answers_do_not_move_the_quartiles() -> None:
    benchmark = quads(range(1, 9))
    broken = right(benchmark) | {"k0/orgl_orgi": Outcome.FAILED}
    whole = score(benchmark, right(benchmark), sizes="quantile")
    assert score(benchmark, broken, sizes="quantile").columns()["size"] == whole.columns()["size"]


def test_rows_of_task_and_size() -> None:
    tasks = ["referring", "reasoning"] * 4
    benchmark = quads(range(1, 9), tasks)
    scored = score(benchmark, right(benchmark), sizes="5,40")
    rows = {name: np.flatnonzero(member).tolist() for name, member in scored.rows.items()}
    assert rows["referring S"] == [0] and rows["reasoning S"] == [1]
    assert rows["referring M"] == [2, 4] and rows["reasoning L"] == [7]
    for task in ("referring", "reasoning"):
        assert sorted(k for size in "SML" for k in rows[f"{task} {size}"]) == rows[task]


# What is shown


def test_what_the_table_says() -> None:
    benchmark = quads([2] * 80)
    answers = right(benchmark) | {"k7/edtl_orgi": Outcome.UNPARSED}
    text = render(summary_table(summed(benchmark, answers)), "terminal")
    assert "CMS_bounded_fact ↓" in text and "unparsed_rate ↓" in text
    assert (
        "Overall CMS_fact lies between 0.0000 and 0.1583, however the unreadable or failed answers"
        in text
    )
    assert "CMS_counterfact lies" not in text


def test_an_unreadable_answer_is_no_mask_that_stays() -> None:
    benchmark = quads([3])
    answers = right(benchmark) | {"k0/edtl_orgi": Outcome.UNPARSED}
    scored = score(benchmark, answers)
    row = {name: column[0] for name, column in scored.columns().items()}
    assert row["textual_outcome"] == "unparsed"
    assert judged_case(row) is not None and judged_case(row)[0] == ("not readable",)
    assert "not readable" in PROTOCOL.cells


def test_from_the_command_line_and_from_python(tmp_path: Path, run: Any) -> None:
    records = []
    for number, side in enumerate((2, 5, 8, 11)):
        for path in (f"data/f/{number}.png", f"data/c/{number}.png",
                     *(f"pred/{corner}/{number}_{number}_mask.png" for corner in CORNERS.values()
                       if not (number == 1 and corner == "edtl_orgi"))):  # fmt: skip
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(np.uint8(square(side)) * 255).save(tmp_path / path)
        records.append(
            {
                "factual_image_path": f"{number}.jpg",
                "counterfactual_image_path": f"{number}_edited.jpg",
                "ann_id": number,
                "factual_mask_path": f"f/{number}.png",
                "counterfactual_mask_path": f"c/{number}.png",
                "factual_label": "cup",
                "counterfactual_label": "bowl",
                **({"question": "What holds tea?"} if number % 2 else {}),
            }
        )
    (tmp_path / "data.json").write_text(json.dumps(records))
    paths = {"cases": tmp_path / "data.json", "data": tmp_path / "data"}
    options = [f"--{name}={path}" for name, path in paths.items()]
    command = ["score", "halluseg", *options, "--predictions", tmp_path / "pred",
               "--missing", "empty", "--bootstrap", "50", "--sizes", "quantile"]  # fmt: skip
    done = run(*command)
    assert done.code == 0, done.err
    assert "Absent masks, counted or skipped" in done.out and "sizes quantile" in done.out
    found = run(*command, "--json").json
    assert found["settings"]["size_limits_px"] == [25, 121]
    assert found["rows"]["reasoning M"]["n_cases"] == 1
    assert found["rows"]["Overall"]["metrics"]["CMS_fact_skipped"]["n"] == 3
    result = gf.score(
        "halluseg",
        **paths,
        predictions=tmp_path / "pred",
        missing="empty",
        bootstrap=50,
        sizes="quantile",
    )
    assert json.loads(json.dumps(found)) == json.loads(msgspec.json.encode(result.summary))
    assert "Absent masks" in repr(result) and "Absent masks" in result._repr_html_()
    published = run(*command, "--published").out
    assert "RobustSeg" in published and "referring S" in published
    line = next(
        k for k in published.splitlines() if k.split()[:3] == ["Seg-Zero", "reasoning", "S"]
    )
    assert "0.2887" in line and "0.5948" in line
    looked_at = run("inspect", tmp_path / "data.json", "--json").json
    assert looked_at["counts"]["cases of task reasoning"] == 2
    assert looked_at["counts"]["cases of task referring"] == 2
    refused = run(*command[:-1], "cocoa")
    assert refused.code == 2 and "coco, quantile" in refused.err


def test_the_report_page_shows_them(tmp_path: Path) -> None:
    tasks = ["referring", "reasoning"] * 4
    benchmark = quads(range(1, 9), tasks)
    answers = right(benchmark) | {"k3/orgl_edti": Outcome.UNPARSED, "k5/edtl_orgi": square(6)}
    scored = score(benchmark, answers, sizes="quantile")
    write_results(tmp_path / "mine", scored, summarise(scored, bootstrap=50, seed=0))
    gf.report([tmp_path / "mine"], tmp_path / "report.html", published=True)
    source = (tmp_path / "report.html").read_text(encoding="utf-8")
    text = " ".join(re.sub(r"<[^>]*>", " ", source).split())
    assert "mine: 1 of 32 answers could not be read. They are left out of CMS_fact and" in text
    assert "however the unreadable or failed answers would have ended" in text
    assert "‹0.0000 … 0.4583›" in text  # (3·16 + 128) / 48 over 8 cases
    assert "‹0.0000 … 0.0000›" not in text and "‹1.0000 … 1.0000›" not in text
    assert re.search(r"loses [\d.]+ of overlap (?:\[[^]]*\] )?when the words name", text)
    assert "CMS_bounded_counterfact ↓" in text and "unparsed_rate ↓" in text
    assert "Absent masks, counted or skipped" in text
    assert "abstention = 0: an absent mask is an empty one" in text
    table = text[text.index("referring S, ") : text.index("referring M, ")]
    assert "RobustSeg" in table and "0.4971" in table  # Table 4, small objects
    assert "not readable" in text


def test_other_limits_of_size_are_not_compared(tmp_path: Path) -> None:
    """Their rows S, M and L have the same names and other cases."""
    benchmark = quads(range(1, 9))
    for name, sizes in (("a", "coco"), ("b", "quantile"), ("c", "quantile")):
        scored = score(benchmark, right(benchmark), sizes=sizes)
        write_results(tmp_path / name, scored, summarise(scored, bootstrap=20, seed=0))
    with pytest.raises(UsageError, match=r"size_limits_px \[1024, 9216\] and b size_limits_px"):
        compare_runs([tmp_path / "a", tmp_path / "b"])
    assert compare_runs([tmp_path / "b", tmp_path / "c"], resamples=20).rows["S"]
    found = chapters(load_runs([tmp_path / name for name in "abc"]))
    assert [len(chapter.runs) for chapter in found] == [1, 2]
    assert found[0].apart == "size_limits_px [1024, 9216]"


def test_the_first_sentence_of_a_report_without_interval(tmp_path: Path) -> None:
    benchmark = quads([2] * 4)
    scored = score(benchmark, right(benchmark))
    write_results(tmp_path / "mine", scored, summarise(scored, bootstrap=0, seed=0))
    gf.report([tmp_path / "mine"], tmp_path / "report.html")
    source = (tmp_path / "report.html").read_text(encoding="utf-8")
    text = " ".join(re.sub(r"<[^>]*>", " ", source).split())
    assert "mine loses 1.0000 of overlap when the words name another object (1 is right)." in text
