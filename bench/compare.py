"""`groundfault compare` and `report` of many runs at the paper's size, beside scoring one of them.

    python bench/compare.py [--runs 18] [--pairs 2146] [--times 3]

The runs are the two imagined models of the example at different thresholds. The ratio says how
many times what `score` with intervals takes all runs cost; a fifth of them shows how that grows.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from cafe import DATA, HERE, ours
from measure import best

PROGRAM = str(Path(sys.executable).parent / "groundfault")


def make_runs(folder: Path, n: int) -> list[str]:
    """Score folders of the two models at evenly spread thresholds."""
    runs = []
    for k in range(n):
        model, t = ("gullible", "careful")[k % 2], round((k // 2 + 1) / (n // 2 + 2), 3)
        out = folder / "runs" / f"{model}-{t}"
        if not (out / "summary.json").exists():
            command = [
                PROGRAM, "score", "cafe", "--annotations", str(folder / "annotations.json"),
                "--predictions", str(folder / f"{model}.json"), "--t", str(t), "--out", str(out),
            ]  # fmt: skip
            subprocess.run(command, check=True, capture_output=True)
        runs.append(str(out))
    return runs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=18)
    parser.add_argument("--pairs", type=int, default=2146)
    parser.add_argument("--times", type=int, default=3)
    arguments = parser.parse_args()
    n = arguments.pairs
    # in a process of its own: a child's peak memory starts from its parent's
    subprocess.run([sys.executable, str(HERE / "cafe.py"), "--make", str(n)], check=True)
    folder = DATA / f"cafe_{n}"
    runs = make_runs(folder, arguments.runs)
    one = ours(folder, arguments.times, 10_000)
    all_rows = [word for row in ("Overall", "SM", "CC", "OC") for word in ("--row", row)]
    print(f"{'':32} {'CPU s':>7} {'wall s':>7} {'peak MB':>8} {'score':>7}")
    page = ["--out", str(folder / "report.html")]
    some = runs[: max(2, len(runs) // 5)]
    for name, command in (
        (f"compare {len(some)} runs, Overall", [PROGRAM, "compare", *some]),
        (f"compare {len(runs)} runs, Overall", [PROGRAM, "compare", *runs]),
        (f"compare {len(runs)} runs, four rows", [PROGRAM, "compare", *runs, *all_rows]),
        (f"report {len(some)} runs", [PROGRAM, "report", *some, *page]),
        (f"report {len(runs)} runs", [PROGRAM, "report", *runs, *page]),
    ):
        cost = best(command, log=folder / "compare.log", times=arguments.times)
        print(
            f"{name:32} {cost.cpu_s:7.2f} {cost.wall_s:7.2f} {cost.peak_mb:8.0f} "
            f"{cost.cpu_s / one.cpu_s:6.1f}x"
        )


if __name__ == "__main__":
    main()
