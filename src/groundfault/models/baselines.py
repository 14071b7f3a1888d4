"""Models that calibrate any benchmark: what all knowledge, none, or mere habit scores.

`oracle` answers from the annotations. `blind` never looks at the picture: it answers every phrase
with the same central box and the score that the phrase's wording suggests. `always-yes` accepts
everything with the whole picture. `random` flips a seeded coin per item and draws a random box.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from groundfault.errors import UsageError
from groundfault.interfaces import ModelOptions
from groundfault.io.masks import encode
from groundfault.records import Item, Outcome, Prediction, Rle

__all__ = ["AlwaysYes", "Blind", "Oracle", "Random", "always_yes", "blind", "oracle", "random"]


class Oracle:
    """Answers from the annotations: the upper end of every scale."""

    def predict(self, items: Sequence[Item]) -> list[Prediction]:
        """One prediction per item."""
        predictions = []
        for item in items:
            masks = tuple(r.mask for r in item.regions if r.mask is not None and not r.crowd)
            outcome = Outcome.OK if masks else Outcome.ABSTAINED
            scores = (1.0,) * len(masks)
            predictions.append(
                Prediction(item_id=item.id, outcome=outcome, masks=masks, scores=scores)
            )
        return predictions


class AlwaysYes:
    """Accepts every phrase with the whole picture."""

    def predict(self, items: Sequence[Item]) -> list[Prediction]:
        """One prediction per item."""
        return [
            _answer(item, _box(item.height_px, item.width_px, 0.0, 0.0, 1.0, 1.0), 1.0)
            for item in items
        ]


class Blind:
    """Never looks at the picture: a central box, and a score made from the words alone.

    The same phrase always gets the same answer, so what it scores is what the wording of a
    benchmark gives away.
    """

    def predict(self, items: Sequence[Item]) -> list[Prediction]:
        """One prediction per item."""
        return [
            _answer(
                item,
                _box(item.height_px, item.width_px, 0.25, 0.25, 0.75, 0.75),
                _unit(item.query.casefold()),
            )
            for item in items
        ]


class Random:
    """A fair coin and a random box per item, from a seed."""

    def __init__(self, *, seed: int = 0) -> None:
        self.seed = seed

    def predict(self, items: Sequence[Item]) -> list[Prediction]:
        """One prediction per item; the same item and seed give the same answer."""
        predictions = []
        for item in items:
            entropy = int.from_bytes(hashlib.sha256(item.id.encode()).digest()[:8], "big")
            rng = np.random.default_rng([self.seed, entropy])
            if rng.random() < 0.5:
                predictions.append(Prediction(item_id=item.id, outcome=Outcome.ABSTAINED))
                continue
            x, y = np.sort(rng.random((2, 2)), axis=1)
            mask = _box(item.height_px, item.width_px, x[0], y[0], x[1], y[1])
            predictions.append(_answer(item, mask, float(rng.uniform(0.5, 1.0))))
        return predictions


def oracle(argument: str, options: ModelOptions) -> Oracle:
    """`oracle`"""
    _refuse("oracle", argument)
    return Oracle()


def always_yes(argument: str, options: ModelOptions) -> AlwaysYes:
    """`always-yes`"""
    _refuse("always-yes", argument)
    return AlwaysYes()


def blind(argument: str, options: ModelOptions) -> Blind:
    """`blind`"""
    _refuse("blind", argument)
    return Blind()


def random(argument: str, options: ModelOptions) -> Random:
    """`random`, or `random:7` with another seed."""
    try:
        return Random(seed=int(argument or 0))
    except ValueError:
        raise UsageError(f"random:{argument}: its argument is a seed, a whole number") from None


def _refuse(name: str, argument: str) -> None:
    if argument:
        raise UsageError(f"{name}:{argument}: {name} takes no argument")


def _answer(item: Item, mask: Rle, score: float) -> Prediction:
    return Prediction(item_id=item.id, outcome=Outcome.OK, masks=(mask,), scores=(score,))


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
