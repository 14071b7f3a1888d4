"""What can be derived again from Tables 3 to 14 of ReactBench.

Tables 11 to 14 give the hallucination rate of every question; most other tables are means of them.
The paper counts Q1a and Q1b of relational erasure as one question (twelve per image), which is
also our reading; where thirteen columns fit the paper's own numbers, both readings are checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from groundfault.published import ALL_MODELS
from groundfault.published.checking import (
    FLOAT_SLACK,
    Cell,
    Cells,
    Check,
    Rounded,
    derive,
    equal,
    total,
    weighted_mean,
)
from groundfault.published.reactbench_claims import (
    ACCURACY,
    ACCURACY_13,
    ATTAINABLE,
    AVERAGE,
    CAUSE_SHARES_MEAN,
    CAUSE_SHARES_POOLED,
    CAUSE_SUM,
    CAUSE_TOTALS,
    COT_AVERAGE,
    COT_EFFECT,
    COT_EFFECT_13,
    COT_EFFECT_TABLE3,
    DELTA,
    HUNDRED,
    SCORE,
    SCORE_PLAIN,
    SCORE_PLAIN_TABLE3,
    TYPES,
    TYPES_VS_DIMENSIONS,
)

IMAGES = {"erasure": 1595, "attribute": 639, "tracing": 913, "counting": 1531}
"""Images per task (ReactBench, Table 2); every question is asked once per image."""

QUESTIONS = {"erasure": 11, "attribute": 12, "tracing": 13, "counting": 14}
"""The table with the per-question rates of each task."""

CAUSES = {"erasure": 6, "attribute": 7, "tracing": 8, "counting": 9}
"""The table with the sub-cause counts of each task."""

TASK_WEIGHTS = {"erasure": 0.3, "attribute": 0.2, "tracing": 0.2, "counting": 0.3}
TYPE_WEIGHTS = {"YN": 0.25, "SA": 0.5, "MC": 0.25}
CAUSE_NAMES = ("SC1", "SC2", "SC3", "Other")

_FOUR_BY_THREE = {
    "YN": (1, 2, 3, 4),
    "SA": (5, 6, 7, 8),
    "MC": (9, 10, 11, 12),
    "direct": (1, 5, 9),
    "commonsense-guided": (2, 6, 10),
    "premise-based": (3, 7, 11),
    "absurd-contrast": (4, 8, 12),
}
LAYOUT: dict[str, dict[str, tuple[int, ...]]] = {
    "erasure": _FOUR_BY_THREE,
    "attribute": _FOUR_BY_THREE,
    "tracing": {
        "YN": (1, 2, 3, 4, 5, 6),
        "SA": (7, 8, 9),
        "MC": (10, 11, 12),
        "none-hint": (1, 2, 7, 10),
        "location-hint": (3, 4, 8, 11),
        "operation-hint": (5, 6, 9, 12),
    },
    "counting": {
        "YN": (1, 2, 3, 4),
        "SA": (5, 6),
        "MC": (7, 8),
        "exact": (1, 2, 3, 5, 7),
        "interval": (4, 6, 8),
    },
}
"""Questions of each type and dimension, per task."""

HUNDRED_PERCENT = Rounded(100.0)


def reactbench_checks(cells: Cells) -> Iterator[Check]:
    """Every check of ReactBench."""
    for model in cells.models("reactbench/table3"):
        yield from _accuracies(cells, model)
        yield from _scores(cells, model)
    yield from _question_types(cells)
    for model in cells.models("reactbench/table10"):
        yield from _cot_effect(cells, model)
    for task in CAUSES:
        yield from _sub_causes(cells, task)
        yield from _question_rows(cells, task)


def accuracies(cells: Cells, task: str, model: str, setting: str) -> list[Rounded]:
    """Accuracy (%) of Q1, Q2, … of a model; Q1a and Q1b are averaged. Empty: no such line."""
    line = [HUNDRED_PERCENT - rate for rate in _rates(cells, task, model, setting)]
    if task == "erasure" and line:
        return [weighted_mean(line[:2]), *line[2:]]
    return line


def _rates(cells: Cells, task: str, model: str, setting: str) -> tuple[Rounded, ...]:
    return cells.line(f"reactbench/table{QUESTIONS[task]}", model, task, setting)


def _part(questions: Sequence[Rounded], numbers: Sequence[int]) -> Rounded:
    return weighted_mean([questions[number - 1] for number in numbers])


def _mean_accuracy(cells: Cells, task: str, model: str, setting: str) -> Rounded | None:
    questions = accuracies(cells, task, model, setting)
    return weighted_mean(questions) if questions else None


def _mean_rate_13(cells: Cells, model: str, setting: str) -> Rounded | None:
    rates = _rates(cells, "erasure", model, setting)
    return weighted_mean(rates) if rates else None


def _accuracies(cells: Cells, model: str) -> Iterator[Check]:
    table = "reactbench/table3"
    for task in QUESTIONS:
        std, cot, delta = (
            cells.get(table, model, task, metric)
            for metric in ("accuracy_std", "accuracy_cot", "delta")
        )
        yield equal(DELTA, delta, derive(Rounded.__sub__, cot, std))
        for cell, setting in ((std, "std"), (cot, "cot")):
            yield equal(ACCURACY, cell, _mean_accuracy(cells, task, model, setting))
            if task == "erasure":
                rate = _mean_rate_13(cells, model, setting)
                yield equal(ACCURACY_13, cell, _difference(HUNDRED_PERCENT, rate))
    for metric in ("accuracy_std", "accuracy_cot"):
        tasks = [cells.get(table, model, task, metric) for task in QUESTIONS]
        mean = derive(lambda *n: weighted_mean(n), *tasks)
        yield equal(AVERAGE, cells.get(table, model, "Overall", metric), mean)


def _scores(cells: Cells, model: str) -> Iterator[Check]:
    cell = cells.get("reactbench/table3", model, "Overall", "react_score")
    formula, plain, plain_table3 = [], [], []
    for task in QUESTIONS:
        modes = [accuracies(cells, task, model, setting) for setting in ("std", "cot")]
        modes = [questions for questions in modes if questions]
        formula.append(weighted_mean([_typed_score(task, questions) for questions in modes]))
        plain.append(weighted_mean([weighted_mean(questions) for questions in modes]))
        printed = (
            cells.get("reactbench/table3", model, task, f"accuracy_{setting}").number
            for setting in ("std", "cot")
        )
        plain_table3.append(weighted_mean([number for number in printed if number is not None]))
    weights = list(TASK_WEIGHTS.values())
    yield equal(SCORE, cell, weighted_mean(formula, weights))
    yield equal(SCORE_PLAIN, cell, weighted_mean(plain, weights))
    yield equal(SCORE_PLAIN_TABLE3, cell, weighted_mean(plain_table3, weights))


def _typed_score(task: str, questions: Sequence[Rounded]) -> Rounded:
    parts = [_part(questions, LAYOUT[task][kind]) for kind in TYPE_WEIGHTS]
    return weighted_mean(parts, list(TYPE_WEIGHTS.values()))


def _question_types(cells: Cells) -> Iterator[Check]:
    for task, layout in LAYOUT.items():
        models = cells.models(f"reactbench/table{QUESTIONS[task]}")
        std, cot = (
            [line for model in models if (line := accuracies(cells, task, model, setting))]
            for setting in ("std", "cot")
        )
        printed = {metric: _table4(cells, task, metric) for metric in layout}
        for metric, numbers in layout.items():
            only_std, only_cot, both = (
                weighted_mean([_part(line, numbers) for line in lines])
                for lines in (std, cot, std + cot)
            )
            note = f"std {only_std.value:.2f}, cot {only_cot.value:.2f}"
            yield equal(TYPES, printed[metric], both, note)
        yield from _types_and_dimensions(task, printed)


def _table4(cells: Cells, task: str, metric: str) -> Cell:
    return cells.get("reactbench/table4", ALL_MODELS, task, metric)


def _types_and_dimensions(task: str, printed: dict[str, Cell]) -> Iterator[Check]:
    """Types and dimensions split the same questions, so both give the same mean."""

    def mean_over(metrics: list[str]) -> Rounded | None:
        sizes = [len(LAYOUT[task][metric]) for metric in metrics]
        return derive(lambda *n: weighted_mean(n, sizes), *(printed[metric] for metric in metrics))

    types = mean_over(list(TYPE_WEIGHTS))
    dimensions = mean_over([metric for metric in printed if metric not in TYPE_WEIGHTS])
    cell = Cell("reactbench/table4", ALL_MODELS, task, "", "mean over dimensions", dimensions)
    yield equal(TYPES_VS_DIMENSIONS, cell, types)


def _cot_effect(cells: Cells, model: str) -> Iterator[Check]:
    printed = {
        row: cells.get("reactbench/table10", model, row, "hallucination_delta")
        for row in (*QUESTIONS, "Overall")
    }
    for task in QUESTIONS:
        delta = cells.get("reactbench/table3", model, task, "delta")
        yield equal(COT_EFFECT_TABLE3, printed[task], derive(lambda n: n.times(-1), delta))
        std, cot = (_mean_accuracy(cells, task, model, setting) for setting in ("std", "cot"))
        yield equal(COT_EFFECT, printed[task], _difference(std, cot))
    std, cot = (_mean_rate_13(cells, model, setting) for setting in ("std", "cot"))
    yield equal(COT_EFFECT_13, printed["erasure"], _difference(cot, std))
    tasks = (printed[task] for task in QUESTIONS)
    yield equal(COT_AVERAGE, printed["Overall"], derive(lambda *n: weighted_mean(n), *tasks))


def _difference(left: Rounded | None, right: Rounded | None) -> Rounded | None:
    return None if left is None or right is None else left - right


def _sub_causes(cells: Cells, task: str) -> Iterator[Check]:
    table = f"reactbench/table{CAUSES[task]}"
    models = [model for model in cells.models(table) if model != ALL_MODELS]
    counts = {
        (model, cause): cells.get(table, model, task, f"{cause}_count", "cot")
        for model in (*models, ALL_MODELS)
        for cause in (*CAUSE_NAMES, "Total")
    }
    for model in (*models, ALL_MODELS):
        row = derive(_sum, *(counts[model, cause] for cause in CAUSE_NAMES))
        yield equal(CAUSE_SUM, counts[model, "Total"], row, "sum of the line")
    for cause in (*CAUSE_NAMES, "Total"):
        column = derive(_sum, *(counts[model, cause] for model in models))
        yield equal(CAUSE_SUM, counts[ALL_MODELS, cause], column, "sum of the column")
    for model in models:
        yield _cause_total(cells, task, counts[model, "Total"])

    shares = [
        cells.get("reactbench/table5", ALL_MODELS, task, f"{cause}_share", "cot")
        for cause in CAUSE_NAMES
    ]
    together = Cell(
        "reactbench/table5", ALL_MODELS, task, "cot", "sum of shares", derive(_sum, *shares)
    )
    yield equal(HUNDRED, together, HUNDRED_PERCENT)
    for cause, cell in zip(CAUSE_NAMES, shares, strict=True):
        pooled = derive(_percentage, counts[ALL_MODELS, cause], counts[ALL_MODELS, "Total"])
        yield equal(CAUSE_SHARES_POOLED, cell, pooled)
        each = [
            derive(_percentage, counts[model, cause], counts[model, "Total"]) for model in models
        ]
        known = [share for share in each if share is not None]
        mean = weighted_mean(known) if len(known) == len(each) else None
        yield equal(CAUSE_SHARES_MEAN, cell, mean)


def _cause_total(cells: Cells, task: str, cell: Cell) -> Check:
    """Wrong chain-of-thought answers: every column's rate times the images of the task."""
    rates = _rates(cells, task, cell.model, "cot")
    if cell.number is None or not rates:
        return equal(CAUSE_TOTALS, cell, None)
    per_image = total(rates).times(0.01)
    note = f"{cell.number.value / per_image.value:.1f} images"
    return equal(CAUSE_TOTALS, cell, per_image.times(IMAGES[task]), note)


def _sum(*numbers: Rounded) -> Rounded:
    return total(numbers)


def _percentage(part: Rounded, whole: Rounded) -> Rounded:
    return (part / whole).times(100)


def _question_rows(cells: Cells, task: str) -> Iterator[Check]:
    table = f"reactbench/table{QUESTIONS[task]}"
    lines = {
        (model, setting): _rates(cells, task, model, setting)
        for model, _, setting in cells.addresses(table)
    }
    for (model, setting), rates in lines.items():
        # A step finer than the printed digits makes every number attainable: nothing to check.
        if 100 / IMAGES[task] <= 2 * rates[0].error:
            break
        missed = [rate for rate in rates if not attainable(rate, IMAGES[task])]
        cell = Cell(table, model, task, setting, "number of rates", Rounded(len(rates)))
        note = ", ".join(f"{rate.value:.1f}" for rate in missed)
        yield equal(ATTAINABLE, cell, Rounded(len(rates) - len(missed)), note)


def attainable(percent: Rounded, images: int) -> bool:
    """Whether some whole number of the images rounds to this percentage.

    >>> attainable(Rounded.parse("28.1"), 639), attainable(Rounded.parse("28.2"), 639)
    (False, True)
    """
    nearest = round(percent.value * images / 100)
    return abs(100 * nearest / images - percent.value) <= percent.error + FLOAT_SLACK
