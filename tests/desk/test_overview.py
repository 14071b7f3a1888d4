"""The owner's numbers, worked out by hand: progress, agreement, speed, drift, gold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.desk.parts import Hand, make_review

pytest.importorskip("starlette")

from groundfault.web.review.desk import ReviewDesk, open_desk
from groundfault.web.review.statistics import RECENT, Overview


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[ReviewDesk]:
    make_review(tmp_path, 12, protocol="halluseg", side_px=16)
    opened = open_desk(tmp_path, overlap=3)
    yield opened
    opened.close()


def overview(desk: ReviewDesk) -> Overview:
    return desk.database.call(desk.overview_inputs)()


def joined(desk: ReviewDesk, *names: str) -> list[Hand]:
    for name in names:
        desk.database.call(lambda rows, name=name: desk.door.invite(rows, "reviewer", name=name))
    return [Hand(desk, name) for name in names]


def test_agreement_and_majorities_by_hand(desk: ReviewDesk) -> None:
    a, b, c = joined(desk, "a", "b", "c")
    for hand, refused in ((a, 4), (b, 4), (c, 6)):  # a and b reject 0–3, c 0–5
        no = {f"case-{k}" for k in range(refused)}
        hand.work(verdict=lambda s, no=no: "reject" if s.item.id in no else "accept")  # type: ignore[misc]
    found = overview(desk)
    [agreement] = found.agreement
    assert (agreement.stage, agreement.items, agreement.unanimous) == ("check", 12, 10)
    # P̄ = (10 + 2/3)/12, 22 of 36 votes accept
    observed, chance = (10 + 2 / 3) / 12, (22 / 36) ** 2 + (14 / 36) ** 2
    assert agreement.kappa.value == pytest.approx((observed - chance) / (1 - chance))
    assert agreement.alpha.value is not None and agreement.alpha.low is not None
    people = {r.name: r for r in found.reviewers}
    assert people["a"].with_others == pytest.approx(1.0)  # b and c differ about 4 and 5
    assert people["c"].with_others == pytest.approx(10 / 12)
    assert people["c"].accepted == pytest.approx(0.5)
    assert found.progress == {"check": {"rejected": 4, "split": 2, "accepted": 6}}
    assert found.kinds == {"replacement": {"rejected": 4, "split": 2, "accepted": 6}}


def test_what_was_undone_or_skipped_is_no_opinion(desk: ReviewDesk) -> None:
    [a] = joined(desk, "a")
    a.say(a.queue()[0], "reject", reasons=["outside"])
    a.undo()
    a.say(a.queue()[0], "reject", reasons=["artefact"], seconds=3.0)
    a.say(a.queue()[0], "skip")
    [reviewer] = overview(desk).reviewers
    assert (reviewer.decided, reviewer.skipped, reviewer.seconds) == (1, 1, 3.0)
    assert overview(desk).reasons == (("artefact", 1),)


def test_gold_measures_reviewers_and_is_left_out_of_agreement(tmp_path: Path) -> None:
    make_review(tmp_path, 40, protocol="halluseg", gold=8, side_px=16)
    desk = open_desk(tmp_path)
    try:
        [a] = joined(desk, "a")
        a.work()
        [reviewer] = overview(desk).reviewers
        assert 0 < reviewer.gold <= 4  # four are for learning
        assert reviewer.gold_right <= reviewer.gold
        assert reviewer.decided == 40 + reviewer.gold  # without the warm-up
        assert overview(desk).agreement == ()
    finally:
        desk.close()


def test_a_reviewer_who_changes_is_noticed(tmp_path: Path) -> None:
    n = 2 * RECENT + 10
    make_review(tmp_path, n, protocol="halluseg", side_px=8)
    desk = open_desk(tmp_path)
    try:
        [tired] = joined(desk, "tired")
        for k in range(n):
            late = k >= n - RECENT
            verdict = "accept" if late or k % 2 else "reject"
            tired.say(tired.queue()[0], verdict, seconds=1.0 if late else 4.0)
        [reviewer] = overview(desk).reviewers
        assert reviewer.drift is not None and reviewer.drift < 1e-6
        assert (reviewer.recently, reviewer.accepted) == (1.0, pytest.approx(80 / 110))
        assert (reviewer.recent_seconds, reviewer.seconds) == (1.0, 4.0)
    finally:
        desk.close()
