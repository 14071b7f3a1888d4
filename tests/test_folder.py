"""Our benchmark folder: lossless, atomic, checked."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundfault.benchmarks import folder, pope, reactbench
from groundfault.errors import DataError, UsageError
from groundfault.io.masks import encode
from groundfault.records import Answer, Benchmark, Card, Case, Item, Region, Role

CARD = Card(
    name="cafe",
    title="title",
    source="source",
    licence="licence",
    citation="citation",
    main_metric="cgF1",
)
MASK = encode(np.eye(4, dtype=bool))


def item(item_id: str, case_id: str, **fields: Any) -> Item:
    base = {
        "role": Role.POSITIVE,
        "images": ("a/b.jpg",),
        "height_px": 4,
        "width_px": 4,
        "query": "x",
    }
    return Item(id=item_id, case_id=case_id, **(base | fields))


def benchmark() -> Benchmark:
    """Something of everything."""
    region = Region(MASK, (0.1, 0.2, 3.0, 4.0))
    crowd = Region(None, (0.0, 0.0, 1.0, 1.0), crowd=True)
    return Benchmark(
        card=CARD,
        cases=(
            Case(id="1", intervention="SM", tags={"task": "referring", "a": "ü"}),
            Case(id="2"),
            Case(id="3", intervention="no items"),
        ),
        items=(
            item("1", "1", regions=(region,), target=region),
            item("1000000001", "1", role=Role.NEGATIVE, target=region, exhaustive=False),
            item("2", "2", regions=(crowd, Region(MASK)), alternatives=((), None, (region, crowd))),
        ),
        categories=(1, 7),
        notes=("a note",),
    )


def in_words() -> Benchmark:
    """Something of everything that is asked in words, and a phrase beside it."""
    yes_no = Answer(type="YN", reference="no", dimension="direct", number=1, polarity="negated")
    choice = Answer(type="MC", reference="B", options=("a lamp", "nothing — ü"), number=2)
    short = Answer(type="SA", reference="The dog was removed.", rubric="Right: so. Wrong: else.")
    two = ("a/before.png", "a/after.png")
    question = {"role": Role.QUESTION, "images": two}
    return Benchmark(
        card=msgspec.structs.replace(CARD, name="mine", protocol="exam"),
        cases=(
            Case(id="1", intervention="tracing", facts={"object": "dog", "location": "ü"}),
            Case(id="2", tags={"split": "seen"}),
        ),
        items=(
            item("1:Q1", "1", answer=yes_no, **question),
            item("1:Q2", "1", answer=choice, **question),
            item("1:Q3", "1", answer=short, **question),
            item("2", "2", regions=(Region(MASK),)),
        ),
    )


def without_hash(found: Benchmark) -> Benchmark:
    return msgspec.structs.replace(found, card=msgspec.structs.replace(found.card, content_hash=""))


def test_round_trip(tmp_path: Path) -> None:
    card = folder.write(benchmark(), tmp_path / "out")
    again = folder.read(tmp_path / "out")
    assert without_hash(again) == benchmark()
    assert again.card == card
    assert len(card.content_hash) == 64
    header = json.loads((tmp_path / "out" / "benchmark.json").read_bytes())
    assert header["version"] == 1
    assert header["counts"] == {"cases": 3, "items": 3, "regions": 3, "images": 1}
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "benchmark.json",
        "cases.parquet",
        "items.parquet",
    ]


def test_questions_in_words_round_trip(tmp_path: Path) -> None:
    card = folder.write(in_words(), tmp_path / "out")
    again = folder.read(tmp_path / "out")
    assert without_hash(again) == in_words()
    assert again.card == card and card.content_hash == folder.content_hash(in_words())
    header = json.loads((tmp_path / "out" / "benchmark.json").read_bytes())
    assert header["version"] == 2
    assert header["counts"] == {"cases": 2, "items": 4, "regions": 1, "images": 3}


def test_what_version_1_holds_is_written_as_version_1(tmp_path: Path) -> None:
    """With the hash that 0.1.0 gave it, so that its runs stay comparable."""
    was = "5e1b422bd15ae196f8fc6637034c81cd04966573c2ecbcfb348d30045fc1cbdb"
    assert folder.write(benchmark(), tmp_path / "out").content_hash == was
    assert pq.read_schema(tmp_path / "out" / "cases.parquet").names == [
        "id", "intervention", "tags",
    ]  # fmt: skip
    assert pq.read_schema(tmp_path / "out" / "items.parquet").names == [
        "id", "case_id", "role", "image", "height_px", "width_px", "query", "exhaustive",
        "regions", "target", "alternatives",
    ]  # fmt: skip


def plain(found: Benchmark) -> Benchmark:
    """Without what only version 2 holds."""
    return msgspec.structs.replace(
        found,
        cases=tuple(msgspec.structs.replace(case, facts={}) for case in found.cases),
        items=tuple(
            msgspec.structs.replace(each, images=each.images[:1], answer=None)
            for each in found.items
        ),
    )


@pytest.mark.parametrize(
    "more",
    [
        {"cases": (Case(id="1", facts={"erased": "lamp"}), *plain(in_words()).cases[1:])},
        {"items": (item("1", "1", images=("a.png", "b.png")),)},
        {"items": (item("1", "1", answer=Answer(type="YN", reference="yes")),)},
    ],
    ids=["facts", "two images", "an answer"],
)
def test_each_of_them_makes_it_version_2(tmp_path: Path, more: dict[str, Any]) -> None:
    base = plain(in_words())
    folder.write(base, tmp_path / "base")
    changed = msgspec.structs.replace(base, **more)
    folder.write(changed, tmp_path / "changed")
    versions = [
        json.loads((tmp_path / name / "benchmark.json").read_bytes())["version"]
        for name in ("base", "changed")
    ]
    assert versions == [1, 2]
    assert without_hash(folder.read(tmp_path / "changed")) == changed


def test_every_word_counts_in_the_hash() -> None:
    whole = in_words()
    first = whole.items[0]
    assert first.answer is not None
    changes: list[dict[str, Any]] = [
        {"reference": "yes"},
        {"rubric": "x"},
        {"dimension": "premise-based"},
        {"number": 2},
        {"polarity": ""},
    ]
    others = [
        msgspec.structs.replace(first, answer=msgspec.structs.replace(first.answer, **change))
        for change in changes
    ]
    others += [
        msgspec.structs.replace(first, images=first.images[::-1]),
        msgspec.structs.replace(first, images=first.images[:1]),
        msgspec.structs.replace(first, answer=None),
    ]
    found = [msgspec.structs.replace(whole, items=(other, *whole.items[1:])) for other in others]
    facts = [{"object": "cat", "location": "ü"}, {}]
    cases = [msgspec.structs.replace(whole.cases[0], facts=each) for each in facts]
    found += [msgspec.structs.replace(whole, cases=(case, whole.cases[1])) for case in cases]
    hashes = {folder.content_hash(each) for each in (whole, *found)}
    assert len(hashes) == 1 + len(found)
    turned = msgspec.structs.replace(
        whole.cases[0], facts=dict(reversed(whole.cases[0].facts.items()))
    )
    same = msgspec.structs.replace(whole, cases=(turned, whole.cases[1]))
    assert folder.content_hash(same) == folder.content_hash(whole)


def test_exams_and_pope_are_held_without_loss(tmp_path: Path) -> None:
    samples = [
        reactbench.Sample(
            id="t", task="tracing", images=("1.png", "2.png"), height_px=8, width_px=6,
            facts={"operation": "move", "object": "cat", "location": "the left"},
        )
    ]  # fmt: skip
    questions = [
        reactbench.Question(
            id=f"t:Q{number}", sample_id="t", number=number, type=kind, dimension=dimension,
            text="?", options=("a", "b") if kind == "MC" else (),
            answer={"YN": "yes", "MC": "A", "SA": "It moved."}[kind],
        )
        for number, (kind, dimension) in enumerate(reactbench.LAYOUT["tracing"], start=1)
    ]  # fmt: skip
    lines = '{"question_id": 1, "image": "a.jpg", "text": "Is there a kite?", "label": "no"}'
    (tmp_path / "coco_pope_random.json").write_text(lines)
    for found in (
        reactbench.benchmark_of(samples, questions),
        pope.read(tmp_path / "coco_pope_random.json", tmp_path),
    ):
        folder.write(found, tmp_path / found.card.name)
        again = folder.read(tmp_path / found.card.name)
        assert (again.cases, again.items) == (found.cases, found.items)
        assert again.card.protocol == found.card.protocol
    read = folder.read(tmp_path / "reactbench")
    assert reactbench.rows_of(read) == (samples, questions)


def test_equal_regions_are_one_object(tmp_path: Path) -> None:
    """As readers give them: scoring then compares both prompts of a pair in one call."""
    folder.write(benchmark(), tmp_path / "out")
    positive, negative, _ = folder.read(tmp_path / "out").items
    assert positive.regions[0] is positive.target
    assert positive.target is negative.target


def test_every_field_of_the_records_is_known() -> None:
    """A field added to the records must be added to the folder too."""
    assert Benchmark.__struct_fields__ == (
        "card", "cases", "items", "categories", "notes",
        "images", "folder", "origin", "hashes", "source",  # said by the reader, not stored
        "extras",  # in a file of its own
    )  # fmt: skip
    assert Case.__struct_fields__ == ("id", "intervention", "tags", "facts")
    assert Region.__struct_fields__ == ("mask", "box_xywh", "crowd")
    assert Item.__struct_fields__ == (
        "id", "case_id", "role", "images", "height_px", "width_px", "query", "regions", "target",
        "alternatives", "exhaustive", "answer",
    )  # fmt: skip
    assert Answer.__struct_fields__ == (
        "type", "reference", "options", "rubric", "dimension", "number", "polarity",
    )  # fmt: skip


NAMES = st.text(st.characters(exclude_categories=["C", "Z"], include_characters=" "), max_size=8)
REGIONS = st.builds(
    Region,
    st.one_of(
        st.none(),
        st.integers(0, 255).map(lambda k: encode(np.array([[k >> b & 1 for b in range(8)]], bool))),
    ),
    st.one_of(
        st.none(), st.tuples(*[st.floats(-1e6, 1e6, allow_nan=False, width=64) for _ in range(4)])
    ),
    st.booleans(),
)


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    kind = draw(st.sampled_from(["YN", "SA", "MC"]))
    options = draw(st.lists(NAMES, min_size=2, max_size=26)) if kind == "MC" else []
    reference = {
        "YN": st.sampled_from(["yes", "no"]),
        "SA": NAMES,
        "MC": st.integers(0, len(options) - 1).map(lambda k: chr(ord("A") + k)),
    }[kind]
    return Answer(
        type=kind,
        reference=draw(reference),
        options=tuple(options),
        rubric=draw(NAMES),
        dimension=draw(NAMES),
        number=draw(st.integers(-5, 2**40)),
        polarity=draw(st.sampled_from(["", "affirmed", "negated"])),
    )


@st.composite
def benchmarks(draw: st.DrawFn) -> Benchmark:
    cases, items = [], []
    words = draw(st.booleans())
    facts = st.dictionaries(NAMES, NAMES, max_size=2) if words else st.just({})
    images = st.lists(st.sampled_from(["a/b.jpg", "ü.png", "c"]), min_size=1, max_size=3)
    more = {"images": images.map(tuple), "answer": st.none() | answers()} if words else {}
    for k in range(draw(st.integers(0, 4))):
        tags = draw(st.dictionaries(NAMES, NAMES, max_size=2))
        case = Case(id=f"c{k}", intervention=draw(NAMES), tags=tags, facts=draw(facts))
        cases.append(case)
        for j in range(draw(st.integers(0, 3))):
            regions = draw(st.lists(REGIONS, max_size=2).map(tuple))
            some = st.one_of(st.none(), st.sampled_from([*regions, Region(MASK)]), REGIONS)
            others = st.one_of(st.none(), st.lists(REGIONS, max_size=2).map(tuple))
            items.append(
                item(
                    f"{k}:{j}",
                    f"c{k}",
                    role=draw(st.sampled_from(Role)),
                    query=draw(NAMES),
                    regions=regions,
                    target=draw(some),
                    alternatives=draw(st.lists(others, max_size=3).map(tuple)),
                    exhaustive=draw(st.booleans()),
                    height_px=draw(st.integers(0, 2**40)),
                    **{name: draw(values) for name, values in more.items()},
                )
            )
    return Benchmark(
        card=msgspec.structs.replace(CARD, title=draw(NAMES)),
        cases=tuple(cases),
        items=tuple(items),
        categories=tuple(draw(st.lists(st.integers(-5, 2**60), max_size=3))),
        notes=tuple(draw(st.lists(NAMES, max_size=2))),
    )


@settings(max_examples=60, deadline=None)
@given(benchmarks())
def test_nothing_is_lost(drawn: Benchmark) -> None:
    with tempfile.TemporaryDirectory() as name:
        card = folder.write(drawn, Path(name) / "out")
        again = folder.read(Path(name) / "out")
    assert without_hash(again) == drawn
    assert folder.content_hash(again) == folder.content_hash(drawn) == card.content_hash


@pytest.mark.parametrize("make", [benchmark, in_words])
def test_batches_do_not_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[], Benchmark]
) -> None:
    folder.write(make(), tmp_path / "whole")
    monkeypatch.setattr(folder, "_BATCH_ROWS", 1)
    folder.write(make(), tmp_path / "pieces")
    assert folder.read(tmp_path / "pieces") == folder.read(tmp_path / "whole")


@pytest.mark.parametrize("make", [benchmark, in_words])
def test_the_hash_is_not_of_the_encoding(tmp_path: Path, make: Callable[[], Benchmark]) -> None:
    card = folder.write(make(), tmp_path / "out")
    for name in ("cases.parquet", "items.parquet"):
        table = pq.read_table(tmp_path / "out" / name)
        pq.write_table(table, tmp_path / "out" / name, compression="gzip", use_dictionary=False)
    assert folder.read(tmp_path / "out").card == card


def test_the_hash_is_of_the_content_alone(tmp_path: Path) -> None:
    """Not of notes, or of what sort of number a box was given in."""
    card = folder.write(benchmark(), tmp_path / "out")
    assert folder.content_hash(msgspec.structs.replace(benchmark(), notes=())) == card.content_hash
    first = benchmark().items[0]
    whole = msgspec.structs.replace(first, regions=(Region(MASK, (0, 1, 2, 3)),))
    real = msgspec.structs.replace(first, regions=(Region(MASK, (-0.0, 1.0, 2.0, 3.0)),))
    one, other = (msgspec.structs.replace(benchmark(), items=(i,)) for i in (whole, real))
    assert folder.content_hash(one) == folder.content_hash(other)
    assert folder.content_hash(one) != card.content_hash


def test_images_are_copied(tmp_path: Path) -> None:
    images = tmp_path / "images"
    (images / "a").mkdir(parents=True)
    (images / "a" / "b.jpg").write_bytes(b"picture")
    folder.write(benchmark(), tmp_path / "out", images_from=images)
    assert (tmp_path / "out" / "images" / "a" / "b.jpg").read_bytes() == b"picture"
    assert json.loads((tmp_path / "out" / "benchmark.json").read_bytes())["images_included"]
    assert without_hash(folder.read(tmp_path / "out")) == benchmark()


def test_every_image_of_an_item_is_copied(tmp_path: Path) -> None:
    (tmp_path / "images" / "a").mkdir(parents=True)
    for name in ("b.jpg", "before.png", "after.png"):
        (tmp_path / "images" / "a" / name).write_text(name)
    folder.write(in_words(), tmp_path / "out", images_from=tmp_path / "images")
    for name in ("b.jpg", "before.png", "after.png"):
        assert (tmp_path / "out" / "images" / "a" / name).read_text() == name
    (tmp_path / "images" / "a" / "after.png").unlink()
    with pytest.raises(DataError, match="item 1:Q1: no such image"):
        folder.write(in_words(), tmp_path / "again", images_from=tmp_path / "images")


def test_a_missing_image_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="item 1: no such image"):
        folder.write(benchmark(), tmp_path / "out", images_from=tmp_path)
    with pytest.raises(UsageError, match="no such folder"):
        folder.write(benchmark(), tmp_path / "out", images_from=tmp_path / "nowhere")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["../x.jpg", "a/../../x", "/etc/passwd", "C:\\x", "\\\\host\\x", "a\0"]
)
def test_path_tricks_are_refused(tmp_path: Path, name: str) -> None:
    tricked = msgspec.structs.replace(benchmark(), items=(item("1", "1", images=(name,)),))
    with pytest.raises(DataError, match=r"item 1: the image name .* leads outside"):
        folder.write(tricked, tmp_path / "out")
    second = msgspec.structs.replace(benchmark(), items=(item("1", "1", images=("x", name)),))
    with pytest.raises(DataError, match=r"item 1: the image name .* leads outside"):
        folder.write(second, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


UNSOUND = {
    "it has no image": {"images": ()},
    "neither yes nor no": {"answer": Answer(type="YN", reference="Yes")},
    "only multiple-choice": {"answer": Answer(type="SA", reference="x", options=("a", "b"))},
    "1 options; 2 to 26": {"answer": Answer(type="MC", reference="A", options=("a",))},
    "27 options": {"answer": Answer(type="MC", reference="A", options=("a",) * 27)},
    "'C' is the letter of no option": {
        "answer": Answer(type="MC", reference="C", options=("a", "b"))
    },
    "'' is the letter of no option": {
        "answer": Answer(type="MC", reference="", options=("a", "b"))
    },
}


@pytest.mark.parametrize("problem", UNSOUND)
def test_unsound_questions_are_not_written(tmp_path: Path, problem: str) -> None:
    changed = msgspec.structs.replace(in_words(), items=(item("1", "1", **UNSOUND[problem]),))
    with pytest.raises(DataError, match=f"item 1: .*{problem}") as caught:
        folder.write(changed, tmp_path / "out")
    assert caught.value.remedy and list(tmp_path.iterdir()) == []


def test_a_symlink_out_of_the_image_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "images" / "a").mkdir(parents=True)
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "images" / "a" / "b.jpg").symlink_to(tmp_path / "secret")
    with pytest.raises(DataError, match="leads outside the folder"):
        folder.write(benchmark(), tmp_path / "out", images_from=tmp_path / "images")


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ((item("1", "1"), item("1", "2")), "item id '1' occurs twice"),
        ((item("1", "9"),), "item '1' is of case '9', which does not exist"),
        ((item("1", "1"), item("2", "2"), item("3", "1")), "item '3' stands apart"),
        ((item("1", "1", height_px=2**80),), "cannot be stored"),
    ],
)
def test_unsound_benchmarks_are_not_written(
    tmp_path: Path, items: tuple[Item, ...], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        folder.write(msgspec.structs.replace(benchmark(), items=items), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_an_existing_folder_is_not_overwritten(tmp_path: Path) -> None:
    folder.write(benchmark(), tmp_path / "out")
    with pytest.raises(UsageError, match="exists and is not an empty folder"):
        folder.write(benchmark(), tmp_path / "out")


@pytest.fixture
def written(tmp_path: Path) -> Path:
    folder.write(benchmark(), tmp_path / "out")
    return tmp_path / "out"


def rewrite_items(path: Path, **columns: list[Any]) -> None:
    table = pq.read_table(path / "items.parquet")
    for name, values in columns.items():
        place = table.column_names.index(name)
        field = table.schema.field(name)
        table = table.set_column(place, field, pa.array(values, field.type))
    pq.write_table(table, path / "items.parquet")


def rewrite_header(path: Path, **fields: Any) -> None:
    file = path / "benchmark.json"
    file.write_text(json.dumps(json.loads(file.read_bytes()) | fields))


CHANGED = "was changed by hand or is damaged"
TAMPERED = {
    "a word": (lambda p: rewrite_items(p, query=["x", "x", "y"]), f"{CHANGED}: its rows have"),
    "an id twice": (lambda p: rewrite_items(p, id=["1", "1", "2"]), "item id '1' occurs twice"),
    "a lost case": (
        lambda p: rewrite_items(p, case_id=["1", "1", "9"]),
        "case '9', which does not",
    ),
    "an unknown role": (lambda p: rewrite_items(p, role=["king"] * 3), f"{CHANGED}.*king"),
    "an empty id": (lambda p: rewrite_items(p, id=[None, "b", "c"]), f"{CHANGED}.*an empty id"),
    "a path": (lambda p: rewrite_items(p, image=["../x"] * 3), "leads outside of an image folder"),
    "a missing table": (lambda p: (p / "items.parquet").unlink(), "items.parquet is missing"),
    "a corrupt table": (
        lambda p: (p / "items.parquet").write_bytes(b"PAR1 nonsense"),
        "items.parquet is not a readable table",
    ),
    "a cut table": (
        lambda p: (p / "cases.parquet").write_bytes((p / "cases.parquet").read_bytes()[:-20]),
        "cases.parquet is not a readable table",
    ),
    "another table": (
        lambda p: pq.write_table(pa.table({"a": [1]}), p / "cases.parquet"),
        "columns of cases.parquet are not those of the format",
    ),
    "a newer version": (
        lambda p: rewrite_header(p, version=3),
        "format version 3; this .* reads 1 to 2",
    ),
    "no version": (lambda p: rewrite_header(p, version=0), "format version 0; this .* reads 1"),
    "the other version": (
        lambda p: rewrite_header(p, version=2),
        "columns of cases.parquet are not those of the format",
    ),
    "another format": (lambda p: rewrite_header(p, format="x"), "its format is 'x'"),
    "other categories": (lambda p: rewrite_header(p, categories=[1]), f"{CHANGED}: its rows have"),
    "no card": (lambda p: rewrite_header(p, card=None), "Expected `object`, got `null`"),
    "a cut header": (
        lambda p: (p / "benchmark.json").write_text('{"format": '),
        "ends in the middle of its JSON",
    ),
    "an empty header": (lambda p: (p / "benchmark.json").write_text(""), "the file is empty"),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_tampering_is_noticed(written: Path, name: str) -> None:
    tamper, message = TAMPERED[name]
    tamper(written)
    with pytest.raises(DataError, match=message) as caught:
        folder.read(written)
    assert str(written) in caught.value.file
    assert caught.value.remedy


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    folder.write(in_words(), tmp_path / "words")
    return tmp_path / "words"


def rewrite_answer(path: Path, **fields: Any) -> None:
    found = pq.read_table(path / "items.parquet").column("answer").to_pylist()
    rewrite_items(path, answer=[found[0] | fields, *found[1:]])


def rewrite_facts(path: Path, facts: list[tuple[str, str | None]]) -> None:
    table = pq.read_table(path / "cases.parquet")
    place, field = table.column_names.index("facts"), table.schema.field("facts")
    table = table.set_column(place, field, pa.array([facts, []], field.type))
    pq.write_table(table, path / "cases.parquet")


TAMPERED_WORDS = {
    "another reference": (lambda p: rewrite_answer(p, reference="yes"), f"{CHANGED}: its rows"),
    "an impossible reference": (lambda p: rewrite_answer(p, reference="x"), "neither yes nor no"),
    "another type": (lambda p: rewrite_answer(p, type="MC"), "0 options"),
    "an unknown type": (lambda p: rewrite_answer(p, type="XY"), f"{CHANGED}.*XY"),
    "an unknown polarity": (lambda p: rewrite_answer(p, polarity="up"), f"{CHANGED}.*up"),
    "no reference": (lambda p: rewrite_answer(p, reference=None), f"{CHANGED}.*null"),
    "an empty option": (lambda p: rewrite_answer(p, options=[None]), f"{CHANGED}.*null"),
    "no answer": (lambda p: rewrite_items(p, answer=[None] * 4), f"{CHANGED}: its rows have"),
    "no images": (lambda p: rewrite_items(p, images=[[]] * 4), "it has no image"),
    "a null image": (lambda p: rewrite_items(p, images=[[None]] * 4), f"{CHANGED}.*null"),
    "null images": (lambda p: rewrite_items(p, images=[None] * 4), f"{CHANGED}.*an empty images"),
    "a path": (lambda p: rewrite_items(p, images=[["x", "../y"]] * 4), "leads outside"),
    "another fact": (lambda p: rewrite_facts(p, [("object", "cat")]), f"{CHANGED}: its rows have"),
    "a null fact": (lambda p: rewrite_facts(p, [("object", None)]), f"{CHANGED}.*null"),
    "the other version": (
        lambda p: rewrite_header(p, version=1),
        "columns of cases.parquet are not those of the format",
    ),
}


@pytest.mark.parametrize("name", TAMPERED_WORDS)
def test_tampering_with_words_is_noticed(questions: Path, name: str) -> None:
    tamper, message = TAMPERED_WORDS[name]
    tamper(questions)
    with pytest.raises(DataError, match=message) as caught:
        folder.read(questions)
    assert str(questions) in caught.value.file
    assert caught.value.remedy


@pytest.mark.parametrize("name", ["cases.parquet", "items.parquet"])
@pytest.mark.parametrize("make", [benchmark, in_words])
def test_damaged_bytes_inside_a_table_are_noticed(
    tmp_path: Path, name: str, make: Callable[[], Benchmark]
) -> None:
    written = tmp_path / "out"
    folder.write(make(), written)
    file = written / name
    content = bytearray(file.read_bytes())
    for position in range(4, len(content) - 8, 13):
        damaged = content.copy()
        damaged[position] ^= 0xFF
        file.write_bytes(damaged)
        with contextlib.suppress(DataError):  # a few bytes say nothing: then all is as it was
            assert without_hash(folder.read(written)) == make()


def test_other_folders_are_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"is not a groundfault benchmark folder: it has no"):
        folder.read(tmp_path)
