"""Photographs of one's own, phrases, and what is known about the phrases: nothing is labelled.

    DIR/audit.json    phrases with their relations, and every picture that is asked about
    DIR/images/       photographs under the hash of their content, changed ones beside them

`groundfault audit` makes such a folder. A picture is known by its name, which follows from its
content or from what was done to which photograph: so an item is known by its id, and what was
answered once need not be asked again when pictures or phrases are added.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path, PurePosixPath

import msgspec

from groundfault.errors import DataError
from groundfault.io.foreign import read_json_object
from groundfault.io.inputs import Input, Outline
from groundfault.io.phrases import Phrases, sound_phrases
from groundfault.io.store import write_json
from groundfault.records import Benchmark, Card, Case, Item, Region, Rle, Role

__all__ = [
    "ABOUT",
    "CARD",
    "IMAGES",
    "INPUTS",
    "RUN_BY_US",
    "AuditEdit",
    "AuditPicture",
    "AuditSet",
    "as_benchmark",
    "audit_set",
    "read",
    "recognise",
    "write_set",
]

AnyPath = str | PathLike[str]
FORMAT, FORMAT_VERSION = "groundfault audit", 1
HEADER, IMAGES = "audit.json", "images"
SET = "audit"
"""Under this name a benchmark's settings have the set that it was made of."""
ABOUT = "photographs of one's own with phrases, as `groundfault audit` writes them"
CARD = Card(
    name="audit",
    protocol="phrase-relations",
    title="Your photographs",
    source="a folder of photographs and a phrases file",
    licence="that of the photographs",
    citation="groundfault, docs/audit.md: these measures are its own",
    main_metric="contradiction_rate",
)
INPUTS = (Input("set", "Folder with audit.json and images.", "folder"),)
RUN_BY_US = (
    "A scripted model with known contradictions, nano on rendered pictures, an ONNX segmenter as a "
    "plug-in, and COCO photographs with the annotators' masks and with tiny random networks."
)


class AuditEdit(msgspec.Struct, frozen=True, kw_only=True):
    """What an editor did to a photograph."""

    kind: str
    """surface, material, context; "none" is an edit that changes nothing."""
    value: str = ""
    """The new surface, material or place."""
    phrase: str
    """What the region is, by the segmenter that marked it."""
    region: Rle
    """Where the edited thing is."""
    masked_by: str
    """Who marked the region: nobody has checked it."""
    editor: str
    """Who edited, with its version."""


class AuditPicture(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One picture that is asked about."""

    file: str
    """Its name below images/."""
    photograph: str
    """What its owner calls the photograph that it is, or was made from."""
    height_px: int
    """Of this picture."""
    width_px: int
    """Of this picture."""
    change: str = ""
    """A harmless change: "mirrored", "scaled" …; "" of photographs and of edits."""
    frame_xywh: tuple[int, int, int, int] | None = None
    """The part of the photograph that it shows, in pixels; None for all of it."""
    edit: AuditEdit | None = None
    """What an editor did to it, if one did."""

    @property
    def is_photograph(self) -> bool:
        """Whether nothing was done to it."""
        return not self.change and self.edit is None

    def item_id(self, phrase: str) -> str:
        """How the question for a phrase is known."""
        return f"{PurePosixPath(self.file).stem}:{phrase}"


class AuditSet(msgspec.Struct, frozen=True, kw_only=True):
    """The content of audit.json; the pictures of one photograph stand together, itself first."""

    format: str = FORMAT
    """Always this; another is refused."""
    version: int = FORMAT_VERSION
    """Of the format."""
    phrases: Phrases
    """What is asked, and what is known about it."""
    pictures: tuple[AuditPicture, ...]
    """What it is asked about."""
    about: str = ""
    """What a reader of the numbers must know, as who made the masks of edits."""
    notes: tuple[str, ...] = ()
    """What a reader should know."""


def recognise(outline: Outline) -> bool:
    """Whether it is a folder with audit.json."""
    return outline.kind == "folder" and HEADER in outline.fields


def write_set(folder: AnyPath, found: AuditSet) -> None:
    """Write audit.json; the pictures are there already."""
    write_json(Path(folder) / HEADER, found)


def read(set: AnyPath) -> Benchmark:
    """Read a folder that `groundfault audit` wrote."""
    path = Path(set) / HEADER
    found = read_json_object(path, AuditSet, expected="the audit.json of an audit")
    if found.format != FORMAT or not 1 <= found.version <= FORMAT_VERSION:
        raise DataError(
            path,
            f"it is '{found.format}' of version {found.version}",
            remedy=f"give one of '{FORMAT}', version {FORMAT_VERSION} at most",
        )
    checked = msgspec.structs.replace(found, phrases=sound_phrases(found.phrases, path))
    _check_pictures(checked, path)
    return as_benchmark(checked, Path(set) / IMAGES)


def _check_pictures(found: AuditSet, path: Path) -> None:
    remedy = "run the audit again, which writes it"
    for picture in found.pictures:
        if PurePosixPath(picture.file).name != picture.file or "\\" in picture.file:
            problem = f"{picture.file!r} is no plain file name"
            raise DataError(path, problem, record=picture.photograph, remedy=remedy)
        if min(picture.height_px, picture.width_px) < 1:
            problem = f"{picture.width_px}x{picture.height_px} pixels"
            raise DataError(path, problem, record=picture.file, remedy=remedy)
    files = [picture.file for picture in found.pictures]
    if len(set(files)) < len(files):
        raise DataError(path, "a picture is listed twice", remedy=remedy)
    if _apart(found):
        raise DataError(path, "pictures of one photograph stand apart", remedy=remedy)


def _apart(found: AuditSet) -> bool:
    """Whether a photograph comes after what was made from it, or its pictures are scattered."""
    seen: set[str] = set()
    last = ""
    for number, picture in enumerate(found.pictures):
        new = number == 0 or picture.photograph != last
        if (new and picture.photograph in seen) or new != picture.is_photograph:
            return True
        seen.add(picture.photograph)
        last = picture.photograph
    return False


def as_benchmark(found: AuditSet, images: AnyPath) -> Benchmark:
    """Every phrase asked of every picture; a case is a photograph with all that was made of it."""
    title = found.phrases.title or CARD.title
    card = msgspec.structs.replace(CARD, title=title, about=found.about)
    photographs = [picture.photograph for picture in found.pictures if picture.is_photograph]
    return Benchmark(
        card=card,
        cases=tuple(Case(id=name) for name in photographs),
        items=tuple(_items(found)),
        notes=found.notes,
        images=str(images),
        settings={SET: found},
    )


def _items(found: AuditSet) -> Iterator[Item]:
    absent = set(found.phrases.absent)
    for picture in found.pictures:
        for phrase in found.phrases.asked():
            edit = picture.edit
            yield Item(
                id=picture.item_id(phrase),
                case_id=picture.photograph,
                role=Role.NEGATIVE if phrase in absent else Role.POSITIVE,
                images=(picture.file,),
                height_px=picture.height_px,
                width_px=picture.width_px,
                query=phrase,
                target=None if edit is None else Region(edit.region),
                exhaustive=False,
            )


def audit_set(settings: Mapping[str, object]) -> AuditSet:
    """The set behind a benchmark, from its settings."""
    found = settings.get(SET)
    if not isinstance(found, AuditSet):
        raise DataError("benchmark", "it is no audit", remedy="give a folder that audit wrote")
    return found
