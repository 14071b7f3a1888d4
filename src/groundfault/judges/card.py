"""How far a judge can be trusted: its agreement with labelled answers, and canaries in every run.

All figures are about the answers that it decided about; what it leaves undecided or refuses to
judge is not scored in a run, so it is in none of them, and counted:

    sensitivity  share of the right answers that it calls right (recall)
    specificity  share of the wrong answers that it calls wrong
    precision    share of right answers among those that it calls right
    kappa        Cohen's κ = (agreement − chance) / (1 − chance)
    alpha        Krippendorff's α (nominal), with the label as the other observer

A score p under a judge with sensitivity Se and specificity Sp is corrected to
(p + Sp − 1) / (Se + Sp − 1) (Rogan and Gladen, 1978), undefined where Se + Sp ≤ 1. Its interval
resamples the cases and draws Se and Sp from what the labelled answers leave open.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from groundfault.analysis.agreement import krippendorff_alpha
from groundfault.analysis.statistics import (
    DEFAULT_RESAMPLES,
    bootstrap_sums,
    percentile_interval,
)
from groundfault.benchmarks.reactbench import LAYOUT, Task
from groundfault.errors import GroundfaultError
from groundfault.judges import AnswerJudge, Judgement, ShortAnswer
from groundfault.judges.labelled import Labelled
from groundfault.judges.llm import JudgeDown
from groundfault.metrics import exam as metric
from groundfault.protocols.scored import by_case
from groundfault.records import Answer, Case, Estimate, Item, Role, Verdict

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = [
    "CANARIES",
    "Agreement",
    "Canaried",
    "JudgeCard",
    "JudgeUnfit",
    "agreement",
    "cohen_kappa",
    "corrected",
    "corrected_scores",
    "judge_card",
]


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """A judge against labels. Undefined is None."""

    n_right: int
    """Answers labelled right, of those that it decided about."""
    n_wrong: int
    """Answers labelled wrong, of those that it decided about."""
    called_right: int
    """Of the right ones."""
    called_right_wrongly: int
    """Of the wrong ones."""
    undecided: int
    """Answers that it did not decide about."""
    agreement: float | None
    """Share of verdicts that equal the label."""
    kappa: float | None
    """Cohen's κ: agreement beyond chance."""
    alpha: float | None
    """Krippendorff's α."""
    precision: float | None
    """Of those that it calls right, the share that is."""
    sensitivity: float | None
    """Of the right ones, the share that it calls right."""
    specificity: float | None
    """Of the wrong ones, the share that it calls wrong."""


class JudgeCard(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about a judge."""

    judge: str
    """"rule", or the model's spec."""
    prompt_hash: str = ""
    """SHA-256 of what it was asked with."""
    labels: str = ""
    """Where the labels come from."""
    tasks: dict[str, Agreement]
    """By task, and "Overall"."""
    unseen: int = 0
    """Labelled answers that no judge is shown in a run: refusals, nothing after the reasoning."""

    def __post_init__(self) -> None:
        if "Overall" not in self.tasks:
            raise ValueError("the card has no task Overall")


def judge_card(judge: AnswerJudge, labelled: Sequence[Labelled], *, labels: str = "") -> JudgeCard:
    """Have labelled answers judged and compare."""
    unseen = sum(not each.shown for each in labelled)
    labelled = [each for each in labelled if each.shown]
    judgements = judge.judge_all([each.answer for each in labelled])
    _check_willing(judge, judgements)
    pairs = [
        (each.answer.case.intervention, each.verdict, judgement.verdict)
        for each, judgement in zip(labelled, judgements, strict=True)
        if not judgement.refused
    ]
    tasks = {"Overall": agreement([(label, said) for _, label, said in pairs])}
    for task in LAYOUT:
        of_task = [(label, said) for name, label, said in pairs if name == task]
        if of_task:
            tasks[task] = agreement(of_task)
    return JudgeCard(
        judge=judge.name,
        prompt_hash=str(getattr(judge, "prompt_hash", "")),
        labels=labels,
        tasks=tasks,
        unseen=unseen,
    )


def _check_willing(judge: AnswerJudge, judgements: Sequence[Judgement]) -> None:
    """A judge that refuses whatever it is shown is down."""
    if judgements and all(each.refused for each in judgements):
        raise JudgeDown(judge.name, judgements[0].refused)


def agreement(pairs: Sequence[tuple[Verdict, Verdict | None]]) -> Agreement:
    """Compare (label, what the judge said).

    >>> pairs = [("right", "right"), ("right", "wrong"), ("wrong", "wrong"), ("wrong", "wrong")]
    >>> found = agreement([*pairs, ("wrong", None)])
    >>> found.agreement, found.kappa, found.precision, found.sensitivity, found.specificity
    (0.75, 0.5, 1.0, 0.5, 1.0)
    >>> found.n_wrong, found.undecided
    (2, 1)
    """
    decided = [(label, verdict) for label, verdict in pairs if verdict is not None]
    labels = [label == "right" for label, _ in decided]
    said = [verdict == "right" for _, verdict in decided]
    both = sum(a and b for a, b in zip(labels, said, strict=True))
    n_right, n_said = sum(labels), sum(said)
    n_wrong, false = len(decided) - n_right, n_said - both
    return Agreement(
        n_right=n_right,
        n_wrong=n_wrong,
        called_right=both,
        called_right_wrongly=false,
        undecided=len(pairs) - len(decided),
        agreement=_ratio(both + n_wrong - false, len(decided)),
        kappa=cohen_kappa(labels, said),
        alpha=krippendorff_alpha(list(zip(labels, said, strict=True))),
        precision=_ratio(both, n_said),
        sensitivity=_ratio(both, n_right),
        specificity=_ratio(n_wrong - false, n_wrong),
    )


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Cohen's κ of two observers; None where both always say the same one thing.

    >>> round(cohen_kappa("aabb", "aaab"), 3)
    0.5
    """
    n = len(first)
    if n == 0:
        return None
    observed = sum(a == b for a, b in zip(first, second, strict=True)) / n
    chance = sum(first.count(c) * second.count(c) for c in {*first, *second}) / n**2
    return None if chance == 1 else (observed - chance) / (1 - chance)


def corrected(
    right: Floats,
    asked: Floats,
    card: Agreement,
    *,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> Estimate:
    """A score corrected for judge error, from (cases,) counts of answers called right and asked."""
    n = int(asked.sum())
    sensitivity, specificity = card.sensitivity, card.specificity
    if not n or sensitivity is None or specificity is None or sensitivity + specificity <= 1:
        return Estimate(None, n=n)
    value = _rogan_gladen(right.sum() / n, sensitivity, specificity)
    rng = np.random.default_rng(seed)
    sums = bootstrap_sums(np.stack([right, asked], axis=1), resamples, rng)
    drawn_sensitivity = _drawn(rng, card.called_right, card.n_right, resamples)
    drawn_specificity = _drawn(
        rng, card.n_wrong - card.called_right_wrongly, card.n_wrong, resamples
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = sums[:, 0] / sums[:, 1]
        drawn = (observed + drawn_specificity - 1) / (drawn_sensitivity + drawn_specificity - 1)
    drawn[~np.isfinite(drawn) | (drawn_sensitivity + drawn_specificity <= 1)] = math.nan
    low, high = percentile_interval(np.clip(drawn, 0, 1))
    return Estimate(value, low, high, n)


CORRECTED = ("react_score", "react_score_plain", "accuracy_std", "accuracy_cot", "SA")
"""Metrics of an exam that short answers have a part in."""


def corrected_scores(
    contributions: Floats,
    judged: Floats,
    case: NDArray[np.int64],
    rows: Mapping[str, NDArray[np.bool_]],
    card: JudgeCard,
    *,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> dict[str, dict[str, Estimate]]:
    """Row → metric → what it would be without judge error: every task's short answers are corrected
    by the judge's agreement on that task, in each mode, and the metrics are made from them.

    `contributions` are an exam's (cases, len(COLUMNS)), `judged` (cases, modes × tasks) counts the
    answers that the judge decided about; others were read by rule and stay as they are.
    """
    by_task = [card.tasks.get(task, card.tasks["Overall"]) for task in metric.TASKS]
    shares = np.array([_shares(of) for of in by_task]).T  # (2, tasks)
    found = {}
    for number, (name, member) in enumerate(rows.items()):
        rng = np.random.default_rng([seed, number])
        both = by_case(np.concatenate([contributions, judged], axis=1)[member], case[member])
        drawn = np.stack([_drawn_shares(rng, of, resamples) for of in by_task], axis=-1)
        values = _corrected_metrics(both.sum(axis=0), shares)
        draws = _corrected_metrics(bootstrap_sums(both, resamples, rng), drawn)
        n = int(both[:, contributions.shape[1] :].sum())
        found[name] = {
            key: _estimate(float(values[key]), draws[key] if resamples else None, n)
            for key in CORRECTED
        }
    return found


def _shares(of: Agreement) -> tuple[float, float]:
    unknown = math.nan
    return (
        unknown if of.sensitivity is None else of.sensitivity,
        unknown if of.specificity is None else of.specificity,
    )


def _drawn_shares(rng: np.random.Generator, of: Agreement, size: int) -> Floats:
    """(2, size) sensitivities and specificities that the labels leave open."""
    return np.stack(
        [
            _drawn(rng, of.called_right, of.n_right, size),
            _drawn(rng, of.n_wrong - of.called_right_wrongly, of.n_wrong, size),
        ]
    )


def _corrected_metrics(both: Floats, shares: Floats) -> Mapping[str, Floats]:
    """Metrics of (…, columns + modes × tasks) sums under (2, …, tasks) shares."""
    sums, judged = both[..., : len(metric.COLUMNS)].copy(), both[..., len(metric.COLUMNS) :]
    for m, mode in enumerate(metric.MODES):
        for t, task in enumerate(metric.TASKS):
            column = metric.COLUMNS.index(f"{mode}.{task}.SA.right")
            right = sums[..., column]
            n = judged[..., m * len(metric.TASKS) + t]
            sensitivity, specificity = shares[0, ..., t], shares[1, ..., t]
            with np.errstate(divide="ignore", invalid="ignore"):
                better = sensitivity + specificity - 1
                share = np.where(better > 0, (right / n + specificity - 1) / better, math.nan)
            sums[..., column] = np.where(n > 0, n * np.clip(share, 0, 1), right)
    return metric.metrics(sums)


def _estimate(value: float, drawn: Floats | None, n: int) -> Estimate:
    if math.isnan(value):
        return Estimate(None, n=n)
    low, high = percentile_interval(drawn) if drawn is not None else (None, None)
    return Estimate(value, low, high, n)


def _rogan_gladen(observed: float, sensitivity: float, specificity: float) -> float:
    """
    >>> round(_rogan_gladen(0.5, 0.9, 0.8), 4)
    0.4286
    """
    return float(min(1.0, max(0.0, (observed + specificity - 1) / (sensitivity + specificity - 1))))


def _drawn(rng: np.random.Generator, hits: int, n: int, size: int) -> Floats:
    """A share's values under Jeffreys' prior: never surely 1, however few labels there were."""
    return rng.beta(hits + 0.5, n - hits + 0.5, size)


# Canaries: answers whose verdict nobody doubts, judged in every run without the judge knowing.


def _canary(
    task: Task, number: int, facts: dict[str, str], text: str, verdict: Verdict
) -> Labelled:
    type_, dimension = LAYOUT[task][number - 1]
    name = f"canary-{task}"
    images = (f"{name}.png",) if task != "tracing" else (f"{name}-1.png", f"{name}-2.png")
    question, reference, rubric = _QUESTIONS[task, number]
    item = Item(
        id=f"{name}:Q{number}",
        case_id=name,
        role=Role.QUESTION,
        images=images,
        height_px=1,
        width_px=1,
        query=question,
        answer=Answer(
            type=type_, reference=reference, rubric=rubric, dimension=dimension, number=number
        ),
    )
    case = Case(id=name, intervention=task, facts=facts)
    return Labelled(ShortAnswer(case, item, text), verdict)


_QUESTIONS: Mapping[tuple[Task, int], tuple[str, str, str]] = {
    ("erasure", 5): (
        "What is on the table? Describe it.",
        "Nothing at all: the table is bare.",
        "Right: says that nothing or no lamp is there. Wrong: mentions a lamp there.",
    ),
    ("erasure", 7): (
        "What colour is the lamp on the table?",
        "There is no lamp on the table.",
        "Right: says that there is no lamp. Wrong: gives a colour.",
    ),
    ("attribute", 5): (
        "What is the main colour of the banana?",
        "Blue.",
        "Right: says blue or a shade of it. Wrong: says yellow or any other colour.",
    ),
    ("attribute", 7): (
        "Where in the picture is the banana that is mainly yellow?",
        "There is no such banana: the only banana is blue.",
        "Right: says that there is no such banana. Wrong: gives a place for it.",
    ),
    ("tracing", 7): (
        "What changed from the first picture to the second?",
        "The dog in the lower left part of the picture was removed.",
        "Right: says that the dog was removed. Wrong: says anything else.",
    ),
}
_LAMP = {"erased": "lamp", "relation": "on", "kept": "table", "location": "on the table"}
_BANANA = {"object": "banana", "usual": "yellow", "shown": "blue"}
_DOG = {
    "operation": "remove",
    "object": "dog",
    "location": "the lower left part of the picture",
}

CANARIES: tuple[Labelled, ...] = (
    _canary("erasure", 5, _LAMP, "There is nothing on the table.", "right"),
    _canary("erasure", 5, _LAMP, "A lamp with a green shade.", "wrong"),
    _canary("erasure", 7, _LAMP, "There is no lamp on the table.", "right"),
    _canary("erasure", 7, _LAMP, "It is green.", "wrong"),
    _canary("attribute", 5, _BANANA, "It is blue.", "right"),
    _canary("attribute", 5, _BANANA, "Yellow, like every banana.", "wrong"),
    _canary("attribute", 7, _BANANA, "There is no yellow banana here.", "right"),
    _canary("attribute", 7, _BANANA, "In the middle of the picture.", "wrong"),
    _canary("tracing", 7, _DOG, "The dog is gone.", "right"),
    _canary("tracing", 7, _DOG, "Nothing changed.", "wrong"),
)


class JudgeUnfit(GroundfaultError):
    """The judge is wrong about more than half of the canaries: nothing is scored by it."""


class Canaried:
    """A judge with canaries mixed in among the answers; `drift` says which it got wrong."""

    def __init__(
        self,
        judge: AnswerJudge,
        canaries: Sequence[Labelled] = CANARIES,
        *,
        seed: int = 0,
        anew: AnswerJudge | None = None,
    ) -> None:
        self.judge, self.canaries, self.seed = judge, canaries, seed
        self.anew = anew
        """The same judge where it is asked anew: a stored reply does not show that it drifts."""
        self.judgements: list[Judgement] = []
        """Of the canaries, in their order; from the last call."""

    @property
    def name(self) -> str:
        return self.judge.name

    @property
    def prompt_hash(self) -> str:
        """Of the judge, where it has prompts."""
        return str(getattr(self.judge, "prompt_hash", ""))

    def judge_all(self, answers: Sequence[ShortAnswer]) -> list[Judgement]:
        """One judgement per answer, in order; the canaries' are kept aside. A judge that is wrong
        about more than half of them is unfit: asked anew it judges the canaries first, and nothing
        is paid for besides."""
        if self.anew is not None:
            self.judgements = list(self.anew.judge_all([each.answer for each in self.canaries]))
            self._check_fit()
            return list(self.judge.judge_all(answers))
        shown = [*answers, *(canary.answer for canary in self.canaries)]
        order = np.random.default_rng(self.seed).permutation(len(shown)).tolist()
        mixed = self.judge.judge_all([shown[k] for k in order])
        back = dict(zip(order, mixed, strict=True))
        self.judgements = [back[k] for k in range(len(answers), len(shown))]
        self._check_fit()
        return [back[k] for k in range(len(answers))]

    def _check_fit(self) -> None:
        _check_willing(self.judge, self.judgements)
        if 2 * len(self._missed()) > len(self.canaries):
            raise JudgeUnfit(
                f"{self.drift()[0]} It is worse than a coin, so nothing is scored; answers are "
                "kept. Remedy: name another judge with --judge; one that thinks may need more "
                "tokens, --max-tokens 8192"
            )

    def _missed(self) -> list[tuple[Labelled, Judgement]]:
        pairs = zip(self.canaries, self.judgements, strict=False)
        return [(canary, said) for canary, said in pairs if said.verdict != canary.verdict]

    def drift(self) -> list[str]:
        """A warning if the judge was wrong about a canary; [] before any call."""
        missed = self._missed()
        if not missed:
            return []
        canary, said = missed[0]
        return [
            f"The judge {self.name} is wrong about {len(missed)} of {len(self.canaries)} canaries,"
            f" whose verdicts are beyond doubt; for one, '{canary.answer.text}' is "
            f"{canary.verdict}, and it said {said.verdict or 'nothing clear'}. Its verdicts in "
            f"this run are not to be "
            "trusted before its card was made again."
        ]
