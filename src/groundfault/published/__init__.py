"""The papers' own results, typed and with their source.

One CSV file per table lies in `data/`, every number as the paper prints it, so that a person can
hold the file beside the paper. `published_rows` gives the same numbers as fractions, under the
names our own summaries use, so that a report can put a model beside them. `conformance` derives
again what can be derived and says where a paper disagrees with itself.

Names that are not self-explanatory: `hallucination_Q3` is the share of wrong answers to question
3, `hallucination_delta` the change of that share when chain of thought is added, `SC1_share` and
`SC1_count` belong to the first sub-cause of a task, `YN`, `SA`, `MC` and the dimensions of
ReactBench are accuracies, `_low`, `_high` and `_halfwidth` describe a 95 % confidence interval.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING

from groundfault.registry import KINDS, load

if TYPE_CHECKING:
    from groundfault.protocols import Protocol
    from groundfault.records import Summary

__all__ = [
    "ALL_MODELS",
    "PublishedRow",
    "Source",
    "is_published_data",
    "published_rows",
    "rows_beside",
    "sources",
]

ALL_MODELS = "(all models)"
"""Stands as the model where a table gives one number for all its models together."""

SIZES = ("S", "M", "L")
"""Settings that are sizes of objects."""
_KEYS = ("group", "model", "row", "setting")


@dataclass(frozen=True, slots=True)
class Source:
    """One published table."""

    table: str
    """Stable name, such as ``cafe/table2``."""
    paper: str
    caption: str
    """What the table shows, in our words."""
    unit: str
    """The unit as printed; `PublishedRow.metrics` has fractions where this says percent."""
    benchmark: str
    """``cafe``, ``halluseg`` or ``reactbench``."""
    notes: tuple[str, ...]
    """What a reader of the numbers should know: renamed columns, empty cells, oddities."""


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """The numbers of one model in one row (and setting) of one table."""

    source: Source
    model: str
    group: str
    """The paper's heading above the model, such as ``end-to-end``; empty if there is none."""
    row: str
    """``Overall``, ``SM``, ``CC``, ``OC``; ``referring``, ``reasoning``; ``erasure``,
    ``attribute``, ``tracing``, ``counting``."""
    setting: str
    """``std`` or ``cot``, a size ``S``, ``M`` or ``L``, or empty."""
    metrics: Mapping[str, float | None]
    """Fractions (counts stay counts); None where the paper prints nothing."""
    printed: Mapping[str, str]
    """The same cells as the paper prints them; empty where it prints nothing."""

    @property
    def table_row(self) -> str:
        """The row of our own tables that it can stand beside, as "referring S"; "" where there is
        none: ours do not have a row per mode."""
        if not self.setting:
            return self.row
        return f"{self.row} {self.setting}" if self.setting in SIZES else ""


def sources() -> tuple[Source, ...]:
    """Every table that is stored, in the order of the papers.

    >>> [source.table for source in sources()][:3]
    ['cafe/statistics', 'cafe/table2', 'cafe/table3']
    """
    return tuple(source for source, _ in _catalogue().values())


def published_rows(
    benchmark: str | None = None, table: str | None = None
) -> tuple[PublishedRow, ...]:
    """Rows of one table, of one benchmark, or all; in the order of the papers.

    >>> row = published_rows(table="cafe/table2")[0]
    >>> row.model, row.row, row.metrics["cgF1"], row.printed["cgF1"]
    ('SAM 3', 'SM', 0.53, '53.0')
    """
    catalogue = _catalogue()
    if table is not None and table not in catalogue:
        raise ValueError(f"no published table {table!r}; there are {', '.join(catalogue)}")
    benchmarks = dict.fromkeys(source.benchmark for source, _ in catalogue.values())
    if benchmark is not None and benchmark not in benchmarks:
        raise ValueError(f"no published rows for {benchmark!r}; there are {', '.join(benchmarks)}")
    return tuple(
        row
        for name, (source, _) in catalogue.items()
        if table in (None, name) and benchmark in (None, source.benchmark)
        for row in _rows(name)
    )


def is_published_data(summary: Summary) -> bool:
    """Whether results are on the very set that the published rows are about.

    That is so if the benchmark has the published name and either was fetched from the hub by that
    name, all of it, or has as many cases in every row as the paper says (`PUBLISHED_CASES` of the
    benchmark). A rendered world, a subset, or a set of one's own in the same format is other data.
    """
    if summary.benchmark not in KINDS["benchmarks"]:
        return False
    module = load("benchmarks", summary.benchmark)
    hub, counts = getattr(module, "HUB", None), getattr(module, "PUBLISHED_CASES", {})
    if hub is not None and summary.origin.partition("@")[0] == hub.repo:
        return "limit" not in summary.data
    return bool(counts) and all(
        row in summary.rows and summary.rows[row].n_cases == n for row, n in counts.items()
    )


def rows_beside(
    summary: Summary, protocol: Protocol, *, other_data: bool = False
) -> tuple[PublishedRow, ...]:
    """The published rows that may stand beside results: those of their own data or, with
    `other_data`, those of the benchmarks that are scored by the same protocol."""
    if is_published_data(summary):
        return tuple(row for row in published_rows() if row.source.benchmark == summary.benchmark)
    if not other_data:
        return ()
    return tuple(
        row for row in published_rows() if _protocol(row.source.benchmark) == protocol.name
    )


@cache
def _protocol(benchmark: str) -> str:
    return str(load("benchmarks", benchmark).CARD.protocol)


@cache
def _catalogue() -> Mapping[str, tuple[Source, frozenset[str] | None]]:
    """Table name → source and the metrics printed in percent (None: all of them)."""
    catalogue: dict[str, tuple[Source, frozenset[str] | None]] = {}
    for line in _read("sources"):
        notes = tuple(note for note in line["notes"].split(" | ") if note)
        source = Source(
            line["table"], line["paper"], line["caption"], line["unit"], line["benchmark"], notes
        )
        percent = {"all": None, "none": frozenset[str]()}.get(
            line["percent"], frozenset(line["percent"].split())
        )
        catalogue[source.table] = (source, percent)
    return MappingProxyType(catalogue)


@cache
def _rows(table: str) -> tuple[PublishedRow, ...]:
    source, percent = _catalogue()[table]
    rows = []
    for line in _read(table.replace("/", "_").replace("-", "_")):
        printed = {name: text for name, text in line.items() if name not in _KEYS}
        metrics = {
            name: _number(text, percent is None or name in percent)
            for name, text in printed.items()
        }
        rows.append(
            PublishedRow(
                source=source,
                model=line["model"],
                group=line["group"],
                row=line["row"],
                setting=line["setting"],
                metrics=MappingProxyType(metrics),
                printed=MappingProxyType(printed),
            )
        )
    return tuple(rows)


def _number(text: str, is_percent: bool) -> float | None:
    """The printed cell as a number; a percentage becomes the nearest fraction.

    >>> _number("+14.5", True), _number("0.777", False), _number("", True)
    (0.145, 0.777, None)
    """
    if not text:
        return None
    return float(f"{text}e-2" if is_percent else text)


def _read(name: str) -> Iterator[dict[str, str]]:
    text = files(__name__).joinpath("data", f"{name}.csv").read_text(encoding="utf-8")
    return csv.DictReader(text.splitlines())
