"""Answers of every kind, and what our own scoring makes of them."""

from __future__ import annotations

import base64
import hashlib
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from PIL import Image
from tests.llm.chat_server import Request, Response, completion, error

from groundfault.analysis.summary import summarise
from groundfault.judges import expected, grade
from groundfault.judges.rule import RuleJudge
from groundfault.protocols import of_benchmark
from groundfault.records import MODES, Benchmark, Item, Mode, Outcome, Prediction, Summary
from groundfault.runner.prompts import prompt


def said(number: int, item: Item) -> str:
    """Right, yes, unreadable, empty, or right after some reasoning."""
    reference = expected(item).reference
    reasoned = f"I look at the picture closely. Final answer: {reference}"
    return (reference, "Yes.", "I cannot tell.", "", reasoned)[number % 5]


def answers_to(benchmark: Benchmark, modes: Sequence[Mode]) -> list[Prediction]:
    """An answer to every question, not judged yet."""
    asked = [(item, mode) for item in benchmark.items for mode in modes]
    return [
        Prediction(item_id=item.id, mode=mode, outcome=Outcome.OK, text=said(k, item))
        for k, (item, mode) in enumerate(asked)
    ]


class Pupil:
    """A server that answers as `said` by the words and the pixels that it is shown, so that both
    must have arrived as we send them. One question it always fails to answer."""

    def __init__(self, benchmark: Benchmark) -> None:
        folder, self.answers = Path(benchmark.images), dict[str, str]()
        asked = [(item, mode) for item in benchmark.items for mode in MODES]
        for number, (item, mode) in enumerate(asked):
            shown = [(folder / name).read_bytes() for name in item.images]
            self.answers.setdefault(self._key(prompt(item, mode), shown), said(number, item))
        self.failing = next(iter(self.answers))

    def __call__(self, request: Request) -> Response:
        words, urls = request.last
        key = self._key(words, [base64.b64decode(url.partition(",")[2]) for url in urls])
        if key == self.failing:
            return error(400, "no, this one never")
        whole = {"id": "chatcmpl-1", "created": 0, "model": "tiny"}  # which Inspect insists on
        return Response(
            content=json.dumps(whole | json.loads(completion(self.answers[key]))).encode()
        )

    def _key(self, words: str, pictures: Iterable[bytes]) -> str:
        seen = hashlib.sha256(words.encode())
        for content in pictures:
            seen.update(Image.open(io.BytesIO(content)).convert("RGB").tobytes())
        return seen.hexdigest()


def own_scores(benchmark: Benchmark, rows: Iterable[Prediction]) -> dict[str, float]:
    """As `groundfault eval` writes them into summary.json, under the names of an export."""
    graded = grade(benchmark, rows, RuleJudge())
    scored = of_benchmark(benchmark).score(benchmark, graded)
    return flat(summarise(scored, bootstrap=0, seed=0))


def flat(summary: Summary) -> dict[str, float]:
    """Every defined value, under the name that it has in an export."""
    return {
        metric if name == "Overall" else f"{name.replace(' ', '_')}_{metric}": estimate.value
        for name, row in summary.rows.items()
        for metric, estimate in row.metrics.items()
        if estimate.value is not None
    }
