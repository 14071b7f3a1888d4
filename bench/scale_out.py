"""From one GPU to hundreds: the figures behind docs/scale.md.

    python bench/scale_out.py

Measured here: what the driver spends to dispatch and keep an answer, and how large answers are on
the wire and on disk. Simulated from that: throughput against the number of workers, with the
schedule of the engine (two batches per worker in flight, one driver that takes reports in turn).
The time that a model takes per image is not measured but given: this machine has no GPU.
"""

from __future__ import annotations

import heapq
import importlib.util
import json
import shutil
import tempfile
import time
from pathlib import Path

import msgspec
import numpy as np

from engine import engine_s, make
from engine_models import Costly
from groundfault.io.example import write_example
from groundfault.records import Item, Outcome, Prediction, Rle, Role
from groundfault.runner.pool import Report
from groundfault.runner.session import Progress
from groundfault.runner.work import Plan, Task
from groundfault.runs.recorder import SHARD_ITEMS, Recorder

DATA = Path(__file__).parent / "data"
PHRASES = 2
MASKS = 1
"""Per phrase."""
SETS = {"CAFE": 2_146, "LVIS val": 19_809, "LVIS train": 100_170, "10 million": 10_000_000}
MODEL_S = (0.05, 0.25, 1.0)
WORKERS = (1, 8, 64, 256, 1024)
IN_FLIGHT = 2


def mask_pool() -> list[Rle]:
    """Masks of 768x1024 pictures, from the package's example: more than a shard holds, so that
    compression finds no mask twice."""
    folder = DATA / "scale_out_pool"
    written = write_example(folder, n=SHARD_ITEMS, seed=2, size_px=(768, 1024))
    records = json.loads(written["gullible"].read_text())
    assert len(records) >= SHARD_ITEMS
    return [
        Rle(size=tuple(r["segmentation"]["size"]), counts=r["segmentation"]["counts"])
        for r in records
    ]


def predictions(pool: list[Rle], k: int) -> list[Prediction]:
    """The predictions of one image."""
    return [
        Prediction(
            item_id=f"{k}{n}",
            outcome=Outcome.OK,
            masks=tuple(pool[(k * PHRASES + n + m) % len(pool)] for m in range(MASKS)),
            scores=(0.5 + k % 97 / 200,) * MASKS,
            seconds=0.1,
        )
        for n in range(PHRASES)
    ]


def order(k: int) -> bytes:
    """One image as the driver sends it."""
    items = tuple(
        Item(
            id=f"{k}{n}",
            case_id=str(k),
            role=Role.POSITIVE,
            images=(f"{k:012d}.jpg",),
            height_px=768,
            width_px=1024,
            query="a small dog",
        )
        for n in range(PHRASES)
    )
    return msgspec.msgpack.encode((k, (Task(f"{k:012d}.jpg", items),)))


def measure_driver(n_images: int = 10_000) -> tuple[float, float]:
    """CPU seconds of the driver and bytes on disk, per image: encode the order, decode the report,
    journal, shard. Ray's or the pipe's own time comes on top."""
    pool, folder = mask_pool(), Path(tempfile.mkdtemp(dir=DATA))
    reports = [
        msgspec.msgpack.encode(Report(k, predictions=predictions(pool, k))) for k in range(n_images)
    ]
    recorder = Recorder(folder)
    started = time.process_time()
    for k, report in enumerate(reports):
        order(k)
        recorder.add(msgspec.msgpack.decode(report, type=Report).predictions)
    recorder.finish()
    cpu_s = (time.process_time() - started) / n_images
    size = sum(path.stat().st_size for path in folder.iterdir()) / n_images
    shutil.rmtree(folder)
    wire = np.mean([len(report) for report in reports])
    print(
        f"driver: {1e6 * cpu_s:.0f} µs of CPU per image with {PHRASES} masks; order "
        f"{len(order(1))} bytes, report {wire:.0f} bytes, on disk {size:.0f} bytes"
    )
    return cpu_s, size


def measure_ray() -> float | None:
    """CPU seconds of the driver per image with Ray, recording included; None without Ray."""
    if importlib.util.find_spec("ray") is None:
        print("driver with Ray: not measured, Ray is not installed")
        return None
    clock: list[tuple[int, float]] = []

    def note(now: Progress) -> None:
        clock.append((now.done, time.process_time()))

    plan = Plan(engine="ray", workers=1)
    engine_s(make(1000, (32, 48)), Costly, plan=plan, progress=note)
    (first, began), (last, ended) = clock[0], clock[-1]
    cpu_s = (ended - began) / ((last - first) / PHRASES)
    print(f"driver with Ray: {1e6 * cpu_s:.0f} µs of CPU per image")
    return cpu_s


def images_per_s(workers: int, model_s: float, driver_s: float, images: int = 20_000) -> float:
    """Throughput by simulation: model times vary by a third; the driver serves one at a time."""
    rng = np.random.default_rng(0)
    times = rng.gamma(9.0, model_s / 9.0, images)
    sent = min(images, workers * IN_FLIGHT)
    free_at = [0.0] * workers
    reports: list[tuple[float, int]] = []
    for k in range(sent):
        worker = k % workers
        free_at[worker] += times[k]
        heapq.heappush(reports, (free_at[worker], worker))
    driver_at = 0.0
    while reports:
        ready, worker = heapq.heappop(reports)
        driver_at = max(driver_at, ready) + driver_s
        if sent < images:
            free_at[worker] = max(free_at[worker], driver_at) + times[sent]
            heapq.heappush(reports, (free_at[worker], worker))
            sent += 1
    return images / driver_at


def duration(seconds: float) -> str:
    """
    >>> duration(90)
    '1.5 min'
    """
    for unit, size in (("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


def main() -> None:
    DATA.mkdir(exist_ok=True)
    ours_s, size = measure_driver()
    for name, n in SETS.items():
        print(f"storage: {name}, {n:,} images: {n * size / 1e9:.2f} GB of predictions")
    for transport, driver_s in (("pipes", ours_s), ("Ray", measure_ray())):
        if driver_s is None:
            continue
        print(f"driver with {transport}: at most {1 / driver_s:.0f} images/s")
        for model_s in MODEL_S:
            rates = {w: images_per_s(w, model_s, driver_s) for w in WORKERS}
            for workers, rate in rates.items():
                share = rate * model_s / workers
                times = ", ".join(f"{name} {duration(n / rate)}" for name, n in SETS.items())
                print(
                    f"  {model_s:g} s/image, {workers:4d} workers: {rate:7.1f} images/s "
                    f"({100 * share:3.0f} % of ideal): {times}"
                )


if __name__ == "__main__":
    main()
