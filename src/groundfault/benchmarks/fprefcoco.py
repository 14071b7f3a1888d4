"""FP-RefCOCO(+/g): does a referring segmenter notice that what a sentence speaks of is not there?
(Wu et al., "See, Say, and Segment: Teaching LMMs to Overcome False Premises")

Two layouts are read.

*Pairs*: COCO-like, one `images` entry is an (image, sentence) pair with `text_input`. A true
premise has annotations, a false one has none. `fp_source_id` puts an entry into the case of the
entry it was made from; without it, an entry is its own case. The query's id is the entry's. A
false premise may say in `gt_sent` what is there instead.

*Refs*, as REFER has them: `refs` with their `sentences`, and the instances they point to with
`ann_id` (one, a list, or −1 for none), in one file or two. A sentence says that its premise is
false by `is_false_premise: true` or `exist: false`; where it says neither, the premise is true if
the ref points to an annotation. The ref is the case. The query's id is `sent_id` if every sentence
has one of its own, else "{ref_id}:{position in the ref}". `gt_sent` as above. The subsets are
REFER's: `test` is every ref whose split begins so, `testA` every one with an A after it.

Several annotations of a true premise mean their union. A false premise has no regions; what its
ref (or source) points to is the target: where a mask that should not be there would land.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec

from groundfault.errors import DataError, UsageError
from groundfault.io.coco import (
    ANNOTATIONS,
    AnnotationFile,
    Id,
    Ref,
    Sentence,
    image_size,
    index_images,
    read_annotations,
    read_phrases,
    regions_by_image,
)
from groundfault.io.coco_categories import annotated_regions
from groundfault.io.coco_writing import write_phrases, written_id
from groundfault.io.foreign import open_file, read_json_object
from groundfault.io.inputs import Input, Layout, Outline
from groundfault.io.masks import RLEMask, to_rle, union
from groundfault.io.refer import REFS, is_of_subset, is_pickle, read_refs
from groundfault.records import Answer, Benchmark, Card, Case, Item, Region, Role

__all__ = [
    "ABOUT",
    "CARD",
    "INPUTS",
    "INTERVENTION",
    "LAYOUT",
    "RUN_BY_US",
    "inspector",
    "obstacle",
    "read",
    "recognise",
    "write",
]

AnyPath = str | PathLike[str]

INTERVENTION = "false premise"
NO_ANNOTATION = "-1"

CARD = Card(
    name="fprefcoco",
    protocol="referring",
    title="FP-RefCOCO",
    source="github.com/see-say-segment/sesame, dataset/README.md",
    licence="annotations as released with SESAME; images from COCO under the Flickr terms",
    citation="Wu et al., See, Say, and Segment: Teaching LMMs to Overcome False Premises",
    main_metric="See",
)
ABOUT = "referring expressions with false premises (FP-RefCOCO)"
INPUTS = (
    Input("annotations", "Pairs, or refs and instances as two files: JSON.", "files"),
    Input("images", "Folder of the pictures.", "folder", required=False, pictures=True),
    Input("subset", "Only val, testA, testB or test; pairs have none.", "text", required=False),
)
RUN_BY_US = (
    "Files of ours in both layouts, with scripted answers. Not the published refs with a "
    "published model."
)
LAYOUT = Layout(phrases=True)
_PHRASES = frozenset({"text_input", "fp_source_id"})
_OTHERS = frozenset({"edit_type", "neg_category_ids", "not_exhaustive_category_ids"})


def recognise(outline: Outline) -> bool:
    """Whether a file has refs, or phrases that were made from one another."""
    fields = outline.fields
    if outline.kind == "list":
        return {"ref_id", "sentences"} <= fields
    pairs = fields >= _PHRASES and not fields & _OTHERS
    return outline.kind == "object" and ("refs" in fields or pairs)


def inspector(draft: Any) -> Any:
    """Looks through a list of refs."""
    from groundfault.io.inspection.lists import Refs

    return Refs(draft)


def read(
    annotations: Sequence[AnyPath],
    images: AnyPath | None = None,
    subset: str | None = None,
    *,
    verify: bool = True,
) -> Benchmark:
    """Read one file of either layout, or refs and instances from two files in any order.

    `subset` keeps the refs of one split, as REFER chooses them; pairs have none.
    """
    paths = annotations
    if len(paths) not in (1, 2):
        raise UsageError(f"FP-RefCOCO: give one file, or refs and instances, not {len(paths)}")
    refs_file = next((path for path in paths if _holds_refs(path)), None)
    if refs_file is None:
        if len(paths) == 2:
            raise UsageError(f"neither {paths[0]} nor {paths[1]} has refs; give {REFS}")
        if subset is not None:
            raise UsageError(f"{paths[0]}: image–sentence pairs have no subsets; leave it out")
        return _read_pairs(paths[0], verify)
    instances_file = paths[0] if refs_file == paths[-1] else paths[-1]
    refs = read_refs(refs_file)
    if len(paths) == 1 and _is_list(refs_file):
        raise DataError(
            refs_file,
            "it has refs, but not the images and annotations they point to",
            remedy="give the instances file too",
        )
    if subset is not None:
        refs = _of_subset(refs_file, refs, subset)
    return _read_refer(refs_file, refs, instances_file, verify)


class _Refs(msgspec.Struct):
    """Whether there are refs, without looking into them."""

    refs: list[msgspec.Raw] = []


def _holds_refs(path: AnyPath) -> bool:
    """A list can only be refs; an object has them under "refs"."""
    if _is_list(path):
        return True
    return bool(read_json_object(path, _Refs, expected=f"{ANNOTATIONS}, or {REFS}").refs)


def _is_list(path: AnyPath) -> bool:
    """Whether a file has refs alone: a JSON list, or a pickle of one."""
    if is_pickle(path):
        return True
    with open_file(path) as file:
        head = file.read(4096)
    return bool(head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"["))


def _of_subset(path: AnyPath, refs: Sequence[Ref], subset: str) -> list[Ref]:
    kept = [ref for ref in refs if is_of_subset(ref.split, subset)]
    if kept:
        return kept
    known = sorted({ref.split for ref in refs if ref.split})
    if any(split.startswith("test") and split != "test" for split in known):
        known.append("test")
    raise UsageError(f"{path}: no ref is of the subset '{subset}'. Known: {', '.join(known)}.")


def _read_refer(
    refs_file: AnyPath, refs: Sequence[Ref], instances_file: AnyPath, verify: bool
) -> Benchmark:
    data = read_annotations(instances_file)
    position = index_images(instances_file, data)
    found, normalised = annotated_regions(instances_file, data, position, verify=verify)
    by_annotation = {
        str(annotation.id): (place, region)
        for place, annotated in enumerate(found)
        for annotation, region in annotated
    }
    own_ids = _sentence_ids_are_unique(refs)
    cases, items, notes = [], [], []
    for number, ref in enumerate(refs):
        record = f"refs[{number}] (ref_id {ref.ref_id})"
        place = position.get(str(ref.image_id))
        if place is None:
            raise DataError(
                refs_file,
                f"its image_id {ref.image_id} is not among the images of {instances_file}",
                record=record,
                remedy="give the instances that belong to these refs",
            )
        regions = _pointed_to(refs_file, record, ref, place, by_annotation)
        target = _joined(regions)
        image = data.images[place]
        height_px, width_px = image_size(instances_file, image, regions)
        case_items = []
        for k, sentence in enumerate(ref.sentences):
            true_premise = _premise(refs_file, f"{record}, sentences[{k}]", sentence, bool(regions))
            case_items.append(
                Item(
                    id=str(sentence.sent_id) if own_ids else f"{ref.ref_id}:{k}",
                    case_id=str(ref.ref_id),
                    role=Role.POSITIVE if true_premise else Role.NEGATIVE,
                    images=(image.file_name,),
                    height_px=height_px,
                    width_px=width_px,
                    query=sentence.sent,
                    regions=regions if true_premise else (),
                    target=target,
                    answer=None if true_premise else _what_is_there(sentence.gt_sent),
                )
            )
        if case_items:
            tags = {"split": ref.split} if ref.split else {}
            cases.append(_case(str(ref.ref_id), case_items, tags))
            items += case_items
    if len(cases) < len(refs):
        left_out = len(refs) - len(cases)
        notes.append(f"{left_out} of {len(refs)} refs have no sentence and were left out.")
    if normalised:
        notes.append(f"The boxes of {instances_file} are normalised (0–1); scaled to pixels.")
    return _benchmark(cases, items, data, notes)


def _sentence_ids_are_unique(refs: Sequence[Ref]) -> bool:
    ids = [sentence.sent_id for ref in refs for sentence in ref.sentences]
    return None not in ids and len({str(sent_id) for sent_id in ids}) == len(ids)


def _pointed_to(
    path: AnyPath,
    record: str,
    ref: Ref,
    place: int,
    by_annotation: Mapping[str, tuple[int, Region]],
) -> tuple[Region, ...]:
    """The regions of a ref's annotations, which must be of its image; none for −1."""
    wanted: Sequence[Id] = ref.ann_id if isinstance(ref.ann_id, list) else [ref.ann_id]
    regions = []
    for annotation_id in map(str, wanted):
        if annotation_id == NO_ANNOTATION:
            continue
        annotated_in, region = by_annotation.get(annotation_id, (None, None))
        if region is None or annotated_in != place:
            problem = "is of another image" if region else "is not among the annotations"
            raise DataError(
                path,
                f"its ann_id {annotation_id} {problem}",
                record=record,
                remedy="give the instances that belong to these refs",
            )
        regions.append(region)
    return tuple(regions)


def _premise(path: AnyPath, record: str, sentence: Sentence, annotated: bool) -> bool:
    """Whether what a sentence speaks of is there."""
    said = {
        value
        for value in (
            None if sentence.is_false_premise is None else not sentence.is_false_premise,
            sentence.exist,
        )
        if value is not None
    }
    if len(said) == 2:
        raise DataError(
            path,
            "its is_false_premise and exist contradict each other",
            record=record,
            remedy="keep the right one of both",
        )
    true_premise = said.pop() if said else annotated
    if true_premise and not annotated:
        raise DataError(
            path,
            "its premise is true, but its ref points to no annotation",
            record=record,
            remedy="give the ref its ann_id, or mark the sentence as a false premise",
        )
    return true_premise


def _what_is_there(description: str | None) -> Answer | None:
    """What an answer to a false premise should name, where that is known."""
    said = (description or "").strip()
    return Answer(type="SA", reference=said) if said else None


def _joined(regions: Sequence[Region]) -> Region | None:
    """One region for all; the first where one of several has no mask."""
    if len(regions) < 2:
        return regions[0] if regions else None
    masks = [RLEMask.from_dict({**region.mask}) for region in regions if region.mask is not None]
    return Region(to_rle(union(masks))) if len(masks) == len(regions) else regions[0]


def _read_pairs(path: AnyPath, verify: bool) -> Benchmark:
    data = read_phrases(path)
    position = index_images(path, data)
    regions, normalised = regions_by_image(path, data, position, verify=verify)
    members: dict[int, list[int]] = {}
    for number in range(len(data.images)):
        members.setdefault(_first_of_case(path, data, position, number), []).append(number)
    cases, items, notes = [], [], []
    for first, numbers in sorted(members.items()):
        case_items = _pair_items(path, data, regions, first, numbers)
        cases.append(_case(case_items[0].case_id, case_items, {}))
        items += case_items
    annotated = [
        n for n, image in enumerate(data.images) if regions[n] and image.fp_source_id is not None
    ]
    if annotated:
        notes.append(
            f"{len(annotated)} entries with an fp_source_id have masks, e.g. image "
            f"{data.images[annotated[0]].id}: they are true premises of the same case."
        )
    if normalised:
        notes.append(f"The boxes of {path} are normalised (0–1); scaled to pixels.")
    return _benchmark(cases, items, data, notes)


def _pair_items(
    path: AnyPath,
    data: AnnotationFile,
    regions: Sequence[tuple[Region, ...]],
    first: int,
    numbers: Sequence[int],
) -> list[Item]:
    """The items of one case, the entry that the others were made from first."""
    source = data.images[first]
    source_size = image_size(path, source, regions[first])
    items = []
    for number in sorted(numbers, key=lambda number: number != first):
        image, there = data.images[number], regions[number]
        sized = bool(there or image.height or image.width)
        size = image_size(path, image, there) if sized else source_size
        same_picture = (image.file_name, size) == (source.file_name, source_size)
        items.append(
            Item(
                id=str(image.id),
                case_id=str(source.id),
                role=Role.POSITIVE if there else Role.NEGATIVE,
                images=(image.file_name,),
                height_px=size[0],
                width_px=size[1],
                query=image.text_input,
                regions=there,
                target=_joined(there or (regions[first] if same_picture else ())),
                answer=None if there else _what_is_there(image.gt_sent),
            )
        )
    return items


def _first_of_case(
    path: AnyPath, data: AnnotationFile, position: dict[str, int], number: int
) -> int:
    """The entry that an entry was made from, and that one's, as far as it goes."""
    seen = [number]
    while (source := data.images[seen[-1]].fp_source_id) is not None:
        origin = position.get(str(source))
        if origin is None or origin in seen:
            problem = "is not the id of another entry" if origin is None else "leads in a circle"
            raise DataError(
                path,
                f"its fp_source_id {source} {problem}",
                record=f"images[{seen[-1]}] (id {data.images[seen[-1]].id})",
                remedy="name the true premise that it was made from, or drop the field",
            )
        seen.append(origin)
    return seen[-1]


def _case(case_id: str, items: Sequence[Item], tags: dict[str, str]) -> Case:
    false = any(item.role is Role.NEGATIVE for item in items)
    return Case(id=case_id, intervention=INTERVENTION if false else "", tags=tags)


def _benchmark(
    cases: Sequence[Case], items: Sequence[Item], data: AnnotationFile, notes: Sequence[str]
) -> Benchmark:
    return Benchmark(
        card=CARD,
        cases=tuple(cases),
        items=tuple(items),
        categories=tuple(category.id for category in data.categories),
        notes=tuple(notes),
    )


def obstacle(benchmark: Benchmark) -> str | None:
    """Why a benchmark cannot be written so: a query must be about the picture of its case."""
    both = any(item.role not in (Role.POSITIVE, Role.NEGATIVE) for item in benchmark.items)
    return "its cases are about two images each" if both else None


def write(benchmark: Benchmark, path: AnyPath) -> tuple[Path, ...]:
    """Write image–sentence pairs; entries of one case name its first true premise in
    `fp_source_id`."""
    first: dict[str, str] = {}
    for item in sorted(benchmark.items, key=lambda item: not item.present):
        first.setdefault(item.case_id, item.id)

    def fields(item: Item) -> dict[str, Any]:
        source = first[item.case_id]
        made = {} if source == item.id else {"fp_source_id": written_id(source)}
        return made if item.answer is None else {**made, "gt_sent": item.answer.reference}

    one_annotator = tuple(msgspec.structs.replace(i, alternatives=()) for i in benchmark.items)
    benchmark = msgspec.structs.replace(benchmark, items=one_annotator)
    ids = {item.id: written_id(item.id) for item in benchmark.items}
    return write_phrases(benchmark, path, format_name="fprefcoco", ids=ids, fields=fields)
