"""A board: the cases that some runs were all asked, and how each run ended in each of them.

An *entry* is a line of the board: a pair, a quad, a query or a question. Ends are small numbers
into a list of labels, per run and side: 0 is the first label, −1 is nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from groundfault.errors import GroundfaultError
from groundfault.protocols import Protocol
from groundfault.reports.page.inputs import RunData
from groundfault.reports.page.sources import Source, Sources
from groundfault.web.explore.sums import Sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Codes = NDArray[np.int8]
    Flags = NDArray[np.bool_]

__all__ = ["OWN", "Asked", "Board", "Facet", "Material", "Point", "facet_of", "light"]

KEPT_POINTS = 6
FAILED = "failed"
UNKNOWN = -1
FACETS = (
    "intervention", "task", "kind", "premise", "setting", "type", "dimension", "mode", "dose",
    "control", "crowd", "size", "split", "label",
)  # fmt: skip
"""Columns of case tables that cases can be chosen by, in the order in which they are offered."""
UNREAD = object()


class Point(msgspec.Struct, frozen=True):
    """An operating point; None is what each run was scored with."""

    t: float | None = None
    tau: float | None = None


OWN = Point()


class Facet(NamedTuple):
    """A property of entries, as numbers into labels; −1 where one has none."""

    labels: tuple[str, ...]
    codes: Ints


class Asked(NamedTuple):
    """One question of an entry."""

    role: str
    """p⁺, (I, c′), Q3 …"""
    words: str
    item_id: str


class Material(NamedTuple):
    """What a board is made of."""

    runs: tuple[RunData, ...]
    sources: Sources


class Board:
    """What is common to all kinds. This one itself knows no ends: it is for protocols of other
    packages, whose cases can be listed, chosen and averaged."""

    kind = "cases"
    sides: Mapping[str, tuple[str, ...]] = {}
    """Side → labels of its ends."""
    has_t = has_tau = False

    def __init__(self, made_of: Material) -> None:
        self.runs = made_of.runs
        self.sources = made_of.sources
        self._reading, self._comparing = threading.Lock(), threading.Lock()
        """Held while the benchmark is read, or masks are compared, once for all."""
        self._source: Any = UNREAD
        self.notes: list[str] = []
        """What a reader should know."""
        table = self.runs[0].table
        self.case_ids: Any = table.column("case_id").combine_chunks()
        self.cluster: Ints = table.column("case").to_numpy()
        self.rows = _rows(table)
        self.facets = self._facets(table)
        self.own_sums = tuple(_stored_sums(run) for run in self.runs)
        self.runs = tuple(
            msgspec.structs.replace(run, table=run.table.select(light(run.table)))
            for run in self.runs
        )
        self._prepare()
        self.names = self._names()
        self.text = _searchable([self.names, *self._words()])
        self._counting = threading.Lock()
        self._kept_ends: Callable[[Point], list[dict[str, Codes]]] = lru_cache(KEPT_POINTS)(
            self._ends
        )
        self._full_sums: Callable[[int, Point], Sums] = lru_cache(KEPT_POINTS * len(self.runs))(
            self._make_full_sums
        )

    # ── what kinds say differently ──────────────────────────────────────────────────────────────

    def _prepare(self) -> None:
        """Make what a kind needs besides."""

    def _facets(self, table: Any) -> dict[str, Facet]:
        found: dict[str, Facet] = {}
        for name in FACETS:
            if name in table.column_names:
                facet = facet_of(table.column(name))
                known = any(np.array_equal(facet.codes, other.codes) for other in found.values())
                if len(facet.labels) > 1 and not known:
                    found[name] = facet
        return found

    def _words(self) -> list[Any]:
        """Columns of text that the search looks through."""
        return []

    def _ends(self, point: Point) -> list[dict[str, Codes]]:
        """Of each run, side → (entries,) numbers of labels."""
        return [{} for _ in self.runs]

    @property
    def criteria(self) -> Mapping[str, Callable[[dict[str, Codes]], Codes]]:
        """What can be right or wrong → from a run's ends, 1, 0 or −1 (not known) per entry."""
        return {}

    @property
    def measures(self) -> Mapping[str, Callable[[int], Floats]]:
        """Numbers of each run that entries can be sorted by; NaN where there is none."""
        return {}

    def score_range(self) -> tuple[float, float]:
        """The lowest and highest score of all runs, where there are scores."""
        return 0.0, 1.0

    def asked(self, place: int) -> list[Asked]:
        """What an entry asks."""
        return []

    def items(self, place: int) -> list[Asked]:
        """The same with the benchmark's items, where only that names them."""
        return self.asked(place)

    def said(self, run: int, place: int) -> dict[str, str]:
        """Side → what a list shows beside the end."""
        return {}

    @property
    def confusable(self) -> Mapping[str, tuple[str, str, Callable[[dict[str, Codes]], Codes]]]:
        """Way of confusing → facet of what is there, facet of what is asked for, and 1 where one
        was taken for the other, 0 where not, −1 where that is not known."""
        return {}

    def _compared(self, run: int) -> Any:
        """A run's predictions compared with the benchmark, for other operating points."""
        raise GroundfaultError("these scores do not depend on a threshold")

    # ── what is the same for all ────────────────────────────────────────────────────────────────

    def __len__(self) -> int:
        return len(self.case_ids)

    @property
    def protocol(self) -> Protocol:
        """How the runs were scored."""
        return self.runs[0].protocol

    @property
    def source(self) -> Source | None:
        """The benchmark with its pictures, read when it is first asked for; None where it is not
        at hand."""
        with self._reading:
            if self._source is UNREAD:
                self._source = self.sources.of(self.runs[0])
            found: Source | None = self._source
            return found

    def place(self, name: str) -> int | None:
        """Where the entry of this name stands."""
        import pyarrow.compute as pc

        found = pc.index(self.names, name).as_py()
        return None if found < 0 else int(found)

    def ends(self, point: Point) -> list[dict[str, Codes]]:
        """Of each run, side → (entries,) numbers of labels. A page asks for them in several
        requests at once: the first of these makes them."""
        with self._counting:
            return self._kept_ends(point)

    def right(self, point: Point, criterion: str) -> Codes:
        """(runs, entries) 1 where right, 0 where wrong, −1 where not known."""
        judge = self.criteria[criterion]
        return np.stack([judge(ends) for ends in self.ends(point)])

    def is_own(self, run: int, point: Point) -> bool:
        """Whether a run was scored at this point."""
        return self._resolved(run, point) == (self.runs[run].t, self.runs[run].tau)

    def _resolved(self, run: int, point: Point) -> tuple[float | None, float | None]:
        """The thresholds of a run at a point."""
        own = self.runs[run]
        t = point.t if point.t is not None and self.has_t else own.t
        tau = point.tau if point.tau is not None and self.has_tau else own.tau
        return t, tau

    def quick_sums(self, run: int, point: Point) -> Sums | None:
        """What can be said at once; None where masks have to be compared first."""
        return self.own_sums[run] if self.is_own(run, point) else None

    def full_sums(self, run: int, point: Point) -> Sums:
        """All metrics of a run at a point, as `sweep` makes them."""
        if self.is_own(run, point):
            return self.own_sums[run]
        t, tau = self._resolved(run, point)
        return self._full_sums(run, Point(t, tau))

    def _make_full_sums(self, run: int, point: Point) -> Sums:
        with self._comparing:
            matched = self._compared(run)
        settings = {**self.runs[run].summary.settings, "t": point.t}
        if self.has_tau:
            settings["tau"] = point.tau
        scored = matched.score(settings)
        return Sums.of(scored.contribution_names, scored.settings, scored.contributions)

    def _names(self) -> Any:
        """Names of entries: the case's, with a number where a case has several."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if pc.count_distinct(self.case_ids).as_py() == len(self.case_ids):
            return self.case_ids
        seen: dict[str, int] = {}
        names = []
        for case in self.case_ids.to_pylist():
            seen[case] = seen.get(case, 0) + 1
            names.append(case if seen[case] == 1 else f"{case} ({seen[case]})")
        return pa.array(names)


def light(table: Any) -> list[str]:
    """The columns of a case table without its sums."""
    return [name for name in table.column_names if "." not in name and name != "rows"]


def facet_of(column: Any) -> Facet:
    """A column as numbers into its values; numbers in their order, text by frequency."""
    import pyarrow as pa

    values = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    encoded = values.dictionary_encode()
    labels = encoded.dictionary.to_pylist()
    codes = encoded.indices.fill_null(UNKNOWN).to_numpy(zero_copy_only=False).astype(np.int64)
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        times = np.bincount(codes[codes >= 0], minlength=len(labels))
        order = sorted(range(len(labels)), key=lambda k: (-times[k], labels[k]))
    else:
        order = sorted(range(len(labels)), key=lambda k: labels[k])
    rank = np.empty(len(labels) + 1, np.int64)
    rank[order] = np.arange(len(labels))
    rank[-1] = UNKNOWN
    return Facet(tuple(_label(labels[k]) for k in order), rank[codes])


def _label(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _rows(table: Any) -> dict[str, Flags]:
    """The rows of the result table with the entries that count in them."""
    lists = table.column("rows").combine_chunks()
    facet = facet_of(lists.flatten())
    parents = np.repeat(np.arange(len(lists)), lists.value_lengths().fill_null(0).to_numpy())
    found = {}
    for code, name in enumerate(facet.labels):
        member = np.zeros(len(lists), bool)
        member[parents[facet.codes == code]] = True
        found[name] = member
    return found


def _stored_sums(run: RunData) -> Sums:
    names = run.contribution_names
    columns = [run.table.column(name).to_numpy() for name in names]
    stacked = (
        np.stack(columns, axis=1).astype(np.float64) if names else np.zeros((len(run.table), 0))
    )
    return Sums.of(names, run.summary.settings, stacked)


def _searchable(columns: Sequence[Any]) -> Any:
    """One text per entry, in small letters."""
    import pyarrow as pa
    import pyarrow.compute as pc

    plain = [
        (c.combine_chunks() if isinstance(c, pa.ChunkedArray) else c).cast(pa.large_string())
        for c in columns
    ]
    filled = [pc.fill_null(column, "") for column in plain]
    separator = pa.scalar("\n", pa.large_string())
    return pc.utf8_lower(pc.binary_join_element_wise(*filled, separator))
