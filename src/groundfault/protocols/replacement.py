"""Objects replaced in the picture or in the words (HalluSegBench): IoU, its drop, and confusion
mask scores per case.

A query's mask is the union of its masks with score ≥ t, or of all of them where there is no t. An
unreadable answer counts as one that names the whole image, never as an abstention; a case with a
failed item is left out. A case whose query has no prediction at all is refused, has an empty mask
there, or does without that comparison, as `missing` says.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from groundfault.errors import DataError, UnknownName, UsageError
from groundfault.io.masks import RLEMask, union
from groundfault.matching.quads import ROLES, Quad, Quads, compare_quads
from groundfault.metrics import columns_of, replacement
from groundfault.protocols.protocol import Protocol
from groundfault.protocols.scored import Scored, by_split
from groundfault.records import Benchmark, Case, Item, Outcome, Prediction, Region, Role

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from groundfault.protocols.scored import Floats

__all__ = ["PROTOCOL", "SIZES", "TASKS", "data_hashes", "normal_halfwidth", "normal_halfwidths"]

SIZES = ("S", "M", "L")
TASKS = ("referring", "reasoning")
COCO_LIMITS_PX = (32**2, 96**2)


class _Entry(msgspec.Struct, frozen=True):
    """A case with its four items."""

    case: Case
    quad: Mapping[Role, Item]

    def tag(self, name: str) -> str | None:
        return self.case.tags.get(name) or None


class _Matched(msgspec.Struct, frozen=True, eq=False):
    """What is compared, and how many cases had a failed item."""

    entries: Sequence[_Entry]
    quads: Quads
    silent: NDArray[np.bool_]
    """(cases, 4) queries without any prediction."""
    n_failed: int


def _match(
    benchmark: Benchmark, predictions: Iterable[Prediction], settings: Mapping[str, Any]
) -> _Matched:
    _check_settings(settings)
    answers = {prediction.item_id: prediction for prediction in predictions}
    corners: dict[str, dict[Role, Item]] = {}
    for item in benchmark.items:
        corners.setdefault(item.case_id, {})[item.role] = item
    entries: list[_Entry] = []
    quads: list[Quad] = []
    silent: list[list[bool]] = []
    n_failed = 0
    for case in benchmark.cases:
        quad = corners.get(case.id, {})
        if set(quad) != set(ROLES):
            continue
        found = [answers.get(quad[role].id) for role in ROLES]
        if any(answer is not None and answer.outcome is Outcome.FAILED for answer in found):
            n_failed += 1
            continue
        entries.append(_Entry(case, quad))
        silent.append([answer is None for answer in found])
        quads.append(_quad(entries[-1], found, settings))
    if not entries:
        raise DataError(
            benchmark.card.name,
            "no case has all four corners answered",
            remedy="give a benchmark of (I, c) (I, c') (I', c) (I', c') and predictions for it",
        )
    parity = settings["variant"] == "parity"
    compared = compare_quads(quads, at_factual_size=parity)
    return _Matched(entries, compared, np.array(silent, bool), n_failed)


def _quad(entry: _Entry, answers: Sequence[Prediction | None], settings: Mapping[str, Any]) -> Quad:
    if _missing(settings) == "error" and None in answers:
        item = entry.quad[ROLES[answers.index(None)]]
        raise DataError(
            "predictions",
            "this prediction is not there",
            record=f"item {item.id}",
            remedy="give it, or say with missing empty that an absent one is an abstention",
        )
    quad, skip = entry.quad, _missing(settings) == "skip"
    return Quad(
        truths=[_region_mask(quad[role].target) for role in (Role.FACTUAL, Role.COUNTERFACTUAL)],
        predictions=[
            _answer_mask(quad[role], answer, settings["t"])
            for role, answer in zip(ROLES, answers, strict=True)
        ],
        left_out=[skip and answer is None for answer in answers],
        truth_sha256=entry.case.facts.get("truth_sha256", ""),
    )


def _missing(settings: Mapping[str, Any]) -> str:
    """What an absent prediction means: parity leaves it out, as published."""
    if settings["variant"] == "parity":
        return "skip"
    return str(settings["missing"] or "empty")


def _contribute(benchmark: Benchmark, matched: _Matched, settings: Mapping[str, Any]) -> Scored:
    used: dict[str, object] = {} if settings["t"] is None else {"t": settings["t"]}
    used |= {
        "variant": settings["variant"],
        "missing": _missing(settings),
        "alpha": settings["alpha"],
        "size_limits_px": list(settings["size_limits_px"]),
    }
    scored = _with_splits(_scored(benchmark, matched, used), matched.entries)
    if not matched.n_failed:
        return scored
    note = (
        f"{matched.n_failed} of {len(benchmark.cases)} cases have a failed item and are left out."
    )
    outcomes = {**scored.outcomes, "failed": matched.n_failed}
    return msgspec.structs.replace(scored, outcomes=outcomes, notes=(*scored.notes, note))


def _with_splits(scored: Scored, entries: Sequence[_Entry]) -> Scored:
    """A column and rows for the splits, where there are any; sizes are not split further."""
    splits = [entry.tag("split") for entry in entries]
    if not any(splits):
        return scored
    whole = {name: scored.rows[name] for name in ("Overall", *TASKS)}
    rows = by_split(whole, np.array([split or "" for split in splits], dtype=str))
    table = scored.columns
    return msgspec.structs.replace(
        scored,
        rows={**scored.rows, **rows},
        columns=lambda: {**table(), "split": splits},
    )


def _region_mask(region: Region | None) -> RLEMask | None:
    return None if region is None or region.mask is None else RLEMask.from_dict({**region.mask})


def _answer_mask(item: Item, answer: Prediction | None, t: float | None) -> RLEMask | None:
    if answer is None or answer.outcome is Outcome.ABSTAINED:
        return None
    if answer.outcome is Outcome.UNPARSED:
        return RLEMask.ones((item.height_px, item.width_px))
    kept = [
        RLEMask.from_dict({**mask})
        for k, mask in enumerate(answer.masks)
        if t is None or answer.scores[k] >= t
    ]
    if len(kept) == 1:
        return kept[0]
    return union(kept) if kept else None


def _scored(benchmark: Benchmark, matched: _Matched, settings: dict[str, object]) -> Scored:
    entries, quads, variant = matched.entries, matched.quads, str(settings["variant"])
    values = replacement.case_values(quads, variant=variant, alpha=settings["alpha"])  # type: ignore[arg-type]
    sizes = _sizes(quads, settings["size_limits_px"])  # type: ignore[arg-type]
    task = np.array([entry.tag("task") or "" for entry in entries], dtype=str)
    return Scored(
        benchmark=benchmark.card.name,
        protocol=PROTOCOL.name,
        settings=settings,
        columns=lambda: _case_table(entries, quads, values, sizes, variant),
        contributions=replacement.contributions(values),
        contribution_names=columns_of(replacement.FAMILY),
        case=np.arange(len(entries)),
        rows={
            "Overall": np.ones(len(entries), bool),
            **{name: task == name for name in TASKS},
            **{name: sizes == name for name in SIZES},
        },
        outcomes=_outcomes(quads, variant),
        normal_halfwidths=normal_halfwidths,
        notes=tuple(_notes(matched, variant)),
    )


def normal_halfwidths(scored: Scored) -> dict[str, dict[str, float | None]]:
    """Row → metric → half-width 1.96·s/√n over its cases, as in the paper. CCMS, a ratio of two
    means, has none; the bootstrap covers it."""
    own = scored.contributions[:, : len(replacement.COLUMNS)]
    values = np.where(own[:, 1::2] > 0, own[:, ::2], np.nan)
    column = {name: values[:, k] for k, name in enumerate(replacement.CASE_VALUES)}
    column["CCMS_mean"] = column.pop("CCMS_ratio")
    return {
        row: {
            name: normal_halfwidth(column[name][member]) if name in column else None
            for name in replacement.METRICS
        }
        for row, member in scored.rows.items()
    }


def normal_halfwidth(values: Floats) -> float | None:
    """Half-width 1.96·s/√n of the normal 95 % interval, as the HalluSegBench paper gives it.

    >>> round(normal_halfwidth(np.array([0.0, 1.0])), 4)
    0.98
    """
    defined = values[~np.isnan(values)]
    if len(defined) < 2:
        return None
    return float(1.96 * defined.std(ddof=1) / math.sqrt(len(defined)))


def data_hashes(scored: Scored) -> dict[str, str]:
    """What two runs must share to be compared: the cases and their ground truths. (The list
    itself differs from model to model, as it names the predictions.)"""
    digest = sha256()
    columns = scored.columns()
    for case_id, truth in zip(columns["case_id"], columns["truth_sha256"], strict=True):
        digest.update(f"{case_id}\0{truth}\n".encode())
    return {"ground truth": digest.hexdigest()}


def _check_settings(settings: Mapping[str, Any]) -> None:
    variant, missing = settings["variant"], settings["missing"]
    alpha, limits = settings["alpha"], settings["size_limits_px"]
    if variant not in ("exact", "parity"):
        raise UnknownName("variant", variant, ("exact", "parity"))
    if missing not in ("", "error", "empty"):
        raise UnknownName("meaning of a missing prediction", missing, ("error", "empty"))
    if not (math.isfinite(alpha) and alpha > 1):
        raise UsageError(f"alpha is {alpha}; it must be above 1")
    if not 0 < limits[0] < limits[1]:
        raise UsageError(f"size limits {tuple(limits)} must be above 0 and rising")
    if variant == "parity" and missing == "empty":
        raise UsageError(
            "parity leaves absent predictions out, as the published scripts do; to count them as "
            "abstentions use --variant exact --missing empty"
        )
    if variant == "parity" and alpha != replacement.ALPHA:
        raise UsageError("parity has alpha 3, as the published script does; use --variant exact")


def _sizes(quads: Quads, limits_px: Sequence[int]) -> NDArray[np.str_]:
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
    entries: Sequence[_Entry],
    quads: Quads,
    values: Mapping[str, Floats],
    sizes: NDArray[np.str_],
    variant: str,
) -> dict[str, Sequence[Any] | NDArray[Any]]:
    """What cases.parquet says about each case; null where there is nothing to say."""
    absent = "missing" if variant == "parity" else Outcome.ABSTAINED.value
    factual = [entry.quad[Role.FACTUAL] for entry in entries]
    other = [entry.quad[Role.COUNTERFACTUAL] for entry in entries]
    table: dict[str, Sequence[Any] | NDArray[Any]] = {
        "case_id": [entry.case.id for entry in entries],
        "image": [item.image for item in factual],
        "counterfactual_image": [item.image or None for item in other],
        "ann_id": [entry.case.facts.get("ann_id", entry.case.id) for entry in entries],
        "label": [entry.tag("label") for entry in entries],
        "query": [item.query or None for item in factual],
        "counterfactual_query": [item.query or None for item in other],
        "task": [entry.tag("task") for entry in entries],
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


def _notes(matched: _Matched, variant: str) -> list[str]:
    """What a reader of the numbers should know, with an example of each."""
    entries, quads, absent = matched.entries, matched.quads, matched.silent
    parity = variant == "parity"
    notes = []
    if absent.any():
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
    other = np.array([entry.tag("task") not in TASKS for entry in entries])
    if other.any():
        notes.append(
            f"{other.sum()} cases do not say whether they are referring or reasoning (field "
            "'task'); they count in Overall and by size only."
        )
    return notes


def _example(entries: Sequence[_Entry], flags: NDArray[np.bool_]) -> str:
    return entries[int(np.flatnonzero(flags.any(axis=1))[0])].case.id


PROTOCOL = Protocol(
    name="replacement-quads",
    title="Replaced objects",
    families=("replacement",),
    settings={
        "t": None,
        "variant": "exact",
        "missing": "",
        "alpha": replacement.ALPHA,
        "size_limits_px": COCO_LIMITS_PX,
    },
    match=_match,
    contribute=_contribute,
    hashes=data_hashes,
    headlines=(
        "IoU_fact", "IoU_cf", "dIoU_textual", "dIoU_visual", "CMS_fact", "CMS_counterfact", "CCMS",
        "CCMS_mean",
    ),
    main="dIoU_textual",
    compared=("CCMS", "CCMS_mean"),
    asked=(
        "One object c of picture I was replaced by another, c′, giving picture I′. The model "
        "is asked for both in both pictures. A mask should be there for (I, c) and (I′, c′) "
        "and disappear for (I, c′), where only the words changed, and for (I′, c), where only "
        "the picture changed."
    ),
    told="dIoU_textual",
    sentence=(
        "loses {value} of overlap {interval}, as it should, when the words name another object"
    ),
    bars=("dIoU_textual", "dIoU_visual", "IoU_fact", "IoU_cf", "CMS_fact", "CMS_counterfact"),
    slices={"S": "small objects", "M": "medium objects", "L": "large objects"},
    cells={
        "words ignored": "the mask stays although the words changed",
        "picture ignored": "a mask is there although the object was replaced",
        "object missed": "little or no mask where one should be",
    },
)  # fmt: skip
