"""A model in an environment of its own: a process that answers over a pipe.

    worker:lisa                       the script that ships for LISA
    worker:lisa:CHECKPOINT            with other weights: of the hub, or a path from where you are
    worker:/path/to/script.py         a script of yours, run by our runtime
    worker:/path/to/executable        anything that speaks the protocol itself

The interpreter is $GROUNDFAULT_WORKER_PYTHON_LISA, else $GROUNDFAULT_WORKER_PYTHON, else this one;
the model's repository $GROUNDFAULT_WORKER_REPO_LISA. Keys in the environment are kept from it,
except those that $GROUNDFAULT_WORKER_KEYS_LISA or $GROUNDFAULT_WORKER_KEYS names, as HF_TOKEN.
docs/workers.md has the protocol.

The process starts with the first picture and again after it died, hung or talked nonsense: then
that picture's request raises a WorkerError, and after several failures in a row every further one
does at once. Nothing a worker does becomes a score unless it passed every check here.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import numpy as np

from groundfault.errors import UnknownName, UsageError
from groundfault.interfaces import ModelOptions
from groundfault.io.masks import parse_mask, to_rle
from groundfault.models.worker_process import (
    WorkerGaveUp,
    WorkerModelError,
    WorkerNonsense,
    WorkerProcess,
)
from groundfault.parsing.segmenter_replies import outcome_of_text
from groundfault.records import Outcome, Prediction
from groundfault.workers import runtime

if TYPE_CHECKING:
    from groundfault.interfaces import Image

__all__ = ["EditedReply", "WorkerSegmenter", "load", "scripts"]

T = TypeVar("T")

HELLO_S = 60.0
"""For an interpreter to start, on a cold network disk too; no model is loaded yet."""
LOAD_S = 3600.0
"""For a checkpoint to be downloaded and loaded, as long as the heart beats."""
SILENCE_S = 60.0
BEATS_PER_SILENCE = 10
RESTARTS = 5
ERRORS_BEFORE_RESTART = 3
"""Exceptions in a row: a broken CUDA context answers nothing else until its process ends."""
BACKOFF_S = 0.5
LONGEST_BACKOFF_S = 30.0
_WEIGHTS = (".pt", ".pth", ".bin", ".ckpt", ".safetensors")
"""Names that end so are files, not checkpoints of the hub."""
_KEY = re.compile(
    r"(?:^|_)(?:API_?KEY|ACCESS_KEY|SECRET_KEY|TOKEN|SECRET|PASSWORD|PASSWD|PAT|CREDENTIALS)$", re.I
)
"""Names of variables that hold keys: a worker runs other people's code."""
_LOGIN = re.compile(r"://[^/\s@]*:[^/\s@]+@")
"""An address with a password in it, as in DATABASE_URL."""
_NAMES = ("worker", "model")
"""What a worker says of itself that is no version."""


def _is_key(variable: str, value: str) -> bool:
    """Whether a variable of the environment lets its holder in somewhere; a proxy does not count,
    without which a worker may reach nobody."""
    is_proxy = variable.lower().endswith("_proxy")
    return bool(_KEY.search(variable)) or (not is_proxy and bool(_LOGIN.search(value)))


class _Hello(msgspec.Struct, tag="hello"):
    protocol: int
    worker: str
    python: str = ""


class _Ready(msgspec.Struct, tag="ready"):
    id: int
    model: str = ""
    versions: dict[str, str] = {}


class _Beat(msgspec.Struct, tag="beat"):
    id: int


class _Error(msgspec.Struct, tag="error"):
    id: int
    error: str


class _Mask(msgspec.Struct):
    size: tuple[int, int]
    counts: str | list[int]


class _Answer(msgspec.Struct):
    masks: list[_Mask]
    scores: list[float]
    text: str = ""
    presence: float | None = None
    outcome: str = ""
    reason: str = ""
    qualities: list[float] = []


class _Answers(msgspec.Struct, tag="answer"):
    id: int
    answers: list[_Answer]


class EditedReply(msgspec.Struct, tag="edited"):
    """What an editor's process says when it has edited a picture."""

    id: int
    height: int
    width: int
    refused: str = ""


_Reply = _Ready | _Answers | EditedReply
_Message = _Hello | _Beat | _Error | _Reply
_decoder: msgspec.json.Decoder[_Message] = msgspec.json.Decoder(_Message)


def scripts() -> dict[str, Path]:
    """The scripts that ship, by name."""
    folder = Path(runtime.__file__).parent
    hidden = {"__init__", "runtime"}
    return {path.stem: path for path in sorted(folder.glob("*.py")) if path.stem not in hidden}


class _Load:
    """Makes workers; nothing is started yet."""

    def __call__(self, argument: str, options: ModelOptions) -> WorkerSegmenter:
        """The worker that `worker:ARGUMENT` names."""
        name, _, checkpoint = argument.partition(":")
        if _is_path(name):
            program = Path(name).expanduser().resolve()
            if not program.is_file():
                raise UsageError(f"worker {name}: there is no such file")
        else:
            program = scripts().get(name) or _unknown(name)
        name = program.stem
        command = [str(program)]
        if program.suffix == ".py":
            command = [_interpreter(name), str(Path(runtime.__file__)), str(program)]
        return WorkerSegmenter(
            command,
            name=name,
            options=options,
            checkpoint=_checkpoint(name, checkpoint, options.revision),
            repo=_repository(name),
            keys=_keys(name),
        )

    def named_files(self, argument: str) -> tuple[str, ...]:
        """What may name files: a script of one's own and a checkpoint."""
        name, _, checkpoint = argument.partition(":")
        files = (checkpoint and str(Path(checkpoint).expanduser()),)
        return (str(Path(name).expanduser()), *files) if _is_path(name) else files


load = _Load()


def _is_path(name: str) -> bool:
    """Whether a worker is one's own, not a script that ships."""
    return os.sep in name or name.endswith(".py")


def _unknown(name: str) -> Path:
    raise UnknownName("worker", name, scripts())


def _variable(kind: str, name: str) -> str:
    return f"GROUNDFAULT_WORKER_{kind}_{re.sub('[^A-Z0-9]', '_', name.upper())}"


def _interpreter(name: str) -> str:
    for variable in (_variable("PYTHON", name), "GROUNDFAULT_WORKER_PYTHON"):
        if given := os.environ.get(variable):
            if found := shutil.which(str(Path(given).expanduser())):
                return found
            raise UsageError(
                f"worker {name}: ${variable} is {given}, which cannot be run. "
                "Remedy: set it to the Python of the model's environment"
            )
    return sys.executable


def _keys(name: str) -> list[str]:
    """The keys of ours that a worker gets, by the names of their variables."""
    variables = (_variable("KEYS", name), "GROUNDFAULT_WORKER_KEYS")
    return [
        key for variable in variables for key in re.split(r"[\s,]+", os.environ.get(variable, ""))
    ]


def _repository(name: str) -> str:
    variable = _variable("REPO", name)
    given = os.environ.get(variable, "")
    if given and not Path(given).expanduser().is_dir():
        raise UsageError(
            f"worker {name}: ${variable} is {given}, which is no folder. "
            "Remedy: set it to a clone of the model's repository"
        )
    return str(Path(given).expanduser().resolve()) if given else ""


def _checkpoint(name: str, given: str, revision: str) -> str:
    """A checkpoint as the worker gets it, who works in the model's repository: the full path of
    what lies in the user's folder; else as it is, for the hub."""
    if not given:
        return ""
    path = Path(given).expanduser()
    if path.exists():
        if revision:
            raise UsageError(
                f"worker {name}: {given} is a file or folder, which has no revision. "
                "Remedy: leave --revision out, or name a checkpoint of the hub"
            )
        return str(path.resolve())
    if given.startswith((".", "~", os.sep)) or path.suffix in _WEIGHTS:
        raise UsageError(f"worker {name}: there is no checkpoint {path.absolute()}")
    return given


class WorkerSegmenter:
    """A segmenter in another process. Can be pickled; each copy starts its own process."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        name: str,
        options: ModelOptions,
        checkpoint: str = "",
        repo: str = "",
        load_s: float = LOAD_S,
        silence_s: float = SILENCE_S,
        restarts: int = RESTARTS,
        backoff_s: float = BACKOFF_S,
        log_folder: Path | None = None,
        keys: Sequence[str] = (),
    ) -> None:
        self.command = tuple(command)
        self.keys = tuple(keys)
        """Variables of the environment that it gets although they look like keys."""
        self.name = name
        self.options = options
        self.checkpoint = checkpoint
        self.repo = repo
        self.load_s = load_s
        self.silence_s = silence_s
        self.restarts = restarts
        self.backoff_s = backoff_s
        self.log_folder = log_folder
        self.about: dict[str, str] = {}
        """What the worker said of itself: worker, model and versions; empty before it started."""
        self._process: WorkerProcess | None = None
        self._owner = os.getpid()
        self._lock = threading.RLock()
        self._requests = 0
        self._failures = 0
        self._errors = 0
        self._stderr = ""

    def segment(self, image: Image, phrases: Sequence[str]) -> list[Prediction]:
        """One prediction per phrase; a WorkerError says why there is none."""
        if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3 or not image.size:
            raise UsageError(
                f"worker {self.name}: a picture is (height, width, 3) uint8, "
                f"not {image.shape} {image.dtype}"
            )
        height_px, width_px = image.shape[:2]
        rgb = np.ascontiguousarray(image).data.cast("B")
        return self._segment((height_px, width_px), phrases, rgb=rgb)

    def keep_log(self, folder: Path) -> None:
        """From the next start on, keep there what the process writes to stderr."""
        self.log_folder = folder

    def start(self) -> None:
        """Start the process and load the model now, to learn early what is missing."""
        with self._lock:
            self._running()

    @property
    def checkpoints(self) -> tuple[str, ...]:
        """What the script says that it loaded."""
        return tuple(filter(None, [self.about.get("model")]))

    @property
    def worker_versions(self) -> dict[str, str]:
        """Of the worker's Python and libraries."""
        return {f"worker's {name}": self.about[name] for name in self.about if name not in _NAMES}

    @property
    def stderr(self) -> str:
        """The end of what the current worker, or the last one, wrote to stderr."""
        return self._process.stderr if self._process else self._stderr

    def close(self) -> None:
        """End the process, if there is one. The next request would start another."""
        with self._lock:
            self._stop(patient=True)

    def __enter__(self) -> WorkerSegmenter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        settings = {
            key: getattr(self, key)
            for key in (
                "name", "options", "checkpoint", "repo", "load_s", "silence_s", "restarts",
                "backoff_s", "log_folder",
            )
        }  # fmt: skip
        return _restored, (self.command, settings)

    def _segment(
        self,
        size: tuple[int, int],
        phrases: Sequence[str],
        *,
        rgb: memoryview,
    ) -> list[Prediction]:
        if not phrases:
            return []
        image = {"height": size[0], "width": size[1]}
        request = {"type": "segment", "image": image, "phrases": list(phrases)}
        return self.exchange(
            rgb, request, lambda process, reply: _predictions(process, reply, size, phrases)
        )

    def exchange(
        self,
        shown: memoryview,
        request: Mapping[str, object],
        checked: Callable[[WorkerProcess, _Reply], T],
    ) -> T:
        """Put bytes where the process finds them, ask it, and give what `checked` makes of its
        reply; a WorkerError says why there is none."""
        with self._lock:
            process = self._running()
            process.show(shown)
            try:
                process.begin("answer", within_s=self.options.timeout_s)
                found = checked(process, self._ask(process, request))
            except BaseException as problem:
                self._failed(problem)
                raise
            self._failures = self._errors = 0
            return found

    def _running(self) -> WorkerProcess:
        """The process, started and loaded if it was not."""
        if self._owner != os.getpid():  # a fork: the process belongs to the parent
            self._owner = os.getpid()
            self._stop(patient=False)
        if self._process is not None and not self._process.alive:  # it died between two requests
            self._failures += 1
            self._stop(patient=False)
        if self._process is not None:
            return self._process
        if self._failures > self.restarts:
            raise WorkerGaveUp(
                f"worker {self.name} failed {self._failures} times in a row and is not started "
                "again. Remedy: read the first failure's reason, then resume",
                stderr=self._stderr,
            )
        if self._failures:
            time.sleep(min(self.backoff_s * 2 ** (self._failures - 1), LONGEST_BACKOFF_S))
        try:
            self._process = WorkerProcess(
                self.name,
                self.command,
                env=self._environment(),
                silence_s=self.silence_s,
                log_folder=self.log_folder,
            )
            self._greet(self._process)
        except BaseException as problem:
            self._failed(problem, fatal=True)
            raise
        return self._process

    def _environment(self) -> dict[str, str]:
        """Ours, less keys that are not meant for it, and less what would lead another interpreter
        to our packages."""
        env = {
            variable: value
            for variable, value in os.environ.items()
            if variable in self.keys or not _is_key(variable, value)
        }
        if self.command[0] != sys.executable:
            for variable in ("PYTHONHOME", "PYTHONPATH", "__PYVENV_LAUNCHER__"):
                env.pop(variable, None)
        if self.options.offline:
            env |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
        return env | {"PYTHONUNBUFFERED": "1"}

    def _greet(self, process: WorkerProcess) -> None:
        """Handshake: who is there, then load the model."""
        process.begin("introduce itself", within_s=HELLO_S, beating=False)
        hello = _heard(process)
        if not isinstance(hello, _Hello):
            raise process.error(WorkerNonsense, "did not introduce itself first")
        if hello.protocol != runtime.PROTOCOL:
            raise process.error(
                WorkerNonsense,
                f"speaks protocol {hello.protocol}, this groundfault {runtime.PROTOCOL}. "
                "Remedy: use the runtime that ships with it",
            )
        request = {
            "type": "load",
            "beat_s": self.silence_s / BEATS_PER_SILENCE,
            "options": {
                "device": self.options.device,
                "dtype": self.options.dtype,
                "revision": self.options.revision,
                "offline": self.options.offline,
                "checkpoint": self.checkpoint,
                "repo": self.repo,
            },
        }
        process.begin("load its model", within_s=self.load_s)
        ready = self._ask(process, request)
        if not isinstance(ready, _Ready):
            raise process.error(WorkerNonsense, "is not ready after loading")
        self.about = {"worker": hello.worker, "model": ready.model, "python": hello.python}
        self.about |= ready.versions

    def _ask(self, process: WorkerProcess, request: Mapping[str, object]) -> _Reply:
        """The reply to a request; beats are listened to and dropped."""
        self._requests += 1
        process.send(msgspec.json.encode({**request, "id": self._requests}))
        while isinstance(reply := _heard(process), _Beat):
            pass
        if isinstance(reply, _Hello) or reply.id != self._requests:
            raise process.error(WorkerNonsense, f"answered another request than {self._requests}")
        if isinstance(reply, _Error):
            raise process.error(WorkerModelError, f"reports {reply.error}")
        return reply

    def _failed(self, problem: BaseException, *, fatal: bool = False) -> None:
        """End a process that cannot be trusted any more; an exception of the model is no reason,
        several in a row are."""
        if isinstance(problem, WorkerModelError) and not fatal:
            self._errors += 1
            if self._errors < ERRORS_BEFORE_RESTART:
                return
        self._errors = 0
        self._failures += 1
        self._stop(patient=False)

    def _stop(self, *, patient: bool) -> None:
        if self._process is not None:
            self._process.close(patient=patient)
            self._stderr = self._process.stderr
            self._process = None


def _restored(command: Sequence[str], settings: Mapping[str, Any]) -> WorkerSegmenter:
    return WorkerSegmenter(command, **settings)


def _heard(process: WorkerProcess) -> _Message:
    """The next message."""
    line = process.receive()
    try:
        return _decoder.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError) as problem:
        raise process.error(
            WorkerNonsense, f"wrote a line that is not the protocol's, {line[:80]!r}: {problem}"
        ) from None


def _predictions(
    process: WorkerProcess,
    reply: _Reply,
    size: tuple[int, int],
    phrases: Sequence[str],
) -> list[Prediction]:
    """One checked prediction per phrase."""
    if not isinstance(reply, _Answers):
        raise process.error(WorkerNonsense, "did not answer with masks")
    if len(reply.answers) != len(phrases):
        raise process.error(
            WorkerNonsense, f"gave {len(reply.answers)} answers to {len(phrases)} phrases"
        )
    predictions = []
    for phrase, answer in zip(phrases, reply.answers, strict=True):
        try:
            predictions.append(_prediction(answer, *size))
        except ValueError as problem:
            raise process.error(
                WorkerNonsense, f"answered {phrase[:80]!r} unsoundly: {problem}"
            ) from None
    return predictions


def _prediction(answer: _Answer, height_px: int, width_px: int) -> Prediction:
    """A checked answer; ValueError says what is wrong with it."""
    masks = []
    for index, mask in enumerate(answer.masks):
        coded = {"size": mask.size, "counts": mask.counts}
        try:
            masks.append(to_rle(parse_mask(coded, height_px, width_px)))
        except (ValueError, TypeError, OverflowError) as problem:
            raise ValueError(f"mask {index}: {problem}") from None
    if len(answer.scores) != len(masks):
        raise ValueError(f"{len(answer.scores)} scores for {len(masks)} masks")
    presence = 1.0 if answer.presence is None else answer.presence
    if answer.qualities and len(answer.qualities) != len(masks):
        raise ValueError(f"{len(answer.qualities)} qualities for {len(masks)} masks")
    for score in (*answer.scores, presence):
        if not 0.0 <= score <= 1.0:
            raise ValueError(f"a score of {score} is not in 0–1")
    return Prediction(
        item_id="",
        outcome=_outcome(answer),
        masks=tuple(masks),
        scores=tuple(score * presence for score in answer.scores),
        text=answer.text,
        reason=answer.reason,
        presence=answer.presence,
        qualities=tuple(answer.qualities),
    )


def _outcome(answer: _Answer) -> Outcome:
    """What the worker stated; else what its text says; else ok for masks. Never a guess."""
    if answer.outcome:
        stated = Outcome(answer.outcome)
        if answer.masks and stated is not Outcome.OK:
            raise ValueError(f"{len(answer.masks)} masks in an answer stated as {stated.value}")
        return stated
    if answer.text:
        return outcome_of_text(answer.text, len(answer.masks))
    if answer.masks:
        return Outcome.OK
    raise ValueError("neither mask nor text, and no outcome stated")
