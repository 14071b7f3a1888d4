"""Typed settings from TOML: every key is known, every value has its type, errors name both."""

from __future__ import annotations

import re
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from groundfault.errors import DataError, UnknownName, UsageError

__all__ = [
    "OPERATING_POINTS",
    "OWN_POINTS",
    "ScoreSettings",
    "check",
    "check_threshold",
    "convert_settings",
    "load_layered_toml",
    "load_toml",
    "number",
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


def load_toml(path: str | PathLike[str], type_: type[T]) -> T:
    """Read a TOML file as a settings type."""
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
        raise DataError(path, _explain(problem, type_), remedy="correct the setting") from None


def convert_settings(given: Mapping[str, Any], type_: type[T]) -> T:
    """Settings by name as a settings type; unknown names and values out of bounds are refused."""
    try:
        return msgspec.convert(given, type_)
    except msgspec.ValidationError as problem:
        raise UsageError(_explain(problem, type_)) from None


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


def _explain(problem: Exception, type_: type) -> str:
    """msgspec's message in a user's words, with the nearest key for an unknown one."""
    unknown = re.search(r"unknown field `(\w+)`", str(problem))
    if unknown:
        return str(UnknownName("setting", unknown[1], type_.__struct_fields__)).rstrip(".")  # type: ignore[attr-defined]
    place = re.search(r"^(.*) - at `\$\.([\w.]+)`$", str(problem))
    return f"{place[2]}: {place[1][0].lower()}{place[1][1:]}" if place else str(problem)
