"""The benchmark that a run was asked, all of it or its first cases, read again where it was."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import msgspec

from groundfault.errors import UsageError
from groundfault.io.sources import load
from groundfault.records import Benchmark
from groundfault.runs.run import Run

__all__ = ["first_cases", "limited", "place_of", "read_again"]

AnyPath = str | PathLike[str]


def first_cases(benchmark: Benchmark, n: int | None) -> Benchmark:
    """The first n cases with their items; all of them if n is None."""
    if n is None or n >= len(benchmark.cases):
        return benchmark
    cases = benchmark.cases[:n]
    kept = {case.id for case in cases}
    items = tuple(item for item in benchmark.items if item.case_id in kept)
    return msgspec.structs.replace(benchmark, cases=cases, items=items)


def limited(benchmark: Benchmark, asked: Benchmark) -> dict[str, str]:
    """How much of a benchmark was asked, if not all: only runs on the same data are compared."""
    whole = len(asked.cases) == len(benchmark.cases)
    return {} if whole else {"limit": str(len(asked.cases))}


def place_of(benchmark: Benchmark, name: str, inputs: dict[str, object]) -> dict[str, object]:
    """What a run notes about where its benchmark was, which `load` was given as a name or folder
    with inputs: what `read_again` needs."""
    given = {key: _absolute(value) for key, value in inputs.items() if value not in (None, "")}
    folder = benchmark.folder or (name if Path(name).is_dir() else "")
    if folder:
        given.setdefault("data", _absolute(folder))
    return given


def _absolute(value: object) -> object:
    if isinstance(value, (list, tuple)):
        return [_absolute(each) for each in value]
    return str(Path(value).resolve()) if isinstance(value, (str, PathLike)) else value


def read_again(
    run: Run, *, data: AnyPath | None = None, images: AnyPath | None = None
) -> Benchmark:
    """What a run was asked, from where it was or from where it is now; other content is refused."""
    place = run.settings
    noted = data or str(place.get("data") or run.benchmark_folder)
    where = Path(noted)
    if not noted or not where.exists():
        raise UsageError(
            f"{noted or run.benchmark}: the benchmark is no longer there; give it with --data"
        )
    pictures = images or place.get("images") or None
    inputs: dict[str, Any] = {"images": str(pictures)} if pictures else {}
    is_own = (where / "exam.json").is_file() or (where / "benchmark.json").is_file()
    found = load(str(where), **inputs) if is_own else load(run.benchmark, data=where, **inputs)
    if found.card.content_hash != run.content_hash:
        raise UsageError(f"{where}: has other questions than this run was asked")
    limit = place.get("limit")
    return first_cases(found, limit if isinstance(limit, int) else None)
