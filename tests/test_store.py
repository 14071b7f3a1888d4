"""Whatever is written appears whole or not at all."""

from __future__ import annotations

import os
import random
import signal
import stat
import subprocess
import sys
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pytest
from tests.conftest import CafeSet

from groundfault.errors import DataError, UsageError
from groundfault.io import store
from groundfault.io.store import (
    atomic_file,
    new_folder,
    read_json,
    read_table,
    write_bytes,
    write_json,
    write_table,
)
from groundfault.protocols.scored import Ragged
from groundfault.records import Estimate, Row, Summary


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_takes_its_place_when_the_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    with atomic_file(path) as temporary:
        assert temporary.parent == path.parent
        temporary.write_text("content")
        assert not path.exists()
    assert path.read_text() == "content"
    assert names(path.parent) == ["file"]


@pytest.mark.parametrize("before", [None, "old"])
@pytest.mark.parametrize("problem", [ValueError, KeyboardInterrupt, OSError])
def test_an_error_in_the_block_changes_nothing(
    tmp_path: Path, before: str | None, problem: type[BaseException]
) -> None:
    path = tmp_path / "file"
    if before is not None:
        path.write_text(before)
    expected = UsageError if problem is OSError else problem
    with pytest.raises(expected), atomic_file(path) as temporary:
        temporary.write_text("half")
        raise problem("on purpose")
    assert names(tmp_path) == (["file"] if before else [])
    assert not before or path.read_text() == before


def test_written_files_have_ordinary_permissions(tmp_path: Path) -> None:
    """Temporary files are private; what takes its place must not stay so."""
    before = os.umask(0o022)
    try:
        write_bytes(tmp_path / "file", b"")
        with new_folder(tmp_path / "folder"):
            pass
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o644
    assert stat.S_IMODE((tmp_path / "folder").stat().st_mode) == 0o755


def test_places_that_cannot_be_written_are_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="below: cannot be written"):
        write_bytes(tmp_path / "file" / "below", b"")
    with (
        pytest.raises(UsageError, match="below: cannot be written"),
        new_folder(tmp_path / "file" / "below"),
    ):
        pass
    (tmp_path / "folder" / "inside").mkdir(parents=True)
    with pytest.raises(UsageError, match="folder: is a folder, which is not replaced"):
        write_bytes(tmp_path / "folder", b"")
    assert names(tmp_path) == ["file", "folder"]


def test_arrows_own_errors_have_words(tmp_path: Path) -> None:
    """They are OSErrors without number and strerror."""
    with pytest.raises(UsageError, match="no space left"), atomic_file(tmp_path / "file"):
        raise OSError("no space left")


WRITE_FOR_EVER = """
import sys
from groundfault.io.store import write_bytes
round = 0
while True:
    round += 1
    write_bytes(sys.argv[1], b"%d\\n" % round * 50_000)
    print(round, flush=True)
"""


def test_a_killed_writer_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    rng = random.Random(0)
    path = tmp_path / "file"
    for rounds in (0, 1, 3, 7, 20):
        command = [sys.executable, "-c", WRITE_FOR_EVER, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            for _ in range(rounds):
                assert writer.stdout.readline()
            for _ in range(rng.randrange(100_000)):  # a random moment of the next round
                pass
            writer.kill()
        assert writer.returncode == -signal.SIGKILL
        if path.exists():
            lines = path.read_bytes().splitlines()
            assert len(lines) == 50_000
            assert len(set(lines)) == 1
        assert path.exists() or rounds == 0


def test_a_folder_appears_whole(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "folder"
    with new_folder(path) as temporary:
        (temporary / "one").write_text("1")
        assert not path.exists()
        (temporary / "two").write_text("2")
    assert names(path) == ["one", "two"]
    assert names(path.parent) == ["folder"]


def test_a_folder_does_not_appear_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="on purpose"), new_folder(tmp_path / "new") as temporary:
        (temporary / "one").write_text("1")
        raise ValueError("on purpose")
    assert names(tmp_path) == []


def test_a_folder_may_exist_if_it_is_empty(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with new_folder(tmp_path / "empty") as temporary:
        (temporary / "one").write_text("1")
    assert names(tmp_path / "empty") == ["one"]
    with (
        pytest.raises(UsageError, match="exists and is not an empty folder"),
        new_folder(tmp_path / "empty"),
    ):
        pass
    (tmp_path / "file").touch()
    with (
        pytest.raises(UsageError, match="exists and is not an empty folder"),
        new_folder(tmp_path / "file"),
    ):
        pass


def test_json_comes_back_as_it_was(tmp_path: Path) -> None:
    summary = Summary(
        benchmark="cafe",
        settings={"t": 0.5, "tau": None},
        rows={"Überall": Row(n_cases=2, metrics={"AFPR": Estimate(0.1, None, 1e-300, n=2)})},
        bounds={"SM": {"AFPR": (None, 0.3)}},
        notes=("“quoted”\n",),
    )
    path = tmp_path / "summary.json"
    write_json(path, summary)
    assert read_json(path, Summary) == summary
    assert path.read_text().startswith('{\n  "benchmark": "cafe"')


def test_undefined_numbers_are_null(tmp_path: Path) -> None:
    write_json(tmp_path / "file", {"a": float("nan"), "b": None})
    assert read_json(tmp_path / "file", dict) == {"a": None, "b": None}


@pytest.mark.parametrize(
    "content", [b"", b"{", b"\xff\xfe", b'{"benchmark": 1}', b"[]", b'{"settings":' + b"[" * 20_000]
)
def test_unreadable_json_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "summary.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"summary\.json: not readable .* make it again"):
        read_json(path, Summary)


def test_absent_files_are_named(tmp_path: Path) -> None:
    for read in (lambda path: read_json(path, dict), read_table):
        with pytest.raises(UsageError, match="none: no such file"):
            read(tmp_path / "none")


def test_tables_come_back_as_they_were(tmp_path: Path) -> None:
    columns = {
        "id": ["a", "b", "ü"],
        "maybe": ["x", None, ""],
        "count": np.array([1, -2, 2**62]),
        "value": np.array([0.1, np.nan, -0.0]),
        "flag": np.array([True, False, True]),
        "scores": Ragged(np.array([0.1, 0.2, 0.3]), np.array([0, 2, 2]), np.array([2, 2, 3])),
        "rows": [["Overall", "SM"], [], ["Overall"]],
    }
    path = tmp_path / "cases.parquet"
    write_table(path, columns, metadata={"benchmark": "cafe"})
    table = read_table(path)
    assert table.column_names == list(columns)
    assert table.schema.metadata[b"benchmark"] == b"cafe"
    found = table.to_pydict()
    assert found["id"] == columns["id"]
    assert found["maybe"] == columns["maybe"]
    assert found["count"] == [1, -2, 2**62]
    np.testing.assert_array_equal(found["value"], columns["value"])
    assert found["flag"] == [True, False, True]
    assert found["scores"] == [[0.1, 0.2], [], [0.3]]
    assert found["rows"] == columns["rows"]
    assert read_table(path, ["count", "id"]).column_names == ["count", "id"]


def test_tables_without_rows_come_back(tmp_path: Path) -> None:
    path = tmp_path / "cases.parquet"
    nothing = np.empty(0, np.int64)
    write_table(path, {"value": np.empty(0), "scores": Ragged(np.empty(0), nothing, nothing)})
    table = read_table(path)
    assert table.num_rows == 0
    assert table.schema.field("scores").type == pa.list_(pa.float64())


def test_corrupt_tables_are_refused(tmp_path: Path) -> None:
    """Cut at many places, or with bytes changed: an error of ours, or the table it was."""
    path = tmp_path / "cases.parquet"
    write_table(path, {"id": [f"case {k}" for k in range(200)], "value": np.arange(200.0)})
    sound = path.read_bytes()
    rng = random.Random(0)
    broken = [b"", b"PAR1", b"PAR1" * 3, sound[4:], b"not a table at all" * 10]
    broken += [sound[:length] for length in range(1, len(sound), 97)]
    for content in broken:
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"not a readable table .* make it again"):
            read_table(path)
    for _ in range(100):
        changed = bytearray(sound)
        for _ in range(3):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        path.write_bytes(changed)
        try:
            read_table(path)
        except DataError:
            continue


def test_a_column_that_is_not_there_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cases.parquet"
    write_table(path, {"id": ["a"]})
    with pytest.raises(DataError):
        read_table(path, ["id", "other"])


FULL_DISK = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
from groundfault import cli
sys.exit(cli.run(sys.argv[2:]))
"""


@pytest.mark.parametrize("limit_bytes", [0, 3000])
def test_a_full_disk_ends_with_a_message_and_nothing_written(
    cafe: CafeSet, limit_bytes: int
) -> None:
    """No file may grow beyond the limit, so that writing fails as on a full disk."""
    cafe.write()
    out = cafe.folder / "out"
    command = ["score", "cafe", *map(str, cafe.options), "--bootstrap", "0", "--out", str(out)]
    ended = subprocess.run(
        [sys.executable, "-B", "-c", FULL_DISK, str(limit_bytes), *command],
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr.startswith("error: ")
    assert str(out / "cases.parquet") in ended.stderr
    assert "cannot be written" in ended.stderr
    assert "File too large" in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert names(out) == []


def test_everything_written_is_plain_for_others_to_read(tmp_path: Path) -> None:
    """JSON that any reader takes, numbers in full precision."""
    write_json(tmp_path / "file.json", Estimate(1 / 3, n=3))
    assert msgspec.json.decode((tmp_path / "file.json").read_bytes()) == {
        "value": 1 / 3, "low": None, "high": None, "n": 3,
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["fifo", "link", "dangling", "device", "folder"])
def test_only_files_and_new_names_are_replaced(tmp_path: Path, kind: str) -> None:
    place, target = tmp_path / "out", tmp_path / "target"
    if kind == "fifo":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    elif kind == "device":
        place = Path("/dev/null")
    else:
        if kind == "link":
            target.write_text("kept")
        place.symlink_to(target)
    before = place.lstat()
    with pytest.raises(UsageError, match="is not replaced; name a file"):
        write_bytes(place, b"new")
    assert (place.lstat().st_mode, place.lstat().st_ino) == (before.st_mode, before.st_ino)
    assert kind != "link" or target.read_text() == "kept"


@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_stdout_is_written_to(name: str, tmp_path: Path) -> None:
    code = f"from groundfault.io.store import write_bytes; write_bytes({name!r}, bytes([255, 10]))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (0, b"\xff\n"), ended.stderr
    assert not any(tmp_path.iterdir())
    with pytest.raises(UsageError, match="holds no folder"):
        write_bytes("-/file", b"")


def test_a_new_folder_never_takes_the_place_of_a_link(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    with pytest.raises(UsageError, match="is not an empty folder"), new_folder(tmp_path / "link"):
        pass


WRITER = """
import os, sys
from groundfault.io.store import atomic_file, new_folder
with {way}(sys.argv[1]) as temporary:
    print("ready", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("way", ["atomic_file", "new_folder"])
def test_what_a_killed_process_left_is_swept_and_what_a_living_one_writes_is_not(
    tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "LEFT_S", -1.0)
    code = WRITER.format(way=way)
    living, killed = (
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path / name)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )
        for name in ("living", "killed")
    )  # fmt: skip
    try:
        for process in (living, killed):
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
        killed.kill()
        killed.wait()
        own = tmp_path / ".mine.groundfault.txt"
        own.write_text("somebody's")
        write_bytes(tmp_path / "another", b"")
        left = {path.name.split(".")[1] for path in tmp_path.glob(".*.groundfault")}
        assert left == {"living"}
        assert own.exists()
        living.communicate(b"", timeout=60)
        assert (tmp_path / "living").exists()
    finally:
        for process in (living, killed):
            process.kill()
            process.communicate()


def test_a_result_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The order of what is forced to disk and renamed, as the system sees it."""
    seen: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def note_sync(place: int) -> None:
        seen.append("folder" if stat.S_ISDIR(os.fstat(place).st_mode) else "file")
        fsync(place)

    def note_replace(self: Path, target: Path) -> Path:
        seen.append("named")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(Path, "replace", note_replace)
    write_bytes(tmp_path / "file", b"x")
    assert seen == ["file", "named", "folder"]
    seen.clear()
    with new_folder(tmp_path / "set") as temporary:
        (temporary / "images").mkdir()
        (temporary / "images" / "1.png").write_bytes(b"x")
    assert seen == ["folder", "file", "folder", "named", "folder"]
