"""A benchmark scored case by case, before any averaging.

A metric is a function of summed contributions, so any subset, resample, bound or comparison of
models is a sum away, and the case table on disk is enough to make it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from groundfault.io.store import arrow_table
from groundfault.metrics.family import Share, compose, count, shares, undefined
from groundfault.records import Case

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Metrics = Callable[[Floats], Mapping[str, Floats]]

__all__ = ["CLUSTER", "Ragged", "Scored", "by_case", "by_split", "clusters", "together"]

CLUSTER = "cluster"
"""The tag of cases that are not independent, such as those of one photograph."""


class Scored(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A benchmark scored case by case, before any averaging."""

    benchmark: str
    """The name of the data."""
    protocol: str = ""
    """How it was scored."""
    title: str = ""
    """What reports call the data."""
    about: str = ""
    """What a reader of the numbers must know about the data."""
    origin: str = ""
    """repo@commit, if the data was fetched by its name."""
    source: dict[str, object] = msgspec.field(default_factory=dict)
    """What the data was read from, so that reports find it again."""
    settings: dict[str, object]
    columns: Callable[[], Mapping[str, Any]]
    """Makes the table behind cases.parquet: one entry per case and column."""
    contributions: Floats
    """(cases, k)"""
    contribution_names: tuple[str, ...]
    """Of each column: its metric family, a dot, and its name there."""
    case: NDArray[np.int64]
    """(cases,) entries with the same number are resampled together: `clusters` says which."""
    rows: dict[str, NDArray[np.bool_]]
    """Which cases each line of the table is about."""
    outcomes: dict[str, int] = msgspec.field(default_factory=dict)
    imputed: tuple[Floats, ...] = ()
    """Contributions under each way the failed items could have ended; families of other packages
    have none, and their metrics no bounds."""
    normal_halfwidths: Callable[[Scored], dict[str, dict[str, float | None]]] | None = None
    """Row → metric → 1.96·s/√n, for benchmarks whose paper reports that."""
    notes: tuple[str, ...] = ()

    @property
    def metrics(self) -> Metrics:
        """Summed contributions → every metric, by the families whose columns are there."""
        return compose(self.contribution_names, self.settings)

    def support(self, sums: Floats, n_entries: int) -> dict[str, int]:
        """How many things each metric is about, from the sums of so many entries."""
        return count(self.contribution_names, sums, n_entries)

    @property
    def shares(self) -> dict[str, Share]:
        """The metrics that are shares of things, with the places of their columns."""
        return shares(self.contribution_names)

    def undefined(self, sums: Floats) -> frozenset[str]:
        """The metrics that have a value by convention only, from the sums."""
        return undefined(self.contribution_names, sums, self.settings)

    def table(self) -> Any:
        """The case table as cases.parquet has it, without the contributions, as an Arrow table."""
        return arrow_table({"case": self.case, **self.columns()})


class Ragged(msgspec.Struct, frozen=True, eq=False):
    """A column of lists: slices of one flat array."""

    values: NDArray[Any]
    first: NDArray[np.int64]
    last: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.first)

    def flat(self) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """The entries of all lists, and how many each list has."""
        lengths = self.last - self.first
        starts = np.cumsum(lengths) - lengths
        index = np.arange(lengths.sum()) + np.repeat(self.first - starts, lengths)
        return self.values[index], lengths

    def to_arrow(self) -> Any:
        """The column as an Arrow list array."""
        import pyarrow as pa

        values, lengths = self.flat()
        offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
        flat = pa.Array.from_buffers(
            pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(values)]
        )
        buffers = [None, pa.py_buffer(offsets)]
        kind = pa.list_(flat.type)
        return pa.Array.from_buffers(kind, len(lengths), buffers, children=[flat])


def clusters(
    cases: Sequence[Case], goes_with: Callable[[Case], str] | None = None
) -> NDArray[np.int64]:
    """(cases,) what is resampled together: a case, or all cases with the same `cluster` tag, such
    as those of one photograph. `goes_with` names the case that another always goes with, as a twin
    does; "" for none.

    >>> photograph = {"cluster": "7"}
    >>> cases = Case(id="a", tags=photograph), Case(id="7"), Case(id="c", tags=photograph)
    >>> clusters(cases).tolist()  # a cluster is no case that happens to have its name
    [0, 1, 0]
    """
    if goes_with is None and not any(CLUSTER in case.tags for case in cases):
        return np.arange(len(cases))

    def keys(case: Case) -> Iterable[tuple[str, str]]:
        yield "case", case.id
        if CLUSTER in case.tags:
            yield CLUSTER, case.tags[CLUSTER]
        if goes_with is not None and (other := goes_with(case)):
            yield "case", other

    return together(map(keys, cases))


def together(keys: Iterable[Iterable[Hashable]]) -> NDArray[np.int64]:
    """(things,) numbers, in the order in which they come: things with a key in common have the
    same, and so have those that others link.

    >>> together(["a", "b", "ac", "cd", "d"]).tolist()
    [0, 1, 0, 0, 0]
    """
    above: dict[Hashable, Hashable] = {}

    def top(key: Hashable) -> Hashable:
        while above.setdefault(key, key) != key:
            above[key] = key = above[above[key]]
        return key

    first = []
    for one, *others in keys:
        first.append(one)
        for other in others:
            above[top(other)] = top(one)
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(top(key), len(numbers)) for key in first], np.int64)


def by_case(contributions: Floats, case: NDArray[np.int64]) -> Floats:
    """Sum the entries that belong to one case."""
    if not len(case) or (np.diff(case) > 0).all():
        return contributions
    _, number = np.unique(case, return_inverse=True)
    sums = np.zeros((int(number.max()) + 1, contributions.shape[1]))
    np.add.at(sums, number, contributions)
    return sums


def by_split(
    rows: Mapping[str, NDArray[np.bool_]], splits: NDArray[np.str_]
) -> dict[str, NDArray[np.bool_]]:
    """Each row once more for every split that it has cases of, as "SM unseen pair"; for Overall
    just "unseen pair". None where there is but one split.

    >>> rows = {"Overall": np.array([True, True, True]), "SM": np.array([True, True, False])}
    >>> found = by_split(rows, np.array(["seen", "unseen pair", "unseen pair"]))
    >>> {name: int(member.sum()) for name, member in found.items()}
    {'seen': 1, 'unseen pair': 2, 'SM seen': 1, 'SM unseen pair': 1}
    """
    names = [str(name) for name in np.unique(splits) if name]
    if len(names) < 2:
        return {}
    return {
        split if row == "Overall" else f"{row} {split}": member & (splits == split)
        for row, member in rows.items()
        for split in names
        if (member & (splits == split)).any()
    }
