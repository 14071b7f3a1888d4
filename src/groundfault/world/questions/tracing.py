"""Alteration tracing: two pictures, one change."""

from __future__ import annotations

from groundfault.errors import UsageError
from groundfault.world.interventions import Intervention
from groundfault.world.phrases import concept, matching, with_article
from groundfault.world.questions.wording import (
    REGIONS,
    Places,
    Rng,
    WordedQuestion,
    absent_from,
    as_sentence,
    choice,
    one_of,
    other_colours_than,
    region_of,
    short_answer,
    some_of,
    yes_no,
)
from groundfault.world.render import colour_of
from groundfault.world.scene import Thing

_DONE = {
    "move": "moved",
    "remove": "removed",
    "add": "added",
    "replace": "replaced by something else",
}


def subject_before(case: Intervention) -> Thing | None:
    return case.factual.things[case.before] if case.before >= 0 else None


def subject_after(case: Intervention) -> Thing | None:
    return case.counterfactual.things[case.after] if case.after >= 0 else None


def _subject(case: Intervention) -> Thing:
    """What changed: as it was, or the new thing where there was none."""
    subject = subject_before(case) or subject_after(case)
    if subject is None:
        raise UsageError(f"this {case.kind} has no target")
    return subject


def traced_name(case: Intervention) -> str:
    return concept(_subject(case))


def location_of(case: Intervention) -> str:
    return region_of(_subject(case))


def direction_of(case: Intervention) -> str:
    before, after = subject_before(case), subject_after(case)
    if before is None or after is None or abs(after.x - before.x) < 0.05:
        raise UsageError("it was not moved far enough to the left or right to say which")
    return "left" if after.x < before.x else "right"


def _change(kind: str, name: str, spot: str, detail: str = "") -> str:
    """What happened, as a clause; `spot` is "in the lower left part of the picture" or "there"."""
    return {
        "remove": f"the {name} {spot} was removed",
        "add": f"{detail or with_article(name)} was added {spot}",
        "move": f"the {name} {spot} was moved to the {detail}",
        "replace": f"the {name} {spot} was replaced by {detail}",
        "recolour": f"the {name} {spot} turned {detail}",
    }[kind]


def _detail(case: Intervention) -> str:
    if case.kind == "move":
        return direction_of(case)
    after = subject_after(case)
    if case.kind == "replace" and after is not None:
        return with_article(concept(after))
    name = traced_name(case)
    if case.kind == "add" and matching(case.factual, name):
        return f"another {name}"
    return ""


def ask_tracing(rng: Rng, places: Places, case: Intervention) -> list[WordedQuestion]:
    kind, name, location, detail = case.kind, traced_name(case), location_of(case), _detail(case)
    done, spot = _DONE[kind], f"in {location}"
    here = as_sentence(_change(kind, name, "there", detail))
    everywhere = as_sentence(_change(kind, name, spot, detail))
    compare = ("Compare the two pictures.", "Look at both pictures.", "There are two pictures.")

    def asks(*texts: str) -> str:
        text = one_of(rng, *texts)
        return f"{one_of(rng, *compare)} {text}" if rng.random() < 0.5 else text

    def what_there() -> str:
        return asks(
            f"Between the first picture and the second, what changed {spot}?",
            f"From the first picture to the second, what happened {spot}?",
        )

    def what_differs() -> str:
        return asks(
            "What is different in the second picture?",
            "What changed from the first picture to the second?",
            "In what does the second picture differ from the first?",
        )

    def which() -> str:
        then = "where is it in the second picture" if kind == "add" else "where was it at first"
        return asks(
            f"Which object was {done} between the first picture and the second, and {then}?",
            f"From the first picture to the second, what was {done}, and {then}?",
        )

    same_change = {
        "move": f"that the {name} is gone from one place and now stands at another is the same "
        "change",
        "replace": f"that the {name} is gone and {detail} stands there now is the same change",
        "add": f"that there was no such {name} at first is the same change",
        "remove": f"that the {name} is missing in the second picture is the same change",
    }[kind]
    traced = {
        "right": f"names the {name} and this kind of change ({_SHORT[kind]}), in any words; "
        f"{same_change}.",
        "wrong": "says that nothing changed, or names another thing or another kind of change "
        "instead.",
    }
    the_one = f"the {name} {spot}"
    return [
        yes_no(
            asks(
                "Does anything differ between the first picture and the second?",
                "Is there any change from the first picture to the second?",
                "Is the second picture in any way different from the first?",
            ),
            true=True,
        ),
        yes_no(
            asks(
                "Is it true that the second picture shows exactly the same as the first?",
                "Is it correct that nothing at all changed from the first picture to the second?",
            ),
            true=False,
            negated=True,
        ),
        yes_no(
            asks(
                f"From the first picture to the second, did anything change {spot}?",
                f"Between the two pictures, is there any difference {spot}?",
            ),
            true=True,
        ),
        yes_no(
            asks(
                f"Is it true that, from the first picture to the second, nothing changed {spot}?",
                f"Is it correct that, between the two pictures, there is no difference {spot}?",
            ),
            true=False,
            negated=True,
        ),
        yes_no(
            asks(
                f"Was anything {done} between the first picture and the second?",
                f"From the first picture to the second, was any object {done}?",
            ),
            true=True,
        ),
        yes_no(
            asks(
                f"Is it true that nothing was {done} between the first picture and the second?",
                f"Is it correct that no object was {done} from the first picture to the second?",
            ),
            true=False,
            negated=True,
        ),
        short_answer(what_differs(), f"{everywhere}.", **traced),
        short_answer(what_there(), f"{here}.", **traced),
        short_answer(
            which(),
            f"{as_sentence(the_one)}.",
            right=f"names the {name}; its place, if given, is about right ({location}).",
            wrong=f"names another thing, says that nothing was {done}, or puts the {name} at quite "
            "another place.",
        ),
        choice(rng, places, what_differs(), everywhere, _changes_elsewhere(rng, case)),
        choice(rng, places, what_there(), here, _changes_there(rng, case)),
        choice(rng, places, which(), the_one, _things_elsewhere(rng, case)),
    ]


_SHORT = {
    "move": "moved to another place",
    "remove": "removed",
    "add": "added",
    "replace": "replaced by another thing",
}


def _bystanders(rng: Rng, case: Intervention) -> list[Thing]:
    """Things that are the same in both pictures and not of the target's kind."""
    changed = {concept(t) for t in (subject_before(case), subject_after(case)) if t is not None}
    still = [
        thing
        for number, thing in enumerate(case.factual.things)
        if number != case.before and concept(thing) not in changed
    ]
    by_name = {concept(thing): thing for thing in still}
    return [by_name[name] for name in some_of(rng, list(by_name), len(by_name))]


def _newcomers(rng: Rng, case: Intervention) -> list[str]:
    """Categories that neither picture shows; those that would fit in first."""
    scenes = (case.factual, case.counterfactual)
    fitting = absent_from(rng, scenes, [], at_home=True)
    return fitting + absent_from(rng, scenes, [], at_home=False)


def _changes_elsewhere(rng: Rng, case: Intervention) -> list[str]:
    """Three changes that did not happen, each wrong in two of thing, place and kind at least."""
    newcomers = _newcomers(rng, case)
    regions = some_of(rng, [region for region in REGIONS if region != location_of(case)], 3)
    wrong = []
    for thing in _bystanders(rng, case)[:2]:
        kind = one_of(
            rng, *(k for k in ("remove", "move", "replace", "recolour") if k != case.kind)
        )
        detail = {
            "move": one_of(rng, "left", "right"),
            "replace": with_article(newcomers.pop(0)),
            "recolour": _new_colour(rng, thing),
        }.get(kind, "")
        wrong.append(as_sentence(_change(kind, concept(thing), f"in {region_of(thing)}", detail)))
    while len(wrong) < 3:
        spot = f"in {regions.pop()}"
        wrong.append(as_sentence(_change("add", newcomers.pop(0), spot)))
    return wrong


def _new_colour(rng: Rng, thing: Thing) -> str:
    return other_colours_than(rng, [colour_of(thing.look, thing.category)], 1)[0]


def _changes_there(rng: Rng, case: Intervention) -> list[str]:
    """Three things that could have happened in the right place, and did not.

    A replacement is not offered against the removal of the one or the arrival of the other, nor
    a move against a removal: half of that would be true.
    """
    subject, name = _subject(case), traced_name(case)
    stranger, other, third = (with_article(new) for new in _newcomers(rng, case)[:3])
    recoloured = _change("recolour", name, "there", _new_colour(rng, subject))
    replaced = _change("replace", name, "there", stranger)
    moved = [_change("move", name, "there", side) for side in ("left", "right")]
    added = f"{other} was added there"
    pools = {
        "remove": [replaced, recoloured, one_of(rng, *moved), added],
        "move": [replaced, recoloured, added]
        + [text for text in moved if not text.endswith(_detail(case))],
        "replace": [replaced, recoloured, *moved],
        "add": [
            added,
            f"{stranger} was replaced by {with_article(name)}",
            f"{third} was removed from there",
            _change("remove", name, "there"),
        ],
    }
    return [as_sentence(text) for text in some_of(rng, pools[case.kind], 3)]


def _things_elsewhere(rng: Rng, case: Intervention) -> list[str]:
    """Three things in their places that were not altered; absent ones where these are too few."""
    wrong = [f"the {concept(thing)} in {region_of(thing)}" for thing in _bystanders(rng, case)[:3]]
    absent = _newcomers(rng, case)[: 3 - len(wrong)]
    return wrong + [f"the {name} in {one_of(rng, *REGIONS)}" for name in absent]
