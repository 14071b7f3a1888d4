"""How candidates are reviewed, as data: stages, opinions, what may be corrected, reasons.

A protocol is a TOML file. Ours are in review_protocols/: `cafe` (three stages, the last by three
people), `halluseg` (the manual check of four corners) and `reactbench` (the picture, then its
questions). One's own lies beside the items, DIR/review/NAME.toml, or is given by its path; items
name the protocol they are reviewed by.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from groundfault.config import load_toml
from groundfault.errors import DataError, UsageError
from groundfault.io.store import read_json, write_json

__all__ = [
    "Reason",
    "ReviewProtocol",
    "Stage",
    "load_protocol",
    "load_protocols",
    "own_protocols",
    "rules_in_force",
    "write_rules",
]

HERE = Path(__file__).parent / "review_protocols"
IN_FORCE = Path("review") / "rules.json"
"""What the desk last asked by, with its --overlap: a build concludes by the same."""
Layout = Literal["side", "slider", "blink", "difference", "corners"]
Count = Annotated[int, msgspec.Meta(ge=1, le=99)]


class Reason(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why somebody rejects."""

    id: str
    """What decisions call it."""
    words: str
    """What reviewers read."""
    kinds: tuple[str, ...] = ()
    """The kinds of edit that it is about; empty for all."""


class _Exception(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is different for one kind of edit."""

    opinions: Count | None = None
    agree: Count | None = None


class Stage(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One round of review. An item goes on to the next when enough people accept it."""

    name: str
    """What decisions call it."""
    title: str
    """What reviewers read."""
    question: str
    """What a reviewer answers with accept or reject."""
    opinions: Count = 1
    """So many people look at each item."""
    agree: Count = 1
    """So many of the opinions must accept; else the item is rejected."""
    kinds: dict[str, _Exception] = {}
    """Kind of edit → other numbers for it, as three of three for OC."""
    overlap: bool = False
    """Whether `--overlap` sets the number of opinions."""
    layout: Layout = "side"
    """How the pictures are shown at first."""
    correct: tuple[str, ...] = ()
    """The texts that may be corrected."""
    mask: bool = False
    """Whether the mask may be touched up."""
    questions: bool = False
    """Whether this stage is about the questions of an exam, which may be corrected; it is left out
    for items without any."""
    reasons: tuple[str, ...] = ()
    """Ids, in the order of their keys; empty for all."""
    reason_needed: bool = False
    """Whether a rejection must have a reason."""
    adjudicate: Literal["flagged", "split"] = "flagged"
    """Which items wait for an adjudicator: flagged ones, or also those without unanimity."""

    def asked(self, kind: str) -> tuple[int, int]:
        """How many opinions this kind of edit needs here, and how many must accept."""
        exception = self.kinds.get(kind, _Exception())
        return exception.opinions or self.opinions, exception.agree or self.agree


class ReviewProtocol(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How one kind of benchmark is reviewed."""

    name: str
    """What commands and items call it."""
    title: str
    """What reviewers read."""
    stages: tuple[Stage, ...]
    """The rounds, in order."""
    reasons: tuple[Reason, ...]
    """Why an item may be rejected."""
    texts: dict[str, str] = {}
    """Field of an item → what reviewers read before it; the order is that of the screen."""
    warm_up: Annotated[int, msgspec.Meta(ge=0)] = 5
    """So many gold items begin each reviewer's work, with feedback."""
    gold_every: Annotated[int, msgspec.Meta(ge=2)] = 10
    """The other gold items come one among so many."""

    def stage(self, name: str) -> Stage:
        """The stage of this name."""
        return next(stage for stage in self.stages if stage.name == name)

    def reasons_for(self, stage: Stage, kind: str) -> tuple[Reason, ...]:
        """The reasons that are offered in a stage for a kind of edit."""
        known = {reason.id: reason for reason in self.reasons}
        offered = [known[id_] for id_ in stage.reasons] if stage.reasons else self.reasons
        return tuple(r for r in offered if not r.kinds or kind in r.kinds)

    def with_overlap(self, opinions: int) -> ReviewProtocol:
        """The same with another number of opinions where people overlap. Unanimity stays
        unanimity, anything else becomes the majority."""
        stages = [_overlapping(s, opinions) if s.overlap else s for s in self.stages]
        return msgspec.structs.replace(self, stages=tuple(stages))


def _overlapping(stage: Stage, opinions: int) -> Stage:
    majority = opinions // 2 + 1
    kinds = {
        kind: _Exception(
            opinions=opinions,
            agree=opinions if stage.asked(kind)[0] == stage.asked(kind)[1] > 1 else majority,
        )
        for kind in stage.kinds
    }
    agree = opinions if stage.opinions == stage.agree > 1 else majority
    return msgspec.structs.replace(stage, opinions=opinions, agree=agree, kinds=kinds)


def load_protocol(path: Path) -> ReviewProtocol:
    """Read a protocol, with everything that it must hold checked."""
    protocol = load_toml(path, ReviewProtocol)
    problem = next(_problems(protocol), None)
    if problem is not None:
        raise DataError(path, problem, remedy="correct the protocol")
    return protocol


def _problems(protocol: ReviewProtocol) -> Iterator[str]:
    names = [stage.name for stage in protocol.stages]
    reasons = [reason.id for reason in protocol.reasons]
    if not names:
        yield "it has no stage"
    for kind, ids in (("stage", names), ("reason", reasons)):
        yield from (f"two {kind}s are called {i!r}" for i in {i for i in ids if ids.count(i) > 1})
        yield from (f"{kind} {i!r}: names have no ':'" for i in ids if not i or ":" in i)
    for stage in protocol.stages:
        yield from (
            f"stage {stage.name!r}: no reason is called {r!r}"
            for r in stage.reasons
            if r not in reasons
        )
        for kind in ("", *stage.kinds):
            opinions, agree = stage.asked(kind)
            if agree > opinions:
                yield f"stage {stage.name!r}: {agree} of {opinions} opinions cannot agree"


@cache
def _built_in() -> dict[str, ReviewProtocol]:
    return {path.stem: load_protocol(path) for path in sorted(HERE.glob("*.toml"))}


def own_protocols(folder: Path) -> list[Path]:
    """The protocols that lie beside the items of a build."""
    return sorted((folder / "review").glob("*.toml"))


def write_rules(folder: Path, protocols: Mapping[str, ReviewProtocol]) -> None:
    """Leave what reviewers are asked by beside the items."""
    write_json(folder / IN_FORCE, dict(protocols))


def rules_in_force(folder: Path, name: str) -> ReviewProtocol:
    """The protocol by which a desk had the items of this folder reviewed, else ours of this
    name."""
    path = folder / IN_FORCE
    asked = read_json(path, dict[str, ReviewProtocol]) if path.is_file() else {}
    return asked.get(name) or load_protocols([name], own_protocols(folder))[name]


def load_protocols(
    names: Iterable[str], paths: Iterable[Path] = (), *, overlap: int | None = None
) -> Mapping[str, ReviewProtocol]:
    """The protocols that items name, from these files or from ours."""
    own = {protocol.name: protocol for protocol in map(load_protocol, paths)}
    known = {**_built_in(), **own}
    missing = sorted(set(names) - known.keys())
    if missing:
        raise UsageError(
            f"items are reviewed by {missing[0]!r}, which is no protocol ({', '.join(known)}); "
            "put its TOML file beside items.jsonl or give it with --protocol"
        )
    if overlap is not None:
        known = {name: protocol.with_overlap(overlap) for name, protocol in known.items()}
    return {name: known[name] for name in known if name in set(names)}
