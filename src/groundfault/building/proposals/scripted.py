"""Proposals from a file: `scripted:FILE`, JSON lines that somebody wrote elsewhere.

    {"candidate": "139-12-SM", "instruction": …}             one candidate by its id
    {"photograph": "139", "target": "12", "task": "SM", …}   by the source's ids
    {"category": "elephant", "task": "SM", …}                any target of a category

Of several lines that fit a candidate the first kind counts before the second, and that before the
third; several of the third kind are taken in turn, by the candidate's seed. A line's proposal is
`kind`, `value`, `instruction`, `positive`, `negative`, `rationale`, `fields`, as `Proposal` has
them; `"none": true` says that there is nothing to propose. Lines are foreign: they are checked when
the file is read, and by the linter.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable
from os import PathLike
from pathlib import Path

import msgspec

from groundfault.building.proposals.linter import errors, lint
from groundfault.building.proposals.proposer import Keep
from groundfault.building.records import Candidate, Dropped, Proposal, Task
from groundfault.errors import DataError
from groundfault.io.foreign import decode_json, open_file, sha256

__all__ = ["ScriptedProposer"]

LONGEST = 2000
MOST_FIELDS = 100
REMEDY = (
    'give JSON lines with "candidate", or "photograph" and "target", or "category", and a proposal'
)
_STRANGE = re.compile(r"[\x00-\x1f\x7f]")
DEFAULT_KINDS = {"SM": "surface", "OC": "material", "CC": "context", "replacement": "replace",
                 "erasure": "erase", "counting": "none"}  # fmt: skip


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    candidate: str = ""
    """Its id; or the next three say which candidate it is for."""
    photograph: str = ""
    """Its id."""
    target: str = ""
    """Id of the thing's annotation."""
    category: str = ""
    """What the thing is."""
    task: Task | None = None
    """SM, CC, OC, a replacement, a cause of an exam."""
    none: bool = False
    """true: nothing can be proposed for it."""
    kind: str = ""
    """The kind of edit."""
    value: str = ""
    """The new surface, material, place, thing or colour."""
    instruction: str = ""
    """One imperative sentence: what changes, and what must stay."""
    positive: str = ""
    """CAFE's p⁺; of a replacement, what describes the original thing."""
    negative: str = ""
    """CAFE's p⁻; of a replacement, what describes the new thing."""
    rationale: str = ""
    """Why the misleading phrase misleads."""
    fields: dict[str, str] = {}
    """What questions are made from: B_name, A_location …"""


class ScriptedProposer:
    """Proposals of a file; `unchecked` are ids of rules that it may break."""

    stopped_because = ""

    def __init__(self, file: str | PathLike[str], unchecked: Iterable[str] = ()) -> None:
        self.file, self.unchecked = Path(file), tuple(unchecked)
        self.identity = " ".join(["scripted", sha256(self.file), *self.unchecked])
        self._by_candidate: dict[tuple[str, str], _Line] = {}
        self._by_target: dict[tuple[str, str, str], _Line] = {}
        self._by_category: dict[tuple[str, str], list[_Line]] = {}
        with open_file(self.file) as content:
            for number, line in enumerate(content, start=1):
                if line.strip():
                    self._add(self._decoded(line, number), number)

    def propose_many(self, candidates: Iterable[Candidate], keep: Keep) -> None:
        """`keep` gets each candidate with its proposal, or with why there is none."""
        for candidate in candidates:
            keep(candidate, self.propose(candidate))

    def propose(self, candidate: Candidate) -> Proposal | Dropped:
        """What the file has for a candidate."""
        line = self._line(candidate)
        if line is None:
            return Dropped(reason="not in the script", details=self.file.name)
        if line.none:
            return Dropped(reason="None", details=self.file.name)
        proposal = Proposal(
            kind=line.kind or DEFAULT_KINDS.get(candidate.task, ""),
            value=line.value,
            instruction=line.instruction,
            positive=line.positive,
            negative=line.negative,
            rationale=line.rationale,
            fields=line.fields,
            by=f"scripted:{self.file.name}",
        )
        broken = errors(lint(proposal, candidate, without=self.unchecked))
        return Dropped(reason=broken[0].rule, details=broken[0].found) if broken else proposal

    def _line(self, candidate: Candidate) -> _Line | None:
        photograph, target = candidate.photograph.id, candidate.target
        for task in (candidate.task, ""):
            found = self._by_candidate.get((candidate.id, task)) or self._by_target.get(
                (photograph, target.id, task)
            )
            if found is not None:
                return found
            several = self._by_category.get((target.category, task))
            if several:
                turn = zlib.crc32(f"{candidate.seed} {candidate.id}".encode())
                return several[turn % len(several)]
        return None

    def _decoded(self, line: bytes, number: int) -> _Line:
        try:
            found = decode_json(line, _Line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
            raise self._unsound(number, f"no proposal ({problem})") from None
        texts = (found.instruction, found.positive, found.negative, found.rationale, found.value,
                 found.kind, *found.fields, *found.fields.values())  # fmt: skip
        if any(len(text) > LONGEST or _STRANGE.search(text) for text in texts):
            raise self._unsound(number, "it has control characters, or more than 2,000 of any")
        if len(found.fields) > MOST_FIELDS:
            raise self._unsound(number, f"it has {len(found.fields)} fields")
        return found

    def _add(self, line: _Line, number: int) -> None:
        task = line.task or ""
        keys = (bool(line.candidate), bool(line.photograph or line.target), bool(line.category))
        if sum(keys) != 1 or bool(line.photograph) != bool(line.target):
            raise self._unsound(number, "it does not say, in one way, which candidate it is for")
        if line.candidate:
            taken = self._by_candidate.setdefault((line.candidate, task), line)
        elif line.photograph:
            taken = self._by_target.setdefault((line.photograph, line.target, task), line)
        else:
            self._by_category.setdefault((line.category, task), []).append(line)
            return
        if taken is not line:
            raise self._unsound(number, "an earlier line is for the same candidate")

    def _unsound(self, number: int, problem: str) -> DataError:
        return DataError(self.file, problem, record=f"line {number}", remedy=REMEDY)
