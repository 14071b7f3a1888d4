"""Targets of which annotations give a box alone, as Visual Genome's do."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest
from tests.building.photographs import HEIGHT, WIDTH, write_set
from tests.building.test_new_things import SCRIPT

from groundfault.building.checks.catalogue import measure, objection
from groundfault.building.checks.settings import VerifySettings
from groundfault.building.editing import EditSettings, EditStage
from groundfault.building.proposals.layout import region_of
from groundfault.building.records import Candidate, Dropped, Proposal
from groundfault.building.sources import photographs
from groundfault.io.pictures import read_image


@pytest.fixture
def candidate(tmp_path: Path) -> Candidate:
    annotations, images = write_set(tmp_path / "set", 1)
    [photograph] = photographs("coco", annotations=[str(annotations)], images=str(images))
    boxed = msgspec.structs.replace(photograph.things[0], mask=None)
    words = "Remove the bus. Preserve everything else."
    return Candidate(
        id="a",
        task="erasure",
        photograph=msgspec.structs.replace(photograph, things=(boxed,)),
        target=boxed,
        proposal=Proposal(kind="erase", value="", instruction=words),
    )


def edited(candidate: Candidate, by: str, folder: Path) -> Candidate | Dropped:
    found: list[Candidate | Dropped] = []
    stage = EditStage(folder / "out", [folder / "set" / "images"], EditSettings(by=by))
    assert stage.run([candidate], lambda _, result: found.append(result)) == ""
    return found[0]


def test_an_editor_that_is_asked_in_words_may_change_the_box(
    candidate: Candidate, tmp_path: Path
) -> None:
    (tmp_path / "painter.py").write_text(SCRIPT)
    found = edited(candidate, f"worker:{tmp_path / 'painter.py'}", tmp_path)
    assert isinstance(found, Candidate) and found.edited is not None
    before, after = (
        read_image(tmp_path / "out" / name) for name in (found.edited.before, found.edited.after)
    )
    differs = (before != after).any(axis=2)
    box = region_of(candidate.target, (HEIGHT, WIDTH))
    assert differs[box].mean() > 0.9
    rows, columns = np.nonzero(differs)
    x, y, width, height = candidate.target.box_xywh or (0, 0, 0, 0)
    reach = 0.25 * max(width, height) + 2
    assert y - reach <= rows.min() and rows.max() <= y + height + reach
    assert x - reach <= columns.min() and columns.max() <= x + width + reach
    checks = measure(found, tmp_path / "out")
    assert objection(checks, VerifySettings(), "erase") == ""
    assert "remains" not in checks and "changed" not in checks  # the box has background in it


def test_an_editor_that_works_along_edges_refuses_it(candidate: Candidate, tmp_path: Path) -> None:
    found = edited(candidate, "procedural", tmp_path)
    assert isinstance(found, Dropped) and found.reason == "refused: no mask"
    assert "box" in found.details
