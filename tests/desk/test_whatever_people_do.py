"""Whatever people do in whatever order: no item gets more opinions than were asked for, nobody is
counted twice, and in the end everything is settled."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.desk.parts import Hand, decisions_of, make_review

pytest.importorskip("starlette")

from groundfault.building.review import ADJUDICATION
from groundfault.web.review import assignments
from groundfault.web.review.assignments import Refusal
from groundfault.web.review.desk import ReviewDesk, open_desk

STEPS = 250
IDLE_S = 40 * 60.0


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def time(self) -> float:
        return self.now


def check(desk: ReviewDesk) -> None:
    """No more opinions, open or given, than asked for; one of each person at most."""
    held = desk.database.call(
        lambda rows: rows(
            "SELECT item, stage FROM assignment WHERE state<>'skipped' AND stage<>'warm-up'"
        )
    )
    standing = [d for d in decisions_of(desk) if not d.undone and d.verdict != "skip"]
    said = Counter((d.item_id, d.stage) for d in standing)
    for item, stage in {*held, *said}:
        if desk.items[item].gold is None and not stage.startswith(ADJUDICATION):
            asked, _ = desk.ledger.protocol(item).stage(stage).asked(desk.items[item].kind)
            assert held.count((item, stage)) <= asked and said[item, stage] <= asked
    by_person = Counter((d.item_id, d.stage, d.reviewer) for d in standing)
    assert set(by_person.values()) <= {1}


class Crowd:
    """Six reviewers and an adjudicator who do anything at any time."""

    def __init__(self, desk: ReviewDesk, clock: Clock, seed: int) -> None:
        self.desk, self.clock, self.rng = desk, clock, random.Random(seed)
        self.judge = Hand(desk, "adjudicator", "adjudicator")
        self.hands = [Hand(desk, f"person {k}") for k in range(6)]
        self.seen: dict[Hand, list[Any]] = {hand: [] for hand in self.hands}
        self.keys: dict[Hand, list[str]] = {hand: [] for hand in (*self.hands, self.judge)}

    def act(self) -> None:
        hand = self.rng.choice(self.hands)
        self.clock.now += self.rng.expovariate(1 / 20)
        acts = (self.take, self.say, self.undo, self.take_up, self.idle, self.rule)
        [act] = self.rng.choices(acts, (30, 35, 15, 5, 5, 10))
        with suppress(Refusal):
            act(hand)

    def take(self, hand: Hand) -> None:
        self.seen[hand] += hand.queue(self.rng.choice((1, 2, 6)))

    def say(self, hand: Hand) -> None:
        """About anything that was ever shown, however long ago."""
        if self.seen[hand]:
            [verdict] = self.rng.choices(("accept", "reject", "skip"), (6, 2, 1))
            flagged = self.rng.random() < 0.05
            shown = self.rng.choice(self.seen[hand])
            self.keys[hand].append(hand.say(shown, verdict, flagged=flagged))

    def undo(self, hand: Hand) -> None:
        hand = self.rng.choice((hand, hand, hand, self.judge))
        if self.keys[hand]:
            hand.undo(self.rng.choice(("", self.rng.choice(self.keys[hand]))))

    def take_up(self, hand: Hand) -> None:
        name = hand.person.name
        self.desk.database.call(lambda rows: self.desk.assignments.take_up_skipped(rows, name))

    def idle(self, hand: Hand) -> None:
        self.clock.now += IDLE_S

    def rule(self, hand: Hand) -> None:
        splits = self.desk.database.call(lambda rows: self.desk.splits(rows))
        if splits:
            shown: Any = self.rng.choice(splits).shown
            verdict = self.rng.choice(("accept", "reject", "skip"))
            self.keys[self.judge].append(self.judge.say(shown, verdict))

    def finish(self) -> Counter[str]:
        """Everybody goes on in good order; how the items ended."""
        for _ in range(20):
            for hand in self.hands:
                self.take_up(hand)
                hand.work()
            for split in self.desk.database.call(lambda rows: self.desk.splits(rows, 100)):
                shown: Any = split.shown
                self.judge.say(shown)
        states = self.desk.database.call(lambda rows: rows("SELECT state FROM task"))
        return Counter(state for (state,) in states)


@pytest.mark.parametrize("protocol", ["cafe", "halluseg", "reactbench"])
def test_no_order_of_events_gives_more_opinions_than_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    clock = Clock()
    monkeypatch.setattr(assignments, "time", clock)
    make_review(tmp_path, 6, protocol=protocol, side_px=16, gold=2)
    desk = open_desk(tmp_path, overlap=3)
    try:
        crowd = Crowd(desk, clock, seed=7)
        for step in range(STEPS):
            crowd.act()
            if step % 25 == 0:
                check(desk)
        ended = crowd.finish()
        check(desk)
        assert ended["gold"] == 2 and ended["accepted"] + ended["rejected"] == 6
    finally:
        desk.close()
