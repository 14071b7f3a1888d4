"""Models of an imagined third party, importable in worker processes and by the command line.

A picture carries its number in the red and green of its first pixel. Every question is noted in
the file $ENGINE_LOG: process, number of the picture, phrases. A process that was asked
$ENGINE_MOST times waits to be killed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from groundfault.interfaces import Edited, EditRequest, ModelOptions
from groundfault.io.masks import encode
from groundfault.records import Outcome, Prediction


def number_of(image: Any) -> int:
    return int(image[0, 0, 0]) + 256 * int(image[0, 0, 1])


def note(image: Any, phrases: Sequence[str]) -> None:
    if "ENGINE_LOG" in os.environ:
        line = f"{os.getpid()} {number_of(image)} {','.join(phrases)}\n"
        place = os.open(os.environ["ENGINE_LOG"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(place, line.encode())
        os.close(place)


class Finder:
    """Finds what is bright blue, with a score made from the picture's number."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds
        self.left = int(os.environ.get("ENGINE_MOST", "1000000"))

    def segment(self, image: Any, phrases: Sequence[str]) -> list[Prediction]:
        note(image, phrases)
        self.left -= 1
        time.sleep(self.seconds if self.left else 3600)
        return [self.found(image, phrase) for phrase in phrases]

    def found(self, image: Any, phrase: str) -> Prediction:
        number = number_of(image)
        if phrase == "green" and number % 3:
            return Prediction(item_id="", outcome=Outcome.ABSTAINED)
        mask = encode(np.asarray(image[..., 2] > 128))
        score = 0.3 + (number * 37 + len(phrase)) % 100 / 150
        return Prediction(item_id="", outcome=Outcome.OK, masks=(mask,), scores=(score,))


class Fragile(Finder):
    """Ends its process on pictures whose number is given."""

    def __init__(self, deadly: str) -> None:
        super().__init__()
        self.deadly = set(map(int, deadly.split(",")))

    def segment(self, image: Any, phrases: Sequence[str]) -> list[Prediction]:
        note(image, phrases)
        if number_of(image) in self.deadly:
            os._exit(9)
        return [self.found(image, phrase) for phrase in phrases]


class Askew(Finder):
    """Puts what it finds into the wrong place."""

    def frame_probe(self, image: Any) -> Any:
        return np.asarray(image[::-1, :, 0] > 128)


class Busy(Finder):
    """Keeps a core busy."""

    def segment(self, image: Any, phrases: Sequence[str]) -> list[Prediction]:
        end = time.process_time() + self.seconds
        while time.process_time() < end:
            pass
        return [self.found(image, phrase) for phrase in phrases]


def finder(argument: str, options: ModelOptions) -> Finder:
    return Finder(float(argument or 0))


def fragile(argument: str, options: ModelOptions) -> Fragile:
    return Fragile(argument)


def askew(argument: str, options: ModelOptions) -> Askew:
    return Askew()


def busy(argument: str, options: ModelOptions) -> Busy:
    return Busy(float(argument or 0))


class Invert:
    """An editor that turns colours round, and notes which process did it."""

    def edit(self, image: Any, region: Any, instruction: str) -> Any:
        return np.where(region[..., None], 255 - image, image).astype(np.uint8)

    def perform(self, image: Any, region: Any, request: EditRequest) -> Edited:
        note(image, [request.kind])
        where = ~region if request.kind == "context" else region
        return Edited(image=self.edit(image, where, ""), touched=where)


def invert(argument: str, options: ModelOptions) -> Invert:
    return Invert()
