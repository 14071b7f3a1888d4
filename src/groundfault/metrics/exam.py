"""ReactBench's metrics: how many answers are right, by task, mode, question type and dimension.

    accuracy_std, accuracy_cot   share of right answers in a mode
    YN, SA, MC, each dimension   accuracy of those questions, mean over the modes that were asked
    S_t^m = 0.5·A_SA + 0.25·A_MC + 0.25·A_YN;  S_t = mean of S_t^m over the modes of the model
    react_score = 0.3·S_erasure + 0.2·S_attribute + 0.2·S_tracing + 0.3·S_counting
    react_score_plain            the same with plain accuracies A_t^m for S_t^m
    cot_effect                   accuracy_cot − accuracy_std
    unparsed_rate                share of answers that could not be read
    yes_rate                     share of "yes" among the yes/no answers that could be read
    yes_rate_true, yes_rate_false  the same where yes is the truth, and where it is not

(Zhou et al., "ReactBench: A Cause-Driven Benchmark for Multimodal Hallucination via Systematic
Evaluation".) The paper's own React-Score column is met by neither formula from its own Tables
11–14 (docs/conformance.md); both are reported. The score of one task alone is its S_t; of two or
three it is undefined, as the weights are about all four.

Outcomes: `unparsed` counts as wrong and is in no yes rate; `failed` counts nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from groundfault.metrics.family import Family, Metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

__all__ = [
    "COLUMNS",
    "DIMENSIONS",
    "FAMILY",
    "METRICS",
    "MODES",
    "TASKS",
    "TASK_WEIGHTS",
    "TYPES",
    "TYPE_WEIGHTS",
    "contributions",
    "metrics",
    "support",
]

MODES = ("std", "cot")
TASKS = ("erasure", "attribute", "tracing", "counting")
TYPES = ("YN", "SA", "MC")
DIMENSIONS = (
    "direct",
    "commonsense-guided",
    "premise-based",
    "absurd-contrast",
    "none-hint",
    "location-hint",
    "operation-hint",
    "exact",
    "interval",
)
TASK_WEIGHTS = (0.3, 0.2, 0.2, 0.3)
TYPE_WEIGHTS = (0.25, 0.5, 0.25)
_TALLIES = ("unparsed", "yes.true", "n.true", "yes.false", "n.false")

_BY_TYPE = tuple(f"{m}.{t}.{q}" for m in MODES for t in TASKS for q in TYPES)
_BY_DIMENSION = tuple(f"{m}.{d}" for m in MODES for d in DIMENSIONS)
_TALLIED = tuple(f"{m}.{name}" for m in MODES for name in _TALLIES)
COLUMNS = (
    *(f"{name}.right" for name in _BY_TYPE),
    *(f"{name}.n" for name in _BY_TYPE),
    *(f"{name}.right" for name in _BY_DIMENSION),
    *(f"{name}.n" for name in _BY_DIMENSION),
    *_TALLIED,
)
"""What a case contributes: right answers and answers, by mode, task and type and by mode and
dimension; and tallies of each mode."""

METRICS = (
    "accuracy_std",
    "accuracy_cot",
    *TYPES,
    *DIMENSIONS,
    "react_score",
    "react_score_plain",
    "cot_effect",
    "unparsed_rate",
    "yes_rate",
    "yes_rate_true",
    "yes_rate_false",
)


def contributions(
    *,
    n_cases: int,
    case: Ints,
    mode: Ints,
    task: Ints,
    type_: Ints,
    dimension: Ints,
    right: Bools,
    unparsed: Bools,
    said_yes: Bools,
    truth_yes: Bools,
    weight: Floats | None = None,
) -> Floats:
    """(n_cases, len(COLUMNS)) from one entry per answer; the integers are places in MODES, TASKS,
    TYPES and DIMENSIONS. `said_yes` and `truth_yes` are about yes/no questions only. An answer of
    weight ½ is one to half a question."""
    by_type = (mode * len(TASKS) + task) * len(TYPES) + type_
    by_dimension = mode * len(DIMENSIONS) + dimension
    first = np.cumsum([0, len(_BY_TYPE), len(_BY_TYPE), len(_BY_DIMENSION), len(_BY_DIMENSION)])
    counted = np.ones(len(right)) if weight is None else weight
    sums = np.zeros((n_cases, len(COLUMNS)))
    for start, column, flags in (
        (first[0], by_type, right),
        (first[1], by_type, np.ones_like(right)),
        (first[2], by_dimension, right),
        (first[3], by_dimension, np.ones_like(right)),
    ):
        np.add.at(sums, (case, start + column), flags * counted)
    read = (type_ == TYPES.index("YN")) & ~unparsed
    true, false = read & truth_yes, read & ~truth_yes
    for k, flags in enumerate((unparsed, true & said_yes, true, false & said_yes, false)):
        np.add.at(sums, (case, first[4] + mode * len(_TALLIES) + k), flags * counted)
    return sums


def metrics(sums: Floats) -> dict[str, Floats]:
    """Every metric from (…, len(COLUMNS)) sums; NaN where undefined.

    Erasure alone, standard mode: 1 of 2 YN, 1 of 4 SA, 4 of 4 MC right:

    >>> one = dict.fromkeys(COLUMNS, 0.0)
    >>> one |= {"std.erasure.YN.right": 1, "std.erasure.YN.n": 2}
    >>> one |= {"std.erasure.SA.right": 1, "std.erasure.SA.n": 4}
    >>> one |= {"std.erasure.MC.right": 4, "std.erasure.MC.n": 4}
    >>> values = metrics(np.array([list(one.values())]))
    >>> [float(values[m][0]) for m in ("accuracy_std", "react_score", "react_score_plain", "SA")]
    [0.6, 0.5, 0.6, 0.25]
    """
    right, n, dimension_right, dimension_n, tally = _split(sums)
    accuracy = _ratio(right.sum(axis=(-2, -1)), n.sum(axis=(-2, -1)))  # (…, mode)
    types = _mean(_ratio(right.sum(axis=-2), n.sum(axis=-2)), axis=-2)
    dimensions = _mean(_ratio(dimension_right, dimension_n), axis=-2)
    weighted = (_ratio(right, n) * TYPE_WEIGHTS).sum(axis=-1)  # (…, mode, task)
    plain = _ratio(right.sum(axis=-1), n.sum(axis=-1))
    pooled = tally.sum(axis=-2)  # (…, tallies)
    yes_true, n_true, yes_false, n_false = (pooled[..., k] for k in range(1, 5))
    values = {"accuracy_std": accuracy[..., 0], "accuracy_cot": accuracy[..., 1]}
    values |= {name: types[..., k] for k, name in enumerate(TYPES)}
    values |= {name: dimensions[..., k] for k, name in enumerate(DIMENSIONS)}
    values["react_score"] = _over_tasks(_mean(weighted, axis=-2))
    values["react_score_plain"] = _over_tasks(_mean(plain, axis=-2))
    values["cot_effect"] = accuracy[..., 1] - accuracy[..., 0]
    values["unparsed_rate"] = _ratio(pooled[..., 0], n.sum(axis=(-3, -2, -1)))
    values["yes_rate"] = _ratio(yes_true + yes_false, n_true + n_false)
    values["yes_rate_true"] = _ratio(yes_true, n_true)
    values["yes_rate_false"] = _ratio(yes_false, n_false)
    return values


def support(sums: Floats) -> dict[str, int]:
    """How many answers each metric is about, from (len(COLUMNS),) sums."""
    _, n, _, dimension_n, tally = _split(sums)
    pooled = tally.sum(axis=0)
    asked = int(n.sum())
    found = {f"accuracy_{mode}": int(n[k].sum()) for k, mode in enumerate(MODES)}
    found |= {name: int(n[..., k].sum()) for k, name in enumerate(TYPES)}
    found |= {name: int(dimension_n[:, k].sum()) for k, name in enumerate(DIMENSIONS)}
    found |= dict.fromkeys(("react_score", "react_score_plain", "unparsed_rate"), asked)
    found["cot_effect"] = min(found["accuracy_std"], found["accuracy_cot"])
    found["yes_rate_true"], found["yes_rate_false"] = int(pooled[2]), int(pooled[4])
    found["yes_rate"] = found["yes_rate_true"] + found["yes_rate_false"]
    return {name: found[name] for name in METRICS}


def _split(sums: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Right and asked as (…, mode, task, type) and (…, mode, dimension); (…, mode, tally)."""
    shape = sums.shape[:-1]
    sizes = (len(_BY_TYPE), len(_BY_TYPE), len(_BY_DIMENSION), len(_BY_DIMENSION))
    parts = np.split(sums, np.cumsum(sizes), axis=-1)
    by_type = (*shape, len(MODES), len(TASKS), len(TYPES))
    by_dimension = (*shape, len(MODES), len(DIMENSIONS))
    return (
        parts[0].reshape(by_type),
        parts[1].reshape(by_type),
        parts[2].reshape(by_dimension),
        parts[3].reshape(by_dimension),
        parts[4].reshape((*shape, len(MODES), len(_TALLIES))),
    )


def _over_tasks(score: Floats) -> Floats:
    """(…, task) scores weighted; one task's own score where the others were not asked."""
    there = ~np.isnan(score)
    whole = (score * TASK_WEIGHTS).sum(axis=-1)
    alone = np.where(there, score, 0.0).sum(axis=-1)
    result: Floats = np.where(there.sum(axis=-1) == 1, alone, whole)
    return result


def _mean(values: Floats, *, axis: int) -> Floats:
    """The mean of what is defined; NaN where nothing is."""
    there = ~np.isnan(values)
    return _ratio(np.where(there, values, 0.0).sum(axis=axis), there.sum(axis=axis))


def _ratio(numerator: Floats, denominator: NDArray[np.floating | np.integer]) -> Floats:
    out = np.full(np.shape(numerator), np.nan)
    np.divide(numerator, denominator, out=out, where=denominator > 0)
    return out


_SAME = "The same for {}."


class _Columns(TypedDict):
    """Of a share."""

    part: tuple[str, ...]
    whole: tuple[str, ...]


def _right(*kinds: str, modes: Sequence[str] = MODES) -> _Columns:
    """The columns of a share of right answers to these kinds of questions. Over both modes it is
    the mean over modes where both were asked alike."""
    names = [f"{mode}.{kind}" for mode in modes for kind in kinds]
    return {
        "part": tuple(f"{name}.right" for name in names),
        "whole": tuple(f"{name}.n" for name in names),
    }


def _of_type(*types: str) -> list[str]:
    return [f"{task}.{type_}" for task in TASKS for type_ in types]


def _tallied(part: Sequence[str], whole: Sequence[str]) -> _Columns:
    return {
        "part": tuple(f"{mode}.{name}" for mode in MODES for name in part),
        "whole": tuple(f"{mode}.{name}" for mode in MODES for name in whole),
    }


FAMILY = Family(
    name="exam",
    about="accuracy, React-Score, yes-bias",
    metrics=(
        Metric(
            name="accuracy_std",
            title="Std",
            about="Share of right answers to the question as it stands.",
            **_right(*_of_type(*TYPES), modes=("std",)),
        ),
        Metric(
            name="accuracy_cot",
            title="CoT",
            about="Share of right answers when asked to think step by step first.",
            **_right(*_of_type(*TYPES), modes=("cot",)),
        ),
        Metric(
            name="YN",
            about="Share of right answers to yes/no questions, mean over the modes asked.",
            **_right(*_of_type("YN")),
        ),
        Metric(name="SA", about=_SAME.format("short answers"), **_right(*_of_type("SA"))),
        Metric(name="MC", about=_SAME.format("multiple choice"), **_right(*_of_type("MC"))),
        *(
            Metric(
                name=name,
                about=f"Share of right answers to questions of dimension {name}.",
                **_right(name),
            )
            for name in DIMENSIONS
        ),
        Metric(
            name="react_score",
            title="React-Score",
            about="Right answers of the four tasks, weighted by the paper's formula: short "
            "answers count twice, erasure and counting 0.3, attribute and tracing 0.2.",
        ),
        Metric(
            name="react_score_plain",
            title="plain",
            about="The same weights of the tasks, but plain shares of right answers.",
        ),
        Metric(
            name="cot_effect",
            title="CoT − Std",
            about="Accuracy with minus without chain of thought. Below 0: thinking aloud misleads.",
            better="neither",
            low=-1.0,
        ),
        Metric(
            name="unparsed_rate",
            title="not read",
            about="Share of answers that could not be read as an answer. They count as wrong.",
            better="lower",
            **_tallied(["unparsed"], [f"{kind}.n" for kind in _of_type(*TYPES)]),
        ),
        Metric(
            name="yes_rate",
            about="Share of yes among the yes/no answers that could be read.",
            better="neither",
            **_tallied(["yes.true", "yes.false"], ["n.true", "n.false"]),
        ),
        Metric(
            name="yes_rate_true",
            about="The same where yes is the truth.",
            better="neither",
            **_tallied(["yes.true"], ["n.true"]),
        ),
        Metric(
            name="yes_rate_false",
            about="The same where no is the truth.",
            better="neither",
            **_tallied(["yes.false"], ["n.false"]),
        ),
    ),
    columns=COLUMNS,
    values=lambda sums, settings: metrics(sums),
    support=support,
)
