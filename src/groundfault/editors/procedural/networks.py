"""Networks that a user gives by the path of their ONNX file; none comes with the package."""

from __future__ import annotations

import functools
from typing import Any

from groundfault.errors import DataError, MissingExtra

__all__ = ["session"]


@functools.cache
def session(path: str, name: str, file: str) -> Any:
    """A loaded network; where that fails, the message says which `file` is wanted."""
    try:
        import onnxruntime
    except ImportError:
        raise MissingExtra("onnxruntime", "photo") from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # the same bytes on every machine
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as problem:  # whatever the runtime raises about a file
        raise DataError(path, f"{name} can't be loaded: {problem}", remedy=f"give {file}") from None
