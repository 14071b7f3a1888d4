"""What a build warns of, and does all the same."""

from __future__ import annotations

import re
from collections.abc import Iterator

from groundfault.building.recipe import Recipe
from groundfault.models.cards import OF_THE_WORLD

__all__ = ["cautions"]


def cautions(recipe: Recipe) -> tuple[str, ...]:
    """What whoever builds this ought to know.

    >>> cautions(Recipe(benchmark="cafe"))
    ()
    """
    return tuple(_of_the_world(recipe))


def _of_the_world(recipe: Recipe) -> Iterator[str]:
    """Segmenters that have never seen a photograph."""
    if recipe.edit.by.partition(":")[0] == "world":
        return
    source = recipe.source
    found = str(source.options.get("segmenter", "")) if source.name == "folder" else ""
    asked = (
        (found, "finds and names what is edited"),
        (recipe.verify.resegment, "checks edits ([verify] resegment)"),
        (recipe.edit.masker, "finds new things ([edit] masker)"),
    )
    for spec, what in asked:
        name = next((each for each in re.split("[:+]", spec)[:2] if each in OF_THE_WORLD), "")
        if name:
            yield (
                f"{name} {what}, and has learnt from drawn scenes alone: in photographs it takes "
                "a cat for a car; name a segmenter that knows photographs, such as sam3"
            )
