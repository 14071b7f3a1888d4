"""Where foreign bytes become records: whatever is wrong with them is one kind of error there, so
that nobody further in has to think of it."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image
from tests.conftest import Ran
from tests.test_compare import write_scores

import groundfault
from groundfault.errors import DataError, GroundfaultError, UsageError
from groundfault.io.foreign import decode_json, open_file, read_bytes, stream_json_list
from groundfault.io.mask_pictures import read_mask
from groundfault.io.pictures import is_plain, open_picture
from groundfault.io.results import read_results
from groundfault.io.store import read_json, read_table
from groundfault.judges.card import JudgeCard
from groundfault.models.agent import Trace

Command = Callable[..., Ran]
SOURCE = Path(groundfault.__file__).parent
OWN_WORDS = {
    "parsing/tool_calls.py",
    "parsing/proposals.py",
    "llm/parameters.py",
    "io/foreign.py",
    "config.py",
}
"""Who decodes what models said, what we wrote ourselves, the boundary itself, and TOML."""


def test_json_is_decoded_in_one_place() -> None:
    """msgspec raises three kinds of errors; whoever decodes by itself forgets one of them."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        if name in OWN_WORDS or name.startswith("workers/"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and ast.unparse(node) == "msgspec.json.decode":
                found.add(f"{name}:{node.lineno}")
    assert not found


@pytest.mark.parametrize(
    "content",
    [
        b'{"a": "\xe9"}',
        b'{"\xe9": 1, "a": ""}',
        b'{"a": "", "more": ["\xff"]}',
        b'{"a": ' + b"[" * 100_000,
        b'{"a": "", "more": ' + b'{"b":' * 100_000,
        b'{"a": 7}',
        b'{"a": "',
        b"",
    ],
)
def test_whatever_is_wrong_is_one_kind_of_error(content: bytes) -> None:
    class Record(msgspec.Struct):
        a: str

    with pytest.raises(msgspec.DecodeError):
        decode_json(content, Record)
    assert decode_json(b'{"a": "\xc3\xa9"}', Record).a == "é"


def test_bytes_that_are_no_text_are_refused_in_fields_that_nobody_reads(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    path.write_bytes(b'[{"a": 1}, {"a": 2, "\xe9": 3}]')
    with pytest.raises(DataError, match=r"record 1.*not UTF-8"):
        list(stream_json_list(path, dict[str, Any], expected="a list"))


def test_what_never_ends_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "zero.json").symlink_to("/dev/zero")
    for name in ("pipe.json", "zero.json"):
        for read in (open_file, lambda path: read_json(path, dict[str, Any])):
            with pytest.raises(UsageError, match="a device or a pipe"):
                read(tmp_path / name)
    (tmp_path / "file").write_bytes(b"12345")
    assert read_bytes(tmp_path / "file", most_bytes=5) == b"12345"
    with pytest.raises(UsageError, match="larger than"):
        read_bytes(tmp_path / "file", most_bytes=4)


def test_a_table_with_text_that_is_none_is_refused(tmp_path: Path) -> None:
    offsets = pa.py_buffer(np.array([0, 2], np.int32).tobytes())
    broken = pa.Array.from_buffers(pa.string(), 1, [None, offsets, pa.py_buffer(b"\xe9\xe9")])
    pq.write_table(pa.table({"text": broken}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match="not a readable table"):
        read_table(tmp_path / "t.parquet")
    pq.write_table(pa.table({"columns": [1]}), tmp_path / "n.parquet")
    content = (tmp_path / "n.parquet").read_bytes()
    (tmp_path / "n.parquet").write_bytes(content.replace(b"columns", b"col\xe9mns"))
    with pytest.raises(DataError, match="not a readable table"):
        read_table(tmp_path / "n.parquet")


def pictures() -> dict[str, bytes]:
    pixels = np.zeros((32, 40), np.uint8)
    pixels[4:20, 5:33] = 255
    grey = Image.fromarray(pixels)
    found = {}
    for mode in ("L", "RGB", "P", "1", "I;16"):
        out = BytesIO()
        grey.convert(mode).save(out, "PNG")
        found[mode] = out.getvalue()
    return found


@pytest.mark.parametrize("mode", ["L", "RGB", "P", "1", "I;16"])
def test_a_flipped_bit_of_a_png_is_no_other_mask_and_no_other_picture(
    mode: str, tmp_path: Path
) -> None:
    content, path = pictures()[mode], tmp_path / "m.png"
    path.write_bytes(content)
    sound = read_mask(path, "r")
    assert sound is not None and open_picture(path).size == (40, 32)
    for place in range(0, len(content), 3):
        damaged = bytearray(content)
        damaged[place] ^= 1 << (place % 8)
        path.write_bytes(damaged)
        with pytest.raises(DataError):
            read_mask(path, "r")
        if damaged.startswith(b"\x89PNG\r\n\x1a\n"):
            for see in (open_picture, lambda path: is_plain(path.read_bytes())):
                with pytest.raises((ValueError, OSError)):
                    see(path)
    path.write_bytes(content + b"what follows the picture is not looked at")
    assert read_mask(path, "r") is not None and open_picture(path).size == (40, 32)


def edited(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        path = folder / "summary.json"
        content = json.loads(path.read_text())
        change(content)
        path.write_text(json.dumps(content))

    return edit


@pytest.mark.parametrize(
    "change",
    [
        lambda summary: summary["rows"].pop("SM", summary["rows"].popitem()),
        lambda summary: summary["rows"]["Overall"]["metrics"].popitem(),
        lambda summary: summary["settings"].update(variant={}),
        lambda summary: summary["settings"].update(tau=0.9),
        lambda summary: summary["rows"]["Overall"]["metrics"]["AFPR"].update(value=0.0),
        lambda summary: summary.update(benchmark="saco"),
        lambda summary: summary.update(protocol="replacement-quads"),
    ],
)
def test_a_summary_that_was_changed_is_refused(
    change: Callable[[dict[str, Any]], object], run: Command, tmp_path: Path
) -> None:
    accepted = np.arange(40) % 3 == 0
    runs = [write_scores(tmp_path / name, accepted) for name in ("a", "b")]
    read_results(runs[0])
    edited(lambda summary: summary.update(title="words may be changed"))(runs[0])
    read_results(runs[0])
    edited(change)(runs[0])
    with pytest.raises(GroundfaultError):
        read_results(runs[0])
    for words in (("compare", *runs), ("report", *runs, "--out", tmp_path / "r.html")):
        ran = run(*words)
        assert ran.code == 2 and "error:" in ran.err


def test_a_table_of_cases_that_lost_a_column_is_refused(tmp_path: Path) -> None:
    """Parquet has checksums for its pages, not for the names of its columns."""
    scores = write_scores(tmp_path / "a", np.arange(40) % 3 == 0)
    path = scores / "cases.parquet"
    content = path.read_bytes()
    place = content.index(b"case_id", content.rindex(b"schema"))
    path.write_bytes(content[:place] + b"cAse_id" + content[place + 7 :])
    with pytest.raises(DataError, match="not written together"):
        read_results(scores)


def test_a_card_and_a_trace_that_lack_a_part_are_refused(tmp_path: Path) -> None:
    (tmp_path / "card.json").write_text('{"judge": "rule", "tasks": {}}')
    with pytest.raises(DataError, match="no task Overall"):
        read_json(tmp_path / "card.json", JudgeCard)
    turn = {"said": "", "tool": "segment_phrase"}
    trace: dict[str, Any] = {"query": "cat", "ending": "select", "outcome": "ok", "turns": [turn]}
    with pytest.raises(msgspec.DecodeError, match="names none"):
        decode_json(json.dumps(trace), Trace)
    turn["parameters"] = {"text_prompt": "cat"}  # type: ignore[assignment]
    assert decode_json(json.dumps(trace), Trace).phrases == ("cat",)


def test_what_is_in_a_files_place_is_not_passed_over(run: Command, tmp_path: Path) -> None:
    """A link to itself, or a folder, in the place of a file is as damaged as the file would be."""
    accepted = np.arange(40) % 3 == 0
    runs = [write_scores(tmp_path / "runs" / name, accepted) for name in ("a", "b")]
    (runs[0] / "run.json").symlink_to(runs[0] / "run.json")
    for words in (("compare", *runs), ("status", tmp_path / "runs")):
        ran = run(*words)
        assert ran.code == 2 and "run.json" in ran.err, ran
    native = tmp_path / "native"
    native.mkdir()
    (native / "erasure.json").mkdir()
    ran = run("convert", native, "--to", "folder", "--out", tmp_path / "out")
    assert ran.code == 2 and "erasure.json" in ran.err
    (tmp_path / "config.toml").touch()
    ran = run("score", "cafe", "--config", tmp_path / "config.toml", "--annotations", "a.json",
              "--predictions", "p.json")  # fmt: skip
    assert ran.code == 2 and "config.toml: the file is empty" in ran.err


def program(*words: object, **how: Any) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "groundfault.cli", *map(os.fsencode, map(str, words))]
    return subprocess.run(command, stderr=subprocess.PIPE, timeout=300, check=False, **how)


def test_names_that_are_no_text_are_one_message(tmp_path: Path) -> None:
    odd = os.fsdecode(bytes(tmp_path / "caf") + b"\xe9")
    try:
        Path(odd).mkdir()
    except OSError:
        pytest.skip("this file system has Unicode names only")
    write_scores(tmp_path / "a", np.arange(20) % 3 == 0)
    (Path(odd) / "file.json").write_text("{}")
    for words in (
        ("report", tmp_path / "a", "--out", f"{odd}/r.html"),
        ("inspect", f"{odd}/file.json", "--json"),
        ("world", "build", "--preset", "cafe", "--n", 1, "--out", f"{odd}/w"),
    ):
        ended = program(*words)
        assert ended.returncode == 2 and b"no UTF-8 text" in ended.stderr, ended
        assert b"Traceback" not in ended.stderr
    ended = program("inspect", "file.json", "--json", cwd=odd, stdout=subprocess.PIPE)
    assert b"Traceback" not in ended.stderr


@pytest.mark.parametrize("closed", [(1,), (2,), (0, 1, 2)])
def test_closed_streams_are_nobodys_business(closed: tuple[int, ...], tmp_path: Path) -> None:
    """The next file would get their number, and have printed into it what is meant for them."""
    scores = write_scores(tmp_path / "a", np.arange(20) % 3 == 0)
    out = tmp_path / "report.html"
    ended = program(
        "report", scores, "--out", out, preexec_fn=lambda: [os.close(each) for each in closed]
    )
    assert ended.returncode == 0 and b"Traceback" not in ended.stderr
    assert out.read_text().startswith("<!doctype html>")
    assert (scores / "cases.parquet").read_bytes().startswith(b"PAR1")
