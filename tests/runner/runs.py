"""A model asked for masks, as `evaluate` does it, with every part given by the test."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from groundfault.records import Benchmark
from groundfault.runner.session import predict
from groundfault.runner.ways import InMasks
from groundfault.runner.work import Plan
from groundfault.runs.run import Run

__all__ = ["run_masks"]


def run_masks(
    benchmark: Benchmark,
    load: Callable[[], Any],
    out: str | PathLike[str],
    *,
    name: str = "m",
    plan: Plan | None = None,
    **more: Any,
) -> Run:
    """Ask what is left and keep the predictions in the run folder `out`."""
    plan = plan or Plan()
    way = InMasks(load, name, benchmark.images or None, plan, Path(out))
    return predict(benchmark, way, out, name=name, plan=plan, **more)
