"""The stage in which people decide: what awaits review is written for the desk, and decisions that
were made are applied."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from groundfault.benchmarks.reactbench import check_rows
from groundfault.building.agreement import AGREEMENT, agreements
from groundfault.building.exams import exam_rows
from groundfault.building.records import Candidate, Dropped, Proposal
from groundfault.building.review import (
    Decision,
    ReviewItem,
    read_decisions,
    settle,
    write_items,
)
from groundfault.building.review_rules import ReviewProtocol, load_protocol, rules_in_force
from groundfault.building.stages import Keep
from groundfault.errors import DataError
from groundfault.io.store import write_json

__all__ = ["ReviewStage", "review_item"]

NONE = "none"
REASONING = ("question", "counterfactual_question")
"""Fields of a proposal that are asked in the place of its phrases, where there are any."""


class ReviewStage:
    """Applies decisions; with "none" everything goes on and nobody has looked at it."""

    name = "review"

    def __init__(self, folder: Path, benchmark: str, decisions: str, protocol: str = "") -> None:
        self.folder, self.benchmark = folder, benchmark
        self.decisions = decisions or NONE
        self.protocol: ReviewProtocol = (
            load_protocol(Path(protocol)) if protocol else rules_in_force(folder, benchmark)
        )
        self.made: dict[str, list[Decision]] = {}
        self.unknown: list[str] = []
        """Items that somebody decided about and that were not offered."""
        if self.decisions != NONE:
            for decision in read_decisions(self.decisions):
                self.made.setdefault(decision.item_id, []).append(decision)

    def identity(self) -> Mapping[str, str]:
        """The protocol, and whether anybody decides."""
        decided = str(self.decisions != NONE)
        return {"protocol": msgspec.json.encode(self.protocol).decode(), "decided": decided}

    def depends(self, candidate: Candidate) -> str:
        """The decisions about it."""
        return msgspec.json.encode(self.made.get(candidate.id, [])).decode()

    def offer(self, candidates: Iterable[Candidate]) -> Path:
        """Write what the desk shows and, where people have decided, how far they agree."""
        kinds: dict[str, str] = {}

        def items() -> Iterator[ReviewItem]:
            for candidate in candidates:
                kinds[candidate.id] = candidate.task
                yield review_item(candidate, self.protocol.name)

        place = write_items(self.folder, items())
        self.unknown = [item for item in self.made if item not in kinds]
        if self.made:
            standing = (d for made in self.made.values() for d in made if not d.undone)
            votes = [(d.item_id, d.stage, d.verdict) for d in standing]
            write_json(self.folder / AGREEMENT, agreements(votes, kinds))
        return place

    def run(self, candidates: Iterable[Candidate], keep: Keep) -> str:
        """Apply what was decided; what is open waits."""
        waiting = 0
        for candidate in candidates:
            if self.decisions == NONE:
                keep(candidate, candidate)
                continue
            made = self.made.get(candidate.id, [])
            settled = settle(review_item(candidate, self.protocol.name), made, self.protocol)
            if settled.state == "accepted":
                keep(candidate, _checked(_corrected(candidate, settled.item, settled.votes)))
            elif settled.state == "rejected":
                reason = settled.reasons[0] if settled.reasons else "rejected"
                keep(candidate, Dropped(reason=reason, details=f"in stage {settled.stage}"))
            else:
                waiting += 1
        if not waiting:
            return ""
        return f"{waiting} candidates await decisions{self._others()}; go on with the desk"

    def _others(self) -> str:
        """What is said of decisions about items that are not there."""
        if not self.unknown:
            return ""
        file, count = Path(self.decisions).name, len(self.unknown)
        return f" (of {file}, {count} are about others, as '{self.unknown[0]}')"


def review_item(candidate: Candidate, protocol: str) -> ReviewItem:
    """A candidate as the desk shows it."""
    proposal, edited = candidate.proposal, candidate.edited
    assert proposal is not None and edited is not None
    texts = {
        "positive": proposal.positive,
        "negative": proposal.negative,
        "instruction": proposal.instruction,
        "rationale": proposal.rationale,
        **{name: proposal.fields.get(name, "") for name in REASONING},
    }
    return ReviewItem(
        id=candidate.id,
        protocol=protocol,
        kind=candidate.task,
        before=candidate.facts.get("exam.twin", edited.before),
        after=edited.after,
        mask=candidate.target.mask,
        mask_after=edited.mask,
        texts={name: text for name, text in texts.items() if text},
        questions=candidate.questions,
        checks=candidate.checks,
    )


def _checked(candidate: Candidate) -> Candidate | Dropped:
    """A candidate whose questions still make an exam as they were corrected, or why not: a build
    does not fail for one of them."""
    if not candidate.questions:
        return candidate
    samples, questions, _ = exam_rows([candidate])
    try:
        check_rows(samples, questions)
    except DataError as problem:
        return Dropped(reason="Q-corrected", details=f"{problem.record}: {problem.problem}")
    return candidate


def _corrected(candidate: Candidate, item: ReviewItem, votes: dict[str, int]) -> Candidate:
    """A candidate with what reviewers corrected; what it was stays in the stage before."""
    proposal, edited = candidate.proposal, candidate.edited
    assert proposal is not None and edited is not None
    changed: Proposal = msgspec.structs.replace(
        proposal,
        positive=item.texts.get("positive", proposal.positive),
        negative=item.texts.get("negative", proposal.negative),
        fields=proposal.fields | {n: item.texts[n] for n in REASONING if n in item.texts},
    )
    target = candidate.target
    if item.mask != target.mask:
        target = msgspec.structs.replace(target, mask=item.mask)
    return msgspec.structs.replace(
        candidate,
        proposal=changed,
        target=target,
        edited=msgspec.structs.replace(edited, mask=item.mask_after),
        questions=item.questions,
        votes=votes,
    )
