"""What benchmarks are not built about unless asked for: people, and what is sensitive.

Words are looked for in categories, expressions and questions, in singular and plural. A name that
contains such a word and means something else ("hair drier", "record player") is let through.
"""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from groundfault.errors import UnknownName
from groundfault.io.photographs import Thing

__all__ = ["EXCEPTIONS", "GROUPS", "Denied", "denied_word", "denied_word_of"]

GROUPS: dict[str, str] = {
    "people": """
        person people persons human humans man men woman women lady ladies gentleman
        gentlemen guy guys gal dude fella bloke boy boys girl girls child children kid kids
        baby babies infant toddler teen teenager teenagers adult adults youth elder grandma
        grandpa grandmother grandfather mother father mom mum mommy dad daddy parent parents
        son daughter brother sister uncle aunt wife husband spouse bride groom twins family
        families audience spectator spectators pedestrian pedestrians passenger passengers
        bystander student students teacher worker workers employee staff customer customers
        tourist tourists traveler commuter friend friends neighbour neighbor stranger
        somebody someone anybody everybody who player players batter umpire referee athlete
        athletes skier skiers snowboarder snowboarders skateboarder skateboarders skater
        skaters surfer surfers swimmer cyclist cyclists biker bikers motorcyclist rider
        riders jockey runner jogger golfer goalie goalkeeper fielder driver pilot captain
        sailor fisherman fishermen farmer chef waiter waitress barista vendor cashier clerk
        doctor nurse patient soldier soldiers policeman policemen policewoman officer
        officers cop cops fireman firemen firefighter musician singer dancer actor actress
        artist photographer president priest monk nun pope businessman businesswoman asian
        african caucasian
        """,
    "bodies": """
        face faces hair beard mustache moustache eyebrow eyebrows eyelash forehead cheek
        chin lips finger fingers thumb fingernail wrist elbow forearm shoulder shoulders
        torso breast breasts belly navel buttocks butt hip hips thigh thighs knee knees
        ankle skin tattoo hand hands
        """,
    "sensitive": """
        gun guns handgun pistol rifle shotgun revolver firearm weapon weapons grenade bomb
        ammunition bullet noose corpse coffin casket skull skeleton grave gravestone tombstone
        blood wound nude naked nudity underwear panties bra lingerie bikini condom crucifix swastika
        cigarette cigar marijuana cannabis syringe passport
        """,
}
"""Group → its words."""

EXCEPTIONS = """
    hair drier|hair dryer|hair brush|hair band|baby buggy|baby carriage|baby stroller|baby bottle
    baby carrot|baby carrots|hand towel|hand bag|hand cart|hand glass|hand soap|clock face
    face of the clock|watch face|clock hand|clock hands|hands of the clock|face towel
    record player|cd player|dvd player|tape player|media player|music player|mp3 player|vcr player
    screw driver|golf driver|family car|skull cap|pilot light|banana skin|potato skin|ladies room
    shoulder bag|knee pad|knee pads|elbow pad|elbow pads|wrist watch|wrist band|table runner
    skin of the fruit|customer service|student desk|worker bee|passenger train|passenger car
    chicken breast|turkey breast|duck breast|hand dryer|hand drier|toy soldier|face mirror
    passenger plane|passenger jet|passenger ferry|driver side|officer chair
"""
"""Names that contain such a word and mean something else."""

YOUNG = "baby|mother|mom|mommy|father|dad|parent|child|adult"
ANIMALS = (
    "animal|bear|bird|bull|calf|camel|cat|chick|chimpanzee|cow|deer|dog|dolphin|donkey|duck|elephant"
    "|fox|giraffe|goat|goose|gorilla|hippopotamus|horse|kangaroo|kitten|lamb|lion|llama|monkey|ostrich"
    "|owl|panda|penguin|pig|pony|puppy|rabbit|rhinoceros|seal|sheep|swan|tiger|whale|wolf|zebra"
)
"""Of these there are young ones, mothers and faces too, which are nobody's."""

_WORD = re.compile(r"[a-z]+")


class Denied(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which words keep a thing out of a build."""

    groups: tuple[str, ...] = ("people", "bodies", "sensitive")
    """Of `GROUPS`."""
    more: tuple[str, ...] = ()
    """Further words or names."""
    allowed: tuple[str, ...] = ()
    """Words or names that are let through all the same."""


@lru_cache(1 << 14)
def denied_word(text: str, denied: Denied) -> str:
    """The first denied word of a text; "" where there is none.

    >>> denied_word("the cup next to the Woman", Denied())
    'woman'
    >>> denied_word("hair drier", Denied()), denied_word("man", Denied(allowed=("man",)))
    ('', '')
    """
    words, names, exceptions = _compiled(denied)
    folded = exceptions.sub(" ", " ".join(_WORD.findall(text.casefold())))
    found = next((word for word in folded.split() if word in words), "")
    return found or next(
        (name for name in names if re.search(rf"\b{re.escape(name)}\b", folded)), ""
    )


def denied_word_of(thing: Thing, denied: Denied) -> str:
    """The first denied word of a thing's category, expressions and questions."""
    texts = (thing.category, *thing.phrases, *thing.questions)
    return next((word for text in texts if (word := denied_word(text, denied))), "")


@lru_cache(64)
def _compiled(denied: Denied) -> tuple[frozenset[str], tuple[str, ...], re.Pattern[str]]:
    """Single words, names of several words, and what is let through."""
    more = [each.casefold().strip() for each in denied.more]
    allowed = [each.casefold().strip() for each in denied.allowed]
    for group in denied.groups:
        if group not in GROUPS:
            raise UnknownName("group of denied words", group, GROUPS)
    words = {word for group in denied.groups for word in GROUPS[group].split()}
    words |= {each for each in more if " " not in each}
    own = [name.strip() for line in EXCEPTIONS.strip().splitlines() for name in line.split("|")]
    own.append(f"(?:{YOUNG}) (?:{ANIMALS})s?")
    own.append(f"(?:{ANIMALS})s? faces?")
    exceptions = [*map(re.escape, allowed), *own]
    names = [each for each in more if " " in each]
    let_through = re.compile(rf"\b(?:{'|'.join(exceptions)})\b")
    return frozenset(words - set(allowed)), tuple(names), let_through
