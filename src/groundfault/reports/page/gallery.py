"""The worst cases, with pictures where the benchmark's folder is at hand.

A few of every kind of failure rather than many of one: for each run, cases are drawn in turn from
every cell and intervention, the worst first. Beside each stands what the other runs made of the
same case. A picture is stored once, however many runs and queries it shows; masks lie over it as
outlines, which stay sharp and cost little.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from groundfault.errors import GroundfaultError
from groundfault.io.masks import decode
from groundfault.records import Item, Outcome, Prediction, Role
from groundfault.reports.page.comparisons import compared_answers
from groundfault.reports.page.failures import POOR_IOU, judged_case
from groundfault.reports.page.inputs import Chapter, RunData
from groundfault.reports.page.outlines import outline, shrink
from groundfault.reports.page.pictures import Pictures
from groundfault.reports.page.sources import Source, Sources, dumped
from groundfault.runs.recorder import read_predictions
from groundfault.runs.shards import shards

__all__ = ["Example", "Gallery", "View", "case_rows", "examples_at", "make_gallery"]

MOST_MASKS = 6
"""Answers drawn on one picture, the surest first."""
MOST_SAID = 160
"""Characters of an answer in words."""
OTHERS_BYTES = 2_500_000
"""For what the other runs made of the shown cases."""


class View(msgspec.Struct, frozen=True, kw_only=True):
    """One question of a case: the picture, what was asked, what came back."""

    role: str
    query: str
    verdict: str
    right: bool | None
    detail: str = ""
    picture: int | None = None
    """Index into the gallery's pictures."""
    width_px: int = 0
    height_px: int = 0
    target: str = ""
    """Outline of the edited or described object."""
    answers: tuple[str, ...] = ()
    """Outlines of the accepted masks."""
    item_id: str = ""
    image: str = ""
    """Its file in the benchmark's folder."""


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """One case as one run answered it."""

    run: str
    series: int
    benchmark: str
    case_id: str
    kind: str
    """The intervention, task or size that it can be filtered by."""
    cells: tuple[str, ...]
    severity: float
    views: tuple[View, ...]
    same: str = ""
    """What the examples of one case share."""

    @property
    def n_wrong(self) -> int:
        """How many of its questions went wrong."""
        return sum(view.right is False for view in self.views)

    @property
    def searchable(self) -> str:
        """What the search looks through."""
        queries = " ".join(view.query for view in self.views)
        return f"{self.case_id} {queries} {self.run}".casefold()


class Gallery(msgspec.Struct, frozen=True, kw_only=True):
    """The chosen cases."""

    examples: tuple[Example, ...]
    notes: tuple[str, ...]
    n_wrong: int
    """How many cases of all runs went wrong."""
    others: Mapping[str, tuple[Example, ...]]
    """Every run's answer to a shown case, by `Example.same`, where there are several runs."""

    @property
    def with_pictures(self) -> bool:
        """Whether there is anything to look at."""
        return any(view.picture is not None for e in self.examples for view in e.views)


class _Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """A row of a case table, before pictures."""

    chapter: int
    run: RunData
    series: int
    place: int
    """Of the row in the case table; it is the same case in every run of the chapter."""
    row: Mapping[str, Any]
    kind: str
    cells: tuple[str, ...]
    severity: float

    @property
    def same(self) -> str:
        return f"{self.chapter}-{self.place}"

    @property
    def case_id(self) -> str:
        return str(self.row.get("case_id", self.place))


def make_gallery(
    found: Sequence[Chapter], *, sources: Sources, max_cases: int, pictures: Pictures
) -> Gallery:
    """The worst cases of all models; colours are those of each chapter."""
    wrong = [
        _wrong(number, run, series)
        for number, chapter in enumerate(found)
        for series, run in enumerate(chapter.models)
    ]
    quota = max(1, max_cases // max(len(wrong), 1))
    chosen = [case for listed in wrong for case in _in_turn(listed, quota)][:max_cases]
    chosen = _spread(chosen)
    siblings = [case for number, chapter in enumerate(found)
                for case in _siblings(number, chapter, chosen)]  # fmt: skip
    show = _Showing(sources, pictures)
    for case in (*chosen, *siblings):
        show.want(case)
    examples = tuple(show.example(case) for case in chosen)
    others = _others(siblings, show)
    if pictures.unreadable:
        show.notes.append(f"{pictures.unreadable} pictures could not be read.")
    if pictures.thumbnails and examples and not any(show.answers.values()):
        show.notes.append("The runs store scores only, so the answered masks cannot be drawn.")
    if others and len(others) < len({case.same for case in siblings}):
        show.notes.append(
            f"What other runs made of a case is there for the worst {len(others)}: the page would "
            "become too large."
        )
    return Gallery(
        examples=examples,
        notes=tuple(dict.fromkeys([*sources.notes, *show.notes])),
        n_wrong=sum(map(len, wrong)),
        others=others,
    )


def examples_at(
    chapter: Chapter, places: Sequence[int], *, sources: Sources, pictures: Pictures
) -> list[tuple[Example, ...]]:
    """The cases at some places of a chapter's tables, each as every run answered it."""
    cases = _at(0, chapter, places) if places else []
    show = _Showing(sources, pictures)
    for case in cases:
        show.want(case)
    found = [show.example(case) for case in cases]
    n = len(chapter.runs)
    return [tuple(found[start : start + n]) for start in range(0, len(found), n)]


def case_rows(run: RunData) -> list[Mapping[str, Any]]:
    """Every case of a run, without what is summed."""
    rows: list[Mapping[str, Any]] = run.table.select(_light(run)).to_pylist()
    return rows


class _Showing:
    """Turns chosen rows into examples; folders and answers are read once."""

    def __init__(self, sources: Sources, pictures: Pictures) -> None:
        self.sources, self.pictures = sources, pictures
        self.notes: list[str] = []
        self.wanted: dict[Path, list[_Chosen]] = {}
        self.answers: dict[Path, dict[str, Prediction]] = {}

    def want(self, case: _Chosen) -> None:
        """Note a case whose answers will be needed."""
        self.wanted.setdefault(case.run.folder, []).append(case)

    def example(self, case: _Chosen) -> Example:
        run = case.run
        source = self.sources.of(run)
        if run.folder not in self.answers:
            self.answers[run.folder] = _answers(run, source, self.wanted[run.folder], self.notes)
        views = _views(case, source, self.answers[run.folder], self.pictures)
        return Example(
            run=run.name,
            series=case.series,
            benchmark=run.summary.benchmark,
            case_id=str(case.row["case_id"]),
            kind=case.kind,
            cells=case.cells,
            severity=case.severity,
            views=tuple(views),
            same=case.same,
        )


def _siblings(number: int, chapter: Chapter, chosen: Sequence[_Chosen]) -> list[_Chosen]:
    """The chosen cases of a chapter as each of its runs answered them, the worst first."""
    places = list(dict.fromkeys(case.place for case in chosen if case.chapter == number))
    return _at(number, chapter, places) if len(chapter.runs) > 1 and places else []


def _at(number: int, chapter: Chapter, places: Sequence[int]) -> list[_Chosen]:
    """The cases at some places of a chapter's tables as each of its runs answered them."""
    by_run = [
        run.table.select(_light(run)).take(places).to_pylist()  # the same order in each
        for run in chapter.runs
    ]
    return [
        _chosen(number, run, series, place, by_run[series][k], judged_case(by_run[series][k]))
        for k, place in enumerate(places)
        for series, run in enumerate(chapter.runs)
    ]


def _others(siblings: Sequence[_Chosen], show: _Showing) -> dict[str, tuple[Example, ...]]:
    """Examples by case, as many as there is room for."""
    found: dict[str, list[Example]] = {}
    size = 0
    for case in siblings:
        if size > OTHERS_BYTES and case.same not in found:
            break
        example = show.example(case)
        size += 400 * len(example.views)
        size += sum(len(path) for view in example.views for path in view.answers)
        found.setdefault(case.same, []).append(example)
    return {same: tuple(examples) for same, examples in found.items()}


# ── which cases ────────────────────────────────────────────────────────────────────────────────


def _light(run: RunData) -> list[str]:
    """Columns of a case table without its sums."""
    return [f.name for f in run.table.schema if "." not in f.name and f.name != "rows"]


def _wrong(chapter: int, run: RunData, series: int) -> list[_Chosen]:
    """Every case that went wrong, the worst first."""
    found = []
    for place, row in enumerate(case_rows(run)):
        judged = judged_case(row)
        if judged is not None:
            found.append(_chosen(chapter, run, series, place, row, judged))
    return sorted(found, key=lambda case: -case.severity)


def _chosen(
    chapter: int,
    run: RunData,
    series: int,
    place: int,
    row: Mapping[str, Any],
    judged: tuple[tuple[str, ...], float] | None,
) -> _Chosen:
    cells, severity = judged or ((), 0.0)
    named = ("intervention", "task", "premise", "size", "name")
    kind = next((row[column] for column in named if row.get(column)), "")
    return _Chosen(
        chapter=chapter, run=run, series=series, place=place, row=row, kind=kind,
        cells=cells, severity=severity,
    )  # fmt: skip


def _in_turn(cases: Sequence[_Chosen], quota: int) -> list[_Chosen]:
    """Up to `quota` cases: the worst of each cell and kind, then the second of each, and so on.
    Where a case has several rows, as a photograph with many phrases, those of others come first."""
    heaps: dict[tuple[str, ...], list[_Chosen]] = {}
    for case in cases:
        heaps.setdefault((*case.cells, case.kind), []).append(case)
    chosen: list[_Chosen] = []
    taken: Counter[str] = Counter()
    while len(chosen) < min(quota, len(cases)):
        for heap in filter(None, heaps.values()):
            case = min(heap, key=lambda case: taken[case.case_id])
            heap.remove(case)
            taken[case.case_id] += 1
            chosen.append(case)
    return chosen[:quota]


def _spread(chosen: Iterable[_Chosen]) -> list[_Chosen]:
    """The worst first, but a run's second row of one case, as of a photograph with many phrases,
    after the first rows of all."""
    times: Counter[tuple[int, int, str]] = Counter()
    ordered = []
    for case in sorted(chosen, key=lambda case: -case.severity):
        whose = (case.chapter, case.series, case.case_id)
        ordered.append((times[whose], -case.severity, case))
        times[whose] += 1
    return [case for *_, case in sorted(ordered, key=lambda entry: entry[:2])]


# ── what was answered ──────────────────────────────────────────────────────────────────────────


def _answers(
    run: RunData, source: Source | None, wanted: Sequence[_Chosen], notes: list[str]
) -> dict[str, Prediction]:
    """The predictions of the chosen cases: the run's own, or those of the dump that was scored."""
    items = {
        str(case.row[name])
        for case in wanted
        for name in ("positive_id", "negative_id", "query_id", "first_id", "second_id")
        if case.row.get(name)
    }
    quads = "IoU_textual" in run.columns  # its table names no items: keep them all
    try:
        found = read_predictions(run.folder) if shards(run.folder) else dumped(run, source)
        return {
            prediction.item_id: prediction
            for prediction in found
            if quads or prediction.item_id in items
        }
    except GroundfaultError as problem:
        notes.append(f"Answers of {run.name} are not drawn: {problem}")
        return {}


# ── what is seen ───────────────────────────────────────────────────────────────────────────────


def _views(
    case: _Chosen,
    source: Source | None,
    answers: Mapping[str, Prediction],
    pictures: Pictures,
) -> Iterable[View]:
    for role, query, verdict, right, detail, item_id in _questions(case, source):
        view = View(
            role=role, query=query, verdict=verdict, right=right, detail=detail, item_id=item_id
        )
        item = source.items.get(item_id) if source else None
        if source is None or item is None:
            yield view
            continue
        prediction = answers.get(item_id)
        yield _with_picture(view, item, source, prediction, case.run.t, pictures)


def _questions(
    case: _Chosen, source: Source | None
) -> Iterable[tuple[str, str, str, bool | None, str, str]]:
    """Role, query, verdict, whether it is right, scores, item id: for each question of a case."""
    row = case.row
    if "comparison" in row:
        yield from compared_answers(row)
        return
    if row.get("positive_cell") or _failed_pair(row):
        for side, sign, good in (("positive", "p⁺", "TA-TP"), ("negative", "p⁻", "TN")):
            cell = row[f"{side}_cell"]
            words = case.run.protocol.cells.get(cell, "").removeprefix(sign).strip()
            verdict = f"{cell}: {words}" if cell else "not scored"
            right = cell == good if cell else None
            query, item = row[f"{side}_query"] or "", str(row[f"{side}_id"])
            yield sign, query, verdict, right, _scores(row, side, case.run.t), item
        return
    if "IoU_textual" in row:
        yield from _quad(row, source)
        return
    if "existence_correct" in row:
        overlap = row.get("iou")
        detail = "" if overlap is None else f"IoU {overlap:.2f}"
        told = {"said": row.get("said"), "there is": row.get("there_is")}
        quoted = [f"{name} “{_shortened(text)}”" for name, text in told.items() if text]
        detail = "; ".join(quoted) or detail
        premise = f"{row.get('premise')} premise"
        yield premise, row["query"] or "", *_told(case), detail, str(row["query_id"])
        return
    detail = _scores(row, "positive", case.run.t)
    yield "query", row["positive_query"] or "", *_told(case), detail, str(row["positive_id"])


def _shortened(text: str) -> str:
    """What was said, on one line of a card."""
    line = " ".join(text.split())
    return line if len(line) <= MOST_SAID else f"{line[:MOST_SAID]}…"


def _failed_pair(row: Mapping[str, Any]) -> bool:
    """Whether a pair has no cells because one of its answers never came."""
    ends = (row.get("positive_outcome"), row.get("negative_outcome"))
    return "positive_cell" in row and bool(row.get("negative_id")) and "failed" in ends


def _told(case: _Chosen) -> tuple[str, bool | None]:
    """The words about a single question, and whether it went right."""
    if case.cells:
        return case.run.protocol.cells.get(case.cells[0], case.cells[0]), False
    failed = "failed" in (case.row.get("positive_outcome"), case.row.get("outcome"))
    return ("no answer", None) if failed else ("as it should be", True)


def _scores(row: Mapping[str, Any], side: str, t: float | None) -> str:
    outcome = str(row.get(f"{side}_outcome"))
    if outcome in ("abstained", "unparsed", "failed"):
        return outcome
    scores, overlaps = row[f"{side}_scores"] or [], row[f"{side}_target_ious"] or []
    if not scores:
        return "no prediction"
    best = max(range(len(scores)), key=lambda k: scores[k])
    words = f"best score {scores[best]:.3f}, overlap {overlaps[best]:.2f}"
    accepted = sum(score >= (t if t is not None else -math.inf) for score in scores)
    return f"{words}, {accepted} of {len(scores)} accepted" if len(scores) > 1 else words


def _quad(
    row: Mapping[str, Any], source: Source | None
) -> Iterable[tuple[str, str, str, bool | None, str, str]]:
    quad = source.by_case.get(str(row["case_id"]), {}) if source else {}
    words, other = row.get("query") or "", row.get("counterfactual_query") or ""
    for role, name, query, overlap, wanted in (
        (Role.FACTUAL, "(I, c)", words, row["IoU_fact"], True),
        (Role.TEXTUAL, "(I, c′)", other, row["IoU_textual"], False),
        (Role.VISUAL, "(I′, c)", words, row["IoU_visual"], False),
        (Role.COUNTERFACTUAL, "(I′, c′)", other, row["IoU_cf"], True),
    ):
        item = quad.get(role)
        right = None if overlap is None else (overlap >= POOR_IOU) == wanted
        verdict = "should be marked" if wanted else "should be empty"
        outcome = str(row.get(f"{role}_outcome"))
        detail = "" if overlap is None else f"IoU {overlap:.2f}"
        if outcome in ("abstained", "unparsed", "failed"):
            detail = outcome
        yield name, query, verdict, right, detail, item.id if item else ""


def _with_picture(
    view: View,
    item: Item,
    source: Source,
    prediction: Prediction | None,
    t: float | None,
    pictures: Pictures,
) -> View:
    """The view with picture and outlines, in pixels of the largest size that is tried."""
    size_px = (item.height_px, item.width_px)
    number = pictures.add(source.images, item.image, record=f"item {item.id}", size_px=size_px)
    if number is None:
        return view
    width, height = pictures.sizes[number]
    regions = [item.target] if item.target else list(item.regions)
    target = "".join(
        outline(shrink(decode(region.mask), height, width)) for region in regions if region.mask
    )
    kept = []
    if prediction is not None and prediction.outcome is Outcome.OK:
        ranked = sorted(
            zip(prediction.scores, prediction.masks, strict=False), key=lambda pair: -pair[0]
        )
        kept = [mask for score, mask in ranked if t is None or score >= t][:MOST_MASKS]
    return msgspec.structs.replace(
        view,
        picture=number,
        image=item.image,
        width_px=width,
        height_px=height,
        target=target,
        answers=tuple(
            path for mask in kept if (path := outline(shrink(decode(mask), height, width)))
        ),
    )
