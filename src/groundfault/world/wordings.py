"""Ways to ask for a category without naming it, as questions that need a step of thought do.

Each category has six: its own `purpose` and the five below. Each is true of its category and of no
other one of this world. The last two of each are **held out**: training never hears them, so that a
model which has learnt phrases by heart can be told from one that has learnt words.
"""

from __future__ import annotations

from groundfault.world.objects import CATEGORIES

__all__ = ["HELD_OUT", "held_out_wordings", "reasoning_wordings", "training_wordings"]

HELD_OUT = 2
"""So many of the wordings of each category, the last ones, are never used in training."""

MORE: dict[str, tuple[str, ...]] = {
    "dog": (
        "the pet that guards the house",
        "the animal that wags its tail when its owner comes home",
        "the animal that one walks on a leash",
        "the pet that fetches a thrown stick",
        "the animal that barks at strangers",
    ),
    "cat": (
        "the pet that catches mice",
        "the small animal that meows",
        "the pet that uses a litter box",
        "the animal that hunts mice in the house",
        "the pet that purrs when one strokes it",
    ),
    "tiger": (
        "the striped hunter of the jungle",
        "the orange and black beast of prey",
        "the largest of all cats",
        "the big cat with stripes",
        "the orange hunter that stalks through the jungle",
    ),
    "leopard": (
        "the spotted hunter",
        "the wild cat with rosettes on its coat",
        "the beast of prey that is covered in spots",
        "the big cat with spots",
        "the spotted beast that climbs trees",
    ),
    "polar bear": (
        "the white beast of prey from the Arctic",
        "the big animal that lives on sea ice",
        "the white hunter of the far north",
        "the big white animal from the Arctic",
        "the hunter that waits for seals on the sea ice",
    ),
    "zebra": (
        "the animal with black and white stripes",
        "the striped cousin of the horse",
        "the grazing animal that looks like a striped horse",
        "the wild horse with black and white stripes",
        "the striped animal that grazes in the savanna",
    ),
    "giraffe": (
        "the tallest animal",
        "the animal with the very long neck",
        "the animal that reaches the highest leaves",
        "the tall animal that eats from the tops of trees",
        "the long necked animal",
    ),
    "cow": (
        "the farm animal that is milked",
        "the farm animal that says moo",
        "the animal that cheese and butter come from",
        "the animal that a farmer milks",
        "the farm animal that gives milk and butter",
    ),
    "elephant": (
        "the heaviest animal on land",
        "the grey giant with big ears",
        "the animal with tusks",
        "the giant animal with a trunk",
        "the grey animal with tusks and big ears",
    ),
    "camel": (
        "the animal with a hump",
        "the animal that caravans cross the sand with",
        "the ship of the desert",
        "the animal that stores fat in its hump",
        "the animal that needs no water for days",
    ),
    "penguin": (
        "the bird in a black and white suit",
        "the bird that waddles over the ice",
        "the bird that lives at the South Pole",
        "the black and white bird that swims but cannot fly",
        "the bird that waddles on the ice at the South Pole",
    ),
    "duck": (
        "the bird with a flat bill that swims on ponds",
        "the bird that dabbles in a pond",
        "the bird that children feed with bread at the pond",
        "the bird that quacks on the pond",
        "the water bird with a flat bill",
    ),
    "ladybug": (
        "the red beetle with black dots",
        "the beetle that eats lice on plants",
        "the dotted insect that is a lucky charm",
        "the small red beetle",
        "the dotted beetle that brings luck",
    ),
    "bee": (
        "the insect that lives in a hive",
        "the buzzing insect that visits flowers",
        "the striped insect that stings",
        "the insect that makes honey in a hive",
        "the buzzing insect with stripes",
    ),
    "snake": (
        "the animal that sheds its skin",
        "the hissing animal with a forked tongue",
        "the crawling animal that may be venomous",
        "the hissing animal that crawls without legs",
        "the animal with a forked tongue",
    ),
    "fish": (
        "the small colourful swimmer of the coral",
        "the pet that lives in an aquarium",
        "the striped swimmer with flowing fins",
        "the small swimmer with fins that lives in an aquarium",
        "the colourful animal of the coral",
    ),
    "shark": (
        "the predator of the sea with rows of teeth",
        "the hunter with a fin that cuts through the waves",
        "the most feared hunter under water",
        "the sea predator that swimmers fear",
        "the hunter of the sea with many teeth",
    ),
    "jellyfish": (
        "the transparent animal that drifts in the sea",
        "the sea animal without bones",
        "the drifting animal shaped like a bell",
        "the transparent animal with tentacles",
        "the animal without bones that stings swimmers",
    ),
    "turtle": (
        "the slow animal with a shell",
        "the reptile that pulls its head into its shell",
        "the animal that lays eggs in the sand and lives very long",
        "the slow reptile with a shell on its back",
        "the animal that pulls its head into its house",
    ),
    "banana": (
        "the curved fruit",
        "the yellow fruit that monkeys like",
        "the long fruit that grows in bunches",
        "the curved yellow fruit that one peels",
        "the fruit that monkeys peel",
    ),
    "apple": (
        "the fruit that keeps the doctor away",
        "the fruit that strudel is made from",
        "the fruit from the orchard with a core and pips",
        "the fruit that cider and strudel are made from",
        "the fruit with a core from the orchard",
    ),
    "strawberry": (
        "the red fruit with tiny seeds on its outside",
        "the fruit that red jam is made from",
        "the soft red berry",
        "the red berry that one eats with cream",
        "the berry with seeds on its outside",
    ),
    "watermelon": (
        "the green striped fruit that is red inside",
        "the heaviest fruit",
        "the fruit whose black seeds one spits out",
        "the big green fruit that one slices",
        "the striped fruit with black seeds",
    ),
    "pineapple": (
        "the fruit with a crown of leaves",
        "the fruit that some people put on pizza",
        "the prickly fruit",
        "the tropical fruit with a crown",
        "the prickly fruit that one cuts into rings",
    ),
    "mug": (
        "the thing with a handle that holds a hot drink",
        "the thing for a morning coffee",
        "the thing that one stirs sugar in",
        "the thing that holds hot coffee",
        "the thing with a handle that one drinks from",
    ),
    "teapot": (
        "the thing with a spout and a lid",
        "the thing that tea steeps in",
        "the thing that fills everybody's cup",
        "the thing with a spout that one pours from",
        "the thing that tea is poured from",
    ),
    "vase": (
        "the thing that holds a bouquet",
        "the vessel for roses",
        "the vessel that a florist fills",
        "the vessel that holds cut flowers",
        "the thing one puts roses in",
    ),
    "lamp": (
        "the thing with a shade and a bulb",
        "the thing that lights the room",
        "the thing that needs a new bulb now and then",
        "the thing one switches on when the room is dark",
        "the thing with a bulb that lights the night",
    ),
    "chair": (
        "the seat with a back",
        "the thing one takes a seat on",
        "the furniture for one person to sit",
        "the furniture one sits on",
        "the seat for one person",
    ),
    "table": (
        "the furniture that plates are put on",
        "the furniture that a family gathers around",
        "the thing that is laid before a meal",
        "the furniture one has dinner at",
        "the thing that plates are laid on before dinner",
    ),
    "umbrella": (
        "the thing one opens when it rains",
        "the folding roof that one carries",
        "the thing that is handy in a shower",
        "the thing one opens to keep dry",
        "the thing one carries against the rain",
    ),
    "hat": (
        "the thing that a gentleman takes off to greet",
        "the piece of clothing with a brim",
        "the thing that keeps the sun off the face",
        "the piece of clothing for the head",
        "the thing with a brim that one wears",
    ),
    "suitcase": (
        "the thing that a traveller carries",
        "the luggage with a handle",
        "the thing that is checked in at the airport",
        "the luggage one packs before a journey",
        "the thing that a traveller packs",
    ),
    "book": (
        "the thing that an author writes",
        "the thing one borrows from a library",
        "the thing with pages and a cover",
        "the thing with pages that one reads",
        "the thing an author fills with pages",
    ),
    "guitar": (
        "the musical instrument",
        "the thing one strums at a camp fire",
        "the instrument with frets and strings",
        "the instrument that one plays at a camp fire",
        "the thing with strings that one strums",
    ),
    "car": (
        "the vehicle that fits in a garage",
        "the private vehicle with four wheels",
        "the vehicle that a family drives",
        "the private vehicle from the garage",
        "the thing with four wheels that one drives to work",
    ),
    "bus": (
        "the vehicle that stops where passengers wait in town",
        "the vehicle with a route number and many seats",
        "the vehicle that takes a whole class to school",
        "the vehicle with many seats that passengers share",
        "the vehicle with a route through town",
    ),
    "airplane": (
        "the vehicle with wings",
        "the vehicle that a pilot lands",
        "the vehicle that lands at an airport",
        "the vehicle with wings that a pilot flies",
        "the vehicle one takes to the airport and the sky",
    ),
    "sailboat": (
        "the vehicle with a mast",
        "the vehicle that needs wind",
        "the vehicle that a skipper steers in a regatta",
        "the vehicle with a mast that needs the wind",
        "the vehicle that a skipper steers over the sea",
    ),
    "soccer ball": (
        "the toy that two teams run after",
        "the thing that a striker shoots",
        "the thing that rolls over the pitch",
        "the thing that a goalkeeper catches",
        "the thing that teams kick over the pitch",
    ),
    "cactus": (
        "the plant with spines",
        "the plant that grows where it hardly ever rains",
        "the prickly plant",
        "the plant that stores water",
        "the prickly plant with spines",
    ),
    "tree": (
        "the plant with a trunk and branches",
        "the plant that gives shade and timber",
        "the plant that sheds its leaves in autumn",
        "the plant with branches that birds nest in",
        "the plant with a trunk that gives shade",
    ),
    "snowman": (
        "the figure with a carrot nose",
        "the figure that melts in spring",
        "the winter figure made of three balls",
        "the figure with a carrot that melts",
        "the figure of balls that children build",
    ),
    "brick wall": (
        "the thing made of stones and mortar",
        "the thing that fences a property in",
        "the thing that a bricklayer builds up row by row",
        "the thing of stones that a bricklayer builds",
        "the thing of mortar and stones",
    ),
}
"""The wordings of each category after its `purpose`."""


def reasoning_wordings(category: str) -> tuple[str, ...]:
    """Every wording of a category, the held-out ones last.

    >>> reasoning_wordings("mug")[0]
    'the thing one drinks coffee from'
    """
    return CATEGORIES[category].purpose, *MORE.get(category, ())


def training_wordings(category: str) -> tuple[str, ...]:
    """What a model may hear of a category while it learns.

    >>> len(training_wordings("mug"))
    4
    """
    return reasoning_wordings(category)[:-HELD_OUT]


def held_out_wordings(category: str) -> tuple[str, ...]:
    """What no training uses.

    >>> held_out_wordings("mug")[0]
    'the thing that holds hot coffee'
    """
    return reasoning_wordings(category)[-HELD_OUT:]
