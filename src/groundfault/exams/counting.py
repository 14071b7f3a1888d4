"""Dense counting: many of a kind.

The twin is another picture of the same kind with another count. Both counts are asked for and
offered, so that only who counts can tell which picture this is. They are so far apart that no range
of six numbers holds both.
"""

from __future__ import annotations

import msgspec

from groundfault.benchmarks.reactbench import LETTERS, MOST_IN_RANGE
from groundfault.errors import UsageError
from groundfault.exams.wording import (
    Places,
    Rng,
    Twin,
    WordedQuestion,
    one_of,
    short_answer,
    yes_no,
)

__all__ = ["LEAST_APART", "Counted", "ask_counting"]

LEAST_APART = MOST_IN_RANGE
"""By which the counts of twins differ."""


class Counted(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about things to be counted."""

    name: str
    plural: str
    count: int
    twin: int | None = None
    """The count of the twin; None in the paper's layout."""

    def number(self, n: int) -> str:
        """So many of them.

        >>> Counted(name="fish", plural="fish", count=2).number(1)
        '1 fish'
        """
        return f"{n} {self.name if n == 1 else self.plural}"


def ask_counting(rng: Rng, places: Places, about: Counted) -> list[WordedQuestion]:
    """The eight questions."""
    if about.count < 1 or about.twin == 0:
        raise UsageError(f"there is no {about.name} left to count")
    if about.twin is not None and abs(about.twin - about.count) < LEAST_APART:
        raise UsageError(f"twins with {about.count} and {about.twin} {about.plural} are too alike")
    plural = about.plural
    how_many = (
        f"How many {plural} are there in the picture?",
        f"What is the number of {plural} in the picture?",
        f"Count the {plural}. How many does the picture show?",
    )
    yes_or_no = _yes_no(rng, about) if about.twin is None else _yes_no_of_twins(rng, places, about)
    few = _interval_around(rng, about.count, MOST_IN_RANGE - 1)
    if about.twin is None:
        number, range_ = _numbers(places, about.count), _ranges(rng, places, about.count)
    else:
        number = _numbers_of_twins(places, about.count, about.twin)
        range_ = _ranges_of_twins(rng, places, about.count, about.twin)
    return [
        *yes_or_no,
        short_answer(
            f"{one_of(rng, *how_many)} Answer with one number.",
            str(about.count),
            **_exact(about.count),
            twin=Twin(answer=str(about.twin), **_exact(about.twin)) if about.twin else None,
        ),
        short_answer(
            f"{one_of(rng, *how_many)} Give a range from the lowest to the highest number you "
            f"think possible, with at most {MOST_IN_RANGE} whole numbers in it.",
            f"{few[0]}-{few[1]}",
            **_within(about.count),
            twin=_range_of_twin(rng, about.twin) if about.twin else None,
        ),
        msgspec.structs.replace(number, text=one_of(rng, *how_many)),
        msgspec.structs.replace(
            range_, text=f"{one_of(rng, *how_many)} In which of these ranges is it?"
        ),
    ]


def _exact(count: int) -> dict[str, str]:
    return {
        "right": f"gives the number {count}, in digits or words.",
        "wrong": "gives any other number, several numbers or none.",
    }


def _within(count: int) -> dict[str, str]:
    return {
        "right": f"gives a range of at most {MOST_IN_RANGE} whole numbers, both ends counted, "
        f"that includes {count}.",
        "wrong": f"gives a range that leaves out {count} or holds more numbers, or no range.",
    }


def _range_of_twin(rng: Rng, count: int) -> Twin:
    low, high = _interval_around(rng, count, MOST_IN_RANGE - 1)
    return Twin(answer=f"{low}-{high}", **_within(count))


# Yes or no.


_EXACTLY = {
    False: (
        "The picture shows exactly {counted}. Is that correct?",
        "Is the number of {plural} in the picture exactly {number}?",
        "Does the picture show exactly {counted}, no more and no less?",
    ),
    True: (
        "The picture shows exactly {counted}. Is that wrong?",
        "Is the number of {plural} in the picture another one than {number}?",
        "Is it false that the picture shows exactly {counted}?",
    ),
}
_BETWEEN = {
    False: (
        "Is the number of {plural} in the picture at least {low} and at most {high}?",
        "The picture shows between {low} and {high} {plural}, both numbers included. "
        "Is that correct?",
    ),
    True: (
        "Is the number of {plural} in the picture less than {low} or more than {high}?",
        "The picture shows between {low} and {high} {plural}, both numbers included. "
        "Is that wrong?",
    ),
}
"""By whether a question denies."""


def _exactly(rng: Rng, about: Counted, number: int, *, denies: bool = False) -> str:
    told = {"counted": about.number(number), "plural": about.plural, "number": number}
    return one_of(rng, *_EXACTLY[denies]).format_map(told)


def _between(rng: Rng, about: Counted, low: int, high: int, *, denies: bool = False) -> str:
    told = {"plural": about.plural, "low": low, "high": high}
    return one_of(rng, *_BETWEEN[denies]).format_map(told)


def _yes_no(rng: Rng, about: Counted) -> list[WordedQuestion]:
    """The paper's: the true count, two false ones, a true interval."""
    count = about.count
    near, far = _false_counts(rng, count)
    low, high = _interval_around(rng, count, _width(count))
    return [
        yes_no(_exactly(rng, about, count), true=True),
        yes_no(_exactly(rng, about, near), true=False),
        yes_no(_exactly(rng, about, far), true=False),
        yes_no(_between(rng, about, low, high), true=True),
    ]


def _yes_no_of_twins(rng: Rng, places: Places, about: Counted) -> list[WordedQuestion]:
    """Each asks for the count of one of the two pictures, affirmed or denied."""
    assert about.twin is not None
    own, negated = places.half(1, every=2), places.half(2)
    asked = []
    for is_own, denies in zip(own[:3], negated[:3], strict=True):
        number = about.count if is_own else about.twin
        text = _exactly(rng, about, number, denies=denies)
        asked.append(yes_no(text, true=is_own != denies, negated=denies))
    pair = (about.count, about.twin) if own[3] else (about.twin, about.count)
    low, high = _interval_without(rng, *pair)
    text = _between(rng, about, low, high, denies=negated[3])
    return [*asked, yes_no(text, true=own[3] != negated[3], negated=negated[3])]


def _false_counts(rng: Rng, count: int) -> tuple[int, int]:
    """A number near the count and one farther off, on either side of it."""
    near, far = max(1, round(0.1 * count)), max(2, round(0.25 * count))
    sides = [1 if rng.random() < 0.5 else -1 for _ in range(2)]
    first, second = count + sides[0] * near, count + sides[1] * far
    return first if first > 0 else count + near, second if second > 0 else count + far


def _width(count: int) -> int:
    return max(4, round(0.4 * count))


def _interval_around(rng: Rng, count: int, width: int) -> tuple[int, int]:
    """An interval of width + 1 whole numbers, none negative, with the count anywhere in it."""
    low = max(0, count - int(rng.integers(width + 1)))
    return low, low + width


def _interval_without(rng: Rng, count: int, other: int) -> tuple[int, int]:
    """An interval that holds the count and not the other one."""
    width = _width(count)
    reach = min(width, abs(other - count) - 1)
    towards = int(rng.integers(reach + 1))
    away = width - towards
    if other > count:
        return max(0, count - away), count + towards
    return count - towards, count + away


# Options.


def _numbers(places: Places, count: int) -> WordedQuestion:
    """Five numbers in steps, the count anywhere among them: order and gaps tell nothing."""
    step = max(1, round(0.12 * count))
    below = min(places.next(5), (count - 1) // step)
    options = tuple(str(count + step * (k - below)) for k in range(5))
    return WordedQuestion(text="", answer=LETTERS[below], options=options)


def _ranges(rng: Rng, places: Places, count: int) -> WordedQuestion:
    """Four adjoining ranges of one width, which grows with the count."""
    width = 2 if count < 12 else 3 if count < 20 else max(5, count // 10)
    below = min(places.next(4), count // width)
    within = int(rng.integers(min(width, count - below * width + 1)))
    options = _ranges_from(count - within - below * width, width)
    return WordedQuestion(text="", answer=LETTERS[below], options=tuple(options))


def _ranges_from(lowest: int, width: int) -> list[str]:
    starts = [lowest + width * k for k in range(4)]
    return [f"{start}-{start + width - 1}" for start in starts]


def _numbers_of_twins(places: Places, count: int, other: int) -> WordedQuestion:
    """Five numbers in about equal steps, both counts among them."""
    low, high = sorted((count, other))
    wanted = first, second = places.pair(5)
    step = max(1, (high - low) // (second - first))
    short = max(0, first - (low - 1) // step)  # as many numbers are not above 0
    first, second = first - short, second - short
    options = [low + step * (k - first) for k in range(second)]
    options += [high + step * (k - second) for k in range(second, 5)]
    return _placed([str(each) for each in options], (first, second), wanted, count < other)


def _ranges_of_twins(rng: Rng, places: Places, count: int, other: int) -> WordedQuestion:
    """Four adjoining ranges of one width, the counts in two of them."""
    low, high = sorted((count, other))
    wanted = first, second = places.pair(4)
    width = max(2, round((high - low) / (second - first)))
    beyond = high - low - width * (second - first)  # how much farther into its range the higher is
    least = max(0, -beyond)
    most = max(least, min(width - 1, width - 1 - beyond, low))
    within = int(rng.integers(least, most + 1))
    lowest = low - within - first * width
    short = max(0, -(lowest // width))
    first, second, lowest = first - short, second - short, lowest + short * width
    return _placed(_ranges_from(lowest, width), (first, second), wanted, count < other)


def _placed(
    options: list[str], at: tuple[int, int], wanted: tuple[int, int], low_first: bool
) -> WordedQuestion:
    """Options of which two are moved to their places; all ascend where that needs no moving. Of
    small numbers too few are lower, so that in order the right ones would always come first."""
    rest = [option for place, option in enumerate(options) if place not in at]
    for place, option in sorted(zip(wanted, (options[k] for k in at), strict=True)):
        rest.insert(place, option)
    right, twin = wanted if low_first else wanted[::-1]
    return WordedQuestion(
        text="", answer=LETTERS[right], twin_answer=LETTERS[twin], options=tuple(rest)
    )
