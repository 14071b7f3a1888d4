"""One life of a worker process: lines in, lines out, a clock on everything.

No threads: stdin, stdout and stderr are non-blocking and served by the caller while it waits.
Pictures go through a nameless file that the worker inherits: nothing to remove, whoever dies
first. A 4000x3000 picture takes 25 ms that way, 26 ms by a file in a folder for temporary files,
47 ms by multiprocessing.shared_memory (which, before Python 3.13, also unlinks what it attached).

    WorkerError             whatever a worker does wrong; the message ends with its last words
    ├── WorkerDied          it ended, or could not be started
    ├── WorkerTimeout       no answer in time, or no heart-beat
    ├── WorkerNonsense      it broke the protocol: garbage, wrong sizes, wrong counts
    ├── WorkerModelError    it is well, its model raised an exception
    └── WorkerGaveUp        it failed too many times in a row to be started again
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import tempfile
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from groundfault.errors import GroundfaultError
from groundfault.models.worker_log import WorkerLog

__all__ = [
    "WorkerDied",
    "WorkerError",
    "WorkerGaveUp",
    "WorkerModelError",
    "WorkerNonsense",
    "WorkerProcess",
    "WorkerTimeout",
]

MAX_LINE_BYTES = 1 << 26
"""64 MB: a hundred ragged masks of a large photograph; more is a flood."""
STDERR_BYTES = 1 << 16
LAST_WORDS = 500
"""Characters of stderr in a message, which engines cut at about a thousand."""
CHUNK_BYTES = 1 << 16
GRACE_S = 3.0
LOOK_S = 1.0
"""How often a silent worker is looked after."""


class WorkerError(GroundfaultError):
    """A worker did something wrong."""

    def __init__(self, problem: str, *, stderr: str = "") -> None:
        self.problem = problem
        self.stderr = stderr
        """The end of what it wrote to stderr, up to 64 kB."""
        tail = stderr.strip()
        if len(tail) > LAST_WORDS:  # from the beginning of a line, if there is one
            cut, _, lines = tail[-LAST_WORDS:].partition("\n")
            tail = lines or cut
        super().__init__(f"{problem}. It said last: {tail}" if tail else problem)

    @property
    def out_of_memory(self) -> bool:
        """Whether asking for less may help. Of a process that ended nobody knows why, and every
        further question about the same picture may cost another one."""
        return False


class WorkerDied(WorkerError):
    """It ended, or could not be started."""


class WorkerTimeout(WorkerError):
    """No answer in time, or no heart-beat."""


class WorkerNonsense(WorkerError):
    """It broke the protocol."""


class WorkerModelError(WorkerError):
    """The worker is well, its model raised an exception."""

    @property
    def out_of_memory(self) -> bool:
        """Whether the exception says so."""
        return "out of memory" in self.problem.lower() or "MemoryError" in self.problem


class WorkerGaveUp(WorkerError):
    """It failed too many times in a row."""


class WorkerProcess:
    """A running worker. The command gets the picture file's descriptor as its last argument."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        silence_s: float,
        log_folder: Path | None = None,
    ) -> None:
        self.name = name
        self.silence_s = silence_s
        self._file = _nameless_file()
        try:
            self._popen = subprocess.Popen(
                [*command, str(self._file.fileno())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env=env,
                pass_fds=[self._file.fileno()],
                start_new_session=True,  # its own group: what it starts ends with it
            )
        except OSError as problem:
            self._file.close()
            raise WorkerDied(f"worker {name} could not be started: {problem}") from None
        self._stdin = _unblocked(self._popen.stdin)
        self._stdout = _unblocked(self._popen.stdout)
        self._stderr = _unblocked(self._popen.stderr)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._stdout, selectors.EVENT_READ)
        self._selector.register(self._stderr, selectors.EVENT_READ)
        self._line = bytearray()
        self._searched = 0
        self._last_words = bytearray()
        self._log = WorkerLog(
            log_folder, f"worker {name}, process {self.pid}, {time.strftime('%Y-%m-%d %H:%M:%S')}"
        )
        self.begin("start", within_s=silence_s, beating=False)
        pipes = self._stdin, self._stdout, self._stderr
        closing = *pipes, self._file, self._selector, self._log
        self._close = weakref.finalize(self, _end, self._popen, closing, os.getpid())

    @property
    def pid(self) -> int:
        """Of the worker; also of its process group."""
        return self._popen.pid

    @property
    def alive(self) -> bool:
        """False once it ended, whatever it left unsaid."""
        return not _exited(self._popen, 0.0)

    @property
    def stderr(self) -> str:
        """The end of what it wrote there."""
        return self._last_words.decode("utf-8", "replace")

    def show(self, rgb: memoryview) -> None:
        """Put a picture's bytes where the worker finds them."""
        descriptor, start = self._file.fileno(), 0
        while start < len(rgb):
            start += os.pwrite(descriptor, rgb[start:], start)

    def shown(self, size: int) -> bytes:
        """So many bytes that the worker has put there."""
        parts, start = [], 0
        while start < size and (part := os.pread(self._file.fileno(), size - start, start)):
            parts.append(part)
            start += len(part)
        return b"".join(parts)

    def begin(self, task: str, *, within_s: float, beating: bool = True) -> None:
        """Set the clock for what is sent and received next, and say whether a heart beats yet."""
        self._task = f"{task} within {within_s:g} s"
        self._silence_s = self.silence_s if beating else within_s
        self._heard = time.monotonic()
        self._deadline = self._heard + within_s

    def send(self, message: bytes) -> None:
        """One line, while listening: a worker that talks instead of reading must not block us."""
        left = memoryview(message + b"\n")
        self._selector.register(self._stdin, selectors.EVENT_WRITE)
        try:
            while left:
                if self._serve():
                    with contextlib.suppress(BlockingIOError):
                        left = left[os.write(self._stdin.fileno(), left) :]
        except BrokenPipeError:
            raise self._died() from None
        finally:
            self._selector.unregister(self._stdin)

    def receive(self) -> bytes:
        """The next line, without its end."""
        while True:
            end = self._line.find(b"\n", self._searched)
            if end >= 0:
                line = bytes(self._line[:end])
                del self._line[: end + 1]
                self._searched = 0
                self._hear_stderr()  # what it said before: nobody may ask it again
                return line
            self._searched = len(self._line)
            self._serve()

    def error(self, kind: type[WorkerError], problem: str) -> WorkerError:
        """What the worker did, with what it said last."""
        self._hear_stderr()
        return kind(f"worker {self.name} {problem}", stderr=self.stderr)

    def close(self, *, patient: bool = True) -> None:
        """End it: by closing its stdin and waiting a little, or at once. Safe to repeat."""
        detached = self._close.detach()
        if detached is not None:
            _, end, (popen, closing, owner), _ = detached
            if owner == os.getpid():
                self._hear_stderr()
            end(popen, closing, owner, GRACE_S if patient else 0.0)

    def _serve(self) -> bool:
        """Wait for one thing to happen; True if the worker can be written to."""
        now = time.monotonic()
        silent = self._heard + self._silence_s
        if now >= self._deadline:
            raise self.error(WorkerTimeout, f"did not {self._task}")
        if now >= silent:
            raise self.error(WorkerTimeout, f"sent no heart-beat for {self.silence_s:g} s")
        writable = False
        events = self._selector.select(min(self._deadline - now, silent - now, LOOK_S))
        if not events and not self.alive:  # a child of its may hold its stdout open
            raise self._died()
        for key, _ in events:
            if key.fileobj is self._stdin:
                writable = True
            elif key.fileobj is self._stderr:
                if not self._hear_stderr():
                    self._selector.unregister(self._stderr)
            else:
                self._hear_stdout()
        return writable

    def _hear_stdout(self) -> None:
        chunk = os.read(self._stdout.fileno(), CHUNK_BYTES)
        if not chunk:
            raise self._died()
        self._line += chunk
        self._heard = time.monotonic()
        if len(self._line) > MAX_LINE_BYTES:
            raise self.error(WorkerNonsense, f"wrote over {MAX_LINE_BYTES} bytes in a line")

    def _hear_stderr(self) -> bool:
        """Keep the end of it; False once it is closed."""
        try:
            chunk = os.read(self._stderr.fileno(), STDERR_BYTES)
        except BlockingIOError:
            return True
        self._log.add(chunk)
        self._last_words += chunk
        del self._last_words[:-STDERR_BYTES]
        return bool(chunk)

    def _died(self) -> WorkerError:
        """How it ended: stdout is closed, so its exit is near or has been."""
        how = "closed its stdout"
        if _exited(self._popen, GRACE_S):
            code = _killed(self._popen)
            how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
            if code == -signal.SIGKILL:
                how += " (often: out of memory)"
        if self._line:
            how += f" in the middle of a line, after {bytes(self._line[:80])!r}"
        return self.error(WorkerDied, how)


def _nameless_file() -> IO[bytes]:
    """In memory on Linux, elsewhere on disk; gone when nobody holds it any more."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("groundfault-picture"), "w+b", buffering=0)
    return tempfile.TemporaryFile(buffering=0)


def _unblocked(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None  # subprocess.PIPE was asked for
    os.set_blocking(pipe.fileno(), False)
    return pipe


def _killed(popen: subprocess.Popen[bytes]) -> int:
    """Its exit code, after it and all that it started are gone."""
    if popen.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(popen.pid, signal.SIGKILL)
    return popen.wait()


def _exited(popen: subprocess.Popen[bytes], within_s: float) -> bool:
    """Whether it ended in time. Does not reap it where that can be helped: until then its id, and
    so its group's, belongs to nobody else."""
    deadline = time.monotonic() + within_s
    while True:
        if popen.returncode is not None:
            return True
        if hasattr(os, "waitid"):
            with contextlib.suppress(ChildProcessError):
                if os.waitid(os.P_PID, popen.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                    return True
        elif popen.poll() is not None:
            return True
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.005)


def _end(
    popen: subprocess.Popen[bytes],
    closing: Sequence[IO[bytes] | selectors.BaseSelector | WorkerLog],
    owner: int,
    grace_s: float = 0.0,
) -> None:
    """Close the pipes, wait, kill the group, reap. A forked copy only closes its pipes."""
    for part in closing:
        with contextlib.suppress(OSError):
            part.close()
    if os.getpid() != owner:
        popen.returncode = 0  # not our child: nothing to wait for
        return
    _exited(popen, grace_s)
    _killed(popen)
