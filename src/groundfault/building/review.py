"""What people say about candidates: items to review, decisions, and what follows from them.

A build writes DIR/review/items.jsonl, the desk shows them and keeps every decision, and the build
reads decisions.jsonl or decisions.parquet back. Decisions are never overwritten: one that was taken
back is marked `undone`, corrected texts and masks stand beside the original ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Literal, TypeVar

import msgspec

from groundfault.building.records import Question
from groundfault.building.review_rules import ReviewProtocol, Stage
from groundfault.errors import DataError, UsageError
from groundfault.io.foreign import decode_json
from groundfault.io.store import atomic_file, read_table, write_bytes
from groundfault.records import Rle

__all__ = [
    "ADJUDICATION",
    "WARM_UP",
    "Decision",
    "Opinion",
    "ReviewItem",
    "Settled",
    "Verdict",
    "consensus",
    "corrected",
    "is_same_exam",
    "items_file",
    "question_problems",
    "read_decisions",
    "read_items",
    "settle",
    "stages_of",
    "write_decisions",
    "write_items",
]

AnyPath = str | PathLike[str]
T = TypeVar("T")
Verdict = Literal["accept", "reject", "skip"]
ADJUDICATION = "adjudication:"
"""Stands before the name of the stage in decisions of an adjudicator, whose word is the last."""
WARM_UP = "warm-up"
"""The stage of decisions that were made to learn; they count for nothing."""
MOST_WORDS = 60
"""A question or option with more is a mistake."""


class ReviewItem(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate that awaits review. Pictures are paths below the build's folder."""

    id: str
    """The candidate's."""
    protocol: str
    """By whose rules it is reviewed: cafe, halluseg, reactbench, or one of your own."""
    kind: str
    """"SM", "CC", "OC", "replacement", "erasure" …"""
    before: str
    """The original."""
    after: str
    """The edited picture."""
    mask: Rle | None = None
    """The target, M*; of a replacement, where the old thing is in the original."""
    mask_after: Rle | None = None
    """Where the new thing is in the edited picture."""
    texts: dict[str, str] = {}
    """positive, negative, instruction, rationale …"""
    questions: tuple[Question, ...] = ()
    """Of an exam."""
    checks: dict[str, float | bool | str] = {}
    """What was measured automatically, shown as hints."""
    gold: Literal["accept", "reject"] | None = None
    """What is known about it: reviewers are measured by such items, and learn from them."""


class Opinion(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody says about an item."""

    item_id: str
    """The item that it is about."""
    stage: str
    """The round of review."""
    verdict: Verdict
    """accept, reject, or skip."""
    reasons: tuple[str, ...] = ()
    """Ids of the protocol's reasons, for a rejection."""
    texts: dict[str, str] = {}
    """Corrected ones only."""
    mask: Rle | None = None
    """Touched up; of a replacement, that of the new thing."""
    questions: tuple[Question, ...] | None = None
    """All of them, if any was corrected."""
    comment: str = ""
    """In the reviewer's own words."""
    flagged: bool = False
    """An adjudicator should look at it."""
    seconds: float = 0.0
    """How long the reviewer looked."""


class Decision(Opinion, frozen=True, kw_only=True):
    """An opinion as it is kept: whose it is, and since when."""

    reviewer: str
    """The name that they joined with."""
    time: str = ""
    """ISO, UTC."""
    undone: bool = False
    """The reviewer took it back: it counts for nothing."""


class Settled(msgspec.Struct, frozen=True, kw_only=True):
    """What follows from the decisions about an item."""

    state: Literal["accepted", "rejected", "open", "split"]
    """`split` waits for an adjudicator."""
    stage: str
    """The one it is in, or that decided."""
    item: ReviewItem
    """As accepted opinions corrected it."""
    opinions: int = 0
    """How many the stage has."""
    votes: dict[str, int] = {}
    """Of the stage: verdict → how many."""
    reasons: tuple[str, ...] = ()
    """Everybody's, for rejecting it."""


# ── what follows ────────────────────────────────────────────────────────────────────────────────


def stages_of(item: ReviewItem, protocol: ReviewProtocol) -> tuple[Stage, ...]:
    """The stages that an item goes through."""
    return tuple(s for s in protocol.stages if item.questions or not s.questions)


def consensus(
    verdicts: Sequence[Verdict], opinions: int, agree: int, *, unanimous: bool = False
) -> Literal["accept", "reject", "open", "split"]:
    """What so many opinions come to, of which `agree` must accept. With `unanimous`, people who
    disagree are not overruled by counting: it is `split`.

    >>> consensus(["accept", "reject", "accept"], 3, 2), consensus(["accept"] * 2, 3, 2)
    ('accept', 'open')
    >>> consensus(["accept", "reject", "accept"], 3, 3)
    'reject'
    """
    counted = [verdict for verdict in verdicts if verdict != "skip"]
    if len(counted) < opinions:
        return "open"
    if unanimous and len(set(counted)) > 1:
        return "split"
    return "accept" if counted.count("accept") >= agree else "reject"


def settle(item: ReviewItem, decisions: Iterable[Decision], protocol: ReviewProtocol) -> Settled:
    """How an item stands after these decisions about it, in the order in which they were made."""
    standing = _standing(decisions)
    stage, opinions = "", list[Decision]()
    for stage_ in stages_of(item, protocol):
        stage = stage_.name
        opinions = list(standing.get(stage, {}).values())
        rulings = list(standing.get(ADJUDICATION + stage, {}).values())
        state = _state(item, stage_, opinions, rulings)
        if state != "accept":
            ended: Any = {"reject": "rejected"}.get(state, state)
            return _settled(ended, stage, item, rulings[-1:] or opinions)
        accepted = [d for d in rulings[-1:] or opinions if d.verdict == "accept"]
        item = corrected(item, accepted)
    return _settled("accepted", stage, item, opinions)


def _standing(decisions: Iterable[Decision]) -> dict[str, dict[str, Decision]]:
    """Stage → reviewer → the last decision that was not taken back."""
    found: dict[str, dict[str, Decision]] = {}
    for decision in decisions:
        if not decision.undone and decision.stage != WARM_UP:
            found.setdefault(decision.stage, {}).pop(decision.reviewer, None)
            found[decision.stage][decision.reviewer] = decision
    return found


def _state(
    item: ReviewItem, stage: Stage, opinions: list[Decision], rulings: list[Decision]
) -> Literal["accept", "reject", "open", "split"]:
    ruled = [d.verdict for d in rulings if d.verdict != "skip"]
    if ruled:
        return "accept" if ruled[-1] == "accept" else "reject"
    asked, agree = stage.asked(item.kind)
    state = consensus(
        [d.verdict for d in opinions], asked, agree, unanimous=stage.adjudicate == "split"
    )
    is_flagged = any(d.flagged for d in opinions if d.verdict != "skip")
    return "split" if state in ("accept", "reject") and is_flagged else state


def _settled(state: Any, stage: str, item: ReviewItem, opinions: Sequence[Decision]) -> Settled:
    verdicts = [decision.verdict for decision in opinions]
    reasons = [r for d in opinions if d.verdict == "reject" for r in d.reasons]
    return Settled(
        state=state,
        stage=stage,
        item=item,
        opinions=len(verdicts) - verdicts.count("skip"),
        votes={verdict: verdicts.count(verdict) for verdict in sorted(set(verdicts))},
        reasons=tuple(dict.fromkeys(reasons)),
    )


def corrected(item: ReviewItem, accepted: Sequence[Decision]) -> ReviewItem:
    """The item with what those who accepted it corrected. Where they differ, the wording that most
    of them have counts (leaving it is one too), and the last of several as frequent ones."""
    texts = {name: _chosen([d.texts.get(name, text) for d in accepted], text)
             for name, text in item.texts.items()}  # fmt: skip
    masks = [d.mask for d in accepted if d.mask is not None]
    questions = [d.questions for d in accepted if d.questions is not None]
    field = "mask" if item.mask_after is None else "mask_after"
    changes: dict[str, Any] = {"texts": texts}
    if masks:
        changes[field] = masks[-1]
    if questions:
        changes["questions"] = questions[-1]
    return msgspec.structs.replace(item, **changes)


def _chosen(wordings: Sequence[str], original: str) -> str:
    if not wordings:
        return original
    most = max(wordings.count(wording) for wording in wordings)
    return [wording for wording in wordings if wordings.count(wording) == most][-1]


# ── questions that were corrected by hand ───────────────────────────────────────────────────────


def question_problems(questions: Sequence[Question]) -> dict[int, str]:
    """Place in the list → what is wrong with that question, in words for whoever typed it."""
    found = {}
    firsts = {(each.number, each.variant): each for each in questions if not each.twin}
    for place, question in enumerate(questions):
        problem = _question_problem(question)
        if question.twin and not problem:
            problem = _twin_problem(firsts.get((question.number, question.variant)), question)
        if problem:
            found[place] = problem
    return found


def _question_problem(question: Question) -> str:
    if not question.query.strip():
        return "the question is empty"
    if any(len(text.split()) > MOST_WORDS for text in (question.query, *question.options)):
        return f"more than {MOST_WORDS} words in a question or option"
    if question.type == "YN":
        return "" if question.reference in ("yes", "no") else "the key is yes or no"
    if question.type == "SA":
        return _answer_problem(question)
    options = [option.strip().casefold() for option in question.options]
    if not 2 <= len(options) <= len(ascii_uppercase) or not all(options):
        return "at least two options, none of them empty"
    if len(set(options)) < len(options):
        return "two options are the same: only one may be right"
    letters = ascii_uppercase[: len(options)]
    is_letter = len(question.reference) == 1 and question.reference in letters
    return "" if is_letter else f"the key is a letter from A to {letters[-1]}"


def _answer_problem(question: Question) -> str:
    if not question.reference.strip():
        return "the key is empty"
    return "" if question.rubric.strip() else "nothing says what is right and what is wrong"


def _twin_problem(first: Question | None, twin: Question) -> str:
    """The same words about both pictures, and another answer: else a twin tests nothing."""
    if first is None:
        return ""
    if (first.query, first.options) != (twin.query, twin.options):
        return "its twin has other words or options"
    if first.type != "SA" and first.reference == twin.reference:
        return "the same key for both pictures: a question needs another answer about its twin"
    return ""


def is_same_exam(questions: Sequence[Question], others: Sequence[Question]) -> bool:
    """Whether these questions are those ones, with other words or keys at most."""
    return [_shape(question) for question in questions] == [_shape(other) for other in others]


def _shape(question: Question) -> Question:
    """A question without what may be corrected."""
    options = ("",) * len(question.options)
    rubric = "some" if question.rubric else ""
    return msgspec.structs.replace(question, query="", reference="", rubric=rubric, options=options)


# ── files ───────────────────────────────────────────────────────────────────────────────────────


def items_file(folder: AnyPath) -> Path:
    """Where a build leaves what awaits review."""
    return Path(folder) / "review" / "items.jsonl"


def write_items(folder: AnyPath, items: Iterable[ReviewItem]) -> Path:
    """Write what awaits review, one record per line."""
    path = items_file(folder)
    write_bytes(path, b"".join(msgspec.json.encode(item) + b"\n" for item in items))
    return path


def read_items(folder: AnyPath) -> Iterator[ReviewItem]:
    """Read what awaits review; ids are unique."""
    path, seen = items_file(folder), set()
    if not path.is_file():
        raise UsageError(
            f"{path}: no such file; groundfault build writes it, with what awaits review"
        )
    for number, item in _read_lines(path, ReviewItem):
        if item.id in seen or not item.id:
            remedy = "give each candidate an id of its own"
            raise DataError(path, f"id {item.id!r} twice", record=f"line {number}", remedy=remedy)
        seen.add(item.id)
        yield item


def read_decisions(path: AnyPath) -> list[Decision]:
    """Read decisions.jsonl or decisions.parquet, in the order in which they were made."""
    path = Path(path)
    if path.suffix == ".parquet":
        rows = read_table(path).to_pylist()
        return [_from_row(path, number, row) for number, row in enumerate(rows, start=1)]
    return [decision for _, decision in _read_lines(path, Decision)]


def write_decisions(path: AnyPath, decisions: Iterable[Decision]) -> None:
    """Write decisions as NAME.jsonl or NAME.parquet."""
    path = Path(path)
    if path.suffix == ".parquet":
        _write_parquet(path, decisions)
    elif path.suffix == ".jsonl":
        write_bytes(path, b"".join(msgspec.json.encode(d) + b"\n" for d in decisions))
    else:
        raise UsageError(f"{path}: decisions are written as NAME.jsonl or NAME.parquet")


NESTED = ("texts", "mask", "questions")
"""Columns of a table that hold JSON; "" where there is nothing."""


def _write_parquet(path: Path, decisions: Iterable[Decision]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    text, flag = pa.string(), pa.bool_()
    types = {"reasons": pa.list_(text), "flagged": flag, "undone": flag, "seconds": pa.float64()}
    schema = pa.schema([(n, types.get(n, text)) for n in Decision.__struct_fields__])
    rows = [_to_row(decision) for decision in decisions]
    with atomic_file(path) as temporary:
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), temporary, compression="zstd")


def _to_row(decision: Decision) -> dict[str, Any]:
    row: dict[str, Any] = msgspec.structs.asdict(decision)
    for name in NESTED:
        row[name] = msgspec.json.encode(row[name]).decode() if row[name] else ""
    return {**row, "reasons": list(decision.reasons)}


def _from_row(path: Path, number: int, row: Mapping[str, Any]) -> Decision:
    try:
        nested = {n: decode_json(row[n]) for n in NESTED if row.get(n)}
        plain = {n: value for n, value in row.items() if n not in NESTED}
        return msgspec.convert({**plain, **nested}, Decision)
    except (msgspec.MsgspecError, TypeError) as problem:
        raise _unsound(path, f"row {number}", problem) from None


def _read_lines(path: Path, type_: type[T]) -> Iterator[tuple[int, T]]:
    """Number and record of each line that is not empty."""
    decoder = msgspec.json.Decoder(type_)
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    try:
                        yield number, decoder.decode(line)
                    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
                        raise _unsound(path, f"line {number}", problem) from None
    except OSError as problem:
        raise UsageError(f"{path}: cannot be read ({problem.strerror})") from None


def _unsound(path: Path, record: str, problem: Exception) -> DataError:
    remedy = "write the file again with the command that made it"
    return DataError(path, f"no such record ({problem})", record=record, remedy=remedy)
