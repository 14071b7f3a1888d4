"""RefCOCO's refs: plain values from pickles, and nothing else."""

from __future__ import annotations

import os
import pickle
import struct
from pathlib import Path
from typing import Any

import pytest
from tests.building.sources import coco, write

from groundfault.errors import DataError, UsageError
from groundfault.io import refer
from groundfault.io.photographs import FalsePremise


def ref(number: int, image: int, annotation: Any, split: str, *said: Any) -> dict[str, Any]:
    sentences = [
        each if isinstance(each, dict) else {"sent": each, "sent_id": k, "tokens": [], "raw": each}
        for k, each in enumerate(said)
    ]
    return {
        "ref_id": number,
        "image_id": image,
        "ann_id": annotation,
        "split": split,
        "category_id": 18,
        "file_name": f"COCO_{image}.jpg",
        "sent_ids": [],
        "sentences": sentences,
    }


def refs() -> list[dict[str, Any]]:
    return [
        ref(0, 2, 22, "val", "right dog", "the dog on the right"),
        ref(1, 1, 11, "train", "brown dog", "brown dog", " "),
        ref(2, 1, 12, "val", "cup"),
        ref(3, 3, 31, "testA", {"sent": "red cat", "is_false_premise": True, "gt_sent": "man"}),
        ref(4, 3, -1, "testA", "blue cat"),
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "instances.json", coco())
    (tmp_path / "refs(unc).p").write_bytes(pickle.dumps(refs(), 2))
    return tmp_path


def test_photographs_have_their_expressions(folder: Path) -> None:
    one, two, three = refer.read(folder)
    assert [one.id, two.id, three.id] == ["1", "2", "3"]
    assert [thing.phrases for thing in one.things] == [("brown dog",), ("cup",)]
    assert [thing.phrases for thing in two.things] == [
        (),
        ("right dog", "the dog on the right"),
        (),
    ]
    assert [thing.category for thing in two.things] == ["dog", "dog", "cup"]
    assert (one.split, two.split, three.split) == ("train+val", "val", "testA")
    assert three.false_premises == (FalsePremise("red cat", "man"), FalsePremise("blue cat"))
    assert (one.licence, one.url) == ("Attribution (http://example.org/by)", "http://e.org/1")


def test_a_split_keeps_its_refs_alone(folder: Path) -> None:
    one, two = refer.read(folder, split="val")
    assert [thing.phrases for thing in one.things] == [(), ("cup",)]
    assert (one.split, two.split) == ("val", "val")
    assert [p.id for p in refer.read(folder, split="test")] == ["3"]
    with pytest.raises(
        UsageError, match=r"no ref is of the split 'testB'. Known: testA, train, val"
    ):
        refer.read(folder, split="testB")


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_all_protocols_and_json_say_the_same(tmp_path: Path, protocol: int) -> None:
    (tmp_path / "refs.p").write_bytes(pickle.dumps(refs(), protocol))
    as_json = write(tmp_path / "refs.json", refs())
    assert refer.read_refs(tmp_path / "refs.p") == refer.read_refs(as_json)
    assert refer.read_refs(write(tmp_path / "o.json", {"refs": refs()})) == refer.read_refs(as_json)


def test_texts_of_python_2(tmp_path: Path) -> None:
    path = tmp_path / "refs(google).p"
    fields = (
        "S'ref_id'\nI0\nsS'image_id'\nI1\nsS'ann_id'\nI11\nsS'sentences'\n(lp2\n(dp3\nS'sent'\n"
    )
    path.write_bytes(f"(lp0\n(dp1\n{fields}S'caf\\xe9'\nsasa.".encode())
    [found] = refer.read_refs(path)
    assert found.sentences[0].sent == "café"


class Runs:
    """Would run a program, were it opened by pickle.load."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> Any:
        return self.call


HOSTILE = {
    "os.system": lambda mark: pickle.dumps([Runs(os.system, f"touch '{mark}'")]),
    "eval": lambda mark: pickle.dumps([Runs(eval, f"open({str(mark)!r}, 'w')")], 0),
    "a text protocol": lambda mark: f"cos\nsystem\n(S'touch {mark}'\ntR.".encode(),
    "an instance": lambda mark: f"(S'touch {mark}'\nios\nsystem\n.".encode(),
    "an extension": lambda mark: b"\x80\x02\x82\x01.",
    "a persistent id": lambda mark: b"Pname\n.",
    "a memo of 32 GB": lambda mark: b"\x80\x02]r" + struct.pack("<I", 0xFFFFFFF0) + b".",
    "a text of 4 EB": lambda mark: b"\x80\x04\x8d" + struct.pack("<Q", 1 << 62) + b".",
    "a frame of 4 EB": lambda mark: b"\x80\x04\x95" + struct.pack("<Q", 1 << 62) + b"].",
    "no list": lambda mark: pickle.dumps({"refs": refs()}),
    "numbers": lambda mark: pickle.dumps([1, 2]),
    "a truncated one": lambda mark: pickle.dumps(refs())[:-40],
    "no end": lambda mark: b"\x80\x02]",
    "junk": lambda mark: b"\x80\x04junk",
    "deep": lambda mark: b"\x80\x02" + b"]" * 100_000 + b"a" * 99_999 + b".",
    "a list in itself": lambda mark: b"\x80\x02]q\x00h\x00a.",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_is_run_and_what_is_unsound_is_refused(tmp_path: Path, name: str) -> None:
    mark = tmp_path / "mark"
    path = tmp_path / "refs(unc).p"
    path.write_bytes(HOSTILE[name](mark))
    with pytest.raises(DataError, match=r"refs\(unc\).p: .*Remedy: "):
        refer.read_refs(path)
    assert not mark.exists()


def test_a_list_that_all_refs_share_is_no_bomb(tmp_path: Path) -> None:
    sentences = [{"sent": "x"}] * 20_000
    path = tmp_path / "refs(unc).p"
    shared = [{**ref(k, 1, 11, "train"), "sentences": sentences} for k in range(20_000)]
    path.write_bytes(pickle.dumps(shared))
    with pytest.raises(DataError, match="more sentences than the file has bytes"):
        refer.read_refs(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda found: found[0].update(image_id=99), "image_id 99 is not among the images"),
        (lambda found: found[0].update(ann_id=11), "ref_id 0: its ann_id 11 is not among"),
        (lambda found: found[1].update(ref_id=0), "ref_id 0 occurs twice"),
        (lambda found: found.clear(), "it has no refs"),
        (lambda found: found[0].pop("sentences"), "its refs are unsound: .*sentences"),
    ],
)
def test_refs_that_do_not_fit(folder: Path, change: Any, message: str) -> None:
    changed = refs()
    change(changed)
    (folder / "refs(unc).p").write_bytes(pickle.dumps(changed))
    with pytest.raises(DataError, match=message):
        list(refer.read(folder))


def test_one_of_several_files_has_to_be_named(folder: Path) -> None:
    (folder / "refs(google).p").write_bytes(pickle.dumps(refs()[:1], 2))
    with pytest.raises(UsageError, match=r"refs\(google\)\.p, refs\(unc\)\.p there"):
        refer.read(folder)
    assert len(list(refer.read(folder, split_by="google"))) == 1
