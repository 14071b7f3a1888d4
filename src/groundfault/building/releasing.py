"""The last stage: accepted candidates become a benchmark, in our folder and in the paper's files.

    DIR/release/   our folder, or an exam; `groundfault eval DIR/release`
    DIR/native/    the files of the paper that the set is built after
    DIR/hub/       Parquet with pictures, a card and a Croissant description

A release is never changed: where another one is made from the same build, the earlier one keeps
its content under DIR/release-HASH and DIR/native-HASH.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from groundfault.benchmarks import folder, reactbench
from groundfault.building.exams import exam_rows, with_twins
from groundfault.building.hub_folder import HUB, write_hub_folder
from groundfault.building.native import write_cafe, write_halluseg
from groundfault.building.patches import write_patches
from groundfault.building.pictures import AMONG_OTHERS, EDITED, png_content, read_kept
from groundfault.building.provenance import write_provenance
from groundfault.building.records import Candidate
from groundfault.io.foreign import sha256
from groundfault.io.store import link, new_folder, write_bytes, write_json
from groundfault.records import Benchmark, Card, Case, Item, Region, Role

__all__ = ["NATIVE", "RELEASE", "ReleaseSettings", "benchmark_of", "release"]

RELEASE, NATIVE = "release", "native"
MADE_BY = "made_by.json"


class ReleaseSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a release is called and says of itself."""

    name: str = ""
    """"" is built-BENCHMARK."""
    title: str = ""
    """What reports call it; "" is the benchmark's usual title."""
    licence: str = ""
    """"" is what the photographs' licences allow, one by one."""
    citation: str = ""
    """Whom to name."""
    version: str = "1.0.0"
    """Of the release."""
    date: str = ""
    """Of publication, as in 2026-11-16."""
    url: str = ""
    """Where it is published."""
    pictures: bool = True
    """False leaves pictures out, where their licence forbids passing them on: the release says how
    they are made again from the photographs (`build restore`), and there are no native files and
    no folder for a hub."""


def release(
    candidates: Sequence[Candidate],
    build: Path,
    benchmark: str,
    settings: ReleaseSettings,
    *,
    about: str,
    source: str,
    twins: Mapping[str, Candidate] | None = None,
    made_by: Mapping[str, Any] | None = None,
) -> Benchmark:
    """Write DIR/release and DIR/native; what is there already with the same content stays as it
    is, to the byte. `twins` are candidates whose photographs are shown as others' twins; `made_by`
    is what the release says of the settings and models that it was made with."""
    shown = list(with_twins(candidates, twins or {}))
    settings = msgspec.structs.replace(settings, licence=settings.licence or _licences(shown))
    made, pictures = benchmark_of(candidates, benchmark, settings, about=about, source=source)
    comment = EDITED if benchmark == "cafe" else AMONG_OTHERS
    for left in (build / ".released", *build.glob("..released.*")):  # of a session that was killed
        shutil.rmtree(left, ignore_errors=True)
    with new_folder(build / ".released") as together:
        staged = together / "images"
        files = _stage_pictures(pictures, build, staged, comment)
        if benchmark == "reactbench":
            written = _exam(made, together / RELEASE, staged)
        else:
            folder.write(made, together / RELEASE, images_from=staged, copy=link)
            written = folder.read(together / RELEASE)
        write_provenance(together / RELEASE / "provenance.parquet", shown)
        write_json(together / RELEASE / MADE_BY, made_by or {})
        if settings.pictures:
            _write_native(benchmark, written, candidates, together / NATIVE, staged, build)
            write_provenance(together / NATIVE / "provenance.parquet", shown)
            write_hub_folder(
                candidates,
                written,
                lambda kept: files.get(kept, build / kept),
                together / HUB,
                settings,
            )
            write_provenance(together / HUB / "provenance.parquet", shown)
        else:
            write_patches(together / RELEASE, shown, pictures, build, comment)
            shutil.rmtree(together / RELEASE / "images")
        shutil.rmtree(staged)
    _take_place(build / ".released", build)
    return written


def _stage_pictures(
    pictures: Mapping[str, str], build: Path, staged: Path, comment: str
) -> dict[str, Path]:
    """Put the pictures of a release in one folder, as files that release and native share
    with each other and not with the build; of each kept file, the one that it became. Where edited
    and unedited ones are shown, all are written alike: a file's type or metadata would give the
    answer away."""
    staged.mkdir()
    written: dict[str, Path] = {}
    for name, kept in pictures.items():
        if kept in written:
            link(written[kept], staged / name)
            continue
        if comment == EDITED:  # which is how they are kept
            shutil.copyfile(build / kept, staged / name)
        else:
            content = png_content(read_kept(build, kept), comment)
            write_bytes(staged / name, content, durable=False)
        written[kept] = staged / name
    return written


def _exam(made: Benchmark, place: Path, pictures: Path) -> Benchmark:
    samples, questions = reactbench.rows_of(made)
    files: dict[str, bytes | Path] = {path.name: path for path in pictures.iterdir()}
    return reactbench.write_exam(
        place,
        samples,
        questions,
        files,
        notes=made.notes,
        title=made.card.title,
        about=made.card.about,
        copy=link,
    )


def _write_native(
    benchmark: str,
    made: Benchmark,
    candidates: Sequence[Candidate],
    place: Path,
    pictures: Path,
    build: Path,
) -> None:
    """Write the files of the paper that the set is built after."""
    if benchmark == "cafe":
        write_cafe(made, place, pictures)
    elif benchmark == "halluseg":
        write_halluseg(candidates, place, build)
    else:
        reactbench.write_native(made, place)
        shutil.copytree(pictures, place / "images", copy_function=link)


def _take_place(made: Path, build: Path) -> None:
    """Put a new release where an older one may be, which stays under a name of its own."""
    for name in (RELEASE, NATIVE, HUB):
        there = build / name
        if not (made / name).is_dir():
            continue
        if there.is_dir():
            digest = _digest(there)
            if digest == _digest(made / name):
                continue
            earlier = build / f"{name}-{digest[:8]}"
            if earlier.is_dir():  # an older build came to the same
                shutil.rmtree(there)
            else:
                there.replace(earlier)
        (made / name).replace(there)
    shutil.rmtree(made)


def _digest(folder: Path) -> str:
    """SHA-256 of the names and contents of all files of a folder."""
    found = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        found.update(f"{path.relative_to(folder)}\0{sha256(path)}\n".encode())
    return found.hexdigest()


# ── candidates as cases ─────────────────────────────────────────────────────────────────────────

TITLES = {
    "cafe": ("concept-pairs", "cgF1", "Edited photographs: concept pairs"),
    "halluseg": ("replacement-quads", "CCMS", "Edited photographs: replaced objects"),
    "reactbench": ("exam", "react_score", "Edited photographs: an exam"),
}
"""Protocol, main metric and title of what is built."""


def benchmark_of(
    candidates: Sequence[Candidate],
    benchmark: str,
    settings: ReleaseSettings,
    *,
    about: str,
    source: str,
) -> tuple[Benchmark, dict[str, str]]:
    """Accepted candidates as a benchmark, and the kept file of each of its pictures."""
    protocol, metric, title = TITLES[benchmark]
    card = Card(
        name=settings.name or f"built-{benchmark}",
        protocol=protocol,
        title=settings.title or title,
        source=source,
        licence=settings.licence or _licences(candidates),
        citation=settings.citation or "built by groundfault from the photographs named in it",
        main_metric=metric,
        about=about,
    )
    if benchmark == "reactbench":
        samples, questions, shown = exam_rows(candidates)
        made = reactbench.benchmark_of(samples, questions, notes=(source,))
        return msgspec.structs.replace(made, card=card), shown
    cases: list[Case] = []
    items: list[Item] = []
    pictures: dict[str, str] = {}
    for candidate in candidates:
        case, asked, shown = CASES[benchmark](candidate)
        cases.append(case)
        items += asked
        pictures |= shown
    return Benchmark(card=card, cases=tuple(cases), items=tuple(items)), pictures


def _licences(candidates: Iterable[Candidate]) -> str:
    """The licences that photographs have; of more than a dozen, how many others there are."""
    named = sorted({candidate.photograph.licence or "not stated" for candidate in candidates})
    others = len(named) - MOST_LICENCES
    told = [*named[:MOST_LICENCES], *([f"{others} others"] if others > 0 else [])]
    return "; ".join(told) + " (by photograph, see provenance.parquet)"


MOST_LICENCES = 12
"""Named in a card: where each photograph has words of its own, provenance.parquet has them."""


def _tags(candidate: Candidate) -> dict[str, str]:
    """What cases can be sliced by."""
    assert candidate.proposal is not None
    photograph = candidate.photograph
    return {
        "category": candidate.target.category,
        "edit": candidate.proposal.kind,
        "value": candidate.proposal.value,
        "source": photograph.source,
        "cluster": photograph.id,
    }


_Made = tuple[Case, list[Item], dict[str, str]]


def _cafe_case(candidate: Candidate) -> _Made:
    """p⁺ and p⁻ about the edited picture."""
    proposal, edited = candidate.proposal, candidate.edited
    assert proposal is not None and edited is not None
    name = f"{candidate.id}.png"
    target = Region(candidate.target.mask)
    case = Case(id=candidate.id, intervention=candidate.task, tags=_tags(candidate))
    asked = ((Role.POSITIVE, proposal.positive, True), (Role.NEGATIVE, proposal.negative, False))
    items = [
        _item(candidate, role, name, query, (target,) if there else (), target)
        for role, query, there in asked
    ]
    return case, items, {name: edited.after}


def _halluseg_case(candidate: Candidate) -> _Made:
    """Both pictures, each asked with both queries."""
    proposal, edited = candidate.proposal, candidate.edited
    assert proposal is not None and edited is not None
    before = f"{candidate.id}-factual.png"
    after = f"{candidate.id}-counterfactual.png"
    old, new = Region(candidate.target.mask), Region(edited.mask or candidate.target.mask)
    question = proposal.fields.get("question", "")
    words = (
        (question, proposal.fields["counterfactual_question"])
        if question
        else (proposal.positive, proposal.negative)
    )
    corners = (
        (Role.FACTUAL, before, words[0], (old,), old),
        (Role.TEXTUAL, before, words[1], (), old),
        (Role.VISUAL, after, words[0], (), new),
        (Role.COUNTERFACTUAL, after, words[1], (new,), new),
    )
    items = [_item(candidate, *corner) for corner in corners]
    tags = {
        **_tags(candidate),
        "task": "reasoning" if question else "referring",
        "label": candidate.target.category,
        "edited_label": proposal.value,
    }
    case = Case(id=candidate.id, intervention="replacement", tags=tags)
    return case, items, {before: edited.before, after: edited.after}


def _item(
    candidate: Candidate,
    role: Role,
    picture: str,
    query: str,
    regions: tuple[Region, ...],
    target: Region,
) -> Item:
    photograph = candidate.photograph
    return Item(
        id=f"{candidate.id}:{role.value}",
        case_id=candidate.id,
        role=role,
        images=(picture,),
        height_px=photograph.height_px,
        width_px=photograph.width_px,
        query=query,
        regions=regions,
        target=target,
    )


CASES: dict[str, Callable[[Candidate], _Made]] = {
    "cafe": _cafe_case,
    "halluseg": _halluseg_case,
}
