"""Cases as training data, with a guard against leaks.

Whoever trains on the cases that a model is evaluated on measures nothing afterwards. So a list is
refused where a picture of it is in an evaluated set: the explored one itself, another that is
explored beside it, or one that was named. Who allows it gets, beside the list, the cases that share
no picture and no origin with it: those are what may still be evaluated. What counts as the same
picture is what `train` counts as such: its content, its number in COCO, how it looks.

    NAME/train/          the cases as a benchmark folder with pictures, as our own trainers take it
    NAME/train.jsonl     the same for others: an item per line, pictures with hashes, masks, answer
    NAME/held-out/       the cases that are left for evaluation, without their pictures
    NAME/held-out.txt    their names
    NAME/data.toml       both as the lines of a recipe
    NAME/about.json      what was chosen, from what, and what the guard said
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from groundfault.benchmarks import folder
from groundfault.errors import DataError, UsageError
from groundfault.io.foreign import sha256, within
from groundfault.io.phash import ALIKE
from groundfault.io.store import new_folder, write_bytes, write_json
from groundfault.records import Answer, Benchmark, Item, Rle
from groundfault.training.segvlm.guard import find_leaks
from groundfault.web.explore.board import Board, Point
from groundfault.web.explore.exports import selected_items, source_of, write_benchmark

__all__ = ["Leak", "Leaks", "TrainingItem", "write_training_list"]


LOOKED_AT = 20_000
"""Pictures; each takes some milliseconds."""


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
    title = source.benchmark.card.title
    cases = len({item.case_id for item in items})
    own = Leak(
        evaluated=f"{title}, the set that is explored", cases=cases, example=items[0].case_id
    )
    leaks = [own, *_leaks(items, pictures, others)]
    if not allow:
        raise Leaks(leaks)
    held_out = _held_out(board, places, items, source.benchmark, pictures)
    lines = _lines(board, places, point, items, pictures, source.benchmark)
    about = {
        "format": "groundfault training list",
        "version": 1,
        "benchmark": title,
        "content_hash": source.benchmark.card.content_hash,
        "images": str(source.images.resolve()),
        "items": len(items),
        "cases": cases,
        "held_out_cases": len(held_out),
        "guarded_by": [
            "origin",
            "content",
            *(["looks"] if pictures.are_few(source.benchmark) else []),
        ],
        "leaks_allowed": leaks,
        "view": link,
        "licence": source.benchmark.card.licence,
    }
    with new_folder(out) as made:
        write_benchmark(board, places, made / "train", how=f"to be trained on ({link})")
        write_bytes(made / "train.jsonl", b"".join(msgspec.json.encode(x) + b"\n" for x in lines))
        write_bytes(made / "held-out.txt", "".join(f"{case}\n" for case in held_out).encode())
        if held_out:
            folder.write(_only(source.benchmark, held_out), made / "held-out")
        recipe = _recipe(out, source.images, bool(held_out))
        write_bytes(made / "data.toml", recipe.encode())
        write_json(made / "about.json", about)
    return about


def _only(benchmark: Benchmark, cases: Sequence[str]) -> Benchmark:
    """Some cases of a benchmark."""
    kept = set(cases)
    return msgspec.structs.replace(
        benchmark,
        cases=tuple(case for case in benchmark.cases if case.id in kept),
        items=tuple(item for item in benchmark.items if item.case_id in kept),
        extras={},
        card=msgspec.structs.replace(benchmark.card, content_hash=""),
    )


def _recipe(out: Path, images: Path, is_held_out: bool) -> str:
    """The lines of a recipe that learn from the one and measure on the other."""
    where = json.dumps(str(out.resolve()), ensure_ascii=False)[1:-1]
    pictures = json.dumps(str(images.resolve()), ensure_ascii=False)
    lines = [
        "# For a recipe of `groundfault train segvlm`.",
        "[[sources]]",
        'name = "hard-cases"',
        f'inputs = {{ folder = "{where}/train" }}',
    ]
    if is_held_out:
        lines += [
            "",
            "[[evaluation.sets]]",
            'name = "held-out"',
            f'inputs = {{ folder = "{where}/held-out", images = {pictures} }}',
        ]
    return "\n".join(lines) + "\n"


def _lines(
    board: Board,
    places: Sequence[int],
    point: Point,
    items: Sequence[Item],
    pictures: _Pictures,
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
            images_sha256=tuple(sha256(path) for path in pictures.of(item)),
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
    """The files of a benchmark's pictures."""

    def __init__(self, images: Path) -> None:
        self.images = images

    def of(self, item: Item) -> list[Path]:
        """Those of an item, which have to be there."""
        found = []
        for name in item.images:
            path = within(self.images, name, file=self.images, record=f"item {item.id}")
            if not path.is_file():
                raise DataError(
                    path, "no such picture", record=f"item {item.id}",
                    remedy="give the folder of the pictures with --images",
                )  # fmt: skip
            found.append(path)
        return found

    def cases(self, items: Iterable[Item]) -> dict[Path, list[str]]:
        """Picture → the cases that show it."""
        found: dict[Path, list[str]] = {}
        for item in items:
            for path in self.of(item):
                found.setdefault(path, []).append(item.case_id)
        return found

    def are_few(self, benchmark: Benchmark) -> bool:
        """Whether all can be looked at; of more, only the content is compared."""
        return len({name for item in benchmark.items for name in item.images}) <= LOOKED_AT


def _shared(
    learnt: Mapping[Path, Sequence[str]], measured: Sequence[Path], *, looks: bool
) -> set[str]:
    """Cases among those to be learnt that show a picture which is measured on, by the same rules as
    training itself. Without looks, the bytes of files that are equally long are compared."""
    if looks:
        leaks = find_leaks(list(learnt), measured, bits=ALIKE)
        return {case for leak in leaks for case in learnt[leak.learnt]}
    sizes = {path.stat().st_size for path in measured}
    same = [path for path in learnt if path.stat().st_size in sizes]
    lengths = {path.stat().st_size for path in same}
    hashes = {sha256(path) for path in measured if path.stat().st_size in lengths}
    return {case for path in same if sha256(path) in hashes for case in learnt[path]}


def _leaks(
    items: Sequence[Item], pictures: _Pictures, others: Mapping[str, Benchmark]
) -> Iterable[Leak]:
    """What of a list is in other evaluated sets."""
    learnt = pictures.cases(items)
    for name, benchmark in others.items():
        theirs = _Pictures(Path(benchmark.images))
        measured = list(theirs.cases(benchmark.items))
        cases = sorted(_shared(learnt, measured, looks=theirs.are_few(benchmark)))
        if cases:
            yield Leak(evaluated=name, cases=len(cases), example=cases[0])


def _held_out(
    board: Board,
    places: Sequence[int],
    items: Sequence[Item],
    benchmark: Benchmark,
    pictures: _Pictures,
) -> list[str]:
    """Cases that share neither a picture nor an origin with those of a list: another dose of one
    edit is no new case."""
    origins = np.isin(board.cluster, board.cluster[np.asarray(places)])
    kin = {item.case_id for item in items} | set(board.case_ids.filter(origins).to_pylist())
    rest = [item for item in benchmark.items if item.case_id not in kin]
    trained = list(pictures.cases(items))
    same = _shared(pictures.cases(rest), trained, looks=pictures.are_few(benchmark))
    return [case for case in dict.fromkeys(item.case_id for item in rest) if case not in same]
