"""What an exam's words give away: the best answer that wording and options alone allow.

`text-only` looks at no picture. It learns from the exam's own questions and keys which wordings go
with which answers, by cross-validation: the questions of a case, with those of its twin, are
answered by what was learnt from all other cases. What it scores above chance is what a model could
score that never looks, however well it was trained on exams of this kind.

    yes/no           logistic regression on words, and on two and three words in a row
    multiple choice  the same on each option: its words, letter, length, rank among numbers, how
                     like the other options it is, and how like the question, each also together
                     with each word of the question
    short answers    the commonest reference to questions worded like this one (naive Bayes), with
                     the words that it shares with its question put in anew; of counts the
                     commonest number, of ranges the one that holds most

It is told no more than a model is: neither a question's number nor its dimension.
`blind` is a coin by comparison; `blind:MODEL` shows what a language model knows beforehand.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from string import ascii_uppercase
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from groundfault.benchmarks.reactbench import CONTROL, TWIN
from groundfault.errors import UsageError
from groundfault.interfaces import ModelOptions
from groundfault.models.baselines import guess_in_words, in_words
from groundfault.records import Answer, Item, Mode, Prediction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["TextOnly", "load"]

FOLDS = 5
RIDGE = 1.0
"""Weight of the penalty on coefficients."""
BACKED_BY = 3.0
"""As many questions of no label in particular are added to those of each label."""
COMMON = 0.2
"""A word in a larger share of questions than this is never about a case."""
_NUMBER = re.compile(r"(\d+)(?:-(\d+))?")
_DENIES = re.compile(r"\b(?:no|none|nothing|neither|not|nowhere)\b", re.IGNORECASE)


class Asked(NamedTuple):
    """A question without its pictures."""

    item: Item
    answer: Answer
    words: tuple[str, ...]


class TextOnly:
    """Answers from the words, as the other cases of the benchmark teach."""

    def __init__(self) -> None:
        self._answers: dict[str, str] = {}

    def fit(self, items: Sequence[Item]) -> None:
        """Answer every question by what the other cases teach."""
        asked = [_asked(item, item.answer) for item in items if item.answer is not None]
        clusters = {name: k for k, name in enumerate(dict.fromkeys(map(_cluster, items)))}
        folds = min(FOLDS, len(clusters))
        for fold in range(folds):
            inside = [clusters[_cluster(each.item)] % folds == fold for each in asked]
            known = [each for each, is_in in zip(asked, inside, strict=True) if not is_in]
            wanted = [each for each, is_in in zip(asked, inside, strict=True) if is_in]
            self._answers |= _yes_no(known, wanted)
            self._answers |= _choices(known, wanted)
            self._answers |= _short_answers(known, wanted)

    def predict(self, items: Sequence[Item], mode: Mode = "") -> list[Prediction]:
        """One prediction per item."""
        for item in items:
            if item.id not in self._answers:
                raise UsageError("text-only answers the questions that it was fitted to, no others")
        return [in_words(item, mode, self._answers[item.id]) for item in items]


def load(argument: str, options: ModelOptions) -> TextOnly:
    """`text-only`"""
    if argument:
        raise UsageError(f"text-only:{argument}: text-only takes no argument")
    return TextOnly()


def _cluster(item: Item) -> str:
    """A twin is asked what its case is asked."""
    return item.case_id.removesuffix(CONTROL).removesuffix(TWIN)


def _asked(item: Item, answer: Answer) -> Asked:
    return Asked(item, answer, _words_of(item.query))


def _words_of(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", text.casefold()))


def _of(type_: str, asked: Iterable[Asked]) -> list[Asked]:
    return [each for each in asked if each.answer.type == type_]


# Yes or no.


def _yes_no(known: Sequence[Asked], wanted: Sequence[Asked]) -> dict[str, str]:
    known, wanted = _of("YN", known), _of("YN", wanted)
    truth = [each.answer.reference == "yes" for each in known]
    chances = _probabilities(list(map(_of_wording, known)), truth, list(map(_of_wording, wanted)))
    return {
        each.item.id: "Yes." if chance > 0.5 else "No."
        for each, chance in zip(wanted, chances, strict=True)
    }


def _of_wording(each: Asked) -> set[str]:
    words = each.words
    return {" ".join(words[k : k + n]) for n in (1, 2, 3) for k in range(len(words) - n + 1)}


# Multiple choice.


def _choices(known: Sequence[Asked], wanted: Sequence[Asked]) -> dict[str, str]:
    known, wanted = _of("MC", known), _of("MC", wanted)
    features = [_of_option(each, k) for each in known for k in range(len(each.answer.options))]
    truth = [
        ascii_uppercase[k] == each.answer.reference
        for each in known
        for k in range(len(each.answer.options))
    ]
    offered = [_of_option(each, k) for each in wanted for k in range(len(each.answer.options))]
    chances = iter(_probabilities(features, truth, offered))
    found = {}
    for each in wanted:
        of_options = [next(chances) for _ in each.answer.options]
        found[each.item.id] = f"{ascii_uppercase[int(np.argmax(of_options))]}."
    return found


def _of_option(each: Asked, k: int) -> set[str]:
    options = each.answer.options
    words = _words_of(options[k])
    found = {f"letter {k}", f"{len(words)} words", *(f"says {word}" for word in words)}
    found.add(f"denies {_DENIES.search(options[k]) is not None}")
    found.add(f"length rank {sorted(map(len, options)).index(len(options[k]))}")
    found.add(f"asked {_tenths(words, each.words)}")
    alike = [_mean_likeness(j, options) for j in range(len(options))]
    found.add(f"likeness rank {sorted(alike).index(alike[k])}")
    numbers = [_NUMBER.fullmatch(option) for option in options]
    if all(numbers):
        values = [int(number[1]) for number in numbers if number]
        found.add(f"number rank {sorted(values).index(values[k])} of {len(values)}")
    return found | {f"{word}|{feature}" for feature in found for word in {*each.words}}


def _mean_likeness(k: int, options: Sequence[str]) -> float:
    mine = {*_words_of(options[k])}
    others = [{*_words_of(option)} for j, option in enumerate(options) if j != k]
    return sum(len(mine & other) / max(1, len(mine | other)) for other in others)


def _tenths(words: Sequence[str], among: Sequence[str]) -> int:
    return round(10 * sum(word in among for word in words) / max(1, len(words)))


# Short answers.


def _short_answers(known: Sequence[Asked], wanted: Sequence[Asked]) -> dict[str, str]:
    known, wanted = _of("SA", known), _of("SA", wanted)
    if not known:
        return {each.item.id: guess_in_words(each.item, each.answer) for each in wanted}
    learnt = _ShortAnswers(known)
    return {each.item.id: learnt.answer(each) for each in wanted}


class _Wordings:
    """Which labels go with which words: naive Bayes over the words that are there."""

    def __init__(self, known: Iterable[tuple[Sequence[str], str]]) -> None:
        self.times: Counter[str] = Counter()
        self.words: dict[str, Counter[str]] = {}
        self.all: Counter[str] = Counter()
        for words, label in known:
            self.times[label] += 1
            self.words.setdefault(label, Counter()).update({*words})
            self.all.update({*words})

    def ranked(self, words: Sequence[str]) -> list[str]:
        """All labels, the likeliest first."""

        total = self.times.total()
        usual = {word: (self.all[word] + 1) / (total + 2) for word in {*words}}

        def score(label: str) -> float:
            n, counts = self.times[label], self.words[label]
            chances = ((counts[w] + BACKED_BY * p) / (n + BACKED_BY) for w, p in usual.items())
            return math.log(n) + sum(map(math.log, chances))

        return sorted(self.times, key=score, reverse=True)


class _ShortAnswers:
    """What short answers teach."""

    def __init__(self, known: Sequence[Asked]) -> None:
        counts = Counter(word for each in known for word in {*each.words})
        self.common = {word for word, n in counts.items() if n > COMMON * len(known)}
        self.kinds = _Wordings((each.words, _kind(each.answer.reference)) for each in known)
        self.templates = _Wordings(
            (each.words, template)
            for each in known
            if _kind(each.answer.reference) == "words"
            for template in _with_beginning(self._template(each))
        )
        self.numbers = {kind: self._commonest(kind, known) for kind in ("number", "range")}

    def answer(self, asked: Asked) -> str:
        kind = self.kinds.ranked(asked.words)[0]
        if kind != "words":
            return self.numbers[kind]
        filled = (self._filled(each, asked) for each in self.templates.ranked(asked.words))
        found = next((text for text in filled if text), asked.item.query)
        return found[:1].upper() + found[1:]

    def _own(self, each: Asked) -> list[str]:
        """The words of a question that may be about its case, in order."""
        return list(dict.fromkeys(word for word in each.words if word not in self.common))

    def _template(self, each: Asked) -> str:
        """The reference, with words of the question by their place in it."""
        own = {word: k for k, word in enumerate(self._own(each))}
        return re.sub(
            r"\w+",
            lambda word: f"{{{own[low]}}}" if (low := word[0].casefold()) in own else word[0],
            each.answer.reference,
        )

    def _filled(self, template: str, asked: Asked) -> str:
        """The template with the words of another question; "" if it has too few."""
        own = self._own(asked)
        places = [int(place) for place in re.findall(r"\{(\d+)\}", template)]
        if any(place >= len(own) for place in places):
            return ""
        return re.sub(r"\{(\d+)\}", lambda place: own[int(place[1])], template)

    def _commonest(self, kind: str, known: Iterable[Asked]) -> str:
        """The commonest count, or the range that holds the middle of most ranges."""
        found = [_NUMBER.fullmatch(each.answer.reference) for each in known]
        spans = [
            (int(n[1]), int(n[2] or n[1])) for n in found if n and bool(n[2]) == (kind == "range")
        ]
        middles = [(low + high) / 2 for low, high in spans]
        held = Counter({span: sum(span[0] <= m <= span[1] for m in middles) for span in spans})
        if not held:
            return ""
        (low, high), _ = held.most_common(1)[0]
        return f"{low}." if low == high else f"{low}-{high}."


def _with_beginning(template: str) -> tuple[str, ...]:
    """A template, and what it says first: details that differ from case to case come after it.

    >>> _with_beginning("Neither: it is blue.")
    ('Neither: it is blue.', 'Neither.')
    """
    beginning, mark, _ = re.split("([:;,]|$)", template, maxsplit=1)
    return (template, f"{beginning}.") if mark else (template,)


def _kind(reference: str) -> str:
    """
    >>> _kind("20"), _kind("18-22"), _kind("There is none.")
    ('number', 'range', 'words')
    """
    number = _NUMBER.fullmatch(reference)
    return "words" if number is None else "range" if number[2] else "number"


# Logistic regression.


def _probabilities(
    known: Sequence[set[str]], truth: Sequence[bool], wanted: Sequence[set[str]]
) -> Floats:
    """The chance of true for each wanted set of features, learnt from the known ones."""
    if not wanted or len(set(truth)) < 2:
        return np.full(len(wanted), float(truth[0]) if truth else 0.0)
    from scipy.optimize import minimize
    from scipy.special import expit

    times = Counter(feature for features in known for feature in features)
    columns = {feature: k + 1 for k, feature in enumerate(f for f, n in times.items() if n > 1)}
    matrix, y = _matrix(known, columns), np.array(truth, float)

    def loss(weights: Floats) -> tuple[float, Floats]:
        scores = matrix @ weights
        penalty = RIDGE * weights
        penalty[0] = 0.0  # the intercept is free
        value = float((np.logaddexp(0.0, scores) - y * scores).sum() + 0.5 * penalty @ weights)
        return value, matrix.T @ (expit(scores) - y) + penalty

    start = np.zeros(len(columns) + 1)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 200})
    chances: Floats = expit(_matrix(wanted, columns) @ found.x)
    return chances


def _matrix(rows: Sequence[set[str]], columns: Mapping[str, int]) -> NDArray[np.float64]:
    """(rows, 1 + columns), sparse: 1 for the intercept and for each feature that is there."""
    from scipy.sparse import csr_matrix

    def places() -> Iterator[tuple[int, int]]:
        for k, features in enumerate(rows):
            yield k, 0
            yield from ((k, columns[feature]) for feature in features if feature in columns)

    at = np.array(list(places()), np.int64).reshape(-1, 2)
    shape = (len(rows), len(columns) + 1)
    found: NDArray[np.float64] = csr_matrix((np.ones(len(at)), (at[:, 0], at[:, 1])), shape=shape)
    return found
