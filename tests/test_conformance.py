"""The re-derivations: their verdicts, their tolerances, and that a changed number is noticed."""

from collections import Counter
from dataclasses import replace
from itertools import product
from math import sqrt
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundfault.published import ALL_MODELS, PublishedRow, published_rows
from groundfault.published.checking import (
    Cell,
    Cells,
    Check,
    Claim,
    Rounded,
    at_least,
    at_most,
    equal,
    weighted_mean,
)
from groundfault.published.conformance import (
    CLAIMS,
    checks,
    conformance_brief,
    conformance_markdown,
)
from groundfault.published.reactbench_checks import IMAGES, LAYOUT, attainable
from groundfault.published.segmentation_checks import (
    implied_sizes,
    pooled_mcc,
    smallest_largest_miss,
)

PAGE = Path(__file__).parents[1] / "docs" / "conformance.md"

# claim: agree, disagree, undecidable
VERDICTS = {
    "CAFE: samples add up": (2, 0, 0),
    "CAFE: shares from their counts": (2, 0, 0),
    "CAFE: prompts, pairs and samples fit each other": (4, 0, 0),
    "CAFE: FPR = AFPR + UFPR": (6, 0, 18),
    "CAFE: overall UFPR from the subsets": (6, 0, 0),
    "CAFE: overall rates from the subsets": (18, 0, 0),
    "CAFE: ACSR ≤ AFPR ≤ FPR and UCSR ≤ UFPR": (54, 0, 18),
    "CAFE: cgF1 = pmF1 · IL_MCC": (24, 0, 0),
    "CAFE: overall IL_MCC from the subsets": (6, 0, 0),
    "CAFE: printed gains over SAM 3": (2, 0, 0),
    "HalluSegBench: CCMS = CMS_fact / CMS_counterfact": (6, 0, 0),
    "HalluSegBench: the main table repeats the poster": (24, 0, 0),
    "HalluSegBench: main table inside the sizes of the supplement": (70, 2, 0),
    "HalluSegBench: no two metrics of a model share their numbers": (107, 1, 0),
    "HalluSegBench: poster inside the sizes of the supplement": (24, 0, 0),
    "HalluSegBench: one mix of sizes gives the poster": (0, 4, 0),
    "HalluSegBench: interval = mean ± half-width": (8, 0, 0),
    "HalluSegBench: pooled mean inside the tables it pools": (4, 0, 0),
    "ReactBench: Δ = CoT - Std": (43, 1, 8),
    "ReactBench: average of the four tasks": (24, 0, 2),
    "ReactBench: accuracy from the questions": (69, 27, 8),
    "ReactBench: erasure accuracy, thirteen columns": (23, 1, 2),
    "ReactBench: question types and dimensions from the questions": (0, 25, 0),
    "ReactBench: types and dimensions have the same mean": (0, 4, 0),
    "ReactBench: React-Score by its formula": (0, 13, 0),
    "ReactBench: React-Score from plain accuracies": (0, 13, 0),
    "ReactBench: React-Score from the accuracies of Table 3": (2, 11, 0),
    "ReactBench: sub-cause shares add up to 100": (4, 0, 0),
    "ReactBench: sub-cause shares from the pooled counts": (1, 15, 0),
    "ReactBench: sub-cause shares as the mean over models": (0, 16, 0),
    "ReactBench: sub-cause counts add up": (76, 0, 0),
    "ReactBench: sub-cause totals = wrong CoT answers": (25, 27, 0),
    "ReactBench: CoT effect = -Δ of Table 3": (43, 1, 0),
    "ReactBench: CoT effect from the questions": (32, 12, 0),
    "ReactBench: erasure CoT effect, thirteen columns": (10, 1, 0),
    "ReactBench: CoT effect averaged over the tasks": (11, 0, 0),
    "ReactBench: rates are whole numbers of images": (11, 37, 0),
}

# A changed cell (table, model, row, setting, metric, new text) and the claim that must notice it.
PERTURBATIONS = [
    (*("cafe/statistics", ALL_MODELS, "Overall", "", "LVIS_count", "395"), "CAFE: samples add up"),
    (*("cafe/statistics", ALL_MODELS, "Overall", "", "OC_count", "441"), "CAFE: samples add up"),
    (
        *("cafe/statistics", ALL_MODELS, "Overall", "", "raw_count", "46423"),
        "CAFE: shares from their counts",
    ),
    (
        *("cafe/statistics", ALL_MODELS, "Overall", "", "single_pair_types_share", "86.8"),
        "CAFE: shares from their counts",
    ),
    (
        *("cafe/statistics", ALL_MODELS, "Overall", "", "single_pair_types_count", "1191"),
        "CAFE: prompts, pairs and samples fit each other",
    ),
    (
        *("cafe/statistics", ALL_MODELS, "Overall", "", "positive_prompts_count", "1670"),
        "CAFE: prompts, pairs and samples fit each other",
    ),
    (
        *("halluseg/main", "GLaMM-7B", "referring", "", "dIoU_visual", "0.3061"),
        "HalluSegBench: the main table repeats the poster",
    ),
    (
        *("halluseg/main", "LISA-7B", "reasoning", "", "CMS_counterfact", "0.6690"),
        "HalluSegBench: main table inside the sizes of the supplement",
    ),
    (
        *("halluseg/supp-table5", "Seg-Zero", "reasoning", "S", "CMS_fact", "0.6600"),
        "HalluSegBench: main table inside the sizes of the supplement",
    ),
    ("cafe/table3", "SAM 3", "Overall", "", "IL-FPR", "21.5", "CAFE: FPR = AFPR + UFPR"),
    ("cafe/table3", "SAM 3", "SM", "", "IL-FPR", "10.9", "CAFE: overall UFPR from the subsets"),
    ("cafe/table3", "OpenSeeD", "OC", "", "ACSR", "59.6", "CAFE: overall rates from the subsets"),
    ("cafe/table3", "SAM 3", "CC", "", "ACSR", "7.6", "CAFE: ACSR ≤ AFPR ≤ FPR and UCSR ≤ UFPR"),
    ("cafe/table2", "SAM 3", "SM", "", "cgF1", "53.4", "CAFE: cgF1 = pmF1 · IL_MCC"),
    ("cafe/table2", "SAM 3", "SM", "", "IL_MCC", "0.787", "CAFE: overall IL_MCC from the subsets"),
    ("cafe/table2", "SAM 3", "Overall", "", "cgF1", "38.9", "CAFE: printed gains over SAM 3"),
    (
        *("halluseg/poster", "LISA-7B", "referring", "", "CCMS", "0.4212"),
        "HalluSegBench: CCMS = CMS_fact / CMS_counterfact",
    ),
    (
        *("halluseg/poster", "LISA-7B", "referring", "", "dIoU_visual", "0.3310"),
        "HalluSegBench: poster inside the sizes of the supplement",
    ),
    (
        *("halluseg/supp-table3", ALL_MODELS, "Overall", "", "CMS_fact_high", "0.4111"),
        "HalluSegBench: interval = mean ± half-width",
    ),
    (
        *("reactbench/table3", "Qwen3VL-4B", "tracing", "", "delta", "-4.4"),
        "ReactBench: Δ = CoT - Std",
    ),
    (
        *("reactbench/table3", "Qwen3VL-4B", "Overall", "", "accuracy_std", "57.3"),
        "ReactBench: average of the four tasks",
    ),
    (
        *("reactbench/table14", "LLaVA-OV-7B", "counting", "cot", "hallucination_Q3", "66.4"),
        "ReactBench: accuracy from the questions",
    ),
    (
        *("reactbench/table6", "LLaVA-OV-7B", "erasure", "cot", "SC2_count", "3625"),
        "ReactBench: sub-cause counts add up",
    ),
    (
        *("reactbench/table5", ALL_MODELS, "erasure", "cot", "SC2_share", "33.5"),
        "ReactBench: sub-cause shares add up to 100",
    ),
    (
        *("reactbench/table10", "Qwen3VL-4B", "Overall", "", "hallucination_delta", "+4.6"),
        "ReactBench: CoT effect averaged over the tasks",
    ),
]


@pytest.fixture(scope="module")
def published_checks() -> tuple[Check, ...]:
    return checks()


def test_verdicts(published_checks: tuple[Check, ...]) -> None:
    counts = Counter((check.claim, check.verdict) for check in published_checks)
    found = {
        claim.name: tuple(
            counts[claim.name, verdict] for verdict in ("agrees", "disagrees", "undecidable")
        )
        for claim in CLAIMS
    }
    assert found == VERDICTS
    assert len(published_checks) == sum(map(sum, VERDICTS.values()))


def test_claims_with_disagreements_say_what_was_found() -> None:
    assert all(claim.finding for claim in CLAIMS if VERDICTS[claim.name][1])


def test_verdict_follows_from_the_numbers(published_checks: tuple[Check, ...]) -> None:
    for check in published_checks:
        missing = check.published is None or check.derived is None
        assert missing == (check.verdict == "undecidable") == (check.tolerance is None)


@pytest.mark.parametrize("perturbation", PERTURBATIONS, ids=lambda p: p[-1])
def test_changed_number_is_noticed(
    published_checks: tuple[Check, ...], perturbation: tuple[str, ...]
) -> None:
    *cell, claim = perturbation
    changed = checks(_with_cell(*cell))
    assert _disagreeing(changed, claim) > _disagreeing(published_checks, claim)


def test_missing_number_is_undecidable(published_checks: tuple[Check, ...]) -> None:
    changed = checks(_with_cell("cafe/table2", "SAM 3", "SM", "", "IL_MCC", ""))
    claim = "CAFE: cgF1 = pmF1 · IL_MCC"
    verdicts = Counter(check.verdict for check in changed if check.claim == claim)
    assert verdicts == {"agrees": 23, "undecidable": 1}
    assert len(changed) == len(published_checks)


def test_page_is_the_generated_text(published_checks: tuple[Check, ...]) -> None:
    assert PAGE.read_text(encoding="utf-8") == conformance_brief(published_checks)


def test_page_shows_every_disagreement(published_checks: tuple[Check, ...]) -> None:
    page, brief = conformance_markdown(published_checks), conformance_brief(published_checks)
    for claim in CLAIMS:
        assert f"| {claim.name} |" in page and claim.name in brief
        if VERDICTS[claim.name][1]:
            assert claim.finding in page and claim.finding in brief
        failed = [c for c in published_checks if (c.claim, c.verdict) == (claim.name, "disagrees")]
        if failed and "React-Score" not in claim.name:
            section = page.partition(f"## {claim.name}\n")[2].partition("\n## ")[0]
            lines = [line for line in section.splitlines() if line.startswith("| ")]
            assert len({*lines}) == len(lines) == len(failed) + 2  # with heading and rule
            for check in failed:
                assert check.source_table in section and check.metric in section
                assert check.model in section and check.row in section


def test_the_two_slips_of_the_authors_are_on_the_page(published_checks: tuple[Check, ...]) -> None:
    page = conformance_markdown(published_checks)
    assert "Seg-Zero, referring, dIoU_textual = CMS_fact | 2 | 1 |" in page
    assert "Seg-Zero, dIoU_textual | 0.4412 | 0.42520 |" in page
    assert "RobustSeg, CMS_fact | 0.1062 | 0.11450 |" in page


def test_how_far_off_is_said(published_checks: tuple[Check, ...]) -> None:
    page = conformance_markdown(published_checks)
    assert "| retained_share | = | 4.4 | 4.432 | 0.032 | agrees |" in page
    assert "| samples | by source | 2,146 | 2,146 | 0 | agrees |" in page
    assert (
        "| CAFE: shares from their counts | cafe/statistics | 2 | 0 | 0 | 0.032 (± 0.05) |" in page
    )


def test_how_far_off_follows_the_kind_of_claim() -> None:
    claim = Claim("c", "r")
    cell = Cell("t", "m", "r", "", "x", Rounded(3.0, 0.5))
    assert [check(claim, cell, Rounded(5.0)).off for check in (equal, at_most, at_least)] == [
        2,
        0,
        2,
    ]
    assert [check(claim, cell, Rounded(1.0)).off for check in (equal, at_most, at_least)] == [
        2,
        2,
        0,
    ]
    assert at_least(claim, cell, Rounded(3.5)).verdict == "agrees"
    assert equal(claim, cell, None).off is None


def test_copied_numbers_are_noticed_elsewhere_too() -> None:
    table, model = "halluseg/supp-table5", "GLaMM-7B"
    rows = _with_cell(table, model, "reasoning", "S", "CMS_counterfact", "0.2793")
    claim = "HalluSegBench: no two metrics of a model share their numbers"
    assert _disagreeing(checks(rows), claim) == 1  # one size alone may be chance
    rows = [
        replace(row, printed={**row.printed, "CMS_counterfact": row.printed["dIoU_textual"]})
        if (row.source.table, row.model) == (table, model)
        else row
        for row in rows
    ]
    assert _disagreeing(checks(rows), claim) == 2


def test_implied_sizes_are_found_again() -> None:
    """Main means made from the sizes with a mix of 20, 50 and 30 % give that mix."""
    tables = {"referring": "halluseg/supp-table4", "reasoning": "halluseg/supp-table5"}
    cells = Cells(published_rows())
    metrics = ("dIoU_textual", "dIoU_visual", "CMS_fact", "CMS_counterfact")

    def mixed(row: PublishedRow) -> PublishedRow:
        if row.source.table != "halluseg/main":
            return row
        sizes = {
            metric: [
                cells.get(tables[row.row], row.model, row.row, metric, size).number
                for size in "SML"
            ]
            for metric in metrics
        }
        printed = {
            metric: f"{sum(w * n.value for w, n in zip((0.2, 0.5, 0.3), found, strict=True)):.8f}"
            for metric, found in sizes.items()
        }
        return replace(row, printed=printed)

    for task in tables:
        shares, miss = implied_sizes(Cells(mixed(row) for row in published_rows()), task)
        assert shares == pytest.approx((0.2, 0.5, 0.3), abs=1e-5)
        assert miss == pytest.approx(0, abs=1e-6)


def test_react_score_example_of_the_protocols(published_checks: tuple[Check, ...]) -> None:
    (check,) = (
        check
        for check in published_checks
        if check.claim == "ReactBench: React-Score from the accuracies of Table 3"
        and check.model == "Qwen3VL-32B-Thinking"
    )
    assert check.derived == pytest.approx(65.25)
    assert check.published == 65.3
    assert check.verdict == "agrees"


def test_react_score_formula_by_hand(published_checks: tuple[Check, ...]) -> None:
    """MiMO-VL-7B has one mode only; its rates typed in again from Tables 11-14."""
    rates = {
        "erasure": [20.9, 18.2, 32.8, 61.9, 69.3, 67.6, 84.4, 80.4, 38.2, 33.7, 10.6, 44.0],
        "attribute": [33.1, 23.5, 37.8, 60.5, 65.4, 72.6, 92.7, 77.5, 31.3, 22.9, 20.9, 52.3],
        "tracing": [0.1, 0.0, 9.1, 26.2, 5.9, 3.8, 75.6, 51.3, 74.7, 16.1, 23.1, 32.0],
        "counting": [44.4, 43.0, 32.3, 11.7, 81.7, 53.2, 60.9, 43.4],
    }
    blocks = {"erasure": (4, 8), "attribute": (4, 8), "tracing": (6, 9), "counting": (4, 6)}
    score = 0.0
    for task, weight in (("erasure", 0.3), ("attribute", 0.2), ("tracing", 0.2), ("counting", 0.3)):
        end_yn, end_sa = blocks[task]
        right = [100 - rate for rate in rates[task]]
        yn, sa, mc = right[:end_yn], right[end_yn:end_sa], right[end_sa:]
        typed = 0.25 * sum(yn) / len(yn) + 0.5 * sum(sa) / len(sa) + 0.25 * sum(mc) / len(mc)
        score += weight * typed
    (check,) = (
        check
        for check in published_checks
        if check.claim == "ReactBench: React-Score by its formula" and check.model == "MiMO-VL-7B"
    )
    assert check.derived == pytest.approx(score)


@pytest.mark.parametrize("task", LAYOUT)
def test_types_and_dimensions_each_cover_every_question_once(task: str) -> None:
    types = sorted(n for name, part in LAYOUT[task].items() if name.isupper() for n in part)
    dimensions = sorted(n for name, part in LAYOUT[task].items() if name.islower() for n in part)
    assert types == dimensions == list(range(1, 9 if task == "counting" else 13))


numbers = st.floats(min_value=-100, max_value=100).map(lambda x: round(x, 2))
errors = st.sampled_from([0.0, 0.0005, 0.05])
rounded = st.builds(Rounded, numbers, errors)


@given(rounded, rounded)
def test_error_covers_every_number_that_rounds_to_the_operands(
    left: Rounded, right: Rounded
) -> None:
    results = {"+": left + right, "-": left - right, "*": left * right, "mean": _mean(left, right)}
    if abs(right.value) > 1:
        results["/"] = left / right
    for a, b in product(_ends(left), _ends(right)):
        exact = {"+": a + b, "-": a - b, "*": a * b, "mean": (a + 2 * b) / 3}
        if "/" in results:
            exact["/"] = a / b
        for name, result in results.items():
            assert abs(exact[name] - result.value) <= result.error + 1e-9


def _mean(left: Rounded, right: Rounded) -> Rounded:
    return weighted_mean([left, right], [1, 2])


def _ends(number: Rounded) -> tuple[float, float]:
    return number.value - number.error, number.value + number.error


@pytest.mark.parametrize(
    ("text", "error"), [("53.0", 0.05), ("0.777", 0.0005), ("+14.5", 0.05), ("3807", 0.0)]
)
def test_half_a_unit_of_the_last_printed_place(text: str, error: float) -> None:
    assert Rounded.parse(text).error == pytest.approx(error)


counts = st.tuples(st.integers(1, 99), st.integers(1, 99))


@given(st.lists(counts, min_size=2, max_size=3))
def test_pooled_mcc_from_counts(accepted: list[tuple[int, int]]) -> None:
    """100 positive and 100 negative phrases per subset, some of each accepted."""

    def mcc(tp: int, fp: int, n: int) -> float:
        fn, tn = n - tp, n - fp
        return (tp * tn - fp * fn) / sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))

    pooled = pooled_mcc(
        tuple(Rounded(mcc(tp, fp, 100)) for tp, fp in accepted),
        tuple(Rounded(float(fp)) for _, fp in accepted),
        (100,) * len(accepted),
    )
    tp, fp = (sum(column) for column in zip(*accepted, strict=True))
    assert pooled.value == pytest.approx(mcc(tp, fp, 100 * len(accepted)), abs=1e-6)


points = st.lists(st.tuples(*[st.floats(-1, 1)] * 3), min_size=3, max_size=6)


@given(points, st.floats(-2, 2), st.floats(-2, 2))
def test_no_mix_misses_by_less(
    points: list[tuple[float, float, float]], a: float, b: float
) -> None:
    largest = max(abs(a * x + b * y - z) for x, y, z in points)
    assert largest >= smallest_largest_miss(points) - 1e-6


@given(st.integers(0, 1000), st.sampled_from(sorted(IMAGES.values())))
def test_attainable_means_that_some_count_rounds_to_it(tenths: int, images: int) -> None:
    text = f"{tenths // 10}.{tenths % 10}"
    possible = any(abs(1000 * count - tenths * images) * 2 <= images for count in range(images + 1))
    assert attainable(Rounded.parse(text), images) == possible


def _with_cell(
    table: str, model: str, row: str, setting: str, metric: str, text: str
) -> list[PublishedRow]:
    """The published rows with one printed cell changed."""
    address = (table, model, row, setting)
    changed = [
        replace(published, printed={**published.printed, metric: text})
        if (published.source.table, published.model, published.row, published.setting) == address
        else published
        for published in published_rows()
    ]
    assert sum(new is not old for new, old in zip(changed, published_rows(), strict=True)) == 1
    return changed


def _disagreeing(results: tuple[Check, ...], claim: str) -> int:
    return sum(check.claim == claim and check.verdict == "disagrees" for check in results)
