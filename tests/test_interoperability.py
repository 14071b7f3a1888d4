"""What we write is what the authors' tools and COCO's own read; a run is as good as a dump."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval
from tests.conftest import CafeSet, Ran

import groundfault as gf
from groundfault.benchmarks import folder
from groundfault.io import convert
from groundfault.io.coco_writing import phrase_ids
from groundfault.io.masks import encode
from groundfault.records import Benchmark, Card, Case, Item, Outcome, Prediction, Region, Role

OFFSET = 1_000_000_000
CARD = Card(
    name="mine", protocol="concept-pairs", title="Mine", source="", licence="", citation="",
    main_metric="cgF1",
)  # fmt: skip


def region(row: int) -> Region:
    pixels = np.zeros((12, 10), bool)
    pixels[row : row + 4, 2:8] = True
    return Region(encode(pixels))


def item(case: str, name: str, role: Role, query: str, *regions: Region) -> Item:
    return Item(
        id=name, case_id=case, role=role, images=(f"{case}.png",), height_px=12, width_px=10,
        query=query, regions=regions, target=region(1),
    )  # fmt: skip


def pairs(n: int = 3, name: str = "{case}:{side}") -> Benchmark:
    """Cases of a true and a misleading phrase, with ids as our own world has them."""
    items = []
    for k in range(n):
        case = f"c{k}"
        for side, role, regions in (
            ("yes", Role.POSITIVE, (region(1),)),
            ("no", Role.NEGATIVE, ()),
        ):
            items.append(
                item(case, name.format(case=case, side=side, k=k), role, f"{side} {k}", *regions)
            )
    cases = tuple(Case(id=f"c{k}", intervention=("SM", "CC", "OC")[k % 3]) for k in range(n))
    return Benchmark(card=CARD, cases=cases, items=tuple(items))


def run_on(benchmark: Benchmark, place: Path, model: str = "oracle") -> Path:
    folder.write(benchmark, place / "bench")
    gf.evaluate(str(place / "bench"), model, out=place / "run", bootstrap=0)
    return place / "run"


def average_precision(annotations: Path, predictions: Path) -> float:
    """By COCO's own evaluator, over all phrases at once, as SAM 3's builds upon it."""
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO(str(annotations))
        evaluation = COCOeval(truth, truth.loadRes(str(predictions)), "segm")
        evaluation.params.useCats = 0
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return float(evaluation.stats[0])


def test_converted_annotations_and_predictions_fit_cocos_own_evaluator(
    tmp_path: Path, run: Callable[..., Ran]
) -> None:
    stored = run_on(pairs(), tmp_path)
    cafe, results = tmp_path / "cafe.json", tmp_path / "results.json"
    assert run("convert", tmp_path / "bench", "--to", "cafe", "--out", cafe).code == 0
    told = run("convert", stored, "--to", "coco", "--out", results)
    assert told.code == 0 and "Changed: the ids of 6 queries (e.g. c0:yes)" in told.out
    assert average_precision(cafe, results) == pytest.approx(1.0)
    assert (
        run("score", "cafe", "--annotations", cafe, "--predictions", results, "--json").json[
            "rows"
        ]["Overall"]["metrics"]["AFPR"]["value"]
        == 0.0
    )
    content = json.loads(cafe.read_text())
    assert [category["id"] for category in content["categories"]] == [1]
    by_id = {image["id"]: image for image in content["images"]}
    negatives = [image for image in content["images"] if "fp_source_id" in image]
    assert len(negatives) == 3
    for image in negatives:  # as CAFE's agent pairs them, and as its evaluator does
        assert image["id"] - OFFSET == image["fp_source_id"] in by_id
        assert image["edit_type"] == by_id[image["fp_source_id"]]["edit_type"]


def test_saco_files_have_integers_too(tmp_path: Path) -> None:
    convert.write_any(pairs(), "saco", tmp_path / "saco.json")
    ids = [image["id"] for image in json.loads((tmp_path / "saco.json").read_text())["images"]]
    assert ids == [1, OFFSET + 1, 2, OFFSET + 2, 3, OFFSET + 3]


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (["5", "1000000005"], [5, OFFSET + 5]),  # as published: they stay
        (["5", "6"], [5, OFFSET + 5]),  # integers, but not CAFE's
        (["05", "6"], [1, OFFSET + 1]),
        (["-3", "4"], [1, OFFSET + 1]),
        (["2000000000", "4"], [1, OFFSET + 1]),
        (["a", "b", "c", "d"], [1, OFFSET + 1, 2 * OFFSET + 1, 3 * OFFSET + 1]),
    ],
)
def test_numbers_of_pairs(ids: list[str], expected: list[int]) -> None:
    roles = [Role.POSITIVE, *[Role.NEGATIVE] * (len(ids) - 1)]
    items = tuple(item("c", name, role, "x") for name, role in zip(ids, roles, strict=True))
    benchmark = Benchmark(card=CARD, cases=(Case(id="c"),), items=items)
    assert list(phrase_ids(benchmark, paired=True).values()) == expected


def test_several_declared_categories_become_one_and_it_is_said(
    cafe: CafeSet, tmp_path: Path
) -> None:
    cafe.annotations["categories"] = [{"id": 3, "name": "a"}, {"id": 7, "name": "b"}]
    path = tmp_path / "two.json"
    path.write_text(json.dumps(cafe.annotations))
    notes = convert.write_any(convert.read_any(path), "cafe", tmp_path / "one.json")
    assert any("2 declared categories are pooled into one" in note for note in notes)
    assert convert.read_any(tmp_path / "one.json").categories == (1,)


def test_results_of_a_coco_run_name_image_and_category(
    tmp_path: Path, run: Callable[..., Ran]
) -> None:
    mask = {**encode(np.eye(12, 10, dtype=bool))}
    content = {
        "images": [{"id": 40, "file_name": "40.jpg", "height": 12, "width": 10}],
        "annotations": [{"id": 9, "image_id": 40, "category_id": 3, "segmentation": mask}],
        "categories": [{"id": 3, "name": "dog"}],
    }
    annotations = tmp_path / "coco.json"
    annotations.write_text(json.dumps(content))
    found = run(
        "eval", "coco", "--annotations", annotations, "--images", tmp_path, "--model", "oracle",
        "--out", tmp_path / "runs", "--bootstrap", 0,
    )  # fmt: skip
    assert found.code == 0, found.err
    results = tmp_path / "results.json"
    told = run("convert", tmp_path / "runs" / "oracle", "--to", "coco", "--out", results)
    assert told.code == 0 and "Changed" not in told.out
    (record,) = json.loads(results.read_text())
    assert (record["image_id"], record["category_id"]) == (40, 3)
    assert record["segmentation"] == json.loads(msgspec.json.encode(mask))
    assert record["bbox"] == [0, 0, 10, 10]


def changed(stored: Path, change: Callable[[Prediction], Prediction]) -> None:
    """Put other predictions in the place of a run's."""
    from groundfault.runs.recorder import read_predictions, replace_predictions

    replace_predictions(stored, [change(each) for each in read_predictions(stored)])


def test_failures_are_said_and_scored_from_the_run_itself(
    tmp_path: Path, run: Callable[..., Ran]
) -> None:
    stored = run_on(pairs(), tmp_path)
    ends = {"c0:no": Outcome.FAILED, "c1:yes": Outcome.UNPARSED}
    changed(
        stored,
        lambda each: (
            Prediction(item_id=each.item_id, outcome=ends[each.item_id])
            if each.item_id in ends
            else each
        ),
    )
    told = run("convert", stored, "--to", "coco", "--out", tmp_path / "results.json")
    assert "Dropped: 1 predictions that failed" in told.out
    assert "Dropped: 1 predictions that could not be read" in told.out
    scored = run("score", stored, "--bootstrap", 0, "--json").json
    assert scored["outcomes"] == {"ok": 2, "abstained": 2, "unparsed": 1, "failed": 1}
    assert scored["bounds"]


@pytest.mark.parametrize("command", ["score", "sweep"])
def test_a_run_is_read_wherever_a_dump_is(
    tmp_path: Path, run: Callable[..., Ran], command: str
) -> None:
    stored = run_on(pairs(6), tmp_path, "random:3")
    dump = tmp_path / "results.json"
    run("convert", stored, "--to", "coco", "--out", dump)
    run("convert", tmp_path / "bench", "--to", "saco", "--out", tmp_path / "saco.json")
    more = ["--json", "--bootstrap", 0]
    of_run = run(command, stored, *more)
    as_dump = run(command, "folder", "--folder", tmp_path / "bench", "--predictions", stored, *more)
    assert of_run.code == as_dump.code == 0, of_run.err + as_dump.err
    key = "rows" if command == "score" else "points"
    assert of_run.json[key] == as_dump.json[key]
    elsewhere = (
        "saco", "--annotations", tmp_path / "saco.json", "--predictions",
    )  # fmt: skip
    refused = run(command, *elsewhere, stored)
    assert refused.code == 2 and "no answer belongs to an item" in refused.err
    assert run(command, *elsewhere, dump, *more).code == 0
    assert gf.sweep(stored).points and gf.score(stored, bootstrap=0).summary.rows


def test_a_run_that_was_asked_a_part_is_not_scored_on_the_whole(
    tmp_path: Path, run: Callable[..., Ran]
) -> None:
    folder.write(pairs(4), tmp_path / "bench")
    gf.evaluate(str(tmp_path / "bench"), "oracle", out=tmp_path / "run", limit=2, bootstrap=0)
    whole = ("score", "folder", "--folder", tmp_path / "bench", "--predictions")
    refused = run(*whole, tmp_path / "run")
    assert refused.code == 2 and "was asked 4 of the 8 items" in refused.err
    assert (
        run("score", tmp_path / "run", "--bootstrap", 0, "--json").json["rows"]["Overall"][
            "n_cases"
        ]
        == 2
    )


def test_a_run_whose_benchmark_moved_is_told_where_it_is(
    tmp_path: Path, run: Callable[..., Ran]
) -> None:
    stored = run_on(pairs(), tmp_path)
    (tmp_path / "bench").rename(tmp_path / "moved")
    refused = run("score", stored)
    assert refused.code == 2 and "--data" in refused.err
    assert run("score", stored, "--data", tmp_path / "moved", "--bootstrap", 0).code == 0
    out = ("--to", "coco", "--out", tmp_path / "x.json")
    assert run("convert", stored, *out, "--data", tmp_path / "moved").code == 0
    refused = run("convert", stored, *out, "--split")
    assert refused.code == 2 and "do not go with a run" in refused.err
    refused = run("convert", stored, "--to", "saco", "--out", tmp_path / "y.json")
    assert refused.code == 2 and "unknown format of predictions 'saco'" in refused.err


def test_a_run_that_has_nothing_to_sweep_is_told_so(
    tmp_path: Path, run: Callable[..., Ran]
) -> None:
    from tests.test_convert import quad

    stored = run_on(
        msgspec.structs.replace(
            quad(), card=msgspec.structs.replace(CARD, protocol="replacement-quads")
        ),
        tmp_path,
    )
    refused = run("sweep", stored)
    assert refused.code == 2 and "there is nothing to sweep in" in refused.err
    assert run("score", stored, "--bootstrap", 0).code == 0


def test_an_unfinished_run_has_a_note_of_what_is_missing(tmp_path: Path) -> None:
    from groundfault.runs.exporting import write_coco_results

    benchmark = pairs(2)
    asked = [Prediction(item_id="c0:yes", outcome=Outcome.ABSTAINED)]
    notes = write_coco_results(benchmark, asked, tmp_path / "none.json")
    assert json.loads((tmp_path / "none.json").read_text()) == []
    assert notes[-1] == "3 of 4 queries were not asked in this run and have no record."


@pytest.mark.parametrize(
    ("preset", "chosen"),
    [
        ("cafe", {"t": 0.7, "tau": 0.5, "iou": "bbox", "variant": "parity"}),
        ("halluseg", {}),
        ("halluseg", {"t": 0.8, "sizes": "quantile"}),
    ],
)
def test_a_run_is_scored_again_as_it_was(
    tmp_path: Path, run: Callable[..., Ran], preset: str, chosen: dict[str, object]
) -> None:
    """Masks below its threshold do not count, and every row is the same; an option still wins."""
    options = ("--preset", preset, "--n", 6, "--size", 96, "--out", tmp_path / "bench")
    assert run("world", "build", *options).code == 0
    stored = tmp_path / "run"
    before = gf.evaluate(str(tmp_path / "bench"), "blind", out=stored, bootstrap=0, **chosen)
    again = run("score", stored, "--bootstrap", 0, "--json").json
    as_python = gf.score(stored, bootstrap=0).summary
    assert again["settings"] == as_python.settings == before.summary.settings
    assert again["rows"] == msgspec.to_builtins(before.summary.rows)
    assert as_python.rows == before.summary.rows
    other = run("score", stored, "--bootstrap", 0, "--json", "--t", 0).json
    assert other["settings"]["t"] == 0 and other["rows"] != again["rows"]
