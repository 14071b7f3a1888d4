"""A plain folder of photographs, of which nothing is known but their sizes."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path

from groundfault.errors import DataError, UsageError
from groundfault.io.coco_photographs import coco_id
from groundfault.io.foreign import within
from groundfault.io.photographs import Photograph
from groundfault.io.pictures import picture_size

__all__ = ["ENDINGS", "names_below", "read"]

AnyPath = str | PathLike[str]
ENDINGS = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff")


def read(folder: AnyPath, *, source: str = "folder", licence: str = "") -> Iterator[Photograph]:
    """The photographs below a folder, by name; hidden files and links out of it are left out. They
    have no things yet."""
    root = Path(folder)
    return (_photograph(root, name, source, licence) for name in names_below(root))


def names_below(folder: AnyPath) -> list[str]:
    """The names of all pictures below a folder, in order; hidden ones are left out."""
    root = Path(folder)
    if not root.is_dir():
        raise UsageError(f"{folder}: is no folder; give one with photographs")
    names = [
        path.relative_to(root)
        for path in sorted(root.rglob("*"))
        if path.suffix.lower() in ENDINGS and path.is_file()
    ]
    shown = [name for name in names if not any(part.startswith(".") for part in name.parts)]
    if not shown:
        raise UsageError(f"{folder}: has no photographs ({', '.join(ENDINGS)})")
    return [name.as_posix() for name in shown]


def _photograph(root: Path, name: str, source: str, licence: str) -> Photograph:
    path = within(root, name, file=root, record=name)
    try:
        height_px, width_px = picture_size(path)
    except (OSError, ValueError, SyntaxError) as problem:
        raise DataError(
            path, f"it is no readable picture ({problem})", remedy="repair it or take it away"
        ) from None
    return Photograph(
        id=name,
        source=source,
        file=name,
        height_px=height_px,
        width_px=width_px,
        exhaustive=False,
        licence=licence,
        coco_id=coco_id(name),
    )
