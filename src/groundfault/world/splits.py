"""What fine-tuning never sees: pairs, and surfaces, shapes and materials as a whole.

A model that was shown every edit of the test has proved nothing. Training code keeps to what
`split_of` calls "seen"; benchmarks tag each case, so that results are shown apart.
"""

from __future__ import annotations

import hashlib

from groundfault.errors import UnknownName
from groundfault.world.interventions import Intervention

__all__ = [
    "HELD_CATEGORIES",
    "HELD_MATERIALS",
    "HELD_SURFACES",
    "SPLITS",
    "SPLIT_KINDS",
    "split_named",
    "split_of",
    "split_pair",
]

SEEN, UNSEEN_PAIR, UNSEEN_PART = SPLITS = ("seen", "unseen pair", "unseen part")
SPLIT_KINDS = ("SM", "CC", "OC", "replacement")
"""Kinds of intervention that have a split."""

HELD_CATEGORIES = frozenset(("apple", "bus", "duck", "elephant", "guitar", "turtle"))
"""Shapes that are never edited in fine-tuning."""
HELD_SURFACES = frozenset(("bee", "giraffe", "watermelon"))
"""Worn by their own category only."""
HELD_MATERIALS = frozenset(("marble", "wood"))
HELD_SHARE = 5
"""One in so many of the remaining pairs is held out."""


def split_pair(category: str, value: str) -> str:
    """The split of a category with a surface, context, material or another category.

    >>> split_pair("elephant", "zebra"), split_pair("dog", "zebra"), split_pair("dog", "cow")
    ('unseen part', 'unseen pair', 'seen')
    """
    if category in HELD_CATEGORIES or value in HELD_CATEGORIES | HELD_SURFACES | HELD_MATERIALS:
        return UNSEEN_PART
    digest = hashlib.sha256(f"{category}|{value}".encode()).digest()
    return UNSEEN_PAIR if digest[0] % HELD_SHARE == 0 else SEEN


def split_of(edit: Intervention) -> str:
    """The split of a mimicry, conflict or replacement; "" for other kinds."""
    if edit.before < 0:
        return ""
    category = edit.factual.things[edit.before].category
    if edit.kind == "replacement":
        return split_pair(*sorted((category, edit.positive)))
    value = {"SM": "surface", "CC": "context", "OC": "material"}.get(edit.kind)
    return split_pair(category, edit.facts[value]) if value else ""


def split_named(text: str) -> str:
    """The split that a user means, with a hyphen or a space; "" is none in particular.

    >>> split_named("unseen-pair"), split_named("unseen part"), split_named("")
    ('unseen pair', 'unseen part', '')
    """
    name = " ".join(text.replace("-", " ").split())
    if text and name not in SPLITS:
        raise UnknownName("split", text, [split.replace(" ", "-") for split in SPLITS])
    return name
