"""What building costs before anything is edited: reading sources and mining candidates.

    python bench/build.py [--annotations 10000,100000,1000000] [--relationships 2300000] [--times 1]

Files of the sources' formats are written with made-up content: COCO instances of which every image
has about eight, and Visual Genome with twenty relationships for every image. Each is mined in a
process of its own; memory must not grow with the file. Written to bench/results/build.json.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

from groundfault.io.store import write_json
from measure import best

ROOT = Path(__file__).parent
DATA, RESULTS = ROOT / "data" / "build", ROOT / "results"
PER_IMAGE = 8
RELATIONS_PER_IMAGE = 21
CATEGORIES = 80
NAMES = [f"thing{k}" for k in range(400)]
ATTRIBUTES = [f"like{k}" for k in range(60)]
PREDICATES = ["on", "in", "under", "behind", "of", "wearing", "has", "near"]


def coco_file(count: int) -> Path:
    """COCO instances with polygons of 20 points, in an order that is not the images'."""
    path = DATA / f"coco-{count}.json"
    if path.exists():
        return path
    rng = np.random.default_rng(0)
    images = max(1, count // PER_IMAGE)
    with path.open("w") as file:
        file.write('{"info": {}, "licenses": [{"id": 1, "name": "made up"}], "images": [')
        for k in range(images):
            name = {"id": k, "file_name": f"{k}.jpg", "height": 480, "width": 640, "license": 1}
            file.write((", " if k else "") + json.dumps(name))
        file.write('], "annotations": [')
        turns = np.linspace(0, 2 * np.pi, 20, endpoint=False)
        for k in range(count):
            x, y = rng.uniform(60, 580), rng.uniform(60, 420)
            reach = rng.uniform(5, 110)
            points = np.stack([x + reach * np.cos(turns), y + reach * np.sin(turns)], 1)
            polygon = np.round(points.clip(0, [640, 480]).ravel(), 2).tolist()
            record = {
                "segmentation": [polygon], "area": reach * reach * 3, "iscrowd": 0,
                "image_id": int(rng.integers(images)), "category_id": int(rng.integers(CATEGORIES)),
                "bbox": [x - reach, y - reach, 2 * reach, 2 * reach], "id": k,
            }  # fmt: skip
            file.write((", " if k else "") + json.dumps(record))
        names = [{"id": k, "name": f"category {k}"} for k in range(CATEGORIES)]
        file.write(f'], "categories": {json.dumps(names)}}}')
    return path


def visual_genome(relationships: int) -> Path:
    """Visual Genome's four files."""
    folder = DATA / f"vg-{relationships}"
    if (folder / "done").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    names = ("image_data", "objects", "attributes", "relationships")
    files = {name: (folder / f"{name}.json").open("w") for name in names}
    for k in range(max(1, relationships // RELATIONS_PER_IMAGE)):
        for name, record in zip(names, _vg_image(k + 1, rng), strict=True):
            files[name].write((", " if k else "[") + json.dumps(record))
    for file in files.values():
        file.write("]")
        file.close()
    (folder / "done").touch()
    return folder


def _vg_image(image_id: int, rng: np.random.Generator) -> tuple[object, object, object, object]:
    count = 35
    picks = np.minimum(rng.geometric(0.02, count), len(NAMES)) - 1
    corners = rng.integers(0, 400, (count, 4)).tolist()
    objects = [
        {
            "synsets": [f"{NAMES[pick]}.n.01"], "h": h + 20, "object_id": image_id * 100 + k,
            "merged_object_ids": [], "names": [NAMES[pick]], "w": w + 20, "y": y, "x": x,
        }
        for k, (pick, (x, y, w, h)) in enumerate(zip(picks, corners, strict=True))
    ]  # fmt: skip
    liked = [
        {**each, "attributes": [ATTRIBUTES[int(a)] for a in rng.geometric(0.2, 2) % 60]}
        for each in objects
    ]
    related = [
        {
            "predicate": PREDICATES[int(rng.integers(8))], "relationship_id": k, "synsets": [],
            "object": objects[b],
            "subject": {k2: v for k2, v in objects[a].items() if k2 != "names"}
            | {"name": objects[a]["names"][0]},
        }
        for k, (a, b) in enumerate(rng.integers(0, count, (RELATIONS_PER_IMAGE, 2)))
    ]  # fmt: skip
    data = {"width": 800, "height": 600, "image_id": image_id, "url": "", "coco_id": None}
    head = {"image_id": image_id}
    return (
        data,
        {**head, "objects": objects},
        {**head, "attributes": liked},
        {**head, "relationships": related},
    )


def mined(paper: str, path: str) -> None:
    """Mine a source in this process, or only read it, and print how many there were."""
    from groundfault.building.mining import cafe, halluseg, reactbench
    from groundfault.building.sources import photographs

    if paper == "read":
        related = [len(each.relations) for each in photographs("visual-genome", annotations=path)]
        print(json.dumps({"relationships": sum(related), "photographs": len(related)}))
        return
    dropped = 0

    def on_drop(name: str, why: object) -> None:
        nonlocal dropped
        dropped += 1

    if paper == "reactbench":
        found = reactbench.mine(
            lambda: photographs("visual-genome", annotations=path),
            reactbench.ReactbenchSettings(tasks=("erasure", "attribute", "tracing")),
            on_drop,
        )
    else:
        module = {"cafe": cafe, "halluseg": halluseg}[paper]
        settings = {"cafe": cafe.CafeSettings, "halluseg": halluseg.HallusegSettings}[paper]()
        found = module.mine(photographs("coco", annotations=path), settings, on_drop)
    count = sum(1 for _ in found)
    print(json.dumps({"candidates": count, "dropped": dropped}))


def measured(paper: str, path: Path, times: int) -> dict[str, object]:
    """One row of the table."""
    log = RESULTS / "build.log"
    command = [sys.executable, __file__, "--mine", paper, str(path)]
    cost = best(command, log=log, times=times)
    counts = json.loads(log.read_text().strip().splitlines()[-1])
    size = path.stat().st_size if path.is_file() else sum(f.stat().st_size for f in path.iterdir())
    row = {
        "paper": paper, "file_mb": round(size / 1e6), **counts,
        "per_s": round(next(iter(counts.values())) / cost.cpu_s),
        "cpu_s": round(cost.cpu_s, 1), "peak_mb": round(cost.peak_mb),
    }  # fmt: skip
    print("  ".join(f"{key} {value}" for key, value in row.items()), flush=True)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--annotations", default="10000,100000,1000000")
    parser.add_argument("--relationships", type=int, default=2_300_000)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--mine", nargs=2, metavar=("PAPER", "PATH"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.mine:
        mined(*chosen.mine)
        return
    DATA.mkdir(parents=True, exist_ok=True)
    RESULTS.mkdir(exist_ok=True)
    rows = []
    for count in map(int, filter(None, chosen.annotations.split(","))):
        path = coco_file(count)
        rows += [measured(paper, path, chosen.times) for paper in ("cafe", "halluseg")]
    if chosen.relationships:
        started = time.perf_counter()
        folder = visual_genome(chosen.relationships)
        print(f"  (Visual Genome written in {time.perf_counter() - started:.0f} s)")
        rows += [measured(paper, folder, chosen.times) for paper in ("read", "reactbench")]
    write_json(RESULTS / "build.json", rows)


if __name__ == "__main__":
    main()
