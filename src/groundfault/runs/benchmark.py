"""The benchmark that a run was asked, all of it or its first cases, read again where it was."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import msgspec

from groundfault.benchmarks.folder import HEADER, content_hash
from groundfault.errors import UsageError
from groundfault.io.sources import DUMP, inputs_of, load
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


def _is_there(path: str) -> bool:
    """Whether there is such a file or folder; a name that no system takes is none."""
    try:
        return Path(path).exists()
    except OSError:
        return False


def read_again(
    run: Run,
    *,
    data: AnyPath | None = None,
    images: AnyPath | None = None,
    option: str = "--data",
) -> Benchmark:
    """What a run was asked, from where it was or from where it is now; other content is refused.

    `data` is a folder of ours, or the questions of a format that has an input of that name;
    `images` the pictures. Messages name `option` as the way to give what is gone.
    """
    name, given = _given(run, data)
    shown = next((each.name for each in inputs_of(name) if each.pictures), "") if given else ""
    if images is not None and shown:
        given[shown] = str(images)
    for key, value in given.items() if given else [("", name)]:
        for path in value if isinstance(value, list) else [value]:
            if not path or not _is_there(str(path)):
                way = "--images" if key == shown != "" else option
                raise UsageError(f"{path or run.benchmark}: is no longer there; give it with {way}")
    found = load(name, **given)
    expected = run.content_hash  # of a scored dump it is not known
    if expected and (found.card.content_hash or content_hash(found)) != expected:
        where = data or run.benchmark_folder or run.benchmark
        raise UsageError(f"{where}: has other questions than this run was asked")
    limit = run.settings.get("limit")
    return first_cases(found, limit if isinstance(limit, int) else None)


def _given(run: Run, data: AnyPath | None) -> tuple[str, dict[str, Any]]:
    """The name of a format with its inputs, or a folder without any."""
    source = _source(run)
    takes_data = "data" in source and not (data and (Path(data) / HEADER).is_file())
    if data is not None and not takes_data:
        return str(data), {}
    if "format" not in source:
        return run.benchmark_folder, {}
    given = {name: value for name, value in source.items() if name not in ("format", DUMP)}
    return str(source["format"]), given if data is None else {**given, "data": str(data)}


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
