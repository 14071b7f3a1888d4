"""Conformance with the published CAFE and SAM 3 evaluators on stored inputs and outputs.

The golden files hold synthetic inputs and what the evaluators of T-S-Liang/CAFE@8b2cda7 and
facebookresearch/sam3@99d02f2 answered. Parity means equal within 1e-9. Where an evaluator crashes
or silently drops data, ours answers or refuses; POLICY says which and why.
"""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from groundfault.analysis.summary import summarise
from groundfault.benchmarks import cafe
from groundfault.errors import DataError
from groundfault.io.coco import read_coco_results
from groundfault.matching.overlaps import Overlaps, compare_predictions
from groundfault.metrics import target_aware
from groundfault.protocols import concepts
from groundfault.records import Benchmark, Estimate, Role

GOLDEN = Path(__file__).parent / "golden"
TOLERANCE = 1e-9
SETS = ("cafe_n60_s11", "cafe_n60_s12")


def load(path: Path) -> Any:
    with gzip.open(path, "rt") as file:
        return json.load(file)


@pytest.fixture(scope="module", params=SETS)
def golden(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One golden set, unpacked."""
    folder = tmp_path_factory.mktemp(request.param)
    for packed in (GOLDEN / request.param).glob("*.json.gz"):
        (folder / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
    return folder


def compare(
    folder: Path, annotators: list[str], predictions: str, iou: str
) -> tuple[Benchmark, Overlaps]:
    benchmark = cafe.read([folder / f"{name}.json" for name in annotators])
    file = folder / f"{predictions}.json"
    return benchmark, compare_predictions(benchmark, read_coco_results(file), iou=iou)


def rows_of(
    compared: tuple[Benchmark, Overlaps], *, t: float, tau: float = 0.3, iou: str = "segm"
) -> dict[str, dict[str, Estimate]]:
    scored = concepts.score(*compared, t=t, tau=tau, iou=iou, variant="parity")
    summary = summarise(scored, bootstrap=0, seed=0)
    return {name: row.metrics for name, row in summary.rows.items()}


def check(ours: dict[str, Estimate], published: dict[str, float]) -> None:
    """Equal within the tolerance; the published −1 and NaN are our None."""
    for name, expected in published.items():
        name = name + "0" if name.endswith("@0.5") else name
        value = ours[name].value
        if expected == -1 or math.isnan(expected):
            assert value is None, name
        else:
            assert value == pytest.approx(expected, abs=TOLERANCE), name


def check_target_aware(ours: dict[str, Estimate], published: dict[str, Any]) -> None:
    """The published script lumps UA-P, TA-FN and UA-FN into "TA-FN"; that is our `lost`."""
    if published["N"] == 0:
        assert ours["AFPR"].value is None
        return
    lumped = {
        "lost" if name == "TA-FN" else name: v for name, v in published.items() if name != "N"
    }
    assert ours["AFPR"].n == published["N"]
    check(ours, lumped)
    cells = sum(ours[cell].value or 0 for cell in ("UA-P", "TA-FN", "UA-FN"))
    assert cells == published["TA-FN"]


def test_cgf1_family(golden: Path) -> None:
    expected = json.loads((golden / "expected.json").read_text())["cgf1"]
    compared = {iou: compare(golden, ["annotations"], "pred", iou) for iou in ("segm", "bbox")}
    assert len(expected) == 16
    for key, published in expected.items():
        row, iou, t = key.split(",")
        rows = rows_of(compared[iou], t=float(t.removeprefix("t=")), iou=iou)
        check(rows[row], published["metrics"])


@pytest.mark.parametrize("subset", ["SM", "CC", "OC"])
def test_subset_file_equals_row_of_full_file(golden: Path, subset: str) -> None:
    expected = json.loads((golden / "expected.json").read_text())["cgf1"]
    rows = rows_of(compare(golden, [subset], "pred", "segm"), t=0.5)
    check(rows["Overall"], expected[f"{subset},segm,t=0.5"]["metrics"])
    check(rows[subset], expected[f"{subset},segm,t=0.5"]["metrics"])


def test_target_aware_rows_and_pairs(golden: Path) -> None:
    expected = json.loads((golden / "expected.json").read_text())["cafe"]
    benchmark, overlaps = compare(golden, ["annotations"], "pred", "segm")
    assert len(expected) == 8
    for key, published in expected.items():
        t, tau = (float(part.split("=")[1]) for part in key.split(","))
        rows = rows_of((benchmark, overlaps), t=t, tau=tau)
        for name, numbers in published["summary"].items():
            check_target_aware(rows[name], numbers)
        check_pairs(benchmark, overlaps, published["per_pair"], t=t, tau=tau)


def check_pairs(
    benchmark: Benchmark,
    overlaps: Overlaps,
    published: list[dict[str, Any]],
    *,
    t: float,
    tau: float,
) -> None:
    items = benchmark.items
    place = {item.id: number for number, item in enumerate(items)}
    pairs = target_aware.Pairs(
        np.array([place[str(pair["pp_id"])] for pair in published]),
        np.array([place[str(pair["mnp_id"])] for pair in published]),
    )
    scores = target_aware.score(overlaps, pairs, t=t, tau=tau)
    for number, pair in enumerate(published):
        assert (scores.positive_cell[number] == 0) == pair["ta_tp"]
        cell = target_aware.NEGATIVE_CELLS[scores.negative_cell[number]]
        assert cell == ("TA-FP" if pair["ta_fp"] else "UA-FP" if pair["ua_fp"] else "TN")
        assert scores.positive_score[number] == pair["pp_max_score"]
        assert scores.negative_score[number] == pair["mnp_max_score"]
        assert scores.soft_swap[number] == pair["softswap"]


def test_overlap_of_every_prediction(golden: Path) -> None:
    """IoU with the paired target, prediction by prediction."""
    expected = json.loads((golden / "expected.json").read_text())["pred_iou_vs_paired_gt"]
    predictions = json.loads((golden / "pred.json").read_text())
    benchmark, overlaps = compare(golden, ["annotations"], "pred", "segm")
    place = {item.id: number for number, item in enumerate(benchmark.items)}
    item = np.array([place[str(record["image_id"])] for record in predictions])
    in_file_order = np.argsort(np.argsort(item, kind="stable"), kind="stable")
    np.testing.assert_allclose(overlaps.target_iou[in_file_order], expected, atol=1e-15)


def test_several_annotators(golden: Path) -> None:
    expected = json.loads((golden / "expected.json").read_text())["oracle"]
    names = {"a": "annotations", "b": "annotations_b", "c": "annotations_c"}
    for key, published in expected.items():
        order, iou, t, *without_boxes = key.split(",")
        predictions = "pred" if without_boxes else "pred_bbox"
        compared = compare(golden, [names[letter] for letter in order], predictions, iou)
        rows = rows_of(compared, t=float(t.removeprefix("t=")), iou=iou)
        if without_boxes:
            # The published evaluator crashes without boxes; masks need none, so ours answers,
            # and as it answers with boxes.
            assert "error" in published
            published = expected[f"{order},{iou},{t}"]
        check(rows["Overall"], published["metrics"])


EDGE_CASES = {case["name"]: case for case in load(GOLDEN / "cafe_edge_cases.json.gz")}

REFUSED = {
    "size_mismatch": "a mask of another size than its image overlaps nothing: IoU −1 is no answer",
    "nan_score": "NaN is neither accepted nor rejected, and is not JSON",
    "unknown_source": "a negative without its positive has no target (cgF1 alone: score saco)",
    "unknown_edit_type": "a row for an unknown edit type would be a guess (cgF1 alone: score saco)",
    "missing_score": "without a score nothing is accepted or rejected",
    "pred_not_a_list": "not a results file",
    "oracle_missing_image": "the published evaluator refuses too: an annotator lacks a pair",
}
ANSWERED = {
    "exhaustive_key_missing": "absent means exhaustive, as the releases mean it",
    "string_image_id": "ids that spell the same number are the same; cgF1 silently saw nothing",
    "bbox_first_only": "a missing box is the mask's own box",
    "bbox_empty_list": "an empty box is no box",
    "polygon_gt": "polygons are masks for both families",
    "uncompressed_gt": "plain run lengths are masks for both families",
    "uncompressed_pred": "plain run lengths are masks for both families",
    "oracle_no_bbox": "masks need no boxes",
}


def write_case(folder: Path, case: dict[str, Any]) -> tuple[list[Path], Path]:
    annotations = []
    for number, content in enumerate(case["gts"]):
        annotations.append(folder / f"gt{number}.json")
        annotations[-1].write_text(json.dumps(content))
    predictions = folder / "pred.json"
    predictions.write_text(json.dumps(case["pred"]))
    return annotations, predictions


@pytest.mark.parametrize("name", EDGE_CASES)
def test_edge_case(name: str, tmp_path: Path) -> None:
    case = EDGE_CASES[name]
    annotations, predictions = write_case(tmp_path, case)

    def score(iou: str, t: float, tau: float = 0.3) -> dict[str, dict[str, Estimate]]:
        benchmark = cafe.read(annotations)
        overlaps = compare_predictions(benchmark, read_coco_results(predictions), iou=iou)
        return rows_of((benchmark, overlaps), t=t, tau=tau, iou=iou)

    if name in REFUSED:
        with pytest.raises(DataError) as refusal:
            score("segm", 0.5)
        assert refusal.value.remedy
        return
    for key, published in case["expected"].items():
        family, *rest = key.split(",")
        settings = dict(part.split("=") for part in rest if "=" in part)
        iou = rest[0] if family == "cgf1" else "segm"
        rows = score(iou, float(settings["t"]), float(settings.get("tau", 0.3)))
        if "error" in published:
            assert name in ANSWERED, key
            assert rows["Overall"]["IL_recall"].value is not None
        elif family == "cafe":
            for row, numbers in published["summary"].items():
                check_target_aware(rows[row], numbers)
        elif name == "string_image_id":
            assert rows["Overall"]["IL_recall"].value == pytest.approx(1.0, abs=1e-5)
        else:
            check(rows["Overall"], published["metrics"])


def test_every_deviation_is_listed() -> None:
    """No edge case is refused or answered differently without its reason above."""
    assert set(REFUSED) | set(ANSWERED) <= set(EDGE_CASES)
    crashes = {
        name
        for name, case in EDGE_CASES.items()
        if any("error" in published for published in case["expected"].values())
    }
    assert crashes <= set(REFUSED) | set(ANSWERED)


def test_answers_where_the_published_evaluator_crashes(tmp_path: Path) -> None:
    """Masks in other codes give what the same masks in the usual code give."""
    for name in ("polygon_gt", "uncompressed_gt", "uncompressed_pred"):
        case = EDGE_CASES[name]
        (tmp_path / name).mkdir()
        annotations, predictions = write_case(tmp_path / name, case)
        benchmark = cafe.read(annotations)
        compared = (
            benchmark,
            compare_predictions(benchmark, read_coco_results(predictions)),
        )
        plain = next(i for i in benchmark.items if i.role is Role.POSITIVE).regions[0]
        assert plain.mask is not None and isinstance(plain.mask["counts"], str)
        assert rows_of(compared, t=0.5)["Overall"]["TA-TP"].value == 1


def test_a_mask_of_a_negative_is_not_read(golden: Path, tmp_path: Path) -> None:
    """The published script reads no mask of a misleading phrase. Give every one the mask of its
    first prediction: the target-aware numbers stay what it printed without."""
    content = json.loads((golden / "annotations.json").read_text())
    masks: dict[int, Any] = {}
    for record in json.loads((golden / "pred.json").read_text()):
        masks.setdefault(record["image_id"], record["segmentation"])
    misled = [
        image["id"]
        for image in content["images"]
        if "fp_source_id" in image and image["id"] in masks
    ]
    assert len(misled) > 20
    content["annotations"] += [
        {
            "id": 10_000 + k, "image_id": image, "category_id": 1, "iscrowd": 0,
            "segmentation": masks[image], "bbox": [0, 0, 1, 1], "area": 1,
        }
        for k, image in enumerate(misled)
    ]  # fmt: skip
    (tmp_path / "annotations.json").write_text(json.dumps(content))
    (tmp_path / "pred.json").write_bytes((golden / "pred.json").read_bytes())
    expected = json.loads((golden / "expected.json").read_text())["cafe"]
    compared = compare(tmp_path, ["annotations"], "pred", "segm")
    for key, published in expected.items():
        t, tau = (float(part.split("=")[1]) for part in key.split(","))
        rows = rows_of(compared, t=t, tau=tau)
        for name, numbers in published["summary"].items():
            check_target_aware(rows[name], numbers)
