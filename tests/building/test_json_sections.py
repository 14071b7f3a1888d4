"""The lists of large JSON objects, block by block."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from groundfault.errors import DataError
from groundfault.io.json_sections import record_places, stream_sections

texts = st.text(max_size=8) | st.sampled_from(
    ["},{", "}, {", '"}],"annotations":[{"id"', "\\", '\\"', "é}", "]}", "true"]
)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False, width=16)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
objects = st.lists(st.dictionaries(texts, values, max_size=3), min_size=1, max_size=8)
files = st.dictionaries(st.sampled_from(["images", "annotations", "é", "a\\b"]), objects | values)
in_one_folder = settings(
    max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def streamed(path: Path, block_bytes: int) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    content = path.read_bytes()
    for batch in stream_sections(path, expected="an object", block_bytes=block_bytes):
        records = json.loads(batch.content)
        assert batch.first == len(found.setdefault(batch.section, []))
        found[batch.section] += records
        places = list(record_places(batch))
        assert [json.loads(content[at : at + length]) for at, length in places] == records
    return found


@in_one_folder
@example(value={"annotations": [0.0, ""], "images": 0.0}, indent=None, ascii=False, size=8)
@example(value={"images": [{}, -10000000]}, indent=None, ascii=False, size=8)
@given(
    value=files, indent=st.sampled_from([None, 1]), ascii=st.booleans(), size=st.integers(8, 300)
)
def test_every_list_of_objects_comes_out_whole(
    tmp_path: Path, value: Any, indent: Any, ascii: bool, size: int
) -> None:
    path = tmp_path / "file.json"
    path.write_text(json.dumps(value, indent=indent, ensure_ascii=ascii), encoding="utf-8")
    found = {name.replace("\\\\", "\\"): there for name, there in streamed(path, size).items()}
    for name, there in value.items():
        if isinstance(there, list) and there and all(isinstance(each, dict) for each in there):
            key = name if not ascii else json.dumps(name)[1:-1].replace("\\\\", "\\")
            assert found[key] == there


@in_one_folder
@given(value=files, share=st.floats(0, 1, exclude_max=True), size=st.integers(8, 300))
def test_a_file_that_is_cut_is_refused_in_words(
    tmp_path: Path, value: Any, share: float, size: int
) -> None:
    path = tmp_path / "file.json"
    content = json.dumps(value).encode()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(DataError):
        streamed(path, size)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("[]", "a JSON list, not an object"),
        ('{"images": [{"id": 1}', "ends in the middle of its JSON"),
        ('{"images": [{"id": 1},, {"id": 2}]}', r"images\[1\]: not valid JSON"),
        ('{"images": [{"id": 1} {"id": 2}]}', r"images\[1\]: not valid JSON"),
        ('{"images": [{"id": nonsense, "a": "long enough to be sure"}]}', r"images\[0\]"),
        ('{images: [{"id": 1}]}', "not valid JSON"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "file.json"
    path.write_text(content)
    with pytest.raises(DataError, match=message):
        streamed(path, 1 << 16)
