"""A run that goes on: what an earlier session left is kept if it belongs to this run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from os import PathLike
from pathlib import Path

import msgspec

from groundfault.errors import DataError, GroundfaultError, UsageError
from groundfault.io.store import is_there
from groundfault.runs.identity import FILES
from groundfault.runs.recorder import has_answers, settle
from groundfault.runs.run import RUN, Run, read_run
from groundfault.runs.shards import shards

__all__ = [
    "CHECKPOINTS",
    "LATE",
    "PICTURES",
    "PLACEMENT",
    "RETRIES",
    "SERVER",
    "check_identity",
    "earlier_run",
    "resumed",
]

CHECKPOINTS = "checkpoints"
PLACEMENT = "placement"
SERVER = "server"
LATE = (CHECKPOINTS, PLACEMENT, SERVER)
"""The parts of a run's identity that are known when the model is loaded."""
PICTURES = "pictures"
"""The setting that holds the sizes of a few pictures: predictions about others are not mixed."""

RETRIES: dict[str, tuple[str, ...]] = {"": (), "timeout": ("turns", "unread")}
"""Answers that may be asked for again, by how they ended (`Prediction.finish`): an agent's whose
turns ran out."""


def earlier_run(folder: Path, *, needed: bool = True) -> Run | None:
    """What an earlier session noted; None where there was none. One that cannot be read is in the
    way only where it is `needed`."""
    if not is_there(folder / RUN):
        return None
    try:
        return read_run(folder)
    except GroundfaultError as problem:
        if not needed:
            return None
        said = problem.problem if isinstance(problem, DataError) else str(problem)
        remedy = "give --no-resume to start anew, or another --out"
        raise DataError(folder / RUN, said, remedy=remedy) from None


def resumed(
    folder: str | PathLike[str], run: Run, *, resume: bool = True, fresh: bool = False
) -> tuple[Run, bool]:
    """The run with what an earlier session left, and whether it starts anew; predictions of another
    identity are refused.

    Without `resume` the run starts anew. A `fresh` run asks again what is in the response store: a
    finished one starts anew, one that was cut short goes on, as its replies are fresh already.
    What an earlier session left is not removed here: whoever pays may still call it off.
    """
    folder = Path(folder)
    before = earlier_run(folder, needed=resume)
    if fresh and before is not None:
        resume = resume and before.state != "finished" and before.settings.get("fresh") is True
    if not resume or before is None or not before.identity:  # an older version's has none
        if resume and before is None and shards(folder):
            raise UsageError(
                f"{folder}: has predictions but no run.json to say whose; give another --out, or "
                "--no-resume to start anew"
            )
        return run, True
    if not has_answers(folder):  # what failed altogether does not stand in the way of a repair
        return run, True
    known = {name: value for name, value in before.identity.items() if name in LATE}
    identity = known | run.identity
    check_identity(folder, _identity_of(before, run), identity)
    settle(folder)
    going_on = msgspec.structs.replace(
        run,
        identity=identity,
        settings={**run.settings, PICTURES: before.settings.get(PICTURES, {})},
        versions=before.versions,
        seconds=before.seconds,
        probe=before.probe,
        judged=before.judged,
        read=before.read,
        attributed=before.attributed,
    )
    return going_on, False


def _identity_of(before: Run, run: Run) -> dict[str, str]:
    """What the stored predictions depend on. In words, version 0.1.0 noted no files of chat models:
    their checkpoints are compared when they are loaded."""
    is_old = bool(before.modes) and not before.protocol
    taken_on = {name: run.identity[name] for name in (FILES,) if is_old and name in run.identity}
    return taken_on | before.identity


def check_identity(
    folder: str | PathLike[str], there: Mapping[str, str], now: Mapping[str, str]
) -> None:
    """Refuse to go on where new predictions would depend on something else than the stored ones."""
    for what in {**there, **now}:
        was, given = there.get(what, ""), now.get(what, "")
        if was != given:
            raise UsageError(
                f"{folder}: holds answers with another {what}: {_short(was)} there, "
                f"{_short(given)} now. They are not mixed: give another --out, or --no-resume to "
                "start anew"
            )


def _short(value: str) -> str:
    return f"{value[:12]}…" if re.fullmatch("[0-9a-f]{32,}", value) else f"'{value[:60]}'"
