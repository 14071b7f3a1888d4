"""Several files of image–phrase pairs: parts of one set, or annotators of the same images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path

import msgspec

from groundfault.errors import UsageError
from groundfault.io.coco import ANNOTATIONS, Id
from groundfault.io.foreign import read_json_object
from groundfault.records import Benchmark

__all__ = ["are_parts", "read_files"]

AnyPath = str | PathLike[str]


class _Image(msgspec.Struct, gc=False):
    """What tells one image–phrase pair from another."""

    id: Id
    file_name: str = ""
    text_input: str = ""


class _File(msgspec.Struct):
    images: list[_Image] = []


def read_files(
    paths: Sequence[AnyPath], read: Callable[[Sequence[AnyPath]], Benchmark]
) -> Benchmark:
    """Read one file, parts of one set, or the files of several annotators, which `read` takes
    together; which of both was understood is noted."""
    if len({Path(path).resolve() for path in paths}) < len(paths):
        raise UsageError("a file of annotations is given twice; give each of them once")
    if len(paths) < 2:
        return read(paths)
    if are_parts(paths):
        return _joined(paths, [read([path]) for path in paths])
    found = read(paths)
    notes = [f"The {len(paths)} files are read as annotators of the same images."]
    first, *others = ({str(image.id) for image in _images(path)} for path in paths)
    if left_out := len(set().union(*others) - first):
        notes.append(
            f"{left_out} image–phrase pairs are not in the first file, {Path(paths[0]).name}, and "
            "are left out, as the published evaluator does; put the fullest file first."
        )
    return msgspec.structs.replace(found, notes=(*notes, *found.notes))


def _images(path: AnyPath) -> list[_Image]:
    return read_json_object(path, _File, expected=ANNOTATIONS).images


def are_parts(paths: Sequence[AnyPath]) -> bool:
    """Whether no image–phrase pair is in two of the files. The same id with another picture or
    phrase is another pair: parts may be numbered alike."""
    seen: set[tuple[str, str, str]] = set()
    for path in paths:
        images = _images(path)
        own = {(str(image.id), image.file_name, image.text_input) for image in images}
        if seen & own:
            return False
        seen |= own
    return True


def _joined(paths: Sequence[AnyPath], parts: Sequence[Benchmark]) -> Benchmark:
    """The parts one after the other; where their ids repeat, the file's name is put before them."""
    notes = [f"The {len(parts)} files are read as parts of one set: no image is in two of them."]
    ids = [item.id for part in parts for item in part.items]
    if len(set(ids)) < len(ids):
        names = [Path(path).stem for path in paths]
        if len(set(names)) < len(names):
            names = [str(number) for number in range(1, len(paths) + 1)]
        parts = [_renamed(part, name) for part, name in zip(parts, names, strict=True)]
        notes.append(
            f"Ids repeat in them, so the file's name stands before each, as in "
            f"{parts[0].items[0].id}; predictions that name the ids alone do not fit."
        )
    return msgspec.structs.replace(
        parts[0],
        cases=tuple(case for part in parts for case in part.cases),
        items=tuple(item for part in parts for item in part.items),
        categories=tuple(dict.fromkeys(c for part in parts for c in part.categories)),
        notes=(*notes, *(note for part in parts for note in part.notes)),
    )


def _renamed(part: Benchmark, name: str) -> Benchmark:
    change = msgspec.structs.replace
    return change(
        part,
        cases=tuple(change(case, id=f"{name}/{case.id}") for case in part.cases),
        items=tuple(
            change(item, id=f"{name}/{item.id}", case_id=f"{name}/{item.case_id}")
            for item in part.items
        ),
    )
