"""What a run in words tells while it goes on: events for machines, a live line and words for
people."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from groundfault.llm.cost import CostEstimate
from groundfault.records import Summary
from groundfault.report.live import LiveTeller, clock_words, failure_lines, grouped
from groundfault.runner.exams import ExamRun, Progress

__all__ = ["ExamTeller", "estimate_line"]


class ExamTeller(LiveTeller[Progress]):
    """Of a run that is asked in words."""

    def live_line(self, now: Progress) -> str:
        return live_line(self.model, now)

    def started(self, run: ExamRun) -> None:
        """The run begins or goes on."""
        self.event(
            "started",
            benchmark=run.benchmark,
            n_items=run.n_items,
            n_images=run.n_images,
            modes=run.modes,
            settings=run.settings,
        )

    def estimated(self, guess: CostEstimate) -> None:
        """What is left to ask was reckoned up."""
        self.event("estimate", **msgspec.structs.asdict(guess))
        if not self.as_json:
            print(f"{self.model}: {estimate_line(guess)}", file=sys.stderr)

    def ended(self, run: ExamRun) -> None:
        """All was asked that could be."""
        if not self.as_json:
            print("\n".join(_ending(run)), file=sys.stderr)

    def judged(self, run: ExamRun) -> None:
        """Every answer has a verdict."""
        self.event("judged", judge=run.judged, outcomes=run.outcomes)
        if run.judged is None:
            return
        for warning in run.judged.warnings:
            print(f"warning: {warning}", file=sys.stderr)
        if run.judged.unjudged:
            print(
                f"warning: {run.judged.name} refused to judge {run.judged.unjudged} answers; they "
                "are not scored, and `bounds` says what they could change",
                file=sys.stderr,
            )

    def finished(
        self, run: ExamRun, folder: Path, summary: Summary | None, more: Mapping[str, object]
    ) -> None:
        """All was scored; without a summary if there was nothing to score."""
        self.event(
            "finished",
            run=str(folder),
            answered=run.n_items - run.outcomes["failed"],
            n_items=run.n_items,
            outcomes=run.outcomes,
            failures=grouped(run.failures),
            stopped=run.stopped,
            tokens_in=run.tokens_in,
            tokens_out=run.tokens_out,
            cost=run.cost,
            seconds=run.seconds,
            judge=run.judged,
            attributed=run.attributed,
            summary=summary,
            **more,
        )


def live_line(model: str, now: Progress) -> str:
    """
    >>> live_line("openai:tiny", Progress(812, 4292, 3, 17.25, 201.7, 91_000, 0.5))
    'openai:tiny: 812 of 4292, 17.2/s, 3:21 left, 91k tokens, 0.50 of money, 3 failed'
    """
    left = clock_words(now.eta_s)
    parts = [f"{model}: {now.done} of {now.n_items}", f"{now.per_s:.1f}/s", f"{left} left"]
    if now.tokens:
        parts.append(f"{_thousands(now.tokens)} tokens")
    if now.cost:
        parts.append(f"{now.cost:.2f} of money")
    if now.failed:
        parts.append(f"{now.failed} failed")
    return ", ".join(parts)


def estimate_line(guess: CostEstimate) -> str:
    """
    >>> estimate_line(Estimate(requests=96, stored=4, tokens_in=90_000, tokens_out=3_000,
    ...     tokens_out_most=98_000, cost=0.04, cost_most=0.2))
    '96 questions to ask (4 have an answer), about 93k tokens, at most 188k; about 0.04 of money, \
at most 0.20'
    """
    stored = f" ({guess.stored} have an answer)" if guess.stored else ""
    likely = _thousands(guess.tokens_in + guess.tokens_out)
    most = _thousands(guess.tokens_in + guess.tokens_out_most)
    money = "; give --price IN/OUT to see it in money"
    if guess.cost is not None and guess.cost_most is not None:
        money = f"; about {guess.cost:.2f} of money, at most {guess.cost_most:.2f}"
    return (
        f"{guess.requests} questions to ask{stored}, about {likely} tokens, at most {most}{money}"
    )


def _thousands(n: int) -> str:
    return f"{n / 1e6:.1f}M" if n >= 1e6 else f"{n / 1e3:.0f}k" if n >= 1e4 else f"{n}"


def _ending(run: ExamRun) -> Sequence[str]:
    """How a run ended, what failed, and what to do about it."""
    failed = run.outcomes["failed"]
    cost = f", {run.cost:.2f} of money" if run.cost else ""
    tokens = f", {_thousands(run.tokens_in + run.tokens_out)} tokens" if run.tokens_in else ""
    lines = [
        f"{run.model}: {run.n_items - failed} of {run.n_items} answered, {run.seconds:.1f} s"
        f"{tokens}{cost}"
    ]
    if run.stopped:
        lines.append(f"  stopped: {run.stopped}")
    told = {
        reason: n
        for reason, n in grouped(run.failures).items()
        if not reason.startswith("not asked:")
    }
    return [*lines, *failure_lines(told, failed)]
