"""An exam asked of a model, as `evaluate` does it, with every part given by the test."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from groundfault.benchmarks.reactbench import read
from groundfault.llm.cost import Budget, CostEstimate, Price, SharedBudget
from groundfault.llm.retry import RetryPolicy
from groundfault.llm.server import ChatOptions
from groundfault.records import Benchmark, Mode
from groundfault.runner.prompts import prompts_hash
from groundfault.runner.session import Progress, predict
from groundfault.runner.ways import InWords
from groundfault.runner.work import Plan
from groundfault.runs.benchmark import first_cases
from groundfault.runs.run import Run

__all__ = ["run_exam"]


def run_exam(
    exam: Benchmark | str | Path,
    load: Callable[[], Any],
    out: str | Path,
    *,
    name: str,
    modes: Sequence[Mode] = ("std",),
    limit: int | None = None,
    options: ChatOptions | None = None,
    concurrency: int = 96,
    patience: RetryPolicy | None = None,
    budget: Budget | SharedBudget | None = None,
    price: Price | None = None,
    aside: float = 0.0,
    responses: str | Path = "",
    fresh: bool = False,
    resume: bool = True,
    identity: Mapping[str, str] | None = None,
    settings: Mapping[str, object] | None = None,
    confirm: Callable[[CostEstimate], bool] | None = None,
    started: Callable[[Run], None] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Ask what has no answer yet and keep the answers in the run folder `out`."""
    benchmark = exam if isinstance(exam, Benchmark) else read(exam)
    options, out = options or ChatOptions(), Path(out)
    plan = Plan(
        concurrency=concurrency,
        retry=patience or RetryPolicy(timeout_s=options.timeout_s),
        budget=SharedBudget(budget) if isinstance(budget, Budget) else budget,
        price=price,
        reserve=aside,
        responses=str(responses),
        fresh=fresh,
        resume=resume,
        batch=options.batch,
    )
    way = InWords(
        load,
        name,
        benchmark.images,
        plan,
        out,
        max_tokens=options.max_tokens,
        confirm=confirm,
    )
    drawn = {"temperature": str(options.temperature), "max_tokens": str(options.max_tokens)}
    return predict(
        benchmark,
        way,
        out,
        name=name,
        modes=tuple(modes),
        identity={"prompts": prompts_hash(), **drawn, **(identity or {})},
        settings=settings,
        asked=first_cases(benchmark, limit),
        plan=plan,
        started=started,
        progress=progress,
    )
