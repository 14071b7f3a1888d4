"""Objects replaced in the picture or in the words (HalluSegBench): IoU, its drop, and confusion
mask scores per case.

A query's mask is the union of its masks with score ≥ t, or of all of them where there is no t. An
unreadable answer is wrong, never an abstention: in IoU and bounded CMS as wrong as can be, in CMS,
which has no highest value, left out with bounds. A case with a failed item is left out, with
bounds. A case whose query has no prediction at all is refused, has an empty mask there, or does
without that comparison, as `missing` says; `_counted` and `_skipped` metrics show what an absent
mask does (`metrics.absence`).

Objects are small, medium or large by the area of M_c. The paper does not say its limits; `sizes`
takes COCO's (32² and 96² px), quartiles of the set, or two limits of one's own.
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
from groundfault.matching.intake import (
    FAILED,
    OUTCOME_CODE,
    OUTCOME_NAMES,
    SILENT,
    UNPARSED,
)
from groundfault.matching.quads import ROLES, Quad, Quads, compare_quads
from groundfault.metrics import absence, bounded, columns_of, replacement
from groundfault.metrics.replacement import Corners, Judgement
from groundfault.protocols.protocol import Protocol, SideBySide
from groundfault.protocols.scored import Scored, by_split, clusters
from groundfault.records import Benchmark, Case, Item, Outcome, Prediction, Region, Role

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from groundfault.protocols.scored import Floats

__all__ = [
    "PROTOCOL",
    "SIZES",
    "TASKS",
    "check_sizes",
    "data_hashes",
    "normal_halfwidth",
    "normal_halfwidths",
    "size_limits",
]

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
    """What is compared, and how every answer ended."""

    entries: Sequence[_Entry]
    quads: Quads
    outcome: NDArray[np.int8]
    """(cases, 4) codes of `matching.intake`."""

    @property
    def unread(self) -> NDArray[np.bool_]:
        """(cases, 4) answers that could not be read."""
        return np.equal(self.outcome, UNPARSED)

    @property
    def failed(self) -> NDArray[np.bool_]:
        """(cases, 4) answers that never came."""
        return np.equal(self.outcome, FAILED)

    @property
    def absent(self) -> NDArray[np.bool_]:
        """(cases, 4) answers that came, could be read, and have no mask."""
        return ~(self.quads.prediction_there | self.unread | self.failed)

    @property
    def scored(self) -> NDArray[np.bool_]:
        """(cases,) those without a failed answer."""
        return np.logical_not(self.failed.any(axis=1))


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
    outcome: list[list[int]] = []
    for case in benchmark.cases:
        quad = corners.get(case.id, {})
        if set(quad) != set(ROLES):
            continue
        found = [answers.get(quad[role].id) for role in ROLES]
        entries.append(_Entry(case, quad))
        outcome.append([SILENT if a is None else OUTCOME_CODE[a.outcome] for a in found])
        quads.append(_quad(entries[-1], found, settings))
    if all(FAILED in ended for ended in outcome):
        raise DataError(
            benchmark.card.name,
            "no case has all four corners answered",
            remedy="give a benchmark of (I, c) (I, c') (I', c) (I', c') and predictions for it",
        )
    compared = compare_quads(quads, at_factual_size=settings["variant"] == "parity")
    return _Matched(entries, compared, np.array(outcome, np.int8))


def _quad(entry: _Entry, answers: Sequence[Prediction | None], settings: Mapping[str, Any]) -> Quad:
    quad, missing = entry.quad, _missing(settings)
    failed = any(answer is not None and answer.outcome is Outcome.FAILED for answer in answers)
    if missing == "error" and None in answers and not failed:
        item = quad[ROLES[answers.index(None)]]
        raise DataError(
            "predictions",
            "this prediction is not there",
            record=f"item {item.id}",
            remedy="give it, or say with missing empty that an absent one is an abstention",
        )
    return Quad(
        truths=[_region_mask(quad[role].target) for role in (Role.FACTUAL, Role.COUNTERFACTUAL)],
        predictions=[_answer_mask(answer, settings["t"]) for answer in answers],
        left_out=[
            missing == "skip" if answer is None else answer.outcome in _WITHOUT_MASKS
            for answer in answers
        ],
        truth_sha256=entry.case.facts.get("truth_sha256", ""),
    )


_WITHOUT_MASKS = (Outcome.FAILED, Outcome.UNPARSED)
"""Nothing of these can be compared."""


def _missing(settings: Mapping[str, Any]) -> str:
    """What an absent prediction means: parity leaves it out, as published."""
    if settings["variant"] == "parity":
        return "skip"
    return str(settings["missing"] or "empty")


def _contribute(benchmark: Benchmark, matched: _Matched, settings: Mapping[str, Any]) -> Scored:
    used: dict[str, object] = {} if settings["t"] is None else {"t": settings["t"]}
    sizes = settings["sizes"]
    used |= {
        "variant": settings["variant"],
        "missing": _missing(settings),
        "alpha": settings["alpha"],
        "sizes": sizes if sizes in _NAMED_SIZES else "own limits",
        "size_limits_px": list(size_limits(sizes, matched.quads.truth_px[:, 0])),
    }
    return _with_splits(_scored(benchmark, matched, used), matched.entries)


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


def _answer_mask(answer: Prediction | None, t: float | None) -> RLEMask | None:
    if answer is None or answer.outcome is not Outcome.OK:
        return None
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
    corners = replacement.corners(quads, variant=variant, alpha=_alpha(settings))
    told = replacement.unread_as_wrong(corners, quads, matched.unread)
    values = replacement.case_values(_only(matched.scored, told), variant=variant)
    sizes = _sizes(quads, settings["size_limits_px"])  # type: ignore[arg-type]
    task = np.array([entry.tag("task") or "" for entry in entries], dtype=str)
    rows = {"Overall": np.ones(len(entries), bool)}
    rows |= {name: task == name for name in TASKS}
    rows |= {name: sizes == name for name in SIZES}
    rows |= {f"{name} {size}": rows[name] & rows[size] for name in TASKS for size in SIZES}
    worst = _judged(matched, corners, settings, "wrong", "wrong", matched.unread)
    return Scored(
        benchmark=benchmark.card.name,
        protocol=PROTOCOL.name,
        settings=settings,
        columns=lambda: _case_table(matched, values, sizes, variant),
        contributions=np.hstack(
            [
                *_of_families(values, _only(matched.scored, worst)),
                _absence(matched, told, variant),
            ]
        ),
        contribution_names=(
            *columns_of(replacement.FAMILY),
            *columns_of(bounded.FAMILY),
            *columns_of(absence.FAMILY),
        ),
        case=clusters([entry.case for entry in entries]),
        rows=rows,
        outcomes=_outcomes(matched, variant),
        imputed=tuple(_imputed(matched, corners, settings)),
        normal_halfwidths=normal_halfwidths,
        notes=tuple(_notes(matched, variant)),
    )


def _alpha(settings: Mapping[str, object]) -> float:
    return float(settings["alpha"])  # type: ignore[arg-type]


def _only(cases: NDArray[np.bool_], corners: Corners) -> Corners:
    """Nothing of the other cases."""
    member = cases[:, None]
    return Corners(
        np.where(member, corners.overlap, np.nan), np.where(member, corners.confusion, np.nan)
    )


def _of_families(values: Mapping[str, Floats], with_unread: Corners) -> list[Floats]:
    """What each case adds to the sums of the main metrics and of the bounded ones."""
    confusion = with_unread.confusion
    textual, visual = ROLES.index(Role.TEXTUAL), ROLES.index(Role.VISUAL)
    limited = bounded.case_values(confusion[:, textual], confusion[:, visual])
    return [replacement.contributions(values), bounded.contributions(limited)]


def _absence(matched: _Matched, told: Corners, variant: str) -> Floats:
    """What each case adds to the sums of the metrics with absent masks counted, and skipped."""
    quads, absent = matched.quads, matched.absent
    counted = replacement.judged(told, quads, absent, "empty", variant=variant)
    skipped = Corners(*(np.where(absent, np.nan, found) for found in told))
    return absence.contributions(
        *(
            replacement.case_values(_only(matched.scored, each), variant=variant)
            for each in (counted, skipped)
        ),
        unread=matched.unread,
        absent=absent,
        scored=matched.scored,
    )


def _imputed(
    matched: _Matched, corners: Corners, settings: Mapping[str, object]
) -> Iterable[Floats]:
    """Contributions with what failed or could not be read as right or wrong as it could be. The
    two pictures go each its own way, because CCMS divides one by the other. CCMS_mean has no
    bounds: next to a CMS_counterfact of almost nothing, a ratio has no highest value."""
    doubtful = matched.unread | matched.failed
    if not doubtful.any():
        return
    ways: tuple[Judgement, ...] = ("right", "wrong")
    for factual in ways:
        for edited in ways:
            found = _judged(matched, corners, settings, factual, edited, doubtful)
            values = replacement.case_values(found, variant=str(settings["variant"]))
            values["CCMS_ratio"] = np.full(len(doubtful), np.nan)
            yield np.hstack(_of_families(values, found))


def _judged(
    matched: _Matched,
    corners: Corners,
    settings: Mapping[str, object],
    factual: Judgement,
    edited: Judgement,
    doubtful: NDArray[np.bool_],
) -> Corners:
    """With doubtful answers as right or wrong as they could be: for I, and for I'."""
    of_edited = np.array([role in (Role.VISUAL, Role.COUNTERFACTUAL) for role in ROLES])
    for how, member in ((factual, ~of_edited), (edited, of_edited)):
        corners = replacement.judged(
            corners,
            matched.quads,
            doubtful & member,
            how,
            variant=str(settings["variant"]),
            alpha=_alpha(settings),
        )
    return corners


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
    variant, missing, alpha = settings["variant"], settings["missing"], settings["alpha"]
    if variant not in ("exact", "parity"):
        raise UnknownName("variant", variant, ("exact", "parity"))
    if missing not in ("", "error", "empty"):
        raise UnknownName("meaning of a missing prediction", missing, ("error", "empty"))
    if not (math.isfinite(alpha) and alpha > 1):
        raise UsageError(f"alpha is {alpha}; it must be above 1")
    check_sizes(settings["sizes"])
    if variant == "parity" and missing == "empty":
        raise UsageError(
            "parity leaves absent predictions out, as the published scripts do; to count them as "
            "abstentions use --variant exact --missing empty"
        )
    if variant == "parity" and alpha != replacement.ALPHA:
        raise UsageError("parity has alpha 3, as the published script does; use --variant exact")


_NAMED_SIZES = ("coco", "quantile")


def check_sizes(sizes: str | Sequence[float]) -> None:
    """Refuse sizes that are neither named nor two limits."""
    if sizes not in _NAMED_SIZES:
        _own_limits(sizes)


def size_limits(sizes: str | Sequence[float], area_px: NDArray[np.int64]) -> tuple[int, int]:
    """The areas at which medium and large objects begin: COCO's, quartiles of those that are there
    (a quarter small, a quarter large), or given.

    >>> areas = np.array([10, 20, 30, 40, 0])
    >>> [size_limits(sizes, areas) for sizes in ("coco", "quantile", "15,40")]
    [(1024, 9216), (20, 40), (15, 40)]
    """
    if sizes == "coco":
        return COCO_LIMITS_PX
    if sizes != "quantile":
        return _own_limits(sizes)
    there = np.sort(area_px[area_px > 0])
    if not len(there):
        return COCO_LIMITS_PX
    medium, large = (int(there[min(len(there) - 1, round(share * len(there)))])
                     for share in (0.25, 0.75))  # fmt: skip
    return medium, max(large, medium + 1)


def _own_limits(sizes: str | Sequence[float]) -> tuple[int, int]:
    given = sizes.split(",") if isinstance(sizes, str) else list(sizes)
    try:
        medium, large = (int(str(each)) for each in given)
    except ValueError:
        raise UsageError(
            f"sizes '{sizes}': give coco, quantile, or the areas in pixels at which medium and "
            "large begin, as 1024,9216"
        ) from None
    if not 0 < medium < large:
        raise UsageError(f"size limits {medium}, {large} must be above 0 and rising")
    return medium, large


def _sizes(quads: Quads, limits_px: Sequence[int]) -> NDArray[np.str_]:
    area_px = quads.truth_px[:, 0]
    limits = [area_px == 0, area_px < limits_px[0], area_px < limits_px[1]]
    return np.select(limits, ["", "S", "M"], default="L")


def _outcome_names(variant: str) -> dict[int, str]:
    """What a query without a prediction is called depends on what becomes of it."""
    silent = "missing" if variant == "parity" else Outcome.ABSTAINED.value
    return {**OUTCOME_NAMES, SILENT: silent}


def _outcomes(matched: _Matched, variant: str) -> dict[str, int]:
    found = {outcome.value: 0 for outcome in Outcome}
    for code, name in _outcome_names(variant).items():
        found[name] = found.get(name, 0) + int((matched.outcome == code).sum())
    return found


def _case_table(
    matched: _Matched,
    values: Mapping[str, Floats],
    sizes: NDArray[np.str_],
    variant: str,
) -> dict[str, Sequence[Any] | NDArray[Any]]:
    """What cases.parquet says about each case; null where there is nothing to say."""
    entries, quads, names = matched.entries, matched.quads, _outcome_names(variant)
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
        table[f"{role}_outcome"] = [names[code] for code in matched.outcome[:, k].tolist()]
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
    entries, quads, silent = matched.entries, matched.quads, matched.outcome == SILENT
    parity = variant == "parity"
    notes = []
    if silent.any():
        how = "left out, as the published scripts do" if parity else "counted as abstentions"
        notes.append(
            f"{silent.sum()} of {silent.size} predictions have no file and are {how}, e.g. of case "
            f"{_example(entries, silent)}."
        )
    notes += _doubts(matched)
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


def _doubts(matched: _Matched) -> Iterable[str]:
    """What became of answers that could not be read, and of those that failed."""
    entries, unread, failed = matched.entries, matched.unread, ~matched.scored
    if unread.any():
        yield (
            f"{unread.sum()} of {unread.size} answers could not be read, e.g. of case "
            f"{_example(entries, unread)}: they are wrong in IoU and CMS_bounded and left out of "
            "CMS; `bounds` has the lowest and highest value that they could lead to."
        )
    if failed.any():
        yield (
            f"{failed.sum()} of {len(entries)} cases have a failed item and are left out, e.g. "
            f"{_example(entries, failed[:, None])}; `bounds` has what they could lead to."
        )


def _example(entries: Sequence[_Entry], flags: NDArray[np.bool_]) -> str:
    return entries[int(np.flatnonzero(flags.any(axis=1))[0])].case.id


PROTOCOL = Protocol(
    name="replacement-quads",
    title="Replaced objects",
    families=("replacement", "bounded", "absence"),
    settings={
        "t": None,
        "variant": "exact",
        "missing": "",
        "alpha": replacement.ALPHA,
        "sizes": "coco",
    },
    match=_match,
    contribute=_contribute,
    hashes=data_hashes,
    headlines=(
        "IoU_fact", "IoU_cf", "dIoU_textual", "dIoU_visual", "CMS_fact", "CMS_counterfact",
        "CMS_bounded_fact", "CMS_bounded_counterfact", "CCMS", "CCMS_mean", "unparsed_rate",
    ),
    on_page=(
        "dIoU_textual", "dIoU_visual", "CMS_fact", "CMS_counterfact", "CMS_bounded_fact",
        "CMS_bounded_counterfact", "unparsed_rate", "IoU_fact", "IoU_cf", "CCMS", "CCMS_mean",
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
        "loses {value} of overlap {interval} when the words name another object (1 is right)"
    ),
    bars=("dIoU_textual", "dIoU_visual", "IoU_fact", "IoU_cf", "CMS_fact", "CMS_counterfact"),
    slices={"S": "small objects", "M": "medium objects", "L": "large objects"},
    side_by_side=SideBySide(
        title="Absent masks, counted or skipped",
        about="A model that says that there is nothing gives no mask. The definitions count that "
        "as an empty mask; the published scripts skip a file that is not there.",
        metrics=tuple(absence.METRICS),
        ways={
            "counted": "abstention = 0: an absent mask is an empty one, with IoU 0 and CMS 0",
            "skipped": "absent = skipped: an absent mask has no value",
        },
        rows=("Overall", *TASKS),
        where="absent_rate",
    ),
    bounds_told=("CMS_fact", "CMS_counterfact"),
    doubtful="unreadable or failed answers",
    published_note=(
        "The paper does not say where small, medium and large objects begin; its tables imply "
        "about 22, 55 and 23 % of the referring cases and 24, 42 and 34 % of the reasoning ones."
    ),
    cells={
        "words ignored": "the mask stays although the words changed",
        "picture ignored": "a mask is there although the object was replaced",
        "object missed": "little or no mask where one should be",
        "not readable": "an answer that could not be read",
    },
)  # fmt: skip
