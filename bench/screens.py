"""The screens of docs/explore.md and docs/desk.md.

    python bench/screens.py explore  writes docs/explore.jpg
    python bench/screens.py desk     writes docs/desk_review.jpg, docs/desk_overview.jpg

Everything on them is rendered; the reviewers are simulated. Needs the extra desk, Chromium,
chromedriver and selenium.
"""

from __future__ import annotations

import http.client
import io
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image

DOCS = Path(__file__).parents[1] / "docs"
MOST_PX = 1408
PEOPLE = {"Amina": 0.02, "Jonas": 0.05, "Mei": 0.08}
"""How often each simulated reviewer rejects what the others would accept."""
AT_REST = """
const body = document.body, rates = document.getElementById("rates");
return document.querySelector("#cases *") && !body.classList.contains("busy")
  && rates.firstChild && !rates.classList.contains("waiting");
"""
OPEN_CLEAREST = """
const sure = row => {
  const [found, misled] = row.querySelectorAll("td.run .end");
  const counts = found.matches(".right") && misled.matches(".wrong");
  return counts ? Number(misled.querySelector("small").innerText) : 0;
};
const rows = [...document.querySelectorAll(".entries tbody tr")];
rows.sort((a, b) => sure(b) - sure(a))[0].querySelector(".name").click();
"""
"""The case whose p⁺ the first model finds and whose p⁻ it accepts most surely."""


def groundfault(*words: object) -> None:
    """Run a command; what it prints is not wanted."""
    command = [sys.executable, "-m", "groundfault.cli", *map(str, words)]
    subprocess.run(command, check=True, capture_output=True)


@contextmanager
def served(*words: object) -> Iterator[tuple[str, Any]]:
    """The link that a desk prints, and its process."""
    command = [sys.executable, "-m", "groundfault.cli", *map(str, words), "--no-browser"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), process
        finally:
            process.terminate()


@contextmanager
def browser(width_px: int, height_px: int) -> Iterator[Any]:
    from selenium import webdriver

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = str(shutil.which("chromium"))
        plain = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
        size = f"--window-size={width_px},{height_px}"
        for argument in (*plain, size, f"--user-data-dir={profile}"):
            options.add_argument(argument)
        service = webdriver.ChromeService(str(shutil.which("chromedriver")))
        driver = webdriver.Chrome(options=options, service=service)
        try:
            yield driver
        finally:
            driver.quit()


def wait(is_so: Callable[[], Any], seconds: float = 120) -> None:
    until = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > until:
            sys.exit("the page does not come to rest")
        time.sleep(0.2)


def take(driver: Any, name: str) -> None:
    time.sleep(2)  # pictures are drawn as they come
    shown = Image.open(io.BytesIO(driver.get_screenshot_as_png())).convert("RGB")
    shown.thumbnail((MOST_PX, MOST_PX), Image.Resampling.LANCZOS)
    shown.save(DOCS / f"{name}.jpg", quality=82, optimize=True)
    print(f"written: docs/{name}.jpg", file=sys.stderr)


def explore(folder: Path) -> None:
    """A case that nano-cft gets right and nano-base does not."""
    world, runs = folder / "world", folder / "runs"
    cases = ("--preset", "cafe", "--n", 40, "--dose", "0.5:1:0.5", "--controls")
    groundfault("world", "build", *cases, "--out", world)
    models = [word for name in ("nano-base", "nano-cft", "oracle") for word in ("--model", name)]
    groundfault("eval", world, *models, "--bootstrap", 500, "--out", runs)
    with served("explore", *sorted(runs.iterdir())) as (url, _), browser(2000, 1260) as driver:
        driver.get(url)
        wait(lambda: "/explore" in driver.current_url)
        base = driver.current_url.partition("/explore")[0]
        driver.get(f"{base}/explore?a=nano-cft&b=nano-base&ab=10")
        wait(lambda: driver.execute_script(AT_REST))
        driver.execute_script(OPEN_CLEAREST)
        wait(lambda: "case=" in driver.current_url)
        take(driver, "explore")


def desk(folder: Path) -> None:
    """An item in review, and the owner's overview when three people are nearly done."""
    scenes, built = folder / "scenes", folder / "set"
    groundfault("world", "scenes", "--n", 40, "--out", scenes)
    source = ("--source", "coco", "--annotations", scenes / "instances.json")
    edited = ("--images", scenes / "images", "--editor", f"world:{scenes}")
    groundfault("build", "cafe", *source, *edited, "--out", built)
    with served("review", built, "--reviewers", 3) as (url, process):
        base = url.partition("/join#")[0]
        token = process.stderr.readline().strip().rpartition("#")[2]
        with browser(1280, 899) as driver:
            driver.get(url)
            wait(lambda: driver.execute_script("return document.body.dataset.item"))
            take(driver, "desk_review")
            people = [Reviewer(base, token, name, share) for name, share in PEOPLE.items()]
            while sum(person.decide() for person in people):
                pass
            driver.get(f"{base}/overview")
            wait(lambda: "settled" in driver.page_source)
            driver.set_window_size(1280, 1260)
            take(driver, "desk_overview")


class Reviewer:
    """Decides over the desk's own addresses, by lot."""

    def __init__(self, base: str, token: str, name: str, rejects: float) -> None:
        self.rng, self.rejects, self.name = random.Random(name), rejects, name
        self.connection = http.client.HTTPConnection(base.removeprefix("http://"))
        self.headers = {"x-groundfault": "1", "origin": base, "content-type": "application/json"}
        self.post("/join", {"token": token, "name": name})
        self.items = self.post("/api/work", {"work": []})["items"]

    def post(self, path: str, value: object) -> Any:
        self.connection.request("POST", path, json.dumps(value), self.headers)
        response = self.connection.getresponse()
        cookie = response.getheader("set-cookie")
        if cookie and "cookie" not in self.headers:
            self.headers["cookie"] = cookie.partition(";")[0]
        return json.loads(response.read())

    def decide(self) -> bool:
        """One decision; whether there was something to decide."""
        if not self.items:
            self.items = self.post("/api/work", {"work": []})["items"]
        if not self.items:
            return False
        shown, have = self.items[0], [(e["item"]["id"], e["stage"]) for e in self.items]
        name = shown["item"]["id"]
        is_poor, is_last = random.Random(name).random() < 0.3, shown["stage"] == "cross-check"
        seen = 0.9 if is_last else 0.3  # the first two rounds let much through
        rejects = self.rng.random() < (seen if is_poor else self.rejects)
        work = {
            "op": "decide", "key": uuid.uuid4().hex, "item_id": name, "stage": shown["stage"],
            "verdict": "reject" if rejects else "accept",
            "reasons": ["artefact"] if rejects else [], "seconds": 2 + 3 * self.rng.random(),
        }  # fmt: skip
        self.items = self.post("/api/work", {"work": [work], "have": have})["items"]
        return True


def main() -> None:
    wanted = sys.argv[1:] or ["explore", "desk"]
    for name in wanted:
        with tempfile.TemporaryDirectory(prefix="groundfault-screens-") as place:
            {"explore": explore, "desk": desk}[name](Path(place))


if __name__ == "__main__":
    main()
