"""The stage that asks: from each candidate's fields to its questions, and to those of its twin."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Protocol, runtime_checkable

import msgspec
import numpy as np

from groundfault.benchmarks.reactbench import LAYOUT
from groundfault.benchmarks.reactbench import Question as Row
from groundfault.building.questions.attribute import attribute_facts, changed
from groundfault.building.questions.counting import (
    TWIN_CANDIDATE,
    counted,
    counting_facts,
    number_of,
    paired,
)
from groundfault.building.questions.erasure import erased, erasure_facts
from groundfault.building.questions.tracing import traced, tracing_facts
from groundfault.building.questions.validators import NotAsked, check_key
from groundfault.building.records import Candidate, Dropped, Proposal, Question
from groundfault.building.stages import Agree, Keep, encoded, unasked
from groundfault.errors import UsageError
from groundfault.exams import Layout, rows, twin_rows
from groundfault.exams.attribute import ask_attribute
from groundfault.exams.counting import ask_counting
from groundfault.exams.erasure import ask_erasure
from groundfault.exams.tracing import ask_tracing
from groundfault.exams.wording import Places, Rng, WordedQuestion
from groundfault.io.interrupts import stop_if_requested
from groundfault.llm.cost import CostEstimate

__all__ = ["QuestionSettings", "QuestionStage"]

VERSION = "3"
MOST_TOKENS = 1024
"""Of a reply, for the estimate."""


@runtime_checkable
class Teller(Protocol):
    """A model that tells fields from both pictures, as `proposals.chat` does."""

    stopped_because: str

    @property
    def identity(self) -> str:
        """What fields depend on besides their candidates."""
        ...

    def fill_fields(
        self,
        candidates: Iterable[Candidate],
        keep: Callable[[Candidate, Proposal | Dropped], None],
    ) -> None:
        """Give `keep` each candidate's proposal with its fields."""
        ...

    def estimate_fields(self, candidates: Iterable[Candidate], max_tokens: int) -> CostEstimate:
        """What that will likely cost."""
        ...


class QuestionSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How an exam is asked."""

    layout: Layout = "twins"
    """twins: every question also about the unedited picture, where it has another answer; paper:
    as in the paper, about edited pictures only."""
    seed: int = 0
    """Of wordings and of the places of right options."""


class QuestionStage:
    """Makes the questions of every candidate."""

    name = "questions"

    def __init__(
        self,
        folder: Path,
        settings: QuestionSettings,
        *,
        teller: object = None,
        agree: Agree = unasked,
    ) -> None:
        self.folder, self.settings, self.agree = folder, settings, agree
        self.teller = teller if isinstance(teller, Teller) else None
        self._turns: dict[str, int] = {}
        self._twins: dict[str, Candidate | None] = {}

    def offer(self, candidates: Iterable[Candidate]) -> None:
        """Learn what there is: right options are balanced over the candidates of a task, and those
        that count the same things may be twins."""
        offered = list(candidates)
        if self.settings.layout == "twins":
            self._twins = paired(offered)
        turns = dict.fromkeys(LAYOUT, 0)
        for candidate in offered:
            if self.teller is None and isinstance(self._asked(candidate), Dropped):
                continue
            self._turns[candidate.id] = turns[candidate.task]
            turns[candidate.task] += 1

    def identity(self) -> Mapping[str, str]:
        """The settings, and who tells the fields."""
        known = {"version": VERSION, "settings": encoded(self.settings)}
        return known | ({"fields": self.teller.identity} if self.teller else {})

    def depends(self, candidate: Candidate) -> str:
        """Its turn, and the twin that was found for it."""
        twin = self._twins.get(candidate.id)
        told = "" if twin is None else f"{twin.id} {number_of(twin)}"
        return f"{self._turns.get(candidate.id, -1)} {candidate.id in self._twins} {told}"

    def run(self, candidates: Iterable[Candidate], keep: Keep) -> str:
        """Ask about what is left."""
        if self.teller is None:
            for candidate in candidates:
                stop_if_requested()
                keep(candidate, self._asked(candidate))
            return ""

        def take(candidate: Candidate, found: Proposal | Dropped) -> None:
            if isinstance(found, Dropped):
                keep(candidate, found)
            else:
                filled = msgspec.structs.replace(candidate, proposal=found)
                keep(candidate, self._asked(filled))

        told = []
        for candidate in candidates:
            if candidate.task in ("erasure", "attribute"):
                told.append(candidate)
            else:
                keep(candidate, self._asked(candidate))
        guess = self.teller.estimate_fields(told, MOST_TOKENS)
        if guess.requests:
            self.agree("fields of questions are to be told", guess)
        self.teller.fill_fields(told, take)
        return self.teller.stopped_because

    def _asked(self, candidate: Candidate) -> Candidate | Dropped:
        """A candidate with its questions, or why there are none."""
        try:
            facts, asked = self._worded(candidate)
            check_key(asked, self.settings.layout == "twins")
        except NotAsked as why:
            return why.dropped
        except UsageError as problem:
            return Dropped(reason="Q-form", details=str(problem))
        made = [_question(row, twin=False) for row in rows(candidate.task, candidate.id, asked)]
        if self.settings.layout == "twins":
            again = twin_rows(candidate.task, candidate.id, asked)
            made += [_question(row, twin=True) for row in again]
        known = {f"exam.{name}": value for name, value in facts.items()}
        return msgspec.structs.replace(
            candidate, questions=tuple(made), facts={**candidate.facts, **known}
        )

    def _worded(self, candidate: Candidate) -> tuple[dict[str, str], list[WordedQuestion]]:
        if candidate.proposal is None:
            raise NotAsked("Q-blank", "nothing was proposed")
        layout, task = self.settings.layout, candidate.task
        rng: Rng = np.random.default_rng((self.settings.seed, candidate.seed, 11))
        turn = self._turns.get(candidate.id, 0)
        places = Places(self.settings.seed, list(LAYOUT).index(task), turn)
        if task == "erasure":
            gone = erased(rng, candidate, self.folder, layout)
            asked = ask_erasure(rng, places, gone, places.half(0), layout)
            return erasure_facts(candidate, gone), asked
        if task == "attribute":
            look, others = changed(rng, candidate, self.folder, layout)
            asked = ask_attribute(rng, places, look, places.half(0), others, layout)
            return attribute_facts(candidate, look), asked
        if task == "tracing":
            about, anywhere, there, things = traced(rng, candidate)
            asked = ask_tracing(rng, places, about, anywhere, there, things, layout)
            return tracing_facts(candidate, about), asked
        return self._counting(rng, places, candidate)

    def _counting(
        self, rng: Rng, places: Places, candidate: Candidate
    ) -> tuple[dict[str, str], list[WordedQuestion]]:
        twin = self._twins.get(candidate.id)
        if self.settings.layout == "twins" and twin is None:
            if candidate.id in self._twins:
                raise NotAsked("Q-twin", "it is the twin of another one")
            raise NotAsked("Q-alone", "no other photograph has so many more or fewer of them")
        about = counted(candidate, twin)
        facts = counting_facts(about)
        if twin is not None:
            assert twin.edited is not None
            size = f"{twin.photograph.height_px}x{twin.photograph.width_px}"
            facts |= {"twin": twin.edited.before, "twin_size": size, "twin_count": str(about.twin)}
            facts |= {"twin_photograph": twin.photograph.id, TWIN_CANDIDATE: twin.id}
        return facts, ask_counting(rng, places, about)


def _question(row: Row, *, twin: bool) -> Question:
    return Question(
        number=row.number,
        type=row.type,
        dimension=row.dimension,
        query=row.text,
        reference=row.answer,
        options=row.options,
        rubric=row.rubric,
        polarity=row.polarity,
        twin=twin,
    )
