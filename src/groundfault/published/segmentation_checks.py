"""What can be derived again from the tables of CAFE and HalluSegBench."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

from groundfault.benchmarks import cafe
from groundfault.published import ALL_MODELS
from groundfault.published.checking import (
    Cell,
    Cells,
    Check,
    Claim,
    Rounded,
    at_least,
    at_most,
    between,
    derive,
    equal,
    total,
    weighted_mean,
)

CAFE_PAIRS = cafe.PUBLISHED_CASES
"""Number of pairs per edit type (CAFE, section 4.1); together 2,146."""

DISAGREEING = ("Seg-Zero", "RobustSeg")
"""Models whose main and size tables do not fit each other."""
HALLUSEG_METRICS = ("dIoU_textual", "dIoU_visual", "CMS_fact", "CMS_counterfact")

FPR_PARTS = Claim(
    "CAFE: FPR = AFPR + UFPR",
    "Every accepted misleading phrase is either on the target or not. UFPR is printed for Overall "
    "only.",
)
UFPR_FROM_SUBSETS = Claim(
    "CAFE: overall UFPR from the subsets",
    "The subsets' FPR - AFPR, weighted by their 1,111, 593 and 442 pairs.",
)
CGF1_PRODUCT = Claim(
    "CAFE: cgF1 = pmF1 · IL_MCC",
    "IL_MCC does not depend on the IoU threshold, so the mean over thresholds of the product is "
    "exactly the product with the mean pmF1; only rounding is left.",
)
CAFE_PARTS = Claim(
    "CAFE: samples add up",
    "Section 4.1: the samples by source (COCO, SA-Co/Gold, LVIS) and those by edit type (SM, CC, "
    "OC) add up to all samples.",
)
CAFE_SHARES = Claim(
    "CAFE: shares from their counts",
    "Section 4.1 and Appendix A.1: pairs of prompts that occur once among all pairs of prompts, "
    "and samples kept among raw edits, in percent.",
)
CAFE_PROMPTS = Claim(
    "CAFE: prompts, pairs and samples fit each other",
    "Section 4.1: there are at least as many pairs of prompts as prompts of either kind, and at "
    "most all combinations; pairs that occur more than once take at least two samples each.",
)
CAFE_GAIN = Claim(
    "CAFE: printed gains over SAM 3",
    "CAFE-SAM3 minus SAM 3 in the same table.",
)
CAFE_OVERALL = Claim(
    "CAFE: overall rates from the subsets",
    "FPR, AFPR and ACSR are shares of pairs, so Overall is the mean of the subsets weighted by "
    "their pairs.",
)
CAFE_MCC = Claim(
    "CAFE: overall IL_MCC from the subsets",
    "As many positive as negative phrases per subset: IL_MCC (Table 2) and FPR (Table 3) give the "
    "share of positives accepted; pooled with the subset sizes they give the overall IL_MCC.",
)
CAFE_BOUNDS = Claim(
    "CAFE: ACSR ≤ AFPR ≤ FPR and UCSR ≤ UFPR",
    "A swap is a false positive whose target was lost as well. UFPR and UCSR are printed for "
    "Overall only.",
)
CCMS_RATIO = Claim(
    "HalluSegBench: CCMS = CMS_fact / CMS_counterfact",
    "Ratio of the two printed means.",
)
MAIN_POSTER = Claim(
    "HalluSegBench: the main table repeats the poster",
    "Six models stand in both, under referring.",
)
MAIN_RANGE = Claim(
    "HalluSegBench: main table inside the sizes of the supplement",
    "A mean over all sizes lies between the means for small, medium and large objects "
    "(supplementary Table 4 for referring, Table 5 for reasoning).",
    "Seg-Zero's dIoU_textual and RobustSeg's CMS_fact, both referring, lie outside of all three "
    "sizes.",
)
COPIED = Claim(
    "HalluSegBench: no two metrics of a model share their numbers",
    "In the supplementary Tables 4 and 5, two metrics of a model may agree to four places for one "
    "size by chance, not for more. Published is for how many sizes they do.",
    "In Table 4, Seg-Zero's CMS_fact for M and L repeats its dIoU_textual for M and L.",
)
POSTER_RANGE = Claim(
    "HalluSegBench: poster inside the sizes of the supplement",
    "A mean over all sizes lies between the means for small, medium and large objects "
    "(supplementary Table 4, referring).",
)
POSTER_MIX = Claim(
    "HalluSegBench: one mix of sizes gives the poster",
    "If both report the same runs, one mix of small, medium and large objects turns the "
    "supplementary Table 4 into the poster for all six models. Published is the largest miss over "
    "the models under the best mix for the metric.",
    "For no metric does one mix of the sizes give the poster's six means; neither document says "
    "that both report the same runs.",
)
INTERVAL = Claim(
    "HalluSegBench: interval = mean ± half-width",
    "Both ends of each interval of the supplementary Table 3.",
)
POOLED_RANGE = Claim(
    "HalluSegBench: pooled mean inside the tables it pools",
    "If the supplementary Table 3 pools the nine models over both tasks, its means lie between the "
    "smallest and the largest model average of Tables 4 and 5.",
)

CLAIMS = (
    CAFE_PARTS,
    CAFE_SHARES,
    CAFE_PROMPTS,
    FPR_PARTS,
    UFPR_FROM_SUBSETS,
    CAFE_OVERALL,
    CAFE_BOUNDS,
    CGF1_PRODUCT,
    CAFE_MCC,
    CAFE_GAIN,
    CCMS_RATIO,
    MAIN_POSTER,
    MAIN_RANGE,
    COPIED,
    POSTER_RANGE,
    POSTER_MIX,
    INTERVAL,
    POOLED_RANGE,
)


def segmentation_checks(cells: Cells) -> Iterator[Check]:
    """Every check of CAFE and HalluSegBench."""
    yield from _statistics(cells)
    for model in cells.models("cafe/table3"):
        yield from _false_positives(cells, model)
    for model in cells.models("cafe/table2"):
        yield from _concept_segmentation(cells, model)
    for model in cells.models("halluseg/poster"):
        yield from _poster(cells, model)
    for model in cells.models("halluseg/main"):
        yield from _main_table(cells, model)
    for metric in HALLUSEG_METRICS:
        yield _poster_mix(cells, metric)
        yield from _interval(cells, metric)


def _statistics(cells: Cells) -> Iterator[Check]:
    """CAFE's section 4.1 and its rate of retention."""

    def cell(name: str) -> Cell:
        return cells.get("cafe/statistics", ALL_MODELS, "Overall", name)

    def count(name: str) -> Cell:
        return cell(f"{name}_count")

    def percent(part: Rounded, whole: Rounded) -> Rounded:
        return (part / whole).times(100)

    samples, pairs, single = count("samples"), count("pair_types"), count("single_pair_types")
    for parts, note in ((("COCO", "SACo", "LVIS"), "by source"), (CAFE_PAIRS, "by edit type")):
        whole = derive(lambda *n: total(n), *map(count, parts))
        yield equal(CAFE_PARTS, samples, whole, note)
    yield equal(CAFE_SHARES, cell("single_pair_types_share"), derive(percent, single, pairs))
    yield equal(CAFE_SHARES, cell("retained_share"), derive(percent, samples, count("raw")))
    positive, misleading = count("positive_prompts"), count("misleading_prompts")
    for prompts in (positive, misleading):
        yield at_most(CAFE_PROMPTS, prompts, pairs.number, "at most the pairs of prompts")
    most = derive(Rounded.__mul__, positive, misleading)
    yield at_most(CAFE_PROMPTS, pairs, most, "at most all combinations")
    # single pairs take one sample each, the others two or more: 2·pairs - single ≤ samples
    fewest = derive(lambda s, p: p.times(2) - s, samples, pairs)
    yield at_least(CAFE_PROMPTS, single, fewest, "at least, as the others take two samples each")


def _false_positives(cells: Cells, model: str) -> Iterator[Check]:
    table = "cafe/table3"
    weights = list(CAFE_PAIRS.values())
    for row in (*CAFE_PAIRS, "Overall"):
        fpr, afpr, ufpr, acsr, ucsr = (
            cells.get(table, model, row, metric)
            for metric in ("IL-FPR", "AFPR", "UFPR", "ACSR", "UCSR")
        )
        yield equal(FPR_PARTS, fpr, derive(Rounded.__add__, afpr, ufpr))
        yield at_most(CAFE_BOUNDS, acsr, afpr.number)
        yield at_most(CAFE_BOUNDS, afpr, fpr.number)
        yield at_most(CAFE_BOUNDS, ucsr, ufpr.number)
    pooled: dict[str, Rounded | None] = {}
    for metric in ("IL-FPR", "AFPR", "ACSR"):
        subsets = [cells.get(table, model, row, metric) for row in CAFE_PAIRS]
        pooled[metric] = derive(lambda *n: weighted_mean(n, weights), *subsets)
        yield equal(CAFE_OVERALL, cells.get(table, model, "Overall", metric), pooled[metric])
    fpr_mean, afpr_mean = pooled["IL-FPR"], pooled["AFPR"]
    ufpr_mean = fpr_mean - afpr_mean if fpr_mean and afpr_mean else None
    yield equal(UFPR_FROM_SUBSETS, cells.get(table, model, "Overall", "UFPR"), ufpr_mean)


def _concept_segmentation(cells: Cells, model: str) -> Iterator[Check]:
    table = "cafe/table2"
    for row in (*CAFE_PAIRS, "Overall"):
        cgf1, mcc, pmf1 = (
            cells.get(table, model, row, metric)
            for metric in ("cgF1", "IL_MCC", "positive_micro_F1")
        )
        yield equal(CGF1_PRODUCT, cgf1, derive(Rounded.__mul__, pmf1, mcc))
    yield equal(
        CAFE_MCC,
        cells.get(table, model, "Overall", "IL_MCC"),
        derive(
            lambda *n: pooled_mcc(n[:3], n[3:], tuple(CAFE_PAIRS.values())),
            *(cells.get(table, model, row, "IL_MCC") for row in CAFE_PAIRS),
            *(cells.get("cafe/table3", model, row, "IL-FPR") for row in CAFE_PAIRS),
        ),
    )
    for metric in ("cgF1", "positive_micro_F1"):
        gain = cells.get(table, model, "Overall", f"{metric}_gain")
        if gain.number is None:
            continue
        ours = cells.get(table, model, "Overall", metric)
        sam3 = cells.get(table, "SAM 3", "Overall", metric)
        yield equal(CAFE_GAIN, gain, derive(Rounded.__sub__, ours, sam3))


def _main_table(cells: Cells, model: str) -> Iterator[Check]:
    tables = {"referring": "halluseg/supp-table4", "reasoning": "halluseg/supp-table5"}
    in_poster = model in cells.models("halluseg/poster")
    for task, table in tables.items():
        for metric in HALLUSEG_METRICS:
            mean = cells.get("halluseg/main", model, task, metric)
            if in_poster and task == "referring":
                poster = cells.get("halluseg/poster", model, task, metric)
                yield equal(MAIN_POSTER, mean, poster.number)
            yield between(MAIN_RANGE, mean, _by_size(cells, table, model, task, metric))
        for first, second in combinations(HALLUSEG_METRICS, 2):
            sides = (_by_size(cells, table, model, task, metric) for metric in (first, second))
            shared = sum(a == b for a, b in zip(*sides, strict=False))
            cell = Cell(table, model, task, "", f"{first} = {second}", Rounded(float(shared)))
            yield at_most(COPIED, cell, Rounded(1.0))


def _by_size(cells: Cells, table: str, model: str, row: str, metric: str) -> list[Rounded]:
    """What a table prints for small, medium and large objects."""
    sizes = (cells.get(table, model, row, metric, size).number for size in "SML")
    return [number for number in sizes if number is not None]


def implied_sizes(cells: Cells, task: str) -> tuple[tuple[float, float, float], float]:
    """The shares of small, medium and large objects that give the main table from the sizes of the
    supplement with the smallest mean distance, and that distance."""
    import numpy as np
    from scipy.optimize import linprog

    table = {"referring": "halluseg/supp-table4", "reasoning": "halluseg/supp-table5"}[task]
    lines = [
        (cells.get("halluseg/main", model, task, metric).number, *sizes)
        for model in cells.models("halluseg/main")
        if model not in DISAGREEING
        for metric in HALLUSEG_METRICS
        if len(sizes := _by_size(cells, table, model, task, metric)) == 3
    ]
    values = np.array([[n.value for n in line if n is not None] for line in lines])
    mean, sizes_, n = values[:, 0], values[:, 1:], len(values)
    slack = np.eye(n)
    found = linprog(
        np.r_[0.0, 0.0, 0.0, np.ones(n)],  # the distances, one for every line
        np.block([[sizes_, -slack], [-sizes_, -slack]]),
        np.r_[mean, -mean],
        np.r_[1.0, 1.0, 1.0, np.zeros(n)][None],
        [1.0],
    )
    small, medium, large = (float(share) for share in found.x[:3])
    return (small, medium, large), float(found.fun) / n


def _poster(cells: Cells, model: str) -> Iterator[Check]:
    poster = {
        metric: cells.get("halluseg/poster", model, "referring", metric)
        for metric in (*HALLUSEG_METRICS, "CCMS")
    }
    ratio = derive(Rounded.__truediv__, poster["CMS_fact"], poster["CMS_counterfact"])
    yield equal(CCMS_RATIO, poster["CCMS"], ratio)
    for metric in HALLUSEG_METRICS:
        sizes = _by_size(cells, "halluseg/supp-table4", model, "referring", metric)
        yield between(POSTER_RANGE, poster[metric], sizes)


def _poster_mix(cells: Cells, metric: str) -> Check:
    models = cells.models("halluseg/poster")
    lines = []
    for model in models:
        poster = cells.get("halluseg/poster", model, "referring", metric).number
        small, medium, large = (
            cells.get("halluseg/supp-table4", model, "referring", metric, size).number
            for size in "SML"
        )
        if poster is None or small is None or medium is None or large is None:
            continue
        lines.append((poster - large, small - large, medium - large))
    miss: Rounded | None = None
    if len(lines) == len(models):
        points = [(small.value, medium.value, mean.value) for mean, small, medium in lines]
        miss = Rounded(smallest_largest_miss(points))
    # With the right mix, a miss is at most the rounding of a mean over sizes plus the poster's own.
    rounding = max((mean.error for mean, _, _ in lines), default=0.0)
    cell = Cell("halluseg/poster", ALL_MODELS, "referring", "", f"miss of {metric}", miss)
    return equal(POSTER_MIX, cell, Rounded(0.0, rounding))


def _interval(cells: Cells, metric: str) -> Iterator[Check]:
    mean, low, high, half = (
        cells.get("halluseg/supp-table3", ALL_MODELS, "Overall", metric + suffix)
        for suffix in ("", "_low", "_high", "_halfwidth")
    )
    yield equal(INTERVAL, low, derive(Rounded.__sub__, mean, half))
    yield equal(INTERVAL, high, derive(Rounded.__add__, mean, half))
    averages = [
        average
        for table, task in (("supp-table4", "referring"), ("supp-table5", "reasoning"))
        for size in "SML"
        if (average := _model_average(cells, f"halluseg/{table}", task, metric, size))
    ]
    yield between(POOLED_RANGE, mean, averages)


def _model_average(cells: Cells, table: str, row: str, metric: str, size: str) -> Rounded | None:
    models = (cells.get(table, model, row, metric, size) for model in cells.models(table))
    return derive(lambda *n: weighted_mean(n), *models)


def smallest_largest_miss(points: Sequence[tuple[float, float, float]]) -> float:
    """Smallest possible max |a·x + b·y - z| over the points (x, y, z), for the best a and b.

    The best fit of two numbers in this sense is decided by some three of the points. Three points
    have one linear relation λ between their (x, y), and their best miss is |Σ λz| / Σ |λ|.

    >>> smallest_largest_miss([(1.0, 0.0, 2.0), (0.0, 1.0, 3.0), (1.0, 1.0, 5.3)])
    0.1
    """
    worst = 0.0
    for (x1, y1, z1), (x2, y2, z2), (x3, y3, z3) in combinations(points, 3):
        relation = (x2 * y3 - x3 * y2, x3 * y1 - x1 * y3, x1 * y2 - x2 * y1)
        size = sum(map(abs, relation))
        if size > 0:
            miss = abs(relation[0] * z1 + relation[1] * z2 + relation[2] * z3) / size
            worst = max(worst, miss)
    return round(worst, 9)


def pooled_mcc(
    mcc: tuple[Rounded, ...], fpr_percent: tuple[Rounded, ...], sizes: tuple[int, ...]
) -> Rounded:
    """IL_MCC over subsets that each have as many positive as negative phrases.

    With equal numbers, MCC = (r - f) / √((r + f)(2 - r - f)) for the share r of positives and f of
    negatives accepted: it rises with r and falls with f, so the extremes of the printed numbers
    give the extremes of the result.

    >>> pooled_mcc((Rounded(0.5), Rounded(0.5)), (Rounded(25.0), Rounded(25.0)), (10, 10))
    Rounded(value=0.5, error=0)
    """
    fpr = [n.times(0.01) for n in fpr_percent]

    def pooled(side: int) -> float:
        recalls = [
            _recall(m.value + side * m.error, f.value + side * f.error)
            for m, f in zip(mcc, fpr, strict=True)
        ]
        recall = weighted_mean([Rounded(r) for r in recalls], sizes).value
        rate = weighted_mean([Rounded(f.value - side * f.error) for f in fpr], sizes).value
        return _mcc(recall, rate)

    middle = pooled(0)
    return Rounded(middle, max(pooled(1) - middle, middle - pooled(-1)))


def _mcc(recall: float, fpr: float) -> float:
    return (recall - fpr) / math.sqrt((recall + fpr) * (2 - recall - fpr))


def _recall(mcc: float, fpr: float) -> float:
    """The recall that gives this MCC at this false positive rate, at most 1, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if _mcc(middle, fpr) < mcc:
            low = middle
        else:
            high = middle
    return high
