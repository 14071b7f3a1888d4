"""Commands as the pages show them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

__all__ = ["commands_of", "remarks_above", "shown"]

BLOCK = re.compile(r"^ *```([^\n]*)\n(.*?)^ *```", re.S | re.M)
FOLDERS = ("", "tutorial", "coming-from")
WIDEST = 84
"""Characters that fit into a line of a page."""


def commands_of(text: str) -> Iterator[str]:
    """Every `groundfault …` line of a page's blocks, without its remark."""
    for language, block in BLOCK.findall(text):
        if language not in ("", "console", "sh", "text"):
            continue
        for line in re.sub(r"\\\n\s*", " ", block).splitlines():
            command = re.split(r" {3}| #", line.strip().removeprefix("$ "))[0].strip()
            if command.startswith("groundfault "):
                yield command


def remarks_above(text: str) -> str:
    """A page whose blocks with a line that does not fit have remarks above their lines, not behind
    them."""

    def moved(found: re.Match[str]) -> str:
        lines = found[2].splitlines()
        if found[1] not in ("", "sh", "toml") or max(map(len, lines), default=0) <= WIDEST:
            return found[0]
        blocks = [re.sub(r"^( *)(\S.*?) {2,}# (.*)$", r"\1# \3\n\1\2", line) for line in lines]
        return found[0].replace(found[2], "".join(f"{block}\n" for block in blocks))

    return re.sub(BLOCK, moved, text)


def shown(docs: Path) -> Iterator[tuple[Path, str]]:
    """(page, command) of all pages that were written by hand."""
    for folder in FOLDERS:
        for page in sorted((docs / folder).glob("*.md")):
            yield from ((page, command) for command in commands_of(page.read_text()))
