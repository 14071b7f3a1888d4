"""A run on disk: one model × one benchmark × one resolved configuration, masks and words alike.

    RUN/run.json                    model, benchmark, settings, hashes, versions, counts per outcome
    RUN/predictions-00000.parquet   a row per prediction (`shards`)
    RUN/predictions-00001.journal   predictions that no shard holds yet, while the run goes on
    RUN/summary.json, cases.parquet as `score` writes them

Runs of version 0.1.0 that were asked in words have answers-00000.parquet instead; they are read as
they are, and rewritten when such a run goes on.
"""

from __future__ import annotations

import re
from os import PathLike
from pathlib import Path
from typing import Literal

import msgspec

from groundfault.io.store import read_json, write_json
from groundfault.records import Mode

__all__ = ["NOT_ASKED", "SILENT", "Grader", "Run", "failure_kind", "read_run", "write_run"]

AnyPath = str | PathLike[str]
RUN = "run.json"
SILENT = "the results file has no record of it"
"""Why an item of a replayed results file counts as an abstention."""
NOT_ASKED = "not asked: "
"""What the reason of an item begins with that nobody was asked."""


State = Literal["running", "finished", "stopped", "failed", "interrupted"]
"""Finished: every item has a prediction or a reason why it has none. Stopped: it was given up, and
what is left has that for a reason. Failed: an error ended it. Interrupted: somebody did. A process
that was killed could not say so: its run is "running"."""


class Grader(msgspec.Struct, frozen=True, kw_only=True):
    """A judge, a reader, or a model that names causes, as a run notes it."""

    name: str
    """"rule", or the model's spec."""
    prompt_hash: str = ""
    """SHA-256 of what it was asked with; verdicts of two are never mixed."""
    server: str = ""
    """Where it was asked."""
    canaries: int = 0
    """Asked anew in this run."""
    canaries_missed: int = 0
    """Canaries, answers with a known verdict, that it got wrong."""
    unjudged: int = 0
    """Answers that it could not decide about or refused to judge."""
    warnings: tuple[str, ...] = ()
    """What makes its verdicts doubtful."""
    tokens: int = 0
    """Of requests in the last session; stored replies take none."""
    cost: float | None = None
    """None where a price is not known."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What made a run and what it took; the content of run.json."""

    model: str
    """The spec it was asked by, NAME[:argument]."""
    label: str = ""
    """What it is called in tables, if not by its spec."""
    benchmark: str
    """The name on its card."""
    protocol: str = ""
    """How it is scored."""
    benchmark_folder: str = ""
    """Where the benchmark was, for reports that show its pictures; may be gone."""
    content_hash: str = ""
    """Of the benchmark; only runs on the same content are compared."""
    identity: dict[str, str] = msgspec.field(default_factory=dict)
    """What the predictions depend on; those of two identities are never mixed."""
    settings: dict[str, object] = msgspec.field(default_factory=dict)
    """How the run was carried out."""
    versions: dict[str, str] = msgspec.field(default_factory=dict)
    """Of groundfault, Python and the libraries that matter."""
    modes: tuple[Mode, ...] = ()
    """How questions were asked; none where masks were asked for."""
    outcomes: dict[str, int] = msgspec.field(default_factory=dict)
    """How many items ended how."""
    failures: dict[str, int] = msgspec.field(default_factory=dict)
    """Reason → number of items."""
    n_items: int = 0
    """Items, each counted once per mode."""
    n_images: int = 0
    """How many pictures were asked about."""
    state: State = "finished"
    """How the last session ended: finished, stopped, failed, interrupted; running where nobody
    could say."""
    stopped: str = ""
    """Why not everything was asked."""
    reused: int = 0
    """Answers of earlier sessions that the last one kept."""
    probe: str = ""
    """How the check of the coordinate frame ended."""
    seconds: float = 0.0
    """Of all sessions together, up to the last one's latest shard."""
    tokens_in: int = 0
    """Of all predictions."""
    tokens_out: int = 0
    """Of all predictions."""
    cost: float | None = None
    """Of all predictions; None where a price is not known."""
    spent: float | None = 0.0
    """In the last session: replies from the response store cost nothing."""
    latency_s: dict[str, float] = msgspec.field(default_factory=dict)
    """Seconds of one answer: median, p95 and most."""
    last_session: dict[str, int] = msgspec.field(default_factory=dict)
    """Requests, retries, outages, replies from the response store, rewritten pictures."""
    judged: Grader | None = None
    """Who gave the verdicts."""
    read: Grader | None = None
    """The model that read what the rules left unread."""
    attributed: Grader | None = None
    """Who named the sub-causes."""

    @property
    def name(self) -> str:
        """What tables call the model."""
        return self.label or self.model

    @property
    def within_budget(self) -> bool:
        """Whether it stopped only because its budget was used up, as it was told to."""
        return self.stopped.startswith("the budget of ") and " is used up" in self.stopped

    @property
    def unanswered(self) -> bool:
        """Whether every item failed, and not because the budget was too small."""
        failed = self.outcomes.get("failed", 0)
        return bool(self.n_items) and failed == self.n_items and not self.within_budget


def failure_kind(reason: str) -> str:
    """A reason without names and numbers: what it has in common with others.

    >>> failure_kind("OSError: cannot read 'a.jpg' (at model.py:12)")
    'OSError: cannot read … (at model.py:…)'
    """
    return re.sub(r"'[^']*'|\"[^\"]*\"|\d+(\.\d+)?", "…", reason)


def write_run(folder: AnyPath, run: Run) -> None:
    """Write run.json."""
    write_json(Path(folder) / RUN, run)


def read_run(folder: AnyPath) -> Run:
    """Read run.json."""
    return read_json(Path(folder) / RUN, Run)
