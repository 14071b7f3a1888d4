"""Questions asked of an answerer, from the first to the last answer: what has no answer yet is
asked, and every answer is kept."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec

from groundfault import __version__
from groundfault.errors import GroundfaultError, UsageError
from groundfault.interfaces import ChatModel
from groundfault.io.foreign import sha256
from groundfault.io.store import read_json
from groundfault.llm.batching import run_in_batches
from groundfault.llm.client import CONCURRENCY, USED_UP, ChatClient, Statistics
from groundfault.llm.cost import (
    USUAL_TOKENS_OUT,
    Budget,
    CostEstimate,
    CostTracker,
    Price,
    SharedBudget,
    estimate_cost,
    guess_tokens,
)
from groundfault.llm.pictures import PictureCache
from groundfault.llm.response_store import ResponseStore, default_place, request_key
from groundfault.llm.retry import RetryPolicy
from groundfault.llm.server import ChatOptions, Server
from groundfault.parsing.answers import Answered, Mode
from groundfault.records import Outcome, Reply
from groundfault.runner.prompts import Asked, Questionnaire, exam_questions, prompts_hash
from groundfault.runs import answers
from groundfault.runs.answers import Recorder
from groundfault.runs.run import Run, write_run

__all__ = [
    "Answerer",
    "Answering",
    "ExamRun",
    "Marker",
    "Progress",
    "answerer_identity",
    "run_exam",
    "run_questions",
    "usual_modes",
]


class Answering(Protocol):
    """A baseline in words: it sees the question itself."""

    def answer(self, asked: Sequence[Asked]) -> Sequence[Reply]:
        """One reply per question, in order."""
        ...


Answerer = Server | ChatModel | Answering
_THINKING = re.compile(r"(?<![a-z])thinking(?![a-z])", re.IGNORECASE)
AnyPath = str | PathLike[str]
SERVER = "server"
"""The part of a run's identity that is known when the answerer is loaded."""


class Marker(msgspec.Struct, frozen=True, kw_only=True):
    """A judge, or a model that names causes, as a run notes it."""

    name: str
    prompt_hash: str = ""
    server: str = ""
    canaries: int = 0
    """Asked anew in this run."""
    canaries_missed: int = 0
    unjudged: int = 0
    """Answers that it refused to judge."""
    warnings: tuple[str, ...] = ()
    tokens: int = 0
    """Of requests in the last session; stored replies take none."""
    cost: float | None = None
    """None where a price is not known."""


class ExamRun(Run, frozen=True, kw_only=True):
    """What made a run of an exam, and what it took; the content of run.json."""

    modes: tuple[Mode, ...] = ("std",)
    stopped: str = ""
    """Why not everything was asked."""
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None
    """Of all answers; None where a price is not known."""
    spent: float | None = 0.0
    """In the last session: answers from the response store cost nothing."""
    latency_s: dict[str, float] = msgspec.field(default_factory=dict)
    last_session: dict[str, int] = msgspec.field(default_factory=dict)
    """Requests, retries, outages, answers from the response store, rewritten pictures."""
    judged: Marker | None = None
    """Who gave the verdicts."""
    attributed: Marker | None = None
    """Who named the sub-causes."""

    @property
    def within_budget(self) -> bool:
        """Whether it stopped only because its budget was used up, as it was told to."""
        first, last = USED_UP.split("{}")
        return self.stopped.startswith(first) and self.stopped.endswith(last)


class Progress(NamedTuple):
    """How far a run is."""

    done: int
    """Questions that were answered or failed, this session's and earlier ones'."""
    n_items: int
    failed: int
    per_s: float
    eta_s: float
    tokens: int
    """Of this session."""
    cost: float | None


def run_exam(
    exam_folder: AnyPath,
    load: Callable[[], Answerer],
    out: AnyPath,
    *,
    name: str,
    modes: Sequence[Mode] = ("std",),
    limit: int | None = None,
    **how: Any,
) -> ExamRun:
    """`run_questions` with an exam folder, or its first `limit` samples."""
    return run_questions(
        exam_questions(exam_folder, modes, limit=limit), load, out, name=name, **how
    )


def run_questions(
    questionnaire: Questionnaire,
    load: Callable[[], Answerer],
    out: AnyPath,
    *,
    name: str,
    options: ChatOptions | None = None,
    concurrency: int = CONCURRENCY,
    patience: RetryPolicy | None = None,
    budget: Budget | SharedBudget | None = None,
    price: Price | None = None,
    aside: float = 0.0,
    responses: AnyPath | None = None,
    fresh: bool = False,
    resume: bool = True,
    identity: Mapping[str, str] | None = None,
    settings: Mapping[str, object] | None = None,
    read: Callable[[Asked, Answered], Answered] | None = None,
    confirm: Callable[[CostEstimate], bool] | None = None,
    started: Callable[[ExamRun], None] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> ExamRun:
    """Ask what has no answer yet and keep the answers in the run folder `out`.

    `name` is the answerer's spec, `load` makes it, only if there is something to ask. `identity`
    is what its answers depend on besides, `settings` what the run notes besides. `responses`
    is the response store, by default the user's; `fresh` asks anew what it has. `budget` may be
    one that others live on too, and `aside` is what is kept of it for judging each answer.
    `read` turns an answer into one that is read, before it is kept. `confirm` sees an estimate
    before a run that somebody pays for, and may call it off. A folder with answers of another
    identity is refused.
    """
    options, out = options or ChatOptions(), Path(out)
    cost = CostTracker(budget, price, reserve=aside)
    if cost.budget is not None and cost.budget.money is not None and price is None:
        raise UsageError("a budget in money needs prices: give --price IN/OUT per million tokens")
    run = ExamRun(
        model=name,
        benchmark=questionnaire.benchmark,
        benchmark_folder=questionnaire.folder,
        content_hash=questionnaire.content_hash,
        identity=_identity(name, questionnaire, options) | dict(identity or {}),
        settings={**(settings or {}), "concurrency": concurrency, "fresh": fresh},
        n_items=questionnaire.n_items,
        n_images=questionnaire.n_images,
        modes=questionnaire.modes,
        state="running",
    )
    with answers.locked(out):
        run = _resumed(out, run, resume=resume, fresh=fresh)
        session = _Session(out, run, questionnaire, read, progress)
        if started is not None:
            started(run)
        if session.n_pending:
            session.ask(
                load(),
                _Means(options, concurrency, patience, cost, responses, fresh, confirm),
            )
        return session.ended()


class _Means(NamedTuple):
    """How a session asks."""

    options: ChatOptions
    concurrency: int
    patience: RetryPolicy | None
    cost: CostTracker
    responses: AnyPath | None
    fresh: bool
    confirm: Callable[[CostEstimate], bool] | None


class _Session:
    """One go at a run."""

    def __init__(
        self,
        out: Path,
        run: ExamRun,
        questionnaire: Questionnaire,
        read: Callable[[Asked, Answered], Answered] | None,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.out, self.run, self.questionnaire = out, run, questionnaire
        self.read, self.tell = read, progress
        self.outcomes = dict.fromkeys((outcome.value for outcome in Outcome), 0)
        self.failures: dict[str, int] = {}
        self.answered: set[tuple[str, str]] = set()
        known = answers.shards(out)
        wanted = {one.key for one in questionnaire.asked()} if known else set()
        for item, mode, outcome, _ in answers.outcomes(out):
            if (item, mode) in wanted:
                self.answered.add((item, mode))
                self.outcomes[outcome.value] += 1
        self.n_pending = run.n_items - len(self.answered)
        self.done = 0
        self.stopped = ""
        self.statistics = Statistics()
        self.pictures = PictureCache()
        self.cost = CostTracker()
        self.began = time.perf_counter()

    def _pending(self) -> Iterator[Asked]:
        return (one for one in self.questionnaire.asked() if one.key not in self.answered)

    def ask(self, answerer: Answerer, means: _Means) -> None:
        """Ask what is left."""
        self._note_server(answerer)
        self.cost = means.cost
        if isinstance(answerer, Server) and not answerer.free and means.confirm is not None:
            self._confirm(answerer, means, means.confirm)
        for stale in ("summary.json", "cases.parquet"):  # of fewer answers
            (self.out / stale).unlink(missing_ok=True)
        self._note("running")
        self.began = time.perf_counter()
        with Recorder(self.out) as self.recorder:
            if isinstance(answerer, Server):
                self._ask_served(answerer, means)
            else:
                reply_to = (
                    answerer.answer
                    if hasattr(answerer, "answer")
                    else partial(self._complete, answerer)
                )
                run_in_batches(
                    self._pending(), reply_to, self._keep_free, batch=means.options.batch
                )

    def _complete(self, model: ChatModel, asked: Sequence[Asked]) -> Sequence[Reply]:
        return model.complete([one.conversation(self.pictures) for one in asked])

    def _keep_free(self, asked: Asked, reply: Reply) -> None:
        self._keep(asked, msgspec.structs.replace(reply, cost=0.0))

    def _confirm(
        self, server: Server, means: _Means, confirm: Callable[[CostEstimate], bool]
    ) -> None:
        """Whoever pays sees what is left to ask; nothing is changed before."""
        with ResponseStore(means.responses or default_place()) as store:
            left = list(_unpaid(self._pending(), server, None if means.fresh else store))
        guess = estimate_cost(
            left,
            max_tokens=means.options.max_tokens,
            price=means.cost.price,
            stored=self.n_pending - len(left),
        )
        if left and not confirm(guess):
            raise UsageError("called off before anything was asked")

    def _ask_served(self, server: Server, means: _Means) -> None:
        client = ChatClient(
            server,
            responses=means.responses,
            fresh=means.fresh,
            concurrency=means.concurrency,
            retry=means.patience or RetryPolicy(timeout_s=means.options.timeout_s),
            cost=means.cost,
        )
        asked = ((one, partial(one.conversation, self.pictures)) for one in self._pending())
        client.run(asked, self._keep)
        self.stopped, self.statistics = client.stopped, client.statistics

    def _keep(self, asked: Asked, reply: Reply) -> None:
        answer = Answered(
            item_id=asked.item_id,
            mode=asked.mode,
            outcome=reply.outcome,
            text=reply.text,
            reason=reply.reason,
            finish=reply.finish,
            tokens_in=reply.tokens_in or 0,
            tokens_out=reply.tokens_out or 0,
            latency_s=reply.seconds,
            cost=reply.cost,
        )
        if self.read is not None and answer.outcome is Outcome.OK:
            answer = self.read(asked, answer)
        self.recorder.add(answer)
        self.done += 1
        self.outcomes[answer.outcome.value] += 1
        if answer.outcome is Outcome.FAILED:
            self.failures[answer.reason] = self.failures.get(answer.reason, 0) + 1
        if self.tell is not None:
            seconds = time.perf_counter() - self.began
            self.tell(
                Progress(
                    done=len(self.answered) + self.done,
                    n_items=self.run.n_items,
                    failed=self.outcomes[Outcome.FAILED.value],
                    per_s=self.done / seconds,
                    eta_s=(self.n_pending - self.done) * seconds / self.done,
                    tokens=self.cost.tokens_in + self.cost.tokens_out,
                    cost=self.cost.cost,
                )
            )

    def ended(self) -> ExamRun:
        """Write how it ended."""
        unasked = self.run.n_items - sum(self.outcomes.values())
        if unasked:
            raise GroundfaultError(
                f"{self.out}: {unasked} questions have no answer; run the same command again"
            )
        self._note("stopped" if self.stopped else "finished")
        return self.run

    def _note_server(self, answerer: Answerer) -> None:
        known = "+".join(getattr(answerer, "checkpoints", ()))
        server = answerer.url if isinstance(answerer, Server) else known
        identity = {**self.run.identity, SERVER: server}
        if SERVER in self.run.identity:
            _check_identity(self.out, self.run.identity, identity)
        self.run = msgspec.structs.replace(self.run, identity=identity)

    def _note(self, state: str) -> None:
        seconds = time.perf_counter() - self.began if self.done else 0.0
        self.run = msgspec.structs.replace(
            self.run,
            state=state,
            stopped=self.stopped,
            versions={"groundfault": __version__},
            outcomes=dict(self.outcomes),
            failures=dict(self.failures),
            seconds=round(self.run.seconds + seconds, 3),
        )
        if state != "running":
            totals = answers.totals(self.out)
            self.run = msgspec.structs.replace(
                self.run,
                **totals,
                spent=self.cost.cost,
                last_session={
                    "requests": self.cost.requests,
                    "tokens": self.cost.tokens_in + self.cost.tokens_out,
                    "retries": self.statistics.retries,
                    "outages": self.statistics.outages,
                    "from_store": self.statistics.from_store,
                    "rewritten_pictures": self.pictures.rewritten,
                },
            )
        write_run(self.out, self.run)


def _unpaid(
    asked: Iterable[Asked], server: Server, store: ResponseStore | None
) -> Iterator[tuple[int, int]]:
    """Tokens in and out, as guessed, of those whose response is not stored."""
    pictures = PictureCache()
    for one in asked:
        try:
            conversation = one.conversation(pictures)
        except GroundfaultError:
            continue  # will fail without being sent
        if store is None or store.get(request_key(server, conversation)) is None:
            yield guess_tokens(conversation), USUAL_TOKENS_OUT[one.mode]


def _identity(name: str, asked: Questionnaire, options: ChatOptions) -> dict[str, str]:
    """What answers depend on."""
    return {
        "model": name,
        "data": asked.content_hash,
        "prompts": prompts_hash(),
        "temperature": str(options.temperature),
        "max_tokens": str(options.max_tokens),
        "revision": options.revision,
        "dtype": options.dtype,
    }


def _resumed(out: Path, run: ExamRun, *, resume: bool, fresh: bool) -> ExamRun:
    """The run with what an earlier session left; answers that do not belong to it are refused.

    A fresh run that is finished starts anew; one that was cut short goes on, as its answers are
    fresh already.
    """
    before = read_json(out / "run.json", ExamRun) if (out / "run.json").is_file() else None
    if fresh and before is not None:
        resume = resume and before.state != "finished" and before.settings.get("fresh") is True
    if not resume or before is None:
        if resume and answers.shards(out):
            raise UsageError(
                f"{out}: has answers but no run.json to say whose; give another --out, or "
                "--no-resume to start anew"
            )
        answers.clear(out)
        return run
    known = {name: value for name, value in before.identity.items() if name == SERVER}
    identity = known | run.identity
    _check_identity(out, before.identity, identity)
    answers.settle(out)
    return msgspec.structs.replace(
        run,
        identity=identity,
        seconds=before.seconds,
        judged=before.judged,
        attributed=before.attributed,
    )


def _check_identity(out: Path, there: Mapping[str, str], now: Mapping[str, str]) -> None:
    for what in {**there, **now}:
        was, given = there.get(what, ""), now.get(what, "")
        if was != given:
            raise UsageError(
                f"{out}: holds answers with another {what}: '{was[:60]}' there, '{given[:60]}' "
                "now. They are not mixed: give another --out, or --no-resume to start anew"
            )


def usual_modes(spec: str) -> tuple[Mode, ...]:
    """Both, but for a model that always reasons and so has one; its name says so.

    >>> usual_modes("openai:gpt-5-mini"), usual_modes("hf:Qwen/Qwen3-VL-32B-Thinking")
    (('std', 'cot'), ('cot',))
    """
    return ("cot",) if _THINKING.search(spec) else ("std", "cot")


def answerer_identity(spec: str) -> dict[str, str]:
    """What answers depend on that the spec does not say: the content of replayed files."""
    name, _, argument = spec.partition(":")
    if name != "replay":
        return {}
    path = Path(argument)
    return {"model file": _content(answers.shards(path) if path.is_dir() else [path])}


def _content(files: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.name}\0{sha256(file) if file.is_file() else ''}\n".encode())
    return digest.hexdigest()
