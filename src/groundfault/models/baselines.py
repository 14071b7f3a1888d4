"""Models that calibrate any benchmark: what all knowledge, none, or mere habit scores, in masks and
in words.

`oracle` answers from the annotations. `blind` never looks at the picture: it answers every phrase
with the same central box and the score that the phrase's wording suggests, and every question from
its words alone; `blind:SPEC` is any other chat model, shown no picture. `always-yes` accepts
everything with the whole picture, says yes to every question and takes the first option. `random`
flips a seeded coin per item and draws a random box, or guesses.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from string import ascii_uppercase
from typing import Any

import numpy as np

from groundfault.errors import UsageError
from groundfault.interfaces import ModelOptions
from groundfault.io.masks import encode
from groundfault.records import Answer, Item, Mode, Outcome, Prediction, Rle, Role

__all__ = ["AlwaysYes", "Blind", "Oracle", "Random", "always_yes", "blind", "oracle", "random"]


class Oracle:
    """Answers from the annotations: the upper end of every scale."""

    def predict(self, items: Sequence[Item], mode: Mode = "") -> list[Prediction]:
        """One prediction per item."""
        predictions = []
        for item in items:
            if (answer := _asked_in_words(item)) is not None:
                reference = answer.reference
                stop = "" if reference.endswith((".", "!", "?")) else "."
                predictions.append(_words(item, mode, f"{reference.capitalize()}{stop}"))
                continue
            masks = tuple(r.mask for r in item.regions if r.mask is not None and not r.crowd)
            outcome = Outcome.OK if masks else Outcome.ABSTAINED
            scores = (1.0,) * len(masks)
            text = ""
            if item.answer is not None:  # a false description
                text = f"There is no such thing. There is: {item.answer.reference}"
            predictions.append(
                Prediction(item_id=item.id, outcome=outcome, masks=masks, scores=scores, text=text)
            )
        return predictions


def _asked_in_words(item: Item) -> Answer | None:
    """What a question expects; None of an item that asks for masks."""
    return item.answer if item.role is Role.QUESTION else None


class AlwaysYes:
    """Accepts every phrase with the whole picture, and agrees with every question."""

    def predict(self, items: Sequence[Item], mode: Mode = "") -> list[Prediction]:
        """One prediction per item."""
        return [
            _words(item, mode, "A." if answer.type == "MC" else "Yes.")
            if (answer := _asked_in_words(item)) is not None
            else _mask(item, _box(item.height_px, item.width_px, 0.0, 0.0, 1.0, 1.0), 1.0)
            for item in items
        ]


class Blind:
    """Never looks at the picture: a central box, and a score made from the words alone.

    The same phrase always gets the same answer, so what it scores is what the wording of a
    benchmark gives away.
    """

    def predict(self, items: Sequence[Item], mode: Mode = "") -> list[Prediction]:
        """One prediction per item."""
        return [
            _words(item, mode, _guess(item, answer, _number(item.query)))
            if (answer := _asked_in_words(item)) is not None
            else _mask(
                item,
                _box(item.height_px, item.width_px, 0.25, 0.25, 0.75, 0.75),
                _unit(item.query.casefold()),
            )
            for item in items
        ]


class Random:
    """A fair coin and a random box per item, or a guess, from a seed."""

    def __init__(self, *, seed: int = 0) -> None:
        self.seed = seed

    def predict(self, items: Sequence[Item], mode: Mode = "") -> list[Prediction]:
        """One prediction per item; the same item and seed give the same answer."""
        predictions = []
        for item in items:
            if (answer := _asked_in_words(item)) is not None:
                number = _number(f"{self.seed} {item.id} {mode}")
                predictions.append(_words(item, mode, _guess(item, answer, number)))
                continue
            entropy = int.from_bytes(hashlib.sha256(item.id.encode()).digest()[:8], "big")
            rng = np.random.default_rng([self.seed, entropy])
            if rng.random() < 0.5:
                predictions.append(Prediction(item_id=item.id, outcome=Outcome.ABSTAINED))
                continue
            x, y = np.sort(rng.random((2, 2)), axis=1)
            mask = _box(item.height_px, item.width_px, x[0], y[0], x[1], y[1])
            predictions.append(_mask(item, mask, float(rng.uniform(0.5, 1.0))))
        return predictions


def oracle(argument: str, options: ModelOptions) -> Oracle:
    """`oracle`"""
    _refuse("oracle", argument)
    return Oracle()


def always_yes(argument: str, options: ModelOptions) -> AlwaysYes:
    """`always-yes`"""
    _refuse("always-yes", argument)
    return AlwaysYes()


def blind(argument: str, options: ModelOptions) -> Any:
    """`blind`, or `blind:SPEC` for a chat model that is shown no picture."""
    if not argument:
        return Blind()
    from groundfault.llm import loading
    from groundfault.llm.server import ChatOptions

    if not isinstance(options, ChatOptions):
        raise UsageError(
            f"blind:{argument}: answers questions in words; for masks give blind alone"
        )
    return loading.blind(argument, options)


def random(argument: str, options: ModelOptions) -> Random:
    """`random`, or `random:7` with another seed."""
    try:
        return Random(seed=int(argument or 0))
    except ValueError:
        raise UsageError(f"random:{argument}: its argument is a seed, a whole number") from None


def _refuse(name: str, argument: str) -> None:
    if argument:
        raise UsageError(f"{name}:{argument}: {name} takes no argument")


def _mask(item: Item, mask: Rle, score: float) -> Prediction:
    return Prediction(item_id=item.id, outcome=Outcome.OK, masks=(mask,), scores=(score,))


def _words(item: Item, mode: Mode, text: str) -> Prediction:
    return Prediction(
        item_id=item.id, mode=mode, outcome=Outcome.OK, text=text, finish="stop", cost=0.0
    )


_COUNTS = re.compile(r"\b(?:number of|how many|count)\b", re.IGNORECASE)
_RANGE = re.compile(r"\brange\b", re.IGNORECASE)


def _guess(item: Item, wanted: Answer, number: int) -> str:
    """An answer of the wanted kind, chosen by a number."""
    if wanted.type == "YN":
        return "Yes." if number % 2 else "No."
    if wanted.type == "MC":
        return f"{ascii_uppercase[number % len(wanted.options)]}."
    if not _COUNTS.search(item.query):
        return "It is as usual."
    low = 1 + number % 50
    return f"{low}-{low + 5}." if _RANGE.search(item.query) else f"{low}."


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def _unit(text: str) -> float:
    """A number in 0–1 that only depends on the text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") / 2**32


def _box(
    height_px: int, width_px: int, left: float, top: float, right: float, bottom: float
) -> Rle:
    """A box given in parts of the picture."""
    pixels = np.zeros((height_px, width_px), bool)
    rows = slice(int(top * height_px), max(int(top * height_px) + 1, round(bottom * height_px)))
    columns = slice(int(left * width_px), max(int(left * width_px) + 1, round(right * width_px)))
    pixels[rows, columns] = True
    return encode(pixels)
