"""A release as a folder for a hub: Parquet that Hugging Face's `datasets` reads, a card, and a
Croissant description.

    DIR/hub/data/test-00000-of-00001.parquet   a row per case, pictures inside
    DIR/hub/README.md                          the card, with the settings that the hub reads
    DIR/hub/croissant.json                     what the columns are, for every loader that knows it

`provenance.parquet`, which the card names, is put beside them (`releasing`). Neither `datasets` nor
`mlcroissant` is needed to write it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from groundfault.building.records import Candidate
from groundfault.io.store import write_bytes, write_json
from groundfault.io.wording import printable, worded
from groundfault.records import Benchmark, Rle

__all__ = ["HUB", "write_hub_folder"]

FileOf = Callable[[str], Path]
HUB = "hub"
DATA = "data/test-00000-of-00001.parquet"
ROWS = 32
"""Cases held in memory at a time, with their pictures."""
TEXTS = {
    "case_id": "The case's own id.",
    "task": "What was done: SM, CC, OC, replacement, erasure, attribute or tracing.",
    "category": "What the target is.",
    "positive": "A phrase that is true of the target in the edited picture (of a replacement: in "
    "the original).",
    "negative": "A phrase that is false there (of a replacement: true in the edited picture).",
    "instruction": "What the editor was told.",
    "rationale": "Why that misleads.",
    "questions": "The questions of an exam, as JSON.",
    "source": "The set that the photograph is from.",
    "source_image_id": "The photograph's id there.",
    "source_annotation_id": "The target's id there.",
    "licence": "Of the photograph.",
    "url": "Where the photograph comes from.",
    "editor": "Who edited it.",
}
PICTURES = {"image": "The edited picture.", "original": "The photograph."}
MASKS = {
    "mask": "The target, in COCO's run-length code.",
    "edited_mask": "Where the new thing is, if it is elsewhere; empty counts if not.",
}


class Publication(Protocol):
    """What a release says of its publication; "" where it says nothing."""

    @property
    def version(self) -> str: ...
    @property
    def date(self) -> str: ...
    @property
    def url(self) -> str: ...


def write_hub_folder(
    candidates: Sequence[Candidate],
    released: Benchmark,
    file_of: FileOf,
    place: Path,
    published: Publication,
) -> None:
    """Write the folder; its files are the same for the same release. `file_of` is where a build's
    picture is."""
    path = place / DATA
    path.parent.mkdir(parents=True)
    _write_table(path, candidates, file_of)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    write_bytes(place / "README.md", _card(released, len(candidates), digest).encode())
    write_json(place / "croissant.json", _croissant(released, digest, published))


def _write_table(path: Path, candidates: Sequence[Candidate], file_of: FileOf) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = _schema()
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for start in range(0, len(candidates), ROWS):
            rows = [_row(candidate, file_of) for candidate in candidates[start : start + ROWS]]
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))


def _schema() -> Any:
    """Columns with the note that makes pictures of them for `datasets`."""
    import pyarrow as pa

    picture = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    mask = pa.struct([("size", pa.list_(pa.int32())), ("counts", pa.string())])
    kinds = [(name, pa.string()) for name in TEXTS]
    kinds += [(name, picture) for name in PICTURES] + [(name, mask) for name in MASKS]
    text = {"dtype": "string", "_type": "Value"}
    size = {"feature": {"dtype": "int32", "_type": "Value"}, "_type": "List"}
    features: dict[str, object] = dict.fromkeys(TEXTS, text)
    features |= {key: {"_type": "Image"} for key in PICTURES}
    features |= {key: {"size": size, "counts": text} for key in MASKS}
    said = msgspec.json.encode({"info": {"features": features}})
    return pa.schema(kinds, metadata={"huggingface": said})


def _row(candidate: Candidate, file_of: FileOf) -> dict[str, Any]:
    proposal, edited, photograph = candidate.proposal, candidate.edited, candidate.photograph
    assert proposal is not None and edited is not None
    return {
        "case_id": candidate.id,
        "task": candidate.task,
        "category": candidate.target.category,
        "positive": proposal.positive,
        "negative": proposal.negative,
        "instruction": proposal.instruction,
        "rationale": proposal.rationale,
        "questions": msgspec.json.encode(candidate.questions).decode(),
        "source": photograph.source,
        "source_image_id": photograph.id,
        "source_annotation_id": candidate.target.id,
        "licence": photograph.licence,
        "url": photograph.url,
        "editor": edited.editor,
        "image": _picture(file_of(edited.after), candidate.id),
        "original": _picture(file_of(edited.before), Path(photograph.file).stem),
        "mask": _mask(candidate.target.mask),
        "edited_mask": _mask(edited.mask),
    }


def _picture(path: Path, name: str) -> dict[str, Any]:
    return {"bytes": path.read_bytes(), "path": f"{Path(name).name}{path.suffix}"}


def _mask(mask: Rle | None) -> dict[str, Any]:
    return {"size": [], "counts": ""} if mask is None else {**mask, "size": list(mask["size"])}


def _card(released: Benchmark, count: int, digest: str) -> str:
    """README.md; its head is what the hub reads. `datasets` keeps what it has read by the names of
    folder and configuration: of two releases it would give the first twice, had they one name."""
    card = released.card
    size = next(name for most, name in SIZES if count < most)
    kinds = {"exam": "visual-question-answering"}.get(card.protocol, "image-segmentation")
    return f"""---
license: other
license_name: by-photograph
pretty_name: {msgspec.json.encode(card.title).decode()}
task_categories: [{kinds}]
tags: [counterfactual, hallucination, groundfault]
size_categories: ['{size}']
configs:
- config_name: release-{digest[:8]}
  data_files:
  - split: test
    path: {DATA}
---
# {card.title}

{card.about}

{card.source}. {count} cases; licences: {_said(card.licence)}.

```python
import datasets
cases = datasets.load_dataset("PATH OF THIS FOLDER", split="test")
```
"""


def _said(words: str) -> str:
    """Words of a source's files in the card."""
    return worded(printable(words))


SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (10**12, "100K<n<1M"),
)
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""Croissant's vocabulary, as its specification has it."""


def _croissant(released: Benchmark, digest: str, published: Publication) -> dict[str, Any]:
    """The description in Croissant 1.1."""
    card = released.card
    said = {"version": published.version, "datePublished": published.date, "url": published.url}
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": card.name,
        "description": f"{card.title}. {card.about}",
        "license": card.licence,
        "citeAs": card.citation,
        **{name: value for name, value in said.items() if value},
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": "cases",
                "name": "cases",
                "contentUrl": DATA,
                "encodingFormat": "application/x-parquet",
                "sha256": digest,
            }
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": "records",
                "name": "records",
                "key": {"@id": "records/case_id"},
                "field": list(_fields()),
            }
        ],
    }


def _fields() -> Iterator[dict[str, Any]]:
    yield from _described(TEXTS.items(), "sc:Text")
    for name, about in PICTURES.items():
        [field] = _described([(name, about)], "sc:ImageObject")
        field["source"]["transform"] = {"jsonPath": "bytes"}
        yield field
    for name, about in MASKS.items():
        [field] = _described([(name, about)], "sc:Text")
        field["source"]["transform"] = {"jsonPath": "counts"}
        yield field


def _described(names: Iterable[tuple[str, str]], kind: str) -> list[dict[str, Any]]:
    return [
        {
            "@type": "cr:Field",
            "@id": f"records/{name}",
            "name": name,
            "description": about,
            "dataType": kind,
            "source": {"fileObject": {"@id": "cases"}, "extract": {"column": name}},
        }
        for name, about in names
    ]
