"""The first minutes of a newcomer: a small rendered world, two models, what fine-tuning did."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from groundfault.api.comparing import compare
from groundfault.api.evaluating import evaluate
from groundfault.api.pictures import CasePicture, Panel
from groundfault.api.reporting import report
from groundfault.errors import UsageError
from groundfault.io.pictures import read_image
from groundfault.io.store import is_there, read_json, write_bytes, write_json
from groundfault.protocols import named
from groundfault.records import Estimate
from groundfault.reports.stories import Finding, Scene, Story

if TYPE_CHECKING:
    from groundfault.analysis.compare import Comparison
    from groundfault.api.result import Result

__all__ = ["demonstrate"]

BASE, CURED = "nano-base", "nano-cft"
MODELS = (BASE, CURED, "oracle", "blind", "always-yes")
"""Two models, and baselines that mark the ends of the scale."""
EDITED, REPLACED = "edited", "replaced"
TOLD = (
    ("finds what is there", EDITED, "Overall", "recall@0.50"),
    ("accepts what is not there", EDITED, "Overall", "IL-FPR"),
    ("still marks what was replaced", REPLACED, "Overall", "CMS_counterfact"),
)
"""In words: benchmark, row and metric of the three numbers."""
UNEDITED = ("cgF1 on unedited pictures", EDITED, "control", "cgF1")
RESAMPLES = 2000
MARK = "demo.json"


class Made(msgspec.Struct, frozen=True, kw_only=True):
    """What a demonstration's folder says of itself; one that says the same is gone on with."""

    n: int
    version: str


Say = Callable[[str], None]


def demonstrate(out: Path, *, n: int = 240, workers: int | None = None, say: Say = print) -> Story:
    """Render, ask, compare and report into `out`; what was begun there goes on."""
    _claim(out, n)
    n_replaced = max(n // 3, 1)
    say(f"Rendering {n + n_replaced} scenes, each with one thing changed …")
    _render(out, n, n_replaced, workers)
    say("Asking two small segmenters, and baselines that look at no picture …")
    runs = {part: _ask(out, part) for part in (EDITED, REPLACED)}
    say("Comparing them and writing the report …")
    tables = {part: _compared(part, runs[part]) for part in runs}
    report([run for part in runs.values() for run in part], out / "report.html")
    _write_tables(out, runs)
    return Story(
        folder=out,
        models=(BASE, CURED),
        n_edited=n,
        n_replaced=n_replaced,
        scene=_scene(runs[EDITED], out / "case.png"),
        findings=tuple(_finding(tables, *told) for told in TOLD),
        unedited=_finding(tables, *UNEDITED),
    )


def _claim(out: Path, n: int) -> None:
    from groundfault import __version__

    made, mark = Made(n=n, version=__version__), out / MARK
    if is_there(mark):
        if read_json(mark, Made) == made:
            return
    elif not out.exists() or not any(out.iterdir()):
        write_json(mark, made)
        return
    raise UsageError(
        f"{out}: has something else in it; remove it, or name another folder with --out"
    )


def _render(out: Path, n: int, n_replaced: int, workers: int | None) -> None:
    from groundfault.reports.progress import progress
    from groundfault.world.presets import BuildSettings, build
    from groundfault.world.sheet import draw_sheet

    wanted = (("cafe", n, out / EDITED), ("halluseg", n_replaced, out / REPLACED))
    for preset, count, folder in wanted:
        if not folder.exists():  # it appears whole
            settings = BuildSettings(controls=preset == "cafe")
            with progress(preset) as advance:
                build(preset, count, folder, settings, workers=workers, progress=advance)
    if not (out / "interventions.png").exists():
        draw_sheet("interventions", out / "interventions.png", size_px=160)


def _ask(out: Path, part: str) -> list[Result]:
    from groundfault.reports.progress import progress

    found = []
    with progress(f"asking, {part} pictures") as advance:
        for number, model in enumerate(MODELS):
            advance(number, len(MODELS))
            run = out / "runs" / part / model
            found.append(evaluate(str(out / part), model, run, bootstrap=RESAMPLES))
    return found


def _compared(part: str, runs: list[Result]) -> Comparison:
    """Both models on the metrics that are told; Holm is over these."""
    told = [entry for entry in (*TOLD, UNEDITED) if entry[1] == part]
    metrics, rows = ({entry[k] for entry in told} for k in (3, 2))
    return compare(
        *runs[:2], metrics=sorted(metrics), rows=sorted(rows), bootstrap=RESAMPLES
    ).comparison


def _finding(
    tables: dict[str, Comparison], words: str, part: str, row: str, metric: str
) -> Finding:
    """Both values of a metric and their difference."""
    table = tables[part]
    base, cured = (table.rows[row][metric][name] for name in (BASE, CURED))
    (test,) = (test for test in table.tests if (test.row, test.metric) == (row, metric))
    sign = 1 if test.a == CURED else -1
    ends = [None if end is None else sign * end for end in (test.low, test.high)][::sign]
    value = None if test.difference is None else sign * test.difference
    return Finding(
        words=words,
        metric=named(table.protocol, table.rows[row]).metric(metric),
        base=base,
        cured=cured,
        difference=Estimate(value, low=ends[0], high=ends[1]),
        beyond_chance=test.p_holm is not None and test.p_holm < 0.05,
    )


def _scene(runs: list[Result], place: Path) -> Scene | None:
    """The case that the report opens with, if the two models part there; its picture is written."""
    from groundfault.reports.page.inputs import chapters, load_runs
    from groundfault.reports.page.telling import telling_place

    (chapter,) = chapters(load_runs([run.folder for run in runs[:2] if run.folder]))
    number = telling_place(chapter)
    if number is None or chapter.models[-1].name != BASE:
        return None
    case_id = chapter.runs[0].table.column("case_id")[number].as_py()
    benchmark = runs[0].benchmark()
    case = next(case for case in benchmark.cases if case.id == case_id)
    before = next(item for item in benchmark.items if item.case_id == f"{case.id}-control")
    pixels = read_image(Path(benchmark.images) / before.image)
    answers = [run.show(case.id).panels[-1] for run in runs[:2]]
    CasePicture(case.id, [Panel(pixels, ""), *answers], []).save(place)
    said = tuple(panel.caption.rpartition(" — ")[2] for panel in answers)
    return Scene(kind=case.intervention, tags=case.tags, answers=said, picture=place)


def _write_tables(out: Path, runs: dict[str, list[Result]]) -> None:
    """The comparison of everything with everything, for those who want it."""
    from groundfault.reports.comparisons import comparison_tables
    from groundfault.reports.tables import render

    compared = [compare(*listed, bootstrap=RESAMPLES).comparison for listed in runs.values()]
    texts = [render(table, "terminal") for each in compared for table in comparison_tables(each)]
    write_bytes(out / "tables.txt", ("\n\n".join(texts) + "\n").encode())
