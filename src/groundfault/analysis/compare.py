"""Does model A really beat model B? Paired tests on the same cases, corrected over the table."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from groundfault.analysis.statistics import holm, mcnemar, paired_difference, shared_ranks
from groundfault.analysis.summary import read_results
from groundfault.errors import UnknownName, UsageError
from groundfault.metrics import compose
from groundfault.protocols import Protocol, of_summary
from groundfault.protocols.scored import by_case
from groundfault.records import Estimate, Summary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from groundfault.protocols.scored import Floats

__all__ = ["Comparison", "McNemar", "PairTest", "compare_runs"]

SIGNIFICANT = 0.05
MOST_RESAMPLES = 200_000
"""A bootstrap p is at least 2/(resamples + 1), which Holm multiplies by the number of tests: large
tables need more resamples, or nothing in them could ever be told apart."""


class PairTest(msgspec.Struct, frozen=True, kw_only=True):
    """A minus B on the same cases: paired bootstrap, two-sided p, Holm over the whole table."""

    a: str
    b: str
    row: str
    metric: str
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    n: int


class McNemar(msgspec.Struct, frozen=True, kw_only=True):
    """Two models' right-or-wrong outcomes on the same cases."""

    a: str
    b: str
    row: str
    outcome: str
    only_a_right: int
    only_b_right: int
    p: float
    p_holm: float


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """The content of compare.json."""

    benchmark: str
    protocol: str = ""
    title: str = ""
    """What reports call the data."""
    runs: dict[str, dict[str, object]]
    """Name → settings."""
    rows: dict[str, dict[str, dict[str, Estimate]]]
    """Row → metric → run → estimate."""
    tests: tuple[PairTest, ...]
    mcnemar: tuple[McNemar, ...]
    ranks: dict[str, dict[str, dict[str, int]]]
    """Row → metric → run → rank: one more than how many runs are better beyond chance."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Run:
    name: str
    summary: Summary
    table: Any
    columns: tuple[str, ...]
    """The names of the contributions."""
    contributions: Floats
    case: NDArray[np.int64]
    rows: Sequence[Sequence[str]]


def compare_runs(
    folders: Sequence[str | PathLike[str]],
    *,
    metrics: Sequence[str] | None = None,
    rows: Sequence[str] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Compare score outputs of the same benchmark, case by case.

    `metrics` are names or what tables print for them; without any, those that the protocol shows.
    """
    if len(folders) < 2:
        raise UsageError("give at least two score folders to compare")
    runs = _named([_load(folder) for folder in folders])
    notes = _check_comparable(runs)
    first = runs[0]
    protocol, known = of_summary(first.summary), first.summary.rows["Overall"].metrics
    metrics = [protocol.metric_named(name, known) for name in metrics or ()]
    metrics = metrics or list(protocol.shown_compared(known))
    filled = [row for row, content in first.summary.rows.items() if content.n_cases]
    _check_known("row", rows or (), filled)
    names = [row for row in filled if not rows or row in rows]
    metric_function = compose(first.columns, first.summary.settings)
    n_tests = len(names) * len(metrics) * (len(runs) * (len(runs) - 1) // 2)
    resamples = max(resamples, min(MOST_RESAMPLES, int(4 * n_tests / SIGNIFICANT)))
    tests: list[PairTest] = []
    for row in names:
        member = np.array([row in listed for listed in first.rows])
        sums = [by_case(run.contributions[member], run.case[member]) for run in runs]
        for a, b in combinations(range(len(runs)), 2):
            found = paired_difference(
                sums[a], sums[b], metric_function, resamples=resamples, seed=seed
            )
            for metric in metrics:
                d = found[metric]
                tests.append(
                    PairTest(
                        a=runs[a].name, b=runs[b].name, row=row, metric=metric, difference=d.value,
                        low=d.low, high=d.high, p=d.p_value, p_holm=None, n=d.n,
                    )
                )  # fmt: skip
    tests = _with_holm(tests)
    estimates = {
        row: {m: {run.name: run.summary.rows[row].metrics[m] for run in runs} for m in metrics}
        for row in names
    }
    return Comparison(
        benchmark=first.summary.benchmark,
        protocol=protocol.name,
        title=first.summary.title,
        runs={run.name: run.summary.settings for run in runs},
        rows=estimates,
        tests=tuple(tests),
        mcnemar=tuple(_mcnemar_tests(runs, names, protocol)),
        ranks=_ranks(estimates, tests, protocol),
        notes=tuple(notes),
    )


def _check_known(kind: str, asked: Sequence[str], known: Collection[str]) -> None:
    for name in asked:
        if name not in known:
            raise UnknownName(kind, name, known)


def _load(folder: str | PathLike[str]) -> _Run:
    summary, table = read_results(folder)
    names = (table.schema.metadata or {}).get(b"contributions", b"").decode().split(",")
    if not {*names, "case", "case_id", "rows"} <= set(table.column_names):
        raise UsageError(f"{folder}: its cases.parquet was not written by groundfault score")
    if "Overall" not in summary.rows:
        raise UsageError(f"{folder}: its summary.json was not written by groundfault score")
    columns = [table.column(name).to_numpy() for name in names]
    return _Run(
        name=Path(folder).resolve().name,
        summary=summary,
        table=table,
        columns=tuple(names),
        contributions=np.stack(columns, axis=1).astype(np.float64),
        case=table.column("case").to_numpy(),
        rows=table.column("rows").to_pylist(),
    )


def _named(runs: list[_Run]) -> list[_Run]:
    """Give runs of the same folder name a number."""
    seen: dict[str, int] = {}
    named = []
    for run in runs:
        seen[run.name] = seen.get(run.name, 0) + 1
        name = run.name if seen[run.name] == 1 else f"{run.name} ({seen[run.name]})"
        named.append(replace(run, name=name))
    return named


def _check_comparable(runs: Sequence[_Run]) -> list[str]:
    first, notes = runs[0], []
    for run in runs[1:]:
        if run.summary.benchmark != first.summary.benchmark:
            raise UsageError(
                f"{first.name} is a {first.summary.benchmark} result and {run.name} a "
                f"{run.summary.benchmark} one; compare results of one benchmark"
            )
        if run.columns != first.columns:
            raise UsageError(
                f"{first.name} and {run.name} have other metrics: one was scored with a package "
                "that the other was not; score both alike"
            )
        if list(run.summary.data.values()) != list(first.summary.data.values()):
            raise UsageError(
                f"{first.name} and {run.name} were scored on different data (see `data` in their "
                "summary.json); score both on the same annotations"
            )
        if run.table.column("case_id").to_pylist() != first.table.column("case_id").to_pylist():
            raise UsageError(f"{first.name} and {run.name} do not have the same cases")
        for key in ("variant", "iou", "tau"):
            mine, theirs = first.summary.settings.get(key), run.summary.settings.get(key)
            if mine != theirs:
                raise UsageError(
                    f"{first.name} has {key} {mine} and {run.name} {key} {theirs}; score both alike"
                )
        if run.summary.settings.get("t") != first.summary.settings.get("t"):
            notes.append(
                f"{first.name} is at t = {first.summary.settings.get('t')} and {run.name} at t = "
                f"{run.summary.settings.get('t')}: each at its own operating point."
            )
        notes += [
            f"{first.name} has {key} {_words(mine)} and {run.name} {key} {_words(theirs)}."
            for key in ("judge", "modes", "mode")
            for mine, theirs in [(first.summary.settings.get(key), run.summary.settings.get(key))]
            if mine != theirs
        ]
    for run in runs:
        failed = run.summary.outcomes.get("failed", 0)
        if failed:
            notes.append(f"{run.name} has {failed} failed items, which are left out on its side.")
    return notes


def _words(value: object) -> str:
    return " and ".join(map(str, value)) if isinstance(value, list) else str(value)


def _with_holm(tests: Sequence[PairTest]) -> list[PairTest]:
    adjusted = holm({k: test.p for k, test in enumerate(tests) if test.p is not None})
    return [
        msgspec.structs.replace(test, p_holm=adjusted[k]) if k in adjusted else test
        for k, test in enumerate(tests)
    ]


def _mcnemar_tests(runs: Sequence[_Run], rows: Sequence[str], protocol: Protocol) -> list[McNemar]:
    """Right-or-wrong outcomes of whole cases, where the protocol has such."""
    found: list[McNemar] = []
    for outcome, (column, is_right) in protocol.right_or_wrong.items():
        if any(column not in run.table.column_names for run in runs):
            continue
        if any(run.table.column(column).null_count == len(run.table) for run in runs):
            continue  # a run that has no such outcome
        values = [run.table.column(column).to_pylist() for run in runs]
        for row in rows:
            for a, b in combinations(range(len(runs)), 2):
                right = [
                    (is_right(x), is_right(y))
                    for x, y, listed in zip(values[a], values[b], runs[a].rows, strict=True)
                    if row in listed and x is not None and y is not None
                ]
                only_a = sum(x and not y for x, y in right)
                only_b = sum(y and not x for x, y in right)
                found.append(
                    McNemar(
                        a=runs[a].name,
                        b=runs[b].name,
                        row=row,
                        outcome=outcome,
                        only_a_right=only_a,
                        only_b_right=only_b,
                        p=mcnemar(only_a, only_b),
                        p_holm=1.0,
                    )
                )
    adjusted = holm({k: test.p for k, test in enumerate(found)})
    return [msgspec.structs.replace(test, p_holm=adjusted[k]) for k, test in enumerate(found)]


def _ranks(
    estimates: Mapping[str, Mapping[str, Mapping[str, Estimate]]],
    tests: Sequence[PairTest],
    protocol: Protocol,
) -> dict[str, dict[str, dict[str, int]]]:
    p_values = {
        (test.row, test.metric, frozenset((test.a, test.b))): test.p_holm
        for test in tests
        if test.p_holm is not None
    }
    ranks: dict[str, dict[str, dict[str, int]]] = {}
    for row, metrics in estimates.items():
        ranks[row] = {}
        for metric, runs in metrics.items():
            declared = protocol.metric(metric)
            if not declared.is_ranked:
                ranks[row][metric] = {}
                continue
            values = {name: e.value for name, e in runs.items() if e.value is not None}

            def told_apart(a: str, b: str, row: str = row, metric: str = metric) -> bool:
                return p_values.get((row, metric, frozenset((a, b))), 1.0) < SIGNIFICANT

            ranks[row][metric] = shared_ranks(
                values, told_apart, higher_is_better=declared.better == "higher"
            )
    return ranks
