"""Accepted candidates as the samples and questions of an exam.

A sample shows the edited picture (tracing: the photograph and the edited picture), its twin the
photograph (tracing: twice; counting: another photograph with another count).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from groundfault.benchmarks.reactbench import TWIN, Question, Sample
from groundfault.building.questions.counting import TWIN_CANDIDATE
from groundfault.building.records import Candidate, EditedPicture
from groundfault.building.records import Question as Asked

__all__ = ["exam_rows", "twin_candidates", "with_twins"]

OWN = "exam."
"""Facts that the questions stage leaves for the exam begin so."""


def exam_rows(
    candidates: Iterable[Candidate],
) -> tuple[list[Sample], list[Question], dict[str, str]]:
    """Samples and questions, each sample before its twin, and the kept file of each picture."""
    samples: list[Sample] = []
    questions: list[Question] = []
    pictures: dict[str, str] = {}
    for candidate in candidates:
        for twin in (False, True):
            asked = [each for each in candidate.questions if each.twin is twin]
            if not asked:
                continue
            sample, shown = _sample(candidate, twin)
            samples.append(sample)
            questions += [_row(sample.id, each) for each in asked]
            pictures |= shown
    return samples, questions, pictures


def twin_candidates(candidates: Iterable[Candidate]) -> set[str]:
    """Ids of the candidates whose photographs are the twins of these."""
    name = OWN + TWIN_CANDIDATE
    return {candidate.facts[name] for candidate in candidates if name in candidate.facts}


def with_twins(
    candidates: Iterable[Candidate], twins: Mapping[str, Candidate]
) -> Iterator[Candidate]:
    """Each candidate and, where questions are asked about one, its unedited twin under the id of
    the sample that it is in the exam. `twins` are those with photographs of their own."""
    for candidate in candidates:
        yield candidate
        if any(question.twin for question in candidate.questions):
            other = twins.get(candidate.facts.get(OWN + TWIN_CANDIDATE, ""), candidate)
            yield _unedited(other, candidate.id + TWIN)


def _unedited(candidate: Candidate, name: str) -> Candidate:
    """A candidate as if nothing had been done to its photograph."""
    proposal, edited = candidate.proposal, candidate.edited
    assert proposal is not None and edited is not None
    return msgspec.structs.replace(
        candidate,
        id=name,
        proposal=msgspec.structs.replace(
            proposal, kind="none", value="", instruction="", rationale="", negative=""
        ),
        edited=EditedPicture(before=edited.before, after=edited.before, editor="none"),
        checks={},
    )


def _sample(candidate: Candidate, twin: bool) -> tuple[Sample, dict[str, str]]:
    known = {
        name.removeprefix(OWN): value
        for name, value in candidate.facts.items()
        if name.startswith(OWN)
    }
    facts = {name: value for name, value in known.items() if not name.startswith("twin")}
    facts |= {"photograph": candidate.photograph.id, "source": candidate.photograph.source}
    name, size = candidate.id, (candidate.photograph.height_px, candidate.photograph.width_px)
    if twin:
        facts["twin_of"] = name
        name += TWIN
        facts |= _changed_facts(candidate, known)
        if "twin_size" in known:
            height, _, width = known["twin_size"].partition("x")
            size = int(height), int(width)
    shown = _pictures(candidate, name, twin, known.get("twin", ""))
    sample = Sample(
        id=name,
        task=candidate.task,  # type: ignore[arg-type]  # an exam's
        images=tuple(shown),
        height_px=size[0],
        width_px=size[1],
        facts=facts,
    )
    return sample, shown


def _changed_facts(candidate: Candidate, known: dict[str, str]) -> dict[str, str]:
    """What is otherwise about the twin."""
    if candidate.task == "attribute":
        return {"shown": known["usual"]}
    if candidate.task == "counting":
        return {"count": known["twin_count"], "photograph": known["twin_photograph"]}
    return {}


def _pictures(candidate: Candidate, name: str, twin: bool, other: str) -> dict[str, str]:
    """File name in the exam → kept file, in the order in which they are shown."""
    edited = candidate.edited
    assert edited is not None
    before, after = edited.before, edited.before if twin else edited.after
    if candidate.task == "tracing":
        return {f"{name}-before.png": before, f"{name}-after.png": after}
    return {f"{name}.png": other if twin and other else after}


def _row(sample_id: str, asked: Asked) -> Question:
    variant = asked.variant or ""
    return msgspec.convert(
        {
            "id": f"{sample_id}:Q{asked.number}{variant}",
            "sample_id": sample_id,
            "number": asked.number,
            "type": asked.type,
            "dimension": asked.dimension,
            "text": asked.query,
            "options": asked.options,
            "answer": asked.reference,
            "rubric": asked.rubric,
            "polarity": asked.polarity,
        },
        Question,
    )
