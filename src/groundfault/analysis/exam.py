"""What else the answers to an exam show: the effect of chain of thought, hallucination question by
question, and habits of choosing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from groundfault.analysis.statistics import holm, mcnemar, paired_difference
from groundfault.benchmarks.reactbench import LAYOUT, LETTERS, is_twin, twin_of
from groundfault.metrics import Share
from groundfault.metrics import exam as metric
from groundfault.protocols.exam import Slot, slots_of
from groundfault.protocols.scored import clusters
from groundfault.records import Benchmark, Estimate, Prediction

__all__ = [
    "CotEffect",
    "PositionBias",
    "cot_effects",
    "hallucination_rates",
    "position_bias",
]


class CotEffect(msgspec.Struct, frozen=True, kw_only=True):
    """Accuracy with minus without chain of thought, over questions answered in both modes."""

    std: float | None
    cot: float | None
    difference: Estimate
    """Its interval is a paired bootstrap over samples, those of one photograph together, or
    Tango's where few differ."""
    p_bootstrap: float | None
    """Of the same resamples: the bootstrap's, or Student's t beyond its reach."""
    only_std_right: int
    only_cot_right: int
    p_mcnemar: float
    """Exact, over questions; it takes the questions of one sample for independent."""
    p_holm: float | None = None
    """p_bootstrap, adjusted over the rows of the table."""


def cot_effects(
    benchmark: Benchmark,
    predictions: Iterable[Prediction],
    *,
    resamples: int = 10_000,
    seed: int = 0,
) -> dict[str, CotEffect]:
    """Row → effect; {} where the run has one mode only."""
    pairs: dict[str, dict[str, Slot]] = {}
    for slot in slots_of(benchmark, predictions):
        if not slot.unscored and not is_twin(slot.case):
            pairs.setdefault(slot.item.id, {})[slot.mode] = slot
    both = [(pair["std"], pair["cot"]) for pair in pairs.values() if len(pair) == 2]
    cluster = clusters(benchmark.cases, twin_of).tolist()
    effects: dict[str, CotEffect] = {}
    for name in ("Overall", *metric.TASKS):
        member = [pair for pair in both if name in ("Overall", pair[0].case.intervention)]
        if member:
            effects[name] = _effect(member, cluster, resamples, seed)
    adjusted = holm({n: e.p_bootstrap for n, e in effects.items() if e.p_bootstrap is not None})
    return {
        name: msgspec.structs.replace(effect, p_holm=adjusted.get(name))
        for name, effect in effects.items()
    }


def _effect(
    pairs: Sequence[tuple[Slot, Slot]], cluster: Sequence[int], resamples: int, seed: int
) -> CotEffect:
    places = {each: k for k, each in enumerate(dict.fromkeys(cluster[s.number] for s, _ in pairs))}
    sums = np.zeros((2, len(places), 2))
    for std, cot in pairs:
        for k, slot in enumerate((cot, std)):
            sums[k, places[cluster[std.number]]] += (slot.right * slot.weight, slot.weight)
    found = paired_difference(
        sums[0],
        sums[1],
        lambda totals: {"accuracy": totals[..., 0] / totals[..., 1]},
        shares={"accuracy": Share((0,), (1,), is_count=False)},
        resamples=resamples,
        seed=seed,
    )["accuracy"]
    only_std = sum(std.right and not cot.right for std, cot in pairs)
    only_cot = sum(cot.right and not std.right for std, cot in pairs)
    return CotEffect(
        std=float(sums[1, :, 0].sum() / sums[1, :, 1].sum()),
        cot=float(sums[0, :, 0].sum() / sums[0, :, 1].sum()),
        difference=Estimate(found.value, found.low, found.high, len(pairs)),
        p_bootstrap=found.p_value,
        only_std_right=only_std,
        only_cot_right=only_cot,
        p_mcnemar=mcnemar(only_std, only_cot),
    )


def hallucination_rates(
    benchmark: Benchmark, predictions: Iterable[Prediction]
) -> dict[str, dict[str, dict[str, Estimate]]]:
    """Task → mode → question → share of wrong answers: the heat map of Tables 11–14. Questions are
    Q1, Q2 …; where some sample is asked its Q1 in two wordings, Q1a and Q1b."""
    wrong: dict[tuple[str, str], dict[str, list[bool]]] = {}
    asked: dict[str, set[str]] = {}
    for slot in slots_of(benchmark, predictions):
        if not is_twin(slot.case):
            asked.setdefault(slot.case.intervention, set()).add(slot.label)
            of_mode = wrong.setdefault((slot.case.intervention, slot.mode), {})
            if not slot.unscored:
                of_mode.setdefault(slot.label, []).append(not slot.right)
    rates: dict[str, dict[str, dict[str, Estimate]]] = {}
    for task in LAYOUT:
        for mode in metric.MODES:
            found = wrong.get((task, mode), {})
            if found:
                rates.setdefault(task, {})[mode] = {
                    label: _share(found.get(label, ())) for label in sorted(asked[task], key=_place)
                }
    return rates


def _place(label: str) -> tuple[int, str]:
    """
    >>> sorted(["Q10", "Q1b", "Q2", "Q1a"], key=_place)
    ['Q1a', 'Q1b', 'Q2', 'Q10']
    """
    return int(label.strip("Qab")), label


def _share(flags: Sequence[bool]) -> Estimate:
    return Estimate(sum(flags) / len(flags) if flags else None, n=len(flags))


class PositionBias(msgspec.Struct, frozen=True, kw_only=True):
    """How a model chooses among options, by their place, in one mode."""

    letters: dict[str, tuple[int, int, int, int]]
    """Letter → how often it was offered, right, chosen, and chosen where it was right."""
    p_value: float | None
    """χ² of chosen letters against right ones; None where nothing was chosen."""


def position_bias(
    benchmark: Benchmark, predictions: Iterable[Prediction]
) -> dict[str, PositionBias]:
    """Mode → choices by letter, over multiple-choice answers that could be read."""
    counts: dict[str, dict[str, list[int]]] = {}
    for slot in slots_of(benchmark, predictions):
        said = slot.answer.parsed if slot.answer else None
        if slot.expected.type != "MC" or slot.unscored or not said:
            continue
        of_mode = counts.setdefault(slot.mode, {})
        for letter in LETTERS[: len(slot.expected.options)]:
            tally = of_mode.setdefault(letter, [0, 0, 0, 0])
            tally[0] += 1
            tally[1] += letter == slot.expected.reference
            tally[2] += letter == said
            tally[3] += letter == said == slot.expected.reference
    return {
        mode: PositionBias(
            letters={letter: (t[0], t[1], t[2], t[3]) for letter, t in sorted(tallies.items())},
            p_value=_unlike([t[2] for t in tallies.values()], [t[1] for t in tallies.values()]),
        )
        for mode, tallies in counts.items()
    }


def _unlike(chosen: Sequence[int], expected: Sequence[int]) -> float | None:
    """χ² p-value that the letters are chosen as often as they are right."""
    pairs = [(c, e) for c, e in zip(chosen, expected, strict=True) if e > 0]
    if len(pairs) < 2 or not sum(chosen):
        return None
    from scipy.special import chdtrc

    statistic = sum((c - e) ** 2 / e for c, e in pairs)
    return float(chdtrc(len(pairs) - 1, statistic))
