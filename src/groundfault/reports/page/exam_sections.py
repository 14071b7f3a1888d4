"""The sections of an exam: who leads, on what, what thinking aloud does, habits, causes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from groundfault.analysis.exam import (
    CotEffect,
    PositionBias,
    cot_effects,
    hallucination_rates,
    position_bias,
)
from groundfault.benchmarks.reactbench import LAYOUT
from groundfault.errors import GroundfaultError
from groundfault.judges.causes import CAUSES, LABELS
from groundfault.metrics.exam import DIMENSIONS, TYPES
from groundfault.published import published_rows
from groundfault.records import Estimate
from groundfault.reports.exams import TASK_TITLES
from groundfault.reports.page.drawing import Figure
from groundfault.reports.page.exam_answers import Material
from groundfault.reports.page.exam_figures import (
    Line,
    Stack,
    effects,
    letters,
    question_map,
    ranking,
    stacks,
    yes_marks,
)
from groundfault.reports.page.figures import Bar, bars, radar
from groundfault.reports.page.sections import Context, Panel, Section, few, share

__all__ = ["TYPE_WORDS", "Findings", "exam_sections", "find"]

TYPE_WORDS = {"YN": "yes/no", "SA": "short answer", "MC": "multiple choice"}
RESAMPLES = 4000
SIGNIFICANT = 0.05


class Findings(msgspec.Struct, frozen=True, eq=False):
    """What single answers say, run by run in the order of the chapter; {} where they are not."""

    effects: tuple[Mapping[str, CotEffect], ...]
    rates: tuple[Mapping[str, Mapping[str, Mapping[str, Estimate]]], ...]
    positions: tuple[Mapping[str, PositionBias], ...]
    causes: tuple[Mapping[str, Mapping[str, int]], ...]


def find(material: Material) -> tuple[Findings, list[str]]:
    """Work out what needs single answers; what cannot be worked out is told."""
    notes: list[str] = []

    def each(work: Callable[..., Mapping[str, object]], **how: object) -> tuple[object, ...]:
        found: list[object] = []
        for k, answers in enumerate(material.answers):
            try:
                found.append(
                    work(material.benchmark, material.predictions(k), **how) if answers else {}
                )
            except GroundfaultError as problem:
                notes.append(str(problem))
                found.append({})
        return tuple(found)

    findings = Findings(
        each(cot_effects, resamples=RESAMPLES),  # type: ignore[arg-type]
        each(hallucination_rates),  # type: ignore[arg-type]
        each(position_bias),  # type: ignore[arg-type]
        tuple(material.causes(k) for k in range(len(material.answers))),
    )
    return findings, list(dict.fromkeys(notes))


def exam_sections(context: Context, findings: Findings) -> list[Section]:
    """In the order of the page; what the runs have nothing for is left out."""
    made = (
        _standing(context),
        _tasks(context),
        _cot(context, findings),
        _questions(context, findings),
        _habits(context, findings),
        _causes(context, findings),
    )
    return [section for section in made if section is not None]


def _metric(context: Context, k: int, row: str, metric: str) -> Estimate:
    found = context.runs[k].summary.rows.get(row)
    return found.metrics.get(metric, Estimate(None)) if found else Estimate(None)


def _asked_tasks(context: Context) -> list[str]:
    """Tasks that at least one run has cases of."""
    return [
        task
        for task in TASK_TITLES
        if any(task in run.summary.rows and run.summary.rows[task].n_cases for run in context.runs)
    ]


# ── who leads ──────────────────────────────────────────────────────────────────────────────────


def _standing(context: Context) -> Section:
    figures = [
        ranking(
            context.figure_name("ranking", metric),
            title,
            _ranked(context, metric),
            _printed(metric) if context.chapter.with_published else [],
            text=context.text(metric),
        )
        for metric, title in (
            ("react_score", "React-Score by the formula (%)"),
            ("react_score_plain", "React-Score on plain accuracies (%)"),
        )
    ]
    tasks = _asked_tasks(context)
    whole = len(tasks) == len(TASK_TITLES)  # else the React-Score is undefined
    axes = [*tasks, *(["Overall"] if whole else [])]
    if len(tasks) > 2:
        figures.insert(
            1,
            radar(
                context.figure_name("radar"),
                f"Profile: {'tasks and React-Score' if whole else 'tasks'}, outward is better",
                [*(_axis(task) for task in tasks), *(["React-Score"] if whole else [])],
                [
                    (
                        k,
                        run.name,
                        [_metric(context, k, row, "react_score").value for row in axes],
                    )
                    for k, run in enumerate(context.runs)
                ],
            ),
        )
    return Section(
        id=context.figure_name("standing"),
        nav="Ranking",
        title="Who stands where?",
        about="Marks are values over all samples; the thin line is the 95 % interval. On the "
        "profile every axis goes from 0 at the centre to 100 % at the rim.",
        panels=(Panel(label="", figures=tuple(figures), reading=_weakest(context, tasks)),),
    )


def _axis(task: str) -> str:
    return task.capitalize()


def _ranked(context: Context, metric: str) -> list[Line]:
    comparison = context.comparisons.get("Overall")
    ranks = comparison.ranks["Overall"].get(metric, {}) if comparison else {}
    listed = list(ranks.values())
    lines = []
    for k, run in enumerate(context.runs):
        rank = ranks.get(list(comparison.runs)[k]) if comparison else None
        words = "" if rank is None else f"{'=' if listed.count(rank) > 1 else ''}{rank}"
        lines.append(Line(k, run.name, _metric(context, k, "Overall", metric), words))
    return sorted(lines, key=lambda line: -(line.estimate.value or 0.0))


def _printed(metric: str) -> list[Line]:
    """The paper's models, best first."""
    found = [
        Line(None, row.model, Estimate(row.metrics.get(metric)))
        for row in published_rows(table="reactbench/table3")
        if row.row == "Overall" and row.metrics.get(metric) is not None
    ]
    return sorted(found, key=lambda line: -(line.estimate.value or 0.0))


def _weakest(context: Context, tasks: Sequence[str]) -> str:
    parts = []
    for k, run in enumerate(context.runs):
        known = {
            task: value
            for task in tasks
            if (value := _metric(context, k, task, "react_score").value) is not None
        }
        if len(known) > 1 and len(set(known.values())) > 1:
            worst = min(known, key=lambda task: known[task])
            parts.append(f"{run.name} {worst} ({share(known[worst])})")
    return f"Weakest task of each run: {few(parts)}." if parts else ""


# ── by task, type and dimension ────────────────────────────────────────────────────────────────


def _tasks(context: Context) -> Section:
    tasks = _asked_tasks(context)

    def groups(
        labels: Sequence[tuple[str, str, str]], metric: str = ""
    ) -> list[tuple[str, list[Bar]]]:
        """(heading, row, metric) each."""
        return [
            (
                heading,
                [
                    Bar(k, run.name, _metric(context, k, row, metric or own))
                    for k, run in enumerate(context.runs)
                ],
            )
            for heading, row, own in labels
        ]

    by_task = [(TASK_TITLES[task], task, "") for task in tasks]
    figures = [
        bars(context.figure_name("tasks", metric), title, groups(by_task, metric), text=_percent)
        for metric, title in (
            ("react_score", "Score of each task (%)"),
            ("accuracy_std", "Std accuracy (%)"),
            ("accuracy_cot", "CoT accuracy (%)"),
        )
        if any(_metric(context, k, t, metric).value is not None
               for k in range(len(context.runs)) for t in tasks)
    ]  # fmt: skip
    types = [(TYPE_WORDS[name], "Overall", name) for name in TYPES]
    panels = [
        Panel(label="tasks", figures=tuple(figures), reading=""),
        Panel(
            label="question types",
            figures=(
                bars(context.figure_name("types"), "Overall (%)", groups(types), text=_percent),
                *(
                    bars(
                        context.figure_name("types", task),
                        f"{TASK_TITLES[task]} (%)",
                        groups([(TYPE_WORDS[name], task, name) for name in TYPES]),
                        text=_percent,
                    )
                    for task in tasks
                ),
            ),
            reading="Yes/no questions can be guessed, short answers hardly: a run that is good at "
            "the first and poor at the second may be guessing.",
        ),
        Panel(
            label="dimensions",
            figures=tuple(
                bars(
                    context.figure_name("dimensions", task),
                    f"{TASK_TITLES[task]} (%)",
                    groups([(d.replace("-", " "), task, d) for d in _dimensions(task)]),
                    text=_percent,
                )
                for task in tasks
            ),
            reading="A question may lead astray by what it takes for granted (premise based), by "
            "what is usual (commonsense guided), or by an absurd alternative; it may help by a "
            "hint. What falls from “direct” to the others is what the wording does.",
        ),
    ]
    return Section(
        id=context.figure_name("tasks"),
        nav="Tasks",
        title="By task, question type and dimension",
        about="Shares of right answers, mean over the modes asked, with 95 % intervals over "
        "samples.",
        panels=tuple(panels),
    )


def _dimensions(task: str) -> list[str]:
    asked = {
        dimension for name, layout in LAYOUT.items() if name == task for _, dimension in layout
    }
    return [dimension for dimension in DIMENSIONS if dimension in asked]


def _percent(value: float) -> str:
    return f"{100 * value:.1f}".replace("-", "−")


def _points(value: float) -> str:
    points = round(100 * value, 1) + 0.0  # −0.0 is 0
    return f"{points:{'+' if points else ''}.1f}".replace("-", "−")


# ── chain of thought ───────────────────────────────────────────────────────────────────────────


def _cot(context: Context, findings: Findings) -> Section | None:
    rows = ["Overall", *_asked_tasks(context)]
    stored = [_metric(context, k, "Overall", "cot_effect") for k in range(len(context.runs))]
    if not any(findings.effects) and all(effect.value is None for effect in stored):
        return None
    groups = []
    for row in rows:
        lines = []
        for k, run in enumerate(context.runs):
            effect = findings.effects[k].get(row)
            estimate = effect.difference if effect else _metric(context, k, row, "cot_effect")
            lines.append(Line(k, run.name, estimate, "*" if _is_sure(effect) else ""))
        groups.append((row.capitalize(), lines))
    figure = effects(
        context.figure_name("cot"), "Accuracy with minus without chain of thought, in points",
        groups, text=_points,
    )  # fmt: skip
    return Section(
        id=context.figure_name("cot"),
        nav="CoT",
        title="Does thinking aloud help?",
        about="The same questions asked twice: straight, and with the request to think step by "
        "step. Intervals are paired, over samples; * marks what is more than chance (Holm over "
        "the rows of a run, p < 0.05).",
        panels=(Panel(label="", figures=(figure,), reading=_cot_reading(context, findings)),),
    )


def _is_sure(effect: CotEffect | None) -> bool:
    return effect is not None and effect.p_holm is not None and effect.p_holm < SIGNIFICANT


def _cot_reading(context: Context, findings: Findings) -> str:
    parts = []
    for run, by_row in zip(context.runs, findings.effects, strict=True):
        effect = by_row.get("Overall")
        if effect is None or effect.difference.value is None:
            continue
        if not effect.only_cot_right and not effect.only_std_right:
            parts.append(f"{run.name} answers the same either way")
            continue
        parts.append(
            f"{run.name} gains {effect.only_cot_right} answers and loses {effect.only_std_right} "
            f"(McNemar p {effect.p_mcnemar:.2g})"
        )
    return few(parts, "; ") + "." if parts else ""


# ── question by question ───────────────────────────────────────────────────────────────────────


def _questions(context: Context, findings: Findings) -> Section | None:
    panels = []
    for task, layout in LAYOUT.items():
        lines = [
            (k, run.name, mode, line)
            for k, run in enumerate(context.runs)
            for mode, line in findings.rates[k].get(task, {}).items()
        ]
        if not lines:
            continue
        slots = {label: layout[int(label.strip("Qab")) - 1] for label in lines[0][-1]}
        columns = [(label, TYPE_WORDS[kind], dim) for label, (kind, dim) in slots.items()]
        rows = [(k, name, mode, list(line.values())) for k, name, mode, line in lines]
        title = f"{TASK_TITLES[task]}: share of wrong answers (%)"
        figure = question_map(context.figure_name("questions", task), title, columns, rows)
        reading = _hardest_question(columns, rows)
        panels.append(Panel(label=task, figures=(figure,), reading=reading, wide=True))
    if not panels:
        return None
    return Section(
        id=context.figure_name("questions"),
        nav="Questions",
        title="Question by question",
        about="Every sample of a task is asked the same questions. Stronger shades: more wrong.",
        panels=tuple(panels),
    )


def _hardest_question(
    columns: Sequence[tuple[str, str, str]],
    rows: Sequence[tuple[int, str, str, Sequence[Estimate]]],
) -> str:
    def mean(k: int) -> float:
        known = [line[k].value for *_, line in rows]
        values = [value for value in known if value is not None]
        return sum(values) / len(values) if values else -1.0

    worst = max(range(len(columns)), key=mean)
    number, kind, dimension = columns[worst]
    if mean(worst) <= 0:
        return ""
    return f"Hardest over all runs: {number} ({kind}, {dimension}), {share(mean(worst))} wrong."


# ── habits ─────────────────────────────────────────────────────────────────────────────────────


def _habits(context: Context, findings: Findings) -> Section | None:
    figures = []
    rows = [
        (
            k, run.name, _metric(context, k, "Overall", "yes_rate_true"),
            _metric(context, k, "Overall", "yes_rate_false"),
        )
        for k, run in enumerate(context.runs)
    ]  # fmt: skip
    if any(true.value is not None or false.value is not None for *_, true, false in rows):
        figures.append(yes_marks(context.figure_name("yes"), "Who says yes, and when?", rows))
    for mode in ("std", "cot"):
        chosen = [
            (k, run.name, bias)
            for k, run in enumerate(context.runs)
            if (bias := findings.positions[k].get(mode)) is not None
        ]
        if chosen:
            figures.append(_letters(context, mode, chosen))
    if not figures:
        return None
    return Section(
        id=context.figure_name("habits"),
        nav="Habits",
        title="Habits of answering",
        about="A model without a habit says yes where yes is true, and chooses each letter as "
        "often as it is right.",
        panels=(
            Panel(
                label="", figures=tuple(figures), reading=_habit_reading(context, findings, rows)
            ),
        ),
    )


def _letters(
    context: Context, mode: str, chosen: Sequence[tuple[int, str, PositionBias]]
) -> Figure:
    names = sorted({letter for _, _, bias in chosen for letter in bias.letters})
    first = chosen[0][2]
    n_right = sum(tally[1] for tally in first.letters.values()) or 1
    right = [(letter, first.letters.get(letter, (0, 0, 0, 0))[1] / n_right) for letter in names]
    rows = []
    for k, run, bias in chosen:
        n = sum(tally[2] for tally in bias.letters.values()) or 1
        rows.append((k, run, [bias.letters.get(x, (0, 0, 0, 0))[2] / n for x in names]))
    title = f"Letters chosen in multiple choice, {'Std' if mode == 'std' else 'CoT'}"
    return letters(context.figure_name("letters", mode), title, right, rows)


def _habit_reading(
    context: Context,
    findings: Findings,
    rows: Sequence[tuple[int, str, Estimate, Estimate]],
) -> str:
    prone = [
        f"{run} {share(false.value)}"
        for _, run, true, false in rows
        if false.value is not None and false.low is not None and false.low > 0.5
    ]
    uneven = [
        run.name
        for run, by_mode in zip(context.runs, findings.positions, strict=True)
        if any(bias.p_value is not None and bias.p_value < 0.01 for bias in by_mode.values())
    ]
    words = []
    if prone:
        words.append(f"Says yes to more than half of what is false: {few(prone)}.")
    if uneven:
        words.append(f"Prefers places among the options (χ², p < 0.01): {few(uneven)}.")
    return " ".join(words) or "No run shows a clear habit."


# ── sub-causes ─────────────────────────────────────────────────────────────────────────────────


def _causes(context: Context, findings: Findings) -> Section | None:
    figures = []
    for task, named in CAUSES.items():
        rows = [
            Stack(k, run.name, tuple(found.get(label, 0) for label in LABELS))
            for k, run in enumerate(context.runs)
            if (found := findings.causes[k].get(task))
        ]
        if rows:
            causes = [f"{label} {title}" for label, (title, _) in zip(LABELS, named, strict=False)]
            figures.append(
                stacks(
                    context.figure_name("causes", task), TASK_TITLES[task],
                    [*causes, LABELS[-1]], rows,
                )
            )  # fmt: skip
    if not figures:
        return None
    left_out = sum(
        counts.get("unparsed", 0) for by_task in findings.causes for counts in by_task.values()
    )
    told = f" {left_out} got no label and are left out." if left_out else ""
    missing = [
        run.name for run, found in zip(context.runs, findings.causes, strict=True) if not found
    ]
    whose = f" Not attributed: {few(missing)}." if missing else ""
    return Section(
        id=context.figure_name("causes"),
        nav="Causes",
        title="Why were the answers wrong?",
        about="A model read every wrong chain of thought and named its main cause. The bar is the "
        f"share of each cause (%), the number at its end how many answers.{told}{whose}",
        panels=(Panel(label="", figures=tuple(figures), reading=""),),
    )
