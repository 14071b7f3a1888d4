"""`groundfault score cafe` against the published evaluation, at the paper's size and ten times it.

    python bench/cafe.py [--sizes 2146,21460] [--times 3]

The peer is what the paper's repository runs: the SAM 3 evaluator for all pairs and for each of
the three subsets, then the target-aware classification. The evaluator comes from the `sam3`
wheel, of which only eval/cgf1_eval.py is used. Also: what 10,000 resamples add, and `--help`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import zipfile
from pathlib import Path

from measure import Cost, best

HERE = Path(__file__).parent
DATA = HERE / "data"
SIZE_PX = (768, 1024)
SUBSETS = {"SM": "Superficial Mimicry", "CC": "Context Conflict", "OC": "Ontological Conflict"}


def evaluator_file() -> Path:
    """The SAM 3 evaluator, unpacked from its wheel once."""
    target = DATA / "sam3" / "eval" / "cgf1_eval.py"
    if not target.exists():
        DATA.mkdir(exist_ok=True)
        download = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--no-deps",
            "-q",
            "-d",
            str(DATA),
            "sam3",
        ]
        subprocess.run(download, check=True)
        with zipfile.ZipFile(next(DATA.glob("sam3-*.whl"))) as wheel:
            wheel.extract("sam3/eval/cgf1_eval.py", DATA)
    return target


def make_data(n: int) -> Path:
    """Annotations, the three subset files and predictions of n pairs."""
    folder = DATA / f"cafe_{n}"
    if not (folder / "OC.json").exists():
        from groundfault.io.example import write_example

        write_example(folder, n=n, seed=1, size_px=SIZE_PX)
        full = json.loads((folder / "annotations.json").read_text())
        for name, title in SUBSETS.items():
            images = [image for image in full["images"] if image["edit_type"] == title]
            ids = {image["id"] for image in images}
            kept = [a for a in full["annotations"] if a["image_id"] in ids]
            subset = {**full, "images": images, "annotations": kept}
            (folder / f"{name}.json").write_text(json.dumps(subset))
    return folder


def count_records(path: Path) -> int:
    """Without keeping the file in memory."""
    with path.open("rb") as file:
        return sum(block.count(b'"score"') for block in iter(lambda: file.read(1 << 20), b""))


def published(folder: Path, times: int) -> Cost:
    peer, evaluator = str(HERE / "cafe_peer.py"), str(evaluator_file())
    predictions, log = str(folder / "gullible.json"), folder / "peer.log"
    total = Cost(0.0, 0.0, 0.0)
    for name in ("annotations", *SUBSETS):
        command = [
            sys.executable,
            peer,
            "cgf1",
            evaluator,
            str(folder / f"{name}.json"),
            predictions,
        ]
        total += best(command, log=log, times=times)
    command = [
        sys.executable,
        peer,
        "target",
        str(folder / "annotations.json"),
        predictions,
        str(folder / "t.json"),
    ]
    return total + best(command, log=log, times=times)


def ours(folder: Path, times: int, bootstrap: int) -> Cost:
    command = [
        str(Path(sys.executable).parent / "groundfault"), "score", "cafe",
        "--annotations", str(folder / "annotations.json"),
        "--predictions", str(folder / "gullible.json"),
        "--bootstrap", str(bootstrap), "--out", str(folder / "out"),
    ]  # fmt: skip
    return best(command, log=folder / "ours.log", times=times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="2146,21460")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--make", type=int, help="only write the data of this size")
    arguments = parser.parse_args()
    if arguments.make:
        make_data(arguments.make)
        return
    costs_header = f"{'CPU s':>7} {'wall s':>7} {'peak MB':>8} {'CPU ratio':>9}"
    print(f"{'pairs':>7} {'predictions':>11} {'':22} {costs_header}")
    for n in map(int, arguments.sizes.split(",")):
        # in a process of its own: a child's peak memory starts from its parent's
        subprocess.run([sys.executable, __file__, "--make", str(n)], check=True)
        folder = DATA / f"cafe_{n}"
        predictions = count_records(folder / "gullible.json")
        peer = published(folder, arguments.times)
        costs = {
            "published": peer,
            "groundfault": ours(folder, arguments.times, 0),
            "  with 10,000 resamples": ours(folder, arguments.times, 10_000),
        }
        for name, cost in costs.items():
            print(
                f"{n:7d} {predictions:11d} {name:22} {cost.cpu_s:7.2f} {cost.wall_s:7.2f} "
                f"{cost.peak_mb:8.0f} {peer.cpu_s / cost.cpu_s:8.1f}x"
            )
    for command in (["--help"], ["list"]):
        program = str(Path(sys.executable).parent / "groundfault")
        cost = best([program, *command], log=DATA / "start.log", times=arguments.times)
        print(f"groundfault {command[0]}: {cost.cpu_s:.3f} CPU s, {cost.peak_mb:.0f} MB")


if __name__ == "__main__":
    main()
