"""The photographs that benchmarks are built from, by the name of their source.

Every photograph carries its source, licence and address to the end. Where the folder of pictures
is given, each picture is looked for and its size compared with what the annotations say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import msgspec

from groundfault.building.folder_masks import MIN_SCORE, masked
from groundfault.building.mining.spread import Spread
from groundfault.errors import DataError, UnknownName, UsageError
from groundfault.io import (
    coco_photographs,
    fsc147,
    picture_folder,
    reasonseg,
    refer,
    saco_photographs,
    visual_genome,
)
from groundfault.io.foreign import within
from groundfault.io.photographs import Photograph
from groundfault.io.pictures import picture_size

__all__ = [
    "SOURCES",
    "Source",
    "SourceOptions",
    "photographs",
    "picture_path",
    "with_pictures",
]

AnyPath = str | PathLike[str]
Files = AnyPath | Sequence[AnyPath]


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A set of photographs with annotations."""

    name: str
    about: str
    annotations: str
    """What is to be given, in words."""
    read: Callable[..., Iterator[Photograph]]
    """(files, images, split, the source's own options) → photographs."""
    options: tuple[str, ...] = ()
    """What can be said besides."""
    licence: str = ""
    """Of pictures whose own licence the files do not say."""
    splits: bool = False
    """A split can be chosen."""


class SourceOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What can be said of a source besides its files: `[source.options]` of a recipe."""

    split: str | None = None
    """One split alone: REFER's, ReasonSeg's, FSC147's; of COCO and LVIS, how it is called."""
    licence: str = ""
    """Of pictures for which the files say none."""
    segmenter: str = ""
    """Of a plain folder: the model that finds things in it."""
    phrases: tuple[str, ...] = ()
    """What it looks for; without any, things of COCO's categories, no people."""
    min_score: float = MIN_SCORE
    """Of the masks that it gives, which are taken."""
    split_by: str = ""
    """Of RefCOCO: whose splits, "unc", "google" or "umd"."""
    names: str = "name"
    """Of Visual Genome: what things are called, "name" or "synset"."""
    partial: bool = False
    """Of Visual Genome: the folder may lack some files."""


def _one(files: Sequence[AnyPath], source: str) -> AnyPath:
    if len(files) != 1:
        raise UsageError(f"{source}: give one file or folder of annotations, not {len(files)}")
    return files[0]


def _coco(name: str) -> Callable[..., Iterator[Photograph]]:
    def read(files: Sequence[AnyPath], images: AnyPath | None, split: str | None) -> Any:
        return (
            found
            for path in files
            for found in coco_photographs.read(path, images, source=name, split=split or "")
        )

    return read


def _saco(files: Sequence[AnyPath], images: AnyPath | None, split: str | None) -> Any:
    return saco_photographs.read(files)


def _refer(name: str) -> Callable[..., Iterator[Photograph]]:
    def read(
        files: Sequence[AnyPath], images: AnyPath | None, split: str | None, split_by: str = ""
    ) -> Any:
        if len(files) > 2:
            raise UsageError(f"{name}: give REFER's folder, or refs and instances as two files")
        refs, *instances = _refs_first(files)
        beside = instances[0] if instances else None
        return refer.read(refs, beside, images, split=split, split_by=split_by, source=name)

    return read


def _refs_first(files: Sequence[AnyPath]) -> Sequence[AnyPath]:
    """Refs and instances, in whatever order they were given."""
    swapped = len(files) == 2 and Path(files[0]).name.startswith("instances")
    return list(reversed(files)) if swapped else files


def _reasonseg(files: Sequence[AnyPath], images: AnyPath | None, split: str | None) -> Any:
    return reasonseg.read(_one(files, "reasonseg"), images, split=split)


def _visual_genome(
    files: Sequence[AnyPath],
    images: AnyPath | None,
    split: str | None,
    names: Literal["name", "synset"] = "name",
    partial: bool = False,
) -> Any:
    if names not in ("name", "synset"):
        raise UnknownName("kind of names", names, ("name", "synset"))
    return visual_genome.read(_one(files, "visual-genome"), images, names=names, partial=partial)


def _fsc147(files: Sequence[AnyPath], images: AnyPath | None, split: str | None) -> Any:
    return fsc147.read(_one(files, "fsc147"), images, split=split)


def _folder(files: Sequence[AnyPath], images: AnyPath | None, split: str | None) -> Any:
    return picture_folder.read(_one(files or ([images] if images else []), "folder"))


_REFS = "REFER's folder (refs(…).p, instances.json), or both files"
_COCO_TERMS = "images from COCO under the Flickr terms"
SOURCES: Mapping[str, Source] = {
    each.name: each
    for each in (
        Source(
            name="coco",
            about="COCO instances, or any set in COCO's format",
            annotations="a JSON file with images, annotations and categories; several for parts",
            read=_coco("coco"),
        ),
        Source(
            name="lvis",
            about="LVIS, with what is absent and what is not exhaustively annotated",
            annotations="lvis_v1_*.json",
            read=_coco("lvis"),
            licence=_COCO_TERMS,
        ),
        Source(
            name="saco",
            about="SA-Co/Gold: noun phrases, by three annotators",
            annotations="a JSON file per annotator, or per part",
            read=_saco,
            licence="as the card of SA-Co says (MetaCLIP and SA-1B pictures)",
        ),
        *(
            Source(
                name=name,
                about=f"{title}: referring expressions",
                annotations=_REFS,
                read=_refer(name),
                licence=_COCO_TERMS,
                splits=True,
                options=("split_by",),
            )
            for name, title in (
                ("refcoco", "RefCOCO"),
                ("refcoco+", "RefCOCO+"),
                ("refcocog", "RefCOCOg"),
            )
        ),
        Source(
            name="reasonseg",
            about="ReasonSeg: questions whose answer is a thing",
            annotations="the folder with train, val and test, or one of them",
            read=_reasonseg,
            licence="as ReasonSeg's source says; its files name none",
            splits=True,
        ),
        Source(
            name="visual-genome",
            about="Visual Genome: objects, attributes, relationships",
            annotations="the folder with objects.json, attributes.json, relationships.json, "
            "image_data.json",
            read=_visual_genome,
            licence="CC BY 4.0 (Visual Genome)",
            options=("names", "partial"),
        ),
        Source(
            name="fsc147",
            about="FSC147: counted things",
            annotations="the folder with annotation_FSC147_384.json and its lists",
            read=_fsc147,
            licence="as FSC147's source says; its files name none",
            splits=True,
        ),
        Source(
            name="folder",
            about="a plain folder of photographs, masked by a segmenter",
            annotations="the folder",
            read=_folder,
        ),
    )
}  # fmt: skip


def photographs(
    source: str,
    *,
    annotations: Files = (),
    images: AnyPath | None = None,
    split: str | None = None,
    licence: str = "",
    on_missing: Callable[[Photograph, str], None] | None = None,
    spread: Spread | None = None,
    segmenter: str = "",
    phrases: Sequence[str] = (),
    min_score: float = MIN_SCORE,
    **options: Any,
) -> Iterator[Photograph]:
    """The photographs of a source, one at a time, in its own order.

    `annotations` are its files or folder, as `SOURCES[source].annotations` says; `images` the
    folder of pictures: with it, each picture has to be there and of the size that its annotations
    say. One that is not ends the reading with a DataError or, where `on_missing` is given, is left
    out, after `on_missing(photograph, why)` was told. With `spread`, photographs are passed over
    that it does not want, and a segmenter sees them in its order. `split` keeps one split.
    `licence` is said of pictures for which the files say none; without it, what is known of the
    whole set is.
    In a plain folder, `segmenter` (a model's name) finds the things that `phrases` name, with at
    least `min_score`; without it, photographs have no things. `options` are the source's own:
    `split_by` of RefCOCO ("unc", "google", "umd"), `names` of Visual Genome ("synset").
    """
    known = SOURCES.get(source)
    if known is None:
        raise UnknownName("source", source, SOURCES)
    if split is not None and not (known.splits or source in ("coco", "lvis")):
        raise UsageError(f"{source} has no splits; leave split '{split}' out")
    if segmenter and source != "folder":
        raise UsageError(f"{source} has things of its own; a segmenter is for a plain folder")
    for name in options:
        if name not in known.options:
            raise UsageError(f"{source} has no option '{name}'; leave it out")
    files = [annotations] if isinstance(annotations, (str, PathLike)) else list(annotations)
    if not files and not (source == "folder" and images):
        raise UsageError(f"{source}: give its annotations: {known.annotations}")
    found = known.read(files, images, split, **options)
    words = licence or known.licence
    licensed = (
        each if each.licence else msgspec.structs.replace(each, licence=words) for each in found
    )
    if spread is not None:
        in_turn = sorted(licensed, key=spread.turn) if segmenter else licensed
        licensed = (each for each in in_turn if spread.wants(each))
    beside = files[0] if files and source in ("folder", "reasonseg") else None
    place = beside if images is None else images
    if place is None:
        return licensed
    there = with_pictures(licensed, place, on_missing)
    if not segmenter:
        return there
    return masked(there, place, segmenter, phrases=phrases, min_score=min_score)


def with_pictures(
    photographs: Iterable[Photograph],
    images: AnyPath,
    on_missing: Callable[[Photograph, str], None] | None = None,
) -> Iterator[Photograph]:
    """Those whose picture is in the folder, readable, and of the right size."""
    for photograph in photographs:
        path = picture_path(photograph, images)
        why = _trouble(path, photograph)
        if not why:
            yield photograph
        elif on_missing is None:
            raise DataError(
                path,
                why,
                record=f"photograph {photograph.id} of {photograph.source}",
                remedy="give the folder that the annotations belong to, or drop such pictures: "
                'missing = "drop" in [source] of a recipe',
            )
        else:
            on_missing(photograph, why)


def picture_path(photograph: Photograph, images: AnyPath) -> Path:
    """Where a photograph's picture is; its name must not lead out of the folder."""
    record = f"photograph {photograph.id}"
    return within(images, photograph.file, file=photograph.source, record=record)


def _trouble(path: Path, photograph: Photograph) -> str:
    """What is wrong with a picture; "" if nothing is."""
    if not path.is_file():
        return "there is no such picture"
    try:
        size = picture_size(path)
    except (OSError, ValueError, SyntaxError) as problem:
        return f"it is no readable picture ({problem})"
    said = (photograph.height_px, photograph.width_px)
    if said in (size, size[::-1]):  # annotations may be about the pixels as they are stored
        return ""
    return f"it is {size[1]}x{size[0]} pixels, {said[1]}x{said[0]} by its annotations"
