"""torchvision from PyPI beside a CPU build of torch.

That wheel's extension is linked against CUDA and can't be loaded; everything in Python works, only
the import stops at an operator which the extension would have declared. Declaring it, with a plain
implementation, is enough for the image processors and for box suppression.
"""

from __future__ import annotations

import sys
from typing import Any

_declared: list[Any] = []  # a torch library unregisters its operators when it is collected


def make_importable() -> None:
    """Import torchvision, with a stand-in for its operators where they can't be loaded."""
    import torch

    try:
        import torchvision  # noqa: F401

        return
    except RuntimeError as problem:
        if "torchvision::nms" not in str(problem):
            raise
    for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
        del sys.modules[name]
    library = torch.library.Library("torchvision", "DEF")
    for operator in ("nms", "qnms"):
        library.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    library.impl("nms", _suppress, "CPU")
    _declared.append(library)

    from torchvision.ops import boxes

    boxes._assert_has_ops = lambda: None


def _suppress(dets: Any, scores: Any, iou_threshold: float) -> Any:
    """Indices of boxes that no better box overlaps, best first."""
    import torch

    kept: list[int] = []
    sizes = (dets[:, 2:] - dets[:, :2]).prod(dim=1)
    for index in torch.argsort(scores, descending=True, stable=True).tolist():
        low = torch.maximum(dets[kept, :2], dets[index, :2])
        high = torch.minimum(dets[kept, 2:], dets[index, 2:])
        shared = (high - low).clamp(min=0).prod(dim=1)
        if not (shared / (sizes[kept] + sizes[index] - shared) > iou_threshold).any():
            kept.append(index)
    return torch.tensor(kept, dtype=torch.long)
