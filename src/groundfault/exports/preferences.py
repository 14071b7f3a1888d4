"""Samples as preference pairs (chosen, rejected), for those who train with them (DPO and its kin).

One JSON object per line, as TRL reads them: a prompt with the picture, the right answer, and the
wrong one that a model gives which expects instead of looking. A thing that is there is marked and
must not be denied; a thing that is not there is denied and must not be marked.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec

from groundfault.errors import UsageError
from groundfault.io.store import atomic_file
from groundfault.models.segvlm.prompts import Wording
from groundfault.records import Benchmark, Item, Role

__all__ = ["preference_pairs", "write_preferences"]


def write_preferences(benchmark: Benchmark, path: str | PathLike[str], *, seed: int = 0) -> int:
    """Write the pairs of a benchmark; how many there are."""
    n = 0
    with atomic_file(path) as temporary, temporary.open("wb") as file:
        for pair in preference_pairs(benchmark.items, benchmark.images, seed=seed):
            file.write(msgspec.json.encode(pair) + b"\n")
            n += 1
    if not n:
        raise UsageError("the benchmark is asked in words: it has no masks to prefer")
    return n


def preference_pairs(
    items: Iterable[Item], images: str, *, seed: int = 0
) -> Iterator[dict[str, Any]]:
    """A pair for each question about masks; the same seed chooses the same words."""
    for item in items:
        if item.role == Role.QUESTION:
            continue
        words = Wording(random.Random(f"{seed}:{item.id}"))
        question, marked = words.ask(item.query), words.affirm()
        there = item.answer.reference if item.answer is not None else ""
        denied = (
            words.correct(item.query, there)
            if there and not item.present
            else words.deny(item.query)
        )
        chosen, rejected = (marked, denied) if item.present else (denied, marked)
        yield {
            "id": item.id,
            "case": item.case_id,
            "role": item.role.value,
            "images": [str(Path(images, item.image).resolve())],
            "prompt": [_message("user", question, picture=True)],
            "chosen": [_message("assistant", chosen)],
            "rejected": [_message("assistant", rejected)],
        }


def _message(role: str, text: str, *, picture: bool = False) -> dict[str, Any]:
    shown = [{"type": "image"}] if picture else []
    return {"role": role, "content": [*shown, {"type": "text", "text": text}]}
