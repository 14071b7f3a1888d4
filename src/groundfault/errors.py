"""What can go wrong, as types.

    GroundfaultError
    ├── DataError        a foreign file is unsound: names file, record and remedy
    ├── UsageError       the caller asked for something that does not exist or does not fit together
    │   └── UnknownName  a name is not in a registry; suggests the nearest one
    └── MissingExtra     an optional library is not installed; names the extra

Every one of them ends the command line with exit code 2 and one message, never a traceback.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from os import PathLike
from pathlib import Path

__all__ = [
    "RAISED",
    "DataError",
    "GroundfaultError",
    "MissingExtra",
    "UnknownName",
    "UsageError",
    "described",
    "raised_in",
]

RAISED = (Exception, SystemExit)
"""What other people's code may raise: a plug-in that calls sys.exit() does not end the program."""


class GroundfaultError(Exception):
    """Base of everything this package raises on purpose."""


class DataError(GroundfaultError):
    """A file does not hold what it should.

    >>> print(DataError("preds.json", "score is NaN", record="record 7", remedy="drop the record"))
    preds.json, record 7: score is NaN. Remedy: drop the record.
    """

    def __init__(
        self, file: str | PathLike[str], problem: str, *, remedy: str, record: str | None = None
    ) -> None:
        self.file = str(file)
        self.problem = problem
        self.record = record
        self.remedy = remedy
        where = self.file if record is None else f"{self.file}, {record}"
        super().__init__(f"{where}: {problem}. Remedy: {remedy}.")


class UsageError(GroundfaultError):
    """The request itself is wrong."""


class UnknownName(UsageError):
    """A name that no registry knows, with the nearest names that it does.

    >>> print(UnknownName("metric", "cgf1", ["cgF1", "AFPR"]))
    unknown metric 'cgf1'. Did you mean 'cgF1'?
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        import difflib

        known = sorted(known)
        folded = {candidate.casefold(): candidate for candidate in known}
        near = difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.5)
        if near:
            hint = "Did you mean " + " or ".join(f"'{folded[match]}'" for match in near) + "?"
        elif known:
            hint = "Known: " + ", ".join(known) + "."
        else:
            hint = "None is registered."
        super().__init__(f"unknown {kind} '{name}'. {hint}")


class MissingExtra(GroundfaultError):
    """An optional dependency is absent."""

    def __init__(self, library: str, extra: str) -> None:
        super().__init__(
            f"{library} is not installed. Install it with: pip install 'groundfault[{extra}]'"
        )


def described(problem: BaseException) -> str:
    """An exception of somebody else's code: its kind, its words, and where it was raised if that
    is in a plug-in.

    >>> described(ValueError("no such colour"))
    'ValueError: no such colour'
    """
    words = f"{type(problem).__name__}: {problem}".rstrip(": ")
    if isinstance(problem, SyntaxError) and problem.filename:  # it names its place itself
        return words
    place = _place(problem)
    return f"{words} (at {place})" if place else words


def raised_in(problem: BaseException, packages: Collection[str]) -> str:
    """File and line of the last step that was taken in one of these packages; "" if none was."""
    steps = [step for step in _steps(problem) if _package(step[0]) in packages]
    if not steps:
        return ""
    module, file, line = steps[-1]
    path = Path(file)
    in_package = "." in module or path.name == "__init__.py"
    name = f"{path.parent.name}/{path.name}" if in_package else path.name
    return f"{name}:{line}"


def _place(problem: BaseException) -> str:
    """Where the code that we called was, if it is not ours: the last of its own lines, however deep
    the libraries are in which it ended."""
    modules = [module for module, *_ in _steps(problem)]
    called = next((module for module in modules if not _is_called_from(module)), "groundfault")
    package = _package(called)
    return "" if package == "groundfault" else raised_in(problem, [package])


def _steps(problem: BaseException) -> list[tuple[str, str, int]]:
    """Module, file and line of each step on the way to where it was raised."""
    found, step = [], problem.__traceback__
    while step is not None:
        module = str(step.tb_frame.f_globals.get("__name__", ""))
        found.append((module, step.tb_frame.f_code.co_filename, step.tb_lineno))
        step = step.tb_next
    return found


def _package(module: str) -> str:
    return module.partition(".")[0]


def _is_called_from(module: str) -> bool:
    """Whether a module of ours, or of Python, is where other people's code is called from."""
    ours = ("groundfault.runner", "groundfault.registry", "groundfault.llm", "groundfault.api")
    return module.startswith((*ours, "importlib", "concurrent.futures"))
