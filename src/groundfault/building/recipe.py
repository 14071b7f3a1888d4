"""A build as one TOML file: what it is made from, and how each stage works.

    benchmark = "cafe"            # cafe, halluseg or reactbench
    seed = 0
    [source]
    name = "coco"
    annotations = "instances_val2017.json"
    images = "val2017"
    [mine]                        # settings of that benchmark's miner
    [propose]
    by = "rules"
    [edit]
    by = "procedural"
    [questions]                   # of an exam: layout = "twins" or "paper"
    [review]
    decisions = "decisions.jsonl"

Paths are as seen from the recipe's folder. Unknown names are refused.
"""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import msgspec

from groundfault.building.checking import VerifySettings
from groundfault.building.editing import EditSettings
from groundfault.building.proposing import ProposeSettings
from groundfault.building.questions.stage import QuestionSettings
from groundfault.building.releasing import ReleaseSettings
from groundfault.config import load_toml, tables_of
from groundfault.errors import UnknownName

__all__ = ["BENCHMARKS", "Recipe", "ReviewSettings", "SourceSettings", "open_tables", "read_recipe"]

BENCHMARKS = ("cafe", "halluseg", "reactbench")
Paths = str | tuple[str, ...]


class SourceSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where photographs come from."""

    name: str = "coco"
    """As docs/sources.md lists them: coco, lvis, saco, …, or a plain folder."""
    annotations: Paths = ()
    """One file, or several parts of one set."""
    images: Paths = ()
    """Their folder or folders."""
    missing: Literal["refuse", "drop"] = "refuse"
    """What becomes of pictures that are not there, cannot be read or have another size than their
    annotations say: they end the build, or are dropped and counted."""
    options: dict[str, Any] = {}
    """What the source takes besides (below): splits, a licence, a segmenter for a plain folder."""


class ReviewSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who decides."""

    decisions: str = "none"
    """decisions.jsonl or decisions.parquet; "none" lets everything through unseen."""
    protocol: str = ""
    """A review protocol of one's own; "" is that of the benchmark."""


class Recipe(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that a build depends on."""

    benchmark: Literal["cafe", "halluseg", "reactbench"]
    """What is built."""
    seed: int = 0
    """What every draw depends on."""
    limit: int | None = None
    """Candidates at most, before anything is dropped of them; photographs take turns, in an order
    drawn by the seed. None for all."""
    source: SourceSettings = SourceSettings()
    """Where photographs come from."""
    mine: dict[str, Any] = {}
    """How targets are chosen; the benchmark's own settings, below."""
    propose: ProposeSettings = ProposeSettings()
    """Who says what is changed."""
    edit: EditSettings = EditSettings()
    """Who edits."""
    verify: VerifySettings = VerifySettings()
    """What automatic checks let through."""
    questions: QuestionSettings = QuestionSettings()
    """Of an exam: who words them."""
    review: ReviewSettings = ReviewSettings()
    """Who decided."""
    release: ReleaseSettings = ReleaseSettings()
    """What it is called."""


def read_recipe(path: str | PathLike[str]) -> Recipe:
    """Read a recipe; its paths become those seen from here."""
    place = Path(path)
    found = load_toml(place, Recipe, elsewhere=open_tables)
    change = msgspec.structs.replace
    source = change(
        found.source,
        annotations=_from(place, found.source.annotations),
        images=_from(place, found.source.images),
    )
    review = found.review
    if review.decisions != "none":
        review = change(review, decisions=str(place.parent / review.decisions))
    if review.protocol:
        review = change(review, protocol=str(place.parent / review.protocol))
    propose = change(found.propose, by=_spec_from(place, found.propose.by))
    edit = change(
        found.edit,
        by=_spec_from(place, found.edit.by),
        options=_named_from(place, found.edit.options, WEIGHTS),
    )
    mine = _named_from(place, found.mine, ("tables",))
    if isinstance(mine.get("exclusions"), dict):
        mine["exclusions"] = _exclusions_from(place, mine["exclusions"])
    return change(found, source=source, mine=mine, propose=propose, edit=edit, review=review)


def open_tables() -> dict[str, tuple[str, ...]]:
    """The settings of every table of a recipe, also of those whose content depends on a benchmark,
    a source, a proposer or an editor."""
    from groundfault.building.proposals.chat import ChatSettings
    from groundfault.building.sources import SourceOptions
    from groundfault.editors.procedural import SETTINGS

    found = tables_of(Recipe)
    for name in BENCHMARKS:
        mining = import_module(f"groundfault.building.mining.{name}").SETTINGS
        for table, names in tables_of(mining, "mine").items():
            found[table] = tuple(dict.fromkeys((*found.get(table, ()), *names)))
    found |= tables_of(SourceOptions, "source.options")
    found |= tables_of(ChatSettings, "propose.options")
    return found | {"edit.options": tuple(SETTINGS)}


OF_FILES = ("scripted", "worker", "comfyui", "world")
"""Proposers and editors whose argument is a file or folder of one's own."""
WEIGHTS = ("migan", "sam2")
"""Options of the procedural editor that are."""


def _spec_from(place: Path, spec: str) -> str:
    """NAME:PATH with its path as seen from the recipe's folder; other specs as they are."""
    name, colon, path = spec.partition(":")
    return f"{name}{colon}{_below(place, path)}" if path and name in OF_FILES else spec


def _named_from(place: Path, given: dict[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Settings, those of these names as paths seen from the recipe's folder."""
    return {
        name: _below(place, value) if name in names and value and isinstance(value, str) else value
        for name, value in given.items()
    }


def _exclusions_from(place: Path, given: dict[str, Any]) -> dict[str, Any]:
    """The same of the files and folders of exclusions."""
    found = _named_from(place, given, ("images",))
    for name in ("files", "pictures"):
        if isinstance(found.get(name), dict):
            found[name] = _named_from(place, found[name], found[name])
    return found


def _below(place: Path, path: str) -> str:
    """The same for whoever names the recipe otherwise: what is made depends on it."""
    return str((place.parent / path).resolve())


def _from(place: Path, paths: Paths) -> tuple[str, ...]:
    given = (paths,) if isinstance(paths, str) else paths
    return tuple(str(place.parent / path) for path in given)


def check_benchmark(name: str) -> None:
    """Refuse a benchmark that cannot be built."""
    if name not in BENCHMARKS:
        raise UnknownName("benchmark to build", name, BENCHMARKS)
