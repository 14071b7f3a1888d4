"""Does it help to learn more of what failed? The closed loop on nano, with held-out seeds.

    python bench/closed_loop.py [--base-steps N --steps N --scenes N --pairs N --n N]

A small nano-base is trained and asked a world (seed A). Two fine-tunings start from it, as long and
from the same pictures: one draws all kinds of pairs alike, one as often as the kinds failed in the
run (`train nano --from-failures`). Both are asked a third world (seed B) that nobody has seen; the
difference of their failures is paired, case by case, with a 95 % interval from resampled cases. It
says what it found, for or against.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import msgspec
import numpy as np

from groundfault.api.evaluating import evaluate
from groundfault.io.sources import load
from groundfault.runs.recorder import read_predictions
from groundfault.training.failures import is_failed, read_failures
from groundfault.training.nano.recipe import Recipe, Stage, aimed, cook
from groundfault.world.presets import BuildSettings, build

LEARNT, ASKED, HELD_OUT = 501, 601, 701
T = 0.5
RESAMPLES = 4000


def main() -> None:
    """Train, ask, aim, train again, ask again."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in (("base-steps", 400), ("steps", 150), ("scenes", 1500), ("pairs", 700),
                        ("n", 200), ("threads", 1)):  # fmt: skip
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        study(given.folder or Path(name), given)


def study(folder: Path, given: argparse.Namespace) -> None:
    """Print what the loop changes."""
    for name, seed in (("asked", ASKED), ("held-out", HELD_OUT)):
        if not (folder / name).exists():
            build("cafe", given.n, folder / name, BuildSettings(seed=seed, size_px=256), workers=1)
    stages = (
        Stage(name="base", steps=given.base_steps, learning_rate=2e-3, scenes_per_step=16),
        Stage(
            name="tuned",
            start="base",
            steps=given.steps,
            learning_rate=1e-3,
            scenes_per_step=8,
            pairs_per_step=6,
            balanced=True,
        ),
    )
    wanted = Recipe(
        data_seed=LEARNT,
        scenes=given.scenes,
        pairs=given.pairs,
        threads=given.threads,
        stages=stages,
    )
    control, loop = folder / "control", folder / "loop"
    cook(wanted, control, [], told)
    evaluate(load(folder / "asked"), f"nano:{control / 'base'}", folder / "run")
    failures = read_failures(folder / "run")
    closed = aimed(wanted, failures)
    print("shares of kinds:", shares(wanted), "→", shares(closed))
    share_work(control, loop)
    cook(closed, loop, [], told)
    found = {
        name: cases_failed(folder, f"nano:{stem}", name)
        for name, stem in (
            ("base", control / "base"),
            ("control", control / "tuned"),
            ("loop", loop / "tuned"),
        )
    }
    for name, kinds in found.items():
        values = np.concatenate([list(own.values()) for own in kinds.values()])
        print(f"{name:8} fails {values.mean():.3f} of the questions, n {len(values)} cases")
    report(found["loop"], found["control"])


def shares(recipe: Recipe) -> dict[str, float]:
    """How often each kind of pair is drawn."""
    own = recipe.stages[-1].pair_kinds
    return {kind: round(value / sum(own.values()), 2) for kind, value in own.items()}


def share_work(done: Path, to: Path) -> None:
    """The base and the pictures are the same: they are made once."""
    to.mkdir(exist_ok=True)
    for name in ("pictures", "base.safetensors"):
        if not (to / name).exists():
            (to / name).symlink_to(done / name)


def cases_failed(folder: Path, model: str, name: str) -> dict[str, dict[str, float]]:
    """Intervention → case → the share of its questions that failed."""
    benchmark = load(folder / "held-out")
    run = folder / f"run-{name}"
    evaluate(benchmark, model, run)
    answers = {answer.item_id: answer for answer in read_predictions(run)}
    kinds = {case.id: case.intervention for case in benchmark.cases}
    failed: dict[str, list[bool]] = defaultdict(list)
    for item in benchmark.items:
        failed[item.case_id].append(bool(is_failed(item, answers[item.id], T)))
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for case, own in failed.items():
        found[kinds[case]][case] = float(np.mean(own))
    return found


def report(loop: dict[str, dict[str, float]], control: dict[str, dict[str, float]]) -> None:
    """The paired difference, all kinds together and each alone."""
    rng = np.random.default_rng(0)
    pooled = {"all": sorted(loop), **{kind: [kind] for kind in sorted(loop)}}
    for name, kinds in pooled.items():
        change = np.array(
            [loop[kind][case] - control[kind][case] for kind in kinds for case in loop[kind]]
        )
        drawn = rng.choice(change, (RESAMPLES, len(change))).mean(axis=1)
        low, high = np.quantile(drawn, [0.025, 0.975])
        print(
            f"loop − control, {name}: {change.mean():+.3f} [{low:+.3f}, {high:+.3f}] of the "
            f"questions fail, n {len(change)} cases"
        )


def told(what: str, done: int, total: int, losses: dict[str, float]) -> None:
    """Now and then a line."""
    if losses and done % 50 == 0:
        words = msgspec.json.encode(losses).decode()
        print(f"{what}: {done} of {total} {words}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
