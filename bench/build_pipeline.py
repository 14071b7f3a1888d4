"""What a build costs beside its editor, per candidate.

    python bench/build_pipeline.py [--candidates 300] [--annotations A.json --images DIR]

Made-up photographs with one target each go through every stage with an editor that changes nothing
but the target's colours, whose own time is taken off. Tiny pictures show what keeping records
costs; pictures of 640x480 show what files and checks add: decoding, pasting back, a PNG for every
edit, every check of `verify`. With a COCO file and its photographs, the procedural editor's edits
per second and core. Times are CPU seconds; written to bench/results/build_pipeline.json.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from groundfault.building.editing import EditSettings
from groundfault.building.pipeline import build, stage_names
from groundfault.building.recipe import Recipe, SourceSettings
from groundfault.building.stages import read_records
from groundfault.interfaces import Edited, EditRequest, ModelOptions
from groundfault.io.masks import encode
from groundfault.io.store import write_json

RESULTS = Path(__file__).parent / "results"
CATEGORIES = ("elephant", "bus", "chair", "cat")


class Invert:
    """An editor that costs next to nothing; what it does cost is counted."""

    spent_s = 0.0

    def edit(self, image: Any, region: Any, instruction: str) -> Any:
        return image

    def perform(self, image: Any, region: Any, request: EditRequest) -> Edited:
        started = time.process_time()
        where = ~region if request.kind == "context" else region
        found = Edited(image=np.where(where[..., None], 255 - image, image), touched=where)
        type(self).spent_s += time.process_time() - started
        return found


def invert(argument: str, options: ModelOptions) -> Invert:
    return Invert()


def plug_in(folder: Path) -> None:
    """Have the editor found as those of other packages are."""
    installed = folder / "bench_invert-1.0.dist-info"
    installed.mkdir(parents=True)
    points = f"[groundfault.editors]\ninvert = {Path(__file__).stem}:invert\n"
    (installed / "entry_points.txt").write_text(points)
    (installed / "METADATA").write_text("Name: bench_invert\nVersion: 1.0\n")
    sys.path[:0] = [str(folder), str(Path(__file__).parent)]


def write_set(folder: Path, photographs: int, size_px: tuple[int, int]) -> SourceSettings:
    """Photographs of noise with an ellipse in the middle, as JPEGs with a COCO file."""
    height, width = size_px
    (folder / "images").mkdir(parents=True)
    y, x = np.mgrid[:height, :width]
    mask = ((y - height / 2) / (height / 4)) ** 2 + ((x - width / 2) / (width / 5)) ** 2 < 1
    told: dict[str, list[dict[str, Any]]] = {"images": [], "annotations": [], "categories": []}
    told["categories"] = [{"id": k, "name": name} for k, name in enumerate(CATEGORIES)]
    for number in range(photographs):
        rng = np.random.default_rng(number)
        coarse = rng.integers(0, 256, (12, 16, 3)).astype(np.uint8)
        name = f"{number}.jpg"
        Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC).save(
            folder / "images" / name
        )
        size = {"height": height, "width": width}
        told["images"].append({"id": number, "file_name": name, **size})
        told["annotations"].append(
            {
                "id": number, "image_id": number, "category_id": number % len(CATEGORIES),
                "segmentation": encode(mask), "area": int(mask.sum()), "iscrowd": 0,
                "bbox": [width * 0.3, height * 0.25, width * 0.4, height * 0.5],
            }
        )  # fmt: skip
    (folder / "a.json").write_text(json.dumps(told))
    return SourceSettings(annotations=str(folder / "a.json"), images=str(folder / "images"))


def pipeline(candidates: int, size_px: tuple[int, int], folder: Path) -> dict[str, Any]:
    """CPU milliseconds per candidate of each stage, without the editor's own."""
    source = write_set(folder / "set", -(-candidates // 3), size_px)
    recipe = Recipe(benchmark="cafe", source=source, edit=EditSettings(by="invert"))
    few = write_set(folder / "few", 2, size_px)
    build(Recipe(benchmark="cafe", source=few, edit=EditSettings(by="invert")), folder / "warm")
    made: dict[str, Any] = {"size_px": list(size_px)}
    total = 0.0
    before = ""
    for stage in stage_names("cafe"):
        known = _cost(recipe, folder / "out", before) if before else 0.0
        spent = _cost(recipe, folder / "out", stage) - known
        entered = sum(1 for _ in read_records(folder / "out", before or stage))
        made[f"{stage}_ms"] = round(1e3 * spent / entered, 2)
        total += spent / entered
        before = stage
    return {**made, "all_ms": round(1e3 * total, 2)}


def _cost(recipe: Recipe, folder: Path, until: str) -> float:
    """CPU seconds of a build up to a stage, without the editor's own."""
    editor = import_module(Path(__file__).stem).Invert  # as the registry imports it
    editor.spent_s = 0.0
    started = time.process_time()
    build(recipe, folder, until=until)
    return time.process_time() - started - float(editor.spent_s)


def edits(annotations: str, images: str, limit: int, folder: Path) -> dict[str, Any]:
    """Edits per second of one core by the procedural editor, refusals among them and alone."""
    rows: dict[str, Any] = {}
    for benchmark in ("cafe", "halluseg"):
        recipe = Recipe(
            benchmark=benchmark,
            source=SourceSettings(annotations=annotations, images=images),
            limit=limit,
        )
        place = folder / benchmark
        build(recipe, place, until="propose")
        started = time.process_time()
        built = build(recipe, place, until="edit")
        spent = time.process_time() - started
        count = built.funnel.stages[-1]
        rows[benchmark] = {
            "candidates": count.entered, "edited": count.kept, "cpu_s": round(spent, 1),
            "candidates_per_s": round(count.entered / spent, 2),
            "edits_per_s": round(count.kept / spent, 2),
        }  # fmt: skip
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--candidates", type=int, default=300)
    parser.add_argument("--sizes", default="36x48,480x640", help="Height x width, with commas.")
    parser.add_argument("--annotations", default="")
    parser.add_argument("--images", default="")
    parser.add_argument("--limit", type=int, default=60)
    chosen = parser.parse_args()
    rows: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="groundfault-bench-") as name:
        folder = Path(name)
        plug_in(folder / "packages")
        for size in chosen.sizes.split(","):
            height_px, width_px = map(int, size.split("x"))
            size_px = height_px, width_px
            found = pipeline(chosen.candidates, size_px, folder / f"{size_px[0]}")
            rows["x".join(map(str, size_px))] = found
            print(found, flush=True)
        if chosen.annotations:
            rows["procedural"] = edits(chosen.annotations, chosen.images, chosen.limit, folder)
            print(rows["procedural"], flush=True)
    RESULTS.mkdir(exist_ok=True)
    write_json(RESULTS / "build_pipeline.json", rows)


if __name__ == "__main__":
    main()
