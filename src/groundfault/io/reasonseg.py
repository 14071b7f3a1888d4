"""ReasonSeg (Lai et al., "LISA: Reasoning Segmentation via Large Language Model"), and its version
with false premises (Wu et al., "See, Say, and Segment"): a JSON file beside each picture.

`shapes` are polygons, painted from the largest to the smallest: a label with "ignore" in it is
neither thing nor background, "flag" is not painted, any other is the thing. `text` are questions
where `is_sentence` says so, else phrases. `false_premise_QA` are [question, is_sentence, answer].
Some files are cp1252.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from groundfault.errors import DataError, UsageError
from groundfault.io.foreign import decode_json, open_file, within
from groundfault.io.masks import MAX_PIXELS, encode
from groundfault.io.photographs import FalsePremise, Photograph, Thing
from groundfault.io.pictures import picture_size

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SPLITS", "read"]

AnyPath = str | PathLike[str]

SPLITS = ("train", "val", "test")
PICTURES = (".jpg", ".jpeg", ".png")
TARGET_ID = "target"
MAX_FILE_BYTES = 1 << 26
FORMAT = "ReasonSeg: {shapes: [{label, points}], text: […], is_sentence}"
IGNORED, THING = 2, 1


class _Shape(msgspec.Struct):
    points: list[tuple[float, float]]
    label: str = TARGET_ID


class _Annotation(msgspec.Struct):
    shapes: list[_Shape]
    text: str | list[str]
    is_sentence: bool = False
    false_premise_QA: list[Any] | None = None  # noqa: N815


def read(
    folder: AnyPath,
    images: AnyPath | None = None,
    *,
    split: str | None = None,
    source: str = "reasonseg",
) -> Iterator[Photograph]:
    """The photographs of a folder of ReasonSeg, one at a time, by name.

    The folder has a JSON file per picture, or folders train, val and test of them, of which `split`
    takes one. Pictures are beside their files or, with `images`, in the same place below that
    folder. The one thing of a photograph has no category; its mask is the union of its shapes, its
    `ignored` what the annotators left open.
    """
    root = Path(folder)
    if not root.is_dir():
        raise UsageError(f"{folder}: is no folder; give the one that has ReasonSeg's JSON files")
    found = list(_files(root, split))
    if not found:
        raise UsageError(
            f"{folder}: has no JSON files{f' of the split {split}' if split else ''}; give "
            "ReasonSeg's folder, or one of its train, val and test"
        )
    pictures = root if images is None else Path(images)
    return (_photograph(root, path, pictures, name, source) for path, name in found)


def _files(root: Path, split: str | None) -> Iterator[tuple[Path, str]]:
    """(file, its split) of all of them."""
    parts = [name for name in SPLITS if (root / name).is_dir()]
    if split is not None and parts:
        parts = [name for name in parts if name == split]
    elif split is not None and root.name != split:
        return
    for name in parts:
        yield from ((path, name) for path in sorted((root / name).glob("*.json")))
    if not parts:
        own = root.name if root.name in SPLITS else ""
        yield from ((path, own) for path in sorted(root.glob("*.json")))


def _photograph(root: Path, path: Path, pictures: Path, split: str, source: str) -> Photograph:
    annotation = _annotation(path)
    file = _picture(root, path, pictures)
    try:
        height_px, width_px = picture_size(pictures / file)
    except (OSError, ValueError, SyntaxError) as problem:
        raise DataError(
            path, f"its picture cannot be read ({problem})", remedy="download the picture again"
        ) from None
    if not 0 < height_px * width_px <= MAX_PIXELS:
        raise DataError(
            path, f"its picture claims {width_px}x{height_px} pixels", remedy="leave it out"
        )
    painted = _painted(path, annotation.shapes, height_px, width_px)
    words = [annotation.text] if isinstance(annotation.text, str) else annotation.text
    said = tuple(each.strip() for each in words if each.strip())
    ignored = painted == IGNORED
    thing = Thing(
        id=TARGET_ID,
        category="",
        mask=encode(painted == THING),
        ignored=encode(ignored) if ignored.any() else None,
        phrases=() if annotation.is_sentence else said,
        questions=said if annotation.is_sentence else (),
    )
    return Photograph(
        id=file.rpartition(".")[0],
        source=source,
        file=file,
        height_px=height_px,
        width_px=width_px,
        things=(thing,) if (painted == THING).any() else (),
        false_premises=tuple(_false_premises(path, annotation.false_premise_QA or [])),
        split=split,
    )


def _annotation(path: Path) -> _Annotation:
    with open_file(path) as file:
        content = file.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise DataError(
            path, f"it has more than {MAX_FILE_BYTES >> 20} MB", remedy=f"give {FORMAT}"
        )
    try:
        return decode_json(_as_utf8(content), _Annotation)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise DataError(path, str(problem), remedy=f"give {FORMAT}") from None


def _as_utf8(content: bytes) -> bytes:
    """The same text in UTF-8; bytes that are none are cp1252, and those that it does not have are
    one character each."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        try:
            return content.decode("cp1252").encode()
        except UnicodeDecodeError:
            return content.decode("latin-1").encode()
    return content.removeprefix(b"\xef\xbb\xbf")


def _picture(root: Path, path: Path, pictures: Path) -> str:
    """The name of a file's picture below the folder of pictures."""
    stem = path.relative_to(root).with_suffix("").as_posix()
    for ending in (*PICTURES, *(each.upper() for each in PICTURES)):
        place = within(pictures, stem + ending, file=path, record="its picture")
        if place.is_file():
            return stem + ending
    raise DataError(
        path,
        f"its picture {stem}.jpg is not in {pictures}, and without it nobody knows its size",
        remedy="put the pictures beside their JSON files, or say where they are",
    )


def _painted(
    path: Path, shapes: Sequence[_Shape], height_px: int, width_px: int
) -> NDArray[np.uint8]:
    """0 for background, and what is painted last: the smaller shapes."""
    layers = []
    for number, shape in enumerate(shapes):
        if shape.label.lower() == "flag" or not shape.points:
            continue
        _check_points(path, number, shape.points, height_px, width_px)
        value = IGNORED if "ignore" in shape.label.lower() else THING
        layers.append((_polygon(shape.points, height_px, width_px), value))
    layers.sort(key=lambda layer: -int(layer[0].sum()))
    canvas = np.zeros((height_px, width_px), np.uint8)
    for pixels, value in layers:
        canvas[pixels] = value
    return canvas


def _check_points(
    path: Path, number: int, points: Sequence[tuple[float, float]], height_px: int, width_px: int
) -> None:
    values = np.asarray(points, dtype=np.float64)
    farthest = 4 * max(height_px, width_px) + 1000
    if not np.isfinite(values).all() or np.abs(values).max() > farthest:
        raise DataError(
            path,
            "its points lie far outside the picture",
            record=f"shapes[{number}]",
            remedy="correct the shape or leave it out",
        )


def _polygon(
    points: Sequence[tuple[float, float]], height_px: int, width_px: int
) -> NDArray[np.bool_]:
    """The pixels of a polygon with its outline; fractions of pixels are cut off, as published."""
    from PIL import Image, ImageDraw

    canvas: Any = Image.new("1", (width_px, height_px))
    corners = [(int(x), int(y)) for x, y in points]
    if len(corners) < 3:
        ImageDraw.Draw(canvas).line([*corners, corners[0]], fill=1)
    else:
        ImageDraw.Draw(canvas).polygon(corners, fill=1, outline=1)
    return np.asarray(canvas, dtype=bool)


def _false_premises(path: Path, found: list[Any]) -> Iterator[FalsePremise]:
    """From a list of triples, or one triple alone."""
    try:
        triples = msgspec.convert(
            [found] if found and isinstance(found[0], str) else found, list[tuple[str, bool, str]]
        )
    except msgspec.ValidationError as problem:
        raise DataError(
            path, f"its false_premise_QA are unsound: {problem}",
            remedy="give [question, is_sentence, answer] of each",
        ) from None  # fmt: skip
    for text, is_sentence, answer in triples:
        yield FalsePremise(text.strip(), answer.strip(), is_sentence)
