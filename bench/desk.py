"""How fast the review desk takes decisions, and how long a key takes to the next picture.

    python bench/desk.py [--reviewers 20] [--items 400] [--no-browser]

Twenty people on connections of their own decide over HTTP as fast as they can, with three opinions
per item: the server is `groundfault review` in its own process, every decision is on the disk
before it is acknowledged, and every answer brings the next items. First with SQLite, then with a
PostgreSQL that is started for it (Debian's). The sketch that this desk was planned with took 356
decisions/s at p99 74 ms with SQLite on two cores, without the next items. On a busy machine rates
and latencies say little: the server's CPU time per decision says how many one core could take.

Then Chromium goes through 60 items of 1024 × 1024 by real key events (needs Selenium and
chromedriver): the time from the key to the painted next picture is the browser's own (event
timing, in steps of 8 ms), and that to the end of drawing is ours. Goal: 50 ms in the median.
Last, a stroke of 60 points with the brush on a mask of 2048 × 2048.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.desk.postgres import BINARIES, postgres_server

from groundfault.building.review import ReviewItem, read_decisions, write_items
from groundfault.io.masks import encode

OBSERVE = """
window.keys = [];
new PerformanceObserver(list => {
  for (const e of list.getEntries()) if (e.name === "keydown") window.keys.push(e.duration);
}).observe({ type: "event", durationThreshold: 16, buffered: false });
"""
MEASURED = "return performance.getEntriesByName('next picture').map(m => m.duration)"
STROKE = """
const done = arguments[arguments.length - 1];
import("/static/review/touchup.js").then(async ({ Touchup }) => {
  const side = 2048, touchup = new Touchup(new Uint8Array(side * side), side, side), times = [];
  const shown = document.createElement("canvas"), pen = shown.getContext("2d");
  shown.width = shown.height = 900;
  touchup.begin(300, 300);
  for (let k = 1; k <= 60; k++) {
    const start = performance.now();
    touchup.extend(300 + 20 * k, 300 + 200 * Math.sin(k / 5));
    pen.drawImage(touchup.canvas, 0, 0, 900, 900);
    pen.getImageData(0, 0, 1, 1);
    times.push(performance.now() - start);
  }
  const start = performance.now();
  touchup.rle();
  done([times, performance.now() - start]);
});
"""


def make(folder: Path, n: int, side_px: int) -> None:
    """Items whose pictures are as hard to decode as photographs."""
    rng = np.random.default_rng(0)
    (folder / "pictures").mkdir(parents=True)
    drawn = Image.new("1", (side_px, side_px))
    box = (side_px // 4, side_px // 4, side_px // 2, side_px // 2)
    ImageDraw.Draw(drawn).ellipse(box, fill=1)
    mask, items = encode(np.array(drawn)), []
    for k in range(n):
        names = [f"pictures/{k}.{side}.jpg" for side in ("before", "after")]
        for name in names:
            noise = rng.integers(0, 255, (side_px // 8, side_px // 8, 3), np.uint8)
            picture = Image.fromarray(noise).resize((side_px, side_px))
            picture.filter(ImageFilter.SHARPEN).save(folder / name, quality=90)
        items.append(
            ReviewItem(
                id=f"{k}", protocol="halluseg", kind="replacement", before=names[0],
                after=names[1], mask=mask, mask_after=mask,
                texts={"positive": "cat", "negative": "dog"},
            )
        )  # fmt: skip
    write_items(folder, items)


class Server:
    """`groundfault review` in a process of its own."""

    def __init__(self, folder: Path, *options: object) -> None:
        words = [sys.executable, "-m", "groundfault.cli", "review", folder, "--no-browser"]
        self.process = subprocess.Popen(
            [str(word) for word in (*words, *options)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stdout is not None and self.process.stderr is not None
        self.url = self.process.stdout.readline().strip()
        self.base = self.url.partition("/join#")[0]
        if not self.url:
            sys.exit(self.process.stderr.read())

    def group_token(self) -> str:
        assert self.process.stderr is not None
        return self.process.stderr.readline().strip().rpartition("#")[2]

    def stop(self) -> float:
        """The CPU seconds that it took."""
        self.process.terminate()
        _, self.process.returncode, usage = os.wait4(self.process.pid, 0)
        return usage.ru_utime + usage.ru_stime


def review(base: str, token: str, name: str, times: list[float]) -> None:
    """Decide until nothing is left."""
    connection = http.client.HTTPConnection(base.removeprefix("http://"))
    headers = {"x-groundfault": "1", "origin": base, "content-type": "application/json"}

    def post(path: str, value: Any) -> Any:
        connection.request("POST", path, json.dumps(value), headers)
        response = connection.getresponse()
        if "cookie" not in headers:
            headers["cookie"] = (response.getheader("set-cookie") or "").partition(";")[0]
        return json.loads(response.read())

    post("/join", {"token": token, "name": name})
    answer = post("/api/work", {"work": []})
    while answer["items"]:
        shown = answer["items"][0]
        have = [(entry["item"]["id"], entry["stage"]) for entry in answer["items"]]
        work = {"op": "decide", "key": uuid.uuid4().hex, "item_id": shown["item"]["id"],
                "stage": shown["stage"], "verdict": "accept", "seconds": 1.0}  # fmt: skip
        started = time.perf_counter()
        answer = post("/api/work", {"work": [work], "have": have})
        times.append(time.perf_counter() - started)
    connection.close()


def measure_server(folder: Path, url: str, options: argparse.Namespace) -> None:
    make(folder, options.items, 64)
    database = ("--database", url)
    server = Server(folder, "--overlap", 3, "--reviewers", options.reviewers, *database)
    times: list[float] = []
    try:
        token = server.group_token()
        people = [
            threading.Thread(target=review, args=(server.base, token, f"person {k}", times))
            for k in range(options.reviewers)
        ]
        started = time.perf_counter()
        for person in people:
            person.start()
        for person in people:
            person.join()
        wall_s = time.perf_counter() - started
    finally:
        cpu_s = server.stop()
    out = folder / "decisions.jsonl"
    words = [sys.executable, "-m", "groundfault.cli", "review", folder, "--export", out, *database]
    subprocess.run([str(word) for word in words], check=True, stderr=subprocess.DEVNULL)
    opinions = Counter(d.item_id for d in read_decisions(out))
    ms = sorted(1000 * t for t in times)
    print(
        f"{url.partition(':')[0]:10} {len(ms)} decisions of {options.reviewers} reviewers: "
        f"{len(ms) / wall_s:.0f}/s, median {statistics.median(ms):.1f} ms, "
        f"p99 {ms[int(0.99 * len(ms))]:.1f} ms, {1000 * cpu_s / len(ms):.2f} ms of the desk's CPU "
        f"each (its start included); opinions per item: {sorted(set(opinions.values()))} "
        f"({len(opinions)} items)",
        flush=True,
    )


def measure_browser(folder: Path) -> None:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    make(folder, 62, 1024)
    server = Server(folder)
    chrome = Options()
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1400,900"):
        chrome.add_argument(word)
    chrome.binary_location = shutil.which("chromium") or ""
    driver = webdriver.Chrome(options=chrome, service=Service(shutil.which("chromedriver")))
    try:
        driver.get(server.url)
        seen = ""
        driver.execute_script("window.keys = []")
        for k in range(61):
            while (now := driver.execute_script("return document.body.dataset.item")) in (
                seen,
                None,
            ):
                time.sleep(0.001)
            seen = now
            if k == 0:
                driver.execute_script(OBSERVE)
                started = time.perf_counter()
            if k < 60:
                driver.switch_to.active_element.send_keys("a")
        wall_s = time.perf_counter() - started
        painted, drawn = (
            driver.execute_script("return window.keys"),
            driver.execute_script(MEASURED),
        )
        strokes, coded_ms = driver.execute_async_script(STROKE)
    finally:
        driver.quit()
        server.stop()
    print(
        f"60 decisions by keys at 1024 px: {wall_s:.1f} s; key to drawn: median "
        f"{statistics.median(drawn):.1f} ms, max {max(drawn):.1f}; key to painted: median "
        f"{statistics.median([*painted, *[8.0] * (60 - len(painted))]):.0f} ms, max "
        f"{max(painted, default=8):.0f} ({60 - len(painted)} of 60 below 16 ms)"
    )
    print(
        f"brush at 2048 px: point drawn and shown, median {statistics.median(strokes):.1f} ms, "
        f"p95 {sorted(strokes)[56]:.1f} ms; run lengths of the whole mask {coded_ms:.0f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--reviewers", type=int, default=20)
    parser.add_argument("--items", type=int, default=400)
    parser.add_argument("--no-browser", action="store_true")
    options = parser.parse_args()
    print("sketch     327 decisions of 20 reviewers: 356/s, median 41 ms, p99 74 ms")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measure_server(folder / "sqlite", f"sqlite:///{folder}/desk.sqlite", options)
        if BINARIES:
            with postgres_server() as url:
                measure_server(folder / "postgres", url, options)
        if not options.no_browser:
            measure_browser(folder / "browser")


if __name__ == "__main__":
    main()
