"""What is normal: which values of an attribute surprise nobody, for each category.

A changed attribute must be one that nobody has seen on such a thing. So the table lists, for each
category and direction, the value that people expect and all others that they have met: bananas are
green and brown too, bears are brown, trees are orange in autumn, books burn. Also
listed are values that a picture of the thing would not show clearly: glass before snow, cracks in a
thin chair.
"""

from __future__ import annotations

import msgspec

from groundfault.world.attires import COATS, FINISHES, PATTERNS, SHAPES
from groundfault.world.forms import COLOURS

__all__ = ["DIRECTIONS", "NORMAL_COLOURS", "USUAL", "VALUES", "Usual"]

DIRECTIONS = ("colour", "material", "pattern", "state", "finish", "shape")
VALUES: dict[str, tuple[str, ...]] = {
    "colour": tuple(COLOURS),
    "material": ("bronze", "marble", "ice", "wood"),
    "pattern": tuple(PATTERNS),
    "state": ("on fire", "covered in snow", *COATS),
    "finish": tuple(FINISHES),
    "shape": tuple(SHAPES),
}
"""What a thing can be changed to."""


class Usual(msgspec.Struct, frozen=True):
    """What is normal for a category in one direction."""

    value: str
    """The one that people expect."""
    also: tuple[str, ...] = ()
    """Others that they have met."""
    habit: str = ""
    """A true sentence, with "{}" for the plural, without a full stop."""


def _animals(value: str, habit: str, *names: str) -> dict[str, Usual]:
    return {name: Usual(value, habit=habit) for name in names}


_BEASTS = (
    "dog",
    "cat",
    "elephant",
    "camel",
    "cow",
    "zebra",
    "giraffe",
    "penguin",
    "duck",
    "turtle",
)
_SOUND = "{} in pictures are mostly intact"
_MATTE = "{} usually have a matte finish"
_PLAIN = "{} are usually plain, without any pattern"
USUAL: dict[str, dict[str, Usual]] = {
    "colour": {
        "banana": Usual("yellow", ("green", "brown", "black")),
        "apple": Usual("red", ("green", "yellow", "pink", "brown", "orange")),
        "tomato": Usual("red", ("green", "yellow", "orange", "brown", "black", "purple")),
        "polar bear": Usual("white", ("brown", "black", "tan", "grey", "yellow")),
        "elephant": Usual("grey", ("brown", "white", "black", "tan", "pink")),
        "camel": Usual("tan", ("brown", "white", "black", "grey", "yellow")),
        "penguin": Usual("black", ("white", "grey", "blue", "brown")),
        "turtle": Usual("green", ("brown", "tan", "grey", "black", "yellow", "teal", "orange")),
        "cactus": Usual("green", ("brown", "yellow", "tan", "grey", "teal", "blue")),
        "tree": Usual(
            "green",
            ("orange", "yellow", "red", "brown", "pink", "white", "purple", "grey", "tan", "teal"),
        ),
        "snowman": Usual("white", ("grey", "tan")),
        "tennis ball": Usual("yellow", ("green", "white", "orange", "red", "tan")),
    },
    "material": {
        **_animals("flesh and blood", "{} are made of flesh and blood", *_BEASTS),
        "camel": Usual("flesh and blood", ("wood",), "{} are made of flesh and blood"),
        "snowman": Usual("snow", ("ice", "marble"), "{} are made of snow"),
        "brick wall": Usual("brick", ("marble", "bronze"), "{} are made of brick"),
        "soccer ball": Usual("leather", (), "{} are often made of leather"),
        "tyre": Usual("rubber", (), "{} are made of rubber"),
        "bus": Usual("metal", ("bronze",), "{} are mostly made of metal"),
        "car": Usual("metal", ("bronze",), "{} are mostly made of metal"),
        "airplane": Usual("metal", ("bronze", "wood"), "{} are mostly made of metal"),
    },
    "pattern": {
        "elephant": Usual("plain", (), _PLAIN),
        "polar bear": Usual("plain", (), _PLAIN),
        "camel": Usual("plain", (), _PLAIN),
        "snowman": Usual("plain", (), _PLAIN),
        "banana": Usual("plain", ("spotted",), _PLAIN),
        "apple": Usual("plain", ("spotted", "striped"), _PLAIN),
        "tomato": Usual("plain", ("striped",), _PLAIN),
        "zebra": Usual("striped", (), "{} usually have a striped pattern"),
        "tiger": Usual("striped", (), "{} usually have a striped pattern"),
        "ladybug": Usual("spotted", ("plain",), "{} usually have a spotted pattern"),
        "leopard": Usual("spotted", ("starry",), "{} usually have a spotted pattern"),
    },
    "state": {
        "apple": Usual("intact", ("covered in snow",), _SOUND),
        "banana": Usual("intact", ("cracked all over", "covered in snow"), _SOUND),
        "pineapple": Usual("intact", ("cracked all over", "covered in snow"), _SOUND),
        "tomato": Usual("intact", ("cracked all over", "covered in snow"), _SOUND),
        "book": Usual("intact", ("on fire", "cracked all over"), _SOUND),
        "suitcase": Usual("intact", (), _SOUND),
        "hat": Usual("intact", ("covered in snow", "cracked all over"), _SOUND),
        "guitar": Usual("intact", ("cracked all over",), _SOUND),
        "soccer ball": Usual("intact", ("covered in snow",), _SOUND),
        "teapot": Usual("intact", ("cracked all over", "on fire"), _SOUND),
        "chair": Usual("intact", ("cracked all over",), _SOUND),
        "cactus": Usual("intact", ("covered in snow", "cracked all over"), _SOUND),
    },
    "finish": {
        **_animals("matte", _MATTE, "elephant", "camel", "dog", "cat", "cow"),
        **_animals("matte", _MATTE, "cactus", "banana", "tyre"),
        "polar bear": Usual("matte", ("see-through",), _MATTE),
        "snowman": Usual("matte", ("see-through",), _MATTE),
        "tree": Usual("matte", ("mirror-like",), _MATTE),
    },
    "shape": {
        "apple": Usual("round", ("heart-shaped", "square"), "{} are usually round"),
        "soccer ball": Usual("round", (), "{} are round"),
        "beach ball": Usual("round", (), "{} are round"),
        "tennis ball": Usual("round", (), "{} are round"),
        "tyre": Usual("round", (), "{} are round"),
        "tomato": Usual("round", ("heart-shaped",), "{} are usually round"),
    },
}
"""By direction and category. What is not listed is not changed."""

NORMAL_COLOURS: dict[str, tuple[str, ...]] = {
    name: (usual.value, *usual.also) for name, usual in USUAL["colour"].items()
}
