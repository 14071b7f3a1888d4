"""Does a mask come back to where its object was in the picture? Resizing, padding and cropping
put a network into a frame of its own; these helpers follow a bright square there and back.

An adapter's `frame_probe` sends the picture through its own preprocessing, takes the brightness of
the preprocessed pixels for what the network would have said, and sends that through its own
post-processing. The network itself has no part in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from groundfault.interfaces import BinaryMask, Image

__all__ = ["bright_pixels", "brightness", "filled_box", "found_box", "further_from"]


def bright_pixels(image: Image) -> BinaryMask:
    """Pixels of a picture in the upper half of its range of brightness."""
    grey = image.mean(axis=2)
    return np.asarray(grey > (grey.min() + grey.max()) / 2)


def brightness(pixels: Any) -> Any:
    """Brightness of a preprocessed (3, height, width) tensor: −1 dark, 1 bright, 0 between."""
    grey = pixels.float().mean(dim=0)
    low, high = grey.min(), grey.max()
    if low == high:
        return grey * 0 - 1
    return (2 * grey - low - high) / (high - low)


def found_box(field: Any) -> Any:
    """Centre x, y, width and height of the bright part of a (height, width) field, in parts of its
    sides, to a fraction of a pixel: where brightness crosses 0 between two pixel centres."""
    import torch

    values = field.cpu().numpy()
    left, right = _crossings(values.max(axis=0))
    top, bottom = _crossings(values.max(axis=1))
    height, width = values.shape
    box = torch.tensor([(left + right) / 2, (top + bottom) / 2, right - left, bottom - top])
    return box / torch.tensor([width, height, width, height])


def _crossings(profile: Any) -> tuple[float, float]:
    inside = np.flatnonzero(profile > 0)
    if not inside.size:
        return 0.0, 0.0
    return (
        _edge(profile, int(inside[0]), -1),
        _edge(profile, int(inside[-1]), 1),
    )


def _edge(profile: Any, index: int, step: int) -> float:
    """Where the profile falls through 0 beside its last bright pixel, in pixel-edge units."""
    beyond = index + step
    if not 0 <= beyond < len(profile):
        return index + 0.5 + step * 0.5
    inner, outer = float(profile[index]), float(profile[beyond])
    return index + 0.5 + step * inner / (inner - outer)


def filled_box(box_xyxy: Any, height: int, width: int) -> Any:
    """A box as a (height, width) field: 1 inside, −1 outside, 0 on its edge."""
    import torch

    left, top, right, bottom = (float(value) for value in box_xyxy)
    x = torch.arange(width) + 0.5
    y = torch.arange(height) + 0.5
    across = torch.minimum(x - left, right - x)
    down = torch.minimum(y - top, bottom - y)
    return torch.minimum(across[None, :], down[:, None]).clamp(-1, 1)


def further_from(truth: BinaryMask, *masks: BinaryMask) -> BinaryMask:
    """The mask that differs from the truth in most pixels: of two ways, the one that errs."""
    return max(masks, key=lambda mask: int((mask != truth).sum()))
