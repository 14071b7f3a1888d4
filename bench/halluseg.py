"""`groundfault score halluseg` against plain OpenCV scripts, at the benchmark's size.

    python bench/halluseg.py [--cases 1340] [--times 3]

The peer works as the published scripts do: one pass for the overlaps and one for the confusion
mask scores, each picture decoded where it is used, one process, one case after the other.
Data are made from a seed in a temporary folder: smooth blobs, mostly 640x480, one counterfactual
picture in twenty of another size. Both sides must agree on every number (parity), else it stops.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from measure import Cost, best

SIZES_PX = ((480, 640), (640, 480), (427, 640))
CORNERS = ("orgl_orgi", "orgl_edti", "edtl_edti", "edtl_orgi")


def write_data(folder: Path, n_cases: int, seed: int) -> None:
    """results.json, data/ and pred/ as HalluSegBench has them."""
    import cv2
    import numpy as np

    rng = np.random.default_rng(seed)

    def blob(size_px: tuple[int, int], radius: float) -> Any:
        height, width = size_px
        rough = rng.standard_normal((max(4, height // 40), max(4, width // 40)))
        waves = cv2.resize(rough, (width, height), interpolation=cv2.INTER_CUBIC)
        rows, columns = np.mgrid[:height, :width]
        row, column = rng.uniform(0.25, 0.75, 2) * size_px
        return np.hypot((rows - row) / height, (columns - column) / width) / radius + waves / 4 < 1

    def write(path: Path, mask: Any) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        cv2.imwrite(str(path), mask.astype(np.uint8) * 255)

    records = []
    for number in range(n_cases):
        size_px = SIZES_PX[rng.choice(3, p=[0.7, 0.15, 0.15])]
        edited_size_px = (512, 512) if rng.random() < 0.05 else size_px
        radius = float(np.exp(rng.uniform(np.log(0.03), np.log(0.5))))
        factual, edited = blob(size_px, radius), blob(edited_size_px, radius)
        name = f"COCO_train2014_{number:012d}_{number}"
        record: dict[str, Any] = {
            "factual_image_path": f"images/COCO_train2014_{number:012d}.jpg",
            "counterfactual_image_path": f"edited/{name}.png",
            "ann_id": number,
            "factual_label": "left zebra",
            "counterfactual_label": "left horse",
        }
        for side, mask in (("factual", factual), ("counterfactual", edited)):
            record[f"{side}_mask_path"] = f"masks/{side}/{name}.png"
            write(folder / "data" / record[f"{side}_mask_path"], mask)
        for corner in CORNERS:
            truth = edited if corner.endswith("edti") else factual
            found = np.roll(truth, int(rng.integers(-15, 15)), axis=1) & (rng.random() < 0.85)
            record[f"mask_{corner}"] = f"{corner}/{name}_mask.png"
            write(folder / "pred" / record[f"mask_{corner}"], found)
        records.append(record)
    (folder / "results.json").write_text(json.dumps(records, indent=2))


def peer(folder: Path) -> None:
    """Both passes, as one would write them with OpenCV; prints the means."""
    import cv2
    import numpy as np

    records = json.loads((folder / "results.json").read_text())
    data, predictions = folder / "data", folder / "pred"

    def grey(path: Path) -> Any:
        return cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)

    def at(mask: Any, shape: tuple[int, int]) -> Any:
        size = (shape[1], shape[0])
        return cv2.resize(mask.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST).astype(bool)

    def iou(truth: Any, found: Any, shape: tuple[int, int]) -> float:
        truth, found = at(truth, shape), at(found, shape)
        union = np.logical_or(truth, found).sum()
        return float(np.logical_and(truth, found).sum() / union) if union else 0.0

    def confusion(truth: Any, found: Any) -> float:
        truth, found = at(truth, truth.shape), at(found, truth.shape)
        shared = np.logical_and(truth, found).sum()
        beside = np.logical_and(found, np.logical_not(truth)).sum()
        return float((3 * shared + beside) / (3 * truth.sum())) if truth.any() else 0.0

    values: dict[str, list[float]] = {}
    for record in records:
        factual = grey(data / record["factual_mask_path"]) > 0
        edited = grey(data / record["counterfactual_mask_path"]) > 0
        for name, truth, corner in (
            ("IoU_fact", factual, "orgl_orgi"),
            ("IoU_textual", factual, "edtl_orgi"),
            ("IoU_visual", edited, "orgl_edti"),
        ):
            found = grey(predictions / record[f"mask_{corner}"]) > 0
            values.setdefault(name, []).append(iou(truth, found, factual.shape))
    for record in records:
        for name, side, corner in (
            ("CMS_fact", "factual", "edtl_orgi"),
            ("CMS_counterfact", "counterfactual", "orgl_edti"),
        ):
            truth = grey(data / record[f"{side}_mask_path"])
            found = grey(predictions / record[f"mask_{corner}"])
            values.setdefault(name, []).append(confusion(truth, found))
    print(json.dumps({name: sum(found) / len(found) for name, found in values.items()}))


def ours(folder: Path, variant: str, bootstrap: int, times: int) -> Cost:
    command = [
        str(Path(sys.executable).parent / "groundfault"), "score", "halluseg",
        "--cases", str(folder / "results.json"), "--data", str(folder / "data"),
        "--predictions", str(folder / "pred"), "--variant", variant,
        "--bootstrap", str(bootstrap), "--out", str(folder / f"out_{variant}"),
    ]  # fmt: skip
    return best(command, log=folder / "ours.log", times=times)


def check_agreement(folder: Path) -> None:
    expected = json.loads((folder / "peer.log").read_text())
    summary = json.loads((folder / "out_parity" / "summary.json").read_text())
    for name, value in expected.items():
        found = summary["rows"]["Overall"]["metrics"][name]["value"]
        if abs(found - value) > 1e-9:
            sys.exit(f"{name}: the peer says {value}, we say {found}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1340)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--peer", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peer:
        return peer(arguments.peer)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_data(folder, arguments.cases, arguments.seed)
        command = [sys.executable, __file__, "--peer", name]
        costs = {
            "OpenCV, two passes": best(command, log=folder / "peer.log", times=arguments.times),
            "groundfault exact": ours(folder, "exact", 0, arguments.times),
            "groundfault parity": ours(folder, "parity", 0, arguments.times),
            "  with 10,000 resamples": ours(folder, "exact", 10_000, arguments.times),
        }
        check_agreement(folder)
    plain = costs["OpenCV, two passes"]
    print(f"{arguments.cases} cases, {6 * arguments.cases} pictures")
    print(f"{'':24} {'CPU s':>7} {'wall s':>7} {'peak MB':>8} {'wall ratio':>10}")
    for title, cost in costs.items():
        print(
            f"{title:24} {cost.cpu_s:7.2f} {cost.wall_s:7.2f} {cost.peak_mb:8.0f} "
            f"{plain.wall_s / cost.wall_s:9.1f}x"
        )


if __name__ == "__main__":
    main()
