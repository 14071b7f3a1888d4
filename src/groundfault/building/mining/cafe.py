"""Candidates for CAFE: a photograph and one instance of a category, for each kind of edit.

The paper draws image–annotation pairs from the validation sets of COCO, LVIS and SA-Co/Gold. It
does not say how instances are drawn, how large they may be, whether several of a category may be
there, or whether each kind of edit is tried on each instance: all of these are settings, and none
of their defaults is the authors'.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from groundfault.building.mining.selection import (
    SEVERAL,
    Common,
    OnDrop,
    Target,
    Targets,
    candidate_id,
    draw,
    measure,
    trouble_with,
)
from groundfault.building.records import Candidate, Dropped, Task
from groundfault.errors import UsageError
from groundfault.io.photographs import Photograph, Thing

__all__ = ["SETTINGS", "TASKS", "CafeSettings", "mine"]

TASKS: tuple[Task, ...] = ("SM", "CC", "OC")


class CafeSettings(Common, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How candidates for CAFE are selected."""

    min_area_share: float = 0.01
    tasks: tuple[Literal["SM", "CC", "OC"], ...] = ("SM", "CC", "OC")
    kinds: Literal["all", "one"] = "all"
    """Every kind of edit for every instance, or one that is drawn for it."""
    edits_per_target: int = 1
    """Of one kind, each with another value; 2 where rules propose, which costs nothing."""
    context_beside_others: bool = False
    """Take targets beside others of their category for CC, whatever `several` says: for editors
    that replace what is around the target, so that the others go, too; `procedural` keeps it."""
    exhaustive: bool = True
    """Drop categories of which not every instance is annotated: p⁺ asks for all of them."""
    annotator: int = 1
    """Of several, whose mask is inherited: 1 is the first (the paper does not say)."""


SETTINGS = CafeSettings


def mine(
    photographs: Iterable[Photograph], settings: CafeSettings, on_drop: OnDrop
) -> Iterator[Candidate]:
    """Candidates, photograph by photograph in their order. `facts` has the target's share of the
    area, the edges it touches, how many of its category there are, and whose mask it has."""
    if not settings.tasks or settings.annotator < 1 or settings.edits_per_target < 1:
        raise UsageError(
            "CAFE: give at least one task, and annotator and edits_per_target 1 or more"
        )
    targets = Targets(settings, on_drop)
    for photograph in photographs:
        yield from _of_photograph(photograph, targets)


def _of_photograph(photograph: Photograph, targets: Targets[CafeSettings]) -> Iterator[Candidate]:
    settings = targets.settings
    unused = targets.unused(photograph) if photograph.things else None
    taken = 0
    for thing in targets.shuffled(photograph, photograph.things):
        tasks = _tasks(photograph, thing, settings)
        target = _target(photograph, thing, settings)
        alone, anyway = _apart(tasks, target, settings)
        several = msgspec.structs.replace(settings, several=bool(anyway))
        enough = settings.per_image is not None and taken >= settings.per_image
        why = (
            unused
            or trouble_with(target, several)
            or _not_exhaustive(photograph, thing, settings)
            or (Dropped(reason="enough of its photograph") if enough else None)
            or targets.capped(thing.category)
        )
        if why:
            targets.drop((candidate_id(photograph, thing.id, task) for task in tasks), why)
            continue
        taken += 1
        others = Dropped(reason=SEVERAL, details=str(target.same_category))
        targets.drop((candidate_id(photograph, thing.id, task) for task in alone), others)
        facts = {**target.facts, "annotator": str(settings.annotator)}
        for task in anyway:
            times = settings.edits_per_target
            yield from targets.give_several(photograph, target.thing, task, facts, times)


def _apart(
    tasks: tuple[Task, ...], target: Target, settings: CafeSettings
) -> tuple[tuple[Task, ...], tuple[Task, ...]]:
    """Tasks for which others of the target's category are in the way, and those for which they are
    not."""
    if settings.several or target.same_category == 1:
        return (), tasks
    free = tuple(task for task in tasks if task == "CC" and settings.context_beside_others)
    return tuple(task for task in tasks if task not in free), free


def _tasks(photograph: Photograph, thing: Thing, settings: CafeSettings) -> tuple[Task, ...]:
    if settings.kinds == "all":
        return settings.tasks
    name = candidate_id(photograph, thing.id, "kind")
    return (settings.tasks[draw(name, settings.seed, "kind") % len(settings.tasks)],)


def _target(photograph: Photograph, thing: Thing, settings: CafeSettings) -> Target:
    """The thing with the mask of the annotator that was asked for; without one where there is no
    such mask."""
    if settings.annotator > 1:
        place = settings.annotator - 2
        masks = thing.alternatives
        mask = masks[place] if place < len(masks) else None
        thing = msgspec.structs.replace(thing, mask=mask, box_xywh=None)
    return measure(photograph, thing)


def _not_exhaustive(photograph: Photograph, thing: Thing, settings: CafeSettings) -> Dropped | None:
    if not settings.exhaustive or thing.masked_by:
        return None
    if thing.category in photograph.partial:
        return Dropped(reason="not exhaustively annotated", details=thing.category)
    return None
