"""groundfault: does a vision model ground what it was asked for, or what it expected to see?

    import groundfault as gf
    bench = gf.load("DIR")  # or gf.load("cafe", annotations=…, images=…)
    run = gf.evaluate(bench, "nano-base", out="runs/nano-base")
    gf.compare(run, "runs/nano-cft").table()
    gf.report([run], "report.html")

Everything is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

_WHERE = {
    "Benchmark": "groundfault.records",
    "Estimate": "groundfault.records",
    "GroundfaultError": "groundfault.errors",
    "Item": "groundfault.records",
    "Message": "groundfault.records",
    "Outcome": "groundfault.records",
    "Picture": "groundfault.records",
    "Prediction": "groundfault.records",
    "Reply": "groundfault.records",
    "Result": "groundfault.api.result",
    "as_prediction": "groundfault.io.masks",
    "audit": "groundfault.api.auditing",
    "build": "groundfault.api.building",
    "build_pairs": "groundfault.api.building",
    "calibrate": "groundfault.api.calibrating",
    "check_model": "groundfault.api.checking",
    "compare": "groundfault.api.comparing",
    "evaluate": "groundfault.api.evaluating",
    "explore": "groundfault.api.exploring",
    "judge": "groundfault.api.judging",
    "judge_card": "groundfault.api.judging",
    "propose_phrases": "groundfault.api.proposing",
    "reader_card": "groundfault.api.judging",
    "leaderboard": "groundfault.api.leaderboard",
    "load": "groundfault.io.sources",
    "log_run": "groundfault.api.neighbours",
    "open_run": "groundfault.api.result",
    "parse_answer": "groundfault.parsing.answers",
    "report": "groundfault.api.reporting",
    "score": "groundfault.api.scoring",
    "status": "groundfault.runs.status",
    "sweep": "groundfault.api.scoring",
    "to_datasets": "groundfault.api.neighbours",
    "to_fiftyone": "groundfault.api.neighbours",
    "to_supervision": "groundfault.api.neighbours",
    "train": "groundfault.api.training",
}
"""Public name → the module that has it."""

__all__ = [
    "Benchmark",
    "Estimate",
    "GroundfaultError",
    "Item",
    "Message",
    "Outcome",
    "Picture",
    "Prediction",
    "Reply",
    "Result",
    "__version__",
    "as_prediction",
    "audit",
    "build",
    "build_pairs",
    "calibrate",
    "check_model",
    "compare",
    "evaluate",
    "explore",
    "judge",
    "judge_card",
    "leaderboard",
    "load",
    "log_run",
    "open_run",
    "parse_answer",
    "propose_phrases",
    "reader_card",
    "report",
    "score",
    "status",
    "sweep",
    "to_datasets",
    "to_fiftyone",
    "to_supervision",
    "train",
]

if TYPE_CHECKING:
    from groundfault.api.auditing import audit
    from groundfault.api.building import build, build_pairs
    from groundfault.api.calibrating import calibrate
    from groundfault.api.checking import check_model
    from groundfault.api.comparing import compare
    from groundfault.api.evaluating import evaluate
    from groundfault.api.exploring import explore
    from groundfault.api.judging import judge, judge_card, reader_card
    from groundfault.api.leaderboard import leaderboard
    from groundfault.api.neighbours import log_run, to_datasets, to_fiftyone, to_supervision
    from groundfault.api.proposing import propose_phrases
    from groundfault.api.reporting import report
    from groundfault.api.result import Result, open_run
    from groundfault.api.scoring import score, sweep
    from groundfault.api.training import train
    from groundfault.errors import GroundfaultError
    from groundfault.io.masks import as_prediction
    from groundfault.io.sources import load
    from groundfault.parsing.answers import parse_answer
    from groundfault.records import (
        Benchmark,
        Estimate,
        Item,
        Message,
        Outcome,
        Picture,
        Prediction,
        Reply,
    )
    from groundfault.runs.status import status


def __getattr__(name: str) -> Any:
    """Import what a public name stands for."""
    if name not in _WHERE:
        raise AttributeError(f"module 'groundfault' has no attribute '{name}'")
    from importlib import import_module

    found = getattr(import_module(_WHERE[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__]
