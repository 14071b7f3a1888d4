"""Items to review, drawn in a moment; a desk in this process, or in one of its own; browsers."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from PIL import Image, ImageDraw

from groundfault.building.records import Question
from groundfault.building.review import Decision, ReviewItem, write_items
from groundfault.io.masks import encode
from groundfault.web.doors import Person
from groundfault.web.review.assignments import Said, Shown, TakenBack
from groundfault.web.review.desk import ReviewDesk, open_desk

SIDE_PX = 96
GOLD = ("accept", "reject")
EVIL = '<img src=x onerror="document.title=1">"\'&</textarea>'
PHRASES = {
    "SM": ("elephant", "zebra"), "CC": ("boat", "sand sled"),
    "OC": ("bronze sculpture", "living dog"), "replacement": ("motorcycle", "bicycle"),
    "erasure": ("skateboard", "wheels"),
}  # fmt: skip
QUESTIONS = (
    Question(number=1, type="YN", dimension="", query="Are there wheels?", reference="no"),
    Question(
        number=5, type="SA", dimension="", query="What is below?", reference="a board",
        rubric="Right: says that a board is there.",
    ),
    Question(
        number=9, type="MC", dimension="", query="What is there?", reference="B",
        options=("four wheels", "a board without wheels", "a dog"),
    ),
)  # fmt: skip


def draw(path: Path, side_px: int, shape: tuple[int, int, int, int], colour: Any) -> None:
    picture = Image.new("RGB", (side_px, side_px), (200, 205, 210))
    ImageDraw.Draw(picture).ellipse(shape, fill=colour)
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.save(path)


def make_item(folder: Path, number: int, protocol: str, side_px: int, **more: Any) -> ReviewItem:
    rng = np.random.default_rng(number)
    x, y = (int(v) for v in rng.integers(side_px // 10, side_px // 3, 2))
    shape = (x, y, x + side_px // 2, y + side_px // 3)
    kind = {"halluseg": "replacement", "reactbench": "erasure"}.get(
        protocol, ("SM", "CC", "OC")[number % 3]
    )
    before, after = f"pictures/{number}.before.png", f"pictures/{number}.after.png"
    draw(folder / before, side_px, shape, (90, 90, 100))
    draw(folder / after, side_px, shape, tuple(rng.integers(0, 255, 3).tolist()))
    drawn = Image.new("1", (side_px, side_px))
    ImageDraw.Draw(drawn).ellipse(shape, fill=1)
    mask = encode(np.array(drawn))
    positive, negative = PHRASES[kind]
    texts = {
        "positive": positive, "negative": negative, "instruction": f"Make it {negative}-like.",
        "rationale": "Its looks point elsewhere.",
    }  # fmt: skip
    made: dict[str, Any] = {
        "id": f"case-{number}", "protocol": protocol, "kind": kind, "before": before,
        "after": after, "mask": mask, "mask_after": mask if kind == "replacement" else None,
        "texts": texts, "questions": QUESTIONS if kind == "erasure" else (),
        "checks": {"changed inside": 0.93, "changed outside": 0.01},
    }  # fmt: skip
    return ReviewItem(**{**made, **more})


def make_review(
    folder: Path, n: int, *, protocol: str = "cafe", side_px: int = SIDE_PX, gold: int = 0
) -> Path:
    """A build's folder with n items and some gold ones, which come first."""
    items = [
        make_item(folder, k, protocol, side_px, gold=GOLD[k % 2] if k < gold else None)
        for k in range(n + gold)
    ]
    write_items(folder, items)
    return folder


# ── a desk in this process ──────────────────────────────────────────────────────────────────────


class Hand:
    """Somebody who decides without a browser."""

    def __init__(self, desk: ReviewDesk, name: str, role: Any = "reviewer") -> None:
        self.desk, self.person = desk, Person(name, role)

    def queue(self, ahead: int = 1) -> list[Shown]:
        return self.desk.database.call(
            lambda rows: self.desk.assignments.queue(rows, self.person.name, ahead)
        )

    def say(self, shown: Shown, verdict: Any = "accept", **more: Any) -> str:
        said = Said(
            **{"key": uuid.uuid4().hex, "item_id": shown.item.id, "stage": shown.stage,
               "verdict": verdict, "seconds": 1.0, **more}
        )  # fmt: skip
        self.desk.database.call(lambda rows: self.desk.assignments.do(rows, self.person, said))
        return said.key

    def undo(self, key: str = "") -> Any:
        back = TakenBack(key=key)
        return self.desk.database.call(
            lambda rows: self.desk.assignments.do(rows, self.person, back)
        )

    def work(self, most: int = 10_000, verdict: Callable[[Shown], str] | None = None) -> int:
        """Decide until nothing is left; how many that were."""
        done = 0
        while done < most and (shown := self.queue()):
            self.say(shown[0], verdict(shown[0]) if verdict else "accept")
            done += 1
        return done


def decisions_of(desk: ReviewDesk) -> list[Decision]:
    from groundfault.web.review.ledger import all_decisions

    return desk.database.call(lambda rows: list(all_decisions(rows)))


# ── a desk in a process of its own ──────────────────────────────────────────────────────────────


class Served:
    """`groundfault review` as people start it."""

    def __init__(self, *arguments: object, command: str = "review") -> None:
        words = [sys.executable, "-m", "groundfault.cli", command, *map(str, arguments)]
        self.process = subprocess.Popen(
            [*words, "--no-browser"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            assert self.process.stderr is not None
            raise RuntimeError(self.process.stderr.read())
        self.base, _, self.token = self.url.partition("/join#")

    def group_token(self) -> str:
        """The token of the reviewers' link, which stands on stderr."""
        assert self.process.stderr is not None
        found = re.search(r"/join#(\S+)", self.process.stderr.readline())
        assert found is not None
        return found[1]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()

    def interrupt(self, number: int = signal.SIGINT) -> tuple[int, str, str]:
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


@contextmanager
def served(*arguments: object, command: str = "review") -> Iterator[Served]:
    desk = Served(*arguments, command=command)
    try:
        yield desk
    finally:
        desk.kill()


class Hosted(NamedTuple):
    """A desk in a thread of this process."""

    url: str
    base: str
    token: str
    desk: ReviewDesk
    group: str
    """The token of the reviewers' link."""


@contextmanager
def hosted(folder: Path, *, overlap: int | None = None, reviewers: int = 1) -> Iterator[Hosted]:
    """The same server without a process of its own, for what is not about processes."""
    from groundfault.web.serving import serve_in_background

    desk = open_desk(folder, overlap=overlap)
    token, group = desk.owner_invitation(), desk.open_invitation(reviewers)
    running = serve_in_background(desk.make_app, link=lambda site: f"{site.url}/join#{token}")
    try:
        yield Hosted(running.url, running.url.partition("/join#")[0], token, desk, group)
    finally:
        running.stop()


OPEN: list[http.client.HTTPConnection] = []
"""Connections that the end of a test closes."""


class Client:
    """Somebody who speaks HTTP, on one connection."""

    def __init__(self, base: str, token: str, name: str = "") -> None:
        self.base = base
        self.connection = http.client.HTTPConnection(base.removeprefix("http://"), timeout=60)
        OPEN.append(self.connection)
        self.cookie = ""
        status, _ = self.post("/join", {"token": token, "name": name})
        assert status == 200

    def post(self, path: str, value: Any) -> tuple[int, Any]:
        headers = {
            "x-groundfault": "1", "origin": self.base, "content-type": "application/json",
            "cookie": self.cookie,
        }  # fmt: skip
        self.connection.request("POST", path, json.dumps(value), headers)
        return self._read()

    def get(self, path: str) -> tuple[int, Any]:
        self.connection.request("GET", path, headers={"cookie": self.cookie})
        return self._read()

    def _read(self) -> tuple[int, Any]:
        response = self.connection.getresponse()
        set_cookie = response.getheader("set-cookie")
        if set_cookie:
            self.cookie = set_cookie.partition(";")[0]
        content = response.read()
        try:
            return response.status, json.loads(content)
        except ValueError:
            return response.status, content

    def decide(self, shown: Any, verdict: str = "accept", **more: Any) -> tuple[str, int, Any]:
        key = uuid.uuid4().hex
        work = {
            "op": "decide", "key": key, "item_id": shown["item"]["id"], "stage": shown["stage"],
            "verdict": verdict, "seconds": 1.0, **more,
        }  # fmt: skip
        return key, *self.post("/api/work", {"work": [work]})


# ── browsers ────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def open_browser(width: int = 1280, height: int = 900) -> Iterator[Any]:
    """Debian's Chromium, which leaves nothing behind; tests are skipped where there is none."""
    webdriver = pytest.importorskip("selenium.webdriver")
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("Chromium is not installed: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    plain = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
    for argument in (*plain, "--disable-dev-shm-usage", f"--window-size={width},{height}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True) as folder:
        service = webdriver.ChromeService(driver, env={**os.environ, "TMPDIR": folder})
        started = webdriver.Chrome(options=options, service=service)
        try:
            yield started
        finally:
            started.quit()


def serious_problems(browser: Any, scheme: str) -> list[str]:
    """What axe finds on a page, in light or dark. In dark only contrast can be another."""
    import axe_core_python

    only = {"runOnly": ["color-contrast"]} if scheme == "dark" else {}
    script = (Path(axe_core_python.__file__).parent / "axe.min.js").read_text()
    browser.execute_script(f"if (!window.axe) {{ {script} }}")
    run = "axe.run(arguments[0]).then(r => arguments[arguments.length - 1](r.violations))"
    return [
        f"{scheme} {v['id']}: {v['nodes'][0]['html']}"
        for v in browser.execute_async_script(run, only)
        if v["impact"] in ("serious", "critical")
    ]


def set_scheme(browser: Any, scheme: str) -> None:
    """Light, dark, or "" for the browser's own."""
    features = [{"name": "prefers-color-scheme", "value": scheme}] if scheme else []
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def cut_off(browser: Any, is_off: bool = True) -> None:
    """Take the browser's connection away, or give it back."""
    conditions = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    browser.execute_cdp_cmd("Network.enable", {})
    browser.execute_cdp_cmd("Network.emulateNetworkConditions", {"offline": is_off, **conditions})


def wait(condition: Callable[[], Any], what: str, seconds: float = 60.0) -> Any:
    """Wait for a thing itself; a busy machine is no failure."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"waited in vain for: {what}")
