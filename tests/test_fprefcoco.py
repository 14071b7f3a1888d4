"""FP-RefCOCO: both layouts, See and Segment against pixels, and every outcome."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundfault.analysis.compare import compare_runs
from groundfault.analysis.summary import summarise, write_results
from groundfault.benchmarks import folder, fprefcoco
from groundfault.errors import DataError, UsageError
from groundfault.io.coco import Result, file_records, read_coco_results
from groundfault.io.masks import decode, encode
from groundfault.metrics import false_premise
from groundfault.protocols import referring
from groundfault.records import (
    Answer,
    Benchmark,
    Case,
    Item,
    Outcome,
    Prediction,
    Region,
    Role,
    Summary,
)

HEIGHT, WIDTH = 6, 8


def box(top: int, left: int, bottom: int, right: int) -> np.ndarray:
    pixels = np.zeros((HEIGHT, WIDTH), bool)
    pixels[top:bottom, left:right] = True
    return pixels


def rle(pixels: np.ndarray) -> dict[str, Any]:
    return {**encode(pixels)}


LEFT, RIGHT, LOW = box(0, 0, 4, 4), box(0, 4, 4, 8), box(4, 0, 6, 8)  # 16, 16, 16 pixels


def pairs() -> dict[str, Any]:
    """Two true premises, one with two annotations; two false ones, one made from the first."""
    image = {"file_name": "a.jpg", "height": HEIGHT, "width": WIDTH}
    return {
        "images": [
            {"id": 1, "text_input": "the left dog", **image},
            {"id": 2, "text_input": "both dogs", **image},
            {"id": 3, "text_input": "the left cat", "fp_source_id": 1, **image},
            {"id": 4, "text_input": "a bus", **image},
        ],
        "annotations": [
            {"id": 1, "image_id": 1, "segmentation": rle(LEFT)},
            {"id": 2, "image_id": 2, "segmentation": rle(LEFT)},
            {"id": 3, "image_id": 2, "segmentation": rle(RIGHT)},
        ],
        "categories": [],
    }


def refs() -> list[dict[str, Any]]:
    return [
        {
            "ref_id": 10,
            "ann_id": 1,
            "image_id": 5,
            "split": "val",
            "sentences": [
                {"sent": "the left dog", "sent_id": 100, "is_false_premise": False},
                {
                    "sent": "the left cat",
                    "sent_id": 101,
                    "is_false_premise": True,
                    "gt_sent": "the left dog",
                },
            ],
        },
        {
            "ref_id": 11,
            "ann_id": [1, 2],
            "image_id": 5,
            "split": "testA",
            "sentences": [{"sent": "both dogs", "sent_id": 102, "exist": True}],
        },
        {
            "ref_id": 12,
            "ann_id": -1,
            "image_id": 5,
            "split": "val",
            "sentences": [{"sent": "a bus", "sent_id": 103}],
        },
    ]


def instances() -> dict[str, Any]:
    return {
        "images": [
            {"id": 5, "file_name": "a.jpg", "height": HEIGHT, "width": WIDTH},
            {"id": 6, "file_name": "b.jpg", "height": HEIGHT, "width": WIDTH},
        ],
        "annotations": [
            {"id": 1, "image_id": 5, "category_id": 18, "segmentation": rle(LEFT)},
            {"id": 2, "image_id": 5, "category_id": 18, "segmentation": rle(RIGHT)},
            {"id": 3, "image_id": 6, "category_id": 18, "segmentation": rle(LOW)},
        ],
        "categories": [{"id": 18, "name": "dog"}],
    }


def write_file(path: Path, content: object) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def read(tmp_path: Path, *contents: object, **options: Any) -> Benchmark:
    files = [write_file(tmp_path / f"{k}.json", content) for k, content in enumerate(contents)]
    return fprefcoco.read(files, **options)


def pixels_of(region: Region | None) -> np.ndarray:
    assert region is not None
    assert region.mask is not None
    return decode(region.mask)


def test_pairs_layout(tmp_path: Path) -> None:
    benchmark = read(tmp_path, pairs())
    found = [(i.id, i.case_id, i.role.value, len(i.regions)) for i in benchmark.items]
    assert found == [
        ("1", "1", "positive", 1),
        ("3", "1", "negative", 0),
        ("2", "2", "positive", 2),
        ("4", "4", "negative", 0),
    ]
    dog, cat, both, bus = benchmark.items
    assert cat.target == dog.regions[0] == dog.target
    assert (pixels_of(both.target) == LEFT | RIGHT).all()
    assert bus.target is None
    assert [case.intervention for case in benchmark.cases] == ["false premise", "", "false premise"]


@pytest.mark.parametrize("layout", ["one file", "refs first", "instances first", "list of refs"])
def test_refs_layout(tmp_path: Path, layout: str) -> None:
    files: dict[str, list[object]] = {
        "one file": [{**instances(), "refs": refs()}],
        "refs first": [{"refs": refs()}, instances()],
        "instances first": [instances(), {"refs": refs()}],
        "list of refs": [refs(), instances()],
    }
    benchmark = read(tmp_path, *files[layout])
    found = [(i.id, i.case_id, i.role.value, len(i.regions)) for i in benchmark.items]
    assert found == [
        ("100", "10", "positive", 1),
        ("101", "10", "negative", 0),
        ("102", "11", "positive", 2),
        ("103", "12", "negative", 0),
    ]
    assert (pixels_of(benchmark.items[1].target) == LEFT).all()
    assert (pixels_of(benchmark.items[2].target) == LEFT | RIGHT).all()
    assert benchmark.items[3].target is None
    assert [case.tags for case in benchmark.cases] == [
        {"split": "val"},
        {"split": "testA"},
        {"split": "val"},
    ]


@pytest.mark.parametrize(
    ("subset", "kept"),
    [
        ("val", ["10", "12"]),
        ("testA", ["11", "13"]),
        ("testB", ["13", "14"]),
        ("test", ["11", "13", "14"]),
        ("train", ["15"]),
        (None, ["10", "11", "12", "13", "14", "15"]),
    ],
)
def test_subsets_are_those_of_refer(tmp_path: Path, subset: str | None, kept: list[str]) -> None:
    more = [
        {**refs()[1], "ref_id": ref_id, "split": split, "sentences": [{"sent": f"dogs {ref_id}"}]}
        for ref_id, split in ((13, "testAB"), (14, "testB"), (15, "train"))
    ]
    benchmark = read(tmp_path, [*refs(), *more], instances(), subset=subset)
    assert [case.id for case in benchmark.cases] == kept


def test_a_subset_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"of the subset 'testB'\. Known: testA, val, test\."):
        read(tmp_path, refs(), instances(), subset="testB")
    with pytest.raises(UsageError, match="have no subsets"):
        read(tmp_path, pairs(), subset="val")


@pytest.mark.parametrize("lacking", ["repeated", "absent"])
def test_query_ids_without_unique_sentence_ids(tmp_path: Path, lacking: str) -> None:
    content = refs()
    if lacking == "repeated":
        content[1]["sentences"][0]["sent_id"] = "100"
    else:
        del content[1]["sentences"][0]["sent_id"]
    benchmark = read(tmp_path, content, instances())
    assert [item.id for item in benchmark.items] == ["10:0", "10:1", "11:0", "12:0"]


def test_refs_without_sentences_are_left_out(tmp_path: Path) -> None:
    content = refs()
    content[1]["sentences"] = []
    benchmark = read(tmp_path, content, instances())
    assert [case.id for case in benchmark.cases] == ["10", "12"]
    assert "1 of 3 refs have no sentence" in benchmark.notes[0]


def changed_ref(number: int, **fields: Any) -> list[dict[str, Any]]:
    content = refs()
    content[number] |= fields
    return content


def changed_instance(number: int, **fields: Any) -> dict[str, Any]:
    content = instances()
    content["annotations"][number] |= fields
    return content


SENTENCE = {"sent": "it", "sent_id": 1}
BAD_REFS: dict[str, tuple[list[object], str]] = {
    "unknown annotation": (
        [changed_ref(0, ann_id=77), instances()],
        r"0\.json, refs\[0\] \(ref_id 10\): its ann_id 77 is not among the annotations",
    ),
    "annotation of another image": (
        [changed_ref(0, ann_id=3), instances()],
        r"refs\[0\] \(ref_id 10\): its ann_id 3 is of another image",
    ),
    "unknown image": (
        [changed_ref(1, image_id=77), instances()],
        r"refs\[1\] \(ref_id 11\): its image_id 77 is not among the images",
    ),
    "ref twice": ([changed_ref(1, ref_id="10"), instances()], r"refs\[1\]: ref_id 10 occurs twice"),
    "true without annotation": (
        [changed_ref(2, sentences=[{**SENTENCE, "exist": True}]), instances()],
        r"refs\[2\] \(ref_id 12\), sentences\[0\]: its premise is true, but",
    ),
    "contradiction": (
        [
            changed_ref(0, sentences=[{**SENTENCE, "exist": True, "is_false_premise": True}]),
            instances(),
        ],
        r"sentences\[0\]: its is_false_premise and exist contradict each other",
    ),
    "no instances": ([refs()], "not the images and annotations they point to"),
    "no refs": ([[], instances()], "it has no refs"),
    "truncated refs": ([json.dumps(refs())[:-30], instances()], "ends in the middle of its JSON"),
    "empty": (["", instances()], "the file is empty"),
    "a pickle": (["\x80\x04junk", instances()], "no JSON"),
    "corrupt mask": (
        [refs(), changed_instance(0, segmentation={"size": [HEIGHT, WIDTH], "counts": "1"})],
        r"1\.json, annotations\[0\] \(id 1, image_id 5\): its run lengths do not add up",
    ),
    "mask of another size": (
        [refs(), changed_instance(0, segmentation=rle(np.ones((2, 2), bool)))],
        r"annotations\[0\].*it is 2x2, its image 6x8",
    ),
    "two-point polygon": (
        [refs(), changed_instance(0, segmentation=[[0, 0, 1, 1]])],
        r"annotations\[0\].*at least three finite x, y points",
    ),
    "annotation id twice": ([refs(), changed_instance(1, id=1)], "annotation id 1 occurs twice"),
}


@pytest.mark.parametrize("name", BAD_REFS)
def test_unsound_files_are_refused_by_name_record_and_remedy(tmp_path: Path, name: str) -> None:
    contents, message = BAD_REFS[name]
    with pytest.raises(DataError, match=message) as caught:
        read(tmp_path, *contents)
    assert Path(caught.value.file).parent == tmp_path
    assert caught.value.remedy


def test_pickled_refs_are_read_and_run_nothing(tmp_path: Path) -> None:
    file = tmp_path / "refs(unc).p"
    file.write_bytes(pickle.dumps(refs(), 2))
    files = [file, write_file(tmp_path / "instances.json", instances())]
    expected = read(tmp_path, refs(), instances())
    assert fprefcoco.read(files).items == expected.items
    mark = tmp_path / "mark"
    file.write_bytes(f"cos\nsystem\n(S'touch {mark}'\ntR.".encode())
    with pytest.raises(DataError, match=r"it names os\.system"):
        fprefcoco.read(files)
    assert not mark.exists()


def test_files_that_do_not_go_together(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"neither .* has refs"):
        read(tmp_path, instances(), pairs())
    with pytest.raises(UsageError, match="not 3"):
        read(tmp_path, refs(), instances(), instances())


@pytest.mark.parametrize(
    ("sources", "message"),
    [({2: 99}, "99 is not the id of another entry"), ({0: 3, 2: 1}, "leads in a circle")],
)
def test_pairs_with_a_wrong_source(tmp_path: Path, sources: dict[int, int], message: str) -> None:
    content = pairs()
    for number, source in sources.items():
        content["images"][number]["fp_source_id"] = source
    with pytest.raises(DataError, match=message):
        read(tmp_path, content)


def test_writing_pairs_and_reading_them_gives_the_same_queries(tmp_path: Path) -> None:
    benchmark = read(tmp_path, refs(), instances())
    again = fprefcoco.read(fprefcoco.write(benchmark, tmp_path / "pairs.json"))

    def content(items: tuple[Item, ...]) -> dict[str, Any]:
        return {i.id: (i.query, i.role, [r.mask for r in i.regions]) for i in items}

    assert content(again.items) == content(benchmark.items)
    assert len(again.cases) == len(benchmark.cases)


def test_targets_survive_writing_pairs(tmp_path: Path) -> None:
    benchmark = read(tmp_path, pairs())
    again = fprefcoco.read(fprefcoco.write(benchmark, tmp_path / "pairs.json"))
    assert [i.target and i.target.mask for i in again.items] == [
        i.target and i.target.mask for i in benchmark.items
    ]


def result(query: object, pixels: np.ndarray, score: float | None = 0.9, **fields: Any) -> Result:
    return Result(image_id=query, score=score, segmentation=rle(pixels), **fields)  # type: ignore[arg-type]


def summary(benchmark: Benchmark, records: list[Result], **options: Any) -> Summary:
    scored = referring.score(benchmark, file_records([(0, records)], "preds.json"), **options)
    return summarise(scored, bootstrap=50, seed=0)


def values(found: Summary, row: str = "Overall") -> dict[str, float | None]:
    return {name: estimate.value for name, estimate in found.rows[row].metrics.items()}


SILENT = {"Say": None, "Say_exact": None, "Say_judge": None}
"""Of answers without words."""


def test_see_and_segment_by_hand(tmp_path: Path) -> None:
    """Left dog found exactly; both dogs half found; a mask on the cat; nothing for the bus."""
    benchmark = read(tmp_path, pairs())
    found = summary(benchmark, [result(1, LEFT), result(2, LEFT), result("3", LEFT)])
    assert values(found) == pytest.approx(
        {
            "See": 3 / 4,
            "Segment": (16 + 16) / (16 + 32 + 16),
            "See_true": 1.0,
            "See_false": 1 / 2,
            "gIoU": (1 + 1 / 2 + 0 + 1) / 4,
            **SILENT,
        }
    )
    assert values(found, "true") == {
        "See": 1.0, "Segment": 32 / 48, "See_true": 1.0, "See_false": None, "gIoU": 0.75, **SILENT,
    }  # fmt: skip
    assert values(found, "false") == {
        "See": 0.5, "Segment": 0.0, "See_true": None, "See_false": 0.5, "gIoU": 0.5, **SILENT,
    }  # fmt: skip
    assert found.rows["Overall"].metrics["See_false"].n == 2
    assert any("1 of 4 queries have no prediction" in note for note in found.notes)


def test_several_masks_of_a_query_are_joined(tmp_path: Path) -> None:
    benchmark = read(tmp_path, pairs())
    found = summary(benchmark, [result(2, LEFT), result(2, RIGHT, 0.3)])
    assert values(found, "true")["Segment"] == 32 / 48
    assert any("several masks" in note for note in found.notes)
    at_half = summary(benchmark, [result(2, LEFT), result(2, RIGHT, 0.3)], t=0.5)
    assert values(at_half, "true")["Segment"] == 16 / 48


def test_an_empty_mask_does_not_exist(tmp_path: Path) -> None:
    benchmark = read(tmp_path, pairs())
    empty = np.zeros((HEIGHT, WIDTH), bool)
    found = values(summary(benchmark, [result(k, empty) for k in (1, 2, 3, 4)]))
    assert (found["See_true"], found["See_false"], found["gIoU"]) == (0.0, 1.0, 0.5)
    assert found["Segment"] == 0.0


def test_abstained_unparsed_and_failed(tmp_path: Path) -> None:
    benchmark = read(tmp_path, pairs())
    records = [
        Result(image_id=1, outcome=Outcome.UNPARSED, text="?"),
        Result(image_id=2, outcome=Outcome.ABSTAINED),
        Result(image_id=3, outcome=Outcome.UNPARSED),
        Result(image_id=4, outcome=Outcome.FAILED, reason="out of memory"),
    ]
    found = summary(benchmark, records)
    assert values(found) == {
        "See": 0.0, "Segment": 0.0, "See_true": 0.0, "See_false": 0.0, "gIoU": 0.0, **SILENT,
    }  # fmt: skip
    assert found.outcomes == {"failed": 1, "unparsed": 2, "abstained": 1, "ok": 0}
    assert found.bounds["Overall"]["See"] == (0.0, 0.25)
    assert found.bounds["false"]["See_false"] == (0.0, 0.5)
    assert any("3 of 4" in note for note in found.notes)


def test_bounds_hold_every_way_a_failed_query_can_end(tmp_path: Path) -> None:
    benchmark = read(tmp_path, pairs())
    rest = [result(2, LEFT), result(3, RIGHT)]
    bounds = summary(benchmark, [*rest, Result(image_id=1, outcome=Outcome.FAILED)]).bounds
    for answer in (LEFT, RIGHT, ~LEFT, box(0, 0, 1, 1), box(0, 0, 6, 8), box(0, 0, 0, 0)):
        ended = values(summary(benchmark, [*rest, result(1, answer)]))
        assert {name for name, value in ended.items() if value is None} == set(SILENT)
        for name, value in ended.items():
            if name in SILENT:
                continue
            low, high = bounds["Overall"][name]
            assert value is not None
            assert low is not None
            assert high is not None
            assert low <= value <= high, name
    assert (
        values(summary(benchmark, [*rest, result(1, ~LEFT)]))["Segment"]
        == (bounds["Overall"]["Segment"][0])
    )


def test_a_true_premise_with_an_empty_mask_is_not_matched_by_nothing(tmp_path: Path) -> None:
    content = pairs()
    content["annotations"][0]["segmentation"] = rle(np.zeros((HEIGHT, WIDTH), bool))
    found = values(summary(read(tmp_path, content), [result(3, LEFT), result(2, LEFT | RIGHT)]))
    assert found["gIoU"] == (0 + 1 + 0 + 1) / 4


BAD_RESULTS = {
    "wrong size": (
        Result(image_id=1, score=1.0, segmentation=rle(np.ones((2, 2), bool))),  # type: ignore[arg-type]
        "unsound mask: it is 2x2, its image 6x8",
    ),
    "corrupt": (
        Result(image_id=1, score=1.0, segmentation={"size": (HEIGHT, WIDTH), "counts": "1"}),
        "unsound mask: its run lengths do not add up",
    ),
    "no mask": (Result(image_id=1, score=1.0), "it has no segmentation"),
    "infinite": (result(1, LEFT, float("inf")), "its score is not finite"),
}


@pytest.mark.parametrize("name", BAD_RESULTS)
def test_unsound_results_are_refused(tmp_path: Path, name: str) -> None:
    record, message = BAD_RESULTS[name]
    with pytest.raises(DataError, match=message) as caught:
        summary(read(tmp_path, pairs()), [result(2, LEFT), record])
    assert caught.value.record == "record 1 (image_id 1)"
    assert caught.value.file == "preds.json"


def test_a_query_has_one_outcome(tmp_path: Path) -> None:
    records = [result(1, LEFT), Result(image_id=1, outcome=Outcome.ABSTAINED)]
    with pytest.raises(DataError, match=r"says 'abstained' where an earlier .* says 'ok'"):
        summary(read(tmp_path, pairs()), records)


def test_scores_may_be_absent_at_t_zero_only(tmp_path: Path) -> None:
    benchmark = read(tmp_path, pairs())
    found = summary(benchmark, [result(1, LEFT, None)])
    assert values(found)["See_true"] == 0.5
    assert any("1 predictions have no score" in note for note in found.notes)
    with pytest.raises(DataError, match=r"no score, so it cannot be held against t = 0\.5"):
        summary(benchmark, [result(1, LEFT, None)], t=0.5)


def test_results_of_something_else_are_refused(tmp_path: Path) -> None:
    benchmark = read(tmp_path, pairs())
    with pytest.raises(DataError, match="no prediction belongs to a query"):
        summary(benchmark, [result(99, LEFT)])
    found = summary(benchmark, [result(99, LEFT), result(1, LEFT)])
    assert any("1 of 2 predictions are for queries" in note for note in found.notes)


def test_annotations_need_masks(tmp_path: Path) -> None:
    content = pairs()
    content["annotations"][0] |= {"segmentation": None, "bbox": [0, 0, 4, 4]}
    with pytest.raises(DataError, match="query 1: an annotated region cannot be compared"):
        summary(read(tmp_path, content), [result(1, LEFT)])


def test_queries_of_a_case_are_resampled_together(tmp_path: Path) -> None:
    benchmark = read(tmp_path, refs(), instances())
    scored = referring.score(benchmark, file_records([(0, [result(100, LEFT)])], "preds.json"))
    assert scored.case.tolist() == [0, 0, 1, 2]
    assert scored.columns()["query_id"] == ["100", "101", "102", "103"]


def test_runs_can_be_stored_and_compared(tmp_path: Path) -> None:
    benchmark = read(tmp_path, pairs())
    for name, records in {"a": [result(1, LEFT), result(2, LEFT)], "b": [result(3, LEFT)]}.items():
        file = write_file(
            tmp_path / f"{name}.json",
            [
                {"image_id": r.image_id, "score": r.score, "segmentation": r.segmentation}
                for r in records
            ],
        )
        scored = referring.score(benchmark, read_coco_results(file))
        write_results(tmp_path / name, scored, summarise(scored, bootstrap=10, seed=0))
    found = compare_runs([tmp_path / "a", tmp_path / "b"], metrics=["See", "Segment"], resamples=50)
    difference = next(
        test for test in found.tests if test.row == "Overall" and test.metric == "See"
    )
    assert difference.difference == 1.0 - 0.25
    assert {test.outcome for test in found.mcnemar} == {"existence right"}


@st.composite
def answered_sets(draw: st.DrawFn) -> tuple[Benchmark, list[Result], list[Any]]:
    """A small set, its results, and per query (present, G, P or "unparsed" or "failed")."""
    n = draw(st.integers(1, 6))
    masks = st.integers(0, 2**12 - 1).map(
        lambda bits: np.array([bits >> k & 1 for k in range(12)], bool).reshape(3, 4)
    )
    items, records, expected = [], [], []
    for k in range(n):
        truths = draw(st.lists(masks, max_size=2))
        items.append(
            Item(
                id=str(k),
                case_id=str(k // 2),
                role=Role.POSITIVE if truths else Role.NEGATIVE,
                images=("",),
                height_px=3,
                width_px=4,
                query="",
                regions=tuple(Region(encode(truth)) for truth in truths),
            )
        )
        outcome = draw(st.sampled_from(["ok", "silent", "abstained", "unparsed", "failed"]))
        answer: Any = np.zeros((3, 4), bool)
        if outcome == "ok":
            for mask, score in draw(
                st.lists(st.tuples(masks, st.floats(0, 1)), min_size=1, max_size=3)
            ):
                records.append(result(k, mask, score))
                answer = answer | mask if score >= 0.5 else answer
        elif outcome != "silent":
            records.append(Result(image_id=k, outcome=Outcome(outcome)))
            answer = answer if outcome == "abstained" else outcome
        truth = np.any(truths, axis=0) if truths else np.zeros((3, 4), bool)
        expected.append((bool(truths), truth, answer))
    cases = tuple(Case(id=str(k)) for k in range((n + 1) // 2))
    benchmark = Benchmark(card=fprefcoco.CARD, cases=cases, items=tuple(items))
    return benchmark, draw(st.permutations(records)), expected


@settings(max_examples=150, deadline=None)
@given(answered_sets())
def test_metrics_agree_with_pixels(drawn: tuple[Benchmark, list[Result], list[Any]]) -> None:
    """An independent reference: loops over pixel arrays, straight from the definitions."""
    benchmark, records, expected = drawn
    scored = referring.score(benchmark, file_records([(0, records)], "preds.json"), t=0.5)
    ours = false_premise.metrics(scored.contributions.sum(axis=0, keepdims=True))
    right, ious, intersection, union = {True: [], False: []}, [], 0, 0
    for present, truth, answer in expected:
        if isinstance(answer, str) and answer == "failed":
            continue
        unparsed = isinstance(answer, str)
        predicted = np.zeros((3, 4), bool) if unparsed else answer
        right[present].append(not unparsed and predicted.any() == present)
        both, either = (predicted & truth).sum(), (predicted | truth).sum()
        intersection, union = intersection + both, union + either
        if either:
            ious.append(both / either)
        else:
            ious.append(0.0 if present or unparsed else 1.0)
    everything = right[True] + right[False]
    reference = {
        "See": np.mean(everything) if everything else np.nan,
        "Segment": intersection / union if union else np.nan,
        "See_true": np.mean(right[True]) if right[True] else np.nan,
        "See_false": np.mean(right[False]) if right[False] else np.nan,
        "gIoU": np.mean(ious) if ious else np.nan,
    }
    for name, value in reference.items():
        assert ours[name][0] == pytest.approx(value, nan_ok=True), name


# Say: what answers to false premises say is there.

DOG = Answer(type="SA", reference="the left dog")


def described() -> list[dict[str, Any]]:
    """One true premise; four false ones, of the last of which nobody knows what is there."""
    content = refs()
    content[0]["sentences"] += [
        {"sent": "the left pig", "is_false_premise": True, "gt_sent": " the left dog "},
        {"sent": "the right cat", "is_false_premise": True, "gt_sent": "the left dog"},
        {"sent": "the left hat", "is_false_premise": True, "gt_sent": None},
    ]
    return content[:1]


def said(query: str, text: str, outcome: Outcome | None = Outcome.ABSTAINED) -> Result:
    return Result(image_id=query, outcome=outcome, text=text)


def test_what_is_there_comes_with_false_premises_and_survives_both_layouts(tmp_path: Path) -> None:
    benchmark = read(tmp_path, described(), instances())
    expected = [None, *[DOG] * 3, None]
    assert [item.answer for item in benchmark.items] == expected
    again = fprefcoco.read(fprefcoco.write(benchmark, tmp_path / "pairs.json"))
    assert [item.answer for item in again.items] == expected
    folder.write(benchmark, tmp_path / "folder")
    assert [item.answer for item in folder.read(tmp_path / "folder").items] == expected


def test_say_by_hand(tmp_path: Path) -> None:
    """Named in other words; named word for word; accepted, whatever is said; unknown."""
    benchmark = read(tmp_path, described(), instances())
    answers = [
        result("10:0", LEFT, text="Sure, [SEG]."),
        said("10:1", "No cat, but there is a puppy on that side."),
        said("10:2", "I see no pig; the left dog is there."),
        result("10:3", LEFT, text="Sure, [SEG]: not the right cat but the left dog."),
        said("10:4", "There is a left dog."),
    ]
    found = summary(benchmark, answers)
    got = {name: values(found)[name] for name in SILENT}
    assert got == {"Say": 2 / 3, "Say_exact": 1 / 3, "Say_judge": None}
    assert found.rows["Overall"].metrics["Say"].n == 3
    assert values(found, "true")["Say"] is None
    assert values(found, "false")["Say"] == 2 / 3
    table = referring.score(benchmark, file_records([(0, answers)], "p.json")).columns()
    assert table["named"] == [None, True, True, False, None]
    assert table["named_exactly"] == [None, False, True, False, None]
    assert table["there_is"] == ["", *["the left dog"] * 3, ""]
    assert table["said"][1].startswith("No cat")


def test_words_that_reject_nothing_say_nothing(tmp_path: Path) -> None:
    """Unreadable answers and silence are not named; a failed one is bounded."""
    benchmark = read(tmp_path, described(), instances())
    found = summary(
        benchmark,
        [
            said("10:1", "The left dog?", Outcome.UNPARSED),
            Result(image_id="10:2", outcome=Outcome.ABSTAINED),
            Result(image_id="10:3", outcome=Outcome.FAILED),
        ],
    )
    assert values(found)["Say"] == 0.0
    assert found.rows["Overall"].metrics["Say"].n == 2
    assert found.bounds["Overall"]["Say"] == (0.0, 1 / 3)
    assert found.bounds["Overall"]["Say_exact"] == (0.0, 1 / 3)


def test_say_of_a_model_without_words_is_undefined(tmp_path: Path) -> None:
    found = summary(read(tmp_path, described(), instances()), [result("10:0", LEFT)])
    assert values(found)["Say"] is None
    assert any("Say is undefined" in note for note in found.notes)
    nothing_known = summary(read(tmp_path, pairs()), [said("1", "There is a dog.")])
    assert values(nothing_known)["Say"] is None


def test_verdicts_make_say_judge(tmp_path: Path) -> None:
    """One right, one that the judge would not judge, one accepted: that needs no judge."""
    benchmark = read(tmp_path, described(), instances())

    def prediction(query: str, verdict: Any = None, **fields: Any) -> Prediction:
        judge = "judge" if verdict else ""
        return Prediction(item_id=query, verdict=verdict, judge=judge, **fields)

    words = {"outcome": Outcome.ABSTAINED, "text": "No, that is an animal of another kind."}
    scored = referring.score(
        benchmark,
        [
            prediction("10:1", "right", **words),
            prediction("10:2", "unjudged", **words),
            prediction("10:3", outcome=Outcome.OK, masks=(encode(LEFT),), scores=(1.0,)),
        ],
    )
    found = summarise(scored, bootstrap=10, seed=0)
    judged = found.rows["Overall"].metrics["Say_judge"]
    assert (judged.value, judged.n) == (1 / 2, 2)
    assert found.bounds["Overall"]["Say_judge"] == (1 / 3, 2 / 3)
    assert values(found)["Say"] == 0.0
    assert scored.columns()["named_by_judge"] == [None, True, None, False, None]


def test_splits_have_rows_where_there_are_several(tmp_path: Path) -> None:
    both = summary(read(tmp_path, refs(), instances()), [result(100, LEFT)])
    assert list(both.rows) == ["Overall", "true", "false", "testA", "val"]
    assert both.rows["testA"].n_cases == 1
    one = summary(read(tmp_path, refs(), instances(), subset="val"), [result(100, LEFT)])
    assert set(one.rows) == {"Overall", "true", "false"}
