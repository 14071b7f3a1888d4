"""Ways in which a file arrives damaged, changed or as something else."""

from __future__ import annotations

import gzip
import json
import random
import shutil
from pathlib import Path
from typing import Any, Literal

__all__ = ["mutate"]

Kind = Literal["broken", "changed"]
"""Broken content must lead to an error, a note or the clean answer; changed content may have
another answer."""
TOKENS = (
    b"null",
    b"NaN",
    b"-1",
    b"1e400",
    b"[]",
    b"{}",
    b'""',
    b"true",
    b'"\\ud800"',
    b"\xff",
    b",",
    b"\xe9t\xe9",
    b"\x00",
    b"\xef\xbb\xbf",
    b"[" * 5000,
    b'{"a":' * 3000,
)
VALUES: tuple[Any, ...] = (
    None,
    -1,
    0,
    1,
    2**53 + 1,
    2**64,
    -(2**63) - 1,
    1e308,
    -1e308,
    0.5,
    float("nan"),
    float("inf"),
    "",
    " ",
    "x" * 100_000,
    "../../etc/passwd",
    "/etc/passwd",
    "\x1b[31mred",
    "a\x00b",
    "é",
    "\ud800",
    "<script>alert(1)</script>",
    True,
    [],
    {},
    [[]],
    {"size": [1, 1], "counts": "1"},
    "nan",
    "1e9",
)
TEXTS = (".json", ".jsonl")
OF_FILES = ("missing", "folder", "empty", "gzip", "link to itself", "other bytes")


def mutate(path: Path, rng: random.Random) -> Kind:
    """Change one file in place."""
    content = path.read_bytes()
    if rng.random() < 0.06:
        return _as_file(path, content, rng)
    if path.suffix in TEXTS and rng.random() < 0.6:
        changed = _changed_json(content, rng)
        if changed is not None:
            path.write_bytes(changed)
            return "changed"
    damaged = _damaged(content, rng)
    path.write_bytes(damaged)
    return "changed" if _is_text_still(path, damaged) else "broken"


def _is_text_still(path: Path, content: bytes) -> bool:
    """Whether a reader may take it for a sound file with other content."""
    if path.suffix == ".toml":
        return True
    if path.suffix not in TEXTS:
        return False
    try:
        text = content.decode()
        try:
            json.loads(text)
        except ValueError:  # a line each, as POPE has them
            [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        return False
    return True


def _as_file(path: Path, content: bytes, rng: random.Random) -> Kind:
    how = rng.choice(OF_FILES)
    path.unlink()
    if how == "folder":
        path.mkdir()
    elif how == "empty":
        path.touch()
    elif how == "gzip":
        path.write_bytes(gzip.compress(content))
    elif how == "link to itself":
        path.symlink_to(path)
    elif how == "other bytes":
        path.write_bytes(rng.randbytes(300))
    return "changed" if how == "missing" else "broken"  # a folder of scores has no run.json


def _damaged(content: bytes, rng: random.Random) -> bytes:
    if not content:
        return b"\0"
    start = rng.randrange(len(content))
    stop = min(len(content), start + rng.choice((1, 3, 10, 200)))
    how = rng.randrange(6)
    if how == 0:
        return content[:start]
    if how == 1:
        return content[:start] + content[stop:]
    if how == 2:
        return content[:start] + content[start:stop] * 2 + content[stop:]
    if how == 3:
        return content[:start] + rng.choice(TOKENS) + content[stop:]
    if how == 4:
        return content + rng.choice(TOKENS)
    return (
        content[:start] + bytes([content[start] ^ (1 << rng.randrange(8))]) + content[start + 1 :]
    )


def _changed_json(content: bytes, rng: random.Random) -> bytes | None:
    """The same JSON with one value dropped, doubled, renamed or replaced by another."""
    try:
        lines = [json.loads(content)]
        by_line = False
    except ValueError:
        try:
            lines = [json.loads(line) for line in content.splitlines() if line.strip()]
        except ValueError:
            return None
        by_line = True
    holder = _walk(lines, rng)
    if isinstance(holder, dict) and holder:
        key = rng.choice(sorted(holder))
        how = rng.randrange(4)
        if how == 0:
            del holder[key]
        elif how == 1:
            holder[rng.choice(("", "id", "é", key + "x"))] = holder.pop(key)
        else:
            holder[key] = rng.choice(VALUES)
    elif isinstance(holder, list) and holder:
        place = rng.randrange(len(holder))
        how = rng.randrange(4)
        if how == 0:
            del holder[place]
        elif how == 1:
            holder.insert(place, holder[place])
        else:
            holder[place] = rng.choice(VALUES)
    texts = [json.dumps(line).encode("utf-8", "surrogatepass") for line in lines]
    return b"\n".join(texts) if by_line or texts else b""


def _walk(lines: list[Any], rng: random.Random) -> Any:
    """Some list or object in it, from the top down."""
    holder: Any = lines
    while True:
        inner = [
            each
            for each in (holder.values() if isinstance(holder, dict) else holder)
            if isinstance(each, (dict, list)) and each
        ]
        if not inner or (holder is not lines and rng.random() < 0.35):
            return holder
        holder = rng.choice(inner)


def restore(sound: Path, scratch: Path) -> None:
    """Make the scratch folder what the sound one is."""
    if scratch.is_symlink() or scratch.exists():
        shutil.rmtree(scratch, ignore_errors=True)
    shutil.copytree(sound, scratch)
