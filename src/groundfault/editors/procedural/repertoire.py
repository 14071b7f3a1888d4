"""What the procedural editor knows: the names that a request may have as its kind and value, how
tall things are, and which of them no surface or material suits. Nothing heavy is imported here."""

from __future__ import annotations

__all__ = [
    "BUILT_IN",
    "COLOURS",
    "COMPANY",
    "FIXED",
    "HEIGHTS_M",
    "KINDS",
    "LEAVING_TRACES",
    "MADE_OF_PARTS",
    "MATERIALS",
    "MOST_SOLID",
    "NOT_STANDING",
    "PLACES",
    "PROPORTIONS",
    "SEEN_THROUGH",
    "SURFACES",
    "TURNABLE",
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
)
"""Substances that a thing can be recast in, its shape kept."""

PLACES = ("desert", "beach", "snow", "lake", "room", "bathroom", "parking lot")
"""Places that are rendered, with a ground whose horizon is chosen; a collection of donors may
have photographs of more."""

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

MADE_OF_PARTS = frozenset(
    {
        "banana",
        "bicycle",
        "boat",
        "bowl",
        "broccoli",
        "carrot",
        "dining table",
        "donut",
        "fork",
        "keyboard",
        "kite",
        "knife",
        "motorcycle",
        "person",
        "pizza",
        "potted plant",
        "remote",
        "salad",
        "sandwich",
        "scissors",
        "skis",
        "spoon",
        "tennis racket",
        "wine glass",
    }
)
"""Categories that are known by their parts, see-through, or thin: a surface over all of it hides
what it is."""

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
}
"""How tall things of a category are: what the height of the camera above a new ground follows
from."""

_ANIMAL = (0.58, 0.40, 2.4)
_BOX = (0.84, 0.25, 3.0)
PROPORTIONS = {
    **dict.fromkeys(("cow", "horse", "sheep", "zebra", "bear", "bird"), _ANIMAL),
    **dict.fromkeys(("cat", "dog", "teddy bear"), (0.68, 0.35, 2.4)),
    **dict.fromkeys(
        ("bed", "couch", "keyboard", "laptop", "microwave", "oven", "sink", "tv"), _BOX
    ),
    **dict.fromkeys(("car", "bus", "train", "truck"), (0.84, 0.25, 1.7)),
    **dict.fromkeys(("book", "cake", "clock", "suitcase", "toaster", "bottle", "vase"), _BOX),
    **dict.fromkeys(("apple", "orange", "sports ball"), (0.92, 0.75, 1.35)),
    **dict.fromkeys(("cup", "bowl", "donut", "handbag", "backpack"), (0.82, 0.3, 2.5)),
    **dict.fromkeys(("bench", "boat", "chair", "umbrella"), (0.62, 0.2, 3.0)),
    "elephant": (0.68, 0.5, 1.6),
    "fire hydrant": (0.75, 1.0, 3.5),
    "giraffe": (0.40, 1.0, 5.0),
    "refrigerator": (0.86, 1.2, 4.0),
    "stop sign": (0.90, 0.8, 1.25),
    "toilet": (0.82, 0.6, 2.3),
}
"""The least share of its convex hull, and the least and greatest height over width, that a whole
thing of a category has in photographs."""

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
    }
)
"""Categories whose mirror images look as right: they bear no writing."""

COMPANY = (
    frozenset({"bear", "cow", "elephant", "giraffe", "horse", "sheep", "zebra"}),
    frozenset({"bear", "bird", "cat", "dog", "sheep", "teddy bear"}),
    frozenset({"bus", "car", "train", "truck"}),
    frozenset({"bicycle", "motorcycle"}),
    frozenset({"bench", "chair", "couch"}),
    frozenset({"laptop", "microwave", "toaster", "tv"}),
    frozenset({"oven", "refrigerator"}),
    frozenset({"potted plant", "vase"}),
    frozenset({"bottle", "bowl", "cup", "vase", "wine glass"}),
    frozenset(
        {
            "apple",
            "banana",
            "broccoli",
            "cake",
            "carrot",
            "donut",
            "hot dog",
            "orange",
            "pizza",
            "sandwich",
        }
    ),
    frozenset({"backpack", "handbag", "suitcase"}),
    frozenset({"fire hydrant", "parking meter"}),
    frozenset({"book", "cell phone", "keyboard", "laptop", "mouse", "remote"}),
)
"""Categories of which one may stand where another does, for who does not say what is wanted."""

SEEN_THROUGH = frozenset(
    {
        "banana",
        "bicycle",
        "donut",
        "kite",
        "pizza",
        "potted plant",
        "scissors",
        "tennis racket",
        "wine glass",
    }
)
"""Categories whose masks hold some of what is around: it would come along to another place."""

BUILT_IN = frozenset({"oven", "refrigerator", "toilet"})
"""Categories that stay where they are, though another may stand beside them."""

LEAVING_TRACES = frozenset(
    {"bed", "boat", "couch", "refrigerator", "toilet", "toothbrush", "train", "umbrella", "vase"}
)
"""Categories that are seldom erased well: built in or set between other furniture, mirrored in
water, on rails, held, or holding other things."""

FIXED = frozenset(
    {
        "book",
        "handbag",
        "potted plant",
        "sink",
        "stop sign",
        "traffic light",
        "umbrella",
        "vase",
        "wine glass",
    }
)
"""Categories that are built in, or hang on something that would stay behind: they are not moved,
and no second one is put beside them."""

MOST_SOLID = dict.fromkeys(("cow", "elephant", "giraffe", "horse", "sheep", "zebra"), 0.84)
"""The greatest share of its hull that an animal has whose legs can be seen: one that fills more is
a piece of one."""
