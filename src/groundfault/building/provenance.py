"""Where every case of a release comes from, as a table: provenance.parquet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path

import msgspec

from groundfault.building.records import Candidate, EditedPicture, Proposal
from groundfault.io.store import write_table

__all__ = ["without_folders", "write_provenance"]


def without_folders(spec: str) -> str:
    """NAME:argument as others may read it: of a file of one's own, the name alone.

    >>> without_folders("worker:/home/me/mine.py"), without_folders("hf:org/model")
    ('worker:mine.py', 'hf:org/model')
    """
    name, colon, argument = spec.partition(":")
    path = Path(argument)
    is_own = path.is_absolute() or argument.startswith(".") or (argument and path.exists())
    return f"{name}{colon}{path.name}" if is_own else spec


def _json(value: object) -> str:
    return msgspec.json.encode(value, order="sorted").decode()


def _proposal(candidate: Candidate) -> Proposal:
    assert candidate.proposal is not None
    return candidate.proposal


def _edited(candidate: Candidate) -> EditedPicture:
    assert candidate.edited is not None
    return candidate.edited


COLUMNS: dict[str, Callable[[Candidate], str | int]] = {
    "case_id": lambda c: c.id,
    "task": lambda c: c.task,
    "source": lambda c: c.photograph.source,
    "source_image_id": lambda c: c.photograph.id,
    "source_file": lambda c: c.photograph.file,
    "source_annotation_id": lambda c: c.target.id,
    "mask_by": lambda c: c.target.masked_by or "annotators",
    "category": lambda c: c.target.category,
    "licence": lambda c: c.photograph.licence,
    "url": lambda c: c.photograph.url,
    "edit": lambda c: _proposal(c).kind,
    "value": lambda c: _proposal(c).value,
    "instruction": lambda c: _proposal(c).instruction,
    "rationale": lambda c: _proposal(c).rationale,
    "positive": lambda c: _proposal(c).positive,
    "negative": lambda c: _proposal(c).negative,
    "fields": lambda c: _json(_proposal(c).fields),
    "proposer": lambda c: _proposal(c).by,
    "warnings": lambda c: ", ".join(c.violations),
    "editor": lambda c: _edited(c).editor,
    "editor_details": lambda c: _json(_edited(c).details),
    "matrix": lambda c: _json(_edited(c).matrix),
    "touched": lambda c: _json(_edited(c).touched),
    "seed": lambda c: c.seed,
    "checks": lambda c: _json(c.checks),
    "votes": lambda c: _json(c.votes),
    "facts": lambda c: _json(c.facts),
}
"""What is said of a case: nested values are JSON."""


def write_provenance(path: str | PathLike[str], candidates: Sequence[Candidate]) -> None:
    """Write one row per case."""
    write_table(path, {name: [tell(c) for c in candidates] for name, tell in COLUMNS.items()})
