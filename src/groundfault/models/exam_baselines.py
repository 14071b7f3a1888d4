"""Answerers without a model: they calibrate an exam.

oracle        the reference answers: the upper end of every scale
always-yes    yes to everything, the first option
blind         from the words of a question alone; what it scores is what the wording gives away
blind:SPEC    any other answerer, shown no picture
random:SEED   a coin, a die
replay:RUN    the answers of an earlier run
replay:FILE   answers from elsewhere, as JSON lines: {"item_id": …, "mode": …, "text": …}
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from groundfault.errors import DataError, UsageError
from groundfault.interfaces import ChatModel
from groundfault.io.store import read_table
from groundfault.llm import loading
from groundfault.llm.server import ChatOptions, Server, make_reply
from groundfault.parsing.answers import Answered
from groundfault.records import Outcome, Reply

if TYPE_CHECKING:
    from groundfault.runner.prompts import Asked

__all__ = ["Replayed", "Spoken", "always_yes", "blind", "oracle", "random", "replay"]

LETTERS = "ABCDEFGH"
_COUNTS = re.compile(r"\b(?:number of|how many|count)\b", re.IGNORECASE)
_RANGE = re.compile(r"\brange\b", re.IGNORECASE)


class Spoken:
    """Answers each question on its own, by a rule."""

    def __init__(self, rule: Callable[[Asked], str]) -> None:
        self.rule = rule

    def answer(self, asked: Sequence[Asked]) -> list[Reply]:
        """One reply per question."""
        return [make_reply(self.rule(one), "stop", tokens_in=0, tokens_out=0) for one in asked]


def oracle(argument: str, options: ChatOptions) -> Spoken:
    """`oracle`"""
    _refuse("oracle", argument)
    return Spoken(lambda asked: asked.reference.capitalize() + _stop(asked.reference))


def always_yes(argument: str, options: ChatOptions) -> Spoken:
    """`always-yes`"""
    _refuse("always-yes", argument)
    return Spoken(lambda asked: "A." if asked.kind == "MC" else "Yes.")


def blind(argument: str, options: ChatOptions) -> Spoken | ChatModel | Server:
    """`blind`, or `blind:SPEC` for another answerer without pictures."""
    if argument:
        made: ChatModel | Server = loading.blind(argument, options)
        return made
    return Spoken(lambda asked: _guess(asked, _number(asked.question or asked.text)))


def random(argument: str, options: ChatOptions) -> Spoken:
    """`random`, or `random:7` with another seed."""
    try:
        seed = int(argument or 0)
    except ValueError:
        raise UsageError(f"random:{argument}: its argument is a seed, a whole number") from None
    return Spoken(lambda asked: _guess(asked, _number(f"{seed} {asked.item_id} {asked.mode}")))


def replay(argument: str, options: ChatOptions) -> Replayed:
    """The answers that a run or a file holds."""
    if not argument:
        raise UsageError("replay: name the answers, as in replay:RUN or replay:answers.jsonl")
    path = Path(argument)
    return Replayed(dict(_from_run(path) if path.is_dir() else _from_lines(path)))


class Replayed:
    """Answers that were given before, by item and mode; mode "" stands for every mode."""

    def __init__(self, replies: Mapping[tuple[str, str], Reply]) -> None:
        self.replies = replies

    def answer(self, asked: Sequence[Asked]) -> list[Reply]:
        """One reply per question; what was not asked before has failed."""
        missing = Reply(outcome=Outcome.FAILED, reason="the earlier answers have none to it")
        return [
            self.replies.get(one.key) or self.replies.get((one.item_id, "")) or missing
            for one in asked
        ]


class _Line(msgspec.Struct):
    item_id: str
    text: str
    mode: str = ""
    finish: str = ""


def _from_run(folder: Path) -> Iterator[tuple[tuple[str, str], Reply]]:
    shards = sorted(folder.glob("answers-*.parquet"))
    if not shards:
        raise UsageError(f"replay:{folder}: holds no answers-*.parquet of a run")
    for shard in shards:
        for row in read_table(shard).to_pylist():
            answer = msgspec.convert(row, Answered)
            yield (
                (answer.item_id, answer.mode),
                Reply(
                    outcome=answer.outcome,
                    text=answer.text,
                    reason=answer.reason,
                    finish=answer.finish,
                    tokens_in=answer.tokens_in,
                    tokens_out=answer.tokens_out,
                ),
            )


def _from_lines(path: Path) -> Iterator[tuple[tuple[str, str], Reply]]:
    try:
        content = path.read_bytes()
    except OSError as problem:
        raise UsageError(f"replay:{path}: cannot be read ({problem.strerror})") from None
    for number, line in enumerate(content.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            found = msgspec.json.decode(line, type=_Line)
        except (msgspec.DecodeError, UnicodeDecodeError) as problem:
            raise DataError(
                path,
                f"not an answer ({problem})",
                record=f"line {number}",
                remedy='give JSON lines with "item_id" and "text"',
            ) from None
        reply = make_reply(found.text, found.finish, tokens_in=None, tokens_out=None)
        yield (found.item_id, found.mode), reply


def _guess(asked: Asked, number: int) -> str:
    """An answer of the asked kind, chosen by a number."""
    if asked.kind == "YN":
        return "Yes." if number % 2 else "No."
    if asked.kind == "MC":
        return f"{LETTERS[number % len(asked.options)]}."
    if not _COUNTS.search(asked.question or asked.text):
        return "It is as usual."
    low = 1 + number % 50
    return f"{low}-{low + 5}." if _RANGE.search(asked.question or asked.text) else f"{low}."


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def _stop(text: str) -> str:
    return "" if text.endswith((".", "!", "?")) else "."


def _refuse(name: str, argument: str) -> None:
    if argument:
        raise UsageError(f"{name}:{argument}: {name} takes no argument")
