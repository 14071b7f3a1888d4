"""A run's predictions compared with its benchmark, for operating points that are not stored."""

from __future__ import annotations

from typing import Any

from groundfault.analysis.scoring import Matched, match_files, match_predictions
from groundfault.errors import UsageError
from groundfault.io.sources import DUMP
from groundfault.reports.page.inputs import RunData
from groundfault.reports.page.sources import Source
from groundfault.runs.shards import shards

__all__ = ["compared"]

CHOSEN = ("iou", "variant", "missing", "sizes")
"""Settings that decide how masks are compared."""


def compared(run: RunData, source: Source | None) -> Matched:
    """Compare once; every t and τ follows from it."""
    settings = {key: value for key, value in run.summary.settings.items() if key in CHOSEN}
    if shards(run.folder):
        if source is None:
            raise UsageError("its benchmark is not at hand")
        return match_predictions(source.benchmark, run.folder, settings)
    known = run.summary.source
    inputs: dict[str, Any] = {k: v for k, v in known.items() if k not in ("format", DUMP)}
    if DUMP not in known or "format" not in known:
        raise UsageError("its predictions are not at hand")
    return match_files(str(known["format"]), inputs, str(known[DUMP]), settings)
