"""Does counterfactual fine-tuning cure the nano model? The study behind docs/nano.md.

    python bench/nano.py                                   the shipped models
    python bench/nano.py --cft seed1=nano:FOLDER/NAME …    other fine-tunings
    python bench/nano.py --control NAME=SPEC …             trained as long on biased pictures

Builds held-out worlds (seeds that no training uses), asks every model, and prints false positive
rates beside recall, for edits that fine-tuning has seen and for those it has not, with 95 %
intervals from resampled cases; the fall of the rate is paired, case by case. Ends with exit code 1
if a promise of the model card is not kept.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from groundfault import cli
from groundfault.analysis.rates import edge_interval
from groundfault.interfaces import ModelOptions
from groundfault.runs.identity import model_identity
from groundfault.world.presets import BuildSettings, build

SEED = 70_001
KINDS = ("SM", "CC", "OC")
SPLITS = ("seen", "unseen pair", "unseen part")
RESAMPLES = 4000
FALLS = {
    ("SM", "seen"): 0.50,
    ("CC", "seen"): 0.80,
    ("OC", "seen"): 0.60,
    ("all", "unseen pair"): 0.40,
    ("all", "unseen part"): 0.30,
}
"""How far the false positive rate has to fall, at least."""
CMS_FALL = 0.30
CLEAN_PMF1 = 0.70
PMF1_LOSS = 0.02
MORE_ALARMS = 0.03


@dataclass(frozen=True)
class Rate:
    """Per case: how often it happened, out of how many."""

    hits: np.ndarray
    out_of: np.ndarray

    @property
    def value(self) -> float:
        return self.of(np.arange(len(self.hits)))

    def of(self, cases: np.ndarray) -> float:
        return float(self.hits[cases].sum() / self.out_of[cases].sum())

    @property
    def interval(self) -> tuple[float, float]:
        """Exact near 0 and 1, as everywhere; else from resampled cases."""
        return edge_interval(self.hits, self.out_of) or resampled(self.of, len(self.hits))

    def __str__(self) -> str:
        low, high = self.interval
        return f"{100 * self.value:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


@dataclass
class Study:
    """Which models, where their runs lie, and what was found."""

    out: Path
    base: str
    cft: dict[str, str]
    control: dict[str, str]
    promises: list[tuple[str, bool]] = field(default_factory=list)
    points: list[dict[str, Any]] = field(default_factory=list)

    @property
    def models(self) -> dict[str, str]:
        return {self.base: self.base, **self.cft, **self.control}

    def run(self, world: str, spec: str) -> Path:
        """The folder of a finished run; one of other weights of that name is made anew."""
        runs = self.out / "runs" / world / spec.replace("/", "_").replace(":", "_")
        weights = model_identity(spec, ModelOptions()).items()
        found = [json.loads(path.read_text())["identity"] for path in runs.glob("*/run.json")]
        if not all(weights <= identity.items() for identity in found):
            shutil.rmtree(runs)
        if not list(runs.glob("*/summary.json")):
            print(f"asking {spec} about {world}", file=sys.stderr)
            arguments = ["eval", self.out / "worlds" / world, "--model", spec, "--out", runs]
            with contextlib.redirect_stdout(io.StringIO()):
                code = cli.run([*map(str, arguments), "--bootstrap", "2000"])
            if code:
                sys.exit(f"{spec} about {world}: exit code {code}")
        return next(runs.glob("*/summary.json")).parent

    def promise(self, text: str, kept: bool) -> None:
        self.promises.append((text, kept))


def worlds(out: Path, n: int) -> None:
    """Render whatever is not there yet."""
    edited = {
        f"edited, {split}": ("cafe", 3 * n, BuildSettings(seed=SEED, controls=True, split=split))
        for split in SPLITS
    }
    others = {
        "replaced": ("halluseg", n, BuildSettings(seed=SEED + 1)),
        "clean": ("clean", n, BuildSettings(seed=SEED + 2)),
        "crowd": ("cafe", 3 * (n // 3), BuildSettings(seed=SEED + 3, crowd=3)),
    }
    for name, (preset, count, settings) in {**edited, **others}.items():
        if not (out / name).exists():
            print(f"rendering {name}", file=sys.stderr)
            build(preset, count, out / name, settings)


def rates(run: Path, kind: str) -> tuple[Rate, Rate, Rate]:
    """False positives, image-level recall, recall with an overlap of half, by case."""
    table = pq.read_table(run / "cases.parquet")
    control = np.array([row == "control" for row in table["intervention"].to_pylist()])
    kinds = np.array(table["kind"].to_pylist())
    chosen = control if kind == "unedited" else ~control & ((kinds == kind) | (kind == "all"))

    def column(name: str) -> np.ndarray:
        return table[f"pcs.{name}"].to_numpy()[chosen]

    fp, tn, tp, fn = (column(f"il_{name}") for name in ("fp", "tn", "tp", "fn"))
    return Rate(fp, fp + tn), Rate(tp, tp + fn), Rate(column("tp@0.50"), column("objects"))


def resampled(statistic: Callable[[np.ndarray], float], n: int) -> tuple[float, float]:
    """95 % interval from resampled cases."""
    rng = np.random.default_rng(0)
    samples = [statistic(rng.integers(n, size=n)) for _ in range(RESAMPLES)]
    low, high = np.nanpercentile(samples, [2.5, 97.5])
    return float(low), float(high)


def fall(before: Rate, after: Rate) -> tuple[float, float, float]:
    """How far a rate fell, as a share of what it was, with its interval; the cases are paired."""

    def share(at: np.ndarray) -> float:
        base = before.hits[at].sum()
        return float(1 - after.hits[at].sum() / base) if base else float("nan")

    return share(np.arange(len(before.hits))), *resampled(share, len(before.hits))


def print_table(head: list[str], rows: Iterator[list[str]]) -> None:
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")


def edit_rows(study: Study, split: str) -> Iterator[list[str]]:
    """Every model on every kind of edit of a split, and on the unedited pictures."""
    for kind in (*KINDS, "all", "unedited"):
        base = rates(study.run(f"edited, {split}", study.base), kind)
        for name, spec in study.models.items():
            found = rates(study.run(f"edited, {split}", spec), kind)
            fell = ""
            if name != study.base:
                share, low, high = fall(base[0], found[0])
                fell = f"{100 * share:.0f} %"
                if low < high:  # else resampling says nothing
                    fell += f" [{100 * low:.0f}, {100 * high:.0f}]"
            if name in study.cft:
                check_edits(study, name, kind, split, base, found)
            if name in study.control and (kind, split) in FALLS:
                wanted = FALLS[kind, split]
                study.promise(
                    f"{name}, {kind} {split}: FPR falls by {100 * share:.0f} %, "
                    f"less than {100 * wanted:.0f}",
                    share < wanted,
                )
            if kind in KINDS and name not in study.control:
                study.points += points(name, kind, split, found)
            yield [
                kind if name == study.base else "",
                name,
                str(found[0]),
                fell,
                *map(str, found[1:]),
            ]


def check_edits(
    study: Study,
    name: str,
    kind: str,
    split: str,
    base: tuple[Rate, Rate, Rate],
    found: tuple[Rate, Rate, Rate],
) -> None:
    where = f"{name}, {kind} {split}"
    if kind == "unedited":
        more = found[0].value - base[0].value
        study.promise(
            f"{where}: {100 * more:+.1f} points of false alarms, at most 3", more <= MORE_ALARMS
        )
        return
    if (kind, split) in FALLS:
        share, wanted = fall(base[0], found[0])[0], FALLS[kind, split]
        study.promise(
            f"{where}: FPR falls by {100 * share:.0f} %, at least {100 * wanted:.0f}",
            share >= wanted,
        )
    before, after = base[2].value, found[2].value
    study.promise(
        f"{where}: recall {100 * after:.1f}, at least {100 * before:.1f}", after >= before
    )


def benchmark_rows(study: Study, world: str, metrics: list[str]) -> Iterator[list[str]]:
    """Every model's headline on a benchmark."""
    found = {
        name: json.loads((study.run(world, spec) / "summary.json").read_text())["rows"]["Overall"][
            "metrics"
        ]
        for name, spec in study.models.items()
    }
    for name, row in found.items():
        yield [name, *(estimate(row[metric]) for metric in metrics)]
    values = {name: {m: row[m]["value"] for m in metrics} for name, row in found.items()}
    base = values[study.base]
    if world == "clean":
        score = base["positive_micro_F1"]
        study.promise(
            f"{study.base}: clean pmF1 {100 * score:.1f}, at least 70", score >= CLEAN_PMF1
        )
    if world == "replaced":
        for name in (*study.cft, *study.control):
            cured = name in study.cft
            share = 1 - values[name]["CMS_counterfact"] / base["CMS_counterfact"]
            study.promise(
                f"{name}: CMS_counterfact falls by {100 * share:.0f} %, "
                f"{'at least' if cured else 'less than'} 30",
                (share >= CMS_FALL) == cured,
            )
    for name in study.cft:
        if world == "clean":
            least, mine = base["positive_micro_F1"] - PMF1_LOSS, values[name]["positive_micro_F1"]
            study.promise(
                f"{name}: clean pmF1 {100 * mine:.1f}, at least {100 * least:.1f}", mine >= least
            )


def estimate(cell: dict[str, float | None]) -> str:
    if cell["value"] is None:
        return "—"
    span = "" if cell["low"] is None else f" [{cell['low']:.3f}, {cell['high']:.3f}]"
    return f"{cell['value']:.3f}{span}"


def points(
    name: str, kind: str, split: str, found: tuple[Rate, Rate, Rate]
) -> Iterator[dict[str, Any]]:
    """What the figure shows of one model on one kind of edit."""
    for what, rate in (("FPR", found[0]), ("recall, IoU ≥ .5", found[2])):
        low, high = rate.interval
        shown = {"percent": 100 * rate.value, "low": 100 * low, "high": 100 * high}
        yield {"model": name, "edit": kind, "split": split, "what": what, **shown}


def draw(shown: list[dict[str, Any]], path: Path) -> None:
    """FPR above recall, a column for each split."""
    import vl_convert

    x = {
        "field": "model",
        "type": "ordinal",
        "sort": None,
        "title": None,
        "axis": {"labelAngle": 0},
    }
    shared = {
        "x": x,
        "xOffset": {"field": "edit", "sort": list(KINDS)},
        "color": {
            "field": "edit",
            "sort": list(KINDS),
            "scale": {"range": ["#b3472f", "#2f6fb3", "#3a8f4d"]},
        },
    }
    amount = {"type": "quantitative", "title": "percent"}
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "data": {"values": shown},
        "facet": {
            "row": {"field": "what", "title": None},
            "column": {"field": "split", "title": None, "sort": list(SPLITS)},
        },
        "spec": {
            "width": 210,
            "height": 130,
            "layer": [
                {
                    "mark": {"type": "rule", "strokeWidth": 1.5},
                    "encoding": shared | {"y": {"field": "low", **amount}, "y2": {"field": "high"}},
                },
                {
                    "mark": {"type": "point", "filled": True, "size": 45},
                    "encoding": shared | {"y": {"field": "percent", **amount}},
                },
            ],
        },
        "config": {"font": "sans-serif", "background": "white", "view": {"stroke": "#ddd"}},
    }
    path.write_text(vl_convert.vegalite_to_svg(json.dumps(spec)))
    print(f"written: {path}", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=500, help="cases per intervention and split")
    parser.add_argument("--out", type=Path, default=Path("bench/data/nano"))
    parser.add_argument("--base", default="nano-base")
    parser.add_argument("--cft", action="append", default=[], help="NAME=SPEC")
    parser.add_argument("--control", action="append", default=[], help="NAME=SPEC")
    parser.add_argument("--figure", type=Path, help="SVG: FPR and recall of each fine-tuning")
    given = parser.parse_args()
    cft, control = (
        dict(pair.split("=", 1) for pair in pairs) for pairs in (given.cft, given.control)
    )
    study = Study(given.out, given.base, cft or {"nano-cft": "nano-cft"}, control)
    worlds(study.out / "worlds", given.n)
    for split in SPLITS:
        print(f"\n### Edits: {split}\n")
        head = ["edit", "model", "FPR", "fall of FPR", "recall", "recall, IoU ≥ .5"]
        print_table(head, edit_rows(study, split))
    for world, metrics in (
        ("clean", ["positive_micro_F1", "IL_FPR", "IL_recall", "cgF1"]),
        ("crowd", ["positive_micro_F1", "recall@0.50", "AFPR"]),
        ("replaced", ["dIoU_textual", "dIoU_visual", "CMS_fact", "CMS_counterfact"]),
    ):
        print(f"\n### {world.capitalize()}\n")
        print_table(["model", *metrics], benchmark_rows(study, world, metrics))
    print("\n### What was promised\n")
    for text, kept in study.promises:
        print(f"- {'kept' if kept else '**not kept**'}: {text}")
    if given.figure:
        draw(study.points, given.figure)
    sys.exit(0 if all(kept for _, kept in study.promises) else 1)


if __name__ == "__main__":
    main()
