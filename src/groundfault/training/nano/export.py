"""A trained network as two ONNX files that onnxruntime runs without torch.

Weights are stored in half precision and widened when the file is loaded: half the size, and the
scores move by less than a thousandth (tested).
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from groundfault.errors import MissingExtra
from groundfault.io.store import atomic_file
from groundfault.models.nano import LENGTH, SIDE_PX
from groundfault.training.nano.network import Nano

__all__ = ["export"]

OPSET = 17
LEAST_VALUES = 512
"""Smaller tensors stay as they are."""


def export(network: Nano, words: dict[str, int], stem: Path, card: dict[str, Any]) -> None:
    """Write STEM.find.onnx and STEM.match.onnx; the card and the vocabulary travel in them."""
    network = network.to(memory_format=torch.contiguous_format).eval()  # type: ignore[call-overload]
    picture = torch.zeros(1, 3, SIDE_PX, SIDE_PX)
    with torch.no_grad():
        _, _, *seen = network.finder(picture)
    masks = torch.zeros(1, 3, SIDE_PX // 2, SIDE_PX // 2)
    ids = torch.ones(1, 2, LENGTH, dtype=torch.long)
    notes = {"card": json.dumps(card), "words": json.dumps(words)}
    _write(
        network.finder,
        (picture,),
        stem.with_name(f"{stem.name}.find.onnx"),
        {"picture": {}},
        {"foreground": {}, "where": {}, "quarter": {}, "eighth": {}, "tokens": {}},
        notes,
    )
    _write(
        network.matcher,
        (masks, *seen, ids),
        stem.with_name(f"{stem.name}.match.onnx"),
        {"masks": {1: "things"}, "quarter": {}, "eighth": {}, "tokens": {}, "ids": {1: "phrases"}},
        {"fits": {1: "things", 2: "phrases"}},
        notes,
    )


def _write(
    half: nn.Module,
    example: tuple[Tensor, ...],
    path: Path,
    inputs: dict[str, dict[int, str]],
    outputs: dict[str, dict[int, str]],
    notes: dict[str, str],
) -> None:
    try:
        import onnx
    except ImportError:
        raise MissingExtra("onnx", "train") from None
    from io import BytesIO

    content = BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tracer warns of shapes that are fixed on purpose
        torch.onnx.export(
            half,
            example,
            content,  # type: ignore[arg-type]  # takes a file as well
            input_names=list(inputs),
            output_names=list(outputs),
            dynamic_axes=inputs | outputs,
            opset_version=OPSET,
            dynamo=False,
        )
    model = onnx.load_from_string(content.getvalue())
    _halve(model)
    onnx.helper.set_model_props(model, notes)
    with atomic_file(path) as temporary:
        temporary.write_bytes(model.SerializeToString())


def _halve(model: Any) -> None:
    """Large weights as float16 with a cast in front of whoever uses them."""
    import onnx
    from onnx import numpy_helper

    casts = []
    for tensor in model.graph.initializer:
        values = numpy_helper.to_array(tensor)
        if values.dtype != "float32" or values.size < LEAST_VALUES:
            continue
        name = tensor.name
        tensor.CopyFrom(numpy_helper.from_array(values.astype("float16"), f"{name}.half"))
        casts.append(onnx.helper.make_node("Cast", [f"{name}.half"], [name], to=1))
    nodes = list(model.graph.node)
    del model.graph.node[:]
    model.graph.node.extend([*casts, *nodes])
