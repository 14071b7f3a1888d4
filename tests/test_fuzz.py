"""Files that were damaged at random: every one ends in a result or in one error message, never in a
traceback. A few in `make test`, thousands in `make test-all`."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import ALL, Ran

from groundfault.io.example import write_example

TIMES = 400 if ALL else 12
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
)


def damaged(content: bytes, rng: random.Random) -> bytes:
    """Cut, flipped, repeated, or with something else in a place."""
    start = rng.randrange(len(content))
    stop = min(len(content), start + rng.choice((1, 3, 10, 200)))
    how = rng.randrange(5)
    if how == 0:
        return content[:start]
    if how == 1:
        return content[:start] + content[stop:]
    if how == 2:
        return content[:start] + content[start:stop] * 2 + content[stop:]
    if how == 3:
        return content[:start] + rng.choice(TOKENS) + content[stop:]
    return (
        content[:start] + bytes([content[start] ^ (1 << rng.randrange(8))]) + content[start + 1 :]
    )


@pytest.mark.parametrize("seed", range(4))
def test_damaged_files_end_in_one_message(
    run: Callable[..., Ran], tmp_path: Path, seed: int
) -> None:
    write_example(tmp_path, n=4, seed=seed, size_px=(48, 64))
    annotations, predictions = tmp_path / "annotations.json", tmp_path / "gullible.json"
    sound = {path: path.read_bytes() for path in (annotations, predictions)}
    rng = random.Random(seed)
    for _ in range(TIMES):
        hit = rng.choice((annotations, predictions))
        for path, content in sound.items():
            path.write_bytes(damaged(content, rng) if path == hit else content)
        scored = run("score", "cafe", "--annotations", annotations, "--predictions", predictions,
                     "--bootstrap", 0, "--out", tmp_path / "out")  # fmt: skip
        looked = run("inspect", hit)
        for ended in (scored, looked):
            assert ended.code in (0, 2), ended
            assert "Traceback" not in ended.err
            if ended is scored and ended.code == 2:
                assert ended.err.startswith("error: ")
