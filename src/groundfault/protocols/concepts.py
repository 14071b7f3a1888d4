"""Concepts in pictures, as phrases: find every instance, or nothing where there is none.

`concepts` (SA-Co, COCO, LVIS) asks for what is there and what is not, and gives the cgF1 family.
`concept-pairs` (CAFE) asks for each edited object twice, with the phrase p⁺ that is true of it and
with p⁻ that it merely looks like, and adds the target-aware metrics.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from groundfault.config import check_threshold
from groundfault.errors import DataError
from groundfault.matching.intake import FAILED, OUTCOME_NAMES, failure_notes
from groundfault.matching.overlaps import Overlaps, compare_predictions
from groundfault.metrics import columns_of, pcs, target_aware
from groundfault.protocols.protocol import Protocol
from groundfault.protocols.scored import Ragged, Scored, by_split, clusters
from groundfault.records import Benchmark, Case, Prediction, Role

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from groundfault.protocols.scored import Floats

__all__ = ["CONCEPTS", "CONCEPT_PAIRS", "EDITS", "score"]

EDITS = {
    "SM": "superficial mimicry",
    "CC": "context conflict",
    "OC": "ontological conflict",
}
"""Edits that have a row of their own."""
CONTROL = "control"
"""The intervention of cases that show the unedited picture."""
SLICES = ("dose", "split", "crowd", "kind")
"""Tags that become columns of the case table."""


def score(
    benchmark: Benchmark,
    overlaps: Overlaps,
    *,
    t: float,
    tau: float | None,
    iou: str,
    variant: str,
) -> Scored:
    """Score an image–phrase benchmark: the cgF1 family and, given τ, the target-aware metrics."""
    annotator_notes = _check_annotators(benchmark, overlaps, variant)
    layout = _Layout.of(benchmark)
    exhaustive = np.fromiter(
        (item.exhaustive for item in benchmark.items), bool, len(benchmark.items)
    )
    counts = pcs.count(overlaps, exhaustive, t=t, variant=variant)
    pairs = target_aware.Pairs(layout.pair_positive, layout.pair_negative)
    pair_scores = None
    if tau is not None:
        pair_scores = target_aware.score(overlaps, pairs, t=t, tau=tau, variant=variant)

    def contributions(counts: pcs.PcsCounts, pair_scores: target_aware.PairScores | None) -> Floats:
        sums = np.zeros((layout.n_entries, len(pcs.COLUMNS)))
        np.add.at(sums, layout.entry_of_item, pcs.contributions(counts, variant=variant))
        if pair_scores is None:
            return sums
        aware = np.zeros((layout.n_entries, len(target_aware.COLUMNS)))
        aware[layout.entry_of_pair] = target_aware.contributions(pair_scores)
        return np.hstack([sums, aware])

    imputed: tuple[Floats, ...] = ()
    failed = overlaps.outcome == FAILED
    if failed.any():
        imputed = tuple(
            contributions(
                pcs.impute(counts, failed & exhaustive, right=how == "right"),
                pair_scores
                and target_aware.impute(
                    pair_scores, failed[pairs.positive], failed[pairs.negative], how
                ),
            )
            for how in ("right", "wrong", "astray")
        )
    names = columns_of(pcs.FAMILY)
    if pair_scores is not None:
        names += columns_of(target_aware.FAMILY)
    tagged = any(case.tags for case in benchmark.cases)  # published files have no tags
    rows = _rows(benchmark.cases, layout.case_of_entry, by_edit=tau is not None, tagged=tagged)
    outcomes = {name: int((overlaps.outcome == code).sum()) for code, name in OUTCOME_NAMES.items()}
    return Scored(
        benchmark=benchmark.card.name,
        protocol=(CONCEPTS if tau is None else CONCEPT_PAIRS).name,
        settings={"t": t, "tau": tau, "iou": iou, "variant": variant},
        columns=lambda: _case_table(benchmark, overlaps, layout, counts, pair_scores),
        contributions=contributions(counts, pair_scores),
        contribution_names=names,
        case=clusters(benchmark.cases)[layout.case_of_entry],
        rows=rows,
        outcomes=outcomes,
        imputed=imputed,
        notes=(
            *benchmark.notes,
            *overlaps.notes,
            *annotator_notes,
            *_crowd_notes(benchmark, layout, variant),
            *_presence_notes(benchmark),
            *failure_notes(outcomes, overlaps.n_silent, "image–phrase pairs"),
        ),
    )


def _presence_notes(benchmark: Benchmark) -> list[str]:
    """What a set without anything absent cannot say, and how to make one that can."""
    if any(not item.present for item in benchmark.items):
        return []
    return [
        "Every phrase names something that is there, so cgF1, IL_MCC and IL_FPR say nothing here: "
        "`groundfault build pairs` makes a set from COCO or LVIS that asks for absent things too."
    ]


def _crowd_notes(benchmark: Benchmark, layout: _Layout, variant: str) -> list[str]:
    """What misleading phrases that are true of something else do to the metrics."""
    n = sum(bool(benchmark.items[k].regions) for k in layout.pair_negative.tolist())
    if not n:
        return []
    how = (
        "masks on that count as false positives all the same, as in the published script; "
        "variant exact excuses them"
        if variant == "parity"
        else "masks on that are no false positives (variant exact; parity counts them, as the "
        "published script does)"
    )
    return [
        f"{n} of {len(layout.pair_negative)} misleading phrases are true of something else in "
        f"their picture: {how}. For the cgF1 family such a phrase is present."
    ]


def _rows(
    cases: Sequence[Case], case_of_entry: NDArray[np.int64], *, by_edit: bool, tagged: bool
) -> dict[str, NDArray[np.bool_]]:
    """The lines of the table. Weaker doses and unedited controls have lines of their own: they
    are not what the benchmark's headline is about."""
    edits = np.array([case.intervention for case in cases], dtype=str)[case_of_entry]
    doses, splits = np.ones(len(edits)), np.full(len(edits), "")
    if tagged:
        doses = np.array([float(case.tags.get("dose", 1.0)) for case in cases])[case_of_entry]
        splits = np.array([case.tags.get("split", "") for case in cases], dtype=str)[case_of_entry]
    control = edits == CONTROL
    full = (doses == 1.0) & ~control
    if not full.any():  # nothing but weaker doses: then they are the benchmark
        full = ~control
    rows = {"Overall": full}
    if by_edit or np.isin(edits, list(EDITS)).any():
        rows |= {name: full & (edits == name) for name in EDITS}
    if tagged:
        rows |= by_split(rows, splits)
    for dose in sorted(set(doses[~control & ~full].tolist())):
        rows[f"dose {dose:g}"] = ~control & (doses == dose)
    if control.any():
        rows[CONTROL] = control
        rows |= by_split({CONTROL: control}, splits)
    return rows


def _check_annotators(benchmark: Benchmark, overlaps: Overlaps, variant: str) -> list[str]:
    """A pair that a further annotator did not see: the published evaluator refuses it if it has
    predictions and takes it as perfectly empty otherwise; `exact` asks the others."""
    unseen = ~np.all([truth.seen for truth in overlaps.truths], axis=0)
    if not unseen.any():
        return []
    example = benchmark.items[int(np.flatnonzero(unseen)[0])].id
    if variant == "exact":
        return [
            f"{unseen.sum()} pairs are missing from some annotator's file, e.g. {example}: they "
            "are compared with the annotators that have them."
        ]
    predicted = np.bincount(overlaps.item, minlength=overlaps.n_items) > 0
    refused = np.flatnonzero(unseen & predicted)
    if len(refused):
        raise DataError(
            "annotations",
            f"{len(refused)} image–phrase pairs with predictions are missing from some "
            "annotator's file",
            record=f"image {benchmark.items[int(refused[0])].id}",
            remedy="complete the file, or use --variant exact, which asks those that have it",
        )
    return [
        f"{unseen.sum()} pairs are missing from some annotator's file, e.g. {example}: the "
        "published evaluator counts them as rightly rejected, and so does parity; exact does not."
    ]


class _Layout(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Which items make which entry of the case table: one per pair, or per lone item."""

    n_entries: int
    case_of_entry: NDArray[np.int64]
    entry_of_item: NDArray[np.int64]
    positive: NDArray[np.int64]
    """(entries,) the item asked with p⁺."""
    negative: NDArray[np.int64]
    """(entries,) the item asked with p⁻, or −1."""
    entry_of_pair: NDArray[np.int64]
    pair_positive: NDArray[np.int64]
    pair_negative: NDArray[np.int64]

    @classmethod
    def of(cls, benchmark: Benchmark) -> _Layout:
        case_number = {case.id: number for number, case in enumerate(benchmark.cases)}
        case_of_entry: list[int] = []
        positive: list[int] = []
        negative: list[int] = []
        entry_of_item: list[int] = []
        previous_case = None
        for number, item in enumerate(benchmark.items):
            if item.role is Role.NEGATIVE and item.case_id == previous_case:
                if negative[-1] < 0:
                    negative[-1] = number
                else:
                    case_of_entry.append(case_of_entry[-1])
                    positive.append(positive[-1])
                    negative.append(number)
            else:
                case_of_entry.append(case_number[item.case_id])
                positive.append(number)
                negative.append(-1)
            entry_of_item.append(len(positive) - 1)
            previous_case = item.case_id
        entry_positive, entry_negative = np.array(positive), np.array(negative)
        has_target = np.fromiter((item.target is not None for item in benchmark.items), bool)
        paired = (entry_negative >= 0) & has_target[entry_positive]
        return cls(
            n_entries=len(positive),
            case_of_entry=np.array(case_of_entry),
            entry_of_item=np.array(entry_of_item),
            positive=entry_positive,
            negative=entry_negative,
            entry_of_pair=np.flatnonzero(paired),
            pair_positive=entry_positive[paired],
            pair_negative=entry_negative[paired],
        )


def _tag_columns(cases: Sequence[Case]) -> dict[str, list[Any]]:
    """The tags that cases can be sliced by: a dose as a number, the others as text."""
    names = dict.fromkeys(name for case in cases for name in case.tags if name in SLICES)
    columns: dict[str, list[Any]] = {}
    for name in names:
        values: list[Any] = [case.tags.get(name) for case in cases]
        numeric = name == "dose"
        columns[name] = [float(v) if numeric and v is not None else v for v in values]
    return columns


def _case_table(
    benchmark: Benchmark,
    overlaps: Overlaps,
    layout: _Layout,
    counts: pcs.PcsCounts,
    pair_scores: target_aware.PairScores | None,
) -> dict[str, Any]:
    """What cases.parquet says about each case, with scores and overlaps of every prediction."""
    items, cases = benchmark.items, benchmark.cases
    case = [cases[c] for c in layout.case_of_entry.tolist()]
    positive = [items[i] for i in layout.positive.tolist()]
    negative = [items[i] if i >= 0 else None for i in layout.negative.tolist()]
    starts = overlaps.item_start
    table: dict[str, Any] = {
        "case_id": [entry.id for entry in case],
        "intervention": [entry.intervention for entry in case],
        **_tag_columns(case),
        "image": [item.image for item in positive],
        "positive_id": [item.id for item in positive],
        "positive_query": [item.query for item in positive],
        "negative_id": [item and item.id for item in negative],
        "negative_query": [item and item.query for item in negative],
        "n_objects": counts.n_objects[layout.positive],
    }
    for side, index in (("positive", layout.positive), ("negative", layout.negative)):
        there = index >= 0
        first, last = starts[index] * there, starts[index + 1] * there
        outcome = np.where(there, overlaps.outcome[index], -1)
        table[f"{side}_outcome"] = [OUTCOME_NAMES.get(code) for code in outcome.tolist()]
        table[f"{side}_n_accepted"] = np.where(there, counts.n_predicted[index], 0)
        table[f"{side}_scores"] = Ragged(overlaps.score, first, last)
        table[f"{side}_target_ious"] = Ragged(overlaps.target_iou, first, last)
    if pair_scores is not None:
        for side, names, cell in (
            ("positive", target_aware.POSITIVE_CELLS, pair_scores.positive_cell),
            ("negative", target_aware.NEGATIVE_CELLS, pair_scores.negative_cell),
        ):
            entry_cell = np.full(layout.n_entries, len(names))
            entry_cell[layout.entry_of_pair] = np.where(pair_scores.counted, cell, len(names))
            known = (*names, None)
            table[f"{side}_cell"] = [known[value] for value in entry_cell.tolist()]
    return table


def _match(
    benchmark: Benchmark, predictions: Iterable[Prediction], settings: Mapping[str, object]
) -> Overlaps:
    return compare_predictions(
        benchmark, predictions, iou=str(settings["iou"]), need_target="tau" in settings
    )


def _contribute(benchmark: Benchmark, overlaps: Overlaps, settings: Mapping[str, Any]) -> Scored:
    if ((overlaps.score >= 0) & (overlaps.score <= 1)).all():  # else they may be logits
        check_threshold(settings["t"])
    return score(
        benchmark,
        overlaps,
        t=settings["t"],
        tau=settings.get("tau"),
        iou=settings["iou"],
        variant=settings["variant"],
    )


_CELLS = {
    "false alarm": "a mask for an absent concept",
    "missed": "no mask for a present concept",
}
CONCEPTS = Protocol(
    name="concepts",
    title="Concepts",
    families=("pcs",),
    settings={"t": 0.5, "iou": "segm", "variant": "exact"},
    match=_match,
    contribute=_contribute,
    headlines=(
        "cgF1", "IL_MCC", "positive_micro_F1", "positive_macro_F1", "IL_recall", "IL_FPR",
    ),
    main="cgF1",
    along_t=("cgF1", "IL_MCC", "positive_micro_F1"),
    asked=(
        "Each query is a noun phrase for a picture. The model should mark every instance, or "
        "nothing where the concept is absent."
    ),
    told="cgF1",
    sentence="reaches a cgF1 of {value} {interval}",
    bars=("cgF1", "IL_MCC", "positive_micro_F1", "positive_macro_F1", "IL_recall", "IL_FPR"),
    slices={**EDITS, CONTROL: "unedited picture"},
    cells=_CELLS,
)  # fmt: skip
CONCEPT_PAIRS = Protocol(
    name="concept-pairs",
    title="Concept pairs",
    families=("pcs", "target"),
    settings={"t": 0.5, "tau": 0.3, "iou": "segm", "variant": "exact"},
    match=_match,
    contribute=_contribute,
    headlines=(
        "cgF1", "IL_MCC", "positive_micro_F1", "IL-FPR", "AFPR", "UFPR", "ACSR", "UCSR", "SoftSwap",
    ),
    main="cgF1",
    along_t=("cgF1", "IL_MCC", "positive_micro_F1", "IL-FPR", "AFPR", "ACSR"),
    along_tau=("AFPR", "UFPR", "ACSR", "UCSR", "lost"),
    right_or_wrong={
        "p⁻ rejected": ("negative_cell", lambda cell: bool(cell == "TN")),
        "p⁻ not on the target": ("negative_cell", lambda cell: bool(cell != "TA-FP")),
        "p⁺ found": ("positive_cell", lambda cell: bool(cell == "TA-TP")),
    },
    asked=(
        "One object in each picture was edited so that it looks like something else: it wears "
        "another surface (a cat with tiger stripes), stands in another context or is made of "
        "another material. The model is asked twice. p⁺ names what the object is: it should "
        "be found. p⁻ names what it merely looks like: nothing should be found."
    ),
    told="IL-FPR",
    sentence="accepts the misleading phrase in {value} of pairs {interval}",
    bars=("AFPR", "ACSR", "SoftSwap", "cgF1", "positive_micro_F1", "IL_MCC"),
    kinds="By intervention",
    slices={**EDITS, CONTROL: "unedited picture"},
    cells={**target_aware.CELL_WORDS, **_CELLS},
)  # fmt: skip
