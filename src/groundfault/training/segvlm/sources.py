"""Data sets as sources of samples. Whatever is a benchmark here can be learnt from too: quads of
HalluSegBench, premises of FP-RefCOCO, p⁺ and p⁻ of CAFE, any folder of ours."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from groundfault.errors import DataError, UsageError
from groundfault.io.foreign import within
from groundfault.io.masks import RLEMask, to_rle, union
from groundfault.io.sources import load
from groundfault.records import Benchmark, Item, Rle, Role
from groundfault.runs.benchmark import first_cases
from groundfault.training.segvlm import photographs
from groundfault.training.segvlm.mixture import Group, Source
from groundfault.training.segvlm.recipe import DataSet
from groundfault.training.segvlm.samples import Kind, Sample

__all__ = ["QUAD", "benchmark_of", "pictures_of", "source_of"]

QUAD = (Role.FACTUAL, Role.TEXTUAL, Role.VISUAL, Role.COUNTERFACTUAL)
_EDITED = (Role.VISUAL, Role.COUNTERFACTUAL)
_NO_INPUTS = frozenset({"name", "fetch", "verify", "options"})
"""What the loader takes besides inputs."""
_SHARES = {"true": 2.0, "false": 1.0, "referring": 1.0, "reasoning": 1.0}
"""RobustSeg's: twice as many true as false premises, as many referring as reasoning quads."""
_SHARES_OF = {"reasonseg": {"true": 0.85, "false": 0.15}}
"""SESAME's, of questions that need reasoning."""
_REFS = frozenset({"refcoco", "rrefcoco"})


def source_of(data: DataSet) -> Source:
    """Read a data set to learn from."""
    if data.format == "vqa":
        from groundfault.training.segvlm.conversations import read_vqa

        strata: dict[str, list[Group]] = {"vqa": read_vqa(data)}
        return Source(data.name, data.rate, strata, sentences=data.sentences)
    if data.format in photographs.READERS:
        return _by_premise(data, photographs.read_photographs(data))
    benchmark = benchmark_of(data)
    quads = [item for item in benchmark.items if item.role in QUAD]
    if quads:
        strata = _quads(benchmark, data, quads)
        return Source(data.name, data.rate, strata, _SHARES | data.shares, whole=True)
    return _by_premise(data, _premises(benchmark, data))


def _by_premise(data: DataSet, strata: dict[str, list[Group]]) -> Source:
    shares = _SHARES | _SHARES_OF.get(data.format, {}) | data.shares
    return Source(data.name, data.rate, strata, shares, sentences=data.sentences)


def benchmark_of(data: DataSet) -> Benchmark:
    """Read a data set as what it is; RefCOCO's refs as FP-RefCOCO's, with true premises alone."""
    if data.format in _REFS:
        data = photographs.as_premises(data)
    given: dict[str, Any] = dict(data.inputs)
    for key in _NO_INPUTS & given.keys():
        raise UsageError(f"data '{data.name}': inputs.{key} is no input of {data.format}")
    try:
        found = load(data.format, **given)
    except UsageError as problem:
        raise UsageError(f"data '{data.name}': {problem}") from None
    found = first_cases(found, data.limit or None)
    if not found.images or not Path(found.images).is_dir():
        raise UsageError(
            f"data '{data.name}': its pictures are not there ({found.images or 'nobody says where'}"
            "); give inputs.images"
        )
    return found


def pictures_of(data: DataSet) -> list[Path]:
    """The files of a data set's pictures, to be guarded."""
    if data.format in photographs.READERS:
        return photographs.pictures(data)
    benchmark = benchmark_of(data)
    names = dict.fromkeys(name for item in benchmark.items for name in item.images)
    return [Path(benchmark.images, name) for name in names]


def _quads(benchmark: Benchmark, data: DataSet, items: Iterable[Item]) -> dict[str, list[Group]]:
    """Whole quads by their task; without edited pictures, the half of each that has none."""
    tasks = {case.id: case.tags.get("task", "") or "referring" for case in benchmark.cases}
    by_case: dict[str, dict[Role, Item]] = defaultdict(dict)
    for item in items:
        by_case[item.case_id][item.role] = item
    roles = [role for role in QUAD if data.pictures or role not in _EDITED]
    found: dict[str, list[Group]] = defaultdict(list)
    for case_id, corners in by_case.items():
        missing = [role.value for role in QUAD if role not in corners]
        if missing:
            raise DataError(
                data.name,
                f"has no {' and no '.join(missing)} corner",
                record=f"case {case_id}",
                remedy="give whole quads, or leave the case out",
            )
        found[tasks[case_id]].append(
            tuple(_sample(data, benchmark, corners[role], role.value) for role in roles)
        )
    return dict(found)


def _premises(benchmark: Benchmark, data: DataSet) -> dict[str, list[Group]]:
    """True and false premises, those about one picture together."""
    by_picture: dict[str, dict[str, list[Sample]]] = {"true": {}, "false": {}}
    for item in benchmark.items:
        if item.role == Role.QUESTION:
            raise UsageError(
                f"data '{data.name}' is asked in words; here, things with masks are learnt, or vqa"
            )
        kind: Kind = "true" if item.present else "false"
        if not item.present and not item.exhaustive:
            continue  # nobody looked whether it is there
        sample = _sample(data, benchmark, item, kind)
        by_picture[kind].setdefault(item.image, []).append(sample)
    return {kind: [tuple(own) for own in groups.values()] for kind, groups in by_picture.items()}


def _sample(data: DataSet, benchmark: Benchmark, item: Item, kind: Any) -> Sample:
    picture = within(benchmark.images, item.image, file=data.name, record=f"item {item.id}")
    masks = tuple(region.mask for region in item.regions if region.mask is not None)
    there = item.answer.reference if item.answer is not None and not item.present else ""
    return Sample(
        id=f"{data.name}/{item.id}",
        image=str(picture),
        query=item.query,
        kind=kind,
        mask=_joined(masks) if item.present else None,
        instances=masks if len(masks) > 1 else (),
        there=there,
        case_id=item.case_id,
    )


def _joined(masks: Sequence[Rle]) -> Rle | None:
    if len(masks) < 2:
        return masks[0] if masks else None
    parts = [RLEMask.from_dict(dict(mask)) for mask in masks]
    return to_rle(union(parts))
