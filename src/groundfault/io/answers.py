"""A model's answers as records hold them. Models are other people's code: their numbers may be
NumPy's, their masks arrays, their outcomes plain words. What has one meaning is brought into form;
what has none is a list of broken rules, all of them, which the failed item tells.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import msgspec
import numpy as np

from groundfault.io.masks import decode, encode, parse_mask, resize_nearest, to_rle
from groundfault.records import Item, Outcome, Prediction, Reply, Rle, Role

__all__ = ["QUADS", "Broken", "answers_of", "prediction_of", "reply_of"]

QUADS = frozenset({Role.FACTUAL, Role.TEXTUAL, Role.VISUAL, Role.COUNTERFACTUAL})
T = TypeVar("T")
Size = tuple[int, int]


class Broken(ValueError):
    """An answer breaks rules; `rules` has a sentence about each."""

    def __init__(self, rules: Sequence[str]) -> None:
        super().__init__(f"the model's answer is unsound: {'; '.join(rules)}")
        self.rules = tuple(rules)


def answers_of(found: Any, n: int, *, method: str = "segment", each: str = "phrase") -> list[Any]:
    """What a model gave for n things that it was asked, one by one; raises `Broken` where it gave
    no list, or one of another length.

    >>> answers_of(iter("ab"), 2)
    ['a', 'b']
    >>> answers_of(None, 2)
    Traceback (most recent call last):
    ...
    groundfault.io.answers.Broken: the model's answer is unsound: segment gave a NoneType, not a
    list with one answer per phrase
    """
    single = isinstance(found, (str, bytes, dict, Prediction, Reply))
    if single or not isinstance(found, Iterable):
        raise Broken([f"{method} gave a {_type(found)}, not a list with one answer per {each}"])
    answers = list(found)
    if len(answers) != n:
        raise Broken([f"{method} gave {len(answers)} answers to {n} {each}s"])
    return answers


def prediction_of(answer: Any, item: Item, *, seconds: float = 0.0) -> Prediction:
    """An answer as the prediction for its item; raises `Broken` with every rule that it breaks."""
    if not isinstance(answer, Prediction):
        hint = "make one with groundfault.as_prediction(masks, scores)"
        raise Broken([f"a {_type(answer)}, not a Prediction: {hint}"])
    rules: list[str] = []
    size = (item.height_px, item.width_px)
    fits = item.role in QUADS
    masks = _several(answer.masks, "mask", lambda mask: _mask(mask, size, any_size=fits), rules)
    scores = _several(answer.scores, "score", _score, rules)
    boxes = _several(answer.boxes_xywh, "box", _box, rules)
    categories = _several(answer.category_ids, "category id", _category, rules)
    qualities = _several(answer.qualities, "quality", _number, rules)
    counts = {len(part) for part in (masks, boxes) if part}
    if not rules and counts - {len(scores)}:
        rules.append(f"{len(masks)} masks, {len(boxes)} boxes and {len(scores)} scores")
    if not rules and len(qualities) not in (0, len(masks)):
        rules.append(f"{len(masks)} masks and {len(qualities)} qualities")
    presence = None
    if answer.presence is not None:
        presence = _one(answer.presence, "presence", _share, rules)
    outcome = _one(answer.outcome, "outcome", _outcome, rules)
    if outcome is Outcome.ABSTAINED and masks:
        rules.append(f"it says abstained, and gives {len(masks)} masks")
    text = _one(answer.text, "text", _words, rules)
    reason = _one(answer.reason, "reason", _words, rules)
    finish = _one(answer.finish, "finish", _words, rules)
    if rules:
        raise Broken(rules)
    assert outcome is not None and text is not None and reason is not None and finish is not None
    return Prediction(
        item_id=item.id,
        outcome=outcome,
        masks=tuple(masks),
        scores=tuple(scores),
        boxes_xywh=tuple(boxes),
        category_ids=tuple(categories),
        presence=presence,
        text=text,
        reason=reason,
        finish=finish,
        qualities=tuple(qualities),
        seconds=seconds,
    )


def reply_of(answer: Any) -> Reply:
    """An answer as a reply in words; raises `Broken` with every rule that it breaks."""
    if not isinstance(answer, Reply):
        hint = "make one with groundfault.Reply(outcome=…, text=…)"
        raise Broken([f"a {_type(answer)}, not a Reply: {hint}"])
    rules: list[str] = []
    readers: dict[str, Callable[[Any], Any]] = {
        "outcome": _outcome,
        **dict.fromkeys(("text", "reasoning", "reason", "finish"), _words),
        **dict.fromkeys(("tokens_in", "tokens_out"), _count),
        **dict.fromkeys(("cost", "seconds"), _number),
        "tool_calls": tuple,
    }
    given = {name: getattr(answer, name) for name in readers}
    found: dict[str, Any] = {
        name: _one(value, name, readers[name], rules)
        for name, value in given.items()
        if value is not None or name not in ("tokens_in", "tokens_out", "cost")
    }
    if rules:
        raise Broken(rules)
    return msgspec.structs.replace(answer, **found)


def _several(values: Any, what: str, read: Callable[[Any], T], rules: list[str]) -> list[T]:
    """Each value in form; what has none is a broken rule."""
    if isinstance(values, (str, bytes, dict)) or not isinstance(values, Iterable):
        rules.append(f"its {what}s are a {_type(values)}, not a sequence")
        return []
    found = [_one(value, f"{what} {k}", read, rules) for k, value in enumerate(values)]
    return found  # type: ignore[return-value]  # None only with a broken rule


def _one(value: Any, what: str, read: Callable[[Any], T], rules: list[str]) -> T | None:
    try:
        return read(value)
    except Exception as problem:  # whatever somebody's array may raise
        words = str(problem) if type(problem) is ValueError else f"{_type(problem)}: {problem}"
        rules.append(f"{what}: {words}")
        return None


def _mask(mask: Any, size: Size, *, any_size: bool) -> Rle:
    """A sound mask of its item's size. Quads are compared at the size of their ground truth."""
    if isinstance(mask, dict):
        coded = _coded(mask, None if any_size else size)
    elif isinstance(mask, (str, bytes)) or not np.shape(mask):
        raise ValueError(f"a {_type(mask)} is no mask: give an array, or run lengths of COCO")
    else:
        coded = encode(_pixels(mask))
    if coded["size"] == size:
        return coded
    if any_size:
        return encode(resize_nearest(decode(coded), *size))
    parse_mask(coded, *size)  # raises
    raise AssertionError("unreachable: the size is another one")


def _coded(mask: dict[str, Any], size: Size | None) -> Rle:
    """Sound run lengths as COCO codes them, of a size if one is given; pycocotools gives bytes."""
    for key in ("size", "counts"):
        if key not in mask:
            raise ValueError(f"a dict without '{key}' is no mask")
    height_px, width_px = (int(side) for side in mask["size"])
    counts = mask["counts"]
    if isinstance(counts, bytes):
        counts = counts.decode("ascii")
    elif not isinstance(counts, str):
        counts = [int(run) for run in counts]
    coded = Rle(size=(height_px, width_px), counts=counts)
    parsed = parse_mask(coded, *(size or coded["size"]))
    return coded if isinstance(counts, str) else to_rle(parsed)


def _pixels(mask: Any) -> Any:
    """A (height, width) array of booleans, or of 0 and one other number."""
    pixels = np.asarray(mask)
    if pixels.ndim != 2:
        raise ValueError(f"an array of shape {pixels.shape}: a mask is (height, width)")
    if pixels.dtype == bool:
        return pixels
    if pixels.dtype.kind in "iuf":
        values = np.unique(pixels)
        if len(values) <= 2 and set(values.tolist()) <= {0, 1, 255}:
            return pixels > 0
    raise ValueError(f"an array of {pixels.dtype} with other values than 0 and 1: threshold it")


def _number(value: Any) -> float:
    if isinstance(value, (str, bytes)) or np.ndim(value):
        raise ValueError(f"{value!r} is no number")
    found = float(value)
    if not math.isfinite(found):
        raise ValueError(f"{found} is not finite")
    return found


def _score(value: Any) -> float:
    if isinstance(value, (float, np.floating)) and not math.isfinite(value):
        raise ValueError(f"a score is not finite: {float(value)}")
    return _number(value)


def _share(value: Any) -> float:
    found = _number(value)
    if not 0.0 <= found <= 1.0:
        raise ValueError(f"a presence of {found} is not in 0–1")
    return found


def _count(value: Any) -> int:
    found = _number(value)
    if found < 0 or found != int(found):
        raise ValueError(f"{value!r} is no count")
    return int(found)


def _category(value: Any) -> int | None:
    return None if value is None else int(_number(value))


def _box(value: Any) -> tuple[float, float, float, float] | None:
    if value is None:
        return None
    if np.shape(value) != (4,):
        raise ValueError(f"{value!r} is not x, y, width, height")
    x, y, width, height = (_number(each) for each in value)
    if width < 0 or height < 0:
        raise ValueError(f"{[x, y, width, height]} is not x, y, width, height: a side is negative")
    return x, y, width, height


def _outcome(value: Any) -> Outcome:
    if not isinstance(value, str) or value not in set(Outcome):
        raise ValueError(f"{value!r} is none of {', '.join(Outcome)}")
    return Outcome(value)


def _words(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"a {_type(value)} is no text")
    return str(value.encode("utf-8", "replace").decode("utf-8"))


def _type(value: Any) -> str:
    return type(value).__name__
