"""Photographs with boxes alone, and candidates from them."""

from __future__ import annotations

from typing import Any

from groundfault.building.records import Candidate, Task
from groundfault.io.photographs import Photograph, Thing

BoxXywh = tuple[float, float, float, float]
KITCHEN: tuple[tuple[str, BoxXywh], ...] = (
    ("cat", (40, 120, 120, 100)),
    ("chair", (300, 100, 150, 200)),
    ("dining table", (0, 300, 600, 150)),
    ("cup", (100, 330, 40, 50)),
    ("cup", (400, 340, 40, 50)),
)
"""A cat left of a chair, above a table with two cups."""


def photograph(things: tuple[tuple[str, BoxXywh], ...] = KITCHEN, **changes: Any) -> Photograph:
    """A picture of 640x480 with boxes of things, whose ids are their numbers."""
    annotated = tuple(
        Thing(id=str(number), category=name, box_xywh=box)
        for number, (name, box) in enumerate(things)
    )
    fields: dict[str, Any] = {"id": "7", "source": "coco", "file": "7.jpg", "things": annotated}
    return Photograph(height_px=480, width_px=640, **(fields | changes))


def candidate(
    task: Task,
    target: int = 0,
    things: tuple[tuple[str, BoxXywh], ...] = KITCHEN,
    seed: int = 0,
    **facts: str,
) -> Candidate:
    """A candidate about one of them."""
    picture = photograph(things)
    return Candidate(
        id=f"7-{target}-{task}",
        task=task,
        photograph=picture,
        target=picture.things[target],
        seed=seed,
        facts=facts,
    )
