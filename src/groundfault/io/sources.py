"""Where the questions come from: a published format with its files, a published set by its name
alone, or our own folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from groundfault.benchmarks import folder
from groundfault.errors import UnknownName, UsageError
from groundfault.io.fetching import SETS, Files
from groundfault.io.foreign import sha256
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
    origin: str = ""
    """repo@commit, if it was fetched by its name."""


def read_source(
    name: str,
    *,
    annotations: Sequence[Path] = (),
    images: Path | None = None,
    cases: Path | None = None,
    data: Path | None = None,
    fetch: Callable[[str, str], Files] | None = None,
) -> Source:
    """Read `cafe` or `saco` from annotations, `halluseg` from its list, or a benchmark folder.

    A published set without its files, `cafe` or `cafe@REVISION`, is got by `fetch(name, revision)`.
    """
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
    published, _, revision = name.partition("@")
    if fetch is not None and published in SETS and not given and not Path(name).is_dir():
        found = fetch(published, revision)
        source = read_source(
            published,
            annotations=found.annotations,
            images=found.images,
            cases=found.cases,
            data=found.data,
        )
        return msgspec.structs.replace(source, origin=found.origin)
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
