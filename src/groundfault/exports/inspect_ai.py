"""Tasks for Inspect AI (UK AI Security Institute), found through its entry points:

    inspect eval groundfault/exam -T folder=EXAM -T mode=both --model openai/gpt-…
    inspect eval groundfault/pope -T folder=POPE -T images=val2014 --model …

Prompts, reading, judge and metrics are ours. A score is C or I; an answer that cannot be read is N,
which counts as wrong and is neither yes nor no. A sample that ended in an error counts nowhere.
"""

from __future__ import annotations

import functools
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path

import anyio.from_thread
import anyio.to_thread
import msgspec
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset
from inspect_ai.dataset import Sample as InspectSample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentImage,
    ContentText,
    GenerateConfig,
    Model,
    ModelOutput,
    get_model,
)
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    NOANSWER,
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    Value,
    metric,
    scorer,
)
from inspect_ai.solver import TaskState, generate

from groundfault.errors import UsageError
from groundfault.exports.scores import flat_scores, modes_of, read_benchmark
from groundfault.judges import AnswerJudge, expected, grade
from groundfault.judges.llm import LlmJudge
from groundfault.judges.rule import RuleJudge
from groundfault.llm.pictures import picture_bytes
from groundfault.llm.server import ChatOptions
from groundfault.records import (
    Benchmark,
    Conversation,
    Item,
    Message,
    Mode,
    Outcome,
    Prediction,
    Reply,
)
from groundfault.runner.prompts import prompt

__all__ = ["exam", "judged", "pope", "scores"]

JUDGES = ("rule", "grader")
FINISH = {"model_length": "length"}
"""Inspect's words for how an answer ended that are not ours."""


@task
def exam(folder: str, mode: str = "std", judge: str = "rule") -> Task:
    """An exam folder (ReactBench's form) in `std` or `cot` mode, or in both.

    `judge` decides about short answers: `rule`, or `grader`, the model of that role
    (--model-role grader=…).
    """
    return _task("exam", Path(folder), None, mode, judge)


@task
def pope(folder: str, images: str, mode: str = "std") -> Task:
    """POPE's files, about the pictures in a folder."""
    return _task("pope", Path(folder), Path(images), mode, "rule")


def _task(name: str, folder: Path, images: Path | None, mode: str, judge: str) -> Task:
    if judge not in JUDGES:
        raise UsageError(f"no judge '{judge}'; there are {' and '.join(JUDGES)}")
    data, shown = str(folder.resolve()), str(images.resolve()) if images else None
    benchmark = read_benchmark(data, shown)
    options = ChatOptions()
    return Task(
        name=f"groundfault_{name}",
        dataset=_dataset(benchmark, data, modes_of(mode)),
        solver=generate(),
        scorer=judged(data, shown, judge),
        metrics=[scores(data, shown, mode)],
        config=GenerateConfig(temperature=options.temperature, max_tokens=options.max_tokens),
        metadata={"content_hash": benchmark.card.content_hash, "mode": mode, "judge": judge},
    )


def _dataset(benchmark: Benchmark, data: str, modes: Sequence[Mode]) -> MemoryDataset:
    images, several = Path(benchmark.images).resolve(), len(modes) > 1
    samples = [
        _sample(item, mode, images, several=several) for item in benchmark.items for mode in modes
    ]
    return MemoryDataset(samples, name=benchmark.card.name, location=data)


def _sample(item: Item, mode: Mode, images: Path, *, several: bool) -> InspectSample:
    content: list[Content] = [ContentImage(image=_shown(images / name)) for name in item.images]
    content.append(ContentText(text=prompt(item, mode)))
    wanted = expected(item)
    return InspectSample(
        id=f"{item.id} {mode}" if several else item.id,
        input=[ChatMessageUser(content=content)],
        target=wanted.reference,
        metadata={"item_id": item.id, "mode": mode, "type": wanted.type},
    )


@functools.cache
def _shown(path: Path) -> str:
    """A picture as Inspect AI takes it: its file, or a data URL where models would see something
    else in the file than ours do."""
    if not path.is_file():
        return str(path)  # the sample will say so
    mime, content, rewritten = picture_bytes(path)
    return f"data:{mime};base64,{b64encode(content).decode()}" if rewritten else str(path)


@scorer(metrics=[])
def judged(data: str, images: str | None = None, judge: str = "rule") -> Scorer:
    """Reads an answer and gives its verdict."""

    async def score(state: TaskState, target: Target) -> Score:
        benchmark = read_benchmark(data, images)
        row = Prediction(
            item_id=state.metadata["item_id"],
            mode=state.metadata["mode"],
            outcome=Outcome.OK,
            text=state.output.completion,
            finish=_finish(state.output),
            reason=state.output.error or "",
        )
        decides: AnswerJudge = RuleJudge()
        if judge == "grader":
            model = get_model(role="grader", required=True)
            decides = LlmJudge(_Grader(model), str(model))
        (row,) = await anyio.to_thread.run_sync(grade, benchmark, [row], decides)
        return _score(row)

    return score


def _finish(output: ModelOutput) -> str:
    if not output.choices:
        return ""
    ended: str = output.stop_reason
    return FINISH.get(ended, ended)


def _score(row: Prediction) -> Score:
    value = {"right": CORRECT, "wrong": INCORRECT}.get(row.verdict or "", NOANSWER)
    return Score(
        value=value,
        answer=row.parsed,
        explanation=row.reason or row.judge_text or None,
        metadata={"answered": msgspec.to_builtins(row)},
    )


@metric(scores="unreduced")
def scores(data: str, images: str | None = None, mode: str = "std") -> Metric:
    """Every metric of the paper; over epochs, each answer counts."""

    def compute(scores: list[SampleScore]) -> Value:
        rows = [
            msgspec.convert((each.score.metadata or {})["answered"], Prediction) for each in scores
        ]
        return flat_scores(read_benchmark(data, images), rows)

    return compute


class _Grader:
    """Inspect's model as a `ChatModel` of ours, called from a worker thread."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def complete(self, conversations: Sequence[Conversation]) -> list[Reply]:
        """One reply per conversation; an error of the model is raised."""
        return [self._reply(conversation) for conversation in conversations]

    def _reply(self, conversation: Conversation) -> Reply:
        output = anyio.from_thread.run(self.model.generate, [_message(m) for m in conversation])
        outcome = Outcome.FAILED if output.error else Outcome.OK
        return Reply(outcome=outcome, text=output.completion, reason=output.error or "")


def _message(message: Message) -> ChatMessage:
    if message.role == "system":
        return ChatMessageSystem(content=message.text)
    if message.role == "assistant":
        return ChatMessageAssistant(content=message.text)
    return ChatMessageUser(content=message.text)
