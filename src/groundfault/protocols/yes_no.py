"""Yes/no questions (POPE): an entry per image and dimension, resampled by image."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groundfault.protocols.protocol import Protocol
from groundfault.protocols.scored import Scored

__all__ = ["PROTOCOL"]


def _contribute(benchmark: Any, predictions: Any, settings: Mapping[str, object]) -> Scored:
    from groundfault.benchmarks.pope import score

    return score(benchmark, predictions)


PROTOCOL = Protocol(
    name="yes-no",
    title="Yes or no",
    answers="words",
    families=("pope",),
    contribute=_contribute,
    headlines=("F1", "accuracy", "precision", "recall", "yes_ratio", "unparsed_rate"),
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
