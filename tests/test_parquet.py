"""Small Parquet files written without Arrow: Arrow reads what was written, as if it had itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundfault.errors import DataError
from groundfault.io.parquet import MOST_ROWS, encode_table
from groundfault.io.store import read_table, write_table
from groundfault.protocols.scored import Ragged

N = 11
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
INTEGERS = st.integers(-(2**63), 2**63 - 1)


def of(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(values, min_size=N, max_size=N)


COLUMNS = st.dictionaries(
    TEXT,
    st.one_of(
        st.tuples(st.just(pa.int64()), of(INTEGERS)),
        st.tuples(st.just(pa.float64()), of(st.floats(allow_nan=False))),
        st.tuples(st.just(pa.string()), of(TEXT)),
        st.tuples(st.just(pa.string()), of(st.none() | TEXT)),
        st.tuples(st.just(pa.list_(pa.string())), of(st.lists(TEXT, max_size=4))),
        st.tuples(st.just(pa.list_(pa.float64())), of(st.lists(st.floats(0, 1), max_size=4))),
    ),
    min_size=1,
    max_size=20,
)


def given_as(kind: pa.DataType, values: list[Any]) -> Any:
    """A column in the form in which the code has it."""
    if kind in (pa.int64(), pa.float64()):
        return np.array(values, kind.to_pandas_dtype())
    if kind == pa.list_(pa.float64()):
        last = np.cumsum([len(entries) for entries in values])
        first = np.concatenate(([0], last[:-1]))
        return Ragged(np.concatenate([*map(np.array, values), np.empty(0)]), first, last)
    return values


def read(content: bytes | None) -> pa.Table:
    assert content is not None
    table = pq.read_table(pa.BufferReader(content), page_checksum_verification=True)
    table.validate(full=True)
    return table


@given(COLUMNS)
def test_arrow_reads_what_was_written(columns: dict[str, tuple[pa.DataType, list[Any]]]) -> None:
    lists = [v for kind, v in columns.values() if kind == pa.list_(pa.string())]
    content = encode_table({n: given_as(*c) for n, c in columns.items()}, {"key": "a, b"})
    if any(not any(entries) for entries in lists):
        assert content is None  # whose entries are of no type that one can see
        return
    table = read(content)
    assert table.to_pydict() == {name: values for name, (_, values) in columns.items()}
    assert table.schema.types == [kind for kind, _ in columns.values()]
    assert table.schema.metadata == {b"key": b"a, b"}


def test_the_file_says_about_itself_what_arrows_says(tmp_path: Path) -> None:
    columns = {
        "number": np.arange(3),
        "share": np.array([0.5, np.nan, -np.inf]),
        "text": ["a", None, "é"],
        "rows": [["Overall", "SM"], [], ["Overall"]],
        "scores": Ragged(np.array([0.25, 0.5]), np.array([0, 2, 1]), np.array([2, 2, 2])),
    }
    write_table(tmp_path / "ours", columns, metadata={"k": "v"})
    ours = pq.ParquetFile(tmp_path / "ours")
    pq.write_table(read_table(tmp_path / "ours"), tmp_path / "arrows")
    arrows = pq.ParquetFile(tmp_path / "arrows")
    assert ours.metadata.created_by == "groundfault"
    assert ours.schema.equals(arrows.schema)
    assert ours.schema_arrow.equals(arrows.schema_arrow, check_metadata=True)
    for k in range(ours.metadata.num_columns):
        mine, theirs = (file.metadata.row_group(0).column(k) for file in (ours, arrows))
        assert mine.path_in_schema == theirs.path_in_schema
        assert mine.num_values == theirs.num_values
        assert mine.physical_type == theirs.physical_type


@pytest.mark.parametrize(
    "column",
    [
        [1, None],
        [True, False],
        [0.5, None],
        [{"a": 1}, {}],
        [[], []],
        np.zeros(2, np.int32),
        np.zeros(2, bool),
        np.zeros((2, 2)),
        ["one too many", "", ""],
    ],
)
def test_other_columns_are_arrows_affair(column: Any) -> None:
    assert encode_table({"k": np.arange(2), "column": column}, {}) is None


def test_so_are_tables_without_rows_and_with_many() -> None:
    assert encode_table({}, {}) is None
    assert encode_table({"k": np.arange(0)}, {}) is None
    assert read(encode_table({"k": np.arange(MOST_ROWS)}, {})).num_rows == MOST_ROWS
    assert encode_table({"k": np.arange(MOST_ROWS + 1)}, {}) is None


@pytest.mark.parametrize("n", [40, MOST_ROWS + 1])
def test_a_flipped_bit_in_a_page_is_found(tmp_path: Path, n: int) -> None:
    """In small files of ours and in Arrow's alike: a wrong number is never read."""
    path = tmp_path / "table.parquet"
    columns = {"x": np.arange(n) / 7, "name": [f"case {k % 11}" for k in range(n)]}
    write_table(path, columns)
    clean, whole = path.read_bytes(), read_table(path)
    ends = len(clean) - 8 - int.from_bytes(clean[-8:-4], "little")
    found = 0
    for k in np.linspace(4, ends - 1, 60).astype(int).tolist():
        path.write_bytes(clean[:k] + bytes([clean[k] ^ 0x10]) + clean[k + 1 :])
        try:
            assert read_table(path).equals(whole)  # a bit that says nothing
        except DataError:
            found += 1
    assert found >= 50
