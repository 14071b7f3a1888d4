"""Runs commands, one JSON line of words at a time, and says how each ended."""

from __future__ import annotations

import contextlib
import io
import json
import re
import resource
import sys
import time
import traceback
from pathlib import Path

from tests.fuzz.desks import visit


def main() -> None:
    """Answer every line of stdin on the real stdout."""
    from groundfault import cli

    answers = sys.stdout
    for line in sys.stdin:
        out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
        began, failed, code = time.process_time(), "", -1
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                words = json.loads(line)
                code = visit(words[1:]) if words[0] == "@visit" else cli.run(words)
            except BaseException:  # whatever comes through is what is looked for
                failed = traceback.format_exc()
        out.flush()
        print(
            json.dumps(
                {
                    "code": code,
                    "out": out.buffer.getvalue().decode("utf-8", "replace"),  # type: ignore[attr-defined]
                    "err": err.getvalue()[-4000:],
                    "traceback": failed,
                    "seconds": time.process_time() - began,
                    "peak_mb": _peak_mb(),
                }
            ),
            file=answers,
            flush=True,
        )


def _peak_mb() -> float:
    """This program's own peak; ru_maxrss begins with that of the process which started it."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    [peak_kb] = re.findall(r"^VmHWM:\s*(\d+) kB", status.read_text(), re.MULTILINE)
    return int(peak_kb) / 1024


if __name__ == "__main__":
    main()
