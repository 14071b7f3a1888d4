"""What an editor must do, whoever wrote it: checked on a small picture before it is used."""

from __future__ import annotations

from typing import Any

import numpy as np

from groundfault.errors import GroundfaultError
from groundfault.interfaces import Editor, NotEdited

__all__ = ["check_editor"]

SIDE_PX = 32


def check_editor(editor: Any, name: str = "") -> None:
    """Raise what an editor gets wrong: it has `edit(image, region, instruction)`, gives an image of
    the same size and type or says why not, and leaves the image that it is given as it is."""
    name = name or type(editor).__name__
    if not isinstance(editor, Editor):
        raise GroundfaultError(f"editor '{name}' has no edit(image, region, instruction)")
    image = np.full((SIDE_PX, SIDE_PX + 8, 3), 120, np.uint8)
    region = np.zeros(image.shape[:2], bool)
    region[8:24, 8:24] = True
    before = image.copy()
    found: Any = editor.edit(image, region, "make it red")
    if not np.array_equal(image, before):
        raise GroundfaultError(
            f"editor '{name}' changes the image that it is given; it must copy it"
        )
    if isinstance(found, NotEdited):
        if not found.reason:
            raise GroundfaultError(f"editor '{name}' says '{found.outcome}' without a reason")
        return
    if not isinstance(found, np.ndarray) or found.dtype != np.uint8 or found.shape != image.shape:
        what = getattr(found, "shape", type(found).__name__)
        raise GroundfaultError(
            f"editor '{name}' gave {what}; it must give an image of the same size, "
            f"{image.shape}, of uint8, or NotEdited"
        )
