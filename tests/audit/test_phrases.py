"""Phrases files: what they say, and what is refused."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundfault.errors import DataError, UsageError
from groundfault.io.phrases import Phrases, phrases_toml, read_phrases, sound_phrases


def read(tmp_path: Path, text: str) -> Phrases:
    path = tmp_path / "phrases.toml"
    path.write_text(text)
    return read_phrases(path)


def test_relations_of_groups(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        'phrases = ["tree"]\nexclusive = [["dog", "cat", "fox"]]\nabsent = ["zebra"]\n'
        'same = [["sofa",  "couch  two"]]\npart_of = [["wheel", "car"]]\n'
        'kind_of = [["taxi", "car"]]\n',
    )
    assert [relation.name for relation in found.relations()] == [
        "cat / dog", "dog / fox", "cat / fox", "couch two ~ sofa", "no zebra", "wheel in car",
        "taxi is car",
    ]  # fmt: skip
    assert found.asked() == (
        "tree", "dog", "cat", "fox", "zebra", "sofa", "couch two", "wheel", "car", "taxi",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('exclsive = [["a", "b"]]', "Did you mean 'exclusive'"),
        ("", "the file is empty"),
        ("exclusive = []", "it has no phrase"),
        ('exclusive = "a"', "exclusive: expected"),
        ('exclusive = [["a"]]', "exclusive, group 1: it has 1"),
        ('part_of = [["a", "b", "c"]]', "give exactly two phrases"),
        ('exclusive = [["a", " a "]]', "'a' is there twice"),
        ('absent = ["  "]', "a phrase is empty"),
        ('absent = ["a\\u0007b"]', "cannot be seen"),
        (f'absent = ["{"x" * 300}"]', "300 characters"),
        ('exclusive = [["a", "b"]]\nsame = [["a", "b"]]', "exclusive and the same"),
        ('exclusive = [["a", "c"]]\nsame = [["a", "b"], ["b", "c"]]', "exclusive and the same"),
        ('exclusive = [["a", "b"]]\nkind_of = [["a", "b"]]', "one is a kind of the other"),
        ('exclusive = [["a", "c"]]\nkind_of = [["a", "b"], ["b", "c"]]', "kind of the other"),
        ('kind_of = [["a", "b"], ["b", "a"]]', "comes back to itself"),
        ('part_of = [["a", "b"], ["b", "c"], ["c", "a"]]', "comes back to itself"),
        ('kind_of = [["a", "b"]]\nsame = [["a", "b"]]', "comes back to itself"),
        ("exclusive = [[", "phrases.toml"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(DataError, match="Remedy") as problem:
        read(tmp_path, text)
    assert said in str(problem.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_phrases(tmp_path / "none.toml")


words = st.text(
    st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1, max_size=8
)


@given(st.lists(words, min_size=2, max_size=5, unique=True), st.lists(words, max_size=3))
def test_a_written_file_is_read_as_it_was(group: list[str], absent: list[str]) -> None:
    from tempfile import TemporaryDirectory

    given_ = sound_phrases(Phrases(exclusive=(tuple(group),), absent=tuple(absent)))
    with TemporaryDirectory() as folder:
        path = Path(folder, "phrases.toml")
        path.write_text(phrases_toml(given_, heading="Made up"), encoding="utf-8")
        assert read_phrases(path) == given_


@given(st.lists(words, min_size=2, max_size=5, unique=True))
def test_exclusive_is_symmetric(group: list[str]) -> None:
    one = Phrases(exclusive=(tuple(group),))
    other = Phrases(exclusive=tuple((b, a) for a, b in combinations(group, 2)))
    assert set(one.relations()) == set(other.relations())
