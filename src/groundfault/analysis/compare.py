"""Does model A really beat model B? Paired tests on the same cases.

What is tested is chosen before anyone looks: the headline metrics in the row Overall, or the
metrics and rows that were named, for every pair of runs (which of them is best is known only
afterwards). Holm's correction is over exactly these tests.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from groundfault.analysis.statistics import (
    difference,
    draw,
    estimates,
    holm,
    mcnemar,
    shared_ranks,
)
from groundfault.analysis.summary import read_results
from groundfault.errors import UnknownName, UsageError
from groundfault.io.store import is_there, note_of
from groundfault.metrics import compose, count, shares, undefined
from groundfault.protocols import Protocol, of_summary
from groundfault.protocols.scored import by_case, together
from groundfault.records import Estimate, Summary
from groundfault.registry import BASELINES
from groundfault.runs.run import RUN, read_run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from groundfault.protocols.scored import Floats

__all__ = ["Comparison", "McNemar", "PairTest", "Runs", "compare_runs"]

SIGNIFICANT = 0.05
OVERALL = "Overall"
LIMIT = "limit"
"""What `data` of a summary says besides hashes: how many of the cases were asked."""
TRUTH = "truth_sha256"
"""The column that says what each case is compared with, where a table has it."""


class PairTest(msgspec.Struct, frozen=True, kw_only=True):
    """A minus B on the same cases: two-sided p, and p after Holm over all tests that were made."""

    a: str
    """The first run."""
    b: str
    """The second run."""
    row: str
    """The table's row."""
    metric: str
    """The metric's name."""
    difference: float | None
    """A minus B; None where either is undefined."""
    low: float | None
    """Lower end of its 95 % interval."""
    high: float | None
    """Upper end."""
    p: float | None
    """How often chance alone would give such a difference."""
    p_holm: float | None
    """The same, corrected for the number of tests."""
    n: int
    """Cases that both answered."""
    method: str = ""
    """Where p is from: "McNemar" (exact, of shares of cases), "bootstrap", or beyond its reach
    "t" (Student's, with the bootstrap's standard error)."""


class McNemar(msgspec.Struct, frozen=True, kw_only=True):
    """Two models' right-or-wrong outcomes on the same cases."""

    a: str
    """The first run."""
    b: str
    """The second run."""
    row: str
    """The table's row."""
    outcome: str
    """What "right" is here."""
    only_a_right: int
    """Cases that A alone got right."""
    only_b_right: int
    """Cases that B alone got right."""
    p: float
    """Exact, two-sided; it takes entries of one case, or of one photograph, for independent."""
    p_holm: float
    """The same, corrected for the number of tests."""


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """The content of compare.json."""

    benchmark: str
    """The name on its card."""
    protocol: str = ""
    """How it was scored."""
    title: str = ""
    """What reports call the data."""
    runs: dict[str, dict[str, object]]
    """Name → settings."""
    baselines: tuple[str, ...] = ()
    """Runs that are not ranked, as they are no models; none where there are no others."""
    n_cases: int = 0
    """How many cases all runs have, on which they are compared."""
    rows: dict[str, dict[str, dict[str, Estimate]]]
    """Row → metric → run → estimate."""
    tested: tuple[str, ...] = ()
    """The rows that are tested."""
    tests: tuple[PairTest, ...]
    """Every pair of runs, row and metric that was tested."""
    mcnemar: tuple[McNemar, ...]
    """The same as right or wrong, where a case can be that."""
    ranks: dict[str, dict[str, dict[str, int]]]
    """Row → metric → run → rank: one more than how many runs are better beyond chance; empty where
    nothing was tested."""
    notes: tuple[str, ...] = ()
    """What a reader should know."""


@dataclass(frozen=True)
class _Run:
    name: str
    model: str
    """"" where only scores are stored."""
    summary: Summary
    table: Any
    columns: tuple[str, ...]
    """The names of the contributions."""
    contributions: Floats
    case: NDArray[np.int64]
    rows: Sequence[Sequence[str]]

    @property
    def case_ids(self) -> list[str]:
        found: list[str] = self.table.column("case_id").to_pylist()
        return found


@dataclass(frozen=True)
class Runs:
    """Score outputs of the same benchmark, read once, with the cases that all of them have."""

    runs: Sequence[_Run]
    case: NDArray[np.int64]
    """(entries,) those with the same number are resampled together, of every run alike."""
    notes: Sequence[str]
    is_as_stored: bool
    """Whether every run was summarised over these cases, resampled together like this."""

    @classmethod
    def read(cls, folders: Sequence[str | PathLike[str]]) -> Runs:
        """Read folders that `score` or `eval` wrote; what cannot be compared is refused."""
        if len(folders) < 2:
            raise UsageError("give at least two score folders to compare")
        runs = _named([_load(folder) for folder in folders])
        notes = _check_comparable(runs)
        common, of_common = _common_cases(runs)
        case, of_clusters = _common_clusters(common)
        apart = (*of_common, *of_clusters)
        return cls(common, case, (*apart, *notes), is_as_stored=not apart)

    def member(self, row: str) -> NDArray[np.bool_]:
        """(entries,) which of them count in a row."""
        return np.array([row in listed for listed in self.runs[0].rows], bool)

    def filled(self) -> list[str]:
        """The rows that have cases."""
        there = {row for listed in self.runs[0].rows for row in listed}
        return [row for row in self.runs[0].summary.rows if row in there]

    def sums(self, run: _Run, row: str) -> Floats:
        """(cases, k) contributions of a run in a row."""
        member = self.member(row)
        return by_case(run.contributions[member], self.case[member])


def compare_runs(
    runs: Runs | Sequence[str | PathLike[str]],
    *,
    metrics: Sequence[str] | None = None,
    rows: Sequence[str] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Compare score outputs of the same benchmark, case by case.

    `metrics` are names or what tables print for them; without any, those that the protocol shows.
    `rows` are those that are tested; without any it is Overall, and the others are shown.
    """
    found = runs if isinstance(runs, Runs) else Runs.read(runs)
    first = found.runs[0]
    protocol, known = of_summary(first.summary), first.summary.rows[OVERALL].metrics
    metrics = [protocol.metric_named(name, known) for name in metrics or ()]
    metrics = metrics or list(protocol.shown_compared(known))
    filled = found.filled()
    _check_known("row", rows or (), filled)
    shown = [row for row in filled if not rows or row in rows]
    tested = [row for row in shown if rows or row == OVERALL] or shown[:1]
    values = {
        row: {
            metric: {run.name: of_run[metric] for run, of_run in by_run}
            for by_run in [
                [(run, _estimates(found, run, row, resamples, seed)) for run in found.runs]
            ]
            for metric in metrics
        }
        for row in shown
    }
    tests = _with_holm(
        [test for row in tested for test in _pair_tests(found, row, metrics, resamples, seed)]
    )
    baselines = _baselines(found.runs)
    return Comparison(
        benchmark=first.summary.benchmark,
        protocol=protocol.name,
        title=first.summary.title,
        runs={run.name: run.summary.settings for run in found.runs},
        baselines=baselines,
        n_cases=len(set(first.case_ids)),
        rows=values,
        tested=tuple(tested),
        tests=tuple(tests),
        mcnemar=tuple(_mcnemar_tests(found, tested, protocol)),
        ranks=_ranks(values, tests, protocol, baselines),
        notes=tuple(found.notes),
    )


def _pair_tests(
    runs: Runs, row: str, metrics: Sequence[str], resamples: int, seed: int
) -> Iterable[PairTest]:
    """Every pair of runs in every metric, from resamples that all runs share."""
    first = runs.runs[0]
    values, places = compose(first.columns, first.summary.settings), shares(first.columns)
    sums = [runs.sums(run, row) for run in runs.runs]
    drawn = draw(sums, values, metrics, shares=places, resamples=resamples, seed=seed)
    for (a, drawn_a), (b, drawn_b) in combinations(zip(runs.runs, drawn, strict=True), 2):
        for metric in metrics:
            d = difference(drawn_a, drawn_b, metric)
            yield PairTest(
                a=a.name, b=b.name, row=row, metric=metric, difference=d.value, low=d.low,
                high=d.high, p=d.p_value, p_holm=None, n=d.n, method=d.method,
            )  # fmt: skip


def _estimates(
    runs: Runs, run: _Run, row: str, resamples: int, seed: int
) -> Mapping[str, Estimate]:
    """As they are stored; of a part of the cases, or of others together, made again from them."""
    if runs.is_as_stored:
        return run.summary.rows[row].metrics
    sums, settings = runs.sums(run, row), run.summary.settings
    total, n_entries = sums.sum(axis=0), int(runs.member(row).sum())
    return estimates(
        sums,
        compose(run.columns, settings),
        count(run.columns, total, n_entries),
        shares=shares(run.columns),
        undefined=undefined(run.columns, total, settings),
        resamples=resamples,
        seed=seed,
    )


def _baselines(runs: Sequence[_Run]) -> tuple[str, ...]:
    """Runs of baselines, where there are others: they mark the ends of the scale."""
    found = tuple(run.name for run in runs if run.model.partition(":")[0] in BASELINES)
    return found if len(found) < len(runs) else ()


def _check_known(kind: str, asked: Sequence[str], known: Collection[str]) -> None:
    for name in asked:
        if name not in known:
            raise UnknownName(kind, name, known)


def _load(folder: str | PathLike[str]) -> _Run:
    summary, table = read_results(folder)
    names = note_of(table, "contributions").split(",")
    if not {*names, "case", "case_id", "rows"} <= set(table.column_names):
        raise UsageError(f"{folder}: its cases.parquet was not written by groundfault score")
    if "Overall" not in summary.rows:
        raise UsageError(f"{folder}: its summary.json was not written by groundfault score")
    columns = [table.column(name).to_numpy() for name in names]
    made = is_there(Path(folder) / RUN)  # a damaged one is refused: it tells baselines apart
    return _Run(
        name=Path(folder).resolve().name,
        model=read_run(folder).model if made else "",
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
        if not _same_data(first, run):
            raise UsageError(
                f"{first.name} and {run.name} were scored on different data (see `data` in their "
                "summary.json); score both on the same annotations"
            )
        for key in ("variant", "iou", "tau", "size_limits_px"):
            mine, theirs = first.summary.settings.get(key), run.summary.settings.get(key)
            if mine != theirs:
                raise UsageError(
                    f"{first.name} has {key} {mine} and {run.name} {key} {theirs}; score both alike"
                )
        notes += [
            f"{first.name} has {key} {_words(mine)} and {run.name} {key} {_words(theirs)}."
            for key in ("judge", "modes", "mode")
            for mine, theirs in [(first.summary.settings.get(key), run.summary.settings.get(key))]
            if mine != theirs
        ]
    if len({run.summary.settings.get("t") for run in runs}) > 1:
        each = " and ".join(f"{run.name} at t = {run.summary.settings.get('t')}" for run in runs)
        notes.append(f"Each is at its own operating point: {each}.")
    for run in runs:
        failed = run.summary.outcomes.get("failed", 0)
        if failed:
            notes.append(f"{run.name} has {failed} failed items, which are left out on its side.")
    return notes


def _same_data(a: _Run, b: _Run) -> bool:
    """Whether two runs were scored on the same files, or a case that both have is the same in
    both, as far as the table says so."""
    files = [[value for key, value in run.summary.data.items() if key != LIMIT] for run in (a, b)]
    if files[0] == files[1]:
        return True
    if any(TRUTH not in run.table.column_names for run in (a, b)):
        return False
    of_a, of_b = (
        dict(zip(run.case_ids, run.table.column(TRUTH).to_pylist(), strict=True)) for run in (a, b)
    )
    common = of_a.keys() & of_b.keys()
    return bool(common) and all(of_a[case] == of_b[case] for case in common)


def _common_cases(runs: Sequence[_Run]) -> tuple[Sequence[_Run], list[str]]:
    """The runs with the cases that all of them have, and which these are if some have more."""
    listed = [run.case_ids for run in runs]
    if all(ids == listed[0] for ids in listed):
        return runs, []
    common = set(listed[0]).intersection(*listed)
    parts = [_only(run, ids, common) for run, ids in zip(runs, listed, strict=True)]
    kept = parts[0].case_ids
    if not common or any(part.case_ids != kept for part in parts):
        names = ", ".join(run.name for run in runs)
        raise UsageError(f"{names} have no cases in common, or not in the same order")
    cases = list(dict.fromkeys(kept))
    each = ", ".join(
        f"{run.name} has {len(set(ids)):,}" for run, ids in zip(runs, listed, strict=True)
    )
    which = ", ".join(cases) if len(cases) <= 6 else f"{', '.join(cases[:3])} … {cases[-1]}"
    note = (
        f"Values and tests are about the {len(cases):,} cases that all runs have ({which}); {each}."
    )
    return parts, [note]


def _only(run: _Run, case_ids: Sequence[str], kept: Collection[str]) -> _Run:
    member = np.array([case in kept for case in case_ids], bool)
    return replace(
        run,
        table=run.table.filter(member),
        contributions=run.contributions[member],
        case=run.case[member],
        rows=[listed for listed, keep in zip(run.rows, member.tolist(), strict=True) if keep],
    )


def _common_clusters(runs: Sequence[_Run]) -> tuple[NDArray[np.int64], list[str]]:
    """What is resampled together: entries that any run has together, as all are of one set."""
    if all(np.array_equal(run.case, runs[0].case) for run in runs):
        return runs[0].case, []
    numbered = ([(k, number) for number in run.case.tolist()] for k, run in enumerate(runs))
    joined = together(zip(*numbered, strict=True))
    whole = len(np.unique(joined))
    apart = [run.name for run in runs if len(np.unique(run.case)) > whole]
    if not apart:
        return runs[0].case, []
    names = ", ".join(apart)
    note = (
        f"Cases of one photograph are resampled together here, and were not when {names} was "
        "scored; score it again, and its own summary says the same."
    )
    return joined, [note]


def _words(value: object) -> str:
    return " and ".join(map(str, value)) if isinstance(value, list) else str(value)


def _with_holm(tests: Sequence[PairTest]) -> list[PairTest]:
    adjusted = holm({k: test.p for k, test in enumerate(tests) if test.p is not None})
    return [
        msgspec.structs.replace(test, p_holm=adjusted[k]) if k in adjusted else test
        for k, test in enumerate(tests)
    ]


def _mcnemar_tests(runs: Runs, rows: Sequence[str], protocol: Protocol) -> list[McNemar]:
    """Right-or-wrong outcomes of whole cases, where the protocol has such."""
    found: list[McNemar] = []
    for outcome, (column, is_right) in protocol.right_or_wrong.items():
        if any(column not in run.table.column_names for run in runs.runs):
            continue
        if any(run.table.column(column).null_count == len(run.table) for run in runs.runs):
            continue  # a run that has no such outcome
        right = [
            np.array([np.nan if end is None else is_right(end) for end in ends], np.float64)
            for ends in (run.table.column(column).to_pylist() for run in runs.runs)
        ]
        for row in rows:
            member = runs.member(row)
            for a, b in combinations(range(len(right)), 2):
                ahead = (right[a] - right[b])[member]
                only_a, only_b = int((ahead > 0).sum()), int((ahead < 0).sum())
                found.append(
                    McNemar(
                        a=runs.runs[a].name, b=runs.runs[b].name, row=row, outcome=outcome,
                        only_a_right=only_a, only_b_right=only_b,
                        p=mcnemar(only_a, only_b), p_holm=1.0,
                    )
                )  # fmt: skip
    adjusted = holm({k: test.p for k, test in enumerate(found)})
    return [msgspec.structs.replace(test, p_holm=adjusted[k]) for k, test in enumerate(found)]


def _ranks(
    estimates: Mapping[str, Mapping[str, Mapping[str, Estimate]]],
    tests: Sequence[PairTest],
    protocol: Protocol,
    baselines: Collection[str],
) -> dict[str, dict[str, dict[str, int]]]:
    tested = {test.row for test in tests}
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
            if not declared.is_ranked or row not in tested:
                ranks[row][metric] = {}
                continue
            values = {
                name: estimate.value
                for name, estimate in runs.items()
                if estimate.value is not None and name not in baselines
            }

            def told_apart(a: str, b: str, row: str = row, metric: str = metric) -> bool:
                return p_values.get((row, metric, frozenset((a, b))), 1.0) < SIGNIFICANT

            ranked = shared_ranks(values, told_apart, higher_is_better=declared.better == "higher")
            ranks[row][metric] = ranked if len(ranked) > 1 else {}  # alone, one is ahead of nobody
    return ranks
