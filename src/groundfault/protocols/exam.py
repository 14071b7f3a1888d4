"""Exams (ReactBench): verdicts per sample, CoT effect, yes and position bias, per question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from groundfault.analysis.statistics import holm, mcnemar, paired_difference
from groundfault.benchmarks.reactbench import CARD, LAYOUT, LETTERS, Exam, Question, Sample
from groundfault.errors import DataError
from groundfault.metrics import columns_of
from groundfault.metrics import exam as metric
from groundfault.parsing.answers import Answered, Mode
from groundfault.protocols.protocol import Protocol
from groundfault.protocols.scored import Scored
from groundfault.records import Estimate, Outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from groundfault.protocols.scored import Floats

__all__ = [
    "CONTROL",
    "PROTOCOL",
    "CotEffect",
    "PositionBias",
    "cot_effects",
    "hallucination_rates",
    "judged_counts",
    "position_bias",
    "score",
]

CONTROL = "control"
"""The row of samples that show the unedited picture."""
_IMPUTED = ("right", "wrong", "yes", "no", "unparsed", "std right", "cot right")


class _Slot(msgspec.Struct, frozen=True):
    """One question in one mode, and what was answered, if anything was."""

    case: int
    sample: Sample
    question: Question
    mode: Mode
    answer: Answered | None

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


def score(exam: Exam, rows: Iterable[Answered]) -> Scored:
    """Score judged answers. A sample is a case; an unedited control belongs to its sample's case.

    A question without a row, in a mode that the run has, counts as failed: the run is incomplete.
    """
    slots = _slots(exam, rows)
    modes = [mode for mode in metric.MODES if any(slot.mode == mode for slot in slots)]
    unscored = [slot for slot in slots if slot.unscored]
    control = np.array(["control" in sample.facts for sample in exam.samples], bool)
    task = np.array([sample.task for sample in exam.samples], dtype=str)
    settings: dict[str, object] = {"modes": modes, "judge": _judges(slots)}
    names: dict[str, NDArray[np.bool_]] = {
        "Overall": ~control,
        **{name: ~control & (task == name) for name in metric.TASKS},
    }
    if control.any():
        names[CONTROL] = control
    outcomes = {outcome.value: 0 for outcome in Outcome}
    for slot in slots:
        outcomes[slot.answer.outcome if slot.answer else Outcome.FAILED] += 1
    return Scored(
        benchmark=CARD.name,
        settings=settings,
        columns=lambda: _case_table(exam, slots),
        contributions=_contributions(exam, slots),
        contribution_names=columns_of(metric.FAMILY),
        case=_clusters(exam.samples),
        rows=names,
        outcomes=outcomes,
        imputed=tuple(_contributions(exam, slots, how) for how in _IMPUTED) if unscored else (),
        notes=tuple(_notes(slots, unscored)),
    )


def _slots(exam: Exam, rows: Iterable[Answered]) -> list[_Slot]:
    found: dict[tuple[str, Mode], Answered] = {}
    for row in rows:
        if (row.item_id, row.mode) in found:
            _refuse(row, "it is answered twice in one mode", "keep one row per item and mode")
        found[row.item_id, row.mode] = row
    asked = {question.id for question in exam.questions}
    modes: list[Mode] = [mode for mode in metric.MODES if any(key[1] == mode for key in found)]  # type: ignore[misc]
    number = {sample.id: k for k, sample in enumerate(exam.samples)}
    slots = []
    for question in exam.questions:
        case = number[question.sample_id]
        for mode in modes:
            answer = found.get((question.id, mode))
            if answer is not None and answer.outcome is Outcome.OK and answer.verdict is None:
                _refuse(answer, "it has no verdict", "judge the answers before they are scored")
            slots.append(_Slot(case, exam.samples[case], question, mode, answer))
    foreign = next((row for row in found.values() if row.item_id not in asked), None)
    if foreign is not None:
        _refuse(
            foreign, "the exam has no such question", "give the exam that the run was made with"
        )
    if not slots:
        raise DataError(
            "answers", "there is not one answer", remedy="ask the model first, then score"
        )
    return slots


def _refuse(row: Answered, problem: str, remedy: str) -> None:
    raise DataError("answers", problem, record=f"item {row.item_id} ({row.mode})", remedy=remedy)


def _contributions(exam: Exam, slots: Sequence[_Slot], impute: str = "") -> Floats:
    """Of every sample; unscored answers are left out, or taken to have ended in one way."""
    kept = [slot for slot in slots if impute or not slot.unscored]
    ends = [_imputed(slot, impute) if slot.unscored else _end(slot) for slot in kept]

    def flags(k: int) -> NDArray[np.bool_]:
        return np.array([end[k] for end in ends], bool)

    def places(names: Sequence[str], name: Callable[[_Slot], str]) -> NDArray[np.int64]:
        at = {each: k for k, each in enumerate(names)}
        return np.array([at[name(slot)] for slot in kept], np.int64)

    return metric.contributions(
        n_cases=len(exam.samples),
        case=np.array([slot.case for slot in kept], np.int64),
        mode=places(metric.MODES, lambda slot: slot.mode),
        task=places(metric.TASKS, lambda slot: slot.sample.task),
        type_=places(metric.TYPES, lambda slot: slot.question.type),
        dimension=places(metric.DIMENSIONS, lambda slot: slot.question.dimension),
        right=flags(0),
        unparsed=flags(1),
        said_yes=flags(2),
        truth_yes=np.array([slot.question.answer == "yes" for slot in kept], bool),
    )


def _end(slot: _Slot) -> tuple[bool, bool, bool]:
    """Right, unparsed, said yes."""
    said = slot.answer.parsed if slot.answer else None
    return slot.right, slot.unparsed, said == "yes"


def _imputed(slot: _Slot, how: str) -> tuple[bool, bool, bool]:
    """The same of an unscored answer, had it ended in some way."""
    truth = slot.question.answer
    if how == "unparsed":
        return False, True, False
    if how in ("yes", "no"):
        return slot.question.type == "YN" and truth == how, False, how == "yes"
    right = how == "right" or how == f"{slot.mode} right"
    return right, False, (truth == "yes") == right


def _clusters(samples: Sequence[Sample]) -> NDArray[np.int64]:
    numbers: dict[str, int] = {}
    ids = [
        sample.id.removesuffix("-control") if "control" in sample.facts else sample.id
        for sample in samples
    ]
    return np.array([numbers.setdefault(name, len(numbers)) for name in ids], np.int64)


def _judges(slots: Sequence[_Slot]) -> list[str]:
    return sorted({slot.answer.judge for slot in slots if slot.answer and slot.answer.judge})


def _case_table(exam: Exam, slots: Sequence[_Slot]) -> dict[str, Any]:
    """What cases.parquet says about each sample: per mode, how each of its questions ended."""
    table: dict[str, Any] = {
        "case_id": [sample.id for sample in exam.samples],
        "task": [sample.task for sample in exam.samples],
        "control": ["control" in sample.facts for sample in exam.samples],
        "image": [sample.images[0] for sample in exam.samples],
    }
    for mode in metric.MODES:
        ends: list[list[str]] = [[] for _ in exam.samples]
        for slot in slots:
            if slot.mode == mode:
                ends[slot.case].append(_ending(slot))
        table[f"{mode}_verdicts"] = [" ".join(each) or None for each in ends]
    return table


def _ending(slot: _Slot) -> str:
    if slot.unjudged:
        return "unjudged"
    if slot.unscored:
        return Outcome.FAILED.value
    if slot.unparsed:
        return Outcome.UNPARSED.value
    return "right" if slot.right else "wrong"


def _notes(slots: Sequence[_Slot], unscored: Sequence[_Slot]) -> list[str]:
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
        refused = f" and {unjudged} were refused by the judge" if unjudged else ""
        notes.append(
            f"{len(unscored) - unjudged} of {len(slots)} answers failed ({never} were never asked)"
            f"{refused}: the scores are of {len(slots) - len(unscored)} of {len(slots)}; `bounds` "
            "has the lowest and highest value that the others could lead to."
        )
    modes = {slot.mode for slot in slots}
    if len(modes) == 1:
        notes.append(f"The run has one mode, {modes.pop()}: scores over modes are about it alone.")
    return notes


# What chain of thought does, on the same questions.


class CotEffect(msgspec.Struct, frozen=True, kw_only=True):
    """Accuracy with minus without chain of thought, over questions answered in both modes."""

    std: float | None
    cot: float | None
    difference: Estimate
    """Its interval is a paired bootstrap over samples."""
    p_bootstrap: float | None
    only_std_right: int
    only_cot_right: int
    p_mcnemar: float
    """Exact, over questions; it takes the questions of one sample for independent."""
    p_holm: float | None = None
    """p_bootstrap, adjusted over the rows of the table."""


def cot_effects(
    exam: Exam, rows: Iterable[Answered], *, resamples: int = 10_000, seed: int = 0
) -> dict[str, CotEffect]:
    """Row → effect; {} where the run has one mode only."""
    pairs: dict[str, dict[str, _Slot]] = {}
    for slot in _slots(exam, rows):
        if not slot.unscored and "control" not in slot.sample.facts:
            pairs.setdefault(slot.question.id, {})[slot.mode] = slot
    both = [(pair["std"], pair["cot"]) for pair in pairs.values() if len(pair) == 2]
    effects: dict[str, CotEffect] = {}
    for name in ("Overall", *metric.TASKS):
        member = [pair for pair in both if name in ("Overall", pair[0].sample.task)]
        if member:
            effects[name] = _effect(member, resamples, seed)
    adjusted = holm({n: e.p_bootstrap for n, e in effects.items() if e.p_bootstrap is not None})
    return {
        name: msgspec.structs.replace(effect, p_holm=adjusted.get(name))
        for name, effect in effects.items()
    }


def _effect(pairs: Sequence[tuple[_Slot, _Slot]], resamples: int, seed: int) -> CotEffect:
    cases = {case: k for k, case in enumerate(dict.fromkeys(std.case for std, _ in pairs))}
    sums = np.zeros((2, len(cases), 2))
    for std, cot in pairs:
        for k, slot in enumerate((cot, std)):
            sums[k, cases[std.case]] += (slot.right, 1)
    found = paired_difference(
        sums[0],
        sums[1],
        lambda totals: {"accuracy": totals[..., 0] / totals[..., 1]},
        resamples=resamples,
        seed=seed,
    )["accuracy"]
    only_std = sum(std.right and not cot.right for std, cot in pairs)
    only_cot = sum(cot.right and not std.right for std, cot in pairs)
    return CotEffect(
        std=float(sums[1, :, 0].sum() / len(pairs)),
        cot=float(sums[0, :, 0].sum() / len(pairs)),
        difference=Estimate(found.value, found.low, found.high, len(pairs)),
        p_bootstrap=found.p_value,
        only_std_right=only_std,
        only_cot_right=only_cot,
        p_mcnemar=mcnemar(only_std, only_cot),
    )


# Questions one by one, and habits of answering.


def hallucination_rates(
    exam: Exam, rows: Iterable[Answered]
) -> dict[str, dict[str, list[Estimate]]]:
    """Task → mode → share of wrong answers to Q1, Q2, …: the heat map of Tables 11–14."""
    wrong: dict[tuple[str, str, int], list[bool]] = {}
    for slot in _slots(exam, rows):
        if not slot.unscored and "control" not in slot.sample.facts:
            key = (slot.sample.task, slot.mode, slot.question.number)
            wrong.setdefault(key, []).append(not slot.right)
    rates: dict[str, dict[str, list[Estimate]]] = {}
    for task, layout in LAYOUT.items():
        for mode in metric.MODES:
            asked = [wrong.get((task, mode, number), []) for number in range(1, len(layout) + 1)]
            if any(asked):
                rates.setdefault(task, {})[mode] = [
                    Estimate(sum(each) / len(each) if each else None, n=len(each)) for each in asked
                ]
    return rates


class PositionBias(msgspec.Struct, frozen=True, kw_only=True):
    """How a model chooses among options, by their place, in one mode."""

    letters: dict[str, tuple[int, int, int, int]]
    """Letter → how often it was offered, right, chosen, and chosen where it was right."""
    p_value: float | None
    """χ² of chosen letters against right ones; None where nothing was chosen."""


def position_bias(exam: Exam, rows: Iterable[Answered]) -> dict[str, PositionBias]:
    """Mode → choices by letter, over multiple-choice answers that could be read."""
    counts: dict[str, dict[str, list[int]]] = {}
    for slot in _slots(exam, rows):
        said = slot.answer.parsed if slot.answer else None
        if slot.question.type != "MC" or slot.unscored or not said:
            continue
        of_mode = counts.setdefault(slot.mode, {})
        for letter in LETTERS[: len(slot.question.options)]:
            tally = of_mode.setdefault(letter, [0, 0, 0, 0])
            tally[0] += 1
            tally[1] += letter == slot.question.answer
            tally[2] += letter == said
            tally[3] += letter == said == slot.question.answer
    return {
        mode: PositionBias(
            letters={letter: (t[0], t[1], t[2], t[3]) for letter, t in sorted(tallies.items())},
            p_value=_unlike([t[2] for t in tallies.values()], [t[1] for t in tallies.values()]),
        )
        for mode, tallies in counts.items()
    }


def _unlike(chosen: Sequence[int], expected: Sequence[int]) -> float | None:
    """χ² p-value that the letters are chosen as often as they are right."""
    pairs = [(c, e) for c, e in zip(chosen, expected, strict=True) if e > 0]
    if len(pairs) < 2 or not sum(chosen):
        return None
    from scipy.special import chdtrc

    statistic = sum((c - e) ** 2 / e for c, e in pairs)
    return float(chdtrc(len(pairs) - 1, statistic))


def judged_counts(exam: Exam, rows: Iterable[Answered]) -> dict[str, tuple[Floats, Floats]]:
    """Row → (right, asked) per sample over answers that a judge decided, in words: what a judge's
    card corrects."""
    totals = np.zeros((len(exam.samples), 2))
    for slot in _slots(exam, rows):
        words = slot.question.type == "SA" and slot.sample.task != "counting"
        if words and not slot.unscored and "control" not in slot.sample.facts:
            totals[slot.case] += (slot.right, 1)
    task = np.array([sample.task for sample in exam.samples], dtype=str)
    asked = totals[:, 1] > 0
    found = {}
    for name in ("Overall", *metric.TASKS):
        member = asked & (task == name) if name != "Overall" else asked
        if member.any():
            found[name] = (totals[member, 0], totals[member, 1])
    return found


PROTOCOL = Protocol(
    name="exam",
    title="Exam",
    answers="words",
    families=("exam",),
    contribute=lambda benchmark, predictions, settings: score(benchmark, predictions),  # type: ignore[arg-type]
    headlines=(
        "react_score", "react_score_plain", "accuracy_std", "accuracy_cot", "YN", "SA", "MC",
        "unparsed_rate", "yes_rate",
    ),
    on_page=(
        "react_score", "react_score_plain", "accuracy_std", "accuracy_cot", "cot_effect", "YN",
        "SA", "MC", "unparsed_rate",
    ),
    main="react_score",
    asked=(
        "An exam in four tasks, each of which provokes one cause of hallucination: something "
        "that belongs there was taken out of the picture (erasure), something looks unlike "
        "its kind (attribute), one thing changed between two pictures (tracing), many things "
        "are to be counted (counting). Every picture is asked about in yes/no questions, short "
        "answers and multiple choice, straight (Std) and with the request to think step by "
        "step (CoT)."
    ),
    told="react_score",
    sentence="reaches a React-Score of {value} {interval}",
    bars=("react_score", "accuracy_std", "accuracy_cot"),
    slices={
        CONTROL: "unedited picture",
        "erasure": "object taken out",
        "attribute": "unusual look",
        "tracing": "two pictures",
        "counting": "many objects",
    },
)  # fmt: skip
