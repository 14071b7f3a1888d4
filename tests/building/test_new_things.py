"""Where a new thing is, in the reply of an editor that does not say so."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest
from tests.building.photographs import write_set

from groundfault import registry
from groundfault.building import editing
from groundfault.building.editing import EditSettings, EditStage
from groundfault.building.framing import new_thing
from groundfault.building.records import Candidate, Proposal
from groundfault.building.sources import photographs
from groundfault.interfaces import NotEdited
from groundfault.io.masks import decode, encode
from groundfault.records import Outcome, Prediction


def square(top: int, left: int, side: int) -> np.ndarray:
    mask = np.zeros((60, 80), bool)
    mask[top : top + side, left : left + side] = True
    return mask


def answer(*found: tuple[np.ndarray, float]) -> Prediction:
    return Prediction(
        item_id="",
        outcome=Outcome.OK,
        masks=tuple(encode(mask) for mask, _ in found),
        scores=tuple(score for _, score in found),
    )


def test_the_mask_that_fills_the_place_is_taken_before_a_speck_in_it() -> None:
    place, speck, thing = square(10, 10, 30), square(12, 12, 3), square(12, 12, 26)
    chosen = new_thing(answer((speck, 0.99), (thing, 0.6)), place)
    assert not isinstance(chosen, NotEdited) and (chosen == thing).all()


def test_without_a_place_the_best_score_counts() -> None:
    chosen = new_thing(answer((square(0, 0, 9), 0.4), (square(30, 30, 9), 0.9)), None)
    assert not isinstance(chosen, NotEdited) and (chosen == square(30, 30, 9)).all()


def test_two_that_fit_alike_in_different_places_leave_it_open() -> None:
    place = square(10, 10, 40)
    apart = answer((square(10, 10, 20), 0.8), (square(30, 30, 20), 0.75))
    assert new_thing(apart, place) == NotEdited(
        outcome="refused", reason="two masks may be the new thing"
    )
    same = answer((square(10, 10, 20), 0.8), (square(11, 11, 20), 0.75))
    assert not isinstance(new_thing(same, place), NotEdited)
    weaker = answer((square(10, 10, 20), 0.8), (square(30, 30, 20), 0.3))
    assert not isinstance(new_thing(weaker, place), NotEdited)


@pytest.mark.parametrize("found", [answer(), answer((square(50, 70, 5), 0.9))])
def test_nothing_there_is_told(found: Prediction) -> None:
    nothing = NotEdited(outcome="refused", reason="the new thing is not found")
    assert new_thing(found, square(10, 10, 20)) == nothing


SCRIPT = """
def load(options):
    return Painter()

class Painter:
    model = "painter"

    def edit(self, picture, region, instruction):
        pixels = picture.array()
        pixels[region.array()] = (250, 20, 20)
        return pixels
"""


class Masker:
    """A segmenter that finds a speck in a corner and something in the middle."""

    def segment(self, image: np.ndarray, phrases: list[str]) -> list[Prediction]:
        assert phrases == ["red ball"]
        middle, corner = np.zeros((2, *image.shape[:2]), bool)
        middle[40:80, 45:100] = True
        corner[:4, :4] = True
        return [answer((corner, 0.9), (middle, 0.5))]


@pytest.mark.parametrize("masker", ["", "found"])
def test_a_build_keeps_where_the_new_thing_is_and_how_it_was_found(
    masker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    annotations, images = write_set(tmp_path / "set", 1)
    [photograph] = photographs("coco", annotations=[str(annotations)], images=str(images))
    (tmp_path / "painter.py").write_text(SCRIPT)
    monkeypatch.setattr(registry, "load_model", lambda name, options: Masker())
    words = "Change cat to red ball."
    proposal = Proposal(kind="replace", value="ball", instruction=words, negative="red ball")
    candidate = Candidate(
        id="a",
        task="replacement",
        photograph=photograph,
        target=photograph.things[0],
        proposal=proposal,
    )
    settings = EditSettings(by=f"worker:{tmp_path / 'painter.py'}", masker=masker)
    kept: list[object] = []
    stage = EditStage(tmp_path, [images], settings)
    assert stage.run([candidate], lambda _, result: kept.append(result)) == ""
    [result] = kept
    assert isinstance(result, Candidate) and result.edited is not None
    edited = result.edited
    assert edited.mask is not None and edited.details["mask_by"] == (masker or "difference")
    if masker:
        assert decode(edited.mask).sum() == 40 * 55
        given = msgspec.json.decode(edited.details["masks_given"])
        assert [each["score"] for each in given] == [0.9, 0.5]
    else:
        assert decode(edited.mask).sum() > 20 * 30


@pytest.mark.parametrize(
    ("reason", "tried"),
    [("looks like the place", ["snow", "room"]), ("occluded", ["snow"])],
)
def test_another_place_is_tried_where_only_the_place_was_wrong(
    reason: str, tried: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    annotations, images = write_set(tmp_path / "set", 1)
    [photograph] = photographs("coco", annotations=[str(annotations)], images=str(images))
    other = Proposal(kind="context", value="room", instruction="Move it.")
    first = msgspec.structs.replace(other, value="snow", alternatives=(other,))
    candidate = Candidate(
        id="a", task="CC", photograph=photograph, target=photograph.things[0], proposal=first
    )
    asked = []

    def attempt(self: object, given: Candidate, image: object) -> Candidate | NotEdited:
        assert given.proposal is not None
        asked.append(given.proposal.value)
        return given if len(asked) > 1 else NotEdited(outcome="refused", reason=reason)

    monkeypatch.setattr(editing._Doer, "_try", attempt)
    doer = object.__new__(editing._Doer)
    doer.job = SimpleNamespace(images=[images])  # type: ignore[assignment]
    found = doer._edit(candidate)
    assert asked == tried and isinstance(found, NotEdited) == (len(tried) == 1)
