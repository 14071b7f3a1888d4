"""The table and the picture of docs/audit.md.

    python bench/audit_pictures.py         writes docs/audit.jpg, prints the table in Markdown

Renders 120 edited world pictures, audits the two nano models on them as if they were somebody's
photographs, and takes the page's first screen in Chromium (chromedriver, selenium).
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image

PHRASES = """
title = "Animals and vehicles"
exclusive = [
  ["zebra", "horse", "giraffe", "cow", "tiger", "cat", "dog", "elephant"],
  ["car", "bus"],
  ["apple", "orange", "ladybug"],
]
absent = ["helicopter", "piano"]
same = [["dog", "dogs"], ["car", "automobile"]]
kind_of = [["red car", "car"]]
"""
SIZE_PX = (1180, 1000)
N = 120


def audited(folder: Path) -> Path:
    """Audit rendered pictures; the page."""
    program = [sys.executable, "-m", "groundfault.cli"]
    build = ["world", "build", "--preset", "cafe", "--n", str(N), "--out", str(folder / "world")]
    subprocess.run([*program, *build], check=True, capture_output=True)
    (folder / "phrases.toml").write_text(PHRASES)
    audit = [
        "audit", "--images", str(folder / "world" / "images"),
        "--phrases", str(folder / "phrases.toml"), "--model", "nano-base", "--model", "nano-cft",
        "--out", str(folder / "out"), "--format", "markdown",
    ]  # fmt: skip
    ended = subprocess.run([*program, *audit], check=True, capture_output=True, text=True)
    print(ended.stdout)
    return folder / "out" / "audit.html"


def screen(page: Path, profile: Path) -> Image.Image:
    """What a reader sees first."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    plain = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
    for argument in (*plain, f"--user-data-dir={profile}"):
        options.add_argument(argument)
    service = webdriver.ChromeService(str(shutil.which("chromedriver")))
    browser = webdriver.Chrome(options=options, service=service)
    try:
        browser.set_window_size(*SIZE_PX)
        browser.get(page.as_uri())
        time.sleep(2)  # pictures are put in as they come into view
        return Image.open(io.BytesIO(browser.get_screenshot_as_png())).convert("RGB")
    finally:
        browser.quit()


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="groundfault-audit-") as place:
        folder = Path(place)
        page = audited(folder)
        out = Path(__file__).parents[1] / "docs" / "audit.jpg"
        screen(page, folder / "profile").save(out, quality=82, optimize=True)
        print(f"written: {out}", file=sys.stderr)


if __name__ == "__main__":
    main()
