"""Photographs with referring expressions and questions as samples: RefCOCO(+/g), R-RefCOCO (whose
refs say of each sentence whether its thing exists) and ReasonSeg, with false premises where they
have some."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from groundfault.errors import UsageError
from groundfault.io import reasonseg, refer
from groundfault.io.foreign import within
from groundfault.io.photographs import FalsePremise, Photograph
from groundfault.training.segvlm.mixture import Group
from groundfault.training.segvlm.recipe import DataSet
from groundfault.training.segvlm.samples import Sample

__all__ = ["READERS", "as_premises", "pictures", "read_photographs"]

READERS: dict[str, Callable[..., Iterator[Photograph]]] = {
    "refcoco": refer.read,
    "rrefcoco": refer.read,
    "reasonseg": reasonseg.read,
}
_FIRST = {"refcoco": "refs", "rrefcoco": "refs", "reasonseg": "folder"}


def read_photographs(data: DataSet) -> dict[str, list[Group]]:
    """True and false premises, those about one photograph together."""
    found: dict[str, list[Group]] = {"true": [], "false": []}
    for photograph in islice(_photographs(data), data.limit or None):
        true, false = list(_true(data, photograph)), list(_false(data, photograph))
        if true:
            found["true"].append(tuple(true))
        if false:
            found["false"].append(tuple(false))
    return found


def pictures(data: DataSet) -> list[Path]:
    """The files of the photographs, to be guarded."""
    return [Path(_folder(data), each.file) for each in _photographs(data)]


def as_premises(data: DataSet) -> DataSet:
    """Refs to be measured on: each sentence is a query of FP-RefCOCO's format, whose Segment is
    cIoU and whose See_true falls where a model denies what is there."""
    given = dict(data.inputs)
    if "refs" not in given:
        raise UsageError(f"data '{data.name}': {data.format} needs inputs.refs")
    place = Path(str(given.pop("refs")))
    split_by, subset = str(given.pop("split_by", "")), given.pop("split", None)
    folder = place if place.is_dir() else place.parent
    refs = refer.refs_file(place, split_by) if place.is_dir() else place
    files = [str(refs), str(given.pop("instances", folder / refer.INSTANCES))]
    inputs = given | {"annotations": files} | ({"subset": subset} if subset else {})
    return msgspec.structs.replace(data, format="fprefcoco", inputs=inputs)


def _photographs(data: DataSet) -> Iterator[Photograph]:
    first = _FIRST[data.format]
    if first not in data.inputs:
        raise UsageError(f"data '{data.name}': {data.format} needs inputs.{first}")
    try:
        return READERS[data.format](**data.inputs)
    except TypeError as problem:
        raise UsageError(f"data '{data.name}': {problem}") from None


def _folder(data: DataSet) -> str:
    given: Any = data.inputs.get("images") or data.inputs[_FIRST[data.format]]
    return str(given)


def _true(data: DataSet, photograph: Photograph) -> Iterator[Sample]:
    for thing in photograph.things:
        if thing.mask is None or thing.crowd:
            continue
        for place, words in enumerate((*thing.phrases, *thing.questions)):
            yield Sample(
                id=f"{data.name}/{photograph.id}:{thing.id}:{place}",
                image=_picture(data, photograph),
                query=words,
                kind="true",
                mask=thing.mask,
                ignored=thing.ignored,
                case_id=photograph.id,
            )


def _false(data: DataSet, photograph: Photograph) -> Iterator[Sample]:
    for place, premise in enumerate(photograph.false_premises):
        yield Sample(
            id=f"{data.name}/{photograph.id}:false:{place}",
            image=_picture(data, photograph),
            query=premise.text,
            kind="false",
            case_id=photograph.id,
            **_said(data, premise),
        )


def _said(data: DataSet, premise: FalsePremise) -> dict[str, Any]:
    """ReasonSeg has whole answers to false premises, refs only what is there instead."""
    return {"answer" if data.format == "reasonseg" else "there": premise.answer}


def _picture(data: DataSet, photograph: Photograph) -> str:
    record = f"photograph {photograph.id}"
    return str(within(_folder(data), photograph.file, file=data.name, record=record))
