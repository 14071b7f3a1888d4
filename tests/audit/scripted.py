"""Models whose every answer is known, and pictures that they know by their colour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from groundfault.io.masks import as_prediction
from groundfault.records import Prediction

SIDE = 64
Marks = Sequence[tuple[int, int, float]]
"""First and last column of each mask, and its score."""
Script = Mapping[tuple[int, str], Marks]

SCRIPT: Script = {
    (0, "a"): [(0, 32, 0.9)],
    (0, "b"): [(0, 32, 0.8)],
    (1, "a"): [(0, 32, 0.9)],
    (1, "b"): [(32, 64, 0.9)],
    (2, "a"): [(0, 32, 0.9)],
    (2, "b"): [(0, 32, 0.4)],
    (0, "z"): [(0, 64, 0.6)],
    (3, "z"): [(0, 8, 0.5)],
    (0, "s1"): [(0, 32, 0.9)],
    (0, "s2"): [(0, 16, 0.7), (16, 32, 0.7)],
    (1, "s1"): [(0, 32, 0.9)],
    (1, "s2"): [(0, 16, 0.9)],
    (2, "s1"): [(0, 32, 0.9)],
    (0, "p"): [(0, 16, 0.9)],
    (0, "w"): [(0, 32, 0.9)],
    (1, "p"): [(16, 48, 0.9)],
    (1, "w"): [(0, 32, 0.9)],
    (2, "p"): [(0, 32, 0.9)],
    (3, "w"): [(0, 32, 0.9)],
}
PHRASES: dict[str, Any] = {
    "exclusive": [["a", "b"]],
    "absent": ["z"],
    "same": [["s1", "s2"]],
    "part_of": [["p", "w"]],
}
"""What SCRIPT is about; docs of each number stand in test_rates.py."""


def picture(number: int) -> np.ndarray:
    """A plain picture whose colour is its number."""
    return np.full((SIDE, SIDE, 3), (number, 200, 100), np.uint8)


def write_pictures(folder: Path, numbers: Sequence[int] = (0, 1, 2, 3)) -> Path:
    """The pictures as files, without loss."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in numbers:
        Image.fromarray(picture(number)).save(folder / f"{number}.png")
    return folder


def columns(first: int, last: int, height: int = SIDE, width: int = SIDE) -> np.ndarray:
    mask = np.zeros((height, width), bool)
    mask[:, first:last] = True
    return mask


class Scripted:
    """Answers as its script says, and counts how often each picture is shown."""

    def __init__(self, script: Script = SCRIPT) -> None:
        self.script = script
        self.shown: list[int] = []

    def segment(self, image: np.ndarray, phrases: Sequence[str]) -> list[Prediction]:
        number = int(image[0, 0, 0])
        self.shown.append(number)
        return [self.answer(number, phrase) for phrase in phrases]

    def answer(self, number: int, phrase: str) -> Prediction:
        marks = self.script.get((number, phrase), ())
        return as_prediction(
            [columns(first, last) for first, last, _ in marks], [score for *_, score in marks]
        )


class FindsBright:
    """Marks what is bright, whatever it is called, except for phrases that it does not know."""

    def __init__(self, unknown: Sequence[str] = (), threshold: int = 128) -> None:
        self.unknown, self.threshold = unknown, threshold
        self.n_shown = 0

    def segment(self, image: np.ndarray, phrases: Sequence[str]) -> list[Prediction]:
        self.n_shown += 1
        bright = image.mean(axis=2) > self.threshold
        found = as_prediction([bright] if bright.any() else [], [0.9] if bright.any() else [])
        nothing = as_prediction([], [])
        return [nothing if phrase in self.unknown else found for phrase in phrases]
