"""Where a benchmark comes from: a format with its files, a published set by its name alone, or our
own folder. Which formats there are, and what they are read from, the benchmarks declare."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from inspect import signature
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from groundfault.errors import UnknownName, UsageError
from groundfault.io.coco import read_coco_results
from groundfault.io.foreign import sha256
from groundfault.io.inputs import Input, Outline
from groundfault.records import Benchmark, Prediction
from groundfault.registry import KINDS, names, plugins
from groundfault.registry import load as load_entry

if TYPE_CHECKING:
    from groundfault.io.fetching import Fetched

__all__ = ["DUMP", "FOLDER", "inputs_of", "load", "read_predictions", "with_inputs"]

AnyPath = str | PathLike[str]
Progress = Callable[[int, int], None]
FOLDER = "folder"
"""The name of our own format."""
DUMP = "predictions"
"""Under this name a source also says which dump was scored."""


def inputs_of(name: str) -> tuple[Input, ...]:
    """What a benchmark is read from."""
    found: tuple[Input, ...] = getattr(load_entry("benchmarks", name), "INPUTS", ())
    return found


def with_inputs() -> Iterator[str]:
    """The benchmarks that say what they are read from."""
    return (name for name in names("benchmarks") if inputs_of(name))


def load(
    name: AnyPath,
    *,
    fetch: Callable[[str, str], Fetched] | None = None,
    verify: bool = True,
    options: Mapping[str, object] | None = None,
    **inputs: Any,
) -> Benchmark:
    """Read a benchmark of a known format from its inputs, or our own folder by its path.

    A published set without its files, `NAME` or `NAME@REVISION`, is got by `fetch(name, revision)`.
    Without `verify`, what scoring checks anyway is not checked; `options` are the reader's own.
    """
    name = str(name)
    given = {key: value for key, value in inputs.items() if value not in (None, "", (), [])}
    published, _, revision = name.partition("@")
    by_name = not given and not Path(name).is_dir()
    if fetch is not None and by_name and _is_on_the_hub(published):
        found = fetch(published, revision)
        benchmark = _read(published, found.inputs, verify, options)
        return msgspec.structs.replace(benchmark, origin=found.origin)
    if _is_known(name) and name != FOLDER and (_may_be(name, given) or not Path(name).is_dir()):
        return _read(name, given, verify, options)
    if name != FOLDER and not Path(name).is_dir():
        raise _unknown(name)
    if name != FOLDER:
        format_ = _format_of_folder(Path(name))
        given = {inputs_of(format_)[0].name: name, **given}
        if format_ != FOLDER:
            return _read(format_, given, verify, options)
    benchmark = _read(FOLDER, given, verify, options)
    place = Path(given[FOLDER])
    return msgspec.structs.replace(
        benchmark,
        images=benchmark.images or str(place / load_entry("benchmarks", FOLDER).IMAGES),
        folder=str(place.resolve()),
        hashes={"benchmark": benchmark.card.content_hash},
    )


def _format_of_folder(path: Path) -> str:
    """The format whose benchmark recognises a folder; ours, unless another one does."""
    files = frozenset(entry.name for entry in path.iterdir())
    if load_entry("benchmarks", FOLDER).HEADER in files:
        return FOLDER
    outline = Outline(path, "folder", files)
    for name in names("benchmarks"):
        recognise = getattr(load_entry("benchmarks", name), "recognise", None)
        if recognise is not None and recognise(outline):
            return name
    return FOLDER


def _is_known(name: str) -> bool:
    return name in KINDS["benchmarks"] or name in plugins("benchmarks")


def _is_on_the_hub(name: str) -> bool:
    return _is_known(name) and hasattr(load_entry("benchmarks", name), "HUB")


def _may_be(name: str, given: Mapping[str, object]) -> bool:
    """Whether what is given is enough to read a format, so that no folder is meant."""
    needed = [each.name for each in inputs_of(name) if each.required]
    return bool(needed) and all(each in given for each in needed)


def _unknown(name: str) -> UsageError:
    known = tuple(each for each in with_inputs() if each != FOLDER)
    hint = UnknownName("benchmark", name, known) if "/" not in name else None
    return UsageError(
        f"{name}: no such benchmark folder"
        + (f", and {hint}" if hint else f"; give one, or {', '.join(known)}")
    )


def _read(
    name: str, given: Mapping[str, Any], verify: bool, options: Mapping[str, object] | None
) -> Benchmark:
    module = load_entry("benchmarks", name)
    declared = inputs_of(name)
    hint = getattr(module, "WITHOUT_FILES", "")
    _check(str(given.get(FOLDER, name)), declared, given, hint)
    more: dict[str, object] = dict(options or {})
    if not verify:
        more["verify"] = False
    possible = signature(module.read).parameters
    more = {key: value for key, value in more.items() if key in possible}
    benchmark: Benchmark = module.read(**given, **more)
    shown = next((each.name for each in declared if each.pictures and each.name in given), "")
    images = benchmark.images or given.get(shown, "")
    hashes = benchmark.hashes or dict(_hashes(declared, given))
    texts = {each.name for each in declared if each.kind == "text"}
    paths = {key: value if key in texts else _absolute(value) for key, value in given.items()}
    source = {"format": name, **paths}
    return msgspec.structs.replace(benchmark, images=str(images), hashes=hashes, source=source)


def _absolute(value: Any) -> object:
    """A path, or several, wherever one stands."""
    if isinstance(value, (list, tuple)):
        return [_absolute(each) for each in value]
    return str(Path(value).resolve())


def _check(
    name: str, declared: Sequence[Input], given: Mapping[str, object], hint: str = ""
) -> None:
    missing = [each.option for each in declared if each.required and each.name not in given]
    if missing:
        raise UsageError(
            f"{name}: give its files with {' and '.join(missing)}{f'. {hint}' if hint else ''}"
        )
    known = {each.name for each in declared}
    for key in given:
        if key not in known:
            raise UsageError(f"--{key.replace('_', '-')} does not go with {name}")


def _hashes(declared: Iterable[Input], given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for each in declared:
        if each.name not in given or not each.hashed or each.kind == "folder":
            continue
        value = given[each.name]
        if each.kind == "text":  # another choice is other data
            yield each.name, str(value)
            continue
        for k, path in enumerate(value if each.kind == "files" else [value], start=1):
            yield f"{each.name} {k}", sha256(path)


def read_predictions(
    name: str,
    path: AnyPath,
    benchmark: Benchmark,
    *,
    settings: Mapping[str, object],
    progress: Progress | None = None,
    **inputs: Any,
) -> Iterable[Prediction]:
    """Predictions in the form that goes with a format: COCO results, unless its benchmark reads
    others."""
    own = getattr(load_entry("benchmarks", name), "read_predictions", None)
    if own is None:
        return read_coco_results(path, progress=progress)
    found: Iterable[Prediction] = own(
        path, benchmark, settings=settings, progress=progress, **inputs
    )
    return found
