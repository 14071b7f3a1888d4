"""Pictures in a terminal: two pixels to a character, in 24-bit colours."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["drawn", "shows_colours"]

UPPER_HALF = "▀"
RESET = "\x1b[0m"


def shows_colours() -> bool:
    """Whether standard output is a terminal that says it shows 24-bit colours."""
    return (
        sys.stdout.isatty()
        and not os.environ.get("NO_COLOR")
        and os.environ.get("COLORTERM", "") in ("truecolor", "24bit")
    )


def drawn(picture: Path, width: int) -> str:
    """A picture of at most so many characters."""
    from PIL import Image

    with Image.open(picture) as opened:
        high = 2 * max(1, round(opened.height * width / opened.width / 2))
        small = opened.convert("RGB").resize((width, high), Image.Resampling.LANCZOS)
    pixels = np.asarray(small)
    return "\n".join(
        "".join(_halves(*pair) for pair in zip(upper, lower, strict=True)) + RESET
        for upper, lower in zip(pixels[::2], pixels[1::2], strict=True)
    )


def _halves(upper: NDArray[np.uint8], lower: NDArray[np.uint8]) -> str:
    above, below = (";".join(map(str, colour.tolist())) for colour in (upper, lower))
    return f"\x1b[38;2;{above};48;2;{below}m{UPPER_HALF}"
