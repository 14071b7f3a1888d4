"""What a model's answers depend on, so that two models' answers never end up in one run."""

from __future__ import annotations

import contextlib
import hashlib
import platform
import re
import sys
from collections.abc import Mapping, Sequence
from glob import escape
from importlib.metadata import PackageNotFoundError, version
from os import PathLike
from pathlib import Path

from groundfault import registry
from groundfault.interfaces import Identified, ModelOptions, NamesFiles
from groundfault.io.foreign import sha256
from groundfault.records import Item

__all__ = ["FILES", "library_versions", "model_identity", "picture_sizes"]

FILES = "model file"
"""The part of an identity that holds the content of the files that a model's spec names."""

ALWAYS = ("groundfault", "numpy", "pillow", "pyarrow")
IF_USED = ("onnxruntime", "ray", "torch", "transformers", "ultralytics")
"""Libraries whose versions a run notes."""

MOST_PICTURES = 16
"""Enough to tell one folder of pictures from another; to hash all would take a while."""


def model_identity(spec: str, options: ModelOptions) -> dict[str, str]:
    """Device, number type and revision; the content of the files that the spec names; and what the
    registered callable's own `identity(argument, options)` says, if it has one. Its
    `named_files(argument)` says what may name files, where not all of the argument may.

    Nothing is loaded for it: a finished run is scored again without its model.
    """
    factory, argument = registry.model_factory(spec)
    found = {"device": options.device, "dtype": options.dtype, "revision": options.revision}
    parts: Sequence[str] = [argument]
    if isinstance(factory, NamesFiles):
        parts = factory.named_files(argument)
    files = [file for part in parts for file in _files(part)]
    if files:
        found[FILES] = _content(files)
    described: Mapping[str, str] = {}
    if isinstance(factory, Identified):
        described = factory.identity(argument, options)
    return found | {name: str(value) for name, value in described.items()}


def picture_sizes(items: Sequence[Item], images: str | PathLike[str] | None) -> dict[str, int]:
    """Size in bytes of a few pictures that are there, evenly spread over what is asked."""
    names = list(dict.fromkeys(item.image for item in items)) if images is not None else []
    some = names[:: -(-len(names) // MOST_PICTURES) or 1]
    sizes = {name: _size(Path(images or "", name)) for name in some}
    return {name: size for name, size in sizes.items() if size is not None}


def _size(file: Path) -> int | None:
    try:
        return file.stat().st_size
    except (OSError, ValueError):  # not there, or no name of a file
        return None


def library_versions() -> dict[str, str]:
    """Of Python and of what this process has imported."""
    found = {"python": platform.python_version()}
    for package in (*ALWAYS, *(name for name in IF_USED if name in sys.modules)):
        with contextlib.suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def _files(argument: str) -> list[Path]:
    """The file that an argument names, those of a folder, or those that its name begins; else
    those of its parts: `owlv2-sam:DETECTOR+SEGMENTER`."""
    if not argument:
        return []
    path = Path(argument)
    if path.exists():
        return _files_of(path)
    begun = path.parent.glob(f"{escape(path.name)}.*")
    parts = [Path(part) for part in re.split("[:+]", argument) if part]
    return sorted(file for file in begun if file.is_file()) or [
        file for part in parts for file in _files_of(part)
    ]


def _files_of(path: Path) -> list[Path]:
    """A file, or those of a folder."""
    found = path.rglob("*") if path.is_dir() else [path]
    return sorted(file for file in found if file.is_file())


def _content(files: Sequence[Path]) -> str:
    """SHA-256 of a file, or of the names and contents of several."""
    if len(files) == 1:
        return sha256(files[0])
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.name}\0{sha256(file)}\n".encode())
    return digest.hexdigest()
