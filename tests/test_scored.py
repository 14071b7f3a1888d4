"""What is resampled together, and rows by split."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from groundfault.analysis.summary import summarise, write_results
from groundfault.benchmarks.cafe import read
from groundfault.io.coco import Result, file_records
from groundfault.io.store import read_table
from groundfault.matching.overlaps import compare_predictions
from groundfault.protocols import concepts
from groundfault.protocols.scored import Scored, by_case, by_split
from groundfault.records import Benchmark, Case, Summary

CASES = arrays.arrays(np.int64, st.integers(0, 30), elements=st.integers(0, 8))


@given(CASES)
def test_cases_are_summed_in_any_order(case: Any) -> None:
    contributions = np.arange(2.0 * len(case)).reshape(len(case), 2)
    summed = by_case(contributions, case)
    assert len(summed) == len({*case.tolist()})
    assert np.array_equal(summed.sum(axis=0), contributions.sum(axis=0))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["", "x", "y"])), max_size=20))
def test_splits_part_each_row(cases: list[tuple[str, str]]) -> None:
    kinds = np.array([kind for kind, _ in cases], dtype=str)
    splits = np.array([split for _, split in cases], dtype=str)
    rows = {"Overall": np.ones(len(cases), bool), "a": kinds == "a"}
    found = by_split(rows, splits)
    assert all(member.any() for member in found.values())
    if len({*splits.tolist()} - {""}) < 2:
        assert not found
        return
    for row, prefix in (("Overall", ""), ("a", "a ")):
        parts = [found.get(f"{prefix}{split}", np.zeros(len(cases), bool)) for split in ("x", "y")]
        assert np.array_equal(sum(parts), rows[row] & (splits != ""))  # none twice, none lost


def scored(cafe: Any, tags: list[list[dict[str, str]]]) -> Scored:
    """The small CAFE set once for each list of tags, one after the other."""
    once = read([cafe.write().annotation_file])
    cases, items, predictions = [], [], []
    for copy, of_cases in enumerate(tags):
        for case, given_tags in zip(once.cases, of_cases, strict=True):
            cases.append(Case(id=f"{copy}/{case.id}", intervention="SM", tags=given_tags))
        items += [
            msgspec.structs.replace(
                item, id=str(int(item.id) + 100 * copy), case_id=f"{copy}/{item.case_id}"
            )
            for item in once.items
        ]
        predictions += [
            {**record, "image_id": record["image_id"] + 100 * copy} for record in cafe.predictions
        ]
    benchmark = Benchmark(card=once.card, cases=tuple(cases), items=tuple(items))
    overlaps = compare_predictions(
        benchmark, file_records([(0, _results(predictions))], "predictions")
    )
    return concepts.score(benchmark, overlaps, t=0.5, tau=0.3, iou="segm", variant="exact")


def _results(records: list[dict[str, Any]]) -> list[Any]:
    return msgspec.convert(records, list[Result])


def summary(cafe: Any, tags: list[list[dict[str, str]]]) -> Summary:
    return summarise(scored(cafe, tags), bootstrap=500, seed=0)


PLAIN: list[dict[str, str]] = [{}, {}, {}, {}]
CLUSTERS = [{"cluster": name} for name in "abcd"]


@pytest.mark.parametrize("copies", [2, 3])
def test_copies_in_a_cluster_make_nothing_more_certain(cafe: Any, copies: int) -> None:
    once = summary(cafe, [PLAIN]).rows["Overall"]
    several = summary(cafe, [CLUSTERS] * copies).rows["Overall"]
    assert several.n_cases == once.n_cases == 4
    apart = summary(cafe, [PLAIN] * copies).rows["Overall"]
    assert apart.n_cases == 4 * copies
    for metric in ("AFPR", "SoftSwap", "cgF1"):
        one, many, loose = (row.metrics[metric] for row in (once, several, apart))
        assert (many.value, many.low, many.high) == pytest.approx((one.value, one.low, one.high))
        assert loose.value == pytest.approx(one.value)
    width = [row.metrics["IL-FPR"].high - row.metrics["IL-FPR"].low for row in (once, apart)]  # type: ignore[operator]
    assert width[1] < width[0]


def test_cases_without_a_cluster_stay_their_own(cafe: Any) -> None:
    found = scored(cafe, [[{"cluster": "x"}, {}, {"cluster": "x"}, {"dose": "1"}]])
    assert found.case.tolist() == [0, 1, 0, 2]
    assert scored(cafe, [PLAIN]).case.tolist() == [0, 1, 2, 3]
    # a cluster that has the name of a case
    found = scored(cafe, [[{"cluster": "0/2"}, {}, {}, {}]])
    assert found.case.tolist() == [0, 1, 2, 3]


def test_clusters_are_stored_for_comparisons(cafe: Any, tmp_path: Path) -> None:
    found = scored(cafe, [CLUSTERS, CLUSTERS])
    write_results(tmp_path / "run", found, summarise(found, bootstrap=0, seed=0))
    table = read_table(tmp_path / "run" / "cases.parquet")
    assert table.column("case").to_pylist() == [0, 1, 2, 3, 0, 1, 2, 3]
    assert len({*table.column("case_id").to_pylist()}) == 8
