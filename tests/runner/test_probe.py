"""Rendered squares through an adapter's pre- and postprocessing: sound frames pass, others stop."""

from __future__ import annotations

import functools
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.runner.runs import run_masks

from groundfault import registry
from groundfault.interfaces import ModelOptions
from groundfault.models.baselines import Oracle
from groundfault.records import Benchmark, Outcome, Prediction
from groundfault.runner.probe import NOT_OFFERED, PASSED, SKIPPED, ProbeFailed, probe
from groundfault.runner.work import Plan
from groundfault.runs.run import read_run

Made = Callable[[int], tuple[Benchmark, Path]]


class Squashed:
    """Sees every picture squashed to a square of some pixels, and stretches masks back."""

    side_px = 160

    def segment(self, image: Any, phrases: Sequence[str]) -> list[Prediction]:
        return [Prediction(item_id="", outcome=Outcome.ABSTAINED) for _ in phrases]

    def frame_probe(self, image: Any) -> Any:
        seen = np.asarray(Image.fromarray(image).resize((self.side_px, self.side_px)))
        answer = Image.fromarray(self.post(seen[..., 0]))
        return np.asarray(answer.resize(self.size(image), Image.Resampling.BILINEAR)) > 128

    def post(self, answer: Any) -> Any:
        return answer

    def size(self, image: Any) -> tuple[int, int]:
        return image.shape[1], image.shape[0]


class Transposed(Squashed):
    def post(self, answer: Any) -> Any:
        return np.ascontiguousarray(answer.T)


class Swapped(Squashed):
    def size(self, image: Any) -> tuple[int, int]:
        return image.shape[0], image.shape[1]


class Shifted(Squashed):
    def post(self, answer: Any) -> Any:
        return np.roll(answer, 3, axis=1)


class Dark(Squashed):
    def post(self, answer: Any) -> Any:
        return answer // 4


class Flipped(Squashed):
    def post(self, answer: Any) -> Any:
        return np.ascontiguousarray(answer[::-1])


class Raising(Squashed):
    def post(self, answer: Any) -> Any:
        raise ValueError("no region")


class Padded(Squashed):
    """Pads below to a square, and forgets that on the way back."""

    def frame_probe(self, image: Any) -> Any:
        side = max(image.shape[:2])
        padded = np.zeros((side, side), np.uint8)
        padded[: image.shape[0], : image.shape[1]] = image[..., 0]
        return np.asarray(Image.fromarray(padded).resize(self.size(image))) > 128


def test_a_sound_frame_passes() -> None:
    assert probe(Squashed()) == PASSED


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Transposed, "came back at"),
        (Shifted, "came back at"),
        (Flipped, "came back at"),
        (Padded, "came back at"),
        (Swapped, r"in a mask of shape \(200, 64\)"),
        (Dark, "came back as nothing"),
        (Raising, "did not come back .ValueError: no region"),
    ],
)
def test_an_unsound_frame_is_told_with_a_picture(model: type[Squashed], message: str) -> None:
    with pytest.raises(ProbeFailed, match=message) as failed:
        probe(model())
    picture = np.asarray(Image.open(io.BytesIO(failed.value.picture)))
    assert (picture == (0, 220, 0)).all(axis=2).any()


@pytest.mark.usefixtures("plugin")
@pytest.mark.parametrize("workers", [0, 2])
def test_a_failed_probe_stops_the_run(painted: Made, tmp_path: Path, workers: int) -> None:
    load = functools.partial(registry.load_model, "askew", ModelOptions())
    benchmark, _ = painted(2)
    run = tmp_path / "run"
    with pytest.raises(ProbeFailed, match=r"--no-probe.*Picture: .*probe\.png"):
        run_masks(benchmark, load, run, plan=Plan(workers=workers))
    with Image.open(run / "probe.png") as picture:
        assert picture.size == (96, 96)
    assert not list(run.glob("predictions-*"))
    unprobed = Plan(probe=False, workers=workers)
    ended = run_masks(benchmark, load, run, plan=unprobed)
    assert ended.probe == SKIPPED and ended.outcomes["failed"] == 0


def test_the_run_says_how_the_probe_ended(painted: Made, tmp_path: Path) -> None:
    benchmark, _ = painted(1)
    run_masks(benchmark, Squashed, tmp_path / "a")
    assert read_run(tmp_path / "a").probe == PASSED
    assert probe(object()) == NOT_OFFERED
    run_masks(benchmark, Oracle, tmp_path / "b")
    assert read_run(tmp_path / "b").probe == SKIPPED
