"""What a model's answers depend on, so that two models' answers never end up in one run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from glob import escape
from pathlib import Path

from groundfault import registry
from groundfault.foreign import sha256
from groundfault.protocols import ModelOptions

__all__ = ["model_identity"]


def model_identity(spec: str, options: ModelOptions) -> dict[str, str]:
    """Device, number type and revision; the content of the files that the spec names; and what the
    registered callable's own `identity(argument, options)` says, if it has one.

    Nothing is loaded for it: a finished run is scored again without its model.
    """
    factory, argument = registry.model_factory(spec)
    found = {"device": options.device, "dtype": options.dtype, "revision": options.revision}
    files = _files(argument)
    if files:
        found["model file"] = _content(files)
    own = getattr(factory, "identity", None)
    described: Mapping[str, str] = own(argument, options) if callable(own) else {}
    return found | {name: str(value) for name, value in described.items()}


def _files(argument: str) -> list[Path]:
    """The file that an argument names, those of a folder, or those that its name begins."""
    if not argument:
        return []
    path = Path(argument)
    if path.is_file():
        return [path]
    found = path.rglob("*") if path.is_dir() else path.parent.glob(f"{escape(path.name)}.*")
    return sorted(file for file in found if file.is_file())


def _content(files: Sequence[Path]) -> str:
    """SHA-256 of a file, or of the names and contents of several."""
    if len(files) == 1:
        return sha256(files[0])
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.name}\0{sha256(file)}\n".encode())
    return digest.hexdigest()
