"""The published CAFE evaluation as a user runs it, one step per process.

    cafe_peer.py cgf1 EVALUATOR.py ANNOTATIONS.json PREDICTIONS.json
    cafe_peer.py target ANNOTATIONS.json PREDICTIONS.json OUT.json

`cgf1` loads the SAM 3 evaluator file by path and, like the published wrapper, reads the
predictions once beforehand to check them. `target` classifies pair by pair in plain Python and
pycocotools.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any


def cgf1(evaluator_file: str, annotations: str, predictions: str) -> None:
    if not isinstance(json.loads(Path(predictions).read_text()), list):
        sys.exit("predictions are not a list")
    spec = importlib.util.spec_from_file_location("cgf1_eval", evaluator_file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    print(
        json.dumps(module.CGF1Evaluator(gt_path=[annotations], verbose=True).evaluate(predictions))
    )


def target(annotations: str, predictions: str, out: str) -> None:
    import numpy as np
    from pycocotools import mask as coco_mask

    def overlap(records: list[dict[str, Any]], mask: dict[str, Any]) -> Any:
        if not records:
            return np.zeros(0)
        return coco_mask.iou([record["segmentation"] for record in records], [mask], [0])[:, 0]

    by_image = defaultdict(list)
    for record in json.loads(Path(predictions).read_text()):
        by_image[record["image_id"]].append(record)
    data = json.loads(Path(annotations).read_text())
    masks: dict[int, Any] = {}
    for annotation in data["annotations"]:
        masks.setdefault(annotation["image_id"], annotation["segmentation"])
    rows = []
    for image in data["images"]:
        if "fp_source_id" not in image:
            continue
        positive, negative = by_image[image["fp_source_id"]], by_image[image["id"]]
        mask = masks[image["fp_source_id"]]
        scores = np.array([record["score"] for record in negative])
        on_target = overlap(negative, mask) >= 0.3
        found = overlap(positive, mask) >= 0.3
        sure = np.array([record["score"] for record in positive])
        rows.append(
            {
                "id": image["id"],
                "ta_tp": bool((found & (sure >= 0.5)).any()),
                "ta_fp": bool((on_target & (scores >= 0.5)).any()),
                "accepted": bool((scores >= 0.5).any()),
            }
        )
    summary = {"AFPR": sum(row["ta_fp"] for row in rows) / len(rows)}
    Path(out).write_text(json.dumps({"summary": summary, "pairs": rows}, indent=2))


if __name__ == "__main__":
    {"cgf1": cgf1, "target": target}[sys.argv[1]](*sys.argv[2:])
