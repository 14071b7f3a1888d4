"""What a run tells while it goes on and when it ends: events for machines, one live display and a
few words for people. The same for masks and for words."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from groundfault.reports.progress import Display
from groundfault.reports.tables import printable, printable_json
from groundfault.runs.run import NOT_ASKED, Run, failure_kind

if TYPE_CHECKING:
    from groundfault.llm.cost import CostEstimate
    from groundfault.records import Summary
    from groundfault.runner.session import Progress

__all__ = ["RunReporter", "ending", "estimate_line", "grouped", "progress_line"]

EVERY_S = 1.0
MOST_REASONS = 5


class RunReporter:
    """Tells about one model's run: events on standard output, or words on standard error. With
    `quiet`, only the live display is shown."""

    def __init__(self, model: str, *, as_json: bool = False, quiet: bool = False) -> None:
        self.model, self.as_json, self.quiet = model, as_json, quiet
        self._out = sys.stdout
        self._last = time.monotonic()
        self._display = Display(model, enabled=not as_json)

    @contextlib.contextmanager
    def asking(self) -> Iterator[None]:
        """While a model is asked: whatever it prints does not get between the events."""
        try:
            with contextlib.redirect_stdout(sys.stderr) if self.as_json else _nothing():
                yield
        finally:
            self._display.close()

    def started(self, run: Run) -> None:
        """The run begins or goes on."""
        self._event(
            "started",
            benchmark=run.benchmark,
            n_items=run.n_items,
            n_images=run.n_images,
            **({"modes": run.modes} if run.modes else {}),
            settings=run.settings,
        )

    def estimated(self, guess: CostEstimate) -> None:
        """What is left to ask was estimated."""
        self._event("estimate", **msgspec.structs.asdict(guess))
        self._say(f"{printable(self.model)}: {estimate_line(guess)}")

    def progress(self, now: Progress) -> None:
        """Something was answered."""
        clock = time.monotonic()
        if self.as_json and clock - self._last >= EVERY_S:
            self._last = clock
            self._event("progress", **now._asdict())
        self._display.update(now.done, now.n_items, lambda: progress_line(now))

    def ended(self, run: Run) -> None:
        """All was asked that could be."""
        self._say(ending(run))

    def graded(self, run: Run) -> None:
        """Every answer in words has a verdict."""
        self._event("judged", judge=run.judged, outcomes=run.outcomes)
        if run.judged is None:
            return
        warnings = list(run.judged.warnings)
        if run.judged.unjudged:
            warnings.append(
                f"{run.judged.name} left {run.judged.unjudged} answers unjudged; they are not "
                "scored, and `bounds` says what they could change"
            )
        for warning in warnings:
            print(f"warning: {printable(warning)}", file=sys.stderr)

    def finished(
        self, run: Run, folder: Path, summary: Summary | None, more: Mapping[str, object]
    ) -> None:
        """All was scored, unless nothing was answered."""
        words = {
            "tokens_in": run.tokens_in,
            "tokens_out": run.tokens_out,
            "cost": run.cost,
            "judge": run.judged,
            "attributed": run.attributed,
        }
        self._event(
            "finished",
            run=str(folder),
            state=run.state,
            stopped=run.stopped,
            answered=run.n_items - run.outcomes["failed"],
            n_items=run.n_items,
            reused=run.reused,
            outcomes=run.outcomes,
            failures=grouped(run.failures),
            seconds=run.seconds,
            **(words if run.modes else {"probe": run.probe}),
            summary=summary,
            **more,
        )

    def _say(self, text: str) -> None:
        if not self.as_json and not self.quiet:
            print(text, file=sys.stderr)

    def _event(self, event: str, **content: Any) -> None:
        if self.as_json:
            line = msgspec.json.encode({"event": event, "model": self.model, **content})
            print(printable_json(line), file=self._out, flush=True)


@contextlib.contextmanager
def _nothing() -> Iterator[None]:
    yield


def progress_line(now: Progress) -> str:
    """
    >>> from groundfault.runner.session import Progress
    >>> progress_line(Progress(812, 4292, 3, 17.25, 201.7, images_per_s=8.6))
    '8.6 images/s, 3 failed'
    >>> progress_line(Progress(812, 4292, 0, 17.25, 201.7, tokens=91_000, cost=0.5))
    '17.2/s, 91k tokens, 0.50 of money'
    """
    rate = f"{now.images_per_s:.1f} images/s" if now.images_per_s else f"{now.per_s:.1f}/s"
    parts = [rate]
    if now.tokens:
        parts.append(f"{_thousands(now.tokens)} tokens")
    if now.cost:
        parts.append(f"{now.cost:.2f} of money")
    if now.failed:
        parts.append(f"{now.failed} failed")
    return ", ".join(parts)


def estimate_line(guess: CostEstimate) -> str:
    """
    >>> from groundfault.llm.cost import CostEstimate
    >>> estimate_line(CostEstimate(requests=96, stored=4, tokens_in=90_000, tokens_out=3_000,
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


def ending(run: Run) -> str:
    """How a run ended, what failed, and what to do about it."""
    failed = run.outcomes["failed"]
    cost = f", {run.cost:.2f} of money" if run.cost else ""
    tokens = f", {_thousands(run.tokens_in + run.tokens_out)} tokens" if run.tokens_in else ""
    lines = [
        f"{run.name}: {run.n_items - failed} of {run.n_items} answered, {run.seconds:.1f} s"
        f"{tokens}{cost}"
    ]
    if run.reused:
        lines.append(f"  {run.reused} of them were answered before and are reused")
    if run.last_session.get("from_store"):
        lines.append(f"  {run.last_session['from_store']} replies come from the response store")
    if run.stopped:
        lines.append(f"  stopped: {run.stopped}")
    if run.outcomes["unparsed"] and not run.modes:
        lines.append(f"  {run.outcomes['unparsed']} of them could not be read and count as wrong")
    if run.probe.startswith("not"):
        lines.append("  its coordinates were not probed: the model does not offer it")
    reasons = {
        reason: n for reason, n in grouped(run.failures).items() if not reason.startswith(NOT_ASKED)
    }
    lines += [f"  {n} failed: {reason}" for reason, n in list(reasons.items())[:MOST_REASONS]]
    if len(reasons) > MOST_REASONS:
        lines.append(f"  and {len(reasons) - MOST_REASONS} more reasons, in run.json")
    if failed:
        lines.append("  the same command again asks exactly those that failed")
    return "\n".join(map(printable, lines))


def grouped(failures: Mapping[str, int]) -> dict[str, int]:
    """Reasons that differ in names and numbers only are one, told by its first wording.

    >>> grouped({"OSError: cannot read 'a.jpg'": 1, "MemoryError: 3 GB": 2, "MemoryError: 4 GB": 2})
    {'MemoryError: 3 GB': 4, "OSError: cannot read 'a.jpg'": 1}
    """
    wording: dict[str, str] = {}
    counts: dict[str, int] = {}
    for reason, n in failures.items():
        kind = failure_kind(reason)
        first = wording.setdefault(kind, reason.splitlines()[0] if reason else "no reason given")
        counts[first] = counts.get(first, 0) + n
    return dict(sorted(counts.items(), key=lambda pair: -pair[1]))
