"""How far one machine goes: 200,000 image–phrase pairs and 1,000,000 predicted masks.

    python bench/scale.py [--pairs 20000,200000]

Predictions are streamed, so memory holds the annotations and two numbers per prediction. Growth
should be no worse than linear from one size to the next. Masks are of full-size images, drawn
from a pool, in random order.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from measure import run

DATA = Path(__file__).parent / "data"
POOL = 400
PREDICTIONS_PER_PAIR = 5
EDITS = ("Superficial Mimicry", "Context Conflict", "Ontological Conflict")


def make_pool() -> list[str]:
    """Run-length codes of the pool's masks, made by the example of the package."""
    from groundfault.io.example import write_example

    paths = write_example(DATA / "pool", n=POOL, seed=2, size_px=(768, 1024))
    records = json.loads(paths["gullible"].read_text())
    return [json.dumps(record["segmentation"]) for record in records]


def make_data(pairs: int) -> Path:
    """Write both files record by record."""
    folder = DATA / f"scale_{pairs}"
    predictions = folder / "predictions.json"
    if predictions.exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    pool = make_pool()
    rng = np.random.default_rng(4)
    choice = rng.integers(0, len(pool), pairs)
    with (folder / "annotations.json").open("w") as out:
        out.write('{"categories": [{"id": 1, "name": "object"}], "images": [')
        for k in range(1, pairs + 1):
            edit = EDITS[k % 3]
            shared = f'"file_name": "{k}.jpg", "height": 768, "width": 1024, "edit_type": "{edit}"'
            out.write("," * (k > 1) + f'{{"id": {k}, "text_input": "a", {shared}}},')
            out.write(f'{{"id": {10**9 + k}, "text_input": "b", "fp_source_id": {k}, {shared}}}')
        out.write('], "annotations": [')
        for k in range(1, pairs + 1):
            mask = pool[choice[k - 1]]
            head = f'"id": {k}, "image_id": {k}, "category_id": 1, "iscrowd": 0'
            out.write("," * (k > 1) + f'{{{head}, "segmentation": {mask}}}')
        out.write("]}")
    temporary = predictions.with_suffix(".part")
    with temporary.open("w") as out:
        out.write("[")
        for number, k in enumerate(rng.permutation(pairs * PREDICTIONS_PER_PAIR) % pairs):
            mask = pool[choice[k]] if rng.random() < 0.5 else pool[int(rng.integers(len(pool)))]
            image = k + 1 + 10**9 * int(rng.random() < 0.5)
            head = f'"image_id": {image}, "category_id": 1, "score": {rng.random():.4f}'
            out.write("," * (number > 0) + f'{{{head}, "segmentation": {mask}}}')
        out.write("]")
    temporary.rename(predictions)
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", default="20000,200000")
    parser.add_argument("--make", type=int, help="only write the data of this size")
    arguments = parser.parse_args()
    if arguments.make:
        make_data(arguments.make)
        return
    print(f"{'pairs':>8} {'masks':>9} {'MB read':>8} {'CPU s':>7} {'wall s':>7} {'peak MB':>8}")
    for pairs in map(int, arguments.pairs.split(",")):
        # in a process of its own: a child's peak memory starts from its parent's
        subprocess.run([sys.executable, __file__, "--make", str(pairs)], check=True)
        folder = DATA / f"scale_{pairs}"
        files = [folder / "annotations.json", folder / "predictions.json"]
        size_mb = sum(file.stat().st_size for file in files) / 1e6
        command = [
            str(Path(sys.executable).parent / "groundfault"), "score", "cafe",
            "--annotations", str(files[0]), "--predictions", str(files[1]),
            "--out", str(folder / "out"),
        ]  # fmt: skip
        cost = run(command, log=folder / "score.log")
        masks = pairs * PREDICTIONS_PER_PAIR
        times = f"{cost.cpu_s:7.1f} {cost.wall_s:7.1f} {cost.peak_mb:8.0f}"
        print(f"{pairs:8d} {masks:9d} {size_mb:8.0f} {times}")


if __name__ == "__main__":
    main()
