"""One function for whoever has answers of their own: what does this text say?

What is parsed is what the answer says, never what it should say; the truth is not an argument. What
cannot be told for sure (a refusal, two answers, a maybe) is None, with the reason why.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from groundfault.errors import UnknownName, UsageError
from groundfault.parsing.choices import parse_choice
from groundfault.parsing.numbers import parse_number, parse_range
from groundfault.parsing.passages import passage
from groundfault.parsing.wording import is_refusal
from groundfault.parsing.yes_no import parse_yes_no, parse_yes_no_as_pope

__all__ = ["Kind", "ParsedAnswer", "parse_answer"]

Kind = Literal["yes_no", "choice", "number", "range"]
KINDS: tuple[Kind, ...] = ("yes_no", "choice", "number", "range")
Reader = Literal["rules", "pope"]
READERS: tuple[Reader, ...] = ("rules", "pope")
MOST_OPTIONS = 26
"""As many as there are letters."""


class ParsedAnswer(msgspec.Struct, frozen=True):
    """What an answer says."""

    value: bool | str | int | tuple[int, int] | None
    """True or False, a letter, a number, (lowest, highest); None if it cannot be told."""
    why: str = ""
    """Why there is no value."""
    passage: str = ""
    """The words that were parsed."""


def parse_answer(
    text: str,
    kind: Kind,
    *,
    question: str = "",
    options: Sequence[str] = (),
    reasoning: bool = False,
    reader: Reader = "rules",
) -> ParsedAnswer:
    """Parse an answer in words.

    `question` is what a yes/no question asks: "There is a dog." is a yes to "Is there a dog?", a no
    to "Is there no dog?" and says nothing about a cat. Of "3 plates and 5 cups" it tells which
    number was asked for.
    `options` are those of a choice, A being the first.
    `reasoning` says that the model was told to reason first and to answer in its last sentence.
    The `reader` "pope" is the rule of POPE's own script instead: a yes unless the first sentence
    has the word no or not.

    >>> parse_answer("Yes, there is.", "yes_no").value
    True
    >>> parse_answer("I count them. So there are 21.", "number", reasoning=True).value
    21
    >>> parse_answer("It may be either.", "choice", options=("red", "blue")).why
    'says nothing that can be read as one of the options'
    """
    if kind not in KINDS:
        raise UnknownName("kind of answer", kind, KINDS)
    if kind == "choice" and not 2 <= len(options) <= MOST_OPTIONS:
        raise UsageError(f"a choice has 2 to {MOST_OPTIONS} options; give them with options=(…)")
    if reader not in READERS:
        raise UnknownName("reader", reader, READERS)
    if reader == "pope":
        if kind != "yes_no":
            raise UsageError("POPE's rule reads yes or no; leave reader=… out")
        return ParsedAnswer(parse_yes_no_as_pope(text) == "yes", passage=text.partition(".")[0])
    said = passage(text, "cot" if reasoning else "std")
    value = _value(said, kind, question, options)
    return ParsedAnswer(value, "" if value is not None else _why_not(text, said, kind), said)


def _value(
    said: str, kind: Kind, question: str, options: Sequence[str]
) -> bool | str | int | tuple[int, int] | None:
    if kind == "yes_no":
        found = parse_yes_no(said, question=question)
        return None if found is None else found == "yes"
    if kind == "choice":
        return parse_choice(said, options)
    if kind == "number":
        return parse_number(said, question=question)
    return parse_range(said)


def _why_not(text: str, said: str, kind: Kind) -> str:
    if not text.strip():
        return "empty answer"
    if not said:
        return "no answer after its reasoning"
    if is_refusal(said):
        return "a refusal"
    wanted = {"yes_no": "yes or no", "choice": "one of the options", "number": "one number"}
    return f"says nothing that can be read as {wanted.get(kind, 'one range')}"
