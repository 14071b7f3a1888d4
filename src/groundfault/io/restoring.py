"""Releases that were made without pictures, and how they are made whole."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

__all__ = ["RESTORE", "way_to_restore"]

RESTORE = "restore.json"
"""In the folder of such a release: of each picture, what it is made from."""


def way_to_restore(release: str | PathLike[str]) -> str:
    """The command that makes the pictures of a release again; "" for other folders and for none."""
    if not release or not (Path(release) / RESTORE).is_file():
        return ""
    return f"make its pictures again: groundfault build restore {release} --images PHOTOGRAPHS"
