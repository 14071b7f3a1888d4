"""One display of progress with the remaining time, for work of more than two seconds: on a terminal
it is drawn on standard error, in a notebook below the cell, anywhere else nothing is shown."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from groundfault.reports.tables import printable

__all__ = ["Display", "progress"]

DELAY_S = 2.0
EVERY_S = 0.1


class Display:
    """A bar with counts, details and the remaining time."""

    def __init__(self, label: str, *, enabled: bool = True) -> None:
        self.label, self.enabled = label, enabled and _is_watched()
        self._started = self._last = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def update(self, done: int, total: int, details: Callable[[], str] = str) -> None:
        """Show how far it is; cheap if called often."""
        clock = time.monotonic()
        if not self.enabled or clock - self._started < DELAY_S or clock - self._last < EVERY_S:
            return
        self._last = clock
        if self._bar is None:
            self._open(done, total)
        self._bar.update(self._task, completed=done, total=total, details=details())

    def close(self) -> None:
        """Take the bar away. A second call does nothing."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _open(self, done: int, total: int) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[details]}", markup=False),
            TimeRemainingColumn(),
            console=None if _in_notebook() else Console(stderr=True),
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task(
            printable(self.label), total=total, completed=done, details=""
        )


def _is_watched() -> bool:
    return sys.stderr.isatty() or _in_notebook()


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    current = shell.get_ipython() if shell is not None else None
    return current is not None and "IPKernelApp" in getattr(current, "config", {})


@contextlib.contextmanager
def progress(label: str) -> Iterator[Callable[[int, int], None]]:
    """Give a callable (done, total) while something lasts."""
    display = Display(label)
    try:
        yield lambda done, total: display.update(done, total)
    finally:
        display.close()
