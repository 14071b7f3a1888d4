"""What can be had of an exam with twins by who sees no picture: `python bench/blind_exam.py [N]`.

Questions of N twins of each task (1,000 by default) are made from the world's scenes without
drawing them: what is asked does not depend on the pixels, but for draws that hide a thing, which an
exam passes over. Two solvers answer them by cross-validation over samples:

    text-only  `models/text_only.py`
    bayes      written for this: naive Bayes over the words and pairs of words of question and
               option, with the option's letter, place and length

Printed: of each question number the share of right answers to a yes/no or multiple-choice question
(at most 55 % is wanted), and paired accuracy by task (0 is).
"""

from __future__ import annotations

import math
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from groundfault.benchmarks.reactbench import LAYOUT, LETTERS, Question, Sample, benchmark_of
from groundfault.errors import UsageError
from groundfault.models.text_only import TextOnly
from groundfault.world.exams import TURN, question_twins

FOLDS = 5


def twins_of(n: int, seed: int) -> Iterator[tuple[tuple[Question, ...], tuple[Question, ...]]]:
    """The questions of n samples of each task and of their twins."""
    for number in range(n * len(TURN)):
        try:
            yield question_twins(number, seed=seed)
        except UsageError:  # no draw of this number fits
            continue


def answers_of_bayes(questions: Sequence[Question]) -> dict[str, str]:
    """Question → answer, by what the samples of other folds teach."""
    found: dict[str, str] = {}
    fold = {q.id: hash_of(q.sample_id) % FOLDS for q in questions}
    for k in range(FOLDS):
        known: dict[str, Counter[str]] = defaultdict(Counter)
        times: dict[str, Counter[str]] = defaultdict(Counter)
        for q in questions:
            if fold[q.id] != k:
                for label, features in labelled(q):
                    times[q.type][label] += 1
                    known[f"{q.type} {label}"].update(features)
        for q in questions:
            if fold[q.id] == k and q.type != "SA":
                found[q.id] = best(q, known, times[q.type])
    return found


def hash_of(sample_id: str) -> int:
    return int(sample_id.partition("-")[0])


def labelled(q: Question) -> Iterator[tuple[str, set[str]]]:
    """Right and wrong answers with their features."""
    for answer in ("yes", "no") if q.type == "YN" else LETTERS[: len(q.options)]:
        yield ("right" if answer == q.answer else "wrong"), features_of(q, answer)


def features_of(q: Question, answer: str) -> set[str]:
    words = [f"{q.number}", *q.text.casefold().split()]
    grams = {*words, *(f"{a} {b}" for a, b in pairwise(words))}
    if q.type == "YN":
        return {f"{answer}|{gram}" for gram in grams}
    place = LETTERS.index(answer)
    option = q.options[place].casefold().split()
    rank = sorted(map(len, q.options)).index(len(q.options[place]))
    own = {f"letter {answer}", f"rank {rank}", f"first {option[0]}", f"{len(option)} words"}
    return own | {f"says {word}" for word in option} | {f"{q.number}|{each}" for each in own}


def best(q: Question, known: dict[str, Counter[str]], times: Counter[str]) -> str:
    def score(features: Iterable[str]) -> float:
        total = 0.0
        for feature in features:
            right = (known[f"{q.type} right"][feature] + 1) / (times["right"] + 2)
            wrong = (known[f"{q.type} wrong"][feature] + 1) / (times["wrong"] + 2)
            total += math.log(right / wrong)
        return total

    options = ("yes", "no") if q.type == "YN" else LETTERS[: len(q.options)]
    return max(options, key=lambda answer: score(sorted(features_of(q, answer))))


def answers_of_text_only(
    samples: Sequence[Sample], questions: Sequence[Question]
) -> dict[str, str]:
    items = benchmark_of(samples, questions).items
    model = TextOnly()
    model.fit(items)
    said = {row.item_id: row.text or "" for row in model.predict(items)}
    return {
        name: text.rstrip(".").lower() if len(text) > 2 else text[:1] for name, text in said.items()
    }


def told(task: str, pairs: Sequence[tuple[Question, Question]], said: dict[str, str]) -> str:
    """Single accuracy by question number, and paired accuracy."""
    by_number: dict[int, list[bool]] = defaultdict(list)
    both = []
    for one, twin in pairs:
        right = [said.get(q.id) == q.answer for q in (one, twin)]
        if one.type != "SA":
            by_number[one.number] += right
            both.append(all(right))
    single = {number: sum(flags) / len(flags) for number, flags in by_number.items()}
    worst = max(single, key=lambda number: single[number])
    return (
        f"{task:10} n {len(pairs) // len(LAYOUT[task])} paired {100 * sum(both) / len(both):.2f} % "
        f"highest single Q{worst} {100 * single[worst]:.1f} %  "
        + " ".join(f"Q{number} {100 * value:.1f}" for number, value in sorted(single.items()))
    )


def measure(n: int, seed: int = 5) -> list[str]:
    """The lines of the table."""
    asked = list(twins_of(n, seed))
    lines = []
    for task in TURN:
        pairs = [
            pair
            for one, twin in asked
            if TURN[hash_of(one[0].sample_id) % len(TURN)] == task
            for pair in zip(one, twin, strict=True)
        ]
        questions = [q for pair in pairs for q in pair]
        ids = dict.fromkeys(q.sample_id for q in questions)
        samples = [
            Sample(id=i, task=task, images=(i,), height_px=1, width_px=1, facts={}) for i in ids
        ]
        for name, said in (
            ("text-only", answers_of_text_only(samples, questions)),
            ("bayes", answers_of_bayes(questions)),
        ):
            lines.append(f"{name:10} {told(task, pairs, said)}")
            print(lines[-1], flush=True)
    return lines


if __name__ == "__main__":
    measure(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
