"""A phrases file to begin with: from a table of look-alikes, from COCO annotations, or by a chat
model that may be shown some of the photographs. Whoever audits reads it and strikes out what is not
so: nothing here has seen all pictures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from os import PathLike
from pathlib import Path

import msgspec

from groundfault.building.pairs import vocabulary_of
from groundfault.building.proposals.kinds import kin, other_names, wider_kind
from groundfault.building.proposals.tables import SURFACES, usual
from groundfault.errors import DataError, GroundfaultError, UsageError
from groundfault.io.foreign import decode_json
from groundfault.io.photographs import spoken
from groundfault.io.phrases import Phrases, sound_phrases
from groundfault.records import Conversation, Message, Outcome, Picture, Reply
from groundfault.registry import load

__all__ = ["THINGS", "conversation_for", "from_chat", "from_coco", "from_table"]

AnyPath = str | PathLike[str]
THINGS = ("person", "dog", "cat", "car", "bicycle", "chair", "couch", "cup", "bottle", "laptop")
"""What is asked about where nobody says what the photographs show."""
LOOK_ALIKES, MOST_NAMES, MOST_ABSENT, MOST_THINGS = 2, 2, 5, 12
MOST_REPLIES = 2
PARTS = {
    "airplane": "airplane wing",
    "bicycle": "bicycle wheel",
    "bird": "bird's wing",
    "bottle": "bottle cap",
    "bus": "bus wheel",
    "car": "car wheel",
    "cat": "cat's tail",
    "chair": "chair leg",
    "couch": "couch cushion",
    "cup": "cup handle",
    "dog": "dog's tail",
    "elephant": "elephant's trunk",
    "horse": "horse's tail",
    "laptop": "laptop keyboard",
    "motorcycle": "motorcycle wheel",
    "person": "person's face",
}
"""A part of each thing that lies inside of what an annotator would mark."""
WORN = frozenset({"accessory", "bag", "clothing"})
"""Wider kinds of what people have on or do not."""
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)


def from_table(things: Sequence[str] = ()) -> Phrases:
    """Things with what they are easily taken for, their other names, parts and wider kinds, people
    with and without what they may wear, and patterned things that are likely in no picture.

    >>> found = from_table(["sofa"])
    >>> found.exclusive[0], found.same, found.kind_of
    (('sofa', 'bed'), (('sofa', 'couch', 'settee'),), (('sofa', 'furniture'),))
    >>> from_table(["person", "helmet"]).exclusive
    (('person with helmet', 'person without helmet'),)
    """
    asked = tuple(dict.fromkeys(things or THINGS))
    return sound_phrases(
        Phrases(
            phrases=asked,
            exclusive=(*_with_and_without(asked), *_look_alikes(asked)),
            absent=tuple(_unlikely(asked))[:MOST_ABSENT],
            same=tuple(_wordings(asked)),
            part_of=tuple(_parts(asked)),
            kind_of=tuple((thing, kind) for thing in asked if (kind := wider_kind(thing))),
        ),
        "the things",
    )


def _with_and_without(things: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Who may wear something, with it and without."""
    for wearer in (each for each in things if "person" in (each, wider_kind(each))):
        for worn in (each for each in things if wider_kind(each) in WORN):
            yield f"{wearer} with {worn}", f"{wearer} without {worn}"


def _parts(things: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each thing's best known part, and the thing."""
    return ((PARTS[thing], thing) for thing in things if thing in PARTS)


def _wordings(things: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """Each thing with a few of its other names."""
    for thing in things:
        names = other_names(thing)[:MOST_NAMES]
        if names:
            yield thing, *names


def _look_alikes(things: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each thing with the first of those that may stand in its place and are none of it."""
    known: set[frozenset[str]] = set()
    for thing in things:
        row = usual(thing)
        others = [other for other in (row.replacements if row else ()) if not kin(thing, other)]
        for other in others[:LOOK_ALIKES]:
            if frozenset((thing, other)) not in known:
                known.add(frozenset((thing, other)))
                yield thing, other


def _unlikely(things: Sequence[str]) -> Iterator[str]:
    """What surfaces are typical of, unless it is one of the things or looks like one."""
    near = {*things, *(other for pair in _look_alikes(things) for other in pair)}
    for surface in SURFACES.values():
        if not any(kin(surface.typical_of, thing) for thing in near):
            yield surface.typical_of


def from_coco(
    annotations: AnyPath, names: Iterable[str] = (), things: Sequence[str] = ()
) -> Phrases:
    """What COCO's annotators found most often, their look-alikes among what they looked for, and
    categories that are in none of the pictures; `names` are those of the pictures, if not all."""
    benchmark = load("benchmarks", "coco").read(annotations)
    kept = {Path(name).name for name in names}
    items = [each for each in benchmark.items if not kept or Path(each.image).name in kept]
    if not items:
        raise DataError(
            annotations, "none of its pictures is in the folder", remedy="give the pictures' own"
        )
    counted = Counter(spoken(item.query) for item in items if item.present)
    vocabulary = list(dict.fromkeys(spoken(name) for name in vocabulary_of(annotations)))
    present = tuple(things) or tuple(name for name, _ in counted.most_common(MOST_THINGS))
    absent = [name for name in vocabulary if name not in counted]
    everything = combinations((*present, *absent), 2)
    pairs = [(a, b) for a, b in everything if a in present and _is_taken_for(a, b)]
    alike = [name for name in absent if any(name in pair for pair in pairs)]
    chosen = [*alike, *(name for name in absent if name not in alike)][:MOST_ABSENT]
    asked = {*present, *chosen}
    return sound_phrases(
        Phrases(
            phrases=present,
            exclusive=tuple(pair for pair in pairs if {*pair} <= asked),
            absent=tuple(chosen),
            same=tuple(_wordings(present)),
            part_of=tuple(_parts(present)),
            kind_of=tuple((each, kind) for each in present if (kind := wider_kind(each))),
        ),
        annotations,
    )


def _is_taken_for(one: str, other: str) -> bool:
    """Whether two things are look-alikes, and neither is a kind of the other."""
    rows = usual(one), usual(other)
    named = [row.replacements if row else () for row in rows]
    return (other in named[0] or one in named[1]) and not kin(one, other)


def conversation_for(things: Sequence[str], pictures: Sequence[Picture]) -> Conversation:
    """What a chat model is asked."""
    about = ", ".join(things)
    shown = "The pictures are some of the photographs. " if pictures else ""
    wanted = f"They are about: {about}. " if about else ""
    words = (
        "Somebody wants to know whether a segmentation model contradicts itself on photographs. "
        f"{shown}{wanted}Name things that can be seen and pointed at, and what is known about the "
        "words, as one JSON object with these keys:\n"
        '"phrases": up to 12 short noun phrases for things in the photographs\n'
        '"exclusive": lists of phrases that can never be true of one and the same region, such as '
        '["person with helmet", "person without helmet"] or things that look alike\n'
        '"absent": up to 5 things that are easily expected there but are in none of them\n'
        '"same": lists of wordings of one thing: synonyms, plural, another language\n'
        '"part_of": pairs of a part and its whole\n'
        '"kind_of": pairs of a kind and the wider kind\n'
        "Answer with the JSON object alone."
    )
    return (Message("user", (*pictures, words)),)


def from_chat(ask: Callable[[Conversation], Reply], first: Conversation) -> Phrases:
    """What a chat model proposes; it is told once what is wrong with its reply."""
    asked, problem = first, ""
    for _ in range(MOST_REPLIES):
        reply = ask(asked)
        if reply.outcome is Outcome.FAILED:
            raise GroundfaultError(f"the chat model did not answer: {reply.reason}")
        try:
            return _read(reply.text)
        except (GroundfaultError, msgspec.DecodeError) as wrong:
            problem = str(wrong)
        said = Message("assistant", (reply.text or "…",))
        again = f"That cannot be used: {problem} Give the whole JSON object again."
        asked = (*first, said, Message("user", (again,)))
    raise UsageError(f"the chat model's phrases cannot be used: {problem}")


def _read(text: str) -> Phrases:
    """The JSON object in a reply; keys that nobody asked for are left out."""
    found = _OBJECT.search(text)
    if found is None:
        raise UsageError("there is no JSON object in the reply.")
    given = decode_json(found[0], dict[str, msgspec.Raw])
    known = {key: decode_json(raw) for key, raw in given.items() if key in _KEYS}
    return sound_phrases(msgspec.convert(known, Phrases), "reply")


_KEYS = ("phrases", "exclusive", "absent", "same", "part_of", "kind_of")
