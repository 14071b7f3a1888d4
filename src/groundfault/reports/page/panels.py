"""Cases as panels for a paper, of sets with p⁺ and p⁻ whose pictures are at hand.

Three figures, as in CAFE: what the set asks (its Figure 2), what a model made of it, its surest
mistakes first (Figure 1), and an agent beside the segmenter that it verifies (appendix D.2).
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from groundfault.models.agent.traces import Trace, trace_of
from groundfault.registry import is_baseline
from groundfault.reports.page.drawing import Canvas, Figure, shortened
from groundfault.reports.page.gallery import Example, View, case_rows, examples_at
from groundfault.reports.page.inputs import Chapter, RunData
from groundfault.reports.page.pictures import Pictures
from groundfault.reports.page.sources import Sources
from groundfault.runs.recorder import read_predictions
from groundfault.runs.shards import shards

if TYPE_CHECKING:
    from PIL import Image

__all__ = [
    "PICTURE_PX",
    "draw_masks",
    "draw_picture",
    "draw_sign",
    "draw_target",
    "panel_figures",
]

PICTURE_PX = 720
"""The long side of a picture: sharp at the size of a column."""
WIDTH = 760.0
GAP = 14.0
KINDS = ("SM", "CC", "OC", "")
KIND_WORDS = {
    "SM": "Superficial mimicry", "CC": "Context conflict", "OC": "Ontological conflict",
    "": "No edit",
}  # fmt: skip
IN_A_ROW = 4
TALLEST = 190.0
LEGIBLE = 0.03
"""Share of a picture that a target's box should take to be seen at this size."""
ROWS_OF_A_MODEL = 4
RIGHT, WRONG, UNKNOWN = 2, 1, 7
"""Colours of what is right, wrong, or not known."""
Row = Mapping[str, Any]


def panel_figures(
    found: Sequence[Chapter], *, sources: Sources, pictures: Pictures
) -> list[Figure]:
    """The panels of every chapter that has pairs and pictures."""
    figures: list[Figure] = []
    for chapter in found:
        if "positive_cell" not in chapter.runs[0].columns:
            continue
        drawing = _Chapter(chapter, sources, pictures)
        figures += [figure for figure in drawing.figures() if figure is not None]
    return figures


class _Chapter:
    """The runs of one set of pairs."""

    def __init__(self, chapter: Chapter, sources: Sources, pictures: Pictures) -> None:
        self.chapter, self.sources, self.pictures = chapter, sources, pictures
        self.rows = [case_rows(run) for run in chapter.runs]
        counted = chapter.runs[0].member("Overall")
        self.places = [place for place in range(len(self.rows[0])) if counted[place]]
        """Of cases that the headline is about: neither controls nor weaker doses."""

    def figures(self) -> Iterator[Figure | None]:
        yield self._examples()
        for number, run in enumerate(self.chapter.runs):
            if not is_baseline(_model(run)):
                yield self._mistakes(number, run)
        for agent, segmenter in _verified(self.chapter.runs):
            yield self._against(agent, segmenter)

    def _shown(self, places: Sequence[int]) -> dict[int, tuple[Example, ...]]:
        """Cases as all runs answered them, by place; those without a picture are left out."""
        found = examples_at(self.chapter, places, sources=self.sources, pictures=self.pictures)
        return {
            place: case
            for place, case in zip(places, found, strict=True)
            if case[0].views and case[0].views[0].picture is not None
        }

    def _examples(self) -> Figure | None:
        """A few cases of every edit: picture, target, p⁺ and p⁻."""
        canvas, y = Canvas(), 0.0
        for kind in _kinds(self.rows[0], self.places):
            places = [p for p in self.places if (self.rows[0][p]["intervention"] or "") == kind]
            candidates = self._shown(_varied(self.rows[0], places, 3 * IN_A_ROW))
            cases = _legible(list(candidates.values()))
            if not cases:
                continue
            canvas.text(0, y + 12, KIND_WORDS.get(kind, kind), "t strong")
            shapes = [case[0].views[0].width_px / case[0].views[0].height_px for case in cases]
            tall = min((WIDTH - GAP * (len(cases) - 1)) / sum(shapes), TALLEST)
            x = 0.0
            for case, shape in zip(cases, shapes, strict=True):
                self._question(canvas, (x, y + 22), (tall * shape, tall), case[0])
                x += tall * shape + GAP
            y += 22 + tall + 46
        if not y:
            return None
        return canvas.figure("panels-examples", "What is asked: the target, p⁺ and p⁻", WIDTH, y)

    def _question(
        self,
        canvas: Canvas,
        place: tuple[float, float],
        room: tuple[float, float],
        example: Example,
    ) -> None:
        x, y = place
        first = example.views[0]
        box = draw_picture(canvas, self.pictures, first, place, room)
        draw_target(canvas, first, box)
        for k, view in enumerate(example.views[:2]):
            line = y + room[1] + 15 + 16 * k
            draw_sign(canvas, x + 5, line - 4, right=k == 0)
            canvas.text(x + 15, line, shortened(f"{view.role} {view.query}", room[0] - 15), "i")

    def _mistakes(self, number: int, run: RunData) -> Figure | None:
        """Cases whose p⁻ was accepted, the surest of every edit first."""
        places: list[int] = []
        for kind in _kinds(self.rows[number], self.places):
            of_kind = [
                p for p in self.places if (self.rows[number][p]["intervention"] or "") == kind
            ]
            accepted = [p for p in of_kind if self.rows[number][p]["negative_cell"] in ACCEPTED]
            accepted.sort(key=lambda p: _sureness(self.rows[number][p]))
            places += accepted[: 2 if kind == "" else 1]
        cases = self._shown(places[:ROWS_OF_A_MODEL]).values()
        if not cases:
            return None
        canvas, y = Canvas(), 0.0
        for case in cases:
            y = self._answers(canvas, y, case[0], [("", view) for view in case[number].views[:2]])
        title = f"{shortened(run.name, 260)}: misleading phrases that it accepts"
        return canvas.figure(f"panels-{run.folder.resolve().name}", title, WIDTH, y)

    def _answers(
        self, canvas: Canvas, y: float, example: Example, answers: Sequence[tuple[str, View]]
    ) -> float:
        """A row: the picture with its target, then what was answered; returns where it ends."""
        width = (WIDTH - 2 * GAP) / 3
        first = example.views[0]
        tall = _height(first, width, width)
        box = draw_picture(canvas, self.pictures, first, (0, y), (width, tall))
        draw_target(canvas, first, box)
        canvas.text(0, y + tall + 16, KIND_WORDS.get(example.kind, example.kind), "t strong")
        words = f"case {example.case_id}, its target dashed"
        canvas.text(0, y + tall + 32, shortened(words, width))
        for k, (name, view) in enumerate(answers, start=1):
            x = k * (width + GAP)
            box = draw_picture(canvas, self.pictures, view, (x, y), (width, tall))
            draw_masks(canvas, view, box)
            draw_sign(canvas, x + 5, y + tall + 12, right=view.right)
            words = f"{name}: {view.role} {view.query}" if name else f"{view.role} {view.query}"
            canvas.text(x + 15, y + tall + 16, shortened(words, width - 15), "t strong", words)
            for line, text in enumerate(_said(view)):
                canvas.text(x, y + tall + 32 + 15 * line, shortened(text, width + 20), "s", text)
        return y + tall + 66

    def _against(self, agent: int, segmenter: int) -> Figure | None:
        """Questions that an agent and its segmenter answer differently, or both wrongly."""
        runs = self.chapter.runs
        groups = _compared(self.rows[agent], self.rows[segmenter], self.places)
        wanted = [
            (words, place, side)
            for words, questions in groups.items()
            if words != BOTH_RIGHT
            for place, side in questions[: 2 if words == AGENT_HELPS else 1]
        ]
        shown = self._shown(list(dict.fromkeys(place for _, place, _ in wanted)))
        canvas = Canvas()
        counts = " · ".join(f"{words}: {len(questions):,}" for words, questions in groups.items())
        canvas.text(0, 11, f"Questions: {counts}", "i")
        y, traces = 24.0, _traces(runs[agent])
        heading = ""
        for words, place, side in wanted:
            if place not in shown:
                continue
            if words != heading:
                heading = words
                canvas.text(0, y + 12, f"{words[:1].upper()}{words[1:]}", "t strong")
                y += 22
            case = shown[place]
            views = [case[k].views[side] for k in (segmenter, agent)]
            names = (_model(runs[segmenter]), "agent")
            y = self._answers(canvas, y, case[0], list(zip(names, views, strict=True)))
            for line in _steps(traces.get(views[1].item_id)):
                canvas.text(0, y + 2, shortened(line, WIDTH), "s", line)
                y += 15
            y += 14
        if y == 24.0:
            return None
        title = f"{shortened(runs[agent].name, 330)} beside {_model(runs[segmenter])}"
        return canvas.figure(f"panels-agent-{runs[agent].folder.resolve().name}", title, WIDTH, y)


ACCEPTED = ("TA-FP", "UA-FP")
AGENT_HELPS = "the agent is right, the segmenter is not"
BOTH_WRONG = "both are wrong"
AGENT_HURTS = "the segmenter is right, the agent is not"
BOTH_RIGHT = "both are right"


def _compared(
    agent: Sequence[Row], segmenter: Sequence[Row], places: Sequence[int]
) -> dict[str, list[tuple[int, int]]]:
    """(place, 0 for p⁺ or 1 for p⁻) of every question by who answers it rightly."""
    groups: dict[str, list[tuple[int, int]]] = {
        AGENT_HELPS: [], BOTH_WRONG: [], AGENT_HURTS: [], BOTH_RIGHT: [],
    }  # fmt: skip
    names = {
        (True, False): AGENT_HELPS, (False, False): BOTH_WRONG,
        (False, True): AGENT_HURTS, (True, True): BOTH_RIGHT,
    }  # fmt: skip
    for side, cell, good in ((1, "negative_cell", "TN"), (0, "positive_cell", "TA-TP")):
        for place in places:
            found = agent[place][cell], segmenter[place][cell]
            if all(found):
                groups[names[found[0] == good, found[1] == good]].append((place, side))
    return groups


def _verified(runs: Sequence[RunData]) -> Iterator[tuple[int, int]]:
    """Agents with the segmenter that they verify, where it was asked by itself too."""
    models = [_model(run) for run in runs]
    for k, model in enumerate(models):
        if model.startswith("agent:"):
            segmenter = model.removeprefix("agent:").partition("+")[0]
            if segmenter in models:
                yield k, models.index(segmenter)


def _model(run: RunData) -> str:
    return run.run.model if run.run is not None else run.name


def _traces(run: RunData) -> dict[str, Trace]:
    if not shards(run.folder):
        return {}
    return {
        answer.item_id: trace
        for answer in read_predictions(run.folder)
        if (trace := trace_of(answer)) is not None
    }


def _steps(trace: Trace | None) -> Iterator[str]:
    """What an agent did, a line per turn."""
    for number, turn in enumerate(trace.turns if trace else (), start=1):
        given = turn.parameters.get("text_prompt") or turn.parameters.get("mask_indices") or ""
        plural = "" if turn.n_masks == 1 else "s"
        masks = f", {turn.n_masks} mask{plural}" if turn.tool == "segment_phrase" else ""
        call = f"{turn.tool} {given}".strip() if turn.tool else "no call that can be read"
        thought = " ".join(turn.thought.split())
        yield f"{number}. {call}{masks}{f' — “{thought}”' if thought else ''}"


def _kinds(rows: Sequence[Row], places: Sequence[int]) -> list[str]:
    """The edits that occur, CAFE's first."""
    found = dict.fromkeys(rows[place]["intervention"] or "" for place in places)
    return sorted(
        found, key=lambda kind: (KINDS.index(kind) if kind in KINDS else len(KINDS), kind)
    )


def _varied(rows: Sequence[Row], places: Sequence[int], n: int) -> list[int]:
    """Some places, spread evenly, with as many different p⁺ as there are."""
    new = list({rows[place]["positive_query"]: place for place in reversed(places)}.values())[::-1]
    pool = new if len(new) >= n else list(places)
    step = max(len(pool) / n, 1)
    return [pool[int(k * step)] for k in range(min(n, len(pool)))]


def _legible(cases: Sequence[tuple[Example, ...]]) -> list[tuple[Example, ...]]:
    """As many as stand in a row, those first whose target is large enough to be seen; in order."""
    ranked = sorted(cases, key=lambda case: _box_share(case[0].views[0]) < LEGIBLE)[:IN_A_ROW]
    return [case for case in cases if case in ranked]


def _box_share(view: View) -> float:
    """How much of the picture the box around its target takes."""
    numbers = [float(number) for number in re.findall(r"[\d.]+", view.target)]
    if not numbers:
        return 0.0
    x, y = numbers[::2], numbers[1::2]
    return (max(x) - min(x)) * (max(y) - min(y)) / (view.width_px * view.height_px)


def _sureness(row: Row) -> tuple[bool, bool, float]:
    """Sorts acceptances on the target first, then those whose p⁺ was right, then the surest."""
    highest = max(row["negative_scores"] or (0.0,))
    return row["negative_cell"] != "TA-FP", row["positive_cell"] != "TA-TP", -highest


def _said(view: View) -> list[str]:
    """Verdict, without the name of the cell, and numbers."""
    verdict = view.verdict.partition(": ")[2] or view.verdict
    numbers = view.detail.removeprefix("best ").replace("overlap", "IoU")
    return [verdict, numbers] if numbers else [verdict]


# ── drawing ────────────────────────────────────────────────────────────────────────────────────


class _Box(msgspec.Struct, frozen=True):
    """Where a picture stands, and how much larger than its own pixels it is."""

    x: float
    y: float
    scale: float


def _height(view: View, width: float, most: float) -> float:
    """How tall a picture is at a width, up to a limit."""
    return min(width * view.height_px / max(view.width_px, 1), most)


def draw_picture(
    canvas: Canvas,
    pictures: Pictures,
    view: View,
    place: tuple[float, float],
    room: tuple[float, float],
) -> _Box:
    """The picture of a view at a place, as large as there is room."""
    scale = min(room[0] / view.width_px, room[1] / view.height_px)
    width, height = view.width_px * scale, view.height_px * scale
    x, y = place
    if view.picture is not None:
        canvas.parts.append(
            f'<image x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'href="{_data_url(pictures.thumbnails[view.picture])}"/>'
        )
    return _Box(x, y, scale)


def _data_url(picture: Image.Image) -> str:
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=90, optimize=True)
    return "data:image/jpeg;base64," + base64.b64encode(out.getvalue()).decode()


def _within(canvas: Canvas, box: _Box, draw: Callable[[], None]) -> None:
    """Draw in the picture's own pixels."""
    canvas.parts.append(
        f'<g transform="translate({box.x:.1f} {box.y:.1f}) scale({box.scale:.4f})">'
    )
    draw()
    canvas.parts.append("</g>")


def draw_target(canvas: Canvas, view: View, box: _Box) -> None:
    """The outline of the target, seen on light and dark."""
    dash = f"{4 / box.scale:.1f} {3 / box.scale:.1f}"

    def draw() -> None:
        for kind, width_px, dashes in (("halo", 2.8, "none"), ("edge", 1.3, dash)):
            canvas.parts.append(
                f'<path class="{kind}" d="{view.target}" '
                f'style="stroke-width:{width_px / box.scale:.2f};stroke-dasharray:{dashes}"/>'
            )

    if view.target:
        _within(canvas, box, draw)


def draw_masks(canvas: Canvas, view: View, box: _Box) -> None:
    """What was answered, tinted by whether it is right."""
    colour = UNKNOWN if view.right is None else RIGHT if view.right else WRONG

    def draw() -> None:
        for path in view.answers:
            canvas.parts.append(
                f'<path class="f{colour}" fill-rule="evenodd" fill-opacity="0.5" d="{path}"/>'
                f'<path class="halo" style="stroke-width:{3.2 / box.scale:.2f}" d="{path}"/>'
                f'<path class="l{colour}" style="stroke-width:{1.8 / box.scale:.2f}" d="{path}"/>'
            )

    if view.answers:
        _within(canvas, box, draw)


def draw_sign(canvas: Canvas, x: float, y: float, *, right: bool | None) -> None:
    """A tick, a cross, or a dash: their shapes say what their colours say."""
    strokes = {
        True: "M-4 0L-1 3L4 -4",
        False: "M-3 -3L3 3M-3 3L3 -3",
        None: "M-3 0L3 0",
    }
    colour = {True: RIGHT, False: WRONG, None: UNKNOWN}[right]
    canvas.parts.append(
        f'<path class="l{colour}" transform="translate({x:.1f} {y:.1f})" d="{strokes[right]}"/>'
    )
