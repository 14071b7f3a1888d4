"""Any benchmark that can be read: everything that reading checks, and then each mask."""

from __future__ import annotations

from collections import Counter

from groundfault.errors import GroundfaultError
from groundfault.io import convert
from groundfault.io.inspection.regions import mask_problem
from groundfault.io.inspection.report import Draft, Report
from groundfault.records import Benchmark

__all__ = ["describe", "inspect_benchmark"]


def inspect_benchmark(draft: Draft) -> Report:
    """The report on a file of the format that the draft names."""
    try:
        describe(draft, convert.read_any(draft.path, draft.format))
    except GroundfaultError as problem:
        draft.add_refusal(problem)
    return draft.report()


def describe(draft: Draft, benchmark: Benchmark) -> None:
    """Count what a benchmark has, and look at every mask."""
    draft.counts |= {
        "cases": len(benchmark.cases),
        "queries": len(benchmark.items),
        "images": len({item.image for item in benchmark.items}),
    }
    for name, n in Counter(case.intervention for case in benchmark.cases).items():
        draft.count(f"cases of {name or 'no intervention'}", n)
    for item in benchmark.items:
        draft.count(f"{item.role} queries")
        draft.count("regions", len(item.regions))
        draft.saw_value("image height_px", item.height_px)
        draft.saw_value("image width_px", item.width_px)
        if not item.query.strip():
            draft.add("a query has no words", f"item {item.id}")
        for region in (*item.regions, *([item.target] if item.target else [])):
            if region.mask is None:
                continue
            problem = mask_problem(region.mask, item.height_px, item.width_px)
            if problem:
                draft.add("unsound mask", f"item {item.id}: {problem}")
    for note in benchmark.notes:
        draft.add_other("info", note, benchmark.card.name, "nothing to do")
