"""Metrics, one file per family: each declares its columns, its metrics and their function."""

from groundfault.metrics.family import (
    Family,
    Metric,
    columns_of,
    compose,
    count,
    extensions,
    family,
)

__all__ = ["Family", "Metric", "columns_of", "compose", "count", "extensions", "family"]
