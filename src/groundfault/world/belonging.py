"""Where a category surprises nobody: at home, or at least no strange sight.

A category's `contexts` are where the world puts it by habit. Between these and the places where it
is a surprise lie those of `TOLERATED`: a dog in a kitchen, an apple in a library. A context
conflict never takes a thing there (a careful person would not call it one), a replacement may.
"""

from __future__ import annotations

from groundfault.world.contexts import CONTEXTS, PAINTED
from groundfault.world.objects import CATEGORIES

__all__ = ["TOLERATED", "belongs", "no_surprise", "surprising_contexts"]

TOLERATED: dict[str, tuple[str, ...]] = {
    "airplane": ("meadow", "snow", "street"),  # in the sky above them
    "apple": ("library", "meadow", "beach"),
    "banana": ("library", "beach"),
    "bee": ("street", "desert", "beach"),
    "book": ("kitchen", "beach", "meadow"),
    "brick wall": ("night city", "meadow", "desert"),
    "bus": ("desert", "meadow", "snow"),
    "camel": ("beach",),
    "car": ("meadow", "desert", "snow", "beach"),
    "cat": ("street", "night city", "beach"),
    "chair": ("beach", "meadow", "street"),
    "dog": ("snow", "kitchen", "library", "night city", "desert"),
    "duck": ("snow", "street"),
    "guitar": ("street", "kitchen", "meadow", "night city"),
    "hat": ("library", "kitchen", "meadow", "desert", "snow"),
    "jellyfish": ("beach",),
    "ladybug": ("street", "beach"),
    "lamp": ("kitchen",),
    "mug": ("library", "beach"),
    "penguin": ("beach", "reef"),
    "snake": ("beach",),
    "soccer ball": ("beach", "snow", "night city"),
    "strawberry": ("meadow", "library"),
    "suitcase": ("library", "beach", "night city"),
    "table": ("kitchen", "street", "meadow"),
    "teapot": ("library",),
    "tree": ("snow", "beach", "night city", "desert"),
    "turtle": ("meadow", "desert"),  # a tortoise
    "umbrella": ("meadow", "night city", "snow", "desert"),
    "watermelon": ("meadow", "library"),
}
"""Contexts in which a category is neither typical nor strange."""


def belongs(category: str, context: str) -> bool:
    """Whether the world puts such a thing there by habit."""
    return context in CATEGORIES[category].contexts


def no_surprise(category: str, context: str) -> bool:
    """Whether nobody would wonder at it there.

    >>> no_surprise("dog", "kitchen"), no_surprise("shark", "kitchen")
    (True, False)
    """
    return belongs(category, context) or context in TOLERATED.get(category, ())


def surprising_contexts(category: str) -> tuple[str, ...]:
    """Where one would not expect it at all, and where the backdrop shows none of its kind."""
    return tuple(
        context
        for context in CONTEXTS
        if not no_surprise(category, context) and category not in PAINTED.get(context, ())
    )
