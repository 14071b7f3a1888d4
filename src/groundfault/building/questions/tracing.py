"""From fields to questions about an alteration between two pictures."""

from __future__ import annotations

from groundfault.building.proposals.exam_fields import AWAY, SEEN, SPARED
from groundfault.building.proposals.layout import box_of, placed, sector
from groundfault.building.proposals.words import with_article
from groundfault.building.questions.scenes import new_box, place_apart, told_name
from groundfault.building.questions.validators import NotAsked, differ, required, short
from groundfault.building.records import Candidate
from groundfault.exams.tracing import Options, Traced
from groundfault.exams.wording import Rng, as_sentence, some_of

__all__ = ["traced", "tracing_facts"]

NEEDED = ("A", "B", "C", "edit_type",
          *(f"choice_{group}_{k}" for group in ("1a_distractor", "2a", "3a", "1b", "2b", "3b")
            for k in (1, 2, 3)))  # fmt: skip
KINDS = {"delete": "remove", "add": "add", "replace": "replace", "move": "move"}


def traced(rng: Rng, candidate: Candidate) -> tuple[Traced, Options, Options, Options]:
    """What is asked about, and functions that draw wrong options: two of those about the altered
    thing's place and one of those about another (the b-fields), so that the two pictures of a twin,
    where nothing changed, are not told by them."""
    assert candidate.proposal is not None
    fields = candidate.proposal.fields
    required(fields, NEEDED)
    short(fields)
    kind, name = KINDS[fields["edit_type"]], fields["B"]
    spot, name = _spot(candidate, kind, name)
    about = Traced(
        kind=kind,
        name=name,
        spot=spot,
        everywhere=as_sentence(_change(candidate, kind, name, spot)),
        here=as_sentence(_change(candidate, kind, name, "there")),
        by=with_article(candidate.proposal.value or "something else"),
    )

    def options(first: str, second: str, right: str) -> Options:
        wrong = [_clause(fields[f"choice_{first}_{k}"]) for k in (1, 2, 3)]
        wrong += [_clause(fields[f"choice_{second}_{k}"]) for k in (1, 2, 3)]
        fitting = [
            text
            for text in dict.fromkeys(wrong)
            if text.casefold() != right.casefold() and not _by_itself(text)
        ]
        if len(fitting) < 3:
            raise NotAsked("Q-options", f"fewer than three wrong ones of choice_{first}")
        return lambda: some_of(rng, fitting, 3)

    things = [_clause(fields[f"choice_3a_{k}"]) for k in (1, 2, 3)]
    things = [f"{text[0].lower()}{text[1:]}" for text in things]
    differ([about.the_one, *things], "Q-differ")
    return (
        about,
        options("1a_distractor", "1b", about.everywhere),
        options("2a", "2b", about.here),
        lambda: some_of(rng, things, 3),
    )


def _spot(candidate: Candidate, kind: str, name: str) -> tuple[str, str]:
    """Where it happened, and what it happened to: told from others of its kind by the place, or by
    being the outermost."""
    if kind == "add":
        return placed(sector(candidate.photograph, new_box(candidate))), name
    try:
        return placed(place_apart(candidate)), name
    except NotAsked:
        part = sector(candidate.photograph, box_of(candidate.target))
        return placed(part), told_name(candidate, name)


def _change(candidate: Candidate, kind: str, name: str, spot: str) -> str:
    assert candidate.proposal is not None
    value = candidate.proposal.value
    if not value and kind in ("move", "replace"):  # only the model's own words tell how
        return f"the {name} {spot} {candidate.proposal.fields['C']}"
    return {
        "remove": f"the {name} {spot} was removed",
        "add": f"another {name} was added {spot}",
        "move": f"the {name} {spot} was moved to the {value}",
        "replace": f"the {name} {spot} was replaced by {with_article(value)}",
    }[kind]


def _by_itself(text: str) -> bool:
    """Whether something is said to be replaced by its own kind.

    >>> _by_itself("The microwave there was replaced with a microwave")
    True
    """
    what, replaced, by = text.casefold().partition(" was replaced with ")
    return bool(replaced) and by.split(" ", 1)[-1] in what


def _clause(text: str) -> str:
    """A change as an option: a capital, no full stop.

    >>> _clause("the cup in the picture was removed.")
    'The cup in the picture was removed'
    """
    for padding in (f", {SPARED}", f" {SEEN}", f", {AWAY}"):
        text = text.replace(padding, "")
    return as_sentence(text.strip().rstrip("."))


def tracing_facts(candidate: Candidate, about: Traced) -> dict[str, str]:
    """What is known about the sample."""
    assert candidate.proposal is not None
    facts = {"operation": about.kind, "object": about.name, "location": about.spot}
    if about.kind == "replace":
        facts["after"] = candidate.proposal.value
    if about.kind == "move":
        facts["direction"] = candidate.proposal.value
    return facts
