"""What the tests of the adapters share: the libraries, pictures, and counted calls."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.models.tiny.torchvision_cpu import make_importable

from groundfault.io.masks import decode
from groundfault.records import Outcome, Prediction


@pytest.fixture(scope="session")
def transformers() -> Any:
    """The library, or skip: `pip install 'groundfault[transformers]'` brings it."""
    for library in ("torch", "torchvision", "transformers"):
        if importlib.util.find_spec(library) is None:
            pytest.skip(f"{library} is not installed: the extra 'transformers' brings it")
    import torch

    torch.set_num_threads(1)
    make_importable()
    return importlib.import_module("transformers")


def picture(width_px: int, height_px: int, seed: int = 0) -> Any:
    """Noise, (height, width, 3)."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 256, (height_px, width_px, 3), dtype=np.uint8)


def square(width_px: int, height_px: int, x: int, y: int, side_px: int) -> tuple[Any, Any]:
    """A bright square on dark: the picture, and where it is."""
    truth = np.zeros((height_px, width_px), bool)
    truth[y : y + side_px, x : x + side_px] = True
    return np.where(truth[..., None], np.uint8([235, 235, 235]), np.uint8([20, 20, 20])), truth


SQUARES = [  # width, height, x, y, side
    (96, 64, 20, 10, 30),
    (64, 96, 5, 60, 30),
    (200, 50, 140, 5, 40),
    (50, 200, 8, 15, 36),
    (333, 217, 100, 60, 120),
    (640, 480, 30, 200, 200),
    (90, 3, 40, 0, 3),  # three rows that a processor could take for three channels
]


def edge_error_px(mask: Any, truth: Any) -> float:
    """The largest distance between the sides of two boxes; infinite for an empty mask."""
    if not mask.any():
        return float("inf")
    return max(abs(a - b) for a, b in zip(sides(mask), sides(truth), strict=True))


def sides(mask: Any) -> tuple[int, int, int, int]:
    """Left, top, right, bottom of a mask."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def assert_sound(prediction: Prediction, height_px: int, width_px: int) -> None:
    """Masks of the picture's size, scores in order in 0…1, an outcome that fits."""
    assert prediction.outcome is (Outcome.OK if prediction.masks else Outcome.ABSTAINED)
    assert len(prediction.masks) == len(prediction.scores)
    assert list(prediction.scores) == sorted(prediction.scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in prediction.scores)
    for mask in prediction.masks[:2]:
        assert decode(mask).shape == (height_px, width_px)


def assert_same(found: Prediction, expected: Prediction) -> None:
    """The same up to rounding: a batch is computed in another order."""
    assert found.outcome is expected.outcome
    assert found.scores == pytest.approx(expected.scores, abs=1e-5)
    for mine, theirs in zip(found.masks, expected.masks, strict=True):
        assert (decode(mine) != decode(theirs)).mean() < 0.002


@contextmanager
def counted_calls(module: Any) -> Iterator[list[Any]]:
    """The batch sizes that a part of a network is called with."""
    calls: list[Any] = []
    handle = module.register_forward_hook(
        lambda _, args, kwargs, __: calls.append(len((*args, *kwargs.values())[0])),
        with_kwargs=True,
    )
    try:
        yield calls
    finally:
        handle.remove()


@pytest.fixture(scope="session")
def checkpoint_folder(tmp_path_factory: pytest.TempPathFactory, transformers: Any) -> Any:
    """Tiny checkpoints on disk by name, each written once: checkpoint_folder("sam3")."""
    from tests.models.tiny import networks

    root: Path = tmp_path_factory.mktemp("checkpoints")

    def folder(name: str) -> Path:
        where = root / name
        return where if where.exists() else networks.saved(where, getattr(networks, name)())

    return folder
