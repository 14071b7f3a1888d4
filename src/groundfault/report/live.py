"""What a run says while it goes and when it ends: a live line, or events for machines."""

from __future__ import annotations

import contextlib
import re
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

import msgspec

from groundfault.records import Summary
from groundfault.runner.session import Progress
from groundfault.runs.run import Run

__all__ = ["LiveTeller", "Teller", "clock_words", "ending", "failure_lines", "grouped"]

P = TypeVar("P", bound=NamedTuple)
"""How far a run is."""

EVERY_S = 1.0
LIVE_EVERY_S = 0.1
DELAY_S = 2.0
"""Shorter runs show no live line."""
MOST_REASONS = 5


class LiveTeller(Generic[P]):
    """Tells about one model's run: events on standard output, or words on standard error."""

    def __init__(self, model: str, *, as_json: bool) -> None:
        self.model, self.as_json = model, as_json
        self.out = sys.stdout
        self.began = self.told = time.monotonic()
        self.live = False

    @contextlib.contextmanager
    def asking(self) -> Iterator[None]:
        """While a model is asked: whatever it prints does not get between the events."""
        try:
            with contextlib.redirect_stdout(sys.stderr):
                yield
        finally:
            if self.live:
                sys.stderr.write("\r\x1b[K")
                sys.stderr.flush()

    def progress(self, now: P) -> None:
        """Something was answered."""
        clock = time.monotonic()
        if self.as_json:
            if clock - self.told >= EVERY_S:
                self.told = clock
                self.event("progress", **now._asdict())
        elif clock - self.began >= DELAY_S and clock - self.told >= LIVE_EVERY_S:
            self.told = clock
            if sys.stderr.isatty():
                self.live = True
                sys.stderr.write(f"\r\x1b[K{self.live_line(now)}")
                sys.stderr.flush()

    def live_line(self, now: P) -> str:
        """How far it is, on one line."""
        raise NotImplementedError

    def event(self, event: str, **content: object) -> None:
        """For machines, if they listen."""
        if self.as_json:
            line = msgspec.json.encode({"event": event, "model": self.model, **content})
            print(line.decode(), file=self.out, flush=True)


class Teller(LiveTeller[Progress]):
    """Of a run that is asked for masks."""

    def live_line(self, now: Progress) -> str:
        return live_line(self.model, now)

    def started(self, run: Run) -> None:
        """The run begins or goes on."""
        self.event(
            "started",
            benchmark=run.benchmark,
            n_items=run.n_items,
            n_images=run.n_images,
            settings=run.settings,
        )

    def ended(self, run: Run) -> None:
        """All was asked."""
        if not self.as_json:
            print(ending(run), file=sys.stderr)

    def finished(self, run: Run, folder: Path, summary: Summary | None) -> None:
        """All was scored, unless nothing was answered."""
        self.event(
            "finished",
            run=str(folder),
            answered=run.n_items - run.outcomes["failed"],
            n_items=run.n_items,
            outcomes=run.outcomes,
            failures=grouped(run.failures),
            probe=run.probe,
            seconds=run.seconds,
            summary=summary,
        )


def live_line(model: str, now: Progress) -> str:
    """
    >>> live_line("sam3", Progress(812, 4292, 3, 17.25, 201.7))
    'sam3: 812 of 4292, 17.2 images/s, 3:21 left, 3 failed'
    """
    failed = f", {now.failed} failed" if now.failed else ""
    rate = f"{now.images_per_s:.1f} images/s, {clock_words(now.eta_s)} left"
    return f"{model}: {now.done} of {now.n_items}, {rate}{failed}"


def clock_words(duration_s: float) -> str:
    """
    >>> clock_words(201.7), clock_words(7261)
    ('3:21', '2:01:01')
    """
    minutes, seconds = divmod(int(duration_s), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"


def ending(run: Run) -> str:
    """How a run ended, what failed, and what to do about it."""
    failed = run.outcomes["failed"]
    lines = [f"{run.model}: {run.n_items - failed} of {run.n_items} answered, {run.seconds:.1f} s"]
    if run.outcomes["unparsed"]:
        lines.append(f"  {run.outcomes['unparsed']} of them could not be read and count as wrong")
    if run.probe.startswith("not"):
        lines.append("  its coordinates were not probed: the model does not offer it")
    return "\n".join([*lines, *failure_lines(grouped(run.failures), failed)])


def failure_lines(reasons: Mapping[str, int], failed: int) -> list[str]:
    """Why so many failed, the most frequent reason first, and what to do about it."""
    lines = [f"  {n} failed: {reason}" for reason, n in list(reasons.items())[:MOST_REASONS]]
    if len(reasons) > MOST_REASONS:
        lines.append(f"  and {len(reasons) - MOST_REASONS} more reasons, in run.json")
    if failed:
        lines.append("  the same command again asks exactly those that failed")
    return lines


def grouped(failures: Mapping[str, int]) -> dict[str, int]:
    """Reasons that differ in names and numbers only are one, told by its first wording.

    >>> grouped({"OSError: cannot read 'a.jpg'": 1, "MemoryError: 3 GB": 2, "MemoryError: 4 GB": 2})
    {'MemoryError: 3 GB': 4, "OSError: cannot read 'a.jpg'": 1}
    """
    wording: dict[str, str] = {}
    counts: dict[str, int] = {}
    for reason, n in failures.items():
        kind = re.sub(r"'[^']*'|\"[^\"]*\"|\d+(\.\d+)?", "…", reason)
        first = wording.setdefault(kind, reason.splitlines()[0] if reason else "no reason given")
        counts[first] = counts.get(first, 0) + n
    return dict(sorted(counts.items(), key=lambda pair: -pair[1]))
