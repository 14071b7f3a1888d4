"""What an evaluation protocol declares: how predictions are matched with what is expected, what a
case adds to the sums, which metrics are made of them, and the words of a report.

A protocol in another package is an entry point `groundfault.protocols` whose name is the
protocol's. A benchmark says on its card which one it is scored by.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import numpy as np

from groundfault.errors import UnknownName
from groundfault.metrics.family import Family, Metric, columns_of, extensions, family
from groundfault.protocols.scored import Scored
from groundfault.records import Benchmark, Prediction

if TYPE_CHECKING:
    Settings = Mapping[str, object]

__all__ = ["Protocol", "SideBySide"]

_DEFAULTS: Settings = MappingProxyType({})


class SideBySide(msgspec.Struct, frozen=True, kw_only=True):
    """Metrics under several conventions, shown one below another. `METRIC_WAY` is the name of a
    metric under one of them."""

    title: str
    about: str
    metrics: tuple[str, ...]
    ways: dict[str, str]
    """Convention → what it does."""
    rows: tuple[str, ...] = ("Overall",)
    """Of the result table."""
    where: str
    """The metric that says whether they differ: above 0."""


class Protocol(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """How a benchmark is scored and spoken of."""

    name: str
    title: str
    """What reports call a set that has no title of its own."""
    answers: Literal["masks", "words"] = "masks"
    """What models are asked for."""
    judged: bool = False
    """Whether a judge may decide about words that come with masks."""
    families: tuple[str, ...]
    """The metric families of its results."""
    settings: dict[str, object] = {}
    """What can be chosen, with the defaults."""
    match: Callable[[Benchmark, Iterable[Prediction], Settings], Any] | None = None
    """Compares predictions with what is expected, for all thresholds at once; None where there is
    nothing to compare before a case contributes."""
    contribute: Callable[[Benchmark, Any, Settings], Scored]
    """What was matched, or the predictions themselves → every case's contributions."""
    items_by_content: bool = False
    """Whether an item's id says all that its answer depends on: a run then goes on when pictures or
    phrases were added to the benchmark, and asks only about these."""
    hashes: Callable[[Scored], dict[str, str]] | None = None
    """What two results must share to be compared, where the files that the benchmark was read from
    do not say it."""

    headlines: tuple[str, ...]
    """What a table shows unless asked for more."""
    main: str
    """The metric that says who is best."""
    compared: tuple[str, ...] = ()
    """What `compare` shows unless asked for more: else the headlines that have a better side."""
    on_page: tuple[str, ...] = ()
    """What a report shows, where that is not the headlines."""
    along_t: tuple[str, ...] = ()
    """What a sweep shows at every score threshold; empty where there is nothing to sweep."""
    along_tau: tuple[str, ...] = ()
    """What a sweep shows at every overlap threshold; the grid shows the first of them."""
    right_or_wrong: dict[str, tuple[str, Callable[[Any], bool]]] = {}
    """Outcomes of whole cases, for McNemar's test: which column of the case table says it, and
    what is right there."""

    asked: str = ""
    """What the models were asked and what a good one does."""
    told: str = ""
    """The metric of a report's first sentence; no other protocol of ours has it."""
    sentence: str = ""
    """What that metric says; {value} and {interval} are put in."""
    bars: tuple[str, ...] = ()
    """What a report draws by kind of case."""
    kinds: str = "By kind of case"
    """The heading above them."""
    slices: dict[str, str] = {}
    """Row of the table → what it stands for."""
    side_by_side: SideBySide | None = None
    """Metrics that are given under several conventions."""
    bounds_told: tuple[str, ...] = ()
    """The metrics whose bounds a table tells, where that is not the first headline."""
    doubtful: str = "failed items"
    """What bounds are about."""
    published_note: str = ""
    """What a reader of published rows must know besides."""
    cells: dict[str, str] = {}
    """How a case can go wrong → in words."""
    pictures_first: bool = False
    """Whether a report begins with the most telling pictures; its rows then stand in one table
    instead of a tab each."""

    def resolved(self, benchmark: Benchmark, given: Settings) -> dict[str, object]:
        """Its settings as a benchmark has them, with those given that mean something to it."""
        chosen = {**benchmark.settings, **given}
        known = {name: value for name, value in chosen.items() if name in self.settings}
        return {**self.settings, **known}

    def score(
        self,
        benchmark: Benchmark,
        predictions: Iterable[Prediction],
        settings: Settings = _DEFAULTS,
    ) -> Scored:
        """Score predictions on a benchmark; settings that mean nothing here are not used."""
        settings = self.resolved(benchmark, settings)
        return self.finish(benchmark, self.matched(benchmark, predictions, settings), settings)

    def matched(
        self, benchmark: Benchmark, predictions: Iterable[Prediction], settings: Settings
    ) -> Any:
        """What `finish` takes: made once, it serves every threshold."""
        if self.match is None:
            return predictions
        return self.match(benchmark, predictions, self.resolved(benchmark, settings))

    def finish(self, benchmark: Benchmark, matched: Any, settings: Settings) -> Scored:
        """Contributions of what was matched, with those of other packages' metric families."""
        scored = self.contribute(benchmark, matched, self.resolved(benchmark, settings))
        card = benchmark.card
        return self._extended(
            msgspec.structs.replace(
                scored,
                protocol=self.name,
                title=card.title,
                about=card.about,
                origin=benchmark.origin,
                source=benchmark.source,
            )
        )

    def _extended(self, scored: Scored) -> Scored:
        for each in extensions(self.name):
            if each.contributions is None:
                continue
            more = np.asarray(each.contributions(scored.table(), scored.settings), dtype=np.float64)
            wanted = (len(scored.case), len(each.columns))
            if more.shape != wanted:
                raise ValueError(
                    f"metric family '{each.name}' gave contributions of shape {more.shape}, not "
                    f"{wanted}"
                )
            scored = msgspec.structs.replace(
                scored,
                contributions=np.hstack([scored.contributions, more]),
                contribution_names=(*scored.contribution_names, *columns_of(each)),
            )
        return scored

    def all_families(self) -> tuple[Family, ...]:
        """Its own metric families and those that other packages add."""
        return (*map(family, self.families), *extensions(self.name))

    def metrics(self) -> dict[str, Metric]:
        """Every metric of its results, by name."""
        return {metric.name: metric for each in self.all_families() for metric in each.metrics}

    def metric(self, name: str) -> Metric:
        """What is known about a metric; of one that nobody declares, its name."""
        for each in map(family, self.families):
            for metric in each.metrics:
                if metric.name == name:
                    return metric
        return self.metrics().get(name) or Metric(name=name)

    def metric_named(self, text: str, known: Collection[str]) -> str:
        """The name of the metric that somebody means, who may have read a table's heading."""
        if text in known:
            return text
        for metric in self.metrics().values():
            if metric.is_called(text) and metric.name in known:
                return metric.name
        raise UnknownName("metric", text, self.called(known))

    def called(self, known: Collection[str]) -> set[str]:
        """All that metrics may be called: their names, and what tables print for them."""
        found = {self.metric(name) for name in known}
        return {*known, *(each.label for each in found if each.label)}

    def shown(self, known: Collection[str]) -> tuple[str, ...]:
        """The headlines that a result has, and the metrics that other packages add."""
        added = [metric.name for each in extensions(self.name) for metric in each.metrics]
        return tuple(name for name in (*self.headlines, *added) if name in known)

    def shown_on_page(self, known: Collection[str]) -> tuple[str, ...]:
        """The same for a report."""
        page = self.on_page or self.headlines
        others = [name for name in self.shown(known) if name not in self.headlines]
        return tuple(name for name in (*page, *others) if name in known)

    def shown_compared(self, known: Collection[str]) -> tuple[str, ...]:
        """The same for a comparison."""
        return tuple(
            name
            for name in self.shown(known)
            if self.metric(name).is_ranked or name in self.compared
        )
