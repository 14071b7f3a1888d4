"""A model from outside groundfault: it segments the colour that a phrase names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from groundfault import Prediction, as_prediction
from groundfault.interfaces import ModelOptions

COLOURS = {"red": (200, 30, 30), "green": (40, 160, 40), "blue": (40, 60, 200)}


class ColourWords:
    """Pixels near a colour are the thing; the nearer, the higher the score."""

    def __init__(self, reach: float) -> None:
        self.reach = reach

    def segment(self, image: Any, phrases: Sequence[str]) -> list[Prediction]:
        pixels = image.astype(np.float32)  # once for all phrases
        return [self._find(pixels, phrase) for phrase in phrases]

    def _find(self, pixels: Any, phrase: str) -> Prediction:
        named = [colour for word, colour in COLOURS.items() if word in phrase.lower().split()]
        if not named:
            return as_prediction([], [])
        distance = np.linalg.norm(pixels - np.array(named[0], np.float32), axis=2)
        mask = distance < self.reach
        if not mask.any():
            return as_prediction([], [])
        score = 1 - float(distance[mask].mean()) / self.reach
        return as_prediction([mask], [score])


def load(argument: str, options: ModelOptions) -> ColourWords:
    """`--model colour-words` or `--model colour-words:120`."""
    return ColourWords(float(argument or 90))
