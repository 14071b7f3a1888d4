"""What the tests of the agent share: small images, segmenters and scripts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundfault.io.masks import encode
from groundfault.models.agent import Agent, Episode, Scene, Scripted, Settings, View
from groundfault.models.agent.scripted import call
from groundfault.records import Outcome, Prediction, Reply

SIDE_PX = 96

SEGMENT = call("segment_phrase", text_prompt="tiger")
EXAMINE = call("examine_masks", mask_indices=[1])
SELECT = call("select_masks_and_return", final_answer_masks=[1])
REPORT = call("report_no_mask")


def picture(seed: int = 0, side_px: int = SIDE_PX) -> NDArray[np.uint8]:
    """A smooth coloured image."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(30, 220, (4, 4, 3), np.uint8)
    return np.kron(coarse, np.ones((side_px // 4, side_px // 4, 1), np.uint8)).astype(np.uint8)


def squares(n: int, side_px: int = SIDE_PX) -> list[NDArray[np.bool_]]:
    """n squares that do not touch."""
    across = int(np.ceil(np.sqrt(n)))
    cell = side_px // across
    masks = []
    for index in range(n):
        row, column = divmod(index, across)
        mask = np.zeros((side_px, side_px), bool)
        top, left = row * cell + cell // 8, column * cell + cell // 8
        mask[top : top + cell * 3 // 4, left : left + cell * 3 // 4] = True
        masks.append(mask)
    return masks


def found(n: int, side_px: int = SIDE_PX) -> Prediction:
    """A segmenter's answer with n masks of falling score."""
    return Prediction(
        item_id="",
        outcome=Outcome.OK if n else Outcome.ABSTAINED,
        masks=tuple(encode(mask) for mask in squares(n, side_px)) if n else (),
        scores=tuple(0.99 - 0.005 * index for index in range(n)),
    )


class Squares:
    """Finds n squares for a phrase that ends in n ("posts 3"), else one. Counts what it does."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, ...]] = []

    def segment(self, image: NDArray[np.uint8], phrases: Sequence[str]) -> list[Prediction]:
        self.calls.append(tuple(phrases))
        return [self.one(phrase, image.shape[0]) for phrase in phrases]

    def one(self, phrase: str, side_px: int) -> Prediction:
        last = phrase.split()[-1]
        return found(int(last) if last.isdigit() else 1, side_px)


class EncodingSquares(Squares):
    """The same, with encodings that can be kept."""

    def __init__(self) -> None:
        super().__init__()
        self.encodes: list[int] = []
        """How many images in each call."""

    def encode(self, images: Sequence[NDArray[np.uint8]]) -> list[Any]:
        self.encodes.append(len(images))
        return [image.shape[0] for image in images]

    def segment_encoded(
        self, encoded: Sequence[Any], phrases: Sequence[Sequence[str]]
    ) -> list[list[Prediction]]:
        self.calls += map(tuple, phrases)
        return [
            [self.one(phrase, side_px) for phrase in own]
            for side_px, own in zip(encoded, phrases, strict=True)
        ]


class Lines:
    """A policy that says the same lines in every conversation; a line may be made from the view."""

    def __init__(self, *lines: str | Callable[[View], str]) -> None:
        self.lines = lines

    def __call__(self, view: View) -> str:
        line = self.lines[min(view.turn, len(self.lines)) - 1]
        return line if isinstance(line, str) else line(view)


def reply(text: str, **fields: Any) -> Reply:
    return Reply(outcome=Outcome.OK, text=text, **fields)


def hold(*lines: str, n_masks: int | Sequence[int] = 1, **settings: Any) -> Episode:
    """An episode with these replies; the k-th segmentation finds n_masks[k] masks."""
    counts = iter(n_masks if isinstance(n_masks, Sequence) else [n_masks] * 50)
    chosen = Settings(**settings)
    episode = Episode(Scene(picture(), style=chosen.style), "tiger", chosen)
    for line in lines:
        assert not episode.over, f"over before {line!r}: {episode.ending} {episode.reason}"
        if episode.add_reply(reply(line)) is not None:
            episode.add_segmentation(found(next(counts)))
    return episode


def told(episode: Episode) -> str:
    """What the model was told last."""
    return episode.messages[-1].text


def agent(policy: Callable[[View], str], segmenter: Any = None, **settings: Any) -> Agent:
    return Agent(segmenter or Squares(), Scripted(policy), Settings(**settings))
