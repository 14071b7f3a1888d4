"""Stages keep every result as it comes, ask nobody twice, and their numbers add up."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundfault.building.funnel import Funnel
from groundfault.building.records import Candidate, Dropped
from groundfault.building.stages import (
    FAILED,
    Count,
    Keep,
    kept_candidates,
    read_records,
    run_stage,
    stage_file,
)
from groundfault.io.photographs import Photograph, Thing


def candidate(number: int) -> Candidate:
    photograph = Photograph(id=str(number), source="t", file="a.jpg", height_px=4, width_px=4)
    target = Thing(id="1", category="cup")
    return Candidate(id=f"c{number}", task="SM", photograph=photograph, target=target)


class Sorting:
    """Drops odd ones, fails with what it is told to, and notes whom it was asked about."""

    name = "sort"

    def __init__(self, *, setting: str = "", failing: frozenset[str] = frozenset()) -> None:
        self.setting, self.failing, self.asked = setting, failing, list[str]()
        self.dies_after = 10**9

    def identity(self) -> Mapping[str, str]:
        return {"setting": self.setting}

    def depends(self, candidate: Candidate) -> str:
        return ""

    def run(self, candidates: Iterable[Candidate], keep: Keep) -> str:
        for each in reversed(list(candidates)):  # in any order
            if len(self.asked) == self.dies_after:
                raise KeyboardInterrupt
            self.asked.append(each.id)
            if each.id in self.failing:
                keep(each, Dropped(reason=FAILED))
            elif int(each.id[1:]) % 2:
                keep(each, Dropped(reason="odd", details="by its number"))
            else:
                keep(each, msgspec.structs.replace(each, facts={"sorted": self.setting}))
        return ""


def some(count: int) -> Iterator[Candidate]:
    return map(candidate, range(count))


def test_results_are_kept_in_order_and_nobody_is_asked_twice(tmp_path: Path) -> None:
    first = Sorting()
    count, stopped = run_stage(first, tmp_path, lambda: some(7))
    assert (count.entered, count.kept, count.dropped, stopped) == (7, 4, {"odd": 3}, "")
    assert [c.id for c in kept_candidates(tmp_path, "sort")] == ["c0", "c2", "c4", "c6"]
    content = stage_file(tmp_path, "sort").read_bytes()
    again = Sorting()
    assert run_stage(again, tmp_path, lambda: some(7))[0] == count
    assert not again.asked and stage_file(tmp_path, "sort").read_bytes() == content
    more = Sorting()
    run_stage(more, tmp_path, lambda: some(9))
    assert sorted(more.asked) == ["c7", "c8"]


def test_another_setting_or_another_candidate_is_another_question(tmp_path: Path) -> None:
    run_stage(Sorting(), tmp_path, lambda: some(3))
    other = Sorting(setting="other")
    run_stage(other, tmp_path, lambda: some(3))
    assert len(other.asked) == 3
    back = Sorting()
    run_stage(back, tmp_path, lambda: some(3))
    assert not back.asked  # the first answers are still there
    changed = Sorting()
    run_stage(changed, tmp_path, lambda: (msgspec.structs.replace(c, seed=5) for c in some(3)))
    assert len(changed.asked) == 3


def test_what_failed_is_asked_again_only_if_that_is_wanted(tmp_path: Path) -> None:
    failing = frozenset({"c0", "c1"})
    count, _ = run_stage(Sorting(failing=failing), tmp_path, lambda: some(4))
    assert count.dropped == {FAILED: 2, "odd": 1}
    content = Sorting()
    run_stage(content, tmp_path, lambda: some(4))
    assert not content.asked
    seen: list[Count] = []
    retried = Sorting()
    count, _ = run_stage(retried, tmp_path, lambda: some(4), retry=True, on_progress=seen.append)
    assert sorted(retried.asked) == ["c0", "c1"] and count.dropped == {"odd": 2}
    assert seen[-1] == count


@given(st.integers(0, 6), st.integers(1, 40))
def test_a_kill_loses_what_was_under_way_and_nothing_else(dies: int, cut: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        killed = Sorting()
        killed.dies_after = dies
        if dies < 6:
            with pytest.raises(KeyboardInterrupt):
                run_stage(killed, folder, lambda: some(6))
        else:
            run_stage(killed, folder, lambda: some(6))
        journal = Path(folder) / "stages" / "sort.journal"
        if journal.exists() and dies:
            os.truncate(journal, max(0, journal.stat().st_size - cut))  # a record cut short
        resumed = Sorting()
        count, _ = run_stage(resumed, folder, lambda: some(6))
        assert count == Count.of("sort", 6, 3, {"odd": 3})
        lost = 1 if cut <= 40 else 2
        assert 6 - dies <= len(resumed.asked) <= 6 - dies + lost + 1
        assert [r.id for r in read_records(folder, "sort")] == [f"c{k}" for k in range(6)]


def test_a_funnel_that_does_not_add_up_says_where() -> None:
    first = Count.of("mine", 10, 6, {"small": 4})
    second = Count.of("propose", 6, 5, {"None": 1})
    assert Funnel(stages=(first, second)).problem == ""
    lost = Count.of("propose", 5, 5, {})
    assert "6" in Funnel(stages=(first, lost)).problem
    assert Count.of("edit", 9, 4, {"refused": 2}).waiting == 3
    encoded = msgspec.json.decode(msgspec.json.encode(first))
    assert encoded == {"name": "mine", "in": 10, "out": 6, "dropped": {"small": 4}, "waiting": 0}
