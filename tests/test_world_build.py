"""`world build` as a command: several presets at once, native files, knobs, and what goes wrong."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from groundfault.benchmarks import cafe, folder, halluseg, reactbench, saco
from groundfault.errors import DataError, UsageError

pytest.importorskip("skia", reason="skia-python draws the world")

SMALL = ("--n", 4, "--size", 64, "--workers", 1)
KNOBS = ("surface-correlation", "context-correlation", "material-share", "relation-share")


def names(path: Path) -> set[str]:
    return {entry.name for entry in path.iterdir()}


def test_all_presets_side_by_side(run: Any, tmp_path: Path) -> None:
    out, native = tmp_path / "b", tmp_path / "native"
    options = (*SMALL, "--controls", "--dose", "0.5,1", "--split", "seen")
    ran = run("world", "build", "--preset", "all", *options, "--out", out, "--native", native)
    assert ran.code == 0, ran.err
    assert names(out) == names(native) == {"cafe", "halluseg", "reactbench", "clean"}
    for preset in ("cafe", "halluseg", "clean"):
        assert folder.read(out / preset).card.content_hash in ran.out
    exam = reactbench.read(out / "reactbench")
    assert exam.card.content_hash in ran.out
    edited = [c for c in folder.read(out / "cafe").cases if c.intervention != "control"]
    assert len(cafe.read([native / "cafe" / "annotations.json"]).cases) == len(edited)
    assert "native files: Dropped: 4 controls" in ran.out
    assert f"with the pictures in {out}/PRESET/images" in ran.out
    quads = native / "halluseg"
    assert len(halluseg.read(quads / "results.json", quads / "data").cases) == 4
    asked = saco.read([native / "clean" / "annotations.json"]).items
    assert len(asked) == len(folder.read(out / "clean").items)
    assert {case.tags.get("split") for case in edited} == {"seen"}
    assert names(tmp_path) == {"b", "native"}


def test_cases_that_a_weak_dose_does_not_make_are_named(run: Any, tmp_path: Path) -> None:
    command = ("world", "build", "--preset", "cafe", "--n", 3, "--size", 64, "--workers", 1)
    weak = run(*command, "--dose", "0.2,0.25", "--out", tmp_path / "weak")
    assert "cafe: 4 cases" in weak.out
    assert weak.out.count("note: no OC at dose 0.2, 0.25") == 1
    assert "note:" not in run(*command, "--dose", "0.5", "--out", tmp_path / "half").out


def test_one_preset_is_the_same_alone(run: Any, tmp_path: Path) -> None:
    run("world", "build", "--preset", "all", *SMALL, "--out", tmp_path / "all")
    run("world", "build", "--preset", "clean", *SMALL, "--out", tmp_path / "one")
    one, beside = (folder.read(tmp_path / name).card for name in ("one", "all/clean"))
    assert one == beside


def test_an_exam_as_json_comes_back(run: Any, tmp_path: Path) -> None:
    out, native = tmp_path / "exam", tmp_path / "native"
    ran = run("world", "build", "--preset", "reactbench", *SMALL, "--out", out, "--native", native)
    assert ran.code == 0, ran.err
    assert names(native) == {f"{task}.json" for task in reactbench.LAYOUT}
    exam = reactbench.read(out)
    samples, questions = reactbench.read_native(native)
    for found, expected in zip((samples, questions), reactbench.rows_of(exam), strict=True):
        assert sorted(found, key=lambda row: row.id) == sorted(expected, key=lambda row: row.id)
    pictures = {name: out / "images" / name for sample in samples for name in sample.images}
    reactbench.write_exam(tmp_path / "again", samples, questions, pictures)
    counts = [
        json.loads((path / "exam.json").read_text())["counts"] for path in (out, tmp_path / "again")
    ]
    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda rows: rows[0].update(task="counting"), "it is of counting, in the file of erasure"),
        (lambda rows: rows[3].update(width_px=5), "other rows say other things about its sample"),
        (lambda rows: rows.pop(), "it has 11 questions; erasure has 12"),
        (lambda rows: rows[0].update(shoe_size=44), "shoe_size"),
        (lambda rows: rows[0].pop("answer"), "answer"),
    ],
)
def test_a_changed_exam_is_refused(
    run: Any, tmp_path: Path, change: Callable[[list[Any]], object], problem: str
) -> None:
    options = ("--n", 1, "--size", 64, "--workers", 1, "--out", tmp_path / "exam")
    run("world", "build", "--preset", "reactbench", *options, "--native", tmp_path / "native")
    path = tmp_path / "native" / "erasure.json"
    rows = json.loads(path.read_text())
    change(rows)
    path.write_text(json.dumps(rows))
    with pytest.raises(DataError, match=problem) as refused:
        reactbench.read_native(tmp_path / "native")
    assert "erasure.json" in str(refused.value)
    with pytest.raises(UsageError, match="holds no exam"):
        reactbench.read_native(tmp_path)


@pytest.mark.parametrize("preset", ["cafe", "halluseg", "reactbench", "clean"])
def test_knobs_are_checked_and_noted(run: Any, tmp_path: Path, preset: str) -> None:
    out = tmp_path / "b"
    command = ("world", "build", "--preset", preset, *SMALL)
    for knob in KNOBS:
        ran = run(*command, f"--{knob}", 1.5, "--out", out)
        name = knob.replace("-", "_")
        assert ran.code == 2 and f"{name} is 1.5; it goes from 0 to 1" in ran.err
        assert not out.exists()
    chosen = [word for knob in KNOBS for word in (f"--{knob}", 0.5)]
    assert run(*command, *chosen, "--out", out).code == 0
    exam = preset == "reactbench"
    said = reactbench.read(out).notes[0] if exam else folder.read(out).card.source
    for knob in KNOBS:
        assert f"{knob.replace('-', '_')} 0.5" in said


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--preset", "al"), "Did you mean 'all'"),
        (("--preset", "clean", "--split", "seen"), "goes with cafe and halluseg, not with clean"),
        (("--preset", "halluseg", "--dose", "0.5"), "--dose goes with cafe, not with halluseg"),
        (("--preset", "cafe", "--split", "unseen-pairs"), "Did you mean 'unseen-pair'"),
        (("--preset", "cafe", "--dose", "2"), "it goes from 0 (nothing) to 1"),
        (("--preset", "cafe", "--dose", "much"), "'much' is no list of doses"),
        (("--preset", "cafe", "--dose", "0.5,0.5"), "each once"),
        (("--preset", "cafe", "--dose", "0:1:0.01"), "1 to 40 doses"),
        (("--preset", "cafe", "--crowd", "-1"), "0 or more"),
        (("--preset", "cafe", "--crowd", "100"), "ask for a smaller crowd"),
        (("--preset", "cafe", "--workers", "-2"), "1 or more processes"),
        (("--preset", "all", "--n", "0"), "at least one"),
    ],
)
def test_bad_requests_leave_nothing(
    run: Any, tmp_path: Path, options: tuple[str, ...], problem: str
) -> None:
    ran = run("world", "build", "--workers", 1, *options, "--out", tmp_path / "b")
    assert ran.code == 2 and problem in ran.err
    assert not names(tmp_path)


def test_out_and_native_are_apart(run: Any, tmp_path: Path) -> None:
    command = ("world", "build", "--preset", "cafe", *SMALL)
    for out, native in (("b", "b/native"), ("b/out", "b"), ("b", "b")):
        ran = run(*command, "--out", tmp_path / out, "--native", tmp_path / native)
        assert ran.code == 2 and "hold one another" in ran.err
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "mine.txt").write_text("keep me")
    ran = run(*command, "--out", tmp_path / "b", "--native", taken)
    assert ran.code == 2 and "not an empty folder" in ran.err
    assert names(tmp_path) == {"taken"} and names(taken) == {"mine.txt"}


def fill_disk_after(monkeypatch: pytest.MonkeyPatch, writes: int) -> None:
    """Every file after the first few finds the disk full."""
    write_bytes, left = Path.write_bytes, [writes]

    def write(path: Path, content: bytes) -> int:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        return write_bytes(path, content)

    monkeypatch.setattr(Path, "write_bytes", write)


@pytest.mark.parametrize("preset", ["cafe", "reactbench", "all"])
def test_a_full_disk_leaves_nothing(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, preset: str
) -> None:
    """Wherever it happens: at a picture, a card, a native file, between two presets."""
    options = ("--n", 2, "--size", 64, "--workers", 1, "--out", tmp_path / "b")
    command = ("world", "build", "--preset", preset, *options, "--native", tmp_path / "native")
    for writes in range(100):
        with monkeypatch.context() as disk:
            fill_disk_after(disk, writes)
            ran = run(*command)
        if ran.code == 0:
            break
        assert ran.code == 2 and not names(tmp_path)
        assert ran.err == (
            f"error: {tmp_path / 'b'}: cannot be written (No space left on device); "
            "nothing was left there\n"
        )
    assert writes > 2 and names(tmp_path) == {"b", "native"}
