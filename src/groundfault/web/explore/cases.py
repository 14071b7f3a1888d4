"""Everything about one entry: pictures with every run's masks, answers, episodes, its doses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from groundfault.errors import GroundfaultError
from groundfault.io.foreign import within
from groundfault.io.masks import decode
from groundfault.judges.causes import CAUSES, LABELS
from groundfault.models.agent.traces import trace_of
from groundfault.protocols.words import expected
from groundfault.records import MODES, Case, Item, Outcome, Prediction, Region, Rle
from groundfault.reports.page.outlines import outline, shrink
from groundfault.web.explore.answers import Answers
from groundfault.web.explore.board import Asked, Board, Point
from groundfault.web.explore.questions import QuestionBoard

if TYPE_CHECKING:
    from groundfault.reports.page.sources import Source

__all__ = ["CaseView", "Mask", "Question", "Said", "Sibling", "case_view", "picture_path"]

DRAWN_PX = 1024
"""The long side at which outlines are made; larger pictures are drawn at that size."""
MOST_MASKS = 12
"""Of one answer, the surest first."""
MOST_SIBLINGS = 24
MOST_LETTERS = 20_000


class Mask(msgspec.Struct, frozen=True, kw_only=True):
    """One mask as an outline."""

    path: str
    score: float | None
    accepted: bool


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """What one run answered to one question."""

    run: int
    mode: str = ""
    outcome: str
    end: str = ""
    """The cell, corner or verdict."""
    words: str = ""
    """The end in words."""
    right: bool | None = None
    numbers: str = ""
    masks: tuple[Mask, ...] = ()
    more_masks: int = 0
    text: str = ""
    reasoning: str = ""
    reading: str = ""
    reason: str = ""
    judge: str = ""
    judge_text: str = ""
    cause: str = ""
    cause_text: str = ""
    seconds: float = 0.0
    episode: bool = False
    """Whether an agent's episode can be stepped through."""


class Picture(msgspec.Struct, frozen=True):
    """A picture of a question, by its number among the item's pictures."""

    number: int
    width_px: int
    height_px: int


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """One question of an entry with all answers to it."""

    role: str
    query: str
    item_id: str
    place: int
    """Of its item among the entry's."""
    pictures: tuple[Picture, ...] = ()
    target: str = ""
    """Outline of what was edited or is meant."""
    present: bool | None = None
    options: tuple[tuple[str, str, bool], ...] = ()
    truth: str = ""
    rubric: str = ""
    open: bool = True
    """Whether it is the entry's own, or another one about the same picture."""
    said: tuple[Said, ...] = ()


class Sibling(msgspec.Struct, frozen=True, kw_only=True):
    """Another entry of the same case: another dose of its edit, its control, its twin."""

    name: str
    label: str
    place: int
    current: bool
    right: tuple[int, ...]
    """Of each run by the first criterion: 1, 0, −1."""


TWINS = ("this case", "its twin")
UNREADABLE = ("edit region",)
"""Facts that are masks, not words."""


class CaseView(msgspec.Struct, frozen=True, kw_only=True):
    """An entry's page."""

    name: str
    case_id: str
    place: int
    facts: tuple[tuple[str, str], ...]
    questions: tuple[Question, ...]
    siblings: tuple[Sibling, ...]
    notes: tuple[str, ...] = ()


def case_view(board: Board, answers: Sequence[Answers], place: int, point: Point) -> CaseView:
    """All that is known about an entry at an operating point."""
    source = board.source
    made = _Case(board, answers, source, place, point)
    return CaseView(
        name=board.names[place].as_py(),
        case_id=board.case_ids[place].as_py(),
        place=place,
        facts=tuple(made.facts()),
        questions=tuple(made.questions()),
        siblings=tuple(_siblings(board, place, point)),
        notes=tuple(dict.fromkeys([*board.sources.notes, *made.notes])),
    )


def picture_path(board: Board, place: int, item: int, number: int) -> tuple[Path, Item] | None:
    """The file of a picture, by entry, question and number; None where there is none. Names come
    from the benchmark, never from a request, and do not lead out of its folder."""
    source = board.source
    asked = board.items(place)
    if source is None or not 0 <= item < len(asked):
        return None
    found = source.items.get(asked[item].item_id)
    if found is None or not 0 <= number < len(found.images):
        return None
    try:
        path = within(source.images, found.images[number], file=source.images, record=found.id)
    except GroundfaultError:
        return None
    return path, found


class _Case:
    """Collects one entry."""

    def __init__(
        self,
        board: Board,
        answers: Sequence[Answers],
        source: Source | None,
        place: int,
        point: Point,
    ) -> None:
        self.board, self.answers, self.source = board, answers, source
        self.place, self.point = place, point
        self.notes: list[str] = []

    def facts(self) -> Iterator[tuple[str, str]]:
        """What is known about the case and its change."""
        for name, facet in self.board.facets.items():
            code = facet.codes[self.place]
            if code >= 0:
                yield name, facet.labels[code]
        case = self._case()
        if case is not None:
            yield from (fact for fact in case.facts.items() if fact[0] not in UNREADABLE)

    def _case(self) -> Case | None:
        name = self.board.case_ids[self.place].as_py()
        cases = self.source.benchmark.cases if self.source else ()
        return next((case for case in cases if case.id == name), None)

    def questions(self) -> Iterator[Question]:
        """Those of the entry; of an exam, all about its picture, the entry's own first."""
        asked = self.board.items(self.place)
        for k, each in enumerate(asked):
            yield self._question(each, k, is_open=True)
        if isinstance(self.board, QuestionBoard):
            own = self.board.item(self.place)
            for item in self.board.items_asked:
                if item.case_id == own.case_id and item.id != own.id:
                    role = self.board.labels[item.id]
                    yield self._question(Asked(role, item.query, item.id), 0, is_open=False)

    def _question(self, asked: Asked, k: int, *, is_open: bool) -> Question:
        item = self.source.items.get(asked.item_id) if self.source else None
        said = tuple(self._said(asked, item, is_open=is_open))
        if item is None:
            return Question(
                role=asked.role, query=asked.words, item_id=asked.item_id, place=k, said=said
            )
        options: tuple[tuple[str, str, bool], ...] = ()
        truth = rubric = ""
        if item.answer is not None:
            wanted = expected(item)
            letters = zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", wanted.options, strict=False)
            options = tuple((a, text, a == wanted.reference) for a, text in letters)
            truth, rubric = "" if options else wanted.reference, wanted.rubric
        width, height = _drawn_size(item)
        regions = [item.target] if item.target else list(item.regions)
        return Question(
            role=asked.role,
            query=asked.words,
            item_id=item.id,
            place=k,
            pictures=tuple(Picture(n, width, height) for n in range(len(item.images))),
            target="".join(self._outline(region, item) for region in regions),
            present=None if self.board.kind == "questions" else item.present,
            options=options,
            truth=truth,
            rubric=rubric,
            open=is_open,
            said=said,
        )

    def _outline(self, region: Region, item: Item) -> str:
        return "" if region.mask is None else _path(region.mask, item)

    def _said(self, asked: Asked, item: Item | None, *, is_open: bool) -> Iterator[Said]:
        """Every run's answer; of an exam in every mode."""
        for run, answers in enumerate(self.answers):
            found = answers.to(asked.item_id) if asked.item_id else []
            if answers.problem:
                self.notes.append(f"Answers of {self.board.runs[run].name}: {answers.problem}")
            for prediction in sorted(
                found, key=lambda each: MODES.index(each.mode) if each.mode in MODES else 0
            ):
                yield self._one(run, asked, item, prediction, is_open=is_open)
            if not found:
                yield self._one(run, asked, item, None, is_open=is_open)

    def _one(
        self, run: int, asked: Asked, item: Item | None, answer: Prediction | None, *, is_open: bool
    ) -> Said:
        in_words = isinstance(self.board, QuestionBoard)
        if in_words and answer is not None:
            return self._in_words(run, item, answer)
        end, words, right = self._end(run, asked.role) if is_open else ("", "", None)
        t = self.board._resolved(run, self.point)[0]
        masks, more = _masks(answer, item, t) if item is not None else ((), 0)
        numbers = self.board.said(run, self.place).get(_side(self.board, asked.role), "")
        traced = answer is not None and trace_of(answer) is not None
        return Said(
            run=run,
            outcome=answer.outcome.value if answer else "",
            end=end,
            words=words,
            right=right,
            numbers=numbers,
            masks=masks,
            more_masks=more,
            text="" if traced or answer is None else answer.text[:MOST_LETTERS],
            reason=answer.reason if answer else "",
            judge=answer.judge if answer else "",
            judge_text=answer.judge_text[:MOST_LETTERS] if answer else "",
            seconds=answer.seconds if answer else 0.0,
            episode=traced,
        )

    def _end(self, run: int, role: str) -> tuple[str, str, bool | None]:
        """How a run ended in a question: label, in words, whether that is right."""
        side = _side(self.board, role)
        ends = self.board.ends(self.point)[run]
        if side not in ends or (code := int(ends[side][self.place])) < 0:
            return "", "", None
        label = self.board.sides[side][code]
        words = self.board.protocol.cells.get(label, "")
        return label, words, _RIGHT.get(label)

    def _in_words(self, run: int, item: Item | None, answer: Prediction) -> Said:
        case = self._case()
        causes = CAUSES.get(case.intervention, ()) if case else ()
        titles = dict(zip(LABELS, (title for title, _ in causes), strict=False))
        end = answer.verdict or answer.outcome.value
        cause = f"{answer.cause} {titles.get(answer.cause, '')}".strip() if answer.cause else ""
        return Said(
            run=run,
            mode=answer.mode,
            outcome=answer.outcome.value,
            end={"unparsed": "not read"}.get(end, end),
            right=_VERDICTS.get(end),
            text=answer.text[:MOST_LETTERS],
            reasoning=answer.reasoning[:MOST_LETTERS],
            reading=answer.parsed or "",
            reason=answer.reason,
            judge=answer.judge,
            judge_text=answer.judge_text[:MOST_LETTERS],
            cause=cause or ("no cause was named" if answer.cause_by else ""),
            cause_text=answer.cause_text[:MOST_LETTERS],
            seconds=answer.seconds,
        )


_RIGHT = {
    "TA-TP": True, "UA-P": False, "TA-FN": False, "UA-FN": False, "TA-FP": False, "UA-FP": False,
    "TN": True, "found": True, "rejected": True, "false alarm": False, "missed": False,
    "right": True, "wrong": False, "not read": False, "false premise accepted": False,
    "true premise rejected": False,
}  # fmt: skip
"""What ends mean; those that are not here mean nothing."""
_VERDICTS = {"right": True, "wrong": False, "unparsed": False}


def _side(board: Board, role: str) -> str:
    """The side of a question: its role, or the only one there is."""
    return role if role in board.sides else next(iter(board.sides), "")


def _masks(answer: Prediction | None, item: Item, t: float | None) -> tuple[tuple[Mask, ...], int]:
    """Outlines of an answer's masks, the surest first, and how many more there are."""
    if answer is None or answer.outcome is not Outcome.OK:
        return (), 0
    scores: list[float | None] = [*answer.scores]
    scores += [None] * (len(answer.masks) - len(scores))
    order = sorted(range(len(answer.masks)), key=lambda k: -(scores[k] or 0.0))
    drawn = []
    for k in order[:MOST_MASKS]:
        score = scores[k]
        accepted = score is None or t is None or score >= t
        path = _path(answer.masks[k], item)
        if path:
            drawn.append(Mask(path=path, score=score, accepted=accepted))
    return tuple(drawn), max(0, len(order) - MOST_MASKS)


def _path(mask: Rle, item: Item) -> str:
    width, height = _drawn_size(item)
    return outline(shrink(decode(mask), height, width))


def _drawn_size(item: Item) -> tuple[int, int]:
    """Width and height at which an item's outlines are made."""
    scale = min(1.0, DRAWN_PX / max(item.width_px, item.height_px, 1))
    return max(1, round(item.width_px * scale)), max(1, round(item.height_px * scale))


def _siblings(board: Board, place: int, point: Point) -> Iterator[Sibling]:
    """Entries of the same cluster, which were made from one picture: doses in their order; a
    question about an edited picture and about its twin."""
    if isinstance(board, QuestionBoard):
        places = board.twins(place)
    else:
        together = np.flatnonzero(board.cluster == board.cluster[place]).tolist()
        places = sorted(together, key=lambda k: _dose(board, k))
    if not 1 < len(places) <= MOST_SIBLINGS:
        return
    right: Any = None
    if board.criteria:
        right = board.right(point, next(iter(board.criteria)))
    for k, each in enumerate(places):
        yield Sibling(
            name=board.names[each].as_py(),
            label=TWINS[k] if isinstance(board, QuestionBoard) else _dose(board, each)[1],
            place=each,
            current=each == place,
            right=() if right is None else tuple(right[:, each].tolist()),
        )


def _dose(board: Board, place: int) -> tuple[float, str]:
    """The place of an entry on the strip, and what stands below it."""
    edit, dose = board.facets.get("intervention"), board.facets.get("dose")
    if edit is not None and edit.codes[place] >= 0 and edit.labels[edit.codes[place]] == "control":
        return -1.0, "unedited"
    if dose is None or dose.codes[place] < 0:
        return 1.0, ""
    label = dose.labels[dose.codes[place]]
    return float(label), f"dose {label}"
