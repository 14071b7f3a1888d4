"""Tables of exams in the paper's layouts (Tables 3 to 14), with the published rows beside ours.

Accuracies and rates are in percent. Published rows are marked by their source, never mixed with
ours: the paper's questions are others, so its numbers show the order of size, no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from groundfault.analysis.exam import CotEffect, PositionBias
from groundfault.benchmarks.reactbench import LAYOUT
from groundfault.judges.card import JudgeCard
from groundfault.judges.causes import CAUSES, LABELS
from groundfault.judges.reader import ReaderCard
from groundfault.metrics import Metric
from groundfault.published import published_rows
from groundfault.records import Estimate, Summary
from groundfault.reports.summaries import estimate_cell
from groundfault.reports.tables import Cell, Table

__all__ = [
    "TASK_TITLES",
    "cause_bars",
    "cause_table",
    "cause_tables",
    "corrected_table",
    "cot_table",
    "dimension_tables",
    "heat_map",
    "judge_table",
    "overall_table",
    "position_table",
    "question_tables",
    "yes_table",
]

TASK_TITLES: dict[str, str] = {
    "erasure": "Relational Erasure",
    "attribute": "Counterfactual Attribute",
    "tracing": "Alteration Tracing",
    "counting": "Dense Counting",
}
SHARE = Metric(name="")
"""How accuracies and rates are printed."""
PUBLISHED = "published"
OURS = "measured"
_LEFT = ["", "model"]
_BESIDE = "published: as the paper prints it, for its own questions, which are not these."

Distribution = Mapping[str, Mapping[str, int]]
Rates = Mapping[str, Mapping[str, Sequence[Estimate]]]


def _percent(value: float | None, *, signed: bool = False) -> str:
    if value is None:
        return "—"
    text = f"{round(100 * value, 1) + 0.0:{'+' if signed else ''}.1f}"
    return text.replace("-", "−")


def _brief(cells: Sequence[Cell | str]) -> list[Cell | str]:
    """Without their small print."""
    return [Cell(cell.text) if isinstance(cell, Cell) else cell for cell in cells]


def _cell(estimate: Estimate) -> Cell:
    return estimate_cell(SHARE, estimate)


def overall_table(
    summaries: Mapping[str, Summary], *, published: bool = True, brief: bool = False
) -> Table:
    """Table 3: Std, CoT and Δ per task, their averages, React-Score by formula and plain.

    `brief` leaves out intervals, but for the React-Score, and says tasks in one word.
    """
    columns = list(_LEFT)
    for task, title in TASK_TITLES.items():
        columns += [f"{task if brief else title} Std", "CoT", "Δ"]
    columns += ["Average Std", "CoT", "React-Score", "plain"]
    rows: list[list[Cell | str]] = []
    for name, summary in summaries.items():
        *cells, score, plain = _overall_cells(summary)
        rows.append([OURS, name, *(_brief(cells) if brief else cells), score, plain])
    return Table(
        columns,
        [*rows, *(_published_overall() if published else ())],
        title="Accuracy with and without chain of thought",
        notes=[
            "React-Score: the formula. plain: the same weights of the tasks on plain accuracies. "
            "The published column follows neither from the paper's own tables.",
            *([_BESIDE] if published else ()),
        ],
        left_columns=2,
    )


def _overall_cells(summary: Summary) -> Iterator[Cell | str]:
    means: dict[str, list[float]] = {"std": [], "cot": []}
    for task in TASK_TITLES:
        row = summary.rows[task].metrics
        for mode, values in means.items():
            estimate = row[f"accuracy_{mode}"]
            if estimate.value is not None:
                values.append(estimate.value)
            yield _cell(estimate)
        yield _percent(row["cot_effect"].value, signed=True)
    for values in means.values():  # each task counts alike, as in the paper
        yield _percent(sum(values) / len(values) if len(values) == len(TASK_TITLES) else None)
    overall = summary.rows["Overall"].metrics
    yield _cell(overall["react_score"])
    yield _cell(overall["react_score_plain"])


def _published_overall() -> Iterator[list[str]]:
    by_model: dict[str, dict[str, Mapping[str, float | None]]] = {}
    for row in published_rows(table="reactbench/table3"):
        by_model.setdefault(row.model, {})[row.row] = row.metrics
    for model, lines in by_model.items():
        cells = [PUBLISHED, model]
        for task in TASK_TITLES:
            line = lines.get(task, {})
            cells += [_percent(line.get("accuracy_std")), _percent(line.get("accuracy_cot"))]
            cells.append(_percent(line.get("delta"), signed=True))
        overall = lines.get("Overall", {})
        cells += [_percent(overall.get("accuracy_std")), _percent(overall.get("accuracy_cot"))]
        yield [*cells, _percent(overall.get("react_score")), "—"]


def dimension_tables(
    summaries: Mapping[str, Summary], *, published: bool = True, brief: bool = False
) -> list[Table]:
    """Table 4: by question type and dimension; one table per set of dimensions."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for task, layout in LAYOUT.items():
        asked = tuple(dict.fromkeys(dimension for _, dimension in layout))
        groups.setdefault(asked, []).append(task)
    beside = {row.row: row for row in published_rows(table="reactbench/table4")}
    tables = []
    for dimensions, tasks in groups.items():
        names = ("MC", "SA", "YN", *dimensions)
        rows: list[list[Cell | str]] = []
        for task in tasks:
            for model, summary in summaries.items():
                values = summary.rows[task].metrics
                cells: list[Cell | str] = [_cell(values[name]) for name in names]
                rows.append([TASK_TITLES[task], model, *(_brief(cells) if brief else cells)])
            if task in beside and published:
                printed = beside[task].metrics
                shares = [_percent(printed.get(name)) for name in names]
                rows.append([TASK_TITLES[task], f"{PUBLISHED}, all models", *shares])
        tables.append(
            Table(
                ["task", "model", *names],
                rows,
                title="Accuracy by question type and dimension",
                notes=["Mean over the modes that were asked.", *([_BESIDE] if published else ())],
                left_columns=2,
            )
        )
    return tables


def cot_table(effects: Mapping[str, Mapping[str, CotEffect]], *, published: bool = True) -> Table:
    """Table 10: what chain of thought does to the hallucination rate, with tests."""
    names = [*TASK_TITLES, "Overall"]
    rows: list[list[Cell | str]] = []
    for model, by_row in effects.items():
        rows.append([OURS, model, *(_effect_cell(by_row.get(name)) for name in names)])
    by_model: dict[str, dict[str, float | None]] = {}
    for row in published_rows(table="reactbench/table10") if published else ():
        by_model.setdefault(row.model, {})[row.row] = row.metrics["hallucination_delta"]
    for model, values in by_model.items():
        rows.append([PUBLISHED, model, *(_percent(values.get(n), signed=True) for n in names)])
    return Table(
        [*_LEFT, *TASK_TITLES.values(), "Overall"],
        rows,
        title="Chain of thought: change of the hallucination rate, in points",
        notes=[
            "Above 0, chain of thought makes more answers wrong. Ours: over questions answered in "
            "both modes, with a paired bootstrap over samples; p adjusted over the row (Holm), and "
            "McNemar's over single questions. Overall: ours over all questions; the paper's, the "
            "mean of the tasks.",
            *([_BESIDE] if published else ()),
        ],
        left_columns=2,
    )


def _effect_cell(effect: CotEffect | None) -> Cell:
    if effect is None or effect.difference.value is None:
        return Cell("—")
    change = effect.difference
    low, high = (None if end is None else -end for end in (change.high, change.low))
    interval = f"[{_percent(low, signed=True)}, {_percent(high, signed=True)}]"
    p = "—" if effect.p_holm is None else f"{effect.p_holm:.3f}"
    detail = f"{interval} p {p}, McNemar {effect.p_mcnemar:.3f}"
    return Cell(_percent(-(change.value or 0.0), signed=True), detail)


def question_tables(rates: Mapping[str, Rates]) -> list[Table]:
    """Tables 11–14: share of wrong answers per question, by mode and model; the best is strong."""
    tables = []
    for number, (task, title) in enumerate(TASK_TITLES.items(), start=11):
        questions = [f"Q{k}" for k in range(1, len(LAYOUT[task]) + 1)]
        rows: list[list[Cell | str]] = []
        for mode in ("std", "cot"):
            lines = {model: of.get(task, {}).get(mode) for model, of in rates.items()}
            there = {model: line for model, line in lines.items() if line}
            for model, line in there.items():
                cells = [
                    Cell(
                        _percent(value.value),
                        strong=_is_best(value, [x[k] for x in there.values()]),
                    )
                    for k, value in enumerate(line)
                ]
                rows.append([OURS, model, mode, *cells])
        for row in published_rows(table=f"reactbench/table{number}"):
            values = {name.removeprefix("hallucination_"): v for name, v in row.metrics.items()}
            halves = [values.get(half) for half in ("Q1a", "Q1b")]
            if all(half is not None for half in halves):  # two wordings of one question
                values["Q1"] = sum(half for half in halves if half is not None) / 2
            rows.append(
                [PUBLISHED, row.model, row.setting, *(_percent(values.get(q)) for q in questions)]
            )
        note = " Q1 of the paper is the mean of its Q1a and Q1b." if task == "erasure" else ""
        tables.append(
            Table(
                ["", "model", "mode", *questions],
                rows,
                title=f"{title}: hallucination rate per question",
                notes=[f"Share of wrong answers; the lowest of ours is strong.{note}", _BESIDE],
                left_columns=3,
            )
        )
    return tables


def _is_best(value: Estimate, all_values: Sequence[Estimate]) -> bool:
    known = [each.value for each in all_values if each.value is not None]
    return len(known) > 1 and value.value == min(known)


def heat_map(rates: Mapping[str, Rates]) -> list[dict[str, Any]]:
    """The same as data for a heat map: model, task, mode, question, rate, n."""
    return [
        {
            "model": model,
            "task": task,
            "mode": mode,
            "question": f"Q{number}",
            "type": LAYOUT[_task(task)][number - 1][0],
            "dimension": LAYOUT[_task(task)][number - 1][1],
            "rate": value.value,
            "n": value.n,
        }
        for model, by_task in rates.items()
        for task, by_mode in by_task.items()
        for mode, line in by_mode.items()
        for number, value in enumerate(line, start=1)
    ]


def _task(name: str) -> str:
    return next(task for task in LAYOUT if task == name)


# Sub-causes.


def cause_table(distributions: Mapping[str, Distribution], *, published: bool = True) -> Table:
    """Table 5: sub-causes of all models together, shares of the answers that got a label."""
    beside = {row.row: row.metrics for row in published_rows(table="reactbench/table5")}
    rows: list[list[Cell | str]] = []
    for task, title in TASK_TITLES.items():
        pooled = {
            label: sum(of.get(task, {}).get(label, 0) for of in distributions.values())
            for label in LABELS
        }
        total = sum(pooled.values())
        for label in LABELS:
            share = _percent(pooled[label] / total if total else None)
            printed = [_percent(beside.get(task, {}).get(f"{label}_share"))] if published else []
            rows.append([title, _cause_title(task, label), share, str(pooled[label]), *printed])
    return Table(
        ["task", "sub-cause", "share", "n", *([PUBLISHED] if published else ())],
        rows,
        title="Sub-causes of wrong answers with chain of thought",
        notes=[_unlabelled(distributions.values()), *([_BESIDE] if published else ())],
        left_columns=2,
    )


def cause_tables(
    distributions: Mapping[str, Distribution], *, published: bool = True
) -> list[Table]:
    """Tables 6–9: sub-causes of one task, by model."""
    tables = []
    for number, (task, title) in enumerate(TASK_TITLES.items(), start=6):
        rows = [
            [OURS, model, *_cause_counts(of.get(task, {}))] for model, of in distributions.items()
        ]
        for row in published_rows(table=f"reactbench/table{number}") if published else ():
            printed = [row.printed.get(f"{name}_count") or "—" for name in (*LABELS, "Total")]
            rows.append([PUBLISHED, row.model, *printed])
        names = [_cause_title(task, label) for label in LABELS]
        tables.append(
            Table(
                [*_LEFT, *names, "Total"],
                rows,
                title=f"{title}: sub-causes by model",
                notes=[_unlabelled(distributions.values()), *([_BESIDE] if published else ())],
                left_columns=2,
            )
        )
    return tables


def _cause_counts(counts: Mapping[str, int]) -> list[str]:
    found = [counts.get(label, 0) for label in LABELS]
    return [*map(str, found), str(sum(found))]


def _cause_title(task: str, label: str) -> str:
    number = LABELS.index(label)
    return f"{label} {CAUSES[task][number][0]}" if number < len(CAUSES[task]) else label


def _unlabelled(distributions: Iterable[Distribution]) -> str:
    n = sum(counts.get("unparsed", 0) for of in distributions for counts in of.values())
    return f"{n} wrong answers got no label and are left out."


def cause_bars(distributions: Mapping[str, Distribution]) -> list[dict[str, Any]]:
    """Data for stacked bars: model, task, sub-cause, n, share."""
    bars = []
    for model, of in distributions.items():
        for task in TASK_TITLES:
            counts = of.get(task, {})
            total = sum(counts.get(label, 0) for label in LABELS)
            bars += [
                {
                    "model": model,
                    "task": task,
                    "label": label,
                    "cause": _cause_title(task, label),
                    "n": counts.get(label, 0),
                    "share": counts.get(label, 0) / total if total else None,
                }
                for label in LABELS
            ]
    return bars


# Habits, and the judge.


def yes_table(summaries: Mapping[str, Summary]) -> Table:
    """Share of "yes" by what is true: a habit shows where both are high, or both low."""
    rows = [
        [
            model,
            name,
            *(_cell(row.metrics[m]) for m in ("yes_rate", "yes_rate_true", "yes_rate_false")),
            str(row.metrics["yes_rate"].n),
        ]
        for model, summary in summaries.items()
        for name, row in summary.rows.items()
        if row.metrics["yes_rate"].n
    ]
    return Table(
        ["model", "", "yes", "where yes is true", "where no is true", "n"],
        rows,
        title='Share of "yes" among yes/no answers',
        left_columns=2,
    )


def position_table(biases: Mapping[str, Mapping[str, PositionBias]]) -> Table:
    """How often each letter is right and is chosen."""
    rows = []
    for model, by_mode in biases.items():
        for mode, bias in by_mode.items():
            n = sum(right for _, right, _, _ in bias.letters.values())
            for letter, (_, right, chosen, hit) in bias.letters.items():
                rows.append(
                    [
                        model,
                        mode,
                        letter,
                        _percent(right / n if n else None),
                        _percent(chosen / n if n else None),
                        _percent(hit / right if right else None),
                        "—" if bias.p_value is None else f"{bias.p_value:.3f}",
                    ]
                )
    return Table(
        ["model", "mode", "letter", "is right", "is chosen", "found where right", "p of the mode"],
        rows,
        title="Multiple choice by place of the option",
        notes=["p: χ² test that letters are chosen as often as they are right."],
        left_columns=3,
    )


def corrected_table(
    summaries: Mapping[str, Summary], corrected: Mapping[str, Mapping[str, Mapping[str, Estimate]]]
) -> Table:
    """Scores as judged, and what they would be without the judge's errors."""
    names = list(next(iter(next(iter(corrected.values())).values())))
    rows: list[list[Cell | str]] = []
    for model, by_row in corrected.items():
        for row, values in by_row.items():
            judged = summaries[model].rows[row].metrics
            rows.append([model, row, "as judged", *(_cell(judged[name]) for name in names)])
            rows.append([model, row, "corrected", *(_cell(values[name]) for name in names)])
    return Table(
        ["model", "", "", *names],
        rows,
        title="Scores corrected for the judge's errors",
        notes=[
            "Short answers in words by (p + Sp − 1) / (Se + Sp − 1), each task by its own agreement"
            " in the judge's card; intervals from cases and labels together."
        ],
        left_columns=3,
    )


def judge_table(card: JudgeCard) -> Table:
    """How far a judge agrees with labelled answers."""
    rows = []
    for name, of in card.tasks.items():
        numbers = (of.kappa, of.alpha)
        shares = (of.agreement, of.precision, of.sensitivity, of.specificity)
        rows.append(
            [
                name,
                str(of.n_right + of.n_wrong),
                *(_percent(share) for share in shares),
                *("—" if number is None else f"{number:.3f}" for number in numbers),
                str(of.undecided),
            ]
        )
    notes = [f"labels: {card.labels}"] if card.labels else []
    if card.prompt_hash:
        notes.append(f"prompts: {card.prompt_hash[:12]}")
    return Table(
        ["", "n", "agreement", "precision", "recall", "specificity", "κ", "α", "undecided"],
        rows,
        title=f"Judge {card.judge} against labelled answers",
        notes=notes,
    )


def reader_table(card: ReaderCard) -> Table:
    """How often answers are read as they are meant."""
    readers = [("by rule", card.rules)]
    if card.reader:
        readers.append((f"and {card.reader}", card.with_reader))
    rows = [
        [name, reader, str(of.n), _percent(of.as_meant / of.n), str(of.unread), str(of.misread)]
        for name in card.rules
        for reader, found in readers
        for of in [found[name]]
    ]
    notes = [f"labels: {card.labels}"] if card.labels else []
    if card.prompt_hash:
        notes.append(f"prompts: {card.prompt_hash[:12]}")
    return Table(
        ["", "read", "n", "as meant", "unread", "misread"],
        rows,
        title="Answers read against what they mean",
        notes=notes,
    )
