"""A limit takes some of many photographs, the same ones for the same seed."""

from __future__ import annotations

import json
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from tests.building.photographs import write_set
from tests.building.test_selection import FITTING, photo, thing
from tests.conftest import Ran

import groundfault as gf
from groundfault.building.mining.cafe import CafeSettings, mine
from groundfault.building.mining.spread import BEYOND, Spread
from groundfault.building.pipeline import build
from groundfault.building.recipe import Recipe, SourceSettings
from groundfault.building.records import Candidate
from groundfault.building.sources import photographs
from groundfault.building.stages import kept_candidates
from groundfault.io.masks import encode
from groundfault.io.photographs import Photograph
from groundfault.records import Outcome, Prediction

CUP = thing(2, "cup", (40, 10, 15, 15))


def taken(
    given: list[Photograph], limit: int, seed: int = 0, **settings: Any
) -> tuple[list[Candidate], Counter[str]]:
    dropped: Counter[str] = Counter()
    spread = Spread(limit, seed)
    wanted = (each for each in given if spread.wants(each))
    found = mine(wanted, CafeSettings(**settings), lambda *_: None)
    return list(spread.taken(found, lambda _, why: dropped.update([why.reason]))), dropped


MANY = [photo(FITTING, CUP, number=str(k)) for k in range(40)]


def test_photographs_take_turns() -> None:
    found, _ = taken(MANY, 30)
    assert len({each.photograph.id for each in found}) == 30
    found, _ = taken(MANY, 100)  # two of each, three of twenty
    times = Counter(each.photograph.id for each in found)
    assert Counter(times.values()) == {2: 20, 3: 20}
    tasks = [{c.task for c in found if c.photograph.id == name} for name in times]
    assert all(len(each) == times[name] for name, each in zip(times, tasks, strict=True))


def test_the_seed_draws_and_nothing_else_does() -> None:
    ids = {each.id for each in taken(MANY, 30)[0]}
    assert ids == {each.id for each in taken(MANY, 30)[0]}
    assert ids == {each.id for each in taken(MANY[::-1], 30)[0]}
    assert ids != {each.id for each in taken(MANY, 30, seed=1)[0]}
    assert ids < {each.id for each in taken(MANY, 31)[0]}


def test_a_limit_that_nothing_exceeds_changes_nothing() -> None:
    whole = list(mine(MANY, CafeSettings(), lambda *_: None))
    assert taken(MANY, len(whole)) == (whole, {})
    some, dropped = taken(MANY, len(whole) - 1)
    assert some == [each for each in whole if each in some] and dropped == {BEYOND: 1}


def test_what_cannot_be_taken_is_not_kept() -> None:
    def endless() -> Iterator[Photograph]:
        for number in range(3000):
            yield photo(FITTING, number=str(number))

    spread = Spread(5, 0)
    seen = 0

    def wanted() -> Iterator[Photograph]:
        nonlocal seen
        for each in endless():
            if spread.wants(each):
                seen += 1
                yield each

    tracemalloc.start()
    found = list(spread.taken(mine(wanted(), CafeSettings(), lambda *_: None), lambda *_: None))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found) == 5 and seen < 100 and most < 2_000_000


@pytest.mark.parametrize("limit", [None, 3, 999])
def test_a_build_with_a_limit_adds_up(tmp_path: Path, limit: int | None) -> None:
    annotations, images = write_set(tmp_path / "set", 6)
    recipe = Recipe(
        benchmark="cafe",
        limit=limit,
        source=SourceSettings(annotations=str(annotations), images=str(images)),
    )
    built = build(recipe, tmp_path / "out", until="mine")
    whole = build(msgspec.structs.replace(recipe, limit=None), tmp_path / "all", until="mine")
    found = list(kept_candidates(tmp_path / "out", "mine"))
    assert built.funnel.problem == ""
    if limit == 3:
        assert len(found) == 3 == len({each.photograph.id for each in found})
        assert built.funnel.stages[0].dropped[BEYOND] > 0
    else:
        assert found == list(kept_candidates(tmp_path / "all", "mine"))
        assert built.funnel == whole.funnel


def test_pictures_of_photographs_that_are_passed_over_are_not_looked_at(tmp_path: Path) -> None:
    annotations, images = write_set(tmp_path / "set", 6)
    given = list(photographs("coco", annotations=annotations, images=images))
    spread = Spread(1, 0)
    order = sorted(given, key=spread.turn)
    first, last = order[0], order[-1]
    (images / last.file).unlink()
    said = json.loads(annotations.read_text())
    said["images"].sort(key=lambda each: (str(each["id"]) != first.id, each["id"]))
    annotations.write_text(json.dumps(said))
    asked = photographs("coco", annotations=annotations, images=images, spread=spread)
    [found] = spread.taken(mine(asked, CafeSettings(), lambda *_: None), lambda *_: None)
    assert found.photograph.id == first.id


def test_a_segmenter_sees_no_more_than_it_has_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, images = write_set(tmp_path / "set", 12)
    looks: list[int] = []

    class Finder:
        def segment(self, image: Any, phrases: list[str]) -> list[Prediction]:
            looks.append(len(phrases))
            mask = np.zeros(image.shape[:2], bool)
            mask[10:40, 10:50] = True
            cat = Prediction(item_id="", outcome=Outcome.OK, masks=(encode(mask),), scores=(0.9,))
            return [cat for _ in phrases]

    monkeypatch.setattr(
        "groundfault.building.folder_masks.load_model", lambda name, options: Finder()
    )
    recipe = Recipe(
        benchmark="cafe",
        limit=3,
        source=SourceSettings(
            name="folder", images=str(images), options={"segmenter": "sam3", "phrases": ["cat"]}
        ),
    )
    gf.build(recipe, tmp_path / "out", until="mine")
    found = list(kept_candidates(tmp_path / "out", "mine"))
    assert len({each.photograph.id for each in found}) == 3 and len(looks) <= 4


def test_help_says_what_a_limit_limits(run: Callable[..., Ran]) -> None:
    words = " ".join(run("build", "cafe", "--help").out.replace("│", " ").split())
    assert "spread over" in words
