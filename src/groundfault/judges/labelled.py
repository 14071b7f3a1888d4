"""Short answers with known verdicts: what a judge is tested with.

`read_labels` reads labels by people: JSON lines of {"item_id": …, "text": …, "verdict": "right"}
about an exam's questions, with "mode": "cot" where the model was told to reason first. `text` is
all that the model wrote; a judge is shown the part of it that a run's judge is shown.

`labelled_answers` makes them from an exam's own facts: each question gets right and wrong answers
in many wordings, from one word to a sentence with a reason, some of them tricky: a right one that
names the erased thing to deny it, a wrong one that starts with a doubt. They are ours, not a
model's, so a judge's agreement with them is an upper bound; labels by people about a model's real
answers make a better card.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Literal

import msgspec

from groundfault.benchmarks.reactbench import is_twin
from groundfault.errors import DataError, UsageError
from groundfault.io.foreign import decode_json
from groundfault.judges import ShortAnswer, by_item, expected, for_judge, is_judged_in_words
from groundfault.records import Answer, Benchmark, Case, Item, Mode, Verdict

__all__ = ["Labelled", "labelled_answers", "read_labels"]


class Labelled(msgspec.Struct, frozen=True):
    """An answer and what a judge should say about it."""

    answer: ShortAnswer
    verdict: Verdict
    shown: bool = True
    """False where no judge sees it in a run: a refusal, or nothing after the reasoning."""


class _Label(msgspec.Struct):
    item_id: str
    """The question that was answered."""
    text: str
    """The answer, word for word."""
    verdict: Literal["right", "wrong"]
    """What people say of it."""
    mode: Literal["std", "cot"] = "std"
    """How it was asked."""


def read_labels(path: str | PathLike[str], benchmark: Benchmark) -> list[Labelled]:
    """Labels by people, one JSON object per line."""
    try:
        lines = Path(path).read_bytes().splitlines()
    except OSError as problem:
        raise UsageError(f"{path}: cannot be read ({problem.strerror})") from None
    known = by_item(benchmark)
    found = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            label = decode_json(line, _Label)
            case, item = known[label.item_id]
            if not is_judged_in_words(case, item):
                raise ValueError(f"{label.item_id} needs no judge: it is no short answer in words")
        except (ValueError, KeyError) as problem:  # msgspec's are ValueErrors
            what = f"the exam has no item {problem}" if isinstance(problem, KeyError) else problem
            raise DataError(
                path,
                str(what),
                record=f"line {number}",
                remedy='give JSON lines with "item_id", "text" and "verdict", right or wrong',
            ) from None
        found.append(_labelled(case, item, label.text, label.verdict, label.mode))
    if not found:
        raise UsageError(f"{path}: holds not one label")
    return found


def labelled_answers(benchmark: Benchmark) -> Iterator[Labelled]:
    """Right and wrong answers to every question that a judge is needed for."""
    for case, item in by_item(benchmark).values():
        if is_judged_in_words(case, item) and not is_twin(case):
            right, wrong = _wordings(case, expected(item))
            for verdict, texts in (("right", right), ("wrong", wrong)):
                for text in texts:
                    label: Verdict = "right" if verdict == "right" else "wrong"
                    yield _labelled(case, item, text, label)


def _labelled(case: Case, item: Item, text: str, verdict: Verdict, mode: Mode = "std") -> Labelled:
    shown = for_judge(case, item, text, mode)
    return Labelled(shown or ShortAnswer(case, item, text), verdict, shown is not None)


def _wordings(case: Case, wanted: Answer) -> tuple[Sequence[str], Sequence[str]]:
    facts, number = case.facts, wanted.number
    if case.intervention == "erasure":
        return _erasure(facts, number)
    if case.intervention == "attribute":
        return _attribute(facts, number)
    return _where(facts) if number == 9 else _tracing(facts)


def _a(name: str) -> str:
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def _erasure(facts: dict[str, str], number: int) -> tuple[list[str], list[str]]:
    name, kept = facts["erased"], facts["kept"]
    place, colour = facts.get("location", f"next to the {kept}"), facts.get("colour", "grey")
    absent = [
        f"There is no {name} {place}.",
        f"I don't see any {name} there.",
        f"No {name} is visible.",
        f"The {name} is not there.",
        f"There isn't {_a(name)} in this picture.",
        f"One might expect {_a(name)} {place}, but there is none.",
    ]
    if number == 7:
        right = [
            *absent,
            f"The picture shows no {name}, so it has no colour.",
            f"It cannot be told, because there is no {name} {place}.",
            f"I cannot answer because there is no {name} {place}.",
            "It cannot be determined.",
        ]
        wrong = [
            f"{colour.capitalize()}.",
            f"The {name} is {colour}.",
            f"It looks {colour}, with some white.",
            f"It is hard to make out, but it seems {colour}.",
            f"The {name} {place} is a warm {colour}.",
            f"I think the {name} may be {colour}.",
        ]
        return right, wrong
    wrong = [
        f"{_a(name).capitalize()}.",
        f"There is {_a(name)} {place}.",
        f"A {colour} {name}.",
        f"I can see {_a(name)}, partly in the shade.",
        f"It is hard to see, but it looks like {_a(name)}.",
        f"{_a(name).capitalize()} that is not very large stands there.",
    ]
    if number == 8:
        right = [
            "Neither.",
            "None of them.",
            "Nothing.",
            "No.",
            "Neither of the two is there.",
            *absent,
        ]
        return right, [*wrong, f"The {name}.", "Yes.", f"It is {_a(name)}, not the other thing."]
    right = [
        "Nothing.",
        "Nothing at all.",
        "It is empty.",
        f"Only the {kept}.",
        f"Just the {kept}, with nothing else near it.",
        "There is nothing there.",
        *absent,
    ]
    return right, wrong


def _attribute(facts: dict[str, str], number: int) -> tuple[list[str], list[str]]:
    name, usual, shown = facts["object"], facts["usual"], facts["shown"]
    if number == 7:
        right = [
            f"There is no {usual} {name}.",
            "There is no such thing.",
            "Nowhere.",
            f"I can't find {_a(usual)} {name}.",
            f"The {name} is {shown}, not {usual}.",
            f"The only {name} is {shown}.",
            f"None: the {name} in the picture is {shown}.",
        ]
        wrong = [
            "On the left.",
            f"The {name} is in the middle of the picture.",
            f"The {usual} {name} stands at the lower right.",
            "In front, near the edge.",
            f"It is in the background, {usual} as always.",
        ]
        return right, wrong
    colour = [
        f"{shown.capitalize()}.",
        f"It is {shown}.",
        f"The {name} is {shown}.",
        f"A bright {shown}.",
        f"The {name} is mainly {shown}, not {usual}.",
        f"Not {usual} but {shown}.",
        f"{_a(name).capitalize()} is usually {usual}, but this one is {shown}.",
    ]
    wrong = [
        f"{usual.capitalize()}.",
        f"It is {usual}.",
        f"The {name} is {usual}.",
        f"A light {usual}.",
        f"Mainly {usual}, as one would expect.",
        f"It is {usual}, not {shown}.",
        f"The {name} looks {usual} in this light.",
    ]
    if number == 8:
        return ["Neither.", f"Neither: it is {shown}.", "None of the two.", *colour], wrong
    return colour, wrong


_SAID = {
    "remove": ("was removed", "is gone", "is missing in the second picture", "has disappeared"),
    "add": ("was added", "appeared", "is new", "was not in the first picture and has been added"),
    "move": ("was moved", "has shifted", "is at another place", "changed its position"),
}


def _tracing(facts: dict[str, str]) -> tuple[list[str], list[str]]:
    kind, name = facts["operation"], facts["object"]
    if kind == "replace":
        new = facts.get("after", "something else")
        right = [
            f"The {name} was replaced by {_a(new)}.",
            f"The {name} was swapped for {_a(new)}.",
            f"The {name} turned into {_a(new)}.",
            f"The {name} is gone and {_a(new)} stands there now.",
            f"Where the {name} was, there is now {_a(new)}.",
        ]
        others = ["was moved", "changed its colour"]
    else:
        right = [f"The {name} {said}." for said in _SAID[kind]]
        right += [f"{text[:-1]} in {facts['location']}." for text in right[:2]]
        if kind == "move":
            right.append(f"The {name} is gone from its place and now stands further to the side.")
        if kind == "remove":
            right.append(
                f"The first picture shows {_a(name)}, the second one does not: it is gone."
            )
        others = {
            "remove": ["was moved", "was replaced by a bench", "changed its colour"],
            "add": ["was removed", "was moved"],
            "move": ["was removed", "was replaced by a bench"],
        }[kind]
    other = next(thing for thing in ("bench", "clock") if thing not in (name, facts.get("after")))
    wrong = [
        "Nothing changed.",
        "The two pictures are identical.",
        "There is no difference.",
        f"The {other} was removed.",
        f"{_a(other).capitalize()} was added.",
        "The light is a little warmer.",
        *(f"The {name} {said}." for said in others),
        f"The {name} and everything else are the same.",
    ]
    return right, wrong


def _where(facts: dict[str, str]) -> tuple[list[str], list[str]]:
    name, location = facts["object"], facts["location"]
    far = location
    for here, there in (("left", "right"), ("right", "left")):
        if here in location.split():
            far = location.replace(here, there)
            break
    else:
        far = location.replace("upper", "LOWER").replace("lower", "upper").replace("LOWER", "lower")
    right = [
        f"The {name}.",
        f"The {name}, in {location}.",
        f"It was the {name} in {location}.",
        f"{_a(name).capitalize()}; it is in {location}.",
    ]
    wrong = [
        "Nothing.",
        "The bench, on the left.",
        f"The {name} in {far}.",
        "No object at all.",
        "A clock.",
    ]
    return right, wrong
