"""An exam's tables: what a run took, for the page; the paper's layouts as LaTeX, for papers."""

from __future__ import annotations

from collections.abc import Iterator

from groundfault.judges.causes import CAUSES
from groundfault.reports import exams
from groundfault.reports.page.exam_sections import Findings
from groundfault.reports.page.sections import Context
from groundfault.reports.tables import Table, render
from groundfault.runs.run import Run

__all__ = ["exam_latex", "took_table"]


def took_table(context: Context) -> Table:
    """Answers, tokens, money and waiting time of every run, and what its judges took; a dash where
    it is not known."""
    rows = []
    for run in context.runs:
        made = run.run
        ends = run.summary.outcomes
        counts = [
            f"{sum(ends.values()):,}",
            *(f"{ends.get(e, 0):,}" for e in ("unparsed", "failed")),
        ]
        if made is None:
            judges = ", ".join(_judges(run.summary.settings))
            rows.append([run.name, *counts, *"—————", judges, *"——"])
            continue
        known = made.tokens_in + made.tokens_out > 0
        waited = made.latency_s
        rows.append(
            [
                run.name,
                *counts,
                f"{made.tokens_in:,}" if known else "—",
                f"{made.tokens_out:,}" if known else "—",
                f"{made.cost:,.2f}" if made.cost else "—",
                *(f"{waited[q]:.2f} s" if waited.get(q) else "—" for q in ("median", "p95")),
                ", ".join(_judges(run.summary.settings)),
                *_graders(made),
            ]
        )
    columns = ["run", "answers", "not read", "failed", "tokens in", "out", "cost"]
    columns += ["median wait", "95 %", "judged by", "judges' tokens", "cost"]
    return Table(columns, rows, title="What it took")


def _graders(made: Run) -> tuple[str, str]:
    """Tokens and money of who judged and of who named sub-causes."""
    graders = [grader for grader in (made.judged, made.attributed) if grader is not None]
    tokens = sum(grader.tokens for grader in graders)
    cost = sum(grader.cost or 0.0 for grader in graders)
    known = all(grader.cost is not None for grader in graders)
    return f"{tokens:,}" if tokens else "—", f"{cost:,.2f}" if cost and known else "—"


def _judges(settings: dict[str, object]) -> list[str]:
    found = settings.get("judge")
    return [str(name) for name in found] if isinstance(found, (list, tuple)) else []


def exam_latex(context: Context, findings: Findings) -> Iterator[tuple[str, str]]:
    """Name and LaTeX of every table that there is something for."""
    names = [run.name for run in context.runs]
    summaries = {run.name: run.summary for run in context.runs}
    tables = [("overall", exams.overall_table(summaries))]
    tables += [(f"dimensions-{k}", t) for k, t in enumerate(exams.dimension_tables(summaries), 1)]
    tables.append(("yes", exams.yes_table(summaries)))
    if any(findings.effects):
        tables.append(("cot", exams.cot_table(dict(zip(names, findings.effects, strict=True)))))
    if any(findings.rates):
        rates = dict(zip(names, findings.rates, strict=True))
        titles = [f"questions-{task}" for task in exams.TASK_TITLES]
        tables += list(zip(titles, exams.question_tables(rates), strict=True))
    if any(findings.positions):
        positions = dict(zip(names, findings.positions, strict=True))
        tables.append(("positions", exams.position_table(positions)))
    causes = {name: found for name, found in zip(names, findings.causes, strict=True) if found}
    if causes:
        tables.append(("causes", exams.cause_table(causes)))
        by_task = zip(CAUSES, exams.cause_tables(causes), strict=True)
        tables += [(f"causes-{task}", table) for task, table in by_task]
    for name, table in tables:
        yield context.figure_name("table", name), render(table, "latex") + "\n"
