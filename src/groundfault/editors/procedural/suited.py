"""What suits what: the surfaces, materials, places and colours in which a thing of a category looks
right and is still recognised. Nothing heavy is imported here."""

from __future__ import annotations

from groundfault.editors.procedural.repertoire import (
    COLOURS,
    LIVING,
    MATERIALS,
    PLACES,
    SURFACES,
)

__all__ = [
    "SELDOM_KEPT",
    "suited_colours",
    "suited_materials",
    "suited_places",
    "suited_surfaces",
    "suited_values",
    "unsuited",
]

_FURRED = tuple(sorted(LIVING - {"giraffe", "person", "teddy bear", "zebra"}))
_SEATS = ("bed", "bench", "chair", "couch")
_VEHICLES = ("airplane", "bus", "car", "train", "truck")
_FRUIT = ("apple", "banana", "orange")

_BOLD = ("ladybug", "giraffe", "leopard", "dalmatian", "strawberry", "watermelon", "chessboard")
"""Surfaces that are named at once on a body without a face, wheels or a screen: a reviewer, at the
size of a sheet, kept 28 of 31 edits with them of whatever there was in photographs, and 12 of 25
with a tiger's, zebra's or cow's or of brick."""
_RED = ("ladybug", "strawberry")
_SURFACES_OF = {
    **dict.fromkeys(_FURRED, ("ladybug", "bee")),
    **dict.fromkeys(_SEATS, (*_RED, "dalmatian")),
    **dict.fromkeys(_VEHICLES, (*_RED, "watermelon")),
    **dict.fromkeys(("keyboard", "laptop", "microwave", "oven", "pizza"), _RED),
    **dict.fromkeys(("banana", "donut"), (*_RED, "watermelon")),
    **dict.fromkeys(("apple", "orange"), ("ladybug", "giraffe", "leopard", "dalmatian")),
}
"""Categories that have a body which can carry a surface, and the surfaces that suit them; others
get `_BOLD`. Of patterns on animals a reviewer kept 11 of 30, of others than these on vehicles and
on what has a screen or dials a third."""

_WITHOUT_BODY = frozenset(
    (
        *("baseball bat", "baseball glove", "bicycle", "boat", "bowl", "broccoli", "carrot"),
        *("cell phone", "dining table", "fork", "giraffe", "hair drier", "hot dog", "knife"),
        *("motorcycle", "person", "potted plant", "remote", "salad", "sandwich", "scissors"),
        *("skis", "spoon", "tennis racket", "traffic light", "wine glass", "zebra"),
    )
)
"""Categories that are known by their parts or their face, seen through, or thin."""
_CAST = ("bronze", "gold", "wood", "granite", "terracotta", "chocolate", "marble")
_MATERIALS_OF = {
    **dict.fromkeys((*_FURRED, "giraffe", "zebra"), _CAST[:-1]),
    **dict.fromkeys((*_VEHICLES, "boat"), ("bronze", "gold", "wood", "chocolate")),
}
"""The substances that suit categories; others get all that things are cast in or carved from. At
the size of a sheet a reviewer kept 48 of 60 in bronze, wood, granite, terracotta or chocolate,
whatever they were, 6 of 12 in gold or silver and 8 of 12 in marble."""
_NOT_CAST = frozenset(
    (
        *("baseball bat", "baseball glove", "bed", "bicycle", "broccoli", "cell phone"),
        *("dining table", "fork", "hair drier", "knife", "motorcycle", "person", "pizza"),
        *("potted plant", "salad", "scissors", "sink", "skis", "spoon", "teddy bear"),
        *("tennis racket", "tie", "traffic light", "umbrella", "wine glass"),
    )
)
"""What is thin or seen through; cloth and plush, which stay what they are; and what is known by its
colours."""
_GROWN_OVER = ("leaves", "flowers")
_SHAPELY = LIVING - {"bear", "cat", "dog", "person", "teddy bear"}
"""Animals whose outline alone tells what they are, so that they may be of leaves or flowers: those
known by a face lose it. Of 9 such edits in blossoms or straw two reviewers kept none, of other
animals in blossoms 7 of 10. Couches and chairs become hedges (none of 5 were kept), and of straw a
reviewer kept 2 of 12."""
_OPEN = frozenset({"bicycle", "boat", "vase", "wine glass"})
"""Categories that show the old surroundings through them, between spokes, railings or in glass."""

_MANY_COLOURED = frozenset(
    (
        *("bicycle", "boat", "bowl", "cell phone", "cup", "giraffe", "motorcycle"),
        *("potted plant", "tennis racket", "tv", "wine glass", "zebra"),
    )
)
"""Categories whose main colour is not their own, but that of a screen, of what is in them or behind
them."""


SELDOM_KEPT = {
    "surface": frozenset({"chair", "clock", "teddy bear", "toothbrush", "train", "tv"}),
    "material": frozenset({"chair", "couch", "keyboard", "tv"}),
    "recolour": frozenset({"cup", "pizza", "toothbrush"}),
    "context": frozenset({"pizza", "tv"}),
}
"""Categories of which reviewers kept few edits of a kind: no such edit is proposed."""


def suited_surfaces(category: str) -> tuple[str, ...]:
    """The surfaces under which a thing of a category is still recognised; all, where nobody says
    what it is."""
    if not category:
        return SURFACES
    if category in _WITHOUT_BODY | SELDOM_KEPT["surface"]:
        return ()
    found = _SURFACES_OF.get(category, _BOLD)
    return tuple(one for one in found if one != category)


def suited_materials(category: str) -> tuple[str, ...]:
    """The substances that a thing of a category can be of; all, where nobody says what it is."""
    if not category:
        return MATERIALS
    grown = _GROWN_OVER if category in _SHAPELY else ()
    if category in SELDOM_KEPT["material"] | _NOT_CAST:
        return grown
    return (*_MATERIALS_OF.get(category, _CAST), *grown)


def suited_colours(category: str) -> tuple[str, ...]:
    """The colours that a thing of a category can be given."""
    return () if category in _MANY_COLOURED | SELDOM_KEPT["recolour"] else COLOURS


def suited_places(category: str) -> tuple[str, ...]:
    """The places that the surroundings of a thing of a category can become."""
    return () if category in _OPEN | SELDOM_KEPT["context"] else PLACES


def suited_values(kind: str, category: str) -> tuple[str, ...]:
    """The values that a request of a kind may have for a thing of a category."""
    of = {
        "context": suited_places,
        "surface": suited_surfaces,
        "material": suited_materials,
        "recolour": suited_colours,
    }
    return of[kind](category) if kind in of else ("",)


_NONE = {
    "surface": "defined by its parts",
    "material": "defined by its parts",
    "recolour": "many colours",
    "context": "seen through",
}


def unsuited(kind: str, value: str, category: str) -> str:
    """Why a thing of a category is not given a surface, material, place or colour; "" where it can
    be, or for other kinds of edits."""
    if kind not in SELDOM_KEPT:
        return ""
    if kind in ("surface", "recolour") and value == category:
        return "already so"
    values = suited_values(kind, category)
    if value in values:
        return ""
    if category in SELDOM_KEPT[kind]:
        return "seldom kept"
    return f"{_WORD[kind]} does not suit" if values else _NONE[kind]


_WORD = {"surface": "surface", "material": "material", "recolour": "colour", "context": "place"}
