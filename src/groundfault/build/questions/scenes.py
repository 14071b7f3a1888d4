"""What questions need to know of a candidate's pictures and of the things around its target."""

from __future__ import annotations

from pathlib import Path

import msgspec

from groundfault.build.proposals.layout import Box, box_of
from groundfault.build.questions.looks import Look, look_of
from groundfault.build.questions.validators import NotAsked
from groundfault.build.records import Candidate
from groundfault.io.masks import decode, mask_box, parse_mask
from groundfault.io.photographs import Thing
from groundfault.io.pictures import read_image

__all__ = ["after_look", "before_look", "new_box", "others_of_its_kind", "retargeted", "third"]

CLEAR = 0.05
"""Share of the picture's width that a thing's middle is away from the border of its third."""


def others_of_its_kind(candidate: Candidate) -> list[Thing]:
    """Other things of the target's category."""
    name = candidate.target.category
    return [
        thing
        for thing in candidate.photograph.things
        if thing.category == name and thing.id != candidate.target.id
    ]


def retargeted(candidate: Candidate, thing: Thing) -> Candidate:
    """The same photograph, seen from another of its things."""
    return msgspec.structs.replace(candidate, target=thing)


def before_look(candidate: Candidate, build: Path) -> Look:
    """How the target is coloured in the photograph."""
    return _look(candidate, build, after=False)


def after_look(candidate: Candidate, build: Path) -> Look:
    """How it is coloured in the edited picture."""
    return _look(candidate, build, after=True)


def _look(candidate: Candidate, build: Path, *, after: bool) -> Look:
    edited, mask = candidate.edited, candidate.target.mask
    if edited is None or mask is None:
        raise NotAsked("Q-colour", "its colour cannot be measured without a mask")
    return look_of(read_image(build / (edited.after if after else edited.before)), decode(mask))


def new_box(candidate: Candidate) -> Box:
    """Where what was added is; the target's own box where nobody says."""
    mask = candidate.edited.mask if candidate.edited else None
    if mask is None:
        return box_of(candidate.target)
    x, y, width, height = mask_box(parse_mask(mask, *mask["size"]))
    return Box(x, y, x + width, y + height)


def third(candidate: Candidate) -> str:
    """Where the target is, in thirds of the picture, where that is not in doubt."""
    box = box_of(candidate.target)
    at = 3 * box.centre[0] / candidate.photograph.width_px
    wide = (box.right - box.left) / candidate.photograph.width_px
    if (abs(at - round(at)) < 3 * CLEAR and 0.5 < at < 2.5) or wide > 0.75:
        raise NotAsked("Q-where", "it stands between two parts of the picture")
    return ("on the left", "in the middle", "on the right")[max(0, min(2, int(at)))]
