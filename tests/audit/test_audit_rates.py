"""Rates of a scripted model, by hand: at t = 0.5 and τ = 0.5, over four pictures.

    picture   a            b            z     s1     s2            p        w
    0         left .9      left .8      .6    left   left in two   ¼        left
    1         left .9      right .9     —     left   ¼             middle   left
    2         left .9      left .4      —     left   —             left     —
    3         —            —            .5    —      —             —        left

Exclusive a, b: 0 contradicts; 1 marks two regions; of 2 one is accepted; of 3 nothing: 1 of 3.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.audit.scripted import PHRASES, SCRIPT, Scripted, write_pictures

import groundfault as gf
from groundfault.records import Estimate, Outcome, Prediction


def audited(tmp_path: Path, model: object, **options: object) -> dict[str, Estimate]:
    images = write_pictures(tmp_path / "photographs")
    found = gf.audit(
        images, PHRASES, model, tmp_path / "out",
        stability=0, bootstrap=200, page=False, **options,
    )  # fmt: skip
    [result] = found.results.values()
    return result.summary.rows["Overall"].metrics


def test_rates_by_hand(tmp_path: Path) -> None:
    found = audited(tmp_path, Scripted())
    values = {name: (each.value, each.n) for name, each in found.items()}
    assert values["contradiction_rate"] == (pytest.approx(1 / 3), 3)
    assert values["absent_accepted"] == (pytest.approx(2 / 4), 4)
    assert values["wording_agreement"] == (pytest.approx(2 / 3), 3)
    assert values["wording_IoU"] == (pytest.approx((1 + 0.5) / 2), 2)
    assert values["containment"] == (pytest.approx((1 + 0.5 + 0) / 3), 3)
    assert values["implied_rate"] == (pytest.approx(2 / 3), 3)
    assert values["stability"] == (None, 0) and values["kept_rate"] == (None, 0)
    assert values["unjudged"] == (3, 16)  # a, b; s1, s2; p, w: all of picture 3


def test_along_t_and_tau(tmp_path: Path) -> None:
    audited(tmp_path, Scripted())
    folder = tmp_path / "out" / "runs" / "Scripted"
    low = gf.score(folder, t=0.3, bootstrap=0).summary.rows["Overall"].metrics
    assert low["contradiction_rate"].value == pytest.approx(2 / 3)
    high = gf.score(folder, t=0.65, bootstrap=0).summary.rows["Overall"].metrics
    assert high["absent_accepted"].value == 0
    sure = gf.score(folder, t=0.85, bootstrap=0).summary.rows["Overall"].metrics
    assert sure["contradiction_rate"].value == 0 and sure["contradiction_rate"].n == 3
    assert sure["wording_agreement"].value == pytest.approx(1 / 3)


def test_rows_of_relations(tmp_path: Path) -> None:
    audited(tmp_path, Scripted())
    rows = gf.open_run(tmp_path / "out" / "runs" / "Scripted").summary.rows
    assert list(rows) == ["Overall", "a / b", "s1 ~ s2", "no z", "p in w"]
    assert rows["no z"].metrics["absent_accepted"].value == 0.5
    assert rows["a / b"].metrics["absent_accepted"].value is None


class FailsOnPicture2(Scripted):
    def answer(self, number: int, phrase: str) -> Prediction:
        if number == 2 and phrase in "ab":
            return Prediction(item_id="", outcome=Outcome.FAILED, reason="out of memory")
        return super().answer(number, phrase)


def test_failures_are_bounded_and_count_nowhere(tmp_path: Path) -> None:
    found = audited(tmp_path, FailsOnPicture2())
    assert (found["contradiction_rate"].value, found["contradiction_rate"].n) == (0.5, 2)
    summary = gf.open_run(tmp_path / "out" / "runs" / "FailsOnPicture2").summary
    low, high = summary.bounds["Overall"]["contradiction_rate"]
    assert (low, high) == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    assert any("an answer failed (1)" in note for note in summary.notes)


class UnreadableOnPicture1(Scripted):
    def answer(self, number: int, phrase: str) -> Prediction:
        if number == 1:
            return Prediction(item_id="", outcome=Outcome.UNPARSED, text="?", reason="no mask")
        return super().answer(number, phrase)


def test_what_cannot_be_read_is_wrong_and_no_rejection(tmp_path: Path) -> None:
    found = audited(tmp_path, UnreadableOnPicture1())
    assert found["absent_accepted"].value == pytest.approx(3 / 4)
    assert (found["contradiction_rate"].value, found["contradiction_rate"].n) == (0.5, 2)
    assert found["wording_agreement"].value == pytest.approx(1 / 3)


class SaysNaN(Scripted):
    def answer(self, number: int, phrase: str) -> Prediction:
        found = super().answer(number, phrase)
        if not found.scores or number:
            return found
        return Prediction(
            item_id="", outcome=found.outcome, masks=found.masks,
            scores=tuple(float("nan") for _ in found.scores),
        )  # fmt: skip


def test_a_score_that_is_no_number_is_a_failure(tmp_path: Path) -> None:
    found = audited(tmp_path, SaysNaN())
    assert (found["contradiction_rate"].value, found["contradiction_rate"].n) == (0, 2)


def test_copies_and_order_change_nothing(tmp_path: Path) -> None:
    plain = audited(tmp_path / "plain", Scripted())
    images = tmp_path / "more" / "photographs"
    write_pictures(images)
    for number in (0, 1, 2, 3):  # other names, another order, and a copy of each
        (images / f"{number}.png").rename(images / f"z{9 - number}.png")
        (images / f"copy{number}.png").write_bytes((images / f"z{9 - number}.png").read_bytes())
    model = Scripted()
    found = gf.audit(
        images, PHRASES, model, tmp_path / "more" / "out", stability=0, bootstrap=0, page=False
    )
    [result] = found.results.values()
    again = result.summary.rows["Overall"].metrics
    assert {n: e.value for n, e in again.items()} == {n: e.value for n, e in plain.items()}
    assert sorted(model.shown) == [0, 1, 2, 3]  # each once, with all its phrases
    assert any("4 files are copies" in note for note in result.summary.notes)


def test_what_is_added_is_asked_and_nothing_else(tmp_path: Path) -> None:
    images = write_pictures(tmp_path / "photographs", (0, 1))
    options = {"stability": 0, "bootstrap": 0, "page": False}
    first = Scripted()
    gf.audit(images, PHRASES, first, tmp_path / "out", **options)
    assert sorted(first.shown) == [0, 1]
    write_pictures(images, (2,))
    second = Scripted()
    gf.audit(images, PHRASES, second, tmp_path / "out", **options)
    assert second.shown == [2]
    third = Scripted({**SCRIPT, (0, "c"): [(0, 32, 0.9)]})
    more = {**PHRASES, "exclusive": [["a", "b", "c"]]}
    found = gf.audit(images, more, third, tmp_path / "out", **options)
    assert sorted(third.shown) == [0, 1, 2]  # the new phrase alone
    rows = next(iter(found.results.values())).summary.rows
    assert rows["a / c"].metrics["contradiction_rate"].value == pytest.approx(1 / 3)
