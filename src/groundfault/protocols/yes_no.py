"""Yes/no questions (POPE): an entry per image and dimension, resampled by image."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from groundfault.errors import UsageError
from groundfault.metrics import columns_of
from groundfault.metrics import yes_no as metric
from groundfault.parsing.yes_no import parse_yes_no_as_pope
from groundfault.protocols.protocol import Protocol
from groundfault.protocols.scored import CLUSTER, Scored, together
from groundfault.protocols.words import expected
from groundfault.records import Benchmark, Outcome, Prediction

if TYPE_CHECKING:
    from groundfault.protocols.scored import Floats

__all__ = ["PROTOCOL", "score"]

_IMPUTED: Sequence[Callable[[str], str | None]] = (
    lambda truth: truth,
    lambda truth: "no" if truth == "yes" else "yes",
    lambda truth: "yes",
    lambda truth: "no",
    lambda truth: None,
)
"""The ways in which a failed question could have been answered."""


def score(benchmark: Benchmark, predictions: Iterable[Prediction]) -> Scored:
    """Score graded answers of one mode."""
    answers = {row.item_id: row for row in predictions}
    modes = {row.mode for row in answers.values()}
    if len(modes) > 1:
        raise UsageError(
            "yes/no questions are scored in one mode: give --mode std or --mode cot, and another "
            "--out for the other"
        )
    keys = sorted({(item.image, expected(item).dimension) for item in benchmark.items})
    place = {key: k for k, key in enumerate(keys)}
    images = _clusters(benchmark, list(dict.fromkeys(image for image, _ in keys)))
    ends = [
        (place[item.image, wanted.dimension], wanted.reference, answers.get(item.id))
        for item in benchmark.items
        for wanted in [expected(item)]
    ]
    outcomes = {outcome.value: 0 for outcome in Outcome}
    for *_, row in ends:
        outcomes[row.outcome if row else Outcome.FAILED] += 1

    def contributions(failed_as: Callable[[str], str | None] | None) -> Floats:
        sums = np.zeros((len(keys), len(metric.COLUMNS)))
        for entry, truth, row in ends:
            if row is not None and row.outcome is not Outcome.FAILED:
                sums[entry, metric.column(truth, row.parsed)] += 1
                as_pope: str | None = parse_yes_no_as_pope(row.text)
            elif failed_as is not None:
                sums[entry, metric.column(truth, as_pope := failed_as(truth))] += 1
            else:
                continue
            sums[entry, metric.column_as_pope(truth, as_pope or "yes")] += 1
        return sums

    failed = outcomes[Outcome.FAILED]
    dimension = np.array([name for _, name in keys], dtype=str)
    settings: dict[str, object] = {"mode": next(iter(modes), "std")}
    return Scored(
        benchmark=benchmark.card.name,
        settings=settings,
        columns=lambda: {
            "case_id": [f"{image} {name}".rstrip() for image, name in keys],
            "image": [image for image, _ in keys],
            "setting": dimension.tolist(),
        },
        contributions=contributions(None),
        contribution_names=columns_of(metric.FAMILY),
        case=np.array([images[image] for image, _ in keys], np.int64),
        rows={
            "Overall": np.ones(len(keys), bool),
            **{name: dimension == name for name in _dimensions(benchmark)},
        },
        outcomes=outcomes,
        imputed=tuple(map(contributions, _IMPUTED)) if failed else (),
        notes=(f"{failed} of {len(ends)} questions have no answer.",) if failed else (),
    )


def _clusters(benchmark: Benchmark, images: Sequence[str]) -> dict[str, int]:
    """What is resampled together: an image, or all images whose cases have the same `cluster`."""
    tags = {case.id: case.tags for case in benchmark.cases}
    shared: dict[str, list[tuple[str, str]]] = {image: [("image", image)] for image in images}
    for item in benchmark.items:
        if CLUSTER in tags[item.case_id]:
            shared[item.image].append((CLUSTER, tags[item.case_id][CLUSTER]))
    return dict(zip(images, together(shared.values()).tolist(), strict=True))


def _dimensions(benchmark: Benchmark) -> list[str]:
    """In the order in which they first occur in the files."""
    return [name for name in dict.fromkeys(expected(i).dimension for i in benchmark.items) if name]


PROTOCOL = Protocol(
    name="yes-no",
    title="Yes or no",
    answers="words",
    families=("pope",),
    contribute=lambda benchmark, predictions, settings: score(benchmark, predictions),
    headlines=("F1", "F1_pope", "accuracy", "precision", "recall", "yes_ratio", "unparsed_rate"),
    main="F1",
    asked=(
        "Each picture is asked about in yes/no questions: is there such a thing? Half of the "
        "things are there. The others are drawn at random, from what is frequent (popular) or "
        "from what often goes with what is there (adversarial)."
    ),
    told="F1",
    sentence="reaches an F1 of {value} {interval}",
    bars=("F1", "accuracy", "precision", "recall", "yes_ratio"),
)
