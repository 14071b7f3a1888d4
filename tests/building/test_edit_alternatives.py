"""What the edit stage does where an editor refuses a value: it tries another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from tests.building.proposal_parts import candidate

from groundfault.building.editing import EditSettings, _Doer
from groundfault.building.records import Proposal
from groundfault.interfaces import Edited, EditRequest, NotEdited
from groundfault.io.masks import encode


def proposal(value: str) -> Proposal:
    return Proposal(kind="surface", value=value, instruction=value, positive="a", negative="b")


@pytest.mark.parametrize(
    ("reason", "tried"), [("already so", ["bee", "cow", "zebra"]), ("too dark", ["bee"])]
)
def test_another_value_is_tried_where_only_this_one_does_not_fit(
    reason: str, tried: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def refuse(self: Any, about: Any, image: Any) -> NotEdited:
        asked.append(about.proposal.value)
        return NotEdited(outcome="refused", reason=reason)

    monkeypatch.setattr(_Doer, "_try", refuse)
    monkeypatch.setattr("groundfault.building.editing.read_photograph", lambda *_: None)
    first = msgspec.structs.replace(
        proposal("bee"), alternatives=(proposal("cow"), proposal("zebra"))
    )
    about = msgspec.structs.replace(candidate("SM"), proposal=first)
    job: Any = type("Job", (), {"images": (Path(),)})()
    editor: Any = object()
    found = _Doer(job, editor)._edit(about)
    assert isinstance(found, NotEdited) and found.reason == reason and asked == tried


def test_an_editor_is_told_the_tables_name_of_a_category(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[EditRequest] = []

    class Teller:
        def edit(self, image: Any, region: Any, instruction: str) -> NotEdited:
            raise AssertionError

        def perform(self, image: Any, region: Any, request: EditRequest) -> NotEdited:
            told.append(request)
            return NotEdited(outcome="refused", reason="too dark")

    things = (("tvmonitor", (40.0, 120.0, 120.0, 100.0)), ("kitten", (300.0, 100.0, 90.0, 90.0)))
    about = msgspec.structs.replace(candidate("SM", 0, things), proposal=proposal("bee"))
    mask = encode(np.ones((480, 640), bool))
    named = tuple(msgspec.structs.replace(one, mask=mask) for one in about.photograph.things)
    seen = msgspec.structs.replace(about.photograph, things=named)
    about = msgspec.structs.replace(about, photograph=seen, target=named[0])
    job: Any = type("Job", (), {"images": (Path(),), "settings": EditSettings()})()
    monkeypatch.setattr("groundfault.building.editing.read_photograph", lambda *_: None)
    assert isinstance(_Doer(job, Teller())._edit(about), NotEdited)
    assert told[0].category == "tv" and [one.category for one in told[0].others] == ["cat"]


def test_a_mask_that_the_editor_corrected_is_the_targets_from_then_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What a drawn mask took along may change with the surroundings, and what it forgot with the
    object; who corrected it is told."""
    drawn, seen = np.zeros((2, 60, 80), bool)
    drawn[10:50, 10:50] = True
    seen[10:50, 30:70] = True
    image = np.zeros((60, 80, 3), np.uint8)

    class Corrector:
        def edit(self, image: Any, region: Any, instruction: str) -> NotEdited:
            raise AssertionError

        def perform(self, image: Any, region: Any, request: EditRequest) -> Edited:
            return Edited(
                image=np.full_like(image, 255),
                target=seen,
                touched=np.ones_like(seen),
                details={"target_by": "SAM 2"},
            )

    kept: dict[str, Any] = {}

    def keep(self: Any, about: Any, before: Any, held: Edited) -> Any:
        kept["image"] = held.image
        return about

    about = candidate("SM")
    target = msgspec.structs.replace(about.target, mask=encode(drawn))
    about = msgspec.structs.replace(about, target=target, proposal=proposal("bee"))
    settings = EditSettings(edge_px=0)
    job: Any = type("Job", (), {"images": (tmp_path,), "settings": settings})()
    monkeypatch.setattr(_Doer, "_kept", keep)
    found: Any = _Doer(job, Corrector())._try(about, image)
    assert np.array_equal(kept["image"][..., 0] == 255, seen)
    assert found.target.mask == encode(seen) and found.target.masked_by == "SAM 2"
