"""The stored tables: complete, inside their ranges, and equal to the papers in sampled cells."""

import math
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import Ran

from groundfault.published import ALL_MODELS, PublishedRow, published_rows, sources

# table: rows, metrics, printed numbers
SHAPES = {
    "cafe/statistics": (1, 14, 14),
    "cafe/table2": (6 * 4, 5, 6 * 12 + 2),
    "cafe/table3": (6 * 4, 5, 6 * 14),
    "halluseg/main": (9 * 2, 4, 9 * 8),
    "halluseg/poster": (6, 5, 30),
    "halluseg/supp-table3": (1, 16, 16),
    "halluseg/supp-table4": (9 * 3, 4, 9 * 12),
    "halluseg/supp-table5": (9 * 3, 4, 9 * 12),
    "reactbench/table3": (13 * 5, 4, 11 * 15 + 2 * 6),
    "reactbench/table4": (4, 12, 7 + 7 + 6 + 5),
    "reactbench/table5": (4, 4, 16),
    "reactbench/table6": (14, 5, 70),
    "reactbench/table7": (14, 5, 70),
    "reactbench/table8": (14, 5, 70),
    "reactbench/table9": (14, 5, 70),
    "reactbench/table10": (11 * 5, 1, 55),
    "reactbench/table11": (24, 13, 24 * 13),
    "reactbench/table12": (24, 12, 24 * 12),
    "reactbench/table13": (24, 12, 24 * 12),
    "reactbench/table14": (24, 8, 24 * 8),
}

# Compared by eye with the text of the papers: table, model, row, setting, metric, printed, value.
SPOT_VALUES = [
    ("cafe/table2", "SAM 3", "SM", "", "cgF1", "53.0", 0.530),
    ("cafe/table2", "SAM 3", "OC", "", "IL_MCC", "-0.241", -0.241),
    ("cafe/table2", "OpenSeeD", "OC", "", "positive_micro_F1", "6.6", 0.066),
    ("cafe/table2", "Grounded SAM 2", "CC", "", "IL_MCC", "0.097", 0.097),
    ("cafe/table2", "OWLv2 + SAM1", "Overall", "", "cgF1", "27.9", 0.279),
    ("cafe/table2", "CAFE-SAM3 (GPT-5.5)", "Overall", "", "positive_micro_F1", "75.1", 0.751),
    ("cafe/table2", "CAFE-SAM3 (GPT-5.5)", "Overall", "", "cgF1_gain", "+24.8", 0.248),
    ("cafe/table3", "YOLO-World", "CC", "", "IL-FPR", "70.5", 0.705),
    ("cafe/table3", "Grounded SAM 2", "Overall", "", "UFPR", "11.1", 0.111),
    ("cafe/table3", "OpenSeeD", "OC", "", "ACSR", "58.6", 0.586),
    ("cafe/table3", "CAFE-SAM3 (GPT-5.5)", "Overall", "", "UCSR", "0.1", 0.001),
    ("cafe/table3", "SAM 3", "SM", "", "UFPR", "", None),
    ("cafe/statistics", ALL_MODELS, "Overall", "", "samples_count", "2146", 2146),
    ("cafe/statistics", ALL_MODELS, "Overall", "", "retained_share", "4.4", 0.044),
    ("halluseg/main", "LISA-7B", "referring", "", "dIoU_textual", "0.4534", 0.4534),
    ("halluseg/main", "Seg-Zero", "reasoning", "", "CMS_fact", "0.6554", 0.6554),
    ("halluseg/main", "VisionReasoner", "reasoning", "", "CMS_counterfact", "0.8633", 0.8633),
    ("halluseg/main", "RobustSeg", "referring", "", "CMS_fact", "0.1062", 0.1062),
    ("halluseg/main", "RobustSeg", "reasoning", "", "dIoU_visual", "0.3184", 0.3184),
    ("halluseg/poster", "LISA-7B", "referring", "", "CCMS", "0.4209", 0.4209),
    ("halluseg/poster", "SESAME-7B", "referring", "", "CMS_fact", "0.1983", 0.1983),
    ("halluseg/supp-table3", ALL_MODELS, "Overall", "", "CMS_counterfact", "0.6185", 0.6185),
    ("halluseg/supp-table3", ALL_MODELS, "Overall", "", "dIoU_visual_low", "0.3912", 0.3912),
    ("halluseg/supp-table4", "PixelLM-7B", "referring", "S", "CMS_counterfact", "1.0041", 1.0041),
    ("halluseg/supp-table4", "Seg-Zero", "referring", "L", "dIoU_visual", "0.6066", 0.6066),
    ("halluseg/supp-table4", "RobustSeg", "referring", "M", "CMS_fact", "0.1145", 0.1145),
    ("halluseg/supp-table5", "LISA-13B", "reasoning", "L", "dIoU_textual", "0.4061", 0.4061),
    (
        "halluseg/supp-table5",
        "VisionReasoner",
        "reasoning",
        "M",
        "CMS_counterfact",
        "0.9086",
        0.9086,
    ),
    ("reactbench/table3", "Qwen3.5-27B", "tracing", "", "delta", "-6.2", -0.062),
    ("reactbench/table3", "LLaVA-v1.6-7B", "erasure", "", "accuracy_cot", "43.8", 0.438),
    ("reactbench/table3", "InternVL3-8B", "counting", "", "delta", "-6.6", -0.066),
    ("reactbench/table3", "MiMO-VL-7B", "erasure", "", "accuracy_std", "", None),
    ("reactbench/table3", "Qwen3VL-32B-Thinking", "Overall", "", "react_score", "65.3", 0.653),
    ("reactbench/table4", ALL_MODELS, "erasure", "", "YN", "61.5", 0.615),
    ("reactbench/table4", ALL_MODELS, "tracing", "", "operation-hint", "63.7", 0.637),
    ("reactbench/table4", ALL_MODELS, "counting", "", "exact", "23.8", 0.238),
    ("reactbench/table5", ALL_MODELS, "attribute", "cot", "SC1_share", "49.8", 0.498),
    ("reactbench/table6", "LLaVA-OV-7B", "erasure", "cot", "SC3_count", "7134", 7134),
    ("reactbench/table7", ALL_MODELS, "attribute", "cot", "Total_count", "32277", 32277),
    ("reactbench/table8", "InternVL2.5-26B", "tracing", "cot", "Total_count", "3146", 3146),
    ("reactbench/table9", "Qwen3VL-32B-Thinking", "counting", "cot", "Other_count", "5", 5),
    ("reactbench/table10", "LLaVA-v1.6-7B", "erasure", "", "hallucination_delta", "-14.5", -0.145),
    ("reactbench/table10", "Qwen3VL-4B", "Overall", "", "hallucination_delta", "+4.4", 0.044),
    ("reactbench/table11", "Qwen3VL-4B", "erasure", "std", "hallucination_Q1b", "95.2", 0.952),
    ("reactbench/table11", "LLaVA-v1.6-7B", "erasure", "cot", "hallucination_Q1a", "38.7", 0.387),
    ("reactbench/table11", "MiMO-VL-7B", "erasure", "cot", "hallucination_Q12", "44.0", 0.440),
    ("reactbench/table12", "LLaVA-v1.6-7B", "attribute", "std", "hallucination_Q8", "100.0", 1.0),
    ("reactbench/table12", "Qwen2.5VL-72B", "attribute", "cot", "hallucination_Q5", "59.1", 0.591),
    ("reactbench/table13", "InternVL2.5-8B", "tracing", "std", "hallucination_Q2", "0.0", 0.0),
    ("reactbench/table13", "Qwen2.5VL-72B", "tracing", "cot", "hallucination_Q1", "50.8", 0.508),
    ("reactbench/table14", "MiMO-VL-7B", "counting", "cot", "hallucination_Q8", "43.4", 0.434),
    ("reactbench/table14", "InternVL2.5-26B", "counting", "std", "hallucination_Q4", "0.7", 0.007),
]


def test_sources_are_the_tables_and_each_has_rows() -> None:
    assert [source.table for source in sources()] == list(SHAPES)
    for source in sources():
        assert source.table.startswith(f"{source.benchmark}/")
        assert all((source.paper, source.caption, source.unit))
        assert published_rows(table=source.table)


@pytest.mark.parametrize("table", SHAPES)
def test_shape(table: str) -> None:
    rows = published_rows(table=table)
    metrics = {tuple(row.metrics) for row in rows}
    numbers = sum(value is not None for row in rows for value in row.metrics.values())
    assert len(metrics) == 1
    assert (len(rows), len(metrics.pop()), numbers) == SHAPES[table]


@pytest.mark.parametrize("table", SHAPES)
def test_every_line_has_its_own_name(table: str) -> None:
    names = [(row.model, row.row, row.setting) for row in published_rows(table=table)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("table", "model", "row", "setting", "metric", "printed", "value"), SPOT_VALUES
)
def test_spot_value(
    table: str, model: str, row: str, setting: str, metric: str, printed: str, value: float | None
) -> None:
    found = _row(table, model, row, setting)
    assert found.printed[metric] == printed
    assert found.metrics[metric] == value


def test_all_numbers_are_finite_and_in_range() -> None:
    for row in published_rows():
        for name, value in row.metrics.items():
            if value is None:
                assert row.printed[name] == ""
                continue
            low, high = _range(name)
            assert math.isfinite(value)
            assert low <= value <= high, (row.source.table, row.model, row.row, name, value)


def _range(metric: str) -> tuple[float, float]:
    if metric.endswith("_count"):
        return 0, 139_133
    if metric.startswith("CMS") or metric == "CCMS":
        return 0, 1.1
    if metric in ("cgF1", "IL_MCC", "delta", "hallucination_delta"):
        return -0.7, 1
    return 0, 1


def test_the_row_of_our_tables_that_a_published_one_stands_beside() -> None:
    found = {row.table_row for row in published_rows("halluseg")}
    sizes = {f"{task} {size}" for task in ("referring", "reasoning") for size in "SML"}
    assert found == {"Overall", "referring", "reasoning"} | sizes
    assert {row.table_row for row in published_rows(table="reactbench/table11")} == {""}


def test_rows_are_selected_by_benchmark_and_by_table() -> None:
    assert len(published_rows()) == sum(rows for rows, _, _ in SHAPES.values())
    assert {row.source.benchmark for row in published_rows("halluseg")} == {"halluseg"}
    assert published_rows("cafe", "reactbench/table3") == ()


@pytest.mark.parametrize("arguments", [{"benchmark": "cafee"}, {"table": "cafe/table9"}])
def test_unknown_name_is_an_error_that_lists_the_known(arguments: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="cafe"):
        published_rows(**arguments)


def test_models_have_one_name_in_all_tables_of_reactbench() -> None:
    names = {row.model for row in published_rows(table="reactbench/table3")}
    assert len(names) == 13
    assert {row.model for row in published_rows("reactbench")} == names | {ALL_MODELS}


def test_rows_are_read_once_and_cannot_be_changed() -> None:
    row = published_rows(table="cafe/table2")[0]
    assert published_rows(table="cafe/table2")[0] is row
    with pytest.raises(TypeError):
        row.metrics["cgF1"] = 1.0  # type: ignore[index]


def _row(table: str, model: str, row: str, setting: str) -> PublishedRow:
    (found,) = (
        published
        for published in published_rows(table=table)
        if (published.model, published.row, published.setting) == (model, row, setting)
    )
    return found


@pytest.mark.parametrize(
    ("preset", "told", "model"), [("cafe", "AFPR", "OWLv2"), ("halluseg", "CMS_fact", "LISA-7B")]
)
def test_eval_puts_papers_beside_masks_once(
    tmp_path: Path, run: Callable[..., Ran], preset: str, told: str, model: str
) -> None:
    bench = tmp_path / "bench"
    run("world", "build", "--preset", preset, "--n", 3, "--size", 96, "--out", bench)
    asked = ("eval", bench, "--model", "oracle", "--model", "blind", "--bootstrap", 0)
    plain = run(*asked, "--out", tmp_path / "runs")
    beside = run(*asked, "--out", tmp_path / "runs", "--published", "--metric", told)
    assert plain.code == beside.code == 0, beside.err
    assert "other data" not in plain.out
    assert beside.out.count("other data") == 1 and model in beside.out
