"""Proposals without a model: drawn from tables of what is typical, usual and look-alike.

What is drawn depends on the candidate's seed and id alone. Whatever the linter has an error about
is not proposed; where nothing is left, the candidate is dropped with the reason "None", as a model
would say.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

import msgspec

from groundfault.building.denied import Denied
from groundfault.building.proposals.exam_fields import (
    attribute_fields,
    count_of,
    erasure_fields,
    neighbours,
    tracing_fields,
)
from groundfault.building.proposals.exam_rules import OPERATIONS, assigned_operations
from groundfault.building.proposals.kinds import NOBODY, kin, named_denied
from groundfault.building.proposals.layout import locative, room_beside, told_apart
from groundfault.building.proposals.linter import Subject, first_error
from groundfault.building.proposals.proposer import Keep
from groundfault.building.proposals.tables import (
    BECOMES,
    COLOURS,
    MATERIALS,
    MODIFIERS,
    PLACES,
    STILL_ITSELF,
    SURFACES,
    Usual,
    is_usual,
    known_categories,
    nearest,
    usual,
)
from groundfault.building.proposals.words import joined, with_article
from groundfault.building.records import Candidate, Dropped, Proposal

__all__ = ["Repertoire", "RulesProposer", "procedural_repertoire", "propose"]

NAME = "rules"
VERSION = 7
"""Of what is drawn; another one is another proposer."""
FIXED_COLOURS = frozenset({"stop sign"})
"""Things people make, in one colour only: for others no colour is a surprise."""
FIXED = frozenset({"fixture", "street", "appliance"})
"""Natures of what nobody moves."""
TRIED = 24
OF_A_KIND = ("SM", "OC")
"""Tasks in which a duck is as good as any bird; where a duck is usual, the table does not say."""
ALTERNATIVES = 8
"""What else may be done in the place of what an editor refuses."""
WITH_ALTERNATIVES = ("SM", "OC", "CC", "replacement", "attribute", "tracing")
"""Tasks in which an editor may refuse one value and not another: what looks like snow is not put
into snow, and what is red gets no strawberry's surface."""


class Repertoire(msgspec.Struct, frozen=True, kw_only=True):
    """What the editor can do: names of the tables; None means: whatever they have."""

    surfaces: tuple[str, ...] | None = None
    materials: tuple[str, ...] | None = None
    places: tuple[str, ...] | None = None
    surfaces_of: dict[str, tuple[str, ...]] | None = None
    materials_of: dict[str, tuple[str, ...]] | None = None
    places_of: dict[str, tuple[str, ...]] | None = None
    """Surfaces, materials and places by category, where an editor knows which of them look
    right."""
    colours: tuple[str, ...] | None = None
    replacements: tuple[str, ...] | None = None
    replacements_of: dict[str, tuple[str, ...]] | None = None
    """What may be put in the place of others: of all that the tables name, or by category."""
    denied: Denied = NOBODY
    """What nothing is proposed about."""
    unchecked: tuple[str, ...] = ()
    """Ids of the linter's rules that are not checked."""


ANYTHING = Repertoire()


def procedural_repertoire() -> Repertoire:
    """What the procedural editor does well. Things that it computes take the place of others: those
    of other photographs, which it can put in too, are seldom kept."""
    from groundfault.editors.procedural import repertoire as known
    from groundfault.editors.procedural import suited

    return Repertoire(
        surfaces=known.SURFACES,
        materials=known.MATERIALS,
        places=known.PLACES,
        surfaces_of={name: suited.suited_surfaces(name) for name in known_categories()},
        materials_of={name: suited.suited_materials(name) for name in known_categories()},
        places_of={name: suited.suited_places(name) for name in known_categories()},
        colours=known.COLOURS,
        replacements_of=known.INSTEAD,
    )


def world_repertoire() -> Repertoire:
    """What the world's editor can do with what the tables know."""
    from groundfault.world.contexts import CONTEXTS
    from groundfault.world.forms import COLOURS as WORLD_COLOURS
    from groundfault.world.materials import MATERIALS as WORLD_MATERIALS
    from groundfault.world.objects import CATEGORIES
    from groundfault.world.surfaces import SURFACES as WORLD_SURFACES

    return Repertoire(
        surfaces=tuple(WORLD_SURFACES),
        materials=tuple(WORLD_MATERIALS),
        places=tuple(CONTEXTS),
        colours=tuple(WORLD_COLOURS),
        replacements=tuple(CATEGORIES),
    )


class RulesProposer:
    """Proposals from the tables, for an editor that can do what `repertoire` says."""

    stopped_because = ""

    def __init__(self, repertoire: Repertoire | None = None) -> None:
        self.repertoire = repertoire or ANYTHING
        self._drawn: tuple[str, _Found] = "", ([], "")
        """What was found for the last target: edits of one target draw from one list."""

    @property
    def identity(self) -> str:
        """The version of tables and rules, and what the editor can do."""
        can = msgspec.json.encode(self.repertoire, order="sorted").decode()
        return f"rules {VERSION} {can}"

    def propose_many(self, candidates: Iterable[Candidate], keep: Keep) -> None:
        """`keep` gets each candidate with its proposal, or with why there is none."""
        for candidate in candidates:
            keep(candidate, propose(candidate, self.repertoire, self._found))

    def _found(self, candidate: Candidate, of: Usual, can: Repertoire) -> _Found:
        drawn = candidate.facts.get("draw", "")
        if not drawn or self._drawn[0] != drawn:
            self._drawn = drawn, _find(candidate, of, can)
        return self._drawn[1]


_Found = tuple[list[Proposal], str]
"""Proposals that break no rule, and what rule the last of the others broke."""


def propose(
    candidate: Candidate,
    repertoire: Repertoire = ANYTHING,
    find: Callable[[Candidate, Usual, Repertoire], _Found] | None = None,
) -> Proposal | Dropped:
    """What to change in a candidate, or why there is nothing. `find` draws for its target."""
    category = candidate.target.category
    if named_denied(category, repertoire.denied):
        return Dropped(reason="denied", details=category)
    if candidate.task == "counting":
        return _counting(candidate)
    of = (nearest if candidate.task in OF_A_KIND else usual)(category)
    if of is None:
        return Dropped(reason="None", details=f"nothing is known of '{category}'")
    found, broken = (find or _find)(candidate, of, repertoire)
    number, times = _which_edit(candidate)
    own = found[number - 1 :: times]
    if candidate.task == "attribute":  # its other direction is another candidate's
        own = [proposal for proposal in own if proposal.kind == own[0].kind]
    if own:
        return msgspec.structs.replace(own[0], alternatives=tuple(own[1:]))
    return Dropped(reason="None", details=broken or f"no {candidate.task} edit of '{category}'")


def _find(candidate: Candidate, of: Usual, repertoire: Repertoire) -> _Found:
    """What may be proposed for a candidate's target, all of its edits together."""
    rng = random.Random(candidate.facts.get("draw") or f"{candidate.seed} {candidate.id}")
    broken, found = "", list[Proposal]()
    _, times = _which_edit(candidate)
    most = 1 + (ALTERNATIVES if candidate.task in WITH_ALTERNATIVES else 0)
    differ = times > 1 or candidate.task == "CC"  # a place has several negative prompts
    drawn = _DRAWN[candidate.task](candidate, of, repertoire, rng)
    subject = Subject.of(candidate)
    for proposal in itertools.islice(drawn, times * TRIED):
        if differ and any(proposal.value == other.value for other in found):
            continue
        wrong = first_error(proposal, subject, without=repertoire.unchecked)
        if wrong is not None:
            broken = f"{wrong.rule}: {wrong.found}"
            continue
        found.append(proposal)
        if len(found) >= times * most:
            break
    return found, broken


def _which_edit(candidate: Candidate) -> tuple[int, int]:
    """Which of how many edits of its target a candidate is: all draw from one list, in turn."""
    facts = candidate.facts
    return int(facts.get("edit", "1")), int(facts.get("edits", "1"))


def _shuffled(names: Iterable[str], known: Collection[str] | None, rng: random.Random) -> list[str]:
    kept = [name for name in names if known is None or name in known]
    rng.shuffle(kept)
    return kept


def _offered(
    known: tuple[str, ...] | None, known_of: dict[str, tuple[str, ...]] | None, of: Usual
) -> tuple[str, ...] | None:
    """What an editor can do with things of a category; None where it says nothing."""
    return known if known_of is None else known_of.get(of.name, known)


def _mimicry(
    candidate: Candidate, of: Usual, can: Repertoire, rng: random.Random
) -> Iterator[Proposal]:
    name = candidate.target.category
    for key in _shuffled(SURFACES, _offered(can.surfaces, can.surfaces_of, of), rng):
        surface = SURFACES[key]
        if any(kin(name, other) in ("same", "synonym", "hyponym") for other in surface.unlike):
            continue
        yield Proposal(
            kind="surface",
            value=key,
            instruction=f"Cover the entire visible surface of the {_said(candidate)} uniformly "
            f"with {surface.words}, like a thin print, and keep its shape, its pose, the lighting "
            "and everything around it unchanged.",
            positive=name,
            negative=surface.typical_of,
            rationale=f"The pattern is known from one thing, {with_article(surface.typical_of)}, "
            f"while shape and parts are still those of {with_article(name)}.",
            by=NAME,
        )


def _ontology(
    candidate: Candidate, of: Usual, can: Repertoire, rng: random.Random
) -> Iterator[Proposal]:
    name = candidate.target.category
    if of.nature not in BECOMES or of.name in STILL_ITSELF:
        return
    for key in _shuffled(MATERIALS, _offered(can.materials, can.materials_of, of), rng):
        material = MATERIALS[key]
        if (material.natures and of.nature not in material.natures) or key in of.materials:
            continue
        modifier = MODIFIERS[of.nature]
        yield Proposal(
            kind="material",
            value=key,
            instruction=f"Turn the {_said(candidate)} as a whole into {material.words}, "
            "every part alike, and keep its outline, its pose and everything around it unchanged.",
            positive=material.identity,
            negative=f"{modifier} {name}",
            rationale=f"Of that substance it is no {modifier} {name} any more, but "
            f"{with_article(material.identity)} in the shape of one.",
            by=NAME,
        )


def _conflict(
    candidate: Candidate, of: Usual, can: Repertoire, rng: random.Random
) -> Iterator[Proposal]:
    name = candidate.target.category
    for key in _shuffled(PLACES, _offered(can.places, can.places_of, of), rng):
        place = PLACES[key]
        if is_usual(key, name):
            continue
        likely = [thing for nature, thing in place.like if nature == of.nature]
        for negative in (*likely, *rng.sample(place.at_home, len(place.at_home))):
            yield Proposal(
                kind="context",
                value=key,
                instruction=f"Replace everything around the {_said(candidate)} so that it is "
                f"{place.words}, seen from the same viewpoint, and leave every pixel of the {name} "
                "itself unchanged.",
                positive=name,
                negative=negative,
                rationale=f"{with_article(name).capitalize()} is hardly ever found {place.words}; "
                f"{with_article(negative)} would be.",
                by=NAME,
            )


def _replacement(
    candidate: Candidate, of: Usual, can: Repertoire, rng: random.Random
) -> Iterator[Proposal]:
    phrases = candidate.target.phrases
    first = phrases[0].strip().rstrip(".") if phrases else told_apart(candidate)
    if not first:
        return
    for name in _instead(of, can):
        yield Proposal(
            kind="replace",
            value=name,
            instruction=f"Change {first} to {name}.",
            positive=first,
            negative=name,
            rationale=f"{with_article(name).capitalize()} has about the size and shape of "
            f"{with_article(of.name)} and may well be in its place.",
            fields={"category": candidate.target.category},
            by=NAME,
        )


def _instead(of: Usual, can: Repertoire) -> Sequence[str]:
    """What may be put in the place of a thing, the best first."""
    if can.replacements_of is not None:
        return can.replacements_of.get(of.name, ())
    return [
        name for name in of.replacements if can.replacements is None or name in can.replacements
    ]


def _said(candidate: Candidate) -> str:
    """The target as an instruction names it: with its place, where it is not the only one."""
    name = candidate.target.category
    phrase = told_apart(candidate)
    return phrase or f"{name} {locative(candidate)}"


def _erasure(
    candidate: Candidate, of: Usual, can: Repertoire, rng: random.Random
) -> Iterator[Proposal]:
    yield Proposal(
        kind="erase",
        value="",
        instruction=f"Remove the {_said(candidate)} completely, fill in what is behind it, and "
        f"{_preserve(candidate)}",
        positive=candidate.target.category,
        fields=erasure_fields(candidate, rng),
        by=NAME,
    )


def _preserve(candidate: Candidate) -> str:
    """The sentence about what must stay, with the real neighbours."""
    near = [*neighbours(candidate), "other surrounding objects in the image"]
    return (
        f"preserve {joined(near)} unchanged; do not alter the background of the image under any "
        "circumstances."
    )


def _attribute(
    candidate: Candidate, of: Usual, can: Repertoire, rng: random.Random
) -> Iterator[Proposal]:
    """Counterfactual attributes, of two directions; `facts["variant"]`, "B" for the second, says
    which of them comes first."""
    directions = [found for kind in _directions(of) if (found := _values(kind, of, can, rng))]
    if candidate.facts.get("variant") == "B":
        directions = directions[1:] or []
    for kind, values in directions:
        for value in values:
            yield _with_attribute(candidate, kind, value, rng)


def _directions(of: Usual) -> tuple[str, ...]:
    """The directions that an editor can compute, in the paper's order of priority."""
    if of.nature in ("food", "plant", "animal"):
        return ("recolour", "surface", "material")
    return ("material", "recolour", "surface")


def _values(
    kind: str, of: Usual, can: Repertoire, rng: random.Random
) -> tuple[str, list[str]] | None:
    living = of.nature in ("animal", "food", "plant")
    if kind == "recolour":
        fitting = living or of.name in FIXED_COLOURS
        names = [c for c in COLOURS if c not in of.colours and "any" not in of.colours]
        names = _shuffled(names, can.colours, rng) if fitting else []
    elif kind == "material":
        other = ["wood", "marble", "granite", "terracotta", "chocolate"]
        other += [] if "metal" in of.materials else ["gold", "bronze"]
        names = [m for m in other if m not in of.materials and "any" not in of.materials]
        offered = _offered(can.materials, can.materials_of, of)
        names = _shuffled(names, offered, rng) if of.nature not in ("animal", "plant") else []
    else:
        patterns = ("zebra", "watermelon", "giraffe", "leopard", "brick wall", "ladybug", "cow")
        unlike = [p for p in patterns if not any(kin(of.name, o) for o in SURFACES[p].unlike)]
        names = _shuffled(unlike, _offered(can.surfaces, can.surfaces_of, of), rng)
    return (kind, names) if names else None


def _with_attribute(candidate: Candidate, kind: str, value: str, rng: random.Random) -> Proposal:
    name = _said(candidate)
    told = {
        "recolour": f"Change the colour of the {name} to a muted, natural-looking {value}",
        "material": f"Change the material of the {name} to {value}, with its structure kept",
        "surface": f"Give the whole {name} the look of "
        f"{SURFACES[value].words if kind == 'surface' else ''}",
    }[kind]
    ending = _preserve(candidate)
    return Proposal(
        kind=kind,
        value=value,
        instruction=f"{told}. {ending[0].upper()}{ending[1:]}",
        positive=candidate.target.category,
        fields=attribute_fields(candidate, kind, value, rng),
        by=NAME,
    )


def _tracing(
    candidate: Candidate, of: Usual, can: Repertoire, rng: random.Random
) -> Iterator[Proposal]:
    """The assigned operation, then its fallbacks: `facts["operation"]` and `facts["fallbacks"]`,
    names with commas; drawn where mining has assigned none."""
    for operation in _operations(candidate, rng):
        for value in _ways(operation, candidate, of, can):
            yield _altered(candidate, operation, value, rng)


def _operations(candidate: Candidate, rng: random.Random) -> list[str]:
    drawn = rng.sample(list(OPERATIONS), len(OPERATIONS))
    return assigned_operations(candidate) or drawn


def _ways(operation: str, candidate: Candidate, of: Usual, can: Repertoire) -> list[str]:
    """The values of an operation that is possible here; none where it is not."""
    name = candidate.target.category
    alone = all(
        t.id == candidate.target.id or t.category != name for t in candidate.photograph.things
    )
    side = room_beside(candidate)
    if operation == "delete":
        return [] if alone else [""]
    if operation == "add":
        return [name] if side and of.nature not in FIXED else []
    if operation == "move":
        return [side] if side and of.nature not in FIXED else []
    there = {thing.category for thing in candidate.photograph.things}
    return [new for new in _instead(of, can) if new not in there]


def _altered(candidate: Candidate, operation: str, value: str, rng: random.Random) -> Proposal:
    name, kind = _said(candidate), OPERATIONS[operation]
    told = {
        "delete": f"Remove the {name}",
        "add": f"Add another {candidate.target.category} right beside the {name}, resting as it "
        "does",
        "replace": f"Replace the {name} with {with_article(value)} of the same size",
        "move": f"Move the {name} a little to the {value}, on the same surface",
    }[operation]
    return Proposal(
        kind=kind,
        value=value,
        instruction=f"{told}, and {_preserve(candidate)}",
        positive=candidate.target.category,
        fields=tracing_fields(candidate, kind, value, rng),
        by=NAME,
    )


def _counting(candidate: Candidate) -> Proposal | Dropped:
    """Nothing is edited: the count is asked for. Whether it is ambiguous, only a model can see."""
    name = candidate.target.category
    count = count_of(candidate)
    if count is None:
        return Dropped(reason="None", details=f"nobody counted '{name}'")
    return Proposal(
        kind="none",
        value="",
        instruction="Leave the picture as it is.",
        positive=name,
        fields={"object": name, "count": str(count), "has_ambiguity": "unknown"},
        by=NAME,
    )


_DRAWN: dict[str, Callable[[Candidate, Usual, Repertoire, random.Random], Iterator[Proposal]]] = {
    "SM": _mimicry,
    "OC": _ontology,
    "CC": _conflict,
    "replacement": _replacement,
    "erasure": _erasure,
    "attribute": _attribute,
    "tracing": _tracing,
}
