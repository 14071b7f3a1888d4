"""How fast is a training step, and does the whole design learn? With tiny random weights, on a CPU.

    python bench/segvlm.py                 steps per CPU second and peak memory, beside a plain loop
    python bench/segvlm.py --memorise      32 rendered quads, with λ_neg = 1 and 0; ten minutes

The plain loop is how such trainings are usually written: the same model and the same questions, one
at a time, each picture decoded and encoded whenever it is asked about. Both take the same steps and
end with the same losses. Exit code 1 if ours is not 1.5 times as fast.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

QUADS, DRAWS, STEPS, WARM = 16, 8, 12, 3
LEAST = 1.5
TIMES = 3


def main() -> None:
    """Measure both ways in processes of their own, in turn; the fastest of each counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--way", choices=("ours", "plain"))
    parser.add_argument("--memorise", action="store_true")
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    if given.way:
        print(json.dumps(measured(given.way, given.folder)))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = given.folder or Path(name)
        os.environ.setdefault("GROUNDFAULT_CACHE", str(folder / "cache"))
        prepare(folder)
        if given.memorise:
            memorise(folder)
        else:
            compare(folder)


def compare(folder: Path) -> None:
    """Print both ways side by side."""
    best: dict[str, dict[str, Any]] = {}
    for way in ("ours", "plain") * TIMES:
        command = [sys.executable, __file__, "--way", way, "--folder", str(folder)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        found = json.loads(done.stdout.splitlines()[-1])
        if way not in best or found["steps_per_s"] > best[way]["steps_per_s"]:
            best[way] = found
    for way, found in best.items():
        print(
            f"{way:6} {found['steps_per_s']:.2f} steps per CPU second, peak "
            f"{found['peak_mb']:.0f} MB, last loss {found['loss']:.4f}"
        )
    ratio = best["ours"]["steps_per_s"] / best["plain"]["steps_per_s"]
    print(f"ratio  {ratio:.2f} ({DRAWS} quads a step, fastest of {TIMES})")
    if ratio < LEAST or abs(best["ours"]["loss"] - best["plain"]["loss"]) > 1e-3:
        sys.exit(1)


def prepare(folder: Path) -> None:
    """Tiny checkpoints and rendered quads."""
    importable()
    from tests.segvlm import tiny

    from groundfault.world.presets import BuildSettings, build

    tiny.saved(folder / "vlm", tiny.vlm("qwen3_vl"))
    tiny.saved(folder / "sam2", tiny.DECODERS["sam2"]())
    for name, n, seed in (("quads", 32, 0), ("held-out", 32, 1)):
        build("halluseg", n, folder / name, BuildSettings(seed=seed, size_px=128), workers=1)


def importable() -> None:
    """The libraries, also where torchvision was built for another torch."""
    import torch
    from tests.models.tiny.torchvision_cpu import make_importable

    torch.set_num_threads(1)
    make_importable()


def recipe(folder: Path, **more: Any) -> Any:
    """The smallest training of everything."""
    import msgspec

    from groundfault.models.segvlm.network import Lora
    from groundfault.training.segvlm.recipe import DataSet, Model, Optimiser, Recipe

    layers = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
    found = Recipe(
        steps=STEPS + WARM,
        wordings=1,
        asked_as="trained",
        model=Model(vlm=str(folder / "vlm"), decoder=str(folder / "sam2"), max_tokens=128),
        lora=Lora(r=32, alpha=32, dropout=0.0, rows="all", targets=layers),
        optimiser=Optimiser(
            learning_rate=3e-3,
            batch=DRAWS,
            micro_batch=64,
            warm_up=20,
            checkpointing=False,
            threads=1,
        ),
        sources=(DataSet(name="quads", inputs={"folder": str(folder / "quads")}, limit=QUADS),),
        save_every=10_000,
    )
    return msgspec.structs.replace(found, **more)


def measured(way: str, folder: Path) -> dict[str, float]:
    """Steps per CPU second after a few to warm up."""
    importable()
    from groundfault.training.segvlm.cluster import Cluster
    from groundfault.training.segvlm.fitting import Fitting
    from groundfault.training.segvlm.training import make_pupil, read_data

    wanted = recipe(folder, features_gb=1.0)
    cluster = Cluster()
    fitting = Fitting(
        make_pupil(wanted, cluster),
        read_data(wanted).mixture,
        wanted.losses,
        wanted.optimiser,
        steps=wanted.steps,
        cluster=cluster,
        wordings=1,
    )
    fitting.pupil.network.train()
    take = fitting.take_step if way == "ours" else lambda: plain_step(fitting)
    loss, start = 0.0, 0.0
    for number in range(STEPS + WARM):
        if number == WARM:
            start = time.process_time()
        loss = take().loss
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"steps_per_s": STEPS / seconds, "peak_mb": peak, "loss": loss}


def plain_step(fitting: Any) -> Any:
    """One question at a time; nothing is kept from one to the next."""
    fitting.micro_batch = 1
    losses = fitting.pupil.losses

    def forgetting(asked: Any) -> Any:
        fitting.pupil.pictures._seen.clear()
        fitting.pupil.features._near.clear()
        fitting.pupil.features.folder = None
        return losses(asked)

    fitting.pupil.losses = forgetting
    try:
        return fitting.take_step()
    finally:
        fitting.pupil.losses = losses


def memorise(folder: Path) -> None:
    """Corners answered right after 1,000 steps on 32 quads, and without λ_neg: through the commands
    that a user has."""
    from tests.segvlm.test_command import corners_right, write_recipe

    from groundfault.io.sources import load

    checkpoints = {"qwen3_vl": str(folder / "vlm"), "sam2": str(folder / "sam2")}
    for weight in (1.0, 0.0):
        own = write_recipe(
            folder / f"lambda-{weight:g}.toml", checkpoints.__getitem__, folder / "quads",
            steps=1000, batch=DRAWS, lambda_neg=weight, max_tokens=128,
        )  # fmt: skip
        start = time.process_time()
        out = folder / f"lambda-{weight:g}"
        command("train", "segvlm", own, "--out", out)
        for name in ("quads", "held-out"):
            run = folder / f"run-{weight:g}-{name}"
            command("eval", folder / name, "--model", f"segvlm:{out}", "--out", run)
            (written,) = (path.parent for path in run.rglob("run.json"))
            right, denied = corners_right(load(folder / name), written)
            print(
                f"λ_neg {weight:g}, {name}: {right} of 128 corners right, {denied} of 64 absent "
                f"things denied ({time.process_time() - start:.0f} CPU s)",
                flush=True,
            )


def command(*words: object) -> None:
    """`groundfault …`, in this process: the tiny networks need its torchvision."""
    from groundfault import cli

    if code := cli.run([str(word) for word in words]):
        sys.exit(code)


if __name__ == "__main__":
    main()
