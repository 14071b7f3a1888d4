"""What a benchmark is read from: named inputs that its module declares, and what tells a file of
its format from others.

A benchmark is a module with

    CARD        its card: name, protocol, title, licence, citation
    ABOUT       what its files are, in a few words
    INPUTS      what it is read from; `convert` and `inspect` give it the first
    read(…)     → Benchmark; takes a keyword argument per input

and, where it can,

    recognise(outline) -> bool                  whether a file is of its format
    read_predictions(path, benchmark, *, settings, progress, **inputs)
                                                predictions that are no COCO results
    write(benchmark, out) -> files              what `read` would take as its first input
    obstacle(benchmark) -> str | None           why a benchmark cannot be written so
    keys(benchmark) -> list                     what an item is known by in its files, if not its id
    RUN_BY_US                                   what of it was run where it was written
    WITHOUT_FILES                               what to do where no files are given
    LAYOUT, inspector(draft)                    what `inspect` checks beyond reading
    HUB, fetched(folder)                        where it can be fetched, and its inputs there

One in another package is an entry point `groundfault.benchmarks`, named like its card.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

__all__ = ["Input", "Layout", "Outline", "Published"]


class Input(msgspec.Struct, frozen=True):
    """One named input of a benchmark."""

    name: str
    """As `read` and the Python API call it; on the command line it is --name."""
    about: str
    kind: Literal["file", "files", "folder", "text"] = "file"
    required: bool = True
    pictures: bool = False
    """Whether it is the folder that items' images are in."""
    hashed: bool = True
    """Whether results on another content of it are results on other data; folders never are."""

    @property
    def option(self) -> str:
        """What it is called on the command line."""
        return f"--{self.name.replace('_', '-')}"


class Outline(msgspec.Struct, frozen=True):
    """What tells formats apart, before anything is read."""

    path: Path
    kind: Literal["object", "list", "folder"]
    """A JSON object, a JSON list, or a folder."""
    fields: frozenset[str]
    """Of an object: the fields of its `images`, "annotations.…" for those of its annotations, and
    "refs" if it has those. Of a list: the fields of its first record. Of a folder: file names."""
    declared: str = ""
    """The format that our own writers note."""


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """How a COCO-like file uses its parts, for `inspect`."""

    phrases: bool = False
    """An entry of `images` is an (image, phrase) pair."""
    targets: bool = False
    """A positive with a misleading negative should have one mask."""
    by_category: bool = False
    """Annotations are of declared categories."""
    federated: bool = False
    """Images list categories that are verified to be absent."""


class Published(msgspec.Struct, frozen=True):
    """Where a set is on the hub."""

    repo: str
    wanted: tuple[str, ...]
    """Patterns of the files that an evaluation needs."""
    revision: str = ""
    """The commit that everybody gets; without one, the first that is fetched is kept."""
