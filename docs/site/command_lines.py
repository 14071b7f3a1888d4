"""Commands as the pages show them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

__all__ = ["commands_of", "shown"]

BLOCK = re.compile(r"^ *```([^\n]*)\n(.*?)^ *```", re.S | re.M)
FOLDERS = ("", "tutorial", "coming-from")


def commands_of(text: str) -> Iterator[str]:
    """Every `groundfault …` line of a page's blocks, without its remark."""
    for language, block in BLOCK.findall(text):
        if language not in ("", "console", "sh", "text"):
            continue
        for line in re.sub(r"\\\n\s*", " ", block).splitlines():
            command = re.split(r" {3}| #", line.strip().removeprefix("$ "))[0].strip()
            if command.startswith("groundfault "):
                yield command


def shown(docs: Path) -> Iterator[tuple[Path, str]]:
    """(page, command) of all pages that were written by hand."""
    for folder in FOLDERS:
        for page in sorted((docs / folder).glob("*.md")):
            yield from ((page, command) for command in commands_of(page.read_text()))
