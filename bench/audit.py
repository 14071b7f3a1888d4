"""What an audit costs beside the model: photographs × phrases, against a plain loop.

    python bench/audit.py                      1,000 photographs × 20 phrases, nano-base
    python bench/audit.py --n 200 --phrases 8

The loop opens each picture once, asks the same model all phrases at once and keeps the masks in
memory: the least that anybody does. The audit besides stores every answer so that a crash loses
none, compares all related phrases, scores them at 19 thresholds with intervals, and writes its
page. Both run in processes of their own; pictures are rendered first, and not counted.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from measure import Cost, run

LOOP = """
import sys
from pathlib import Path
import numpy as np
from PIL import Image
from groundfault import registry
from groundfault.interfaces import ModelOptions
from groundfault.io.phrases import read_phrases

images, phrases, model, encodings = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4]
asked = list(read_phrases(phrases).asked())
segmenter = registry.load_model(model, ModelOptions())
kept = {}
for path in sorted(Path(images).iterdir()):
    pixels = np.asarray(Image.open(path).convert("RGB"))
    questions = [asked] if encodings == "one" else [[phrase] for phrase in asked]
    kept[path.name] = [segmenter.segment(pixels, each) for each in questions]
print(len(kept))
"""
THINGS = (
    "dog", "cat", "horse", "zebra", "cow", "giraffe", "car", "bus", "truck", "bicycle",
    "apple", "orange", "chair", "couch", "cup", "vase", "duck", "penguin", "boat", "umbrella",
)  # fmt: skip


def write_phrases(path: Path, n: int) -> None:
    """n phrases, each exclusive to the next one, two of them said to be absent."""
    named = [*THINGS[:n], *(f"thing {k}" for k in range(n - len(THINGS)))]
    pairs = ", ".join(f'["{a}", "{b}"]' for a, b in zip(named[::2], named[1::2], strict=False))
    absent = ", ".join(f'"{name}"' for name in named[-2:])
    path.write_text(f"exclusive = [{pairs}]\nabsent = [{absent}]\n")


def render(folder: Path, n: int, side_px: int, log: Path) -> Path:
    """World pictures to ask about, in a process of its own: a child's peak memory starts from its
    parent's."""
    words = ["world", "build", "--preset", "cafe", "--n", str(n), "--size", str(side_px)]
    command = [sys.executable, "-m", "groundfault.cli", *words, "--out", str(folder)]
    run(command, log=log)
    return folder / "images"


def told(name: str, cost: Cost, loop: Cost) -> str:
    ratio = cost.cpu_s / loop.cpu_s
    return f"{name:34} {cost.cpu_s:8.1f} {cost.wall_s:8.1f} {cost.peak_mb:8.0f} {ratio:8.2f}x"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=1000, help="photographs")
    parser.add_argument("--phrases", type=int, default=20)
    parser.add_argument("--side", type=int, default=256, help="pixels of a side")
    parser.add_argument("--model", default="nano-base")
    parser.add_argument("--separately", action="store_true", help="also a phrase at a time")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="groundfault-bench-") as place:
        folder = Path(place)
        log = folder / "log.txt"
        images = render(folder / "world", given.n, given.side, log)
        phrases = folder / "phrases.toml"
        write_phrases(phrases, given.phrases)
        python = [sys.executable]
        loop = [*python, "-c", LOOP, str(images), str(phrases), given.model]
        command = [
            *python, "-m", "groundfault.cli", "audit", "--images", str(images),
            "--phrases", str(phrases), "--model", given.model, "--out", str(folder / "out"),
            "--stability", "0", "--counterfactuals", "0",
        ]  # fmt: skip
        print(
            f"{given.n:,} photographs of {given.side} px × {given.phrases} phrases, {given.model}"
        )
        print(f"{'':34} {'CPU s':>8} {'wall s':>8} {'peak MB':>8} {'CPU':>9}")
        plain = run([*loop, "one"], log=log)
        print(told("plain loop", plain, plain))
        print(told("groundfault audit", run(command, log=log), plain))
        print(told("the same again: nothing is asked", run(command, log=log), plain))
        if given.separately:
            print(told("loop, a phrase at a time", run([*loop, "each"], log=log), plain))


if __name__ == "__main__":
    main()
