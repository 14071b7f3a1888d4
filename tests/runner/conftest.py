"""A benchmark that is quickly made, and models that worker processes can import."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.runner.plug_ins import PlugIn

from groundfault.benchmarks import folder
from groundfault.io.masks import encode
from groundfault.records import Benchmark, Card, Case, Item, Region, Role

PLUGIN = Path(__file__).parent / "plugin"
SIZES_PX = ((24, 32), (32, 24))


def painted_set(images: Path, n: int) -> Benchmark:
    """n pictures of two sizes with a blue square, each asked for "blue" and for "green"."""
    images.mkdir(parents=True)
    cases, items = [], []
    for number in range(n):
        height_px, width_px = SIZES_PX[number % 2]
        pixels = np.zeros((height_px, width_px, 3), np.uint8)
        pixels[0, 0] = number % 256, number // 256, 0
        pixels[5:15, 4 + number % 8 : 16, 2] = 255
        Image.fromarray(pixels).save(images / f"{number}.png")
        region = Region(encode(pixels[..., 2] > 0))
        cases.append(Case(id=str(number), intervention=("SM", "CC", "OC")[number % 3]))
        for role, query in ((Role.POSITIVE, "blue"), (Role.NEGATIVE, "green")):
            items.append(
                Item(
                    id=f"{number}-{query}",
                    case_id=str(number),
                    role=role,
                    images=(f"{number}.png",),
                    height_px=height_px,
                    width_px=width_px,
                    query=query,
                    regions=(region,) if role is Role.POSITIVE else (),
                    target=region,
                )
            )
    card = Card(name="cafe", title="", source="", licence="", citation="", main_metric="cgF1")
    return Benchmark(card=card, cases=tuple(cases), items=tuple(items), images=str(images))


@pytest.fixture
def painted(tmp_path: Path) -> Callable[[int], tuple[Benchmark, Path]]:
    """Make such a benchmark: it and its picture folder."""

    def make(n: int) -> tuple[Benchmark, Path]:
        return painted_set(tmp_path / "images", n), tmp_path / "images"

    return make


@pytest.fixture
def benchmark_folder(tmp_path: Path) -> Callable[[int], Path]:
    """The same as our own folder."""

    def make(n: int) -> Path:
        benchmark = painted_set(tmp_path / "source", n)
        folder.write(benchmark, tmp_path / "benchmark", images_from=tmp_path / "source")
        return tmp_path / "benchmark"

    return make


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    """The third party's models, in this process and in those that it starts."""
    monkeypatch.syspath_prepend(str(PLUGIN))
    path = os.pathsep.join([str(PLUGIN), *filter(None, [os.environ.get("PYTHONPATH")])])
    monkeypatch.setenv("PYTHONPATH", path)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PlugIn]:
    """A plug-in of the test's own, with the model `mine`."""
    made = PlugIn(tmp_path / "plug-in", monkeypatch)
    yield made
    made.forget()
