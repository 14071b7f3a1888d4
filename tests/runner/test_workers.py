"""Several workers: the same answers as one, and no death of theirs is the end."""

from __future__ import annotations

import contextlib
import functools
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.building.photographs import write_set
from tests.building.test_pipeline import contents
from tests.runner.conftest import PLUGIN
from tests.runner.runs import run_masks

from groundfault import registry
from groundfault.analysis.summary import read_results
from groundfault.errors import GroundfaultError, UsageError
from groundfault.interfaces import ModelOptions
from groundfault.records import Benchmark, Outcome
from groundfault.runner import ray_pool
from groundfault.runner.pool import DIED
from groundfault.runner.ray_pool import LOOPBACK, QUIET
from groundfault.runner.session import Progress
from groundfault.runner.work import Plan
from groundfault.runs.recorder import read_predictions
from groundfault.runs.run import Run, read_run

pytestmark = pytest.mark.xdist_group("ray")

PATIENT = {
    "RAY_gcs_server_port_wait_time_s": "300",
    "RAY_raylet_start_wait_time_s": "300",
    "RAY_agent_register_timeout_ms": "300000",
    "RAY_worker_register_timeout_seconds": "300",
}
"""How long Ray waits for its own processes: a busy machine is no failure."""
HANGS_S = 600
"""A cluster that says nothing for so long is not slow but stuck: it is ended and its logs shown."""
Made = Callable[[int], tuple[Benchmark, Path]]


def load(spec: str) -> Callable[[], Any]:
    return functools.partial(registry.load_model, spec, ModelOptions())


def ask(made: tuple[Benchmark, Path], spec: str, out: Path, **plan: Any) -> Run:
    return run_masks(made[0], load(spec), out, name=spec, plan=Plan(**plan))


def stored(out: Path) -> dict[str, Any]:
    return {p.item_id: (p.outcome, p.masks, p.scores, p.reason) for p in read_predictions(out)}


class RayCluster:
    """A cluster of two nodes on the loopback, in processes that end with this object."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        script = Path(__file__).with_name("ray_cluster.py")
        with (folder / "stderr.log").open("w") as errors:
            self.process = subprocess.Popen(
                [sys.executable, str(script), str(folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        self.address = self._next_line()

    def remove_node(self) -> None:
        """Kill one of the two, with everything on it."""
        assert self.process.stdin is not None
        self.process.stdin.write("remove\n")
        self.process.stdin.flush()
        assert self._next_line() == "removed"

    def close(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def _next_line(self) -> str:
        """What the cluster prints next; an assertion with all its logs if it ended instead."""
        assert self.process.stdout is not None
        hung = threading.Timer(HANGS_S, self.process.kill)
        hung.start()
        line = self.process.stdout.readline().strip()
        hung.cancel()
        if not line:
            code = self.process.wait()
            raise AssertionError(f"Ray's cluster ended: exit code {code}\n{logs_of(self.folder)}")
        return line


def logs_of(folder: Path, lines: int = 30) -> str:
    """The last lines of every log below a folder, stderr first: a cause may be in any of them."""
    found = [p for p in folder.rglob("*") if p.suffix in {".log", ".out", ".err"} and p.is_file()]
    texts = {path: path.read_text(errors="replace").splitlines() for path in sorted(found)}
    order = sorted(texts, key=lambda path: path.name != "stderr.log")
    return "\n".join(
        f"--- {path.relative_to(folder)}\n" + "\n".join(texts[path][-lines:])
        for path in order
        if texts[path]
    )


@contextlib.contextmanager
def short_folder() -> Iterator[Path]:
    """A folder for Ray's files, whose sockets need a short path."""
    folder = tempfile.mkdtemp(prefix="gf-ray-", dir="/tmp")
    try:
        yield Path(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module", autouse=True)
def ray_environment() -> Iterator[None]:
    """Ray reads these when it is imported: here, and in the processes that are started."""
    known = {
        **QUIET,
        **LOOPBACK,  # then 127.0.0.1 is not taken for the machine's other address
        "PYTHONPATH": os.pathsep.join(filter(None, (str(PLUGIN), os.environ.get("PYTHONPATH")))),
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        **PATIENT,
    }
    with pytest.MonkeyPatch.context() as patch, short_folder() as folder:
        for name, value in {**known, "RAY_TMPDIR": str(folder)}.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    """Ray with the plug-in's models; drivers of this process and those it starts may join."""
    pytest.importorskip("ray", reason="the extra 'ray' is not installed")
    with short_folder() as folder:
        cluster = RayCluster(folder)
        try:
            yield cluster
        finally:
            cluster.close()


@pytest.fixture(params=["processes", "ray"])
def workers(request: pytest.FixtureRequest) -> dict[str, Any]:
    """A plan with two workers of either kind."""
    if request.param == "processes":
        return {"workers": 2}
    address = request.getfixturevalue("cluster").address
    return {"engine": "ray", "workers": 2, "ray_address": address}


@pytest.mark.usefixtures("plugin")
def test_workers_answer_as_one_model_does(
    painted: Made, tmp_path: Path, workers: dict[str, Any]
) -> None:
    made = painted(30)
    (made[1] / "7.png").write_text("no picture")
    alone = ask(made, "finder", tmp_path / "alone")
    together = ask(made, "finder", tmp_path / "together", **workers)
    assert stored(tmp_path / "together") == stored(tmp_path / "alone")
    assert together.outcomes == alone.outcomes and together.failures == alone.failures
    assert together.probe == alone.probe == "not offered by the model"


@pytest.mark.usefixtures("plugin")
def test_a_picture_that_kills_its_worker_fails_alone(
    painted: Made, tmp_path: Path, workers: dict[str, Any]
) -> None:
    ended = ask(painted(16), "fragile:3,9", tmp_path / "run", **workers)
    assert ended.state == "finished" and ended.failures == {DIED: 4}
    failed = {k for k, v in stored(tmp_path / "run").items() if v[0] is Outcome.FAILED}
    assert failed == {"3-blue", "3-green", "9-blue", "9-green"}
    assert len(stored(tmp_path / "run")) == 32


TALKING = """
import os, time
from groundfault.workers.runtime import Answer
class Model:
    def segment(self, picture, phrases):
        time.sleep(0.1)
        for _ in range(200):
            os.write(2, f"{os.getpid()} says so and {'so ' * 20}\\n".encode())
        return [Answer(outcome="abstained") for _ in phrases]
def load(options):
    return Model()
"""


def test_what_their_models_write_to_stderr_is_in_the_run(
    painted: Made, tmp_path: Path, workers: dict[str, Any]
) -> None:
    """Each process in a log of its own, though two write at once."""
    (tmp_path / "mine.py").write_text(TALKING)
    ended = ask(painted(12), f"worker:{tmp_path / 'mine.py'}", tmp_path / "run", **workers)
    assert ended.outcomes["failed"] == 0
    logs = [path.read_text() for path in sorted((tmp_path / "run").glob("worker-*.log"))]
    assert logs and sum(log.count("says so") for log in logs) == 200 * 12
    for log in logs:
        started = {
            part.partition(",")[0] for part in log.split("process ")[1:]
        }  # again, if one died
        said = [line for line in log.splitlines() if "says so" in line]
        assert {line.partition(" ")[0] for line in said} <= started


@pytest.mark.usefixtures("plugin")
def test_a_model_that_no_worker_can_load_ends_the_run(
    painted: Made, tmp_path: Path, workers: dict[str, Any]
) -> None:
    with pytest.raises(GroundfaultError, match="model 'finder:slow' cannot be loaded"):
        ask(painted(3), "finder:slow", tmp_path / "run", **workers)


def test_workers_end_if_they_only_die(painted: Made, tmp_path: Path) -> None:
    made = painted(2)
    with pytest.raises(GroundfaultError, match="workers died before they could answer"):
        run_masks(made[0], functools.partial(os._exit, 3), tmp_path / "run", plan=Plan(workers=2))


def test_eval_on_a_cluster_that_is_there(
    cluster: RayCluster, benchmark_folder: Callable[[int], Path], tmp_path: Path
) -> None:
    """`--ray-address` gives the files that a local run gives."""
    folder, local, there = benchmark_folder(12), tmp_path / "local", tmp_path / "there"
    start = [sys.executable, "-m", "groundfault.cli", "eval", str(folder), "--model", "finder"]
    start += ["--bootstrap", "50", "--out"]
    subprocess.run([*start, str(local)], check=True, capture_output=True)
    joined = [*start, str(there), "--engine", "ray", "--ray-address", cluster.address]
    ran = subprocess.run(joined, capture_output=True, text=True)
    assert ran.returncode == 0 and "finder: 24 of 24 answered" in ran.stderr, ran.stderr
    assert stored(there / "finder") == stored(local / "finder")
    ours, theirs = read_results(there / "finder"), read_results(local / "finder")
    assert ours[0] == theirs[0] and ours[1].equals(theirs[1])
    noted = read_run(there / "finder")
    assert noted.settings["ray_address"] == cluster.address and "ray" in noted.versions


def test_a_build_on_a_cluster_makes_the_same_bytes(
    cluster: RayCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`build --engine ray`: every edit by an actor, none here; released files as without."""
    annotations, images = write_set(tmp_path / "set", 4)
    monkeypatch.setenv("ENGINE_LOG", str(tmp_path / "log.txt"))
    start = [sys.executable, "-m", "groundfault.cli", "build", "cafe", "--editor", "invert"]
    start += ["--annotations", str(annotations), "--images", str(images), "--out"]
    local = subprocess.run([*start, str(tmp_path / "local")], capture_output=True, text=True)
    assert local.returncode == 0, local.stderr
    edits = len((tmp_path / "log.txt").read_text().splitlines())
    joined = [*start, str(tmp_path / "there"), "--engine", "ray", "--workers", "2"]
    ran = subprocess.run(
        [*joined, "--ray-address", cluster.address], capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    assert contents(tmp_path / "there") == contents(tmp_path / "local") and edits > 6
    assert len((tmp_path / "log.txt").read_text().splitlines()) == edits  # actors have no such file


def test_a_cluster_that_is_not_there_is_named(painted: Made, tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="the extra 'ray' is not installed")
    with pytest.raises(UsageError, match=r"Ray at 127\.0\.0\.1:1 cannot be reached"):
        ask(painted(2), "oracle", tmp_path / "run", engine="ray", ray_address="127.0.0.1:1")


def test_ray_that_does_not_start_is_said_in_one_message() -> None:
    def init(**_: object) -> None:
        raise Exception("The current node timed out during startup.")

    with pytest.raises(GroundfaultError, match=r"cannot be started on this machine \(The current"):
        ray_pool._start(SimpleNamespace(init=init), "")


def test_ray_of_this_machine_listens_on_the_loopback_only(
    benchmark_folder: Callable[[int], Path], tmp_path: Path
) -> None:
    """Without an address Ray is started here, for this run, and nobody else can reach it."""
    pytest.importorskip("ray", reason="the extra 'ray' is not installed")
    psutil = import_module("psutil")  # Ray brings it
    script = Path(__file__).with_name("ray_deadlines.py")
    command = [sys.executable, str(script), "eval", str(benchmark_folder(4)), "--model"]
    command += ["finder:0.3", "--engine", "ray", "--workers", "1", "--bootstrap", "0"]
    environment = {name: value for name, value in os.environ.items() if name not in LOOPBACK}
    addresses: set[str] = set()
    with (tmp_path / "stderr.log").open("w") as errors:
        process = subprocess.Popen(
            [*command, "--out", str(tmp_path / "runs")],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=errors,
        )
    while process.poll() is None:
        with contextlib.suppress(psutil.Error):
            for one in psutil.Process(process.pid).children(recursive=True):
                addresses |= {c.laddr.ip for c in one.net_connections() if c.status == "LISTEN"}
        time.sleep(0.1)
    assert process.returncode == 0, logs_of(tmp_path) + logs_of(Path(os.environ["RAY_TMPDIR"]))
    assert read_run(tmp_path / "runs" / "finder-0.3").outcomes["ok"]
    assert {ip.removeprefix("::ffff:") for ip in addresses} == {"127.0.0.1"}


@pytest.mark.usefixtures("plugin")
def test_a_machine_that_goes_away_loses_nothing(
    cluster: RayCluster, painted: Made, tmp_path: Path
) -> None:
    """Half of the workers die with their node in mid-run: the rest answer everything, alike. The
    last to use the cluster, as it has one node from then on."""
    made = painted(40)
    ask(made, "finder", tmp_path / "alone")
    plan = Plan(engine="ray", workers=2, ray_address=cluster.address)
    gone = threading.Event()

    def progress(now: Progress) -> None:
        if now.done >= 16 and not gone.is_set():
            cluster.remove_node()
            gone.set()

    ended = run_masks(
        made[0],
        load("finder:0.05"),
        tmp_path / "run",
        name="finder",
        plan=plan,
        progress=progress,
    )
    assert gone.is_set() and ended.outcomes["failed"] == 0
    assert stored(tmp_path / "run") == stored(tmp_path / "alone")
