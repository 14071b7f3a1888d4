"""Streaming, paths and diagnoses of foreign files."""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundfault.errors import DataError, UsageError
from groundfault.io import foreign
from groundfault.io.coco import Result
from groundfault.io.foreign import open_file, read_json_object, sha256, stream_json_list, within
from groundfault.runs.benchmark import read_again
from groundfault.runs.run import Run

BOM = b"\xef\xbb\xbf"

tricky_text = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        ["},{", "}, {", '"},{"', "\\", '\\"},{', "[{", "}]", "é},{", "\U0001f400", "NaN", "\n"]
    ),
)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | tricky_text,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(tricky_text, inner, min_size=0, max_size=4)
    ),
    max_leaves=12,
)
records = st.lists(st.dictionaries(tricky_text, values, max_size=4), max_size=12)
layouts = st.sampled_from(
    [
        {"separators": (",", ":")},
        {},
        {"indent": 1},
        {"separators": (",", ":"), "ensure_ascii": False},
        {"indent": "\t", "ensure_ascii": False},
    ]
)
in_one_folder = settings(
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def streamed(path: Path, **options: Any) -> list[tuple[int, list[Any]]]:
    return list(stream_json_list(path, dict, expected="a list", **options))


def joined(batches: list[tuple[int, list[Any]]]) -> list[Any]:
    return [record for _, batch in batches for record in batch]


@in_one_folder
@given(
    records=records,
    layout=layouts,
    before=st.sampled_from([b"", BOM, b" \n", BOM + b" " * 30]),
    after=st.sampled_from([b"", b"\n", b" \r\n\t" * 20]),
    block_bytes=st.integers(16, 200),
)
def test_streaming_yields_what_json_loads_does(
    tmp_path: Path, records: Any, layout: Any, before: bytes, after: bytes, block_bytes: int
) -> None:
    path = tmp_path / "list.json"
    path.write_bytes(before + json.dumps(records, **layout).encode() + after)
    batches = streamed(path, block_bytes=block_bytes)
    assert joined(batches) == records
    firsts = [first for first, _ in batches]
    lengths = [len(batch) for _, batch in batches]
    assert firsts == [sum(lengths[:k]) for k in range(len(lengths))]


def test_blocks_are_yielded_before_the_file_ends(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    path.write_text(json.dumps([{"id": number} for number in range(1000)]))
    batches = streamed(path, block_bytes=100)
    assert len(batches) > 50
    assert max(len(batch) for _, batch in batches) < 20


def test_records_of_nested_lists_do_not_pile_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nearly every `},{` of this file is inside a record, and none of its records is large."""
    monkeypatch.setattr(foreign, "MAX_RECORD_BYTES", 8000)
    records = [{"id": n, "parts": [{"part": k} for k in range(40)]} for n in range(100)]
    path = tmp_path / "list.json"
    path.write_text(json.dumps(records))
    batches = streamed(path, block_bytes=1000)
    assert joined(batches) == records
    assert len(batches) > 10


SMALL = [
    {"image_id": 1, "text": 'a "b" },{ \\ é', "segmentation": {"size": [2, 2], "counts": "04"}},
    {"image_id": "zwei", "score": 0.25, "bbox": [1, 2, 3.5, 4]},
    {"image_id": 3, "outcome": "failed", "extra": [{"a": 1}, {"b": None}]},
]


@pytest.mark.parametrize("block_bytes", [16, 40, 1 << 20])
@pytest.mark.parametrize("type_", [dict, Result])
@pytest.mark.parametrize("layout", [{}, {"indent": 2, "ensure_ascii": False}])
def test_a_file_cut_short_anywhere_is_refused_at_its_record(
    tmp_path: Path, block_bytes: int, type_: type, layout: dict[str, Any]
) -> None:
    content = json.dumps(SMALL, **layout).encode()
    path = tmp_path / "list.json"
    path.write_bytes(content)
    whole = joined(list(stream_json_list(path, type_, expected="a list", block_bytes=block_bytes)))
    assert len(whole) == len(SMALL)
    for length in range(len(content)):
        path.write_bytes(content[:length])
        with pytest.raises(DataError) as refused:
            list(stream_json_list(path, type_, expected="a list", block_bytes=block_bytes))
        if length:
            n_whole = whole_records(content[:length])
            assert refused.value.record == f"record {n_whole}", content[:length]
            assert "ends in the middle" in refused.value.problem
        else:
            assert "empty" in refused.value.problem


def whole_records(content: bytes) -> int:
    """How many records can be read from the head of a list, found by trying every end."""
    ends = [k + 1 for k, byte in enumerate(content) if byte == ord("}")]
    found = 0
    for end in ends:
        try:
            found = max(found, len(json.loads(content[:end] + b"]")))
        except json.JSONDecodeError:
            continue
    return found


MALFORMED = {
    "NaN": (b'[{"a": 1}, {"a": NaN}, {"a": 3}]', 1, "NaN or infinite"),
    "Infinity": (b'[{"a": 1}, {"a": 2}, {"a": Infinity}]', 2, "NaN or infinite"),
    "-Infinity": (b'[{"a": -Infinity}, {"a": 2}]', 0, "NaN or infinite"),
    "two commas": (b'[{"a": 1},, {"a": 2}, {"a": 3}]', 1, "not valid JSON"),
    "no comma": (b'[{"a": 1} {"a": 2}, {"a": 3}]', 1, "not valid JSON"),
    "single quotes": (b"[{'a': 1}, {'a': 2}]", 0, "not valid JSON"),
    "a literal cut": (b'[{"a": 1}, {"a": tru}, {"a": 3}]', 1, "not valid JSON"),
    "two lists": (b'[{"a": 1}][{"a": 2}, {"a": 3}]', 1, "not valid JSON"),
    "text after the list": (b'[{"a": 1}] and more', 1, "not valid JSON"),
    "a raw newline in a string": (b'[{"a": 1}, {"a": "x\ny"}, {"a": 3}]', 1, "not valid JSON"),
    "not UTF-8": (b'[{"a": 1}, {"a": "\xff"}, {"a": 3}]', 1, "not valid JSON"),
    "half a surrogate pair": (b'[{"a": 1}, {"a": "\\ud800"}, {"a": 3}]', 1, "not valid JSON"),
    "nested too deep": (
        b'[{"a": 1}, {"a": ' + b"[" * 20_000 + b"]" * 20_000 + b'}, {"a": 3}]',
        1,
        "not valid JSON",
    ),
    "a number": (b'[{"a": 1}, 7, {"a": 2}]', 1, "Expected `object`, got `int`"),
    "a list": (b'[{"a": 1}, [{"a": 2}, {"a": 3}]]', 1, "Expected `object`, got `array`"),
}


@pytest.mark.parametrize("block_bytes", [16, 1 << 20])
@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_records_are_named(tmp_path: Path, name: str, block_bytes: int) -> None:
    content, record, problem = MALFORMED[name]
    path = tmp_path / "list.json"
    path.write_bytes(content)
    with pytest.raises(DataError) as refused:
        streamed(path, block_bytes=block_bytes)
    assert refused.value.record == f"record {record}"
    assert problem in refused.value.problem
    assert str(path) in str(refused.value)
    assert refused.value.remedy


def test_a_bad_record_far_into_a_file_is_found_without_reading_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unsound record must not look like one that merely goes on in the next block."""
    monkeypatch.setattr(foreign, "MAX_RECORD_BYTES", 4000)
    parts = [b'{"image_id": %d}' % number for number in range(2000)]
    for bad in (b'{"image_id": "\xff"}', b'{"image_id": "\\ud800"}', b'{"image_id": 0, "x": nul}'):
        parts[700] = bad
        path = tmp_path / "list.json"
        path.write_bytes(b"[" + b", ".join(parts) + b"]")
        with pytest.raises(DataError, match="record 700: not valid JSON"):
            streamed(path, block_bytes=500)


def test_a_wrong_type_is_named_with_its_place_and_image(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    path.write_text(json.dumps([*SMALL, {"image_id": 12, "score": "0.5"}]))
    with pytest.raises(DataError) as refused:
        list(stream_json_list(path, Result, expected="a list", block_bytes=16))
    assert refused.value.record == "record 3 (image_id 12)"
    assert refused.value.problem == "Expected `float | null`, got `str` in score"


def test_one_huge_record_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign, "MAX_RECORD_BYTES", 1 << 20)
    path = tmp_path / "list.json"
    path.write_text(json.dumps([{"id": 0}, {"id": 1, "text": "x" * (3 << 20)}, {"id": 2}]))
    with pytest.raises(DataError, match="record 1: one record is larger than 1 MB"):
        streamed(path, block_bytes=1000)


def test_progress_is_told_bytes_read_and_in_all(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    path.write_text(json.dumps([{"id": number} for number in range(500)]))
    told: list[tuple[int, int]] = []
    streamed(path, block_bytes=200, progress=lambda done, total: told.append((done, total)))
    size = path.stat().st_size
    assert len(told) > 10
    assert {total for _, total in told} == {size}
    done = [done for done, _ in told]
    assert done == sorted(done)
    assert 0 < done[0] < done[-1] <= size


WRONG_KIND = {
    "object": (b'{"a": 1}', "a JSON object, not a list"),
    "gzip": (b"\x1f\x8b\x08\x00rest", "gzip data: unpack it first"),
    "zip": (b"PK\x03\x04rest", "a zip archive: unpack it first"),
    "utf-16": ("[{}]".encode("utf-16"), "no JSON list"),
    "garbage": (bytes(range(256)), "no JSON list"),
    "only white space": (b" \n\t", "no JSON list"),
    "only a BOM": (BOM, "no JSON list"),
    "empty": (b"", "the file is empty"),
}


@pytest.mark.parametrize("name", WRONG_KIND)
def test_other_kinds_of_files_are_named(tmp_path: Path, name: str) -> None:
    content, problem = WRONG_KIND[name]
    path = tmp_path / "list.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match="give a list of dicts") as refused:
        list(stream_json_list(path, dict, expected="a list of dicts"))
    assert problem in refused.value.problem


OBJECTS = {
    "list": (b'[{"a": 1}]', "a JSON list, not an object"),
    "cut": (b'{"a": [1, 2', "ends in the middle"),
    "NaN": (b'{"a": NaN}', "NaN or infinite"),
    "not UTF-8": (b'{"a": "\xff"}', "not valid JSON"),
    "half a surrogate pair": (b'{"a": "\\udc00"}', "not valid JSON"),
    "nested too deep": (b'{"a":' + b"[" * 20_000 + b"]" * 20_000 + b"}", "not valid JSON"),
    "two objects": (b'{"a": 1}{"a": 2}', "not valid JSON"),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_unsound_objects_are_refused(tmp_path: Path, name: str) -> None:
    content, problem = OBJECTS[name]
    path = tmp_path / "object.json"
    path.write_bytes(content)
    with pytest.raises(DataError) as refused:
        read_json_object(path, dict, expected="an object")
    assert problem in refused.value.problem


def test_an_object_with_a_bom_is_read(tmp_path: Path) -> None:
    path = tmp_path / "object.json"
    path.write_bytes(BOM + b'\n {"a": [1, "\xc3\xa9"]}\n')
    assert read_json_object(path, dict, expected="an object") == {"a": [1, "é"]}


def test_opening_says_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        open_file(tmp_path / "none.json")
    with pytest.raises(UsageError, match="is a folder"):
        open_file(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot be read"):
        open_file(tmp_path / "file" / "below")


def test_sha256_is_of_the_bytes(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"content")
    assert sha256(path) == hashlib.sha256(b"content").hexdigest()


def test_within_gives_paths_inside_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    (folder / "masks").mkdir(parents=True)
    (folder / "link").symlink_to(folder / "masks")
    for relative in ("masks/a.png", "./masks//a.png", "masks/../masks/a.png", "link/a.png"):
        found = within(folder, relative, file="cases.json", record="record 0")
        assert found == (folder / "masks" / "a.png").resolve()


@pytest.mark.parametrize(
    "relative",
    [
        "../outside.png",
        "masks/../../outside.png",
        "masks/../../data-private/a.png",
        "/etc/hostname",
        "//etc/hostname",
        "out/a.png",
        "masks/out/a.png",
        "file-out",
        "a\0.png",
        "..\0",
        "\ud800.png",
    ],
)
def test_within_refuses_every_way_out(tmp_path: Path, relative: str) -> None:
    folder = tmp_path / "data"
    (folder / "masks").mkdir(parents=True)
    (tmp_path / "data-private").mkdir()
    (tmp_path / "outside.png").touch()
    (folder / "out").symlink_to(tmp_path)
    (folder / "masks" / "out").symlink_to("../..")
    (folder / "file-out").symlink_to(tmp_path / "outside.png")
    with pytest.raises(DataError) as refused:
        within(folder, relative, file="cases.json", record="record 7")
    assert refused.value.record == "record 7"
    assert refused.value.file == "cases.json"


def test_within_survives_a_link_to_itself(tmp_path: Path) -> None:
    """Python before 3.13 refuses to resolve it; later ones leave it where it is."""
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with contextlib.suppress(DataError):
        found = within(tmp_path, "loop/a.png", file="cases.json", record="record 7")
        assert found.is_relative_to(tmp_path.resolve())


def test_a_run_of_a_benchmark_with_an_impossible_name_is_told_in_words() -> None:
    """The name is longer than any system takes."""
    run = Run(benchmark="b", model="m", benchmark_folder="x" * 5000)
    with pytest.raises(UsageError, match="is no longer there"):
        read_again(run)
