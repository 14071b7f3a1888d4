"""Typed settings from TOML: every key is known, every value has its type, errors name both."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec
import msgspec.inspect

from groundfault.errors import DataError, UnknownName, UsageError

__all__ = [
    "OPERATING_POINTS",
    "OWN_POINTS",
    "ScoreSettings",
    "Tables",
    "check",
    "check_threshold",
    "convert_settings",
    "load_layered_toml",
    "load_toml",
    "number",
    "tables_of",
]

T = TypeVar("T")

OPERATING_POINTS = {
    "sam3": 0.5,
    "owlv2-sam": 0.2,
    "grounded-sam2": 0.2,
    "openseed": 0.15,
    "yolo_world_seg": 0.15,
}
"""Score thresholds at which the CAFE paper reports its models; its YOLO-World is YOLO-World-Seg, a
worker here, and not our `yolo-world`, which cuts masks out with SAM."""
OWN_POINTS = {"nano-base": 0.5, "nano-cft": 0.5, "nano": 0.5, "segvlm": 0.5}
"""Score thresholds of our own models, at which their card reports them."""


class ScoreSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How predictions are scored; the defaults are the CAFE paper's headline."""

    t: Annotated[float, msgspec.Meta(ge=-1e6, le=1e6)] = 0.5
    """Score threshold: accepted means score ≥ t. Scores of a file may be logits, so it has a wide
    range here; where they are not, one beyond 0 … 1 is refused when they are read."""
    tau: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.3
    """Overlap threshold: aligned means IoU ≥ τ."""
    iou: Literal["segm", "bbox"] = "segm"
    """Whether masks or boxes are compared."""
    variant: Literal["parity", "exact"] | None = None
    """None is what goes with the data: parity for files of CAFE and SA-Co, else exact."""
    bootstrap: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 10_000
    """Resamples for intervals; 0 for none."""
    seed: Annotated[int, msgspec.Meta(ge=0)] = 0
    """Of the resamples."""


Tables = Callable[[], Mapping[str, Collection[str]]]
"""Tells which settings the tables of a file have, by their dotted names; "" is the top."""


def load_toml(path: str | PathLike[str], type_: type[T], *, elsewhere: Tables | None = None) -> T:
    """Read a TOML file as a settings type. `elsewhere` tells the settings of those tables that the
    type leaves open: one in the wrong table is told where it belongs."""
    path = Path(path)
    try:
        content = path.read_bytes()
    except OSError as problem:
        raise UsageError(f"{path}: cannot be read ({problem.strerror})") from None
    try:
        if not content.strip():
            raise msgspec.DecodeError("the file is empty")
        return msgspec.toml.decode(content, type=type_)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        told = _explain(problem, type_, elsewhere=elsewhere)
        raise DataError(path, told, remedy="correct the setting") from None


def convert_settings(
    given: Mapping[str, Any], type_: type[T], *, table: str = "", elsewhere: Tables | None = None
) -> T:
    """Settings by name as a settings type; unknown names and values out of bounds are refused.
    `table` is the one that they are from, `elsewhere` what the others of its file have."""
    try:
        return msgspec.convert(given, type_)
    except msgspec.ValidationError as problem:
        told = _explain(problem, type_, table=table, elsewhere=elsewhere)
        raise UsageError(told) from None


def tables_of(type_: type, table: str = "") -> dict[str, tuple[str, ...]]:
    """The settings of a type and of the tables in it, by their dotted names.

    >>> tables_of(ScoreSettings)[""][:2]
    ('t', 'tau')
    """
    found: dict[str, tuple[str, ...]] = {}

    def walk(node: msgspec.inspect.Type, place: str) -> None:
        if isinstance(node, msgspec.inspect.StructType):
            if place in found:
                return
            found[place] = tuple(field.encode_name for field in node.fields)
            for field in node.fields:
                walk(field.type, f"{place}.{field.encode_name}".lstrip("."))
        elif isinstance(node, msgspec.inspect.UnionType):
            for each in node.types:
                walk(each, place)
        elif isinstance(node, msgspec.inspect.ListType | msgspec.inspect.VarTupleType):
            walk(node.item_type, place)

    walk(msgspec.inspect.type_info(type_), table)
    return found


def load_layered_toml(path: str | PathLike[str], type_: type[T]) -> T:
    """The same of a file that may begin with `base = "other.toml"`: it says only what is otherwise.
    Tables are merged key by key, lists of tables by their names."""
    merged = _layers(Path(path), [])
    try:
        return msgspec.convert(merged, type_)
    except msgspec.ValidationError as problem:
        raise DataError(path, _explain(problem, type_), remedy="correct the setting") from None


def _layers(path: Path, above: list[Path]) -> dict[str, Any]:
    if path.resolve() in above:
        raise UsageError(f"{path}: is its own base")
    own = load_toml(path, dict[str, Any])
    base = own.pop("base", None)
    if base is None:
        return own
    below = _layers(path.parent / str(base), [*above, path.resolve()])
    found: dict[str, Any] = _merged(below, own)
    return found


def _merged(below: Any, own: Any) -> Any:
    if isinstance(below, dict) and isinstance(own, dict):
        return below | {key: _merged(below.get(key), value) for key, value in own.items()}
    if _is_named(below) and _is_named(own):
        by_name = {each["name"]: each for each in below}
        for each in own:
            by_name[each["name"]] = _merged(by_name.get(each["name"], {}), each)
        return list(by_name.values())
    return own


def _is_named(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(v, dict) and "name" in v for v in value)


def check(settings: T) -> T:
    """Apply the type's own bounds to settings made in code or on the command line."""
    try:
        return msgspec.convert(msgspec.to_builtins(settings), type(settings))
    except msgspec.ValidationError as problem:
        raise UsageError(_explain(problem, type(settings))) from None


def number(text: str) -> float:
    """A number as people write it; "50%" is 0.5. What is none is a ValueError.

    >>> number("0.2"), number("20 %")
    (0.2, 0.2)
    """
    text = text.strip()
    return float(text[:-1]) / 100 if text.endswith("%") else float(text)


def check_threshold(t: float) -> None:
    """Refuse a score threshold that scores from 0 to 1 lie all above, or all below."""
    if 0 <= t <= 1:
        return
    meant = f"; {t:g} % is {t / 100:g}, or {t:g}%" if 1 < t <= 100 else ""
    raise UsageError(f"t: scores go from 0 to 1, so {t:g} decides nothing{meant}")


def _explain(
    problem: Exception, type_: type, *, table: str = "", elsewhere: Tables | None = None
) -> str:
    """msgspec's message in a user's words, with the nearest key for an unknown one."""
    unknown = re.search(r"unknown field `([^`]+)`(?: - at `\$\.?([^`]*)`)?", str(problem))
    if unknown:
        inside = re.sub(r"\[[^\]]*\]", "", unknown[2] or "")
        return _misplaced(unknown[1], _dotted(table, inside), tables_of(type_, table), elsewhere)
    place = re.search(r"^(.*) - at `\$\.([\w.]+)`$", str(problem))
    if not place:
        return str(problem)
    return f"{_dotted(table, place[2])}: {place[1][0].lower()}{place[1][1:]}"


def _misplaced(
    name: str, place: str, own: Mapping[str, Collection[str]], elsewhere: Tables | None
) -> str:
    """What is said of a setting that its table does not have: which ones it has, and in which table
    there is one of that name."""
    told = f"unknown setting '{name}'"
    known = own.get(place, ())
    others = {**(elsewhere() if elsewhere else {}), **own}
    homes = [table for table, names in others.items() if name in names and table != place]
    where = f" in [{place}]" if place else ""
    if not homes:
        hint = str(UnknownName("setting", name, known)).removeprefix(told)
        return f"{told}{where}{hint}".rstrip(".")
    named = [f"in [{home}]" if home else "at the top, before the first [table]" for home in homes]
    has = f"[{place}] has" if place else "at the top are"
    return f"{told}{where}: it belongs {' or '.join(named)}; {has}: {', '.join(sorted(known))}"


def _dotted(*names: str) -> str:
    return ".".join(filter(None, names))
