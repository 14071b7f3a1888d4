"""SIGTERM and Ctrl-C while something is under way that was paid for.

The first signal asks the program to end: nothing new is begun, what is under way is waited for and
kept. The second ends it at once, the third even without clean-up. Where nothing is under way that
anybody pays for, the first one ends it at once. Where no `draining` block is entered, in notebooks
and in programs of others, signals do what they always did.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

__all__ = [
    "DRAIN_S",
    "Interrupted",
    "draining",
    "exit_code",
    "on_interrupt",
    "requested",
    "stop_if_requested",
]

DRAIN_S = 30.0
"""How long answers that are under way are waited for."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)
_received: list[int] = []
_listeners: list[Callable[[], object]] = []


class Interrupted(KeyboardInterrupt):
    """The program was asked to end by a signal, whose name this says."""


def requested() -> str:
    """The name of the signal that asked the program to end; "" if none did."""
    return signal.Signals(_received[0]).name if _received else ""


def exit_code() -> int:
    """128 and the signal's number, as shells have it: 130 for Ctrl-C, 143 for SIGTERM."""
    return 128 + (_received[0] if _received else signal.SIGINT)


def stop_if_requested() -> None:
    """Raise Interrupted between two steps, if the program was asked to end."""
    if _received:
        raise Interrupted(requested())


@contextlib.contextmanager
def on_interrupt(listener: Callable[[], object]) -> Iterator[None]:
    """Have something called by the first signal, in the main thread, while the block lasts and
    something is under way that is paid for; at once if it has come already."""
    _listeners.append(listener)
    try:
        if _received:
            listener()
        yield
    finally:
        _listeners.remove(listener)


@contextlib.contextmanager
def draining() -> Iterator[None]:
    """Let the first signal end the block in good order. A block inside another one, or outside the
    main thread, changes nothing."""
    if threading.current_thread() is not threading.main_thread() or any(
        signal.getsignal(number) is _receive for number in SIGNALS
    ):
        yield
        return
    _received.clear()
    before = {number: signal.getsignal(number) for number in SIGNALS}
    ours = [n for n in SIGNALS if before[n] not in (signal.SIG_IGN, None)]  # as under nohup
    for number in ours:
        signal.signal(number, _receive)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, before[number])
        _received.clear()


def _receive(number: int, _: FrameType | None) -> None:
    _received.append(number)
    name = signal.Signals(number).name
    if len(_received) == 1 and _listeners:
        _say(
            f"{name}: nothing new is asked; what is under way is waited for, {DRAIN_S:g} s at "
            "most, and kept. A second signal ends it at once"
        )
        for listener in tuple(_listeners):
            with contextlib.suppress(RuntimeError):  # its event loop has ended
                listener()
    elif len(_received) <= 2:
        raise Interrupted(name)
    else:
        os._exit(128 + number)


def _say(words: str) -> None:
    with contextlib.suppress(OSError):
        os.write(2, f"{words}\n".encode())  # print may be in the middle of another line
