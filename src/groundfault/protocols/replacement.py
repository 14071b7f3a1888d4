"""Object replacement (HalluSegBench): IoU, its drop, and confusion mask scores per case."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from groundfault.analysis.statistics import normal_halfwidth
from groundfault.benchmarks import halluseg
from groundfault.errors import DataError, UnknownName, UsageError
from groundfault.io.masks import RLEMask, parse_mask, union
from groundfault.matching.quads import ROLES, Quads, compare_quad_masks, compare_quads
from groundfault.metrics import replacement
from groundfault.protocols.scored import Scored, by_split
from groundfault.records import Benchmark, Item, Outcome, Prediction, Region, Role

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from groundfault.protocols.scored import Floats, Metrics

__all__ = [
    "SIZES",
    "data_hashes",
    "metric_function",
    "normal_halfwidths",
    "score",
    "score_benchmark",
]

AnyPath = str | PathLike[str]

SIZES = ("S", "M", "L")
COCO_LIMITS_PX = (32**2, 96**2)


def score(
    cases_json: AnyPath,
    data_dir: AnyPath,
    predictions_dir: AnyPath,
    *,
    variant: str,
    missing: str,
    alpha: float = replacement.ALPHA,
    size_limits_px: tuple[int, int] = COCO_LIMITS_PX,
    progress: Callable[[int, int], None] | None = None,
) -> Scored:
    """Score a folder of prediction PNGs.

    `missing` says what an absent prediction is in `exact`: an "error", or an "empty" mask, that
    is, an abstention. `parity` leaves it out, as published. Size classes go by the area of the
    factual mask at its own size: S below the first limit, M below the second, L from there; an
    empty or absent one has no class. `progress` is told (cases done, cases in all).
    """
    _check_settings(variant, missing, alpha, size_limits_px)
    entries = halluseg.read_entries(cases_json)
    files = halluseg.find_files(entries, cases_json, data_dir, predictions_dir)
    quads = compare_quads(files, len(entries), variant=variant, missing=missing, progress=progress)
    if variant == "exact":
        _refuse_wrong_folder(quads, predictions_dir)
    settings: dict[str, object] = {
        "variant": variant,
        "missing": "skip" if variant == "parity" else missing,
        "alpha": alpha,
        "size_limits_px": list(size_limits_px),
    }
    return _scored(entries, quads, settings, alpha, size_limits_px, from_files=True)


def score_benchmark(
    benchmark: Benchmark,
    predictions: Iterable[Prediction],
    *,
    t: float,
    alpha: float = replacement.ALPHA,
    size_limits_px: tuple[int, int] = COCO_LIMITS_PX,
) -> Scored:
    """Score stored predictions on a benchmark of quads: a query's mask is the union of its masks
    with score ≥ t. An unreadable answer counts as one that names the whole image, never as an
    abstention; a case with a failed item is left out."""
    answers = {prediction.item_id: prediction for prediction in predictions}
    quads_of_case: dict[str, dict[Role, Item]] = {}
    for item in benchmark.items:
        quads_of_case.setdefault(item.case_id, {})[item.role] = item
    entries: list[halluseg.Entry] = []
    splits: list[str] = []
    masks, n_failed = [], 0
    for case in benchmark.cases:
        quad = quads_of_case.get(case.id, {})
        if set(quad) != set(ROLES):
            continue
        found = [answers.get(quad[role].id) for role in ROLES]
        if any(answer is not None and answer.outcome is Outcome.FAILED for answer in found):
            n_failed += 1
            continue
        entries.append(halluseg.entry_of(case, quad, len(entries)))
        splits.append(case.tags.get("split", ""))
        truths = [_region_mask(quad[role].target) for role in (Role.FACTUAL, Role.COUNTERFACTUAL)]
        masks.append(
            (truths, [_answer_mask(quad[r], a, t) for r, a in zip(ROLES, found, strict=True)])
        )
    if not entries:
        raise DataError(
            benchmark.card.name,
            "no case has all four corners answered",
            remedy="give a benchmark of (I, c) (I, c') (I', c) (I', c') and predictions for it",
        )
    settings: dict[str, object] = {
        "t": t,
        "variant": "exact",
        "missing": "empty",
        "alpha": alpha,
        "size_limits_px": list(size_limits_px),
    }
    quads = compare_quad_masks(masks)
    scored = _with_splits(
        _scored(entries, quads, settings, alpha, size_limits_px, from_files=False), splits
    )
    if not n_failed:
        return scored
    note = f"{n_failed} of {len(benchmark.cases)} cases have a failed item and are left out."
    outcomes = {**scored.outcomes, "failed": n_failed}
    return msgspec.structs.replace(scored, outcomes=outcomes, notes=(*scored.notes, note))


def _with_splits(scored: Scored, splits: Sequence[str]) -> Scored:
    """A column and rows for the splits, where there are any; sizes are not split further."""
    if not any(splits):
        return scored
    whole = {name: scored.rows[name] for name in ("Overall", *halluseg.TASKS)}
    rows = by_split(whole, np.array(splits, dtype=str))
    table = scored.columns
    return msgspec.structs.replace(
        scored,
        rows={**scored.rows, **rows},
        columns=lambda: {**table(), "split": [split or None for split in splits]},
    )


def _region_mask(region: Region | None) -> RLEMask | None:
    return None if region is None or region.mask is None else RLEMask.from_dict({**region.mask})


def _answer_mask(item: Item, answer: Prediction | None, t: float) -> RLEMask | None:
    if answer is None or answer.outcome is Outcome.ABSTAINED:
        return None
    if answer.outcome is Outcome.UNPARSED:
        return RLEMask.ones((item.height_px, item.width_px))
    kept = [
        parse_mask({**mask}, item.height_px, item.width_px)
        for mask, score in zip(answer.masks, answer.scores, strict=True)
        if score >= t
    ]
    return union(kept) if kept else None


def _scored(
    entries: Sequence[halluseg.Entry],
    quads: Quads,
    settings: dict[str, object],
    alpha: float,
    size_limits_px: tuple[int, int],
    *,
    from_files: bool,
) -> Scored:
    variant = str(settings["variant"])
    values = replacement.case_values(quads, variant=variant, alpha=alpha)
    sizes = _sizes(quads, size_limits_px)
    task = np.array([entry.task for entry in entries], dtype=str)
    return Scored(
        benchmark=halluseg.CARD.name,
        settings=settings,
        columns=lambda: _case_table(entries, quads, values, sizes, variant),
        contributions=replacement.contributions(values),
        contribution_names=tuple(f"replacement.{name}" for name in replacement.COLUMNS),
        case=np.arange(len(entries)),
        rows={
            "Overall": np.ones(len(entries), bool),
            **{name: task == name for name in halluseg.TASKS},
            **{name: sizes == name for name in SIZES},
        },
        metrics=metric_function(settings),
        support=replacement.support,
        outcomes=_outcomes(quads, variant),
        normal_halfwidths=normal_halfwidths,
        notes=tuple(_notes(entries, quads, variant, from_files)),
    )


def metric_function(settings: Mapping[str, object]) -> Metrics:
    """The metrics of object replacement; α is already in the contributions."""
    return replacement.metrics


def normal_halfwidths(scored: Scored) -> dict[str, dict[str, float | None]]:
    """Row → metric → half-width 1.96·s/√n over its cases, as in the paper. CCMS, a ratio of two
    means, has none; the bootstrap covers it."""
    defined = scored.contributions[:, 1::2] > 0
    values = np.where(defined, scored.contributions[:, ::2], np.nan)
    column = {name: values[:, k] for k, name in enumerate(replacement.CASE_VALUES)}
    column["CCMS_mean"] = column.pop("CCMS_ratio")
    return {
        row: {
            name: normal_halfwidth(column[name][member]) if name in column else None
            for name in replacement.METRICS
        }
        for row, member in scored.rows.items()
    }


def data_hashes(scored: Scored) -> dict[str, str]:
    """What two runs must share to be compared: the cases and their ground truths. (The list
    itself differs from model to model, as it names the predictions.)"""
    digest = sha256()
    columns = scored.columns()
    for case_id, truth in zip(columns["case_id"], columns["truth_sha256"], strict=True):
        digest.update(f"{case_id}\0{truth}\n".encode())
    return {"ground truth": digest.hexdigest()}


def _check_settings(
    variant: str, missing: str, alpha: float, size_limits_px: tuple[int, int]
) -> None:
    if variant not in ("exact", "parity"):
        raise UnknownName("variant", variant, ("exact", "parity"))
    if missing not in ("error", "empty"):
        raise UnknownName("meaning of a missing prediction", missing, ("error", "empty"))
    if not (math.isfinite(alpha) and alpha > 1):
        raise UsageError(f"alpha is {alpha}; it must be above 1")
    if not 0 < size_limits_px[0] < size_limits_px[1]:
        raise UsageError(f"size limits {size_limits_px} must be above 0 and rising")
    if variant == "parity" and missing == "empty":
        raise UsageError(
            "parity leaves absent predictions out, as the published scripts do; to count them as "
            "abstentions use --variant exact --missing empty"
        )
    if variant == "parity" and alpha != replacement.ALPHA:
        raise UsageError("parity has alpha 3, as the published script does; use --variant exact")


def _refuse_wrong_folder(quads: Quads, predictions_dir: AnyPath) -> None:
    """A mistyped folder must not look like a model that abstains everywhere."""
    corners = [Path(predictions_dir) / name for name in halluseg.CORNERS.values()]
    if not quads.prediction_there.any() and not any(corner.is_dir() for corner in corners):
        raise DataError(
            predictions_dir,
            "none of the predictions is in this folder",
            remedy="give the folder that holds orgl_orgi, edtl_orgi, orgl_edti and edtl_edti",
        )


def _sizes(quads: Quads, limits_px: tuple[int, int]) -> NDArray[np.str_]:
    area_px = quads.truth_px[:, 0]
    limits = [area_px == 0, area_px < limits_px[0], area_px < limits_px[1]]
    return np.select(limits, ["", "S", "M"], default="L")


def _outcomes(quads: Quads, variant: str) -> dict[str, int]:
    there, absent = int(quads.prediction_there.sum()), int((~quads.prediction_there).sum())
    outcomes = {outcome.value: 0 for outcome in Outcome} | {"ok": there}
    if variant == "exact":
        return outcomes | {"abstained": absent}
    return outcomes | {"missing": absent}


def _case_table(
    entries: Sequence[halluseg.Entry],
    quads: Quads,
    values: Mapping[str, Floats],
    sizes: NDArray[np.str_],
    variant: str,
) -> dict[str, Sequence[Any] | NDArray[Any]]:
    """What cases.parquet says about each case; null where there is nothing to say."""
    absent = "missing" if variant == "parity" else Outcome.ABSTAINED.value
    table: dict[str, Sequence[Any] | NDArray[Any]] = {
        "case_id": [entry.id for entry in entries],
        "image": [entry.image for entry in entries],
        "counterfactual_image": [entry.edited_image or None for entry in entries],
        "ann_id": [entry.ann_id for entry in entries],
        "label": [entry.label or None for entry in entries],
        "query": [entry.query or None for entry in entries],
        "counterfactual_query": [entry.edited_query or None for entry in entries],
        "task": [entry.task or None for entry in entries],
        "size": [size or None for size in sizes.tolist()],
        "truth_sha256": quads.truth_sha256,
    }
    for k, side in enumerate(("factual", "counterfactual")):
        there = quads.truth_there[:, k]
        table[f"{side}_mask_height_px"] = _nullable(quads.truth_size_px[:, k, 0], there)
        table[f"{side}_mask_width_px"] = _nullable(quads.truth_size_px[:, k, 1], there)
        table[f"{side}_mask_px"] = _nullable(quads.truth_px[:, k], there)
    for k, role in enumerate(ROLES):
        there = quads.prediction_there[:, k]
        table[f"{role}_outcome"] = [
            Outcome.OK.value if known else absent for known in there.tolist()
        ]
        table[f"{role}_resized"] = quads.resized[:, k]
        for name in ("predicted_px", "shared_px"):
            table[f"{role}_{name}"] = _nullable(
                getattr(quads.own, name)[:, k], quads.compared[:, k]
            )
        if variant == "parity":
            counts = quads.at_factual_size
            for name in ("object_px", "predicted_px", "shared_px"):
                column = _nullable(getattr(counts, name)[:, k], quads.compared[:, k])
                table[f"{role}_{name}_at_factual_size"] = column
    for name, value in values.items():
        table[name] = _nullable(value, ~np.isnan(value))
    return table


def _nullable(values: NDArray[Any], defined: NDArray[np.bool_]) -> list[Any]:
    pairs = zip(values.tolist(), defined.tolist(), strict=True)
    return [value if known else None for value, known in pairs]


def _notes(
    entries: Sequence[halluseg.Entry], quads: Quads, variant: str, from_files: bool
) -> list[str]:
    """What a reader of the numbers should know, with an example of each."""
    parity = variant == "parity"
    notes = []
    absent = ~quads.prediction_there
    if absent.any() and from_files:
        how = "left out, as the published scripts do" if parity else "counted as abstentions"
        notes.append(
            f"{absent.sum()} of {absent.size} predictions have no file and are {how}, e.g. of case "
            f"{_example(entries, absent)}."
        )
    without = ~quads.truth_there
    if without.any():
        notes.append(
            f"{without.any(axis=1).sum()} cases lack a ground truth, e.g. "
            f"{_example(entries, without)}: IoU leaves them out whole, CMS only the side that "
            "lacks it, as the published scripts do."
        )
    empty = quads.truth_there & (quads.truth_px == 0)
    if empty.any():
        how = "0, as the published script has it" if parity else "undefined"
        notes.append(
            f"{empty.any(axis=1).sum()} cases have an empty ground truth, e.g. "
            f"{_example(entries, empty)}: CMS there is {how}."
        )
    if quads.resized.any():
        notes.append(
            f"{quads.resized.sum()} predictions have another size than their ground truth, e.g. of "
            f"case {_example(entries, quads.resized)}; they were resized to it (nearest neighbour)."
        )
    both = quads.truth_there.all(axis=1)
    differs = both & (quads.truth_size_px[:, 0] != quads.truth_size_px[:, 1]).any(axis=1)
    if parity and differs.any():
        notes.append(
            f"{differs.sum()} cases have ground truths of two sizes, e.g. "
            f"{_example(entries, differs[:, None])}: IoU compares all at the factual one's, as the "
            "published script does."
        )
    other = np.array([entry.task not in halluseg.TASKS for entry in entries])
    if other.any():
        notes.append(
            f"{other.sum()} cases do not say whether they are referring or reasoning (field "
            "'task'); they count in Overall and by size only."
        )
    return notes


def _example(entries: Sequence[halluseg.Entry], flags: NDArray[np.bool_]) -> str:
    return entries[int(np.flatnonzero(flags.any(axis=1))[0])].id
