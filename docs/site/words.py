"""Words of the code as Markdown."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Sequence

__all__ = ["escaped", "paragraphs", "table"]


def escaped(text: str) -> str:
    """On one line, with nothing that Markdown would take for markup except code in backticks."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(
        part.replace("|", r"\|") if part.startswith("`") else re.sub(r"([|<>*_])", r"\\\1", part)
        for part in parts
    )


def paragraphs(docstring: str | None) -> Iterator[str]:
    """A docstring; what is indented in it is a block of its own."""
    for block in re.split(r"\n\n+", inspect.cleandoc(docstring or "")):
        lines = block.split("\n")
        if all(line.startswith("    ") or re.search(r"\S {3}", line) for line in lines):
            yield from ("```text", *(line.removeprefix("    ") for line in lines), "```", "")
        else:
            yield from (escaped(" ".join(lines)).replace(r"\|", "|"), "")


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table; cells are Markdown already."""
    return [
        "| " + " | ".join(columns) + " |",
        "|" + "---|" * len(columns),
        *("| " + " | ".join(row) + " |" for row in rows),
        "",
    ]
