"""HalluSegBench scoring: against the published scripts' golden results and a plain reference."""

from __future__ import annotations

import gzip
import io
import json
import math
import struct
import tarfile
import tempfile
import zlib
from itertools import product
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from groundfault.analysis.scoring import score_files
from groundfault.analysis.summary import summarise
from groundfault.benchmarks.halluseg import CORNERS
from groundfault.errors import DataError, GroundfaultError, UsageError
from groundfault.io.mask_pictures import in_order, read_mask
from groundfault.io.masks import resize_nearest
from groundfault.io.store import read_table, write_table
from groundfault.matching.quads import PixelCounts
from groundfault.metrics import replacement
from groundfault.protocols.replacement import data_hashes, normal_halfwidths
from groundfault.records import Role

GOLDEN = Path(__file__).parent / "golden"
PUBLISHED = {
    "iou_orgl_orgi": "IoU_fact",
    "iou_edtl_orgi": "IoU_textual",
    "iou_orgl_edti": "IoU_visual",
    "consistency_1_minus_2": "dIoU_textual",
    "consistency_1_minus_3": "dIoU_visual",
    "score_edtl_orgi": "CMS_fact",
    "score_orgl_edti": "CMS_counterfact",
}
"""The scripts' names of what they keep per case."""
ROLES = {corner: role for role, corner in CORNERS.items()}


def unpack(name, folder):
    with tarfile.open(GOLDEN / f"{name}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder


def load_expected(name):
    with gzip.open(GOLDEN / f"{name}.json.gz") as file:
        return json.load(file)


@pytest.fixture(scope="module")
def golden(tmp_path_factory):
    return unpack("halluseg_n60_s21", tmp_path_factory.mktemp("golden"))


@pytest.fixture(scope="module")
def edge_cases(tmp_path_factory):
    folder = unpack("halluseg_edge_cases", tmp_path_factory.mktemp("edge"))
    (folder / "nothing_predicted" / "pred").mkdir()  # git and tar do not keep empty folders
    return folder


def score(cases, data, predictions, *, progress=None, **settings):
    inputs = {"cases": cases, "data": data}
    return score_files("halluseg", inputs, predictions, settings, progress=progress)[0]


def score_folder(folder, variant="exact", missing="error", **options):
    return score(
        folder / "results.json",
        folder / "data",
        folder / "pred",
        variant=variant,
        missing=missing,
        **options,
    )


def overall(scored):
    return summarise(scored, bootstrap=0, seed=0).rows["Overall"].metrics


def assert_published(folder, expected):
    """Per-case values and means, at full precision and as rounded by the scripts."""
    scored = score_folder(folder, "parity")
    metrics = overall(scored)
    for script in ("get_consistency", "get_hallucination"):
        full, rounded = expected[script]["full_precision"], expected[script]["as_published"]
        for theirs, ours in PUBLISHED.items():
            if theirs not in full["means_of_item_values"]:
                continue
            mean, values = full["means_of_item_values"][theirs], scored.columns()[ours]
            assert metrics[ours].n == full["n"][theirs]
            assert (metrics[ours].value is None) == (mean is None)
            if mean is not None:
                assert metrics[ours].value == pytest.approx(mean, abs=1e-9)
                published = rounded["means_of_item_values"][theirs]
                assert metrics[ours].value == pytest.approx(published, abs=1e-4)
            for value, item in zip(values, full["items"], strict=True):
                assert value == (
                    None if theirs not in item else pytest.approx(item[theirs], abs=1e-9)
                )
    # the ratio that the script prints is of scores that it has rounded
    hallucination = expected["get_hallucination"]["as_published"]
    assert metrics["CCMS_mean"].n == hallucination["ratio_n"]
    if metrics["CCMS_mean"].n:
        ratio = hallucination["means_of_item_values"]["ratio"]
        assert metrics["CCMS_mean"].value == pytest.approx(ratio, abs=1e-9)
    else:  # the script prints 0 for the mean of nothing
        assert metrics["CCMS_mean"].value is None
        assert hallucination["means_of_item_values"]["ratio"] == 0
    return scored


def test_golden_parity(golden):
    expected = load_expected("halluseg_n60_s21")
    scored = assert_published(golden, expected)
    assert scored.outcomes == {
        "ok": 236, "abstained": 0, "unparsed": 0, "failed": 0, "missing": 4,
    }  # fmt: skip
    printed = expected["get_hallucination"]["as_published"]["printed"][2]
    assert printed.endswith(f": {overall(scored)['CCMS_mean'].value:.4f}")  # 1.8695, not 1.8697


def test_exact_divides_what_it_has_not_rounded(edge_cases):
    """A confusion of less than 0.00005 is rounded to none by the script, which then leaves the
    case out; it is a case all the same."""
    folder = edge_cases / "rounding_kills_ratio"
    found = {
        "exact": overall(score_folder(folder, "exact", missing="empty")),
        "parity": overall(score_folder(folder, "parity")),
    }
    full = load_expected("halluseg_edge_cases")["rounding_kills_ratio"]["get_hallucination"]
    expected = full["full_precision"]["means_of_item_values"]["ratio"]
    assert found["exact"]["CCMS_mean"].value == pytest.approx(expected, abs=1e-6)
    assert found["parity"]["CCMS_mean"].n == full["as_published"]["ratio_n"]
    assert found["exact"]["CCMS_mean"].n == full["full_precision"]["ratio_n"]


ANSWERED = (
    "empty_both",
    "rounding_kills_ratio",
    "unbounded",
    "nothing_predicted",
    "cf_other_size",
    "gt3_missing",
    "resize_nearest",
    "grey_values",
)
ANSWERED_OTHERWISE_OR_REFUSED = ("stale_scores", "key_missing", "corrupt_png")


@pytest.mark.parametrize("name", ANSWERED)
def test_edge_case_parity(edge_cases, name):
    assert_published(edge_cases / name, load_expected("halluseg_edge_cases")[name])


def test_every_edge_case_is_tested():
    names = {*ANSWERED, *ANSWERED_OTHERWISE_OR_REFUSED}
    assert names == set(load_expected("halluseg_edge_cases"))


def test_stale_scores_are_ignored(edge_cases):
    """The script counts scores that an earlier run left in the list (CMS 9.0 and 3.0) where the
    prediction is gone by now. They are no measurement of these predictions: left out."""
    metrics = overall(score_folder(edge_cases / "stale_scores", "parity"))
    assert {name: (metrics[name].value, metrics[name].n) for name in PUBLISHED.values()} == {
        "IoU_fact": (1.0, 1),
        "IoU_textual": (1.0, 1),
        "IoU_visual": (1.0, 1),
        "dIoU_textual": (0.0, 1),
        "dIoU_visual": (0.0, 1),
        "CMS_fact": (1.0, 1),
        "CMS_counterfact": (1.0, 1),
    }


@pytest.mark.parametrize("variant", ["exact", "parity"])
def test_missing_key_is_refused(edge_cases, variant):
    """One script drops such a case in silence, the other ends with a TypeError."""
    with pytest.raises(DataError, match=r"results\.json, record 0 .*mask_edtl_orgi is missing"):
        score_folder(edge_cases / "key_missing", variant)


@pytest.mark.parametrize("variant", ["exact", "parity"])
def test_corrupt_png_is_refused(edge_cases, variant):
    """One script keeps a third of the case, the other ends with an AttributeError."""
    with pytest.raises(DataError, match=r"eo0\.png, record 0 .*not a PNG.*Remedy: write it again"):
        score_folder(edge_cases / "corrupt_png", variant)


def test_exact_refuses_what_parity_skips(golden, edge_cases):
    with pytest.raises(DataError, match=r"record 2 .*prediction is not there.*--missing empty"):
        score_folder(golden)
    with pytest.raises(DataError, match=r"record 38 .*ground truth is not there"):
        score_folder(golden, missing="empty")
    with pytest.raises(DataError, match=r"c0\.png.*ground truth is not there"):
        score_folder(edge_cases / "gt3_missing", missing="empty")


def test_the_older_release_scores_the_same(golden, tmp_path):
    """Its field names, and prediction paths of a machine that is not here."""
    names = {
        "factual_image_path": "image_file",
        "counterfactual_image_path": "edited_image_path",
        "factual_mask_path": "mask_file",
        "counterfactual_mask_path": "new_mask_path",
        "edited_label": "new_label",
    }
    records = [
        {
            names.get(key, key): f"/home/x/Results/{value}" if key.startswith("mask_") else value
            for key, value in record.items()
        }
        for record in json.loads((golden / "results.json").read_text())
    ]
    (tmp_path / "old.json").write_text(json.dumps(records))
    old = score(
        tmp_path / "old.json", golden / "data", golden / "pred", variant="parity", missing="error"
    )
    new = score_folder(golden, "parity")
    assert (old.contributions == new.contributions).all()
    assert old.columns()["counterfactual_query"] == new.columns()["counterfactual_query"]


def test_command_line(golden, edge_cases, run, tmp_path):
    def options(folder):
        paths = (("--cases", "results.json"), ("--data", "data"), ("--predictions", "pred"))
        return [part for option, name in paths for part in (option, folder / name)]

    command = ["score", "halluseg", "--bootstrap", "0", "--json"]
    done = run(*command, *options(golden), "--variant", "parity")
    assert done.code == 0
    found = done.json["rows"]["Overall"]["metrics"]["dIoU_visual"]
    assert found["value"] == pytest.approx(0.3253246670762644, abs=1e-9) and found["n"] == 57
    refused = run(*command, *options(edge_cases / "corrupt_png"))
    assert refused.code == 2
    assert "eo0.png" in refused.err and "Traceback" not in refused.err


# A folder of cases, made by hand


def save(path, pixels):
    """Write an array as PNG; a Pillow image and bytes are taken as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(pixels, bytes):
        path.write_bytes(pixels)
    elif isinstance(pixels, Image.Image):
        pixels.save(path, "PNG")
    else:
        pixels = np.asarray(pixels)
        grey = pixels.astype(np.uint8) * 255 if pixels.dtype == bool else pixels
        Image.fromarray(grey).save(path, "PNG")


def make_folder(folder, cases):
    """`cases`: dicts with "factual", "counterfactual" and the four corners; None is no file."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    for corner in ROLES:
        (folder / "pred" / corner).mkdir(parents=True, exist_ok=True)
    records = []
    for number, case in enumerate(cases):
        name = f"{number}_{number}"
        record = {
            "factual_image_path": f"i/{number}.jpg",
            "counterfactual_image_path": f"e/{number}.jpg",
            "ann_id": number,
            "factual_mask_path": f"f/{number}.png",
            "counterfactual_mask_path": f"c/{number}.png",
            "factual_label": "cat",
            "counterfactual_label": "dog",
            **case.get("record", {}),
        }
        for path, key in (
            (f"data/f/{number}.png", "factual"),
            (f"data/c/{number}.png", "counterfactual"),
            *((f"pred/{corner}/{name}_mask.png", corner) for corner in ROLES),
        ):
            if case[key] is not None:
                save(folder / path, case[key])
        records.append(record)
    (folder / "results.json").write_text(json.dumps(records))
    return folder


def square(area_side, size=(8, 10)):
    pixels = np.zeros(size, bool)
    pixels[:area_side, :area_side] = True
    return pixels


def plain_case(**changes):
    mask = square(3)
    return {"factual": mask, "counterfactual": mask, **dict.fromkeys(ROLES, mask), **changes}


def test_perfect_and_abstaining_models(tmp_path):
    empty = np.zeros((8, 10), bool)
    folder = make_folder(tmp_path, [plain_case(edtl_orgi=empty, orgl_edti=empty)])
    metrics = overall(score_folder(folder))
    assert {name: metrics[name].value for name in replacement.METRICS} == {
        "IoU_fact": 1.0, "IoU_textual": 0.0, "IoU_visual": 0.0, "IoU_cf": 1.0,
        "dIoU_textual": 1.0, "dIoU_visual": 1.0, "CMS_fact": 0.0, "CMS_counterfact": 0.0,
        "CCMS": None, "CCMS_mean": None,
    }  # fmt: skip


def test_absent_predictions_are_abstentions_if_one_says_so(tmp_path):
    absent = dict.fromkeys(ROLES)
    folder = make_folder(tmp_path, [plain_case(), plain_case(**absent)])
    scored = score_folder(folder, missing="empty")
    metrics = overall(scored)
    assert scored.outcomes["abstained"] == 4 and scored.outcomes["ok"] == 4
    assert scored.columns()["visual_outcome"] == ["ok", "abstained"]
    assert (metrics["IoU_fact"].value, metrics["IoU_fact"].n) == (0.5, 2)
    assert (metrics["CMS_fact"].value, metrics["CMS_fact"].n) == (0.5, 2)
    assert "4 of 8 predictions have no file and are counted as abstentions" in scored.notes[0]
    parity = overall(score_folder(folder, "parity"))
    assert (parity["IoU_fact"].value, parity["IoU_fact"].n) == (1.0, 1)


def test_empty_ground_truth(tmp_path):
    """Exact leaves CMS undefined, parity has 0; IoU is 0 in both."""
    empty, full = np.zeros((8, 10), bool), np.ones((8, 10), bool)
    case = plain_case(factual=empty, orgl_orgi=empty, edtl_orgi=full, counterfactual=full)
    folder = make_folder(tmp_path, [case])
    scored = score_folder(folder)
    exact, parity = overall(scored), overall(score_folder(folder, "parity"))
    assert exact["CMS_fact"].value is None and exact["CMS_fact"].n == 0
    assert (parity["CMS_fact"].value, parity["CMS_fact"].n) == (0.0, 1)
    assert exact["IoU_fact"].value == parity["IoU_fact"].value == 0.0
    assert exact["CCMS"].value is exact["CCMS_mean"].value is None
    assert scored.columns()["size"] == [None]
    assert not any(scored.rows[size].any() for size in "SML")


def test_counterfactual_masks_of_another_size(tmp_path):
    """A column too wide for the factual size: parity loses it, exact does not."""
    wide = np.zeros((4, 8), bool)
    wide[:, 1] = True
    both = wide.copy()
    both[:, 2] = True
    narrow = np.ones((4, 4), bool)
    case = {"factual": narrow, "counterfactual": wide, **dict.fromkeys(ROLES, narrow)}
    folder = make_folder(tmp_path, [case | {"orgl_edti": both, "edtl_edti": both}])
    exact, parity = score_folder(folder), score_folder(folder, "parity")
    assert exact.columns()["IoU_visual"] == [0.5]
    assert parity.columns()["IoU_visual"] == [0.0]  # columns 0, 2, 4, 6 are left of 8
    assert exact.columns()["CMS_counterfact"] == parity.columns()["CMS_counterfact"]
    assert parity.columns()["visual_object_px_at_factual_size"] == [0]
    assert any("two sizes" in note for note in parity.notes)


def test_prediction_of_another_size_is_resized(tmp_path):
    half = np.zeros((4, 5), bool)
    half[:2] = True
    truth = np.zeros((8, 10), bool)
    truth[:4] = True
    masks = {"factual": truth, "counterfactual": truth, **dict.fromkeys(ROLES, half)}
    for variant in ("exact", "parity"):
        scored = score_folder(make_folder(tmp_path / variant, [masks]), variant)
        assert scored.columns()["IoU_fact"] == [1.0]
        assert scored.columns()["factual_resized"].tolist() == [True]


# Rows, tables, intervals


def test_rows_columns_and_intervals(tmp_path):
    tasks = [{"task": "referring"}, {"type": "reason_seg"}, {"task": "other"}, {"task": ""}]
    sides = [3, 40, 100, 110]
    cases = [
        plain_case(
            record=task,
            **{
                key: square(side, (120, 120))
                for key in ("factual", "counterfactual", "orgl_orgi", "orgl_edti", "edtl_edti")
            },
            edtl_orgi=square(side // 2, (120, 120)),
        )
        for task, side in zip(tasks, sides, strict=True)
    ]
    told = []
    folder = make_folder(tmp_path, cases)
    scored = score_folder(folder, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert {name: np.flatnonzero(rows).tolist() for name, rows in scored.rows.items()} == {
        "Overall": [0, 1, 2, 3],
        "referring": [0],
        "reasoning": [1],
        "S": [0],
        "M": [1],
        "L": [2, 3],
        "referring S": [0],
        "referring M": [],
        "referring L": [],
        "reasoning S": [],
        "reasoning M": [1],
        "reasoning L": [],
    }
    assert scored.columns()["task"] == ["referring", "reasoning", "other", None]
    assert "2 cases do not say" in scored.notes[-1]
    assert scored.columns()["factual_mask_px"] == [side**2 for side in sides]
    assert scored.columns()["textual_shared_px"] == [(side // 2) ** 2 for side in sides]

    summary = summarise(scored, bootstrap=200, seed=1)
    assert list(summary.rows) == list(scored.rows)
    metrics = tuple(summary.rows["Overall"].metrics)
    assert metrics[: len(replacement.METRICS)] == replacement.METRICS
    cms = summary.rows["Overall"].metrics["CMS_fact"]
    assert cms.n == 4 and cms.low <= cms.value <= cms.high
    widths = normal_halfwidths(scored)
    values = np.array(scored.columns()["CMS_fact"])
    assert widths["Overall"]["CMS_fact"] == pytest.approx(1.96 * values.std(ddof=1) / 2)
    assert widths["Overall"]["CCMS_mean"] is not None
    assert widths["Overall"]["CCMS"] is None and widths["S"]["CMS_fact"] is None
    assert set(widths) == set(scored.rows) and tuple(widths["S"]) == replacement.METRICS

    other = score_folder(folder, sizes=(10, 20))
    assert other.columns()["size"] == ["S", "L", "L", "L"]
    assert data_hashes(other) == data_hashes(scored)
    save(folder / "data/f/0.png", square(4, (120, 120)))
    assert data_hashes(score_folder(folder)) != data_hashes(scored)


def test_tables_hold_null_where_undefined(tmp_path):
    empty = np.zeros((8, 10), bool)
    folder = make_folder(tmp_path, [plain_case(), plain_case(factual=empty, orgl_edti=None)])
    scored = score_folder(folder, "parity")
    write_table(tmp_path / "cases.parquet", scored.columns())
    table = read_table(tmp_path / "cases.parquet")
    assert table.num_rows == 2
    assert table.column("IoU_visual").to_pylist() == [1.0, None]
    assert table.column("visual_predicted_px").to_pylist() == [9, None]
    assert table.column("visual_outcome").to_pylist() == ["ok", "missing"]
    assert table.column("CMS_fact").null_count == 0
    assert not set(scored.contribution_names) & set(scored.columns())
    sums = scored.contributions.sum(axis=0, keepdims=True)
    found = scored.metrics(sums)
    assert {name: value[0] for name, value in found.items()} == pytest.approx(
        {n: np.nan if e.value is None else e.value for n, e in overall(scored).items()}, nan_ok=True
    )


def test_an_empty_row_is_undefined_without_warnings():
    zeros = np.zeros((1, len(replacement.COLUMNS)))
    assert all(np.isnan(value[0]) for value in replacement.metrics(zeros).values())
    assert set(replacement.support(zeros[0]).values()) == {0}


# Against a plain reference


def reference(folder, variant, missing):
    """Per case, in the obvious way: OpenCV and numpy, one comparison after the other."""
    values = []
    for record in json.loads((folder / "results.json").read_text()):
        number = record["ann_id"]

        def picture(path):
            read = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)
            if read is None or variant == "parity":
                return None if read is None else read > 0
            with Image.open(path) as opened:
                if opened.mode in ("L", "1") or opened.mode.startswith("I"):
                    return np.asarray(opened) > 0
                return np.asarray(opened.convert("RGBA"))[:, :, :3].max(axis=2) > 0

        def at(mask, shape):
            size = (shape[1], shape[0])
            return cv2.resize(mask.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST) > 0

        def iou(truth, found, shape):
            truth, found = at(truth, shape), at(found, shape)
            union = (truth | found).sum()
            return (truth & found).sum() / union if union else 0.0

        def cms(truth, found):
            found = at(found, truth.shape)
            if not truth.any():
                return 0.0 if variant == "parity" else None
            return (3 * (truth & found).sum() + (found & ~truth).sum()) / (3 * truth.sum())

        factual = picture(folder / f"data/f/{number}.png")
        edited = picture(folder / f"data/c/{number}.png")
        found = {c: picture(folder / f"pred/{c}/{number}_{number}_mask.png") for c in ROLES}
        if variant == "exact" and missing == "empty":
            found = {c: np.zeros((1, 1), bool) if m is None else m for c, m in found.items()}
        case = dict.fromkeys(replacement.CASE_VALUES)
        for name, truth, corner in (
            ("IoU_fact", factual, "orgl_orgi"),
            ("IoU_textual", factual, "edtl_orgi"),
            ("IoU_visual", edited, "orgl_edti"),
            ("IoU_cf", edited, "edtl_edti"),
        ):
            if factual is not None and edited is not None and found[corner] is not None:
                shape = factual.shape if variant == "parity" else truth.shape
                case[name] = iou(truth, found[corner], shape)
        for name, other in (("dIoU_textual", "IoU_textual"), ("dIoU_visual", "IoU_visual")):
            if case["IoU_fact"] is not None and case[other] is not None:
                case[name] = case["IoU_fact"] - case[other]
        for name, truth, corner in (
            ("CMS_fact", factual, "edtl_orgi"),
            ("CMS_counterfact", edited, "orgl_edti"),
        ):
            if truth is not None and found[corner] is not None:
                case[name] = cms(truth, found[corner])
        if case["CMS_fact"] is not None and case["CMS_counterfact"] is not None:
            above, below = case["CMS_fact"], case["CMS_counterfact"]
            if variant == "parity":
                above, below = np.round(above, 4), np.round(below, 4)
            if below:
                case["CCMS_ratio"] = above / below
        values.append(case)
    return values


@st.composite
def pictures(draw, may_be_absent=False):
    """A mask in one of the kinds of PNG that people write, often empty or full."""
    if may_be_absent and draw(st.integers(0, 5)) == 0:
        return None
    size = (draw(st.integers(1, 9)), draw(st.integers(1, 9)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    mask = rng.random(size) < draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))
    kind = draw(st.sampled_from(["L", "L", "L", "1", "grey", "RGB", "RGBA", "16", "P"]))
    if kind == "L":
        return mask
    if kind == "1":
        return Image.fromarray(mask)
    if kind == "16":
        return Image.fromarray(np.uint16(mask * rng.integers(0, 700, size)))
    if kind == "P":
        palette = Image.fromarray(np.uint8(mask * rng.integers(0, 4, size)), "P")
        palette.putpalette(rng.integers(0, 6, 12).tolist())
        return palette
    if kind == "grey":
        return np.uint8(mask * rng.integers(0, 256, size))
    channels = 4 if kind == "RGBA" else 3
    return np.uint8(mask[:, :, None] * rng.integers(0, 6, (*size, channels)))


@st.composite
def case_dicts(draw, may_be_absent):
    truth = pictures(may_be_absent=may_be_absent == "parity")
    return {
        "factual": draw(truth),
        "counterfactual": draw(truth),
        **{corner: draw(pictures(may_be_absent != "none")) for corner in ROLES},
    }


@pytest.mark.filterwarnings("ignore:'mode' parameter is deprecated:DeprecationWarning")
@pytest.mark.parametrize(
    ("variant", "missing"), [("exact", "error"), ("exact", "empty"), ("parity", "error")]
)
def test_agrees_with_a_plain_reference(variant, missing):
    absent = "parity" if variant == "parity" else "none" if missing == "error" else "predictions"

    @settings(max_examples=60, deadline=None)
    @given(st.lists(case_dicts(absent), min_size=1, max_size=3))
    def check(cases):
        with tempfile.TemporaryDirectory() as name:
            folder = make_folder(Path(name), cases)
            scored = score_folder(folder, variant, missing)
            expected = reference(folder, variant, missing)
        for name in replacement.CASE_VALUES:
            theirs = [case[name] for case in expected]
            for value, other in zip(scored.columns()[name], theirs, strict=True):
                assert value == (None if other is None else pytest.approx(other, abs=1e-12))
        metrics = overall(scored)
        for name in replacement.CASE_VALUES[:-1]:
            defined = [case[name] for case in expected if case[name] is not None]
            assert metrics[name].n == len(defined)
            mean = pytest.approx(np.mean(defined)) if defined else None
            assert metrics[name].value == mean
        for name in ("dIoU_textual", "dIoU_visual"):
            assert all(-1 <= v <= 1 for v in scored.columns()[name] if v is not None)
        for name in ("CMS_fact", "CMS_counterfact"):
            assert all(v >= 0 for v in scored.columns()[name] if v is not None)
        top, bottom = metrics["CMS_fact"].value, metrics["CMS_counterfact"].value
        if top is not None and bottom:
            assert metrics["CCMS"].value == pytest.approx(top / bottom)
        else:
            assert metrics["CCMS"].value is None

    check()


def test_confusion_mask_score_by_hand():
    counts = PixelCounts(*np.array([[4, 4, 4, 0], [4, 0, 16, 3], [4, 0, 4, 0]]))
    assert replacement.confusion_mask_score(counts).tolist()[:3] == [1.0, 0.0, 2.0]
    assert math.isnan(replacement.confusion_mask_score(counts)[3])
    assert replacement.confusion_mask_score(counts, empty=0.0)[3] == 0.0
    assert replacement.confusion_mask_score(counts, alpha=2.0)[2] == 2.5


def test_nearest_resize_is_opencvs():
    rng = np.random.default_rng(0)
    for _ in range(300):
        height, width, new_height, new_width = rng.integers(1, 90, 4).tolist()
        pixels = rng.random((height, width)) < 0.5
        size = (new_width, new_height)
        theirs = cv2.resize(pixels.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST) > 0
        assert (resize_nearest(pixels, new_height, new_width) == theirs).all()


def test_colours_become_grey_as_in_opencv(tmp_path):
    """All dark colours: OpenCV's grey of (2, 0, 0) is 0, so parity sees background there."""
    colours = np.array(list(product(range(12), repeat=3)), np.uint8).reshape(48, 36, 3)
    save(tmp_path / "c.png", colours)
    theirs = cv2.imread(str(tmp_path / "c.png"), cv2.IMREAD_GRAYSCALE) > 0
    parity = read_mask(tmp_path / "c.png", "r", variant="parity").to_array()
    exact = read_mask(tmp_path / "c.png", "r").to_array()
    assert (parity == theirs).all()
    assert (exact == colours.any(axis=2)).all()
    assert theirs.sum() < exact.sum()


def test_cases_come_back_in_order_and_bounded():
    made = []

    def things():
        for number in range(200):
            made.append(number)
            yield number

    results = in_order(lambda number: number * 2, things(), workers=3)
    assert next(results) == 0
    assert len(made) <= 12
    assert list(results) == [number * 2 for number in range(1, 200)]


# Odd and hostile pictures


def png(pixels, **options):
    buffer = io.BytesIO()
    (pixels if isinstance(pixels, Image.Image) else Image.fromarray(pixels)).save(
        buffer, "PNG", **options
    )
    return buffer.getvalue()


def with_header(content, **changes):
    """The same file with other header fields and a right checksum."""
    names = ("width", "height", "depth", "colour", "compression", "filter", "interlace")
    fields = dict(zip(names, struct.unpack(">IIBBBBB", content[16:29]), strict=True)) | changes
    header = b"IHDR" + struct.pack(">IIBBBBB", *fields.values())
    return content[:12] + header + struct.pack(">I", zlib.crc32(header)) + content[33:]


GREY = png(np.uint8(square(3)) * 255)
PALETTE = Image.fromarray(np.uint8(square(3)) * 2).convert("P")
ORIENTED = Image.Exif()
ORIENTED[0x0112] = 6


@pytest.mark.parametrize("variant", ["exact", "parity"])
@pytest.mark.parametrize(
    "content",
    [
        png(np.dstack([np.uint8(square(3)) * 200] * 4)),
        png(Image.fromarray(np.uint8(square(3)) * 9).convert("LA")),
        png(Image.fromarray(square(3))),
        png(np.uint16(square(3)) * 40_000),
        png(PALETTE),
        png(PALETTE, transparency=b"\x00\x80\xff"),
        png(np.uint8(square(3)) * 9, transparency=9),
        GREY + b"trailing bytes",
    ],
    ids=["RGBA", "LA", "1 bit", "16 bit", "palette", "alpha palette", "grey key", "trailing"],
)
def test_kinds_of_png(tmp_path, content, variant):
    folder = make_folder(tmp_path, [plain_case(orgl_orgi=content)])
    assert score_folder(folder, variant).columns()["IoU_fact"] == [1.0]


def test_small_16_bit_values_are_objects_unless_opencv_drops_them(tmp_path):
    case = plain_case(orgl_orgi=png(np.uint16(square(3)) * 255))
    folder = make_folder(tmp_path, [case])
    assert score_folder(folder).columns()["IoU_fact"] == [1.0]
    assert score_folder(folder, "parity").columns()["IoU_fact"] == [0.0]


def test_interlaced_and_turned_files_go_the_long_way(tmp_path):
    one = np.ones((1, 1), np.uint8)
    save(tmp_path / "i.png", with_header(png(one), interlace=1))
    save(tmp_path / "e.png", png(np.uint8([[1, 0, 0]]), exif=ORIENTED))
    assert read_mask(tmp_path / "i.png", "r").area() == 1
    turned = read_mask(tmp_path / "e.png", "r", variant="parity").to_array()
    theirs = cv2.imread(str(tmp_path / "e.png"), cv2.IMREAD_GRAYSCALE)
    assert (turned == theirs).all() and turned.shape == (3, 1)


DAMAGED = bytearray(GREY)
DAMAGED[45] ^= 0xFF


@pytest.mark.parametrize("variant", ["exact", "parity"])
@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "not a PNG"),
        (b"GIF89a" + bytes(60), "not a PNG"),
        (GREY[:20], "not a PNG"),
        (GREY[:50], "not a PNG, or a damaged one"),
        (bytes(DAMAGED), "not a PNG, or a damaged one"),
        (GREY[:24] + b"\x10" + GREY[25:], "not a PNG, or a damaged one"),
        (with_header(GREY, width=11), "not a readable mask picture"),
        (with_header(GREY, width=100_000, height=100_000), "claims 100000x100000 pixels"),
        (with_header(GREY, width=10_000, height=10_000), "claims 10000x10000 pixels"),
        (with_header(GREY, width=0), "claims 0x8 pixels"),
        (cv2.imencode(".png", np.ones((8, 10, 3), np.uint16))[1].tobytes(), "16-bit colour"),
    ],
    ids=[
        "empty", "gif", "cut header", "cut data", "damaged data", "damaged header", "other width",
        "bomb", "large bomb", "no width", "16-bit colour",
    ],
)  # fmt: skip
def test_unsound_pictures_are_refused(tmp_path, content, problem, variant):
    """The message names the file, the record and what to do."""
    for place in ("orgl_orgi", "counterfactual"):
        folder = make_folder(tmp_path / place, [plain_case(), plain_case(**{place: content})])
        with pytest.raises(DataError, match=problem) as caught:
            score_folder(folder, variant)
        assert caught.value.file.endswith(("1.png", "1_mask.png"))
        assert caught.value.record == "record 1 (image i/1.jpg, ann_id 1)"
        assert caught.value.remedy


def test_random_damage_never_ends_in_a_traceback(tmp_path):
    rng = np.random.default_rng(3)
    kinds = [GREY, png(PALETTE), png(np.dstack([np.uint8(square(3))] * 3)), png(square(3))]
    path = tmp_path / "m.png"
    for number in range(400):
        content = bytearray(kinds[number % len(kinds)])
        for _ in range(rng.integers(1, 4)):
            content[rng.integers(8, len(content))] = rng.integers(256)
        path.write_bytes(content[: rng.integers(20, len(content) + 1)])
        for variant in ("exact", "parity"):
            try:
                read_mask(path, "r", variant=variant)
            except DataError as problem:
                assert problem.record == "r"


def test_a_folder_in_place_of_a_picture(tmp_path):
    folder = make_folder(tmp_path, [plain_case(orgl_orgi=None)])
    (folder / "pred/orgl_orgi/0_0_mask.png").mkdir()
    with pytest.raises(DataError, match="it is not a file"):
        score_folder(folder)


# Folders and settings


@pytest.mark.parametrize("variant", ["exact", "parity"])
@pytest.mark.parametrize("name", ["data", "pred"])
def test_missing_folder(tmp_path, name, variant):
    folder = make_folder(tmp_path, [plain_case()])
    (folder / name).rename(folder / "elsewhere")
    with pytest.raises(UsageError, match=f"{name}: no such folder"):
        score_folder(folder, variant)


def test_a_mistyped_folder_is_not_an_abstaining_model(tmp_path):
    folder = make_folder(tmp_path / "a", [plain_case(**dict.fromkeys(ROLES))])
    assert overall(score_folder(folder, missing="empty"))["CMS_fact"].value == 0.0
    with pytest.raises(DataError, match="none of the predictions is in this folder"):
        score(folder / "results.json", folder / "data", tmp_path, variant="exact", missing="empty")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"variant": "exakt"}, "Did you mean 'exact'"),
        ({"missing": "skip"}, "unknown meaning"),
        ({"alpha": 1.0}, "above 1"),
        ({"alpha": math.nan}, "above 1"),
        ({"sizes": (9, 9)}, "rising"),
        ({"variant": "parity", "missing": "empty"}, "--variant exact --missing empty"),
        ({"variant": "parity", "alpha": 2.0}, "alpha 3"),
    ],
)
def test_settings_that_do_not_fit(tmp_path, options, problem):
    folder = make_folder(tmp_path, [plain_case()])
    with pytest.raises(GroundfaultError, match=problem):
        score_folder(folder, **options)


def test_alpha_is_used(tmp_path):
    """Nine pixels on the object, sixteen predicted: (2·9 + 7) / (2·9)."""
    folder = make_folder(tmp_path, [plain_case(edtl_orgi=square(4))])
    assert score_folder(folder, alpha=2.0).columns()["CMS_fact"] == [pytest.approx(25 / 18)]


def test_roles_and_corners():
    assert ROLES["edtl_orgi"] is Role.TEXTUAL and ROLES["orgl_edti"] is Role.VISUAL
