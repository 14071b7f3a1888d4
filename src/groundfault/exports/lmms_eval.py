"""Tasks for lmms-eval (LMMs-Lab), written into a folder that it is pointed to:

    lmms-eval eval --include_path OUT --tasks groundfault_exam --model qwen2_5_vl …

    OUT/groundfault_exam.yaml, …_cot.yaml, …_both.yaml    the tasks
    OUT/groundfault_exam.jsonl, …                         what each asks
    OUT/groundfault_exam.py                               names the exam and our functions

The exam stays where it is; if it moves or changes, it is exported again. lmms-eval does not tell
how an answer ended: one that was cut off is read as it stands. A request that failed arrives as a
text of lmms-eval's own, which may hold any words; it is `failed` here and counts nowhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from groundfault import __version__
from groundfault.exports.scores import (
    better_way,
    flat_scores,
    modes_of,
    offered_modes,
    read_benchmark,
)
from groundfault.io.pictures import open_picture
from groundfault.io.store import new_folder
from groundfault.judges import expected, grade
from groundfault.judges.rule import RuleJudge
from groundfault.llm.server import ChatOptions
from groundfault.records import Benchmark, Item, Mode, Outcome, Prediction
from groundfault.runner.prompts import prompt

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["Questions", "export_lmms_eval"]

Doc = Mapping[str, Any]
FAILED = ("[LMMS_EVAL_REQUEST_FAILED", "[LMMS_EVAL_BUDGET_EXCEEDED")
"""How the texts begin that lmms-eval has in place of answers it did not get."""
HIGHER_IS_BETTER = {"higher": "true", "lower": "false", "neither": "null"}
KEPT = ("item_id", "mode", "outcome", "text", "parsed", "verdict")
"""What scores are made of; lmms-eval logs it once per metric."""


class Questions:
    """The functions of a task. The benchmark is read when the first answer is judged, not before:
    lmms-eval loads the written module once for every function that it names."""

    def __init__(
        self, *, data: str, images: str | None, content_hash: str, metrics: Sequence[str]
    ) -> None:
        self.place, self.metrics = (data, images, content_hash), metrics

    def doc_to_text(self, doc: Doc) -> str:
        """The prompt."""
        return str(doc["text"])

    def doc_to_visual(self, doc: Doc) -> list[Image]:
        """The pictures, in order."""
        return [open_picture(path) for path in doc["pictures"]]

    def process_results(self, doc: Doc, results: Sequence[str]) -> dict[str, dict[str, Any]]:
        """The judged answer, for every metric: each is a function of all answers, and a task takes
        those that it lists."""
        failed = results[0].startswith(FAILED)
        row = Prediction(
            item_id=doc["item_id"],
            mode=doc["mode"],
            outcome=Outcome.FAILED if failed else Outcome.OK,
            text="" if failed else results[0],
        )
        (row,) = grade(read_benchmark(*self.place), [row], RuleJudge())
        kept = {name: getattr(row, name) for name in KEPT}
        return {metric: dict(kept) for metric in self.metrics}

    def metric(self, name: str) -> Callable[[Sequence[Mapping[str, Any]]], float]:
        """From all judged answers to one number; NaN where it is undefined."""

        def aggregate(items: Sequence[Mapping[str, Any]]) -> float:
            rows = tuple(msgspec.convert(dict(item), Prediction) for item in items)
            return _table(self.place, rows).get(name, math.nan)

        return aggregate


@lru_cache(maxsize=4)
def _table(place: tuple[str, str | None, str], rows: tuple[Prediction, ...]) -> dict[str, float]:
    """Made once for all metrics."""
    return flat_scores(read_benchmark(*place), rows)


def export_lmms_eval(
    benchmark: Benchmark, data: str | PathLike[str], out: str | PathLike[str]
) -> list[str]:
    """Write the tasks of a benchmark into a folder that must not exist yet; gives their names."""
    base = f"groundfault_{'pope' if benchmark.card.protocol == 'yes-no' else 'exam'}"
    tasks = {base if mode == "std" else f"{base}_{mode}": mode for mode in offered_modes(benchmark)}
    every: dict[str, None] = {}
    with new_folder(out) as temporary:
        for task, mode in tasks.items():
            asked = [(item, each) for item in benchmark.items for each in modes_of(mode)]
            metrics = _defined_metrics(benchmark, asked)
            every |= dict.fromkeys(metrics)
            images = Path(benchmark.images).resolve()
            lines = b"".join(msgspec.json.encode(_doc(*each, images)) + b"\n" for each in asked)
            (temporary / f"{task}.jsonl").write_bytes(lines)
            (temporary / f"{task}.yaml").write_text(
                _yaml(task, base, benchmark, metrics), encoding="utf-8"
            )
        (temporary / f"{base}.py").write_text(
            _module(benchmark, data, list(every)), encoding="utf-8"
        )
    return list(tasks)


def _doc(item: Item, mode: Mode, images: Path) -> dict[str, Any]:
    wanted = expected(item)
    return {
        "item_id": item.id,
        "mode": mode,
        "type": wanted.type,
        "text": prompt(item, mode),
        "pictures": [str(images / name) for name in item.images],
        "reference": wanted.reference,
    }


def _defined_metrics(benchmark: Benchmark, asked: Iterable[tuple[Item, Mode]]) -> list[str]:
    """Names of what the reference answers have a score in: a task lists its metrics beforehand."""
    rows = (
        Prediction(item_id=item.id, mode=mode, outcome=Outcome.OK, text=expected(item).reference)
        for item, mode in asked
    )
    return list(flat_scores(benchmark, grade(benchmark, rows, RuleJudge())))


def _yaml(task: str, module: str, benchmark: Benchmark, metrics: Iterable[str]) -> str:
    options = ChatOptions()
    lines = [
        f"# Written by groundfault {__version__}.",
        f"task: {task}",
        "dataset_path: json",
        "dataset_kwargs:",
        "  data_files:",
        f"    test: {task}.jsonl",
        "test_split: test",
        "output_type: generate_until",
        f"doc_to_visual: !function {module}.doc_to_visual",
        f"doc_to_text: !function {module}.doc_to_text",
        "doc_to_target: reference",
        f"process_results: !function {module}.process_results",
        "generation_kwargs:",
        f"  max_new_tokens: {options.max_tokens}",
        f"  temperature: {options.temperature or 0}",
        f"  do_sample: {str(bool(options.temperature)).lower()}",
        "  until: []  # by default an empty line, after which reasoning goes on",
        "metric_list:",
    ]
    for name in metrics:
        lines += [
            f"  - metric: {name}",
            f"    aggregation: !function {module}.{_identifier(name)}",
            f"    higher_is_better: {HIGHER_IS_BETTER[better_way(benchmark, name)]}",
        ]
    lines += ["metadata:", f"  version: {__version__}"]
    return "\n".join(lines) + "\n"


def _module(benchmark: Benchmark, data: str | PathLike[str], metrics: Sequence[str]) -> str:
    images = None if benchmark.folder else str(Path(benchmark.images).resolve())
    lines = [
        f'"""Written by groundfault {__version__}: what the tasks beside this file call."""',
        "",
        "from groundfault.exports.lmms_eval import Questions",
        "",
        "questions = Questions(",
        f"    data={str(Path(data).resolve())!r},",
        f"    images={images!r},",
        f"    content_hash={benchmark.card.content_hash!r},",
        f"    metrics={tuple(metrics)!r},",
        ")",
        "doc_to_visual = questions.doc_to_visual",
        "doc_to_text = questions.doc_to_text",
        "process_results = questions.process_results",
        *(f"{_identifier(name)} = questions.metric({name!r})" for name in metrics),
    ]
    return "\n".join(lines) + "\n"


def _identifier(name: str) -> str:
    return name.replace("-", "_")
