"""Exams (ReactBench): verdicts per case, CoT effect, yes and position bias, per question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from groundfault.benchmarks.reactbench import DIRECTIONS, is_twin, question_labels, twin_of
from groundfault.errors import DataError
from groundfault.metrics import columns_of, twins
from groundfault.metrics import exam as metric
from groundfault.protocols.protocol import Protocol
from groundfault.protocols.scored import Scored, clusters
from groundfault.protocols.words import expected
from groundfault.records import (
    MODES,
    Answer,
    Benchmark,
    Case,
    Item,
    Mode,
    Outcome,
    Prediction,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from groundfault.protocols.scored import Floats

__all__ = ["CONTROL", "PROTOCOL", "TWIN", "Slot", "score", "slots_of", "twin_items", "weight_of"]

TWIN, CONTROL = "twin", "control"
"""The row of twins; in exams of 0.1, that of cases that show the unedited picture."""
_IMPUTED = ("right", "wrong", "yes", "no", "unparsed", "std right", "cot right")


class Slot(msgspec.Struct, frozen=True):
    """One question in one mode, and what was answered, if anything was."""

    number: int
    """Place of the case."""
    case: Case
    item: Item
    expected: Answer
    mode: Mode
    answer: Prediction | None
    label: str = ""
    """"Q3"; "Q1a" where its question is asked in two wordings."""

    @property
    def weight(self) -> float:
        return weight_of(self.label)

    @property
    def unjudged(self) -> bool:
        return self.answer is not None and self.answer.verdict == "unjudged"

    @property
    def unscored(self) -> bool:
        """Failed or unjudged: what it is worth is not known."""
        return self.answer is None or self.answer.outcome is Outcome.FAILED or self.unjudged

    @property
    def right(self) -> bool:
        return self.answer is not None and self.answer.verdict == "right"

    @property
    def unparsed(self) -> bool:
        return self.answer is not None and self.answer.outcome is Outcome.UNPARSED


def weight_of(label: str) -> float:
    """What a question counts: two wordings of one question count as one question.

    >>> weight_of("Q3"), weight_of("Q1a")
    (1.0, 0.5)
    """
    return 0.5 if label[-1:].isalpha() else 1.0


def score(benchmark: Benchmark, predictions: Iterable[Prediction]) -> Scored:
    """Score graded answers. A twin is resampled with its case, and in no row but its own: scores
    are about the edited pictures, `paired_accuracy` is about both.

    A question without a prediction, in a mode that the run has, counts as failed: the run is
    incomplete.
    """
    slots = slots_of(benchmark, predictions)
    modes = [mode for mode in metric.MODES if any(slot.mode == mode for slot in slots)]
    unscored = [slot for slot in slots if slot.unscored]
    twin = np.array([is_twin(case) for case in benchmark.cases], bool)
    paired = _pairs(benchmark, slots) if twin.any() else None
    task = np.array([case.intervention for case in benchmark.cases], dtype=str)
    settings: dict[str, object] = {"modes": modes, "judge": _judges(slots)}
    names: dict[str, NDArray[np.bool_]] = {
        "Overall": ~twin,
        **{name: ~twin & (task == name) for name in metric.TASKS},
    }
    direction = np.array([_direction(case) for case in benchmark.cases], dtype=str)
    directions = [name for name in DIRECTIONS if (direction == name).any()]
    if len(directions) > 1:
        names |= {f"attribute {name}": ~twin & (direction == name) for name in directions}
    if twin.any():
        old = any(CONTROL in case.facts for case in benchmark.cases)
        names[CONTROL if old else TWIN] = twin
    outcomes = {outcome.value: 0 for outcome in Outcome}
    for slot in slots:
        outcomes[slot.answer.outcome if slot.answer else Outcome.FAILED] += 1
    return Scored(
        benchmark=benchmark.card.name,
        settings=settings,
        columns=lambda: _case_table(benchmark, slots),
        contributions=_contributions(benchmark, slots, paired),
        contribution_names=(
            *columns_of(metric.FAMILY),
            *(columns_of(twins.FAMILY) if paired is not None else ()),
        ),
        case=clusters(benchmark.cases, twin_of),
        rows=names,
        outcomes=outcomes,
        imputed=tuple(_contributions(benchmark, slots, paired, how) for how in _IMPUTED)
        if unscored
        else (),
        notes=tuple(_notes(slots, unscored)),
    )


def slots_of(benchmark: Benchmark, predictions: Iterable[Prediction]) -> list[Slot]:
    """Every question in every mode of the run, with its answer if it has one."""
    found: dict[tuple[str, Mode], Prediction] = {}
    for row in predictions:
        if (row.item_id, row.mode) in found:
            _refuse(
                row, "it is answered twice in one mode", "keep one prediction per item and mode"
            )
        found[row.item_id, row.mode] = row
    asked = {item.id for item in benchmark.items}
    modes = [mode for mode in MODES if any(key[1] == mode for key in found)]
    place = {case.id: k for k, case in enumerate(benchmark.cases)}
    labels = question_labels(benchmark.items)
    slots = []
    for item in benchmark.items:
        number, wanted = place[item.case_id], expected(item)
        _check_layout(benchmark.cases[number], item, wanted)
        for mode in modes:
            answer = found.get((item.id, mode))
            if answer is not None and answer.outcome is Outcome.OK and answer.verdict is None:
                _refuse(answer, "it has no verdict", "judge the answers before they are scored")
            case = benchmark.cases[number]
            slots.append(Slot(number, case, item, wanted, mode, answer, labels[item.id]))
    foreign = next((row for row in found.values() if row.item_id not in asked), None)
    if foreign is not None:
        _refuse(
            foreign,
            "the benchmark has no such question",
            "give the benchmark that the run was made with",
        )
    if not slots:
        raise DataError(
            "answers", "there is not one answer", remedy="ask the model first, then score"
        )
    return slots


def _check_layout(case: Case, item: Item, wanted: Answer) -> None:
    """Refuse a question whose task or dimension the metrics do not know."""
    for what, name, known in (
        ("task", case.intervention, metric.TASKS),
        ("dimension", wanted.dimension, metric.DIMENSIONS),
    ):
        if name not in known:
            raise DataError(
                "the benchmark",
                f"its {what} is '{name}'; an exam has {', '.join(known)}",
                record=f"item {item.id}",
                remedy="name the tasks and dimensions as ReactBench does",
            )


def _refuse(row: Prediction, problem: str, remedy: str) -> None:
    raise DataError("answers", problem, record=f"item {row.item_id} ({row.mode})", remedy=remedy)


def twin_items(benchmark: Benchmark) -> list[tuple[Item, Item]]:
    """The questions of cases with those of their twins that are asked in the same words."""
    cases, labels = {case.id: case for case in benchmark.cases}, question_labels(benchmark.items)
    found = {(item.case_id, labels[item.id]): item for item in benchmark.items}
    pairs = []
    for twin in benchmark.items:
        item = found.get((twin_of(cases[twin.case_id]), labels[twin.id]))
        if item is not None and item is not twin and _words(item) == _words(twin):
            pairs.append((item, twin))
    return pairs


def _words(item: Item) -> tuple[str, tuple[str, ...]]:
    return item.query, expected(item).options


def _pairs(benchmark: Benchmark, slots: Sequence[Slot]) -> list[tuple[Slot, Slot]]:
    """What was answered about cases and about their twins, mode by mode."""
    found = {(slot.item.id, slot.mode): slot for slot in slots}
    modes = dict.fromkeys(slot.mode for slot in slots)
    return [
        (found[item.id, mode], found[twin.id, mode])
        for item, twin in twin_items(benchmark)
        for mode in modes
    ]


def _of_pairs(n_cases: int, pairs: Sequence[tuple[Slot, Slot]], impute: str) -> Floats:
    """What the case of each pair adds: right about both pictures or not."""
    kept = [pair for pair in pairs if impute or not any(slot.unscored for slot in pair)]

    def right(slot: Slot) -> bool:
        return (_imputed(slot, impute) if slot.unscored else _end(slot))[0]

    return twins.contributions(
        n_cases=n_cases,
        case=np.array([slot.number for slot, _ in kept], np.int64),
        mode=np.array([twins.MODES.index(slot.mode) for slot, _ in kept], np.int64),
        right=np.array([right(slot) and right(twin) for slot, twin in kept], bool),
        weight=np.array([slot.weight for slot, _ in kept], float),
    )


def _contributions(
    benchmark: Benchmark,
    slots: Sequence[Slot],
    paired: Sequence[tuple[Slot, Slot]] | None,
    impute: str = "",
) -> Floats:
    """Of every case; unscored answers are left out, or taken to have ended in one way."""
    found = _of_answers(benchmark, slots, impute)
    if paired is None:
        return found
    return np.hstack([found, _of_pairs(len(benchmark.cases), paired, impute)])


def _of_answers(benchmark: Benchmark, slots: Sequence[Slot], impute: str) -> Floats:
    kept = [slot for slot in slots if impute or not slot.unscored]
    ends = [_imputed(slot, impute) if slot.unscored else _end(slot) for slot in kept]

    def flags(k: int) -> NDArray[np.bool_]:
        return np.array([end[k] for end in ends], bool)

    def places(names: Sequence[str], name: Callable[[Slot], str]) -> NDArray[np.int64]:
        at = {each: k for k, each in enumerate(names)}
        return np.array([at[name(slot)] for slot in kept], np.int64)

    return metric.contributions(
        n_cases=len(benchmark.cases),
        case=np.array([slot.number for slot in kept], np.int64),
        mode=places(metric.MODES, lambda slot: slot.mode),
        task=places(metric.TASKS, lambda slot: slot.case.intervention),
        type_=places(metric.TYPES, lambda slot: slot.expected.type),
        dimension=places(metric.DIMENSIONS, lambda slot: slot.expected.dimension),
        right=flags(0),
        unparsed=flags(1),
        said_yes=flags(2),
        truth_yes=np.array([slot.expected.reference == "yes" for slot in kept], bool),
        weight=np.array([slot.weight for slot in kept], float),
    )


def _end(slot: Slot) -> tuple[bool, bool, bool]:
    """Right, unparsed, said yes."""
    said = slot.answer.parsed if slot.answer else None
    return slot.right, slot.unparsed, said == "yes"


def _imputed(slot: Slot, how: str) -> tuple[bool, bool, bool]:
    """The same of an unscored answer, had it ended in some way."""
    truth = slot.expected.reference
    if how == "unparsed":
        return False, True, False
    if how in ("yes", "no"):
        return slot.expected.type == "YN" and truth == how, False, how == "yes"
    right = how == "right" or how == f"{slot.mode} right"
    return right, False, (truth == "yes") == right


def _direction(case: Case) -> str:
    return case.facts.get("direction", "") if case.intervention == "attribute" else ""


def _judges(slots: Sequence[Slot]) -> list[str]:
    return sorted({slot.answer.judge for slot in slots if slot.answer and slot.answer.judge})


def _case_table(benchmark: Benchmark, slots: Sequence[Slot]) -> dict[str, Any]:
    """What cases.parquet says about each case: per mode, how each of its questions ended."""
    image = {item.case_id: item.image for item in reversed(benchmark.items)}
    table: dict[str, Any] = {
        "case_id": [case.id for case in benchmark.cases],
        "task": [case.intervention for case in benchmark.cases],
        "control": [is_twin(case) for case in benchmark.cases],
        "twin_of": [twin_of(case) or None for case in benchmark.cases],
        "image": [image[case.id] for case in benchmark.cases],
    }
    for mode in metric.MODES:
        ends: list[list[str]] = [[] for _ in benchmark.cases]
        for slot in slots:
            if slot.mode == mode:
                ends[slot.number].append(_ending(slot))
        table[f"{mode}_verdicts"] = [" ".join(each) or None for each in ends]
    return table


def _ending(slot: Slot) -> str:
    if slot.unjudged:
        return "unjudged"
    if slot.unscored:
        return Outcome.FAILED.value
    if slot.unparsed:
        return Outcome.UNPARSED.value
    return "right" if slot.right else "wrong"


def _notes(slots: Sequence[Slot], unscored: Sequence[Slot]) -> list[str]:
    notes = [
        "react_score is the paper's formula; the paper's own column is not reproduced by it, and "
        "lies near react_score_plain, which weighs plain accuracies."
    ]
    unparsed = sum(slot.unparsed for slot in slots)
    if unparsed:
        notes.append(f"{unparsed} of {len(slots)} answers could not be read: they count as wrong.")
    if unscored:
        never = sum(slot.answer is None for slot in unscored)
        unjudged = sum(slot.unjudged for slot in unscored)
        refused = f" and {unjudged} were left unjudged by the judge" if unjudged else ""
        notes.append(
            f"{len(unscored) - unjudged} of {len(slots)} answers failed ({never} were never asked)"
            f"{refused}: the scores are of {len(slots) - len(unscored)} of {len(slots)}; `bounds` "
            "has the lowest and highest value that the others could lead to."
        )
    modes = {slot.mode for slot in slots}
    if len(modes) == 1:
        notes.append(f"The run has one mode, {modes.pop()}: scores over modes are about it alone.")
    return notes


PROTOCOL = Protocol(
    name="exam",
    title="Exam",
    answers="words",
    families=("exam", "twins"),
    settings={"modes": ("std", "cot")},
    contribute=lambda benchmark, predictions, settings: score(benchmark, predictions),
    headlines=(
        "paired_accuracy", "react_score", "react_score_plain", "accuracy_std", "accuracy_cot",
        "YN", "SA", "MC", "unparsed_rate", "yes_rate",
    ),
    on_page=(
        "paired_accuracy", "react_score", "react_score_plain", "accuracy_std", "accuracy_cot",
        "cot_effect", "YN", "SA", "MC", "unparsed_rate",
    ),
    main="react_score",
    asked=(
        "An exam in four tasks, each of which provokes one cause of hallucination: something "
        "that belongs there was taken out of the picture (erasure), something looks unlike "
        "its kind (attribute), one thing changed between two pictures (tracing), many things "
        "are to be counted (counting). Every picture is asked about in yes/no questions, short "
        "answers and multiple choice, straight (Std) and with the request to think step by "
        "step (CoT). Where pictures have twins, the same is asked about the unedited one, where "
        "the answer is another: right is who is right about both."
    ),
    told="react_score",
    doubtful="failed or unjudged answers",
    sentence="reaches a React-Score of {value} {interval}",
    bars=("paired_accuracy", "react_score", "accuracy_std", "accuracy_cot"),
    published_note=(
        "Their questions are not released. Their React-Score follows from neither formula and the "
        "paper's own tables."
    ),
    slices={
        CONTROL: "unedited picture",
        TWIN: "twins: the unedited picture, no change, another count",
        "erasure": "object taken out",
        "attribute": "unusual look",
        "tracing": "two pictures",
        "counting": "many objects",
    },
)  # fmt: skip
