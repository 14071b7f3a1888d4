"""Metrics, one file per family: each declares its columns, its metrics and their function."""

from groundfault.metrics.family import (
    Family,
    Metric,
    Share,
    columns_of,
    compose,
    count,
    extensions,
    family,
    shares,
    undefined,
)

__all__ = [
    "Family",
    "Metric",
    "Share",
    "columns_of",
    "compose",
    "count",
    "extensions",
    "family",
    "shares",
    "undefined",
]
