"""What a model's answers depend on, so that two models' answers never end up in one run."""

from __future__ import annotations

import contextlib
import hashlib
import platform
import re
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from os import PathLike
from pathlib import Path

from groundfault import registry
from groundfault.interfaces import Checkpointed, Identified, ModelOptions, NamesFiles
from groundfault.io.foreign import sha256
from groundfault.io.hashes import KnownHashes
from groundfault.records import Item

__all__ = [
    "CODE",
    "FILES",
    "code_hash",
    "files_hash",
    "library_versions",
    "model_identity",
    "object_identity",
    "picture_sizes",
]

FILES = "model file"
"""The part of an identity that holds the content of the files that a model's spec names."""

CODE = "plug-in code"
"""The part that holds the content of a plug-in's modules."""
CODE_FILES = (".py", ".so", ".pyd")
OURS = ("groundfault", "builtins")

ALWAYS = ("groundfault", "numpy", "pillow", "pyarrow")
IF_USED = ("onnxruntime", "ray", "torch", "transformers", "ultralytics")
"""Libraries whose versions a run notes."""

MOST_PICTURES = 16
"""Enough to tell one folder of pictures from another; to hash all would take a while."""


def model_identity(spec: str, options: ModelOptions) -> dict[str, str]:
    """Device, number type and revision; the content of the files that the spec names; and what the
    registered callable's own `identity(argument, options)` says, if it has one. Its
    `named_files(argument)` says which files count, where not all of the argument may name one. Of a
    plug-in, the version of its distribution and its code.

    Nothing is loaded for it: a finished run is scored again without its model.
    """
    factory, argument = registry.model_factory(spec)
    found = {"device": options.device, "dtype": options.dtype, "revision": options.revision}
    entry = registry.plugins("models").get(spec.partition(":")[0])
    if entry is not None:
        found |= _plugin_identity(entry)
    parts: Sequence[str | PathLike[str]] = [argument]
    if isinstance(factory, NamesFiles):
        parts = factory.named_files(argument)
    files = [file for part in parts for file in _files(str(part))]
    if files:
        found[FILES] = _content(files)
    described: Mapping[str, str] = {}
    if isinstance(factory, Identified):
        described = factory.identity(argument, options)
    return found | {name: str(value) for name, value in described.items()}


def _plugin_identity(entry: registry.Entry) -> dict[str, str]:
    """The distribution that a plug-in comes with, and the code of its package."""
    code = code_hash(entry.target.partition(":")[0])
    return {"plug-in": entry.package, **({CODE: code} if code else {})}


def object_identity(model: object) -> dict[str, str]:
    """The same of a model that is no plug-in but an object: its class, the weights that it says it
    was made of, and the code of its class."""
    kind = type(model)
    name = f"{kind.__module__}.{kind.__qualname__}"
    if isinstance(model, Checkpointed):
        name += " " + "+".join(model.checkpoints)
    code = ""
    if kind.__module__.partition(".")[0] not in OURS:
        code = code_hash(kind.__module__) if kind.__module__ != "__main__" else _source_hash(kind)
    return {"object": name, **({CODE: code} if code else {})}


def code_hash(module: str) -> str:
    """SHA-256 of a module's file, or of all code of the package that it is in; "" where it is in no
    file."""
    root = sys.modules.get(module.partition(".")[0])
    if getattr(root, "__file__", None) is None:  # a namespace that others share
        root = sys.modules.get(module)
    origin = getattr(root, "__file__", None)
    if origin is None or not Path(origin).is_file():
        return ""
    if not hasattr(root, "__path__"):
        return sha256(origin)
    code = (file for file in Path(origin).parent.rglob("*") if file.suffix in CODE_FILES)
    return _content(sorted(code))


def _source_hash(kind: type) -> str:
    """Of a class that was typed in, or is in the script that runs: its own lines alone, as the
    script's other lines are no part of the model."""
    import inspect

    try:
        return hashlib.sha256(inspect.getsource(kind).encode()).hexdigest()
    except (OSError, TypeError):  # nobody knows its lines
        return ""


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


def files_hash(argument: str) -> str:
    """Of the files that an argument names, by their content; "" if it names none."""
    files = _files(argument)
    return _content(files) if files else ""


def _files(argument: str) -> list[Path]:
    """The file that an argument names, or those of a folder; else those of its parts:
    `owlv2-sam:DETECTOR+SEGMENTER`. Files whose names only begin so are somebody else's."""
    if not argument:
        return []
    path = Path(argument)
    if path.exists():
        return _files_of(path)
    parts = [Path(part) for part in re.split("[:+]", argument) if part]
    return [file for part in parts for file in _files_of(part)]


def _files_of(path: Path) -> list[Path]:
    """A file, or those of a folder."""
    found = path.rglob("*") if path.is_dir() else [path]
    return sorted(file for file in found if file.is_file())


def _content(files: Sequence[Path]) -> str:
    """SHA-256 of a file, or of the names and contents of several."""
    with KnownHashes() as known:
        if len(files) == 1:
            return known.sha256(files[0])
        digest = hashlib.sha256()
        for file in files:
            digest.update(f"{file.name}\0{known.sha256(file)}\n".encode())
        return digest.hexdigest()
