"""What to ask about an intervention: ReactBench's questions, answered by the scene itself.

Pure functions of an intervention and a seed. The layout is the paper's (`LAYOUT`), the words are
ours: every slot has a few wordings, and the seed chooses. Answers, options and rubrics are made
from the scenes, so they need no annotator:

- erasure: every question is about the part that is gone, told by the whole, the only one there;
- attribute: the target is the only one of its category, so "the apple" is never in doubt;
- tracing: a wrong option names a thing that did not change, or one that is in neither picture;
- counting: the scene holds nothing else.

Half of the yes/no questions of every sample are true, so that always saying yes scores a half, and
every letter is right equally often.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from groundfault.benchmarks.reactbench import LAYOUT, Question, Task
from groundfault.errors import UsageError
from groundfault.exams import Layout, rows, twin_rows
from groundfault.exams.wording import Places, Rng, WordedQuestion
from groundfault.world.interventions import Intervention
from groundfault.world.phrases import concept
from groundfault.world.questions.attribute import ask_attribute, facts_of_attribute
from groundfault.world.questions.counting import ask_counting, count_of
from groundfault.world.questions.erasure import ask_erasure, facts_of_erasure
from groundfault.world.questions.tracing import (
    ask_tracing,
    direction_of,
    location_of,
    subject_after,
    subject_before,
    traced_name,
)

__all__ = ["TASKS", "facts_of", "questions_about", "twins_about"]

TASKS: dict[str, Task] = {
    "erasure": "erasure",
    "attribute": "attribute",
    "move": "tracing",
    "remove": "tracing",
    "add": "tracing",
    "replace": "tracing",
    "counting": "counting",
}
"""The task that asks about each kind of intervention."""


def questions_about(
    case: Intervention, sample_id: str, *, seed: int, series: int | None = None, turn: int = 0
) -> tuple[Question, ...]:
    """All questions of one sample in the paper's layout, Q1 first.

    Over the turns of a task's samples in one `series`, every letter is right equally often; alone,
    a sample has its letters from the seed.
    """
    asked = _ask(case, seed=seed, series=series, turn=turn, layout="paper", twin=None)
    return rows(_task(case), sample_id, asked)


def twins_about(
    case: Intervention,
    sample_id: str,
    twin_id: str,
    *,
    seed: int,
    series: int | None = None,
    turn: int = 0,
    count: int | None = None,
) -> tuple[tuple[Question, ...], tuple[Question, ...]]:
    """The questions of a sample and of its twin: equal words and options, other answers. `count` is
    how many things the twin of a counting sample has."""
    asked = _ask(case, seed=seed, series=series, turn=turn, layout="twins", twin=count)
    task = _task(case)
    return rows(task, sample_id, asked), twin_rows(task, twin_id, asked)


def _ask(
    case: Intervention,
    *,
    seed: int,
    series: int | None,
    turn: int,
    layout: Layout,
    twin: int | None,
) -> list[WordedQuestion]:
    rng = np.random.default_rng(np.random.SeedSequence((seed, 3)))
    task = _task(case)
    places = Places(seed if series is None else series, list(LAYOUT).index(task), turn)
    if task == "counting":
        return ask_counting(rng, places, case, twin)
    return _ASK[task](rng, places, case, layout)


def facts_of(case: Intervention) -> dict[str, str]:
    """What is known about a sample: the fields that its questions are made of."""
    task = _task(case)
    if task == "erasure":
        return facts_of_erasure(case)
    if task == "attribute":
        return facts_of_attribute(case)
    if task == "tracing":
        before, after = subject_before(case), subject_after(case)
        return {
            "operation": case.kind,
            "object": traced_name(case),
            "location": location_of(case),
            "before": concept(before) if before else "nothing",
            "after": concept(after) if after else "nothing",
        } | ({"direction": direction_of(case)} if case.kind == "move" else {})
    told = {name: case.facts[name] for name in ("layout", "distractor") if name in case.facts}
    return {"object": case.facts["object"], "count": str(count_of(case))} | told


def _task(case: Intervention) -> Task:
    if case.kind not in TASKS:
        raise UsageError(
            f"ReactBench does not ask about {case.kind}; it does about {', '.join(TASKS)}"
        )
    return TASKS[case.kind]


_ASK: dict[Task, Callable[[Rng, Places, Intervention, Layout], list[WordedQuestion]]] = {
    "erasure": ask_erasure,
    "attribute": ask_attribute,
    "tracing": ask_tracing,
}
