"""Conditions under which a run fails a check: "AFPR>20%", "SM:AFPR>=0.2", "failed>0".

A name is a metric of the result, or what tables print for it (pmF1), in the row Overall unless one
is named; or an outcome (`ok`, `abstained`, `unparsed`, `failed`): then the value is how many items
ended so. Values are fractions, as in summary.json; what tables print is written with a percent
sign. A number beyond the metric's range is refused: a gate that cannot fail is none.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from groundfault.config import number
from groundfault.errors import UnknownName, UsageError
from groundfault.metrics import Metric
from groundfault.protocols import Protocol, of_summary
from groundfault.records import Outcome, Summary

__all__ = ["Gate", "check_gate", "gate_value", "parse_gate"]

COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
OVERALL = "Overall"
OUTCOMES = frozenset(outcome.value for outcome in Outcome)
_GATE = re.compile(r"(?:([^:<>=]+):)?([^:<>=]+)(>=|<=|>|<)([^<>=]+)")


class Gate(NamedTuple):
    """One condition."""

    text: str
    row: str
    metric: str
    comparison: str
    limit: float
    in_percent: bool = False

    def holds(self, value: float) -> bool:
        """Whether a value meets the condition, that is, fails the check."""
        return COMPARISONS[self.comparison](value, self.limit)

    def written(self, value: float) -> str:
        """A value as the condition writes its own."""
        return f"{100 * value:.6g}%" if self.in_percent else f"{value:.6g}"


def parse_gate(text: str) -> Gate:
    """
    >>> parse_gate("SM:AFPR > 20%")[1:]
    ('SM', 'AFPR', '>', 0.2, True)
    >>> parse_gate("AFPR")
    Traceback (most recent call last):
    ...
    groundfault.errors.UsageError: --fail-if 'AFPR': give METRIC>NUMBER or ROW:METRIC>NUMBER, with
    >, >=, < or <=
    """
    match = _GATE.fullmatch(text.strip())
    try:
        if match is None:
            raise ValueError
        row, metric, comparison, limit = match.groups()
        value = number(limit)
        if not math.isfinite(value):  # which nothing is above or below
            raise ValueError
        in_percent = limit.strip().endswith("%")
        return Gate(text, (row or OVERALL).strip(), metric.strip(), comparison, value, in_percent)
    except ValueError:
        raise UsageError(
            f"--fail-if '{text}': give METRIC>NUMBER or ROW:METRIC>NUMBER, with >, >=, < or <="
        ) from None


def check_gate(gate: Gate, protocol: Protocol, metrics: Collection[str]) -> None:
    """Refuse a condition about what a result of the protocol with these metrics does not have."""
    if gate.metric in OUTCOMES and gate.row != OVERALL:
        raise UsageError(
            f"--fail-if '{gate.text}': outcomes are counted over the whole run; leave "
            f"'{gate.row}:' out"
        )
    if gate.metric in OUTCOMES:
        if gate.in_percent:
            raise UsageError(f"--fail-if '{gate.text}': outcomes are counts of items, not shares")
        return
    _check_limit(gate, protocol.metric(_metric(gate, protocol, metrics)))


def _check_limit(gate: Gate, metric: Metric) -> None:
    """Refuse a number that the metric cannot have, or be above."""
    if gate.in_percent and metric.unit not in ("percent", "fraction"):
        raise UsageError(f"--fail-if '{gate.text}': {metric.name} is no share; give a plain number")
    below = metric.low is not None and gate.limit < metric.low
    above = metric.high is not None and (
        gate.limit > metric.high or (gate.limit == metric.high and gate.comparison == ">")
    )
    if not below and not above:
        return
    ends = [f"{side} {end:g}" for side, end in (("from", metric.low), ("to", metric.high))
            if end is not None]  # fmt: skip
    meant = ""
    if metric.unit == "percent" and above and not gate.in_percent and gate.limit <= 100:
        written = f"{gate.metric}{gate.comparison}{gate.limit:g}%"
        meant = f", printed in percent: write {written}, or {gate.limit / 100:g}"
    raise UsageError(
        f"--fail-if '{gate.text}': {metric.name} goes {' '.join(ends)}{meant}. As it stands, the "
        f"condition {'never holds' if _never(gate, above=above) else 'always holds'}"
    )


def _never(gate: Gate, *, above: bool) -> bool:
    return gate.comparison.startswith(">") == above


def _metric(gate: Gate, protocol: Protocol, metrics: Collection[str]) -> str:
    """The metric that a condition is about, which may be called as tables print it."""
    try:
        return protocol.metric_named(gate.metric, metrics)
    except UnknownName:
        known = (*protocol.called(metrics), *OUTCOMES)
        raise UnknownName("metric", gate.metric, known) from None


def gate_value(gate: Gate, summary: Summary, outcomes: Mapping[str, int]) -> float:
    """The value that a condition is about; one that is unknown or undefined is refused.

    `outcomes` are a run's own, over its items: a summary may count cases.
    """
    protocol, known = of_summary(summary), summary.rows[OVERALL].metrics
    check_gate(gate, protocol, known)
    if gate.metric in OUTCOMES:
        return float(outcomes.get(gate.metric, 0))
    if gate.row not in summary.rows:
        raise UnknownName("row", gate.row, summary.rows)
    found = summary.rows[gate.row].metrics[_metric(gate, protocol, known)]
    value = found.value
    if value is None or found.undefined is True:
        raise UsageError(
            f"--fail-if '{gate.text}': {gate.metric} is undefined in row {gate.row}, which has "
            f"{summary.rows[gate.row].n_cases} cases"
        )
    return value
