"""Evaluation protocols, one file each: how items are matched, what a case contributes, which metric
families are made of it, and the words of a report."""

from __future__ import annotations

from collections.abc import Iterable

from groundfault.errors import GroundfaultError, UnknownName
from groundfault.protocols.protocol import Protocol, SideBySide
from groundfault.protocols.scored import Scored, clusters
from groundfault.records import Benchmark, Role, Summary
from groundfault.registry import KINDS, load, names

__all__ = [
    "Protocol",
    "Scored",
    "SideBySide",
    "clusters",
    "find",
    "named",
    "of_benchmark",
    "of_summary",
]


def find(name: str) -> Protocol:
    """The protocol of a name."""
    found = load("protocols", name)
    if not isinstance(found, Protocol):
        raise GroundfaultError(f"protocol '{name}' is a {type(found).__name__}, not a Protocol")
    return found


def of_benchmark(benchmark: Benchmark) -> Protocol:
    """How a benchmark is scored: as its card says. Folders of version 0.1.0 do not say it: there
    the benchmark's name does, else the roles of its items."""
    name = benchmark.card.protocol
    if not name:
        name = _by_name(benchmark.card.name)
        roles = {item.role for item in benchmark.items}
        if Role.FACTUAL in roles:
            name = "replacement-quads"
        elif name in ("", "concepts"):
            name = "concept-pairs" if Role.NEGATIVE in roles else "concepts"
    return find(name)


def of_summary(summary: Summary) -> Protocol:
    """How results were scored. Files of version 0.1.0 do not say it: there the benchmark's name
    does, else the metrics. Of a protocol whose package is not installed, what is in the file."""
    metrics = summary.rows["Overall"].metrics if "Overall" in summary.rows else {}
    name = summary.protocol or _by_name(summary.benchmark)
    if name:
        return named(name, metrics)
    ours = (find(each) for each in KINDS["protocols"])
    return next((each for each in ours if each.told in metrics), _undeclared("", tuple(metrics)))


def named(name: str, metrics: Iterable[str]) -> Protocol:
    """The protocol of a name; of one whose package is not installed, what the metrics say."""
    try:
        return find(name)
    except UnknownName:
        return _undeclared(name, tuple(metrics))


def _by_name(benchmark: str) -> str:
    """The protocol of a benchmark that the registry knows; "" of others."""
    if benchmark not in names("benchmarks"):
        return ""
    card = getattr(load("benchmarks", benchmark), "CARD", None)
    return card.protocol if card is not None else ""


def _undeclared(name: str, metrics: tuple[str, ...]) -> Protocol:
    """What can be said about results that no protocol here speaks of."""
    main = metrics[0] if metrics else ""
    return Protocol(
        name=name,
        title=name,
        families=(),
        contribute=_cannot_score,
        headlines=metrics[:8],
        main=main,
        told=main,
        sentence=f"has {main} {{value}} {{interval}}",
        bars=metrics[:6],
    )


def _cannot_score(benchmark: Benchmark, matched: object, settings: object) -> Scored:
    raise UnknownName("protocol", benchmark.card.protocol, names("protocols"))
