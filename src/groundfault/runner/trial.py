"""A model is tried on one picture, and every rule that it breaks is listed: a run would tell only
the first one, a night later.

Broken rules cost answers in a run. Remarks are what is allowed and seldom meant: answers that
differ when a phrase is asked alone, scores beyond 0–1, an `ok` without a mask.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import numpy as np

from groundfault.errors import RAISED, GroundfaultError, described
from groundfault.interfaces import (
    AnySizes,
    Baseline,
    BatchSegmenter,
    ChatModel,
    Checkpointed,
    Closeable,
    Encoder,
    Identified,
    NamesFiles,
    PreferredBatch,
    Probeable,
    Segmenter,
)
from groundfault.io.answers import Broken, answers_of, prediction_of, reply_of
from groundfault.records import Conversation, Item, Message, Outcome, Prediction, Role
from groundfault.runner.probe import ProbeFailed, probe

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Image = NDArray[np.uint8]

__all__ = ["PHRASES", "Finding", "drawn_picture", "try_factory", "try_model"]

State = Literal["ok", "broken", "remark", "not tried"]
PHRASES = ("red square", "green disc", "zebra")
"""What the drawn picture is asked about; the last is not in it."""
SAME_SCORE = 1e-3
"""Scores that differ by less are the same: batches round otherwise."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What was found about one rule."""

    rule: str
    state: State
    told: str = ""
    """What is wrong, or was seen."""


def drawn_picture(height_px: int = 240, width_px: int = 320) -> Image:
    """A red square and a green disc on a light ground."""
    picture = np.full((height_px, width_px, 3), 225, np.uint8)
    rows, columns = np.mgrid[:height_px, :width_px]
    picture[height_px // 6 : height_px // 2, width_px // 8 : width_px // 8 + height_px // 3] = (
        200, 30, 30,
    )  # fmt: skip
    disc = (rows - 0.65 * height_px) ** 2 + (columns - 0.7 * width_px) ** 2
    picture[disc < (height_px / 5) ** 2] = 40, 160, 40
    return picture


def try_factory(factory: Any, argument: str, options: Any) -> Iterator[Finding]:
    """What a registered callable says besides: what predictions depend on, and which files."""
    if isinstance(factory, Identified):
        yield _finding("load.identity gives names and values", lambda: _identity(
            factory.identity(argument, options)
        ))  # fmt: skip
    if isinstance(factory, NamesFiles):
        yield _finding("load.named_files gives paths", lambda: _paths(
            factory.named_files(argument)
        ))  # fmt: skip


def try_model(model: Any, picture: Image, phrases: Sequence[str]) -> Iterator[Finding]:
    """Everything that can be seen on one picture; a rule that is broken does not hide others."""
    rule = "it has segment, complete or predict"
    if isinstance(model, Segmenter):
        yield Finding(rule=rule, state="ok", told="segment(image, phrases)")
        yield from _try_segmenter(model, picture, phrases)
    elif isinstance(model, ChatModel):
        yield Finding(rule=rule, state="ok", told="complete(conversations)")
        yield from _try_chat(model, picture)
    elif isinstance(model, Baseline):
        yield Finding(rule=rule, state="ok", told="predict(items, mode)")
        yield from _try_baseline(model, picture, phrases)
    else:
        yield Finding(rule=rule, state="broken", told=f"a {type(model).__name__} has none of them")
    if isinstance(model, Checkpointed):
        yield _finding("checkpoints is a tuple of words", lambda: _checkpoints(model.checkpoints))
    if isinstance(model, Closeable):
        yield _finding("close() can be called twice", lambda: _closed(model))


def _try_segmenter(model: Segmenter, picture: Image, phrases: Sequence[str]) -> Iterator[Finding]:
    before = picture.copy()
    first = _Try("segment", [picture], [phrases], lambda: [model.segment(picture, phrases)])
    yield from first.findings()
    changed = not np.array_equal(before, picture)
    told = "segment writes to the array that it is given" if changed else ""
    yield Finding(rule="the picture stays as it is", state="broken" if changed else "ok", told=told)
    picture[...] = before
    if first.answers is not None:
        yield from _remarks(first.answers[0])
        again = _Try("segment", [picture], [phrases], lambda: [model.segment(picture, phrases)])
        yield _alike("the same question has the same answer", first, again)
        alone = _Try(
            "segment",
            [picture] * len(phrases),
            [[phrase] for phrase in phrases],
            lambda: [model.segment(picture, [phrase]) for phrase in phrases],
        )
        yield _alike("a phrase asked alone has the same answer", first, alone)
    lying = np.ascontiguousarray(np.rot90(picture))
    other = _Try("segment", [lying], [phrases], lambda: [model.segment(lying, phrases)])
    yield other.summed("a picture of another shape")
    yield from _try_batch(model, picture, phrases, first)
    if isinstance(model, Probeable):
        yield _finding("frame_probe: squares come back where they were", lambda: _probed(model))


def _try_batch(
    model: Segmenter, picture: Image, phrases: Sequence[str], first: _Try
) -> Iterator[Finding]:
    """Several pictures at once, and pictures that are kept, for models that offer it."""
    if isinstance(model, BatchSegmenter):
        both = _Try(
            "segment_batch",
            [picture, picture],
            [phrases, phrases[:1]],
            lambda: model.segment_batch([picture, picture], [list(phrases), list(phrases[:1])]),
        )
        yield both.summed("segment_batch gives what segment gives")
        if both.answers is not None and first.answers is not None:
            yield _alike("a picture in a batch has the same answers", first, both)
        likes = model.images_at_once if isinstance(model, PreferredBatch) else 1
        sound = isinstance(likes, int) and likes > 0
        if not sound:
            told = f"images_at_once is {likes!r}, not a number from 1 on"
            yield Finding(rule="images_at_once", state="broken", told=told)
        if isinstance(model, AnySizes) and not isinstance(model.any_sizes, bool):
            told = f"any_sizes is {model.any_sizes!r}, not True or False"
            yield Finding(rule="any_sizes", state="broken", told=told)
    if isinstance(model, Encoder):
        kept = _Try(
            "segment_encoded",
            [picture],
            [phrases],
            lambda: model.segment_encoded(model.encode([picture]), [list(phrases)]),
        )
        yield kept.summed("encode and segment_encoded give what segment gives")
        if kept.answers is not None and first.answers is not None:
            yield _alike("an encoded picture has the same answers", first, kept)


class _Try:
    """One call of a model about pictures with phrases each, and what is wrong with its answers."""

    def __init__(
        self,
        method: str,
        pictures: Sequence[Image],
        phrases: Sequence[Sequence[str]],
        call: Callable[[], Any],
    ) -> None:
        self.method = method
        self.problems: list[str] = []
        """Of the call as a whole."""
        self.broken: dict[str, tuple[str, ...]] = {}
        """Phrase → the rules that its answer breaks."""
        self.answers: list[list[Prediction]] | None = None
        """All of them, where all are sound."""
        try:
            given = answers_of(call(), len(pictures), method=method, each="picture")
            found = [
                answers_of(each, len(asked), method=method)
                for each, asked in zip(given, phrases, strict=True)
            ]
        except Broken as problem:
            self.problems = list(problem.rules)
            return
        except RAISED as problem:  # whatever a model may raise
            self.problems = [described(problem)]
            return
        read = [
            [self._read(a, p, picture) for a, p in zip(answers, asked, strict=True)]
            for answers, asked, picture in zip(found, phrases, pictures, strict=True)
        ]
        if not self.broken:
            self.answers = [[each for each in answers if each] for answers in read]

    def _read(self, answer: Any, phrase: str, picture: Image) -> Prediction | None:
        try:
            return prediction_of(answer, _item(phrase, picture))
        except Broken as problem:
            self.broken[phrase] = problem.rules
            return None

    def findings(self) -> Iterator[Finding]:
        """One for the call, and one for every broken rule of every answer."""
        rule = f"{self.method} gives a list with one answer per phrase"
        for problem in self.problems:
            yield Finding(rule=rule, state="broken", told=problem)
        if self.problems:
            return
        yield Finding(rule=rule, state="ok")
        for phrase, rules in self.broken.items():
            for told in rules:
                yield Finding(rule=f"the answer to '{phrase}' is sound", state="broken", told=told)
        if not self.broken:
            yield Finding(rule="every answer is sound", state="ok", told=self._seen())

    def summed(self, rule: str) -> Finding:
        """All of it as one finding."""
        answers = [f"'{phrase}': {'; '.join(told)}" for phrase, told in self.broken.items()]
        problems = [*self.problems, *answers]
        if problems:
            return Finding(rule=rule, state="broken", told="; ".join(problems))
        return Finding(rule=rule, state="ok")

    def _seen(self) -> str:
        every = [each for answers in self.answers or () for each in answers]
        masks = sum(len(each.masks) for each in every)
        silent = sum(each.outcome is Outcome.ABSTAINED for each in every)
        return f"{len(every)} phrases: {masks} masks, {silent} abstentions"


def _alike(rule: str, first: _Try, second: _Try) -> Finding:
    """Whether two tries gave the same; a difference is a remark, as some models mean it."""
    if second.answers is None:
        return second.summed(rule)
    assert first.answers is not None
    pairs = zip(
        [each for answers in first.answers for each in answers],
        [each for answers in second.answers for each in answers],
        strict=False,  # a batch asks the second picture less
    )
    differences = [told for a, b in pairs if (told := _difference(a, b))]
    if not differences:
        return Finding(rule=rule, state="ok")
    return Finding(rule=rule, state="remark", told=differences[0])


def _difference(a: Prediction, b: Prediction) -> str:
    if a.outcome is not b.outcome or len(a.masks) != len(b.masks):
        return (
            f"'{a.item_id}': {a.outcome} with {len(a.masks)} masks, then {b.outcome} with "
            f"{len(b.masks)}"
        )
    for x, y in zip(sorted(a.scores), sorted(b.scores), strict=True):
        if not math.isclose(x, y, abs_tol=SAME_SCORE):
            return f"'{a.item_id}': a score of {x:.4f}, then {y:.4f}"
    return ""


def _remarks(answers: Sequence[Prediction]) -> Iterator[Finding]:
    for answer in answers:
        if answer.outcome is Outcome.OK and not answer.masks and not answer.boxes_xywh:
            told = f"'{answer.item_id}': ok, and no mask; who finds nothing says abstained"
            yield Finding(rule="what is not there is an abstention", state="remark", told=told)
            break
    beyond = [score for answer in answers for score in answer.scores if not 0 <= score <= 1]
    if beyond:
        told = f"a score of {beyond[0]:.4g}: choose t on the same scale, or calibrate"
        yield Finding(rule="scores are in 0–1", state="remark", told=told)


def _try_chat(model: ChatModel, picture: Image) -> Iterator[Finding]:
    asked = [_conversation(picture, words) for words in ("Is there a red square?", "What is it?")]
    rule = "complete gives a list with one reply per conversation"
    try:
        found = answers_of(
            model.complete(asked), len(asked), method="complete", each="conversation"
        )
    except Broken as problem:
        yield Finding(rule=rule, state="broken", told="; ".join(problem.rules))
        return
    except RAISED as problem:  # whatever a model may raise
        yield Finding(rule=rule, state="broken", told=described(problem))
        return
    yield Finding(rule=rule, state="ok")
    for k, answer in enumerate(found, start=1):
        try:
            reply = reply_of(answer)
            told = f"{reply.outcome}: {reply.text[:60]!r}"
            yield Finding(rule=f"reply {k} is sound", state="ok", told=told)
        except Broken as problem:
            for each in problem.rules:
                yield Finding(rule=f"reply {k} is sound", state="broken", told=each)


def _try_baseline(model: Baseline, picture: Image, phrases: Sequence[str]) -> Iterator[Finding]:
    items = [_item(phrase, picture) for phrase in phrases]
    tried = _Try("predict", [picture], [phrases], lambda: [model.predict(items)])
    yield from tried.findings()


def _item(phrase: str, picture: Image) -> Item:
    """A question about the picture; its id is the phrase."""
    height_px, width_px = picture.shape[:2]
    return Item(
        id=phrase,
        case_id="trial",
        role=Role.POSITIVE,
        images=("trial.png",),
        height_px=height_px,
        width_px=width_px,
        query=phrase,
    )


def _conversation(picture: Image, words: str) -> Conversation:
    import io

    from PIL import Image

    from groundfault.llm.pictures import make_picture

    content = io.BytesIO()
    Image.fromarray(picture).save(content, "PNG")
    return (Message("user", (make_picture("image/png", content.getvalue()), words)),)


def _finding(rule: str, check: Callable[[], str]) -> Finding:
    """What a check tells; what it raises is a broken rule."""
    try:
        return Finding(rule=rule, state="ok", told=check())
    except (Broken, GroundfaultError, ProbeFailed) as problem:
        told = "; ".join(problem.rules) if isinstance(problem, Broken) else str(problem)
    except RAISED as problem:  # whatever a model may raise
        told = described(problem)
    return Finding(rule=rule, state="broken", told=told)


def _identity(found: Any) -> str:
    if not isinstance(found, Mapping) or not all(isinstance(name, str) for name in found):
        raise Broken([f"a {type(found).__name__}, not a dict of names and values"])
    return ", ".join(found)


def _paths(found: Any) -> str:
    if isinstance(found, (str, bytes)) or not isinstance(found, Sequence):
        raise Broken([f"a {type(found).__name__}, not a list of paths"])
    wrong = [each for each in found if not isinstance(each, (str, PathLike))]
    if wrong:
        raise Broken([f"{wrong[0]!r} is no path"])
    return ", ".join(Path(each).name for each in found)


def _checkpoints(found: Any) -> str:
    if not isinstance(found, (tuple, list)) or not all(isinstance(each, str) for each in found):
        raise Broken([f"{found!r} is no tuple of words"])
    return ", ".join(found)


def _closed(model: Closeable) -> str:
    model.close()
    model.close()
    return ""


def _probed(model: object) -> str:
    return probe(model)
