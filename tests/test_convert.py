"""Any format to any other: what stays, what is said to be dropped, what is refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from groundfault.analysis.summary import summarise
from groundfault.benchmarks import cafe, folder
from groundfault.errors import DataError, UnknownName, UsageError
from groundfault.io import convert
from groundfault.io.coco import read_coco_results
from groundfault.io.masks import encode
from groundfault.matching.overlaps import compare_predictions
from groundfault.protocols import concepts
from groundfault.records import Benchmark, Case, Item, Region, Role, Row

GOLDEN = Path(__file__).parent / "golden" / "cafe_n60_s12"
ANNOTATORS = ["annotations.json", "annotations_b.json", "annotations_c.json"]
SUBSETS = ["SM.json", "CC.json", "OC.json"]


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("golden")
    for packed in GOLDEN.glob("*.json.gz"):
        (path / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
    return path


def mask(*rows: int) -> dict[str, Any]:
    pixels = np.zeros((6, 8), bool)
    pixels[list(rows)] = True
    return {**encode(pixels)}


def instances() -> dict[str, Any]:
    return {
        "images": [{"id": 7, "file_name": "7.jpg", "height": 6, "width": 8}],
        "annotations": [
            {"id": 1, "image_id": 7, "category_id": 3, "segmentation": mask(0, 1), "iscrowd": 1},
            {"id": 2, "image_id": 7, "category_id": 4, "segmentation": mask(2), "iscrowd": 0},
        ],
        "categories": [
            {"id": 3, "name": "dog"},
            {"id": 4, "name": "cat"},
            {"id": 5, "name": "elk"},
        ],
    }


def refs() -> list[dict[str, Any]]:
    sentences = [
        {"sent": "dog", "sent_id": 1},
        {"sent": "wolf", "sent_id": 2, "is_false_premise": True},
    ]
    ref = {"ref_id": 1, "ann_id": 1, "image_id": 7, "split": "val", "sentences": sentences}
    return [ref]


def quad() -> Benchmark:
    """One replaced object, as HalluSegBench's reader gives it."""
    old, new = Region(encode(np.eye(6, 8, dtype=bool))), Region(encode(np.ones((6, 8), bool)))
    corners = {
        Role.FACTUAL: ("orgl_orgi", "i.jpg", "cat", old, True),
        Role.TEXTUAL: ("edtl_orgi", "i.jpg", "dog", old, False),
        Role.VISUAL: ("orgl_edti", "e.jpg", "cat", new, False),
        Role.COUNTERFACTUAL: ("edtl_edti", "e.jpg", "dog", new, True),
    }
    items = tuple(
        Item(
            id=f"i_5/{name}",
            case_id="i_5",
            role=role,
            images=(image,),
            height_px=6,
            width_px=8,
            query=query,
            regions=(region,) if there else (),
            target=region,
        )
        for role, (name, image, query, region, there) in corners.items()
    )
    case = Case(id="i_5", intervention="replacement", tags={"task": "referring"})
    card = msgspec.structs.replace(cafe.CARD, name="halluseg")
    return Benchmark(card=card, cases=(case,), items=items)


def write_file(path: Path, content: object) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def lvis_content() -> dict[str, Any]:
    content = instances()
    content["images"][0] |= {"neg_category_ids": [5], "not_exhaustive_category_ids": [4]}
    return content


def test_formats_are_detected(tmp_path: Path, golden: Path) -> None:
    file = tmp_path / "file.json"
    assert convert.detect(golden / "annotations.json") == "cafe"
    assert convert.detect(golden / "pred.json") == "results"
    phrases_file = {"images": [{"id": 1, "text_input": "dog"}]}
    pairs = {
        "images": [{"id": 1, "text_input": "a"}, {"id": 2, "text_input": "b", "fp_source_id": 1}]
    }
    for content, name in [
        (instances(), "coco"),
        (lvis_content(), "lvis"),
        (phrases_file, "saco"),
        ({"images": [{"id": 1, "text_input": "a", "fp_source_id": None}]}, "saco"),
        (pairs, "fprefcoco"),
        (phrases_file | {"info": {"format": "fprefcoco"}}, "fprefcoco"),
        ({"refs": refs()}, "fprefcoco"),
        (refs(), "fprefcoco"),
        ([], "results"),
        ([{"image_id": 1, "outcome": "abstained"}], "results"),
        ([{"ann_id": 1, "image_file": "a.jpg", "mask_file": "a.png"}], "halluseg"),
    ]:
        assert convert.detect(write_file(file, content)) == name, content


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"images": [], "annotations": [{"caption": "a dog"}]}, "not a format we know"),
        ([{"question": "?"}], "not a format we know"),
        ("", "the file is empty"),
        ("hello", "no JSON list or object"),
        ('{"images": [', "ends in the middle of its JSON"),
        ('[{"image_id": 1', "ends in the middle of its JSON"),
    ],
)
def test_other_files_are_refused_kindly(tmp_path: Path, content: object, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        convert.detect(write_file(tmp_path / "file.json", content))
    assert "benchmark folder" in caught.value.remedy or "again" in caught.value.remedy


def test_folders_are_detected(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not a format we know"):
        convert.detect(tmp_path)
    write_file(tmp_path / "summary.json", {})
    with pytest.raises(UsageError, match="holds scores"):
        convert.detect(tmp_path)
    folder.write(quad(), tmp_path / "ours")
    assert convert.detect(tmp_path / "ours") == "folder"
    convert.write_any(quad(), "halluseg", tmp_path / "quads")
    assert convert.detect(tmp_path / "quads") == "halluseg"


def test_predictions_are_no_benchmark(golden: Path) -> None:
    with pytest.raises(UsageError, match="holds predictions"):
        convert.read_any(golden / "pred.json")
    with pytest.raises(UnknownName, match=r"unknown format 'cocoo'. Did you mean 'coco'"):
        convert.read_any(golden / "pred.json", format="cocoo")
    with pytest.raises(UsageError, match="nothing to read"):
        convert.read_any([])
    with pytest.raises(UsageError, match="coco is read from one file"):
        convert.read_any([golden / "SM.json", golden / "CC.json"], format="coco")


def score(benchmark: Benchmark, predictions: Path, *, iou: str = "segm") -> dict[str, Row]:
    overlaps = compare_predictions(benchmark, read_coco_results(predictions), iou=iou)
    scored = concepts.score(benchmark, overlaps, t=0.5, tau=0.3, iou=iou, variant="parity")
    return summarise(scored, bootstrap=20, seed=1).rows


@pytest.mark.parametrize("files", [ANNOTATORS[:1], ANNOTATORS])
def test_cafe_to_folder_to_cafe_gives_the_same_scores(
    tmp_path: Path, golden: Path, files: list[str]
) -> None:
    original = convert.read_any([golden / name for name in files])
    assert convert.write_any(original, "folder", tmp_path / "folder") == ()
    stored = convert.read_any(tmp_path / "folder")
    assert stored.items == original.items
    assert convert.write_any(stored, "cafe", tmp_path / "cafe.json") == ()
    written = [tmp_path / f"cafe{end}.json" for end in ("", "_b", "_c")][: len(files)]
    again = convert.read_any(written)
    for iou, predictions in (("segm", "pred.json"), ("bbox", "pred_bbox.json")):
        expected = score(original, golden / predictions, iou=iou)
        assert score(stored, golden / predictions, iou=iou) == expected
        assert score(again, golden / predictions, iou=iou) == expected


def test_cafe_full_file_to_subsets_and_back(tmp_path: Path, golden: Path) -> None:
    whole = convert.read_any(golden / "annotations.json")
    convert.write_any(whole, "cafe", tmp_path / "NAME.json", split=True)
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["NAME.json", "NAME_CC.json", "NAME_OC.json", "NAME_SM.json"]
    for subset in SUBSETS:
        ours = convert.read_any(tmp_path / f"NAME_{subset}")
        assert ours == convert.read_any(golden / subset)
    joined = convert.read_any([tmp_path / f"NAME_{subset}" for subset in SUBSETS])
    assert "read as parts of one set" in joined.notes[0]
    expected = score(whole, golden / "pred.json")
    for row, values in score(joined, golden / "pred.json").items():
        for name, estimate in values.metrics.items():
            found = expected[row].metrics[name].value
            assert estimate.value == (None if found is None else pytest.approx(found, abs=1e-12))


def test_files_with_common_images_are_annotators(golden: Path) -> None:
    benchmark = convert.read_any([golden / name for name in ANNOTATORS])
    assert len(benchmark.cases) == 60
    assert all(len(item.alternatives) == 2 for item in benchmark.items)
    assert benchmark.notes[0] == "The 3 files are read as annotators of the same images."
    assert not any("left out" in note for note in benchmark.notes)


def test_pairs_that_the_first_annotator_does_not_have_are_told(
    golden: Path, tmp_path: Path
) -> None:
    content = json.loads((golden / ANNOTATORS[0]).with_suffix(".json").read_text())
    content["images"] = content["images"][:7]
    kept = {image["id"] for image in content["images"]}
    content["annotations"] = [a for a in content["annotations"] if a["image_id"] in kept]
    (tmp_path / "few.json").write_text(json.dumps(content))
    whole = convert.read_any(golden / ANNOTATORS[1])
    benchmark = convert.read_any([tmp_path / "few.json", golden / ANNOTATORS[1]])
    left_out = len(whole.items) - 7
    assert len(benchmark.items) == 7
    assert f"{left_out} image–phrase pairs are not in the first file, few.json" in str(
        benchmark.notes
    )


def numbered_alike(path: Path, golden: Path) -> list[Path]:
    """The subsets with ids that begin anew in each file."""
    files = []
    for subset in SUBSETS:
        content = json.loads((golden / subset).read_text())
        positives = [i["id"] for i in content["images"] if "fp_source_id" not in i]
        new = {old: k for k, old in enumerate(positives, start=1)}
        new |= {old + 10**9: k + 10**9 for old, k in new.items()}
        for image in content["images"]:
            image["id"] = new[image["id"]]
            if "fp_source_id" in image:
                image["fp_source_id"] = new[image["fp_source_id"]]
        for annotation in content["annotations"]:
            annotation["image_id"] = new[annotation["image_id"]]
        files.append(write_file(path / subset, content))
    return files


@pytest.mark.parametrize("format", ["cafe", "saco"])
def test_files_of_other_images_are_parts_whatever_their_ids(
    tmp_path: Path, golden: Path, format: str
) -> None:
    files = numbered_alike(tmp_path, golden)
    parts = convert.read_any(files, format=format)
    whole = convert.read_any(golden / "annotations.json", format=format)
    assert not any(item.alternatives for item in parts.items)
    assert len(parts.items) == len(whole.items) == 120
    assert parts.notes[0].startswith("The 3 files are read as parts of one set")
    assert "as in SM/1" in parts.notes[1]
    notes = convert.write_any(parts, format, tmp_path / "joined.json")
    again = convert.read_any(tmp_path / "joined.json", format=format)
    assert any("the ids of 120 queries" in note for note in notes)
    assert sorted(i.query for i in again.items) == sorted(i.query for i in whole.items)


def test_files_that_share_some_images_and_differ_in_others_are_refused(
    tmp_path: Path, golden: Path
) -> None:
    content = json.loads((golden / "annotations.json").read_text())
    content["images"][2]["file_name"] = "another.jpg"
    other = write_file(tmp_path / "other.json", content)
    with pytest.raises(DataError, match=r"in another\.jpg here and .* while other images are in"):
        convert.read_any([golden / "annotations.json", other])
    with pytest.raises(UsageError, match="given twice"):
        convert.read_any([golden / "annotations.json"] * 2)


def test_which_was_understood_is_printed(golden: Path, run: Any) -> None:
    files = [golden / name for name in SUBSETS]
    given = [word for file in files for word in ("--annotations", file)]
    found = run("score", "cafe", *given, "--predictions", golden / "pred.json", "--bootstrap", 0)
    assert "note: The 3 files are read as parts of one set" in found.out


def notes_of(benchmark: Benchmark, format: str, path: Path) -> str:
    return "\n".join(convert.write_any(benchmark, format, path))


def test_what_is_dropped_is_said(tmp_path: Path, golden: Path) -> None:
    benchmark = convert.read_any([golden / name for name in ANNOTATORS])
    notes = notes_of(benchmark, "saco", tmp_path / "saco.json")
    assert "Dropped: the target region of 120 queries (e.g. 1)." in notes
    assert "Changed: the role of 60 queries (e.g. 1000000001)." in notes
    assert "Dropped: which queries belong together, in 60 cases" in notes
    assert "Dropped: the intervention of 60 cases (CC, OC, SM)." in notes
    assert "annotators" not in notes
    notes = notes_of(benchmark, "coco", tmp_path / "coco.json")
    assert "Dropped: 60 queries (e.g. 1000000001) for what is not in the image." in notes
    assert "Dropped: the further annotators' regions of 60 queries" in notes
    assert "predictions made for them do not fit" in notes


def test_a_quad_to_coco_says_exactly_what_it_drops(tmp_path: Path) -> None:
    assert set(convert.write_any(quad(), "coco", tmp_path / "coco.json")) == {
        "Dropped: 2 queries (e.g. i_5/edtl_orgi) for what is not in the image.",
        "Changed: the ids of 2 queries (e.g. i_5/orgl_orgi); predictions made for them do not fit.",
        "Changed: the role of 2 queries (e.g. i_5/orgl_orgi).",
        "Dropped: the target region of 2 queries (e.g. i_5/orgl_orgi).",
        "Dropped: which queries belong together, in 1 cases (e.g. i_5).",
        "Dropped: the intervention of 1 cases (replacement).",
        "Dropped: tags of 1 cases (task).",
    }


def test_a_quad_to_its_own_format_loses_nothing(tmp_path: Path) -> None:
    assert convert.write_any(quad(), "halluseg", tmp_path / "quads") == ()
    again = convert.read_any(tmp_path / "quads")
    assert (again.cases, again.items) == (quad().cases, quad().items)
    assert convert.write_any(again, "folder", tmp_path / "folder") == ()
    assert convert.read_any(tmp_path / "folder").items == quad().items


def test_coco_and_lvis_to_others(tmp_path: Path) -> None:
    coco = convert.read_any(write_file(tmp_path / "coco.json", instances()))
    assert convert.write_any(coco, "coco", tmp_path / "again.json") == ()
    assert convert.read_any(tmp_path / "again.json").cases == coco.cases
    lvis = convert.read_any(write_file(tmp_path / "lvis.json", lvis_content()))
    assert [item.exhaustive for item in lvis.items] == [False, False, True]
    notes = notes_of(lvis, "coco", tmp_path / "as_coco.json")
    assert "Dropped: 1 query (e.g. 7:5) for what is not in the image." in notes
    assert "Dropped: the mark as not exhaustively annotated of 1 query (e.g. 7:4)." in notes
    notes = notes_of(lvis, "saco", tmp_path / "as_saco.json")
    assert notes == (
        "Changed: the ids of 3 queries (e.g. 7:3); predictions made for them do not fit.\n"
        "Dropped: which queries belong together, in 1 cases (e.g. 7)."
    )
    assert convert.read_any(tmp_path / "as_saco.json").categories == (1,)


def test_refs_to_pairs(tmp_path: Path) -> None:
    files = [write_file(tmp_path / "r.json", refs()), write_file(tmp_path / "i.json", instances())]
    benchmark = convert.read_any(files)
    notes = convert.write_any(benchmark, "fprefcoco", tmp_path / "pairs.json")
    assert notes == ("Dropped: tags of 1 cases (split).",)
    again = convert.read_any(tmp_path / "pairs.json")
    assert [i.id for i in again.items] == ["1", "2"]
    assert again.items[1].target is not None


def test_what_makes_no_sense_is_refused_with_the_possible_targets(
    tmp_path: Path, golden: Path
) -> None:
    pairs = convert.read_any(golden / "annotations.json")
    with pytest.raises(
        UsageError, match=r"as halluseg: case 1 is not a quad.*Possible: folder, cafe"
    ):
        convert.write_any(pairs, "halluseg", tmp_path / "out")
    with pytest.raises(
        UsageError, match=r"as cafe: its cases are about two images.*halluseg, coco"
    ):
        convert.write_any(quad(), "cafe", tmp_path / "out.json")
    coco = convert.read_any(write_file(tmp_path / "coco.json", instances()))
    with pytest.raises(UsageError, match=r"as cafe: case 7 is not one positive .* build pairs"):
        convert.write_any(coco, "cafe", tmp_path / "out.json")
    saco = convert.read_any(golden / "annotations.json", format="saco")
    with pytest.raises(UsageError, match="no case has a misleading negative"):
        convert.write_any(saco, "cafe", tmp_path / "out.json")
    nothing = msgspec.structs.replace(pairs, items=())
    with pytest.raises(UsageError, match=r"it has no queries\. Possible: folder"):
        convert.write_any(nothing, "saco", tmp_path / "out.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["coco.json"]
    assert convert.targets(quad()) == ("folder", "saco", "halluseg", "coco")


def test_options_that_do_not_fit(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match=r"unknown format to write 'lvis'"):
        convert.write_any(quad(), "lvis", tmp_path / "x")
    with pytest.raises(UsageError, match="only cafe has a file per subset"):
        convert.write_any(quad(), "saco", tmp_path / "x", split=True)
    with pytest.raises(UsageError, match="only folder, reactbench holds images"):
        convert.write_any(quad(), "saco", tmp_path / "x", images_from=tmp_path)


def test_a_tiny_object_in_the_corner_is_not_taken_for_a_normalised_box(tmp_path: Path) -> None:
    pixels = np.zeros((6, 8), bool)
    pixels[0, 0] = True
    region = Region(encode(pixels), (0.0, 0.0, 1.0, 1.0))
    items = tuple(msgspec.structs.replace(i, regions=(region,)) for i in quad().items)
    benchmark = msgspec.structs.replace(quad(), items=items)
    convert.write_any(benchmark, "coco", tmp_path / "coco.json")
    again = convert.read_any(tmp_path / "coco.json")
    assert {r.box_xywh for i in again.items for r in i.regions} == {None}
    convert.write_any(benchmark, "saco", tmp_path / "saco.json")
    boxes = [r.box_xywh for i in convert.read_any(tmp_path / "saco.json").items for r in i.regions]
    assert boxes == [pytest.approx((0, 0, 1, 1))] * 4
