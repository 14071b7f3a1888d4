"""Categories by name: how each is drawn, how large it is, where and how one expects it."""

from __future__ import annotations

import msgspec

from groundfault.world.forms import Draw
from groundfault.world.objects import creatures, food, household, mammals, outdoors

__all__ = ["CATEGORIES", "Category"]


class Category(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of thing, with everything that one expects of it."""

    name: str
    draw: Draw
    size: float
    """Height of the form's box (2 units), as a share of the picture when it stands in front."""
    colours: tuple[str, ...]
    """Main colours that surprise nobody; the first is the one people would name."""
    contexts: tuple[str, ...]
    """Where it belongs; the first most of all."""
    surface: str = ""
    """The pattern it wears by nature; "" for plain colour."""
    shape: str
    """Things of one shape can be mistaken for each other: "beast", "round", "tall", …"""
    nature: str
    """What a material takes from it: "living", "edible", "functional", "growing"."""
    purpose: str
    """Says which thing is meant without naming it; completes "Segment …"."""
    plural: str = ""
    gloss: float = 0.16
    """Strength of the shiny spot: fur has little, glaze has much."""
    grain: float = 0.0
    """Strength of the fur."""
    flies: bool = False
    swims: bool = False
    survives: bool = False
    """True: stays what it is in any solid material (a clay mug is a mug); only cloud undoes it."""
    motley: bool = False
    """True: its colour is nothing one would know it by (cars come in all colours)."""


PAINTS = ("red", "blue", "green", "yellow", "orange", "teal", "purple", "white")

_TABLE = (
    Category(name="dog", draw=mammals.draw_dog, gloss=0.02, grain=0.17, size=0.4, colours=("brown", "tan", "white", "black"), contexts=("meadow", "street", "beach"), shape="beast", nature="living", purpose="the animal that barks and fetches sticks", motley=True),
    Category(name="cat", draw=mammals.draw_cat, gloss=0.02, grain=0.17, size=0.34, colours=("orange", "grey", "tan", "black"), contexts=("library", "kitchen", "meadow"), shape="perched", nature="living", purpose="the animal that purrs and hunts mice", motley=True),
    Category(name="tiger", draw=mammals.draw_tiger, gloss=0.02, grain=0.17, size=0.44, colours=("orange",), surface="tiger", contexts=("meadow", "snow"), shape="beast", nature="living", purpose="the big striped cat that stalks its prey"),
    Category(name="leopard", draw=mammals.draw_tiger, gloss=0.02, grain=0.17, size=0.4, colours=("tan",), surface="leopard", contexts=("desert", "meadow"), shape="beast", nature="living", purpose="the big spotted cat that climbs trees with its prey"),
    Category(name="zebra", draw=mammals.draw_zebra, gloss=0.02, grain=0.17, size=0.51, colours=("white",), surface="zebra", contexts=("desert", "meadow"), shape="beast", nature="living", purpose="the wild relative of the horse from the savanna"),
    Category(name="giraffe", draw=mammals.draw_giraffe, gloss=0.02, grain=0.17, size=0.73, colours=("tan",), surface="giraffe", contexts=("desert", "meadow"), shape="beast", nature="living", purpose="the animal that eats leaves from the tops of trees"),
    Category(name="cow", draw=mammals.draw_cow, gloss=0.02, grain=0.17, size=0.46, colours=("white", "brown"), surface="cow", contexts=("meadow",), shape="beast", nature="living", purpose="the animal that gives milk"),
    Category(name="elephant", draw=mammals.draw_elephant, gloss=0.02, grain=0.14, size=0.55, colours=("grey",), contexts=("desert", "meadow"), shape="beast", nature="living", purpose="the animal that drinks through its trunk"),
    Category(name="polar bear", draw=mammals.draw_polar_bear, gloss=0.02, grain=0.07, size=0.44, colours=("white",), contexts=("snow",), shape="beast", nature="living", purpose="the animal that hunts seals on the ice"),
    Category(name="camel", draw=mammals.draw_camel, gloss=0.02, grain=0.17, size=0.53, colours=("tan", "brown"), contexts=("desert",), shape="beast", nature="living", purpose="the animal that carries loads for days without water"),
    Category(name="penguin", draw=creatures.draw_penguin, gloss=0.07, size=0.4, colours=("black",), contexts=("snow",), shape="upright", nature="living", purpose="the bird that cannot fly but swims"),
    Category(name="duck", draw=creatures.draw_duck, gloss=0.05, size=0.32, colours=("white", "yellow", "brown"), contexts=("meadow", "beach"), shape="perched", nature="living", purpose="the bird that quacks", motley=True),
    Category(name="turtle", draw=creatures.draw_turtle, size=0.33, colours=("green", "brown"), contexts=("beach", "reef"), shape="dome", nature="living", purpose="the animal that carries its house on its back"),
    Category(name="snake", draw=creatures.draw_snake, size=0.33, colours=("green",), surface="snake", contexts=("desert", "meadow"), shape="perched", nature="living", purpose="the animal that moves without legs"),
    Category(name="fish", draw=creatures.draw_fish, size=0.33, colours=("orange", "blue", "yellow"), contexts=("reef",), shape="winged", nature="living", purpose="the animal that breathes through gills", plural="fish", swims=True, motley=True),
    Category(name="shark", draw=creatures.draw_shark, size=0.48, colours=("grey", "blue"), contexts=("reef",), shape="winged", nature="living", purpose="the fish that swimmers are afraid of", swims=True),
    Category(name="jellyfish", draw=creatures.draw_jellyfish, size=0.4, colours=("pink", "purple", "blue"), contexts=("reef",), shape="dome", nature="living", purpose="the sea animal that stings with its tentacles", plural="jellyfish", swims=True, motley=True),
    Category(name="ladybug", draw=creatures.draw_ladybug, gloss=0.35, size=0.26, colours=("red",), surface="ladybug", contexts=("meadow",), shape="dome", nature="living", purpose="the small beetle that brings luck"),
    Category(name="bee", draw=creatures.draw_bee, gloss=0.04, size=0.3, colours=("yellow",), surface="bee", contexts=("meadow",), shape="winged", nature="living", purpose="the insect that makes honey", flies=True),
    Category(name="banana", draw=food.draw_banana, size=0.28, colours=("yellow",), contexts=("kitchen",), shape="long", nature="edible", purpose="the fruit that one peels before eating"),
    Category(name="apple", draw=food.draw_apple, gloss=0.3, size=0.23, colours=("red", "green"), contexts=("kitchen",), shape="round", nature="edible", purpose="the fruit that cider is made from"),
    Category(name="strawberry", draw=food.draw_strawberry, size=0.22, colours=("red",), surface="strawberry", contexts=("kitchen",), shape="round", nature="edible", purpose="the berry that one eats with cream", plural="strawberries"),
    Category(name="watermelon", draw=food.draw_watermelon, size=0.31, colours=("green",), surface="watermelon", contexts=("kitchen", "beach"), shape="round", nature="edible", purpose="the big fruit that one slices on a hot day"),
    Category(name="pineapple", draw=food.draw_pineapple, size=0.4, colours=("yellow",), surface="pineapple", contexts=("kitchen", "beach"), shape="upright", nature="edible", purpose="the tropical fruit that one cuts into rings"),
    Category(name="mug", draw=household.draw_mug, gloss=0.4, size=0.25, colours=PAINTS, contexts=("kitchen",), shape="pot", nature="functional", survives=True, purpose="the thing one drinks coffee from", motley=True),
    Category(name="teapot", draw=household.draw_teapot, gloss=0.45, size=0.3, colours=("blue", *PAINTS), contexts=("kitchen",), shape="pot", nature="functional", survives=True, purpose="the thing one pours tea from", motley=True),
    Category(name="vase", draw=household.draw_vase, gloss=0.42, size=0.36, colours=("blue", "teal", "red", "purple"), contexts=("library", "kitchen"), shape="upright", nature="functional", survives=True, purpose="the thing one puts cut flowers in", motley=True),
    Category(name="lamp", draw=household.draw_lamp, gloss=0.05, size=0.42, colours=("tan", "white", "red", "teal"), contexts=("library",), shape="upright", nature="functional", survives=True, purpose="the thing one switches on to read at night", motley=True),
    Category(name="chair", draw=household.draw_chair, size=0.51, colours=("brown", "tan", "white", "red"), contexts=("library", "kitchen"), shape="furniture", nature="functional", survives=True, purpose="the thing one sits on", motley=True),
    Category(name="table", draw=household.draw_table, size=0.51, colours=("brown", "tan"), contexts=("library",), shape="furniture", nature="functional", survives=True, purpose="the thing one has dinner at"),
    Category(name="umbrella", draw=household.draw_umbrella, gloss=0.06, size=0.46, colours=PAINTS, contexts=("street", "beach"), shape="dome", nature="functional", survives=True, purpose="the thing that keeps one dry in the rain", motley=True),
    Category(name="hat", draw=household.draw_hat, gloss=0.02, size=0.22, colours=("brown", "black", "tan", "blue"), contexts=("beach", "street"), shape="dome", nature="functional", survives=True, purpose="the thing one wears on the head", motley=True),
    Category(name="suitcase", draw=household.draw_suitcase, size=0.35, colours=("brown", "blue", "red", "teal"), contexts=("street",), shape="box", nature="functional", survives=True, purpose="the thing one packs before a journey", motley=True),
    Category(name="book", draw=household.draw_book, size=0.22, colours=("red", "blue", "green", "brown"), contexts=("library",), shape="box", nature="functional", survives=True, purpose="the thing one reads page by page", motley=True),
    Category(name="guitar", draw=household.draw_guitar, size=0.53, colours=("orange", "tan", "brown", "red"), contexts=("library", "beach"), shape="upright", nature="functional", purpose="the thing with six strings that one plays", motley=True),
    Category(name="car", draw=outdoors.draw_car, gloss=0.32, size=0.44, colours=PAINTS, contexts=("street", "night city"), shape="vehicle", nature="functional", purpose="the thing a family drives to work and school", motley=True),
    Category(name="bus", draw=outdoors.draw_bus, gloss=0.25, size=0.55, colours=("red", "yellow", "blue", "green"), contexts=("street", "night city"), shape="vehicle", nature="functional", purpose="the vehicle that many people share in town", plural="buses", motley=True),
    Category(name="airplane", draw=outdoors.draw_airplane, size=0.48, colours=("blue", "red", "teal", "orange"), contexts=("beach", "night city", "desert"), shape="winged", nature="functional", purpose="the vehicle one takes to another continent", flies=True, motley=True),
    Category(name="sailboat", draw=outdoors.draw_boat, size=0.55, colours=("blue", "red", "white", "teal"), contexts=("beach",), shape="vehicle", nature="functional", purpose="the vehicle that the wind drives over the sea", motley=True),
    Category(name="soccer ball", draw=outdoors.draw_soccer_ball, size=0.24, colours=("white",), surface="soccer ball", contexts=("meadow", "street"), shape="round", nature="functional", survives=True, purpose="the thing one kicks into a goal"),
    Category(name="cactus", draw=outdoors.draw_cactus, gloss=0.04, size=0.51, colours=("green",), contexts=("desert",), shape="upright", nature="growing", purpose="the plant that stores water behind its spines", plural="cacti"),
    Category(name="tree", draw=outdoors.draw_tree, gloss=0.02, size=0.68, colours=("green", "orange"), contexts=("meadow", "street"), shape="upright", nature="growing", purpose="the plant that birds build their nests in"),
    Category(name="snowman", draw=outdoors.draw_snowman, gloss=0.03, grain=0.05, size=0.44, colours=("white",), contexts=("snow",), shape="upright", nature="functional", survives=True, purpose="the figure that children build in winter", plural="snowmen"),
    Category(name="brick wall", draw=outdoors.draw_brick_wall, gloss=0.02, size=0.4, colours=("red",), surface="brick wall", contexts=("street",), shape="box", nature="functional", survives=True, purpose="the thing a mason builds"),
)

CATEGORIES: dict[str, Category] = {category.name: category for category in _TABLE}
