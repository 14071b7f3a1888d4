"""The prompt set: how questions are put to a model, and what each type and each mode adds."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from string import ascii_uppercase

import msgspec

from groundfault.errors import UsageError
from groundfault.io.foreign import within
from groundfault.records import Conversation, Item, Message, Mode, Picture

__all__ = [
    "OURS",
    "THINKING_TOKENS",
    "USUAL_TOKENS",
    "Prompts",
    "conversation",
    "prompt",
    "prompts_hash",
]

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
USUAL_TOKENS = {"std": 30, "cot": 300}
"""Tokens of a usual answer, by mode."""
THINKING_TOKENS = 1500
"""The same of a model that thinks, in any mode."""


class Prompts(msgspec.Struct, frozen=True):
    """What of the prompt set may be chosen."""

    system: str = ""
    """A system message before each question; "" for none."""
    reasoning: str = REASONING
    """The request to reason, before the question in `cot` mode."""


OURS = Prompts()


def prompt(item: Item, mode: Mode, prompts: Prompts = OURS) -> str:
    """The words that a model gets.

    >>> from groundfault.records import Answer, Role
    >>> answer = Answer(type="MC", reference="B", options=("a lamp", "nothing"))
    >>> print(prompt(Item(id="q", case_id="s", role=Role.QUESTION, images=("1.png",), height_px=1,
    ...     width_px=1, query="What is on the table?", answer=answer), "std"))
    What is on the table?
    A. a lamp
    B. nothing
    Answer with the letter of one option.
    """
    if item.answer is None:
        raise UsageError(f"item '{item.id}' asks for masks; nobody is asked for it in words")
    lines = [prompts.reasoning, ""] if mode == "cot" else []
    if len(item.images) > 1:
        lines.append(TWO_PICTURES)
    lines.append(item.query)
    options: Sequence[str] = item.answer.options
    lines += [f"{letter}. {option}" for letter, option in zip(ascii_uppercase, options)]  # noqa: B905
    form = FORMS[item.answer.type]
    lines.append(f"Your final answer: {form[0].lower()}{form[1:]}" if mode == "cot" else form)
    return "\n".join(lines)


def conversation(
    item: Item,
    mode: Mode,
    images: Path,
    load: Callable[[Path], Picture],
    prompts: Prompts = OURS,
) -> Conversation:
    """What a model is shown and told: the pictures first, then the words."""
    record = f"item {item.id}"
    pictures = (
        load(within(images, name, file="the benchmark", record=record)) for name in item.images
    )
    user = Message("user", (*pictures, prompt(item, mode, prompts)))
    return (Message("system", (prompts.system,)), user) if prompts.system else (user,)


def prompts_hash(prompts: Prompts = OURS) -> str:
    """Of everything that prompts are made of: answers to other wordings are not mixed."""
    parts: list[object] = [FORMS, TWO_PICTURES, prompts.reasoning]
    if prompts.system:
        parts.append(prompts.system)
    return hashlib.sha256(msgspec.json.encode(parts, order="deterministic")).hexdigest()
