"""A protocol: is a phrase accepted exactly where what it names is there?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from groundfault.metrics import Family, Metric
from groundfault.protocols import Protocol, Scored, clusters
from groundfault.records import Benchmark, Outcome, Prediction

FAMILY = Family(
    name="presence",
    about="accepted where it is there, rejected where it is not",
    metrics=(
        Metric(name="presence_accuracy", label="Presence", about="Share of phrases judged right."),
        Metric(
            name="false_accepts", about="Share of absent phrases that are accepted.", better="lower"
        ),
    ),
    columns=("right", "asked", "accepted_absent", "absent"),
    values=lambda sums, settings: {
        "presence_accuracy": sums[..., 0] / sums[..., 1],
        "false_accepts": sums[..., 2] / np.where(sums[..., 3] > 0, sums[..., 3], np.nan),
    },
)


def contribute(
    benchmark: Benchmark, predictions: Iterable[Prediction], settings: Mapping[str, object]
) -> Scored:
    """What each picture adds to the sums; failed items are left out."""
    t, place = float(str(settings["t"])), {case.id: k for k, case in enumerate(benchmark.cases)}
    items = {item.id: item for item in benchmark.items}
    sums, outcomes = np.zeros((len(place), 4)), dict.fromkeys((o.value for o in Outcome), 0)
    for prediction in predictions:
        item = items[prediction.item_id]
        outcomes[prediction.outcome.value] += 1
        if prediction.outcome is Outcome.FAILED:
            continue
        accepted = any(score >= t for score in prediction.scores)
        right = accepted == item.present and prediction.outcome is not Outcome.UNPARSED
        absent = not item.present
        sums[place[item.case_id]] += (right, 1, absent and accepted, absent)
    return Scored(
        benchmark=benchmark.card.name,
        settings=dict(settings),
        columns=lambda: {"case_id": list(place), "image": list(place)},
        contributions=sums,
        contribution_names=tuple(f"presence.{name}" for name in FAMILY.columns),
        case=clusters(benchmark.cases),
        rows={"Overall": np.ones(len(place), bool)},
        outcomes=outcomes,
    )


PROTOCOL = Protocol(
    name="presence",
    title="Presence",
    families=("presence",),
    settings={"t": 0.5},
    contribute=contribute,
    headlines=("presence_accuracy", "false_accepts"),
    main="presence_accuracy",
    asked="Each phrase names a colour that is on the card, or one that is not.",
    told="presence_accuracy",
    sentence="is right about {value} of phrases {interval}",
    bars=("presence_accuracy",),
)
