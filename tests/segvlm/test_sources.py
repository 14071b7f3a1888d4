"""Every source on a miniature of its format, with bad input; and the leakage guard."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tests.segvlm.tiny import SQUARE, photo

from groundfault.errors import DataError, GroundfaultError, UsageError
from groundfault.io.masks import decode
from groundfault.io.phash import hash_file

torch = pytest.importorskip("torch", reason="training needs torch")

from groundfault.training.segvlm.guard import coco_id, find_leaks, read_ids  # noqa: E402
from groundfault.training.segvlm.recipe import (  # noqa: E402
    DataSet,
    Evaluation,
    Guard,
    Optimiser,
    Recipe,
)
from groundfault.training.segvlm.sources import benchmark_of, source_of  # noqa: E402
from groundfault.training.segvlm.training import read_data  # noqa: E402


def refcoco(folder: Path, **more: Any) -> DataSet:
    inputs = {"refs": str(folder), "images": str(folder.parent / "train2014"), "split": "train"}
    return DataSet(name="refcoco", format="refcoco", inputs=inputs, **more)


def test_refcoco_sentences_are_grouped_by_picture(refer: Path) -> None:
    source = source_of(refcoco(refer, rate=12))

    assert source.rate == 12
    assert [len(group) for group in source.strata["true"]] == [4, 4]
    assert source.strata["false"] == []
    first = source.strata["true"][0][0]
    assert (first.kind, first.query) == ("true", "left cat")
    assert Path(first.image).is_file()
    assert decode(first.mask).sum() == 256


def test_r_refcoco_says_of_each_sentence_whether_its_thing_exists(refer: Path) -> None:
    refs = pickle.loads((refer / "refs(unc).p").read_bytes())
    refs[0]["sentences"][0]["exist"] = True
    refs[0]["sentences"][1] |= {"exist": False, "sent": "left dog"}
    (refer / "refs(unc).p").write_bytes(pickle.dumps(refs, protocol=2))
    data = refcoco(refer)

    source = source_of(DataSet(name="r", format="rrefcoco", inputs=data.inputs))

    ((false,),) = source.strata["false"]
    assert (false.query, false.kind, false.mask) == ("left dog", "false", None)
    assert [len(group) for group in source.strata["true"]] == [3, 4]
    assert source.shares["true"] == 2 * source.shares["false"]


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (lambda f: (f / "refs(unc).p").write_bytes(b"cos\nsystem\n(S'id'\ntR."), "names os.system"),
        (lambda f: (f / "refs(unc).p").unlink(), "give one file of refs"),
        (lambda f: (f / "instances.json").write_text("{"), "instances.json"),
    ],
)
def test_unsound_refcoco_is_refused(refer: Path, broken: Any, says: str) -> None:
    broken(refer)
    with pytest.raises(GroundfaultError, match=says):
        source_of(refcoco(refer))


def test_reasonseg_has_questions_ignored_pixels_and_false_premises(tmp_path: Path) -> None:
    folder = tmp_path / "train"
    photo(folder / "7_a.jpg", 7)
    shapes = [
        {"label": "target", "points": [[4, 4], [20, 4], [20, 20], [4, 20]]},
        {"label": "ignore", "points": [[30, 4], [40, 4], [40, 14], [30, 14]]},
    ]
    content = {
        "shapes": shapes,
        "text": ["What can one sit on?"],
        "is_sentence": True,
        "false_premise_QA": ["Where is the dog?", True, "I see no dog, only a chair."],
    }
    (folder / "7_a.json").write_text(json.dumps(content))

    source = source_of(DataSet(name="r", format="reasonseg", inputs={"folder": str(folder)}))

    ((true,),), ((false,),) = source.strata["true"], source.strata["false"]
    assert true.query == "What can one sit on?"
    assert decode(true.ignored)[8, 35] and not decode(true.mask)[8, 35]
    assert (false.answer, false.mask) == ("I see no dog, only a chair.", None)
    assert (source.shares["true"], source.shares["false"]) == (0.85, 0.15)
    with pytest.raises(UsageError, match=r"needs inputs\.folder"):
        source_of(DataSet(name="r", format="reasonseg"))
    with pytest.raises(UsageError, match="unexpected keyword"):
        source_of(DataSet(name="r", format="reasonseg", inputs={"folder": str(folder), "x": "1"}))


def conversation(*turns: tuple[str, str], image: str = "1.jpg") -> dict[str, Any]:
    return {"id": "1", "image": image,
            "conversations": [{"from": who, "value": text} for who, text in turns]}  # fmt: skip


def vqa(tmp_path: Path, *records: Any) -> DataSet:
    photo(tmp_path / "images" / "1.jpg", 1)
    (tmp_path / "vqa.json").write_text(json.dumps(records))
    inputs = {"annotations": str(tmp_path / "vqa.json"), "images": str(tmp_path / "images")}
    return DataSet(name="vqa", format="vqa", inputs=inputs)


def test_conversations_are_questions_with_answers(tmp_path: Path) -> None:
    words = conversation(
        ("human", "<image>\nWhat is it?"),
        ("gpt", "A cat [SEG]."),
        ("human", "Big?"),
        ("gpt", "No."),
    )
    text_only = {"id": "2", "conversations": words["conversations"]}

    source = source_of(vqa(tmp_path, words, text_only))

    ((first, second),) = source.strata["vqa"]
    assert (first.query, first.answer) == ("What is it?", "A cat .")
    assert (second.query, second.answer, second.kind) == ("Big?", "No.", "vqa")


@pytest.mark.parametrize(
    ("record", "says"),
    [
        (conversation(("human", "a"), ("gpt", "b"), image="../x.jpg"), "leads outside"),
        (conversation(("human", "a"), ("gpt", "b"), image="9.jpg"), "is not in"),
        (conversation(("gpt", "a"), ("human", "b")), "followed by"),
        ({"image": "1.jpg"}, "conversations"),
    ],
)
def test_unsound_conversations_are_refused(tmp_path: Path, record: Any, says: str) -> None:
    with pytest.raises(DataError, match=says) as caught:
        source_of(vqa(tmp_path, record))
    assert "record 0" in str(caught.value) or "[0]" in str(caught.value)
    with pytest.raises(UsageError, match="needs inputs annotations and images"):
        source_of(DataSet(name="vqa", format="vqa", inputs={"images": "x"}))


def test_fp_refcoco_gives_true_and_false_premises(tmp_path: Path) -> None:
    photo(tmp_path / "images" / "a.jpg", 1)
    images = [
        {"id": 1, "file_name": "a.jpg", "height": 40, "width": 48, "text_input": "the cat"},
        {"id": 2, "file_name": "a.jpg", "height": 40, "width": 48, "text_input": "the dog",
         "fp_source_id": 1, "gt_sent": "the cat"},
    ]  # fmt: skip
    mask = {"id": 1, "image_id": 1, "category_id": 1, "segmentation": SQUARE, "area": 256,
            "bbox": [4, 4, 16, 16], "iscrowd": 0}  # fmt: skip
    content = {"images": images, "annotations": [mask], "categories": [{"id": 1, "name": "x"}]}
    (tmp_path / "fp.json").write_text(json.dumps(content))
    inputs = {"annotations": [str(tmp_path / "fp.json")], "images": str(tmp_path / "images")}

    source = source_of(DataSet(name="fp", format="fprefcoco", inputs=inputs))

    ((true,),), ((false,),) = source.strata["true"], source.strata["false"]
    assert (true.query, false.query, false.there) == ("the cat", "the dog", "the cat")
    assert false.mask is None


def test_quads_are_whole_and_may_do_without_edited_pictures(quads: Path) -> None:
    data = DataSet(name="q", inputs={"folder": str(quads)})
    source = source_of(data)
    assert source.whole
    assert {name: len(found) for name, found in source.strata.items()} == {
        "referring": 2, "reasoning": 1,
    }  # fmt: skip
    for group in (*source.strata["referring"], *source.strata["reasoning"]):
        assert [one.kind for one in group] == ["factual", "textual", "visual", "counterfactual"]
        assert [one.mask is None for one in group] == [False, True, True, False]
    half = source_of(DataSet(name="q", inputs=data.inputs, pictures=False))
    assert {one.kind for one in half.samples} == {"factual", "textual"}
    with pytest.raises(UsageError, match="data 'q'"):
        source_of(DataSet(name="q", inputs={"folder": "nowhere"}))
    with pytest.raises(UsageError, match="data 'q'"):
        source_of(DataSet(name="q", format="no-such-format"))
    with pytest.raises(UsageError, match="is no input of folder"):
        source_of(DataSet(name="q", inputs={"folder": str(quads), "verify": ""}))


def recipe(*sources: DataSet, **more: Any) -> Recipe:
    return Recipe(steps=1, sources=sources, optimiser=Optimiser(batch=1), **more)


def test_pictures_that_are_measured_on_are_not_learnt_from(
    quads: Path, held_out: Path, refer: Path, tmp_path: Path
) -> None:
    learnt = DataSet(name="q", inputs={"folder": str(quads)})
    other = DataSet(name="h", inputs={"folder": str(held_out)})
    read_data(recipe(learnt, evaluation=Evaluation(sets=(other,))))

    with pytest.raises(UsageError, match=r"6 pictures are learnt from and measured on.*same file"):
        read_data(recipe(learnt, evaluation=Evaluation(sets=(learnt,))))
    with pytest.raises(UsageError, match="measured on"):
        read_data(recipe(learnt, guard=Guard(sets=(learnt,))))
    (tmp_path / "ids.txt").write_text("2\nCOCO_val2014_000000000099.jpg\n")
    with pytest.raises(UsageError, match=r"000000000002\.jpg is in a list of ids: COCO image 2"):
        read_data(recipe(refcoco(refer), guard=Guard(ids=(str(tmp_path / "ids.txt"),))))
    assert read_ids(str(tmp_path / "ids.txt")) == {2, 99}
    (tmp_path / "ids.txt").write_text("2\nelephant\n")
    with pytest.raises(DataError, match="line 2"):
        read_ids(str(tmp_path / "ids.txt"))


def test_leaking_pictures_may_be_left_out_with_all_that_belongs_to_them(
    quads: Path, refer: Path, tmp_path: Path
) -> None:
    (tmp_path / "ids.txt").write_text("2\n")
    found = read_data(
        recipe(refcoco(refer), guard=Guard(ids=(str(tmp_path / "ids.txt"),), leave_out=True))
    )
    (source,) = found.mixture.sources
    assert {Path(one.image).name for one in source.samples} == {"COCO_train2014_000000000001.jpg"}
    assert found.left_out == {"refcoco": 4}

    first = DataSet(name="first", inputs={"folder": str(quads)}, limit=1)
    learnt = DataSet(name="q", inputs={"folder": str(quads)})
    left = read_data(recipe(learnt, guard=Guard(sets=(first,), leave_out=True)))
    assert left.left_out == {"q": 4}
    assert {
        len(group) for groups in left.mixture.sources[0].strata.values() for group in groups
    } == {4}
    with pytest.raises(UsageError, match="nothing to learn from"):
        read_data(recipe(learnt, guard=Guard(sets=(learnt,), leave_out=True)))


def test_refs_are_measured_on_as_they_are_published(refer: Path) -> None:
    inputs = dict(refcoco(refer).inputs) | {"split": "val", "split_by": "unc"}
    found = benchmark_of(DataSet(name="val", format="refcoco", inputs=inputs))
    assert [item.query for item in found.items] == [
        "left cat", "left animal", "left pet", "left one",
    ]  # fmt: skip
    assert all(item.present for item in found.items)
    assert found.card.protocol == "referring"
    alone = {"refs": str(refer / "refs(unc).p"), "images": inputs["images"]}
    assert len(benchmark_of(DataSet(name="all", format="refcoco", inputs=alone)).items) == 12
    with pytest.raises(UsageError, match=r"needs inputs\.refs"):
        benchmark_of(DataSet(name="val", format="refcoco"))
    with pytest.raises(UsageError, match="no ref is of the subset 'dev'"):
        benchmark_of(DataSet(name="v", format="refcoco", inputs=inputs | {"split": "dev"}))


def test_a_shrunken_copy_under_another_name_is_found(quads: Path, tmp_path: Path) -> None:
    original = sorted((quads / "images").iterdir())[0]
    copy = tmp_path / "holiday.jpg"
    with Image.open(original) as picture:
        picture.convert("RGB").resize((40, 40)).save(copy, quality=60)
    (leak,) = find_leaks([copy], [original], bits=40)
    assert "looks the same" in leak.how
    assert find_leaks([copy], [original], bits=0) == []
    photo(tmp_path / "other.png", 5)
    assert find_leaks([tmp_path / "other.png"], [original], bits=40) == []
    (tmp_path / "broken.png").write_bytes(b"no picture")
    with pytest.raises(DataError, match="cannot be read"):
        find_leaks([tmp_path / "broken.png"], [original], bits=40)


def test_hashes_are_remembered_until_a_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from groundfault.training.segvlm import guard

    first, second = tmp_path / "a.png", tmp_path / "b.png"
    photo(first, 1)
    photo(second, 1, (90, 90))
    hashed: list[Path] = []

    def noted(path: Path) -> Any:
        hashed.append(path)
        return hash_file(path)

    monkeypatch.setattr(guard, "hash_file", noted)
    assert len(find_leaks([first], [second], bits=40)) == 1
    assert len(find_leaks([first], [second], bits=40)) == 1
    assert len(hashed) == 2
    photo(first, 2, (50, 44))
    assert find_leaks([first], [second], bits=40) == []
    assert len(hashed) == 3
    (tmp_path / "cache" / guard.REMEMBERED).write_text("[]")
    assert find_leaks([first], [second], bits=40) == []
    assert len(hashed) == 5


def test_edited_copies_keep_their_coco_number(tmp_path: Path) -> None:
    photo(tmp_path / "000000000007_12_edited.png", 1)
    photo(tmp_path / "COCO_val2014_000000000007.jpg", 2)
    (leak,) = find_leaks(
        [tmp_path / "000000000007_12_edited.png"],
        [tmp_path / "COCO_val2014_000000000007.jpg"],
        bits=0,
    )
    assert leak.how == "COCO image 7"
    assert coco_id("1234567890123.png") is None


def test_recipes_are_checked() -> None:
    data = DataSet(name="a")
    with pytest.raises(ValueError, match="one name"):
        Recipe(steps=1, sources=(data, data))
    with pytest.raises(ValueError, match="no source"):
        Recipe(steps=1, sources=())
