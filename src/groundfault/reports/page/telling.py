"""The case that a chapter opens with: where two models part, or where one is most surely wrong."""

from __future__ import annotations

import msgspec

from groundfault.reports.page.failures import judged_case
from groundfault.reports.page.gallery import Example, case_rows, examples_at
from groundfault.reports.page.inputs import Chapter, RunData
from groundfault.reports.page.pictures import Pictures
from groundfault.reports.page.sources import Sources

__all__ = ["Telling", "telling_case", "telling_place"]


class Telling(msgspec.Struct, frozen=True, kw_only=True):
    """One case as one or two models answered it."""

    words: str
    examples: tuple[Example, ...]


def telling_case(chapter: Chapter, *, sources: Sources, pictures: Pictures) -> Telling | None:
    """A chapter's first case as its last and its first model answered it; None without a mistake
    or its picture."""
    place = telling_place(chapter)
    if place is None:
        return None
    best, worst = chapter.models[0], chapter.models[-1]
    (answered,) = examples_at(chapter, [place], sources=sources, pictures=pictures)
    if any(view.picture is None for view in answered[0].views):
        return None
    numbers = dict.fromkeys((chapter.runs.index(worst), chapter.runs.index(best)))
    examples = tuple(answered[k] for k in numbers)
    return Telling(words=_words(best, worst, not examples[-1].n_wrong), examples=examples)


def telling_place(chapter: Chapter) -> int | None:
    """Where in the case table the worst answer of the last model is that the first got right, or
    the worst of all where they never part so."""
    missed = _wrong(chapter.models[0])
    wrong = _wrong(chapter.models[-1])
    parted = {place: how for place, how in wrong.items() if place not in missed}
    chosen = parted or wrong
    return max(chosen, key=lambda place: chosen[place], default=None)


def _wrong(run: RunData) -> dict[int, float]:
    """How badly the cases behind the headline went wrong, by their place in the table."""
    counted = run.member("Overall")
    return {
        place: judged[1]
        for place, row in enumerate(case_rows(run))
        if counted[place] and (judged := judged_case(row)) is not None
    }


def _words(best: RunData, worst: RunData, parted: bool) -> str:
    if best is worst:
        return f"One case: where {worst.name} went wrong most surely."
    if parted:
        return f"One case: {worst.name} goes wrong, {best.name} does not."
    return f"One case: where {worst.name} went wrong most surely, and what {best.name} made of it."
