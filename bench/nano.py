"""Does counterfactual fine-tuning cure the nano model? The study behind docs/nano.md.

    python bench/nano.py                                   the shipped models
    python bench/nano.py --cft seed1=nano:FOLDER/NAME …    other fine-tunings as well

Builds held-out worlds (seeds that no training uses), asks every model, and prints false positive
rates beside recall, for edits that fine-tuning has seen and for those it has not, with 95 %
intervals from resampled cases; the fall of the rate is paired, case by case. Ends with exit code 1
if a promise of the model card is not kept.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from groundfault import cli
from groundfault.benchmarks import folder
from groundfault.world.presets import BuildSettings, build

SEED = 70_001
KINDS = ("SM", "CC", "OC")
SPLITS = ("seen", "unseen-pair", "unseen-part")
RESAMPLES = 4000
FALL = {("SM", "seen"): 0.50, ("CC", "seen"): 0.80, ("OC", "seen"): 0.60}
FALL_UNSEEN = {"unseen-pair": 0.40, "unseen-part": 0.30}


@dataclass(frozen=True)
class Rate:
    """Per case: how often it happened, out of how many."""

    hits: np.ndarray
    out_of: np.ndarray

    @property
    def value(self) -> float:
        return float(self.hits.sum() / self.out_of.sum())


def worlds(out: Path, n: int) -> None:
    """Whatever is not there yet."""
    wanted: dict[str, tuple[str, int, BuildSettings]] = {
        f"cafe-{split}": (
            "cafe",
            3 * n,
            BuildSettings(seed=SEED, controls=True, split=split.replace("-", " ")),
        )
        for split in SPLITS
    }
    wanted["halluseg"] = ("halluseg", n, BuildSettings(seed=SEED + 1))
    wanted["clean"] = ("clean", n, BuildSettings(seed=SEED + 2))
    wanted["crowd"] = ("cafe", 3 * (n // 3), BuildSettings(seed=SEED + 3, crowd=3))
    for name, (preset, count, settings) in wanted.items():
        if not (out / name).exists():
            print(f"rendering {name}", file=sys.stderr)
            build(preset, count, out / name, settings)


def ask(spec: str, world: Path, runs: Path) -> Path:
    """The folder of a finished run."""
    before = set(runs.glob("*/summary.json"))
    marker = runs / f"{spec.replace('/', '_')}.json"
    if not marker.exists():
        arguments = ["eval", world, "--model", spec, "--out", runs, "--bootstrap", "1000", "--json"]
        with open("/dev/null", "w") as nowhere:
            shown, sys.stdout = sys.stdout, nowhere
            try:
                code = cli.run([str(argument) for argument in arguments])
            finally:
                sys.stdout = shown
        if code:
            sys.exit(f"{spec} on {world}: exit code {code}")
        (made,) = set(runs.glob("*/summary.json")) - before
        marker.write_text(json.dumps(str(made.parent)))
    return Path(json.loads(marker.read_text()))


def rates(run: Path, keep: Callable[[dict[str, str]], bool]) -> tuple[Rate, Rate, Rate]:
    """False positives, image-level recall, recall with an overlap of half, by case."""
    names = ("fp", "tn", "tp", "fn")
    columns = [f"pcs.il_{name}" for name in names]
    table = pq.read_table(run / "cases.parquet")
    chosen = np.array([keep(row) for row in table.select(["kind", "intervention"]).to_pylist()])
    fp, tn, tp, fn = (table[column].to_numpy()[chosen] for column in columns)
    found = table["pcs.tp@0.50"].to_numpy()[chosen]
    objects = table["pcs.objects"].to_numpy()[chosen]
    return Rate(fp, fp + tn), Rate(tp, tp + fn), Rate(found, objects)


def interval(statistic: Callable[[np.ndarray], float], n: int) -> tuple[float, float]:
    """95 %, from resampled cases."""
    rng = np.random.default_rng(0)
    samples = [statistic(rng.integers(n, size=n)) for _ in range(RESAMPLES)]
    low, high = np.nanpercentile(samples, [2.5, 97.5])
    return float(low), float(high)


def fall(before: Rate, after: Rate) -> tuple[float, float, float]:
    """How far a rate fell, as a share of what it was, with its interval."""

    def share(at: np.ndarray) -> float:
        base = before.hits[at].sum()
        return float(1 - after.hits[at].sum() / base) if base else float("nan")

    low, high = interval(share, len(before.hits))
    return share(np.arange(len(before.hits))), low, high


def percent(rate: Rate) -> str:
    low, high = interval(
        lambda at: float(rate.hits[at].sum() / rate.out_of[at].sum()), len(rate.hits)
    )
    return f"{100 * rate.value:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=500, help="cases per intervention and split")
    parser.add_argument("--out", type=Path, default=Path("bench/data/nano"))
    parser.add_argument("--base", default="nano-base")
    parser.add_argument("--cft", action="append", default=None, help="NAME=SPEC")
    parser.add_argument("--control", action="append", default=[], help="NAME=SPEC")
    arguments = parser.parse_args()
    worlds(arguments.out / "worlds", arguments.n)
    cft = dict(pair.split("=", 1) for pair in arguments.cft or ["nano-cft=nano-cft"])
    control = dict(pair.split("=", 1) for pair in arguments.control)
    kept = report(arguments.out, arguments.base, cft, control)
    sys.exit(0 if kept else 1)


def report(out: Path, base: str, cft: dict[str, str], control: dict[str, str]) -> bool:
    def run(world: str, spec: str) -> Path:
        return ask(spec, out / "worlds" / world, out / "runs" / world)

    promises: list[tuple[str, bool]] = []
    after = cft | {f"{name} (control)": spec for name, spec in control.items()}
    for split in SPLITS:
        print(f"\n### {split.replace('-', ' ')} edits\n")
        print("| edit | model | FPR | fall of FPR | recall | recall, IoU ≥ .5 |")
        print("|---|---|---|---|---|---|")
        for kind in (*KINDS, "all", "unedited"):

            def keep(row: dict[str, str], kind: str = kind) -> bool:
                if kind == "unedited":
                    return row["intervention"] == "control"
                return row["intervention"] != "control" and kind in (row["kind"], "all")

            first = rates(run(f"cafe-{split}", base), keep)
            print(
                f"| {kind} | {base} | {' | '.join((percent(first[0]), '', percent(first[1]), percent(first[2])))} |"
            )
            for name, spec in after.items():
                found = rates(run(f"cafe-{split}", spec), keep)
                fell, low, high = fall(first[0], found[0])
                told = f"{100 * fell:.0f} % [{100 * low:.0f}, {100 * high:.0f}]"
                print(
                    f"| | {name} | {' | '.join((percent(found[0]), told, percent(found[1]), percent(found[2])))} |"
                )
                if name not in cft:
                    continue
                if kind == "unedited":
                    more = found[0].value - first[0].value
                    promises.append(
                        (
                            f"{name}, {split}: false alarms on unedited scenes +{100 * more:.1f} ≤ 3 points",
                            more <= 0.03,
                        )
                    )
                    continue
                wanted = FALL.get((kind, split)) or (
                    FALL_UNSEEN.get(split) if kind == "all" else None
                )
                if wanted is not None:
                    promises.append(
                        (
                            f"{name}, {kind} {split}: FPR falls by {100 * fell:.0f} ≥ {100 * wanted:.0f} %",
                            fell >= wanted,
                        )
                    )
                promises.append(
                    (
                        f"{name}, {kind} {split}: recall {100 * found[2].value:.1f} ≥ {100 * first[2].value:.1f}",
                        found[2].value >= first[2].value,
                    )
                )
    for world, metrics in (
        ("clean", ("positive_micro_F1", "IL_FPR", "IL_recall", "cgF1")),
        ("crowd", ("positive_micro_F1", "IL_FPR", "recall@0.50", "AFPR")),
        ("halluseg", ("ΔIoU_textual", "ΔIoU_visual", "CMS_factual", "CMS_counterfactual", "CCMS")),
    ):
        rows = {
            name: json.loads((run(world, spec) / "summary.json").read_text())["rows"]["Overall"][
                "metrics"
            ]
            for name, spec in {base: base, **after}.items()
        }
        shown = [m for m in metrics if m in rows[base]] or list(rows[base])
        print(f"\n### {world}\n\n| model | {' | '.join(shown)} |\n|---{'|---' * len(shown)}|")
        for name, row in rows.items():
            cells = []
            for m in shown:
                e = row[m]
                cells.append(
                    "—"
                    if e["value"] is None
                    else f"{e['value']:.3f} [{e['low']:.3f}, {e['high']:.3f}]"
                    if e["low"] is not None
                    else f"{e['value']:.3f}"
                )
            print(f"| {name} | {' | '.join(cells)} |")
        if world == "clean":
            score = {name: row["positive_micro_F1"]["value"] for name, row in rows.items()}
            promises.append(
                (f"{base}: clean pmF1 {100 * score[base]:.1f} ≥ 70", score[base] >= 0.70)
            )
            for name in cft:
                promises.append(
                    (
                        f"{name}: clean pmF1 {100 * score[name]:.1f} ≥ {100 * score[base] - 2:.1f}",
                        score[name] >= score[base] - 0.02,
                    )
                )
    print("\n### What was promised\n")
    for promise, kept in promises:
        print(f"- {'kept' if kept else '**broken**'}: {promise}")
    return all(kept for _, kept in promises)


if __name__ == "__main__":
    main()
