"""The ways in which a model is asked: in this process, by several workers, or by requests to a
server; for masks image by image, for words question by question."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from groundfault.errors import RAISED, GroundfaultError, UsageError
from groundfault.interfaces import (
    Baseline,
    ChatModel,
    Checkpointed,
    Closeable,
    Fitted,
    Segmenter,
)
from groundfault.io.answers import Broken, answers_of, prediction_of
from groundfault.io.interrupts import requested, stop_if_requested
from groundfault.llm.batching import failure, run_in_batches
from groundfault.llm.client import ChatClient
from groundfault.llm.cost import CostEstimate, CostTracker, Price, estimate_cost, guess_tokens
from groundfault.llm.pictures import PictureCache
from groundfault.llm.response_store import ResponseStore, default_place, request_key
from groundfault.llm.server import Server, count, is_thinking
from groundfault.records import Conversation, Item, Mode, Outcome, Prediction, Reply
from groundfault.runner.in_process import predict_ahead
from groundfault.runner.pool import Loaded, SegmentingJob, WorkerPool, start_workers
from groundfault.runner.prompts import (
    OURS,
    THINKING_TOKENS,
    USUAL_TOKENS,
    Prompts,
    conversation,
)
from groundfault.runner.segmenting import load_model
from groundfault.runner.session import Pending, Ready, Session
from groundfault.runner.work import Batch, Plan, Task, batches, tasks
from groundfault.runs.resume import CHECKPOINTS, PLACEMENT, SERVER

__all__ = ["InMasks", "InWords", "ModelThinks"]

BASELINE_BATCH = 256
LOCAL_BATCH = 4
Confirm = Callable[[CostEstimate], bool]
"""Whoever pays sees an estimate, and may call it off."""


class ModelThinks(GroundfaultError):
    """The first reply shows that a model always reasons, which changes how it is to be asked; the
    run has not begun."""


class InMasks(NamedTuple):
    """A segmenter, or a baseline, asked image by image: in this process or by several workers."""

    load: Callable[[], Any]
    name: str
    images: str | PathLike[str] | None
    plan: Plan
    folder: Path
    """Of the run, for the output of a model that runs outside this process."""

    def run(self, pending: Pending, session: Session) -> None:
        """Ask everything that is left."""
        session.give_up_earlier()
        left = tasks(item for item, _ in pending)
        job = SegmentingJob(
            load=self.load,
            name=self.name,
            folder=self.folder.resolve(),
            images=self.images,
            batch=self.plan.batch,
            probe=self.plan.probe,
        )

        def ready(loaded: Loaded) -> None:
            identity = {CHECKPOINTS: loaded.checkpoints, PLACEMENT: loaded.placement}
            session.ready(Ready(identity, loaded.versions, loaded.probe, loaded.looks))

        def work(loaded: Loaded) -> Iterator[Batch]:
            return batches(left, loaded.at_once, any_sizes=loaded.any_sizes)

        for batch, predictions in self._predictions(job, len(left), ready, work, session):
            if requested():  # what failed for that is asked by the next session
                predictions = [each for each in predictions if each.outcome is not Outcome.FAILED]
            session.keep(predictions, n_images=len(batch))
            stop_if_requested()
            if session.stopped:
                return

    def _predictions(
        self,
        job: SegmentingJob,
        most: int,
        ready: Callable[[Loaded], None],
        work: Callable[[Loaded], Iterator[Batch]],
        session: Session,
    ) -> Iterator[tuple[Batch, list[Prediction]]]:
        if self.plan.engine == "local" and self.plan.workers <= 1:
            predictor, loaded = job.set_up()
            ready(loaded)
            try:
                yield from predict_ahead(predictor, work(loaded))
                session.stopped = session.stopped or predictor.stopped
            finally:
                predictor.close()
            return
        workers = start_workers(self.plan, job, most=most)
        try:
            pool: WorkerPool[Task, Prediction] = WorkerPool(job, workers, work)
            yield from pool.results(ready)
            session.stopped = session.stopped or pool.stopped
        finally:
            workers.close()


class InWords(NamedTuple):
    """A chat model, behind a server or in this process, or a baseline, asked question by
    question."""

    load: Callable[[], Any]
    name: str
    images: str | PathLike[str]
    plan: Plan
    folder: Path
    max_tokens: int = 1024
    confirm: Confirm | None = None
    prompts: Prompts = OURS
    thinks: bool | None = False
    """Whether the model always reasons; None leaves it to a server's first reply to tell, and if it
    does, `ModelThinks` is raised."""

    def run(self, pending: Pending, session: Session) -> None:
        """Ask everything that is left."""
        model = load_model(self.load, self.name, self.folder)
        if not self.images and isinstance(model, (Server, ChatModel)):
            raise UsageError(
                f"{self.name}: cannot be shown the pictures; say where they are with --images DIR"
            )
        if isinstance(model, Server):
            self._request(model, pending, session)
        elif isinstance(model, ChatModel):
            self._complete(model, pending, session)
        elif isinstance(model, Baseline):
            session.ready(Ready(looks=False))
            if isinstance(model, Fitted):
                model.fit(session.benchmark.items)
            for mode, items in _by_mode(pending):
                session.keep(_from_baseline(model, items, mode))
                if session.stopped:
                    return
        else:
            what = "finds things in pictures" if isinstance(model, Segmenter) else "is no model"
            raise UsageError(f"{self.name} {what} and answers no questions")

    def _complete(self, model: ChatModel, pending: Pending, session: Session) -> None:
        """By a model in this process."""
        known = "+".join(model.checkpoints) if isinstance(model, Checkpointed) else ""
        session.ready(Ready({SERVER: known}))
        pictures, folder = PictureCache(), Path(self.images)

        def askable() -> Iterator[tuple[tuple[Item, Mode], Conversation]]:
            for question in pending:
                stop_if_requested()
                if session.stopped:
                    return
                try:
                    made = conversation(*question, folder, pictures.load, self.prompts)
                except GroundfaultError as problem:  # its picture cannot be read
                    session.keep([_prediction(question, _failed(problem), cost=None)])
                    continue
                yield question, made

        def replies(together: Sequence[tuple[object, Conversation]]) -> Sequence[Reply]:
            return model.complete([made for _, made in together])

        def keep(asked: tuple[tuple[Item, Mode], Conversation], reply: Reply) -> None:
            session.keep([_prediction(asked[0], reply, cost=0.0)])

        try:
            run_in_batches(askable(), replies, keep, batch=self.plan.batch or LOCAL_BATCH)
        finally:
            if isinstance(model, Closeable):
                model.close()

    def _request(self, server: Server, pending: Pending, session: Session) -> None:
        """By requests to a server, many at a time."""
        price = self.plan.price or (Price(0.0, 0.0) if server.free else None)
        plan = self.plan
        cost = CostTracker(plan.budget, price, reserve=plan.reserve, aside=plan.aside)
        if cost.budget is not None and cost.budget.money is not None and price is None:
            raise UsageError(
                "a budget in money needs prices: give --price IN/OUT per million tokens"
            )
        pictures, folder = PictureCache(), Path(self.images)
        if self.confirm is not None and not server.free:
            self._agree(server, pending, price, self.confirm)
        client = ChatClient(
            server,
            responses=self.plan.responses or None,
            fresh=self.plan.fresh,
            concurrency=self.plan.concurrency,
            retry=self.plan.retry,
            cost=cost,
        )

        def keep(question: tuple[Item, Mode], reply: Reply) -> None:
            session.keep([_prediction(question, reply, cost=reply.cost)])

        def make(question: tuple[Item, Mode]) -> Conversation:
            return conversation(*question, folder, pictures.load, self.prompts)

        first = self._first_reply(client, pending, make)
        session.ready(Ready({SERVER: server.url}))
        session.usage = lambda: (cost.usage.tokens, cost.usage.cost)
        on_the_way = [client.statistics]
        for reply in first:
            keep(pending[0], reply)
        if not client.stopped:
            rest = itertools.takewhile(lambda _: not session.stopped, pending[len(first) :])
            client.run(((question, partial(make, question)) for question in rest), keep)
            on_the_way.append(client.statistics)
        session.stopped = client.stopped or session.stopped
        if client.changes:
            session.note_settings(changed_parameters=dict(client.changes))
        session.last_session = {
            "requests": cost.requests,
            "tokens": cost.usage.tokens,
            **{
                name: sum(getattr(statistics, name) for statistics in on_the_way)
                for name in ("retries", "outages", "from_store")
            },
            "rewritten_pictures": pictures.rewritten,
        }

    def _first_reply(
        self,
        client: ChatClient,
        pending: Pending,
        make: Callable[[tuple[Item, Mode]], Conversation],
    ) -> list[Reply]:
        """The reply to the first question, where it has to tell whether the model thinks."""
        found: list[Reply] = []
        if self.thinks is None:
            client.run([(0, partial(make, pending[0]))], lambda _, reply: found.append(reply))
        if any(map(is_thinking, found)):
            raise ModelThinks(f"{self.name}: its replies hold reasoning")
        return found

    def _agree(
        self, server: Server, pending: Pending, price: Price | None, confirm: Confirm
    ) -> None:
        """Show whoever pays what is left to ask; nothing is changed before."""
        with ResponseStore(self.plan.responses or default_place()) as store:
            kept = None if self.plan.fresh else store
            left = list(self._unpaid(pending, server, kept))
        guess = estimate_cost(
            left, max_tokens=self.max_tokens, price=price, stored=len(pending) - len(left)
        )
        if left and not confirm(guess):
            raise UsageError("called off before anything was asked")

    def _unpaid(
        self, pending: Pending, server: Server, store: ResponseStore | None
    ) -> Iterable[tuple[int, int]]:
        """Guessed tokens in and out of the questions whose response is not stored."""
        pictures, images = PictureCache(), Path(self.images)
        for item, mode in pending:
            try:
                asked = conversation(item, mode, images, pictures.load, self.prompts)
            except GroundfaultError:
                continue  # will fail without being sent
            if store is None or store.get(request_key(server, asked)) is None:
                usual = THINKING_TOKENS if self.thinks else USUAL_TOKENS[mode]
                yield guess_tokens(asked), usual


def _by_mode(pending: Pending) -> Iterator[tuple[Mode, list[Item]]]:
    """Neighbours of one mode together, a bounded number at a time."""
    for mode, group in groupby(sorted(pending, key=lambda each: each[1]), key=lambda each: each[1]):
        items = [item for item, _ in group]
        for first in range(0, len(items), BASELINE_BATCH):
            yield mode, items[first : first + BASELINE_BATCH]


def _from_baseline(model: Baseline, items: Sequence[Item], mode: Mode) -> list[Prediction]:
    """One prediction per item, which nobody has read or paid for; an item that makes the baseline
    fail has failed alone."""
    started = time.perf_counter()
    try:
        found = answers_of(
            model.predict(items, mode), len(items), method="predict", each="question"
        )
    except GroundfaultError:
        raise
    except RAISED as problem:
        if len(items) > 1:
            middle = len(items) // 2
            halves = (items[:middle], items[middle:])
            return [each for half in halves for each in _from_baseline(model, half, mode)]
        return [_prediction((items[0], mode), _failed(problem), cost=None)]
    seconds = round((time.perf_counter() - started) / len(items), 6)
    return [_said(item, mode, each, seconds) for item, each in zip(items, found, strict=True)]


def _said(item: Item, mode: Mode, answer: Any, seconds: float) -> Prediction:
    """A baseline's answer as the prediction for its item; one that is none has failed."""
    try:
        made = prediction_of(answer, item, seconds=seconds)
    except Broken as problem:
        return _prediction((item, mode), _failed(problem), cost=None)
    return msgspec.structs.replace(
        made,
        mode=mode,
        reasoning=answer.reasoning,
        finish=answer.finish,
        tokens_in=count(answer.tokens_in) or 0,
        tokens_out=count(answer.tokens_out) or 0,
        cost=0.0,
    )


def _failed(problem: BaseException) -> Reply:
    return Reply(outcome=Outcome.FAILED, reason=failure(problem))


def _prediction(question: tuple[Item, Mode], reply: Reply, *, cost: float | None) -> Prediction:
    item, mode = question
    failed = reply.outcome is Outcome.FAILED
    return Prediction(
        item_id=item.id,
        mode=mode,
        outcome=reply.outcome,
        text=reply.text,
        reasoning=reply.reasoning,
        reason=reply.reason,
        finish=reply.finish,
        seconds=reply.seconds,
        tokens_in=reply.tokens_in or 0,
        tokens_out=reply.tokens_out or 0,
        cost=None if failed else cost,
    )
