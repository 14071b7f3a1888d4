"""How questions are put to a model: what each type and each mode adds to the words."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from pathlib import Path

import msgspec

from groundfault.benchmarks.pope import Pope
from groundfault.benchmarks.reactbench import IMAGES, LETTERS, Exam, Question, read
from groundfault.io.foreign import within
from groundfault.llm.pictures import PictureCache
from groundfault.parsing.answers import Mode
from groundfault.records import Conversation, Message

__all__ = ["Asked", "Questionnaire", "exam_questions", "pope_questions", "prompt", "prompts_hash"]

FORMS = {
    "YN": "Answer with yes or no.",
    "SA": "Answer in one short sentence.",
    "MC": "Answer with the letter of one option.",
}
TWO_PICTURES = "The first picture comes before the second."
REASONING = (
    "You answer questions about pictures exactly. Look closely at everything shown, small things "
    "included. First reason step by step, in plain and factual words, about what is really there. "
    "Then give your final answer in a sentence of its own at the very end."
)


def prompt(question: Question, mode: Mode, n_pictures: int = 1) -> str:
    """The words that a model gets.

    >>> q = Question(id="q", sample_id="s", number=1, type="MC", dimension="direct",
    ...              text="What is on the table?", options=("a lamp", "nothing"), answer="B")
    >>> print(prompt(q, "std"))
    What is on the table?
    A. a lamp
    B. nothing
    Answer with the letter of one option.
    """
    return _prompt(question.text, question.type, question.options, mode, n_pictures)


def _prompt(text: str, kind: str, options: Sequence[str], mode: Mode, n_pictures: int = 1) -> str:
    lines = [REASONING, ""] if mode == "cot" else []
    if n_pictures > 1:
        lines.append(TWO_PICTURES)
    lines.append(text)
    lines += [f"{letter}. {option}" for letter, option in zip(LETTERS, options, strict=False)]
    form = FORMS[kind]
    lines.append(f"Your final answer: {form[0].lower()}{form[1:]}" if mode == "cot" else form)
    return "\n".join(lines)


def prompts_hash() -> str:
    """Of everything that prompts are made of: answers to other wordings are not mixed."""
    parts = [FORMS, TWO_PICTURES, REASONING]
    return hashlib.sha256(msgspec.json.encode(parts, order="deterministic")).hexdigest()


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One question in one mode."""

    item_id: str
    mode: Mode = "std"
    text: str
    """The whole prompt."""
    pictures: tuple[Path, ...] = ()
    """Shown before the words, in order."""
    question: str = ""
    """Without what a mode adds; it and the rest are for baselines and are not sent."""
    kind: str = ""
    """YN, SA or MC."""
    options: tuple[str, ...] = ()
    reference: str = ""
    """The right answer."""

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from all others of a run."""
        return self.item_id, self.mode

    def conversation(self, pictures: PictureCache) -> Conversation:
        """The question as a chat model gets it."""
        return (Message("user", (*map(pictures.load, self.pictures), self.text)),)


class Questionnaire(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a benchmark asks, and what a run notes about it."""

    benchmark: str
    folder: str
    content_hash: str
    modes: tuple[Mode, ...]
    n_items: int
    n_images: int
    asked: Callable[[], Iterator[Asked]]
    """Every question in every mode, made anew; those about one picture stand together."""


def exam_questions(
    folder: str | PathLike[str],
    modes: Sequence[Mode],
    *,
    limit: int | None = None,
    exam: Exam | None = None,
) -> Questionnaire:
    """Of an exam folder, or of its first samples; `exam` is what it holds, if that is known."""
    exam = exam or read(folder)
    samples = exam.samples[:limit]
    kept = {sample.id: sample for sample in samples}
    chosen = [question for question in exam.questions if question.sample_id in kept]
    images = Path(folder) / IMAGES

    def asked() -> Iterator[Asked]:
        for question in chosen:
            shown = tuple(images / name for name in kept[question.sample_id].images)
            for mode in modes:
                yield Asked(
                    item_id=question.id,
                    mode=mode,
                    text=prompt(question, mode, len(shown)),
                    pictures=shown,
                    question=question.text,
                    kind=question.type,
                    options=question.options,
                    reference=question.answer,
                )

    return Questionnaire(
        benchmark=exam.card.name,
        folder=str(folder),
        content_hash=exam.card.content_hash,
        modes=tuple(modes),
        n_items=len(chosen) * len(modes),
        n_images=sum(len(sample.images) for sample in samples),
        asked=asked,
    )


def pope_questions(
    pope: Pope,
    images: str | PathLike[str],
    modes: Sequence[Mode] = ("std",),
    *,
    limit: int | None = None,
) -> Questionnaire:
    """Of POPE, about the pictures in a folder."""
    chosen = sorted(pope.questions[:limit], key=lambda question: question.image)
    paths = {
        question.image: within(images, question.image, file="POPE", record=question.id)
        for question in chosen
    }

    def asked() -> Iterator[Asked]:
        for question in chosen:
            for mode in modes:
                yield Asked(
                    item_id=question.id,
                    mode=mode,
                    text=_prompt(question.text, "YN", (), mode),
                    pictures=(paths[question.image],),
                    question=question.text,
                    kind="YN",
                    reference=question.label,
                )

    return Questionnaire(
        benchmark=pope.card.name,
        folder=str(images),
        content_hash=pope.card.content_hash,
        modes=tuple(modes),
        n_items=len(chosen) * len(modes),
        n_images=len(paths),
        asked=asked,
    )
