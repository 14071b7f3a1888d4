"""Where the questions come from: a published format with its files, or our own folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from groundfault.benchmarks import folder
from groundfault.errors import UnknownName, UsageError
from groundfault.foreign import sha256
from groundfault.records import Benchmark
from groundfault.registry import load

__all__ = ["Source", "read_source"]

PHRASES = ("cafe", "saco")
QUADS = "halluseg"


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A benchmark with its pictures."""

    benchmark: Benchmark
    images: Path | None
    hashes: dict[str, str]
    """Of the files it was read from, as `score` notes them; empty where scoring makes them."""
    folder: str = ""
    """Our own folder, if it is one."""


def read_source(
    name: str,
    *,
    annotations: Sequence[Path] = (),
    images: Path | None = None,
    cases: Path | None = None,
    data: Path | None = None,
) -> Source:
    """Read `cafe` or `saco` from annotations, `halluseg` from its list, or a benchmark folder."""
    given = [
        option
        for option, value in (
            ("--annotations", annotations),
            ("--images", images),
            ("--cases", cases),
            ("--data", data),
        )
        if value
    ]
    if name in PHRASES and (annotations or not Path(name).is_dir()):
        _expect(name, given, needed=("--annotations",), possible=("--images",))
        hashes = {f"annotations {k}": sha256(path) for k, path in enumerate(annotations, start=1)}
        benchmark: Benchmark = load("benchmarks", name).read(annotations)
        return Source(benchmark=benchmark, images=images, hashes=hashes)
    if name == QUADS and (cases or not Path(name).is_dir()):
        _expect(name, given, needed=("--cases", "--data"))
        return Source(benchmark=load("benchmarks", name).read(cases, data), images=data, hashes={})
    path = Path(name)
    if not path.is_dir():
        known = (*PHRASES, QUADS)
        hint = UnknownName("benchmark", name, known) if "/" not in name else None
        raise UsageError(
            f"{name}: no such benchmark folder"
            + (f", and {hint}" if hint else f"; give one, or {', '.join(known)}")
        )
    _expect(name, given, possible=("--images",))
    benchmark = folder.read(path)
    return Source(
        benchmark=benchmark,
        images=images or path / folder.IMAGES,
        hashes={"benchmark": benchmark.card.content_hash},
        folder=str(path.resolve()),
    )


def _expect(
    name: str, given: Sequence[str], *, needed: Sequence[str] = (), possible: Sequence[str] = ()
) -> None:
    missing = [option for option in needed if option not in given]
    if missing:
        raise UsageError(f"{name}: give its files with {' and '.join(missing)}")
    for option in given:
        if option not in (*needed, *possible):
            raise UsageError(f"{option} does not go with {name}")
