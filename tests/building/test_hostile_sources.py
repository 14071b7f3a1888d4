"""Whatever stands in a source's files, reading them ends well or with an error of ours."""

from __future__ import annotations

import json
import pickle
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.building.sources import coco, picture, write
from tests.building.test_reasonseg import SMALL, sample, shape
from tests.building.test_refer import refs
from tests.building.test_sources import gold, lvis
from tests.building.test_visual_genome import counted, genome

from groundfault.building.mining import cafe, halluseg, reactbench
from groundfault.building.sources import photographs
from groundfault.errors import GroundfaultError

WORTH = [
    None,
    True,
    -1,
    0,
    1e308,
    2**70,
    "",
    "x" * 300,
    "../../x",
    "\0",
    [],
    [[]],
    {},
    [None],
    [1e9],
]


def refer(folder: Path) -> Path:
    write(folder / "instances.json", coco())
    (folder / "refs(unc).p").write_bytes(pickle.dumps(refs(), 2))
    return folder


def reasonseg(folder: Path) -> Path:
    picture(folder / "a.jpg")
    premise = ["Where is the unicorn?", True, "There is none."]
    return write(
        folder / "a.json", sample(shape("target", SMALL), false_premise_QA=[premise])
    ).parent


SOURCES = {
    "coco": lambda folder: write(folder / "a.json", coco()),
    "lvis": lambda folder: write(folder / "a.json", lvis()),
    "saco": lambda folder: write(folder / "a.json", gold((5, 5, 20))),
    "refcoco": refer,
    "reasonseg": reasonseg,
    "visual-genome": genome,
    "fsc147": counted,
}
MINERS: Any = [
    (cafe.mine, cafe.CafeSettings(min_area_share=0)),
    (halluseg.mine, halluseg.HallusegSettings(min_area_share=0)),
    (reactbench.mine, reactbench.ReactbenchSettings(min_count=1, pairs="counted")),
    (reactbench.mine, reactbench.ReactbenchSettings(pairs="table", more_than_objects=0)),
]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to every value inside a value."""
    yield path
    if isinstance(value, (dict, list)):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*path, key))


def changed(value: Any, rng: random.Random) -> Any:
    """A value with another one somewhere inside."""
    *way, last = rng.choice([path for path in places(value) if path])
    inner = value
    for key in way:
        inner = inner[key]
    if rng.random() < 0.3 and isinstance(inner, dict):
        del inner[last]
    else:
        inner[last] = rng.choice(WORTH)
    return value


def damage(path: Path, rng: random.Random) -> None:
    """Change one file: a value of it, a byte, or its end."""
    content = path.read_bytes()
    kind = rng.choice(["value", "value", "byte", "end"])
    if kind == "value" and path.suffix == ".json":
        path.write_text(json.dumps(changed(json.loads(content), rng)))
    elif kind == "value" and path.suffix == ".p":
        path.write_bytes(pickle.dumps(changed(pickle.loads(content), rng)))
    elif kind == "byte":
        place = rng.randrange(len(content))
        path.write_bytes(content[:place] + bytes([rng.randrange(256)]) + content[place + 1 :])
    else:
        path.write_bytes(content[: rng.randrange(len(content))])


@pytest.mark.parametrize("source", SOURCES)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6))
def test_damaged_files_are_refused_or_read(
    tmp_path_factory: pytest.TempPathFactory, source: str, seed: int
) -> None:
    rng = random.Random(seed)
    folder = tmp_path_factory.mktemp("set")
    annotations = SOURCES[source](folder)
    damage(rng.choice(sorted(path for path in folder.iterdir() if path.suffix != ".jpg")), rng)
    mine, chosen = rng.choice(MINERS)
    try:
        found = photographs(source, annotations=annotations)
        for candidate in mine(found, chosen, lambda *_: None):
            assert "/" not in candidate.id and "\0" not in candidate.id
    except GroundfaultError as problem:
        assert str(problem)
