"""Dense counting: many of a kind."""

from __future__ import annotations

from groundfault.exams import counting as wording
from groundfault.exams.counting import Counted
from groundfault.exams.wording import Places, Rng, WordedQuestion
from groundfault.world.interventions import Intervention
from groundfault.world.phrases import matching
from groundfault.world.questions.wording import check_backdrop, plural_of


def count_of(case: Intervention) -> int:
    return len(matching(case.counterfactual, case.facts["object"]))


def ask_counting(
    rng: Rng, places: Places, case: Intervention, twin: int | None
) -> list[WordedQuestion]:
    """The questions about a number of things; `twin` is the number in the other picture."""
    name = case.facts["object"]
    check_backdrop(name, case.counterfactual)
    about = Counted(name=name, plural=plural_of(name), count=count_of(case), twin=twin)
    return wording.ask_counting(rng, places, about)
