"""Inspection: says what a file is, finds everything, stops at nothing."""

from __future__ import annotations

import gzip
import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from tests.test_reactbench_format import PICTURES, QUESTIONS, SAMPLES

from groundfault.analysis.summary import summarise, write_results
from groundfault.benchmarks import cafe, folder, fprefcoco, reactbench
from groundfault.errors import UsageError
from groundfault.io import convert
from groundfault.io.coco import Result, file_records
from groundfault.io.inspection import Report, inspect
from groundfault.io.inspection.report import PROBLEMS
from groundfault.io.masks import encode
from groundfault.protocols import referring
from groundfault.records import Outcome


def mask(*rows: int, size: tuple[int, int] = (6, 8)) -> dict[str, Any]:
    pixels = np.zeros(size, bool)
    pixels[list(rows)] = True
    return {**encode(pixels)}


def write_file(path: Path, content: object) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def problems(report: Report) -> dict[str, int]:
    return {finding.problem: finding.count for finding in report.findings}


def pairs() -> dict[str, Any]:
    """Two sound CAFE pairs."""
    images, annotations = [], []
    for k in (1, 2):
        image = {"file_name": f"{k}.jpg", "height": 6, "width": 8, "edit_type": "Context Conflict"}
        images += [
            {"id": k, "text_input": "dog", **image},
            {"id": k + 10, "text_input": "wolf", "fp_source_id": k, **image},
        ]
        annotations.append(
            {
                "id": k,
                "image_id": k,
                "segmentation": mask(k),
                "bbox": [0, k, 8, 1],
                "category_id": 1,
            }
        )
    return {"images": images, "annotations": annotations, "categories": [{"id": 1, "name": "o"}]}


def results() -> list[dict[str, Any]]:
    return [
        {
            "image_id": 1,
            "category_id": 1,
            "segmentation": mask(1),
            "score": 0.9,
            "bbox": [0, 1, 8, 1],
        },
        {"image_id": 1, "category_id": 1, "segmentation": mask(2), "score": 0.2},
        {"image_id": 2, "category_id": 1, "segmentation": mask(2), "score": 0.5},
        {"image_id": 3, "outcome": "abstained"},
    ]


def test_a_sound_annotation_file(tmp_path: Path) -> None:
    report = inspect(write_file(tmp_path / "a.json", pairs()))
    assert (report.format, report.sound, report.findings) == ("cafe", True, ())
    assert report.counts == {
        "image–phrase pairs": 4, "images": 2, "categories": 1, "annotations": 2, "present": 2,
        "absent": 2, "pairs": 2, "pairs of Context Conflict": 2,
    }  # fmt: skip
    assert report.ranges == {"image height_px": (6, 6), "image width_px": (8, 8)}
    assert report.boxes == "pixels"
    assert "text_input" in report.fields["images"]


def test_a_sound_results_file(tmp_path: Path) -> None:
    report = inspect(write_file(tmp_path / "r.json", results()))
    assert (report.format, report.sound, report.findings) == ("results", True, ())
    assert report.counts == {
        "records": 4, "abstained items": 1, "predictions": 3, "images": 2, "categories": 1,
    }  # fmt: skip
    assert report.ranges["score"] == (0.2, 0.9)
    assert report.predictions_per_image == {"lowest": 1, "median": 1.5, "mean": 1.5, "highest": 2}
    assert report.boxes == "pixels"


def test_normalised_boxes(tmp_path: Path) -> None:
    content = pairs()
    for annotation in content["annotations"]:
        annotation["bbox"] = [0.0, 0.1, 0.5, 0.5]
    assert inspect(write_file(tmp_path / "a.json", content)).boxes == "normalised"


def test_everything_wrong_with_annotations_is_found_at_once(tmp_path: Path) -> None:
    content = pairs()
    images, annotations = content["images"], content["annotations"]
    images[1]["id"] = 1
    images[3] |= {"edit_type": "Magic", "fp_source_id": 99, "file_name": "../x.jpg"}
    images += [
        {"id": 5, "height": 0, "width": 8, "text_input": ""},
        {"id": 6, "height": 10**6, "width": 10**6, "text_input": "x"},
        {"text_input": "y", "height": 6, "width": 8},
        "no object",
    ]
    annotations += [
        {"id": 1, "image_id": 2, "segmentation": mask(3)},
        {"id": 4, "image_id": 77, "segmentation": mask(3)},
        {"id": 5, "image_id": 2, "segmentation": {"size": [6, 8], "counts": "1"}},
        {"id": 6, "image_id": 2, "segmentation": mask(1, size=(5, 8))},
        {"id": 7, "image_id": 2, "segmentation": [[0, 0, 1, 1]]},
        {"id": 8, "image_id": 2, "segmentation": 5, "bbox": [0, 0, -1, 3]},
        {"id": 9, "image_id": 2},
    ]
    content["categories"] += [{"id": 1}]
    report = inspect(write_file(tmp_path / "a.json", content))
    assert not report.sound
    assert problems(report) == {
        "a record is not an object": 1,
        "an image id occurs twice": 1,
        "an image has no id": 1,
        "an image claims an impossible size": 1,
        "a category id occurs twice": 1,
        "an annotation id occurs twice": 1,
        "an annotation is of an unknown image": 1,
        "unsound mask": 3,
        "a mask of another size than its image": 1,
        "unsound bbox": 1,
        "neither mask nor box": 1,
        "an unknown edit_type": 1,
        "a negative without its positive": 2,
        "a file_name leads out of its folder": 1,
        "an image has no height and width": 1,
        "a pair has no text_input": 1,
        "a negative has masks": 1,
        "an image–phrase file declares several categories": 1,
    }
    found = {finding.problem: finding for finding in report.findings}
    assert found["unsound mask"].records[0].startswith("annotations[4] (id 5, image_id 2): its run")
    assert all(finding.remedy for finding in report.findings)
    severities = [finding.severity for finding in report.findings]
    assert severities == sorted(severities, key=["error", "warning", "info"].index)


def test_positives_with_several_masks_or_none(tmp_path: Path) -> None:
    content = pairs()
    content["annotations"][1]["image_id"] = 1
    report = inspect(write_file(tmp_path / "a.json", content))
    assert report.sound
    assert problems(report) == {"a positive has several masks": 1, "a positive has no mask": 1}


def test_everything_wrong_with_results_is_found_at_once(tmp_path: Path) -> None:
    content = results()
    content += [
        {"image_id": 1, "category_id": 2, "segmentation": mask(1), "score": float("nan")},
        {"image_id": 1, "segmentation": mask(1)},
        {"image_id": 1, "segmentation": mask(1, size=(5, 8)), "score": 7},
        {"image_id": 1, "segmentation": {"size": [6, 8], "counts": "1"}, "score": 1},
        {"image_id": 1, "segmentation": {"size": [10**6, 10**6], "counts": "1"}, "score": 1},
        {"image_id": 1, "segmentation": [[0, 0, 1, 1]], "score": 1},
        {"image_id": 1, "score": 1, "bbox": [0, 0, 1, 1]},
        {"image_id": 1, "score": 1, "bbox": ["a"]},
        {"image_id": 1, "score": 1},
        {"segmentation": mask(1), "score": 1},
        {"image_id": 1, "outcome": "dreamed", "segmentation": mask(1), "score": 1},
        [],
    ]
    report = inspect(write_file(tmp_path / "r.json", content))
    assert problems(report) == {
        "the score is NaN or infinite": 1,
        "no score": 1,
        "masks of one image have different sizes": 1,
        "unsound mask": 3,
        "unsound bbox": 1,
        "neither mask nor box": 1,
        "no image_id": 1,
        "unknown outcome": 1,
        "a record is not an object": 1,
        "only a box, no mask": 2,
        "the score is outside 0–1": 1,
        "predictions have several categories": 1,
    }


def test_findings_are_bounded(tmp_path: Path) -> None:
    content = [{"image_id": k, "segmentation": mask(1)} for k in range(40)]
    (finding,) = inspect(write_file(tmp_path / "r.json", content)).findings
    assert (finding.count, len(finding.records)) == (40, 5)


def test_nan_in_a_large_file_is_found_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read strictly first, laxly then, in chunks smaller than a record."""
    monkeypatch.setattr("groundfault.io.inspection.lists._CHUNK_CHARACTERS", 50)
    content = [
        {"image_id": k, "segmentation": mask(1), "score": 0.5, "note": "}, { [ \\ é"}
        for k in range(30)
    ]
    content[17]["score"] = float("nan")
    report = inspect(write_file(tmp_path / "r.json", content))
    assert report.counts["records"] == 30
    (finding,) = report.findings
    assert finding.records == ("record 17 (image_id 17)",)


@pytest.mark.parametrize("cut", [1, 30, 200])
def test_a_cut_results_file_is_read_as_far_as_it_goes(tmp_path: Path, cut: int) -> None:
    text = json.dumps(results())
    report = inspect(write_file(tmp_path / "r.json", text[:-cut]))
    assert not report.sound
    assert problems(report)["the file ends in the middle of its JSON"] == 1
    assert report.counts["records"] == {1: 4, 30: 3, 200: 1}[cut]


def test_nan_in_annotations(tmp_path: Path) -> None:
    content = pairs()
    content["annotations"][0]["area"] = float("nan")
    report = inspect(write_file(tmp_path / "a.json", content))
    assert problems(report) == {"a number is NaN or infinite, or text is not UTF-8": 1}


def test_cut_annotations(tmp_path: Path) -> None:
    report = inspect(write_file(tmp_path / "a.json", json.dumps(pairs())[:-30]))
    assert problems(report) == {"the file ends in the middle of its JSON": 1}


def test_what_a_reader_refuses_is_never_called_sound(tmp_path: Path) -> None:
    content = pairs()
    content["images"][0]["id"] = 1.5  # neither number nor text as the format has it
    content["annotations"][0] |= {"image_id": 2, "iscrowd": "no"}
    report = inspect(write_file(tmp_path / "a.json", content))
    assert not report.sound


def federated() -> dict[str, Any]:
    return {
        "images": [
            {
                "id": 1, "height": 6, "width": 8, "coco_url": "http://x/val2017/1.jpg",
                "neg_category_ids": [2, 1, 9], "not_exhaustive_category_ids": [1],
            }
        ],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "segmentation": mask(1)}],
        "categories": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}],
    }  # fmt: skip


def test_lvis(tmp_path: Path) -> None:
    report = inspect(write_file(tmp_path / "a.json", federated()))
    assert report.format == "lvis"
    assert report.counts["absent categories"] == 3
    assert problems(report) == {
        "an unknown category in neg_category_ids": 1,
        "a category is annotated and listed as absent": 1,
    }


def test_coco_with_an_unknown_category(tmp_path: Path) -> None:
    content = federated()
    del (
        content["images"][0]["neg_category_ids"],
        content["images"][0]["not_exhaustive_category_ids"],
    )
    content["annotations"][0] |= {"category_id": 8, "iscrowd": 1}
    report = inspect(write_file(tmp_path / "a.json", content))
    assert (report.format, report.counts["crowds"]) == ("coco", 1)
    assert problems(report) == {"an annotation has an unknown category": 1}


def refs() -> list[dict[str, Any]]:
    def sentence(k: int, **fields: Any) -> dict[str, Any]:
        return {"sent": "the dog", "sent_id": k, **fields}

    return [
        {
            "ref_id": 1,
            "ann_id": 1,
            "image_id": 1,
            "sentences": [sentence(1), sentence(2, exist=False)],
        },
        {"ref_id": 1, "ann_id": 7, "image_id": 1, "sentences": [sentence(3)]},
        {"ref_id": 3, "ann_id": 2, "image_id": 1, "sentences": []},
        {"ref_id": 4, "ann_id": -1, "image_id": 9, "sentences": [sentence(3, exist=True), {}]},
        {
            "ref_id": 5,
            "ann_id": [1],
            "image_id": 1,
            "sentences": [sentence(5, exist=True, is_false_premise=True)],
        },
    ]


def test_refs(tmp_path: Path) -> None:
    instances = federated()
    instances["images"] += [{"id": 2, "height": 6, "width": 8}]
    instances["annotations"] += [
        {"id": 2, "image_id": 2, "category_id": 1, "segmentation": mask(1)}
    ]
    report = inspect(write_file(tmp_path / "a.json", {**instances, "refs": refs()}))
    assert report.format == "fprefcoco"
    assert (report.counts["true premises"], report.counts["false premises"]) == (3, 2)
    assert problems(report) == {
        "a ref_id occurs twice": 1,
        "a ref points to an unknown annotation": 1,
        "a ref points to an annotation of another image": 1,
        "a ref has no sentence": 1,
        "a ref is of an unknown image": 1,
        "a premise is true, but its ref points to no annotation": 1,
        "a sentence has no words": 1,
        "is_false_premise and exist contradict each other": 1,
        "sentences have no unique sent_id": 1,
    }
    alone = inspect(write_file(tmp_path / "refs.json", refs()[:1]))
    assert (alone.format, alone.sound) == ("fprefcoco", True)
    assert problems(alone) == {"refs without their instances": 1}


def test_halluseg(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for name, value in {"a.png": 255, "empty.png": 0}.items():
        Image.fromarray(np.full((6, 8), value, np.uint8)).save(tmp_path / "data" / name)
    (tmp_path / "data" / "broken.png").write_bytes(b"\x89PNG nonsense")
    (tmp_path / "outside.png").write_bytes(b"secret")

    def case(ann_id: int, factual: str, counterfactual: str) -> dict[str, Any]:
        return {
            "ann_id": ann_id, "factual_image_path": "i.jpg", "factual_mask_path": factual,
            "counterfactual_mask_path": counterfactual, "task": "referring",
        }  # fmt: skip

    cases = [
        case(1, "a.png", "a.png"),
        case(1, "a.png", "empty.png"),
        case(2, "gone.png", "broken.png"),
        case(3, "../outside.png", ""),
    ]
    write_file(tmp_path / "results.json", cases)
    report = inspect(tmp_path)
    assert report.format == "halluseg"
    assert report.counts["cases of task referring"] == 4
    assert report.ranges["mask width_px"] == (8, 8)
    assert problems(report) == {
        "the same image and ann_id twice": 1,
        "a mask is not there": 1,
        "a mask cannot be read": 2,
        "a field is missing": 1,
        "a mask is empty": 1,
    }


def test_a_benchmark_folder(tmp_path: Path) -> None:
    images = tmp_path / "images"
    images.mkdir()
    for k in (1, 2):
        (images / f"{k}.jpg").write_bytes(b"picture")
    benchmark = cafe.read([write_file(tmp_path / "a.json", pairs())])
    folder.write(benchmark, tmp_path / "out", images_from=images)
    report = inspect(tmp_path / "out")
    assert (report.format, report.sound, report.findings) == ("folder", True, ())
    assert report.counts["cases of CC"] == 2
    assert report.counts["negative queries"] == 2
    assert inspect(tmp_path / "out" / "benchmark.json").format == "folder"
    (tmp_path / "out" / "images" / "1.jpg").unlink()
    assert problems(inspect(tmp_path / "out")) == {"an image is missing": 1}
    (tmp_path / "out" / "items.parquet").unlink()
    (finding,) = inspect(tmp_path / "out").findings
    assert "items.parquet is missing" in finding.problem


def test_an_exam_and_its_native_files(tmp_path: Path) -> None:
    exam, native = tmp_path / "exam", tmp_path / "native"
    reactbench.write_native(reactbench.write_exam(exam, SAMPLES, QUESTIONS, PICTURES), native)
    for path, format in (
        (exam, "exam"),
        (exam / "exam.json", "exam"),
        (native, "native exam"),
    ):
        report = inspect(path)
        assert (report.format, report.sound, report.findings) == (format, True, ())
        assert report.counts["samples"] == report.counts["samples of tracing"] * 4 == 4
        assert report.counts["questions"] == 44
        assert report.counts["YN questions of tracing"] == 6
        assert report.counts["MC questions of counting"] == 2
    alone = inspect(native / "counting.json")
    assert (alone.format, alone.sound) == ("native exam", True)
    assert (alone.counts["samples"], alone.counts["questions"]) == (1, 8)
    (exam / "images" / "erasure.png").write_bytes(b"another")
    (finding,) = inspect(exam).findings
    assert "it is about other content" in finding.problem
    rows = json.loads((native / "counting.json").read_bytes())
    write_file(native / "counting.json", rows[:-1])
    (finding,) = inspect(native).findings
    assert finding.problem == "it has 7 questions; counting has 8"
    predictions = write_file(native / "counting.json", results())
    assert inspect(predictions).format == "results"


def test_scores(tmp_path: Path) -> None:
    content = {
        "images": [{"id": 1, "text_input": "dog", "height": 6, "width": 8}],
        "annotations": [{"id": 1, "image_id": 1, "segmentation": mask(1)}],
    }
    benchmark = fprefcoco.read([write_file(tmp_path / "a.json", content)])
    records = [Result(image_id=1, outcome=Outcome.FAILED)]
    scored = referring.score(benchmark, file_records([(0, records)], "r.json"))
    write_results(tmp_path / "run", scored, summarise(scored, bootstrap=0, seed=0))
    report = inspect(tmp_path / "run")
    assert (report.format, report.sound) == ("scores", True)
    assert report.counts["cases in row Overall"] == 1
    assert "items failed and are not in the scores" in problems(report)
    summary = json.loads((tmp_path / "run" / "summary.json").read_bytes())
    summary["rows"]["Overall"]["n_cases"] = 5
    write_file(tmp_path / "run" / "summary.json", summary)
    assert not inspect(tmp_path / "run").sound
    (tmp_path / "run" / "cases.parquet").write_bytes(b"PAR1")
    assert not inspect(tmp_path / "run").sound


def test_other_files_get_a_kind_word(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (tmp_path / "exploded",))

    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.json", "[]")
    Image.fromarray(np.zeros((2, 2), np.uint8)).save(tmp_path / "a.png")
    np.save(tmp_path / "a.npy", np.zeros(3))
    contents = {
        "a.p": (pickle.dumps(Bomb()), "never opened here"),
        "a.gz": (gzip.compress(b"[]"), "gunzip"),
        "a.zip": (None, "zip archive"),
        "a.png": (None, "PNG picture"),
        "a.npy": (None, "NumPy array"),
        "a.txt": (b"hello", "no JSON list or object"),
        "empty": (b"", "it is empty"),
        "a.jsonl": (b'{"a": 1}\n{"a": 2}\n', "JSON Lines"),
        "object.json": (b'{"a": 1}', "a JSON object with a"),
        "nothing.json": (b"{}", "an empty JSON object"),
        "list.json": (b'[{"a": 1}]', "records are of no kind that we know"),
        "numbers.json": (b"[1, 2]", "records are of no kind that we know"),
    }
    for name, (content, hint) in contents.items():
        if content is not None:
            (tmp_path / name).write_bytes(content)
        report = inspect(tmp_path / name)
        (finding,) = report.findings
        assert (report.format, report.sound) == ("unknown", False)
        assert hint in finding.problem, name
        assert "not a format we know" in finding.problem
    assert not (tmp_path / "exploded").exists()
    assert "a folder with" in inspect(tmp_path).findings[0].problem
    (tmp_path / "dir").mkdir()
    assert "an empty folder" in inspect(tmp_path / "dir").findings[0].problem
    with pytest.raises(UsageError, match="no such file"):
        inspect(tmp_path / "nowhere")


def test_an_empty_results_file(tmp_path: Path) -> None:
    report = inspect(write_file(tmp_path / "r.json", []))
    assert report.format == "results"
    assert problems(report) == {"there is no prediction": 1}


def test_every_remedy_has_an_end() -> None:
    assert all(severity in ("error", "warning", "info") for severity, _ in PROBLEMS.values())
    assert all(remedy and not remedy.endswith(".") for _, remedy in PROBLEMS.values())


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 2**70) | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
FIELDS = {
    "images": ["id", "height", "width", "text_input", "edit_type", "fp_source_id", "file_name",
               "neg_category_ids", "not_exhaustive_category_ids", "coco_url"],
    "annotations": ["id", "image_id", "segmentation", "bbox", "category_id", "iscrowd"],
    "categories": ["id", "name"],
    "refs": ["ref_id", "ann_id", "image_id", "sentences", "split"],
    "results": ["image_id", "segmentation", "bbox", "score", "outcome", "category_id", "ann_id",
                "image_file", "mask_file", "new_mask_path", "ref_id", "sentences", "task"],
}  # fmt: skip
SEGMENTATIONS = st.fixed_dictionaries({"size": JUNK, "counts": JUNK})


def records(part: str) -> st.SearchStrategy[Any]:
    values = JUNK | SEGMENTATIONS | st.lists(st.lists(JUNK, max_size=6), max_size=2)
    entry = st.dictionaries(st.sampled_from(FIELDS[part]), values)
    return st.lists(entry | JUNK, max_size=3) | JUNK


@settings(
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    st.fixed_dictionaries(
        {}, optional={p: records(p) for p in ("images", "annotations", "categories", "refs")}
    )
    | records("results")
)
def test_no_junk_stops_an_inspection(tmp_path: Path, content: object) -> None:
    file = write_file(tmp_path / "junk.json", content)
    report = inspect(file)
    if report.sound and report.format in convert.readable() and report.format != "halluseg":
        images = content.get("images") if isinstance(content, dict) else None
        if images:
            convert.read_any(file, report.format)


def test_odd_values_are_findings_not_crashes(run: Any, tmp_path: Path) -> None:
    """An outcome that is a list, and half a character where an edit type should be."""
    records = tmp_path / "preds.json"
    records.write_text('[{"image_id": 1, "score": 0.5, "outcome": [1]}]')
    assert "unknown outcome" in run("inspect", records).out
    pairs = tmp_path / "pairs.json"
    entry = '{"id": 1, "text_input": "a", "height": 4, "width": 4, "edit_type": "\\ud83d"}'
    pairs.write_text('{"images": [' + entry + '], "annotations": [], "categories": []}')
    ran = run("inspect", pairs, "--json")
    assert ran.code == 2 and ran.json["findings"]
