"""What suits what: the surfaces, materials, places and colours in which a thing of a category looks
right and is still recognised. Nothing heavy is imported here."""

from __future__ import annotations

from groundfault.editors.procedural.repertoire import (
    COLOURS,
    GROWN,
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
_CASES = ("mouse", "parking meter", "refrigerator", "toaster")
_ROUND = ("fire hydrant", "toilet", "vase")
_BAGS = ("backpack", "handbag", "suitcase", "teddy bear", "tie", "umbrella")
_VEHICLES = ("airplane", "bus", "car", "train", "truck")
_BOARDS = ("frisbee", "kite", "skateboard", "snowboard", "sports ball", "surfboard")
_FRUIT = ("apple", "banana", "orange")

_SPOTS = ("ladybug", "leopard", "giraffe")
"""Surfaces that are named at once and leave the relief of what is under them to be seen."""
_COATS = ("zebra", "cow")
"""Those in black and white, which stand out where spots don't. Tiger's and watermelon's are left
out: on anything but their own they are taken for camouflage (1 of 19 and 1 of 15 were kept, none of
10 watermelons)."""
_LAST = ("strawberry",)
"""What is dark, or has prints, hides its small pattern."""
_SURFACES_OF = {
    **dict.fromkeys(_FURRED, ("ladybug", "leopard", "zebra", *_LAST)),
    **dict.fromkeys(_SEATS, (*_SPOTS, *_COATS, *_LAST)),
    **dict.fromkeys(_CASES, (*_SPOTS, *_COATS, "brick wall", *_LAST)),
    **dict.fromkeys(("microwave", "oven"), (*_SPOTS, "brick wall")),
    **dict.fromkeys((*_ROUND, *_BAGS, *_BOARDS), (*_SPOTS, *_COATS, *_LAST)),
    **dict.fromkeys(("airplane", "car"), (*_COATS, "ladybug", *_LAST)),
    **dict.fromkeys(("bus", "train", "truck"), ()),
    **dict.fromkeys(_FRUIT, ("ladybug", "zebra", "leopard", "giraffe")),
    "banana": ("ladybug", "zebra", *_LAST),
    "cake": _SPOTS,
}
"""Categories that have a body which can carry a surface, and the surfaces that suit them, those
first that look right most often. Of buses, trains and trucks, whose glass and wheels are a large
part, reviewers kept 16 of 42."""

_WITHOUT_BODY = frozenset(
    (
        *("baseball bat", "baseball glove", "bicycle", "boat", "bottle", "bowl", "broccoli"),
        *("carrot", "cell phone", "cup", "dining table", "donut", "fork", "giraffe"),
        *("hair drier", "hot dog", "knife", "motorcycle", "person", "pizza", "potted plant"),
        *("remote", "salad", "sandwich", "scissors", "skis", "spoon", "tennis racket"),
        *("traffic light", "wine glass", "zebra"),
    )
)
"""Categories that are known by their parts or their face, seen through, or thin."""
_ANYWHERE = (*_SPOTS, *_COATS, *_LAST)
"""Surfaces that look right on most things."""

_CAST = ("bronze", "marble", "gold", "wood", "terracotta")
_METALS = ("gold", "bronze")
_MATERIALS_OF = {
    **dict.fromkeys(_VEHICLES, ("bronze", "wood", "gold", "marble")),
    **dict.fromkeys((*_FRUIT, "carrot", "clock", "kite", "remote"), (*_METALS, "marble")),
    **dict.fromkeys(("cake", "donut", "sandwich"), (*_METALS, "marble")),
    **dict.fromkeys(("bed", "bottle", "sink", "teddy bear", "tie", "umbrella", "vase"), ()),
}
"""The substances that suit categories, those first that look right most often; others get all that
things are cast in or carved from. Cloth and plush stay what they are, and labels and what is behind
them show on bottles. At the size of a sheet one reviewer kept 6 of 9 in marble, 4 of 6 of wood, 5
of 8 in terracotta, 12 of 19 in bronze, 10 of 19 in gold, 4 of 9 in chocolate and 1 of 8 in
granite."""
_CARVED = frozenset({"boat", "bowl", "giraffe", "potted plant", "zebra"})
"""What has no body for a surface to lie on, but a form that a sculpture can have."""

_SHAPELY = LIVING - {"bear", "cat", "dog", "person", "teddy bear"}
"""Animals whose outline alone tells what they are, so that they may be of leaves, flowers or straw:
those known by a face lose it. Of 9 such edits in blossoms or straw two reviewers kept none, of
other animals in blossoms 7 of 10. Couches and chairs become hedges (none of 5 were kept)."""
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
    "surface": frozenset({"clock", "donut", "oven", "toothbrush", "tv"}),
    "material": frozenset(
        {"chair", "couch", "keyboard", "microwave", "oven", "refrigerator", "suitcase"}
    ),
    "recolour": frozenset({"bus", "car", "cup"}),
    "context": frozenset({"oven"}),
}
"""Categories of which reviewers kept less than 45 % of at least five edits of a kind
(`bench/cutout_verdicts.csv`): no such edit is proposed, but for substances of leaves or straw,
which those were not."""


def suited_surfaces(category: str) -> tuple[str, ...]:
    """The surfaces under which a thing of a category is still recognised; all, where nobody says
    what it is."""
    if not category:
        return SURFACES
    if category in _WITHOUT_BODY | SELDOM_KEPT["surface"]:
        return ()
    found = _SURFACES_OF.get(category, _ANYWHERE)
    return tuple(one for one in found if one != category)


def suited_materials(category: str) -> tuple[str, ...]:
    """The substances that a thing of a category can be of; all, where nobody says what it is."""
    if not category:
        return MATERIALS
    grown = GROWN if category in _SHAPELY else ()
    if category in SELDOM_KEPT["material"]:
        return grown
    found = () if category in _WITHOUT_BODY - _CARVED else _CAST
    return (*_MATERIALS_OF.get(category, found), *grown)


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
