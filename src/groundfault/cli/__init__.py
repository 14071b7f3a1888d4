"""The command line: parse, wire, call. Every command prints a table, or JSON with --json.

Commands live in the modules beside this one, which are imported only when they are asked for.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer

from groundfault import __version__
from groundfault.errors import GroundfaultError

__all__ = ["COMMANDS", "build_app", "main", "run"]

COMMANDS = {
    "score": "scoring:register_score",
    "sweep": "scoring:register_sweep",
    "compare": "evaluation:register",
    "eval": "evaluation:register",
    "report": "evaluation:register",
    "judge": "judging:register",
    "judge-card": "judging:register",
    "world": "world:register",
    "train": "train:register",
    "calibrate": "calibration:register",
    "agent": "agents:register",
    "convert": "files:register",
    "export": "exports:register",
    "inspect": "files:register",
    "list": "about:register",
    "doctor": "about:register",
    "conformance": "about:register",
    "example": "about:register",
}
"""Who adds which command."""


def build_app(words: Sequence[str]) -> typer.Typer:
    """The program, or just the command of it that the words name."""
    app = typer.Typer(
        name="groundfault",
        help="Does a vision model ground what it was asked for, or what it expected to see?",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_program)
    named = words[0] if words else ""
    for target in dict.fromkeys([COMMANDS[named]] if named in COMMANDS else COMMANDS.values()):
        module, _, function = target.partition(":")
        register = getattr(import_module(f"groundfault.cli.{module}"), function)
        register(app, words)
    return app


def _version(value: bool) -> None:
    if value:
        print(f"groundfault {__version__}")
        raise typer.Exit


def _program(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def run(arguments: list[str] | None = None) -> int:
    """Run a command and give its exit code. Errors of ours end with one line and code 2."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        build_app(words)(words)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    except (GroundfaultError, OSError) as problem:
        _print_error(str(problem))
    except MemoryError:
        _print_error("not enough memory for this file")
    return 2


def _print_error(message: str) -> None:
    from groundfault.reports.tables import printable

    print(f"error: {printable(message)}", file=sys.stderr)


def main() -> None:
    """Entry point of the `groundfault` program."""
    # Nothing here is large enough for BLAS threads, which cost 70 ms of CPU to start, nor for
    # Arrow's own allocator, which costs 20 MB.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
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
