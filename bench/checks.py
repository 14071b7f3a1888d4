"""How often the checks of edits are wrong, on exact truth: the world's interventions, spoiled.

    python bench/checks.py [--scenes 40] [--size 256]

The world draws scenes before and after an intervention with exact masks: good edits. Each is then
spoiled in known ways. The table has a row per check and a column per defect: how many it catches at
the threshold, and how many good ones it loses. Checks that drop nothing by default are tried at
the threshold that the second column names.

The world's own edits touch more than the target (shadows, light): they are pasted back as a build
does it, into the region that may change. Camera noise (σ = 2 levels), each its
own, is laid over both pictures.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter, shift

from groundfault.building.checks.card import cards
from groundfault.building.checks.catalogue import CHECKS, measure
from groundfault.building.checks.check import threshold
from groundfault.building.checks.settings import VerifySettings
from groundfault.building.checks.summary import Measured
from groundfault.building.distances import grown
from groundfault.building.editing import EditSettings, touchable
from groundfault.building.records import Candidate, EditedPicture, Proposal
from groundfault.io.masks import encode
from groundfault.io.photographs import Photograph, Thing
from groundfault.world import WorldSettings, render, sample_intervention

KINDS = {
    "SM": "surface",
    "OC": "material",
    "CC": "context",
    "erasure": "erase",
    "replace": "replace",
}
TRIED = VerifySettings(min_edge=0.5, max_halo=0.5, max_artefacts=2.0, max_outline=0.8)
FEWEST_PX = 900
NOISE = 2.0


class Edit(NamedTuple):
    """A good edit of the world."""

    kind: str
    before: Any
    after: Any
    region: Any
    new: Any
    touched: Any


def edits(scenes: int, size_px: int) -> Iterator[Edit]:
    """Good edits, in turn of every kind; small and hidden targets are left out."""
    settings = WorldSettings(size_px=size_px)
    for code, kind in KINDS.items():
        for index in range(scenes):
            case = sample_intervention(code, 7, index, settings)
            before, after = render(case.factual), render(case.counterfactual)
            region = before.masks[case.before]
            if region.sum() < FEWEST_PX:
                continue
            new = after.masks[case.after] if kind == "replace" else None
            touched = touchable(region, kind, EditSettings(), new)
            rng = np.random.default_rng(index)
            one, other = (
                np.clip(np.rint(image + rng.normal(0, NOISE, image.shape)), 0, 255).astype(np.uint8)
                for image in (before.image, after.image)
            )
            yield Edit(kind, one, np.where(touched[..., None], other, one), region, new, touched)


def moved(image: Any, by: tuple[float, float]) -> Any:
    whole = (*by, 0) if image.ndim == 3 else by
    return shift(image, whole, order=0, mode="nearest")


def meant(edit: Edit) -> Any:
    return ~edit.region if edit.kind == "context" else edit.region


def spoiled(edit: Edit) -> Iterator[tuple[str, Any]]:
    """The edited picture with each defect."""
    before, after, where = edit.before, edit.after, meant(edit)
    yield "good", after
    yield "no-op", before
    if edit.kind in ("surface", "material", "context"):
        late = moved(where, (3, 3))
        new = np.where(where[..., None], after, moved(after, (3, 3)))
        yield "shifted 3 px", np.where(late[..., None], new, before)
        wide = grown(where, 4)
        fringe = (wide & ~where)[..., None]
        bright = (0.35 * before + 0.65 * np.array([255, 255, 255])).astype(np.uint8)
        yield "halo 4 px", np.where(fringe, bright, after)
    columns = np.flatnonzero(edit.region.any(axis=0))
    half = np.arange(before.shape[1])[None, :] < columns.mean()
    yield "half of it", np.where((half & edit.touched)[..., None], after, before)
    corner = np.zeros_like(where)
    corner[: len(corner) // 8, : len(corner) // 8] = True
    if edit.kind != "context":  # which may change all of it
        yield "leak", np.where((corner & ~edit.touched)[..., None], 255 - after, after)
    soft = gaussian_filter(after, (2.5, 2.5, 0))
    yield "blurred", np.where(where[..., None], soft, after)
    if edit.kind in ("erase", "replace"):
        ghost = (0.5 * before + 0.5 * after).astype(np.uint8)
        yield "ghost", ghost
    if edit.kind != "context":
        far = np.roll(after, after.shape[1] // 3, axis=1)
        place = np.roll(where, where.shape[1] // 3, axis=1)
        yield "wrong place", np.where(place[..., None], far, before)


def candidate(edit: Edit, name: str, folder: Path, how: str, after: Any) -> Candidate:
    for file, image in (("before", edit.before), (how, after)):
        Image.fromarray(image).save(folder / f"{file}.png", compress_level=1)
    height, width = edit.region.shape
    target = Thing(id="1", category="thing", mask=encode(edit.region))
    return Candidate(
        id=name,
        task="SM",
        photograph=Photograph(
            id=name, source="world", file="", height_px=height, width_px=width, things=(target,)
        ),
        target=target,
        proposal=Proposal(kind=edit.kind, value="", instruction=""),
        edited=EditedPicture(
            before="before.png",
            after=f"{how}.png",
            mask=None if edit.new is None else encode(edit.new),
            touched=encode(edit.touched),
        ),
    )


def measured(scenes: int, size_px: int) -> dict[str, list[Measured]]:
    """Defect → what was measured of each edit that has it."""
    found: dict[str, list[Measured]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for number, edit in enumerate(edits(scenes, size_px)):
            for how, after in spoiled(edit):
                name = f"{number}-{how}"
                one = candidate(edit, name, folder, how, after)
                found[how].append(Measured(name, edit.kind, dict(measure(one, folder))))
    return found


def objections(found: list[Measured], settings: VerifySettings) -> Counter[str]:
    """Check → edits that it objects to."""
    return Counter(
        check.name
        for each in found
        for check in CHECKS
        if check.name in each.checks
        and check.objects(float(each.checks[check.name]), threshold(check, settings, each.kind))
    )


def table(found: dict[str, list[Measured]]) -> list[list[str]]:
    counted = {how: objections(some, TRIED) for how, some in found.items()}
    rows = [["check", "at", *found]]
    for check in CHECKS:
        if not check.setting or not any(check.name in e.checks for e in found["good"]):
            continue
        limit, default = getattr(TRIED, check.setting), getattr(VerifySettings(), check.setting)
        at = f"{limit:g}" + ("" if default == limit else " *")
        cells = []
        for how, some in found.items():
            n = sum(check.name in each.checks for each in some)
            cells.append(f"{counted[how][check.name]}/{n}" if n else "")
        rows.append([check.name, at, *cells])
    for name, settings in (("all, by default", VerifySettings()), ("all of them", TRIED)):
        rows.append([name, "", *(_any(some, settings) for some in found.values())])
    return rows


def _any(found: list[Measured], settings: VerifySettings) -> str:
    return f"{sum(bool(objections([each], settings)) for each in found)}/{len(found)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenes", type=int, default=40, help="of each kind of edit")
    parser.add_argument("--size", type=int, default=256, help="pixels")
    parser.add_argument("--json", type=Path, help="where to leave what was measured")
    given = parser.parse_args()
    found = measured(given.scenes, given.size)
    print("kinds:", dict(Counter(each.kind for each in found["good"])))
    for row in table(found):
        print("| " + " | ".join(row) + " |")
        if row[0] == "check":
            print("|---|---|" + "--:|" * len(found))
    print("\nAUC, good against every defect:")
    everything = [each for some in found.values() for each in some]
    labels = {each.id: each.id.endswith("-good") for each in everything}
    for card in cards(everything, labels, TRIED):
        low = f" [{card.auc.low:.2f}, {card.auc.high:.2f}]" if card.auc.low is not None else ""
        print(f"{card.check:18} n {card.good + card.bad:5}  {card.auc.value:.2f}{low}")
    if given.json:
        given.json.write_bytes(msgspec.json.encode(found))


if __name__ == "__main__":
    main()
