"""Isolated workers: real processes, honest, clumsy and hostile ones."""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import signal
import stat
import sys
import textwrap
import time
import types
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from groundfault.errors import UnknownName, UsageError
from groundfault.interfaces import ModelOptions, Segmenter
from groundfault.io.masks import decode, encode
from groundfault.models import worker, worker_log, worker_process
from groundfault.models.worker import WorkerSegmenter
from groundfault.models.worker_process import (
    WorkerDied,
    WorkerError,
    WorkerGaveUp,
    WorkerModelError,
    WorkerNonsense,
    WorkerTimeout,
)
from groundfault.records import Outcome
from groundfault.workers import runtime

PICTURE = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)
PATIENCE_S = 300.0
Start = Callable[..., WorkerSegmenter]


@pytest.fixture(autouse=True)
def bounded_in_time() -> Iterator[None]:
    def too_long(*_: object) -> None:
        raise AssertionError(f"the test took over {PATIENCE_S} s")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE_S)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def script(tmp_path: Path) -> Iterator[Start]:
    """Starts a worker from the text of a script that our runtime runs."""
    started: list[WorkerSegmenter] = []

    def start(text: str, *, timeout_s: float = 120.0, **settings: object) -> WorkerSegmenter:
        path = tmp_path / f"mine{len(started)}.py"
        path.write_text("from groundfault.workers.runtime import Answer\n" + textwrap.dedent(text))
        options = ModelOptions(timeout_s=timeout_s)
        made = worker.load(str(path), options)
        for name, value in settings.items():
            setattr(made, name, value)
        started.append(made)
        return made

    yield start
    for made in started:
        made.close()


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Start]:
    """Starts a program that speaks, or breaks, the protocol by itself."""
    started: list[WorkerSegmenter] = []

    def start(text: str, *, greet: bool = True, timeout_s: float = 120.0) -> WorkerSegmenter:
        path = tmp_path / f"program{len(started)}"
        path.write_text(f"#!{sys.executable}\n{PREAMBLE}{GREETING if greet else ''}"
                        + textwrap.dedent(text))  # fmt: skip
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        made = worker.load(str(path), ModelOptions(timeout_s=timeout_s))
        made.backoff_s = 0.0
        started.append(made)
        return made

    yield start
    for made in started:
        made.close()


PREAMBLE = """
import json, os, sys, time
def say(**message):
    sys.stdout.write(json.dumps(message) + "\\n")
    sys.stdout.flush()
def listen():
    return json.loads(sys.stdin.readline())
MASK = {"size": [4, 6], "counts": [0, 24]}
def answer(request, **changes):
    one = {"masks": [MASK], "scores": [0.5], **changes}
    say(type="answer", id=request["id"], answers=[one for _ in request["phrases"]])
"""
GREETING = """
say(type="hello", protocol=1, worker="program")
say(type="ready", id=listen()["id"])
request = listen()
"""
HONEST = """
    class Model:
        model = "tiny"
        versions = {"tiny": "1.2"}
        def segment(self, picture, phrases):
            red = [[picture.rgb[3 * (y * picture.width + x)] % 2 for x in range(picture.width)]
                   for y in range(picture.height)]
            return [Answer([red, red], [0.75, 0.25], phrase, 0.5) for phrase in phrases]
    def load(options):
        return Model()
"""


def test_masks_scores_and_text_come_back(script: Start) -> None:
    model = script(HONEST)
    assert isinstance(model, Segmenter)
    first, second = model.segment(PICTURE, ["zebra", "größte Katze 🐈"])
    assert (decode(first.masks[0]) == PICTURE[:, :, 0] % 2).all()
    assert first.scores == (0.375, 0.125)
    assert first.outcome is Outcome.OK
    assert second.text == "größte Katze 🐈"
    assert model.about["model"] == "tiny"
    assert model.about["tiny"] == "1.2"


def test_pictures_of_any_size_one_after_another(script: Start) -> None:
    model = script(HONEST)
    rng = np.random.default_rng(0)
    for shape in [(1, 1), (40, 30), (3, 200), (2, 2)]:
        picture = rng.integers(0, 256, (*shape, 3), dtype=np.uint8)
        (found,) = model.segment(picture[:, ::-1], ["x"])
        assert (decode(found.masks[0]) == picture[:, ::-1, 0] % 2).all()


def test_no_phrases_start_nothing(script: Start) -> None:
    model = script("raise SystemExit(3)")
    assert model.segment(PICTURE, []) == []


@pytest.mark.parametrize(
    "picture",
    [PICTURE.astype(np.float32), PICTURE[:, :, 0], PICTURE[:0], PICTURE[:, :, :2]],
    ids=["floats", "grey", "empty", "two channels"],
)
def test_only_rgb_pictures_are_sent(script: Start, picture: np.ndarray) -> None:
    with pytest.raises(UsageError, match="uint8"):
        script(HONEST).segment(picture, ["x"])


def test_what_a_model_prints_or_reads_does_not_break_the_protocol(script: Start) -> None:
    model = script("""
        import os, subprocess, sys
        print("while importing")
        class Model:
            def segment(self, picture, phrases):
                print("to stdout")
                os.write(1, b"to descriptor 1\\n")
                subprocess.run([sys.executable, "-c", "print('from a child')"])
                assert sys.stdin.read() == ""
                return [Answer(text="no such thing") for _ in phrases]
        def load(options):
            return Model()
    """)
    for _ in range(3):
        (found,) = model.segment(PICTURE, ["x"])
        assert found.outcome is Outcome.ABSTAINED
    with pytest.raises(UsageError):
        model.segment(PICTURE[:, :, 0], ["x"])
    model.close()
    assert "to stdout" in model.stderr or "while importing" in model.stderr


def test_options_reach_the_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "my-model.py"
    path.write_text(
        textwrap.dedent("""
        import json, os, sys
        from groundfault.workers.runtime import Answer
        class Model:
            def __init__(self, options):
                import neighbour
                seen = {**options, "cwd": os.getcwd(), "hub": os.environ.get("HF_HUB_OFFLINE"),
                        "path": os.environ.get("PYTHONPATH")}
                self.text = json.dumps(seen)
            def segment(self, picture, phrases):
                return [Answer(text=self.text, outcome="abstained") for _ in phrases]
        load = Model
    """)
    )
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "neighbour.py").write_text("")
    monkeypatch.setenv("GROUNDFAULT_WORKER_REPO_MY_MODEL", str(repo))
    options = ModelOptions(device="cuda:1", dtype="bfloat16", revision="abc", offline=True)
    with worker.load(f"{path}:owner/weights", options) as model:
        (found,) = model.segment(PICTURE, ["x"])
    seen = __import__("json").loads(found.text)
    assert seen["checkpoint"] == "owner/weights"
    assert (seen["device"], seen["dtype"], seen["revision"]) == ("cuda:1", "bfloat16", "abc")
    assert seen["cwd"] == str(repo.resolve())
    assert seen["hub"] == "1"


def test_names_interpreters_and_repositories_are_checked_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(UnknownName, match="lisa"):
        worker.load("liza", ModelOptions())
    with pytest.raises(UsageError, match="no such file"):
        worker.load(str(tmp_path / "absent.py"), ModelOptions())
    monkeypatch.setenv("GROUNDFAULT_WORKER_PYTHON_SEG_ZERO", str(tmp_path / "python"))
    with pytest.raises(UsageError, match="GROUNDFAULT_WORKER_PYTHON_SEG_ZERO"):
        worker.load("seg_zero", ModelOptions())
    monkeypatch.setenv("GROUNDFAULT_WORKER_REPO_LISA", str(tmp_path / "nowhere"))
    with pytest.raises(UsageError, match="GROUNDFAULT_WORKER_REPO_LISA"):
        worker.load("lisa", ModelOptions())


def test_the_interpreter_of_the_name_wins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("GROUNDFAULT_WORKER_PYTHON", str(tmp_path / "one"))
    assert worker.load("lisa", ModelOptions()).command[0] == str(tmp_path / "one")
    monkeypatch.setenv("GROUNDFAULT_WORKER_PYTHON_LISA", str(tmp_path / "two"))
    assert worker.load("lisa", ModelOptions()).command[0] == str(tmp_path / "two")
    assert worker.load("glamm", ModelOptions()).command[0] == str(tmp_path / "one")


def test_a_wrapper_around_the_interpreter_works_without_our_packages(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wrapper = tmp_path / "python"
    wrapper.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I "$@"\n')
    wrapper.chmod(0o755)
    (tmp_path / "plain.py").write_text(
        "from groundfault.workers.runtime import Answer\n" + textwrap.dedent(HONEST)
    )
    monkeypatch.setenv("GROUNDFAULT_WORKER_PYTHON", str(wrapper))
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    with worker.load(str(tmp_path / "plain.py"), ModelOptions()) as model:
        assert model.segment(PICTURE, ["x"])[0].outcome is Outcome.OK


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDFAULT_WORKER_PYTHON", sys.executable)
    with (
        worker.load("lisa", ModelOptions()) as model,
        pytest.raises(WorkerModelError, match="GROUNDFAULT_WORKER_REPO_LISA"),
    ):
        model.start()


def test_an_exception_of_the_model_does_not_cost_the_process(script: Start) -> None:
    model = script("""
        import os
        class Model:
            def segment(self, picture, phrases):
                if phrases == ["bad"]:
                    raise RuntimeError("CUDA out of memory")
                return [Answer(text=str(os.getpid()), outcome="abstained") for _ in phrases]
        def load(options):
            return Model()
    """)
    (before,) = model.segment(PICTURE, ["good"])
    for _ in range(worker.ERRORS_BEFORE_RESTART - 1):
        with pytest.raises(WorkerModelError, match="out of memory"):
            model.segment(PICTURE, ["bad"])
    (after,) = model.segment(PICTURE, ["good"])
    assert before.text == after.text
    for _ in range(worker.ERRORS_BEFORE_RESTART):
        with pytest.raises(WorkerModelError, match="RuntimeError") as raised:
            model.segment(PICTURE, ["bad"])
    assert "Traceback" in raised.value.stderr
    model.backoff_s = 0.0
    (fresh,) = model.segment(PICTURE, ["good"])
    assert fresh.text != before.text


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("Answer([[[1]]])", "mask is"),
        ("Answer([[[1, 1], [1]]])", "mask is"),
        ("Answer([picture.array()[:, :, 0]], [float('nan')])", "not finite"),
        ("Answer([picture.array()[:, :, 0]], [0.1, 0.2])", "2 scores for 1 masks"),
        ("Answer([picture.array()[:, :, 0]], [1.5])", "not in 0–1"),
        ("Answer()", "no outcome"),
        ("Answer([picture.array()[:, :, 0]], outcome='abstained')", "stated as abstained"),
        ("Answer(outcome='perhaps')", "perhaps"),
        ("Answer([{'size': [9, 9], 'counts': [81]}])", "9x9"),
    ],
)
def test_an_unsound_answer_is_an_error(script: Start, answer: str, problem: str) -> None:
    model = script(f"""
        class Model:
            def segment(self, picture, phrases):
                return [{answer}]
        def load(options):
            return Model()
    """)
    with pytest.raises(WorkerError, match=problem):
        model.segment(PICTURE, ["zebra"])


HOSTILE = {
    "silence": ("time.sleep(999)", WorkerTimeout, "did not answer within"),
    "garbage": ('print("loading 10%", flush=True); time.sleep(999)', WorkerNonsense, "loading 10%"),
    "not utf-8": ('os.write(1, b"\\xff\\xfe\\n"); time.sleep(999)', WorkerNonsense, "xff"),
    "truncated JSON": (
        'os.write(1, b\'{"type": "answer", "id"\\n\'); time.sleep(999)', WorkerNonsense, "answer",
    ),
    "dies mid-line": ('os.write(1, b\'{"type": "ans\'); sys.exit(7)', WorkerDied,
                      r"exit code 7 in the middle of a line"),
    "dies": ("sys.exit(3)", WorkerDied, "exit code 3"),
    "killed": ("os.kill(os.getpid(), 9)", WorkerDied, "signal 9"),
    "deep nesting": (
        'os.write(1, b"[" * 200000 + b"\\n"); time.sleep(999)', WorkerNonsense, "line",
    ),
    "deep in a field": (
        'os.write(1, b\'{"type": "answer", "x": \' + b"[" * 200000 + b"\\n"); time.sleep(999)',
        WorkerNonsense, "line",
    ),
    "wrong id": ("request['id'] += 1; answer(request); time.sleep(999)", WorkerNonsense,
                 "another request"),
    "an old id, then the right one": (
        "right = request['id']; request['id'] = 0; answer(request); request['id'] = right;"
        "answer(request); time.sleep(999)", WorkerNonsense, "another request",
    ),
    "hello again": ('say(type="hello", protocol=1, worker="x"); time.sleep(999)', WorkerNonsense,
                    "another request"),
    "ready instead": ('say(type="ready", id=request["id"]); time.sleep(999)', WorkerNonsense,
                      "masks"),
    "unknown message": ('say(type="song", id=request["id"]); time.sleep(999)', WorkerNonsense,
                        "song"),
    "too few answers": ('say(type="answer", id=request["id"], answers=[]); time.sleep(999)',
                        WorkerNonsense, "0 answers to 2"),
    "masks of another size": (
        'answer(request, masks=[{"size": [6, 4], "counts": [24]}])', WorkerNonsense, "6x4",
    ),
    "runs that do not add up": (
        'answer(request, masks=[{"size": [4, 6], "counts": [1, 2]}])', WorkerNonsense, "add up",
    ),
    "negative runs": (
        'answer(request, masks=[{"size": [4, 6], "counts": [30, -6]}])', WorkerNonsense, "mask 0",
    ),
    "huge runs": (
        'answer(request, masks=[{"size": [4, 6], "counts": [2**63, 24]}])', WorkerNonsense, ".",
    ),
    "runs that wrap around": (
        'answer(request, masks=[{"size": [4, 6], "counts": [2**32, 24]}])', WorkerNonsense, "mask",
    ),
    "a corrupt code": (
        'answer(request, masks=[{"size": [4, 6], "counts": "PPPP"}])', WorkerNonsense, "mask 0",
    ),
    "a code that is not ASCII": (
        'answer(request, masks=[{"size": [4, 6], "counts": "ü€\\u0000"}])', WorkerNonsense, "mask",
    ),
    "an empty code": (
        'answer(request, masks=[{"size": [4, 6], "counts": ""}])', WorkerNonsense, "mask 0",
    ),
    "NaN": ('os.write(1, json.dumps({"type": "answer", "id": request["id"], "answers": [{"masks": '
            '[], "scores": [float("nan")]}]}).encode() + b"\\n")', WorkerNonsense, "line"),
    "a score as text": ('answer(request, scores=["0.5"])', WorkerNonsense, "line"),
    "a score too high": ("answer(request, scores=[7.5])", WorkerNonsense, "7.5"),
    "an infinite score": ("answer(request, scores=[1e999])", WorkerNonsense, "line"),
    "a negative presence": ("answer(request, presence=-0.5)", WorkerNonsense, "-0.5"),
    "scores without masks": ("answer(request, masks=[])", WorkerNonsense, "1 scores for 0"),
    "nothing at all": ("answer(request, masks=[], scores=[])", WorkerNonsense, "no outcome"),
    "endless heart-beats": (
        'while True: say(type="beat", id=request["id"])', WorkerTimeout, "did not answer within",
    ),
    "closes stdout": ("os.close(1); time.sleep(999)", WorkerDied, "closed its stdout"),
    "floods stderr": (
        'while True: os.write(2, b"noise " * 1000)', WorkerTimeout, "did not answer within",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_worker_is_an_error_with_a_reason_never_a_hang(program: Start, what: str) -> None:
    text, kind, reason = HOSTILE[what]
    slow = kind is WorkerTimeout
    model = program(text + "\ntime.sleep(999)\n", timeout_s=0.5 if slow else 120.0)
    with pytest.raises(kind, match=reason) as raised:
        model.segment(PICTURE, ["zebra", "horse"])
    assert len(str(raised.value)) < 1500
    assert model._process is None  # no such process is asked again


def test_presence_is_a_factor_of_the_scores_and_kept(program: Start) -> None:
    (found,) = program("answer(request, presence=0.25)\n").segment(PICTURE, ["zebra"])
    assert found.scores == (0.125,) and found.presence == 0.25


@pytest.mark.parametrize(
    ("text", "kind", "reason"),
    [
        ("print('Hi!'); time.sleep(999)", WorkerNonsense, "Hi!"),
        (
            "say(type='hello', protocol=2, worker='x'); time.sleep(999)",
            WorkerNonsense,
            "protocol 2",
        ),
        ("say(type='beat', id=0); time.sleep(999)", WorkerNonsense, "introduce"),
        ("sys.exit('no module named torch')", WorkerDied, "no module named torch"),
        (
            "say(type='hello', protocol=1, worker='x'); say(type='error', id=listen()['id'],"
            "error='no weights')",
            WorkerModelError,
            "no weights",
        ),
        (
            "say(type='hello', protocol=1, worker='x'); say(type='answer', id=listen()['id'],"
            "answers=[]); time.sleep(999)",
            WorkerNonsense,
            "not ready",
        ),
    ],
)
def test_a_bad_handshake(program: Start, text: str, kind: type[WorkerError], reason: str) -> None:
    with pytest.raises(kind, match=reason):
        program(text, greet=False).start()


def test_a_program_that_cannot_run(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no program")
    model = worker.load(str(tmp_path / "text"), ModelOptions())
    with pytest.raises(WorkerDied, match="could not be started"):
        model.segment(PICTURE, ["x"])


def test_a_hundred_megabytes_in_a_line(program: Start) -> None:
    model = program("""
        for _ in range(1600):
            os.write(1, b"x" * (1 << 16))
    """)
    with pytest.raises(WorkerNonsense, match="67108864 bytes"):
        model.segment(PICTURE, ["x"])


def test_a_worker_that_never_reads(program: Start) -> None:
    model = program("time.sleep(999)", timeout_s=0.5)
    with pytest.raises(WorkerTimeout, match=r"did not answer within 0\.5 s"):
        model.segment(PICTURE, ["x" * 10_000] * 200)


def test_slow_is_not_frozen(script: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that takes four times the silence that is borne, by a clock that goes on with each
    line that is heard: how busy the machine is does not matter."""
    enough, heard = tmp_path / "enough", [0]
    slow = script(
        f"""
        import os, time
        class Model:
            def segment(self, picture, phrases):
                while not os.path.exists({str(enough)!r}):
                    time.sleep(0.01)
                return [Answer(outcome="abstained") for _ in phrases]
        def load(options):
            return Model()
        """,
        silence_s=1.0,
    )
    slow.start()
    hear = worker_process.WorkerProcess._hear_stdout

    def hear_and_go_on(process: worker_process.WorkerProcess) -> None:
        heard[0] += 1
        if heard[0] == 5:
            enough.touch()
        hear(process)

    clock = types.SimpleNamespace(monotonic=lambda: 0.9 * heard[0])
    with monkeypatch.context() as patched:
        patched.setattr(worker_process.WorkerProcess, "_hear_stdout", hear_and_go_on)
        patched.setattr(worker_process, "time", clock)
        assert slow.segment(PICTURE, ["x"])[0].outcome is Outcome.ABSTAINED
    assert heard[0] > 5


def test_frozen_is_told(script: Start) -> None:
    frozen = script(
        """
        import os, signal
        class Model:
            def segment(self, picture, phrases):
                os.kill(os.getpid(), signal.SIGSTOP)
        def load(options):
            return Model()
        """,
        silence_s=2.0,
    )
    with pytest.raises(WorkerTimeout, match=r"no heart-beat for 2 s"):
        frozen.segment(PICTURE, ["x"])


def test_loading_has_its_own_limit(script: Start) -> None:
    model = script("import time\ndef load(options):\n    time.sleep(999)", load_s=0.5)
    with pytest.raises(WorkerTimeout, match=r"did not load its model within 0\.5 s"):
        model.segment(PICTURE, ["x"])


def test_it_is_started_again_and_given_up_in_the_end(script: Start, tmp_path: Path) -> None:
    lives = tmp_path / "lives"
    lives.mkdir()
    model = script(
        f"""
        import os, pathlib, sys
        lives = pathlib.Path({str(lives)!r})
        (lives / str(os.getpid())).touch()
        class Model:
            def segment(self, picture, phrases):
                if phrases == ["poison"]:
                    print("last words", file=sys.stderr, flush=True)
                    os._exit(9)
                return [Answer(outcome="abstained") for _ in phrases]
        def load(options):
            return Model()
        """,
        restarts=2,
        backoff_s=0.01,
    )
    for _ in range(2):  # a success in between sets the count back
        for _ in range(2):
            with pytest.raises(WorkerDied, match="last words"):
                model.segment(PICTURE, ["poison"])
        assert model.segment(PICTURE, ["x"])[0].outcome is Outcome.ABSTAINED
    for _ in range(3):
        with pytest.raises(WorkerDied):
            model.segment(PICTURE, ["poison"])
    count = len(list(lives.iterdir()))
    for _ in range(3):
        with pytest.raises(WorkerGaveUp, match="3 times in a row") as raised:
            model.segment(PICTURE, ["x"])
    assert "last words" in raised.value.stderr
    assert len(list(lives.iterdir())) == count == 7


def test_a_death_between_two_requests_costs_no_picture(script: Start) -> None:
    model = script(HONEST, backoff_s=0.0)
    model.segment(PICTURE, ["x"])
    assert model._process is not None
    os.kill(model._process.pid, signal.SIGKILL)
    while model._process.alive:
        time.sleep(0.01)
    assert model.segment(PICTURE, ["x"])[0].outcome is Outcome.OK


def test_pauses_grow(script: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    model = script("raise ImportError('torch')", backoff_s=0.25, restarts=3)
    monkeypatch.setattr(worker, "LONGEST_BACKOFF_S", 0.75)
    monkeypatch.setattr(worker.time, "sleep", pauses.append)
    for _ in range(4):
        with pytest.raises(WorkerModelError, match="torch"):
            model.start()
    with pytest.raises(WorkerGaveUp):
        model.start()
    assert [pause for pause in pauses if pause >= 0.25] == [0.25, 0.5, 0.75]


def test_nothing_is_left_behind(script: Start) -> None:
    descriptors = _open_descriptors()
    model = script("""
        import os, subprocess, sys
        class Model:
            def __init__(self):
                self.child = subprocess.Popen([sys.executable, "-c", "import time;time.sleep(999)"])
            def segment(self, picture, phrases):
                return [Answer(text=str(self.child.pid), outcome="abstained") for _ in phrases]
        def load(options):
            return Model()
    """)
    (found,) = model.segment(PICTURE, ["x"])
    assert model._process is not None
    pid = model._process.pid
    model.close()
    model.close()
    with pytest.raises(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)  # reaped: no zombie
    _wait_until_gone(int(found.text))
    assert _open_descriptors() <= descriptors


def _open_descriptors() -> int:
    gc.collect()  # what other tests left open is not to be closed in between
    return len(list(Path("/dev/fd").iterdir()))


def test_a_forgotten_worker_is_ended(script: Start, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from groundfault.workers.runtime import Answer\n" + textwrap.dedent(HONEST)
    )
    model = worker.load(str(tmp_path / "mine.py"), ModelOptions())
    model.start()
    assert model._process is not None
    pid = model._process.pid
    del model
    gc.collect()
    _wait_until_gone(pid)


def test_a_worker_ends_with_its_groundfault(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        textwrap.dedent("""
        import os, time
        class Model:
            def segment(self, picture, phrases):
                open(os.environ["PID_FILE"], "w").write(str(os.getpid()))
                time.sleep(999)
        def load(options):
            return Model()
    """)
    )
    parent = textwrap.dedent("""
        import sys
        import numpy as np
        from groundfault.models import worker
        from groundfault.interfaces import ModelOptions
        model = worker.load(sys.argv[1], ModelOptions())
        model.silence_s = 20.0
        model.segment(np.zeros((2, 2, 3), np.uint8), ["x"])
    """)
    import subprocess

    pid_file = tmp_path / "pid"
    command = [sys.executable, "-c", parent, str(tmp_path / "mine.py")]
    with subprocess.Popen(command, env={**os.environ, "PID_FILE": str(pid_file)}) as popen:
        while not (pid_file.exists() and pid_file.read_text()):
            assert popen.poll() is None
            time.sleep(0.05)
        popen.kill()
    _wait_until_gone(int(pid_file.read_text()))


def _wait_until_gone(pid: int) -> None:
    while True:
        try:
            os.kill(pid, 0)
            if Path("/proc").exists() and ") Z " in Path(f"/proc/{pid}/stat").read_text():
                return  # dead; whoever adopted it has yet to reap it
        except (ProcessLookupError, FileNotFoundError):
            return
        time.sleep(0.02)


def test_a_copy_starts_its_own_process(script: Start) -> None:
    model = script(HONEST, silence_s=30.0)
    model.segment(PICTURE, ["x"])
    copy = pickle.loads(pickle.dumps(model))
    assert (copy.command, copy.options, copy.silence_s) == (model.command, model.options, 30.0)
    assert copy._process is None
    with copy:
        assert copy.segment(PICTURE, ["x"]) == model.segment(PICTURE, ["x"])
        assert copy._process.pid != model._process.pid  # type: ignore[union-attr]


def _in_a_child(model: WorkerSegmenter) -> str:
    with model:
        return model.segment(PICTURE, ["x"])[0].outcome.value


def test_it_can_be_sent_to_another_process(script: Start) -> None:
    model = script(HONEST)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        # A method of ours: another process may not be able to import this file.
        (found,) = pool.apply(model.segment, (PICTURE, ["x"]))
    assert found.outcome is Outcome.OK


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_leaves_the_parents_process_alone(script: Start) -> None:
    model = script(HONEST)
    model.segment(PICTURE, ["x"])
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if _in_a_child(model) == "ok" else 2
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert model.segment(PICTURE, ["x"])[0].outcome is Outcome.OK
    assert model._requests == 3  # load and two pictures: the process was never restarted


def test_last_words_are_bounded(script: Start) -> None:
    model = script("""
        import sys
        class Model:
            def segment(self, picture, phrases):
                for line in range(50_000):
                    print("line", line, file=sys.stderr)
                raise RuntimeError("after much ado")
        def load(options):
            return Model()
    """)
    with pytest.raises(WorkerModelError, match="after much ado") as raised:
        model.segment(PICTURE, ["x"])
    assert len(raised.value.stderr) <= worker_process.STDERR_BYTES
    assert len(str(raised.value)) < 1000


def test_a_large_picture_with_ragged_masks(script: Start) -> None:
    model = script("""
        class Model:
            def segment(self, picture, phrases):
                return [Answer([picture.array()[:, :, 1] > 250]) for _ in phrases]
        def load(options):
            return Model()
    """)
    picture = np.random.default_rng(0).integers(0, 256, (1500, 2000, 3), dtype=np.uint8)
    (found,) = model.segment(picture, ["x"])
    assert found.masks[0] == encode(picture[:, :, 1] > 250)


def test_both_sides_speak_the_same_protocol() -> None:
    assert f"protocol={runtime.PROTOCOL}" in GREETING


def test_what_workers_say_is_kept(script: Start, tmp_path: Path) -> None:
    """Two at work have a log each; the next life goes on in the first that is free."""
    talking = """
        import os, sys
        class Model:
            def segment(self, picture, phrases):
                for phrase in phrases:
                    print(phrase, file=sys.stderr, flush=True)
                return [Answer(outcome="abstained") for _ in phrases]
        def load(options):
            print("loading", file=sys.stderr, flush=True)
            return Model()
    """
    first, second = script(talking), script(talking)
    for model in (first, second):
        model.keep_log(tmp_path)
        model.start()
    first.segment(PICTURE, ["from the first"])
    pickle.loads(pickle.dumps(second)).close()  # a copy that was never asked holds no log
    second.segment(PICTURE, ["from the second"])
    for model in (first, second):
        model.close()
    with pickle.loads(pickle.dumps(first)) as later:
        later.segment(PICTURE, ["from a later one"])
    ours, theirs = ((tmp_path / f"worker-{k}.log").read_text() for k in (1, 2))
    assert ours.index("from the first") < ours.index("from a later one")
    assert ours.count("--- worker mine0, process") == ours.count("loading") == 2
    assert "from the second" in theirs and "--- worker mine1" in theirs
    assert "from the second" not in ours and not (tmp_path / "worker-3.log").exists()


def test_the_last_words_of_a_dead_worker_are_kept(script: Start, tmp_path: Path) -> None:
    model = script("""
        import os, sys
        class Model:
            def segment(self, picture, phrases):
                print("farewell", file=sys.stderr, flush=True)
                os.kill(os.getpid(), 9)
        def load(options):
            return Model()
    """)
    model.keep_log(tmp_path)
    with pytest.raises(WorkerDied):
        model.segment(PICTURE, ["x"])
    assert "farewell" in (tmp_path / "worker-1.log").read_text()


def test_a_log_is_bounded_and_keeps_its_end(tmp_path: Path) -> None:
    log = worker_log.WorkerLog(tmp_path, "worker mine")
    for number in range(40):
        log.add(b"%d " % number + b"x" * 60_000)
    log.close()
    words = (tmp_path / "worker-1.log").read_bytes()
    assert words.startswith(worker_log.CUT) and len(words) <= worker_log.LOG_BYTES
    assert words.endswith(b"39 " + b"x" * 60_000)


def test_a_log_that_cannot_be_written_costs_nothing(script: Start, tmp_path: Path) -> None:
    model = script(HONEST)
    model.keep_log(tmp_path / "nowhere")
    assert model.segment(PICTURE, ["x"])[0].outcome is Outcome.OK
    assert not (tmp_path / "nowhere").exists()


def test_qualities_are_kept_beside_the_scores(script: Start) -> None:
    model = script("""
        class Model:
            def segment(self, picture, phrases):
                mask = [[1] * picture.width] * picture.height
                kinds = {"one": [0.7], "none": [], "few": [0.5, 0.6], "odd": [float("nan")]}
                return [Answer([mask], qualities=kinds[phrase]) for phrase in phrases]
        def load(options):
            return Model()
    """)
    one, none = model.segment(PICTURE, ["one", "none"])
    assert (one.scores, one.qualities) == ((1.0,), (0.7,))
    assert none.qualities == ()
    with pytest.raises(WorkerNonsense, match="2 qualities for 1 masks"):
        model.segment(PICTURE, ["few"])
    with pytest.raises(WorkerModelError, match="quality is not finite"):
        model.segment(PICTURE, ["odd"])


TELLS_KEYS = """
    import os
    class Model:
        def segment(self, picture, phrases):
            return [Answer([], text=str(phrase in os.environ)) for phrase in phrases]
    def load(options):
        return Model()
"""
KEYS = (
    "OPENAI_API_KEY",
    "HF_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "MY_SECRET",
    "DB_PASSWORD",
    "GITHUB_PAT",
)


@pytest.mark.parametrize("variable", ["GROUNDFAULT_WORKER_KEYS", "GROUNDFAULT_WORKER_KEYS_MINE0"])
def test_a_worker_gets_no_keys_but_those_that_are_named(
    script: Start, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    for name in (*KEYS, "TOKENIZERS_PARALLELISM", "MONKEY"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv(variable, "HF_TOKEN, OTHER_TOKEN")
    asked = [*KEYS, "TOKENIZERS_PARALLELISM", "MONKEY", "PATH"]
    found = [each.text for each in script(TELLS_KEYS).segment(PICTURE, asked)]
    assert dict(zip(asked, found, strict=True)) == {
        **dict.fromkeys(KEYS, "False"), "HF_TOKEN": "True",
        "TOKENIZERS_PARALLELISM": "True", "MONKEY": "True", "PATH": "True",
    }  # fmt: skip


def test_escape_sequences_are_spelled_out_in_a_log(tmp_path: Path) -> None:
    log = worker_log.WorkerLog(tmp_path, "worker mine")
    log.add("50 %\r100 %\n\x1b[2Jé\t\x07\u009b31m\n".encode())
    log.close()
    words = (tmp_path / "worker-1.log").read_text()
    assert words.endswith("50 %\n100 %\n\\x1b[2Jé\t\\x07\\x9b31m\n")
