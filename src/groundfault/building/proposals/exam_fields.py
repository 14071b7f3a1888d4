"""The fields that an exam's questions are made from, as far as annotations tell them.

ReactBench has a model look at both pictures and write them. What is told here is less rich, but
holds: places come from boxes, habits from the tables, and nothing is said about what only the
picture shows.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

from groundfault.building.proposals.kinds import kin, named_denied
from groundfault.building.proposals.layout import (
    area_of,
    box_of,
    landmarks,
    locative,
    placed,
    sector,
    underneath,
)
from groundfault.building.proposals.tables import COLOURS, SURFACES, usual
from groundfault.building.proposals.words import joined, plain, with_article
from groundfault.building.records import Candidate

__all__ = [
    "ABSURD",
    "AWAY",
    "SEEN",
    "SPARED",
    "STUFFS",
    "attribute_fields",
    "count_of",
    "erasure_fields",
    "neighbours",
    "tracing_fields",
]

COMMON_COLOURS = ("white", "black", "grey", "brown", "blue", "red", "green", "yellow")
ABSURD = ("piano", "penguin", "cactus", "submarine", "windmill", "snowman", "trumpet", "camel",
          "lighthouse", "octopus", "harp", "igloo", "tractor", "telescope")  # fmt: skip
"""Things that hardly any photograph has."""
SPARED, SEEN, AWAY = "while everything else stayed as it was", "that can be seen", "away from it"
"""What brings options to the paper's lengths; questions leave it out."""
STANDING = {"animal": "standing", "food": "lying", "sport": "lying", "tool": "lying"}
CORNERS = ("the upper left of the picture", "the upper right of the picture",
           "the lower left of the picture", "the lower right of the picture",
           "the centre of the picture", "the upper part of the picture")  # fmt: skip


def neighbours(candidate: Candidate, most: int = 3) -> list[str]:
    """What stands near the target, for sentences about what must stay."""
    names = dict.fromkeys(f"the {thing.category}" for thing in landmarks(candidate))
    return list(names)[:most]


def count_of(candidate: Candidate) -> int | None:
    """How many of the target's kind there are, as the source counted them or mining did where all
    of them are annotated; None where nobody did."""
    mined = candidate.facts.get("count", "")
    return candidate.photograph.counts.get(
        candidate.target.category, int(mined) if mined.isdecimal() else None
    )


def _absurd(candidate: Candidate, rng: random.Random, count: int) -> list[str]:
    there = [thing.category for thing in candidate.photograph.things]
    names = [name for name in ABSURD if not any(kin(name, other) for other in there)]
    return rng.sample(names, count)


def _colour(candidate: Candidate) -> str:
    """The colour that a thing has by its attributes, or by habit."""
    known = [a for a in candidate.target.attributes if plain(a) in COLOURS]
    of = usual(candidate.target.category)
    habit = [c for c in of.colours if c != "any"] if of else []
    return (known or habit or ["white"])[0]


def _other_colours(not_these: Iterable[str], rng: random.Random, count: int) -> list[str]:
    banned = {*not_these}
    return rng.sample([c for c in COMMON_COLOURS if c not in banned], count)


def erasure_fields(candidate: Candidate, rng: random.Random) -> dict[str, str]:
    """What questions about something that was erased need."""
    name, colour = candidate.target.category, _colour(candidate)
    of, place = usual(name), area_of(candidate)
    others = [
        thing
        for thing in candidate.photograph.things
        if thing.category == name and thing.id != candidate.target.id
    ]
    elsewhere = sector(candidate.photograph, box_of(others[0])) if others else ""
    left = underneath(candidate)
    first, second, third, fourth = _other_colours([colour], rng, 4)
    absurd = _absurd(candidate, rng, 2)
    stance = STANDING.get(of.nature if of else "", "placed")
    return {
        "B_name": name,
        "B_count_descriptor": with_article(name).split()[0] if " " in with_article(name) else "",
        "A_location": place,
        "remaining_at_A": joined([f"the {t.category}" for t in left[:2]])
        if left
        else f"only the background, with no {name}",
        "same_type_elsewhere": "yes" if others else "no",
        "same_type_elsewhere_detail": f"Yes, {placed(elsewhere)}" if others else "No",
        "common_knowledge": of.knowledge if of else f"Pictures like this usually have {name}.",
        "attribute_type": "color",
        "attribute_value": colour,
        "absurd_object_1": absurd[0],
        "absurd_object_2": absurd[1],
        "B_full_desc": f"{with_article(colour)} {name} {stance} by itself {placed(place)}, "
        "as one would expect there",
        "B_variant_1": f"{with_article(first)} {name}",
        "B_variant_2": f"a small {second} {name}",
        "B_variant_3": f"{with_article(third)} {name}",
        "B_variant_4": f"a large {fourth} {name}",
        "attribute_option_1": colour,
        "attribute_option_2": first,
        "attribute_option_3": second,
        "nothing_desc": f"no {name} at all, only what was behind it",
    }


_SLOTS = {
    "recolour": ("color", "see-through", "made of wool"),
    "material": ("material", "smoke", "square"),
    "surface": ("pattern", "newspaper print", "made of soap"),
}
_PATTERNS = ("striped", "dotted", "checkered", "marbled", "floral")
_SURFACES = {
    "zebra": ("zebra stripes", "striped"),
    "watermelon": ("watermelon stripes", "striped", "marbled"),
    "giraffe": ("giraffe patches", "dotted", "checkered"),
    "leopard": ("leopard spots", "dotted"),
    "brick wall": ("bricks", "checkered"),
    "ladybug": ("ladybug spots", "dotted"),
    "cow": ("cow patches", "dotted", "marbled"),
}
"""What a surface is called in short, and patterns that it might be called as well."""
STUFFS = ("plastic", "wood", "metal", "glass", "leather", "cloth", "rubber", "concrete")


def attribute_fields(
    candidate: Candidate, kind: str, value: str, rng: random.Random
) -> dict[str, str]:
    """What questions about a changed attribute need."""
    name, of = candidate.target.category, usual(candidate.target.category)
    slot, absurd, absurd_elsewhere = _SLOTS[kind]
    old, new, wrong = _attribute_values(candidate, kind, value, rng)
    here = locative(candidate)
    others = _other_places(candidate, rng)
    return {
        "A_object": name,
        "A_number": "singular",
        "attribute_type": slot,
        "B_original_attribute": old,
        "C_new_attribute": new,
        "D_location": here,
        "D_alt_location": "in the picture",
        "plausible_wrong_attribute_1": wrong[0],
        "plausible_wrong_attribute_2": wrong[1],
        "E_absurd_same_slot": absurd,
        "absurd_attribute_2": absurd_elsewhere,
        **{f"wrong_location_{k}": placed(place) for k, place in enumerate(others, start=1)},
        "common_knowledge": of.knowledge if of else "",
    }


def _attribute_values(
    candidate: Candidate, kind: str, value: str, rng: random.Random
) -> tuple[str, str, list[str]]:
    """Old, new and two wrong values of one slot."""
    of = usual(candidate.target.category)
    if kind == "recolour":
        old = _colour(candidate)
        return old, value, _other_colours({old, value, *old.split(" and ")}, rng, 2)
    if kind == "material":
        made = [m for m in (of.materials if of else ()) if m != "any"] or ["plastic"]
        wrong = [stuff for stuff in STUFFS if stuff not in (*made, value)]
        return made[0], value, rng.sample(wrong, 2)
    pattern, *also = _SURFACES.get(value, (SURFACES[value].words,))
    wrong = [each for each in _PATTERNS if each not in also]
    return "single-coloured", pattern, rng.sample(wrong, 2)


def _other_places(candidate: Candidate, rng: random.Random) -> list[str]:
    """Three parts of the picture that the target is not in."""
    own = sector(candidate.photograph, box_of(candidate.target))
    return rng.sample([place for place in CORNERS if place != own], 3)


_CHANGES = {
    "erase": "was removed",
    "add": "had another one placed next to it",
    "replace": "was replaced with {}",
    "move": "was moved a little to the side",
}
"""What happened, as it holds whatever side an editor found room on."""
_OPERATIONS = {"erase": "delete", "add": "add", "replace": "replace", "move": "move"}


def tracing_fields(
    candidate: Candidate, kind: str, value: str, rng: random.Random
) -> dict[str, str]:
    """What questions about an alteration need: where (A), what (B), how (C), and what else it might
    have been."""
    name, place = candidate.target.category, area_of(candidate)
    change = _CHANGES[kind].format(with_article(value) if kind == "replace" else value)
    others = _others(candidate, rng)
    places = [spot for spot in _places_of(candidate, rng) if spot != place]
    fakes = _fakes(candidate, kind, rng)
    fields = {
        "edit_type": _OPERATIONS[kind],
        "A": place,
        "B": name,
        "C": change,
        "A_prime": places[0],
        "B_prime": others[0],
        "C_prime": fakes[0],
    }
    for k in range(3):
        other, spot, fake = others[k % len(others)], places[k % len(places)], fakes[k]
        fields[f"choice_1a_distractor_{k + 1}"] = f"the {other} {placed(spot)} {fake}, {SPARED}"
        fields[f"choice_2a_{k + 1}"] = f"the {(name, *others)[k]} there {fakes[k]}"
        fields[f"choice_3a_{k + 1}"] = f"the {other} {SEEN} {placed(spot)}, {AWAY}"
        fields[f"choice_1b_{k + 1}"] = f"the {others[0]} {placed(places[k])} {fakes[k]}"
        fields[f"choice_2b_{k + 1}"] = f"the {others[k % len(others)]} there {fakes[(k + 1) % 3]}"
        fields[f"choice_3b_{k + 1}"] = f"the {others[k % len(others)]} {placed(places[k])}"
    return fields


def _others(candidate: Candidate, rng: random.Random) -> list[str]:
    """Three names of things that are no kin of the target: of the picture first, then such as
    might be in it."""
    own, of = candidate.target.category, usual(candidate.target.category)
    seen = sorted({thing.category for thing in candidate.photograph.things if thing.category})
    rng.shuffle(seen)
    likely = (*(of.replacements if of else ()), "potted plant", "clock", "bottle", "chair")
    found: list[str] = []
    for name in (*seen, *likely):
        strange = named_denied(name) or any(kin(name, old) for old in (own, *found))
        if not strange and name not in found:
            found.append(name)
    return found[:3]


def _places_of(candidate: Candidate, rng: random.Random) -> list[str]:
    """Places without the target: parts of the picture, those with other landmarks first."""
    own = sector(candidate.photograph, box_of(candidate.target))
    marks = [sector(candidate.photograph, box_of(thing)) for thing in landmarks(candidate)]
    rest = rng.sample(CORNERS, len(CORNERS))
    return [place for place in dict.fromkeys((*marks, *rest)) if place != own]


def _fakes(candidate: Candidate, kind: str, rng: random.Random) -> list[str]:
    """Three changes that were not made, each of another kind."""
    of = usual(candidate.target.category)
    instead = next(iter(of.replacements), "box") if of else "box"
    wrong = {
        "erase": "was removed",
        "add": "had another one placed next to it",
        "replace": f"was replaced with {with_article(instead)}",
        "move": f"was moved to the {rng.choice(('left', 'right'))}",
        "turn": "was turned around",
    }
    wrong.pop(kind)
    if kind in ("replace", "move"):  # what is replaced or moved is gone from its place, too
        wrong.pop("erase")
    return rng.sample(list(wrong.values()), 3)
