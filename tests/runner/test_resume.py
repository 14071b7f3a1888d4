"""Nothing is lost and nothing is asked twice, however a run ends."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest
from tests.conftest import ALL, Ran
from tests.runner.conftest import painted_set
from tests.runner.runs import run_masks

from groundfault.analysis.summary import read_results
from groundfault.errors import UsageError
from groundfault.io.masks import encode
from groundfault.records import Benchmark, Outcome, Prediction
from groundfault.runner.work import Plan
from groundfault.runs.benchmark import first_cases
from groundfault.runs.journal import Journal
from groundfault.runs.recorder import read_predictions
from groundfault.runs.run import Run, read_run, write_run
from groundfault.runs.shards import shards

Made = Callable[[int], tuple[Benchmark, Path]]
KILLS = 8 if ALL else 5


class Counting:
    """Counts what it is asked; fails on pictures whose number is in `bad`."""

    def __init__(self, bad: Sequence[int] = ()) -> None:
        self.asked: list[tuple[int, tuple[str, ...]]] = []
        self.bad = bad

    def segment(self, image: Any, phrases: Sequence[str]) -> list[Prediction]:
        number = int(image[0, 0, 0])
        self.asked.append((number, tuple(phrases)))
        if number in self.bad:
            raise RuntimeError("not today")
        mask = encode(image[..., 2] > 0)
        return [
            Prediction(item_id="", outcome=Outcome.OK, masks=(mask,), scores=(0.6,))
            for _ in phrases
        ]


def ask(
    made: tuple[Benchmark, Path], model: Any, out: Path, *, name: str = "m", **more: Any
) -> Run:
    benchmark = msgspec.structs.replace(made[0], images=str(made[1]))
    return run_masks(benchmark, lambda: model, out, name=name, **more)


def test_a_finished_run_is_not_asked_again(painted: Made, tmp_path: Path) -> None:
    made = painted(4)
    first = ask(made, Counting(), tmp_path / "run")

    def unloadable() -> Any:
        raise AssertionError("the model was loaded")

    nowhere = msgspec.structs.replace(made[0], images="")
    again = run_masks(nowhere, unloadable, tmp_path / "run")
    assert again.outcomes == first.outcomes and again.seconds == first.seconds


def test_exactly_what_failed_is_asked_again(painted: Made, tmp_path: Path) -> None:
    made, run = painted(6), tmp_path / "run"
    assert ask(made, Counting(bad=(1, 4)), run).outcomes["failed"] == 4
    second = Counting(bad=(4,))
    assert ask(made, second, run).outcomes["failed"] == 2
    assert [number for number, _ in second.asked] == [1, 4]
    third = Counting()
    ended = ask(made, third, run)
    assert third.asked == [(4, ("blue", "green"))]
    assert ended.outcomes == {"ok": 12, "abstained": 0, "unparsed": 0, "failed": 0}
    assert ended.failures == {}
    assert Counter(p.item_id for p in read_predictions(run)) == {i.id: 1 for i in made[0].items}


def test_no_resume_starts_anew(painted: Made, tmp_path: Path) -> None:
    made = painted(3)
    ask(made, Counting(), tmp_path / "run")
    again = Counting()
    ask(made, again, tmp_path / "run", plan=Plan(resume=False))
    assert len(again.asked) == 3 and len(list(read_predictions(tmp_path / "run"))) == 6


def test_a_new_start_that_fails_leaves_no_run_that_seems_finished(
    painted: Made, tmp_path: Path
) -> None:
    made, run = painted(2), tmp_path / "run"
    ask(made, Counting(), run)

    def unloadable() -> Any:
        raise UsageError("no such weights")

    with pytest.raises(UsageError, match="no such weights"):
        run_masks(made[0], unloadable, run, plan=Plan(resume=False), identity={"dtype": "x"})
    assert not list(run.iterdir())
    assert ask(made, Counting(), run, identity={"dtype": "x"}).outcomes["ok"] == 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "other"}, "another model: 'm' there, 'other' now"),
        ({"identity": {"dtype": "float16"}}, "another dtype: 'float32' there, 'float16' now"),
        ({"identity": {"dtype": "float32", "revision": "2"}}, "another revision"),
    ],
)
def test_other_answers_are_not_mixed(
    painted: Made, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    made, same = painted(2), {"identity": {"dtype": "float32"}}
    ask(made, Counting(), tmp_path / "run", **same)
    with pytest.raises(UsageError, match=message) as refused:
        ask(made, Counting(), tmp_path / "run", **{**same, **change})
    assert "--no-resume" in str(refused.value)
    assert ask(made, Counting(), tmp_path / "run", **same).outcomes["ok"] == 4


def test_other_data_are_not_mixed(painted: Made, tmp_path: Path) -> None:
    benchmark, images = painted(4)
    ask((benchmark, images), Counting(), tmp_path / "run")
    with pytest.raises(UsageError, match="another data"):
        ask((first_cases(benchmark, 2), images), Counting(), tmp_path / "run")


def test_another_checkpoint_of_the_same_name_is_not_mixed(painted: Made, tmp_path: Path) -> None:
    made = painted(3)

    def model(checkpoint: str, bad: Sequence[int] = ()) -> Counting:
        counting = Counting(bad)
        counting.checkpoints = (checkpoint,)  # type: ignore[attr-defined]
        return counting

    ask(made, model("sam@1", bad=(1,)), tmp_path / "run")
    assert read_run(tmp_path / "run").identity["checkpoints"] == "sam@1"
    with pytest.raises(UsageError, match="another checkpoints: 'sam@1' there, 'sam@2' now"):
        ask(made, model("sam@2"), tmp_path / "run")
    assert ask(made, model("sam@1"), tmp_path / "run").outcomes["ok"] == 6


def test_another_placement_is_not_mixed(painted: Made, tmp_path: Path) -> None:
    made = painted(3)

    def model(device: str, dtype: str, bad: Sequence[int] = ()) -> Counting:
        counting = Counting(bad)
        counting.placement = SimpleNamespace(device=device, dtype=dtype)  # type: ignore[attr-defined]
        return counting

    ask(made, model("cuda:0", "bfloat16", bad=(1,)), tmp_path / "run")
    assert read_run(tmp_path / "run").identity["placement"] == "cuda bfloat16"
    with pytest.raises(UsageError, match="another placement: 'cuda bfloat16' there, 'cpu float32'"):
        ask(made, model("cpu", "float32"), tmp_path / "run")
    assert ask(made, model("cuda:1", "bfloat16"), tmp_path / "run").outcomes["ok"] == 6


def test_answers_about_other_pictures_are_not_mixed(painted: Made, tmp_path: Path) -> None:
    made, run = painted(4), tmp_path / "run"
    (made[1] / "2.png").write_bytes(b"cut short")
    assert ask(made, Counting(), run).outcomes["failed"] == 2
    others = painted_set(tmp_path / "others", 4), tmp_path / "others"
    for path in others[1].iterdir():
        path.write_bytes(path.read_bytes() + b"another picture")
    with pytest.raises(UsageError, match=r"answers about another picture '0\.png'"):
        ask(others, Counting(), run)
    with pytest.raises(UsageError, match="--no-resume"):
        ask(others, Counting(), run, asked=first_cases(others[0], 1))
    mended = painted_set(tmp_path / "mended", 4), tmp_path / "mended"
    assert ask(mended, Counting(), run).outcomes["ok"] == 8
    assert ask((made[0], tmp_path / "gone"), Counting(), run).outcomes["ok"] == 8


def test_a_part_is_completed_later(painted: Made, tmp_path: Path) -> None:
    made, run = painted(5), tmp_path / "run"
    first = ask(made, Counting(), run, asked=first_cases(made[0], 2))
    assert (first.n_items, first.outcomes["ok"]) == (4, 4)
    rest = Counting()
    assert ask(made, rest, run).outcomes["ok"] == 10
    assert [number for number, _ in rest.asked] == [2, 3, 4]
    part = ask(made, Counting(), run, asked=first_cases(made[0], 2))
    assert part.outcomes["ok"] == 4


def test_runs_of_older_versions_are_replaced(painted: Made, tmp_path: Path) -> None:
    made, run = painted(2), tmp_path / "run"
    write_run(run, Run(model="m", benchmark="cafe"))
    assert ask(made, Counting(), run).outcomes["ok"] == 4
    (run / "run.json").unlink()
    with pytest.raises(UsageError, match=r"predictions but no run\.json"):
        ask(made, Counting(), run)


def test_two_processes_do_not_write_to_one_run(painted: Made, tmp_path: Path) -> None:
    made = painted(1)
    code = "import sys; from groundfault.io.store import locked\n"
    code += "with locked(sys.argv[1]): print('ready', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "run")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as holder:  # fmt: skip
        assert holder.stdout is not None and holder.stdout.readline() == b"ready\n"
        with pytest.raises(UsageError, match="another process is working"):
            ask(made, Counting(), tmp_path / "run")
        holder.communicate(b"", timeout=60)
    ask(made, Counting(), tmp_path / "run")


def test_a_journal_cut_anywhere_gives_its_whole_records(tmp_path: Path) -> None:
    mask = encode(np.ones((3, 4), bool))
    records = [
        [
            Prediction(item_id=f"{k}{n}", outcome=Outcome.OK, scores=(0.5,), masks=(mask,))
            for n in "ab"
        ]
        for k in range(3)
    ]
    journal, ends = Journal(tmp_path / "predictions-00007.journal"), [0]
    for record in records:
        journal.append(record)
        ends.append(journal.path.stat().st_size)
    content = journal.path.read_bytes()
    for cut in range(0, len(content) + 1, 3):
        journal.path.write_bytes(content[:cut])
        whole = sum(end <= cut for end in ends[1:])
        read = [msgspec.convert(record, list[Prediction]) for record in journal.read()]
        assert read == [list(record) for record in records[:whole]]
    journal.path.write_bytes(content[:-1] + b"?")
    assert len(list(journal.read())) == 2  # the third record is damaged


def test_an_error_in_mid_run_keeps_what_was_answered(painted: Made, tmp_path: Path) -> None:
    class Interrupted(Counting):
        def segment(self, image: Any, phrases: Sequence[str]) -> list[Prediction]:
            if len(self.asked) == 3:
                raise KeyboardInterrupt
            return super().segment(image, phrases)

    made, run = painted(5), tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        ask(made, Interrupted(), run)
    assert read_run(run).state == "interrupted"
    assert len(list(read_predictions(run))) == 6
    rest = Counting()
    assert ask(made, rest, run).state == "finished"
    assert [number for number, _ in rest.asked] == [3, 4]


def command(folder: Path, out: Path, *more: str) -> list[str]:
    start = [sys.executable, "-m", "groundfault.cli", "eval", str(folder)]
    return [*start, "--model", "finder:0.006", "--out", str(out), "--bootstrap", "50", *more]


@pytest.mark.usefixtures("plugin")
def test_kill_9_at_any_moment(
    benchmark_folder: Callable[[int], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    run: Callable[..., Ran],
) -> None:
    """Killed many times, the run ends with the results of one that was not, and each picture was
    asked once, but for the one in flight at each kill."""
    n = 120
    folder, out, log = benchmark_folder(n), tmp_path / "runs", tmp_path / "asked.log"
    monkeypatch.setenv("ENGINE_LOG", str(log))
    monkeypatch.setenv("ENGINE_MOST", str(n // KILLS - 1))
    rng = random.Random(5)
    for _ in range(KILLS):
        before = log.stat().st_size if log.exists() else 0
        process = subprocess.Popen(
            command(folder, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while process.poll() is None and (log.stat().st_size if log.exists() else 0) == before:
            time.sleep(0.002)
        time.sleep(rng.uniform(0.0, 0.2))
        process.send_signal(signal.SIGKILL)
        process.wait()
    monkeypatch.delenv("ENGINE_MOST")
    assert read_run(out / "finder-0.006").state == "running"
    ended = subprocess.run(command(folder, out), capture_output=True, text=True, check=True)
    assert f"{2 * n} of {2 * n} answered" in ended.stderr

    sessions: dict[str, list[str]] = {}
    for line in log.read_text().splitlines():
        process_id, number, phrases = line.split()
        assert phrases == "blue,green"
        sessions.setdefault(process_id, []).append(number)
    assert len(sessions) == KILLS + 1
    asked = Counter(number for numbers in sessions.values() for number in numbers)
    assert set(asked) == set(map(str, range(n)))
    in_flight = Counter(numbers[-1] for numbers in list(sessions.values())[:-1])
    assert all(times <= 1 + in_flight[number] for number, times in asked.items())

    monkeypatch.delenv("ENGINE_LOG")
    untouched = tmp_path / "untouched"
    subprocess.run(command(folder, untouched), check=True, capture_output=True)
    ours, theirs = (read_results(base / "finder-0.006") for base in (out, untouched))
    assert ours[0] == theirs[0] and ours[1].equals(theirs[1])
    stored = [p.item_id for p in read_predictions(out / "finder-0.006")]
    assert len(stored) == len(set(stored)) == 2 * n
    assert not list((out / "finder-0.006").glob("*.journal"))
    assert len(shards(out / "finder-0.006")) <= KILLS + 1


@pytest.mark.usefixtures("plugin")
def test_workers_do_not_outlive_a_killed_run(
    benchmark_folder: Callable[[int], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, log = benchmark_folder(60), tmp_path / "asked.log"
    monkeypatch.setenv("ENGINE_LOG", str(log))
    process = subprocess.Popen(
        command(folder, tmp_path / "runs", "--workers", "2"), stderr=subprocess.DEVNULL
    )
    while process.poll() is None and not (log.exists() and log.read_text()):
        time.sleep(0.01)
    process.kill()
    process.wait()
    workers = {int(line.split()[0]) for line in log.read_text().splitlines()}
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and any(map(_runs, workers)):
        time.sleep(0.05)
    assert workers and not any(map(_runs, workers))


def _runs(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
        return Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
