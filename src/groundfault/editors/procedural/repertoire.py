"""What the procedural editor knows: the names that a request may have as its kind and value, how
tall things are, and which of them no surface or material suits. Nothing heavy is imported here."""

from __future__ import annotations

__all__ = [
    "AIRBORNE",
    "BALLOONS",
    "BESIDE",
    "BUILT_IN",
    "COLOURS",
    "COMPUTED",
    "FEET_HIDDEN",
    "FIXED",
    "FLAT",
    "FLOATING",
    "GROWN",
    "HEIGHTS_M",
    "INSTEAD",
    "KINDS",
    "KNOWN_BY_PIECES",
    "LANTERNS",
    "LEAVING_TRACES",
    "LENGTHS_M",
    "LIVING",
    "MATERIALS",
    "MOST_SOLID",
    "NOT_STANDING",
    "PLACES",
    "PLUMBED",
    "PROPORTIONS",
    "RIDDEN",
    "ROUND",
    "SLATTED",
    "SUPPORTS",
    "SURFACES",
    "TABLEWARE_M",
    "TURNABLE",
    "VARIED",
]

KINDS = (
    "surface",
    "material",
    "context",
    "erase",
    "replace",
    "add",
    "move",
    "recolour",
    "none",
)
"""What an `EditRequest` may ask for."""

SURFACES = (
    "zebra",
    "tiger",
    "giraffe",
    "leopard",
    "cow",
    "dalmatian",
    "ladybug",
    "watermelon",
    "strawberry",
    "bee",
    "brick wall",
    "chessboard",
)
"""Surfaces that tell what they belong to, also on something else."""

MATERIALS = (
    "bronze",
    "gold",
    "silver",
    "marble",
    "granite",
    "terracotta",
    "wood",
    "chocolate",
    "ice",
    "leaves",
    "flowers",
    "straw",
)
"""Substances that a thing can be recast in, its shape kept."""

GROWN = ("leaves", "flowers", "straw")
"""Those of them that are laid on piece by piece, and hide all but the form."""

PLACES = ("tropical sea", "deep sea")
"""Places that a thing's own surroundings are turned into, which stay where they are."""

COLOURS = (
    "red",
    "orange",
    "yellow",
    "green",
    "turquoise",
    "blue",
    "purple",
    "pink",
    "brown",
    "black",
    "white",
    "grey",
)
"""Colours that a thing can be given, its light and shade kept."""

NOT_STANDING = frozenset(
    {
        "airplane",
        "baseball glove",
        "bird",
        "clock",
        "fork",
        "frisbee",
        "hair drier",
        "kite",
        "knife",
        "person",
        "remote",
        "scissors",
        "sink",
        "skis",
        "snowboard",
        "spoon",
        "surfboard",
        "tennis racket",
        "tie",
        "toothbrush",
        "traffic light",
    }
)
"""Categories that fly, hang, are held or built in: on open ground they would float."""

_WILD_M = {
    "camel": 2.0,
    "deer": 1.2,
    "donkey": 1.2,
    "fox": 0.45,
    "goat": 0.8,
    "hippopotamus": 1.5,
    "kangaroo": 1.4,
    "leopard": 0.75,
    "lion": 1.1,
    "monkey": 0.5,
    "otter": 0.3,
    "panda": 0.9,
    "pig": 0.8,
    "rabbit": 0.3,
    "rhinoceros": 1.6,
    "tiger": 1.0,
    "turtle": 0.35,
    "wolf": 0.8,
}
"""Animals that COCO has no category for, and how tall they are."""
SUPPORTS = frozenset({"bed", "bench", "chair", "couch", "dining table"})
TABLEWARE_M = 0.4
"""What is not taller may stand on the `SUPPORTS`."""
LENGTHS_M = {
    "apple": 0.08,
    "backpack": 0.5,
    "banana": 0.2,
    "book": 0.22,
    "bottle": 0.27,
    "bowl": 0.2,
    "broccoli": 0.15,
    "cake": 0.28,
    "carrot": 0.18,
    "cell phone": 0.13,
    "clock": 0.32,
    "cup": 0.11,
    "donut": 0.1,
    "frisbee": 0.27,
    "handbag": 0.4,
    "hot dog": 0.18,
    "keyboard": 0.45,
    "laptop": 0.36,
    "microwave": 0.5,
    "mouse": 0.11,
    "orange": 0.08,
    "pizza": 0.32,
    "remote": 0.18,
    "sandwich": 0.16,
    "scissors": 0.18,
    "skateboard": 0.8,
    "snowboard": 1.5,
    "sports ball": 0.22,
    "stop sign": 0.75,
    "surfboard": 2.1,
    "teddy bear": 0.4,
    "tie": 0.9,
    "toaster": 0.3,
}
"""How long what lies is, seen from above."""

HEIGHTS_M = {
    "airplane": 5.0,
    "apple": 0.08,
    "backpack": 0.5,
    "banana": 0.2,
    "bear": 1.3,
    "bed": 0.9,
    "bench": 0.9,
    "bicycle": 1.05,
    "bird": 0.2,
    "boat": 2.0,
    "book": 0.22,
    "bottle": 0.27,
    "bowl": 0.1,
    "broccoli": 0.15,
    "bus": 3.1,
    "cake": 0.15,
    "car": 1.5,
    "cat": 0.33,
    "cell phone": 0.13,
    "chair": 0.9,
    "couch": 0.85,
    "cow": 1.5,
    "cup": 0.1,
    "dining table": 0.75,
    "dog": 0.55,
    "donut": 0.05,
    "elephant": 2.8,
    "fire hydrant": 0.8,
    "giraffe": 4.5,
    "handbag": 0.35,
    "horse": 1.7,
    "hot dog": 0.06,
    "keyboard": 0.12,
    "laptop": 0.28,
    "microwave": 0.32,
    "motorcycle": 1.15,
    "mouse": 0.05,
    "orange": 0.08,
    "oven": 0.9,
    "parking meter": 1.3,
    "person": 1.7,
    "pizza": 0.1,
    "potted plant": 0.6,
    "refrigerator": 1.75,
    "sandwich": 0.1,
    "sheep": 0.9,
    "skateboard": 0.15,
    "sports ball": 0.22,
    "stop sign": 2.2,
    "suitcase": 0.65,
    "teddy bear": 0.35,
    "toaster": 0.2,
    "toilet": 0.75,
    "train": 3.8,
    "truck": 2.6,
    "tv": 0.6,
    "umbrella": 0.9,
    "vase": 0.3,
    "wine glass": 0.2,
    "zebra": 1.4,
    **_WILD_M,
}
"""How tall things of a category are: what the height of the camera above a new ground follows
from."""

_ANIMAL = (0.58, 0.40, 2.4)
_BOX = (0.84, 0.25, 3.0)
PROPORTIONS = {
    **dict.fromkeys(_WILD_M, (0.5, 0.3, 2.4)),
    **dict.fromkeys(("cow", "horse", "sheep", "zebra", "bear"), _ANIMAL),
    **dict.fromkeys(("cat", "dog", "teddy bear"), (0.62, 0.35, 2.4)),
    **dict.fromkeys(
        ("bed", "couch", "keyboard", "laptop", "microwave", "oven", "sink", "tv"), _BOX
    ),
    **dict.fromkeys(("car", "bus", "train", "truck"), (0.84, 0.25, 1.7)),
    **dict.fromkeys(("book", "cake", "clock", "suitcase", "toaster", "bottle", "vase"), _BOX),
    **dict.fromkeys(("apple", "orange", "sports ball"), (0.92, 0.75, 1.35)),
    **dict.fromkeys(("cup", "handbag", "backpack"), (0.82, 0.3, 2.5)),
    **dict.fromkeys(("bowl", "donut", "pizza"), (0.88, 0.3, 1.5)),
    **dict.fromkeys(("airplane", "bird", "kite"), (0.25, 0.1, 4.0)),
    **dict.fromkeys(("bench", "boat", "umbrella"), (0.62, 0.2, 3.0)),
    "chair": (0.34, 0.5, 3.0),
    "elephant": (0.68, 0.5, 1.6),
    "fire hydrant": (0.75, 1.0, 3.5),
    "giraffe": (0.40, 1.0, 5.0),
    "refrigerator": (0.86, 1.2, 4.0),
    "stop sign": (0.90, 0.8, 1.25),
    "toilet": (0.82, 0.6, 2.3),
}
"""The least share of its convex hull, and the least and greatest height over width, that a whole
thing of a category has in photographs."""

SLATTED = {
    "bench": 0.22,
    "bicycle": 0.28,
    "bottle": 0.20,
    "chair": 0.28,
    "cup": 0.20,
    "vase": 0.20,
}
"""Categories of which some are seen through, between slats or through glass, and how much of them
may have the colours of their surroundings."""

KNOWN_BY_PIECES = frozenset(
    {
        "backpack",
        "bench",
        "chair",
        "cup",
        "fire hydrant",
        "handbag",
        "oven",
        "parking meter",
        "toilet",
        "umbrella",
    }
)
"""Categories whose outline varies so much that it does not tell a piece from a whole; a piece is
recognised, too."""

LIVING = frozenset(
    (
        *("bear", "bird", "cat", "cow", "dog", "elephant", "giraffe", "horse", "person", "sheep"),
        *("teddy bear", "zebra"),
        *_WILD_M,
    )
)
"""Categories with fur or skin, whose dark parts are no parts of their own."""

ROUND = frozenset(
    {
        *("apple", "banana", "bottle", "bowl", "carrot", "cup", "donut", "fire hydrant"),
        *("hot dog", "orange", "sports ball", "vase"),
    }
)
"""Things that bulge towards their middle, as their outline suggests; others are flat or boxes."""

TURNABLE = frozenset(
    {
        "bear",
        "bench",
        "bird",
        "cat",
        "chair",
        "couch",
        "cow",
        "dog",
        "elephant",
        "giraffe",
        "horse",
        "potted plant",
        "sheep",
        "teddy bear",
        "vase",
        "zebra",
        *_WILD_M,
    }
)
"""Categories whose mirror images look as right: they bear no writing."""

VARIED = TURNABLE | {"apple", "banana", "boat", "bowl", "cake", "cup", "orange", "suitcase"}
"""Categories whose things are of several sizes."""

FEET_HIDDEN = frozenset(
    {
        *("bear", "camel", "cow", "deer", "donkey", "elephant", "giraffe", "goat", "horse"),
        *("rhinoceros", "sheep", "zebra", "sink"),
    }
)
"""What stands in grass or is let into something that hides a part of it: on other ground leaves and
twigs are left on it."""
BALLOONS = "bunch of balloons"
LANTERNS = "bunch of paper lanterns"
FLOATING = (BALLOONS, LANTERNS)
"""What floats or hangs: it needs no ground and no view, and covers whatever was there."""
_UPHELD = (
    *("airplane", "apple", "banana", "bed", "bird", "boat", "book", "broccoli", "carrot", "clock"),
    *("donut", "frisbee", "hot dog", "keyboard", "kite", "laptop", "microwave", "mouse", "orange"),
    *("oven", "parking meter", "pizza", "sandwich", "sink", "skateboard", "snowboard"),
    *("stop sign", "surfboard", "toaster", "traffic light", "tv", "umbrella"),
)
"""Categories of things that fly, hang, lie or carry others: what stands on a ground floats in their
place, and plants fill a screen like a picture."""
_STANDING: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("bear", "cow", "elephant", "giraffe", "horse", "sheep", "zebra", *_WILD_M),
        ("bush", "haystack"),
    ),
    **dict.fromkeys(
        ("bicycle", "bus", "car", "motorcycle", "train", "truck"), ("bush", "haystack")
    ),
    **dict.fromkeys(
        (
            *("bottle", "bowl", "cake", "cat", "couch", "cup", "handbag", "refrigerator"),
            *("teddy bear", "vase", "wine glass"),
        ),
        ("potted plant",),
    ),
    **dict.fromkeys(
        ("backpack", "chair", "fire hydrant", "suitcase", "toilet"), ("potted plant", "barrel")
    ),
    "bench": ("bush", "potted plant"),
    "potted plant": ("barrel", "bush"),
    "dog": ("potted plant", "leaf pile"),
    "sports ball": ("potted plant", "beach ball"),
}
RIDDEN = frozenset(
    {"bicycle", "camel", "donkey", "elephant", "horse", "motorcycle", "skateboard", "surfboard"}
)
"""What people sit or stand on, who would be left on what takes its place."""
_IN_ROOMS = (
    *("apple", "banana", "bed", "book", "bottle", "bowl", "broccoli", "cake", "carrot", "chair"),
    *("clock", "couch", "cup", "donut", "fire hydrant", "handbag", "hot dog", "keyboard"),
    *("laptop", "microwave", "orange", "oven", "parking meter", "pizza", "potted plant"),
    *("refrigerator", "sandwich", "skateboard", "stop sign", "suitcase", "teddy bear", "toaster"),
    *("toilet", "traffic light", "tv", "umbrella", "vase", "wine glass"),
)
"""Categories of things without legs or wings. Lanterns keep the shape of others: of 19 in the place
of animals, vehicles and kites two reviewers kept 7, of 23 others 16."""
INSTEAD: dict[str, tuple[str, ...]] = {
    **{category: (BALLOONS, *names) for category, names in _STANDING.items()},
    **dict.fromkeys(_UPHELD, (BALLOONS,)),
}
INSTEAD |= {name: (*FLOATING, *INSTEAD[name][1:]) for name in _IN_ROOMS}
"""What may be computed in the place of a thing of a category, where nobody says what is wanted.
Reviewers kept none of 6 pumpkins and 2 of 10 crates lately, 7 of 19 cardboard boxes, 2 of 8
watermelons, none of 5 tin cans and dustbins, none of 5 rose bushes and 19.5 of 59 boulders: these
have to be asked for. Plants float in the place of what hangs, is held, or lies in bowls and on
plates, which is seen from above; balloons may."""
_ANYWHERE = frozenset(
    {
        *("bottle", "bowl", "cake", "cat", "couch", "cup", "dog", "laptop", "sports ball"),
        *("teddy bear", "wine glass"),
    }
)
"""Categories that are furniture or sit, hang or stand on it: beside them plants float."""
BESIDE: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(INSTEAD, (BALLOONS,)),
    **{
        category: (BALLOONS, *names)
        for category, names in _STANDING.items()
        if category not in _ANYWHERE
    },
    "bed": (BALLOONS, "potted plant"),
}
"""What may be computed beside a thing of a category."""
COMPUTED = (
    *FLOATING,
    *("barrel", "beach ball", "boulder", "bush", "cardboard box", "dustbin", "haystack"),
    *("leaf pile", "potted plant", "pumpkin", "rose bush", "tin can", "traffic cone", "vase"),
    *("watermelon", "wooden crate"),
)
"""All that can be computed."""

BUILT_IN = frozenset({"fire hydrant", "oven", "parking meter", "refrigerator"})
"""Categories that stay where they are, though another may stand beside them."""

FLAT = frozenset(
    {
        *("book", "cell phone", "fork", "keyboard", "knife", "mouse", "pizza", "remote"),
        *("sandwich", "scissors", "spoon", "toothbrush"),
    }
)
"""Categories that lie on a table or a floor with all of themselves."""

AIRBORNE = frozenset({"airplane", "frisbee", "kite", "sports ball"})
"""Categories that are before the sky, or on a ground that is all around them."""

PLUMBED = frozenset({"sink", "toilet"})
"""Categories of which pipes and tanks stay behind: nothing else stands in their place."""

LEAVING_TRACES = frozenset(
    {
        "bed",
        "boat",
        "chair",
        "clock",
        "couch",
        "keyboard",
        "oven",
        "refrigerator",
        "toilet",
        "toothbrush",
        "train",
        "umbrella",
        "vase",
    }
)
"""Categories that are seldom erased well: built in or set between other furniture, mirrored in
water, on rails or poles, held, or holding other things."""

FIXED = frozenset(
    {
        "bed",
        "couch",
        "handbag",
        "parking meter",
        "refrigerator",
        "sink",
        "stop sign",
        "toilet",
        "traffic light",
        "train",
        "umbrella",
        "wine glass",
    }
)
"""Categories that are built in, or hang on something that would stay behind: they are not moved,
and no second one is put beside them."""

MOST_SOLID = dict.fromkeys(("cow", "elephant", "giraffe", "horse", "sheep", "zebra"), 0.84)
"""The greatest share of its hull that an animal has whose legs can be seen: one that fills more is
a piece of one."""
