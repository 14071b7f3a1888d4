"""What is usual of things: the tables that offline proposals are drawn from.

`things.txt` has one line for each of COCO's categories: its nature, its shape, where it is usual,
its usual colours and materials, what may stand in its place, and what everybody knows about it.
"""

from __future__ import annotations

from functools import cache
from importlib import resources

import msgspec

from groundfault.building.proposals.kinds import kin

__all__ = [
    "BECOMES",
    "COLOURS",
    "FINISHES",
    "MATERIALS",
    "MODIFIERS",
    "PLACES",
    "STILL_ITSELF",
    "SURFACES",
    "Material",
    "Place",
    "Surface",
    "Usual",
    "is_usual",
    "known_categories",
    "nearest",
    "plain_category",
    "usual",
]


class Usual(msgspec.Struct, frozen=True):
    """What is usual of a category."""

    name: str
    nature: str
    """animal, vehicle, furniture, food, plant, appliance, kitchenware, container, device, tool,
    toy, clothing, sport, street, fixture, person."""
    shape: str
    """quadruped, bird, box, disc, ball, long, upright, wheeled, flat, frame …"""
    places: tuple[str, ...]
    """Names of `PLACES` where nobody wonders about it."""
    colours: tuple[str, ...]
    materials: tuple[str, ...]
    replacements: tuple[str, ...]
    """Of the same nature, shape and size, and clearly something else; the best first."""
    knowledge: str
    """One sentence that holds of it in general."""


def _names(cell: str) -> tuple[str, ...]:
    return tuple(name for part in cell.split(",") if (name := part.strip()))


@cache
def _table() -> dict[str, Usual]:
    found = {}
    text = resources.files(__package__).joinpath("things.txt").read_text("utf-8")
    for line in text.splitlines()[1:]:
        name, nature, shape, places, colours, materials, instead, knowledge = (
            cell.strip() for cell in line.split("|")
        )
        found[name] = Usual(
            name,
            nature,
            shape,
            _names(places),
            _names(colours),
            _names(materials),
            _names(instead),
            knowledge,
        )
    return found


def known_categories() -> tuple[str, ...]:
    """The categories of which something is known."""
    return tuple(_table())


@cache
def usual(category: str) -> Usual | None:
    """What is usual of a category, by its name or another word for it; None if nobody said.

    >>> usual("sofa").nature, usual("elephant").places[0], usual("quasar")
    ('furniture', 'savanna', None)
    """
    found = _table().get(category)
    if found is not None:
        return found
    named = ("same", "synonym")
    return next((row for row in _table().values() if kin(category, row.name) in named), None)


@cache
def nearest(category: str) -> Usual | None:
    """What is usual of a category or of what it is a kind of; None if nobody said.

    >>> nearest("sofa").name, nearest("duck").name, nearest("quasar")
    ('couch', 'bird', None)
    """
    wider = (row for row in _table().values() if kin(category, row.name) == "hyponym")
    return usual(category) or next(wider, None)


def plain_category(category: str) -> str:
    """The name under which the tables know a category or its kind; its own where they don't.

    >>> plain_category("aeroplane"), plain_category("kitten"), plain_category("quasar")
    ('airplane', 'cat', 'quasar')
    """
    found = nearest(category)
    return category if found is None else found.name


class Surface(msgspec.Struct, frozen=True):
    """A pattern that everybody knows from one kind of thing."""

    name: str
    typical_of: str
    """The category that it is taken for: p⁻."""
    words: str
    """How an instruction describes it."""
    unlike: tuple[str, ...] = ()
    """Kinds that would become the mimicked thing itself, or whose pattern it is."""


SURFACES: dict[str, Surface] = {
    surface.name: surface
    for surface in (
        Surface("zebra", "zebra", "black and white zebra stripes", ("horse", "zebra", "donkey")),
        Surface("tiger", "tiger", "orange and black tiger stripes", ("cat", "big cat")),
        Surface("giraffe", "giraffe", "brown and cream giraffe patches", ("giraffe",)),
        Surface("leopard", "leopard", "tawny leopard fur print with dark rosettes",
                ("cat", "big cat")),
        Surface("cow", "cow", "black and white patches of a dairy cow",
                ("cow", "horse", "dog", "cat", "sheep")),
        Surface("watermelon", "watermelon", "light and dark green stripes of watermelon rind",
                ("sports ball", "watermelon")),
        Surface("strawberry", "strawberry", "red strawberry skin with small yellow seeds",
                ("strawberry", "apple")),
        Surface("pineapple", "pineapple", "the diamond-shaped scales of a pineapple", ()),
        Surface("brick wall", "brick wall", "red bricks with pale mortar joints",
                ("building", "oven")),
        Surface("ladybug", "ladybug", "glossy ladybug red with round black spots", ("insect",)),
        Surface("dalmatian", "dalmatian", "white dalmatian fur with black spots",
                ("dog", "cow", "horse", "cat")),
        Surface("bee", "bee", "the yellow and black bands of a bee", ("insect",)),
        Surface("chessboard", "chessboard", "the black and white squares of a chessboard",
                ("dining table",)),
        Surface("snake", "snake", "the scaly diamond pattern of a snake", ("reptile",)),
        Surface("bark", "tree", "the furrowed brown bark of a tree", ("tree", "potted plant")),
        Surface("coral", "coral", "the branching orange texture of coral", ("coral",)),
        Surface("soccer", "soccer ball", "black and white leather panels of a soccer ball",
                ("sports ball", "orange", "apple")),
        Surface("corn", "corn", "yellow kernels in rows as on a corn cob", ("banana",)),
        Surface("peacock", "peacock", "the green and blue eyes of peacock feathers", ("bird",)),
        Surface("orange", "orange", "the dimpled bright peel of an orange",
                ("sports ball", "fruit")),
    )
}  # fmt: skip
"""Surfaces by name. What a computing editor offers of them, it declares."""


class Material(msgspec.Struct, frozen=True):
    """A substance that makes another thing of what is made of it."""

    name: str
    identity: str
    """What it is then: p⁺."""
    words: str
    natures: tuple[str, ...] = ()
    """Of the things that become it; empty means: any that can."""


_ANY = (
    "animal",
    "food",
    "vehicle",
    "device",
    "toy",
    "plant",
    "sport",
    "tool",
    "clothing",
    "container",
)
MATERIALS: dict[str, Material] = {
    material.name: material
    for material in (
        Material("bronze", "bronze sculpture", "solid patinated bronze"),
        Material("marble", "marble sculpture", "solid white veined marble"),
        Material("gold", "gold sculpture", "solid polished gold"),
        Material("silver", "silver sculpture", "solid polished silver",
                 ("animal", "food", "plant")),
        Material("granite", "granite sculpture", "solid grey granite"),
        Material("stone", "stone sculpture", "solid weathered stone"),
        Material("ice", "ice sculpture", "solid clear ice", ("animal", "food", "vehicle", "toy")),
        Material("crystal", "crystal sculpture", "solid faceted crystal"),
        Material("glass", "glass sculpture", "solid clear glass",
                 ("animal", "food", "toy", "plant")),
        Material("jade", "jade sculpture", "solid green jade"),
        Material("wood", "wood carving", "solid carved wood with visible grain",
                 ("animal", "food", "plant")),
        Material("terracotta", "terracotta sculpture", "solid fired terracotta",
                 ("animal", "food", "vehicle", "device")),
        Material("chocolate", "chocolate figure", "solid dark chocolate",
                 ("animal", "vehicle", "device", "toy", "plant")),
        Material("clay", "clay sculpture", "solid fired red clay", ("animal", "food", "vehicle")),
        Material("sand", "sand sculpture", "solid packed sand", ("animal", "vehicle", "toy")),
        Material("snow", "snow sculpture", "solid packed snow", ("animal", "vehicle", "toy")),
        Material("wax", "wax sculpture", "solid pale wax", ("animal", "food", "plant")),
        Material("leaves", "topiary", "a clipped hedge of green leaves",
                 ("animal", "vehicle", "toy")),
        Material("flowers", "flower sculpture", "densely packed pink blossoms",
                 ("animal", "vehicle", "toy")),
        Material("straw", "straw sculpture", "bound golden straw", ("animal", "vehicle", "toy")),
    )
}  # fmt: skip

MODIFIERS = {"animal": "living", "person": "living", "plant": "living", "food": "edible",
    "vehicle": "functional", "device": "functional", "appliance": "functional",
    "tool": "functional", "sport": "functional", "toy": "real", "clothing": "wearable",
    "container": "usable"}  # fmt: skip
"""What p⁻ of an ontological conflict says before the category, by nature."""

BECOMES = frozenset({"animal", "plant", "food", "vehicle", "device", "toy", "clothing"})
"""Natures whose things another substance turns into something else. A marble toilet is a toilet,
an ice table a table: furniture, fixtures, kitchenware and what stands in the street are left out
(OC-8, OC-9)."""
STILL_ITSELF = frozenset({"clock", "book", "boat", "tie", "remote"})
"""Of those natures: a wooden clock tells the time, a boat may be of anything that floats."""


class Place(msgspec.Struct, frozen=True):
    """A place, and the things that nobody wonders about there."""

    name: str
    words: str
    """As it stands behind a preposition."""
    at_home: tuple[str, ...]
    """Concrete things that are plausible there; p⁻ of a context conflict is one of them."""
    like: tuple[tuple[str, str], ...] = ()
    """Nature → the thing that something of this nature is most easily taken for."""
    covers: tuple[str, ...] = ()
    """Other places that are like it: what is usual there is usual here."""


PLACES: dict[str, Place] = {
    place.name: place
    for place in (
        Place("underwater", "under water above a coral reef", ("fish", "turtle", "shark"),
              (("animal", "seal"), ("vehicle", "submarine"), ("food", "starfish"),
               ("toy", "octopus"), ("plant", "coral"), ("container", "jellyfish"))),
        Place("reef", "under water above a coral reef", ("fish", "turtle", "octopus"),
              (("animal", "seal"), ("vehicle", "submarine"), ("food", "starfish"))),
        Place("snow", "on an open field of deep snow", ("snowman", "sled", "penguin"),
              (("animal", "reindeer"), ("vehicle", "snowmobile"), ("sport", "snowboard"))),
        Place("desert", "among the dunes of a sandy desert", ("camel", "cactus", "lizard"),
              (("animal", "camel"), ("plant", "cactus"), ("vehicle", "sand sled"))),
        Place("beach", "on a wide sandy beach at the sea", ("surfboard", "crab", "umbrella"),
              (("animal", "seal"), ("furniture", "deck chair"), ("vehicle", "boat")),
              ("sea",)),
        Place("sea", "on the open sea", ("boat", "buoy", "surfboard"),
              (("animal", "dolphin"), ("vehicle", "ship")),
              ("beach", "river", "harbour")),
        Place("lake", "in the shallow water of a calm lake", ("swan", "boat", "duck"),
              (("animal", "hippopotamus"), ("vehicle", "boat"), ("furniture", "raft"),
               ("fixture", "buoy"), ("container", "buoy")),
              ("sea", "river", "harbour")),
        Place("room", "on the parquet floor of an empty room", ("chair", "lamp", "couch"),
              (("animal", "armchair"), ("vehicle", "couch"), ("street", "lamp"),
               ("sport", "rug")),
              ("living room", "bedroom", "kitchen", "office", "restaurant", "library")),
        Place("parking lot", "on the asphalt of an empty parking lot",
              ("car", "shopping cart", "traffic cone"),
              (("animal", "car"), ("furniture", "shopping cart"), ("food", "traffic cone"),
               ("fixture", "trash can"), ("container", "trash can")),
              ("street", "airport", "runway")),
        Place("forest", "between the trees of a dense forest", ("deer", "mushroom", "owl"),
              (("animal", "fox"), ("food", "mushroom"), ("furniture", "tent"))),
        Place("autumn forest", "among the orange leaves of an autumn forest",
              ("deer", "squirrel", "pumpkin"),
              (("animal", "fox"), ("vehicle", "tractor"), ("street", "signpost"),
               ("furniture", "tent"), ("sport", "pumpkin")),
              ("forest", "park", "meadow")),
        Place("meadow", "on a green meadow with flowers", ("cow", "sheep", "tractor"),
              (("animal", "sheep"), ("vehicle", "tractor"), ("furniture", "picnic table")),
              ("park", "farm", "savanna")),
        Place("savanna", "on a dry grass savanna", ("lion", "antelope", "zebra"),
              (("animal", "lion"), ("vehicle", "jeep")),
              ("meadow", "zoo")),
        Place("street", "in the middle of a busy city street", ("car", "bus", "bicycle"),
              (("animal", "dog"), ("furniture", "bench"), ("food", "traffic cone"),
               ("fixture", "trash can"), ("appliance", "vending machine")),
              ("parking lot",)),
        Place("kitchen", "on the counter of a tidy kitchen", ("microwave", "toaster", "bowl"),
              (("animal", "cat"), ("vehicle", "toaster"), ("street", "pepper mill")),
              ("restaurant", "market")),
        Place("living room", "on the rug of a living room", ("couch", "tv", "chair"),
              (("animal", "cat"), ("vehicle", "coffee table"), ("street", "lamp")),
              ("bedroom", "office")),
        Place("bedroom", "on the floor of a bedroom", ("bed", "nightstand", "pillow"),
              (("animal", "teddy bear"), ("vehicle", "bed")),
              ("living room",)),
        Place("bathroom", "in a tiled bathroom", ("bathtub", "toilet", "sink"),
              (("vehicle", "bathtub"), ("animal", "bathtub"))),
        Place("office", "on the desk of an office", ("laptop", "printer", "telephone"),
              (("food", "computer mouse"), ("animal", "teddy bear")),
              ("living room", "library")),
        Place("library", "between the shelves of a library", ("book", "globe", "desk"), ()),
        Place("stadium", "on the lawn of a football stadium", ("soccer ball", "goal net"), ()),
        Place("runway", "on the runway of an airport", ("airplane", "helicopter"),
              (("animal", "airplane"), ("furniture", "baggage cart"))),
        Place("sky", "high in a blue sky with clouds", ("airplane", "hot-air balloon", "kite"),
              (("animal", "eagle"), ("vehicle", "helicopter"), ("furniture", "hot-air balloon"))),
        Place("space", "on the grey surface of the moon", ("astronaut", "rocket", "lunar rover"),
              (("vehicle", "lunar rover"),)),
        Place("outer space", "in outer space, high above the earth",
              ("satellite", "rocket", "spaceship"),
              (("vehicle", "spaceship"), ("device", "satellite"), ("appliance", "satellite"),
               ("toy", "rocket"), ("street", "rocket")),
              ("space",)),
        Place("deep sea", "in the open water of the deep sea", ("fish", "turtle", "jellyfish"),
              (("animal", "seal"), ("vehicle", "submarine"), ("food", "starfish"),
               ("toy", "octopus"), ("plant", "seaweed"), ("street", "anchor"),
               ("furniture", "anchor"), ("sport", "shark")),
              ("sea", "underwater", "reef")),
        Place("tropical sea", "under water in a shallow tropical sea", ("fish", "turtle", "coral"),
              (("animal", "seal"), ("vehicle", "submarine"), ("food", "starfish"),
               ("toy", "octopus"), ("plant", "seaweed"), ("street", "anchor"),
               ("furniture", "anchor"), ("sport", "shark"), ("container", "treasure chest")),
              ("sea", "underwater", "reef", "deep sea")),
        Place("autumn leaves", "on a ground covered with fallen autumn leaves",
              ("hedgehog", "mushroom", "squirrel"),
              (("animal", "hedgehog"), ("food", "mushroom"), ("container", "basket"),
               ("furniture", "basket"), ("toy", "squirrel"), ("sport", "pumpkin")),
              ("forest", "autumn forest", "park")),
        Place("ivy", "on a ground that is overgrown with ivy", ("frog", "snail", "hedgehog"),
              (("animal", "squirrel"), ("food", "mushroom"), ("container", "basket"),
               ("furniture", "basket"), ("toy", "frog"), ("sport", "snail")),
              ("forest", "park", "meadow")),
        Place("hay", "in a heap of hay", ("chicken", "basket", "rabbit"),
              (("animal", "goat"), ("food", "egg"), ("container", "basket"),
               ("furniture", "wooden crate"), ("toy", "rabbit"), ("vehicle", "tractor")),
              ("farm", "meadow")),
        Place("harbour", "in the water of a harbour", ("boat", "buoy", "swan"), (),
              ("sea", "river")),
        Place("river", "in the water of a river", ("boat", "duck", "otter"),
              (("animal", "otter"), ("vehicle", "boat")),
              ("sea", "harbour")),
        Place("park", "on the lawn of a city park", ("bench", "fountain", "pigeon"), (),
              ("meadow",)),
        Place("market", "on a stall of a market", ("basket", "pumpkin", "crate"), ()),
        Place("restaurant", "on a set table in a restaurant", ("plate", "wine glass"), (),
              ("kitchen",)),
        Place("farm", "in the yard of a farm", ("tractor", "chicken", "barn"), (),
              ("meadow",)),
        Place("zoo", "in an enclosure of a zoo", ("monkey", "flamingo"), ()),
        Place("airport", "in the hall of an airport", ("suitcase", "ticket machine"), ()),
        Place("wall", "before a brick wall", ("picture frame", "street lamp"), ()),
    )
}  # fmt: skip
"""Places by name; which of them an editor has scenes of, it declares."""


def is_usual(place: str, category: str) -> bool:
    """Whether nobody wonders about a thing in a place; unknown things are usual nowhere.

    >>> is_usual("lake", "boat"), is_usual("desert", "boat"), is_usual("room", "cup")
    (True, False, True)
    """
    of = usual(category)
    there = (place, *PLACES[place].covers) if place in PLACES else (place,)
    return of is not None and not {*there}.isdisjoint(of.places)


COLOURS = ("blue", "green", "purple", "pink", "red", "orange", "yellow", "brown", "grey", "black",
           "white", "turquoise")  # fmt: skip
"""For counterfactual attributes: those that the thing never has."""
FINISHES = ("matte", "glossy")
