"""What workers write to stderr, kept in the run: RUN/worker-1.log, and -2 while two are at work.

A log is locked while its worker lives, so that two never write into one. The next life goes on
below the last one's words, in a later session too.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
from pathlib import Path
from typing import IO

__all__ = ["WorkerLog"]

LOG_BYTES = 1 << 20
_CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")
"""All but tabs and ends of lines, in UTF-8: who shows the log to a terminal sees them as text."""
CUT = b"[what came before was cut]\n"


class WorkerLog:
    """One life's place to write to: nowhere, if there is no folder or it cannot be written."""

    def __init__(self, folder: Path | None, title: str) -> None:
        self._file = _opened(folder)
        self.add(f"\n--- {title}\n".encode())

    def add(self, words: bytes) -> None:
        """Keep what was said, with control characters spelled out; of a log that gets too long, the
        later half stays."""
        words = _CONTROL.sub(lambda found: b"\\x%02x" % found[0][-1], words.replace(b"\r", b"\n"))
        with contextlib.suppress(OSError):  # a full disk is said by who stores the answers
            size = self._file.seek(0, os.SEEK_END)
            if size + len(words) > LOG_BYTES:
                self._file.seek(size - LOG_BYTES // 2)
                words = CUT + self._file.read() + words
                self._file.truncate(0)
            self._file.write(words)

    def close(self) -> None:
        """Leave it to the next worker."""
        self._file.close()


def _opened(folder: Path | None) -> IO[bytes]:
    if folder is not None:
        with contextlib.suppress(OSError):
            return _claimed(folder)
    return Path(os.devnull).open("a+b", buffering=0)


def _claimed(folder: Path) -> IO[bytes]:
    """The first log that no worker holds."""
    number = 1
    while True:
        path = folder / f"worker-{number}.log"
        place = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        if _locked(place):
            return os.fdopen(place, "a+b", buffering=0)
        os.close(place)
        number += 1


def _locked(place: int) -> bool:
    try:
        fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass  # a file system without locks
    return True
