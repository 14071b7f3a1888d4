"""A network to go on training from an exported model, without its checkpoint.

An export folds each normalisation into the convolution before it. Restored, a convolution has the
folded weights, and its normalisation the means and spreads that pictures show behind it, undone by
its own scale and shift. So the network says what the export says, and learns with normalisation as
it did before.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from groundfault.errors import DataError, MissingExtra
from groundfault.models.nano import as_input
from groundfault.training.nano.network import DIM, Nano

__all__ = ["restore"]

BATCH = 32
GROWN = 1.5
"""How much larger trained convolutions are than fresh ones. Before a normalisation the size says
nothing, but small weights would be changed by more in a step."""


def restore(network: Nano, stem: Path, images: NDArray[np.uint8]) -> None:
    """Give a network the weights of STEM.find.onnx and STEM.match.onnx, in place; `images`
    (n, s, s, 3) are pictures such as it was trained on."""
    try:
        _read_find(network.finder, stem.with_name(f"{stem.name}.find.onnx"))
        _read_match(network.matcher, stem.with_name(f"{stem.name}.match.onnx"))
    except (KeyError, RuntimeError, StopIteration) as problem:
        raise DataError(stem, f"is no such model ({problem})", remedy="export it anew") from None
    _normalise(network, images)


def _read_find(finder: nn.Module, path: Path) -> None:
    named, nameless = _stored(path)
    convolutions, products = iter(nameless["Conv"]), iter(nameless["MatMul"])
    with torch.no_grad():
        for convolution, norm in _folds(finder):
            convolution.weight.copy_(next(convolutions))
            norm.bias.copy_(next(convolutions))
            norm.weight.fill_((1 + norm.eps) ** 0.5)  # with its mean 0 and spread 1: as it is
        weight, bias = convolutions
        for head, part in ((finder.ground, slice(0, 4)), (finder.where, slice(4, 7))):
            head.weight.copy_(weight[part])  # type: ignore[operator, union-attr]
            head.bias.copy_(bias[part])  # type: ignore[operator, union-attr]
    folded = [*(part for pair in _folds(finder) for part in pair), finder.ground, finder.where]
    _fill(finder, named, products, {id(p) for part in folded for p in part.parameters()})  # type: ignore[union-attr]


def _read_match(matcher: nn.Module, path: Path) -> None:
    named, nameless = _stored(path)
    (scaled,) = nameless["Mul"]
    named["sharpness"] = scaled * DIM**0.5
    _fill(matcher, named, iter(nameless["MatMul"]), set())


def _fill(
    half: nn.Module, named: dict[str, Tensor], products: Iterator[Tensor], done: set[int]
) -> None:
    """What kept its name by its name; the other matrices are stored turned, in order."""
    with torch.no_grad():
        for name, own in half.named_parameters():
            if id(own) in done:
                continue
            own.copy_(named[name] if name in named else next(products).T)


def _stored(path: Path) -> tuple[dict[str, Tensor], dict[str, list[Tensor]]]:
    """Weights by name, and those without one by who uses them, in order."""
    try:
        import onnx
        from onnx import numpy_helper
    except ImportError:
        raise MissingExtra("onnx", "train") from None
    try:
        model: Any = onnx.load(str(path))
    except Exception as problem:  # of protobuf, or of the system
        raise DataError(path, f"cannot be read ({problem})", remedy="train it") from None
    named: dict[str, Tensor] = {}
    nameless: dict[str, list[Tensor]] = {"Conv": [], "MatMul": [], "Mul": []}
    for tensor in model.graph.initializer:
        name = tensor.name.removesuffix(".half")
        values = torch.from_numpy(numpy_helper.to_array(tensor).astype(np.float32))
        if name.startswith("onnx::"):
            nameless[name.removeprefix("onnx::").split("_")[0]].append(values)
        else:
            named[name] = values
    return named, nameless


def _folds(network: nn.Module) -> Iterator[tuple[nn.Conv2d, nn.BatchNorm2d]]:
    """Convolutions that are followed by a normalisation, in order."""
    before: nn.Module | None = None
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d) and isinstance(before, nn.Conv2d):
            yield before, module
        before = module


def _normalise(network: Nano, images: NDArray[np.uint8]) -> None:
    """What pictures show behind each convolution becomes its mean and spread."""
    network.eval()
    seen: dict[nn.Module, list[Tensor]] = {norm: [] for _, norm in _folds(network)}

    def look(norm: nn.Module, given: tuple[Tensor, ...]) -> None:
        values = given[0].transpose(0, 1).flatten(1)
        seen[norm].append(torch.stack([values.mean(1), values.square().mean(1)]))

    hooks = [norm.register_forward_pre_hook(look) for norm in seen]
    with torch.no_grad():
        for first in range(0, len(images), BATCH):
            network.finder(torch.from_numpy(as_input(images[first : first + BATCH])))
        for hook in hooks:
            hook.remove()
        for convolution, norm in _folds(network):
            mean, square = torch.stack(seen[norm]).mean(0)
            spread = (square - mean.square()).clamp(min=0)
            fresh = (3 * convolution.weight[0].numel()) ** -0.5
            scale = GROWN * fresh / convolution.weight.square().mean().sqrt()
            convolution.weight.mul_(scale)
            assert norm.running_mean is not None and norm.running_var is not None
            norm.running_mean.copy_(scale * mean)
            norm.running_var.copy_(scale**2 * spread)
            norm.weight.copy_((scale**2 * spread + norm.eps).sqrt() / scale)
            norm.bias.add_(mean)
