"""Real photographs through everything: made into benchmarks, asked, scored, and looked at.

    python bench/photographs.py DIR [--out FOLDER] [--cases 60] [--models sam3,clipseg]

DIR is laid out as COCO is: annotations/instances_NAME.json beside NAME/ with its pictures. From
objects that are the only one of their category in a picture, two sets are made:

cafe      SM: the object gets the colours of another category's object; CC: its surroundings get
          those of another photograph; OC: it turns to stone. p⁻ is a category that is not there.
halluseg  the object is painted over and an object of an absent category pasted in its place

Both are written in their published formats and read back by `groundfault eval`, with baselines, a
replayed results file, nano models where they are shipped and, where transformers is installed,
tiny networks with random weights. What must hold is checked; OUT/overlays/ shows the rest. The
edits are crude: this tests the program, not the models.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np
from PIL import Image, ImageDraw

from groundfault import cli
from groundfault.benchmarks import cafe, coco_instances, halluseg
from groundfault.io.masks import decode, encode
from groundfault.io.pictures import read_image
from groundfault.models.nano import SHIPPED
from groundfault.records import Benchmark, Case, Item, Region, Role
from groundfault.runs.recorder import read_predictions
from groundfault.runs.run import read_run

ROOT = Path(__file__).parent.parent
SHARE = (0.02, 0.5)
"""Of the picture that an object may cover: neither a speck nor the whole."""
BASELINES = ("oracle", "blind", "always-yes", "random")
TINY = {
    "sam3": ("sam3",),
    "clipseg": ("clipseg",),
    "owlv2-sam": ("owlv2", "sam"),
    "grounded-sam2": ("grounding_dino", "sam2"),
    "omdet-sam": ("omdet", "sam"),
}
"""Adapters with the tiny networks they are tested with."""
Pixels = Any  # (height, width, 3) uint8
Mask = Any  # (height, width) bool
TILE_PX = 220


class Thing(NamedTuple):
    """The only object of its category in a photograph."""

    photograph: Path
    category: str
    mask: Mask
    there: frozenset[str]
    """Every category in the photograph."""

    @property
    def pixels(self) -> Pixels:
        return read_image(self.photograph)

    @property
    def stem(self) -> str:
        return f"{self.photograph.stem}_{self.category.replace(' ', '-')}"


# ── photographs with one object each ───────────────────────────────────────────────────────────


def things_in(folder: Path) -> list[Thing]:
    """All of them, in the order of the files."""
    found = []
    for listed in sorted((folder / "annotations").glob("instances_*.json")):
        images = folder / listed.stem.removeprefix("instances_")
        items = coco_instances.read(listed).items
        there: dict[str, set[str]] = {}
        for item in items:
            there.setdefault(item.image, set()).add(item.query)
        for item in items:
            if len(item.regions) != 1 or item.regions[0].crowd or item.regions[0].mask is None:
                continue
            mask = decode(item.regions[0].mask)
            if SHARE[0] <= mask.mean() <= SHARE[1]:
                present = frozenset(there[item.image])
                found.append(Thing(images / item.image, item.query, mask, present))
    return found


def other(thing: Thing, things: Sequence[Thing], rng: np.random.Generator) -> Thing:
    """One of a category that is not in the picture."""
    fitting = [one for one in things if one.category not in thing.there]
    return fitting[int(rng.integers(len(fitting)))]


# ── edits ──────────────────────────────────────────────────────────────────────────────────────


def recoloured(pixels: Pixels, where: Mask, like: Pixels, like_where: Mask) -> Pixels:
    """Mean and spread of colour, in Lab, taken from elsewhere; light stays, edges are soft."""
    lab = cv2.cvtColor(pixels, cv2.COLOR_RGB2LAB).astype(np.float32)
    model = cv2.cvtColor(like, cv2.COLOR_RGB2LAB).astype(np.float32)[like_where]
    inside = lab[where]
    moved = lab.copy()
    for channel in (1, 2):
        spread = model[:, channel].std() / max(inside[:, channel].std(), 1.0)
        centred = lab[..., channel] - inside[:, channel].mean()
        moved[..., channel] = centred * min(spread, 3.0) + model[:, channel].mean()
    changed = cv2.cvtColor(np.clip(moved, 0, 255).astype(np.uint8), cv2.COLOR_LAB2RGB)
    return blended(pixels, changed, where)


def turned_to_stone(pixels: Pixels, where: Mask) -> Pixels:
    """Grey, with more contrast and a grain."""
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    grey = cv2.createCLAHE(2.0, (8, 8)).apply(grey).astype(np.float32)
    grain = np.random.default_rng(0).normal(0, 14, grey.shape)
    stone = np.clip(0.75 * grey + 45 + cv2.GaussianBlur(grain, (0, 0), 0.8), 0, 255)
    return blended(pixels, np.repeat(stone.astype(np.uint8)[..., None], 3, axis=2), where)


def blended(pixels: Pixels, changed: Pixels, where: Mask) -> Pixels:
    soft = cv2.GaussianBlur(where.astype(np.float32), (0, 0), 1.0)[..., None]
    return np.rint(pixels * (1 - soft) + changed * soft).astype(np.uint8)


def replaced(thing: Thing, by: Thing) -> tuple[Pixels, Mask]:
    """The object painted over, another one put in its box, standing on its bottom edge."""
    wide = cv2.dilate(thing.mask.astype(np.uint8), np.ones((9, 9), np.uint8))
    pixels = cv2.inpaint(thing.pixels, wide, 5, cv2.INPAINT_TELEA)
    left, top, right, bottom = box_of(thing.mask)
    x0, y0, x1, y1 = box_of(by.mask)
    scale = min((right - left) / (x1 - x0), (bottom - top) / (y1 - y0))
    width, height = max(round((x1 - x0) * scale), 1), max(round((y1 - y0) * scale), 1)
    cut = cv2.resize(by.pixels[y0:y1, x0:x1], (width, height), interpolation=cv2.INTER_AREA)
    shape = by.mask[y0:y1, x0:x1].astype(np.uint8)
    shape = cv2.resize(shape, (width, height), interpolation=cv2.INTER_NEAREST)
    x, y = left + (right - left - width) // 2, bottom - height
    mask = np.zeros(thing.mask.shape, bool)
    mask[y : y + height, x : x + width] = shape > 0
    pasted = pixels.copy()
    pasted[y : y + height, x : x + width] = cut
    return blended(pixels, pasted, mask), mask


def box_of(mask: Mask) -> tuple[int, int, int, int]:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


# ── the two sets ───────────────────────────────────────────────────────────────────────────────


def question(
    case: str, role: Role, image: str, query: str, mask: Mask, *, there: bool, number: int | str
) -> Item:
    region = Region(encode(mask))
    return Item(
        id=str(number),
        case_id=case,
        role=role,
        images=(image,),
        height_px=mask.shape[0],
        width_px=mask.shape[1],
        query=query,
        regions=(region,) if there else (),
        target=region,
    )


def make_cafe(things: Sequence[Thing], folder: Path) -> None:
    """annotations.json and images/."""
    (folder / "images").mkdir(parents=True)
    rng = np.random.default_rng(0)
    cases, items = [], []
    for number, thing in enumerate(things, start=1):
        kind = ("SM", "CC", "OC")[number % 3]
        model = other(thing, things, rng)
        asked = (thing.category, model.category)
        if kind == "SM":
            edited = recoloured(thing.pixels, thing.mask, model.pixels, model.mask)
        elif kind == "CC":
            edited = recoloured(thing.pixels, ~thing.mask, model.pixels, ~model.mask)
        else:
            edited = turned_to_stone(thing.pixels, thing.mask)
            asked = (f"stone {thing.category}", f"real {thing.category}")
        name = f"{thing.stem}_{kind}.png"
        Image.fromarray(edited).save(folder / "images" / name)
        cases.append(Case(id=str(number), intervention=kind))
        for role, query, there, key in (
            (Role.POSITIVE, asked[0], True, number),
            (Role.NEGATIVE, asked[1], False, number + 10**9),
        ):
            items.append(
                question(str(number), role, name, query, thing.mask, there=there, number=key)
            )
    cafe.write(
        Benchmark(card=cafe.CARD, cases=tuple(cases), items=tuple(items)),
        folder / "annotations.json",
    )


def make_halluseg(things: Sequence[Thing], folder: Path) -> None:
    """results.json and data/ with masks and pictures."""
    rng = np.random.default_rng(1)
    pictures = folder.with_name(f"{folder.name}-pictures")
    pictures.mkdir(parents=True)
    cases, items = [], []
    for thing in things:
        by = other(thing, things, rng)
        edited, mask = replaced(thing, by)
        fact, counter = f"{thing.stem}.jpg", f"{thing.stem}_edited.png"
        shutil.copyfile(thing.photograph, pictures / fact)
        Image.fromarray(edited).save(pictures / counter)
        case = f"{thing.stem}_1"
        cases.append(Case(id=case, intervention="replacement", tags={"task": "referring"}))
        for role, image, query, target, there in (
            (Role.FACTUAL, fact, thing.category, thing.mask, True),
            (Role.TEXTUAL, fact, by.category, thing.mask, False),
            (Role.VISUAL, counter, thing.category, mask, False),
            (Role.COUNTERFACTUAL, counter, by.category, mask, True),
        ):
            key = f"{case}/{halluseg.CORNERS[role]}"
            items.append(question(case, role, image, query, target, there=there, number=key))
    halluseg.write(Benchmark(card=halluseg.CARD, cases=tuple(cases), items=tuple(items)), folder)
    for picture in pictures.iterdir():
        picture.rename(folder / "data" / picture.name)
    pictures.rmdir()


# ── models ─────────────────────────────────────────────────────────────────────────────────────


def model_names(out: Path, tiny: Sequence[str]) -> list[str]:
    """Every model that can be asked here."""
    names = list(BASELINES)
    names += [name for name in ("nano-base", "nano-cft") if list(SHIPPED.glob(f"{name}*"))]
    if any(importlib.util.find_spec(name) is None for name in ("torch", "transformers")):
        print("transformers is not installed: no tiny networks")
        return names
    sys.path.insert(0, str(ROOT))
    from tests.models.tiny import networks
    from tests.models.tiny.torchvision_cpu import make_importable

    make_importable()
    for name in tiny:
        parts = []
        for network in TINY[name]:
            place = out / "checkpoints" / network
            if not place.exists():
                networks.saved(place, getattr(networks, network)())
            parts.append(str(place))
        names.append(f"{name}:{'+'.join(parts)}")
    return names


def ask(words: Sequence[object], log: Path) -> None:
    """Run a command; its tables go to a file."""
    started = time.perf_counter()
    with log.open("a") as output, contextlib.redirect_stdout(output):
        code = cli.run([str(word) for word in words])
    print(f"groundfault {words[0]} {words[1]}: {time.perf_counter() - started:.1f} s", flush=True)
    if code:
        sys.exit(f"it ended with {code}")


def write_dump(run: Path, path: Path) -> None:
    """The answers of a run as a COCO results file."""
    records = [
        {"image_id": int(a.item_id), "category_id": 1, "segmentation": {**m}, "score": s}
        for a in read_predictions(run)
        for m, s in zip(a.masks, a.scores, strict=True)
    ]
    path.write_text(json.dumps(records))


# ── what must hold ─────────────────────────────────────────────────────────────────────────────


def values(run: Path) -> dict[str, float]:
    rows = json.loads((run / "summary.json").read_text())["rows"]
    return {name: e["value"] for name, e in rows["Overall"]["metrics"].items()}


def check(name: str, holds: bool) -> bool:
    print(f"{'ok  ' if holds else 'FAIL'} {name}")
    return holds


def read_size(path: Path) -> tuple[int, int]:
    with Image.open(path) as picture:
        return picture.height, picture.width


def checks(out: Path, folders: Sequence[Path], sets: Mapping[str, tuple[Benchmark, Path]]) -> bool:
    """Things that are true whatever the photographs show."""
    cafe_runs, quad_runs = out / "runs" / "cafe", out / "runs" / "halluseg"
    oracle, yes = values(cafe_runs / "oracle"), values(cafe_runs / "always-yes")
    quads, blind = values(quad_runs / "oracle"), values(quad_runs / "blind")
    found = [
        check("cafe: the oracle is right", oracle["cgF1"] > 0.999 and oracle["AFPR"] == 0),
        check("cafe: always-yes accepts every p⁻", yes["IL-FPR"] == 1),
        check("halluseg: the oracle is right", quads["IoU_fact"] == quads["IoU_cf"] == 1),
        check("halluseg: the oracle rejects", quads["CMS_fact"] == quads["CMS_counterfact"] == 0),
        check("halluseg: blind is not right", blind["IoU_fact"] < 0.9),
        check(
            "replayed results give what score gives",
            values(next(cafe_runs.glob("replay*"))) == values(out / "scored"),
        ),
    ]
    for folder in folders:
        run = read_run(folder)
        name = f"{folder.parent.name}: {run.model.partition(':')[0]} answers everything"
        found.append(check(name, run.outcomes["failed"] == run.outcomes["unparsed"] == 0))
        benchmark, images = sets[folder.parent.name]
        sizes = {item.id: read_size(images / item.image) for item in benchmark.items}
        fitting = all(
            tuple(mask["size"]) == sizes[answer.item_id]
            for answer in read_predictions(folder)
            for mask in answer.masks
        )
        name = f"{folder.parent.name}: {run.model.partition(':')[0]}'s masks are of their pictures"
        found.append(check(name, fitting))
    return all(found)


# ── overlays ───────────────────────────────────────────────────────────────────────────────────


def overlay(pixels: Pixels, truth: Mask, masks: Sequence[Mask], words: str) -> Image.Image:
    """A picture with what was answered in red and the target's edge in green."""
    shown = pixels.astype(np.float32)
    for mask in masks:
        shown[mask] = 0.5 * shown[mask] + np.array([127, 0, 0], np.float32)
    shown = shown.astype(np.uint8)
    edges, _ = cv2.findContours(truth.astype(np.uint8), cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)
    shown = cv2.drawContours(shown, edges, -1, (0, 230, 0), 2)
    tile = Image.fromarray(shown)
    tile.thumbnail((TILE_PX, TILE_PX))
    framed = Image.new("RGB", (TILE_PX, TILE_PX + 16), "white")
    framed.paste(tile, (0, 16))
    ImageDraw.Draw(framed).text((2, 2), words[:38], fill="black")
    return framed


def sheet(
    benchmark: Benchmark, images: Path, run: Path, path: Path, n_cases: int, t: float, most: int
) -> None:
    """A row per case: every question with its answer."""
    answers = {answer.item_id: answer for answer in read_predictions(run)}
    per_case: dict[str, list[Item]] = {}
    for item in benchmark.items:
        per_case.setdefault(item.case_id, []).append(item)
    drawn = np.random.default_rng(0).permutation(len(per_case))[:n_cases]
    chosen = [list(per_case.values())[k] for k in sorted(drawn)]
    width = max(map(len, chosen))
    page = Image.new("RGB", (width * TILE_PX, len(chosen) * (TILE_PX + 16)), "white")
    for row, items in enumerate(chosen):
        for column, item in enumerate(items):
            assert item.target is not None and item.target.mask is not None
            pixels = read_image(images / item.image)
            answer = answers[item.id]
            kept = [
                (score, decode(mask))
                for score, mask in zip(answer.scores, answer.masks, strict=True)
                if score >= t
            ][:most]
            below = (
                f" ({answer.outcome})" if not answer.scores else f" (best {answer.scores[0]:.2f})"
            )
            words = item.query + (f" {kept[0][0]:.2f}" if kept else below)
            masks = [mask for _, mask in kept]
            tile = overlay(pixels, decode(item.target.mask), masks, words)
            page.paste(tile, (column * TILE_PX, row * (TILE_PX + 16)))
    page.save(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="COCO-style folder")
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "data" / "photographs")
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--models", default="sam3,clipseg", help=f"of {', '.join(TINY)}")
    given = parser.parse_args()
    out: Path = given.out
    for made in ("cafe", "halluseg", "halluseg-pictures", "runs", "scored", "overlays"):
        shutil.rmtree(out / made, ignore_errors=True)
    (out / "overlays").mkdir(parents=True)
    log = out / "tables.txt"
    log.unlink(missing_ok=True)

    things = things_in(given.folder)[: given.cases]
    print(f"{len(things)} objects of {len({thing.category for thing in things})} categories")
    make_cafe(things, out / "cafe")
    make_halluseg(things, out / "halluseg")
    cafe_files = ("--annotations", out / "cafe" / "annotations.json")
    models = model_names(out, [name for name in given.models.split(",") if name])
    named = [word for name in models for word in ("--model", name)]
    quick = ("--bootstrap", 100, "--device", "cpu")
    ask(
        ("eval", "cafe", *cafe_files, "--images", out / "cafe" / "images", *named, *quick,
         "--out", out / "runs" / "cafe"),
        log,
    )  # fmt: skip
    ask(
        ("eval", "halluseg", "--cases", out / "halluseg" / "results.json", "--data",
         out / "halluseg" / "data", *named, *quick, "--out", out / "runs" / "halluseg"),
        log,
    )  # fmt: skip
    write_dump(out / "runs" / "cafe" / "random", out / "dump.json")
    replayed = ("--bootstrap", 100, "--out")
    ask(("eval", "cafe", *cafe_files, "--model", f"replay:{out / 'dump.json'}", *replayed,
         out / "runs" / "cafe"), log)  # fmt: skip
    ask(("score", "cafe", *cafe_files, "--predictions", out / "dump.json", *replayed,
         out / "scored"), log)  # fmt: skip

    folders = sorted(path.parent for path in (out / "runs").glob("*/*/run.json"))
    sets: dict[str, tuple[Benchmark, Path]] = {
        "cafe": (cafe.read([out / "cafe" / "annotations.json"]), out / "cafe" / "images"),
        "halluseg": (
            halluseg.read(out / "halluseg" / "results.json", out / "halluseg" / "data"),
            out / "halluseg" / "data",
        ),
    }
    for folder in folders:
        name = read_run(folder).model.partition(":")[0]
        benchmark, images = sets[folder.parent.name]
        path = out / "overlays" / f"{folder.parent.name}-{name}.png"
        random = name in TINY  # it is sure of nothing, and answers the same to every phrase
        most, t = (1, 0.0) if random else (3, 0.5)
        sheet(benchmark, images, folder, path, n_cases=6, t=t, most=most)
    print(f"tables: {log}, overlays: {out / 'overlays'}")
    if not checks(out, folders, sets):
        sys.exit(1)


if __name__ == "__main__":
    main()
