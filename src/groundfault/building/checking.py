"""The stage that verifies an edit before people look at it: by its pixels, by what is annotated,
and, where the recipe says so, by a segmenter and by chat models that see.

What the checks of `checks/` measure goes along, for reviewers as a hint and for the datasheet; some
of them drop a candidate. DIR/checks.json sums up what they found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from groundfault import registry
from groundfault.building.checks.catalogue import heard, measure, objection, told
from groundfault.building.checks.questions import check_names, questions_identity
from groundfault.building.checks.settings import VerifySettings
from groundfault.building.checks.vlm import VlmJudge
from groundfault.building.records import Candidate, Dropped
from groundfault.building.stages import Agree, Keep, encoded, unasked
from groundfault.editors.loading import EditorOptions
from groundfault.errors import UsageError
from groundfault.io.interrupts import stop_if_requested
from groundfault.llm.batching import BatchedChatModel
from groundfault.llm.client import ChatClient

__all__ = ["VerifySettings", "VerifyStage", "heard", "measure"]

VERSION = "3"
"""Of what is measured; another one makes old results stale."""
Client = ChatClient | BatchedChatModel


class VerifyStage:
    """Measures every edit; then models are asked about those that nothing objects to."""

    name = "verify"

    def __init__(
        self,
        folder: Path,
        settings: VerifySettings,
        *,
        vlm: Client | None = None,
        second_vlm: Client | None = None,
        options: EditorOptions | None = None,
        agree: Agree = unasked,
    ) -> None:
        self.folder, self.settings, self.agree = folder, settings, agree
        self.options = options or EditorOptions()
        check_names(settings.vlm_drops)
        asked = {"vlm": (settings.vlm, vlm), "second-vlm": (settings.second_vlm, second_vlm)}
        self.judges = [
            _judge(name, spec, client, folder, settings.side_px)
            for name, (spec, client) in asked.items()
            if spec
        ]

    def identity(self) -> Mapping[str, str]:
        """The settings, the checks' version and the questions that models are asked."""
        questions = questions_identity() if self.judges else ""
        return {"version": VERSION, "settings": encoded(self.settings), "questions": questions}

    def depends(self, candidate: Candidate) -> str:
        """Nothing: the names of pictures hold their content's hash."""
        return ""

    def run(self, candidates: Iterable[Candidate], keep: Keep) -> str:
        """Check what is left."""
        passing = self._measured(candidates, keep)
        if not self.judges:
            for candidate, found in passing:
                keep(candidate, found)
            return ""
        left = list(passing)
        originals = {found.id: candidate for candidate, found in left}
        pending = [found for _, found in left]
        for judge in self.judges:
            guess = judge.estimate(pending)
            if guess.requests:
                self.agree(f"{judge.model} is to check edits", guess)
        for judge in self.judges:
            pending = judge.check_many(pending, lambda c, why: keep(originals[c.id], why))
            if judge.stopped_because:
                return judge.stopped_because
        for found in pending:
            reason = judged(found, self.settings.vlm_drops)
            details = told(found.checks)
            result = Dropped(reason=reason, details=details) if reason else found
            keep(originals[found.id], result)
        return ""

    def _measured(
        self, candidates: Iterable[Candidate], keep: Keep
    ) -> Iterator[tuple[Candidate, Candidate]]:
        """Each candidate, and as it is with what was measured; those that are bad are dropped."""
        segmenter: Any = None
        for candidate in candidates:
            stop_if_requested()
            if self.settings.resegment and segmenter is None:
                segmenter = registry.load_model(self.settings.resegment, self.options)
            assert candidate.proposal is not None
            if candidate.proposal.kind == "none":  # nothing was edited
                keep(candidate, candidate)
                continue
            found = measure(candidate, self.folder, segmenter)
            checks = {**candidate.checks, **found}
            reason = objection(found, self.settings, candidate.proposal.kind)
            if reason:
                keep(candidate, Dropped(reason=reason, details=told(checks)))
            else:
                yield candidate, msgspec.structs.replace(candidate, checks=checks)


def _judge(name: str, spec: str, client: Client | None, folder: Path, side_px: int) -> VlmJudge:
    if client is None:
        raise UsageError(f"{spec}: no chat model was given that could check edits")
    return VlmJudge(client, folder, name=name, model=spec, side_px=side_px)


def judged(candidate: Candidate, drops: Iterable[str]) -> str:
    """The reason to drop a candidate by what models answered; "" if there is none. A question drops
    it if every model that answered it did so wrongly."""
    wanted = set(drops)
    answers: dict[str, list[bool]] = {}
    for name, value in candidate.checks.items():
        judge, _, question = name.partition(":")
        if judge in ("vlm", "second-vlm") and isinstance(value, bool):
            answers.setdefault(question, []).append(value)
    for question, right in answers.items():
        if (question in wanted or "all" in wanted) and not any(right):
            return f"vlm: {question}"
    return ""
