"""Cases as training data, with a guard against leaks.

Whoever trains on the cases that a model is evaluated on measures nothing afterwards. So a list is
refused where a picture of it is in an evaluated set: the explored one itself, another that is
explored beside it, or one that was named. Who allows it gets, beside the list, the cases that share
no picture and no origin with it: those are what may still be evaluated.

    NAME/train.jsonl     an item per line: pictures with their hashes, query, masks or answer
    NAME/held-out.txt    cases of the set that are left for evaluation
    NAME/about.json      what was chosen, from what, and what the guard said
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from groundfault.errors import DataError, UsageError
from groundfault.io.foreign import sha256, within
from groundfault.io.store import new_folder, write_bytes, write_json
from groundfault.records import Answer, Benchmark, Item, Rle
from groundfault.web.explore.board import Board, Point
from groundfault.web.explore.exports import selected_items, source_of

__all__ = ["Leak", "Leaks", "TrainingItem", "write_training_list"]


class Leak(msgspec.Struct, frozen=True, kw_only=True):
    """Pictures of a list that are in an evaluated set."""

    evaluated: str
    cases: int
    example: str


class Leaks(UsageError):
    """A training list would hold what models are evaluated on."""

    def __init__(self, leaks: Sequence[Leak]) -> None:
        self.leaks = tuple(leaks)
        each = "; ".join(f"{leak.cases} cases are in {leak.evaluated}" for leak in leaks)
        super().__init__(
            f"{each}, e.g. {leaks[0].example}. A model that is trained on them must not be "
            "evaluated on them. Allow it to get, beside the list, the cases that are still held out"
        )


class TrainingItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of train.jsonl."""

    case_id: str
    """Items of one case belong into one batch: they are each other's counterfactual."""
    item_id: str
    role: str
    images: tuple[str, ...]
    """Below the folder that about.json names."""
    images_sha256: tuple[str, ...]
    height_px: int
    width_px: int
    query: str
    present: bool
    """Whether what is asked for is there: otherwise nothing is to be marked."""
    masks: tuple[Rle, ...] = ()
    target: Rle | None = None
    """The edited object: where a wrong answer lands."""
    answer: Answer | None = None
    intervention: str = ""
    tags: dict[str, str] = {}
    failed_by: tuple[str, ...] = ()
    """Runs that were wrong in this entry, by the first criterion."""


def write_training_list(
    board: Board,
    places: Sequence[int],
    out: Path,
    *,
    point: Point,
    link: str,
    others: Mapping[str, Benchmark],
    allow: bool,
) -> dict[str, Any]:
    """Write entries as training data. `others` are further evaluated sets, by name; what is in
    them, or in the board's own set, is refused unless it is allowed."""
    source = source_of(board)
    items = selected_items(board, places)
    if not items:
        raise UsageError("nothing is selected")
    pictures = _Pictures(source.images)
    hashes = {
        item.id: tuple(pictures.sha256(name, item.id) for name in item.images) for item in items
    }
    title = source.benchmark.card.title
    own = Leak(evaluated=f"{title}, the set that is explored",
               cases=len({item.case_id for item in items}), example=items[0].case_id)  # fmt: skip
    leaks = [own, *_leaks(items, hashes, others)]
    if not allow:
        raise Leaks(leaks)
    held_out = _held_out(board, places, items, source.benchmark, pictures)
    lines = _lines(board, places, point, items, hashes, source.benchmark)
    about = {
        "format": "groundfault training list",
        "version": 1,
        "benchmark": title,
        "content_hash": source.benchmark.card.content_hash,
        "images": str(source.images.resolve()),
        "items": len(items),
        "cases": own.cases,
        "held_out_cases": len(held_out),
        "leaks_allowed": leaks,
        "view": link,
        "licence": source.benchmark.card.licence,
    }
    with new_folder(out) as made:
        write_bytes(made / "train.jsonl", b"".join(msgspec.json.encode(x) + b"\n" for x in lines))
        write_bytes(made / "held-out.txt", "".join(f"{case}\n" for case in held_out).encode())
        write_json(made / "about.json", about)
    return about


def _lines(
    board: Board,
    places: Sequence[int],
    point: Point,
    items: Sequence[Item],
    hashes: Mapping[str, tuple[str, ...]],
    benchmark: Benchmark,
) -> Iterable[TrainingItem]:
    cases = {case.id: case for case in benchmark.cases}
    failed = _failed_by(board, places, point)
    for item in items:
        case = cases[item.case_id]
        yield TrainingItem(
            case_id=item.case_id,
            item_id=item.id,
            role=item.role.value,
            images=item.images,
            images_sha256=hashes[item.id],
            height_px=item.height_px,
            width_px=item.width_px,
            query=item.query,
            present=item.present,
            masks=tuple(region.mask for region in item.regions if region.mask is not None),
            target=item.target.mask if item.target else None,
            answer=item.answer,
            intervention=case.intervention,
            tags=case.tags,
            failed_by=failed.get(item.id, ()),
        )


def _failed_by(board: Board, places: Sequence[int], point: Point) -> dict[str, tuple[str, ...]]:
    """Item → runs that were wrong in its entry."""
    if not board.criteria:
        return {}
    right = board.right(point, next(iter(board.criteria)))
    found: dict[str, dict[str, None]] = {}
    for place in places:
        wrong = [board.runs[run].name for run in np.flatnonzero(right[:, place] == 0)]
        for asked in board.items(place):
            found.setdefault(asked.item_id, {}).update(dict.fromkeys(wrong))
    return {item: tuple(runs) for item, runs in found.items()}


class _Pictures:
    """Hashes of a benchmark's pictures, each made once."""

    def __init__(self, images: Path) -> None:
        self.images = images
        self._known: dict[str, str] = {}

    def path(self, name: str, item: str) -> Path:
        return within(self.images, name, file=self.images, record=f"item {item}")

    def size(self, name: str, item: str) -> int:
        """In bytes; −1 where it is gone."""
        path = self.path(name, item)
        return path.stat().st_size if path.is_file() else -1

    def sha256(self, name: str, item: str) -> str:
        if name not in self._known:
            path = self.path(name, item)
            if not path.is_file():
                raise DataError(
                    path, "no such picture", record=f"item {item}",
                    remedy="give the folder of the pictures with --images",
                )  # fmt: skip
            self._known[name] = sha256(path)
        return self._known[name]


def _same(
    items: Iterable[Item], pictures: _Pictures, hashes: set[str], sizes: set[int]
) -> set[str]:
    """Cases among the items that show one of these pictures. Only files of one of the sizes are
    read: others cannot be the same."""
    found = set()
    for item in items:
        if item.case_id in found:
            continue
        for name in item.images:
            if pictures.size(name, item.id) in sizes and pictures.sha256(name, item.id) in hashes:
                found.add(item.case_id)
    return found


def _leaks(
    items: Sequence[Item], hashes: Mapping[str, tuple[str, ...]], others: Mapping[str, Benchmark]
) -> Iterable[Leak]:
    """What of a list is in other evaluated sets."""
    owner = {sha: item.case_id for item in items for sha in hashes[item.id]}
    for name, benchmark in others.items():
        pictures = _Pictures(Path(benchmark.images))
        shown = {sha for item in benchmark.items for sha in _shown(item, pictures)}
        cases = sorted({owner[sha] for sha in shown & set(owner)})
        if cases:
            yield Leak(evaluated=name, cases=len(cases), example=cases[0])


def _shown(item: Item, pictures: _Pictures) -> Iterable[str]:
    return [
        pictures.sha256(name, item.id) for name in item.images if pictures.size(name, item.id) >= 0
    ]


def _held_out(
    board: Board,
    places: Sequence[int],
    items: Sequence[Item],
    benchmark: Benchmark,
    pictures: _Pictures,
) -> list[str]:
    """Cases that share neither a picture nor an origin with those of a list: another dose of one
    edit is no new case."""
    trained = {item.case_id for item in items}
    origins = np.isin(board.cluster, board.cluster[np.asarray(places)])
    kin = set(board.case_ids.filter(origins).to_pylist())
    rest = [item for item in benchmark.items if item.case_id not in trained | kin]
    hashes = {pictures.sha256(name, item.id) for item in items for name in item.images}
    sizes = {pictures.size(name, item.id) for item in items for name in item.images}
    same = _same(rest, pictures, hashes, sizes)
    return [case for case in dict.fromkeys(item.case_id for item in rest) if case not in same]
