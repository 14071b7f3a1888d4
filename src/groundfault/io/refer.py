"""RefCOCO, RefCOCO+ and RefCOCOg as REFER distributes them (Kazemzadeh et al., "ReferItGame"; Yu et
al., "Modeling Context in Referring Expressions"; Mao et al., "Generation and Comprehension of
Unambiguous Object Descriptions"): refs as a Python pickle or as JSON, and the instances that they
point to.

A pickle can run any program when it is opened. These are opened by a reader that knows lists,
dictionaries, texts and numbers and no name of any program, so that nothing can be run.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from groundfault.errors import DataError, UsageError
from groundfault.io.coco import ANNOTATIONS, Ref, Sentence
from groundfault.io.coco_photographs import CocoFile, photograph_of
from groundfault.io.foreign import open_file, read_json_object, stream_json_list
from groundfault.io.photographs import FalsePremise, Photograph, Thing

__all__ = ["REFS", "is_of_subset", "is_pickle", "read", "read_pickle", "read_refs", "refs_file"]

AnyPath = str | PathLike[str]

REFS = "refs: [{ref_id, ann_id, image_id, split, sentences: [{sent, sent_id, …}]}, …]"
INSTANCES = "instances.json"
MAX_PICKLE_BYTES = 1 << 30
"""The largest, of RefCOCOg, has 40 MB."""
NO_ANNOTATION = "-1"
_LISTS = ("sentences", "ann_id")
_JSON_STARTS = (b"[", b"{")


class _Plain(pickle._Unpickler):
    """Reads lists, dictionaries, texts and numbers; names nothing, so that it can call nothing.

    It is the one that Python has in Python: the one in C takes as much memory as a file of 20 bytes
    claims that it remembers.
    """

    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(f"it names {module}.{name}, which refs have no use for")

    def persistent_load(self, pid: Any) -> NoReturn:
        raise pickle.UnpicklingError("it points to something outside of itself")


class _Refs(msgspec.Struct):
    refs: list[Ref] = []


def is_pickle(path: AnyPath) -> bool:
    """Whether a file is no JSON and may be a pickle of any protocol."""
    with open_file(path) as file:
        head = file.read(4096)
    if head.startswith(b"\x80"):
        return True
    begins = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return bool(head) and begins not in _JSON_STARTS and Path(path).suffix in (".p", ".pkl")


def read_pickle(path: AnyPath) -> Any:
    """What a pickle of plain values holds, without running anything; others are refused."""
    with open_file(path) as file:
        content = file.read(MAX_PICKLE_BYTES + 1)
    if len(content) > MAX_PICKLE_BYTES:
        raise _unsound(path, f"it has more than {MAX_PICKLE_BYTES >> 20} MB")
    try:
        return _loaded(content)
    except RecursionError:
        raise _unsound(path, "its values are nested too deeply") from None
    except MemoryError:
        raise _unsound(path, "it claims more memory than there is") from None
    except Exception as problem:  # damaged pickles raise whatever their next byte happens to mean
        raise _unsound(path, f"it is no pickle of plain values ({problem})") from None


def _loaded(content: bytes) -> Any:
    """Texts that Python 2 wrote are bytes: UTF-8, or else one character each."""
    try:
        return _Plain(BytesIO(content), encoding="utf-8").load()
    except UnicodeDecodeError:
        return _Plain(BytesIO(content), encoding="latin-1").load()


def _unsound(path: AnyPath, problem: str) -> DataError:
    return DataError(path, problem, remedy=f"download it again, or write it as JSON: {REFS}")


def read_refs(path: AnyPath) -> list[Ref]:
    """The refs of a pickle, of a JSON list, or of a JSON object's `refs`; ref_ids occur once."""
    if is_pickle(path):
        refs = _from_pickle(path)
    elif _is_list(path):
        batches = stream_json_list(path, Ref, expected=f"a JSON list of {REFS}")
        refs = [ref for _, batch in batches for ref in batch]
    else:
        refs = read_json_object(path, _Refs, expected=REFS).refs
    if not refs:
        raise DataError(path, "it has no refs", remedy=f"give {REFS}")
    _check_ids(path, refs)
    return refs


def _from_pickle(path: AnyPath) -> list[Ref]:
    content = read_pickle(path)
    if not isinstance(content, list):
        raise _unsound(path, f"it holds {type(content).__name__}, not a list of refs")
    if _parts(content) > Path(path).stat().st_size:  # one list that all refs share, a bomb
        raise _unsound(path, "its refs have more sentences than the file has bytes")
    try:
        return msgspec.convert(content, list[Ref])
    except (msgspec.ValidationError, RecursionError) as problem:
        raise _unsound(path, f"its refs are unsound: {problem}") from None


def _parts(refs: Sequence[Any]) -> int:
    """How many sentences and annotations there are, counted as often as refs have them."""
    lists = (ref.get(name) for ref in refs if isinstance(ref, dict) for name in _LISTS)
    return sum(len(each) for each in lists if isinstance(each, list))


def _is_list(path: AnyPath) -> bool:
    with open_file(path) as file:
        return bool(file.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"["))


def _check_ids(path: AnyPath, refs: Sequence[Ref]) -> None:
    seen: set[str] = set()
    for number, ref in enumerate(refs):
        if str(ref.ref_id) in seen:
            raise DataError(
                path,
                f"ref_id {ref.ref_id} occurs twice",
                record=f"refs[{number}]",
                remedy="give every ref its own id",
            )
        seen.add(str(ref.ref_id))


def is_of_subset(split: str, subset: str) -> bool:
    """Whether a split belongs to a subset, by REFER's rule: "test" is every split that begins so,
    "testA" every one with an A after it.

    >>> is_of_subset("testA", "test"), is_of_subset("testAB", "testB"), is_of_subset("val", "test")
    (True, True, False)
    """
    if len(subset) == len("testA") and subset.startswith("test"):
        return split.startswith("test") and subset[-1] in split[len("test") :]
    return split.startswith("test") if subset == "test" else split == subset


def refs_file(folder: AnyPath, split_by: str = "") -> Path:
    """The refs in a folder as REFER lays it out: refs(unc).p, refs(google).p, refs(umd).p or JSON;
    `split_by` names one of several."""
    found = sorted(
        path
        for path in Path(folder).iterdir()
        if path.name.startswith("refs") and path.suffix in (".p", ".pkl", ".json")
    )
    named = [path for path in found if split_by in path.name] if split_by else found
    if len(named) == 1:
        return named[0]
    names = ", ".join(path.name for path in found) or "none"
    raise UsageError(
        f"{folder}: give one file of refs, or who split it ({names} there), e.g. split_by='unc'"
    )


def read(
    refs: AnyPath,
    instances: AnyPath | None = None,
    images: AnyPath | None = None,
    *,
    split: str | None = None,
    split_by: str = "",
    source: str = "refcoco",
) -> Iterator[Photograph]:
    """The photographs that refs point to, one at a time, with all their annotated things; those
    with referring expressions have them as `phrases`, in file order.

    `refs` is a file, or REFER's folder with refs(…).p and instances.json; `split_by` names one of
    several files in it. `split` keeps the refs of "train", "val", "test", "testA" or "testB".
    A photograph's split is that of its kept refs, "train+val" where they differ (RefCOCOg's google
    split divides things, not photographs). Sentences with a false premise become `false_premises`.
    """
    path = Path(refs)
    if path.is_dir():
        instances = path / INSTANCES if instances is None else instances
        path = refs_file(path, split_by)
    if instances is None:
        instances = path.parent / INSTANCES
    by_image = _by_image(path, read_refs(path), split)
    return _photographs(path, by_image, instances, images, source)


def _by_image(path: Path, refs: Sequence[Ref], split: str | None) -> dict[str, list[Ref]]:
    kept = [ref for ref in refs if split is None or is_of_subset(ref.split, split)]
    if not kept:
        known = ", ".join(sorted({ref.split for ref in refs}))
        raise UsageError(f"{path}: no ref is of the split '{split}'. Known: {known}.")
    found: dict[str, list[Ref]] = {}
    for ref in kept:
        found.setdefault(str(ref.image_id), []).append(ref)
    return found


def _photographs(
    path: Path,
    by_image: dict[str, list[Ref]],
    instances: AnyPath,
    images: AnyPath | None,
    source: str,
) -> Iterator[Photograph]:
    with CocoFile(instances) as file:
        missing = by_image.keys() - {str(image.id) for image in file.images}
        if missing:
            raise DataError(
                path,
                f"its image_id {min(missing)} is not among the images of {instances}",
                remedy=f"give the instances that belong to these refs: {ANNOTATIONS}",
            )
        for image in file.images:
            refs = by_image.pop(str(image.id), None)
            if refs is not None:
                yield _with_refs(path, photograph_of(file, image, images, source), refs)


def _with_refs(path: Path, photograph: Photograph, refs: Sequence[Ref]) -> Photograph:
    phrases: dict[str, list[str]] = {}
    false: list[FalsePremise] = []
    known = {thing.id for thing in photograph.things}
    for ref in refs:
        annotations = _annotations(path, ref, known)
        for sentence in ref.sentences:
            words = sentence.sent.strip()
            if not words:
                continue
            if _is_false(sentence, bool(annotations)):
                false.append(FalsePremise(words, (sentence.gt_sent or "").strip()))
            elif len(annotations) == 1:  # of several together, none is singled out
                phrases.setdefault(annotations[0], []).append(words)
    return msgspec.structs.replace(
        photograph,
        things=tuple(_with_phrases(photograph.things, phrases)),
        false_premises=tuple(false),
        split="+".join(sorted({ref.split for ref in refs if ref.split})),
    )


def _annotations(path: Path, ref: Ref, known: Iterable[str]) -> list[str]:
    """The ids of the things that a ref points to; none for −1."""
    wanted = ref.ann_id if isinstance(ref.ann_id, list) else [ref.ann_id]
    ids = [str(each) for each in wanted if str(each) != NO_ANNOTATION]
    stray = next((each for each in ids if each not in known), None)
    if stray is not None:
        raise DataError(
            path,
            f"its ann_id {stray} is not among the annotations of its image {ref.image_id}",
            record=f"ref_id {ref.ref_id}",
            remedy="give the instances that belong to these refs",
        )
    return ids


def _is_false(sentence: Sentence, annotated: bool) -> bool:
    if sentence.is_false_premise is not None:
        return sentence.is_false_premise
    return not (annotated if sentence.exist is None else sentence.exist)


def _with_phrases(things: Sequence[Thing], phrases: Mapping[str, Sequence[str]]) -> Iterator[Thing]:
    for thing in things:
        words = tuple(dict.fromkeys(phrases.get(thing.id, ())))
        yield msgspec.structs.replace(thing, phrases=words) if words else thing
