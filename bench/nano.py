"""Does counterfactual fine-tuning cure the nano model? The study behind docs/nano.md.

    python bench/nano.py                                   the shipped models
    python bench/nano.py --cft seed1=nano:FOLDER/NAME …    other fine-tunings
    python bench/nano.py --control NAME=SPEC …             trained as long on biased pictures
    python bench/nano.py --worlds final --n 2000 --unseen 1000 --others 500
                                                           once, when nothing is chosen any more

Builds held-out worlds (seeds that no training uses), asks every model, and prints false positive
rates beside recall, for edits that fine-tuning has seen and for those it has not, with 95 %
intervals from resampled cases; the fall of the rate is paired, case by case. Ends with exit code 1
if a promise of the model card is not kept.

Recipes are chosen on `choosing`; `final` is for the model card, `seeds` for other seeds;
`opened`, `opened-2` and `opened-3` were `final` for earlier ones, `opened-seeds` was `seeds`.
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

SEEDS = {
    "choosing": 170_001,
    "opened": 270_001,
    "opened-2": 370_001,
    "opened-seeds": 470_001,
    "opened-3": 570_001,
    "seeds": 670_001,
    "final": 770_001,
}
KINDS = ("SM", "CC", "OC")
SPLITS = ("seen", "unseen pair", "unseen part")
RESAMPLES = 4000
FOOLED = {"SM": 0.15, "CC": 0.25, "OC": 0.50}
"""How often the base model is fooled by seen edits, at least: about as published ones are."""
SEES = 0.60
"""The least recall at IoU ≥ 0.5 of the base model on each kind of seen edits."""
FALLS = {
    ("SM", "seen"): 0.80,
    ("CC", "seen"): 0.90,
    ("OC", "seen"): 0.65,
    ("all", "unseen pair"): 0.65,
    ("all", "unseen part"): 0.35,
}
"""How far the false positive rate has to fall, at least."""
BASE_QUADS = {"IoU_fact": (0.70, 1.0), "dIoU_textual": (-1.0, 0.50), "CMS_counterfact": (0.40, 9.0)}
"""Between which limits the base model lies on replacements."""
CMS_FALL = 0.40
TEXTUAL_RISE = 0.15
CLEAN_PMF1 = 0.75
PMF1_LOSS = 0.02
RECALL_LOSS = 0.01
"""On edited pictures, at the lower end of the interval of the paired difference."""
UNEDITED_LOSS = 0.02
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


def worlds(out: Path, n: int, n_unseen: int, n_others: int, seed: int) -> None:
    """Render whatever is not there yet: n cases of each kind of seen edits, n_unseen of unseen
    ones, n_others elsewhere."""
    edited = {
        f"edited, {split}": (
            "cafe",
            3 * (n if split == "seen" else n_unseen),
            BuildSettings(seed=seed, controls=True, split=split),
        )
        for split in SPLITS
    }
    others = {
        "replaced": ("halluseg", n_others, BuildSettings(seed=seed + 1)),
        "clean": ("clean", n_others, BuildSettings(seed=seed + 2)),
        "crowd": ("cafe", 3 * (n_others // 3), BuildSettings(seed=seed + 3, crowd=3)),
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
            if name == study.base and split == "seen" and kind in KINDS:
                check_base(study, kind, found)
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
        lost = base[2].value - found[2].value
        study.promise(
            f"{where}: {-100 * lost:+.1f} points of recall, at least {-100 * UNEDITED_LOSS:.0f}",
            lost <= UNEDITED_LOSS,
        )
        return
    if (kind, split) in FALLS:
        share, wanted = fall(base[0], found[0])[0], FALLS[kind, split]
        study.promise(
            f"{where}: FPR falls by {100 * share:.1f} %, at least {100 * wanted:.0f}",
            share >= wanted,
        )
    low = difference(base[2], found[2])[1]
    study.promise(
        f"{where}: recall {100 * found[2].value:.1f} after {100 * base[2].value:.1f}, lower limit "
        f"of the difference {100 * low:+.1f}, at least {-100 * RECALL_LOSS:.0f}",
        low >= -RECALL_LOSS,
    )


def check_base(study: Study, kind: str, found: tuple[Rate, Rate, Rate]) -> None:
    """A model that hallucinates sees: it finds what is there, and is fooled."""
    fooled, seen = found[0].value, found[2].value
    study.promise(
        f"{study.base}, {kind} seen: FPR {100 * fooled:.1f}, at least {100 * FOOLED[kind]:.0f}",
        fooled >= FOOLED[kind],
    )
    study.promise(
        f"{study.base}, {kind} seen: recall {100 * seen:.1f}, at least {100 * SEES:.0f}",
        seen >= SEES,
    )


def difference(before: Rate, after: Rate) -> tuple[float, float, float]:
    """How far a rate rose, with its interval; the cases are paired."""

    def risen(at: np.ndarray) -> float:
        return after.of(at) - before.of(at)

    return risen(np.arange(len(before.hits))), *resampled(risen, len(before.hits))


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
            f"{study.base}: clean pmF1 {100 * score:.1f}, at least {100 * CLEAN_PMF1:.0f}",
            score >= CLEAN_PMF1,
        )
    if world == "replaced":
        for metric, (low, high) in BASE_QUADS.items():
            study.promise(
                f"{study.base}: {metric} {base[metric]:.3f}, from {low:g} to {high:g}",
                low <= base[metric] <= high,
            )
        for name in study.cft:
            rise = values[name]["dIoU_textual"] - base["dIoU_textual"]
            study.promise(
                f"{name}: dIoU_textual rises by {rise:.3f}, at least {TEXTUAL_RISE}",
                rise >= TEXTUAL_RISE,
            )
        for name in (*study.cft, *study.control):
            cured = name in study.cft
            before = base["CMS_counterfact"]
            share = 1 - values[name]["CMS_counterfact"] / before if before else float("nan")
            study.promise(
                f"{name}: CMS_counterfact falls by {100 * share:.0f} %, "
                f"{'at least' if cured else 'less than'} {100 * CMS_FALL:.0f}",
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
    parser.add_argument("--n", type=int, default=500, help="cases per kind of seen edits")
    parser.add_argument("--others", type=int, help="cases per kind elsewhere; as many if not given")
    parser.add_argument("--unseen", type=int, help="of unseen edits; as --others if not given")
    parser.add_argument("--worlds", choices=list(SEEDS), default="choosing")
    parser.add_argument("--out", type=Path, default=Path("bench/data/nano"))
    parser.add_argument("--base", default="nano-base")
    parser.add_argument("--cft", action="append", default=[], help="NAME=SPEC")
    parser.add_argument("--control", action="append", default=[], help="NAME=SPEC")
    parser.add_argument("--of", action="append", default=[], help="only this world; repeat")
    parser.add_argument("--figure", type=Path, help="SVG: FPR and recall of each fine-tuning")
    given = parser.parse_args()
    cft, control = (
        dict(pair.split("=", 1) for pair in pairs) for pairs in (given.cft, given.control)
    )
    study = Study(given.out / given.worlds, given.base, cft or {"nano-cft": "nano-cft"}, control)
    others = given.n if given.others is None else given.others
    unseen = others if given.unseen is None else given.unseen
    worlds(study.out / "worlds", given.n, unseen, others, SEEDS[given.worlds])
    for split in SPLITS:
        if given.of and f"edited, {split}" not in given.of:
            continue
        print(f"\n### Edits: {split}\n")
        head = ["edit", "model", "FPR", "fall of FPR", "recall", "recall, IoU ≥ .5"]
        print_table(head, edit_rows(study, split))
    for world, metrics in (
        ("clean", ["positive_micro_F1", "IL_FPR", "IL_recall", "cgF1"]),
        ("crowd", ["positive_micro_F1", "recall@0.50", "AFPR"]),
        ("replaced", ["IoU_fact", "dIoU_textual", "dIoU_visual", "CMS_fact", "CMS_counterfact"]),
    ):
        if given.of and world not in given.of:
            continue
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
