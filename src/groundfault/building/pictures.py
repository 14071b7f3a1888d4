"""Pictures of a build: files below its folder, named by their candidate and their content, so that
an edit under other settings never takes the place of an earlier one."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Sequence
from functools import lru_cache
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from groundfault.errors import DataError, UsageError
from groundfault.io.foreign import within
from groundfault.io.photographs import Photograph
from groundfault.io.pictures import is_plain, read_image
from groundfault.io.store import write_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Image = NDArray[np.uint8]

__all__ = [
    "AMONG_OTHERS",
    "EDITED",
    "PICTURES",
    "Packing",
    "find_photograph",
    "keep_image",
    "keep_original",
    "original_content",
    "png_content",
    "read_kept",
    "read_photograph",
]

PICTURES = "pictures"
EDITED = "An edited photograph: parts of it were changed on purpose."
"""Stands in the metadata of an edited picture, where all of a set are."""
AMONG_OTHERS = (
    "From a set of photographs of which some were changed on purpose; its provenance.parquet says "
    "which."
)
"""Stands in the metadata of every picture, edited or not, where both are shown: what is sent to a
model must not tell one from the other but by its pixels."""


def find_photograph(photograph: Photograph, folders: Sequence[str | PathLike[str]]) -> Path:
    """The file of a photograph, in the first of the folders that has it."""
    record = f"photograph {photograph.id}"
    places = [within(f, photograph.file, file=photograph.source, record=record) for f in folders]
    for place in places:
        if place.is_file():
            return place
    if not folders:
        raise UsageError("say where the photographs are with --images DIR")
    raise DataError(
        places[0], "no such photograph", record=record, remedy="give its folder with --images"
    )


def read_photograph(photograph: Photograph, folders: Sequence[str | PathLike[str]]) -> Image:
    """The pixels that the annotations are about, (height, width, 3) RGB; a picture of another size
    than its annotations say is refused."""
    size_px = (photograph.height_px, photograph.width_px)
    path = find_photograph(photograph, folders)
    try:
        image = _read(path, size_px)
    except (OSError, ValueError, SyntaxError, AssertionError, IndexError) as problem:
        raise _unsound(path, photograph, f"cannot be decoded ({problem})") from None
    if image.shape[:2] != size_px:
        claim = f"is {image.shape[1]}x{image.shape[0]}, its annotations are about "
        raise _unsound(path, photograph, f"{claim}{size_px[1]}x{size_px[0]} pixels")
    return image


def read_kept(folder: Path, name: str) -> Image:
    """The pixels of a picture that a build has kept."""
    path = folder / name
    try:
        return _read(path)
    except (OSError, ValueError, SyntaxError, AssertionError, IndexError) as problem:
        raise DataError(
            path,
            f"cannot be decoded ({problem})",
            record=f"picture {name}",
            remedy="delete stages/edit.journal of the build: the same command edits again",
        ) from None


def _read(path: Path, size_px: tuple[int, int] | None = None) -> Image:
    """A picture's pixels, which nobody can write to."""
    now = path.stat()
    return _decoded(path, size_px, now.st_mtime_ns, now.st_size)


@lru_cache(maxsize=2)
def _decoded(path: Path, size_px: tuple[int, int] | None, modified_ns: int, size: int) -> Image:
    """Candidates of one photograph follow each other: it is decoded for the first of them."""
    return read_image(path, size_px=size_px)


def _unsound(path: Path, photograph: Photograph, problem: str) -> DataError:
    return DataError(
        path, problem, record=f"photograph {photograph.id}", remedy="fetch or leave out the picture"
    )


def keep_original(folder: Path, photograph: Photograph, path: Path, image: Image) -> str:
    """Keep a photograph, once for all candidates that it has. Returns its name below the build's
    folder."""
    content, suffix = original_content(path, image)
    return _keep(folder, Path(photograph.file).stem, content, suffix)


def original_content(path: Path, image: Image) -> tuple[bytes, str]:
    """A photograph's file as it is; where decoders may differ about it, a PNG of its pixels. With
    its suffix."""
    content, suffix = path.read_bytes(), path.suffix.lower()
    if suffix in (".jpg", ".jpeg", ".png") and is_plain(content):
        return content, suffix
    return png_content(image, ""), ".png"


def keep_image(folder: Path, name: str, image: Image) -> str:
    """Keep an edited picture. Returns its name below the folder."""
    return _keep(folder, name, png_content(image, EDITED), ".png")


def _keep(folder: Path, name: str, content: bytes, suffix: str) -> str:
    digest = hashlib.sha256(content).hexdigest()[:12]
    plain = re.sub(r"[^\w.-]+", "-", name).strip("-.")[:80] or "picture"
    kept = f"{PICTURES}/{plain}-{digest}{suffix}"
    if not (folder / kept).is_file():
        write_bytes(folder / kept, content, durable=False)
    return kept


def png_content(image: Image, about: str, packing: Packing = "runs") -> bytes:
    """Pixels as a PNG that says so of itself; the same pixels always give the same bytes."""
    from PIL import Image as Pillow
    from PIL.PngImagePlugin import PngInfo

    said = PngInfo()
    if about:
        said.add_text("Comment", about)
    content = BytesIO()
    options: dict[str, Any] = {"pnginfo": said, **PACKINGS[packing]}
    Pillow.fromarray(image).save(content, "PNG", **options)
    return content.getvalue()


Packing = Literal["deflate", "runs"]
"""How the pixels of a PNG are packed. By `runs` photographs take a third of the time of `deflate`
and 2 % more room; releases that were made before know no other than `deflate`."""
PACKINGS: dict[Packing, dict[str, int]] = {
    "deflate": {"compress_level": 6},
    "runs": {"compress_level": 1, "compress_type": zlib.Z_RLE},
}
