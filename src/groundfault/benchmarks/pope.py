"""POPE: is there such a thing in the image? Yes/no, with things that are not there drawn at random,
from the most frequent ones, or from those that go with what is there.

    coco_pope_random.json  coco_pope_popular.json  coco_pope_adversarial.json
    a line per question: {"question_id": 1, "image": "….jpg", "text": "Is there …?", "label": "yes"}

(Li et al., "Evaluating Object Hallucination in Large Vision-Language Models".) The case is the
image; how the absent things were drawn is the dimension of a question.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Literal

import msgspec

from groundfault.errors import DataError, UsageError
from groundfault.io.foreign import decode_json, sha256, within
from groundfault.io.inputs import Input, Outline
from groundfault.records import Answer, Benchmark, Card, Case, Item, Role

__all__ = [
    "ABOUT",
    "CARD",
    "INPUTS",
    "RUN_BY_US",
    "SAMPLINGS",
    "question_files",
    "read",
    "recognise",
]

AnyPath = str | PathLike[str]
SAMPLINGS = ("random", "popular", "adversarial")
"""How absent things were drawn, from the easiest to the hardest."""

CARD = Card(
    name="pope",
    protocol="yes-no",
    title="POPE",
    source="https://github.com/AoiDragon/POPE",
    licence="MIT",
    citation=(
        "Li et al., Evaluating Object Hallucination in Large Vision-Language Models, EMNLP 2023"
    ),
    main_metric="F1",
)


ABOUT = "POPE's files of yes/no questions"
INPUTS = (
    Input(
        "data",
        "POPE's files, or the folder that holds them: coco_pope_random.json, …",
        kind="folder",
    ),
    Input("images", "COCO's pictures.", kind="folder", required=False, pictures=True),
)
RUN_BY_US = (
    "POPE's adversarial file, and files of ours, with the baselines and scripted chat servers. "
    "No published model was asked."
)


WITHOUT_FILES = (
    f"They are at {CARD.source}: coco_pope_random.json, coco_pope_popular.json, "
    "coco_pope_adversarial.json; the pictures are COCO's val2014"
)


def recognise(outline: Outline) -> bool:
    """Whether a folder holds POPE's own files."""
    return outline.kind == "folder" and any(
        name.endswith(f"pope_{setting}.json") for name in outline.fields for setting in SAMPLINGS
    )


class _Line(msgspec.Struct, frozen=True, kw_only=True):
    question_id: int
    """Unique in the file."""
    image: str
    """COCO's file name."""
    text: str
    """The question."""
    label: Literal["yes", "no"]
    """The right answer."""


def read(data: AnyPath | Sequence[AnyPath], images: AnyPath | None = None) -> Benchmark:
    """Read POPE's files, or the folder that holds them, about the pictures in `images`; without
    them it can be looked at, not asked. The setting is the last word of a file's name."""
    files = question_files(data)
    if images is not None and not Path(images).is_dir():
        raise UsageError(f"{images}: no such folder of pictures")
    items: dict[str, list[Item]] = {}
    known: set[str] = set()
    for path, setting in [(path, _setting(path)) for path in files]:
        lines = _lines(path)
        if not lines:
            raise DataError(path, "it holds no question", remedy="get the file again")
        for number, line in enumerate(lines, start=1):
            record = f"line {number}"
            item = _item(path, record, line, setting)
            if item.id in known:
                twice = f"question {item.id.partition(':')[2]} occurs twice"
                raise DataError(path, twice, record=record, remedy="keep one of them")
            known.add(item.id)
            if item.image not in items:
                within(images or ".", item.image, file=path, record=record)
            items.setdefault(item.image, []).append(item)
    if not items:
        raise UsageError("no POPE question was given; name at least one file with questions")
    digest = ",".join(sha256(path) for path in files)
    return Benchmark(
        card=msgspec.structs.replace(CARD, content_hash=digest),
        cases=tuple(Case(id=image) for image in items),
        items=tuple(item for of_image in items.values() for item in of_image),
        images=str(images or ""),
        hashes={"benchmark": digest},
    )


def _setting(path: Path) -> str:
    found = path.stem.rpartition("_")[2]
    if found not in SAMPLINGS:
        raise UsageError(f"{path}: its name does not end in one of {', '.join(SAMPLINGS)}")
    return found


def _item(path: Path, record: str, line: bytes, setting: str) -> Item:
    try:
        found = decode_json(line, _Line)
    except msgspec.DecodeError as problem:
        remedy = "give a file as POPE publishes it, one question per line"
        raise DataError(path, str(problem), record=record, remedy=remedy) from None
    return Item(
        id=f"{setting}:{found.question_id}",
        case_id=found.image,
        role=Role.QUESTION,
        images=(found.image,),
        height_px=0,
        width_px=0,
        query=found.text,
        answer=Answer(type="YN", reference=found.label, dimension=setting),
    )


def _lines(path: Path) -> list[bytes]:
    try:
        return [line for line in path.read_bytes().splitlines() if line.strip()]
    except OSError as problem:
        raise UsageError(f"{path}: cannot be read ({problem.strerror})") from None


def question_files(data: AnyPath | Sequence[AnyPath]) -> list[Path]:
    """The files with questions: those given, or those in the folder given."""
    if not isinstance(data, (str, PathLike)):
        return [Path(file) for file in data]
    folder = Path(data)
    if folder.is_file() or not folder.is_dir():
        return [folder]
    found = [folder.glob(f"*pope_{setting}.json") for setting in SAMPLINGS]
    files = [path for paths in found for path in sorted(paths)]
    if not files:
        raise UsageError(f"{folder}: holds no coco_pope_random.json, …_popular, …_adversarial")
    families = sorted({path.stem.rpartition("_")[0] for path in files})
    if len(families) > 1:
        raise DataError(
            folder,
            f"it holds the questions of several sets ({', '.join(families)})",
            remedy="give a folder with the files of one, or one file",
        )
    return files
