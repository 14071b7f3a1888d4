"""Runs that version 0.1.0 left are read and go on; the files are made here by hand, as it made
them. However often the change to the new form is cut short, no prediction is lost or kept twice."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.llm.exams import counting_exam
from tests.llm.runs import run_exam
from tests.runner.conftest import painted_set
from tests.runner.runs import run_masks

from groundfault.benchmarks.folder import content_hash
from groundfault.errors import DataError, UsageError
from groundfault.io.masks import encode
from groundfault.records import Benchmark, Conversation, Item, Outcome, Prediction, Reply
from groundfault.runner.prompts import prompts_hash
from groundfault.runs.recorder import read_predictions, replace_predictions, settle
from groundfault.runs.run import read_run
from groundfault.runs.shards import shards

Row = dict[str, Any]
STRINGS = (
    "item_id", "mode", "outcome", "text", "reason", "finish", "parsed", "verdict", "judge",
    "judge_text", "cause", "cause_by", "cause_text",
)  # fmt: skip
ANSWERS = pa.schema(
    [
        *((name, pa.string()) for name in STRINGS),
        ("tokens_in", pa.int64()),
        ("tokens_out", pa.int64()),
        ("latency_s", pa.float64()),
        ("cost", pa.float64()),
    ]
)
MASKS = pa.schema(
    [
        ("item_id", pa.string()),
        ("outcome", pa.string()),
        (
            "masks",
            pa.list_(
                pa.struct(
                    [("height_px", pa.int32()), ("width_px", pa.int32()), ("counts", pa.string())]
                )
            ),
        ),
        ("scores", pa.list_(pa.float64())),
        ("text", pa.string()),
        ("reason", pa.string()),
        ("seconds", pa.float64()),
    ]
)


def record(value: object) -> bytes:
    """One record of a journal: length, checksum, content."""
    content = msgspec.msgpack.encode(value)
    return struct.pack("<II", len(content), crc32(content)) + content


def answer(item: Item, mode: str, **changed: Any) -> Row:
    """A row of answers-*.parquet."""
    empty = dict.fromkeys(STRINGS, "")
    return {
        **empty,
        **{"item_id": item.id, "mode": mode, "outcome": "ok", "text": f"{item.id} {mode}: yes."},
        **{"finish": "stop", "parsed": None, "verdict": None, "cause": None},
        **{"tokens_in": 100, "tokens_out": 10, "latency_s": 0.5, "cost": 0.25},
        **changed,
    }


def asked(exam: Benchmark) -> list[tuple[Item, str]]:
    return [(item, mode) for item in exam.items for mode in ("std", "cot")]


def write_words(folder: Path, exam: Benchmark, **changed: Any) -> None:
    """A run of an exam that was killed: two shards, one of them with failures, and a journal whose
    last record was cut short."""
    folder.mkdir(parents=True)
    rows = [answer(item, mode) for item, mode in asked(exam)]
    rows[1] |= {"parsed": "yes", "verdict": "right", "judge": "rule", "cost": None}
    rows[3] |= {"outcome": "failed", "text": "", "reason": "HTTP 500, 6 times", "cost": None}
    rows[5] |= {"outcome": "unparsed", "finish": "length", "reason": "truncated after 10 tokens"}
    for number, part in enumerate((rows[:6], rows[6:8])):
        table = pa.Table.from_pylist(part, ANSWERS)
        pq.write_table(table, folder / f"answers-{number:05d}.parquet")
    journal = b"".join(record(row) for row in rows[8:13])
    (folder / "answers-00002.journal").write_bytes(journal[:-7])
    run = {
        "model": "m",
        "benchmark": "reactbench",
        "benchmark_folder": exam.folder,
        "content_hash": exam.card.content_hash,
        "identity": {
            "model": "m",
            "data": exam.card.content_hash,
            "prompts": prompts_hash(),
            "temperature": "0.2",
            "max_tokens": "1024",
            "revision": "",
            "dtype": "auto",
            "server": "weights@1",
        },
        "settings": {"data": exam.folder, "limit": None, "concurrency": 96, "fresh": False},
        "versions": {"groundfault": "0.1.0"},
        "outcomes": {"ok": 0, "abstained": 0, "unparsed": 0, "failed": 0},
        "failures": {},
        "n_items": 2 * len(exam.items),
        "n_images": 1,
        "state": "running",
        "probe": "",
        "seconds": 3.5,
        "modes": ["std", "cot"],
        "stopped": "",
        "tokens_in": 0,
        "tokens_out": 0,
        "cost": None,
        "spent": 0.0,
        "latency_s": {},
        "last_session": {},
        "judged": {"name": "rule", "prompt_hash": "", "server": "", "canaries": 0,
                   "canaries_missed": 0, "unjudged": 0, "warnings": [], "tokens": 0, "cost": None},
        "attributed": None,
        **changed,
    }  # fmt: skip
    (folder / "run.json").write_text(json.dumps(run))


WORDS_KEPT = 11
"""Of 13 rows, all but the one that failed and the one that was cut short."""


class Chat:
    """A chat model in this process."""

    checkpoints = ("weights@1",)

    def __init__(self) -> None:
        self.n = 0

    def complete(self, conversations: Sequence[Conversation]) -> list[Reply]:
        self.n += len(conversations)
        return [
            Reply(outcome=Outcome.OK, text="No.", finish="stop", tokens_in=1, tokens_out=1)
            for _ in conversations
        ]


@pytest.fixture
def exam(tmp_path: Path) -> Benchmark:
    return counting_exam(tmp_path / "exam", 1)


def go_on(exam: Benchmark, out: Path, model: object, **more: Any) -> Any:
    identity = {"revision": "", "dtype": "auto", **more.pop("identity", {})}
    modes = ("std", "cot")
    return run_exam(exam, lambda: model, out, name="m", modes=modes, identity=identity, **more)


def test_answers_are_read_as_they_are(exam: Benchmark, tmp_path: Path) -> None:
    write_words(tmp_path / "run", exam)
    found = {each.key: each for each in read_predictions(tmp_path / "run")}
    assert len(found) == 12 and list(found) == [(i.id, mode) for i, mode in asked(exam)][:12]
    first, second, _, failed, _, unparsed, *_ = found.values()
    assert first == Prediction(
        item_id=first.item_id,
        mode="std",
        outcome=Outcome.OK,
        text=f"{first.item_id} std: yes.",
        finish="stop",
        seconds=0.5,
        tokens_in=100,
        tokens_out=10,
        cost=0.25,
    )
    assert (second.verdict, second.judge, second.parsed) == ("right", "rule", "yes")
    assert failed.outcome is Outcome.FAILED and failed.reason.startswith("HTTP 500")
    assert unparsed.outcome is Outcome.UNPARSED and second.cost is None
    run = read_run(tmp_path / "run")
    assert run.modes == ("std", "cot") and run.judged is not None and run.judged.name == "rule"


def test_a_run_in_words_goes_on(exam: Benchmark, tmp_path: Path) -> None:
    out, model = tmp_path / "run", Chat()
    write_words(out, exam)
    before = {
        each.key: each for each in read_predictions(out) if each.outcome is not Outcome.FAILED
    }
    run = go_on(exam, out, model)
    assert model.n == 16 - WORDS_KEPT and run.state == "finished"
    assert run.outcomes == {"ok": 15, "abstained": 0, "unparsed": 1, "failed": 0}
    assert run.seconds >= 3.5 and run.judged is not None and run.protocol == "exam"
    found = {each.key: each for each in read_predictions(out)}
    assert len(found) == len(list(read_predictions(out))) == 16
    assert {key: found[key] for key in before} == before
    assert run.tokens_in == 100 * WORDS_KEPT + 16 - WORDS_KEPT and run.cost is None
    assert not list(out.glob("*answers*")) and not list(out.glob("*.journal"))
    assert [path.name for path in shards(out)] == [f"predictions-{k:05d}.parquet" for k in range(4)]
    again = go_on(exam, out, None)  # which is not even looked at
    assert again.outcomes == run.outcomes


def test_a_run_in_words_of_another_model_is_refused(exam: Benchmark, tmp_path: Path) -> None:
    write_words(tmp_path / "run", exam)
    with pytest.raises(UsageError, match="another temperature"):
        go_on(exam, tmp_path / "run", Chat(), identity={"temperature": "0.7"})
    other = Chat()
    other.checkpoints = ("weights@2",)  # type: ignore[misc]
    with pytest.raises(UsageError, match="another server: 'weights@1' there, 'weights@2' now"):
        go_on(exam, tmp_path / "run", other)
    assert other.n == 0 and len(list(read_predictions(tmp_path / "run"))) == WORDS_KEPT


def test_files_of_a_chat_model_are_noted_from_now_on(exam: Benchmark, tmp_path: Path) -> None:
    """Version 0.1.0 compared its checkpoints only."""
    write_words(tmp_path / "run", exam)
    run = go_on(exam, tmp_path / "run", Chat(), identity={"model file": "abc"})
    assert run.outcomes["failed"] == 0 and run.identity["model file"] == "abc"
    with pytest.raises(UsageError, match="another model file"):
        go_on(exam, tmp_path / "run", Chat(), identity={"model file": "xyz"})


def test_a_finished_run_in_words_is_graded_again(exam: Benchmark, tmp_path: Path) -> None:
    out = tmp_path / "run"
    write_words(out, exam, state="finished")
    (out / "answers-00002.journal").unlink()
    graded = [
        msgspec.structs.replace(each, verdict="wrong", judge="other")
        for each in read_predictions(out)
    ]
    replace_predictions(out, graded)
    assert list(read_predictions(out)) == graded and not list(out.glob("answers-*"))


def mask_row(number: int, query: str, **changed: Any) -> Row:
    mask = encode(np.ones((24, 32) if number % 2 == 0 else (32, 24), bool))
    size = {"height_px": mask["size"][0], "width_px": mask["size"][1]}
    return {
        "item_id": f"{number}-{query}",
        "outcome": "ok",
        "masks": [{**size, "counts": mask["counts"]}],
        "scores": [0.5],
        "text": "",
        "reason": "",
        "seconds": 0.1,
        **changed,
    }


def in_journal(row: Row) -> Row:
    masks = [
        {"size": [mask["height_px"], mask["width_px"]], "counts": mask["counts"]}
        for mask in row["masks"]
    ]
    return {**row, "masks": masks, "boxes_xywh": [], "presence": None, "category_ids": []}


def write_masks(folder: Path, benchmark: Benchmark) -> None:
    """A run for masks that was killed; its journal has a record per image."""
    folder.mkdir(parents=True)
    failed = {"outcome": "failed", "masks": [], "scores": [], "reason": "RuntimeError: no"}
    rows = [mask_row(k, query) for k in range(4) for query in ("blue", "green")]
    rows[2] |= failed
    rows[3] |= failed
    pq.write_table(pa.Table.from_pylist(rows[:4], MASKS), folder / "predictions-00000.parquet")
    records = [record(list(map(in_journal, rows[k : k + 2]))) for k in (4, 6)]
    (folder / "predictions-00001.journal").write_bytes(b"".join(records)[:-3])
    digest = content_hash(benchmark)
    run = {
        "model": "m",
        "benchmark": "cafe",
        "benchmark_folder": "",
        "content_hash": digest,
        "identity": {"model": "m", "dtype": "auto", "data": digest, "checkpoints": ""},
        "settings": {"engine": "local", "workers": 0, "resume": True, "pictures": {}},
        "versions": {"groundfault": "0.1.0"},
        "outcomes": {"ok": 2, "abstained": 0, "unparsed": 0, "failed": 2},
        "failures": {},
        "n_items": 8,
        "n_images": 4,
        "state": "running",
        "probe": "skipped",
        "seconds": 2.0,
    }
    (folder / "run.json").write_text(json.dumps(run))


def test_a_run_for_masks_goes_on(tmp_path: Path) -> None:
    benchmark, out = painted_set(tmp_path / "images", 4), tmp_path / "run"
    write_masks(out, benchmark)
    numbers: list[int] = []

    class Finder:
        def segment(self, image: Any, phrases: Sequence[str]) -> list[Prediction]:
            numbers.append(int(image[0, 0, 0]))
            return [Prediction(item_id="", outcome=Outcome.ABSTAINED) for _ in phrases]

    kept = [each for each in read_predictions(out) if each.outcome is not Outcome.FAILED]
    run = run_masks(benchmark, Finder, out, identity={"dtype": "auto"})
    assert numbers == [1, 3] and run.state == "finished" and run.seconds >= 2.0
    assert run.outcomes == {"ok": 4, "abstained": 4, "unparsed": 0, "failed": 0}
    found = list(read_predictions(out))
    assert len({each.key for each in found}) == len(found) == 8 and found[:4] == kept
    assert all(each.masks and each.mode == "" for each in kept)


class Killed(BaseException):
    """Stands for kill -9: nobody catches it, and what was done stays done."""


@pytest.fixture
def kill_after(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Let so many files be moved or removed, and no more."""
    left = 1 << 30
    unlink, replace = Path.unlink, Path.replace

    def count() -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise Killed

    def counted_unlink(self: Path, missing_ok: bool = False) -> None:
        if self.exists():
            count()
        unlink(self, missing_ok=missing_ok)

    def counted_replace(self: Path, target: Path) -> Path:
        count()
        return replace(self, target)

    monkeypatch.setattr(Path, "unlink", counted_unlink)
    monkeypatch.setattr(Path, "replace", counted_replace)

    def set_left(n: int) -> None:
        nonlocal left
        left = n

    yield set_left


@pytest.mark.parametrize("kind", ["words", "masks"])
def test_a_run_is_brought_in_order_however_often_that_is_cut_short(
    kind: str, exam: Benchmark, tmp_path: Path, kill_after: Callable[[int], None]
) -> None:
    """In each round one more file is moved or removed than in the round before, then it ends."""
    painted = painted_set(tmp_path / "images", 4)
    for steps in range(30):
        out = tmp_path / f"run-{steps}"
        kill_after(1 << 30)
        if kind == "words":
            write_words(out, exam)
        else:
            write_masks(out, painted)
        answered = _answered(out)
        kill_after(steps)
        try:
            settle(out)
            ended = True
        except Killed:
            ended = False
        kill_after(1 << 30)
        assert _answered(out) == answered, f"after {steps} steps"
        settle(out)
        assert _answered(out) == answered
        assert len(list(read_predictions(out))) == len(answered)
        assert {path.suffix for path in out.iterdir()} == {".parquet", ".json"}
        if ended:
            break
    assert ended and steps >= 3


def _answered(folder: Path) -> list[Prediction]:
    """What need not be asked again; nothing is there twice."""
    found = [each for each in read_predictions(folder) if each.outcome is not Outcome.FAILED]
    assert len({each.key for each in found}) == len(found), "some prediction is stored twice"
    return sorted(found, key=lambda each: each.key)


def test_a_damaged_shard_is_named(exam: Benchmark, tmp_path: Path) -> None:
    write_words(tmp_path / "run", exam)
    (tmp_path / "run" / "answers-00000.parquet").write_bytes(b"PAR1 no table")
    with pytest.raises(DataError, match=r"answers-00000\.parquet: not a readable table"):
        go_on(exam, tmp_path / "run", Chat())
