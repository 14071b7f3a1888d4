"""What can go wrong, as types.

    GroundfaultError
    ├── DataError        a foreign file is unsound: names file, record and remedy
    ├── UsageError       the caller asked for something that does not exist or does not fit together
    │   └── UnknownName  a name is not in a registry; suggests the nearest one
    └── MissingExtra     an optional library is not installed; names the extra

Every one of them ends the command line with exit code 2 and one message, never a traceback.
"""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike

__all__ = ["DataError", "GroundfaultError", "MissingExtra", "UnknownName", "UsageError"]


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
