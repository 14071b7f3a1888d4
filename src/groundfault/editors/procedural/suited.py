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
_VEHICLES = ("airplane", "bus", "car", "train", "truck")

_BOLD = ("ladybug", "strawberry", "leopard", "giraffe", "dalmatian")
"""Surfaces that are named at once on a body without a face, wheels or a screen. At the size of a
sheet reviewers kept 75 of 104 edits of things with a ladybug's or a strawberry's, 18 of 22 of plain
bodies with a leopard's, giraffe's or dalmatian's, and 12 of 32 of things with a tiger's, zebra's or
cow's or of brick."""
_RED = ("ladybug", "strawberry")
_SURFACES_OF = {
    **dict.fromkeys(_FURRED, ("ladybug",)),
    **dict.fromkeys(("bed", "bench", "couch"), (*_RED, "dalmatian")),
    **dict.fromkeys(_VEHICLES, (*_RED, "watermelon")),
    **dict.fromkeys(("banana", "laptop", "microwave", "oven"), _RED),
    "cake": ("strawberry", "leopard"),
    "orange": ("ladybug", "giraffe", "leopard", "dalmatian"),
}
"""Categories that have a body which can carry a surface, and the surfaces that suit them; others
get `_BOLD`. Of animals reviewers kept 21 of 24 as a ladybug, 12 of 25 as a strawberry and 6 of 21
others, as a bee, whose bands hide heads, 8 of 19."""

_WITHOUT_BODY = frozenset(
    (
        *("baseball bat", "baseball glove", "bicycle", "boat", "bowl", "broccoli", "carrot"),
        *("cell phone", "dining table", "fork", "giraffe", "hair drier", "hot dog", "knife"),
        *("motorcycle", "person", "potted plant", "remote", "salad", "sandwich", "scissors"),
        *("skis", "spoon", "tennis racket", "traffic light", "wine glass", "zebra"),
    )
)
"""Categories that are known by their parts or their face, seen through, or thin."""
_CAST = ("bronze", "gold", "wood", "granite", "terracotta", "chocolate")
_MATERIALS_OF = {
    **dict.fromkeys((*_FURRED, "giraffe", "zebra"), ("gold", "bronze", "wood", "granite")),
    **dict.fromkeys((*_VEHICLES, "boat"), ("bronze", "gold", "wood", "chocolate")),
    **dict.fromkeys(("apple", "bottle", "cake", "cup", "orange"), (*_CAST, "marble")),
}
"""The substances that suit categories; others get all that things are cast in or carved from. At
the size of a sheet reviewers kept of animals 48 of 59 in these, of vehicles 36 of 43, of other
things 96 of 130, and 25 of 38 in marble."""
_NOT_CAST = frozenset(
    (
        *("baseball bat", "baseball glove", "bed", "bicycle", "broccoli", "carrot"),
        *("cell phone", "dining table", "fork", "hair drier", "hot dog", "knife", "motorcycle"),
        *("person", "pizza", "potted plant", "salad", "scissors", "sink", "skis", "spoon"),
        *("teddy bear", "tennis racket", "tie", "traffic light", "umbrella", "wine glass"),
    )
)
"""What is thin or seen through; cloth and plush, which stay what they are; and what is known by its
colours."""
_GROWN_OVER = ("leaves", "flowers")
_SHAPELY = LIVING - {"bear", "bird", "cat", "dog", "person", "teddy bear"}
"""Animals whose outline alone tells what they are, so that they may be of leaves or flowers: those
known by a face lose it, birds become trees. Of couches and chairs of leaves none of 5 were kept, of
straw 2 of 12 of anything."""
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
    "surface": frozenset(
        {
            *("apple", "chair", "clock", "donut", "keyboard", "pizza", "sink", "teddy bear"),
            *("toothbrush", "train", "tv"),
        }
    ),
    "material": frozenset({"chair", "couch", "keyboard", "refrigerator", "tv"}),
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
