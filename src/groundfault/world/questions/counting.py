"""Dense counting: many of a kind."""

from __future__ import annotations

from groundfault.benchmarks.reactbench import LETTERS, MOST_IN_RANGE
from groundfault.errors import UsageError
from groundfault.world.interventions import Intervention
from groundfault.world.phrases import count_phrase, matching
from groundfault.world.questions.wording import (
    Places,
    Rng,
    WordedQuestion,
    check_backdrop,
    one_of,
    plural_of,
    short_answer,
    yes_no,
)


def count_of(case: Intervention) -> int:
    return len(matching(case.counterfactual, case.facts["object"]))


def ask_counting(rng: Rng, places: Places, case: Intervention) -> list[WordedQuestion]:
    name, count = case.facts["object"], count_of(case)
    if count < 1:
        raise UsageError(f"there is no {name} left to count")
    check_backdrop(name, case.counterfactual)
    plural = plural_of(name)

    def exactly(number: int) -> str:
        return one_of(
            rng,
            f"The picture shows exactly {count_phrase(name, number)}. Is that correct?",
            f"Is the number of {plural} in the picture exactly {number}?",
            f"Does the picture show exactly {count_phrase(name, number)}, no more and no less?",
        )

    near, far = _false_counts(rng, count)
    low, high = _interval_around(rng, count, max(4, round(0.4 * count)))
    few = _interval_around(rng, count, MOST_IN_RANGE - 1)
    numbers, ranges = _number_options(places, count), _range_options(rng, places, count)
    how_many = (
        f"How many {plural} are there in the picture?",
        f"What is the number of {plural} in the picture?",
        f"Count the {plural}. How many does the picture show?",
    )
    return [
        yes_no(exactly(count), true=True),
        yes_no(exactly(near), true=False),
        yes_no(exactly(far), true=False),
        yes_no(
            one_of(
                rng,
                f"Is the number of {plural} in the picture at least {low} and at most {high}?",
                f"The picture shows between {low} and {high} {plural}, both numbers included. "
                "Is that correct?",
            ),
            true=True,
        ),
        short_answer(
            f"{one_of(rng, *how_many)} Answer with one number.",
            str(count),
            right=f"gives the number {count}, in digits or words.",
            wrong="gives any other number, several numbers or none.",
        ),
        short_answer(
            f"{one_of(rng, *how_many)} Give a range from the lowest to the highest number you "
            f"think possible, with at most {MOST_IN_RANGE} whole numbers in it.",
            f"{few[0]}-{few[1]}",
            right=f"gives a range of at most {MOST_IN_RANGE} whole numbers, both ends counted, "
            f"that includes {count}.",
            wrong=f"gives a range that leaves out {count} or holds more numbers, or no range.",
        ),
        WordedQuestion(
            text=one_of(rng, *how_many),
            answer=LETTERS[numbers.index(str(count))],
            options=tuple(numbers),
        ),
        WordedQuestion(
            text=f"{one_of(rng, *how_many)} In which of these ranges is it?",
            answer=LETTERS[ranges[1]],
            options=tuple(ranges[0]),
        ),
    ]


def _false_counts(rng: Rng, count: int) -> tuple[int, int]:
    """A number near the count and one farther off, on either side of it."""
    near, far = max(1, round(0.1 * count)), max(2, round(0.25 * count))
    sides = [1 if rng.random() < 0.5 else -1 for _ in range(2)]
    first, second = count + sides[0] * near, count + sides[1] * far
    return first if first > 0 else count + near, second if second > 0 else count + far


def _interval_around(rng: Rng, count: int, width: int) -> tuple[int, int]:
    """An interval of width + 1 whole numbers, none negative, with the count anywhere in it."""
    low = max(0, count - int(rng.integers(width + 1)))
    return low, low + width


def _number_options(places: Places, count: int) -> list[str]:
    """Five numbers in steps, the count anywhere among them: order and gaps tell nothing."""
    step = max(1, round(0.12 * count))
    below = min(places.next(5), (count - 1) // step)
    return [str(count + step * (k - below)) for k in range(5)]


def _range_options(rng: Rng, places: Places, count: int) -> tuple[list[str], int]:
    """Four adjoining ranges of one width, and which holds the count."""
    width = 2 if count < 12 else 3 if count < 20 else 5
    below = min(places.next(4), count // width)
    within = int(rng.integers(min(width, count - below * width + 1)))
    lowest = count - within - below * width
    starts = [lowest + width * k for k in range(4)]
    return [f"{start}-{start + width - 1}" for start in starts], below
