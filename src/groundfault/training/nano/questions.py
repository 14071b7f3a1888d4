"""What is asked about a picture while learning, and what is true.

The base model hears easy questions only: what is there, and what nobody would expect there.
Counterfactual fine-tuning adds the questions that tempt: the category whose surface a thing
wears, what belongs in this place but is not there, the living original of a sculpture, and what
the other picture of the pair shows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from groundfault.models.nano import words_of
from groundfault.world.materials import MATERIALS
from groundfault.world.objects import CATEGORIES
from groundfault.world.phrases import SYNONYMS, concept, disputed, material_of, unreal
from groundfault.world.scene import Scene, Thing
from groundfault.world.wordings import training_wordings

__all__ = ["EASY", "TEMPTING", "TRUE", "Question", "ask", "how_often", "vocabulary", "wordings"]

TRUE, EASY, TEMPTING = range(3)


class Question(NamedTuple):
    """A phrase with the things it is true of."""

    phrase: str
    things: tuple[int, ...]
    kind: int
    """TRUE, EASY (absent, as one would think) or TEMPTING (absent, but suggested)."""


def wordings(name: str) -> tuple[str, ...]:
    """Ways to ask for a concept, the plain one first."""
    if name not in CATEGORIES:
        return (name, f"the {name}")
    return (
        name,
        f"the {name}",
        unreal(name),
        f"real {name}",
        *training_wordings(name),
        *SYNONYMS.get(name, ()),
    )


CONCEPTS = (*CATEGORIES, *(material.phrase for material in MATERIALS.values()))
WORDINGS = {name: wordings(name) for name in CONCEPTS}


def vocabulary() -> dict[str, int]:
    """Every word of every wording, numbered from 1."""
    words = {word for ways in WORDINGS.values() for way in ways for word in words_of(way)}
    return {word: number for number, word in enumerate(sorted(words), start=1)}


def ask(
    scene: Scene,
    count: int,
    rng: np.random.Generator,
    *,
    other: Scene | None,
    tempting: bool,
    misleading: bool = True,
    often: Mapping[str, float] | None = None,
    depictions: float = 0.0,
) -> list[Question]:
    """`count` questions about a scene; `other` is the second picture of its pair.

    Tempting ones are about what the picture itself suggests (if `misleading`) and what the other
    one shows.

    A share (`depictions`) of sculptures is called what it shows, as captions and annotators do: a
    bronze dog is "dog" to them, though never "living dog".

    Every absent concept is asked for as often as any other or, with `often`, as often as it is
    there in other scenes: then the words of a question don't give its answer away.
    """
    named: dict[str, list[int]] = {}
    for number, thing in enumerate(scene.things):
        named.setdefault(concept(thing), []).append(number)
    asked = [
        Question(way, tuple(numbers), TRUE)
        for name, numbers in named.items()
        for way in _some(rng, WORDINGS[name], 3)
    ]
    if depictions:
        asked += _depicted(rng, scene, depictions)
    if tempting:
        asked += [
            Question(phrase, (), TEMPTING)
            for phrase in _temptations(rng, scene, other, set(named), misleading, often)
        ]
    unclear = {thing.category for thing in scene.things if material_of(thing)} | disputed(scene)
    absent = [
        name
        for name in CONCEPTS
        if name not in named
        and name not in unclear
        and (tempting or not _expected(name, scene))
        and (often is None or often.get(name))
    ]
    weights = [1 if often is None else often[name] for name in absent]
    order = np.argsort(rng.exponential(size=len(absent)) / weights)
    easy = 0
    while len(asked) < count:
        ways = WORDINGS[absent[order[easy % len(order)]]]
        asked.append(Question(ways[int(rng.integers(len(ways)))], (), EASY))
        easy += 1
    return asked[:count]


def _depicted(rng: np.random.Generator, scene: Scene, share: float) -> list[Question]:
    """Sculptures by the plain name of what they show, where there is no real one."""
    shown: dict[str, list[int]] = {}
    for number, thing in enumerate(scene.things):
        shown.setdefault(thing.category, []).append(number)
    return [
        Question(WORDINGS[name][int(rng.integers(2))], tuple(numbers), TRUE)
        for name, numbers in shown.items()
        if all(material_of(scene.things[number]) for number in numbers) and rng.random() < share
    ]


def how_often(scenes: Sequence[Scene], chances: Sequence[float]) -> dict[str, float]:
    """How likely each concept is there, in scenes that are drawn with these chances."""
    often: dict[str, float] = defaultdict(float)
    for scene, chance in zip(scenes, chances, strict=True):
        for name in {concept(thing) for thing in scene.things}:
            often[name] += chance
    return dict(often)


def _some(rng: np.random.Generator, ways: tuple[str, ...], most: int) -> list[str]:
    """The plain wording and some others."""
    others = rng.permutation(len(ways) - 1)[: most - 1] + 1
    return [ways[0], *(ways[int(n)] for n in others)]


def _expected(name: str, scene: Scene) -> bool:
    """Would one expect it here: does it belong in this place?"""
    place = scene.over if scene.over is not None else scene.place
    return name in CATEGORIES and place.context in CATEGORIES[name].contexts


def _worn(thing: Thing) -> str:
    look = thing.over if thing.over is not None else thing.look
    return look.surface if not look.material else ""


def _temptations(
    rng: np.random.Generator,
    scene: Scene,
    other: Scene | None,
    present: set[str],
    misleading: bool,
    often: Mapping[str, float] | None,
) -> list[str]:
    """Phrases that this picture, or its twin, suggests and that are not true here.

    With `often`, what belongs in this place is asked for as often as it is there elsewhere: a
    category that pairs hardly show would otherwise be told no, and no again.
    """
    phrases: list[str] = []
    for shown in (scene, other):
        for thing in shown.things if shown is not None else ():
            worn = _worn(thing) if misleading else ""
            if worn and worn != thing.category and worn not in present:
                phrases.append(WORDINGS[worn][0])
            if misleading and material_of(thing) and thing.category not in present:
                phrases.append(unreal(thing.category))
            name = concept(thing)
            if name not in present and not _unclear(name, scene):
                phrases += _some(rng, WORDINGS[name], 2)
    expected = [
        name
        for name in CATEGORIES
        if misleading
        and _expected(name, scene)
        and name not in present
        and not _unclear(name, scene)
    ]
    if often is not None:
        most = max((often.get(name, 0.0) for name in expected), default=0.0)
        expected = [name for name in expected if rng.random() * most < often.get(name, 0.0)]
    phrases += [WORDINGS[expected[int(n)]][0] for n in rng.permutation(len(expected))[:5]]
    return list(dict.fromkeys(phrases))


def _unclear(name: str, scene: Scene) -> bool:
    """Is there a sculpture of it? Whether a bronze dog is a "dog" is never asked, nor whether a
    shark is a "fish"."""
    return name in disputed(scene) or any(
        material_of(thing) and thing.category == name for thing in scene.things
    )
