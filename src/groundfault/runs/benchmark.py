"""The benchmark that a run was asked, all of it or its first cases, read again where it was."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import msgspec

from groundfault.benchmarks.folder import content_hash
from groundfault.errors import UsageError
from groundfault.io.sources import load
from groundfault.records import Benchmark
from groundfault.runs.run import Run

__all__ = ["first_cases", "limited", "read_again"]

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


def read_again(
    run: Run, *, data: AnyPath | None = None, images: AnyPath | None = None
) -> Benchmark:
    """What a run was asked, from where it was or from where it is now; other content is refused.

    `data` is a folder of ours, or the questions of a format that has an input of that name;
    `images` the pictures.
    """
    found = load(*_place(run, data), **_inputs(run, data, images))
    if (found.card.content_hash or content_hash(found)) != run.content_hash:
        where = data or run.benchmark_folder or run.benchmark
        raise UsageError(f"{where}: has other questions than this run was asked")
    limit = run.settings.get("limit")
    return first_cases(found, limit if isinstance(limit, int) else None)


def _place(run: Run, data: AnyPath | None) -> list[str]:
    """The name of the format, or our own folder."""
    source = _source(run)
    if data is not None and "data" not in source:
        return [str(data)]
    if "format" in source:
        return [str(source["format"])]
    _check_there(data or run.benchmark_folder, "--data")
    return [str(data or run.benchmark_folder)]


def _inputs(run: Run, data: AnyPath | None, images: AnyPath | None) -> dict[str, Any]:
    source = _source(run)
    if data is not None and "data" not in source:
        return {}
    given = {name: value for name, value in source.items() if name != "format"}
    if data is not None:
        given["data"] = str(data)
    if images is not None:
        given["images"] = str(images)
    for value in given.values():
        for path in value if isinstance(value, list) else [value]:
            _check_there(path, "--images" if path == given.get("images") else "--data")
    return given


def _check_there(path: object, option: str) -> None:
    if not path or not Path(str(path)).exists():
        raise UsageError(f"{path}: the benchmark is no longer there; give it with {option}")


def _source(run: Run) -> dict[str, Any]:
    """The format and its inputs; version 0.1.0 noted them, of what was asked in words, as settings
    of their own."""
    found = run.settings.get("source")
    if isinstance(found, dict) and found:
        return found
    old = {name: run.settings[name] for name in ("data", "images") if run.settings.get(name)}
    if "images" in old:
        return {"format": run.benchmark, **old}
    return {}
