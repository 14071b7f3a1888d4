"""A training's state on disk: one safetensors file, its tensors as they are and the rest as JSON in
the header. Nothing in it is ever executed, whoever wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from groundfault.errors import DataError
from groundfault.io.foreign import decode_json
from groundfault.io.store import atomic_file

__all__ = ["read_checkpoint", "write_checkpoint"]

STATE = "state"
TENSOR = "tensor"


def write_checkpoint(path: Path, state: Mapping[str, Any]) -> None:
    """Write nested dictionaries and lists of tensors, numbers and strings."""
    tensors: dict[str, torch.Tensor] = {}
    rest = msgspec.json.encode(_apart(state, "", tensors)).decode()
    with atomic_file(path) as temporary:
        save_file(tensors, temporary, metadata={STATE: rest})


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Read what `write_checkpoint` wrote."""
    try:
        with safe_open(path, framework="pt") as file:
            rest = decode_json((file.metadata() or {})[STATE])
            found: dict[str, Any] = _together(rest, file.get_tensor)
            return found
    except (SafetensorError, OSError, KeyError, ValueError, RecursionError) as problem:
        raise DataError(path, f"is no checkpoint ({problem})", remedy="delete it") from None


def _apart(value: Any, name: str, tensors: dict[str, torch.Tensor]) -> Any:
    """The same with every tensor replaced by its name; the tensors are collected."""
    if isinstance(value, torch.Tensor):
        tensors[name] = value.contiguous()
        return {TENSOR: name, "channels_last": _is_channels_last(value)}
    if isinstance(value, Mapping):  # JSON's keys are strings: an optimizer's are numbers
        return {"items": [[key, _apart(each, f"{name}.{key}", tensors)]
                          for key, each in value.items()]}  # fmt: skip
    if isinstance(value, (list, tuple)):
        return [_apart(each, f"{name}.{k}", tensors) for k, each in enumerate(value)]
    if isinstance(value, int) and not -(2**63) <= value < 2**63:  # of a random generator
        return {"int": str(value)}
    return value


def _is_channels_last(value: torch.Tensor) -> bool:
    last = torch.channels_last
    return value.ndim == 4 and value.is_contiguous(memory_format=last) and not value.is_contiguous()


def _together(value: Any, tensor: Any) -> Any:
    if isinstance(value, list):
        return [_together(each, tensor) for each in value]
    if not isinstance(value, dict):
        return value
    if "int" in value:
        return int(value["int"])
    if "items" in value:
        return {key: _together(each, tensor) for key, each in value["items"]}
    found = tensor(value[TENSOR])
    return found.to(memory_format=torch.channels_last) if value["channels_last"] else found
