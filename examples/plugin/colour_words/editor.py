"""An editor: it inverts the colours of a region, whatever it is told."""

from __future__ import annotations

from typing import Any

from groundfault.interfaces import ModelOptions, NotEdited


class Invert:
    """Keeps every pixel outside of the region."""

    def edit(self, image: Any, region: Any, instruction: str) -> Any:
        if not region.any():
            return NotEdited(outcome="refused", reason="the region is empty")
        edited = image.copy()
        edited[region] = 255 - edited[region]
        return edited


def load(argument: str, options: ModelOptions) -> Invert:
    """`editor = "invert"`."""
    return Invert()
