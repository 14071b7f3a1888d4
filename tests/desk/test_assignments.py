"""Who sees what next, on both databases: overlap, blindness, undo, skips, gold, adjudication."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.desk.parts import Hand, decisions_of, make_item, make_review

pytest.importorskip("starlette")

from groundfault.building.review import ADJUDICATION, WARM_UP, Decision, settle, write_items
from groundfault.errors import DataError, UsageError
from groundfault.web.review.assignments import Refusal
from groundfault.web.review.database import Unavailable
from groundfault.web.review.desk import ReviewDesk, export, open_desk

Open = Callable[..., ReviewDesk]


@pytest.fixture
def opened(tmp_path: Path, database: str) -> Iterator[Open]:
    """A desk with n items, on either database."""
    desks: list[ReviewDesk] = []

    def open_(n: int = 3, *, gold: int = 0, protocol: str = "cafe", **more: Any) -> ReviewDesk:
        folder = tmp_path / "build"
        if not folder.exists():
            make_review(folder, n, gold=gold, protocol=protocol, side_px=16)
        desks.append(open_desk(folder, database=database, **more))
        return desks[-1]

    yield open_
    for desk in desks:
        desk.close()


def states(desk: ReviewDesk) -> dict[str, tuple[str, str, int]]:
    found = desk.database.call(lambda rows: rows("SELECT item, stage, state, wanted FROM task"))
    return {item: (stage, state, wanted) for item, stage, state, wanted in found}


def counted(desk: ReviewDesk, stage: str) -> Counter[str]:
    """Opinions per item in a stage."""
    return Counter(
        d.item_id for d in decisions_of(desk)
        if d.stage == stage and not d.undone and d.verdict != "skip"
    )  # fmt: skip


def test_three_people_take_every_item_through_three_stages(opened: Open) -> None:
    desk = opened(4)
    hands = [Hand(desk, name) for name in "abc"]
    while sum(hand.work(most=2) for hand in hands):
        pass
    assert {state for _, state, _ in states(desk).values()} == {"accepted"}
    assert set(counted(desk, "screening").values()) == {1}
    assert set(counted(desk, "detail").values()) == {1}
    assert set(counted(desk, "cross-check").values()) == {3}
    by_item = Counter((d.item_id, d.reviewer, d.stage) for d in decisions_of(desk))
    assert set(by_item.values()) == {1}  # nobody twice in one stage


def test_two_of_three_keep_an_item_and_ontological_conflicts_need_all(opened: Open) -> None:
    desk = opened(3)  # SM, CC, OC

    def by_c(shown: Any) -> str:
        return "reject" if shown.stage == "cross-check" else "accept"

    while sum(Hand(desk, n).work(1, by_c if n == "c" else None) for n in "abc"):
        pass
    assert {item: state for item, (_, state, _) in states(desk).items()} == {
        "case-0": "accepted", "case-1": "accepted", "case-2": "rejected",
    }  # fmt: skip


def test_nobody_is_told_what_others_said_or_what_is_gold(opened: Open) -> None:
    desk = opened(2, gold=1)
    Hand(desk, "a").work()
    for shown in Hand(desk, "b").queue(10):
        assert shown.item.gold is None
        fields = set(shown.__struct_fields__)
        assert fields == {"item", "stage", "rules", "place", "original", "feedback"}
        assert (shown.feedback is not None) == (shown.stage == WARM_UP)


def test_twenty_at_once_give_exactly_three_opinions(opened: Open) -> None:
    desk = opened(30, overlap=3, protocol="halluseg")
    problems: list[BaseException] = []

    def review(name: str) -> None:
        try:
            Hand(desk, name).work()
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=review, args=(f"p{k}",)) for k in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert set(counted(desk, "check").values()) == {3}
    assert len(counted(desk, "check")) == 30


def test_two_servers_share_a_database(opened: Open) -> None:
    first, second = opened(12, overlap=3, protocol="halluseg"), opened(overlap=3)
    hands = [Hand(desk, f"{desk is first}{k}") for desk in (first, second) for k in range(4)]
    threads = [threading.Thread(target=hand.work) for hand in hands]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(counted(first, "check").values()) == {3}
    assert len(counted(second, "check")) == 12


def test_what_is_given_ahead_counts_as_taken_but_goes_to_who_has_nothing(opened: Open) -> None:
    desk = opened(2, protocol="halluseg")
    a, b, c = (Hand(desk, name) for name in "abc")
    first, ahead = a.queue(5)
    [taken] = b.queue(5)
    assert taken.item.id == ahead.item.id
    assert c.queue() == []  # nobody loses what they look at
    assert [shown.item.id for shown in a.queue(5)] == [first.item.id]
    with pytest.raises(Refusal, match="handed to somebody else"):
        a.say(ahead)
    a.say(first)
    b.say(taken)
    assert set(counted(desk, "check").values()) == {1}


def test_idle_work_is_handed_back_and_its_late_decision_refused(opened: Open) -> None:
    desk = opened(1, protocol="halluseg")
    late, quick = Hand(desk, "late"), Hand(desk, "quick")
    [shown] = late.queue()
    assert quick.queue() == []
    desk.assignments.idle_s = -1.0  # everything is idle at once
    [same] = quick.queue()
    desk.assignments.idle_s = 1000.0
    assert same.item.id == shown.item.id
    quick.say(same)
    with pytest.raises(Refusal, match="handed to somebody else"):
        late.say(shown)
    assert counted(desk, "check") == {"case-0": 1}


def test_a_late_decision_counts_where_nobody_else_took_the_item(opened: Open) -> None:
    desk = opened(1, protocol="halluseg")
    late = Hand(desk, "late")
    [shown] = late.queue()
    desk.assignments.idle_s = -1.0
    desk.database.call(lambda rows: desk.assignments._hand_back(rows, 1e12))
    late.say(shown)
    assert states(desk)["case-0"][1] == "accepted"


def test_the_same_request_twice_counts_once(opened: Open) -> None:
    desk = opened(1, protocol="halluseg", overlap=2)
    hand = Hand(desk, "a")
    [shown] = hand.queue()
    key = hand.say(shown)
    hand.say(shown, key=key)
    assert len(decisions_of(desk)) == 1
    with pytest.raises(Refusal, match="already"):
        hand.say(shown)
    with pytest.raises(Refusal, match="another decision"):
        Hand(desk, "b").say(shown, key=key)


def test_undo_goes_back_as_far_as_one_likes_and_keeps_everything(opened: Open) -> None:
    desk = opened(4, protocol="halluseg")
    hand = Hand(desk, "a")
    order = []
    for _ in range(4):
        [shown] = hand.queue()
        order.append(shown.item.id)
        hand.say(shown, "reject")
    for expected in reversed(order):
        assert hand.undo().decision.item_id == expected
        assert hand.queue()[0].item.id == expected
    with pytest.raises(Refusal, match="nothing to take back"):
        hand.undo()
    assert [d.undone for d in decisions_of(desk)] == [True] * 4
    assert hand.work() == 4
    assert {state for _, state, _ in states(desk).values()} == {"accepted"}
    assert len(decisions_of(desk)) == 8


def test_undo_by_its_key_twice_is_once_and_others_cannot(opened: Open) -> None:
    desk = opened(3, protocol="halluseg")
    hand = Hand(desk, "a")
    keys = [hand.say(hand.queue()[0]) for _ in range(2)]
    hand.undo(keys[0])
    hand.undo(keys[0])
    assert [d.undone for d in decisions_of(desk)] == [True, False]
    with pytest.raises(Refusal):
        Hand(desk, "b").undo(keys[1])


def test_undo_of_an_early_stage_takes_the_item_back_from_the_later_one(opened: Open) -> None:
    desk = opened(1)
    a, b = Hand(desk, "a"), Hand(desk, "b")
    a.say(a.queue()[0])
    [detail] = b.queue()
    assert detail.stage == "detail"
    a.undo()
    assert states(desk)["case-0"] == ("screening", "open", 0)
    assert b.queue() == []
    a.say(a.queue()[0])
    assert b.queue()[0].stage == "detail"


def test_skipped_items_go_to_others_and_come_again_when_asked_for(opened: Open) -> None:
    desk = opened(2, protocol="halluseg")
    a, b = Hand(desk, "a"), Hand(desk, "b")
    first = a.queue()[0]
    a.say(first, "skip")
    assert [shown.item.id for shown in a.queue(5)] == ["case-1"]
    a.work()
    counts = desk.database.call(lambda rows: desk.assignments.counts(rows, "a"))
    assert counts == {"done": 1, "skipped": 1}
    desk.database.call(lambda rows: desk.assignments.take_up_skipped(rows, "a"))
    assert a.queue()[0].item.id == first.item.id
    a.say(a.queue()[0], "skip")
    b.work()
    a.undo()  # somebody else has it by now
    assert a.queue() == []
    assert counted(desk, "check") == {"case-0": 1, "case-1": 1}


def test_what_three_people_skip_waits_for_an_adjudicator(opened: Open) -> None:
    desk = opened(1, protocol="halluseg")
    for name in "abc":
        hand = Hand(desk, name)
        hand.say(hand.queue()[0], "skip")
    [split] = desk.database.call(lambda rows: desk.splits(rows))
    assert split.why == "skipped by several people"


def test_adjudicators_see_everybody_s_reasons_and_have_the_last_word(opened: Open) -> None:
    desk = opened(1, protocol="halluseg", overlap=2)
    a, b = Hand(desk, "a"), Hand(desk, "b")
    a.say(a.queue()[0], comment="fine")
    b.say(b.queue()[0], "reject", reasons=["outside"], comment="the sky changed")
    [split] = desk.database.call(lambda rows: desk.splits(rows))
    assert split.why == "opinions differ"
    assert [(d.reviewer, d.reasons, d.comment) for d in split.decisions] == [
        ("a", (), "fine"), ("b", ("outside",), "the sky changed"),
    ]  # fmt: skip
    with pytest.raises(Refusal, match="adjudicators"):
        a.say(split.shown)
    judge, second = Hand(desk, "j", "adjudicator"), Hand(desk, "k", "owner")
    judge.say(split.shown, "reject", reasons=["outside"])
    with pytest.raises(Refusal, match="settled"):
        second.say(split.shown)
    assert states(desk)["case-0"][1] == "rejected"
    judge.undo()
    assert states(desk)["case-0"][1] == "split"
    assert decisions_of(desk)[-1].stage == f"{ADJUDICATION}check"


def test_flagged_items_wait_whatever_was_voted(opened: Open) -> None:
    desk = opened(1, protocol="halluseg")
    hand = Hand(desk, "a")
    hand.say(hand.queue()[0], flagged=True)
    assert states(desk)["case-0"][1] == "split"
    [split] = desk.database.call(lambda rows: desk.splits(rows))
    assert split.why == "flagged"


def test_gold_items_are_for_everybody_and_begin_with_feedback(opened: Open) -> None:
    desk = opened(60, gold=7, protocol="halluseg")
    seen = []

    def note(shown: Any) -> str:
        seen.append((shown.item.id, shown.stage, shown.feedback))
        return "accept"

    hand = Hand(desk, "a")
    hand.work(verdict=note)
    assert seen[:4] == [(f"case-{k}", WARM_UP, ("accept", "reject")[k % 2]) for k in range(4)]
    hidden = [item for item, stage, _ in seen[4:] if item in {"case-4", "case-5", "case-6"}]
    assert hidden
    assert all(stage == "check" and not feedback for _, stage, feedback in seen[4:])
    Hand(desk, "b").work(most=4)
    assert {state for item, (_, state, _) in states(desk).items() if item < "case-7"} >= {"gold"}
    assert len(counted(desk, "check")) == 60 + len(hidden)


def test_corrections_reach_the_next_stage_with_what_they_replace(opened: Open) -> None:
    desk = opened(1)
    hand = Hand(desk, "a")
    hand.say(hand.queue()[0])
    [shown] = hand.queue()
    mask = {"size": (16, 16), "counts": shown.item.mask["counts"]}  # type: ignore[index]
    hand.say(shown, texts={"positive": "grey elephant"}, mask=mask)
    [shown] = Hand(desk, "b").queue()
    assert (shown.stage, shown.item.texts["positive"]) == ("cross-check", "grey elephant")
    assert shown.original == {"positive": "elephant"}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"texts": {"positive": "x"}}, "cannot be corrected"),  # not in this stage
        ({"reasons": ["OC-1"]}, "no such reason"),
        ({"item_id": "nothing"}, "no such item"),
        ({"stage": "nothing"}, "no such stage"),
        ({"key": "short"}, "no such key"),
        ({"key": "long enough\0"}, "no such key"),
    ],
)
def test_what_a_stage_does_not_allow_is_refused(
    opened: Open, more: dict[str, Any], words: str
) -> None:
    desk = opened(1)
    hand = Hand(desk, "a")
    with pytest.raises(Refusal, match=words):
        hand.say(hand.queue()[0], **more)
    assert decisions_of(desk) == []


def test_unsound_masks_and_questions_are_refused(opened: Open) -> None:
    desk = opened(1, protocol="halluseg")
    hand = Hand(desk, "a")
    [shown] = hand.queue()
    for mask in ({"size": (16, 16), "counts": "PPPP"}, {"size": (8, 8), "counts": "P2"}):
        with pytest.raises(Refusal, match="mask is unsound"):
            hand.say(shown, mask=mask)
    assert decisions_of(desk) == []


def test_questions_are_corrected_not_exchanged(opened: Open) -> None:
    desk = opened(1, protocol="reactbench")
    hand = Hand(desk, "a")
    hand.say(hand.queue()[0])
    [shown] = hand.queue()
    first, *rest = shown.item.questions
    changed = msgspec.structs.replace(first, query="Are they there?", reference="yes")
    for questions in ((), rest, (changed, *rest, first), (*rest, changed)):
        with pytest.raises(Refusal, match="not the questions"):
            hand.say(shown, questions=tuple(questions))
    with pytest.raises(Refusal, match="question 1: the key"):
        hand.say(shown, questions=(msgspec.structs.replace(first, reference="Yes"), *rest))
    hand.say(shown, questions=(changed, *rest))
    assert decisions_of(desk)[-1].questions == (changed, *rest)


def test_a_week_s_work_resumes_and_new_items_join(
    opened: Open, tmp_path: Path, database: str
) -> None:
    desk = opened(3, protocol="halluseg")
    hand = Hand(desk, "a")
    hand.work(2)
    desk.close()
    folder = tmp_path / "build"
    items = [make_item(folder, k, "halluseg", 16) for k in range(5)]
    write_items(folder, items)
    again = opened()
    assert [s.item.id for s in Hand(again, "a").queue(9)] == ["case-2", "case-3", "case-4"]
    more = opened(overlap=2)  # opinions may be asked for later
    assert next(s.item.id for s in Hand(more, "b").queue(9)) == "case-0"


def test_changed_and_foreign_items_are_refused(opened: Open, tmp_path: Path, database: str) -> None:
    opened(2, protocol="halluseg").close()
    folder = tmp_path / "build"
    changed = make_item(folder, 0, "halluseg", 16, texts={"positive": "other"})
    write_items(folder, [changed])
    with pytest.raises(UsageError, match="changed after their review began"):
        opened()
    write_items(folder, [make_item(folder, 9, "halluseg", 16)])
    with pytest.raises(UsageError, match="other items"):
        opened()


def test_the_database_itself_refuses_to_change_decisions(opened: Open) -> None:
    desk = opened(1, protocol="halluseg")
    hand = Hand(desk, "a")
    hand.say(hand.queue()[0])
    hand.undo()
    for statement in (
        "UPDATE decision SET verdict='reject'", "DELETE FROM decision",
        "UPDATE undo SET person='b'", "DELETE FROM undo",
    ):  # fmt: skip
        with pytest.raises(Exception, match="never changed"):
            desk.database.call(lambda rows, s=statement: rows(s))  # type: ignore[misc]
    assert len(decisions_of(desk)) == 1


def test_what_is_exported_settles_as_the_desk_did(
    opened: Open, tmp_path: Path, database: str
) -> None:
    desk = opened(6)

    def verdict(shown: Any) -> str:
        return "reject" if shown.item.id == "case-4" else "accept"

    while sum(Hand(desk, name).work(1, verdict) for name in "abc"):
        pass
    from groundfault.building.review import read_decisions

    for name in ("d.jsonl", "d.parquet"):
        n = export(tmp_path / "build", tmp_path / name, database=database)
        decisions = read_decisions(tmp_path / name)
        assert n == len(decisions) == len(decisions_of(desk))
        by_item: dict[str, list[Decision]] = {}
        for decision in decisions:
            by_item.setdefault(decision.item_id, []).append(decision)
        for item, (_, state, _) in states(desk).items():
            record = desk.items.record(item)
            assert settle(record, by_item[item], desk.ledger.protocol(item)).state == state


def test_a_broken_build_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        open_desk(tmp_path / "nothing")
    item = make_item(tmp_path, 0, "cafe", 16)
    for wrong in ("../secret.png", "/etc/passwd", "pictures/none.png", ""):
        import msgspec

        write_items(tmp_path, [msgspec.structs.replace(item, after=wrong)])
        with pytest.raises(DataError, match=r"line 1 \(case-0\)"):
            open_desk(tmp_path)
    write_items(tmp_path, [])
    with pytest.raises(DataError, match="nothing awaits review"):
        open_desk(tmp_path)
    write_items(tmp_path, [item])
    with pytest.raises(UsageError, match="mysql"):
        open_desk(tmp_path, database="mysql://me:secret@host/db")
    with pytest.raises(UsageError, match="nobody has reviewed here"):
        export(tmp_path, tmp_path / "d.jsonl")
    with closing(open_desk(tmp_path)) as desk:
        assert desk.items.picture("0", "after") is not None
        for place, side in (("1", "after"), ("-1", "after"), ("0", "mask"), ("²", "after")):
            assert desk.items.picture(place, side) is None


def test_links_that_lead_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    build, outside = tmp_path / "build", tmp_path / "outside.png"
    item = make_item(build, 0, "cafe", 16)
    (build / item.after).rename(outside)
    (build / item.after).symlink_to(outside)
    write_items(build, [item])
    with closing(open_desk(build)) as desk:
        assert desk.items.picture("0", "after") is None
        assert desk.items.picture("0", "before") is not None


def test_a_lost_connection_to_postgres_is_made_again(tmp_path: Path, postgres: str) -> None:
    import psycopg

    make_review(tmp_path, 2, protocol="halluseg", side_px=16)
    with psycopg.connect(postgres, autocommit=True) as server:
        server.execute("CREATE DATABASE lost")
        url = postgres.replace("@/postgres?", "@/lost?")
        with closing(open_desk(tmp_path, database=url)) as desk:
            hand = Hand(desk, "a")
            hand.say(hand.queue()[0])
            server.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname='lost'"
            )
            with pytest.raises(Unavailable):
                hand.queue()  # nothing happened: browsers try again
            hand.say(hand.queue()[0])
            assert len(decisions_of(desk)) == 2


def test_an_unreachable_postgres_is_said_without_its_password(tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    make_review(tmp_path, 1, side_px=16)
    with pytest.raises(UsageError, match="cannot be opened") as told:
        open_desk(tmp_path, database="postgresql://me:hunter2@127.0.0.1:1/db")
    assert "hunter2" not in str(told.value)
