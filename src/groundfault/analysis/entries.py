"""Entries of a leaderboard: one run as one JSON file that proves its own numbers.

An entry has what every case contributed, so that whoever gets it can work out every value and every
interval again and test it against others, case by case. It has no pictures, predictions or paths.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from groundfault.analysis.statistics import estimates
from groundfault.errors import DataError, UnknownName
from groundfault.io.foreign import decode_json, read_bytes
from groundfault.io.results import CASES, SUMMARY, notes, read_results, stamp
from groundfault.io.store import is_there, note_of, write_json, write_table
from groundfault.metrics import compose, count, shares, undefined
from groundfault.protocols.scored import by_case
from groundfault.records import Estimate, Row, Summary
from groundfault.registry import names
from groundfault.runs.run import RUN, Run, read_run, write_run

__all__ = ["Entry", "entry_file", "entry_of", "read_entry", "unpack"]


MOST_BYTES = 256 << 20
MOST_CASES = 100_000_000
MOST_RESAMPLES = 100_000
MOST_NAME, MOST_WORDS = 80, 200
CLOSE = 1e-9
TRUTH = "truth_sha256"
MAIN_ROW = "Overall"


class Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A run as others may submit it."""

    format: Literal["groundfault entry 1"] = "groundfault entry 1"
    """Always this; another is refused."""
    name: str
    """What the board calls the run."""
    by: str = ""
    """Who submits it."""
    url: str = ""
    """Where the model is described."""
    model: str = ""
    """The spec it was asked by; "" of a scored dump."""
    summary: Summary
    """Every number; they are worked out again from the columns below."""
    case: tuple[int, ...]
    """The case of each entry of the case table, by number; entries of one case are resampled
    together."""
    case_id: tuple[str, ...]
    """The same by its id."""
    truth_sha256: tuple[str, ...] = ()
    """Of what each entry was measured against, so that only runs on the same truth are compared."""
    split: tuple[str, ...] = ()
    """The split of each entry, "" where there is none."""
    rows: tuple[tuple[str, ...], ...]
    """The table rows that each entry of the case table counts in."""
    contributions: dict[str, tuple[float, ...]]
    """Column → what each entry contributes; metrics are functions of their sums."""


def entry_of(folder: Path, *, name: str = "", by: str = "", url: str = "") -> Entry:
    """The entry of a run, without what names places on this machine."""
    summary, table = read_results(folder)
    run = read_run(folder) if is_there(folder / RUN) else None
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    kept = [column for column in note_of(table, "contributions").split(",") if column]
    return Entry(
        name=name or (run.name if run is not None else folder.resolve().name),
        by=by,
        url=url,
        model=run.model if run is not None else "",
        summary=msgspec.structs.replace(summary, source={}),
        case=tuple(columns["case"]),
        case_id=tuple(columns["case_id"]),
        truth_sha256=tuple(columns.get(TRUTH, ())),
        split=tuple(found or "" for found in columns.get("split", ())),
        rows=tuple(map(tuple, columns["rows"])),
        contributions={column: tuple(columns[column]) for column in kept},
    )


def entry_file(name: str) -> str:
    """What the file of an entry is called.

    >>> entry_file("../a b:c")
    'a_b_c.json'
    """
    return (re.sub(r"[^\w.+-]+", "_", name).strip("._")[:MOST_NAME] or "entry") + ".json"


def read_entry(path: Path) -> Entry:
    """Read a submitted entry; one whose numbers do not follow from its cases is refused."""
    try:
        entry = decode_json(read_bytes(path, most_bytes=MOST_BYTES), Entry)
    except msgspec.DecodeError as problem:
        remedy = "make it with: groundfault leaderboard RUN --out SITE (SITE/entries)"
        raise DataError(path, f"is no entry of a leaderboard: {problem}", remedy=remedy) from None
    for problem_found in _problems(entry):
        raise DataError(path, problem_found, remedy="submit what groundfault leaderboard wrote")
    return entry


def _problems(entry: Entry) -> Iterable[str]:
    """What is wrong with an entry, the simplest first: each may rely on those before it."""
    n = len(entry.case)
    listed: dict[str, Any] = {"case_id": entry.case_id, "rows": entry.rows} | entry.contributions
    listed |= {name: values for name, values in _optional(entry).items() if values}
    for name, values in listed.items():
        if len(values) != n:
            yield f"{name}: has {len(values)} entries, case has {n}"
    yield from _problems_of_words(entry)
    yield from _problems_of_settings(entry.summary)
    if not entry.contributions or MAIN_ROW not in entry.summary.rows:
        yield f"has no contributions, or no row {MAIN_ROW}"
    if not all(0 <= each < MOST_CASES for each in entry.case):
        yield f"case: has a number that is not from 0 to {MOST_CASES - 1}"
    for name, values in entry.contributions.items():
        if not all(map(math.isfinite, values)):
            yield f"{name}: has a value that is no number"
    if entry.summary.stamp != stamp(entry.summary):
        yield "summary: its numbers are not those that were written"
    try:
        yield from _impossible(entry)
        yield from _differences(entry)
    except UnknownName as problem:
        yield f"contributions: {problem}"


def _problems_of_words(entry: Entry) -> Iterable[str]:
    if not entry.name.strip() or len(entry.name) > MOST_NAME:
        yield f"name: must have 1 to {MOST_NAME} characters"
    for name in ("name", "by", "url", "model"):
        text = getattr(entry, name)
        if len(text) > MOST_WORDS or not text.isprintable():
            yield f"{name}: must have at most {MOST_WORDS} characters, all printable"
    if entry.url and not entry.url.startswith(("https://", "http://")):
        yield "url: must begin with https://"


def _problems_of_settings(summary: Summary) -> Iterable[str]:
    """Whoever checks an entry draws its resamples again, so their number has an end."""
    if summary.protocol not in names("protocols"):
        yield f"protocol: '{summary.protocol[:MOST_NAME]}' is not known here"
    for name, most in (("bootstrap", MOST_RESAMPLES), ("seed", None)):
        value = summary.settings.get(name)
        if value is None:
            continue
        if not isinstance(value, int) or value < 0 or (most is not None and value > most):
            yield f"settings: {name} must be a whole number from 0" + (
                f" to {most}" if most else ""
            )


def _impossible(entry: Entry) -> Iterable[str]:
    """Cases that add to a share less than nothing, or more than to its whole."""
    columns = tuple(entry.contributions)
    given = np.array([entry.contributions[name] for name in columns], float)
    for metric, share in shares(columns).items():
        part = given[list(share.part)].sum(axis=0)
        whole = part if share.is_count else given[list(share.whole)].sum(axis=0)
        wrong = np.flatnonzero((part < -CLOSE) | (part > whole + CLOSE))
        if len(wrong):
            yield f"case {entry.case_id[wrong[0]]}: adds to {metric} what no case can"


def _optional(entry: Entry) -> dict[str, tuple[str, ...]]:
    """Columns that not every benchmark has."""
    return {TRUTH: entry.truth_sha256, "split": entry.split}


def _differences(entry: Entry) -> Iterable[str]:
    """Numbers of the summary that its cases do not lead to."""
    for row, found in recomputed(entry).items():
        told = entry.summary.rows.get(row)
        if told is None or told.n_cases != found.n_cases:
            yield f"row {row}: its cases are not those of the summary"
            return
        for metric in {**found.metrics, **told.metrics}:
            given, made = (each.metrics.get(metric, Estimate(None)) for each in (told, found))
            if not _same(given, made):
                yield f"row {row}: {metric} does not follow from its cases"
                return


def recomputed(entry: Entry) -> dict[str, Row]:
    """Every row of the summary, made again from the cases as `score` makes it."""
    settings, columns = entry.summary.settings, tuple(entry.contributions)
    sums = np.array([entry.contributions[name] for name in columns], float).T
    case = np.array(entry.case, np.int64)
    bootstrap, seed = (int(str(settings.get(name) or 0)) for name in ("bootstrap", "seed"))
    rows = {}
    for number, row in enumerate(entry.summary.rows):
        member = np.array([row in listed for listed in entry.rows], bool)
        cases, total = by_case(sums[member], case[member]), sums[member].sum(axis=0)
        rows[row] = Row(
            n_cases=len(cases),
            metrics=estimates(
                cases,
                compose(columns, settings),
                count(columns, total, int(member.sum())),
                shares=shares(columns),
                undefined=undefined(columns, total, settings),
                resamples=bootstrap,
                seed=[seed, number],
            ),
        )
    return rows


def _same(told: Estimate, found: Estimate) -> bool:
    pairs = ((told.value, found.value), (told.low, found.low), (told.high, found.high))
    return all(
        a is b if a is None or b is None else math.isclose(a, b, rel_tol=CLOSE, abs_tol=CLOSE)
        for a, b in pairs
    )


def unpack(entry: Entry, folder: Path) -> Path:
    """Write an entry as the folder that `compare` and `report` read."""
    columns: dict[str, Any] = {
        "case": np.array(entry.case, np.int64),
        "case_id": list(entry.case_id),
        **{name: list(values) for name, values in _optional(entry).items() if values},
        "rows": [list(listed) for listed in entry.rows],
        **{name: np.array(values, float) for name, values in entry.contributions.items()},
    }
    folder.mkdir(parents=True)
    noted = notes(entry.summary, [*columns], [*entry.contributions])
    write_table(folder / CASES, columns, metadata=noted)
    write_json(folder / SUMMARY, entry.summary)
    model, about = entry.model or entry.name, entry.summary
    made = Run(model=model, label=entry.name, benchmark=about.benchmark, protocol=about.protocol)
    write_run(folder, made)
    return folder
