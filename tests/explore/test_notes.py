"""Notes and tags: a file that only grows, and loses at most a line that was never acknowledged."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from groundfault.errors import UsageError
from groundfault.web.explore.notes import Notes


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    notes = Notes(tmp_path / "new" / "notes.jsonl")
    notes.add("d", "case 1", "  glass, taken\nfor ice ")
    notes.tag("d", "case 1", "glass")
    notes.tag("d", "case 2", " glass  ware ")
    notes.tag("d", "case 1", "glass", on=False)
    [note] = notes.of("d", "case 1")["notes"]
    assert note.text == "glass, taken\nfor ice"
    notes.withdraw("d", "case 1", note.id)
    again = Notes(notes.path)
    assert again.all("d") == notes.all("d") == {"case 2": {"notes": 0, "tags": ["glass ware"]}}
    lines = [json.loads(line) for line in notes.path.read_text().splitlines()]
    assert len(lines) == 5 and lines[0]["text"] == note.text
    assert again.all("other data") == {} and again.unread == 0


def test_marks_for_the_selection(tmp_path: Path) -> None:
    notes = Notes(tmp_path / "notes.jsonl")
    notes.tag("d", "a", "x")
    notes.tag("d", "b", "x")
    notes.add("d", "b", "look")
    notes.tag("e", "c", "x")
    marked = notes.marked("d")
    assert marked.tags == {"x": {"a", "b"}} and marked.noted == {"b"}


def test_two_programs_see_each_other(tmp_path: Path) -> None:
    mine, theirs = (Notes(tmp_path / "notes.jsonl") for _ in range(2))
    mine.tag("d", "a", "mine")
    theirs.tag("d", "a", "theirs")
    mine.refresh()
    assert mine.of("d", "a")["tags"] == theirs.of("d", "a")["tags"] == ["mine", "theirs"]


def test_a_line_that_was_cut_short_is_left_out(tmp_path: Path) -> None:
    notes = Notes(tmp_path / "notes.jsonl")
    notes.tag("d", "a", "whole")
    with notes.path.open("ab") as file:
        file.write(b'{"at": "2026", "data": "d", "case": "a", "tag": "cu')
    again = Notes(notes.path)
    assert again.of("d", "a")["tags"] == ["whole"]
    again.tag("d", "a", "after")
    last = Notes(notes.path)
    assert last.of("d", "a")["tags"] == ["whole", "after"] and last.unread == 1


WRITER = """
import sys
from groundfault.web.explore.notes import Notes
notes, k = Notes(sys.argv[1]), 0
while True:
    notes.tag("d", f"case {k}", "seen")
    print(k, flush=True)
    k += 1
"""


def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    acknowledged = [int(writer.stdout.readline()) for _ in range(20)]
    os.kill(writer.pid, signal.SIGKILL)
    acknowledged += [int(line) for line in writer.stdout.read().splitlines() if line.strip()]
    writer.wait()
    writer.stdout.close()
    kept = Notes(path).all("d")
    assert all(f"case {k}" in kept for k in acknowledged)


def test_what_is_no_note(tmp_path: Path) -> None:
    notes = Notes(tmp_path / "notes.jsonl")
    for text in ("", "  ", "x" * 4001):
        with pytest.raises(UsageError, match="letters"):
            notes.add("d", "a", text)
    with pytest.raises(UsageError, match="letters"):
        notes.tag("d", "a", "x" * 61)
    with pytest.raises(UsageError, match="no such note"):
        notes.withdraw("d", "a", "ff")
    assert not notes.path.exists()
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match="cannot be read"):
        Notes(tmp_path / "folder")
