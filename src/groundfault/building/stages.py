"""A stage of a build: candidates in, candidates or reasons out, each result kept as it comes.

    DIR/stages/NAME.journal   every result so far, by what it depends on; survives kill -9
    DIR/stages/NAME.jsonl     what became of each candidate, in order, once the stage is through

A result depends on the candidate as it came in and on the stage's identity (its settings, prompts,
model), and on nothing else. What has one already is not done, asked or paid for again; whoever
changes a setting redoes what depends on it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

import msgspec

from groundfault.building.records import Candidate, Dropped
from groundfault.errors import DataError
from groundfault.io.foreign import decode_json, open_file
from groundfault.io.store import atomic_file
from groundfault.llm.cost import CostEstimate
from groundfault.runs.journal import HEAD_BYTES, Journal

__all__ = [
    "FAILED",
    "STAGES",
    "Agree",
    "Count",
    "Keep",
    "Ledger",
    "Record",
    "Stage",
    "damaged",
    "encoded",
    "kept_candidates",
    "read_lines",
    "read_records",
    "run_stage",
    "stage_file",
    "unasked",
]

AnyPath = str | PathLike[str]
Result = Candidate | Dropped
Keep = Callable[[Candidate, Result], None]
"""Takes what became of a candidate, as soon as it is known."""
Agree = Callable[[str, CostEstimate], None]
"""Asked before somebody pays: who is to be asked, and what that will likely cost; raises to call it
off."""
STAGES = "stages"
FAILED = "failed"
"""The reason of what may go better next time: asked again if that is wanted."""


def unasked(about: str, guess: CostEstimate) -> None:
    """Nobody pays, or whoever does has agreed."""


class Stage(Protocol):
    """One step of the pipeline."""

    name: str

    def identity(self) -> Mapping[str, str]:
        """What results depend on besides the candidate."""
        ...

    def depends(self, candidate: Candidate) -> str:
        """What of this candidate's files a result depends on; "" where on none."""
        ...

    def run(self, candidates: Iterable[Candidate], keep: Keep) -> str:
        """Give `keep` what becomes of each candidate, in any order. Returns why it ended before
        all were done (a budget, a server that is down); "" if it did not."""
        ...


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of one candidate in one stage: a line of NAME.jsonl."""

    id: str
    """The candidate's."""
    candidate: Candidate | None = None
    """As it goes on; None where it was dropped."""
    reason: str = ""
    """Why it was dropped, a short stable id; "" where it goes on."""
    details: str = ""
    """The same in more words."""


class Count(msgspec.Struct, frozen=True, kw_only=True):
    """How many candidates came into a stage and what became of them. The numbers add up:
    entered = kept + dropped + waiting."""

    name: str
    """The stage: mine, propose, edit, verify …"""
    entered: int = msgspec.field(name="in")
    """Candidates that came in."""
    kept: int = msgspec.field(name="out")
    """Candidates that go on."""
    dropped: dict[str, int] = {}
    """Reason → how many, most frequent first."""
    waiting: int = 0
    """Those that the stage has not come to."""

    @classmethod
    def of(cls, name: str, entered: int, kept: int, dropped: Mapping[str, int]) -> Count:
        """A count with its reasons in order; what is not accounted for is waiting."""
        there = ((reason, n) for reason, n in dropped.items() if n)
        ordered = dict(sorted(there, key=lambda pair: (-pair[1], pair[0])))
        waiting = entered - kept - sum(ordered.values())
        return cls(name=name, entered=entered, kept=kept, dropped=ordered, waiting=waiting)


class Ledger:
    """The results of one stage on disk."""

    def __init__(self, folder: AnyPath, stage: Stage) -> None:
        place = Path(folder) / STAGES
        place.mkdir(parents=True, exist_ok=True)
        self.stage = stage
        self._identity = msgspec.json.encode(dict(sorted(stage.identity().items())))
        self._journal = Journal(place / f"{stage.name}.journal")
        self._journal.mend()
        self._places: dict[bytes, tuple[int, int]] = {}
        """Key → where its result stands in the journal, and how long it is."""
        self._failed: set[bytes] = set()
        self._size = 0
        if self._journal.path.exists():
            self._index()

    def _index(self) -> None:
        for end, content in self._journal.scan():
            try:
                key, record = msgspec.msgpack.decode(content, type=tuple[bytes, Record])
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as problem:
                raise damaged(self._journal.path, f"entry before byte {end}", problem) from None
            self._note(key, end, len(content), record)

    def _note(self, key: bytes, end: int, length: int, record: Record) -> None:
        self._places[key] = end - length, length
        (self._failed.add if record.reason == FAILED else self._failed.discard)(key)
        self._size = end

    def key(self, candidate: Candidate) -> bytes:
        """What the result of a candidate is found under."""
        digest = hashlib.sha256(self._identity)
        digest.update(msgspec.msgpack.encode(candidate))
        digest.update(self.stage.depends(candidate).encode())
        return digest.digest()[:16]

    def add(self, candidate: Candidate, result: Result) -> bool:
        """Keep what became of a candidate. Returns whether it had failed before."""
        if isinstance(result, Dropped):
            record = Record(id=candidate.id, reason=result.reason, details=result.details)
        else:
            record = Record(id=candidate.id, candidate=result)
        key = self.key(candidate)
        failed_before = key in self._failed
        length = self._journal.append((key, record))
        self._note(key, self._size + HEAD_BYTES + length, length, record)
        return failed_before

    def has(self, key: bytes, *, retry: bool = False) -> bool:
        """Whether it is known what became of a candidate; with `retry` a failure is not known."""
        return key in self._places and not (retry and key in self._failed)

    def records(self, keys: Sequence[bytes]) -> Iterator[Record | None]:
        """What became of candidates, in the order of their keys; None where that is not known
        yet."""
        if not self._places:
            yield from (None for _ in keys)
            return
        with self._journal.path.open("rb") as file:
            for key in keys:
                place = self._places.get(key)
                if place is None:
                    yield None
                    continue
                file.seek(place[0])
                yield msgspec.msgpack.decode(file.read(place[1]), type=tuple[bytes, Record])[1]

    def close(self) -> None:
        """Have everything on disk."""
        self._journal.flush()
        self._journal.close()


def run_stage(
    stage: Stage,
    folder: AnyPath,
    candidates: Callable[[], Iterator[Candidate]],
    *,
    retry: bool = False,
    on_progress: Callable[[Count], None] | None = None,
) -> tuple[Count, str]:
    """Do what is left of a stage and write its NAME.jsonl. Returns how many went where, and why it
    ended before all were done, if it did."""
    ledger = Ledger(folder, stage)
    keys = [ledger.key(each) for each in candidates()]
    tally = _Tally(stage.name, ledger, keys, on_progress)
    try:
        keyed = zip(keys, candidates(), strict=True)
        stopped = stage.run((c for key, c in keyed if not ledger.has(key, retry=retry)), tally.keep)
    finally:
        ledger.close()
    return _write(stage_file(folder, stage.name), stage.name, ledger, keys), stopped


class _Tally:
    """Counts while a stage runs, so that others can watch it."""

    def __init__(
        self,
        name: str,
        ledger: Ledger,
        keys: Sequence[bytes],
        on_progress: Callable[[Count], None] | None,
    ) -> None:
        self.name, self.ledger, self.on_progress = name, ledger, on_progress
        self.entered = self.kept = 0
        self.dropped: dict[str, int] = {}
        for record in ledger.records(keys):
            self.add(record)

    def add(self, record: Record | None) -> None:
        """Count a candidate, and what became of it if that is known."""
        self.entered += 1
        if record is not None:
            self._count(record.reason, 1)

    def count(self) -> Count:
        """How far the stage is."""
        return Count.of(self.name, self.entered, self.kept, self.dropped)

    def _count(self, reason: str, by: int) -> None:
        if reason:
            self.dropped[reason] = self.dropped.get(reason, 0) + by
        else:
            self.kept += by

    def keep(self, candidate: Candidate, result: Result) -> None:
        """Keep a result on disk and tell whoever watches."""
        if self.ledger.add(candidate, result):
            self._count(FAILED, -1)
        self._count(result.reason if isinstance(result, Dropped) else "", 1)
        if self.on_progress is not None:
            self.on_progress(self.count())


def _write(path: Path, name: str, ledger: Ledger, keys: Sequence[bytes]) -> Count:
    """Write what became of each candidate, in order, and count it."""
    with atomic_file(path) as temporary, temporary.open("wb") as file:
        tally = _Tally(name, ledger, (), None)
        for record in ledger.records(keys):
            tally.add(record)
            if record is not None:
                file.write(msgspec.json.encode(record) + b"\n")
    return tally.count()


def stage_file(folder: AnyPath, name: str) -> Path:
    """Where a stage says what became of its candidates."""
    return Path(folder) / STAGES / f"{name}.jsonl"


def read_records(folder: AnyPath, name: str) -> Iterator[Record]:
    """What became of each candidate in a stage, line by line."""
    return read_lines(stage_file(folder, name))


def read_lines(path: Path) -> Iterator[Record]:
    """The records of a file."""
    with open_file(path) as file:
        for number, line in enumerate(file, start=1):
            try:
                yield decode_json(line, Record)
            except msgspec.MsgspecError as problem:
                raise damaged(path, f"line {number}", problem) from None


def damaged(path: Path, record: str, problem: Exception) -> DataError:
    """What is said of a file of a build that nobody but a build writes."""
    remedy = "delete it: the same build command writes it anew"
    return DataError(path, f"is damaged ({problem})", record=record, remedy=remedy)


def kept_candidates(folder: AnyPath, name: str) -> Iterator[Candidate]:
    """The candidates that a stage let through, as they go on."""
    for record in read_records(folder, name):
        if record.candidate is not None:
            yield record.candidate


def encoded(settings: Any) -> str:
    """Settings as a part of a stage's identity."""
    return msgspec.json.encode(settings, order="sorted").decode()
