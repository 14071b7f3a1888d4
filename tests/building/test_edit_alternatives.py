"""What the edit stage does where an editor refuses a value: it tries another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.building.proposal_parts import candidate

from groundfault.building.editing import _Doer
from groundfault.building.records import Proposal
from groundfault.interfaces import NotEdited


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
