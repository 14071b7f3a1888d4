"""Benchmarks made of the world: interventions rendered, asked about and annotated by construction.

A case is a pure function of (preset, seed, index, settings), so any number of workers makes the
same bytes. Pictures are PNG: an edit leaves every pixel that it does not touch as it was.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from io import BytesIO
from multiprocessing import get_context
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import msgspec

from groundfault import __version__
from groundfault.benchmarks import folder
from groundfault.errors import UnknownName, UsageError
from groundfault.io.masks import decode, encode
from groundfault.io.store import check_vacant
from groundfault.records import Benchmark, Card, Case, Item, Region, Role
from groundfault.world.cases import sample_clean_scene, sample_intervention
from groundfault.world.contexts import PAINTED
from groundfault.world.exactness import edit_region
from groundfault.world.interventions import Intervention
from groundfault.world.objects import CATEGORIES
from groundfault.world.phrases import SUBSTANCE_SINCE, concept, disputed, matching
from groundfault.world.render import Rendered, render
from groundfault.world.sampling import DEFAULTS, WorldSettings, generator
from groundfault.world.scene import WORLD_VERSION, Scene
from groundfault.world.splits import SPLITS, split_of
from groundfault.world.wordings import training_wordings

if TYPE_CHECKING:
    from groundfault.io.masks import BinaryMask

__all__ = [
    "KINDS",
    "PRESETS",
    "BuildSettings",
    "build",
    "in_order",
    "make_case",
    "png",
    "region_of_edit",
]

T = TypeVar("T")
TASKS = ("referring", "reasoning")
MOST_DOSES = 40
"""Each is a row of the result table, which holds 63 with those of interventions and splits."""


UNUSED = {
    "halluseg": ("doses", "crowd", "controls"),
    "clean": ("doses", "crowd", "controls", "split"),
}
"""Settings that mean nothing to a preset."""


class BuildSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What a built benchmark depends on, besides its preset and size."""

    seed: int = 0
    size_px: int = 384
    doses: tuple[float, ...] = (1.0,)
    """Edit strengths; each case is built at every one of them (CAFE preset)."""
    crowd: int = 0
    """How many untouched things of the target's category stand by (SM and OC)."""
    controls: bool = False
    """Also the no-op control of every case: its unedited picture, asked the same (CAFE preset)."""
    split: str = ""
    """Only cases of this split (`SPLITS`); "" is all, as they come (CAFE and HalluSeg presets)."""
    surface_correlation: float = DEFAULTS.surface_correlation
    context_correlation: float = DEFAULTS.context_correlation
    material_share: float = DEFAULTS.material_share
    relation_share: float = DEFAULTS.relation_share

    @property
    def world(self) -> WorldSettings:
        """The knobs of the scenes."""
        return WorldSettings(
            size_px=self.size_px,
            surface_correlation=self.surface_correlation,
            context_correlation=self.context_correlation,
            material_share=self.material_share,
            relation_share=self.relation_share,
        )


class Built(msgspec.Struct, frozen=True):
    """One case with its pictures as PNG, by name."""

    cases: tuple[Case, ...]
    items: tuple[Item, ...]
    pictures: dict[str, bytes]


def build(
    preset: str,
    n: int,
    out: str | PathLike[str],
    settings: BuildSettings | None = None,
    *,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Benchmark:
    """Build n cases of a preset into a benchmark folder, which must not exist yet."""
    if preset not in PRESETS:
        raise UnknownName("preset", preset, PRESETS)
    if n < 1:
        raise UsageError(f"n is {n}; a benchmark has at least one case")
    settings = settings or BuildSettings()
    _check_settings(preset, settings)
    out = Path(out)
    check_vacant(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    cases: list[Case] = []
    items: list[Item] = []
    digest = hashlib.sha256()
    with TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as pictures:
        make = partial(make_case, preset, settings=settings)
        for done, built in enumerate(in_order(make, range(n), workers), start=1):
            cases += built.cases
            items += built.items
            for name, content in sorted(built.pictures.items()):
                (Path(pictures) / name).write_bytes(content)
                digest.update(name.encode() + hashlib.sha256(content).digest())
            if progress is not None:
                progress(done, n)
        benchmark = Benchmark(
            card=_card(preset, n, settings, digest.hexdigest()),
            cases=tuple(cases),
            items=tuple(items),
        )
        card = folder.write(benchmark, out, images_from=pictures)
    return msgspec.structs.replace(benchmark, card=card)


def _check_settings(preset: str, settings: BuildSettings) -> None:
    """Refuse what no case could be made of before any work is done."""
    settings.world  # noqa: B018 - it checks its own ranges
    if settings.split and settings.split not in SPLITS:
        raise UnknownName("split", settings.split, SPLITS)
    if settings.split and preset == "clean":
        raise UsageError("clean scenes are not edited and have no split; leave it out")
    if settings.crowd < 0:
        raise UsageError(f"the crowd is {settings.crowd}; it is 0 or more things")
    if not 1 <= len({*settings.doses}) == len(settings.doses) <= MOST_DOSES:
        raise UsageError(f"give 1 to {MOST_DOSES} doses, each once")
    for dose in settings.doses:
        if not 0.0 <= dose <= 1.0:
            raise UsageError(f"a dose is {dose}; it goes from 0 (nothing) to 1 (the full edit)")


def in_order(make: Callable[[int], T], indices: Sequence[int], workers: int | None) -> Iterator[T]:
    """`map` on processes; the results come in order, whoever made them."""
    if workers is not None and workers < 0:
        raise UsageError(f"workers is {workers}; it is 1 or more processes, or 0 for all cores")
    workers = workers or min(len(indices), os.cpu_count() or 1)
    if workers == 1:
        yield from map(make, indices)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(make, indices, chunksize=4)


class _Kind(NamedTuple):
    """What a preset builds."""

    title: str
    protocol: str
    main_metric: str
    native: str
    """The published format that can hold it."""


KINDS = {
    "cafe": _Kind("World: concept pairs", "concept-pairs", "cgF1", "cafe"),
    "halluseg": _Kind("World: replaced objects", "replacement-quads", "CCMS", "halluseg"),
    "clean": _Kind("World: concepts", "concepts", "cgF1", "saco"),
}
ABOUT = (
    "The scenes are rendered by groundfault's own world: drawn objects with exact edits and true "
    "masks, no photographs. Numbers on them do not compare with those on photographs."
)


def _card(preset: str, n: int, settings: BuildSettings, pictures_sha256: str) -> Card:
    kind = KINDS[preset]
    given = {**msgspec.structs.asdict(settings), "split": settings.split or "all"}
    chosen = ", ".join(
        f"{knob} {value}" for knob, value in given.items() if knob not in UNUSED.get(preset, ())
    )
    return Card(
        name=f"world-{preset}",
        protocol=kind.protocol,
        title=kind.title,
        source=(
            f"rendered by groundfault {__version__}: world {WORLD_VERSION}, preset {preset}, "
            f"n {n}, {chosen}; SHA-256 of the pictures {pictures_sha256}"
        ),
        licence="CC0-1.0",
        citation="groundfault, the counterfactual world",
        main_metric=kind.main_metric,
        about=ABOUT,
    )


def make_case(preset: str, index: int, *, settings: BuildSettings) -> Built:
    """One case of a preset, rendered."""
    return PRESETS[preset](index, settings)


def _cafe_case(index: int, settings: BuildSettings) -> Built:
    """An edit of surface, context or material, asked with p⁺ and p⁻, at every dose."""
    kind = ("SM", "CC", "OC")[index % 3]
    crowd = settings.crowd if kind != "CC" else 0
    cases: list[Case] = []
    items: list[Item] = []
    pictures: dict[str, bytes] = {}
    # A thing counts as its material from half the dose on: below, p⁻ would still be true of it.
    doses = [dose for dose in settings.doses if kind != "OC" or dose >= SUBSTANCE_SINCE]
    draw = partial(
        sample_intervention,
        kind,
        settings.seed,
        index,
        settings.world,
        crowd=crowd,
        split=settings.split,
    )
    # What is made of one draw is not independent: it is resampled together.
    related = len(doses) + settings.controls > 1
    cluster = {"cluster": f"{index:06d}"} if related else {}
    for dose in doses:
        edit = draw(dose=dose)
        suffix = f"-d{dose:g}" if len(settings.doses) > 1 else ""
        case_id = f"{index:06d}{suffix}"
        tags = {"kind": kind, "dose": f"{dose:g}", "crowd": str(crowd), "split": split_of(edit)}
        tags |= _words(edit) | cluster
        rendered = render(edit.counterfactual)
        facts = _touched(edit, rendered)
        cases.append(Case(id=case_id, intervention=kind, tags=tags, facts=facts))
        pictures[f"{case_id}.png"] = png(rendered)
        items += _pair(case_id, f"{case_id}.png", edit, rendered)
    if settings.controls:
        edit = draw()
        case_id = f"{index:06d}-control"
        tags = {"kind": kind, "dose": "0", "split": split_of(edit)} | cluster
        cases.append(Case(id=case_id, intervention="control", tags=tags))
        rendered = render(edit.factual)
        pictures[f"{case_id}.png"] = png(rendered)
        items += _control(case_id, f"{case_id}.png", edit, rendered)
    return Built(tuple(cases), tuple(items), pictures)


EDIT_REGION = "edit region"
"""The fact of a case that says which pixels the edit may touch, as COCO's compressed run lengths at
the size of its pictures."""


def _touched(edit: Intervention, edited: Rendered) -> dict[str, str]:
    return {EDIT_REGION: encode(edit_region(edit, edited))["counts"]}


def region_of_edit(case: Case, item: Item) -> BinaryMask | None:
    """(height, width): the pixels that a case's edit may touch; outside, the picture is as it was.

    None where a case does not say so: before world 2, and of controls, which nobody edited.
    """
    counts = case.facts.get(EDIT_REGION)
    if counts is None:
        return None
    return decode({"size": (item.height_px, item.width_px), "counts": counts})


def _words(edit: Intervention) -> dict[str, str]:
    return {"positive": edit.positive, "negative": edit.negative} | edit.facts


def _pair(case_id: str, image: str, edit: Intervention, rendered: Rendered) -> list[Item]:
    """p⁺ and p⁻ about the edited picture."""
    phrases = (edit.positive, edit.negative)
    return _asked(case_id, image, edit.counterfactual, edit.after, phrases, rendered)


def _control(case_id: str, image: str, edit: Intervention, rendered: Rendered) -> list[Item]:
    """The unedited picture, asked for what its target is and for the misleading concept."""
    own = edit.factual.things[edit.before].category
    misleading = edit.negative if edit.kind != "OC" else edit.positive
    return _asked(case_id, image, edit.factual, edit.before, (own, misleading), rendered)


def _asked(
    case_id: str,
    image: str,
    scene: Scene,
    target: int,
    phrases: tuple[str, str],
    rendered: Rendered,
) -> list[Item]:
    """A positive and a negative phrase about a picture; what is true of its scene decides what
    they should find."""
    target_region = _region(rendered, target)
    return [
        _item(
            f"{case_id}:{role.value}",
            case_id,
            role,
            image,
            phrase,
            [_region(rendered, k) for k in matching(scene, phrase)],
            target_region,
            rendered,
        )
        for role, phrase in zip((Role.POSITIVE, Role.NEGATIVE), phrases, strict=True)
    ]


def _halluseg_case(index: int, settings: BuildSettings) -> Built:
    """An object replaced by another: both pictures, each asked with both queries."""
    edit = sample_intervention(
        "replacement", settings.seed, index, settings.world, split=settings.split
    )
    task = TASKS[index % 2]
    case_id = f"{index:06d}"
    before, after = render(edit.factual), render(edit.counterfactual)
    names = {"I": f"{case_id}-factual.png", "J": f"{case_id}-counterfactual.png"}
    words = {"c": edit.facts[f"factual {task}"], "c'": edit.facts[f"counterfactual {task}"]}
    regions = {"I": _region(before, edit.before), "J": _region(after, edit.after)}
    corners = (
        (Role.FACTUAL, "I", "c", before, True),
        (Role.TEXTUAL, "I", "c'", before, False),
        (Role.VISUAL, "J", "c", after, False),
        (Role.COUNTERFACTUAL, "J", "c'", after, True),
    )
    items = [
        _item(
            f"{case_id}:{role.value}",
            case_id,
            role,
            names[picture],
            words[word],
            [regions[picture]] if true else [],
            regions[picture],
            rendered,
        )
        for role, picture, word, rendered, true in corners
    ]
    tags = {
        "task": task,
        "label": edit.negative,
        "edited_label": edit.positive,
        "split": split_of(edit),
        "wording": _wording(edit) if task == "reasoning" else "",
    }
    tags = {name: value for name, value in tags.items() if value}
    case = Case(id=case_id, intervention="replacement", tags=tags, facts=_touched(edit, after))
    return Built(
        (case,),
        tuple(items),
        {names["I"]: png(before), names["J"]: png(after)},
    )


def _wording(edit: Intervention) -> str:
    """Whether training has heard the reasoning query of a replacement."""
    heard = edit.facts["factual reasoning"] in training_wordings(edit.negative)
    return "used in training" if heard else "held out"


def _clean_case(index: int, settings: BuildSettings) -> Built:
    """An unedited scene, asked for every concept in it and for as many that are not.

    All are plain queries, as SA-Co asks them. What the backdrop itself may show is not asked for:
    a painted tree has no mask.
    """
    scene = sample_clean_scene(settings.seed, index, settings.world)
    rendered = render(scene)
    case_id = f"{index:06d}"
    painted = {*PAINTED.get(scene.place.context, ())} | disputed(scene)
    found: dict[str, list[Region]] = {}
    for number, thing in enumerate(scene.things):
        if concept(thing) not in painted and rendered.masks[number].any():
            found.setdefault(concept(thing), []).append(_region(rendered, number))
    absent = _absent(scene, len(found), index, settings)
    items = [
        _item(
            f"{case_id}:{name}",
            case_id,
            Role.POSITIVE,
            f"{case_id}.png",
            name,
            found.get(name, ()),
            None,
            rendered,
        )
        for name in (*found, *absent)
    ]
    tags = {"context": scene.place.context, "present": str(len(found))}
    case = Case(id=case_id, intervention="clean", tags=tags)
    return Built((case,), tuple(items), {f"{case_id}.png": png(rendered)})


def _absent(scene: Scene, count: int, index: int, settings: BuildSettings) -> list[str]:
    """Categories that a scene lacks: half of them at home in its context, as far as there are
    such, half from anywhere.

    Sculptures of a category are not it, but no plain case to ask about either.
    """
    rng = generator(settings.seed, index, 4)
    there = {thing.category for thing in scene.things}
    lacking = [
        name
        for name in CATEGORIES
        if name not in there | disputed(scene) and name not in PAINTED.get(scene.place.context, ())
    ]
    at_home = [name for name in lacking if scene.place.context in CATEGORIES[name].contexts]
    plausible = [at_home[k] for k in rng.permutation(len(at_home))[: (count + index % 2) // 2]]
    anywhere = [name for name in lacking if name not in plausible]
    others = [anywhere[k] for k in rng.permutation(len(anywhere))[: count - len(plausible)]]
    return plausible + others


def _item(
    item_id: str,
    case_id: str,
    role: Role,
    image: str,
    query: str,
    regions: Iterable[Region],
    target: Region | None,
    rendered: Rendered,
) -> Item:
    height_px, width_px = rendered.labels.shape
    found = tuple(regions)
    same = next((region for region in found if region == target), target)
    return Item(
        id=item_id,
        case_id=case_id,
        role=role,
        images=(image,),
        height_px=height_px,
        width_px=width_px,
        query=query,
        regions=(same, *(r for r in found if r is not same)) if same and same in found else found,
        target=same,
    )


def _region(rendered: Rendered, index: int) -> Region:
    return Region(encode(rendered.masks[index]))


def png(rendered: Rendered) -> bytes:
    """The picture as a PNG file."""
    from PIL import Image

    content = BytesIO()
    Image.fromarray(rendered.image).save(content, "PNG", compress_level=4)
    return content.getvalue()


PRESETS: dict[str, Callable[[int, BuildSettings], Built]] = {
    "cafe": _cafe_case,
    "halluseg": _halluseg_case,
    "clean": _clean_case,
}
