"""What usually goes together, as far as everybody knows: for photographs too few to count it in.

In a hundred photographs no pair of things is seen fifty times. These tables name pairs and usual
looks over COCO's categories instead; a build with `pairs = "table"` draws its candidates from them
and says so. No person is in them.
"""

from __future__ import annotations

from groundfault.parsing.vocabulary import listed

__all__ = ["ATTRIBUTES", "COLOURS", "MATERIALS", "PAIRS", "SHAPES", "TEXTURES", "attribute_type"]

PAIRS: tuple[tuple[str, str, str], ...] = tuple(
    (erased, relation, kept)
    for kept, relation, expected in (
        ("dining table", "on", "cup bowl wine_glass bottle fork knife spoon pizza cake sandwich "
         "vase donut hot_dog broccoli carrot banana apple orange potted_plant laptop cell_phone "
         "book remote scissors teddy_bear clock tv keyboard mouse toaster backpack handbag"),
        ("dining table", "beside", "chair bench couch refrigerator oven sink microwave"),
        ("chair", "on", "cat dog teddy_bear backpack handbag book"),
        ("chair", "beside", "potted_plant tv laptop suitcase umbrella vase clock bed couch"),
        ("couch", "on", "cat dog teddy_bear remote book laptop cell_phone handbag"),
        ("couch", "beside", "potted_plant tv chair vase clock"),
        ("bed", "on", "cat dog teddy_bear book laptop remote suitcase backpack handbag"),
        ("bed", "beside", "chair tv clock potted_plant vase couch"),
        ("bench", "on", "cat dog backpack handbag bird"),
        ("bench", "near", "bicycle umbrella potted_plant"),
        ("laptop", "beside", "mouse keyboard cup cell_phone book"),
        ("tv", "beside", "remote laptop vase book potted_plant clock couch chair keyboard mouse"),
        ("keyboard", "beside", "mouse laptop tv cell_phone cup"),
        ("toilet", "beside", "sink bottle toothbrush potted_plant"),
        ("sink", "beside", "toothbrush bottle cup bowl toilet hair_drier oven refrigerator "
         "microwave potted_plant vase clock"),
        ("oven", "beside", "refrigerator microwave sink toaster"),
        ("oven", "on", "bowl bottle cup microwave"),
        ("refrigerator", "beside", "microwave oven sink chair"),
        ("microwave", "beside", "toaster bowl bottle oven"),
        ("bowl", "in", "orange apple banana broccoli carrot spoon"),
        ("vase", "in", "potted_plant"),
        ("pizza", "beside", "fork knife cup wine_glass bottle"),
        ("cake", "beside", "fork knife spoon cup"),
        ("sandwich", "beside", "fork knife cup bowl"),
        ("fork", "beside", "knife spoon"),
        ("traffic light", "near", "car bus truck stop_sign motorcycle bicycle"),
        ("stop sign", "near", "car truck bus bicycle"),
        ("parking meter", "near", "car bicycle truck"),
        ("fire hydrant", "near", "car truck bench"),
        ("car", "near", "truck bus motorcycle bicycle traffic_light parking_meter"),
        ("bus", "near", "car truck traffic_light bicycle"),
        ("truck", "near", "car motorcycle bus"),
        ("train", "near", "traffic_light car truck bench"),
        ("boat", "near", "bird surfboard"),
        ("airplane", "near", "truck car"),
        ("horse", "near", "cow sheep dog"),
        ("sheep", "near", "dog cow bird"),
        ("cow", "near", "sheep horse dog bird"),
        ("elephant", "near", "bird zebra giraffe"),
        ("zebra", "near", "giraffe bird"),
        ("giraffe", "near", "zebra bird"),
        ("umbrella", "near", "chair bench handbag"),
        ("surfboard", "near", "boat bird"),
        ("suitcase", "beside", "backpack handbag umbrella"),
        ("backpack", "beside", "suitcase bottle handbag"),
        ("book", "beside", "clock vase cup laptop"),
        ("clock", "near", "vase book"),
        ("skateboard", "near", "backpack"),
        ("bicycle", "near", "car bench backpack"),
        ("motorcycle", "near", "car backpack"),
        ("sports ball", "near", "tennis_racket baseball_glove baseball_bat"),
        ("tennis racket", "near", "sports_ball"),
        ("baseball bat", "near", "baseball_glove sports_ball"),
        ("potted plant", "beside", "vase chair couch"),
    )
    for erased in (name.replace("_", " ") for name in expected.split())
)  # fmt: skip
"""(what would be missed, its usual relation, what makes one expect it)."""

_LOOKS = """
airplane: white, metal | apple: red, round | banana: yellow, curved | baseball bat: wooden, brown
baseball glove: brown, leather | bear: brown, furry | bed: white, fabric | bench: wooden, brown
bicycle: metal, black | bird: feathered, brown | boat: white, wooden | book: paper, rectangular
bottle: glass, green | bowl: white, ceramic | broccoli: green | bus: red, metal | cake: brown, round
car: black, metal | carrot: orange | cat: furry, gray | cell phone: black, rectangular
chair: wooden, brown | clock: round, white | couch: brown, fabric | cow: brown, furry
cup: white, ceramic | dining table: wooden, brown | dog: furry, brown | donut: round, brown
elephant: gray, wrinkled | fire hydrant: red, metal | fork: silver, metal
frisbee: round, plastic | giraffe: spotted, brown | hair drier: plastic, black
handbag: leather, black | horse: brown, furry | hot dog: brown | keyboard: black, plastic
kite: colorful, fabric | knife: silver, metal | laptop: silver, rectangular
microwave: white, rectangular | motorcycle: black, metal | mouse: black, plastic
orange: orange, round | oven: white, metal | parking meter: gray, metal | pizza: round, yellow
potted plant: green | refrigerator: white, rectangular | remote: black, plastic | sandwich: brown
scissors: metal, silver | sheep: white, woolly | sink: white, ceramic | skateboard: wooden, black
snowboard: smooth | spoon: silver, metal | sports ball: round | stop sign: red, octagonal
suitcase: black, rectangular | surfboard: white, smooth | teddy bear: brown, furry
tennis racket: oval | tie: silk, striped | toaster: silver, metal | toilet: white, ceramic
toothbrush: plastic | traffic light: black, rectangular | train: metal | truck: white, metal
tv: black, rectangular | umbrella: black, fabric | vase: ceramic, glass
wine glass: transparent, glass | zebra: striped, black and white
"""
ATTRIBUTES: dict[str, tuple[str, ...]] = {
    name.strip(): tuple(look.strip() for look in looks.split(","))
    for entry in _LOOKS.replace("\n", "|").split("|")
    if entry.strip()
    for name, looks in [entry.split(":")]
}
"""Category → its usual looks, the most usual first."""

COLOURS = listed(
    "black white gray grey silver gold golden red orange yellow green blue purple pink brown beige "
    "tan colorful dark light blonde cream maroon teal navy"
) | {"black and white", "dark brown", "light brown", "dark blue", "light blue"}
MATERIALS = listed(
    "wooden wood metal metallic steel iron glass plastic leather fabric cloth cotton silk woolly "
    "wool furry feathered ceramic porcelain paper cardboard stone brick concrete marble rubber "
    "wicker bronze straw clay"
)
SHAPES = listed(
    "round square rectangular oval octagonal triangular curved straight circular cylindrical flat "
    "pointed long short tall"
)
TEXTURES = listed(
    "striped spotted dotted checkered plaid wrinkled smooth rough shiny matte glossy transparent "
    "floral patterned"
)


def attribute_type(attribute: str) -> str:
    """What an attribute is about; "state" where it is none of the others.

    >>> attribute_type("red"), attribute_type("wooden"), attribute_type("open")
    ('color', 'material', 'state')
    """
    kinds = (("color", COLOURS), ("material", MATERIALS), ("shape", SHAPES), ("texture", TEXTURES))
    return next((kind for kind, words in kinds if attribute in words), "state")
