"""The command line: parse, wire, call. Every command prints a table, or JSON with --json.

What it needs is imported once it runs: `main` sets up the process first.
"""

from __future__ import annotations

import gc
import os
import sys

from groundfault.errors import GroundfaultError

__all__ = ["main", "run"]


def run(arguments: list[str] | None = None) -> int:
    """Run a command and give its exit code. Errors of ours end with one line and code 2."""
    from groundfault.cli.app import COMMANDS, build_app, build_overview
    from groundfault.cli.completion import ASKED, line_to_complete

    words = sys.argv[1:] if arguments is None else arguments
    for word in words:
        if not _is_text(word):
            _print_error(f"{word}: holds bytes that are no UTF-8 text; rename the file or folder")
            return 2
    line = line_to_complete() if ASKED in os.environ else words
    named = bool(line) and line[0] in COMMANDS
    try:
        app = build_app(line) if named else build_overview()
        app(words)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    except (GroundfaultError, OSError) as problem:
        _print_error(str(problem))
    except RuntimeError as problem:
        if not str(problem).startswith("Symlink loop"):  # pathlib's; an OSError from 3.13 on
            raise
        _print_error(str(problem))
    except UnicodeEncodeError as problem:
        if _is_text(problem.object):
            raise
        _print_error(
            f"{problem.object[:200]}: holds bytes that are no UTF-8 text; rename the file or folder"
        )
    except MemoryError:
        _print_error("not enough memory for this file")
    except Exception as problem:
        told = _plug_in_failure(problem)
        if not told:
            raise
        _print_error(told)
    return 2


def _is_text(word: str) -> bool:
    """Whether a word, or a path in it, can be written as UTF-8; names on the disk need not be."""
    return not any("\ud800" <= character <= "\udfff" for character in word)


def _open_streams() -> None:
    """Have input and output where they were closed, or the next file would be taken for them."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def _plug_in_failure(problem: Exception) -> str:
    """What to say where a plug-in of any kind (a benchmark, a judge, a metric …) raised something;
    "" where it is our own mistake."""
    from groundfault.errors import raised_in
    from groundfault.registry import KINDS, plugins

    targets = {entry.target for kind in KINDS for entry in plugins(kind).values()}
    place = raised_in(problem, {target.partition(":")[0].partition(".")[0] for target in targets})
    return f"a plug-in raised {type(problem).__name__}: {problem} (at {place})" if place else ""


def _print_error(message: str) -> None:
    from groundfault.reports.tables import printable

    print(f"error: {printable(message)}", file=sys.stderr)


def main() -> None:
    """Entry point of the `groundfault` program."""
    # Nothing here is large enough for BLAS threads, which cost 70 ms of CPU to start, nor for
    # Arrow's own allocator, which costs 20 MB.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    _open_streams()
    gc.disable()  # records hold no cycles; looking for them costs a third of the reading time
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # not every terminal has a τ
    code = run()
    try:
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output has seen enough
        pass
    except OSError as problem:
        _print_error(str(problem))
        code = 2
    sys.stderr.flush()
    os._exit(code)  # tearing down a million records takes longer than the system's own clean-up
