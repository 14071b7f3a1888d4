"""What there is to ask: per image, every phrase together; images in batches, of one size unless
the model takes any."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Literal

import msgspec

from groundfault.llm.cost import Price
from groundfault.llm.retry import RetryPolicy
from groundfault.records import Item

__all__ = ["Batch", "Plan", "Task", "batches", "tasks"]


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How a run is carried out. Predictions do not depend on it."""

    engine: Literal["local", "ray"] = "local"
    workers: int = 0
    """0 is one for `local`; for `ray` one per GPU of the cluster, or per core if it has none."""
    batch: int = 0
    """Images, or conversations, at once for models that can; 0 is what the model likes, else 4. A
    batch that does not fit into memory is halved."""
    ray_address: str = ""
    """Of a cluster that is there; "" starts one on this machine."""
    device: str = "auto"
    """What each worker is given: a GPU of its own, unless this says "cpu"."""
    resume: bool = True
    probe: bool = True
    concurrency: int = 96
    """Requests to a server at a time."""
    retry: RetryPolicy = RetryPolicy()
    budget: Any = None
    """A `SharedBudget` that everything asked by one command lives on."""
    price: Price | None = None
    reserve: float = 0.0
    """What is kept of the budget for judging each answer, in the budget's unit."""
    responses: str = ""
    """The response store; "" is the user's own."""
    fresh: bool = False
    """Ask again what the response store has."""
    ask_again: str = ""
    """Which answers of an earlier session are asked for again, besides those that failed: one of
    `RETRIES`."""

    def noted(self) -> dict[str, object]:
        """What run.json says of it."""
        names = (
            "engine", "workers", "batch", "ray_address", "device", "resume", "probe",
            "concurrency", "fresh",
        )  # fmt: skip
        return {name: getattr(self, name) for name in names}


class Task(msgspec.Struct, frozen=True):
    """One image and everything asked about it."""

    image: str
    items: tuple[Item, ...]

    @property
    def size_px(self) -> tuple[int, int]:
        """(height, width) by the annotations."""
        return self.items[0].height_px, self.items[0].width_px


Batch = tuple[Task, ...]


def tasks(items: Iterable[Item], done: Collection[str] = ()) -> list[Task]:
    """What is left to ask, image by image."""
    by_image: dict[str, list[Item]] = {}
    for item in items:
        if item.id not in done:
            by_image.setdefault(item.image, []).append(item)
    return [Task(image, tuple(asked)) for image, asked in by_image.items()]


def batches(pending: Sequence[Task], size: int, *, any_sizes: bool = False) -> Iterator[Batch]:
    """Batches of at most `size` images, all of one size in pixels: no model has to pad. One that
    takes images of any sizes together gets them as they come, and full batches."""
    if size <= 1 or any_sizes:
        step = max(1, size)
        yield from (tuple(pending[k : k + step]) for k in range(0, len(pending), step))
        return
    ordered = sorted(pending, key=lambda task: task.size_px)
    start = 0
    for stop in range(1, len(ordered) + 1):
        full = stop - start == size
        if stop == len(ordered) or full or ordered[stop].size_px != ordered[start].size_px:
            yield tuple(ordered[start:stop])
            start = stop
