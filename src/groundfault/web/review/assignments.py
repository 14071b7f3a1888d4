"""Who sees what next, and what happens to it.

Assignments are blind and independent: nobody is shown what others said, and nobody gets an item
twice in one stage. An item has never more assignments, open or decided, than opinions are asked
for. What somebody has not touched for a while is handed back, and what was given ahead goes to
whoever has nothing left. Gold items, whose answer is known,
are strewn among the others; the first of them come with feedback.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from groundfault.building.records import Question
from groundfault.building.review import (
    ADJUDICATION,
    WARM_UP,
    Decision,
    Opinion,
    ReviewItem,
    is_same_exam,
    question_problems,
)
from groundfault.io.masks import parse_mask, to_rle
from groundfault.records import Rle
from groundfault.web.doors import Person
from groundfault.web.review.database import Rows
from groundfault.web.review.ledger import Ledger, Stored, timestamp

__all__ = ["AHEAD", "IDLE_S", "Assignments", "Refusal", "Said", "Shown", "TakenBack", "Work"]

AHEAD = 6
"""So many items are given to a browser at once: those behind the first are fetched beforehand."""
IDLE_S = 30 * 60.0
"""What was not touched for so long is handed back."""
LONGEST = 10_000
"""Letters of a text or comment."""
MOST_S = 86_400.0
MINE = """
SELECT a.item, a.stage FROM assignment a JOIN task t ON t.item=a.item
WHERE a.person=? AND a.state='open' AND (t.state='gold' OR (t.state='open' AND t.stage=a.stage))
ORDER BY a.given, t.place LIMIT ?
"""
FREE = """
SELECT t.item, t.stage FROM task t WHERE t.state='open' AND t.wanted>0 AND NOT EXISTS
(SELECT 1 FROM assignment a WHERE a.item=t.item AND a.stage=t.stage AND a.person=?)
ORDER BY t.wanted, t.place LIMIT 1
"""
AHEAD_OF_OTHERS = """
SELECT a.item, a.stage, a.person FROM assignment a
JOIN task t ON t.item=a.item AND t.stage=a.stage AND t.state='open'
WHERE a.state='open' AND a.person<>? AND NOT EXISTS (SELECT 1 FROM assignment m
WHERE m.item=a.item AND m.stage=a.stage AND m.person=?) AND EXISTS (SELECT 1 FROM assignment e
WHERE e.person=a.person AND e.state='open' AND e.given<a.given) ORDER BY a.given DESC LIMIT 1
"""
GOLD = """
SELECT t.item FROM task t WHERE t.state='gold' AND NOT EXISTS
(SELECT 1 FROM assignment a WHERE a.item=t.item AND a.person=?) ORDER BY t.place LIMIT 1
"""


class Refusal(Exception):
    """A decision cannot be taken, for a reason that its sender may read."""

    def __init__(self, reason: str, status: int = 409) -> None:
        super().__init__(reason)
        self.status = status


class Said(Opinion, frozen=True, kw_only=True, tag_field="op", tag="decide"):
    """An opinion as a browser sends it. Sent twice under one key, it counts once."""

    key: str


class TakenBack(msgspec.Struct, frozen=True, kw_only=True, tag_field="op", tag="undo"):
    """A decision that its sender takes back; "" for the last one that stands."""

    key: str = ""


Work = Said | TakenBack


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """An item as a reviewer sees it: with what earlier stages corrected, without what others said
    in this one, and without what is known about gold."""

    item: ReviewItem
    stage: str
    """What decisions name; of gold items among others, the stage they pretend to be in."""
    rules: str
    """The stage of the protocol that says what is asked."""
    place: int
    original: dict[str, str] = {}
    """Texts that an earlier stage corrected, as they were."""
    feedback: Literal["accept", "reject"] | None = None
    """In a warm-up: what is right, to be shown after the decision."""


class Assignments:
    """Gives out the items of a ledger."""

    def __init__(self, ledger: Ledger, *, idle_s: float = IDLE_S) -> None:
        self.ledger, self.idle_s = ledger, idle_s

    # ── giving out ──────────────────────────────────────────────────────────────────────────────

    def queue(self, rows: Rows, person: str, ahead: int = AHEAD) -> list[Shown]:
        """The next items of somebody, the first of which is to be decided now."""
        return [self.shown(rows, *given) for given in self.given(rows, person, ahead)]

    def given(self, rows: Rows, person: str, ahead: int = AHEAD) -> list[tuple[str, str]]:
        """The same as items and stages only."""
        now = time.time()
        self._hand_back(rows, now)
        rows("UPDATE assignment SET seen=? WHERE person=? AND state='open'", now, person)
        mine: list[tuple[str, str]] = [(item, stage) for item, stage in rows(MINE, person, ahead)]
        while len(mine) < ahead:
            given = now + 1e-5 * len(mine)  # in order, the first being the one that is looked at
            more = self._assign(rows, person, given)
            if more is None and not mine:
                more = self._take_over(rows, person, given)
            if more is None:
                break
            mine.append(more)
        return mine

    def _hand_back(self, rows: Rows, now: float) -> None:
        idle = "SELECT item, stage, person FROM assignment WHERE state='open' AND seen<?"
        self._free(rows, rows(idle, now - self.idle_s))

    def let_go(self, rows: Rows, person: str) -> None:
        """Hand back everything that somebody has not decided."""
        held = "SELECT item, stage, person FROM assignment WHERE state='open' AND person=?"
        self._free(rows, rows(held, person))

    def _free(self, rows: Rows, held: Sequence[tuple[Any, ...]]) -> None:
        for place in held:
            rows("DELETE FROM assignment WHERE item=? AND stage=? AND person=?", *place)
            self.ledger.refresh(rows, place[0])

    def _assign(self, rows: Rows, person: str, now: float) -> tuple[str, str] | None:
        gold = self._gold(rows, person)
        if gold is None:
            free = rows(FREE, person)
            if not free:
                return None
            gold = free[0]
            rows("UPDATE task SET wanted=wanted-1 WHERE item=?", gold[0])
        rows("INSERT INTO assignment VALUES(?,?,?,'open',?,?)", *gold, person, now, now)
        return gold

    def _take_over(self, rows: Rows, person: str, now: float) -> tuple[str, str] | None:
        """What somebody was given ahead and does not look at yet, for one who has nothing left."""
        for item, stage, holder in rows(AHEAD_OF_OTHERS, person, person):
            rows(
                "UPDATE assignment SET person=?, given=?, seen=? "
                "WHERE item=? AND stage=? AND person=?",
                person,
                now,
                now,
                item,
                stage,
                holder,
            )
            return item, stage
        return None

    def _gold(self, rows: Rows, person: str) -> tuple[str, str] | None:
        """A gold item, if it is time for one."""
        found = rows(GOLD, person)
        if not found:
            return None
        [(item,)] = found
        protocol = self.ledger.protocol(item)
        [(learned,)] = rows(
            "SELECT count(*) FROM assignment WHERE person=? AND stage=?", person, WARM_UP
        )
        if learned < protocol.warm_up:
            return item, WARM_UP
        [(given,)] = rows("SELECT count(*) FROM assignment WHERE person=?", person)
        draw = hashlib.blake2b(f"{person}\0{given}".encode(), digest_size=4).digest()
        if int.from_bytes(draw) % protocol.gold_every:
            return None
        return item, protocol.stages[-1 if self.ledger.items.record(item).questions else 0].name

    def shown(self, rows: Rows, item: str, stage: str) -> Shown:
        """An item as a reviewer sees it in a stage."""
        known, record = self.ledger.items[item], self.ledger.items.record(item)
        protocol = self.ledger.protocol(item)
        is_warm_up = stage == WARM_UP
        rules = stage.removeprefix(ADJUDICATION)
        if is_warm_up:
            rules = protocol.stages[0].name
        now = record if known.gold is not None else self.ledger.settled(rows, item).item
        changed = {n: text for n, text in record.texts.items() if now.texts.get(n) != text}
        return Shown(
            item=msgspec.structs.replace(now, gold=None),
            stage=stage,
            rules=rules,
            place=known.place,
            original=changed,
            feedback=record.gold if is_warm_up else None,
        )

    def counts(self, rows: Rows, person: str) -> dict[str, int]:
        """How much somebody has done, and what is left for them."""
        [(done,)] = rows(
            "SELECT count(*) FROM assignment WHERE person=? AND state='decided'", person
        )
        [(skipped,)] = rows(
            "SELECT count(*) FROM assignment a JOIN task t ON t.item=a.item AND t.stage=a.stage "
            "WHERE a.person=? AND a.state='skipped' AND t.state='open' AND t.wanted>0",
            person,
        )
        return {"done": done, "skipped": skipped}

    def take_up_skipped(self, rows: Rows, person: str) -> None:
        """Forget what somebody skipped, so that it comes again."""
        rows("DELETE FROM assignment WHERE person=? AND state='skipped'", person)

    # ── deciding ────────────────────────────────────────────────────────────────────────────────

    def do(self, rows: Rows, person: Person, work: Work) -> Stored | None:
        """Write down what somebody says or takes back."""
        if isinstance(work, Said):
            self._decide(rows, person, work)
            return None
        return self._undo(rows, person.name, work.key)

    def _decide(self, rows: Rows, person: Person, said: Said) -> None:
        if not _is_key(said.key):
            raise Refusal("no such key", 400)
        earlier = self.ledger.find(rows, said.key)
        if earlier is not None:
            if earlier.decision.reviewer != person.name:
                raise Refusal("this key belongs to another decision")
            return  # a request that was repeated because its answer was lost
        decision = self._checked(person, said)
        if said.stage.startswith(ADJUDICATION):
            self._check_ruling(rows, person, said)
        else:
            self._occupy(rows, person.name, said)
        self.ledger.add(rows, said.key, decision)
        self.ledger.refresh(rows, said.item_id)

    def _check_ruling(self, rows: Rows, person: Person, said: Said) -> None:
        if not person.may("adjudicator"):
            raise Refusal("this is for adjudicators", 403)
        state = rows("SELECT state, stage FROM task WHERE item=?", said.item_id)
        if state != [("split", said.stage.removeprefix(ADJUDICATION))]:
            raise Refusal("somebody has settled this item already")

    def _occupy(self, rows: Rows, person: str, said: Said) -> None:
        """Turn the assignment into a decided or skipped one."""
        place = (said.item_id, said.stage, person)
        found = rows("SELECT state FROM assignment WHERE item=? AND stage=? AND person=?", *place)
        if not found:
            free = rows(
                "SELECT stage, wanted FROM task WHERE item=? AND state='open'", said.item_id
            )
            if not free or free[0][0] != said.stage or free[0][1] < 1:
                raise Refusal("this item was handed to somebody else meanwhile")
            now = time.time()
            rows("INSERT INTO assignment VALUES(?,?,?,'open',?,?)", *place, now, now)
        elif found[0][0] != "open":
            raise Refusal("you have decided about this item already")
        state = "skipped" if said.verdict == "skip" else "decided"
        rows("UPDATE assignment SET state=? WHERE item=? AND stage=? AND person=?", state, *place)

    def _undo(self, rows: Rows, person: str, key: str) -> Stored | None:
        """Take a decision back, and give its item to its sender again if nobody else has it. Twice
        is no more than once."""
        last = self.ledger.last_of(rows, person) if not key else []
        stored = self.ledger.find(rows, key) if _is_key(key) else next(iter(last), None)
        if stored is None or stored.decision.reviewer != person:
            raise Refusal("there is nothing to take back", 404)
        if stored.decision.undone:
            return stored
        self.ledger.take_back(rows, stored)
        item, stage = stored.decision.item_id, stored.decision.stage
        if not stage.startswith(ADJUDICATION):
            self._reopen(rows, item, stage, person)
        self.ledger.refresh(rows, item)
        return stored

    def _reopen(self, rows: Rows, item: str, stage: str, person: str) -> None:
        """The first of somebody's items again. A skipped one may be with others by now."""
        place = (item, stage, person)
        found = rows("SELECT state FROM assignment WHERE item=? AND stage=? AND person=?", *place)
        [(state, wanted)] = rows("SELECT state, wanted FROM task WHERE item=?", item)
        has_room = wanted > 0 or state == "gold"
        if found == [("decided",)] or (found and has_room):
            first = "SELECT min(given) FROM assignment WHERE person=?"
            [(given,)] = rows(first, person)
            rows(
                "UPDATE assignment SET state='open', given=?, seen=? "
                "WHERE item=? AND stage=? AND person=?",
                given - 1,
                time.time(),
                *place,
            )

    # ── checking what browsers send ─────────────────────────────────────────────────────────────

    def _checked(self, person: Person, said: Said) -> Decision:
        """A decision with everything that its stage allows, and nothing else."""
        if said.item_id not in self.ledger.items:
            raise Refusal("no such item", 404)
        protocol, record = (
            self.ledger.protocol(said.item_id),
            self.ledger.items.record(said.item_id),
        )
        name = said.stage.removeprefix(ADJUDICATION)
        stages = {stage.name: stage for stage in protocol.stages}
        stages[WARM_UP] = protocol.stages[0]
        if name not in stages:
            raise Refusal("no such stage", 404)
        stage = stages[name]
        known = {reason.id for reason in protocol.reasons_for(stage, record.kind)}
        if not known.issuperset(said.reasons):
            raise Refusal("no such reason", 400)
        if stage.reason_needed and said.verdict == "reject" and not said.reasons:
            raise Refusal("say why: a reason is needed here", 400)
        texts = {n: t.strip() for n, t in said.texts.items() if n in record.texts}
        if any(n not in stage.correct or not t or len(t) > LONGEST for n, t in texts.items()):
            raise Refusal("this text cannot be corrected here, or is empty", 400)
        return Decision(
            item_id=said.item_id,
            stage=said.stage,
            reviewer=person.name,
            verdict=said.verdict,
            reasons=tuple(dict.fromkeys(said.reasons)),
            texts=texts,
            mask=_checked_mask(said.mask, record) if stage.mask else None,
            questions=_checked_questions(said.questions, record) if stage.questions else None,
            comment=said.comment[:LONGEST],
            flagged=said.flagged,
            seconds=round(min(max(said.seconds, 0.0), MOST_S), 3),
            time=timestamp(),
        )


def _is_key(key: str) -> bool:
    """Whether it is one of a browser's own making: not every text can be looked for everywhere."""
    return 8 <= len(key) <= 64 and key.isascii() and key.replace("-", "").isalnum()


def _checked_mask(mask: Rle | None, record: ReviewItem) -> Rle | None:
    """A touched-up mask, if it is one, and of the picture's size."""
    before = record.mask_after or record.mask
    if mask is None or before is None:
        return None
    try:
        return to_rle(parse_mask({**mask, "size": list(mask["size"])}, *before["size"]))
    except ValueError as problem:
        raise Refusal(f"the mask is unsound: {problem}", 400) from None


def _checked_questions(
    questions: tuple[Question, ...] | None, record: ReviewItem
) -> tuple[Question, ...] | None:
    """Corrected questions: other words and keys, but neither more nor fewer nor others."""
    if questions is None:
        return None
    if not is_same_exam(questions, record.questions):
        raise Refusal("these are not the questions of this item", 400)
    for place, words in question_problems(questions).items():
        raise Refusal(f"question {place + 1}: {words}", 400)
    return questions
