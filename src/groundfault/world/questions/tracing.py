"""Alteration tracing: two pictures, one change."""

from __future__ import annotations

from functools import partial

from groundfault.errors import UsageError
from groundfault.exams import Layout
from groundfault.exams import tracing as wording
from groundfault.exams.tracing import Traced
from groundfault.exams.wording import Places, Rng, WordedQuestion, as_sentence, one_of, some_of
from groundfault.world.interventions import Intervention
from groundfault.world.phrases import concept, matching, with_article
from groundfault.world.questions.wording import (
    REGIONS,
    absent_from,
    other_colours_than,
    region_of,
)
from groundfault.world.render import colour_of
from groundfault.world.scene import Thing


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


def ask_tracing(
    rng: Rng, places: Places, case: Intervention, layout: Layout
) -> list[WordedQuestion]:
    """The questions about an alteration."""
    kind, name, detail = case.kind, traced_name(case), _detail(case)
    spot = f"in {location_of(case)}"
    about = Traced(
        kind=kind,
        name=name,
        spot=spot,
        everywhere=as_sentence(_change(kind, name, spot, detail)),
        here=as_sentence(_change(kind, name, "there", detail)),
        by=detail,
    )
    return wording.ask_tracing(
        rng,
        places,
        about,
        partial(_changes_elsewhere, rng, case),
        partial(_changes_there, rng, case),
        partial(_things_elsewhere, rng, case),
        layout,
    )


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
