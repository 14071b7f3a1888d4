"""Exploring 200,000 cases × 10 models: what a click takes, on one core.

    python bench/explore.py [--cases 200000] [--runs 10] [--times 9] [--folder DIR]

The runs are made up: no masks, but scores and overlaps of every prediction, scored by the real
protocol and written as `eval` writes them. The figures beside ours are a sketch's on such data,
with DuckDB on a table in memory (and pyarrow alone): 14 columns, one thread, median of nine.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa

from groundfault.analysis.summary import summarise, write_results
from groundfault.matching.overlaps import Overlaps, Truth
from groundfault.protocols import concepts
from groundfault.records import Benchmark, Card, Case, Item, Region, Role
from groundfault.runs.run import Run, write_run
from groundfault.web.explore.boards import read_boards
from groundfault.web.explore.confusion import confusion
from groundfault.web.explore.contrast import contrast
from groundfault.web.explore.listing import listed, rates
from groundfault.web.explore.selection import Marked, select
from groundfault.web.explore.views import Chosen, Ended, View

SIDE_PX = 32
WORDS = [
    "cat", "tiger", "zebra", "horse", "car", "toy", "boat", "ship", "lamp", "chair", "bronze",
    "marble", "ice", "cup", "bowl",
]  # fmt: skip
NOTHING = Marked({}, frozenset())
SKETCH_MS = {
    "page": "92 (63)", "count": "59", "text": "57", "facets": "31 (63)", "cells": "133",
    "A right, B wrong": "49",
}  # fmt: skip


def benchmark_of(n: int) -> Benchmark:
    """Pairs without pictures."""
    rng = np.random.default_rng(0)
    region = Region({"size": (SIDE_PX, SIDE_PX), "counts": "0P`0"})
    first, second = rng.integers(0, len(WORDS), (2, n))
    cases, items = [], []
    for k in range(n):
        name, kind = f"{k:07d}", ("SM", "CC", "OC")[k % 3]
        cases.append(Case(id=name, intervention=kind, tags={"split": ("seen", "unseen")[k % 2]}))
        shared = {
            "case_id": name, "images": (f"{name}.jpg",), "height_px": SIDE_PX,
            "width_px": SIDE_PX, "target": region,
        }  # fmt: skip
        a, b = WORDS[first[k]], WORDS[second[k]]
        positive = f"{a} {k % 97}"
        items.append(
            Item(id=f"{name}+", role=Role.POSITIVE, query=positive, regions=(region,), **shared)
        )
        items.append(Item(id=f"{name}-", role=Role.NEGATIVE, query=b, **shared))
    card = Card(
        name="made-up", protocol="concept-pairs", title="Made up", source="", licence="",
        citation="", main_metric="cgF1",
    )  # fmt: skip
    return Benchmark(card=card, cases=tuple(cases), items=tuple(items))


def overlaps_of(n_items: int, seed: int) -> Overlaps:
    """Up to three predictions per item."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 4, n_items)
    item = np.repeat(np.arange(n_items), lengths)
    overlap = rng.random(len(item)) ** 0.7
    n_objects = (np.arange(n_items) % 2 == 0).astype(np.int64)
    widths = n_objects[item]
    truth = Truth(
        np.ones(n_items, bool), n_objects, overlap[widths == 1],
        np.concatenate(([0], np.cumsum(widths))),
    )  # fmt: skip
    return Overlaps(
        n_items=n_items, item=item, score=rng.random(len(item)).round(4),
        declared=np.ones(len(item), bool), target_iou=overlap, truths=(truth,),
        outcome=np.where(lengths > 0, 3, 2).astype(np.int8), n_silent=0,
    )  # fmt: skip


def make_runs(folder: Path, n_cases: int, n_runs: int) -> list[Path]:
    """Runs as `eval` leaves them, without their predictions."""
    runs = [folder / f"model-{k}" for k in range(n_runs)]
    if all((run / "summary.json").exists() for run in runs):
        return runs
    benchmark = benchmark_of(n_cases)
    for k, run in enumerate(runs):
        overlaps = overlaps_of(len(benchmark.items), k)
        scored = concepts.score(benchmark, overlaps, t=0.5, tau=0.3, iou="segm", variant="exact")
        scored = msgspec.structs.replace(scored, title="Made up")
        summary = summarise(scored, bootstrap=0, seed=0, data={"benchmark": "made up"})
        write_results(run, scored, summary)
        write_run(run, Run(model=run.name, benchmark="made-up", protocol="concept-pairs"))
        print(f"made {run.name}", flush=True)
    return runs


def median_ms(what: Callable[[int], object], times: int) -> tuple[float, float]:
    """The middle of several runs on the processor and by the clock, each with another argument:
    nothing is answered from before."""
    taken = []
    for k in range(times):
        start = time.process_time(), time.perf_counter()
        what(k)
        taken.append((time.process_time() - start[0], time.perf_counter() - start[1]))
    cpu_s, wall_s = (statistics.median(each) for each in zip(*taken, strict=True))
    return 1000 * cpu_s, 1000 * wall_s


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=200_000)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--times", type=int, default=9)
    parser.add_argument("--folder", type=Path, help="Where the runs are kept, to measure again.")
    arguments = parser.parse_args()
    pa.set_cpu_count(1)
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        runs = make_runs(folder, arguments.cases, arguments.runs)
        start = time.perf_counter()
        [shelf] = read_boards(runs)
        print(f"{arguments.runs} runs of {arguments.cases:,} cases read in "
              f"{time.perf_counter() - start:.1f} s")  # fmt: skip
        measure(shelf.board, arguments.times)


def measure(board: object, times: int) -> None:
    """Every kind of click, as the page makes it."""

    def chosen(**view: object) -> tuple[View, object]:
        made = View(**view)  # type: ignore[arg-type]
        return made, select(board, made, NOTHING)  # type: ignore[arg-type]

    def page(**view: object) -> object:
        made, found = chosen(**view)
        return listed(board, made, found, {})  # type: ignore[arg-type]

    seen = (Chosen("intervention", "SM"),)
    worst = (Ended("p⁻", "TA-FP", "model-3"),)
    two = {"a": "model-1", "b": "model-2"}
    clicks: dict[str, Callable[[int], object]] = {
        "page": lambda k: page(chosen=seen, ended=worst, sort="score of p⁻", by=f"model-{k % 10}"),
        "page, everything by hardness": lambda k: page(sort="hardest", page=k + 1),
        "count": lambda k: chosen(ended=(Ended("p⁺", "TA-TP", f"model-{k % 10}"),))[1].n,  # type: ignore[attr-defined]
        "text": lambda k: page(q=f"{WORDS[k]} {k}"),
        "facets": lambda k: page(chosen=seen, q=str(k)),
        "t moved: cells and rates": lambda k: rates(
            board, *chosen(t=0.3 + k / 100), full=False, intervals=False
        ),  # type: ignore[arg-type]
        "t and τ moved: page": lambda k: page(t=0.3 + k / 100, tau=0.4 + k / 100, ended=worst),
        "cells": lambda k: board.ends(View(t=0.21 + k / 100, tau=0.3).point),  # type: ignore[attr-defined]
        "A right, B wrong": lambda k: page(**two, ab="10", t=0.55 + k / 1000),
        "paired test": lambda k: contrast(board, *_base(chosen(**two, t=0.56 + k / 1000))),  # type: ignore[arg-type]
        "rates with intervals": lambda k: rates(
            board, *chosen(q=str(k)), full=False, intervals=True
        ),  # type: ignore[arg-type]
        "confusion": lambda k: confusion(board, chosen(q=str(k))[1].chosen, View().point),  # type: ignore[arg-type, attr-defined]
    }
    print(f"{'ms, median':34} {'CPU':>7} {'wall':>7}   sketch, wall: DuckDB (pyarrow)")
    for name, click in clicks.items():
        cpu_ms, wall_ms = median_ms(click, times)
        print(f"{name:34} {cpu_ms:7.1f} {wall_ms:7.1f}   {SKETCH_MS.get(name, '')}", flush=True)


def _base(made: tuple[View, object]) -> tuple[View, object]:
    return made[0], made[1].base  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
